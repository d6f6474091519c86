//! Limits, and the clocks by which they come back.

use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::domain::{Dimension, ScopeLevel, Unit};

/// When an allowance comes back.
#[derive(Debug, Clone, PartialEq)]
pub enum ResetClock {
    /// Each use returns when it is this many seconds old.
    Rolling {
        /// The window's length in seconds.
        seconds: u32,
    },
    /// A bucket that refills continuously and would be full after this many seconds.
    Refill {
        /// The time from empty to full in seconds.
        seconds: u32,
    },
    /// All of it at the start of the day in this zone.
    Midnight {
        /// The zone whose day counts.
        zone: TimeZone,
    },
    /// All of it at the start of the month in this zone.
    MonthStart {
        /// The zone whose month counts.
        zone: TimeZone,
    },
    /// Only the payload says when.
    Stated,
    /// Never by itself: a person must act.
    Never,
}

/// What kind of source a number comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceKind {
    /// The provider's own documentation.
    Docs,
    /// A header or an error text that was seen.
    Observed,
    /// A user's or a third party's report.
    Report,
    /// The operator's config.
    Config,
}

/// One limit.
#[derive(Debug, Clone, PartialEq)]
pub struct Cap {
    /// What is limited.
    pub dimension: Dimension,
    /// Which models: an id, or a pattern in which `*` stands for anything; none for all.
    pub model: Option<String>,
    /// Which plan or tier; none when it holds for all.
    pub tier: Option<String>,
    /// The number, in the dimension's unit; none when it is not known or differs by account.
    pub limit: Option<u64>,
    /// In what it is counted, where its name does not say.
    pub unit: Option<Unit>,
    /// Where it is counted.
    pub scope: ScopeLevel,
    /// When it comes back.
    pub reset: ResetClock,
    /// What kind of source says so.
    pub source: SourceKind,
    /// When the source was read.
    pub as_of: Option<Date>,
    /// What else to know.
    pub note: Option<String>,
}
