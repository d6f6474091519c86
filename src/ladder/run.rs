//! The machine that walks one request down the ladder.
//!
//! It asks the first eligible step, moves on when a failure says that another step could do better, stops when none
//! could, and ends when nothing is left. Each deployment is asked once per request, plus its allowed retry and one
//! repair, and never under a hold except as its one probe. All time comes in from outside: `now` is the wall clock that
//! holds are kept in, `elapsed` the stopwatch of this request.

use std::time::Duration;

use jiff::Timestamp;

use crate::domain::{AttemptKind, Class, Execution, Feature};
use crate::policy::{Tightness, UsageSettings, UsageState, Versioned};

use super::end::{End, SkipReason};
use super::plans::{Failed, Pending, Remedy};
use super::spec::{Directives, OnMayHaveRun, RequestShape, Spec, StepSpec};

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
    /// How the request is changed, when the same deployment refused it as it was.
    pub remedy: Option<Remedy>,
    /// The longest answer to ask for, in tokens, instead of the user's own.
    pub max_tokens: Option<u64>,
    /// Whether the thoughts of models are left out.
    pub without_thinking: bool,
    /// Whether the shape of the answer is asked for in words, whatever the provider's own means are.
    pub in_words: bool,
    /// Whether the shared budget has granted it already, for a retry.
    pub is_granted: bool,
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
    /// Whether it gave an answer that is not as asked.
    pub(super) invalid: bool,
    /// The longest answer that fits, by the provider's own figures.
    pub(super) max_tokens: Option<u64>,
    pub(super) without_thinking: bool,
    pub(super) in_words: bool,
    pub(super) failed: Option<Class>,
    pub(super) barred: Option<SkipReason>,
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
    /// Retries that were planned, or made after a wait.
    pub(super) retries: u32,
    pub(super) pending: Option<Pending>,
    /// Steps whose retry waits until nobody else is left, with the earliest time for it since the request began.
    pub(super) put_off: Vec<(usize, Duration)>,
    /// Whether a step was started beside another one.
    pub(super) hedged: bool,
    pub(super) waiting_since: Option<Duration>,
    pub(super) waited: Duration,
    pub(super) spent_usd: f64,
    pub(super) end: Option<End>,
}

impl Run {
    /// A request that stands before the ladder's first step.
    pub fn new(spec: Spec, shape: RequestShape, directives: Directives) -> Self {
        let mut steps: Vec<StepSpec> = Vec::new();
        for step in spec.steps.iter().chain(spec.chains()).chain(&spec.last_resort) {
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
            retries: 0,
            pending: None,
            put_off: Vec::new(),
            hedged: false,
            waiting_since: None,
            waited: Duration::ZERO,
            spent_usd: 0.0,
            end: None,
            spec,
        };
        let (last, first): (Vec<usize>, Vec<usize>) =
            run.indexes(&run.spec.steps).into_iter().partition(|step| run.is_put_last(*step));
        run.queue = first.into_iter().chain(last).collect();
        let is_first = |step: &usize| {
            let deployment = run.steps.get(*step).map(|spec| &spec.target.deployment);
            deployment.is_some() && deployment == run.directives.first.as_ref()
        };
        let preferred: Vec<usize> = run.queue.iter().copied().filter(is_first).collect();
        run.prefer(preferred);
        run.last_resort = run.spec.last_resort.as_ref().and_then(|step| run.index(step));
        for (step, progress) in run.steps.iter().zip(&mut run.progress) {
            progress.repaired = run.directives.repaired.contains(&step.target.deployment);
        }
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
        // The repair that was planned may not be made, and then the answer stays as it is.
        if let Some(end) = self.end {
            return Step::End(end);
        }
        if self.attempts >= self.spec.limits.attempts {
            return self.give_up(view);
        }
        if let Some(send) = self.first_eligible(view) {
            self.stop_waiting(view.elapsed);
            return Step::Send(send);
        }
        if let Some(step) = self.resume_put_off(view) {
            return step;
        }
        if let Some(send) = self.try_last_resort(view) {
            self.stop_waiting(view.elapsed);
            return Step::Send(send);
        }
        self.wait_or_give_up(view)
    }

    /// The exchange is about to be made.
    pub fn on_sent(&mut self, send: &Exchange) {
        self.attempts += 1;
        self.pending = None;
        self.hedged |= send.kind == AttemptKind::Hedge;
        // One that was planned is counted since then.
        self.retries += u32::from(send.kind == AttemptKind::Retry && !send.is_granted);
        if let Some(progress) = self.progress.get_mut(send.step).filter(|_| !send.kind.is_remedy()) {
            progress.asked += 1;
        }
    }

    /// The step answered as asked.
    pub fn on_answer(&mut self, step: usize) {
        self.end = Some(End::Answered { step });
    }

