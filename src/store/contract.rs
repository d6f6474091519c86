//! One story that every backend must tell the same.

use std::time::Duration;

use jiff::Timestamp;

use super::{Accounts, Batch, LogFilter, MemoryStore, OpenOptions, SqliteStore, Store, StoreError, update};
use crate::domain::{
    AttemptKind, AttemptRecord, Class, Dimension, Execution, Extraction, KeptEvidence, Outcome, Provenance, RequestId,
    RequestRecord, Scope, ScopeLevel, Usage,
};
use crate::policy::{Change, Circuit, CircuitState, Cooldown, Family, HoldRecord, Key, Lease, Quarantine, Versioned};

/// Runs a part of the story on each backend.
pub(super) fn on_both(part: impl Fn(&dyn Store)) {
    part(&MemoryStore::new());
    let directory = tempfile::tempdir().expect("a directory");
    let store = SqliteStore::open(&directory.path().join("state.db"), OpenOptions::default()).expect("a store");
    part(&store);
}

/// So many seconds after a fixed moment, with milliseconds that must survive.
pub(super) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millisecond(1_787_000_000_123 + seconds * 1000).expect("a time")
}

fn scope(model: &str) -> Scope {
    Scope { model: Some(model.into()), account: Some("acme".into()), ..Scope::provider("groq".into()) }
}

pub(super) fn cooldown(model: &str, streak: u32) -> HoldRecord {
    HoldRecord::Cooldown(Cooldown {
        scope: scope(model),
        dimension: Dimension::Tpm,
        class: Class::RateLimit,
        since: at(0),
        until: at(60),
        provenance: Provenance::Fact,
        streak,
        obeyed: streak / 2,
        obeyed_since: (streak > 2).then(|| at(3)),
        evidence: "Limit 12000, \"quoted\" 余额不足".to_owned(),
        request_id: Some("r-1".into()),
    })
}

pub(super) fn quarantine() -> HoldRecord {
    HoldRecord::Quarantine(Quarantine {
        scope: Scope { region: Some("eu".to_owned()), ..Scope::provider("gemini".into()) },
        dimension: Dimension::Rpd,
        since: at(-5),
        until: at(86_400),
        provenance: Provenance::Documented,
        probe_at: Some(at(1800)),
        streak: 2,
        lease: Some(Lease { holder: "r-9".into(), until: at(120) }),
        evidence: String::new(),
        request_id: None,
    })
}

pub(super) fn circuit(family: Family, consecutive: u32) -> HoldRecord {
    HoldRecord::Circuit(Circuit {
        scope: Scope { credential: Some("team".into()), ..Scope::provider("groq".into()) },
        family,
        state: CircuitState::HalfOpen,
        class: Class::Overloaded,
        consecutive,
        recent: vec![at(-2), at(-1), at(0)],
        opened_at: Some(at(0)),
        retry_at: None,
        opens: 1,
        lease: None,
        provenance: Provenance::Guess,
        fingerprint: Some("ab12".to_owned()),
        last_failure: at(0),
        evidence: "503".to_owned(),
        request_id: Some("r-2".into()),
    })
}

pub(super) fn change(expected: Option<i64>, record: HoldRecord) -> Change {
    Change { key: record.key(), expected, record: Some(record) }
}

fn removal(expected: Option<i64>, key: Key) -> Change {
    Change { key, expected, record: None }
}

pub(super) fn changes(changes: impl IntoIterator<Item = Change>) -> Batch {
    Batch { changes: changes.into_iter().collect(), ..Batch::default() }
}

pub(super) fn attempt(deployment: &str, kind: AttemptKind, class: Option<Class>, seconds: i64) -> AttemptRecord {
    AttemptRecord {
        deployment: deployment.parse().expect("a deployment"),
        account: "own".into(),
        step: 1,
        kind,
        class,
        scope: class.map(|_| ScopeLevel::Account),
        dimension: class.map(|_| Dimension::Rpm),
        status: class.map(|_| 429),
        rule: class.map(|_| "groq-429".to_owned()),
        evidence: class.map(|_| "slow down".to_owned()),
        started_at: at(seconds),
        ttft: Some(Duration::from_micros(1_234_567)),
        latency: Duration::from_millis(2500),
        held_until: class.map(|_| at(seconds + 9)),
        usage: Usage { input_tokens: Some(10), output_tokens: None, cached_tokens: Some(0) },
        cost_usd: Some(0.25),
        execution: Execution::MayHaveRun,
        given_up: None,
        extracted: class.is_none().then_some(Extraction::Fenced),
        judged: matches!(class, None | Some(Class::InvalidOutput)),
    }
}

