//! State in one SQLite file that every process shares and an operator can read with any SQLite tool.
//!
//! Writes are `BEGIN IMMEDIATE` transactions: whoever holds the lock has seen the newest state, so nothing is ever
//! refused half-way. The file is in WAL mode, so that readers never wait for a writer; `-wal` and `-shm` stay beside it
//! between runs, because writing them back is a cost that no short process should pay (a commit does it once
//! they have grown). Whatever is wrong with a file, it is never overwritten, repaired or deleted.

mod busy;
mod error;
mod evidence;
mod holds;
mod log;
mod open;
mod prune;
mod row;
mod schema;
mod wal;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::{Batch, Health, LogFilter, LogPage, ShapeCount, Store, StoreError};
use crate::domain::{KeptEvidence, RequestId};
use crate::policy::Versioned;
use error::told_trouble;
use row::Trouble;

pub use prune::{Pruned, Retention};

/// How to open the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenOptions {
    /// How long to wait for a lock that another process holds, before it counts as [`StoreError::Locked`].
    pub busy: Duration,
}

impl Default for OpenOptions {
    /// Waits 5 seconds: transactions take microseconds, so who waits longer meets a program that hangs.
    fn default() -> Self {
        Self { busy: Duration::from_secs(5) }
    }
}

/// State in a SQLite file.
#[derive(Debug)]
pub struct SqliteStore {
    conn: Mutex<Connection>,
    path: PathBuf,
    options: OpenOptions,
    /// Our own commits, which SQLite's counter of changes leaves out.
    commits: AtomicU64,
}

impl SqliteStore {
    /// Opens the file for reading and writing. One that is not there is made, with the mode 0600 and its directories
    /// with 0700; an older one is brought up to date.
    ///
    /// # Errors
    /// When it cannot be made, opened or written, is no state file, or is of a newer program; it is then left as it is.
    pub fn open(path: &Path, options: OpenOptions) -> Result<Self, StoreError> {
        let path = open::plain(path);
        let conn = open::read_write(&path, options)?;
        Ok(Self::of(conn, path, options))
    }

    /// Opens the file for reading only.
    ///
    /// # Errors
    /// [`StoreError::Missing`] when there is none or nothing is in it; others as [`open`](Self::open).
    pub fn open_read_only(path: &Path) -> Result<Self, StoreError> {
        let (path, options) = (open::plain(path), OpenOptions::default());
        let conn = open::read_only(&path, options)?;
        Ok(Self::of(conn, path, options))
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn of(conn: Connection, path: PathBuf, options: OpenOptions) -> Self {
        Self { conn: Mutex::new(conn), path, options, commits: AtomicU64::new(0) }
    }

    /// Runs the reads as of one moment.
    fn read<T>(&self, reads: impl FnOnce(&Connection) -> Result<T, Trouble>) -> Result<T, StoreError> {
        self.transaction(TransactionBehavior::Deferred, reads)
    }

    /// Runs the writes all or nothing, with no other writer at the same time.
    fn write<T>(&self, writes: impl FnOnce(&Connection) -> Result<T, Trouble>) -> Result<T, StoreError> {
        let written = self.transaction(TransactionBehavior::Immediate, writes)?;
        self.commits.fetch_add(1, Ordering::Relaxed);
        let mut conn = self.conn.lock().unwrap_or_else(PoisonError::into_inner);
        wal::shorten(&mut conn, &self.path, self.options);
        Ok(written)
    }

    fn transaction<T>(
        &self,
        behavior: TransactionBehavior,
        body: impl FnOnce(&Connection) -> Result<T, Trouble>,
    ) -> Result<T, StoreError> {
        // A panic elsewhere rolls its transaction back, so the connection is good to use.
        let conn = self.conn.lock().unwrap_or_else(PoisonError::into_inner);
        let run = || {
            let transaction = Transaction::new_unchecked(&conn, behavior)?;
            still_ours(&transaction)?;
            let value = body(&transaction)?;
            transaction.commit()?;
            Ok(value)
        };
        run().map_err(|trouble| told_trouble(&self.path, self.options.busy, trouble))
    }
}

/// A program that runs for long may see a newer one bring the file up to date under its feet.
fn still_ours(conn: &Connection) -> Result<(), Trouble> {
    let version: i64 = conn.prepare_cached("PRAGMA user_version")?.query_row([], |row| row.get(0))?;
    if version == open::known() { Ok(()) } else { Err(Trouble::OtherVersion(version)) }
}

fn write_batch(conn: &Connection, batch: &Batch) -> Result<(), Trouble> {
    for change in &batch.changes {
        holds::apply(conn, change)?;
    }
    for (id, place, attempt) in &batch.attempts {
        log::put_attempt(conn, id, *place, attempt)?;
    }
    for (id, place, kept) in &batch.kept {
        evidence::put(conn, id, *place, kept)?;
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

    fn commit_decided(&self, decide: &mut dyn FnMut(&[Versioned]) -> Batch) -> Result<(), StoreError> {
        let mut checked = Ok(());
        self.write(|conn| {
            let batch = decide(&holds::read(conn)?);
            checked = batch.check();
            if checked.is_ok() { write_batch(conn, &batch) } else { Ok(()) }
        })?;
        checked
    }

    fn health(&self) -> Result<Vec<Health>, StoreError> {
        self.read(log::health)
    }

    fn log(&self, filter: &LogFilter) -> Result<LogPage, StoreError> {
        self.read(|conn| log::read(conn, filter))
    }

    fn kept(&self, id: &RequestId) -> Result<Vec<(u32, KeptEvidence)>, StoreError> {
        self.read(|conn| evidence::of_request(conn, id))
    }

    fn retries_since(&self, since: Timestamp) -> Result<u32, StoreError> {
        self.read(|conn| log::retries_since(conn, since))
    }

    fn shapes_since(&self, since: Timestamp) -> Result<Vec<ShapeCount>, StoreError> {
        self.read(|conn| log::shapes_since(conn, since))
    }

    fn change_token(&self) -> Result<u64, StoreError> {
        let others: u32 =
            self.read(|conn| Ok(conn.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?))?;
        // Both halves only ever change when something was committed; that they come around after 2³² commits between
        // two looks is no worry.
        Ok((u64::from(others) << 32) | (self.commits.load(Ordering::Relaxed) & 0xffff_ffff))
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
