//! What only a file can do wrong.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;

use super::row::Trouble;
use super::{OpenOptions, SqliteStore, Store, StoreError};
use crate::domain::{AttemptKind, AttemptRecord, Class, KeptEvidence, RequestId, RequestRecord};
use crate::store::contract::{at, attempt, change, changes, cooldown, request};
use crate::store::{Batch, LogFilter};

mod alarms;
mod damage;
mod facts;
mod pruning;
mod talks;
mod totals;

struct Place {
    _directory: tempfile::TempDir,
    path: PathBuf,
}

fn place() -> Place {
    let directory = tempfile::tempdir().expect("a directory");
    Place { path: directory.path().join("state.db"), _directory: directory }
}

fn open(path: &Path) -> Result<SqliteStore, StoreError> {
    SqliteStore::open(path, OpenOptions { busy: Duration::from_millis(20), set_aside: None })
}

fn open_read_only(path: &Path) -> Result<SqliteStore, StoreError> {
    SqliteStore::open_read_only(path, OpenOptions::default())
}

fn raw(path: &Path) -> Connection {
    Connection::open(path).expect("a connection")
}

/// The bytes, the time of the last change and the directory around the file.
fn trace(path: &Path) -> (Vec<u8>, std::time::SystemTime, Vec<std::ffi::OsString>) {
    let mut names: Vec<_> = fs::read_dir(path.parent().expect("a parent"))
        .expect("a directory")
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    names.sort();
    let modified = fs::metadata(path).and_then(|found| found.modified()).expect("a time");
    (fs::read(path).expect("bytes"), modified, names)
}

/// Both ways of opening must fail in the given way and leave no trace, and say where and what to do.
fn refused(path: &Path, way: impl Fn(&StoreError) -> bool) {
    let before = trace(path);
    for error in [open(path).expect_err("refused"), open_read_only(path).expect_err("refused")] {
        assert!(way(&error), "{error:?}");
        assert!(error.to_string().contains(path.to_str().expect("text")), "{error}");
        assert!(error.hint().is_some(), "{error:?}");
    }
    assert_eq!(trace(path), before, "it was touched");
}

#[test]
fn state_outlives_the_store_and_is_shared() {
    let place = place();
    let (one, two) = (open(&place.path).expect("made"), open(&place.path).expect("opened"));
    let (token, salt) = (two.change_token().expect("a token"), one.salt().expect("salt"));
    one.commit(&changes([change(None, cooldown("llama", 1))])).expect("written");
    assert_ne!(two.change_token().expect("a token"), token);
    assert_eq!(two.holds().expect("holds").len(), 1);
    two.commit(&changes([change(None, cooldown("llama", 1))])).expect_err("a conflict");
    drop((one, two));
    let again = open(&place.path).expect("opened");
    assert_eq!((again.holds().expect("holds").len(), again.salt().expect("salt")), (1, salt));
    assert_eq!(again.path(), place.path);
}

#[test]
fn a_store_may_be_used_from_other_threads() {
    let place = place();
    let store = open(&place.path).expect("made");
    std::thread::scope(|scope| {
        for n in 0..4 {
            let batch = changes([change(None, cooldown(&n.to_string(), 1))]);
            let store = &store;
            scope.spawn(move || store.commit(&batch).expect("written"));
        }
    });
    assert_eq!(store.holds().expect("holds").len(), 4);
}

#[test]
fn reading_only_reads_and_never_makes_a_file() {
    let place = place();
    assert!(matches!(open_read_only(&place.path), Err(StoreError::Missing { .. })));
    assert!(!place.path.exists());
    fs::write(&place.path, "").expect("an empty file, as a creator that died leaves it");
    assert!(matches!(open_read_only(&place.path), Err(StoreError::Missing { .. })));
    let writer = open(&place.path).expect("made");
    writer.commit(&changes([change(None, cooldown("llama", 1))])).expect("written");
    let reader = open_read_only(&place.path).expect("opened");
    assert_eq!(reader.holds().expect("holds").len(), 1);
    let refused = reader.commit(&changes([change(None, cooldown("qwen", 1))]));
    assert!(matches!(refused, Err(StoreError::ReadOnly { .. })), "{refused:?}");
}

