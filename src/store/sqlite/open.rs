//! Makes and opens the file, and finds out what it is before anything is done to it.
//!
//! SQLite creates side files as soon as it reads a file in WAL mode, and whoever closes it last writes the WAL back. So
//! the header is looked at first as plain bytes, which neither locks nor creates anything. What a process that died left in the WAL is seen at the second look, through the real connection, which never
//! writes back on closing; that also keeps the end of every short process cheap.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::busy::Wait;
use super::error::told;
use super::schema::{STEPS, Stamp, Verdict, migrate};
use super::wal::shorten;
use super::{OpenOptions, StoreError};

/// The file for reading and writing, made if it is not there and brought up to date if it is old.
pub(super) fn read_write(path: &Path, options: OpenOptions) -> Result<Connection, StoreError> {
    let told = |error| told(path, options.busy, &error);
    if !exists(path)? {
        create(path)?;
    }
    first_look(path)?;
    let mut conn = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, options).map_err(told)?;
    // Without the right to write, SQLite quietly opens for reading.
    if conn.is_readonly(c"main").map_err(told)? {
        return Err(StoreError::ReadOnly { path: path.to_owned() });
    }
    let stamp = Stamp::read(&conn).map_err(told)?;
    refuse(path, stamp)?;
    if stamp.verdict(STEPS.len()) != Verdict::Current {
        let found = migrate(&conn, STEPS, &mut Wait::new(options.busy)).map_err(told)?;
        refuse(path, found)?;
        // The WAL of the steps is long, and each process that is alone with the file would read it first.
        shorten(&mut conn, path, options, 0);
    }
    // NORMAL can lose the latest commits when the power fails, never when a process dies, and never corrupts; FULL
    // costs twelve times as much and lets writers starve.
    conn.pragma_update(None, "synchronous", "normal").map_err(told)?;
    Ok(conn)
}

/// The file for reading only.
pub(super) fn read_only(path: &Path, options: OpenOptions) -> Result<Connection, StoreError> {
    let told = |error| told(path, options.busy, &error);
    if !exists(path)? {
        return Err(StoreError::Missing { path: path.to_owned() });
    }
    first_look(path)?;
    let conn = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY, options).map_err(told)?;
    let stamp = Stamp::read(&conn).map_err(told)?;
    refuse(path, stamp)?;
    match stamp.verdict(STEPS.len()) {
        Verdict::Empty => Err(StoreError::Missing { path: path.to_owned() }),
        Verdict::Older => Err(StoreError::Older { path: path.to_owned(), found: stamp.version, known: known() }),
        _ => Ok(conn),
    }
}

/// The length of the header of a SQLite file.
const HEADER: u64 = 100;

/// The newest version that this program knows.
pub(super) fn known() -> i64 {
    i64::try_from(STEPS.len()).unwrap_or(i64::MAX)
}

/// The path in a form in which SQLite sees no special name, such as `:memory:`.
pub(super) fn plain(path: &Path) -> PathBuf {
    if path.is_absolute() { path.to_owned() } else { Path::new(".").join(path) }
}

fn exists(path: &Path) -> Result<bool, StoreError> {
    match fs::metadata(path) {
        // SQLite takes a file of one byte for an empty one.
        Ok(found) if found.is_file() && (1..HEADER).contains(&found.len()) => {
            Err(StoreError::NotADatabase { path: path.to_owned() })
        }
        Ok(found) if found.is_file() => Ok(true),
        Ok(_) => Err(StoreError::NotAFile { path: path.to_owned() }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(StoreError::Unreadable { path: path.to_owned(), problem: error.to_string() }),
    }
}

/// Makes the file for its owner alone; SQLite gives the side files the same mode. Another process may be faster.
fn create(path: &Path) -> Result<(), StoreError> {
    let made = path.parent().map_or(Ok(()), make_directory).and_then(|()| make_file(path));
    match made {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::StorageFull => Err(StoreError::Full { path: path.to_owned() }),
        Err(source) => Err(StoreError::CannotCreate { path: path.to_owned(), source }),
        Ok(()) => Ok(()),
    }
}

fn make_directory(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

fn make_file(path: &Path) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop)
}

/// Stops at files that are not for this program.
fn refuse(path: &Path, stamp: Stamp) -> Result<(), StoreError> {
    match stamp.verdict(STEPS.len()) {
        Verdict::Foreign => Err(StoreError::Foreign { path: path.to_owned() }),
        Verdict::Newer => Err(StoreError::Newer { path: path.to_owned(), found: stamp.version, known: known() }),
        Verdict::Empty | Verdict::Older | Verdict::Current => Ok(()),
    }
}

/// Stops at what the header says, without locking, creating or changing anything.
///
/// With a WAL beside it the file may be in the middle of a write-back, by a process at work or one that died, and can
/// look damaged or like nobody's to who ignores the WAL. Then only the second look tells.
fn first_look(path: &Path) -> Result<(), StoreError> {
    match header(path).as_ref().and_then(Stamp::of_header) {
        Some(stamp) if stamp.verdict(STEPS.len()) == Verdict::Foreign && has_wal(path) => Ok(()),
        Some(stamp) => refuse(path, stamp),
        None => Ok(()),
    }
}

/// The header, if it can be read. The file stays open until the process ends: closing it would drop all locks that this
/// process has on it, those of another connection too.
fn header(path: &Path) -> Option<[u8; HEADER as usize]> {
    let mut file = fs::File::open(path).ok()?;
    let mut header = [0; HEADER as usize];
    let read = io::Read::read_exact(&mut file, &mut header);
    std::mem::forget(file);
    read.ok().map(|()| header)
}

fn has_wal(path: &Path) -> bool {
    let mut wal = path.as_os_str().to_owned();
    wal.push("-wal");
    Path::new(&wal).exists()
}

fn connect(path: &Path, mode: OpenFlags, options: OpenOptions) -> rusqlite::Result<Connection> {
    // No CREATE: the file is there, with the right mode. No mutex: ours stands around the connection.
    let mut conn = Connection::open_with_flags(path, mode | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    // Plans must not depend on bound values: with partial indexes around, SQLite would else plan a cached statement anew
    // for every run, which costs ten times what the statement does.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    be_patient(&mut conn, options)?;
    conn.set_prepared_statement_cache_capacity(32);
    // SQLite's own way never shortens the WAL when each process writes once: see `wal`.
    conn.pragma_update(None, "wal_autocheckpoint", 0)?;
    Ok(conn)
}

/// Waits for locks in small jittered steps, up to the limit of the options.
pub(super) fn be_patient(conn: &mut Connection, options: OpenOptions) -> rusqlite::Result<()> {
    let mut wait = Wait::new(options.busy);
    conn.busy_handler(Some(move |before| wait.pause(before == 0)))
}
