//! Reads and writes alarms and the messages that wait.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

use super::row::{Fields, Trouble, ms};
use super::{SqliteStore, health, snapshot};
use crate::policy::{Alarm, Lease, Letter, Sink, Words};
use crate::store::{Accounts, AlarmBatch, AlarmStore, AlarmView, Pulse, StoreError};

/// No pause between two tries is longer than half of this, in milliseconds; what is due later was written by a clock
/// that ran ahead.
const FAR: i64 = 2 * 3600 * 1000;

/// So many messages that are over stay for people who look.
const KEPT_LETTERS: i64 = 1000;

const PULSE: &str = "SELECT \
     EXISTS (SELECT 1 FROM alarms WHERE open = 1 AND kind = 'exhausted' AND subject = ?1 AND healed_at IS NULL), \
     EXISTS (SELECT 1 FROM alarms WHERE open = 1), \
     EXISTS (SELECT 1 FROM letters WHERE end IS NULL AND (due_at <= ?2 OR due_at > ?2 + ?3) \
     AND (lease_until IS NULL OR lease_until <= ?2 OR lease_until > ?2 + ?3)), \
     (SELECT value FROM meta WHERE key = 'alarms_looked_at')";

const ALARMS: &str = "SELECT kind, subject, raised_at, seen_at, count, calm_since, healed_at, flaps, told_at, \
     told_over_at, part_of, until, summary, text, details FROM alarms ORDER BY kind, subject";

const PUT_ALARM: &str = "INSERT OR REPLACE INTO alarms (kind, subject, open, raised_at, seen_at, count, calm_since, \
     healed_at, flaps, told_at, told_over_at, part_of, until, summary, text, details) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)";

const LETTERS: &str = "SELECT place, id, sink, event, kind, subject, at, body, tries, due_at, lease_holder, lease_until, \
     end, ended_at, error FROM letters";

const PUT_LETTER: &str = "INSERT OR IGNORE INTO letters (id, sink, event, kind, subject, at, body, tries, due_at) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";

const DUE: &str = " AS l WHERE sink = ?3 AND end IS NULL AND (due_at <= ?1 OR due_at > ?1 + ?2) \
     AND (lease_until IS NULL OR lease_until <= ?1 OR lease_until > ?1 + ?2) AND NOT EXISTS (\
     SELECT 1 FROM letters AS e WHERE e.end IS NULL AND e.sink = l.sink AND e.kind = l.kind \
     AND e.subject = l.subject AND e.place < l.place) ORDER BY place LIMIT 1";

const TAKE: &str = "UPDATE letters SET tries = tries + 1, lease_holder = ?1, lease_until = ?2 WHERE place = ?3";

const SETTLE: &str = "UPDATE letters SET tries = ?1, due_at = ?2, lease_holder = NULL, lease_until = NULL, end = ?3, \
     ended_at = ?4, error = ?5 WHERE id = ?6 AND sink = ?7 AND lease_holder = ?8 AND end IS NULL";

/// Of those that are over the oldest go; and whatever is over for longer than the log is kept.
const FORGET: [&str; 2] = [
    "DELETE FROM letters WHERE end IS NOT NULL AND (ended_at < ?1 OR place <= (SELECT max(place) FROM letters) - ?2)",
    "DELETE FROM alarms WHERE open = 0 AND max(healed_at, told_over_at) < ?1 AND ?2 > 0",
];

const OLD: &str = "SELECT EXISTS (SELECT 1 FROM letters WHERE end IS NOT NULL AND (ended_at < ?1 \
     OR place <= (SELECT max(place) FROM letters) - ?2)) \
     OR EXISTS (SELECT 1 FROM alarms WHERE open = 0 AND max(healed_at, told_over_at) < ?1)";

