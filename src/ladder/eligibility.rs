//! Whether a deployment may be asked now.
//!
//! All holds that cover it have a say, and the strictest counts: a key that may be probed does not help while the model
//! rests. When several hold it back, the one that is named is the one that lasts longest, because the others end before
//! it and would only send a person on the wrong errand.

use jiff::Timestamp;

use crate::domain::Target;
use crate::policy::{Gate, Versioned, gate, returns_at};

/// The answer of all holds that cover a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Eligibility<'a> {
    /// It may be asked.
    Eligible,
    /// It may be asked by the one that gets the leases of all these holds.
    Probe(Vec<&'a Versioned>),
    /// It may not be asked; this hold is the one that lasts longest.
    Held(&'a Versioned),
}

/// Whether the target may be asked now with a key of this fingerprint.
pub fn eligibility<'a>(
    holds: &'a [Versioned],
    target: &Target,
    now: Timestamp,
    fingerprint: Option<&str>,
) -> Eligibility<'a> {
    let covering = || holds.iter().filter(|held| held.record.scope().covers(target));
    let gated = |wanted| covering().filter(move |held| gate(&held.record, now, fingerprint) == wanted);
    // What only a person can lift is the better answer than what passes by itself, and of two ends the later one.
    let rank =
        |held: &&Versioned| (held.record.class().needs_a_person(), returns_at(&held.record).unwrap_or(Timestamp::MAX));
    if let Some(longest) = gated(Gate::Held).max_by_key(rank) {
        return Eligibility::Held(longest);
    }
    let probes: Vec<&Versioned> = gated(Gate::Probe).collect();
    if probes.is_empty() { Eligibility::Eligible } else { Eligibility::Probe(probes) }
}
