//! Alarms of one process.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::{MemoryStore, State};
use crate::policy::{Alarm, AlarmKind, Lease, Letter, Sink};
use crate::store::alarms::waits_for;
use crate::store::{Accounts, AlarmBatch, AlarmStore, AlarmView, Pulse, StoreError};

/// Alarms and messages.
#[derive(Debug, Default)]
pub(super) struct Alarms {
    known: BTreeMap<(&'static str, String), Alarm>,
    /// The oldest first.
    letters: Vec<Letter>,
    looked_at: Option<Timestamp>,
}

impl Alarms {
    fn all(&self) -> Vec<Alarm> {
        self.known.values().cloned().collect()
    }

    fn put(&mut self, batch: &AlarmBatch) {
        for alarm in &batch.alarms {
            self.known.insert((alarm.kind.as_str(), alarm.subject.clone()), alarm.clone());
        }
        for letter in &batch.letters {
            if !self.letters.iter().any(|known| known.id == letter.id && known.sink == letter.sink) {
                self.letters.push(letter.clone());
            }
        }
        self.looked_at = batch.looked_at.or(self.looked_at);
    }

    /// The place of the oldest message that is due at one of the sinks.
    fn due(&self, sinks: &[Sink], now: Timestamp) -> Option<usize> {
        let is_next = |(at, letter): &(usize, &Letter)| {
            let earlier = self.letters.get(..*at).unwrap_or_default();
            sinks.contains(&letter.sink) && letter.is_due(now) && !waits_for(letter, earlier)
        };
        self.letters.iter().enumerate().find(is_next).map(|(at, _)| at)
    }
}

impl State {
    fn alarm_view(&self) -> AlarmView {
        AlarmView {
            snapshot: self.snapshot(&Accounts::All),
            health: self.health.values().cloned().collect(),
            denied_at: self.beside.denied_at,
            alarms: self.alarms.all(),
        }
    }
}

impl AlarmStore for MemoryStore {
    fn alarm_pulse(&self, ladder: &str, now: Timestamp) -> Result<Pulse, StoreError> {
        let state = self.state();
        let Alarms { known, letters, looked_at } = &state.alarms;
        let mut open = known.values().filter(|alarm| alarm.is_open());
        let here = |alarm: &Alarm| alarm.is_raised() && alarm.is(AlarmKind::Exhausted, ladder);
        Ok(Pulse {
            here: known.values().any(here),
            open: open.next().is_some(),
            due: letters.iter().any(|letter| letter.is_due(now)),
            looked_at: *looked_at,
        })
    }

    fn alarms(&self) -> Result<Vec<Alarm>, StoreError> {
        Ok(self.state().alarms.all())
    }

    fn letters(&self) -> Result<Vec<Letter>, StoreError> {
        Ok(self.state().alarms.letters.clone())
    }

    fn look_at_alarms(&self, decide: &mut dyn FnMut(&AlarmView) -> AlarmBatch) -> Result<AlarmBatch, StoreError> {
        let mut state = self.state();
        let batch = decide(&state.alarm_view());
        if !batch.is_empty() {
            state.alarms.put(&batch);
            state.commits += 1;
        }
        Ok(batch)
    }

    fn claim_letter(&self, sinks: &[Sink], lease: &Lease, now: Timestamp) -> Result<Option<Letter>, StoreError> {
        let mut state = self.state();
        let found = state.alarms.due(sinks, now);
        let Some(letter) = found.and_then(|at| state.alarms.letters.get_mut(at)) else { return Ok(None) };
        letter.tries = letter.tries.saturating_add(1);
        letter.lease = Some(lease.clone());
        Ok(Some(letter.clone()))
    }

    fn settle_letter(&self, letter: &Letter, lease: &Lease) -> Result<bool, StoreError> {
        let mut state = self.state();
        let is_it = |known: &&mut Letter| {
            let held = known.lease.as_ref().is_some_and(|held| held.holder == lease.holder);
            known.id == letter.id && known.sink == letter.sink && known.end.is_none() && held
        };
        let Some(known) = state.alarms.letters.iter_mut().find(is_it) else { return Ok(false) };
        *known = Letter { lease: None, ..letter.clone() };
        Ok(true)
    }
}
