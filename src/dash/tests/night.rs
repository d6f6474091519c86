//! A night to look at: two ladders, of which one is exhausted if that is wanted, holds of every kind, an allowance that
//! is nearly used, and a log of an hour.

use std::time::Duration;

use jiff::Timestamp;

use crate::catalog::ResetClock;
use crate::dash::{Before, Input, Measured, Model, Options, Reading, Rung, Rungs, Span, update};
use crate::domain::{
    AttemptKind, AttemptRecord, Class, Defect, Deployment, Dimension, Execution, Outcome, Provenance, RequestRecord,
    Scope, Target, Unit, Usage,
};
use crate::metrics::Journal;
use crate::policy::{
    Circuit, CircuitState, Cooldown, Demand, Family, Flight, Gauge, HoldRecord, Limit, LimitSource, Meter, Quarantine,
    UsageState, Versioned, VersionedMeter,
};
use crate::report::Known;
use crate::store::{AttemptFact, Fact, Health, RequestFact, Snapshot, Spent, Who};

pub(super) fn now() -> Timestamp {
    "2026-08-23T03:00:00Z".parse().expect("a time")
}

fn after(minutes: u64) -> Timestamp {
    now() + Duration::from_secs(minutes * 60)
}

/// How much is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    /// Every step of `main` but one, and some that share nothing.
    One,
    /// Nobody.
    Nobody,
}

const STEPS: [&str; 6] = [
    "cerebras/gpt-oss-120b@night",
    "groq/llama-3.3-70b-versatile@team",
    "gemini/gemini-2.5-flash@first",
    "mistral/mistral-small-latest@m",
    "openrouter/deepseek/deepseek-chat-v3.1:free@or",
    "lab/qwen3-余额",
];

fn target(name: &str) -> Target {
    let deployment: Deployment = name.parse().expect("a deployment");
    let account = format!("{}-acct", deployment.provider).as_str().into();
    Target { deployment, account, region: None }
}

fn known(name: &str, ladders: &[(&str, usize)]) -> Known {
    let target = target(name);
    let gauges = if name.starts_with("groq") { vec![gauge(&target)] } else { Vec::new() };
    Known {
        target,
        ladders: ladders.iter().map(|(ladder, step)| ((*ladder).into(), *step)).collect(),
        last_resort_of: Vec::new(),
        fingerprint: None,
        entry: None,
        no_key: false,
        gauges,
        graded: Vec::new(),
    }
}

fn gauge(target: &Target) -> Gauge {
    Gauge {
        scope: Scope::account_model(target),
        dimension: Dimension::Tpd,
        unit: Some(Unit::Tokens),
        clock: ResetClock::Rolling { seconds: 86_400 },
        limit: Some(Limit { value: 100_000.0, source: LimitSource::Catalogue }),
    }
}

fn meter() -> VersionedMeter {
    let target = target("groq/llama-3.3-70b-versatile@team");
    let meter = Meter {
        used: 91_000.0,
        started: now() - Duration::from_secs(6 * 3600),
        counted: now(),
        ..Meter::new(
            Scope::account_model(&target),
            Dimension::Tpd,
            Some(Unit::Tokens),
            ResetClock::Rolling { seconds: 86_400 },
            now(),
        )
    };
    VersionedMeter { version: 1, meter }
}

fn quarantine(id: i64, scope: Scope) -> Versioned {
    let record = HoldRecord::Quarantine(Quarantine {
        scope,
        dimension: Dimension::Rpd,
        since: now() - Duration::from_secs(3600),
        until: after(240),
        provenance: Provenance::Documented,
        probe_at: Some(after(120)),
        streak: 0,
        lease: None,
        evidence: "You exceeded your current quota, please check your plan and billing details. 余额不足".to_owned(),
        request_id: Some("req_1a02c21ae80nfmp3y".into()),
    });
    Versioned { id, version: 1, record }
}

