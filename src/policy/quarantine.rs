//! Quarantines: long holds from spent quotas.
//!
//! A quota that is spent stays spent until its window ends, and asking again before is a wasted call. But windows are
//! misread, plans get upgraded and providers reset early, so a long quarantine lets a rare, single probe through. How
//! rare depends on how the end is known: a stated reset is probed once a day; a reset clock of the catalogue once, at
//! half the time and not within the first half hour, even if a person had somebody look before; a guess only when it ends, and then by one prober, not by everyone.

use std::time::Duration;

use jiff::Timestamp;

use crate::domain::{Dimension, Failure, Provenance, Scope};

use super::backoff::doubled;
use super::call::Report;
use super::gate::was_ahead;
use super::record::Quarantine;
use super::until::{Known, later};

const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(24 * 3600);
/// The soonest moment at which a documented reset is probed.
const EARLIEST_PROBE: Duration = Duration::from_secs(30 * 60);

/// The quarantine after a failure.
pub(super) fn after_failure(
    existing: Option<&Quarantine>,
    failure: &Failure,
    scope: Scope,
    report: &Report<'_>,
    now: Timestamp,
) -> Quarantine {
    let informed = existing.is_some_and(|old| report.started_at >= old.since);
    let streak = existing.map_or(0, |old| old.streak.saturating_add(u32::from(informed)));
    let new = match failure.retry_at.filter(|at| *at > now) {
        Some(until) => Known { until, provenance: failure.provenance },
        None => Known { until: later(now, doubled(HOUR, DAY, streak)), provenance: Provenance::Guess },
    };
    let holding = existing.filter(|old| old.until > now && !was_ahead(old.since, now));
    let known = holding.map_or(new, |old| Known { until: old.until, provenance: old.provenance }.and(new));
    let was_probe = holding.is_some_and(|old| report.holds(old.lease.as_ref()));
    let probe_at = match holding {
        // A late failure of a call that was under way, or the probe's own: the schedule goes on from where it was.
        Some(old) if known.until == old.until && !was_probe => old.probe_at,
        Some(old) if known.until == old.until => next_probe(old, &known, now),
        _ => first_probe(&known, now),
    };
    Quarantine {
        scope,
        dimension: failure.dimension.unwrap_or(Dimension::Other),
        since: holding.map_or(now, |old| old.since),
        until: known.until,
        provenance: known.provenance,
        probe_at,
        streak,
        // A hold that is set anew is another one: who was let through to look at the one before it has seen nothing of it.
        lease: holding.filter(|_| !was_probe).and_then(|old| old.lease.clone()),
        evidence: failure.evidence.clone(),
        request_id: Some(report.request_id.clone()),
    }
}

/// The same for a quota that is only suspected to be spent: a guess, and one probe looks at half the time.
pub(super) fn after_suspicion(
    existing: Option<&Quarantine>,
    failure: &Failure,
    scope: Scope,
    report: &Report<'_>,
    now: Timestamp,
) -> Quarantine {
    let new = after_failure(existing, failure, scope, report, now);
    let is_guess = new.provenance == Provenance::Guess && new.since == now;
    let half = Duration::try_from(new.until.duration_since(now)).unwrap_or_default() / 2;
    let probe_at = if is_guess { Some(later(now, half)) } else { new.probe_at };
    Quarantine { probe_at, ..new }
}

/// When the first probe may look, if one may before the end.
fn first_probe(known: &Known, now: Timestamp) -> Option<Timestamp> {
    let length = Duration::try_from(known.until.duration_since(now)).unwrap_or(Duration::ZERO);
    match known.provenance {
        Provenance::Fact | Provenance::Operator => (length > DAY).then(|| later(now, DAY)),
        Provenance::Documented => Some(later(now, EARLIEST_PROBE.max(length / 2))).filter(|at| *at < known.until),
        Provenance::Guess => Some(known.until),
    }
}

/// When the next probe may look after one that failed.
fn next_probe(old: &Quarantine, known: &Known, now: Timestamp) -> Option<Timestamp> {
    match known.provenance {
        Provenance::Fact | Provenance::Operator => {
            Some(later(old.probe_at.unwrap_or(now).max(now), DAY)).filter(|at| *at < known.until)
        }
        // Counted from when it was set, so that only a look before the time leaves another.
        Provenance::Documented => first_probe(known, old.since).filter(|at| *at > now),
        Provenance::Guess => Some(known.until),
    }
}
