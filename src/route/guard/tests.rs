use std::time::Duration;

use super::*;
use crate::catalog::Catalog;
use crate::classify::Classifier;
use crate::clock::Clock;
use crate::domain::{AccountName, Class, Dimension, Failure, Provenance, Redactor, Scope, ScopeLevel};
use crate::policy::{Caller, Demand, Event, Limit, LimitSource, PolicySettings, UsageSettings};
use crate::route::{Asked, Entry, Ledger};
use crate::store::{Accounts, MemoryStore};

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_790_000_000 + second).expect("a time")
}

fn candidate(text: &str) -> Candidate {
    let target =
        Target { deployment: text.parse().expect("a deployment"), account: AccountName::new("acme"), region: None };
    Candidate { target, fingerprint: None, entry: None, gauges: Vec::new() }
}

/// The candidate fails in this way at the beginning.
fn fails(store: &MemoryStore, candidate: &Candidate, failure: &Failure) {
    let ledger = Ledger {
        store,
        classifier: &Classifier::new(Vec::new()),
        catalog: &Catalog::builtin_of(|_| false).expect("a catalogue"),
        settings: &PolicySettings::default(),
        clock: Clock::new(Some(at(0))),
        redactor: &Redactor::default(),
    };
    let target = &candidate.target;
    let asked = Asked {
        target,
        request_id: &RequestId::new("r1"),
        started_at: at(0),
        caller: Caller::default(),
        siblings: &[],
        gauges: &[],
    };
    ledger.book(&asked, Event::Failure(failure), &Entry::default(), 0.0).expect("written");
}

fn spent(seconds: i64) -> Failure {
    Failure {
        retry_at: Some(at(seconds)),
        provenance: Provenance::Documented,
        ..Failure::new(Class::QuotaExhausted, ScopeLevel::Model, "test", "spent")
    }
}

fn call() -> Demand {
    Demand { requests: 1.0, ..Demand::default() }
}

fn pass(token: &str, now: Timestamp) -> Pass {
    Pass { id: guard_id(now, token), until: now + Duration::from_secs(120), demand: call() }
}

#[test]
fn one_passes_as_the_probe_and_the_next_when_its_lease_has_ended() {
    let store = MemoryStore::new();
    let known = [candidate("lab/a@team")];
    fails(&store, &known[0], &spent(6 * 3600));
    let ask = |token: &str, now| {
        admit(&store, &known, &pass(token, now), &UsageSettings::default(), now)
            .expect("an answer")
            .expect("a candidate")
    };
    assert!(matches!(ask("a", at(60)), Admission::Held(0, _)), "its time has not come");
    let due = 3 * 3600;
    assert!(matches!(ask("b", at(due)), Admission::Probe(0, _)));
    let Admission::Held(0, by) = ask("c", at(due)) else { panic!("two probes") };
    assert_eq!(passes_at(&by.record, at(due)), Some(at(due + 120)), "until the lease ends, not the quarantine");
    assert!(probing(&by.record, at(due)));
    assert!(matches!(ask("d", at(due + 120)), Admission::Probe(0, _)), "a prober that vanished blocks nobody");
    let holds = store.holds().expect("holds");
    assert_eq!(probe_of(&holds, &known[0].target, None), Some(guard_id(at(due + 120), "d")));
    assert_eq!(probe_of(&holds, &known[0].target, Some(at(due))), None, "a call that was sent before is another one");
    assert_eq!(probe_of(&holds, &candidate("lab/b@team").target, None), None);
}

#[test]
fn who_is_free_comes_before_who_may_be_probed_and_of_the_held_the_one_that_returns_first_is_told() {
    let store = MemoryStore::new();
    let known = [candidate("lab/a@one"), candidate("lab/b@two"), candidate("lab/c@three")];
    fails(&store, &known[0], &spent(6 * 3600));
    let looks = |known: &[Candidate], now| {
        let snapshot = store.snapshot(&Accounts::All).expect("a snapshot");
        look(&snapshot, known, &call(), &UsageSettings::default(), now)
    };
    assert_eq!(looks(&known, at(3 * 3600)), Some(Admission::Free { at: 1, limited: false }));
    fails(&store, &known[1], &spent(7200));
    fails(&store, &known[2], &Failure::new(Class::Auth, ScopeLevel::Credential, "test", "no key"));
    assert!(matches!(looks(&known, at(60)), Some(Admission::Held(1, _))));
    assert!(matches!(looks(&known[2..], at(60)), Some(Admission::Held(0, by)) if by.record.class() == Class::Auth));
    assert!(matches!(looks(&known[..1], at(3 * 3600)), Some(Admission::Probe(0, _))));
    assert_eq!(looks(&[], at(0)), None);
}

#[test]
fn of_a_limit_as_many_pass_as_it_allows_and_each_lands_by_itself() {
    let store = MemoryStore::new();
    let mut known = [candidate("lab/a@team")];
    known[0].gauges = vec![Gauge {
        scope: Scope::account_model(&known[0].target),
        dimension: Dimension::Rpd,
        unit: Dimension::Rpd.unit(),
        clock: "midnight UTC".parse().expect("a clock"),
        limit: Some(Limit { value: 2.0, source: LimitSource::Config }),
    }];
    let bounds = UsageSettings { put_last: 1.0, ..UsageSettings::default() };
    let ask = |token: &str, second| {
        let now = at(second);
        admit(&store, &known, &pass(token, now), &bounds, now).expect("an answer").expect("a candidate")
    };
    for (token, second) in [("a", 0), ("b", 1)] {
        assert_eq!(ask(token, second), Admission::Free { at: 0, limited: true });
    }
    let Admission::Full(0, tight) = ask("c", 2) else { panic!("three of two") };
    assert_eq!(tight.until, Some(at(120)), "when the first must be over");
    let usage = store.snapshot(&Accounts::All).expect("a snapshot").usage;
    assert_eq!(flight_of(&usage, &known[0].target, at(2)), Some(guard_id(at(0), "a")));
    assert_eq!(flight_of(&usage, &candidate("lab/b@team").target, at(2)), None);
    assert!(matches!(ask("d", 120), Admission::Free { .. }), "a program that vanished does not count for long");
}

#[test]
fn an_id_tells_when_a_guard_gave_it() {
    assert_eq!(issued_at(&guard_id(at(7), "xyz")), Some(at(7)));
    for other in ["req_01234567890abc", "guard_", "guard_zzzzzzzzzzzabc", "guard_é2345678901234", ""] {
        assert_eq!(issued_at(&RequestId::new(other)), None, "{other}");
    }
}
