//! The real machines on invented time: the ladder, the failure table, the catalogue's clocks and the store in memory.

use std::collections::VecDeque;
use std::time::Duration;

use jiff::Timestamp;
use llmr::catalog::ResetClock;
use llmr::clock::Rng;
use llmr::domain::{
    AttemptKind, Class, Dimension, Execution, Failure, Provenance, RequestId, Scope, ScopeLevel, Target, Unit,
};
use llmr::ladder::{Directives, End, Exchange, Failed, RequestShape, Run, RunLimits, Spec, Step, StepSpec, View};
use llmr::policy::{
    Caller, Demand, Event, Gauge, Limit, LimitSource, Moment, PolicySettings, Report, Spent, apply, claim, count,
};
use llmr::store::{Accounts, Batch, MemoryStore, Snapshot, Store, StoreError, update_locked};

use super::provider::Reply;
use super::world::World;
use super::{Router, STEPS};

/// From where the end of a limit is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Knows {
    /// The answers state it.
    Stated,
    /// The answers are silent; the catalogue knows the clock of the month and of the day.
    Documented,
    /// Nobody says anything.
    Nothing,
    /// As `Documented`, and the config knows how high the limits are.
    Limits,
}

/// Retries that all requests of a minute share.
const RETRIES_A_MINUTE: usize = 60;

/// The router that is looked at.
pub(crate) struct Llmr {
    knows: Knows,
    store: MemoryStore,
    settings: PolicySettings,
    spec: Spec,
    rng: Rng,
    requests: u64,
    retries: VecDeque<Timestamp>,
    month: ResetClock,
    day: ResetClock,
}

impl Llmr {
    pub(crate) fn new(knows: Knows, seed: u64) -> Self {
        let limits = RunLimits::default();
        let steps = STEPS.iter().map(|name| step(name, knows)).collect();
        Self {
            knows,
            store: MemoryStore::new(),
            settings: PolicySettings::default(),
            spec: Spec { limits, ..Spec::of("main".into(), steps) },
            rng: Rng::new(Some(seed ^ 0x11a3)),
            requests: 0,
            retries: VecDeque::new(),
            month: "month UTC".parse().expect("a reset clock"),
            day: "midnight America/Los_Angeles".parse().expect("a reset clock"),
        }
    }

    /// The failure as `classify` makes it of what a provider of this kind sends.
    fn failure(&self, step: usize, reply: Reply, now: Timestamp) -> Option<Failure> {
        let (class, dimension, clock, back) = match reply {
            Reply::Answer => return None,
            Reply::Spent { back } if STEPS[step] == "monthly" => {
                (Class::QuotaExhausted, Some(Dimension::Monthly), Some(&self.month), Some(back))
            }
            Reply::Spent { back } => (Class::QuotaExhausted, Some(Dimension::Rpd), Some(&self.day), Some(back)),
            Reply::Limited { back } => (Class::RateLimit, Some(Dimension::Rpm), None, Some(back)),
            Reply::Broken(class) => (class, None, None, None),
        };
        let (retry_at, provenance) = match self.knows {
            Knows::Stated => (back.map(whole_seconds), Provenance::Fact),
            Knows::Documented | Knows::Limits => {
                (clock.and_then(|clock| clock.next_reset(now)), Provenance::Documented)
            }
            Knows::Nothing => (None, Provenance::Guess),
        };
        let provenance = if retry_at.is_some() { provenance } else { Provenance::Guess };
        let failure = Failure::new(class, ScopeLevel::Model, "month", "it said no");
        Some(Failure { dimension, retry_at, provenance, ..failure })
    }

    /// Takes the leases of a probe; false when somebody was faster.
    fn claims(&self, send: &Exchange, id: &RequestId, now: Timestamp) -> bool {
        let until = now + self.settings.lease;
        let changes = send.claims.iter().filter_map(|held| claim(held, id, until)).collect();
        match self.store.commit(&Batch { changes, ..Batch::default() }) {
            Ok(()) => true,
            Err(StoreError::Conflict) => false,
            Err(error) => panic!("{error}"),
        }
    }

