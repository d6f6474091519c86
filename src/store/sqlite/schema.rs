//! The versions of the file, and how one becomes the next.
//!
//! `PRAGMA user_version` counts the steps that a file has gone through. Never remove or change an entry of [`STEPS`]:
//! files of every age are out there. A new word that older programs cannot read (a class, a kind of attempt) is a new
//! step too, an empty one if need be, so that they refuse the file instead of misreading it.

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::busy::Wait;

/// All steps, the first of which makes the tables.
pub(super) const STEPS: &[&str] = &[
    include_str!("schema_1.sql"),
    include_str!("schema_2.sql"),
    include_str!("schema_3.sql"),
    include_str!("schema_4.sql"),
    include_str!("schema_5.sql"),
    include_str!("schema_6.sql"),
    include_str!("schema_7.sql"),
    include_str!("schema_8.sql"),
    include_str!("schema_9.sql"),
    include_str!("schema_10.sql"),
    include_str!("schema_11.sql"),
];

/// `llmr` in ASCII: marks the file as ours, so that no other program's database is ever migrated.
pub(super) const APPLICATION_ID: i32 = 0x6c6c_6d72;

/// What the header of a file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    application_id: i32,
    pub(super) version: i64,
    /// Grows with every change of tables; 0 while there is none.
    schema: i64,
}

/// What a file is to a program that knows the given number of steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Nothing is in it.
    Empty,
    /// Written by an older program.
    Older,
    /// Just right.
    Current,
    /// Written by a newer program.
    Newer,
    /// Another program's.
    Foreign,
}

impl Stamp {
    /// What the first hundred bytes of a file say; none when they are no header of SQLite's. The places of the fields are
    /// those of its file format, section 1.3.
    pub(super) fn of_header(header: &[u8; 100]) -> Option<Self> {
        let number = |at: usize| {
            let bytes = header.get(at..at + 4)?;
            Some(u32::from_be_bytes(bytes.try_into().ok()?))
        };
        // What SQLite itself demands of a header: the name of the format, and three fractions that never differ.
        let is_header = header.starts_with(b"SQLite format 3\0") && header.get(21..24) == Some(&[64, 32, 32]);
        is_header.then_some(())?;
        Some(Self {
            schema: i64::from(number(40)?),
            version: i64::from(number(60)?.cast_signed()),
            application_id: number(68)?.cast_signed(),
        })
    }

    /// All parts as of one moment: another process may be making the tables just now.
    pub(super) fn read(conn: &Connection) -> rusqlite::Result<Self> {
        let transaction = Transaction::new_unchecked(conn, TransactionBehavior::Deferred)?;
        let stamp = Self::read_in(&transaction)?;
        transaction.commit()?;
        Ok(stamp)
    }

    /// The same within a transaction.
    fn read_in(conn: &Transaction<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            application_id: conn.pragma_query_value(None, "application_id", |row| row.get(0))?,
            version: conn.pragma_query_value(None, "user_version", |row| row.get(0))?,
            schema: conn.pragma_query_value(None, "schema_version", |row| row.get(0))?,
        })
    }

    pub(super) fn verdict(self, known: usize) -> Verdict {
        let known = i64::try_from(known).unwrap_or(i64::MAX);
        match self {
            Self { application_id: 0, version: 0, schema: 0 } => Verdict::Empty,
            Self { application_id, .. } if application_id != APPLICATION_ID => Verdict::Foreign,
            Self { version, .. } if version > known => Verdict::Newer,
            Self { version, .. } if version < known => Verdict::Older,
            _ => Verdict::Current,
        }
    }
}

/// Brings an empty or older file up to date, in one exclusive transaction: of any number of processes one does it, and
/// one that is killed has done nothing. Answers with what the file was once the lock was held.
pub(super) fn migrate(conn: &Connection, steps: &[&str], wait: &mut Wait) -> rusqlite::Result<Stamp> {
    // Before the first page is written: freed pages of a new file can be given back. A file that was made without it
    // stays so, for only a full VACUUM would change that, which rewrites all of it while everybody waits; its freed
    // pages are used again.
    // A transaction changes a few bytes on each of a dozen pages, and the WAL takes each page as a whole: with small pages
    // a commit costs little more than half. Files that are there keep the size that they have.
    conn.pragma_update(None, "page_size", 1024)?;
    conn.pragma_update(None, "auto_vacuum", "incremental")?;
    set_wal(conn, wait)?;
    let transaction = Transaction::new_unchecked(conn, TransactionBehavior::Exclusive)?;
    let stamp = Stamp::read_in(&transaction)?;
    if matches!(stamp.verdict(steps.len()), Verdict::Empty | Verdict::Older) {
        for step in steps.iter().skip(usize::try_from(stamp.version).unwrap_or(0)) {
            transaction.execute_batch(step)?;
        }
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", i64::try_from(steps.len()).unwrap_or(i64::MAX))?;
    }
    transaction.commit()?;
    Ok(stamp)
}