    /// The step failed. `may_retry` says whether the shared budget grants the retry that [`Run::wants_retry`] wanted.
    pub fn on_failure(&mut self, sent: &Exchange, failed: &Failed<'_>, may_retry: bool) {
        let failure = failed.failure;
        let remedy = self.remedy(sent, failure);
        if let Some(progress) = self.progress.get_mut(sent.step) {
            progress.failed = Some(failure.class);
            progress.invalid |= failure.class == Class::InvalidOutput;
        }
        let stops = self.spec.limits.on_may_have_run == OnMayHaveRun::Stop;
        match failure.class {
            _ if remedy.is_some() => self.plan_remedies(sent.step, remedy),
            _ if self.ends_with_invalid(sent, failure) => self.end_with_invalid(),
            _ if stops && failed.execution == Execution::MayHaveRun => self.end = Some(End::MayHaveRun),
            Class::InvalidRequest => self.end = Some(End::Refused(Class::InvalidRequest)),
            Class::Unknown if failed.status.is_some_and(blames_request) && !self.spec.limits.unknown_moves_on => {
                self.end = Some(End::Refused(Class::Unknown));
            }
            Class::ContextOverflow => self.enter_larger(sent.step, failure),
            Class::ContentPolicy => self.enter_lenient(sent.step),
            Class::Unsupported => self.enter_capable(sent.step),
            _ if may_retry => self.plan_retry(sent, failed),
            _ => {}
        }
        if self.directives.no_fallback && self.pending.is_none() {
            self.bar_rest(sent.step);
        }
    }

    fn plan_remedies(&mut self, step: usize, remedy: Option<Remedy>) {
        if let Some(remedy) = remedy {
            self.plan_remedy(step, remedy);
        }
    }

    /// The shared budget denies the retry that was about to be made.
    pub fn on_retry_denied(&mut self, step: usize) {
        if let Some(progress) = self.progress.get_mut(step) {
            progress.barred.get_or_insert(SkipReason::RetryDenied);
        }
    }

    /// The step to start beside one that is slow; none when there is no other, or it may not be. Never beside a retry:
    /// one of the two is enough; and never where nothing may run twice.
    pub fn hedge(&self, slow: &Exchange, view: &View<'_>) -> Option<Exchange> {
        let is_first = matches!(slow.kind, AttemptKind::First | AttemptKind::Probe);
        let may_run_twice = self.spec.limits.on_may_have_run != OnMayHaveRun::Stop;
        let may = is_first
            && may_run_twice
            && !self.hedged
            && !self.directives.no_fallback
            && self.attempts < self.spec.limits.attempts;
        let send = self.first_eligible(view).filter(|send| may && send.kind == AttemptKind::First)?;
        let both = self.could_cost(slow.step) + self.could_cost(send.step);
        let is_too_dear = self.spec.limits.max_cost_usd.is_some_and(|max| self.spent_usd + both > max);
        (!is_too_dear).then_some(Exchange { kind: AttemptKind::Hedge, ..send })
    }

    fn could_cost(&self, step: usize) -> f64 {
        self.steps.get(step).and_then(|spec| self.shape.ceiling_usd(spec)).unwrap_or(0.0)
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

    pub(super) fn send(
        &self,
        step: usize,
        kind: AttemptKind,
        claims: &[&Versioned],
        remedy: Option<Remedy>,
        view: &View<'_>,
    ) -> Exchange {
        let progress = self.progress.get(step);
        let lowered = progress.and_then(|progress| progress.max_tokens);
        Exchange {
            step,
            kind,
            claims: claims.iter().map(|held| (*held).clone()).collect(),
            remedy,
            max_tokens: lowered.or_else(|| self.precharged(step, view)),
            without_thinking: progress.is_some_and(|progress| progress.without_thinking),
            in_words: progress.is_some_and(|progress| progress.in_words) || self.takes_no_schema(step),
            is_granted: false,
            is_resort: false,
            time_left: self.spec.limits.deadline.saturating_sub(view.elapsed),
        }
    }

    /// Whether the model is known to refuse a schema. It is no reason to skip it: a shape can be asked for in words.
    fn takes_no_schema(&self, step: usize) -> bool {
        let findings = self.steps.get(step).map(|step| step.findings.as_slice()).unwrap_or_default();
        self.shape.schema && findings.iter().any(|found| found.about.lacks(Feature::JsonSchema))
    }
}

/// Whether the status says that the request itself is wrong. What is not understood of these would most likely fail
/// everywhere; the statuses of keys, money and limits are about this caller at this provider, whatever stands below them.
fn blames_request(status: u16) -> bool {
    (400..500).contains(&status) && !matches!(status, 401 | 402 | 403 | 429)
}
