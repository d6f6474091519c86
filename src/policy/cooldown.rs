//! Cooldowns: short holds from rate limits.
//!
//! When the provider says how long, that is the hold. When it does not, the first guess is short and doubles with each
//! cooldown that ended and was followed by another limit; a success starts over. Calls that were already under way when
//! the limit hit fail too and say nothing new, so they do not double anything.

use crate::domain::{Dimension, Failure, Provenance, Scope};

use super::backoff::doubled;
use super::call::{Moment, Report};
use super::gate::was_ahead;
use super::history;
use super::record::Cooldown;
use super::until::{Known, later};

/// A stated wait of less than a second is obeyed as a second: clocks and networks are not that precise.
const SHORTEST: std::time::Duration = std::time::Duration::from_secs(1);

/// The cooldown after a failure.
pub(super) fn after_failure(
    existing: Option<&Cooldown>,
    failure: &Failure,
    scope: Scope,
    report: &Report<'_>,
    moment: &Moment<'_>,
) -> Cooldown {
    let (now, settings) = (moment.now, &moment.settings.rate_limit);
    let dimension = failure.dimension.unwrap_or(Dimension::Other);
    let streak = match existing {
        Some(old) if report.started_at >= old.since => old.streak.saturating_add(1),
        Some(old) => old.streak,
        None => 0,
    };
    let stated = failure.retry_at.map(|at| at.max(later(now, SHORTEST)));
    let new = match stated {
        Some(until) => Known { until, provenance: failure.provenance },
        None => {
            Known { until: later(now, doubled(settings.first, settings.max, streak)), provenance: Provenance::Guess }
        }
    };
    let holding = existing.filter(|old| old.until > now && !was_ahead(old.since, now));
    let known = holding.map_or(new, |old| Known { until: old.until, provenance: old.provenance }.and(new));
    let obeyed = existing.map_or(0, |old| history::obeyed(old, failure, report));
    Cooldown {
        scope,
        dimension,
        class: failure.class,
        since: holding.map_or(now, |old| old.since),
        until: known.until,
        provenance: known.provenance,
        streak,
        obeyed,
        obeyed_since: existing.filter(|_| obeyed > 0).map(|old| old.obeyed_since.unwrap_or(old.since)),
        evidence: failure.evidence.clone(),
        request_id: Some(report.request_id.clone()),
    }
}
