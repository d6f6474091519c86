//! What an answer adds to the meters, and what it teaches.

use std::time::Duration;

use jiff::Timestamp;

use crate::catalog::ResetClock;
use crate::domain::{Class, Dimension, Failure, LimitFacts, Provenance, ResetSource, Scope, StatedLimit, Target};

use super::super::record::{Change, Key};
use super::estimate::Demand;
use super::gauge::Gauge;
use super::meter::{Learned, Meter};
use super::{MeterChange, UsageState, VersionedMeter};

const MINUTE: Duration = Duration::from_secs(60);

/// What one exchange came to.
#[derive(Debug, Clone, Copy)]
pub struct Spent<'a> {
    /// Who was asked.
    pub target: &'a Target,
    /// Its allowances.
    pub gauges: &'a [Gauge],
    /// What was used; nothing for a call that was refused.
    pub used: Demand,
    /// What the answer states.
    pub stated: &'a [StatedLimit],
    /// How it failed, if it did.
    pub failure: Option<&'a Failure>,
    /// What the call changed of the holds.
    pub changes: &'a [Change],
}

/// The changes that the exchange makes to the meters.
pub fn count(usage: &UsageState, spent: &Spent<'_>, now: Timestamp) -> Vec<MeterChange> {
    let told = told(spent);
    let spent = &Spent { stated: &told, ..*spent };
    let mut counted: Vec<(Option<i64>, Meter)> = Vec::new();
    for gauge in gauges(spent, usage, now) {
        let held = usage.meter(&gauge.scope, gauge.dimension);
        let meter = moved(&gauge, held.map(|held| &held.meter), spent, now);
        counted.extend(meter.map(|meter| (held.map(|held| held.version), meter)));
    }
    start_over(&mut counted, usage, spent, now);
    counted.into_iter().map(change).collect()
}

/// The meter of the gauge after the exchange; none when it stays as it is.
fn moved(gauge: &Gauge, held: Option<&Meter>, spent: &Spent<'_>, now: Timestamp) -> Option<Meter> {
    let is_named = gauge.dimension != Dimension::Other;
    let stated = spent.stated.iter().find(|stated| is_named && stated.dimension == gauge.dimension);
    // Of a plan the provider states a share, into which calls of different sizes eat differently.
    let is_share = is_plan(gauge.dimension) && (stated.is_some() || held.is_some_and(|held| held.learned.is_some()));
    let unit = gauge.unit.filter(|_| !is_share);
    let amount = unit.map_or(0.0, |unit| spent.used.of(unit));
    if stated.is_none() && amount <= 0.0 {
        return None;
    }
    let new = || Meter::new(gauge.scope.clone(), gauge.dimension, unit, gauge.clock.clone(), now);
    let old = held.map_or_else(new, |held| Meter { clock: gauge.clock.clone(), unit, ..held.clone() });
    let known = gauge.limit.as_ref().map(|limit| limit.value);
    let mut meter = old.add(amount, now, old.learned.as_ref().map(|learned| learned.value).or(known));
    match stated {
        Some(stated) => meter = taught(meter, stated, known, now),
        // It was answered beyond the limit that was once stated: that is another one now.
        None if meter.learned.as_ref().is_some_and(|learned| meter.used > learned.value) => meter.learned = None,
        None => {}
    }
    let failure = spent.failure.filter(|failure| failure.dimension == Some(gauge.dimension));
    Some(failure.map_or(meter.clone(), |failure| eased(meter, failure, now)))
}

/// A bucket states a wait for the request that it refused, not for the whole of it: as much is taken for used as leaves
/// room for that request when the wait is over, and not much more.
fn eased(mut meter: Meter, failure: &Failure, now: Timestamp) -> Meter {
    let at = failure.retry_at.filter(|at| *at > now);
    let facts = (at, failure.limits.requested, &meter.learned, &meter.clock);
    let (Some(at), Some(requested), Some(learned), ResetClock::Refill { seconds }) = facts else { return meter };
    let wait = at.duration_since(now).as_secs_f64();
    let leaked = learned.value * wait / f64::from((*seconds).max(1));
    // Below the bounds that keep requests out or put the step last, or the provider's word would be obeyed and then not
    // believed.
    meter.used = meter.used.min((learned.value * 0.75 - requested).max(0.0) + leaked);
    meter.resets_at = None;
    meter
}

/// All that the answer states of limits. What a failure says of itself was made for it, and is believed before what
/// stands beside every answer: also when it says that a short wait is enough.
fn told(spent: &Spent<'_>) -> Vec<StatedLimit> {
    let limited = |failure: &&Failure| matches!(failure.class, Class::RateLimit | Class::QuotaExhausted);
    let mut told = spent.stated.to_vec();
    let Some(failure) = spent.failure.filter(limited) else { return told };
    if let Some(own) = said(failure) {
        told.retain(|stated| stated.dimension != own.dimension);
        told.push(own);
    }
    let is_short = |dimension: Dimension| dimension.usual_window().is_some_and(|window| window <= MINUTE);
    for stated in told.iter_mut().filter(|stated| is_short(stated.dimension)) {
        stated.resets_at = [stated.resets_at, failure.retry_at].into_iter().flatten().min();
    }
    told
}

/// What a failure itself says of the limit that it met.
fn said(failure: &Failure) -> Option<StatedLimit> {
    let dimension = failure.dimension?;
    let LimitFacts { limit, used, remaining, .. } = failure.limits;
    let resets_at = failure.retry_at.filter(|_| failure.provenance > Provenance::Guess);
    (limit.is_some() || resets_at.is_some()).then(|| StatedLimit {
        dimension,
        limit: limit.filter(|limit| *limit > 0.0),
        remaining: remaining.or(limit.zip(used).map(|(limit, used)| (limit - used).max(0.0))),
        resets_at,
        window: None,
        source: failure.reset_source.clone().unwrap_or(ResetSource::Message),
    })
}