/// Readers and one writer at the same time; the file remembers it. SQLite does not call the busy handler here, so the
/// wait is ours. A file system that cannot do it (a network's) leaves the file in its old mode, which is only slower.
fn set_wal(conn: &Connection, wait: &mut Wait) -> rusqlite::Result<()> {
    let mut first = true;
    loop {
        match conn.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get::<_, String>(0)) {
            Err(error) if is_busy(&error) && wait.pause(first) => first = false,
            other => return other.map(|_| ()),
        }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_says_what_sqlite_says() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("state.db");
        let conn = Connection::open(&path).expect("a database");
        migrate(&conn, STEPS, &mut Wait::new(std::time::Duration::ZERO)).expect("made");
        conn.pragma_update(None, "user_version", -7).expect("written");
        conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).expect("written back");
        let bytes = std::fs::read(&path).expect("a file");
        let header = bytes.first_chunk().expect("a header");
        assert_eq!(Stamp::of_header(header), Some(Stamp::read(&conn).expect("read")));
        for at in [3, 21, 23] {
            let mut other = *header;
            other[at] = b'X';
            assert_eq!(Stamp::of_header(&other), None, "byte {at}");
        }
    }

    #[test]
    fn a_stamp_tells_ours_from_others() {
        let stamp = |application_id, version, schema| Stamp { application_id, version, schema };
        let cases = [
            (stamp(0, 0, 0), Verdict::Empty),
            (stamp(0, 0, 3), Verdict::Foreign),
            (stamp(0, 7, 0), Verdict::Foreign),
            (stamp(0x0f05_5112, 1, 9), Verdict::Foreign),
            (stamp(APPLICATION_ID, 1, 9), Verdict::Older),
            (stamp(APPLICATION_ID, 2, 9), Verdict::Current),
            (stamp(APPLICATION_ID, 3, 9), Verdict::Newer),
        ];
        for (stamp, verdict) in cases {
            assert_eq!(stamp.verdict(2), verdict, "{stamp:?}");
        }
    }

    #[test]
    fn the_steps_run_once_and_an_older_program_then_refuses() {
        let conn = Connection::open_in_memory().expect("a database");
        let mut wait = Wait::new(std::time::Duration::ZERO);
        let now = STEPS.len();
        assert_eq!(migrate(&conn, STEPS, &mut wait).expect("made").verdict(now), Verdict::Empty);
        assert_eq!(Stamp::read(&conn).expect("read").verdict(now), Verdict::Current);
        assert_eq!(migrate(&conn, STEPS, &mut wait).expect("again").verdict(now), Verdict::Current);

        let later: Vec<_> = STEPS.iter().copied().chain(["ALTER TABLE requests ADD COLUMN origin TEXT"]).collect();
        assert_eq!(migrate(&conn, &later, &mut wait).expect("newer").verdict(later.len()), Verdict::Older);
        conn.prepare("SELECT origin FROM requests").expect("the new column");
        assert_eq!(Stamp::read(&conn).expect("read").verdict(now), Verdict::Newer);
    }

    #[test]
    fn a_step_that_fails_leaves_the_file_as_it_was() {
        let conn = Connection::open_in_memory().expect("a database");
        let mut wait = Wait::new(std::time::Duration::ZERO);
        migrate(&conn, STEPS, &mut wait).expect("made");
        let before = Stamp::read(&conn).expect("read");
        let broken: Vec<_> = STEPS.iter().copied().chain(["CREATE TABLE half (a); SELECT nonsense"]).collect();
        migrate(&conn, &broken, &mut wait).expect_err("nonsense");
        assert_eq!(Stamp::read(&conn).expect("read"), before);
    }
}
