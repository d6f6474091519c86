//! Whether one more request fits.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use jiff::Timestamp;

use crate::catalog::ResetClock;
use crate::domain::{Dimension, Provenance, Scope, Target, Unit};

use super::super::settings::UsageSettings;
use super::super::until::later;
use super::estimate::Demand;
use super::gauge::{Gauge, Limit, LimitSource, effective};
use super::meter::Meter;
use super::{Flight, UsageState};

const DAY: Duration = Duration::from_secs(24 * 3600);

/// What is left for a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Room {
    /// Enough.
    Enough,
    /// So little that others are asked first.
    Little(Tightness),
    /// Not enough for this request.
    None(Tightness),
}

/// A limit that is near.
#[derive(Debug, Clone, PartialEq)]
pub struct Tightness {
    /// Which limit.
    pub dimension: Dimension,
    /// Used, or under way.
    pub used: f64,
    /// The limit.
    pub limit: f64,
    /// What of it is used together with this request; 1 is all.
    pub share: f64,
    /// When this request fits, as far as anyone can say.
    pub until: Option<Timestamp>,
    /// How the limit is known.
    pub provenance: Provenance,
}

impl Tightness {
    /// `980 of 1000 tpd used`
    pub fn reading(&self) -> String {
        let Self { dimension, used, limit, .. } = self;
        format!("{used:.0} of {limit:.0} {dimension} used")
    }
}

impl fmt::Display for Tightness {
    /// `980 of 1000 tpd used, too little left for this request`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, too little left for this request", self.reading())
    }
}

/// What is used of one allowance, for people.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// Whose allowance.
    pub scope: Scope,
    /// Which limit.
    pub dimension: Dimension,
    /// Used, or under way.
    pub used: f64,
    /// The limit.
    pub limit: Option<Limit>,
    /// When all of it is back at the latest.
    pub resets_at: Option<Timestamp>,
}

/// One allowance with all that is known of it.
pub(super) struct Allowance<'a> {
    pub(super) scope: &'a Scope,
    pub(super) dimension: Dimension,
    unit: Option<Unit>,
    /// When it comes back, where nothing is counted yet.
    pub(super) clock: &'a ResetClock,
    pub(super) meter: Option<Cow<'a, Meter>>,
    pub(super) limit: Option<Limit>,
}

/// Whether a request with this demand fits the target now; of several limits the one that is nearest decides.
pub fn room(
    target: &Target,
    gauges: &[Gauge],
    usage: &UsageState,
    demand: &Demand,
    settings: &UsageSettings,
    now: Timestamp,
) -> Room {
    let all = rooms(target, gauges, usage, demand, settings, now);
    all.into_iter().max_by(|a, b| rank(a).cmp(&rank(b))).unwrap_or(Room::Enough)
}

/// The limits that leave no room for it.
pub fn full(
    target: &Target,
    gauges: &[Gauge],
    usage: &UsageState,
    demand: &Demand,
    settings: &UsageSettings,
    now: Timestamp,
) -> Vec<Tightness> {
    let tight = |room| match room {
        Room::None(tight) => Some(tight),
        Room::Enough | Room::Little(_) => None,
    };
    rooms(target, gauges, usage, demand, settings, now).into_iter().filter_map(tight).collect()
}

/// What each limit leaves.
fn rooms(
    target: &Target,
    gauges: &[Gauge],
    usage: &UsageState,
    demand: &Demand,
    settings: &UsageSettings,
    now: Timestamp,
) -> Vec<Room> {
    let allowances = allowances(target, gauges, usage, now);
    let room =
        |allowance: &Allowance<'_>| Some(allowance.room(allowance.limit.as_ref()?, usage, demand, settings, now));
    allowances.iter().filter_map(room).collect()
}

/// Whether anybody but the catalogue knows a limit of the target: then what is under way must be counted.
pub fn is_limited(target: &Target, gauges: &[Gauge], usage: &UsageState, now: Timestamp) -> bool {
    let stops = |limit: &Limit| limit.source != LimitSource::Catalogue;
    allowances(target, gauges, usage, now).iter().any(|allowance| allowance.limit.as_ref().is_some_and(stops))
}

