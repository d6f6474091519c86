//! The log stays bounded, a little at a time.

use super::*;
use crate::store::Accounts;
use crate::store::contract_cascades::{cascade, writes};
use crate::store::sqlite::prune::{Pruned, Retention};

/// Requests that started so many seconds after the beginning, with two attempts each.
fn write(store: &SqliteStore, seconds: impl IntoIterator<Item = i64>) {
    for n in seconds {
        let attempts = vec![attempt("a/b", AttemptKind::First, None, n), attempt("a/c", AttemptKind::First, None, n)];
        let done = request(&format!("{n:06}"), n, attempts);
        store.commit(&Batch { request: Some(done), ..Batch::default() }).expect("written");
    }
}

fn by_age(seconds: u64) -> Retention {
    Retention { age: Duration::from_secs(seconds), size: u64::MAX, chunk: 3, chunks: 2, ..Retention::default() }
}

fn by_size(size: u64) -> Retention {
    Retention { age: Duration::from_secs(1_000_000), size, chunk: 10, chunks: 4, ..Retention::default() }
}

fn pages(store: &SqliteStore, pragma: &str) -> u64 {
    let conn = &store.live().conn;
    conn.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0)).expect("pages").unsigned_abs()
}

fn used(store: &SqliteStore) -> u64 {
    (pages(store, "page_count") - pages(store, "freelist_count")) * pages(store, "page_size")
}

#[test]
fn by_age_in_bounded_pieces() {
    let place = place();
    let store = open(&place.path).expect("made");
    write(&store, 0..20);
    let token = store.change_token().expect("a token");
    assert_eq!(store.prune(&by_age(100), at(20)).expect("nothing to do"), Pruned::default());
    assert_eq!(store.change_token().expect("a token"), token, "nothing was written");

    let left = || store.requests(&LogFilter::default()).expect("log").len();
    let pruned = store.prune(&by_age(15), at(20)).expect("pruned");
    assert_eq!((pruned.attempts, pruned.requests, left()), (6, 5, 15), "two pieces of three");
    store.prune(&by_age(15), at(20)).expect("pruned");
    let log = store.requests(&LogFilter::default()).expect("log");
    assert_eq!((log.len(), log[0].id.as_str(), log[0].attempts.len()), (15, "000005", 2));

    while store.prune(&by_age(1), at(9000)).expect("pruned") != Pruned::default() {}
    assert_eq!(left(), 1, "the newest place is kept");
    assert_eq!(store.health().expect("health").len(), 2);
}

#[test]
fn by_size_the_oldest_first_and_never_the_holds() {
    let place = place();
    let store = open(&place.path).expect("made");
    store.commit(&changes([change(None, cooldown("llama", 1))])).expect("written");
    write(&store, 0..600);
    let whole = used(&store);
    assert_eq!(store.prune(&by_size(whole), at(600)).expect("nothing to do"), Pruned::default());

    let bound = whole * 2 / 3;
    let first = store.prune(&by_size(bound), at(600)).expect("pruned");
    // Ties aside, ten rows of each kind in each of four pieces.
    assert!((20..=40).contains(&first.requests) && first.attempts <= 40, "{first:?}");
    while store.prune(&by_size(bound), at(600)).expect("pruned").requests > 0 {}
    assert!(used(&store) <= bound, "{} of {bound}", used(&store));
    let log = store.requests(&LogFilter::default()).expect("log");
    assert!((200..500).contains(&log.len()), "no more than was needed: {} are left", log.len());
    assert_eq!((log.last().expect("one").id.as_str(), log.last().expect("one").attempts.len()), ("000599", 2));
    assert!(log.iter().skip(1).all(|request| request.attempts.len() == 2), "whole but for the oldest");

    while store.prune(&by_size(0), at(600)).expect("pruned").attempts > 0 {}
    assert_eq!(store.requests(&LogFilter::default()).expect("log").len(), 1);
    assert_eq!(store.holds().expect("holds").len(), 1);
}

#[test]
fn freed_pages_are_given_back_a_little_at_a_time() {
    let place = place();
    let store = open(&place.path).expect("made");
    write(&store, 0..6000);
    let before = pages(&store, "page_count");
    let keep = Retention { chunk: 1000, chunks: 100, ..by_age(1) };
    let first = store.prune(&keep, at(9000)).expect("pruned");
    assert!((1..=128).contains(&first.pages), "{first:?}");
    while store.prune(&keep, at(9000)).expect("pruned").pages > 0 {}
    let (count, free) = (pages(&store, "page_count"), pages(&store, "freelist_count"));
    assert!(count < before && free == 256, "{before} pages became {count}, of which {free} are free");
    let verdict: String =
        raw(&place.path).query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("a verdict");
    assert_eq!(verdict, "ok");
}

#[test]
fn a_file_that_was_made_without_the_means_uses_its_freed_pages_again() {
    let place = place();
    raw(&place.path).execute_batch("PRAGMA journal_mode = wal").expect("made without auto_vacuum");
    let store = open(&place.path).expect("made");
    write(&store, 0..3000);
    let before = pages(&store, "page_count");
    let keep = Retention { chunk: 1000, chunks: 100, ..by_age(1) };
    assert_eq!(store.prune(&keep, at(9000)).expect("pruned").pages, 0);
    assert_eq!(pages(&store, "page_count"), before);
    write(&store, 9000..12_000);
    assert!(pages(&store, "page_count") <= before + 8, "{before} became {}", pages(&store, "page_count"));
}

