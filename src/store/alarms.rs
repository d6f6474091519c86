//! Alarms and the messages that wait: the part of the state by which something is told once over all processes.
//!
//! A look reads all that an alarm can depend on and writes what follows, in one transaction, so that of many that look at
//! the same moment one finds something to do. A message is written in that transaction too; whoever delivers it takes it
//! first, by a lease that ends by itself.

use jiff::Timestamp;

use super::{Health, Snapshot, StoreError};
use crate::policy::{Alarm, Lease, Letter, Sink};

/// What a look at the alarms is made on, as of one moment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AlarmView {
    /// Holds, all usage, and ladders.
    pub snapshot: Snapshot,
    /// When each deployment last worked.
    pub health: Vec<Health>,
    /// When the budget last denied a retry.
    pub denied_at: Option<Timestamp>,
    /// The alarms that are known, by kind and subject.
    pub alarms: Vec<Alarm>,
}

/// What a look writes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AlarmBatch {
    /// In place of what was known of the same kind and subject.
    pub alarms: Vec<Alarm>,
    /// New messages. One of the same id and sink is left as it is.
    pub letters: Vec<Letter>,
    /// When all was looked at, if that is to be noted.
    pub looked_at: Option<Timestamp>,
}

impl AlarmBatch {
    /// Whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What can be said of all alarms in a glance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pulse {
    /// This ladder is known as exhausted.
    pub here: bool,
    /// Any alarm is raised, or its end is still to be told.
    pub open: bool,
    /// A message waits to be delivered now.
    pub due: bool,
    /// When all was last looked at.
    pub looked_at: Option<Timestamp>,
}

/// The part of a store that knows alarms.
pub trait AlarmStore {
    /// A glance, cheap enough for every request.
    ///
    /// # Errors
    /// When the state cannot be read.
    fn alarm_pulse(&self, ladder: &str, now: Timestamp) -> Result<Pulse, StoreError>;

    /// All alarms that are known, by kind and subject.
    ///
    /// # Errors
    /// When the state cannot be read.
    fn alarms(&self) -> Result<Vec<Alarm>, StoreError>;

    /// All messages that are kept, the oldest first.
    ///
    /// # Errors
    /// When the state cannot be read.
    fn letters(&self) -> Result<Vec<Letter>, StoreError>;

    /// Reads, decides and writes with no other writer in between. `decide` may run twice and must not use the store; a
    /// decision to write nothing takes no lock. Gives the last decision.
    ///
    /// # Errors
    /// When the state cannot be read or written.
    fn look_at_alarms(&self, decide: &mut dyn FnMut(&AlarmView) -> AlarmBatch) -> Result<AlarmBatch, StoreError>;

    /// Takes the oldest message that is due at one of these sinks, for as long as the lease lasts; the try is counted. One
    /// of an alarm waits until the one before it is delivered or given up there.
    ///
    /// # Errors
    /// When the state cannot be read or written.
    fn claim_letter(&self, sinks: &[Sink], lease: &Lease, now: Timestamp) -> Result<Option<Letter>, StoreError>;

    /// Writes what came of a try, unless somebody else has taken the message meanwhile; then it is false.
    ///
    /// # Errors
    /// When the state cannot be written.
    fn settle_letter(&self, letter: &Letter, lease: &Lease) -> Result<bool, StoreError>;
}

/// Whether the letter must wait for an earlier one of the same alarm. For backends that cannot search.
pub(super) fn waits_for(letter: &Letter, earlier: &[Letter]) -> bool {
    earlier.iter().any(|other| {
        other.end.is_none() && other.sink == letter.sink && other.kind == letter.kind && other.subject == letter.subject
    })
}