pub(super) fn request(id: &str, seconds: i64, attempts: Vec<AttemptRecord>) -> RequestRecord {
    RequestRecord {
        id: id.into(),
        ladder: "main".into(),
        started_at: at(seconds),
        latency: Duration::from_micros(3_000_001),
        outcome: Outcome::Answered,
        deployment: Some("lab/qwen/qwen3@x".parse().expect("a deployment")),
        step: Some(2),
        usage: Usage { input_tokens: Some(7), output_tokens: Some(8), cached_tokens: None },
        cost_usd: Some(0.5),
        retry_at: Some(at(77)),
        error: Some("none, really".to_owned()),
        retries_denied: 3,
        attempts,
    }
}

fn ids(store: &dyn Store, filter: &LogFilter) -> Vec<String> {
    store.requests(filter).expect("a log").iter().map(|request| request.id.to_string()).collect()
}

fn conflicts(store: &dyn Store, batch: &Batch) {
    let before = (store.holds().expect("holds"), store.log(&LogFilter::default()).expect("log"), store.health().ok());
    assert!(matches!(store.commit(batch), Err(StoreError::Conflict)), "{batch:?}");
    let after = (store.holds().expect("holds"), store.log(&LogFilter::default()).expect("log"), store.health().ok());
    assert_eq!(before, after, "a conflict left a trace");
}

#[test]
fn every_field_of_every_record_comes_back() {
    on_both(|store| {
        let circuits = Family::ALL.map(|family| circuit(family, 4));
        let records: Vec<_> = [cooldown("llama", 3), quarantine()].into_iter().chain(circuits).collect();
        store.commit(&changes(records.iter().cloned().map(|record| change(None, record)))).expect("written");
        let read = store.holds().expect("holds");
        assert_eq!(read.iter().map(|hold| &hold.record).collect::<Vec<_>>(), records.iter().collect::<Vec<_>>());
        assert!(read.iter().all(|hold| hold.version == 1));
        let mut ids: Vec<_> = read.iter().map(|hold| hold.id).collect();
        ids.dedup();
        assert_eq!(ids.len(), records.len(), "ids are one's own, over all kinds");
    });
}

#[test]
fn a_change_happens_only_at_the_expected_version() {
    on_both(|store| {
        store.commit(&changes([change(None, cooldown("llama", 1))])).expect("new");
        let [Versioned { id, version: 1, .. }] = store.holds().expect("holds")[..] else { panic!("one hold") };
        conflicts(store, &changes([change(None, cooldown("llama", 2))]));
        conflicts(store, &changes([change(Some(2), cooldown("llama", 2))]));
        conflicts(store, &changes([change(Some(1), cooldown("absent", 2))]));
        store.commit(&changes([change(Some(1), cooldown("llama", 2))])).expect("update");
        conflicts(store, &changes([change(Some(1), cooldown("llama", 3))]));
        let hold = Versioned { id, version: 2, record: cooldown("llama", 2) };
        assert_eq!(store.holds().expect("holds"), [hold], "the id stays, the version grows");
    });
}

#[test]
fn a_removal_happens_only_at_the_expected_version_and_ids_are_not_used_again() {
    on_both(|store| {
        let key = circuit(Family::Billing, 1).key();
        store.commit(&changes([removal(None, key.clone())])).expect("nothing there, as expected");
        store.commit(&changes([change(None, circuit(Family::Billing, 1))])).expect("new");
        let first = store.holds().expect("holds")[0].id;
        conflicts(store, &changes([removal(None, key.clone())]));
        conflicts(store, &changes([removal(Some(9), key.clone())]));
        conflicts(store, &changes([removal(Some(1), circuit(Family::Auth, 1).key())]));
        store.commit(&changes([removal(Some(1), key.clone())])).expect("removed");
        assert_eq!(store.holds().expect("holds"), []);
        conflicts(store, &changes([removal(Some(1), key)]));
        store.commit(&changes([change(None, circuit(Family::Billing, 1))])).expect("new again");
        assert!(store.holds().expect("holds")[0].id > first);
    });
}