impl AlarmStore for SqliteStore {
    fn alarm_pulse(&self, ladder: &str, now: Timestamp) -> Result<Pulse, StoreError> {
        self.read(|conn| {
            let values = params![ladder, now.as_millisecond(), FAR];
            Ok(conn.prepare_cached(PULSE)?.query_row(values, |row| {
                let looked_at: Option<i64> = row.get(3)?;
                let looked_at = looked_at.and_then(|at| Timestamp::from_millisecond(at).ok());
                Ok(Pulse { here: row.get(0)?, open: row.get(1)?, due: row.get(2)?, looked_at })
            })?)
        })
    }

    fn alarms(&self) -> Result<Vec<Alarm>, StoreError> {
        self.read(alarms)
    }

    fn letters(&self) -> Result<Vec<Letter>, StoreError> {
        self.read(letters)
    }

    fn look_at_alarms(&self, decide: &mut dyn FnMut(&AlarmView) -> AlarmBatch) -> Result<AlarmBatch, StoreError> {
        let batch = self.read(|conn| Ok(decide(&view(conn)?)))?;
        if batch.is_empty() {
            return Ok(batch);
        }
        self.write(|conn| {
            let batch = decide(&view(conn)?);
            put(conn, &batch)?;
            Ok(batch)
        })
    }

    fn claim_letter(&self, sinks: &[Sink], lease: &Lease, now: Timestamp) -> Result<Option<Letter>, StoreError> {
        // Who finds nothing takes no lock.
        if self.read(|conn| due(conn, sinks, now))?.is_none() {
            return Ok(None);
        }
        self.write(|conn| {
            let Some((place, letter)) = due(conn, sinks, now)? else { return Ok(None) };
            let values = params![lease.holder.as_str(), lease.until.as_millisecond(), place];
            conn.prepare_cached(TAKE)?.execute(values)?;
            Ok(Some(Letter { tries: letter.tries.saturating_add(1), lease: Some(lease.clone()), ..letter }))
        })
    }

    fn settle_letter(&self, letter: &Letter, lease: &Lease) -> Result<bool, StoreError> {
        self.write(|conn| {
            let values = params![
                letter.tries,
                letter.due_at.as_millisecond(),
                letter.end.map(|(end, _)| end.as_str()),
                letter.end.map(|(_, at)| at.as_millisecond()),
                letter.error,
                letter.id,
                letter.sink.as_str(),
                lease.holder.as_str(),
            ];
            Ok(conn.prepare_cached(SETTLE)?.execute(values)? > 0)
        })
    }
}

/// All that an alarm can depend on. The caller holds a transaction.
fn view(conn: &Connection) -> Result<AlarmView, Trouble> {
    let denied: Option<i64> =
        conn.prepare_cached("SELECT max(at) FROM retries WHERE granted = 0")?.query_row([], |row| row.get(0))?;
    Ok(AlarmView {
        snapshot: snapshot(conn, &Accounts::All)?,
        health: health::all(conn)?,
        denied_at: denied.and_then(|at| Timestamp::from_millisecond(at).ok()),
        alarms: alarms(conn)?,
    })
}

/// All alarms. The caller holds a transaction.
pub(super) fn alarms(conn: &Connection) -> Result<Vec<Alarm>, Trouble> {
    let mut statement = conn.prepare_cached(ALARMS)?;
    let mut rows = statement.query([])?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        all.push(alarm(&mut Fields::new(row, "alarms"))?);
    }
    Ok(all)
}

/// All messages, the oldest first. The caller holds a transaction.
pub(super) fn letters(conn: &Connection) -> Result<Vec<Letter>, Trouble> {
    let mut statement = conn.prepare_cached(&format!("{LETTERS} ORDER BY place"))?;
    let mut rows = statement.query([])?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        all.push(letter(&mut Fields::new(row, "letters"))?.1);
    }
    Ok(all)
}

