//! Whose turn it is.
//!
//! A step may be asked when nothing bars it for this request, no hold covers it, and this request does not bring one of
//! its limits too near. Among those that may, the ladder's order counts, with one exception: a step with little left of
//! a limit waits until the others had their turn, so that what is left is there when it is needed.

use std::time::Duration;

use crate::domain::{AttemptKind, Provenance};
use crate::policy::{Gate, HoldRecord, Room, Tightness, Versioned, gate, is_transient, returns_at, room, tokens_left};

use super::eligibility::{Eligibility, eligibility};
use super::end::{Skip, SkipReason};
use super::plans::WORTH;
use super::run::{Exchange, Planned, Run, View};
use super::spec::LONG_ANSWER;

/// What passes within this time passes soon.
const SOON: Duration = Duration::from_secs(5 * 60);

/// Why a step may not be asked.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Bar<'a> {
    /// This request rules it out.
    Request,
    /// A hold covers it.
    Held(&'a Versioned),
    /// A limit is too near.
    Full(Tightness),
}

/// A step that may be asked.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Turn<'a> {
    /// The holds whose leases must be claimed.
    pub(super) claims: Vec<&'a Versioned>,
    /// The limit of which so little is left that others go first.
    pub(super) near: Option<Tightness>,
}

impl Run {
    /// Who would be asked now, in order; the last resort when there is nobody else.
    pub fn plan(&self, view: &View<'_>) -> Vec<Planned> {
        let allowed = if self.directives.no_fallback { 1 } else { usize::MAX };
        let most = self.directives.max_steps.map_or(usize::MAX, |max| max as usize);
        let turns = self.turns(view, |_| true).into_iter();
        let planned =
            |(step, turn): (usize, Turn<'_>)| Planned { step, probe: !turn.claims.is_empty(), near: turn.near };
        let order: Vec<Planned> = turns.map(planned).take(allowed.min(most)).collect();
        let resort = self.try_last_resort(view).filter(|_| order.is_empty());
        let resort = resort.map(|send| Planned { step: send.step, probe: !send.claims.is_empty(), near: None });
        order.into_iter().chain(resort).collect()
    }

    /// Each step that was not asked although its turn could have come, with the reason as things stand at this moment.
    pub fn skipped(&self, view: &View<'_>) -> Vec<Skip> {
        let mut out: Vec<Skip> = Vec::new();
        let own = self.indexes(&self.spec.steps);
        for step in own.into_iter().chain(self.queue.iter().copied()) {
            let seen = out.iter().any(|skip| skip.step == step);
            let asked = self.progress.get(step).is_none_or(|progress| progress.asked > 0);
            if !seen && !asked {
                out.extend(self.skip_of(step, view));
            }
        }
        out
    }

    /// Whether the step may be asked now, or why not.
    pub(super) fn turn<'a>(&self, step: usize, view: &View<'a>) -> Result<Turn<'a>, Bar<'a>> {
        let (Some(spec), Some(progress)) = (self.steps.get(step), self.progress.get(step)) else {
            return Err(Bar::Request);
        };
        if progress.barred.is_some() {
            return Err(Bar::Request);
        }
        match eligibility(view.holds, &spec.target, view.now, spec.caller()) {
            Eligibility::Held(by) => Err(Bar::Held(by)),
            // The probe is there to find out whether what we believe of the limit is still true.
            Eligibility::Probe(claims) => Ok(Turn { claims, near: None }),
            Eligibility::Eligible => match self.room(step, view) {
                Room::Enough => Ok(Turn { claims: Vec::new(), near: None }),
                Room::Little(tight) => Ok(Turn { claims: Vec::new(), near: Some(tight) }),
                Room::None(tight) => Err(Bar::Full(tight)),
            },
        }
    }

    /// What the step's limits leave for this request.
    fn room(&self, step: usize, view: &View<'_>) -> Room {
        let Some(spec) = self.steps.get(step) else { return Room::Enough };
        let demand = self.shape.demand(spec, view.usage);
        room(&spec.target, &spec.gauges, view.usage, &demand, view.bounds, view.now)
    }

    /// The longest answer to ask for where the provider charges it before there is any: no more than its limits leave
    /// room for, if that is worth having, and never as much as the model could give when nobody asked for it.
    pub(super) fn precharged(&self, step: usize, view: &View<'_>) -> Option<u64> {
        let spec = self.steps.get(step).filter(|spec| spec.precharges)?;
        let wanted = self.shape.max_tokens.unwrap_or(LONG_ANSWER).min(spec.max_output.unwrap_or(u64::MAX));
        let input = self.shape.demand(spec, view.usage).input;
        let left = tokens_left(&spec.target, &spec.gauges, view.usage, view.now);
        let fitting = left.map_or(u64::MAX, |left| (left - input).max(0.0) as u64);
        Some(if fitting >= (wanted / WORTH).max(1) { wanted.min(fitting) } else { wanted })
    }