#[test]
fn what_was_decided_on_a_removed_record_is_not_written_over_a_new_one() {
    on_both(|store| {
        let version = || store.holds().expect("holds")[0].version;
        let mut seen: Vec<i64> = Vec::new();
        for round in 0..3 {
            store.commit(&changes([change(None, cooldown("llama", round))])).expect("new");
            for old in &seen {
                conflicts(store, &changes([change(Some(*old), cooldown("llama", 9))]));
            }
            seen.push(version());
            store.commit(&changes([change(Some(version()), cooldown("llama", round))])).expect("update");
            seen.push(version());
            store.commit(&changes([removal(Some(version()), cooldown("llama", 0).key())])).expect("removed");
        }
    });
}

#[test]
fn a_batch_with_one_conflict_writes_nothing() {
    on_both(|store| {
        store.commit(&changes([change(None, cooldown("llama", 1))])).expect("new");
        let batch = Batch {
            changes: vec![
                change(None, quarantine()),
                removal(Some(1), cooldown("llama", 1).key()),
                change(Some(5), circuit(Family::Model, 1)),
            ],
            attempts: vec![("r-1".into(), 0, attempt("groq/llama@team", AttemptKind::First, None, 0))],
            kept: vec![("r-1".into(), 0, KeptEvidence::default())],
            request: Some(request("r-1", 0, Vec::new())),
            ..Batch::default()
        };
        conflicts(store, &batch);
        assert_eq!(ids(store, &LogFilter::default()), Vec::<String>::new());
        assert_eq!(store.health().expect("health"), []);
        assert_eq!(store.kept(&"r-1".into()).expect("kept"), []);
    });
}

#[test]
fn what_was_said_with_a_failure_is_kept_by_its_place() {
    on_both(|store| {
        let said = |body: &str| KeptEvidence {
            headers: vec![("x-a".into(), "1: 2".into()), ("x-a".into(), String::new())],
            body: body.into(),
            log: "so\nit is".into(),
        };
        let failed = attempt("groq/llama@team", AttemptKind::First, Some(Class::Unknown), 0);
        let write = |id: &str, place, body: &str| Batch {
            attempts: vec![(id.into(), place, failed.clone())],
            kept: vec![(id.into(), place, said(body))],
            ..Batch::default()
        };
        for (id, place, body) in [("r-1", 2, "b"), ("r-1", 0, "first"), ("r-2", 0, "c"), ("r-1", 0, "a\n\"余")] {
            store.commit(&write(id, place, body)).expect("written");
        }
        assert_eq!(store.kept(&"r-1".into()).expect("kept"), [(0, said("a\n\"余")), (1, said("b"))]);
        assert_eq!(store.kept(&"r-2".into()).expect("kept"), [(0, said("c"))]);
        assert_eq!(store.kept(&"r".into()).expect("kept"), []);
    });
}

#[test]
fn a_change_that_carries_another_record_is_refused() {
    on_both(|store| {
        let astray = Change { key: cooldown("one", 1).key(), expected: None, record: Some(cooldown("two", 1)) };
        assert!(matches!(store.commit(&changes([astray.clone()])), Err(StoreError::Mismatch { .. })));
        let decided =
            store.commit_decided(&Accounts::None, &mut |_| changes([change(None, cooldown("one", 1)), astray.clone()]));
        assert!(matches!(decided, Err(StoreError::Mismatch { .. })));
        assert_eq!(store.holds().expect("holds"), []);
    });
}

