//! Keeps the log bounded, by age and by size, a little at a time.
//!
//! Whoever writes the log also cleans up after it, a bounded number of rows per call, so that no single request pays for
//! a month of others. The size is that of the pages in use, which the file's header tells at once, however long the log
//! is. Freed pages are used again first; only a file that has more of them than the next requests will need gives some
//! back to the system, again a little at a time. (A file of the very first programs cannot: it keeps its length.)
//!
//! Before a row goes it is counted (see `totals`), and rows that stay are counted ahead, so that who asks for the totals
//! finds few that are not.
//!
//! Nobody waits for it: when another process writes at the moment, the next call goes on.

use std::time::Duration;

use jiff::Timestamp;
use rusqlite::Connection;

use super::open::be_patient;
use super::row::Trouble;
use super::totals::{self, Log};
use super::{SqliteStore, StoreError, alarms, baselines, talks};
use crate::domain::SessionName;

/// How much of the log is kept. Holds and the last success and failure of each deployment are not touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// Requests and attempts that started longer ago than this go.
    pub age: Duration,
    /// How many bytes the file may use, about, without its conversations; beyond that the oldest requests and attempts go.
    pub size: u64,
    /// Conversations that nobody has gone on with for so long go, each as a whole.
    pub sessions: Duration,
    /// Kept verdicts that nothing was compared with for so long go.
    pub baselines: Duration,
    /// How many bytes conversations may use, about; beyond that those go that were used longest ago, but none with a call
    /// of which nobody knows whether it did its work, and not the one that was used last.
    pub sessions_size: u64,
    /// How many rows of each kind are deleted in one transaction, so that no other writer waits long.
    pub chunk: u32,
    /// How many such transactions one call makes at most; the next call goes on.
    pub chunks: u32,
}

impl Default for Retention {
    /// 30 days and 500 MB, some 1.5 million attempts; 90 days and 200 MB for conversations, 180 days for kept verdicts; 4
    /// transactions of 250 rows, a few milliseconds each.
    fn default() -> Self {
        let days = |days: u64| Duration::from_secs(days * 24 * 3600);
        Self {
            age: days(30),
            size: 500_000_000,
            sessions: days(90),
            sessions_size: 200_000_000,
            baselines: days(180),
            chunk: 250,
            chunks: 4,
        }
    }
}

/// What was deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pruned {
    /// Attempts that are gone.
    pub attempts: usize,
    /// Requests that are gone.
    pub requests: usize,
    /// Conversations that are gone.
    pub sessions: usize,
    /// Inputs whose kept verdicts are gone.
    pub baselines: usize,
    /// Pages that were given back to the system.
    pub pages: u64,
}

/// So many free pages stay in the file for what comes next: 1 MB.
const SPARE: u64 = 256;

/// So many pages are given back in one call at most: half a MB, and a write of about that size.
const GIVEN_BACK: u64 = 128;

/// Rows are counted faster than deleted, so many for one: a log that nobody has counted yet is caught up with.
const COUNTED: u32 = 4;

/// So long after its time the record of a ladder goes: well after it has ceased to say anything.
const CASCADES: Duration = Duration::from_secs(7 * 24 * 3600);

const OLDEST: &str = "SELECT min(oldest) FROM (SELECT min(started_at) AS oldest FROM attempts \
     UNION ALL SELECT min(started_at) FROM requests)";

/// The start of the last of the oldest rows, so many of each table; of the two the earlier, so that both move together.
const OLDEST_FEW: &str = "SELECT min(last) FROM (\
     SELECT max(started_at) AS last FROM (SELECT started_at FROM attempts ORDER BY started_at LIMIT ?1) UNION ALL \
     SELECT max(started_at) FROM (SELECT started_at FROM requests ORDER BY started_at LIMIT ?1))";

const OLD_ATTEMPTS: &str = "SELECT place FROM attempts WHERE started_at < ?1 ORDER BY started_at LIMIT ?2";

/// The newest place stays, so that places keep growing and no follower of the log misses an end.
const OLD_REQUESTS: &str = "SELECT place FROM requests WHERE started_at < ?1 \
     AND place < (SELECT max(place) FROM requests) ORDER BY started_at LIMIT ?2";

