//! A damaged file is kept aside, once, whatever happens at the same time.

use super::*;
use crate::clock::Clock;
use crate::domain::Scope;
use crate::policy::HoldRecord;
use crate::store::Accounts;
use crate::store::contract_cascades::{cascade, writes};

/// The size of a page, in bytes.
const PAGE: usize = 1024;

fn healing() -> OpenOptions {
    let noon = "2026-11-30T09:15:00Z".parse().expect("a time");
    OpenOptions { set_aside: Some(Clock::new(Some(noon))), ..OpenOptions::default() }
}

fn heal(path: &Path) -> SqliteStore {
    SqliteStore::open(path, healing()).expect("the new file")
}

/// The names in the directory of the file, sorted.
fn names(path: &Path) -> Vec<String> {
    let entries = fs::read_dir(path.parent().expect("a parent")).expect("a directory");
    let mut names: Vec<_> =
        entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("text")).collect();
    names.sort();
    names
}

fn kept(path: &Path) -> PathBuf {
    path.with_file_name("state.db.corrupt-2026-11-30T09-15-00Z")
}

/// A file with so many holds and nothing in the WAL.
fn used(path: &Path, holds: usize) {
    let store = open(path).expect("made");
    store.commit(&changes((0..holds).map(|n| change(None, cooldown(&n.to_string(), 1))))).expect("written");
    let done = request("r", 0, vec![attempt("a/b", AttemptKind::First, None, 0)]);
    store.commit(&Batch { request: Some(done), ..Batch::default() }).expect("written");
    drop(store);
    raw(path).query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).expect("written back");
}

/// The pages of a table, numbered from 1.
fn pages_of(path: &Path, table: &str) -> Vec<usize> {
    let conn = raw(path);
    let root: usize = conn
        .query_row("SELECT rootpage FROM sqlite_schema WHERE name = ?1", [table], |row| row.get::<_, i64>(0))
        .expect("a root")
        .try_into()
        .expect("a page");
    let bytes = fs::read(path).expect("bytes");
    let page = &bytes[(root - 1) * PAGE..root * PAGE];
    assert_eq!(page[0], 5, "an inner page");
    let cells = usize::from(u16::from_be_bytes([page[3], page[4]]));
    let child = |cell: usize| {
        let at = usize::from(u16::from_be_bytes([page[12 + 2 * cell], page[13 + 2 * cell]]));
        u32::from_be_bytes(page[at..at + 4].try_into().expect("four bytes")) as usize
    };
    (0..cells).map(child).collect()
}

fn damage(path: &Path, page: usize) {
    let mut bytes = fs::read(path).expect("bytes");
    bytes[(page - 1) * PAGE..page * PAGE].fill(0xa5);
    fs::write(path, bytes).expect("damaged");
}

#[test]
fn a_page_of_the_holds_costs_the_holds_on_it_alone() {
    let place = place();
    used(&place.path, 200);
    let salt = open(&place.path).expect("opened").salt().expect("salt");
    let pages = pages_of(&place.path, "cooldowns");
    damage(&place.path, pages[pages.len() / 2]);
    let damaged = fs::read(&place.path).expect("bytes");

    let store = heal(&place.path);
    assert!(store.take_warning().is_none(), "nobody has looked at that page yet");
    let holds = store.holds().expect("those that are left");
    assert!((140..200).contains(&holds.len()), "{}", holds.len());
    let has = |model: &str| holds.iter().any(|held| held.record == cooldown(model, 1));
    let lost: Vec<usize> = (0..200).filter(|n| !has(&n.to_string())).collect();
    assert!(has("0") && has("199") && !lost.is_empty(), "those before and those behind it: {lost:?}");
    assert_eq!(store.salt().expect("salt"), salt, "keys are still told apart as before");

    let warning = store.take_warning().expect("a warning");
    let kept = kept(&place.path);
    for part in [&*place.path.to_string_lossy(), &*kept.to_string_lossy(), "damaged", ".recover", "holds that could"] {
        assert!(warning.contains(part), "`{part}` is missing in: {warning}");
    }
    assert!(store.take_warning().is_none(), "once");
    assert_eq!(fs::read(&kept).expect("bytes"), damaged, "it is kept as it was");
    // The next hold gets an id that was never used.
    store.commit(&changes([change(None, cooldown("new", 1))])).expect("written");
    assert_eq!(store.holds().expect("holds").last().expect("one").id, 201);
    assert_eq!(store.requests(&LogFilter::default()).expect("a log"), [], "the log stayed behind");
    assert_eq!(heal(&place.path).holds().expect("holds").len(), holds.len() + 1);
    assert_eq!(names(&place.path).iter().filter(|name| name.contains("corrupt")).count(), 3, "file, WAL and index");
}

