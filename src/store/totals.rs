//! What all attempts and requests since the file was made come to.
//!
//! A scraper wants counters that only grow, and the log forgets. So whatever leaves the log is counted first, in the same
//! transaction: what was ever counted is the totals that the file keeps and the rows that are not in them yet, read as of
//! one moment. Four things keep a counter from falling, or from counting anything twice:
//!
//! - a place says whether its row is in the totals, and no place is given twice, even when all rows are gone;
//! - a row that another replaces (an attempt that is written again, the end of a request that is written again) stays
//!   counted as it was, and the new one is not counted; but a request that is made once more under its id ends once more;
//! - everything is a whole number, money in billionths and times in microseconds: a sum of floats depends on the order of
//!   adding, and a counter that is less by its last bit counts as one that began anew;
//! - what a hand wrote into the file is bounded on its way: one absurd row must not stop the counting of all others.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::domain::{AttemptKind, Class, Defect, Deployment, Extraction, LadderName, Outcome};

/// The bounds of the buckets of time, in microseconds: a tenth of a second to five minutes. Times beyond the last are
/// counted too, but of no bound.
pub const BOUNDS_US: [u64; 12] = [
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_000_000,
    3_000_000,
    5_000_000,
    10_000_000,
    20_000_000,
    30_000_000,
    60_000_000,
    300_000_000,
];

/// What came of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Came {
    /// It was answered.
    Answered,
    /// It was given up before its end.
    GivenUp,
    /// It failed.
    Failed(Class),
}

/// What is said of answers of which something was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// Judged at all: one for each request and deployment, without those to repairs.
    Judged,
    /// Of them as asked at once.
    Valid,
    /// To a repair, and as asked.
    Helped,
}

impl Verdict {
    /// All of them.
    pub const ALL: &[Self] = &[Self::Judged, Self::Valid, Self::Helped];

    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Judged => "judged",
            Self::Valid => "valid",
            Self::Helped => "helped",
        }
    }
}

/// What attempts come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AttemptSum {
    /// How many.
    pub attempts: u64,
    /// Tokens of their prompts.
    pub input: u64,
    /// Tokens of their answers.
    pub output: u64,
    /// Tokens of their prompts that came from a cache.
    pub cached: u64,
    /// What they cost, in billionths of a USD, where the price is known.
    pub nano_usd: u64,
}

/// How long things took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Histogram {
    /// How many took at most as long as a bound and longer than the one before.
    pub within: [u64; BOUNDS_US.len()],
    /// How many there are, those beyond the last bound too.
    pub count: u64,
    /// How long all took together, in microseconds.
    pub sum_us: u64,
}

impl Histogram {
    /// Adds times; a bound that is not known any more counts as the next higher one, none as longer than all.
    pub(super) fn add(&mut self, bound_us: Option<u64>, times: u64, sum_us: u64) {
        let at = bound_us.and_then(|bound| BOUNDS_US.iter().position(|known| bound <= *known));
        if let Some(within) = at.and_then(|at| self.within.get_mut(at)) {
            *within = within.saturating_add(times);
        }
        self.count = self.count.saturating_add(times);
        self.sum_us = self.sum_us.saturating_add(sum_us);
    }
}

/// How often the shared budget was asked for a retry in some time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RetryCount {
    /// Retries that it granted.
    pub granted: u64,
    /// Retries that it denied.
    pub denied: u64,
    /// Since when all of them are known; none when none was ever forgotten.
    pub known_since: Option<Timestamp>,
}

/// Counters over the life of a state file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Totals {
    /// Attempts by who was asked, why, and what came of it.
    pub attempts: BTreeMap<(Deployment, AttemptKind, Came), AttemptSum>,
    /// Attempts that came back whole, whatever was in them.
    pub whole: BTreeMap<Deployment, u64>,
    /// Answers of which something was asked, and what came of it.
    pub judged: BTreeMap<(Deployment, Verdict), u64>,
    /// Answers that were not as asked, by what was wrong.
    pub defects: BTreeMap<(Deployment, Defect), u64>,
    /// Good answers in JSON, by where it stood.
    pub extracted: BTreeMap<(Deployment, Extraction), u64>,
    /// Requests by ladder, how they ended, and the step that answered.
    pub requests: BTreeMap<(LadderName, Outcome, Option<u32>), u64>,
    /// Times to the first content of attempts that were answered.
    pub ttft: BTreeMap<Deployment, Histogram>,
    /// Times to the end of attempts that were answered.
    pub attempt_times: BTreeMap<Deployment, Histogram>,
    /// Times of whole requests.
    pub request_times: BTreeMap<LadderName, Histogram>,
    /// Retries that the shared budget granted.
    pub retries_granted: u64,
    /// Retries that it denied.
    pub retries_denied: u64,
}

impl AttemptSum {
    /// Adds others.
    pub fn add(&mut self, other: &Self) {
        self.attempts = self.attempts.saturating_add(other.attempts);
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cached = self.cached.saturating_add(other.cached);
        self.nano_usd = self.nano_usd.saturating_add(other.nano_usd);
    }
}