#[test]
fn a_writer_at_work_is_not_waited_for() {
    let place = place();
    let store = SqliteStore::open(&place.path, OpenOptions::default()).expect("made");
    write(&store, 0..3);
    let other = raw(&place.path);
    other.execute_batch("BEGIN IMMEDIATE").expect("locked");
    let watch = crate::clock::Clock::new(None).stopwatch();
    assert_eq!(store.prune(&by_age(1), at(9000)).expect("left for later"), Pruned::default());
    assert!(watch.elapsed() < OpenOptions::default().busy, "it waited to the end of its patience");
    other.execute_batch("ROLLBACK").expect("unlocked");
    assert_eq!(store.prune(&by_age(1), at(9000)).expect("pruned").attempts, 6);
}

#[test]
fn what_was_kept_goes_with_its_attempt_and_beyond_the_bound() {
    let place = place();
    let store = open(&place.path).expect("made");
    let unknown = |n: i64| attempt("a/b", AttemptKind::First, Some(Class::Unknown), n);
    let write = |n: i64| Batch {
        attempts: vec![(RequestId::new(n.to_string()), 0, unknown(n))],
        kept: vec![(RequestId::new(n.to_string()), 0, KeptEvidence { body: n.to_string(), ..KeptEvidence::default() })],
        ..Batch::default()
    };
    (0..6).for_each(|n| store.commit(&write(n)).expect("written"));
    let kept = |n: i64| store.kept(&RequestId::new(n.to_string())).expect("kept").len();
    let pruned = store.prune(&by_age(3), at(6)).expect("pruned");
    assert_eq!((pruned.attempts, (0..6).map(kept).collect::<Vec<_>>()), (3, vec![0, 0, 0, 1, 1, 1]));

    raw(&place.path).execute("UPDATE evidence SET place = place + 1998 WHERE request_id <> '3'", []).expect("aged");
    store.commit(&write(6)).expect("written");
    assert_eq!((3..7).map(kept).collect::<Vec<_>>(), [0, 1, 1, 1], "the newest 2000 places stay");
}

#[test]
fn ladders_that_were_forgotten_long_ago_go() {
    let place = place();
    let store = open(&place.path).expect("made");
    store.commit(&writes(None, cascade("main", 1))).expect("written");
    let left = |now| {
        store.prune(&Retention::default(), now).expect("pruned");
        store.snapshot(&Accounts::None).expect("a snapshot").cascades.len()
    };
    let week = 7 * 24 * 3600;
    assert_eq!((left(at(30 + week)), left(at(31 + week))), (1, 0));
}

fn verdict(name: &str, input: &str) -> crate::store::Baseline {
    crate::store::Baseline {
        name: name.to_owned(),
        input: input.to_owned(),
        runs: 1,
        at: at(0),
        request_id: "r".to_owned(),
        deployment: "a/b".to_owned(),
        compared_at: at(0),
        values: [("/score".to_owned(), 1.into()), ("/verdict".to_owned(), "pass".into())].into(),
    }
}

#[test]
fn of_two_that_keep_a_verdict_first_the_slower_one_is_told_what_the_faster_one_said() {
    let place = place();
    let (fast, slow) = (open(&place.path).expect("made"), open(&place.path).expect("opened"));
    for store in [&fast, &slow] {
        assert_eq!(store.baseline("nightly", "one").expect("read"), None, "both think that they are first");
    }
    let first = verdict("nightly", "one");
    assert_eq!(fast.keep_baseline(&first).expect("kept"), None);
    let values = [("/score".to_owned(), 2.into()), ("/tone".to_owned(), "mild".into())].into();
    let second = crate::store::Baseline { request_id: "s".to_owned(), values, ..first.clone() };
    assert_eq!(slow.keep_baseline(&second).expect("kept"), Some(first));
    let stands = slow.baseline("nightly", "one").expect("read").expect("kept").values;
    assert_eq!((&stands["/score"], stands.len()), (&1.into(), 3), "and what it alone said is added");
}

#[test]
fn verdicts_that_nothing_is_compared_with_go_whole_and_the_others_stay() {
    let place = place();
    let store = open(&place.path).expect("made");
    for input in ["one", "two", "three"] {
        store.keep_baseline(&verdict("nightly", input)).expect("kept");
    }
    store.touch_baseline("nightly", "two", at(60)).expect("touched");
    store.touch_baseline("nightly", "two", at(30)).expect("touched");
    let keep = Retention { baselines: Duration::from_secs(100), chunk: 1, chunks: 2, ..Retention::default() };
    let token = store.change_token().expect("a token");
    assert_eq!(store.prune(&keep, at(100)).expect("nothing to do"), Pruned::default());
    assert_eq!(store.change_token().expect("a token"), token, "nothing was written");
    assert_eq!(store.prune(&keep, at(101)).expect("pruned").baselines, 2, "one a piece");
    let left = store.baselines(None).expect("read");
    let left: Vec<_> = left.iter().map(|one| (one.input.as_str(), one.values.len(), one.compared_at)).collect();
    assert_eq!(left, [("two", 2, at(60))]);
    assert_eq!(store.prune(&keep, at(161)).expect("pruned").baselines, 1);
}
