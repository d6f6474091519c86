//! What came before, as evidence.
//!
//! One answer does not tell a key that was rotated from one that never was any good, nor a busy minute from a spent
//! month: providers use the same words for both. What happened before does. A key that worked is suspected to be
//! rotated, and one that met a limit just before to be throttled, so both are looked at soon. A limit that comes again
//! although each stated wait was obeyed is suspected to be a spent quota. These are suspicions: what they set is a guess,
//! is probed early, and says in its evidence what it rests on.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use crate::domain::{Class, Dimension, Failure, Provenance, excerpt};

use super::call::Report;
use super::gate::was_ahead;
use super::record::{Cooldown, HoldRecord, Versioned};
use super::until::later;

/// After how many stated waits in a row that were obeyed in vain a quota is suspected to be spent. Where the provider
/// names a minute's limit, a neighbour on the same account is likelier for longer.
const fn patience(dimension: Dimension) -> u32 {
    match dimension {
        Dimension::Rpm | Dimension::Tpm | Dimension::InputTpm | Dimension::OutputTpm | Dimension::Concurrency => 6,
        _ => 3,
    }
}

/// For how long the limit must have come again: a burst of a neighbour passes in seconds.
const LEAST: Duration = Duration::from_secs(60);

/// Whether a quota is suspected behind the limit.
pub(super) fn is_suspicious(limit: &Cooldown, now: Timestamp) -> bool {
    let lasts = limit.obeyed_since.is_some_and(|since| later(since, LEAST) <= now);
    lasts && limit.obeyed >= patience(limit.dimension)
}

/// How long after the end of a wait a further limit still has to do with it: a request a day is the rarest use that
/// should ever be told that its quota is spent.
const SAME_STORY: Duration = Duration::from_secs(25 * 3600);

/// How long after a limit a refused key may be throttling in disguise.
const JUST_BEFORE: Duration = Duration::from_secs(15 * 60);

/// The longest evidence that a hold keeps, in characters.
const LONGEST: usize = 300;

/// How many stated waits in a row were obeyed in vain, counting the one that `old` set.
pub(super) fn obeyed(old: &Cooldown, failure: &Failure, report: &Report<'_>) -> u32 {
    let stated = old.provenance > Provenance::Guess && old.class == Class::RateLimit;
    let same_story = report.started_at >= old.until && later(old.until, SAME_STORY) >= report.started_at;
    match (stated && failure.class == Class::RateLimit, same_story) {
        (true, true) => old.obeyed.saturating_add(1),
        // It was asked before the wait was over: nobody obeyed, and nothing is learned.
        (true, false) if report.started_at < old.until => old.obeyed,
        _ => 0,
    }
}

/// The failure as the suspicion of a spent quota: without its wait, which was obeyed often enough.
pub(super) fn as_suspected_quota(failure: &Failure, obeyed: u32) -> Failure {
    let why = format!("suspected quota: the limit came again after each of {obeyed} waits that it had stated");
    Failure {
        class: Class::QuotaExhausted,
        retry_after: None,
        retry_at: None,
        reset_source: None,
        provenance: Provenance::Guess,
        ..with_history(failure, &why)
    }
}

/// The failure with what history says of it; the same when it says nothing.
pub(super) fn told(failure: &Failure, holds: &[Versioned], report: &Report<'_>, now: Timestamp) -> Failure {
    let (Class::Auth, Some(worked)) = (failure.class, report.last_success.filter(|at| *at <= now)) else {
        return failure.clone();
    };
    let worked = ago(worked, now);
    let why = match last_limit(holds, report, now) {
        Some(at) => format!("suspected throttling: the key worked {worked} ago and met a limit {} ago", ago(at, now)),
        None => format!("suspected rotation: the key worked {worked} ago"),
    };
    with_history(failure, &why)
}

/// When a limit that covers the target was last met, if that was just before.
fn last_limit(holds: &[Versioned], report: &Report<'_>, now: Timestamp) -> Option<Timestamp> {
    let covering = holds.iter().filter(|held| held.record.scope().covers(report.target));
    let limits = covering.filter_map(|held| match &held.record {
        HoldRecord::Cooldown(c) if c.class == Class::RateLimit => Some(c.since),
        HoldRecord::Quarantine(q) => Some(q.since),
        _ => None,
    });
    limits.filter(|since| !was_ahead(*since, now) && later(*since, JUST_BEFORE) >= now).max()
}

fn with_history(failure: &Failure, why: &str) -> Failure {
    Failure { evidence: excerpt(&format!("{why}; {}", failure.evidence), LONGEST), ..failure.clone() }
}

/// How long ago, in the largest unit that says enough.
fn ago(at: Timestamp, now: Timestamp) -> String {
    let seconds = now.duration_since(at).max(SignedDuration::ZERO).as_secs();
    match seconds {
        0..120 => format!("{seconds}s"),
        120..7200 => format!("{}m", seconds / 60),
        7200..172_800 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86_400),
    }
}
