//! Who may move the file aside: one process at a time, and nobody while others open or write it.
//!
//! A state is three files, and SQLite finds the WAL by its name: who opens the old file just before it is moved and the
//! WAL just after would write what belongs into one file into the other. So everybody shares a lock while they open the
//! file and while they write, and who moves it holds that lock alone. It is a lock on the directory, which every process
//! finds, whatever is wrong with the file, and which leaves nothing behind. Between two transactions nothing is locked:
//! each begins by a look at whether the file at the path is still the one that was opened (see [`FileId`]).
//!
//! Where directories cannot be locked (some network file systems), nobody can move a file, so nobody need wait.

use std::fs::{self, File, Metadata, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::busy::Wait;

/// The directory of the file, kept open for the locks to come.
#[derive(Debug, Clone)]
pub(super) struct Door(Option<Arc<File>>);

/// The lock, until it is dropped.
#[derive(Debug)]
pub(super) struct Turn(Arc<File>);

impl Door {
    pub(super) fn of(path: &Path) -> Self {
        let directory = real(path).parent().and_then(|directory| File::open(directory).ok());
        Self(directory.map(Arc::new))
    }

    /// Waits while another process moves the file. After that long it is no process of ours that holds the lock, for a
    /// move takes milliseconds; then it goes without.
    pub(super) fn shared(&self, limit: Duration) -> Option<Turn> {
        self.take(limit, File::try_lock_shared)
    }

    /// Waits while others open or write the file; none when it cannot be had.
    pub(super) fn alone(&self, limit: Duration) -> Option<Turn> {
        self.take(limit, File::try_lock)
    }

    fn take(&self, limit: Duration, lock: impl Fn(&File) -> Result<(), TryLockError>) -> Option<Turn> {
        let directory = self.0.clone()?;
        let mut wait = Wait::new(limit);
        let mut first = true;
        loop {
            match lock(&directory) {
                Ok(()) => return Some(Turn(directory)),
                Err(TryLockError::WouldBlock) if wait.pause(first) => first = false,
                Err(_) => return None,
            }
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        // The end of the process would free it too.
        let _ = self.0.unlock();
    }
}

/// The file itself, where the path is a link: SQLite puts the WAL beside it.
pub(super) fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Which file it is, whatever its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileId(u64, u64);

impl FileId {
    /// The file that is at the path now; none where there is none, or where the system does not tell.
    pub(super) fn at(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().and_then(|found| Self::of(&found))
    }

    /// The file that is open.
    pub(super) fn of_file(file: &File) -> Option<Self> {
        file.metadata().ok().and_then(|found| Self::of(&found))
    }

    #[cfg(unix)]
    #[expect(clippy::unnecessary_wraps, reason = "not every system tells")]
    fn of(found: &Metadata) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        Some(Self(found.dev(), found.ino()))
    }

    #[cfg(not(unix))]
    fn of(_: &Metadata) -> Option<Self> {
        None
    }
}