#[test]
fn all_that_can_be_wrong_with_the_bytes() {
    let header = |bytes: &mut Vec<u8>| bytes[..100].fill(0);
    let junk = |bytes: &mut Vec<u8>| bytes[16..100].fill(0xa5);
    let schema = |bytes: &mut Vec<u8>| bytes[100..4096].fill(0xa5);
    let cut = |bytes: &mut Vec<u8>| bytes.truncate(bytes.len() / 2);
    let zeros = |bytes: &mut Vec<u8>| bytes.fill(0);
    let one = |bytes: &mut Vec<u8>| bytes.truncate(1);
    let text = |bytes: &mut Vec<u8>| *bytes = b"dear diary\n".repeat(100);
    type Damage<'a> = &'a dyn Fn(&mut Vec<u8>);
    let damages: [(&str, Damage<'_>); 7] = [
        ("header", &header),
        ("junk", &junk),
        ("schema", &schema),
        ("cut", &cut),
        ("zeros", &zeros),
        ("one byte", &one),
        ("text", &text),
    ];
    for (name, damage) in damages {
        let place = place();
        used(&place.path, 3);
        for rest in ["state.db-wal", "state.db-shm"] {
            let _ = fs::remove_file(place.path.with_file_name(rest));
        }
        let mut bytes = fs::read(&place.path).expect("bytes");
        damage(&mut bytes);
        fs::write(&place.path, &bytes).expect("damaged");
        let store = heal(&place.path);
        store.holds().expect(name);
        store.take_warning().expect(name);
        store.commit(&changes([change(None, cooldown("new", 1))])).expect(name);
        assert_eq!(fs::read(kept(&place.path)).expect(name), bytes, "{name}");
    }
}

#[test]
fn what_is_not_ours_to_move_stays_where_it_is() {
    let place = place();
    let stays = |path: &Path, why: &str| {
        let before = trace(path);
        let opened = SqliteStore::open(path, healing()).and_then(|store| store.holds());
        opened.expect_err(why);
        assert_eq!(trace(path), before, "{why}");
    };
    let notes = place.path.with_file_name("notes.txt");
    fs::write(&notes, "dear diary\n".repeat(100)).expect("written");
    stays(&notes, "a text that was named by mistake");

    let folder = |name: &str| {
        let folder = place.path.with_file_name(name);
        fs::create_dir(&folder).expect("a directory");
        folder.join("state.db")
    };
    let foreign = folder("foreign");
    raw(&foreign)
        .execute_batch("PRAGMA application_id = 7; CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(20000))")
        .expect("another program's");
    stays(&foreign, "another program's database");
    let bytes = fs::read(&foreign).expect("bytes");
    fs::write(&foreign, &bytes[..8192]).expect("cut");
    stays(&foreign, "another program's damaged database");

    let newer = folder("newer");
    used(&newer, 200);
    let bytes = fs::read(&newer).expect("bytes");
    raw(&newer).pragma_update(None, "user_version", 99).expect("stamped");
    stays(&newer, "a newer program's file");
    let mut bytes =
        fs::read(&newer).map(|now| now[..100].iter().chain(&bytes[100..]).copied().collect()).unwrap_or(bytes);
    bytes.truncate(8192);
    fs::write(&newer, bytes).expect("cut");
    let opened = SqliteStore::open(&newer, healing()).and_then(|store| store.holds());
    opened.expect_err("a newer program's damaged file");
    assert!(!kept(&newer).exists());
}

#[test]
fn without_being_told_to_nothing_is_moved() {
    let place = place();
    fs::write(&place.path, "dear diary\n".repeat(100)).expect("written");
    refused(&place.path, |error| matches!(error, StoreError::NotADatabase { .. }));
}

#[test]
fn names_that_are_taken_are_passed_over() {
    let place = place();
    let first = kept(&place.path);
    fs::write(&first, "precious").expect("written");
    fs::write(place.path.with_file_name("state.db.corrupt-2026-11-30T09-15-00Z-2-wal"), "precious").expect("written");
    fs::write(&place.path, "garbage").expect("written");
    heal(&place.path);
    assert_eq!(fs::read(&first).expect("bytes"), b"precious");
    let third = place.path.with_file_name("state.db.corrupt-2026-11-30T09-15-00Z-3");
    assert_eq!(fs::read(third).expect("bytes"), b"garbage");
}

#[test]
fn the_wal_goes_with_its_file() {
    let place = place();
    used(&place.path, 200);
    let page = pages_of(&place.path, "cooldowns")[1];
    let store = open(&place.path).expect("opened");
    store.commit(&changes([change(None, cooldown("in the WAL", 1))])).expect("written");
    drop(store);
    let wal = fs::read(place.path.with_file_name("state.db-wal")).expect("a WAL");
    assert!(wal.len() > 4096, "{}", wal.len());
    damage(&place.path, page);
    let holds = heal(&place.path).holds().expect("holds");
    assert!(holds.iter().any(|held| held.record == cooldown("in the WAL", 1)));
    let kept = kept(&place.path);
    let kept_wal = kept.with_file_name("state.db.corrupt-2026-11-30T09-15-00Z-wal");
    assert_eq!(fs::read(kept_wal).expect("kept"), wal);
    assert_eq!(open(&kept).expect("it opens as before").requests(&LogFilter::default()).expect("its log").len(), 1);
}

/// A process that had the file open goes on with the new one, and what it writes is not lost in the old one.
#[test]
fn who_had_it_open_follows() {
    let place = place();
    used(&place.path, 200);
    let page = pages_of(&place.path, "cooldowns")[2];
    let (early, reader) = (heal(&place.path), SqliteStore::open_read_only(&place.path, healing()).expect("opened"));
    let token = early.change_token().expect("a token");
    assert_eq!(reader.holds().expect("holds").len(), 200);
    damage(&place.path, page);
    let mover = heal(&place.path);
    let left = mover.holds().expect("holds").len();
    assert!(mover.take_warning().is_some() && kept(&place.path).exists());

    assert_ne!(early.change_token().expect("a token"), token, "who waits looks again");
    early.commit(&changes([change(None, cooldown("early", 1))])).expect("written");
    for store in [&mover, &early, &reader] {
        assert_eq!(store.holds().expect("holds").len(), left + 1);
    }
    assert!(early.take_warning().is_none() && reader.take_warning().is_none(), "who moved it has told");
    let old = open(&kept(&place.path)).expect("the old one").holds();
    assert!(matches!(old, Err(StoreError::Corrupt { .. })), "{old:?}");
}

#[test]
fn of_many_at_once_one_moves_it_and_nothing_is_lost() {
    for damage_at in ["header", "page"] {
        let place = place();
        used(&place.path, 200);
        match damage_at {
            "header" => fs::write(&place.path, "x".repeat(9000)).expect("damaged"),
            _ => damage(&place.path, pages_of(&place.path, "cooldowns")[2]),
        }
        let barrier = std::sync::Barrier::new(16);
        let warned = std::thread::scope(|scope| {
            let run = |n: usize| {
                barrier.wait();
                let store = heal(&place.path);
                let batch = |text: String| changes([change(None, cooldown(&text, 1))]);
                for turn in 0..5 {
                    store.holds().expect("holds");
                    store.commit(&batch(format!("{n}-{turn}"))).expect("written");
                }
                usize::from(store.take_warning().is_some())
            };
            let threads: Vec<_> = (0..16).map(|n| scope.spawn(move || run(n))).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).sum::<usize>()
        });
        assert_eq!(warned, 1, "{damage_at}");
        let holds = heal(&place.path).holds().expect("holds");
        let new = holds.iter().filter(|held| {
            let HoldRecord::Cooldown(cooldown) = &held.record else { return false };
            let Scope { model: Some(model), .. } = &cooldown.scope else { return false };
            model.as_str().contains('-')
        });
        assert_eq!(new.count(), 80, "{damage_at}: what was committed is there");
        let kept = names(&place.path).into_iter().filter(|name| name.contains("corrupt"));
        assert!(
            kept.clone().all(|name| !name.contains("Z-2") && !name.ends_with(".new")),
            "{:?}",
            kept.collect::<Vec<_>>()
        );
    }
}

