//! Reads and writes the three tables of holds; the writes are where versions are compared.

use rusqlite::{Connection, Params, params};

use super::row::{Fields, Trouble, ms};
use crate::domain::{AccountName, CredentialName, ModelName, RequestId, Scope};
use crate::policy::{Change, Circuit, Cooldown, HoldRecord, Key, Quarantine, Versioned};

const READ_COOLDOWNS: &str = "SELECT id, version, provider, account, credential, model, region, dimension, class, since, \
     until, provenance, streak, obeyed, obeyed_since, evidence, request_id FROM cooldowns ORDER BY id";

const READ_QUARANTINES: &str = "SELECT id, version, provider, account, credential, model, region, dimension, since, \
     until, provenance, probe_at, streak, lease_holder, lease_until, evidence, request_id FROM quarantines ORDER BY id";

const READ_CIRCUITS: &str = "SELECT id, version, provider, account, credential, model, region, family, state, class, \
     consecutive, recent, opened_at, retry_at, opens, lease_holder, lease_until, provenance, fingerprint, last_failure, \
     evidence, request_id FROM circuits ORDER BY id";

/// All holds by kind, then in the order of their making. The caller holds a transaction.
pub(super) fn read(conn: &Connection) -> Result<Vec<Versioned>, Trouble> {
    let mut holds = Vec::new();
    collect(conn, READ_COOLDOWNS, "cooldowns", &mut holds, |f| Ok(HoldRecord::Cooldown(cooldown(f)?)))?;
    collect(conn, READ_QUARANTINES, "quarantines", &mut holds, |f| Ok(HoldRecord::Quarantine(quarantine(f)?)))?;
    collect(conn, READ_CIRCUITS, "circuits", &mut holds, |f| Ok(HoldRecord::Circuit(circuit(f)?)))?;
    Ok(holds)
}

fn collect(
    conn: &Connection,
    sql: &str,
    table: &'static str,
    holds: &mut Vec<Versioned>,
    record: impl Fn(&mut Fields<'_, '_>) -> Result<HoldRecord, Trouble>,
) -> Result<(), Trouble> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let mut fields = Fields::new(row, table);
        holds.push(Versioned { id: fields.get()?, version: fields.get()?, record: record(&mut fields)? });
    }
    Ok(())
}

fn cooldown(f: &mut Fields<'_, '_>) -> Result<Cooldown, Trouble> {
    Ok(Cooldown {
        scope: f.scope()?,
        dimension: f.word()?,
        class: f.word()?,
        since: f.time()?,
        until: f.time()?,
        provenance: f.word()?,
        streak: f.get()?,
        obeyed: f.get()?,
        obeyed_since: f.maybe_time()?,
        evidence: f.get()?,
        request_id: f.request_id()?,
    })
}

fn quarantine(f: &mut Fields<'_, '_>) -> Result<Quarantine, Trouble> {
    Ok(Quarantine {
        scope: f.scope()?,
        dimension: f.word()?,
        since: f.time()?,
        until: f.time()?,
        provenance: f.word()?,
        probe_at: f.maybe_time()?,
        streak: f.get()?,
        lease: f.lease()?,
        evidence: f.get()?,
        request_id: f.request_id()?,
    })
}

fn circuit(f: &mut Fields<'_, '_>) -> Result<Circuit, Trouble> {
    Ok(Circuit {
        scope: f.scope()?,
        family: f.word()?,
        state: f.word()?,
        class: f.word()?,
        consecutive: f.get()?,
        recent: f.times()?,
        opened_at: f.maybe_time()?,
        retry_at: f.maybe_time()?,
        opens: f.get()?,
        lease: f.lease()?,
        provenance: f.word()?,
        fingerprint: f.get()?,
        last_failure: f.time()?,
        evidence: f.get()?,
        request_id: f.request_id()?,
    })
}

const INSERT_COOLDOWN: &str = "INSERT INTO cooldowns (class, since, until, provenance, streak, obeyed, obeyed_since, \
     evidence, request_id, id, version, provider, account, credential, model, region, dimension) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, (SELECT coalesce(max(value), 0) + 1 FROM meta WHERE key = \
     'last_version'), ?11, ?12, ?13, ?14, ?15, ?16) ON CONFLICT DO NOTHING";

