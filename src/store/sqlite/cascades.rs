//! Reads and writes the table of ladders that fell through.
//!
//! It is empty as long as requests are answered, and has a row for each ladder at most, so all of it is read.

use rusqlite::{Connection, params};

use super::holds::{note_removed, one};
use super::row::{Fields, Trouble};
use crate::domain::{LadderName, RequestId};
use crate::policy::{Cascade, CascadeChange, Lease, VersionedCascade};

const READ: &str = "SELECT ladder, version, state, streak, opens, slots, leases, since, until, failed, evidence, \
     request_id FROM cascades ORDER BY ladder";

const INSERT: &str = "INSERT INTO cascades (state, streak, opens, slots, leases, since, until, failed, evidence, \
     request_id, ladder, version) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, \
     (SELECT coalesce(max(value), 0) + 1 FROM meta WHERE key = 'last_version')) ON CONFLICT DO NOTHING";

const UPDATE: &str = "UPDATE cascades SET state = ?1, streak = ?2, opens = ?3, slots = ?4, leases = ?5, since = ?6, \
     until = ?7, failed = ?8, evidence = ?9, request_id = ?10, version = version + 1 WHERE ladder = ?11 AND version = ?12";

/// All records by the name of their ladder. The caller holds a transaction.
pub(super) fn read(conn: &Connection) -> Result<Vec<VersionedCascade>, Trouble> {
    let mut statement = conn.prepare_cached(READ)?;
    let mut rows = statement.query([])?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        let mut f = Fields::new(row, "cascades");
        let ladder = LadderName::new(f.get::<String>()?);
        all.push(VersionedCascade { version: f.get()?, cascade: cascade(ladder, &mut f)? });
    }
    Ok(all)
}

fn cascade(ladder: LadderName, f: &mut Fields<'_, '_>) -> Result<Cascade, Trouble> {
    Ok(Cascade {
        ladder,
        state: f.word()?,
        streak: f.get()?,
        opens: f.get()?,
        slots: f.get()?,
        leases: f.leases()?,
        since: f.time()?,
        until: f.time()?,
        failed: f.words()?,
        evidence: f.get()?,
        request_id: f.request_id()?,
    })
}

/// Makes one change if the record is at the expected version. The caller holds the write transaction and rolls it back
/// when this fails.
pub(super) fn apply(conn: &Connection, change: &CascadeChange) -> Result<(), Trouble> {
    let Some(cascade) = &change.cascade else { return remove(conn, change) };
    let leases = |lease: &Lease| format!("{} {}", lease.holder, lease.until.as_millisecond());
    let values = params![
        cascade.state.as_str(),
        cascade.streak,
        cascade.opens,
        cascade.slots,
        cascade.leases.iter().map(leases).collect::<Vec<_>>().join(" "),
        cascade.since.as_millisecond(),
        cascade.until.as_millisecond(),
        serde_json::Value::from(cascade.failed.clone()).to_string(),
        cascade.evidence,
        cascade.request_id.as_ref().map(RequestId::as_str),
        change.ladder.as_str(),
    ];
    let written = match change.expected {
        None => conn.prepare_cached(INSERT)?.execute(values)?,
        Some(version) => {
            let values: Vec<&dyn rusqlite::ToSql> = values.iter().copied().chain([&version as _]).collect();
            conn.prepare_cached(UPDATE)?.execute(&values[..])?
        }
    };
    one(written)
}

/// Deletes the record of the expected version, or makes sure that there is none.
fn remove(conn: &Connection, change: &CascadeChange) -> Result<(), Trouble> {
    let ladder = change.ladder.as_str();
    if let Some(version) = change.expected {
        let sql = "DELETE FROM cascades WHERE ladder = ?1 AND version = ?2";
        one(conn.prepare_cached(sql)?.execute(params![ladder, version])?)?;
        return note_removed(conn, version);
    }
    let there = conn.prepare_cached("SELECT 1 FROM cascades WHERE ladder = ?1")?.exists([ladder])?;
    if there { Err(Trouble::Conflict) } else { Ok(()) }
}
