//! What a request does whose ladder is open: nothing is asked, and it waits or ends as it would with every step held.
//!
//! Whether the ladder turns it away is decided elsewhere; here stands what only the walk knows: whom the request could
//! ask now, whether it came down the whole ladder, and which steps it asked in vain.

use std::time::Duration;

use jiff::Timestamp;

use super::end::{End, Skip, SkipReason};
use super::run::{Run, Step, View};
use super::spec::StepSpec;
use super::turn::Bar;

/// A request that is turned away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnedAway {
    /// When asking again can help.
    pub until: Timestamp,
    /// Whether others look whether the ladder is back, so that waiting can help sooner.
    pub is_looked_at: bool,
}

impl StepSpec {
    /// What it is asked with, in one line: with another key or config entry it is another one.
    pub fn print(&self) -> String {
        let parts = [self.fingerprint.as_deref(), self.entry.as_deref()];
        let parts: Vec<&str> = parts.into_iter().flatten().collect();
        format!("{} {}", self.target.deployment, parts.join(" ")).trim_end().to_owned()
    }
}

impl Run {
    /// Whether the ladder may have a say: nothing is decided yet, nothing was asked, and there is a step that the request
    /// itself does not rule out.
    pub fn stands_before_its_ladder(&self) -> bool {
        self.end.is_none() && self.attempts == 0 && self.own().iter().any(|step| self.is_allowed(*step))
    }

    /// Whether it could ask a step now that is none of these.
    pub fn could_ask_another(&self, view: &View<'_>, failed: &[String]) -> bool {
        let is_another =
            |step: usize| self.steps.get(step).is_some_and(|spec| !failed.iter().any(|known| *known == spec.print()));
        let free = self.queue.iter().copied().filter(|step| self.turn(*step, view).is_ok());
        let resort = self.try_last_resort(view).map(|send| send.step);
        free.chain(resort).any(is_another)
    }

    /// What a request is told that the ladder turns away up to this time. With nobody to ask before another time, that is
    /// the one that helps.
    pub fn turned_away(&self, view: &View<'_>, until: Timestamp, is_looked_at: bool) -> TurnedAway {
        let could_ask = self.could_ask_another(view, &[]);
        let first = if could_ask { None } else { self.soonest(view, |_| true) };
        TurnedAway { until: first.map_or(until, |first| first.max(until)), is_looked_at }
    }

    /// The prints of the steps that were asked in vain and could be asked again at once; none when it did not come down
    /// the whole ladder, so that its end says nothing of it.
    pub fn asked_in_vain(&self, view: &View<'_>) -> Option<Vec<String>> {
        let own = self.own();
        let is_down = |step: &usize| {
            let Some(progress) = self.progress.get(*step) else { return false };
            let has_no_key = matches!(progress.barred, Some(SkipReason::NoKey(_)));
            let is_out = matches!(self.turn(*step, view), Err(Bar::Held(_) | Bar::Full(_)));
            match progress.failed {
                Some(class) => !class.is_the_requests_fault(),
                None => progress.asked > 0 || has_no_key || is_out,
            }
        };
        if own.is_empty() || !own.iter().all(is_down) {
            return None;
        }
        let asked = |step: usize| self.progress.get(step).is_some_and(|progress| progress.asked > 0);
        let again = |step: usize| self.last_resort == Some(step) || self.turn(step, view).is_ok();
        let in_vain = own.into_iter().chain(self.last_resort).filter(|step| asked(*step) && again(*step));
        Some(in_vain.filter_map(|step| self.steps.get(step)).map(StepSpec::print).collect())
    }

    /// Turned away by the open ladder: waits if the user gave it the time, and else ends.
    pub fn turn_away(&mut self, view: &View<'_>, away: &TurnedAway) -> Step {
        if view.elapsed >= self.spec.limits.deadline {
            return self.finish(End::Deadline);
        }
        let (since, budget) = self.time_to_wait(view);
        let wait = Duration::try_from(away.until.duration_since(view.now)).unwrap_or(Duration::ZERO);
        let time_left = self.spec.limits.deadline.saturating_sub(view.elapsed);
        let fits = wait <= budget && wait < time_left;
        if !budget.is_zero() && (fits || away.is_looked_at) {
            self.waiting_since = Some(since);
            return Step::Wait(wait.min(budget).min(time_left).max(Duration::from_millis(1)));
        }
        let own = self.own();
        let needs_person = |step: &usize| {
            let barred = self.progress.get(*step).and_then(|progress| progress.barred.as_ref());
            matches!(barred, Some(SkipReason::NoKey(_)))
                || matches!(self.turn(*step, view), Err(Bar::Held(by)) if by.record.needs_a_person())
        };
        let end = match own.iter().all(needs_person) {
            true => End::NeedsPerson,
            false => End::Exhausted { retry_at: Some(away.until) },
        };
        self.finish(end)
    }

    /// Each step of the ladder with what keeps it from being asked, the open ladder if nothing else does.
    pub fn skipped_by_ladder(&self, view: &View<'_>, away: &TurnedAway) -> Vec<Skip> {
        let by_ladder = |step: usize| {
            let deployment = self.steps.get(step)?.target.deployment.clone();
            let (reason, until) = (SkipReason::LadderRests, Some(away.until));
            Some(Skip { step, deployment, reason, until, provenance: None })
        };
        self.own().into_iter().filter_map(|step| self.skip_of(step, view).or_else(|| by_ladder(step))).collect()
    }

    /// The ladder's own steps.
    fn own(&self) -> Vec<usize> {
        self.indexes(&self.spec.steps)
    }

    /// Whether the request itself does not rule the step out.
    fn is_allowed(&self, step: usize) -> bool {
        self.progress.get(step).is_some_and(|progress| progress.barred.is_none())
    }
}