const UPDATE_COOLDOWN: &str = "UPDATE cooldowns SET class = ?1, since = ?2, until = ?3, provenance = ?4, streak = ?5, \
     obeyed = ?6, obeyed_since = ?7, evidence = ?8, request_id = ?9, version = version + 1 WHERE version = ?10 \
     AND provider = ?11 AND account = ?12 AND credential = ?13 AND model = ?14 AND region = ?15 AND dimension = ?16";

const INSERT_QUARANTINE: &str = "INSERT INTO quarantines (since, until, provenance, probe_at, streak, lease_holder, \
     lease_until, evidence, request_id, id, version, provider, account, credential, model, region, dimension) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, \
     (SELECT coalesce(max(value), 0) + 1 FROM meta WHERE key = 'last_version'), ?11, ?12, ?13, ?14, ?15, ?16) \
     ON CONFLICT DO NOTHING";

const UPDATE_QUARANTINE: &str = "UPDATE quarantines SET since = ?1, until = ?2, provenance = ?3, probe_at = ?4, \
     streak = ?5, lease_holder = ?6, lease_until = ?7, evidence = ?8, request_id = ?9, version = version + 1 \
     WHERE version = ?10 AND provider = ?11 AND account = ?12 AND credential = ?13 AND model = ?14 AND region = ?15 \
     AND dimension = ?16";

const INSERT_CIRCUIT: &str = "INSERT INTO circuits (state, class, consecutive, recent, opened_at, retry_at, opens, \
     lease_holder, lease_until, provenance, fingerprint, last_failure, evidence, request_id, id, version, provider, \
     account, credential, model, region, family) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, \
     ?15, (SELECT coalesce(max(value), 0) + 1 FROM meta WHERE key = 'last_version'), ?16, ?17, ?18, ?19, ?20, ?21) \
     ON CONFLICT DO NOTHING";

const UPDATE_CIRCUIT: &str = "UPDATE circuits SET state = ?1, class = ?2, consecutive = ?3, recent = ?4, \
     opened_at = ?5, retry_at = ?6, opens = ?7, lease_holder = ?8, lease_until = ?9, provenance = ?10, \
     fingerprint = ?11, last_failure = ?12, evidence = ?13, request_id = ?14, version = version + 1 \
     WHERE version = ?15 AND provider = ?16 AND account = ?17 AND credential = ?18 AND model = ?19 AND region = ?20 \
     AND family = ?21";

/// Ids are never used twice, not even between the three tables, so that a person can name a hold by its id.
const NEXT_ID: &str = "UPDATE meta SET value = value + 1 WHERE key = 'last_hold_id' RETURNING value";

/// A new record begins above the version of every one that was removed, or what was decided on a record that is gone
/// could be written over the one that came after it.
const NOTE_REMOVED: &str = "INSERT INTO meta (key, value) VALUES ('last_version', ?1) \
     ON CONFLICT DO UPDATE SET value = max(value, excluded.value)";

/// Makes one change if the record is at the expected version. The caller holds the write transaction and rolls it back
/// when this fails.
pub(super) fn apply(conn: &Connection, change: &Change) -> Result<(), Trouble> {
    let Some(record) = &change.record else { return remove(conn, change) };
    // For an insert the number is the new id, for an update the version that must be there.
    let (number, insert) = match change.expected {
        Some(version) => (version, false),
        None => (conn.prepare_cached(NEXT_ID)?.query_row([], |row| row.get(0))?, true),
    };
    let written = match record {
        HoldRecord::Cooldown(c) => {
            write_cooldown(conn, if insert { INSERT_COOLDOWN } else { UPDATE_COOLDOWN }, c, number)
        }
        HoldRecord::Quarantine(q) => {
            write_quarantine(conn, if insert { INSERT_QUARANTINE } else { UPDATE_QUARANTINE }, q, number)
        }
        HoldRecord::Circuit(c) => write_circuit(conn, if insert { INSERT_CIRCUIT } else { UPDATE_CIRCUIT }, c, number),
    }?;
    one(written)
}

/// Keeps the version of a record that was removed.
pub(super) fn note_removed(conn: &Connection, version: i64) -> Result<(), Trouble> {
    execute(conn, NOTE_REMOVED, params![version]).map(drop)
}

/// Nothing written means that the record is not as the decision saw it.
pub(super) fn one(written: usize) -> Result<(), Trouble> {
    if written == 1 { Ok(()) } else { Err(Trouble::Conflict) }
}

