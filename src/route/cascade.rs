//! How a request and its ladder deal with each other: whether it may pass, the slot that it takes, and what its end says.
//!
//! The rule stands in `policy`; here it is asked with what the snapshot says, before anything is sent, and what follows
//! from it is written: a slot under the lock, so that of many that see the last one one gets it, and the end together with
//! the request's own row. A request that names a provider of its own, or deployments instead of a ladder, is none of the
//! ladder's business. As long as requests are answered there is no record, and nothing is written.

use std::time::Duration;

use jiff::Timestamp;

use crate::domain::{KeptAnswer, LadderName, RequestId, RequestRecord};
use crate::ladder::{End, Run, Skip, Step, TurnedAway, View};
use crate::policy::{
    Cascade, CascadeChange, CascadeSettings, Ending, Fall, Passage, Tally, VersionedCascade, after_request,
};
use crate::store::{Accounts, Batch, Snapshot, Store, StoreError, update_locked};

use super::drive::Drive;
use super::job::Job;
use super::record::Blame;

/// So much longer than the request may take its slot lives.
const SPARE: Duration = Duration::from_secs(10);

/// The end of a request, as its ladder counts it.
#[derive(Debug, Clone, PartialEq)]
pub struct LadderEnd {
    ladder: LadderName,
    settings: CascadeSettings,
    ending: Ending,
}

impl LadderEnd {
    /// What it changes.
    pub(super) fn changes(&self, there: &[VersionedCascade], id: &RequestId, now: Timestamp) -> Vec<CascadeChange> {
        let Self { ladder, settings, ending } = self;
        let tally = Tally { ladder, request_id: id, settings, now };
        after_request(find(there, ladder), ending, &tally).into_iter().collect()
    }
}

fn find<'a>(there: &'a [VersionedCascade], ladder: &LadderName) -> Option<&'a VersionedCascade> {
    there.iter().find(|there| there.cascade.ladder == *ladder)
}

/// What is remembered of the job's ladder, if it means anything to this job.
pub fn cascade_of<'a>(job: &Job, snapshot: &'a Snapshot, now: Timestamp) -> Option<&'a Cascade> {
    job.cascade.filter(|_| job.directives.pin.is_none())?;
    let there = find(&snapshot.cascades, &job.spec.name).map(|there| &there.cascade);
    there.filter(|cascade| !cascade.is_void(now))
}

/// What the ladder says to a request that has not asked anyone yet.
pub fn passage(job: &Job, cascade: &Cascade, machine: &Run, view: &View<'_>) -> Passage {
    if !machine.stands_before_its_ladder() {
        return Passage::Free;
    }
    cascade.may_pass(&job.id, machine.could_ask_another(view, &cascade.failed), view.now)
}

/// What a request that is turned away is told.
fn why(cascade: &Cascade, away: &TurnedAway) -> String {
    let Cascade { ladder, streak, evidence, .. } = cascade;
    let state = match away.is_looked_at {
        true => "others look just now whether it is back".to_owned(),
        false => format!("rests until {}", whole_seconds(away.until)),
    };
    let last = if evidence.is_empty() { String::new() } else { format!("; it was last: {evidence}") };
    format!("exhausted: ladder {ladder} fell through {streak} times in a row and {state}{last}")
}

/// A moment later rather than sooner.
fn whole_seconds(at: Timestamp) -> Timestamp {
    let up = at.as_second() + i64::from(at.subsec_nanosecond() > 0);
    Timestamp::from_second(up).unwrap_or(at)
}

/// What has been between a request and its ladder.
#[derive(Default)]
pub(super) struct Passing {
    /// What the ladder says when it turns the request away.
    away: Option<(TurnedAway, String)>,
    has_slot: bool,
    /// What its end means for the ladder, where it must be written.
    pub(super) ending: Option<LadderEnd>,
}

impl Passing {
    /// Whether the request was turned away, and what it is told then.
    pub(super) fn turned_away(&self, end: End) -> Option<&String> {
        self.away.as_ref().filter(|_| end.is_exhaustion()).map(|(_, why)| why)
    }
}

