//! How much of an allowance is used, as far as we know.
//!
//! A meter counts one dimension of one scope within the window that its clock describes. Windows that begin at a moment
//! start over at it. Rolling ones are kept as two parts, what was used in the window under way and what still counted when
//! it began: too few numbers to be exact, never less than it is, and close enough to stop before a limit.
//! Buckets leak. What an answer states replaces what was counted, because the account may have other users.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use crate::catalog::ResetClock;
use crate::domain::{Dimension, Scope, Unit};

use super::super::gate::was_ahead;
use super::super::until::later;

/// How long what was stated of an unnamed window is believed.
const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(24 * 3600);

/// A limit that an answer stated.
#[derive(Debug, Clone, PartialEq)]
pub struct Learned {
    /// The limit, in the meter's unit.
    pub value: f64,
    /// When it was stated.
    pub at: Timestamp,
    /// Where it stood, like `header x-ratelimit-limit-requests`.
    pub source: String,
}

impl Learned {
    /// Whether it is still believed. Most answers state it anew; where only errors do, a plan may have changed meanwhile
    /// without anybody saying so, and a limit that is never met is never heard of again.
    fn is_fresh(&self, now: Timestamp, window: Duration) -> bool {
        !was_ahead(self.at, now) && later(self.at, window * 2 + DAY) > now
    }
}

/// What was used of one allowance.
#[derive(Debug, Clone, PartialEq)]
pub struct Meter {
    /// Whose allowance.
    pub scope: Scope,
    /// Which one.
    pub dimension: Dimension,
    /// In what it is counted; none for what only answers can tell.
    pub unit: Option<Unit>,
    /// When it comes back.
    pub clock: ResetClock,
    /// When the window under way began; for buckets, when `used` was true.
    pub started: Timestamp,
    /// Used in the window under way.
    pub used: f64,
    /// When it was counted last.
    pub counted: Timestamp,
    /// What of the windows before still counted when this one began, for rolling ones.
    pub before: f64,
    /// When all is back, by the provider's word.
    pub resets_at: Option<Timestamp>,
    /// The limit by the provider's word.
    pub learned: Option<Learned>,
}

impl Meter {
    /// One that has counted nothing.
    pub fn new(scope: Scope, dimension: Dimension, unit: Option<Unit>, clock: ResetClock, now: Timestamp) -> Self {
        Self {
            scope,
            dimension,
            unit,
            clock,
            started: now,
            counted: now,
            used: 0.0,
            before: 0.0,
            resets_at: None,
            learned: None,
        }
    }

    /// How much is used at this time, not before the latest count. `limit` is what a bucket leaks in its whole time.
    pub fn level(&self, now: Timestamp, limit: Option<f64>) -> f64 {
        if was_ahead(self.started, now) {
            return 0.0;
        }
        let passed = seconds(self.started, now);
        if let Some(at) = self.resets_at {
            let whole = seconds(self.started, at);
            let gone = if now >= at || whole <= 0.0 { 1.0 } else { passed / whole };
            return match self.clock {
                // What was used comes back bit by bit.
                ResetClock::Rolling { .. } | ResetClock::Refill { .. } => self.used * (1.0 - gone),
                _ if now >= at => 0.0,
                _ => self.used,
            };
        }
        match self.clock {
            ResetClock::Refill { seconds } if limit.is_some() => {
                (self.used - limit.unwrap_or(0.0) * passed / f64::from(seconds.max(1))).max(0.0)
            }
            _ => match self.length() {
                Some(length) => self.sliding(passed, length.as_secs_f64().max(1.0)),
                None if self.ends().is_some_and(|at| now >= at) => 0.0,
                None => self.used,
            },
        }
    }

