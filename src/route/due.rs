//! Which probe is due.
//!
//! A hold that is over or may be looked at lets one call pass. Somebody's request may be that call, and pay for it with
//! its time; a prober that runs now and then makes it before anybody has to. It asks once for each hold: one that covers
//! many deployments is probed through one of them, and the one that failed last is the one that can tell most.

use std::cmp::Reverse;

use jiff::Timestamp;

use crate::ladder::{Eligibility, eligibility};
use crate::policy::Versioned;
use crate::store::Health;

use super::guard::Candidate;

/// A probe that is due.
#[derive(Debug, Clone, PartialEq)]
pub struct Due {
    /// Who is asked, by the place in the list of candidates.
    pub at: usize,
    /// The holds that its success would lift.
    pub holds: Vec<Versioned>,
}

/// The next probe of a hold that is not among those that were `tried`, by their ids. The candidates stand in the order
/// in which they are preferred.
pub fn due(
    holds: &[Versioned],
    candidates: &[Candidate],
    health: &[Health],
    tried: &[i64],
    now: Timestamp,
) -> Option<Due> {
    let may_be_probed =
        |(at, candidate): (usize, &Candidate)| match eligibility(holds, &candidate.target, now, candidate.caller()) {
            Eligibility::Probe(claims) => Some(Due { at, holds: claims.into_iter().cloned().collect() }),
            _ => None,
        };
    let probes: Vec<Due> = candidates.iter().enumerate().filter_map(may_be_probed).collect();
    let failed_at = |due: &&Due| {
        let candidate = candidates.get(due.at)?;
        health.iter().find(|health| health.deployment == candidate.target.deployment)?.last_failure
    };
    let untried = holds.iter().filter(|held| !tried.contains(&held.id));
    untried
        .filter_map(|held| {
            let of_this = probes.iter().filter(|due| due.holds.iter().any(|claim| claim.id == held.id));
            of_this.max_by_key(|due| (failed_at(due), Reverse(due.at)))
        })
        .next()
        .cloned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{AccountName, Provenance, Scope, Target};
    use crate::policy::{Circuit, CircuitState, Family, HoldRecord};

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_790_000_000 + second).expect("a time")
    }

    fn candidate(text: &str) -> Candidate {
        let target =
            Target { deployment: text.parse().expect("a deployment"), account: AccountName::new("acme"), region: None };
        Candidate { target, fingerprint: None, entry: None, gauges: Vec::new() }
    }

    fn open(id: i64, scope: Scope, retry_at: Timestamp) -> Versioned {
        let record = HoldRecord::Circuit(Circuit {
            scope,
            family: Family::Transient,
            state: CircuitState::Open,
            class: crate::domain::Class::Network,
            consecutive: 3,
            recent: Vec::new(),
            opened_at: Some(at(0)),
            retry_at: Some(retry_at),
            opens: 1,
            lease: None,
            provenance: Provenance::Guess,
            fingerprint: None,
            last_failure: at(0),
            evidence: String::new(),
            request_id: None,
        });
        Versioned { id, version: 1, record }
    }

    fn failed(text: &str, second: i64) -> Health {
        let Candidate { target, .. } = candidate(text);
        Health {
            deployment: target.deployment,
            account: target.account,
            last_success: None,
            last_failure: Some(at(second)),
        }
    }

    #[test]
    fn a_hold_of_many_is_probed_through_the_one_that_failed_last() {
        let known = ["lab/a", "lab/b", "lab/c", "own/a"].map(candidate);
        let holds = [open(7, Scope::provider("lab".into()), at(30))];
        let asked = |health: &[Health], now| due(&holds, &known, health, &[], now).map(|due| due.at);
        assert_eq!(asked(&[], at(29)), None, "not before its time");
        assert_eq!(asked(&[], at(30)), Some(0), "else the first");
        assert_eq!(asked(&[failed("lab/c", 1), failed("lab/b", 2), failed("own/a", 9)], at(30)), Some(1));
        assert_eq!(due(&holds, &known, &[], &[7], at(30)), None, "once is enough");
    }

    #[test]
    fn one_call_is_the_probe_of_all_that_covers_it_and_what_is_held_otherwise_waits() {
        let known = ["lab/a", "lab/b"].map(candidate);
        let a = Scope::deployment(&known[0].target);
        let holds = [open(1, a.clone(), at(30)), open(2, Scope::provider("lab".into()), at(30))];
        let found = due(&holds, &known, &[], &[], at(30)).expect("a probe");
        assert_eq!((found.at, found.holds.len()), (0, 2));
        let holds = [open(1, a, at(60)), open(2, Scope::provider("lab".into()), at(30))];
        let found = due(&holds, &known, &[failed("lab/a", 5)], &[], at(30)).expect("a probe");
        assert_eq!((found.at, found.holds.len()), (1, 1), "a rests for a reason of its own");
    }
}
