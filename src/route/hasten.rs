//! The probes that a person wants now, whatever their time.
//!
//! Only a hold that can be probed at once is made due: one that lies on a deployment which something else keeps back
//! would be handed to the next request that comes along, and that is not what the person asked for. What keeps such a
//! deployment back is told instead.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::ladder::{Eligibility, eligibility};
use crate::policy::{Change, Versioned, hastened};

use super::guard::Candidate;

/// What comes of making probes due.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Hastened {
    /// All holds as they are then.
    pub holds: Vec<Versioned>,
    /// What is to be written.
    pub changes: Vec<Change>,
    /// Who cannot be probed, by the places in the list of candidates, and because of which hold; one entry for each hold.
    pub kept: Vec<(Vec<usize>, Versioned)>,
}

/// Makes the probes of the holds due that are `wanted` and cover a candidate.
pub fn hasten(
    holds: &[Versioned],
    candidates: &[Candidate],
    wanted: impl Fn(&Versioned) -> bool,
    now: Timestamp,
) -> Hastened {
    let sooner = |held: &Versioned| hastened(&held.record, now).filter(|_| wanted(held));
    let hurried: Vec<Versioned> = holds
        .iter()
        .map(|held| Versioned { record: sooner(held).unwrap_or_else(|| held.record.clone()), ..held.clone() })
        .collect();
    let seen: Vec<Eligibility<'_>> =
        candidates.iter().map(|candidate| eligibility(&hurried, &candidate.target, now, candidate.caller())).collect();
    let probed: BTreeSet<i64> = seen
        .iter()
        .flat_map(|seen| match seen {
            Eligibility::Probe(claims) => claims.iter().map(|held| held.id).collect(),
            _ => Vec::new(),
        })
        .collect();
    let mut out = Hastened::default();
    for (old, new) in holds.iter().zip(&hurried) {
        let changes = old.record != new.record && probed.contains(&old.id);
        out.holds.push(if changes { new.clone() } else { old.clone() });
        out.changes.extend(changes.then(|| Change {
            key: new.record.key(),
            expected: Some(new.version),
            record: Some(new.record.clone()),
        }));
    }
    for (at, (candidate, seen)) in candidates.iter().zip(&seen).enumerate() {
        let Eligibility::Held(by) = seen else { continue };
        let mut own = holds.iter().filter(|held| wanted(held) && held.record.scope().covers(&candidate.target));
        // Where all that was wanted is probed through others, it does not matter that this one cannot be.
        if !own.any(|held| !probed.contains(&held.id)) {
            continue;
        }
        match out.kept.iter_mut().find(|(_, known)| known.id == by.id) {
            Some((places, _)) => places.push(at),
            None => out.kept.push((vec![at], (*by).clone())),
        }
    }
    out
}

#[cfg(test)]
#[path = "hasten_tests.rs"]
mod tests;