    /// The meter brought up to now, with this much more used.
    pub(super) fn add(&self, amount: f64, now: Timestamp, limit: Option<f64>) -> Self {
        let mut meter = self.rolled(now, limit);
        meter.used += amount.max(0.0);
        meter.counted = now;
        if let (ResetClock::Refill { .. }, Some(limit)) = (&meter.clock, limit) {
            // No bucket owes more than it holds: where more was taken, the limit is not what we think, and what is owed
            // must not grow for ever.
            meter.used = meter.used.min(limit * 2.0);
        }
        meter
    }

    /// The meter with what is used by the provider's word.
    pub(super) fn set(&self, used: f64, resets_at: Option<Timestamp>, now: Timestamp) -> Self {
        Self {
            used: used.max(0.0),
            before: 0.0,
            started: now,
            counted: now,
            resets_at: resets_at.filter(|at| *at > now),
            ..self.clone()
        }
    }

    /// The limit by the provider's word, if that word is still worth something.
    pub fn stated(&self, now: Timestamp) -> Option<&Learned> {
        let window = self.dimension.usual_window().unwrap_or(HOUR);
        self.learned.as_ref().filter(|learned| learned.is_fresh(now, window))
    }

    /// When it begins anew by itself at the latest; none when nobody can say.
    pub fn ends(&self) -> Option<Timestamp> {
        self.resets_at.or_else(|| match self.length() {
            // A bucket may owe twice what it holds.
            Some(length) if matches!(self.clock, ResetClock::Refill { .. }) => Some(later(self.counted, length * 2)),
            Some(length) => Some(later(self.counted, length)),
            None => self.clock.next_reset(self.started),
        })
    }

    /// The window's length where it rolls; none where it begins at a moment of its own.
    fn length(&self) -> Option<Duration> {
        match self.clock {
            ResetClock::Rolling { seconds } | ResetClock::Refill { seconds } => {
                Some(Duration::from_secs(u64::from(seconds)))
            }
            // Nobody said when: by its name it rolls, which forgets nothing too early. What has no name is old in an hour.
            ResetClock::Stated => Some(self.dimension.usual_window().unwrap_or(HOUR)),
            ResetClock::Midnight { .. } | ResetClock::MonthStart { .. } | ResetClock::Never => None,
        }
    }

    /// What was used before fades while this window lasts. What was used in it counts until its first use is as old as
    /// the window is long, and is gone when its last use is; in between the uses are taken for evenly spread.
    fn sliding(&self, passed: f64, length: f64) -> f64 {
        let spread = seconds(self.started, self.counted);
        let before = self.before * (1.0 - passed / length).max(0.0);
        let left = spread + length - passed;
        match passed < length {
            true => before + self.used,
            false if spread > 0.0 => self.used * (left / spread).clamp(0.0, 1.0),
            false => 0.0,
        }
    }

    fn rolled(&self, now: Timestamp, limit: Option<f64>) -> Self {
        let afresh = || Self { used: 0.0, before: 0.0, started: now, counted: now, resets_at: None, ..self.clone() };
        if was_ahead(self.started, now) || self.resets_at.is_some_and(|at| now >= at) {
            return afresh();
        }
        let leaks = matches!(self.clock, ResetClock::Refill { .. });
        if self.resets_at.is_some() || (leaks && limit.is_some()) {
            let bit_by_bit = matches!(self.clock, ResetClock::Rolling { .. } | ResetClock::Refill { .. });
            let level = self.level(now, limit);
            return if bit_by_bit {
                Self { used: level, before: 0.0, started: now, ..self.clone() }
            } else {
                self.clone()
            };
        }
        let Some(length) = self.length() else {
            return if self.ends().is_some_and(|at| now >= at) { afresh() } else { self.clone() };
        };
        if seconds(self.started, now) < length.as_secs_f64().max(1.0) {
            return self.clone();
        }
        Self { before: self.level(now, limit), used: 0.0, started: now, counted: now, ..self.clone() }
    }
}

/// The seconds from one time to another; none when it lies before.
fn seconds(from: Timestamp, to: Timestamp) -> f64 {
    to.duration_since(from).max(SignedDuration::ZERO).as_secs_f64()
}