#[cfg(unix)]
#[test]
fn file_side_files_and_new_directories_are_for_the_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let place = place();
    let directory = place.path.with_file_name("deep").join("er");
    let path = directory.join("state.db");
    let store = open(&path).expect("made");
    store.commit(&changes([change(None, cooldown("llama", 1))])).expect("written");
    let mode = |path: &Path| fs::metadata(path).expect("it exists").permissions().mode() & 0o777;
    for name in ["state.db", "state.db-wal", "state.db-shm"] {
        assert_eq!(mode(&directory.join(name)), 0o600, "{name}");
    }
    assert_eq!((mode(&directory), mode(directory.parent().expect("a parent"))), (0o700, 0o700));
}

#[test]
fn names_that_mean_something_to_sqlite_are_names_of_files() {
    let place = place();
    let directory = place.path.parent().expect("a parent");
    for name in ["a b?mode=memory#x%20", "file:state.db", "ü"] {
        let path = directory.join(name);
        open(&path).expect(name).commit(&changes([change(None, cooldown("llama", 1))])).expect(name);
        assert!(path.metadata().expect(name).len() > 0);
        assert_eq!(open(&path).expect(name).holds().expect(name).len(), 1);
    }
    assert_eq!(super::open::plain(Path::new(":memory:")), Path::new("./:memory:"));
}

#[test]
fn a_file_of_a_newer_program_is_not_touched() {
    let place = place();
    drop(open(&place.path).expect("made"));
    let newer = raw(&place.path);
    newer.pragma_update(None, "user_version", 99).expect("newer");
    let is_newer = |error: &StoreError| matches!(error, StoreError::Newer { found: 99, known, .. } if *known == super::open::known());
    // While its version stands in the WAL alone: side files exist already, and the file itself must stay.
    let before = fs::read(&place.path).expect("bytes");
    let error = open(&place.path).expect_err("newer");
    assert!(is_newer(&error), "{error:?}");
    assert_eq!(fs::read(&place.path).expect("bytes"), before);
    // The last to close writes the WAL back and removes it.
    newer.close().expect("closed");
    assert!(!place.path.with_file_name("state.db-wal").exists());
    refused(&place.path, is_newer);
}

#[test]
fn a_file_that_becomes_newer_while_open_is_left_alone() {
    let place = place();
    let store = open(&place.path).expect("made");
    store.commit(&changes([change(None, cooldown("llama", 1))])).expect("written");
    raw(&place.path).pragma_update(None, "user_version", super::open::known() + 1).expect("newer");
    let batch = changes([change(Some(1), cooldown("llama", 2))]);
    let found_newer = |error| matches!(error, StoreError::Newer { found, known, .. } if found == known + 1);
    assert!(found_newer(store.commit(&batch).expect_err("newer")));
    assert!(found_newer(store.holds().expect_err("newer")));
}

#[test]
fn what_is_no_state_file_is_not_touched() {
    let place = place();
    fs::write(&place.path, "key = 1\n".repeat(200)).expect("a text");
    refused(&place.path, |error| matches!(error, StoreError::NotADatabase { .. }));
    fs::write(&place.path, "x").expect("a short text");
    refused(&place.path, |error| matches!(error, StoreError::NotADatabase { .. }));
    fs::remove_file(&place.path).expect("removed");
    raw(&place.path).execute_batch("CREATE TABLE bookmarks (url TEXT)").expect("another program's");
    refused(&place.path, |error| matches!(error, StoreError::Foreign { .. }));
    // And while it works in WAL mode, with its tables written to the WAL alone.
    let busy = place.path.with_file_name("busy.db");
    let other = raw(&busy);
    other.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(())).expect("WAL mode");
    other.execute_batch("CREATE TABLE bookmarks (url TEXT)").expect("another program's");
    let before = fs::read(&busy).expect("bytes");
    assert!(matches!(open(&busy), Err(StoreError::Foreign { .. })));
    assert_eq!(fs::read(&busy).expect("bytes"), before);

    let directory = place.path.parent().expect("a parent");
    assert!(matches!(open(directory), Err(StoreError::NotAFile { .. })));
    assert!(matches!(open(Path::new("/dev/null")), Err(StoreError::NotAFile { .. })));
    let below = open(&place.path.join("below.db")).expect_err("a file is no directory");
    assert!(matches!(below, StoreError::Unreadable { .. } | StoreError::CannotCreate { .. }), "{below:?}");
}

