//! What is left to do when no step is eligible: wait for one, or say why not.
//!
//! Waiting is the last choice, and the user pays for it, so it happens only within the time that was given for it and
//! only for a step that comes back by itself before the deadline. Otherwise the end must say the one thing that helps:
//! ask again later, call a person, or change the request. The exit code is made of that.

use std::time::Duration;

use jiff::Timestamp;

use crate::domain::Class;
use crate::policy::returns_at;

use super::end::{End, SkipReason};
use super::run::{Run, Step, View};
use super::turn::Bar;

impl Run {
    pub(super) fn may_be_waited_for(&self, step: usize) -> bool {
        let (Some(progress), Some(spec)) = (self.progress.get(step), self.steps.get(step)) else { return false };
        let by_itself = progress.failed.is_none_or(|class| class == Class::RateLimit);
        let none_left = progress.asked > 0 && !self.has_retries();
        progress.barred.is_none() && by_itself && !none_left && progress.asked < spec.attempts.max(1)
    }

    /// When the first step returns by itself, over those that `wanted` accepts.
    pub(super) fn soonest(&self, view: &View<'_>, wanted: impl Fn(usize) -> bool) -> Option<Timestamp> {
        let returns = |step: usize| match self.turn(step, view) {
            Err(Bar::Held(by)) if !by.record.needs_a_person() => returns_at(&by.record),
            Err(Bar::Full(tight)) => tight.until,
            _ => None,
        };
        self.queue.iter().copied().filter(|step| wanted(*step)).filter_map(returns).min()
    }

    /// The wait is over; what it took is gone from the request's budget.
    pub(super) fn stop_waiting(&mut self, elapsed: Duration) {
        if let Some(since) = self.waiting_since.take() {
            self.waited += elapsed.saturating_sub(since);
        }
    }

    /// Since when it waits, and how much longer it may.
    pub(super) fn time_to_wait(&self, view: &View<'_>) -> (Duration, Duration) {
        let since = self.waiting_since.unwrap_or(view.elapsed);
        let waited = self.waited + view.elapsed.saturating_sub(since);
        (since, self.spec.limits.wait.saturating_sub(waited))
    }

    pub(super) fn wait_or_give_up(&mut self, view: &View<'_>) -> Step {
        let limits = self.spec.limits;
        let (since, budget) = self.time_to_wait(view);
        let soonest = self.soonest(view, |step| self.may_be_waited_for(step));
        let wait = soonest.map(|at| Duration::try_from(at.duration_since(view.now)).unwrap_or(Duration::ZERO));
        match wait {
            Some(wait) if wait <= budget && view.elapsed + wait < limits.deadline && !budget.is_zero() => {
                self.waiting_since = Some(since);
                Step::Wait(wait.max(Duration::from_millis(1)))
            }
            _ => self.give_up(view),
        }
    }

    /// Nothing is left to ask: what is the most useful thing to say? That waiting helps, if any step comes back by
    /// itself; else that the answers were of the wrong shape; else that the request was refused; else that a person
    /// must act.
    pub(super) fn give_up(&mut self, view: &View<'_>) -> Step {
        let retry_at = self.soonest(view, |_| true);
        let failed = |wanted: fn(Class) -> bool| {
            self.progress.iter().filter_map(|progress| progress.failed).find(|class| wanted(*class))
        };
        let refused_before = self.progress.iter().any(|p| matches!(p.barred, Some(SkipReason::TooLarge(_))));
        let end = if retry_at.is_some() || failed(Class::passes_by_itself).is_some() {
            End::Exhausted { retry_at }
        } else if failed(|class| class == Class::InvalidOutput).is_some() {
            End::WrongShape
        } else if let Some(class) = failed(Class::is_the_requests_fault) {
            End::Refused(class)
        } else if refused_before {
            End::Refused(Class::ContextOverflow)
        } else if self.was_cut_short(view) {
            End::Exhausted { retry_at: Some(view.now) }
        } else if self.someone_must_act(view) {
            End::NeedsPerson
        } else if self.attempts == 0 && self.progress.iter().all(|progress| progress.barred.is_some()) {
            End::NoneAllowed
        } else {
            End::Exhausted { retry_at: None }
        };
        self.finish(end)
    }

    /// Whether only the bound on attempts keeps a step from being asked: the next request gets to it.
    fn was_cut_short(&self, view: &View<'_>) -> bool {
        let fresh = |step: usize| self.progress.get(step).is_some_and(|progress| progress.asked == 0);
        let used_up = self.attempts >= self.spec.limits.attempts;
        used_up && self.queue.iter().any(|step| fresh(*step) && self.turn(*step, view).is_ok())
    }

    pub(super) fn someone_must_act(&self, view: &View<'_>) -> bool {
        let failed = self.progress.iter().filter_map(|progress| progress.failed).any(Class::needs_a_person);
        let held = |step: &usize| matches!(self.turn(*step, view), Err(Bar::Held(by)) if by.record.needs_a_person());
        let no_key = |progress: &super::run::Progress| matches!(progress.barred, Some(SkipReason::NoKey(_)));
        failed || self.queue.iter().any(held) || self.progress.iter().any(no_key)
    }
}