    /// The steps of the queue that are wanted and may be asked, in the order in which they are.
    fn turns<'a>(&self, view: &View<'a>, wanted: impl Fn(usize) -> bool) -> Vec<(usize, Turn<'a>)> {
        let of = |step: usize| Some((step, self.turn(step, view).ok()?));
        let turns = self.queue.iter().copied().filter(|step| wanted(*step)).filter_map(of);
        let (last, first): (Vec<_>, Vec<_>) = turns.partition(|(_, turn)| turn.near.is_some());
        first.into_iter().chain(last).collect()
    }

    pub(super) fn skip_of(&self, step: usize, view: &View<'_>) -> Option<Skip> {
        let spec = self.steps.get(step)?;
        let (reason, until, provenance) = match (self.progress.get(step)?.barred.clone(), self.turn(step, view)) {
            (Some(reason), _) => (reason, None, None),
            (None, Err(Bar::Held(by))) => {
                let record = &by.record;
                (held_by(record), returns_at(record), Some(record.provenance()))
            }
            (None, Err(Bar::Full(tight))) => {
                let (until, provenance) = (tight.until, tight.provenance);
                (SkipReason::NearLimit(tight), until, Some(provenance))
            }
            (None, Err(Bar::Request)) => return None,
            (None, Ok(_)) if self.attempts >= self.spec.limits.attempts => (SkipReason::AttemptsUsed, None, None),
            // It would have been asked next: nothing kept it back.
            (None, Ok(_)) => return None,
        };
        Some(Skip { step, deployment: spec.target.deployment.clone(), reason, until, provenance })
    }

    /// The exchange with whose turn it is.
    pub(super) fn first_eligible(&self, view: &View<'_>) -> Option<Exchange> {
        let fresh = |step: usize| self.progress.get(step).is_some_and(|progress| progress.asked == 0);
        let has_room = self.has_room();
        if let Some((step, turn)) = self.turns(view, |step| has_room && fresh(step)).into_iter().next() {
            let kind = if turn.claims.is_empty() { AttemptKind::First } else { AttemptKind::Probe };
            return Some(self.send(step, kind, &turn.claims, None, view));
        }
        // After a wait, a step whose limit is over may use its second try.
        self.waiting_since?;
        let again = self.turns(view, |step| self.may_be_waited_for(step) && !fresh(step));
        let (step, turn) = again.into_iter().next()?;
        Some(self.send(step, AttemptKind::Retry, &turn.claims, None, view))
    }

    /// Whether one more deployment may be asked.
    fn has_room(&self) -> bool {
        let asked = self.progress.iter().filter(|progress| progress.asked > 0).count();
        self.directives.max_steps.is_none_or(|max| asked < max as usize)
    }

    /// The last resort is asked although it is held, if all that holds it passes by itself and soon, or although a limit
    /// is near. One that is no step of the ladder has its turn only here, so it may as well be free, or due for its probe.
    pub(super) fn try_last_resort(&self, view: &View<'_>) -> Option<Exchange> {
        let step = self.last_resort?;
        let spec = self.steps.get(step)?;
        if !self.has_room() || self.progress.get(step)?.asked > 0 {
            return None;
        }
        match self.turn(step, view) {
            Ok(turn) if turn.claims.is_empty() => Some(self.send(step, AttemptKind::First, &[], None, view)),
            Ok(turn) => Some(self.send(step, AttemptKind::Probe, &turn.claims, None, view)),
            Err(Bar::Request) => None,
            // Only a limit that is soon back is as good as a hold that passes; the operator's own word stands.
            Err(Bar::Full(tight)) if !is_soon_back(&tight, view) => None,
            Err(Bar::Full(_)) => {
                Some(Exchange { is_resort: true, ..self.send(step, AttemptKind::First, &[], None, view) })
            }
            Err(Bar::Held(_)) => {
                let covering = view.holds.iter().filter(|held| held.record.scope().covers(&spec.target));
                let mut holding = covering.filter(|held| gate(&held.record, view.now, spec.caller()) != Gate::Open);
                let transient = holding.all(|held| is_transient(&held.record));
                let resort = || Exchange { is_resort: true, ..self.send(step, AttemptKind::First, &[], None, view) };
                transient.then(resort)
            }
        }
    }
}

/// Whether a limit passes by itself and soon.
fn is_soon_back(tight: &Tightness, view: &View<'_>) -> bool {
    let soon = view.now.checked_add(SOON).ok();
    tight.provenance != Provenance::Operator && tight.until.zip(soon).is_some_and(|(until, soon)| until <= soon)
}

fn held_by(record: &HoldRecord) -> SkipReason {
    if record.is_by_hand() {
        return SkipReason::HeldByHand(record.evidence().to_owned());
    }
    SkipReason::Held { kind: record.kind(), class: record.class(), evidence: record.evidence().to_owned() }
}