/// Ladders that fell through and were not asked again; what is so old says nothing any more.
const DELETE_CASCADES: &str = "DELETE FROM cascades WHERE max(since, until) < ?1";

const OLD_CASCADE: &str = "SELECT 1 FROM cascades WHERE max(since, until) < ?1 LIMIT 1";

impl SqliteStore {
    /// Deletes what is older or more than is to be kept, a bounded number of rows per call; meant to be called by each
    /// process that has written the log. With nothing to do it looks into two indexes and takes no lock.
    ///
    /// # Errors
    /// When the file cannot be read or written. That another process writes just now is none.
    pub fn prune(&self, keep: &Retention, now: Timestamp) -> Result<Pruned, StoreError> {
        let _ = self.live().conn.busy_handler(None::<fn(i32) -> bool>);
        let mut pruned = Pruned::default();
        let done = self.prune_some(keep, now, &mut pruned);
        let _ = be_patient(&mut self.live().conn, self.place.options);
        match done {
            Ok(()) | Err(StoreError::Locked { .. }) => Ok(pruned),
            Err(error) => Err(error),
        }
    }

    fn prune_some(&self, keep: &Retention, now: Timestamp, pruned: &mut Pruned) -> Result<(), StoreError> {
        for _ in 0..keep.chunks {
            if !self.count_some(keep.chunk.saturating_mul(COUNTED))? {
                break;
            }
        }
        for _ in 0..keep.chunks {
            let Some(before) = self.read(|conn| cutoff(conn, keep, now))? else { break };
            let few = (before, keep.chunk);
            let (attempts, requests) = self.write(|conn| {
                let attempts = delete(conn, Log::Attempts, OLD_ATTEMPTS, few)?;
                Ok((attempts, delete(conn, Log::Requests, OLD_REQUESTS, few)?))
            })?;
            pruned.attempts += attempts;
            pruned.requests += requests;
            if attempts + requests == 0 {
                break;
            }
        }
        let due = self.read(|conn| Due::of(conn, keep, now))?;
        if due.alarms {
            self.write(|conn| alarms::forget_old(conn, past(now, keep.age)))?;
        }
        if due.cascades {
            self.write(|conn| Ok(conn.prepare_cached(DELETE_CASCADES)?.execute([past(now, CASCADES)])?))?;
        }
        if due.sessions {
            self.forget_sessions(keep, now, pruned)?;
        }
        if due.baselines {
            self.forget_baselines(keep, now, pruned)?;
        }
        if due.free > SPARE {
            let (_, free) = self.read(pages)?;
            let more = GIVEN_BACK.min(free.saturating_sub(SPARE));
            pruned.pages = self.write(|conn| give_back(conn, more))?;
        }
        Ok(())
    }
}

impl SqliteStore {
    /// One that another process goes on with at this moment is left alone: it was used just now, or its seat is taken.
    fn forget_sessions(&self, keep: &Retention, now: Timestamp, pruned: &mut Pruned) -> Result<(), StoreError> {
        let before = past(now, keep.sessions);
        for _ in 0..keep.chunks {
            if !self.forget_one(&|conn| talks::old(conn, before), pruned)? {
                break;
            }
        }
        for _ in 0..keep.chunks {
            if !self.forget_one(&|conn| talks::too_much(conn, keep.sessions_size), pruned)? {
                break;
            }
        }
        Ok(())
    }

    fn forget_one(
        &self,
        which: &dyn Fn(&Connection) -> Result<Option<SessionName>, Trouble>,
        pruned: &mut Pruned,
    ) -> Result<bool, StoreError> {
        let Some(name) = self.read(which)? else { return Ok(false) };
        let Some(_seat) = self.seat(&name) else { return Ok(false) };
        let removed = self.write(|conn| {
            // It may have been used since.
            let still = which(conn)?.is_some_and(|old| old == name);
            if still { talks::remove(conn, &name) } else { Ok(0) }
        })?;
        pruned.sessions += removed;
        Ok(true)
    }

