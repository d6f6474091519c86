//! Who may go on with a conversation: one process at a time.
//!
//! The system's own lock says so, on a file that is there as long as somebody sits on it. A note in the state would have
//! to be waited out after a process was killed; the lock is free at that very moment, and whoever comes next goes on at
//! once. Where files cannot be locked (some network file systems), the one who came last writes, and the store refuses
//! what the other one writes from then on.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use super::SqliteStore;
use super::turn::{FileId, real};
use crate::domain::SessionName;

/// The right to go on with one conversation, until it is dropped.
#[derive(Debug)]
pub struct Seat {
    path: PathBuf,
    file: Option<File>,
}

impl SqliteStore {
    /// Takes the only seat of the conversation; none while another process has it. The name must be a good one: it
    /// becomes a part of a file's name.
    pub fn seat(&self, name: &SessionName) -> Option<Seat> {
        Seat::at(self.path(), name)
    }
}

impl Seat {
    fn at(state: &Path, name: &SessionName) -> Option<Self> {
        let mut path = real(state).into_os_string();
        path.push(format!("-session-{name}"));
        let path = PathBuf::from(path);
        // Who leaves removes the file: then the one that was opened here is nobody's any more.
        for _ in 0..100 {
            let opened = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
            let Ok(file) = opened else { return Some(Self { path, file: None }) };
            match file.try_lock() {
                Err(TryLockError::WouldBlock) => return None,
                Err(TryLockError::Error(_)) => return Some(Self { path, file: None }),
                Ok(()) if FileId::of_file(&file) == FileId::at(&path) => return Some(Self { path, file: Some(file) }),
                Ok(()) => {}
            }
        }
        None
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        if let Some(file) = self.file.take() {
            // While it is still locked: nobody else can sit on it yet.
            let _ = std::fs::remove_file(&self.path);
            let _ = file.unlock();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::OpenOptions;

    #[test]
    fn a_conversation_has_one_seat() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("state.db");
        let store = SqliteStore::open(&path, OpenOptions::default()).expect("a store");
        let other = SqliteStore::open(&path, OpenOptions::default()).expect("a store");
        let (a, b) = (SessionName::from("a"), SessionName::from("b"));
        let seat = store.seat(&a).expect("free");
        assert!(other.seat(&a).is_none(), "taken");
        assert!(other.seat(&b).is_some(), "another conversation");
        drop(seat);
        assert!(other.seat(&a).is_some(), "free again");
        let left: Vec<_> = std::fs::read_dir(directory.path()).expect("a directory").flatten().collect();
        let left = left.iter().filter(|entry| entry.file_name().to_string_lossy().contains("session")).count();
        assert_eq!(left, 0, "nothing stays behind");
    }
}
