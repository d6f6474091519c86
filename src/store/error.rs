//! What can be wrong with the state: each case its own variant, because each has its own way out.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::domain::{LadderName, SessionName};
use crate::policy::Key;

/// Trouble with the state. The message says what is wrong and names the file; [`hint`](Self::hint) says what to do.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A record is not at the version that the decision saw; nothing was written.
    #[error("another process changed the record first")]
    Conflict,
    /// Every try of an update met a conflict.
    #[error("the state changed under each of {tries} tries to write it")]
    Contended {
        /// How many there were.
        tries: u32,
    },
    /// A change names one record and carries another: a fault of the program.
    #[error("a change names the record {key:?} and carries another")]
    Mismatch {
        /// The record that it names.
        key: Box<Key>,
    },
    /// A change names one ladder and carries the record of another: a fault of the program.
    #[error("a change names the ladder {ladder} and carries another")]
    MismatchedLadder {
        /// The ladder that it names.
        ladder: LadderName,
    },
    /// There is no file, and none was to be made.
    #[error("there is no state file {}", path.display())]
    Missing {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The path leads to a directory, a device or the like.
    #[error("the state file {} is no regular file", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// The file is there, but cannot be read.
    #[error("cannot read the state file {}: {problem}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system or SQLite said.
        problem: String,
    },
    /// The file or its directory could not be made.
    #[error("cannot create the state file {}", path.display())]
    CannotCreate {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file, its directory or its file system does not take writes.
    #[error("cannot write to the state file {}", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// Another program kept the file locked all the time that we waited.
    #[error("the state file {} has been locked by another program for {:.1} s", path.display(), waited.as_secs_f64())]
    Locked {
        /// The file.
        path: PathBuf,
        /// How long a wait may last.
        waited: Duration,
    },
    /// No space left.
    #[error("no space left to write the state file {}", path.display())]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// The file holds something else than a database.
    #[error("{} is not a state file: it is no SQLite database", path.display())]
    NotADatabase {
        /// The file.
        path: PathBuf,
    },
    /// The file is a database of another program.
    #[error("{} is not a state file: it is the database of another program", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// A newer program wrote the file; it was not touched.
    #[error("the state file {} has version {found}, this program knows {known}", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// The version that it has.
        found: i64,
        /// The newest version that this program knows.
        known: i64,
    },
    /// An older program wrote the file, and it was opened for reading only.
    #[error("the state file {} has the old version {found}, this program reads {known}", path.display())]
    Older {
        /// The file.
        path: PathBuf,
        /// The version that it has.
        found: i64,
        /// The version that this program reads.
        known: i64,
    },
    /// The file is damaged.
    #[error("the state file {} is damaged: {problem}", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        problem: String,
    },
    /// A value that this program never writes.
    #[error("the state file {} holds something unknown in table {table}, row {row}: {problem}", path.display())]
    BadRow {
        /// The file.
        path: PathBuf,
        /// The table.
        table: &'static str,
        /// The row's number: its first column; 0 where rows have none.
        row: i64,
        /// The column and what is wrong with it.
        problem: String,
    },
    /// A turn of a conversation that this program cannot read.
    #[error("turn {place} of session {session} cannot be read: {problem}")]
    BadTurn {
        /// The conversation.
        session: SessionName,
        /// Which turn, from 0.
        place: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// Anything else that the system or SQLite had to say.
    #[error("trouble with the state file {}: {problem}", path.display())]
    Other {
        /// The file.
        path: PathBuf,
        /// What was said.
        problem: String,
    },
}

impl StoreError {
    /// Whether the same may go well after a while, without a change to the file.
    pub fn may_pass(&self) -> bool {
        matches!(self, Self::Locked { .. } | Self::Full { .. } | Self::Other { .. } | Self::CannotCreate { .. })
    }

    /// What a person can do about it, where there is something.
    pub fn hint(&self) -> Option<String> {
        let aside = |path: &PathBuf| {
            format!(
                "move it aside together with {0}-wal and {0}-shm; the next run starts with a new one",
                path.display()
            )
        };
        match self {
            Self::Conflict | Self::Mismatch { .. } | Self::MismatchedLadder { .. } => None,
            Self::Contended { .. } => Some("run it again; too many processes write at the same moment".to_owned()),
            Self::Missing { .. } => {
                Some("the first request makes it; `--state FILE` or LLMR_STATE names another".to_owned())
            }
            Self::NotAFile { .. } | Self::NotADatabase { .. } | Self::Foreign { .. } => {
                Some("name another file with `--state FILE` or LLMR_STATE; this one was not changed".to_owned())
            }
            Self::Unreadable { path, .. } | Self::ReadOnly { path } | Self::CannotCreate { path, .. } => Some(format!(
                "allow this user to read and write {} and its directory, or name another file with `--state FILE`",
                path.display()
            )),
            Self::Locked { path, .. } => {
                Some(format!("close what holds it (`fuser {}` may tell), then run it again", path.display()))
            }
            Self::Full { .. } => {
                Some("free some space, then run it again; what was written before is intact".to_owned())
            }
            Self::Newer { .. } => {
                Some("update llmr, or name another file with `--state FILE`; this one was not changed".to_owned())
            }
            Self::Older { .. } => {
                Some("run a command that writes, such as `llmr chat`, to bring it up to date".to_owned())
            }
            Self::Corrupt { path, .. } => Some(aside(path)),
            Self::BadTurn { session, .. } => {
                Some(format!("update llmr if a newer one runs beside it; else `llmr session rm {session}` gives it up"))
            }
            Self::BadRow { row: 0, .. } => Some("update llmr if a newer one runs beside it".to_owned()),
            Self::BadRow { path, table, row, .. } => Some(format!(
                "update llmr if a newer one runs beside it; else remove the row: sqlite3 {} \"DELETE FROM {table} WHERE rowid = {row}\"",
                path.display()
            )),
            Self::Other { .. } => Some("run it again with `-v`; `--state FILE` names another file".to_owned()),
        }
    }
}
