//! What is decided after a failure and waits for its moment: the same again, or the same made to fit.
//!
//! Retries live here and nowhere else. One is planned for a fault that may pass, after a wait of full jitter or, where
//! the provider says when it is back, no sooner than that. A wait that is longer than jitter would ever make it is put
//! off while another step can be asked at once; whoever is left alone waits. A remedy is no retry: it changes the
//! request so that the very same deployment can take it, once.

use std::time::Duration;

use jiff::Timestamp;

use crate::domain::{AttemptKind, Class, Execution, Failure, Feature, OutputFit};
use crate::policy::{HoldRecord, full_jitter, returns_at};

use super::run::{Exchange, Run, Step, View};
use super::spec::OnMayHaveRun;
use super::turn::Bar;

/// The least part of the wanted answer that is worth asking for: an eighth.
pub(super) const WORTH: u64 = 8;

/// The shortest longest answer that is asked for where the user set no bound, in tokens.
const SHORTEST: u64 = 256;

/// So much later than the provider said: two clocks are read, and the store rounds.
const ROUNDING: Duration = Duration::from_millis(10);

/// How a request is changed so that the same deployment can take it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remedy {
    /// It is told what was wrong with its answer.
    Shape(String),
    /// The longest answer is shorter, in tokens.
    FewerTokens(u64),
    /// The thoughts of models are left out: only who thought them can check them.
    WithoutThinking,
    /// The shape of the answer is asked for in words: its schema is more than the provider's own means can take.
    InWords,
}

impl Remedy {
    /// As what the exchange stands in the log. Only an answer is repaired: what was refused before there was one is asked for
    /// in another form, and that says nothing of how good answers are.
    const fn kind(&self) -> AttemptKind {
        match self {
            Self::Shape(_) => AttemptKind::Repair,
            Self::FewerTokens(_) | Self::WithoutThinking | Self::InWords => AttemptKind::Adjusted,
        }
    }
}

/// An exchange that failed.
#[derive(Debug, Clone, Copy)]
pub struct Failed<'a> {
    /// What `classify` made of it.
    pub failure: &'a Failure,
    /// The HTTP status, when one came.
    pub status: Option<u16>,
    /// Whether the provider may have done the work.
    pub execution: Execution,
    /// Since the request began.
    pub elapsed: Duration,
    /// The wall clock.
    pub now: Timestamp,
    /// Until when anything is held back for it.
    pub held_until: Option<Timestamp>,
    /// A drawn number in 0..1, for the wait before a retry.
    pub unit: f64,
}

/// Something that was decided and waits for its moment.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Pending {
    Retry { step: usize, not_before: Duration },
    Remedy { step: usize, remedy: Remedy },
}

impl Run {
    /// Whether a retry of the step is wanted. If it is, the driver asks the shared budget and reports the answer with
    /// the failure.
    pub fn wants_retry(&self, sent: &Exchange, failed: &Failed<'_>) -> bool {
        self.retry_after(sent, failed).is_some()
    }

    /// When the step may be tried again, since the request began; none when it may not.
    fn retry_after(&self, sent: &Exchange, failed: &Failed<'_>) -> Option<Duration> {
        let (progress, spec) = self.progress.get(sent.step).zip(self.steps.get(sent.step))?;
        let limits = &self.spec.limits;
        let class = failed.failure.class;
        let may_pass = matches!(class, Class::Overloaded | Class::ServerError | Class::Timeout | Class::Network);
        let is_first_try = !matches!(sent.kind, AttemptKind::Probe | AttemptKind::Hedge);
        let is_over = self.ends_with_invalid(sent, failed.failure);
        let pays_twice = failed.execution == Execution::MayHaveRun && limits.on_may_have_run != OnMayHaveRun::Retry;
        if !may_pass || !is_first_try || is_over || pays_twice || !self.has_retries() || progress.asked >= spec.attempts
        {
            return None;
        }
        let back_at = failed.held_until.max(failed.failure.retry_at);
        let hint = back_at.and_then(|at| Duration::try_from(at.duration_since(failed.now)).ok());
        let jitter = full_jitter(limits.backoff, limits.backoff_max, progress.asked.saturating_sub(1), failed.unit);
        if hint.is_some_and(|hint| hint > limits.hint_max) {
            return None;
        }
        let wait = hint.map_or(jitter, |hint| jitter.max(hint + ROUNDING));
        // What took long once may take as long again, and then no time is left for the next step.
        let started = limits.deadline.saturating_sub(sent.time_left);
        let took = failed.elapsed.saturating_sub(started);
        let in_time = failed.elapsed + wait + took < limits.deadline;
        in_time.then_some(failed.elapsed + wait)
    }

    /// Whether the request may make one more retry.
    pub(super) fn has_retries(&self) -> bool {
        self.spec.limits.retries.is_none_or(|most| self.retries < most)
    }

    pub(super) fn plan_retry(&mut self, sent: &Exchange, failed: &Failed<'_>) {
        if let Some(not_before) = self.retry_after(sent, failed) {
            self.retries += 1;
            self.pending = Some(Pending::Retry { step: sent.step, not_before });
        }
    }

