//! Figures counted by hand.

use std::time::Duration;

use jiff::Timestamp;

use super::{By, Figures, Journal, Key, Slice};
use crate::domain::{AttemptKind, Class, Defect, Extraction, Outcome};
use crate::store::{AttemptFact, Fact, OpenOptions, RequestFact, Spent, SqliteStore, Who};

const START: i64 = 1_787_000_000_000;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millisecond(START + seconds * 1000).expect("a time")
}

const fn who(model: &str) -> Who<'_> {
    Who { provider: "lab", model, credential: "" }
}

const fn spent(output: u64, usd: Option<f64>) -> Spent {
    Spent { input: Some(10), output: Some(output), cached: None, usd }
}

fn attempt<'a>(request: &'a str, ladder: &'a str, model: &'a str, seconds: i64, class: Option<Class>) -> Fact<'a> {
    Fact::Attempt(AttemptFact {
        request,
        ladder,
        who: who(model),
        step: 0,
        kind: AttemptKind::First,
        class,
        is_given_up: false,
        status: class.is_none().then_some(200),
        defect: (class == Some(Class::InvalidOutput)).then_some(Defect::Schema),
        extracted: if class.is_none() { Some(Extraction::Surrounded) } else { None },
        judged: matches!(class, None | Some(Class::InvalidOutput)),
        started_ms: START + seconds * 1000,
        ttft_us: Some(100_000 + seconds.unsigned_abs()),
        latency_us: 200_000,
        spent: spent(5, Some(0.5)),
    })
}

fn request<'a>(id: &'a str, ladder: &'a str, seconds: i64, outcome: Outcome, step: Option<u32>) -> Fact<'a> {
    Fact::Request(RequestFact {
        id,
        ladder,
        started_ms: START + seconds * 1000,
        latency_us: 1_000_000 * seconds.unsigned_abs(),
        outcome,
        who: step.map(|_| who("good")),
        step,
        spent: spent(5, Some(1.0)),
        retries_denied: 1,
    })
}

/// Two of three answered, one of them by the second step; one interrupted besides.
fn journal() -> Journal {
    let mut journal = Journal::default();
    for fact in [
        attempt("r1", "main", "good", 1, None),
        request("r1", "main", 1, Outcome::Answered, Some(0)),
        attempt("r2", "main", "bad", 2, Some(Class::InvalidOutput)),
        attempt("r2", "main", "good", 2, None),
        request("r2", "main", 2, Outcome::Answered, Some(1)),
        attempt("r3", "other", "bad", 3, Some(Class::RateLimit)),
        request("r3", "other", 3, Outcome::Exhausted, None),
        request("r4", "other", 4, Outcome::Interrupted, None),
        request("r5", "main", 5, Outcome::Unfinished, None),
    ] {
        journal.push(fact);
    }
    journal
}

#[test]
fn figures_are_those_counted_by_hand() {
    let figures = Figures::of(&journal().total(&Slice::of(at(0), at(10))));
    assert_eq!((figures.requests, figures.answered, figures.exhausted), (4, 2, 1));
    assert_eq!(figures.success, Some(2.0 / 3.0), "who was interrupted neither succeeded nor failed");
    assert_eq!((figures.depth.mean, figures.depth.at), (Some(0.5), vec![1, 1]));
    assert_eq!((figures.attempts, figures.attempt_success), (4, Some(0.5)));
    assert_eq!(figures.schema_failures, Some(1.0 / 3.0), "of the answers: two good ones and one in another shape");
    assert_eq!(figures.retries_denied, 4);
    let counted: Vec<_> = figures.classes.into_iter().filter(|(_, count)| *count > 0).collect();
    assert_eq!(counted, [(Class::RateLimit, 1), (Class::InvalidOutput, 1)]);
    assert_eq!((figures.tokens.input, figures.tokens.output), (40, 20));
    let latency = figures.latency.expect("times");
    assert_eq!((latency.p50, latency.p95, latency.samples), (Duration::from_secs(1), Duration::from_secs(2), 2));
    assert_eq!(figures.ttft.expect("times").samples, 2, "only what was answered");
}

#[test]
fn probes_and_reported_calls_are_attempts_of_no_request() {
    let mut journal = Journal::default();
    for ladder in ["probe", "record", "main"] {
        journal.push(attempt(ladder, "", "bad", 1, Some(Class::Auth)));
        journal.push(request(ladder, ladder, 1, Outcome::NeedsPerson, None));
    }
    let figures = Figures::of(&journal.total(&Slice::of(at(0), at(10))));
    assert_eq!((figures.attempts, figures.requests, figures.exhausted), (3, 1, 1));
}

#[test]
fn an_answer_pays_for_what_failed_on_the_way_and_elsewhere() {
    let money = Figures::of(&journal().total(&Slice::of(at(0), at(10)))).money;
    assert_eq!((money.total, money.per_request, money.per_success), (2.0, Some(1.0), Some(2.0)));
}