#[test]
fn damage_is_told_and_not_repaired() {
    let place = place();
    let store = open(&place.path).expect("made");
    store.commit(&changes((0..200).map(|n| change(None, cooldown(&n.to_string(), 1))))).expect("written");
    drop(store);
    // Whoever closes last writes the WAL back and removes it, once it has looked into the file.
    raw(&place.path).query_row("SELECT count(*) FROM cooldowns", [], |_| Ok(())).expect("read");
    let mut bytes = fs::read(&place.path).expect("bytes");
    bytes[4096..].fill(0xa5);
    fs::write(&place.path, &bytes).expect("damaged");
    let error = open(&place.path).and_then(|store| store.holds()).map(|holds| holds.len()).expect_err("damaged");
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
    assert!(error.hint().is_some_and(|hint| hint.contains("aside")));
    assert_eq!(fs::read(&place.path).expect("bytes"), bytes);
    bytes.truncate(5000);
    fs::write(&place.path, &bytes).expect("cut");
    let error = open(&place.path).and_then(|store| store.holds()).map(|holds| holds.len()).expect_err("cut");
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
}

#[test]
fn a_lock_that_another_program_keeps_is_told_and_goes_away() {
    let place = place();
    let store = open(&place.path).expect("made");
    let other = raw(&place.path);
    other.execute_batch("BEGIN IMMEDIATE").expect("locked");
    let batch = changes([change(None, cooldown("llama", 1))]);
    assert!(matches!(store.commit(&batch), Err(StoreError::Locked { .. })));
    assert_eq!(store.holds().expect("readers do not wait"), []);
    other.execute_batch("ROLLBACK").expect("unlocked");
    store.commit(&batch).expect("written");

    let fresh = place.path.with_file_name("fresh.db");
    fs::write(&fresh, "").expect("an empty file");
    let other = raw(&fresh);
    other.execute_batch("BEGIN EXCLUSIVE").expect("locked");
    assert!(matches!(open(&fresh), Err(StoreError::Locked { .. })));
    other.execute_batch("ROLLBACK").expect("unlocked");
    open(&fresh).expect("made");
}

#[test]
fn a_full_disk_is_told_and_nothing_is_lost() {
    let place = place();
    let store = open(&place.path).expect("made");
    store.commit(&changes([change(None, cooldown("llama", 1))])).expect("written");
    let pages: u32 = {
        let conn = &store.live.lock().expect("a lock").conn;
        let pages: u32 = conn.pragma_query_value(None, "page_count", |row| row.get(0)).expect("pages");
        conn.pragma_update_and_check(None, "max_page_count", pages, |row| row.get(0)).expect("no more pages")
    };
    let many = changes((0..500).map(|n| change(None, cooldown(&n.to_string(), 1))));
    let error = store.commit(&many).expect_err("full");
    assert!(matches!(error, StoreError::Full { .. }), "{error:?} at {pages} pages");
    assert_eq!(store.holds().expect("holds").len(), 1);
}