/// How many tokens the tightest limit on tokens of prompt and answer together leaves; none when no such limit is known.
/// What only the catalogue says is of another plan as likely as not.
pub fn tokens_left(target: &Target, gauges: &[Gauge], usage: &UsageState, now: Timestamp) -> Option<f64> {
    let left = |allowance: &Allowance<'_>| {
        let limit = allowance.limit.as_ref().filter(|limit| limit.source != LimitSource::Catalogue)?;
        (allowance.unit == Some(Unit::Tokens)).then(|| limit.value - allowance.used(usage, now))
    };
    allowances(target, gauges, usage, now).iter().filter_map(left).min_by(f64::total_cmp)
}

fn rank(room: &Room) -> (u8, Option<Timestamp>, u64) {
    let order = |kind: u8, tight: &Tightness| {
        (kind, Some(tight.until.unwrap_or(Timestamp::MAX)), (tight.share.min(1e9) * 1e6) as u64)
    };
    match room {
        Room::Enough => (0, None, 0),
        Room::Little(tight) => order(1, tight),
        Room::None(tight) => order(2, tight),
    }
}

/// What is used of each allowance of the target.
pub fn readings(target: &Target, gauges: &[Gauge], usage: &UsageState, now: Timestamp) -> Vec<Reading> {
    let reading = |allowance: Allowance<'_>| {
        let used = allowance.used(usage, now);
        let is_known = allowance.limit.is_some() || used > 0.0;
        is_known.then(|| Reading {
            scope: allowance.scope.clone(),
            dimension: allowance.dimension,
            used,
            resets_at: allowance.meter.as_ref().and_then(|meter| meter.ends()).filter(|at| *at > now && used > 0.0),
            limit: allowance.limit,
        })
    };
    allowances(target, gauges, usage, now).into_iter().filter_map(reading).collect()
}

/// All allowances of the target: those of config and catalogue, and those that only answers told of.
pub(super) fn allowances<'a>(
    target: &Target,
    gauges: &'a [Gauge],
    usage: &'a UsageState,
    now: Timestamp,
) -> Vec<Allowance<'a>> {
    // Few of all meters are the target's: the others are passed over once, not once for each gauge.
    let meters: Vec<&Meter> =
        usage.meters.iter().map(|held| &held.meter).filter(|meter| meter.scope.covers(target)).collect();
    let mut all: Vec<Allowance<'a>> = Vec::new();
    for gauge in gauges {
        let its = |meter: &&&Meter| meter.dimension == gauge.dimension && meter.scope == gauge.scope;
        // The clock of the config counts, also for what was counted by another one.
        let meter = meters.iter().find(its).map(|meter| match meter.clock == gauge.clock {
            true => Cow::Borrowed(*meter),
            false => Cow::Owned(Meter { clock: gauge.clock.clone(), ..(*meter).clone() }),
        });
        let limit = effective(gauge.limit.as_ref(), meter.as_ref().and_then(|meter| meter.stated(now)));
        let Gauge { scope, dimension, unit, clock, .. } = gauge;
        all.push(Allowance { scope, dimension: *dimension, unit: *unit, clock, meter, limit });
    }
    for meter in meters {
        if !all.iter().any(|known| known.dimension == meter.dimension && *known.scope == meter.scope) {
            let limit = effective(None, meter.stated(now));
            let Meter { scope, dimension, unit, clock, .. } = meter;
            let (dimension, unit) = (*dimension, *unit);
            all.push(Allowance { scope, dimension, unit, clock, meter: Some(Cow::Borrowed(meter)), limit });
        }
    }
    all
}

