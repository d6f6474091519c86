//! Whether a deployment may be asked now.
//!
//! All holds that cover it have a say, and the strictest counts: a key that may be probed does not help while the model
//! rests. When several hold it back, the one that is named is the one that lasts longest, because the others end before
//! it and would only send a person on the wrong errand.

use jiff::Timestamp;

use crate::domain::Target;
use crate::policy::{Caller, Gate, Versioned, gate, returns_at};

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

/// Whether the caller may ask the target now.
pub fn eligibility<'a>(holds: &'a [Versioned], target: &Target, now: Timestamp, caller: Caller<'_>) -> Eligibility<'a> {
    // What only a person can lift is the better answer than what passes by itself, and of two ends the later one.
    let rank = |held: &Versioned| (held.record.needs_a_person(), returns_at(&held.record).unwrap_or(Timestamp::MAX));
    let mut longest: Option<&Versioned> = None;
    let mut probes: Vec<&Versioned> = Vec::new();
    for held in holds.iter().filter(|held| held.record.scope().covers(target)) {
        match gate(&held.record, now, caller) {
            Gate::Open => {}
            Gate::Probe => probes.push(held),
            Gate::Held if longest.is_none_or(|known| rank(held) >= rank(known)) => longest = Some(held),
            Gate::Held => {}
        }
    }
    if let Some(longest) = longest {
        return Eligibility::Held(longest);
    }
    if probes.is_empty() { Eligibility::Eligible } else { Eligibility::Probe(probes) }
}