impl<S: Store> Drive<'_, S> {
    /// What to do next: what the machine says, unless the ladder turns the request away. None when another process took
    /// the last slot, so that it must be asked again.
    pub(super) fn next(&mut self, snapshot: &Snapshot, view: &View<'_>) -> Result<Option<Step>, StoreError> {
        self.made.passing.away = None;
        let cascade = cascade_of(self.job, snapshot, view.now);
        let said = cascade.map(|cascade| (cascade, passage(self.job, cascade, &self.machine, view)));
        let needs_slot = match said {
            Some((cascade, Passage::Refused { until, is_looked_at })) => {
                let away = self.machine.turned_away(view, until, is_looked_at);
                self.made.passing.away = Some((away, why(cascade, &away)));
                return Ok(Some(self.machine.turn_away(view, &away)));
            }
            Some((_, Passage::Slot)) => true,
            Some((_, Passage::Free)) | None => false,
        };
        let step = self.machine.poll(view);
        let lost = needs_slot && matches!(step, Step::Send(_)) && !self.take_slot(view)?;
        Ok((!lost).then_some(step))
    }

    /// Takes a slot of the ladder that recovers; false when none is left.
    fn take_slot(&mut self, view: &View<'_>) -> Result<bool, StoreError> {
        let Job { id, spec, .. } = self.job;
        let taken = update_locked(self.router.store, &Accounts::None, |snapshot| {
            let now = self.router.clock.now();
            let Some(there) = find(&snapshot.cascades, &spec.name) else { return (Batch::default(), true) };
            let is_news = self.machine.could_ask_another(view, &there.cascade.failed);
            match there.cascade.may_pass(id, is_news, now) {
                Passage::Free => (Batch::default(), true),
                Passage::Refused { .. } => (Batch::default(), false),
                Passage::Slot => {
                    let entered = there.cascade.entered(id, now + spec.limits.deadline + SPARE, now);
                    let (ladder, expected) = (spec.name.clone(), Some(there.version));
                    let change = CascadeChange { ladder, expected, cascade: Some(entered) };
                    (Batch { cascades: vec![change], ..Batch::default() }, true)
                }
            }
        })?;
        self.made.passing.has_slot |= taken;
        Ok(taken)
    }

    /// Each step that was not asked, with what kept it from being asked.
    pub(super) fn skipped(&self, view: &View<'_>) -> Vec<Skip> {
        match &self.made.passing.away {
            Some((away, _)) => self.machine.skipped_by_ladder(view, away),
            None => self.machine.skipped(view),
        }
    }

    /// What the end means for the ladder; none when it changes nothing for sure.
    pub(super) fn ladder_end(&self, end: End, view: Option<&View<'_>>) -> Option<LadderEnd> {
        let settings = self.job.cascade.filter(|_| self.job.directives.pin.is_none())?;
        let passing = &self.made.passing;
        let in_vain = || view.and_then(|view| self.machine.asked_in_vain(view));
        let ending = match end {
            End::Answered { .. } if !self.made.consumer_gone => Ending::Answered,
            End::Exhausted { .. } | End::NeedsPerson if passing.away.is_none() => match in_vain() {
                Some(failed) => Ending::FellThrough(self.fall(end, failed)),
                None => Ending::Neither,
            },
            _ => Ending::Neither,
        };
        let is_nothing = ending == Ending::Neither && !passing.has_slot;
        (!is_nothing).then(|| LadderEnd { ladder: self.job.spec.name.clone(), settings, ending })
    }

    fn fall(&self, end: End, failed: Vec<String>) -> Fall {
        let retry_at = match end {
            End::Exhausted { retry_at } => retry_at,
            _ => None,
        };
        let evidence = match &self.made.blame {
            Some(Blame { deployment: Some(who), class, evidence }) => Some(format!("{who} says {class}: {evidence}")),
            _ => None,
        };
        Fall { asked: self.machine.attempts() > 0, retry_at, failed, evidence }
    }

    /// Writes the request's own row with what its end means for the ladder.
    pub(super) fn write_end(&self, record: &RequestRecord, answer: Option<KeptAnswer>) -> Result<(), StoreError> {
        let answer = answer.map(|answer| (record.id.clone(), answer));
        let batch =
            |cascades| Batch { request: Some(record.clone()), answer: answer.clone(), cascades, ..Batch::default() };
        let Some(ending) = &self.made.passing.ending else { return self.router.store.commit(&batch(Vec::new())) };
        update_locked(self.router.store, &Accounts::None, |snapshot| {
            (batch(ending.changes(&snapshot.cascades, &self.job.id, self.router.clock.now())), ())
        })
    }
}