fn circuit(id: i64, scope: Scope, class: Class, retry: Option<Timestamp>) -> Versioned {
    let record = HoldRecord::Circuit(Circuit {
        scope,
        family: Family::of(class).expect("a family"),
        state: CircuitState::Open,
        class,
        consecutive: 3,
        recent: Vec::new(),
        opened_at: Some(now() - Duration::from_secs(90)),
        retry_at: retry,
        opens: 1,
        lease: None,
        provenance: Provenance::Guess,
        fingerprint: None,
        last_failure: now(),
        evidence: "Payment required. Please add a payment method or credits to your account.".to_owned(),
        request_id: Some("req_1a02c21ae80aaaaaa".into()),
    });
    Versioned { id, version: 1, record }
}

fn cooldown(id: i64, scope: Scope) -> Versioned {
    let record = HoldRecord::Cooldown(Cooldown {
        scope,
        dimension: Dimension::Tpm,
        class: Class::RateLimit,
        since: now() - Duration::from_secs(3),
        until: now() + Duration::from_secs(42),
        provenance: Provenance::Fact,
        streak: 1,
        obeyed: 0,
        obeyed_since: None,
        evidence: "Rate limit reached: Limit 12000, Used 11690, Requested 1264. Please try again in 42s".to_owned(),
        request_id: None,
    });
    Versioned { id, version: 1, record }
}

fn holds(left: Left) -> Vec<Versioned> {
    let of = |name: &str| target(name);
    let mut holds = vec![
        circuit(1, Scope::account(&of(STEPS[0])), Class::Billing, None),
        cooldown(3, Scope::account_model(&of(STEPS[1]))),
        quarantine(4, Scope::account_model(&of(STEPS[2]))),
        circuit(5, Scope::credential(&of(STEPS[3])), Class::Auth, Some(after(24 * 60))),
        circuit(6, Scope::deployment(&of(STEPS[4])), Class::Overloaded, Some(now() + Duration::from_secs(20))),
    ];
    if left == Left::Nobody {
        holds.push(circuit(7, Scope::deployment(&of(STEPS[5])), Class::Network, Some(after(2))));
    }
    holds
}

/// A hold of the last step.
pub(super) fn held_resort(class: Class) -> Versioned {
    circuit(9, Scope::deployment(&target(STEPS[5])), class, Some(after(3)))
}

fn attempt(name: &str, ago: u64, class: Option<Class>) -> AttemptRecord {
    AttemptRecord {
        deployment: name.parse().expect("a deployment"),
        account: "acct".into(),
        step: 1,
        kind: AttemptKind::First,
        class,
        scope: None,
        dimension: None,
        status: class.map(|_| 429),
        rule: class.map(|_| "words.rate".to_owned()),
        evidence: class.map(|_| "Rate limit reached:\nLimit 12000, \u{1b}[31mUsed 11690".to_owned()),
        started_at: now() - Duration::from_secs(ago),
        ttft: class.is_none().then(|| Duration::from_millis(340)),
        latency: Duration::from_millis(1250),
        held_until: None,
        usage: Usage { input_tokens: Some(812), output_tokens: class.is_none().then_some(120), cached_tokens: None },
        cost_usd: Some(0.0004),
        execution: Execution::NotRun,
        given_up: None,
        extracted: None,
        judged: false,
    }
}

fn request(id: &str, ago: u64, attempts: Vec<AttemptRecord>) -> RequestRecord {
    let outcome = match attempts.last() {
        Some(last) if last.is_answered() => Outcome::Answered,
        _ => Outcome::Exhausted,
    };
    RequestRecord {
        id: id.into(),
        ladder: "main".into(),
        started_at: now() - Duration::from_secs(ago),
        latency: Duration::from_millis(2500),
        outcome,
        deployment: None,
        step: None,
        usage: Usage::default(),
        cost_usd: None,
        retry_at: None,
        error: (outcome == Outcome::Exhausted).then(|| "ladder main is exhausted".to_owned()),
        retries_denied: 0,
        attempts,
    }
}