#[test]
fn a_request_is_unfinished_until_its_row_comes_and_then_stands_last() {
    on_both(|store| {
        let first = attempt("groq/llama@team", AttemptKind::First, Some(Class::Overloaded), 0);
        let second = attempt("lab/qwen/qwen3", AttemptKind::Retry, None, 3);
        let write = |id: &str, place, attempt: &AttemptRecord| Batch {
            attempts: vec![(id.into(), place, attempt.clone())],
            ..Batch::default()
        };
        store.commit(&write("r-1", 0, &first)).expect("written");
        store.commit(&write("r-2", 0, &first)).expect("written");
        store.commit(&write("r-1", 1, &second)).expect("written");

        let open = store.requests(&LogFilter::default()).expect("log");
        assert_eq!((open[0].id.as_str(), open[0].outcome, open[0].ladder.as_str()), ("r-1", Outcome::Unfinished, ""));
        assert_eq!(open[0].attempts, [first.clone(), second.clone()]);
        assert_eq!((open[0].started_at, open[0].latency), (at(0), Duration::from_millis(5500)));
        assert_eq!((open[0].usage.input_tokens, open[0].usage.output_tokens), (Some(20), None));
        assert_eq!(open[0].cost_usd, Some(0.5));

        // The row repeats one attempt that is there, differently, and brings one that is not.
        let (third, other) =
            (attempt("x/y", AttemptKind::Hedge, None, 4), attempt("not/this", AttemptKind::First, None, 9));
        let done = request("r-1", 0, vec![other.clone(), other, third.clone()]);
        store.commit(&Batch { request: Some(done.clone()), ..Batch::default() }).expect("written");
        let log = store.requests(&LogFilter::default()).expect("log");
        assert_eq!(log.iter().map(|r| r.id.as_str()).collect::<Vec<_>>(), ["r-2", "r-1"]);
        assert_eq!(log[1], RequestRecord { attempts: vec![first, second, third], ..done });
        assert!(store.health().expect("health").iter().all(|health| health.deployment.provider != "not"));
    });
}

#[test]
fn the_log_is_filtered_and_followed() {
    on_both(|store| {
        for (id, seconds, class) in
            [("a", 0, Class::Timeout), ("b", 10, Class::Auth), ("c", 20, Class::Timeout), ("d", 30, Class::Auth)]
        {
            let failed = attempt("groq/llama@team", AttemptKind::First, Some(class), seconds);
            let done = request(id, seconds, vec![failed]);
            store.commit(&Batch { request: Some(done), ..Batch::default() }).expect("written");
        }
        let all = LogFilter::default();
        assert_eq!(ids(store, &all), ["a", "b", "c", "d"]);
        assert_eq!(ids(store, &LogFilter { limit: 2, ..all.clone() }), ["c", "d"]);
        assert_eq!(ids(store, &LogFilter { limit: 0, ..all.clone() }), Vec::<String>::new());
        assert_eq!(ids(store, &LogFilter { id: Some("b".into()), ..all.clone() }), ["b"]);
        assert_eq!(ids(store, &LogFilter { classes: vec![Class::Timeout], ..all.clone() }), ["a", "c"]);
        assert_eq!(ids(store, &LogFilter { classes: vec![Class::Timeout], since: Some(at(1)), ..all.clone() }), ["c"]);
        assert_eq!(ids(store, &LogFilter { since: Some(at(20)), ..all.clone() }), ["c", "d"]);
        assert_eq!(ids(store, &LogFilter { since: Some(at(10)), until: Some(at(20)), ..all.clone() }), ["b"]);
        let both = vec![Class::Auth, Class::Timeout];
        assert_eq!(ids(store, &LogFilter { classes: both, limit: 3, ..all.clone() }), ["b", "c", "d"]);

        // A follower sees each end once, in pieces or at once; what is unfinished waits.
        let piece = store.log(&LogFilter { after: Some(0), limit: 3, ..all.clone() }).expect("log");
        assert_eq!(piece.requests.iter().map(|r| r.id.as_str()).collect::<Vec<_>>(), ["a", "b", "c"]);
        let rest = store.log(&LogFilter { after: Some(piece.last), ..all.clone() }).expect("log");
        assert_eq!(rest.requests.iter().map(|r| r.id.as_str()).collect::<Vec<_>>(), ["d"]);
        let next = LogFilter { after: Some(rest.last), ..all };
        let begun = attempt("groq/llama@team", AttemptKind::First, None, 40);
        let begin = Batch { attempts: vec![("e".into(), 0, begun)], ..Batch::default() };
        store.commit(&begin).expect("written");
        let page = store.log(&next).expect("log");
        assert_eq!(page.requests, []);
        store.commit(&Batch { request: Some(request("e", 40, Vec::new())), ..Batch::default() }).expect("written");
        assert_eq!(ids(store, &LogFilter { after: Some(page.last), ..next }), ["e"]);
    });
}

