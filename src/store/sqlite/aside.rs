//! A damaged file is kept, under another name, and a new one begins.
//!
//! Without this every request after the damage would run on memory, for ever, and ask what must not be asked. Nothing is
//! deleted or overwritten: the file, its WAL and its index get a name that is not taken, beside themselves, and a person
//! may get more out of them than we do. What can still be read of the holds goes into the new file: a list with gaps is
//! better than none. A conversation goes with all that belongs to it.
//!
//! Any number of processes meet the damage at once. Each waits for its turn, tries again what failed, on the file that
//! is at the path by then, and moves it only if that is damaged too: so the good new file of another process stays.
//!
//! The new file is made elsewhere and renamed when all is in it. Killed in between, we leave the old one in its place,
//! or none at the path; never half of a new one.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rusqlite::config::DbConfig;

use super::open::read_write;
use super::salvage::{Saved, salvage};
use super::turn::{Door, real};
use super::{OpenOptions, StoreError};

/// What was moved, why, and what of it lives on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SetAside {
    file: PathBuf,
    kept: PathBuf,
    problem: String,
    saved: Saved,
}

impl fmt::Display for SetAside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, kept) = (self.file.display(), self.kept.display());
        write!(f, "{}; it is kept as {kept}, and {file} begins anew with ", self.problem)?;
        match self.saved.holds {
            0 => write!(f, "no hold")?,
            1 => write!(f, "the one hold that could be read")?,
            holds => write!(f, "the {holds} holds that could be read")?,
        }
        match self.saved.sessions {
            0 => {}
            1 => write!(f, " and one conversation")?,
            sessions => write!(f, " and {sessions} conversations")?,
        }
        write!(f, "; `sqlite3 {kept} .recover` may get more out of it")
    }
}

/// Tries again what met a damaged file, as the only process that may move it, and moves it if it must. The error when
/// that cannot be done.
pub(super) fn replace<T>(
    path: &Path,
    options: OpenOptions,
    met: StoreError,
    mut again: impl FnMut() -> Result<T, StoreError>,
) -> Result<(T, Option<SetAside>), StoreError> {
    let Some(clock) = options.set_aside else { return Err(met) };
    let real = real(path);
    let Some(_turn) = Door::of(&real).alone(options.busy) else { return Err(met) };
    let error = match again() {
        Err(error) if is_damage(&error) => error,
        other => return other.map(|value| (value, None)),
    };
    match begin_anew(&real, options, clock.now()) {
        Ok((kept, saved)) => {
            let problem = error.to_string();
            again().map(|value| (value, Some(SetAside { file: path.to_owned(), kept, problem, saved })))
        }
        Err(trouble) => {
            tracing::warn!(%trouble, "the damaged state file could not be set aside");
            Err(error)
        }
    }
}

/// Whether the error says that a file of ours is damaged.
pub(super) fn is_damage(error: &StoreError) -> bool {
    match error {
        StoreError::Corrupt { path, .. } => Head::read(path).is_some_and(|head| head.may_be_ours()),
        StoreError::NotADatabase { path } => {
            Head::read(path).is_some_and(|head| named_as_database(path) || (head.magic && head.may_be_ours()))
        }
        _ => false,
    }
}

/// A text that somebody named by mistake is not called so.
fn named_as_database(path: &Path) -> bool {
    let name = path.extension().and_then(|name| name.to_str()).unwrap_or_default().to_ascii_lowercase();
    ["db", "sqlite", "sqlite3"].contains(&name.as_str())
}

/// What the first bytes say, read without SQLite, which refuses to. Closing the file drops all locks that this process
/// has on it; whoever meets this has no use for theirs.
struct Head {
    magic: bool,
    version: u32,
    application: u32,
}

impl Head {
    /// None when the file cannot be read or is empty.
    fn read(path: &Path) -> Option<Self> {
        use std::io::Read;
        let mut bytes = Vec::new();
        fs::File::open(path).and_then(|file| file.take(100).read_to_end(&mut bytes)).ok()?;
        let number = |at| bytes.get(at..at + 4).and_then(|four| four.try_into().ok()).map_or(0, u32::from_be_bytes);
        let magic = bytes.starts_with(b"SQLite format 3\0");
        (!bytes.is_empty()).then(|| Self { magic, version: number(60), application: number(68) })
    }

