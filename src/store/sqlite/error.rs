//! From SQLite's result codes to ours.

use std::path::Path;
use std::time::Duration;

use rusqlite::ErrorCode;

use super::StoreError;
use super::open::known;
use super::row::Trouble;

/// The error with the path, and with the reason where SQLite's code is clear.
pub(super) fn told(path: &Path, waited: Duration, error: &rusqlite::Error) -> StoreError {
    let path = path.to_owned();
    let problem = error.to_string();
    let code = error.sqlite_error_code();
    match code {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed) => {
            StoreError::Locked { path, waited }
        }
        Some(ErrorCode::DiskFull) => StoreError::Full { path },
        Some(ErrorCode::ReadOnly) => StoreError::ReadOnly { path },
        Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => StoreError::Unreadable { path, problem },
        Some(ErrorCode::NotADatabase) => StoreError::NotADatabase { path },
        Some(ErrorCode::DatabaseCorrupt) => StoreError::Corrupt { path, problem },
        _ => StoreError::Other { path, problem },
    }
}

/// The same for what happens inside transactions.
pub(super) fn told_trouble(path: &Path, waited: Duration, trouble: Trouble) -> StoreError {
    match trouble {
        Trouble::Sqlite(error) => told(path, waited, &error),
        Trouble::Conflict => StoreError::Conflict,
        Trouble::OtherVersion(found) if found < known() => {
            StoreError::Older { path: path.to_owned(), found, known: known() }
        }
        Trouble::OtherVersion(found) => StoreError::Newer { path: path.to_owned(), found, known: known() },
        Trouble::BadRow { table, row, problem } => StoreError::BadRow { path: path.to_owned(), table, row, problem },
    }
}