#[test]
fn health_is_kept() {
    on_both(|store| {
        let attempts = [
            ("groq/llama@team", AttemptKind::First, None, 50),
            ("groq/llama@team", AttemptKind::Retry, Some(Class::Timeout), 60),
            ("groq/llama@team", AttemptKind::Retry, Some(Class::Timeout), 40),
            ("groq/llama", AttemptKind::Retry, None, 70),
        ];
        for (place, (deployment, kind, class, seconds)) in (0..).zip(attempts) {
            let attempts = vec![(RequestId::new("r"), place, attempt(deployment, kind, class, seconds))];
            store.commit(&Batch { attempts, ..Batch::default() }).expect("written");
        }
        let health = store.health().expect("health");
        let told: Vec<_> = health.iter().map(|h| (h.deployment.to_string(), h.last_success, h.last_failure)).collect();
        assert_eq!(
            told,
            [("groq/llama".to_owned(), Some(at(70)), None), ("groq/llama@team".to_owned(), Some(at(50)), Some(at(60))),]
        );
    });
}

#[test]
fn the_token_changes_with_each_commit_only_and_the_salt_never() {
    on_both(|store| {
        let token = || store.change_token().expect("a token");
        let (before, salt) = (token(), store.salt().expect("salt"));
        assert_eq!(token(), before);
        store.commit(&changes([change(None, quarantine())])).expect("written");
        let after = token();
        assert_ne!(after, before);
        store.commit(&changes([change(None, quarantine())])).expect_err("a conflict");
        assert_eq!((token(), store.salt().expect("salt")), (after, salt.clone()));
        assert_eq!(salt.len(), 16);
        assert_ne!(salt, MemoryStore::new().salt().expect("salt"), "each store has its own");
    });
}

#[test]
fn an_update_decides_on_what_it_then_replaces() {
    on_both(|store| {
        for turn in 1..=20 {
            // Another writer comes between the read and the commit, as often as it can without the lock.
            let (races, raced) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
            let count = update(store, |holds| {
                let (expected, count) = count_of(holds);
                if races.replace(races.get() + 1) < 2 {
                    store.commit(&changes([change(expected, circuit(Family::Transient, count + 1))])).expect("written");
                    raced.set(raced.get() + 1);
                }
                (changes([change(expected, circuit(Family::Transient, count + 1))]), count + 1)
            });
            assert_eq!((count.expect("updated"), raced.get()), (turn * 3, 2));
        }
        assert_eq!(count_of(&store.holds().expect("holds")).1, 60);
    });
}

fn count_of(holds: &[Versioned]) -> (Option<i64>, u32) {
    let found = holds.iter().find_map(|hold| match &hold.record {
        HoldRecord::Circuit(circuit) => Some((hold.version, circuit.consecutive)),
        _ => None,
    });
    found.map_or((None, 0), |(version, count)| (Some(version), count))
}

#[test]
fn an_update_that_can_never_fit_gives_up() {
    on_both(|store| {
        let tries = std::cell::Cell::new(0);
        let result = update(store, |_| {
            tries.set(tries.get() + 1);
            (changes([change(Some(1), cooldown("absent", 1))]), ())
        });
        assert!(matches!(result, Err(StoreError::Contended { tries: 32 })));
        assert_eq!(tries.get(), 32);
    });
}

#[test]
fn an_update_of_nothing_commits_nothing() {
    on_both(|store| {
        let before = store.change_token().expect("a token");
        assert_eq!(update(store, |holds| (Batch::default(), holds.len())).expect("nothing"), 0);
        assert_eq!(store.change_token().expect("a token"), before);
    });
}
