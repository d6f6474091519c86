//! The machine that walks one request down the ladder.
//!
//! It asks the first eligible step, moves on when a failure says that another step could do better, stops when none
//! could, and ends when nothing is left. Each deployment is asked once per request, plus its allowed retry and one
//! repair, and never under a hold except as its one probe. All time comes in from outside: `now` is the wall clock that
//! holds are kept in, `elapsed` the stopwatch of this request.

use std::time::Duration;

use jiff::Timestamp;

use crate::domain::{AttemptKind, Class, Failure};
use crate::policy::{Tightness, UsageSettings, UsageState, Versioned, full_jitter};

use super::end::{End, SkipReason};
use super::spec::{Directives, RequestShape, Spec, StepSpec};

/// The world at one moment.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// All holds.
    pub holds: &'a [Versioned],
    /// What is known of the use of its accounts.
    pub usage: &'a UsageState,
    /// How near limits may come.
    pub bounds: &'a UsageSettings,
    /// The wall clock.
    pub now: Timestamp,
    /// Since the request began.
    pub elapsed: Duration,
}

/// What to do next.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub enum Step {
    /// Ask a deployment.
    Send(Exchange),
    /// Do nothing for so long, then poll again; sooner when the store changes.
    Wait(Duration),
    /// It is over.
    End(End),
}

/// One exchange to make.
#[derive(Debug, Clone, PartialEq)]
pub struct Exchange {
    /// The step's index.
    pub step: usize,
    /// Why.
    pub kind: AttemptKind,
    /// The holds whose leases must be claimed before anything is sent; none for an ordinary call.
    pub claims: Vec<Versioned>,
    /// What was wrong with the answer that is to be repaired.
    pub repair: Option<String>,
    /// Whether it is the last resort, which is asked although a hold or a limit speaks against it.
    pub is_resort: bool,
    /// How much of the request's deadline is left.
    pub time_left: Duration,
}

/// A step in the order in which it would be asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Planned {
    /// The step's index.
    pub step: usize,
    /// Whether it would be asked as the one probe of a hold.
    pub probe: bool,
    /// The limit of which so little is left that the step goes last.
    pub near: Option<Tightness>,
}

/// What the machine remembers of a step.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Progress {
    pub(super) asked: u32,
    pub(super) repaired: bool,
    pub(super) failed: Option<Class>,
    pub(super) barred: Option<SkipReason>,
}

/// Something that was decided and waits for its moment.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Pending {
    Retry { step: usize, not_before: Duration },
    Repair { step: usize, what: String },
}

/// One request on its way down the ladder.
#[derive(Debug, Clone)]
pub struct Run {
    pub(super) spec: Spec,
    pub(super) steps: Vec<StepSpec>,
    pub(super) progress: Vec<Progress>,
    pub(super) queue: Vec<usize>,
    pub(super) last_resort: Option<usize>,
    pub(super) shape: RequestShape,
    pub(super) directives: Directives,
    pub(super) attempts: u32,
    pub(super) pending: Option<Pending>,
    pub(super) waiting_since: Option<Duration>,
    pub(super) waited: Duration,
    pub(super) spent_usd: f64,
    pub(super) end: Option<End>,
}

impl Run {
    /// A request that stands before the ladder's first step.
    pub fn new(spec: Spec, shape: RequestShape, directives: Directives) -> Self {
        let mut steps: Vec<StepSpec> = Vec::new();
        for step in spec.steps.iter().chain(&spec.context_window).chain(&spec.content_policy).chain(&spec.last_resort) {
            if !steps.iter().any(|known| known.target.deployment == step.target.deployment) {
                steps.push(step.clone());
            }
        }
        let mut run = Self {
            queue: Vec::new(),
            last_resort: None,
            progress: vec![Progress::default(); steps.len()],
            steps,
            shape,
            directives,
            attempts: 0,
            pending: None,
            waiting_since: None,
            waited: Duration::ZERO,
            spent_usd: 0.0,
            end: None,
            spec,
        };
        let (last, first): (Vec<usize>, Vec<usize>) =
            run.indexes(&run.spec.steps).into_iter().partition(|step| run.is_put_last(*step));
        run.queue = first.into_iter().chain(last).collect();
        run.last_resort = run.spec.last_resort.as_ref().and_then(|step| run.index(step));
        run.bar_by_directives();
        run
    }

    /// All steps that could ever be asked, by index: the ladder's own first, then those of its chains.
    pub fn steps(&self) -> &[StepSpec] {
        &self.steps
    }

    /// How it ended, once it has.
    pub fn end(&self) -> Option<End> {
        self.end
    }

    /// How many exchanges were made.
    pub fn attempts(&self) -> u32 {
        self.attempts
    }

    /// What to do next. The driver does it, reports with [`Run::on_sent`] and one of the `on_` functions, and asks again.
    pub fn poll(&mut self, view: &View<'_>) -> Step {
        if let Some(end) = self.end {
            return Step::End(end);
        }
        if view.elapsed >= self.spec.limits.deadline {
            return self.finish(End::Deadline);
        }
        if let Some(step) = self.poll_pending(view) {
            return step;
        }
        if self.attempts >= self.spec.limits.attempts {
            return self.give_up(view);
        }
        if let Some(send) = self.first_eligible(view).or_else(|| self.try_last_resort(view)) {
            self.stop_waiting(view.elapsed);
            return Step::Send(send);
        }
        self.wait_or_give_up(view)
    }

    /// The exchange is about to be made.
    pub fn on_sent(&mut self, send: &Exchange) {
        self.attempts += 1;
        self.pending = None;
        if let Some(progress) = self.progress.get_mut(send.step) {
            match send.kind {
                AttemptKind::Repair => progress.repaired = true,
                _ => progress.asked += 1,
            }
        }
    }