#[cfg(unix)]
#[test]
fn a_link_is_followed_to_the_file() {
    let place = place();
    let folder = place.path.with_file_name("elsewhere");
    fs::create_dir(&folder).expect("a directory");
    let file = folder.join("state.db");
    used(&file, 1);
    std::os::unix::fs::symlink(&file, &place.path).expect("a link");
    fs::write(&file, "x".repeat(9000)).expect("damaged");
    heal(&place.path).commit(&changes([change(None, cooldown("new", 1))])).expect("written");
    assert!(fs::symlink_metadata(&place.path).expect("the link").is_symlink());
    assert_eq!(fs::read(kept(&file)).expect("kept").len(), 9000);
    assert_eq!(open(&file).expect("opened").holds().expect("holds").len(), 1);
}

#[test]
fn rows_that_make_no_sense_do_not_come_along() {
    let place = place();
    used(&place.path, 200);
    raw(&place.path).execute("UPDATE cooldowns SET class = 'tired' WHERE id IN (199, 200)", []).expect("written");
    raw(&place.path).execute("UPDATE meta SET value = 'sweet' WHERE key = 'salt'", []).expect("written");
    raw(&place.path).query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).expect("written back");
    let pages = pages_of(&place.path, "cooldowns");
    damage(&place.path, pages[1]);
    let store = heal(&place.path);
    let holds = store.holds().expect("holds");
    assert!(holds.len() > 100 && holds.iter().all(|held| held.id < 199), "{}", holds.len());
    assert_eq!(store.salt().expect("a salt of its own").len(), 16);
}

#[test]
fn ladders_that_are_open_come_along_as_far_as_they_make_sense() {
    for (nonsense, left) in [(None, 2), (Some("UPDATE cascades SET state = 'ajar' WHERE ladder = 'fast'"), 0)] {
        let place = place();
        used(&place.path, 200);
        let store = open(&place.path).expect("opened");
        store.commit(&writes(None, cascade("main", 2))).expect("written");
        store.commit(&writes(None, cascade("fast", 1))).expect("written");
        drop(store);
        nonsense.map(|sql| raw(&place.path).execute(sql, []).expect("written"));
        raw(&place.path).query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).expect("written back");
        damage(&place.path, pages_of(&place.path, "cooldowns")[1]);
        let store = heal(&place.path);
        let holds = store.holds().expect("holds");
        let cascades = store.snapshot(&Accounts::None).expect("a snapshot").cascades;
        assert!(holds.len() > 100 && cascades.len() == left, "{} {cascades:?}", holds.len());
        assert!(left == 0 || cascades.iter().any(|there| there.cascade == cascade("main", 2)));
    }
}