/// An answer that lifts a quarantine proves that the allowance is back, whatever was counted.
fn start_over(counted: &mut Vec<(Option<i64>, Meter)>, usage: &UsageState, spent: &Spent<'_>, now: Timestamp) {
    let lifted = spent.changes.iter().filter(|change| change.record.is_none());
    let lifted = lifted.filter_map(|change| match &change.key {
        Key::Quarantine(scope, dimension) => Some((scope, *dimension)),
        _ => None,
    });
    for (scope, dimension) in lifted.filter(|_| spent.failure.is_none()) {
        let is_it = |meter: &Meter| meter.dimension == dimension && meter.scope == *scope;
        let is_told = spent.stated.iter().any(|stated| stated.dimension == dimension && stated.remaining.is_some());
        match counted.iter_mut().find(|(_, meter)| is_it(meter)) {
            _ if is_told => {}
            Some((_, meter)) => *meter = meter.set(0.0, None, now),
            None => counted
                .extend(usage.meter(scope, dimension).map(|held| (Some(held.version), held.meter.set(0.0, None, now)))),
        }
    }
}

fn change((expected, meter): (Option<i64>, Meter)) -> MeterChange {
    MeterChange { key: (meter.scope.clone(), meter.dimension), expected, meter: Some(meter) }
}

/// The allowances that are counted: those that have a limit from anywhere, those that the answer speaks of, and the
/// requests and tokens of a day.
fn gauges(spent: &Spent<'_>, usage: &UsageState, now: Timestamp) -> Vec<Gauge> {
    let is_learned = |scope: &Scope, dimension| {
        usage.meter(scope, dimension).is_some_and(|VersionedMeter { meter, .. }| meter.learned.is_some())
    };
    let is_stated =
        |dimension| dimension != Dimension::Other && spent.stated.iter().any(|stated| stated.dimension == dimension);
    let is_daily = |dimension| matches!(dimension, Dimension::Rpd | Dimension::Tpd);
    let mut wanted: Vec<Gauge> = Vec::new();
    for gauge in spent.gauges {
        let counts = gauge.limit.is_some()
            || is_daily(gauge.dimension)
            || is_stated(gauge.dimension)
            || is_learned(&gauge.scope, gauge.dimension);
        if counts && is_metered(gauge.dimension) {
            wanted.push(gauge.clone());
        }
    }
    let stated = spent.stated.iter().map(|stated| stated.dimension);
    for dimension in [Dimension::Rpd, Dimension::Tpd].into_iter().chain(stated) {
        // Windows without a name differ from answer to answer.
        if dimension != Dimension::Other
            && is_metered(dimension)
            && !wanted.iter().any(|gauge| gauge.dimension == dimension)
        {
            wanted.push(unknown(dimension, spent, now));
        }
    }
    // What an answer stated before goes on being counted.
    let covering = usage.meters.iter().map(|held| &held.meter).filter(|meter| meter.scope.covers(spent.target));
    for meter in covering.filter(|meter| meter.learned.is_some()) {
        if !wanted.iter().any(|gauge| gauge.dimension == meter.dimension && gauge.scope == meter.scope) {
            let Meter { scope, dimension, unit, clock, .. } = meter.clone();
            wanted.push(Gauge { scope, dimension, unit, clock, limit: None });
        }
    }
    wanted
}

/// Whether it is the window of a plan.
fn is_plan(dimension: Dimension) -> bool {
    matches!(dimension, Dimension::Requests5h | Dimension::Weekly | Dimension::Monthly)
}

/// What is under way is counted as it is, and money is the matter of billing: an empty wallet has no reset.
fn is_metered(dimension: Dimension) -> bool {
    !matches!(dimension, Dimension::Concurrency | Dimension::Credits)
}

/// An allowance that neither config nor catalogue know.
fn unknown(dimension: Dimension, spent: &Spent<'_>, now: Timestamp) -> Gauge {
    let usual = Gauge::usual(dimension, spent.target);
    let Some(stated) = spent.stated.iter().find(|stated| stated.dimension == dimension) else { return usual };
    let window = stated.window.and_then(|window| u32::try_from(window.as_secs()).ok()).filter(|seconds| *seconds > 0);
    match window {
        // A reset that is stated is taken for the end of a window: a bucket would be known from the catalogue.
        _ if stated.resets_at.is_some_and(|at| at > now) => Gauge { clock: ResetClock::Stated, ..usual },
        Some(seconds) => Gauge { clock: ResetClock::Rolling { seconds }, ..usual },
        None => usual,
    }
}

/// The meter with what the provider says. It knows better than we do what was used: the account may have other users.
fn taught(mut meter: Meter, stated: &StatedLimit, known: Option<f64>, now: Timestamp) -> Meter {
    // A limit of nothing is no limit but a failure, which holds by itself.
    if stated.limit.is_some_and(|limit| limit <= 0.0) {
        return meter;
    }
    if let Some(value) = stated.limit {
        meter.learned = Some(Learned { value, at: now, source: stated.source.to_string() });
    }
    let limit = stated.limit.or(meter.learned.as_ref().map(|learned| learned.value)).or(known);
    match limit.zip(stated.remaining) {
        Some((limit, remaining)) => meter.set(limit - remaining, stated.resets_at, now),
        None => Meter { resets_at: stated.resets_at.filter(|at| *at > now).or(meter.resets_at), ..meter },
    }
}