fn alarm(f: &mut Fields<'_, '_>) -> Result<Alarm, Trouble> {
    Ok(Alarm {
        kind: f.word()?,
        subject: f.get()?,
        raised_at: f.time()?,
        seen_at: f.time()?,
        count: f.get()?,
        calm_since: f.maybe_time()?,
        healed_at: f.maybe_time()?,
        flaps: f.get()?,
        told_at: f.maybe_time()?,
        told_over_at: f.maybe_time()?,
        part_of: f.get()?,
        until: f.maybe_time()?,
        words: Words { summary: f.get()?, text: f.get()?, details: f.get()? },
    })
}

/// A message with its place in the table.
fn letter(f: &mut Fields<'_, '_>) -> Result<(i64, Letter), Trouble> {
    let place = f.get()?;
    let letter = Letter {
        id: f.get()?,
        sink: f.word()?,
        event: f.word()?,
        kind: f.word()?,
        subject: f.get()?,
        at: f.time()?,
        body: f.get()?,
        tries: f.get()?,
        due_at: f.time()?,
        lease: f.lease()?,
        end: {
            let (end, at) = (f.maybe_word()?, f.maybe_time()?);
            end.zip(at)
        },
        error: f.get()?,
    };
    Ok((place, letter))
}

/// Writes what a look decided. The caller holds the write transaction.
fn put(conn: &Connection, batch: &AlarmBatch) -> Result<(), Trouble> {
    for alarm in &batch.alarms {
        conn.prepare_cached(PUT_ALARM)?.execute(params![
            alarm.kind.as_str(),
            alarm.subject,
            alarm.is_open(),
            alarm.raised_at.as_millisecond(),
            alarm.seen_at.as_millisecond(),
            alarm.count,
            ms(alarm.calm_since),
            ms(alarm.healed_at),
            alarm.flaps,
            ms(alarm.told_at),
            ms(alarm.told_over_at),
            alarm.part_of,
            ms(alarm.until),
            alarm.words.summary,
            alarm.words.text,
            alarm.words.details,
        ])?;
    }
    for letter in &batch.letters {
        conn.prepare_cached(PUT_LETTER)?.execute(params![
            letter.id,
            letter.sink.as_str(),
            letter.event.as_str(),
            letter.kind.as_str(),
            letter.subject,
            letter.at.as_millisecond(),
            letter.body,
            letter.tries,
            letter.due_at.as_millisecond(),
        ])?;
    }
    if let Some(at) = batch.looked_at {
        let sql = "INSERT OR REPLACE INTO meta (key, value) VALUES ('alarms_looked_at', ?1)";
        conn.prepare_cached(sql)?.execute([at.as_millisecond()])?;
    }
    Ok(())
}

/// The oldest message that is due at one of the sinks, with its place. The caller holds a transaction.
fn due(conn: &Connection, sinks: &[Sink], now: Timestamp) -> Result<Option<(i64, Letter)>, Trouble> {
    let mut found: Option<(i64, Letter)> = None;
    for sink in sinks {
        let mut statement = conn.prepare_cached(&format!("{LETTERS}{DUE}"))?;
        let mut rows = statement.query(params![now.as_millisecond(), FAR, sink.as_str()])?;
        if let Some(row) = rows.next()? {
            let next = letter(&mut Fields::new(row, "letters"))?;
            if found.as_ref().is_none_or(|(place, _)| next.0 < *place) {
                found = Some(next);
            }
        }
    }
    Ok(found)
}

/// Whether something of alarms is to be forgotten that was over before this time.
pub(super) fn has_old(conn: &Connection, before: i64) -> Result<bool, Trouble> {
    let old: Option<bool> =
        conn.prepare_cached(OLD)?.query_row(params![before, KEPT_LETTERS], |row| row.get(0)).optional()?;
    Ok(old.unwrap_or(false))
}

/// Forgets it. The caller holds the write transaction.
pub(super) fn forget_old(conn: &Connection, before: i64) -> Result<(), Trouble> {
    for sql in FORGET {
        conn.prepare_cached(sql)?.execute(params![before, KEPT_LETTERS])?;
    }
    Ok(())
}