/// A request a minute for an hour: the later ones fall deeper, and the last three through.
pub(super) fn journal() -> Journal {
    let mut journal = Journal::default();
    for minute in 0..60_u32 {
        let id = format!("r{minute}");
        let started_ms = now().as_millisecond() - i64::from(60 - minute) * 60_000 + 1;
        let depth = minute / 12;
        for step in 0..=depth {
            let name: Deployment = STEPS[step as usize].parse().expect("a deployment");
            let credential = name.credential.as_ref().map_or(String::new(), ToString::to_string);
            let class =
                (step < depth || minute >= 57).then_some([Class::RateLimit, Class::Overloaded][step as usize % 2]);
            journal.push(Fact::Attempt(AttemptFact {
                request: &id,
                ladder: "main",
                who: Who { provider: name.provider.as_str(), model: name.model.as_str(), credential: &credential },
                step,
                kind: if minute % 9 == 8 { AttemptKind::Retry } else { AttemptKind::First },
                class,
                is_given_up: false,
                status: class.is_none().then_some(200),
                defect: (class == Some(Class::InvalidOutput)).then_some(Defect::Schema),
                extracted: None,
                judged: matches!(class, None | Some(Class::InvalidOutput)),
                started_ms,
                ttft_us: class.is_none().then_some(200_000 + u64::from(minute) * 5_000),
                latency_us: 900_000 + u64::from(minute) * 10_000,
                spent: Spent { input: Some(800), output: Some(120), cached: None, usd: Some(0.0004) },
            }));
        }
        journal.push(Fact::Request(RequestFact {
            id: &id,
            ladder: "main",
            started_ms,
            latency_us: 1_000_000 + u64::from(minute) * 20_000,
            outcome: if minute >= 57 { Outcome::Exhausted } else { Outcome::Answered },
            who: None,
            step: (minute < 57).then_some(depth),
            spent: Spent { usd: Some(0.0012), ..Spent::default() },
            retries_denied: u64::from(minute == 58),
        }));
    }
    journal
}

pub(super) fn reading(left: Left) -> Reading {
    let known: Vec<Known> = STEPS
        .iter()
        .zip(0..)
        .map(
            |(name, step)| {
                if step == 5 { known(name, &[("main", 5), ("small", 0)]) } else { known(name, &[("main", step)]) }
            },
        )
        .chain([known("openai/gpt-4.1-mini@spare", &[("spare", 0)])])
        .collect();
    let rung = |at: usize| Rung { known: at, domain: format!("domain {at}") };
    let rungs = |name: &str, steps: &[usize]| Rungs {
        ladder: name.into(),
        steps: steps.iter().map(|at| rung(*at)).collect(),
        last_resort: None,
    };
    let before = Before { depth: Some(0.4), ladders: [("main".into(), 0.4)].into() };
    let lab: Target = target(STEPS[5]);
    Reading {
        ladders: vec![rungs("main", &[0, 1, 2, 3, 4, 5]), rungs("small", &[5]), rungs("spare", &[6])],
        snapshot: Snapshot {
            holds: holds(left),
            usage: UsageState {
                meters: vec![meter()],
                flights: vec![Flight {
                    id: "req_up".into(),
                    target: lab.clone(),
                    demand: Demand { requests: 1.0, input: 640.0, output: 100.0, usd: 0.0 },
                    until: after(1),
                }],
                ..UsageState::default()
            },
            cascades: Vec::new(),
        },
        health: vec![Health {
            deployment: lab.deployment,
            account: "acct".into(),
            last_success: Some(now() - Duration::from_secs(75)),
            last_failure: None,
        }],
        recent: vec![
            request("req_1", 130, vec![attempt(STEPS[1], 130, Some(Class::RateLimit)), attempt(STEPS[5], 129, None)]),
            request("req_2", 70, vec![attempt(STEPS[4], 70, Some(Class::Overloaded))]),
            request("req_3", 20, Vec::new()),
        ],
        retries: (7, 60),
        measured: Measured::of(&journal(), &before, Span::Hour, None, now()),
        known,
        ..Reading::nothing(now())
    }
}

pub(super) fn model(left: Left, size: (u16, u16), options: Options) -> Model {
    let mut model = Model::new(options, now(), size);
    update(&mut model, Input::Reading(Box::new(reading(left))));
    model
}