#[cfg(unix)]
#[test]
fn a_file_or_directory_without_permission_is_told() {
    use std::os::unix::fs::PermissionsExt;
    let place = place();
    let directory = place.path.with_file_name("shut");
    fs::create_dir(&directory).expect("a directory");
    let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode");
    let path = directory.join("state.db");
    drop(open(&path).expect("made"));
    set(&path, 0o400);
    // The superuser may do it all the same; then there is nothing to tell.
    let superuser = fs::OpenOptions::new().write(true).open(&path).is_ok();
    let opened = open(&path);
    assert!(superuser || matches!(opened, Err(StoreError::ReadOnly { .. })), "{opened:?}");
    set(&path, 0o000);
    let opened = open(&path);
    assert!(superuser || matches!(opened, Err(StoreError::Unreadable { .. })), "{opened:?}");
    set(&directory, 0o500);
    let opened = open(&directory.join("new.db"));
    assert!(superuser || matches!(opened, Err(StoreError::CannotCreate { .. })), "{opened:?}");
    set(&directory, 0o700);
}

#[test]
fn a_value_that_nobody_writes_is_told_with_its_place() {
    let damages = [
        ("UPDATE cooldowns SET class = 'tired'", "class"),
        ("UPDATE cooldowns SET until = 9223372036854775807", "until"),
        ("UPDATE cooldowns SET streak = -1", "streak"),
        ("UPDATE cooldowns SET evidence = CAST(x'ff' AS TEXT)", "evidence"),
    ];
    for (damage, column) in damages {
        let place = place();
        let store = open(&place.path).expect("made");
        store.commit(&changes([change(None, cooldown("llama", 1))])).expect("written");
        raw(&place.path).execute_batch(damage).expect(damage);
        let error = store.holds().expect_err(damage);
        assert!(matches!(error, StoreError::BadRow { table: "cooldowns", row: 1, .. }), "{error:?}");
        assert!(error.to_string().contains(&format!("column {column}: ")), "{error}");
        let hint = error.hint().expect("a hint");
        let sql = hint.rsplit_once("db \"").expect("a command").1.trim_end_matches('"');
        raw(&place.path).execute_batch(sql).expect("the hint's command works");
        assert_eq!(store.holds().expect("holds"), []);
    }
    let place = place();
    let store = open(&place.path).expect("made");
    let done = request("r", 0, vec![attempt("a/b", AttemptKind::First, None, 0)]);
    store.commit(&Batch { request: Some(done), ..Batch::default() }).expect("written");
    raw(&place.path).execute_batch("UPDATE attempts SET kind = 'guess'").expect("damaged");
    let error = store.requests(&LogFilter::default()).expect_err("a bad kind");
    assert!(matches!(error, StoreError::BadRow { table: "attempts", row: 1, .. }), "{error:?}");
}

/// Processes that open, write once and are gone never start the WAL over by themselves.
#[test]
fn the_wal_stays_short_when_each_process_writes_once() {
    let place = place();
    for n in 0..120 {
        let store = open(&place.path).expect("opened");
        store.commit(&changes([change(None, cooldown(&n.to_string(), 1))])).expect("written");
    }
    let wal = fs::metadata(place.path.with_file_name("state.db-wal")).expect("a WAL").len();
    assert!(wal < 2 * 100 * 4120, "{wal} bytes");
    assert_eq!(open(&place.path).expect("opened").holds().expect("holds").len(), 120);
}

#[test]
fn side_files_of_a_file_that_was_removed_do_no_harm() {
    let place = place();
    let store = open(&place.path).expect("made");
    store.commit(&changes([change(None, cooldown("llama", 1))])).expect("written");
    drop(store);
    fs::remove_file(&place.path).expect("removed");
    assert!(place.path.with_file_name("state.db-wal").exists());
    let store = open(&place.path).expect("made again");
    assert_eq!(store.holds().expect("holds"), []);
    store.commit(&changes([change(None, cooldown("llama", 1))])).expect("written");
}