fn write_cooldown(conn: &Connection, sql: &str, c: &Cooldown, number: i64) -> Result<usize, Trouble> {
    let [provider, account, credential, model, region] = parts(&c.scope);
    let request_id = c.request_id.as_ref().map(RequestId::as_str);
    execute(
        conn,
        sql,
        params![
            c.class.as_str(),
            c.since.as_millisecond(),
            c.until.as_millisecond(),
            c.provenance.as_str(),
            c.streak,
            c.obeyed,
            ms(c.obeyed_since),
            c.evidence,
            request_id,
            number,
            provider,
            account,
            credential,
            model,
            region,
            c.dimension.as_str(),
        ],
    )
}

fn write_quarantine(conn: &Connection, sql: &str, q: &Quarantine, number: i64) -> Result<usize, Trouble> {
    let [provider, account, credential, model, region] = parts(&q.scope);
    let request_id = q.request_id.as_ref().map(RequestId::as_str);
    execute(
        conn,
        sql,
        params![
            q.since.as_millisecond(),
            q.until.as_millisecond(),
            q.provenance.as_str(),
            ms(q.probe_at),
            q.streak,
            q.lease.as_ref().map(|lease| lease.holder.as_str()),
            q.lease.as_ref().map(|lease| lease.until.as_millisecond()),
            q.evidence,
            request_id,
            number,
            provider,
            account,
            credential,
            model,
            region,
            q.dimension.as_str(),
        ],
    )
}

fn write_circuit(conn: &Connection, sql: &str, c: &Circuit, number: i64) -> Result<usize, Trouble> {
    let [provider, account, credential, model, region] = parts(&c.scope);
    let recent: Vec<_> = c.recent.iter().map(|time| time.as_millisecond().to_string()).collect();
    let request_id = c.request_id.as_ref().map(RequestId::as_str);
    execute(
        conn,
        sql,
        params![
            c.state.as_str(),
            c.class.as_str(),
            c.consecutive,
            recent.join(" "),
            ms(c.opened_at),
            ms(c.retry_at),
            c.opens,
            c.lease.as_ref().map(|lease| lease.holder.as_str()),
            c.lease.as_ref().map(|lease| lease.until.as_millisecond()),
            c.provenance.as_str(),
            c.fingerprint,
            c.last_failure.as_millisecond(),
            c.evidence,
            request_id,
            number,
            provider,
            account,
            credential,
            model,
            region,
            c.family.as_str(),
        ],
    )
}

fn execute(conn: &Connection, sql: &str, params: impl Params) -> Result<usize, Trouble> {
    Ok(conn.prepare_cached(sql)?.execute(params)?)
}

/// Deletes the record of the expected version, or makes sure that there is none.
fn remove(conn: &Connection, change: &Change) -> Result<(), Trouble> {
    let (table, column, scope, last) = match &change.key {
        Key::Cooldown(scope, dimension) => ("cooldowns", "dimension", scope, dimension.as_str()),
        Key::Quarantine(scope, dimension) => ("quarantines", "dimension", scope, dimension.as_str()),
        Key::Circuit(scope, family) => ("circuits", "family", scope, family.as_str()),
    };
    let [provider, account, credential, model, region] = parts(scope);
    let key = format!(
        "FROM {table} WHERE provider = ?1 AND account = ?2 AND credential = ?3 AND model = ?4 AND region = ?5 \
         AND {column} = ?6"
    );
    if let Some(version) = change.expected {
        let values = params![provider, account, credential, model, region, last, version];
        one(execute(conn, &format!("DELETE {key} AND version = ?7"), values)?)?;
        return note_removed(conn, version);
    }
    let values = params![provider, account, credential, model, region, last];
    let there = conn.prepare_cached(&format!("SELECT 1 {key}"))?.exists(values)?;
    if there { Err(Trouble::Conflict) } else { Ok(()) }
}

/// `provider, account, credential, model, region`, '' meaning any.
pub(super) fn parts(scope: &Scope) -> [&str; 5] {
    [
        scope.provider.as_str(),
        scope.account.as_ref().map_or("", AccountName::as_str),
        scope.credential.as_ref().map_or("", CredentialName::as_str),
        scope.model.as_ref().map_or("", ModelName::as_str),
        scope.region.as_deref().unwrap_or(""),
    ]
}