impl Allowance<'_> {
    fn room(
        &self,
        limit: &Limit,
        usage: &UsageState,
        demand: &Demand,
        settings: &UsageSettings,
        now: Timestamp,
    ) -> Room {
        let used = self.used(usage, now);
        // An estimate alone bars nobody: where nothing is used, only the provider knows whether the request fits.
        let more = self.share_of(demand).min(self.bound(limit.value, settings.skip));
        // The plan that the catalogue speaks of is not this account's.
        if limit.source == LimitSource::Catalogue && used > limit.value {
            return Room::Enough;
        }
        let share = |bound: f64| self.bound(limit.value, bound);
        // The operator's nought is no estimate.
        let is_closed = limit.source == LimitSource::Config && limit.value <= 0.0;
        let is_over = |bound: f64| used + more > bound || is_closed;
        let tight = || Tightness {
            dimension: self.dimension,
            used,
            limit: limit.value,
            share: if limit.value > 0.0 { (used + more) / limit.value } else { f64::INFINITY },
            until: self.fits_at(limit.value, share(settings.skip), more, usage, now),
            provenance: limit.source.provenance(),
        };
        let stops = limit.source != LimitSource::Catalogue && is_over(share(settings.skip));
        if stops && !self.is_due_for_a_look(limit, usage, now) {
            Room::None(tight())
        } else if stops || is_over(share(settings.put_last)) {
            Room::Little(tight())
        } else {
            Room::Enough
        }
    }

    /// Whether one request may look if the allowance is back early, as one does once a day at a quota that is far from
    /// its reset: what the provider said is a day old, and nobody is looking. The operator's own limit is never tried.
    fn is_due_for_a_look(&self, limit: &Limit, usage: &UsageState, now: Timestamp) -> bool {
        let said = self.meter.as_ref().filter(|_| matches!(limit.source, LimitSource::Stated(_)));
        said.is_some_and(|meter| later(meter.counted, DAY) <= now) && self.flying(usage, now).next().is_none()
    }

    /// The part of a limit that may be used. Calls come in whole ones: of a limit of 5 the last is not 3 % too many.
    fn bound(&self, limit: f64, part: f64) -> f64 {
        let is_whole = self.dimension == Dimension::Concurrency || self.unit == Some(Unit::Requests);
        if is_whole { limit - (limit * (1.0 - part) + 1e-9).floor() } else { limit * part }
    }

    /// What is used and under way.
    fn used(&self, usage: &UsageState, now: Timestamp) -> f64 {
        let limit = self.limit.as_ref().map(|limit| limit.value);
        let counted = self.meter.as_ref().map_or(0.0, |meter| meter.level(now, limit));
        counted + self.flying(usage, now).map(|flight| self.share_of(&flight.demand)).sum::<f64>()
    }

    fn flying<'a>(&'a self, usage: &'a UsageState, now: Timestamp) -> impl Iterator<Item = &'a Flight> {
        let covered = move |flight: &&Flight| flight.is_up(now) && self.scope.covers(&flight.target);
        usage.flights.iter().filter(covered)
    }

    fn share_of(&self, demand: &Demand) -> f64 {
        match self.unit {
            _ if self.dimension == Dimension::Concurrency => demand.requests,
            Some(unit) => demand.of(unit),
            None => 0.0,
        }
    }

    /// When so much more fits under the bound, if nobody else asks: looked for between now and the end of the window,
    /// because what is used only ever gets less until then.
    fn fits_at(&self, limit: f64, bound: f64, more: f64, usage: &UsageState, now: Timestamp) -> Option<Timestamp> {
        if more > bound || limit <= 0.0 {
            return None;
        }
        let landing = self.flying(usage, now).map(|flight| flight.until).max();
        let fits = |at: Timestamp| {
            let counted = self.meter.as_ref().map_or(0.0, |meter| meter.level(at, Some(limit)));
            let flying = self.flying(usage, at).map(|flight| self.share_of(&flight.demand)).sum::<f64>();
            counted + flying + more <= bound
        };
        let end = self.meter.as_ref().and_then(|meter| meter.ends()).max(landing)?;
        let (mut low, mut high) = (Duration::ZERO, Duration::try_from(end.duration_since(now)).ok()?);
        if !fits(later(now, high)) {
            return None;
        }
        for _ in 0..40 {
            let middle = low + (high - low) / 2;
            if fits(later(now, middle)) { high = middle } else { low = middle }
        }
        Some(later(now, high))
    }
}
