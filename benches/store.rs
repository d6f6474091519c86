//! What it costs to remember: an attempt and the hold that follows from it in one transaction, and reading the holds.
//! Each exchange pays this once, a short process also the opening of the file.

#![expect(clippy::expect_used, reason = "a benchmark is a program of its own that may just end")]

use std::hint::black_box;
use std::time::Duration;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use jiff::Timestamp;
use llmr::domain::{
    AttemptKind, AttemptRecord, Class, Dimension, Execution, Provenance, RequestId, Scope, ScopeLevel, Target, Usage,
};
use llmr::policy::{Change, Cooldown, Demand, Gauge, HoldRecord, Limit, LimitSource, Spent, count};
use llmr::store::{Accounts, Batch, OpenOptions, Snapshot, SqliteStore, Store, update_locked};
use tempfile::TempDir;

fn now() -> Timestamp {
    Timestamp::from_second(1_787_450_400).expect("a time")
}

fn hold(model: &str) -> HoldRecord {
    HoldRecord::Cooldown(Cooldown {
        scope: Scope { model: Some(model.into()), account: Some("acme".into()), ..Scope::provider("groq".into()) },
        dimension: Dimension::Tpm,
        class: Class::RateLimit,
        since: now(),
        until: now() + Duration::from_secs(60),
        provenance: Provenance::Fact,
        streak: 1,
        obeyed: 0,
        obeyed_since: None,
        evidence: "Limit 12000, Used 11690, Requested 1264.".to_owned(),
        request_id: Some("req_bench".into()),
    })
}

fn attempt() -> AttemptRecord {
    AttemptRecord {
        deployment: "groq/llama-3.3-70b-versatile@team".parse().expect("a deployment"),
        account: "own".into(),
        step: 0,
        kind: AttemptKind::First,
        class: Some(Class::RateLimit),
        scope: Some(ScopeLevel::Model),
        dimension: Some(Dimension::Tpm),
        status: Some(429),
        rule: Some("words.tokens_per_minute".to_owned()),
        evidence: Some("Limit 12000, Used 11690, Requested 1264.".to_owned()),
        started_at: now(),
        ttft: None,
        latency: Duration::from_millis(180),
        held_until: Some(now() + Duration::from_secs(60)),
        usage: Usage::default(),
        cost_usd: None,
        execution: Execution::NotRun,
        given_up: None,
        extracted: None,
        judged: false,
    }
}

fn new_store() -> (TempDir, SqliteStore) {
    let directory = tempfile::tempdir().expect("a directory");
    let store = SqliteStore::open(&directory.path().join("state.db"), OpenOptions::default()).expect("a store");
    (directory, store)
}

fn committing(bench: &mut Criterion) {
    let (_directory, store) = new_store();
    let record = hold("llama");
    let mut written = 0;
    bench.bench_function("commit of an attempt and its hold", |bencher| {
        bencher.iter_batched(
            || {
                let expected = (written > 0).then_some(written);
                let change = Change { key: record.key(), expected, record: Some(record.clone()) };
                let id = RequestId::new(format!("req_{written}"));
                written += 1;
                Batch { changes: vec![change], attempts: vec![(id, 0, attempt())], ..Batch::default() }
            },
            |batch| store.commit(&batch).expect("written"),
            BatchSize::PerIteration,
        );
    });
}

/// An answer as the driver commits it: read and decided under the lock, the attempt, and four meters that moved.
fn counting(bench: &mut Criterion) {
    let (_directory, store) = new_store();
    let target = Target { deployment: attempt().deployment, account: "acme".into(), region: None };
    let gauge = |dimension: Dimension, clock: &str| Gauge {
        scope: Scope::account_model(&target),
        dimension,
        unit: dimension.unit(),
        clock: clock.parse().expect("a clock"),
        limit: Some(Limit { value: 100_000.0, source: LimitSource::Config }),
    };
    let (minute, day) = ("rolling 1m", "midnight America/Los_Angeles");
    let gauges = [
        gauge(Dimension::Rpm, minute),
        gauge(Dimension::Tpm, minute),
        gauge(Dimension::Rpd, day),
        gauge(Dimension::Tpd, day),
    ];
    let used = Demand { requests: 1.0, input: 900.0, output: 300.0, usd: 0.0 };
    let spent = Spent { target: &target, gauges: &gauges, used, stated: &[], failure: None, changes: &[] };
    let answered = AttemptRecord { class: None, scope: None, dimension: None, evidence: None, ..attempt() };
    let accounts = Accounts::of([&target]);
    let mut written = 0;
    bench.bench_function("commit of an answer and four meters", |bencher| {
        bencher.iter_batched(
            || {
                written += 1;
                (RequestId::new(format!("req_{written}")), 0, answered.clone())
            },
            |attempt| {
                let decide = |snapshot: &Snapshot| {
                    let meters = count(&snapshot.usage, &spent, now());
                    (Batch { meters, attempts: vec![attempt.clone()], ..Batch::default() }, ())
                };
                update_locked(&store, &accounts, decide).expect("written");
            },
            BatchSize::PerIteration,
        );
    });
}

fn reading(bench: &mut Criterion) {
    let (directory, store) = new_store();
    let new = |number| {
        let record = hold(&format!("model{number}"));
        Change { key: record.key(), expected: None, record: Some(record) }
    };
    let changes = (0..200).map(new).collect();
    store.commit(&Batch { changes, ..Batch::default() }).expect("written");
    bench.bench_function("reading 200 holds", |bencher| {
        bencher.iter(|| black_box(store.holds().expect("holds")));
    });
    let path = directory.path().join("state.db");
    bench.bench_function("opening the file", |bencher| {
        bencher.iter(|| SqliteStore::open(black_box(&path), OpenOptions::default()).expect("a store"));
    });
}

criterion_group!(benches, committing, counting, reading);
criterion_main!(benches);
