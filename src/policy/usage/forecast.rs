//! When an allowance runs out, if it goes on as it went so far.
//!
//! A forecast is worth something hours before a limit is met, and costs trust each time it is wrong. So it is as simple
//! as can be told to a person (what was used, divided by the time in which it was used), and it says nothing before it has
//! seen enough: ten minutes at least, a tenth of the allowance, and a part of the window, unless half of all is gone
//! already. Buckets that leak and windows of less than an hour are left alone: they are back before anybody could act.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::super::gate::was_ahead;
use super::super::until::later;
use super::UsageState;
use super::gauge::{Gauge, Limit};
use super::meter::Meter;
use super::room::allowances;
use crate::catalog::ResetClock;
use crate::domain::{Dimension, Scope, Target};

const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(24 * 3600);
const MONTH: Duration = Duration::from_secs(30 * 24 * 3600);

/// What was seen for less time than this tells nothing of the hours to come.
const LEAST_TIME: Duration = Duration::from_secs(600);

/// Nor does less than this part of the allowance.
const LEAST_SHARE: f64 = 0.1;

/// So much of the window must have been seen: one part of so many.
const LEAST_WINDOW: f64 = 24.0;

/// With so much gone, the shortest time is enough.
const HALF: f64 = 0.5;

/// What was used of an allowance in the window under way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    /// What counts against the limit now, in the limit's unit.
    pub used: f64,
    /// How much of that was used since `since`; the rest is of before and fades until the window's end.
    pub counted: f64,
    /// The limit.
    pub limit: f64,
    /// Since when it is counted: the window's beginning, or its first use.
    pub since: Timestamp,
    /// When all of it is back.
    pub resets_at: Timestamp,
}

impl Pace {
    /// Of a window that began at a moment, when nothing counted.
    pub fn of_window(used: f64, limit: f64, since: Timestamp, resets_at: Timestamp) -> Self {
        Self { used, counted: used, limit, since, resets_at }
    }

    /// When it runs out before it is back, if it goes on so; `now` when it has. None when it lasts, or when too little was
    /// seen to say.
    pub fn runs_out(&self, now: Timestamp) -> Option<Timestamp> {
        let ahead = seconds(now, self.resets_at);
        if ahead <= 0.0 || !self.means_something(now) {
            return None;
        }
        if self.used >= self.limit {
            return Some(now);
        }
        let slope = self.slope(now).filter(|slope| *slope > 0.0)?;
        let after = (self.limit - self.used) / slope;
        (after < ahead).then(|| later(now, Duration::from_secs_f64(after)))
    }

    /// What will count against the limit at the end of the window, if it goes on so; what does now when too little was
    /// seen to say.
    pub fn at_reset(&self, now: Timestamp) -> f64 {
        let ahead = seconds(now, self.resets_at);
        let slope = self.slope(now).filter(|_| self.means_something(now));
        (self.used + slope.unwrap_or(0.0) * ahead).max(0.0)
    }

    fn means_something(&self, now: Timestamp) -> bool {
        self.limit > 0.0 && self.limit.is_finite() && self.used.is_finite() && !was_ahead(self.since, now)
    }

    /// How much more counts with each second; none when too little was seen.
    fn slope(&self, now: Timestamp) -> Option<f64> {
        let (passed, ahead) = (seconds(self.since, now), seconds(now, self.resets_at));
        let share = self.used / self.limit;
        let long = passed >= LEAST_TIME.as_secs_f64();
        let wide = share >= LEAST_SHARE && passed * LEAST_WINDOW >= passed + ahead;
        if !long || !(wide || share >= HALF) || ahead <= 0.0 {
            return None;
        }
        let fading = (self.used - self.counted).max(0.0) / ahead;
        Some(self.counted.max(0.0) / passed - fading)
    }
}

/// What becomes of one allowance.
#[derive(Debug, Clone, PartialEq)]
pub struct Forecast {
    /// Whose allowance.
    pub scope: Scope,
    /// Which one.
    pub dimension: Dimension,
    /// What counts against the limit now.
    pub used: f64,
    /// The limit.
    pub limit: Limit,
    /// When all of it is back; none while nothing is counted.
    pub resets_at: Option<Timestamp>,
    /// When it runs out before that, if it goes on so.
    pub runs_out: Option<Timestamp>,
    /// What will be used of the limit when it is back; 1 is all.
    pub share_at_reset: f64,
}

/// What becomes of each allowance of the target that has a limit and a window of an hour or longer.
pub fn forecasts(target: &Target, gauges: &[Gauge], usage: &UsageState, now: Timestamp) -> Vec<Forecast> {
    let all = allowances(target, gauges, usage, now).into_iter().filter_map(|allowance| {
        let limit = allowance.limit.filter(|limit| limit.value > 0.0)?;
        let clock = allowance.meter.as_ref().map_or(allowance.clock, |meter| &meter.clock);
        window(clock, allowance.dimension).filter(|window| *window >= HOUR)?;
        let pace = allowance.meter.as_ref().and_then(|meter| pace(meter, limit.value, now));
        let used = allowance.meter.as_ref().map_or(0.0, |meter| meter.level(now, Some(limit.value)));
        Some(Forecast {
            scope: allowance.scope.clone(),
            dimension: allowance.dimension,
            used,
            resets_at: pace.map(|pace| pace.resets_at),
            runs_out: pace.and_then(|pace| pace.runs_out(now)),
            share_at_reset: pace.map_or(used, |pace| pace.at_reset(now)) / limit.value,
            limit,
        })
    });
    all.collect()
}

/// How long the window is; none for what leaks or never comes back.
fn window(clock: &ResetClock, dimension: Dimension) -> Option<Duration> {
    match clock {
        ResetClock::Rolling { seconds } => Some(Duration::from_secs(u64::from(*seconds))),
        ResetClock::Midnight { .. } => Some(DAY),
        ResetClock::MonthStart { .. } => Some(MONTH),
        ResetClock::Stated => dimension.usual_window(),
        ResetClock::Refill { .. } | ResetClock::Never => None,
    }
}

/// The pace of a meter. What the provider said last is the use of the whole window, what was counted here is the use
/// since the count began.
fn pace(meter: &Meter, limit: f64, now: Timestamp) -> Option<Pace> {
    let window = window(&meter.clock, meter.dimension)?;
    let used = meter.level(now, Some(limit));
    let is_told = meter.resets_at.is_some() || meter.learned.as_ref().is_some_and(|said| said.at == meter.started);
    let rolls = matches!(meter.clock, ResetClock::Rolling { .. });
    let turn = match meter.clock {
        ResetClock::Midnight { .. } | ResetClock::MonthStart { .. } => meter.clock.next_reset(meter.started),
        _ => None,
    };
    match meter.resets_at.or(turn) {
        // What was used in a window that rolls comes back bit by bit, and nobody knows which.
        _ if is_told && rolls => None,
        Some(at) if is_told => Some(Pace::of_window(used, limit, at.checked_sub(window).ok()?, at)),
        Some(at) => Some(Pace::of_window(used, limit, meter.started, at)),
        None if is_told => None,
        None => {
            let counted = meter.used.min(used);
            Some(Pace { used, counted, limit, since: meter.started, resets_at: later(meter.started, window) })
        }
    }
}

/// The seconds from one time to another; none when it lies before.
fn seconds(from: Timestamp, to: Timestamp) -> f64 {
    to.duration_since(from).max(SignedDuration::ZERO).as_secs_f64()
}
