//! Keeps the log bounded.

use std::time::Duration;

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension};

use super::row::Trouble;
use super::{SqliteStore, StoreError};

/// How much of the log is kept. Holds and the last success and failure of each deployment are not touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// Requests and attempts that started longer ago than this go.
    pub age: Duration,
    /// About how many attempts stay at most; the oldest go, with their requests.
    pub attempts: u32,
    /// How many rows are deleted in one transaction, so that no other writer waits long.
    pub chunk: u32,
    /// How many such transactions one call makes at most; the next call goes on.
    pub chunks: u32,
}

impl Default for Retention {
    /// 30 days and 1,000,000 attempts (some 400 MB); 4 transactions of 500 rows, a few milliseconds each.
    fn default() -> Self {
        Self { age: Duration::from_secs(30 * 24 * 3600), attempts: 1_000_000, chunk: 500, chunks: 4 }
    }
}

/// What was deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pruned {
    /// Attempts that are gone.
    pub attempts: usize,
    /// Requests that are gone.
    pub requests: usize,
}

const OLDEST: &str = "SELECT min(oldest) FROM (SELECT min(started_at) AS oldest FROM attempts \
     UNION ALL SELECT min(started_at) FROM requests)";

/// Places are handed out in order, so counting back from the newest needs no counting.
const SURPLUS: &str = "SELECT started_at FROM attempts WHERE place <= (SELECT max(place) FROM attempts) - ?1 \
     ORDER BY place DESC LIMIT 1";

const DELETE_ATTEMPTS: &str = "DELETE FROM attempts WHERE place IN \
     (SELECT place FROM attempts WHERE started_at < ?1 ORDER BY started_at LIMIT ?2)";

/// The newest place stays, so that places keep growing and no follower of the log misses an end.
const DELETE_REQUESTS: &str = "DELETE FROM requests WHERE place IN \
     (SELECT place FROM requests WHERE started_at < ?1 AND place < (SELECT max(place) FROM requests) \
     ORDER BY started_at LIMIT ?2)";

impl SqliteStore {
    /// Deletes what is older or more than is to be kept, a bounded number of rows per call; meant to be called now and
    /// then. With nothing to do it looks into three indexes and takes no lock.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub fn prune(&self, keep: &Retention, now: Timestamp) -> Result<Pruned, StoreError> {
        let mut pruned = Pruned::default();
        let Some(before) = self.read(|conn| cutoff(conn, keep, now))? else { return Ok(pruned) };
        for _ in 0..keep.chunks {
            let (attempts, requests) = self.write(|conn| {
                let values = (before, keep.chunk);
                let attempts = conn.prepare_cached(DELETE_ATTEMPTS)?.execute(values)?;
                Ok((attempts, conn.prepare_cached(DELETE_REQUESTS)?.execute(values)?))
            })?;
            pruned.attempts += attempts;
            pruned.requests += requests;
            if attempts + requests == 0 {
                break;
            }
        }
        Ok(pruned)
    }
}

/// The time before which rows go; none when nothing is that old.
fn cutoff(conn: &Connection, keep: &Retention, now: Timestamp) -> Result<Option<i64>, Trouble> {
    let age = i64::try_from(keep.age.as_millis()).unwrap_or(i64::MAX);
    let by_age = now.as_millisecond().saturating_sub(age);
    let surplus: Option<i64> = conn.prepare_cached(SURPLUS)?.query_row([keep.attempts], |row| row.get(0)).optional()?;
    let before = by_age.max(surplus.map_or(i64::MIN, |newest| newest.saturating_add(1)));
    let oldest: Option<i64> = conn.prepare_cached(OLDEST)?.query_row([], |row| row.get(0))?;
    Ok(oldest.filter(|oldest| *oldest < before).map(|_| before))
}
