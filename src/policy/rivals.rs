//! Several processes at one store of invented time: each decides on what it read, and what was read too long ago is
//! refused.

use std::time::Duration;

use jiff::Timestamp;

use super::world::{Call, World};
use super::*;
use crate::domain::RequestId;

/// What a process decides on the holds that it read.
pub(super) fn decide(
    seen: &[Versioned],
    event: Event<'_>,
    call: &Call<'_>,
    now: Timestamp,
    settings: &PolicySettings,
) -> Vec<Change> {
    let id = RequestId::new(call.id);
    let report = Report {
        target: call.target,
        request_id: &id,
        started_at: call.sent,
        caller: Caller { key: call.key, entry: call.entry },
        siblings: call.siblings,
        last_success: call.last_success,
    };
    apply(seen, event, &report, &Moment { now, settings, jitter: 0.0 })
}

/// What a record says to a process whose key is `k1`.
pub(super) fn says(held: &Versioned, now: Timestamp) -> Gate {
    gate(&held.record, now, Caller { key: Some("k1"), entry: None })
}

/// The version at which a record begins: above all that a record of this key can ever have had, or else what was decided
/// on a record that is gone could be written over the one that came after it.
pub(super) const fn first_version(id: i64) -> i64 {
    id << 32
}

impl World {
    /// Writes all of it if everything is as the decision saw it; says whether it did.
    pub(super) fn try_write(&mut self, changes: &[Change]) -> bool {
        let there = |key: &Key| self.holds.iter().find(|held| held.record.key() == *key).map(|held| held.version);
        if changes.iter().any(|change| there(&change.key) != change.expected) {
            return false;
        }
        for change in changes {
            let found = self.holds.iter().position(|held| held.record.key() == change.key);
            match (found, change.record.clone()) {
                (Some(at), Some(record)) => {
                    let Versioned { id, version, .. } = self.holds[at];
                    self.holds[at] = Versioned { id, version: version + 1, record };
                }
                (Some(at), None) => drop(self.holds.remove(at)),
                (None, Some(record)) => {
                    let id = self.next_id;
                    self.next_id += 1;
                    self.holds.push(Versioned { id, version: first_version(id), record });
                }
                (None, None) => {}
            }
        }
        true
    }
}

/// `now` and so many seconds.
pub(super) fn after(now: Timestamp, seconds: u64) -> Timestamp {
    now + Duration::from_secs(seconds)
}