#[test]
fn nothing_is_divided_by_nothing() {
    let figures = Figures::of(&journal().total(&Slice::of(at(50), at(60))));
    assert_eq!(
        (figures.success, figures.depth.mean, figures.latency, figures.money.per_success),
        (None, None, None, None)
    );
}

#[test]
fn rows_are_told_apart_by_ladder_deployment_class_and_time() {
    let journal = journal();
    let slice = Slice::of(at(0), at(4));
    let counts = |by, parts| -> Vec<(String, u64, u64, Vec<u64>)> {
        let groups = journal.groups(&slice, by, parts).into_iter();
        let name = |key: &Key| match key {
            Key::All => "all".to_owned(),
            Key::Ladder(name) => name.to_string(),
            Key::Deployment(deployment) => deployment.to_string(),
            Key::Class(class) => class.to_string(),
        };
        let one = |g: super::Group| {
            let parts = g.parts.iter().map(super::Tally::attempts).collect();
            (name(&g.key), g.total.requests(), g.total.attempts(), parts)
        };
        groups.map(one).collect()
    };
    let row = |name: &str, requests, attempts, parts: &[u64]| (name.to_owned(), requests, attempts, parts.to_vec());
    assert_eq!(counts(By::All, 2), [row("all", 3, 4, &[1, 3])]);
    assert_eq!(counts(By::Ladder, 0), [row("main", 2, 3, &[]), row("other", 1, 1, &[])]);
    assert_eq!(counts(By::Deployment, 0), [row("lab/bad", 0, 2, &[]), row("lab/good", 2, 2, &[])]);
    assert_eq!(counts(By::Class, 0), [row("rate_limit", 0, 1, &[]), row("invalid_output", 0, 1, &[])]);
}

#[test]
fn a_slice_narrows_by_ladder_deployment_and_class() {
    let journal = journal();
    let all = Slice::of(at(0), at(10));
    let counts = |slice: &Slice| {
        let tally = journal.total(slice);
        (tally.requests(), tally.attempts())
    };
    assert_eq!(counts(&Slice { ladder: Some("other".into()), ..all.clone() }), (2, 1));
    assert_eq!(counts(&Slice { ladder: Some("nobody".into()), ..all.clone() }), (0, 0));
    assert_eq!(counts(&Slice { asked: vec!["lab/good".parse().expect("a selector")], ..all.clone() }), (2, 2));
    assert_eq!(counts(&Slice { classes: vec![Class::RateLimit], ..all }), (0, 1));
}

#[test]
fn an_attempt_finds_its_ladder_when_its_request_ends() {
    let mut journal = Journal::default();
    let slice = Slice { ladder: Some("main".into()), ..Slice::of(at(0), at(10)) };
    journal.push(attempt("old", "gone", "good", -9, None));
    journal.push(attempt("r1", "", "good", 1, None));
    assert_eq!(journal.total(&slice).attempts(), 0);
    assert_eq!(journal.groups(&Slice::of(at(0), at(10)), By::Ladder, 0), [], "nobody's is no ladder");
    journal.forget_before(at(0));
    assert_eq!(journal.len(), (1, 0));
    journal.push(request("r1", "main", 1, Outcome::Answered, Some(0)));
    assert_eq!(journal.total(&slice).attempts(), 1);
}

#[test]
fn a_span_is_read_whole_although_a_clock_once_ran_ahead() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("state.db");
    let store = SqliteStore::open(&path, OpenOptions::default()).expect("a store");
    // Written in this order: far ahead, in the span, after it, and in it once more.
    for (id, seconds) in [("ahead", 90_000), ("one", 10), ("after", 20), ("late", 11)] {
        let (at, ladder) = (START + seconds * 1000, "main");
        let conn = rusqlite::Connection::open(&path).expect("a connection");
        conn.execute(
            "INSERT INTO requests (id, ladder, started_at, latency_us, outcome) VALUES (?1, ?2, ?3, 5, 'refused')",
            (id, ladder, at),
        )
        .expect("written");
        conn.execute(
            "INSERT INTO attempts (request_id, position, provider, model, credential, account, step, kind, started_at, \
             latency_us) VALUES (?1, 0, 'lab', 'm', '', 'own', 0, 'first', ?2, 5)",
            (id, at),
        )
        .expect("written");
    }
    let counts = |since, until| {
        let mut journal = Journal::default();
        journal.load_span(&store, at(since), at(until)).expect("read");
        let tally = journal.total(&Slice::of(at(since), at(until)));
        (tally.requests(), tally.attempts())
    };
    assert_eq!((counts(5, 15), counts(15, 30), counts(100, 200)), ((2, 2), (1, 1), (0, 0)));
}

#[test]
fn parts_end_where_they_are_told_to() {
    let journal = journal();
    let slice = Slice::of(at(0), at(10));
    let groups = journal.groups_until(&slice, By::All, &[at(2), at(3), at(10)]);
    let parts: Vec<_> = groups[0].parts.iter().map(|part| (part.attempts(), part.requests())).collect();
    assert_eq!((parts, groups[0].total.attempts()), (vec![(1, 1), (2, 1), (1, 2)], 4), "an end belongs to the next");
}