    /// The step answered as asked.
    pub fn on_answer(&mut self, step: usize) {
        self.end = Some(End::Answered { step });
    }

    /// The step failed. `may_retry` says whether the shared retry budget allows another try; `unit` is a drawn number
    /// in 0..1.
    pub fn on_failure(
        &mut self,
        sent: &Exchange,
        failure: &Failure,
        status: Option<u16>,
        elapsed: Duration,
        may_retry: bool,
        unit: f64,
    ) {
        if let Some(progress) = self.progress.get_mut(sent.step) {
            progress.failed = Some(failure.class);
        }
        match failure.class {
            Class::InvalidRequest => self.end = Some(End::Refused(Class::InvalidRequest)),
            Class::Unknown if status.is_some_and(blames_request) && !self.spec.limits.unknown_moves_on => {
                self.end = Some(End::Refused(Class::Unknown));
            }
            Class::Overloaded | Class::ServerError | Class::Timeout | Class::Network => {
                self.plan_retry(sent, elapsed, may_retry, unit);
            }
            Class::InvalidOutput => self.plan_repair(sent, failure),
            Class::ContextOverflow => self.enter_larger(sent.step, failure),
            Class::ContentPolicy => self.enter_lenient(sent.step),
            Class::Unsupported => self.bar_model(sent.step, Class::Unsupported),
            _ => {}
        }
        if self.directives.no_fallback && self.pending.is_none() {
            self.bar_rest(sent.step);
        }
    }

    /// The stream broke after its first content and the policy is to say so.
    pub fn on_partial(&mut self) {
        self.end = Some(End::Partial);
    }

    /// The request cannot be sent to anyone, for a reason of its own.
    pub fn refuse(&mut self, class: Class) {
        self.end = Some(End::Refused(class));
    }

    /// The user stopped it.
    pub fn on_interrupt(&mut self) {
        self.end = Some(End::Interrupted);
    }

    pub(super) fn finish(&mut self, end: End) -> Step {
        self.end = Some(end);
        Step::End(end)
    }

    fn is_put_last(&self, step: usize) -> bool {
        self.steps.get(step).is_some_and(|spec| spec.put_last.is_some())
    }

    fn index(&self, wanted: &StepSpec) -> Option<usize> {
        self.steps.iter().position(|step| step.target.deployment == wanted.target.deployment)
    }

    pub(super) fn indexes(&self, wanted: &[StepSpec]) -> Vec<usize> {
        wanted.iter().filter_map(|step| self.index(step)).collect()
    }

    /// A decided retry or repair, if the step may still be asked. The hold counts, not our plan: the failure itself may
    /// have set one, or another process may have seen more failures meanwhile. A plan that came to nothing is given up
    /// before the wait for it, not after.
    fn poll_pending(&mut self, view: &View<'_>) -> Option<Step> {
        let pending = self.pending.clone()?;
        let (step, kind, repair, not_before) = match pending {
            Pending::Retry { step, not_before } => (step, AttemptKind::Retry, None, not_before),
            Pending::Repair { step, what } => (step, AttemptKind::Repair, Some(what), Duration::ZERO),
        };
        let limits = &self.spec.limits;
        let may = self.attempts < limits.attempts && self.turn(step, view).is_ok_and(|turn| turn.claims.is_empty());
        if may && view.elapsed < not_before {
            return Some(Step::Wait(not_before.saturating_sub(view.elapsed)));
        }
        self.pending = None;
        if may {
            return Some(Step::Send(self.send(step, kind, &[], repair, view)));
        }
        if self.directives.no_fallback {
            self.bar_rest(step);
        }
        None
    }

    pub(super) fn send(
        &self,
        step: usize,
        kind: AttemptKind,
        claims: &[&Versioned],
        repair: Option<String>,
        view: &View<'_>,
    ) -> Exchange {
        Exchange {
            step,
            kind,
            claims: claims.iter().map(|held| (*held).clone()).collect(),
            repair,
            is_resort: false,
            time_left: self.spec.limits.deadline.saturating_sub(view.elapsed),
        }
    }

    fn plan_retry(&mut self, sent: &Exchange, elapsed: Duration, may_retry: bool, unit: f64) {
        let Some((progress, spec)) = self.progress.get(sent.step).zip(self.steps.get(sent.step)) else { return };
        if !may_retry || sent.kind == AttemptKind::Probe || progress.asked >= spec.attempts {
            return;
        }
        let limits = &self.spec.limits;
        let wait = full_jitter(limits.backoff, limits.backoff_max, progress.asked.saturating_sub(1), unit);
        // What took long once may take as long again, and then no time is left for the next step.
        let started = limits.deadline.saturating_sub(sent.time_left);
        let took = elapsed.saturating_sub(started);
        if elapsed + wait + took < limits.deadline {
            self.pending = Some(Pending::Retry { step: sent.step, not_before: elapsed + wait });
        }
    }

    fn plan_repair(&mut self, sent: &Exchange, failure: &Failure) {
        if self.progress.get(sent.step).is_some_and(|progress| !progress.repaired) {
            self.pending = Some(Pending::Repair { step: sent.step, what: failure.evidence.clone() });
        }
    }
}

/// Whether the status says that the request itself is wrong. What is not understood of these would most likely fail
/// everywhere; the statuses of keys, money and limits are about this caller at this provider, whatever stands below them.
fn blames_request(status: u16) -> bool {
    (400..500).contains(&status) && !matches!(status, 401 | 402 | 403 | 429)
}