#[test]
fn an_operator_can_read_the_views() {
    let place = place();
    let store = open(&place.path).expect("made");
    let failed = attempt("groq/llama@team", AttemptKind::First, Some(Class::RateLimit), 0);
    let batch = Batch {
        changes: vec![change(None, cooldown("llama", 1))],
        attempts: vec![("r-1".into(), 0, failed)],
        ..Batch::default()
    };
    store.commit(&batch).expect("written");
    let conn = raw(&place.path);
    let line = |sql: &str| conn.query_row(sql, [], |row| row.get::<_, String>(0)).expect(sql);
    assert_eq!(
        line("SELECT concat_ws(' ', kind, scope, account, what, class, since, until, provenance) FROM holds"),
        "cooldown groq/llama acme tpm rate_limit 2026-08-17T20:53:20.123Z 2026-08-17T20:54:20.123Z fact"
    );
    assert_eq!(
        line(
            "SELECT concat_ws(' ', request_id, outcome, position, deployment, kind, class, started_at, latency_s) FROM log"
        ),
        "r-1 unfinished 0 groq/llama@team first rate_limit 2026-08-17T20:53:20.123Z 2.5"
    );
}

#[test]
fn a_file_of_the_first_version_is_brought_up_to_date_with_all_that_is_in_it() {
    let place = place();
    let old = raw(&place.path);
    old.execute_batch(super::schema::STEPS[0]).expect("made as then");
    old.pragma_update(None, "application_id", super::schema::APPLICATION_ID).expect("stamped");
    old.pragma_update(None, "user_version", 1).expect("stamped");
    let salt: String = old.query_row("SELECT value FROM meta WHERE key = 'salt'", [], |row| row.get(0)).expect("salt");
    old.execute_batch(
        "INSERT INTO attempts (request_id, position, provider, model, credential, account, step, kind, class, started_at, \
         latency_us) VALUES ('r-1', 0, 'a', 'b', '', 'own', 0, 'first', 'unknown', 1787000000123, 5);\
         INSERT INTO requests (id, ladder, started_at, latency_us, outcome) VALUES ('r-1', 'main', 1787000000123, 5, 'refused')",
    )
    .expect("used");
    old.close().expect("closed");
    let reader = open_read_only(&place.path);
    assert!(matches!(reader, Err(StoreError::Older { found: 1, .. })), "{reader:?}");

    let store = open(&place.path).expect("brought up to date");
    let log = store.requests(&LogFilter::default()).expect("log");
    assert_eq!((log.len(), log[0].attempts[0].class), (1, Some(Class::Unknown)));
    assert_eq!(store.kept(&"r-1".into()).expect("kept"), []);
    let kept = vec![("r-1".into(), 0, KeptEvidence::default())];
    store.commit(&Batch { kept, ..Batch::default() }).expect("written");
    assert_eq!(store.kept(&"r-1".into()).expect("kept").len(), 1);
    let hex: String = store.salt().expect("salt").iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, salt);
    open_read_only(&place.path).expect("now it can be read");
}

#[test]
fn a_common_class_is_found_as_a_rare_one_is() {
    let directory = tempfile::tempdir().expect("a directory");
    let store = SqliteStore::open(&directory.path().join("state.db"), OpenOptions::default()).expect("a store");
    let ask = |id: &str, class: Class, times: u32| {
        let failed = attempt("groq/llama@team", AttemptKind::First, Some(class), 0);
        let attempts = (0..times).map(|place| (id.into(), place, failed.clone())).collect();
        store.commit(&Batch { attempts, ..Batch::default() }).expect("written");
    };
    ask("common", Class::Timeout, 1001);
    ask("rare", Class::Auth, 1);
    let found = |classes: &[Class]| -> Vec<String> {
        let filter = LogFilter { classes: classes.to_vec(), ..LogFilter::default() };
        store.requests(&filter).expect("log").iter().map(|request| request.id.to_string()).collect()
    };
    assert_eq!(found(&[Class::Timeout]), ["common"]);
    assert_eq!(found(&[Class::Auth]), ["rare"]);
    assert_eq!(found(&[Class::Timeout, Class::Auth]), ["common", "rare"]);
    assert_eq!(found(&[Class::Billing]), [""; 0]);
}
