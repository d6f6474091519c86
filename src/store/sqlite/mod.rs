//! State in one SQLite file that every process shares and an operator can read with any SQLite tool.
//!
//! Writes are `BEGIN IMMEDIATE` transactions: whoever holds the lock has seen the newest state, so nothing is ever
//! refused half-way. The file is in WAL mode, so that readers never wait for a writer; `-wal` and `-shm` stay beside it
//! between runs, because writing them back is a cost that no short process should pay (a commit does it once
//! they have grown). Whatever is wrong with a file, it is never overwritten, repaired or deleted; at most it gets another
//! name (see `aside`).

mod alarms;
mod answers;
mod aside;
mod baselines;
mod busy;
mod cascades;
mod error;
mod evidence;
mod facts;
mod health;
mod holds;
mod learned;
mod live;
mod log;
mod open;
mod prune;
mod retries;
mod row;
mod salvage;
mod schema;
mod seat;
mod talks;
mod totals;
mod track;
mod turn;
mod usage;
mod wal;

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use rusqlite::{Connection, TransactionBehavior};

use super::{Accounts, Batch, Claim, Claiming, Health, LogFilter, LogPage, Snapshot, Store, StoreError};
use crate::clock::Clock;
use crate::domain::{Deployment, KeptAnswer, KeptEvidence, LadderName, Prefix, RequestId};
use crate::policy::{Finding, TrackRecord, Versioned};
use aside::SetAside;
use live::{Live, Place};
use row::Trouble;

pub use prune::{Pruned, Retention};
pub use seat::Seat;

/// How to open the file.
#[derive(Debug, Clone, Copy)]
pub struct OpenOptions {
    /// How long to wait for a lock that another process holds, before it counts as [`StoreError::Locked`].
    pub busy: Duration,
    /// Gives a damaged file another name, beside itself and with the time of this clock in it, and begins a new one with
    /// the holds that can still be read; [`Store::take_warning`] tells. With none the damage is an error.
    pub set_aside: Option<Clock>,
}

impl Default for OpenOptions {
    /// Waits 5 seconds: transactions take microseconds, so who waits longer meets a program that hangs. Damage is an error.
    fn default() -> Self {
        Self { busy: Duration::from_secs(5), set_aside: None }
    }
}

/// State in a SQLite file.
#[derive(Debug)]
pub struct SqliteStore {
    live: Mutex<Live>,
    place: Place,
    /// Our own commits, which SQLite's counter of changes leaves out, and the moves to another file.
    commits: AtomicU64,
    moved: Mutex<Option<SetAside>>,
}

impl SqliteStore {
    /// Opens the file for reading and writing. One that is not there is made, with the mode 0600 and its directories
    /// with 0700; an older one is brought up to date.
    ///
    /// # Errors
    /// When it cannot be made, opened or written, is no state file, or is of a newer program; it is then left as it is.
    pub fn open(path: &Path, options: OpenOptions) -> Result<Self, StoreError> {
        Self::at(Place { path: open::plain(path), options, read_only: false })
    }

    /// Opens the file for reading only.
    ///
    /// # Errors
    /// [`StoreError::Missing`] when there is none or nothing is in it; others as [`open`](Self::open).
    pub fn open_read_only(path: &Path, options: OpenOptions) -> Result<Self, StoreError> {
        Self::at(Place { path: open::plain(path), options, read_only: true })
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.place.path
    }

    /// A damaged file that was in the place of this one before; what it knew of conversations is not known here.
    pub fn set_aside(&self) -> Option<std::path::PathBuf> {
        aside::beside(&self.place.path)
    }

    fn at(place: Place) -> Result<Self, StoreError> {
        let (live, moved) = place.open()?;
        Ok(Self { live: Mutex::new(live), place, commits: AtomicU64::new(0), moved: Mutex::new(moved) })
    }

    /// Runs the reads as of one moment.
    fn read<T>(&self, reads: impl FnMut(&Connection) -> Result<T, Trouble>) -> Result<T, StoreError> {
        self.transaction(TransactionBehavior::Deferred, reads)
    }

    /// Runs the writes all or nothing, with no other writer at the same time.
    fn write<T>(&self, writes: impl FnMut(&Connection) -> Result<T, Trouble>) -> Result<T, StoreError> {
        let written = self.transaction(TransactionBehavior::Immediate, writes)?;
        self.commits.fetch_add(1, Ordering::Relaxed);
        wal::shorten(&mut self.live().conn, &self.place.path, self.place.options, wal::TOO_LONG);
        Ok(written)
    }

    /// The body may run twice: what it did on a damaged file is rolled back.
    fn transaction<T>(
        &self,
        behavior: TransactionBehavior,
        body: impl FnMut(&Connection) -> Result<T, Trouble>,
    ) -> Result<T, StoreError> {
        let mut moved = None;
        let mut live = self.live();
        let before = live.file;
        let done = self.place.transaction(&mut live, behavior, &mut moved, body);
        if live.file != before {
            self.commits.fetch_add(1, Ordering::Relaxed);
        }
        if moved.is_some() {
            *self.moved.lock().unwrap_or_else(PoisonError::into_inner) = moved;
        }
        done
    }

