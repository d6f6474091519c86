//! The numbers of the failure table; config can change them.

use std::time::Duration;

/// When a circuit of transient faults opens and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BreakerSettings {
    /// Failures within `window` that open it.
    pub failures: u32,
    /// The window in which `failures` are counted.
    pub window: Duration,
    /// Failures in a row that open it, if the first is not older than `consecutive_window`.
    pub consecutive: u32,
    /// How old the first of a row may be: three failures spread over a day are no outage.
    pub consecutive_window: Duration,
    /// How long it stays open the first time; doubles each time in a row.
    pub open: Duration,
    /// The longest time that it stays open.
    pub open_max: Duration,
}

impl Default for BreakerSettings {
    fn default() -> Self {
        Self {
            failures: 5,
            window: Duration::from_secs(60),
            consecutive: 3,
            consecutive_window: Duration::from_secs(15 * 60),
            open: Duration::from_secs(30),
            open_max: Duration::from_secs(10 * 60),
        }
    }
}

/// How long a rate limit is assumed to last when nobody says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimitSettings {
    /// The first guess; doubles each time in a row.
    pub first: Duration,
    /// The longest guess.
    pub max: Duration,
}

impl Default for RateLimitSettings {
    fn default() -> Self {
        Self { first: Duration::from_secs(5), max: Duration::from_secs(3600) }
    }
}

/// How near a limit may come before a step is passed over.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UsageSettings {
    /// The part of a limit, 0 to 1, that may be used; a step that this request would bring beyond it is skipped.
    pub skip: f64,
    /// The part beyond which others are asked first.
    pub put_last: f64,
}

impl Default for UsageSettings {
    fn default() -> Self {
        Self { skip: 0.97, put_last: 0.80 }
    }
}

/// When a ladder itself opens: after so many requests in a row that fell through, it answers at once for a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CascadeSettings {
    /// Exhausted requests in a row that open it.
    pub after: u32,
    /// How long it stays open the first time; doubles each time in a row, and never lasts beyond the return of a step.
    pub open: Duration,
    /// The longest time that it stays open.
    pub open_max: Duration,
}

impl Default for CascadeSettings {
    fn default() -> Self {
        Self { after: 10, open: Duration::from_secs(30), open_max: Duration::from_secs(5 * 60) }
    }
}

/// All numbers of the failure table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PolicySettings {
    /// Circuits of transient faults.
    pub breaker: BreakerSettings,
    /// Guesses for rate limits.
    pub rate_limit: RateLimitSettings,
    /// How near limits may come.
    pub usage: UsageSettings,
    /// How long a probe's lease lives at most: longer than any attempt may take.
    pub lease: Duration,
}

impl Default for PolicySettings {
    fn default() -> Self {
        Self {
            breaker: BreakerSettings::default(),
            rate_limit: RateLimitSettings::default(),
            usage: UsageSettings::default(),
            lease: Duration::from_secs(120),
        }
    }
}
