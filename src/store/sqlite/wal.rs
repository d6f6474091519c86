//! Keeping the WAL short.
//!
//! The first process to open the file after a pause reads the whole WAL, at 1 to 7 µs a page, and most of our processes
//! are such a first one. Writing the WAL back costs two fsyncs, so it is not done at every end of a process either.
//! SQLite's own checkpoint copies the pages but leaves it to the next writer *of the same moment* to start the WAL over;
//! where each process writes once and is gone, that never happens, and the WAL grows for ever. So a process that has
//! written looks at its size when it closes the file, and one that writes on and on looks after each commit for a larger
//! one: beyond these bounds it is written back and cut off. Nobody is waited for: who is in the way will do it in turn.

use std::fs;
use std::path::Path;

use rusqlite::Connection;

use super::OpenOptions;
use super::open::be_patient;

/// From this size on, in bytes, it is written back at the end: some ten requests. Most of what a longer one costs comes
/// before the first byte of each answer, the fsyncs after the last one.
pub(super) const LONG: u64 = 128 << 10;

/// From this size on while more is to be written: the cost of writing back, a few milliseconds, is then that of a hundred
/// commits.
pub(super) const TOO_LONG: u64 = 4 << 20;

/// Writes the WAL back if it has grown to the bound. What goes wrong is left to the next commit: the data is safe either way.
pub(super) fn shorten(conn: &mut Connection, path: &Path, options: OpenOptions, bound: u64) {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    if fs::metadata(name).map_or(0, |wal| wal.len()) < bound {
        return;
    }
    let impatient = conn.busy_handler(None::<fn(i32) -> bool>);
    if impatient.is_ok() {
        // Busy, or out of space: the next commit tries again.
        let _ = conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    }
    // Without a handler the next statement would give up at once instead of waiting: no data is at risk.
    let _ = be_patient(conn, options);
}