    fn exchange(&mut self, run: &mut Run, send: &Exchange, id: &RequestId, world: &mut World) {
        if !self.claims(send, id, world.now()) {
            return;
        }
        run.on_sent(send);
        if send.kind == AttemptKind::Retry {
            self.retries.push_back(world.now());
        }
        let started_at = world.now();
        let reply = world.call(send.step);
        let failure = self.failure(send.step, reply, world.now());
        let event = failure.as_ref().map_or(Event::Success, Event::Failure);
        self.learns(&run.steps()[send.step].target, event, id, started_at, world.now());
        match failure {
            None => run.on_answer(send.step),
            Some(failure) => {
                let execution = Execution::of_failure(failure.class, None, false);
                let (elapsed, now, unit) = (world.elapsed(), world.now(), self.rng.unit());
                let failed =
                    Failed { failure: &failure, status: None, execution, elapsed, now, held_until: None, unit };
                let may_retry = run.wants_retry(send, &failed) && self.may_retry(world.now());
                run.on_failure(send, &failed, may_retry);
            }
        }
    }

    /// Makes the decision on what the store holds, and commits it.
    fn learns(&mut self, target: &Target, event: Event<'_>, id: &RequestId, started_at: Timestamp, now: Timestamp) {
        let (caller, last_success) = (Caller::default(), Some(started_at));
        let report = Report { target, request_id: id, started_at, caller, siblings: &[], last_success };
        let moment = Moment { now, settings: &self.settings, jitter: self.rng.unit() };
        let step = self.spec.steps.iter().find(|step| step.target == *target).expect("a step");
        let (failure, requests) = match event {
            Event::Failure(failure) => (Some(failure), 0.0),
            Event::Success | Event::Abandoned => (None, 1.0),
        };
        update_locked(&self.store, &Accounts::of([target]), |snapshot| {
            let changes = apply(&snapshot.holds, event, &report, &moment);
            let used = Demand { requests, ..Demand::default() };
            let spent = Spent { target, gauges: &step.gauges, used, stated: &[], failure, changes: &changes };
            let meters = count(&snapshot.usage, &spent, now);
            (Batch { changes, meters, ..Batch::default() }, ())
        })
        .expect("a store in memory");
    }

    fn may_retry(&mut self, now: Timestamp) -> bool {
        while self.retries.front().is_some_and(|at| *at + Duration::from_secs(60) <= now) {
            self.retries.pop_front();
        }
        self.retries.len() < RETRIES_A_MINUTE
    }
}

impl Router for Llmr {
    fn route(&mut self, world: &mut World) -> Option<usize> {
        self.requests += 1;
        let id = RequestId::new(format!("r{}", self.requests));
        let mut run = Run::new(self.spec.clone(), RequestShape::default(), Directives::default());
        loop {
            let Snapshot { holds, usage } = self.store.snapshot(&Accounts::All).expect("a store in memory");
            let bounds = &self.settings.usage;
            let view = View { holds: &holds, usage: &usage, bounds, now: world.now(), elapsed: world.elapsed() };
            match run.poll(&view) {
                Step::Send(send) => self.exchange(&mut run, &send, &id, world),
                Step::Wait(wait) => world.wait(wait),
                Step::End(End::Answered { step }) => return Some(step),
                Step::End(_) => return None,
            }
        }
    }
}

/// Headers have whole seconds, and the next one is meant.
fn whole_seconds(back: Timestamp) -> Timestamp {
    let second = back.as_second() + i64::from(back.subsec_nanosecond() > 0);
    Timestamp::from_second(second).unwrap_or(back)
}

/// The limit of a step as a config states it.
fn gauge(name: &str, target: &Target) -> Option<Gauge> {
    let (dimension, clock, limit) = match name {
        "monthly" => (Dimension::Monthly, "month UTC", 3000.0),
        "daily" => (Dimension::Rpd, "midnight America/Los_Angeles", 250.0),
        "minute" => (Dimension::Rpm, "rolling 1m", 5.0),
        _ => return None,
    };
    Some(Gauge {
        scope: Scope::account_model(target),
        dimension,
        unit: Some(Unit::Requests),
        clock: clock.parse().expect("a clock"),
        limit: Some(Limit { value: limit, source: LimitSource::Config }),
    })
}

fn step(name: &str, knows: Knows) -> StepSpec {
    let deployment = format!("{name}/model@key").parse().expect("a deployment");
    let target = Target { deployment, account: "own".into(), region: None };
    let gauges = gauge(name, &target).filter(|_| knows == Knows::Limits).into_iter().collect();
    StepSpec { gauges, ..StepSpec::of(target) }
}
