//! What one decision costs when 200 holds are known: whether a deployment may be asked, the next move of a request, and
//! what a failure changes. All of it must vanish beside one exchange over the network; 20 µs is plenty.

#![expect(clippy::expect_used, reason = "a benchmark is a program of its own that may just end")]

use std::hint::black_box;
use std::time::Duration;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use jiff::Timestamp;
use llmr::catalog::Price;
use llmr::domain::{AttemptKind, Class, Dimension, Failure, Provenance, RequestId, Scope, ScopeLevel, Target};
use llmr::ladder::{
    Contender, Directives, Ranking, RequestShape, Run, Scene, Spec, StepSpec, Strategy, View, eligibility, rank,
};
use llmr::policy::{
    Caller, Cooldown, Demand, Event, Flight, Gauge, HoldRecord, Limit, LimitSource, Meter, Moment, PolicySettings,
    Report, Sample, TrackRecord, UsageSettings, UsageState, Versioned, VersionedMeter, apply, room,
};

const HOLDS: i64 = 200;
const STEPS: i64 = 20;

fn now() -> Timestamp {
    Timestamp::from_second(1_787_450_400).expect("a time")
}

fn target(number: i64) -> Target {
    let deployment = format!("provider{}/model{number}@key", number % 10).parse().expect("a deployment");
    Target { deployment, account: "acme".into(), region: None }
}

/// A cooldown per model; those of the first half are over.
fn hold(number: i64) -> Versioned {
    let offset = Duration::from_secs(60);
    let until = if number < HOLDS / 2 { now() - offset } else { now() + offset };
    let record = HoldRecord::Cooldown(Cooldown {
        scope: Scope::account_model(&target(number)),
        dimension: Dimension::Tpm,
        class: Class::RateLimit,
        since: now() - offset * 2,
        until,
        provenance: Provenance::Fact,
        streak: 1,
        obeyed: 0,
        obeyed_since: None,
        evidence: "Limit 12000, Used 11690, Requested 1264.".to_owned(),
        request_id: Some("req_bench".into()),
    });
    Versioned { id: number, version: 1, record }
}

fn holds() -> Vec<Versioned> {
    (0..HOLDS).map(hold).collect()
}

/// A ladder whose steps are all held but the last, so that every step is looked at.
fn spec() -> Spec {
    let step = |number| StepSpec { window: Some(128_000), max_output: Some(8192), ..StepSpec::of(target(number)) };
    let held = HOLDS - STEPS + 1..HOLDS;
    Spec::of("bench".into(), held.chain([0]).map(step).collect())
}

fn asking(bench: &mut Criterion) {
    let (holds, now) = (holds(), now());
    let asked = target(HOLDS - 1);
    bench.bench_function("eligibility of one deployment, 200 holds", |bencher| {
        bencher.iter(|| eligibility(black_box(&holds), black_box(&asked), now, Caller::default()));
    });
    let run = Run::new(spec(), RequestShape::default(), Directives::default());
    let (usage, bounds) = (UsageState::default(), UsageSettings::default());
    let view = View { holds: &holds, usage: &usage, bounds: &bounds, now, elapsed: Duration::ZERO };
    bench.bench_function("poll of a ladder of 20 steps, 19 held, 200 holds", |bencher| {
        bencher.iter_batched_ref(|| run.clone(), |run| run.poll(black_box(&view)), BatchSize::SmallInput);
    });
}