    fn forget_baselines(&self, keep: &Retention, now: Timestamp, pruned: &mut Pruned) -> Result<(), StoreError> {
        let before = past(now, keep.baselines);
        for _ in 0..keep.chunks {
            if !self.read(|conn| baselines::has_old(conn, before))? {
                break;
            }
            pruned.baselines += self.write(|conn| baselines::forget_old(conn, before, keep.chunk))?;
        }
        Ok(())
    }
}

/// What else has had its time. It is found in one look: each read of its own takes and drops the file's locks.
struct Due {
    alarms: bool,
    cascades: bool,
    sessions: bool,
    baselines: bool,
    /// Pages that nobody uses.
    free: u64,
}

impl Due {
    fn of(conn: &Connection, keep: &Retention, now: Timestamp) -> Result<Self, Trouble> {
        let too_much = || Ok::<bool, Trouble>(talks::too_much(conn, keep.sessions_size)?.is_some());
        Ok(Self {
            alarms: alarms::has_old(conn, past(now, keep.age))?,
            cascades: conn.prepare_cached(OLD_CASCADE)?.exists([past(now, CASCADES)])?,
            sessions: talks::old(conn, past(now, keep.sessions))?.is_some() || too_much()?,
            baselines: baselines::has_old(conn, past(now, keep.baselines))?,
            free: pages(conn)?.1,
        })
    }
}

/// So long ago, in milliseconds since 1970 UTC.
fn past(now: Timestamp, age: Duration) -> i64 {
    now.as_millisecond().saturating_sub(i64::try_from(age.as_millis()).unwrap_or(i64::MAX))
}

/// Deletes the rows with the places that the query gives, once they are counted.
fn delete(conn: &Connection, log: Log, places: &str, few: (i64, u32)) -> Result<usize, Trouble> {
    totals::add_leaving(conn, log, places, few)?;
    let sql = format!("DELETE FROM {} WHERE place IN ({})", log.table(), places);
    Ok(conn.prepare_cached(&sql)?.execute(few)?)
}

/// The time before which rows go; none when nothing is that old.
fn cutoff(conn: &Connection, keep: &Retention, now: Timestamp) -> Result<Option<i64>, Trouble> {
    let mut before = past(now, keep.age);
    let (used, _) = pages(conn)?;
    let used = used.saturating_mul(page_size(conn)?);
    // A long conversation must not empty the log, so it is counted for itself; but only where it could matter.
    if used > keep.size && used.saturating_sub(talks::bytes(conn)?) > keep.size {
        let few: Option<i64> = conn.prepare_cached(OLDEST_FEW)?.query_row([keep.chunk], |row| row.get(0))?;
        before = before.max(few.map_or(i64::MIN, |last| last.saturating_add(1)));
    }
    let oldest: Option<i64> = conn.prepare_cached(OLDEST)?.query_row([], |row| row.get(0))?;
    Ok(oldest.filter(|oldest| *oldest < before).map(|_| before))
}

/// How many pages are in use, and how many are free.
pub(super) fn pages(conn: &Connection) -> Result<(u64, u64), Trouble> {
    let free: u64 = pragma(conn, "PRAGMA freelist_count")?;
    Ok((pragma(conn, "PRAGMA page_count")?.saturating_sub(free), free))
}

pub(super) fn page_size(conn: &Connection) -> Result<u64, Trouble> {
    pragma(conn, "PRAGMA page_size")
}

fn pragma(conn: &Connection, sql: &str) -> Result<u64, Trouble> {
    let number: i64 = conn.prepare_cached(sql)?.query_row([], |row| row.get(0))?;
    Ok(number.unsigned_abs())
}

/// Gives back so many of the free pages; none where the file was made without the means.
fn give_back(conn: &Connection, most: u64) -> Result<u64, Trouble> {
    let (_, before) = pages(conn)?;
    let mut statement = conn.prepare(&format!("PRAGMA incremental_vacuum({most})"))?;
    let mut rows = statement.query([])?;
    // Each step gives back one page.
    while rows.next()?.is_some() {}
    let (_, after) = pages(conn)?;
    Ok(before.saturating_sub(after))
}
