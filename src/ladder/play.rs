//! The machine played on invented time: deployments that say what a script tells them.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;

use super::*;
use crate::domain::{AttemptKind, Class, Execution, Failure, Provenance, RequestId, ScopeLevel, Target};
use crate::policy::{
    Caller, Change, Event, Moment, PolicySettings, Report, UsageSettings, UsageState, Versioned, apply, claim,
};

pub(super) const START: i64 = 1_790_000_000;

pub(super) fn step(text: &str) -> StepSpec {
    let target = Target { deployment: text.parse().expect("a deployment"), account: "own".into(), region: None };
    StepSpec::of(target)
}

pub(super) fn spec(steps: &[&str]) -> Spec {
    Spec::of("main".into(), steps.iter().map(|text| step(text)).collect())
}

/// What a deployment says, attempt by attempt; the last reply repeats.
#[derive(Debug, Clone)]
pub(super) enum Says {
    Answer,
    Fail(Class),
    /// With a stated wait in seconds.
    Rests(Class, i64),
}

/// A failure as the driver tells it, at the start.
pub(super) fn failed(failure: &Failure, status: Option<u16>) -> Failed<'_> {
    let now = Timestamp::from_second(START).expect("a time");
    let execution = Execution::of_failure(failure.class, status, false);
    Failed { failure, status, execution, elapsed: Duration::ZERO, now, held_until: None, unit: 0.5 }
}

pub(super) struct Play {
    pub(super) holds: Vec<Versioned>,
    pub(super) usage: UsageState,
    pub(super) replies: BTreeMap<String, Vec<Says>>,
    pub(super) sent: Vec<(String, AttemptKind)>,
    pub(super) elapsed: Duration,
    pub(super) waited: Duration,
    pub(super) retries_left: u32,
    /// How long each exchange takes.
    pub(super) takes: Duration,
}

impl Play {
    pub(super) fn new(replies: &[(&str, &[Says])]) -> Self {
        Self {
            holds: Vec::new(),
            usage: UsageState::default(),
            replies: replies.iter().map(|(name, says)| ((*name).to_owned(), says.to_vec())).collect(),
            sent: Vec::new(),
            elapsed: Duration::ZERO,
            waited: Duration::ZERO,
            retries_left: 100,
            takes: Duration::from_millis(100),
        }
    }

    pub(super) fn now(&self) -> Timestamp {
        Timestamp::from_second(START).expect("a time") + self.elapsed
    }

    pub(super) fn write(&mut self, changes: Vec<Change>) {
        for change in changes {
            self.holds.retain(|held| held.record.key() != change.key);
            let version = change.expected.unwrap_or(0) + 1;
            self.holds.extend(change.record.map(|record| Versioned { id: 1, version, record }));
        }
    }

    pub(super) fn says(&mut self, name: &str) -> Says {
        match self.replies.get_mut(name) {
            Some(says) if says.len() > 1 => says.remove(0),
            Some(says) => says.first().cloned().unwrap_or(Says::Answer),
            None => Says::Answer,
        }
    }

    pub(super) fn run(&mut self, spec: Spec, shape: RequestShape, directives: Directives) -> (End, Run) {
        let mut run = Run::new(spec, shape, directives);
        loop {
            let holds = self.holds.clone();
            let usage = self.usage.clone();
            let (now, elapsed) = (self.now(), self.elapsed);
            let bounds = UsageSettings::default();
            match run.poll(&View { holds: &holds, usage: &usage, bounds: &bounds, now, elapsed }) {
                Step::End(end) => return (end, run),
                Step::Wait(wait) => {
                    assert!(!wait.is_zero(), "a wait of nothing would spin");
                    self.elapsed += wait;
                    self.waited += wait;
                }
                Step::Send(send) => self.exchange(&mut run, &send),
            }
        }
    }

    pub(super) fn exchange(&mut self, run: &mut Run, send: &Exchange) {
        let target = run.steps()[send.step].target.clone();
        let id = RequestId::new("r1");
        let until = self.now() + Duration::from_secs(60);
        let claims: Vec<Change> = send.claims.iter().filter_map(|held| claim(held, &id, until)).collect();
        self.write(claims);
        run.on_sent(send);
        let name = target.deployment.to_string();
        self.sent.push((name.clone(), send.kind));
        let started_at = self.now();
        self.elapsed += self.takes;
        let failure = match self.says(&name) {
            Says::Answer => None,
            Says::Fail(class) => Some(Failure::new(class, ScopeLevel::Model, "test", "it failed")),
            Says::Rests(class, seconds) => Some(Failure {
                retry_at: Some(self.now() + Duration::from_secs(seconds.unsigned_abs())),
                provenance: Provenance::Fact,
                ..Failure::new(class, ScopeLevel::Model, "test", "it rests")
            }),
        };
        let report = Report {
            target: &target,
            request_id: &id,
            started_at,
            caller: Caller::default(),
            siblings: &[],
            last_success: None,
        };
        let settings = PolicySettings::default();
        let moment = Moment { now: self.now(), settings: &settings, jitter: 0.0 };
        let event = failure.as_ref().map_or(Event::Success, Event::Failure);
        let changes = apply(&self.holds, event, &report, &moment);
        self.write(changes);
        match failure {
            None => run.on_answer(send.step),
            Some(failure) => {
                let failed = Failed { elapsed: self.elapsed, now: self.now(), ..failed(&failure, Some(400)) };
                let may_retry = run.wants_retry(send, &failed) && self.retries_left > 0;
                self.retries_left -= u32::from(may_retry);
                run.on_failure(send, &failed, may_retry);
            }
        }
    }

    pub(super) fn names(&self) -> Vec<&str> {
        self.sent.iter().map(|(name, _)| name.as_str()).collect()
    }
}

pub(super) fn play(steps: &[&str], replies: &[(&str, &[Says])]) -> (End, Vec<String>) {
    let mut play = Play::new(replies);
    let (end, _) = play.run(spec(steps), RequestShape::default(), Directives::default());
    (end, play.names().into_iter().map(str::to_owned).collect())
}