/// What is left of four limits for each of the steps, with as many meters as 200 deployments have.
fn fitting(bench: &mut Criterion) {
    let now = now();
    let gauge = |number, dimension: Dimension, clock: &str| Gauge {
        scope: Scope::account_model(&target(number)),
        dimension,
        unit: dimension.unit(),
        clock: clock.parse().expect("a clock"),
        limit: Some(Limit { value: 100_000.0, source: LimitSource::Config }),
    };
    let gauges = |number| {
        let (minute, day) = ("rolling 1m", "midnight America/Los_Angeles");
        [(Dimension::Rpm, minute), (Dimension::Tpm, minute), (Dimension::Rpd, day), (Dimension::Tpd, day)]
            .map(|(dimension, clock)| gauge(number, dimension, clock))
            .to_vec()
    };
    let meter = |gauge: Gauge| {
        let Gauge { scope, dimension, unit, clock, .. } = gauge;
        let meter = Meter { used: 90_000.0, ..Meter::new(scope, dimension, unit, clock, now) };
        VersionedMeter { version: 1, meter }
    };
    let usage = UsageState { meters: (0..HOLDS).flat_map(gauges).map(meter).collect(), ..UsageState::default() };
    let (asked, own, demand) = (target(HOLDS / 2), gauges(HOLDS / 2), Demand { requests: 1.0, ..Demand::default() });
    bench.bench_function("room under four limits, 800 meters", |bencher| {
        bencher.iter(|| room(&asked, &own, black_box(&usage), &demand, &UsageSettings::default(), now));
    });
}

fn changing(bench: &mut Criterion) {
    let (holds, now, settings) = (holds(), now(), PolicySettings::default());
    let (asked, id) = (target(0), RequestId::new("req_bench"));
    let report = Report {
        target: &asked,
        request_id: &id,
        started_at: now,
        caller: Caller { key: Some("ab12"), entry: None },
        siblings: &[],
        last_success: Some(now),
    };
    let moment = Moment { now, settings: &settings, jitter: 0.5 };
    for class in [Class::RateLimit, Class::QuotaExhausted, Class::ServerError] {
        let failure = Failure::new(class, ScopeLevel::Model, "bench", "it failed");
        bench.bench_function(&format!("what a {class} changes, 200 holds"), |bencher| {
            bencher.iter(|| apply(black_box(&holds), Event::Failure(&failure), &report, &moment));
        });
    }
    bench.bench_function("what a success changes, 200 holds", |bencher| {
        bencher.iter(|| apply(black_box(&holds), Event::Success, &report, &moment));
    });
}

/// The order of 20 steps by each strategy that measures, with records of all of them and 200 requests under way.
fn ranking(bench: &mut Criterion) {
    let sample = |number: u64| Sample {
        kind: AttemptKind::First,
        class: number.is_multiple_of(7).then_some(Class::Timeout),
        judged: true,
        ttft: Some(Duration::from_millis(100 + number)),
        latency: Duration::from_millis(1000 + number),
        output_tokens: Some(400),
        cost_usd: None,
    };
    let samples: Vec<Sample> = (0..200).map(sample).collect();
    let price = Some(Price { input: 1.0, output: 2.0, cached: None });
    let steps: Vec<StepSpec> = (0..STEPS).map(|number| StepSpec { price, ..StepSpec::of(target(number)) }).collect();
    let record = |step: &StepSpec| TrackRecord::of(step.target.deployment.clone(), &samples);
    let records: Vec<Option<TrackRecord>> = steps.iter().map(record).collect();
    let until = now() + Duration::from_secs(60);
    let flight = |number| Flight {
        id: RequestId::new(format!("req_{number}")),
        target: target(number % STEPS),
        demand: Demand::default(),
        until,
    };
    let usage = UsageState { flights: (0..HOLDS).map(flight).collect(), ..UsageState::default() };
    let contender = |(step, record)| Contender { step, weight: 1, record: Option::as_ref(record) };
    let contenders: Vec<Contender<'_>> = steps.iter().zip(&records).map(contender).collect();
    let scene = Scene { usage: &usage, shape: RequestShape::default(), now: now() };
    for strategy in [Strategy::Latency, Strategy::Usage, Strategy::LeastBusy, Strategy::Cost] {
        bench.bench_function(&format!("order of 20 steps by {}, 200 under way", strategy.as_str()), |bencher| {
            bencher.iter(|| rank(strategy, &Ranking::default(), black_box(&contenders), &scene, &mut || 0.5));
        });
    }
}

criterion_group!(benches, asking, fitting, changing, ranking);
criterion_main!(benches);