    /// A panic elsewhere rolls its transaction back, so the connection is good to use.
    fn live(&self) -> MutexGuard<'_, Live> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        if self.commits.load(Ordering::Relaxed) > 0 && !self.place.read_only {
            wal::shorten(&mut self.live().conn, &self.place.path, self.place.options, wal::LONG);
        }
    }
}

fn snapshot(conn: &Connection, of: &Accounts) -> Result<Snapshot, Trouble> {
    Ok(Snapshot { holds: holds::read(conn)?, usage: usage::read(conn, of)?, cascades: cascades::read(conn)? })
}

fn write_batch(conn: &Connection, batch: &Batch) -> Result<(), Trouble> {
    for change in &batch.changes {
        holds::apply(conn, change)?;
    }
    for change in &batch.cascades {
        cascades::apply(conn, change)?;
    }
    usage::write(conn, batch)?;
    learned::write(conn, batch)?;
    for (id, place, attempt) in &batch.attempts {
        log::put_attempt(conn, id, *place, attempt)?;
    }
    for (id, place, kept) in &batch.kept {
        evidence::put(conn, id, *place, kept)?;
    }
    if let Some((id, answer)) = &batch.answer {
        answers::put(conn, id, answer)?;
    }
    match &batch.request {
        Some(request) => log::put_request(conn, request),
        None => Ok(()),
    }
}

impl Store for SqliteStore {
    fn holds(&self) -> Result<Vec<Versioned>, StoreError> {
        self.read(holds::read)
    }

    fn commit(&self, batch: &Batch) -> Result<(), StoreError> {
        batch.check()?;
        self.write(|conn| write_batch(conn, batch))
    }

    fn snapshot(&self, of: &Accounts) -> Result<Snapshot, StoreError> {
        self.read(|conn| snapshot(conn, of))
    }

    fn commit_decided(&self, of: &Accounts, decide: &mut dyn FnMut(&Snapshot) -> Batch) -> Result<(), StoreError> {
        let mut checked = Ok(());
        self.write(|conn| {
            let batch = decide(&snapshot(conn, of)?);
            checked = batch.check();
            if checked.is_ok() { write_batch(conn, &batch) } else { Ok(()) }
        })?;
        checked
    }

    fn health(&self) -> Result<Vec<Health>, StoreError> {
        self.read(health::all)
    }

    fn log(&self, filter: &LogFilter) -> Result<LogPage, StoreError> {
        self.read(|conn| log::read(conn, filter))
    }

    fn kept(&self, id: &RequestId) -> Result<Vec<(u32, KeptEvidence)>, StoreError> {
        self.read(|conn| evidence::of_request(conn, id))
    }

    fn take_retry(&self, id: &RequestId, now: Timestamp, since: Timestamp, budget: u32) -> Result<bool, StoreError> {
        self.write(|conn| retries::take(conn, id, now, since, budget))
    }

    fn claim_request(&self, wish: &Claiming<'_>) -> Result<Claim, StoreError> {
        self.write(|conn| answers::claim(conn, wish))
    }

    fn answer(&self, id: &RequestId) -> Result<Option<KeptAnswer>, StoreError> {
        self.read(|conn| answers::of_request(conn, id))
    }

    fn findings(&self, now: Timestamp) -> Result<Vec<Finding>, StoreError> {
        self.read(|conn| learned::findings(conn, now))
    }

    fn prefixes(&self, digest: &str, since: Timestamp) -> Result<Vec<Prefix>, StoreError> {
        self.read(|conn| learned::prefixes(conn, digest, since))
    }

    fn track_records(
        &self,
        of: &[Deployment],
        ladder: Option<&LadderName>,
        since: Timestamp,
        most: u32,
    ) -> Result<Vec<TrackRecord>, StoreError> {
        self.read(|conn| track::records(conn, of, ladder, since, most))
    }

    fn change_token(&self) -> Result<u64, StoreError> {
        let others: u32 =
            self.read(|conn| Ok(conn.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?))?;
        // Both halves only ever change when something was committed; that they come around after 2³² commits between
        // two looks is no worry.
        Ok((u64::from(others) << 32) | (self.commits.load(Ordering::Relaxed) & 0xffff_ffff))
    }

    fn take_warning(&self) -> Option<String> {
        self.moved.lock().unwrap_or_else(PoisonError::into_inner).take().map(|moved| moved.to_string())
    }

    fn salt(&self) -> Result<Vec<u8>, StoreError> {
        self.read(|conn| {
            Ok(conn
                .prepare_cached("SELECT unhex(value) FROM meta WHERE key = 'salt'")?
                .query_row([], |row| row.get(0))?)
        })
    }
}

#[cfg(test)]
mod tests;