    /// A file that was just made says nothing yet; one of a newer program is not for us, damaged or not.
    fn may_be_ours(&self) -> bool {
        let ours = super::schema::APPLICATION_ID.unsigned_abs();
        match self.application {
            0 => true,
            id => id == ours && i64::from(self.version) <= super::open::known(),
        }
    }
}

/// Moves the file and puts a new one in its place. Answers with its new name and what was saved.
fn begin_anew(path: &Path, options: OpenOptions, now: Timestamp) -> Result<(PathBuf, Saved), StoreError> {
    let trouble =
        |error: io::Error| StoreError::Other { path: path.to_owned(), problem: format!("moving it: {error}") };
    let kept = reserve(path, now).map_err(trouble)?;
    let fresh = with_suffix(&kept, ".new");
    let made = make(path, &fresh, options).and_then(|saved| {
        swap(path, &kept, &fresh).map_err(trouble)?;
        Ok(saved)
    });
    if made.is_err() {
        // Nothing but what was made here: an empty file under the reserved name, and the new one.
        let reserved = fs::metadata(&kept).is_ok_and(|found| found.len() == 0);
        for file in [&fresh, &with_suffix(&fresh, "-wal"), &with_suffix(&fresh, "-shm")] {
            let _ = fs::remove_file(file);
        }
        if reserved {
            let _ = fs::remove_file(&kept);
        }
    }
    made.map(|saved| (kept, saved))
}

/// A file that was set aside lies beside the one of this path; the last of them.
pub(super) fn beside(path: &Path) -> Option<PathBuf> {
    let path = real(path);
    let begin = format!("{}.corrupt-", path.file_name()?.to_str()?);
    let files = fs::read_dir(path.parent()?).ok()?.flatten().filter(|entry| {
        let name = entry.file_name();
        name.to_str().is_some_and(|name| name.starts_with(&begin) && !name.ends_with("-wal") && !name.ends_with("-shm"))
    });
    files.map(|entry| entry.path()).max()
}

/// Takes a name that nobody has, by an empty file.
fn reserve(path: &Path, now: Timestamp) -> io::Result<PathBuf> {
    let moment = now.strftime("%Y-%m-%dT%H-%M-%SZ");
    for number in 1..1000 {
        let again = if number == 1 { String::new() } else { format!("-{number}") };
        let name = with_suffix(path, &format!(".corrupt-{moment}{again}"));
        let free = |suffix| fs::symlink_metadata(with_suffix(&name, suffix)).is_err();
        if !["-wal", "-shm", ".new"].into_iter().all(free) {
            continue;
        }
        match fs::OpenOptions::new().write(true).create_new(true).open(&name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|_| name),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// The new file with what can be read of the old one, whole and closed, so that it needs no WAL.
fn make(old: &Path, fresh: &Path, options: OpenOptions) -> Result<Saved, StoreError> {
    let told = |error: rusqlite::Error| super::error::told(fresh, options.busy, &error);
    let conn = read_write(fresh, options)?;
    let saved = salvage(old, &conn).map_err(told)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false).map_err(told)?;
    conn.close().map_err(|(_, error)| told(error))?;
    if let Ok(found) = fs::metadata(old) {
        // The mode alone: for those who share it.
        let _ = fs::set_permissions(fresh, found.permissions());
    }
    match fs::metadata(with_suffix(fresh, "-wal")) {
        Ok(wal) if wal.len() > 0 => {
            Err(StoreError::Other { path: fresh.to_owned(), problem: "its WAL could not be written back".to_owned() })
        }
        _ => Ok(saved),
    }
}

/// The side files go first: a main file without them is found damaged again, or was well; one that is left beside a new
/// main file would be taken for its own.
fn swap(path: &Path, kept: &Path, fresh: &Path) -> io::Result<()> {
    let mut moved = Vec::new();
    for suffix in ["-wal", "-shm", ""] {
        let (from, to) = (with_suffix(path, suffix), with_suffix(kept, suffix));
        match fs::rename(&from, &to) {
            Ok(()) => moved.push((from, to)),
            Err(error) if error.kind() == io::ErrorKind::NotFound && !suffix.is_empty() => {}
            Err(error) => {
                for (from, to) in moved {
                    let _ = fs::rename(to, from);
                }
                return Err(error);
            }
        }
    }
    fs::rename(fresh, path)
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