    /// How the same deployment could take the request after all, if it was not tried before. Then the failure says
    /// nothing against it.
    pub fn remedy(&self, sent: &Exchange, failure: &Failure) -> Option<Remedy> {
        let progress = self.progress.get(sent.step)?;
        match failure.class {
            Class::InvalidOutput if self.may_repair(progress) => Some(Remedy::Shape(failure.evidence.clone())),
            // A probe that was refused leaves its hold in place, and under that there is no second exchange.
            Class::ContextOverflow | Class::Billing
                if progress.max_tokens.is_none() && sent.kind != AttemptKind::Probe =>
            {
                self.fewer_tokens(sent, failure).map(Remedy::FewerTokens)
            }
            Class::Unsupported | Class::InvalidRequest
                if self.shape.thinking && !progress.without_thinking && speaks_of_thinking(failure) =>
            {
                Some(Remedy::WithoutThinking)
            }
            Class::Unsupported | Class::InvalidRequest
                if speaks_of_schema(failure) && self.is_shaped_by_means(sent) =>
            {
                Some(Remedy::InWords)
            }
            _ => None,
        }
    }

    /// Whether the shape was asked for by the provider's own means, which it is where these are declared.
    fn is_shaped_by_means(&self, sent: &Exchange) -> bool {
        let declared = self.steps.get(sent.step).and_then(|step| step.capabilities.as_ref());
        let means = [Feature::JsonSchema.as_str(), "json_object"];
        let has_means = declared.is_some_and(|list| list.iter().any(|can| means.contains(&can.as_str())));
        self.shape.schema && !sent.in_words && has_means
    }

    /// The longest answer with which it would fit, if that is worth having.
    fn fewer_tokens(&self, sent: &Exchange, failure: &Failure) -> Option<u64> {
        let asked = sent.max_tokens.or(self.shape.max_tokens);
        let fitting = match failure.fits? {
            OutputFit::Tokens(tokens) => tokens,
            OutputFit::Less(over) => asked?.checked_sub(over)?,
        };
        let least = asked.map_or(SHORTEST, |asked| (asked / WORTH).max(1));
        (fitting >= least && asked.is_none_or(|asked| fitting < asked)).then_some(fitting)
    }

    pub(super) fn plan_remedy(&mut self, step: usize, remedy: Remedy) {
        let Some(progress) = self.progress.get_mut(step) else { return };
        match &remedy {
            Remedy::Shape(_) => progress.repaired = true,
            Remedy::FewerTokens(tokens) => progress.max_tokens = Some(*tokens),
            Remedy::WithoutThinking => progress.without_thinking = true,
            Remedy::InWords => progress.in_words = true,
        }
        self.pending = Some(Pending::Remedy { step, remedy });
    }

    /// A decided retry or remedy, if the step may still be asked. The hold counts, not our plan: the failure itself may
    /// have set one, or another process may have seen more failures meanwhile. A plan that came to nothing is given up
    /// before the wait for it, not after.
    pub(super) fn poll_pending(&mut self, view: &View<'_>) -> Option<Step> {
        let pending = self.pending.take()?;
        let (step, kind, remedy, not_before) = match &pending {
            Pending::Retry { step, not_before } => (*step, AttemptKind::Retry, None, *not_before),
            Pending::Remedy { step, remedy } => (*step, remedy.kind(), Some(remedy.clone()), Duration::ZERO),
        };
        let wait = not_before.saturating_sub(view.elapsed);
        if self.attempts >= self.spec.limits.attempts || !self.is_free_in(step, wait, view) {
            if self.directives.no_fallback {
                self.bar_rest(step);
            }
            if self.progress.get(step).is_some_and(|progress| progress.invalid) {
                self.end_with_invalid();
            }
            return None;
        }
        if wait.is_zero() {
            self.stop_waiting(view.elapsed);
            return Some(Step::Send(Exchange { is_granted: true, ..self.send(step, kind, &[], remedy, view) }));
        }
        let is_long = wait > self.spec.limits.backoff && !self.directives.no_fallback;
        if is_long && let Some(send) = self.first_eligible(view) {
            self.put_off.push((step, not_before));
            return Some(Step::Send(send));
        }
        self.pending = Some(pending);
        Some(Step::Wait(wait))
    }

    /// A retry that was put off for other steps, now that none of them is left.
    pub(super) fn resume_put_off(&mut self, view: &View<'_>) -> Option<Step> {
        while let Some(at) = (0..self.put_off.len()).min_by_key(|at| self.put_off.get(*at).map(|(_, due)| *due)) {
            let (step, not_before) = self.put_off.swap_remove(at);
            self.pending = Some(Pending::Retry { step, not_before });
            if let Some(next) = self.poll_pending(view) {
                return Some(next);
            }
        }
        None
    }

    /// Whether the step may be asked after so long, as far as is known now: nothing holds it, or only a cooldown that is
    /// over by then.
    fn is_free_in(&self, step: usize, wait: Duration, view: &View<'_>) -> bool {
        match self.turn(step, view) {
            Ok(turn) => turn.claims.is_empty(),
            Err(Bar::Held(by)) => {
                let due = view.now.checked_add(wait).unwrap_or(Timestamp::MAX);
                matches!(by.record, HoldRecord::Cooldown(_))
                    && !wait.is_zero()
                    && returns_at(&by.record).is_some_and(|at| at <= due)
            }
            Err(_) => false,
        }
    }
}

/// Whether the refusal is about the schema, or may be: Gemini says no more than the last of these of many a schema.
fn speaks_of_schema(failure: &Failure) -> bool {
    let words = failure.evidence.to_lowercase();
    let names = ["schema", "response_format", "output_config", "request contains an invalid argument"];
    let named = failure.class == Class::InvalidRequest && names.iter().any(|name| words.contains(name));
    named || failure.lacks == Some(Feature::JsonSchema)
}

/// Whether the refusal is about thoughts in the history.
fn speaks_of_thinking(failure: &Failure) -> bool {
    let words = failure.evidence.to_lowercase();
    ["thinking", "thought", "signature", "reasoning"].iter().any(|word| words.contains(word))
}
