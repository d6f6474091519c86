//! Limits as providers state them, and in what they are counted.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::deployment::ParseNameError;
use super::failure::{Dimension, ResetSource, words};

/// One limit as a provider states it, beside an answer or in an error. What is not stated is absent, never zero.
#[derive(Debug, Clone, PartialEq)]
pub struct StatedLimit {
    /// Which limit. `Other` stands for windows that have no dimension of their own; their `window` is given then.
    pub dimension: Dimension,
    /// The limit itself, in the dimension's own unit (requests, tokens, dollars; percent where only a share is stated,
    /// then 100).
    pub limit: Option<f64>,
    /// How much is left, in the same unit; zero where more was used than is allowed.
    pub remaining: Option<f64>,
    /// When what is used is back: all of it for windows, the bucket full for buckets.
    pub resets_at: Option<Timestamp>,
    /// How long one window lasts, where the answer says it (`x-…-limit-window: 60`, `100;w=60`, `…-requests-day`).
    pub window: Option<Duration>,
    /// Where it was read: of several places the first.
    pub source: ResetSource,
}

words! {
    /// In what a limit is counted.
    Unit("unit") {
        /// Calls.
        Requests = "requests",
        /// Tokens of the prompt and of the answer.
        Tokens = "tokens",
        /// Tokens of the prompt.
        InputTokens = "input_tokens",
        /// Tokens of the answer.
        OutputTokens = "output_tokens",
        /// Money.
        Usd = "usd",
    }
}

impl Dimension {
    /// In what it is counted by its name; none where the name does not say, or where nothing that is seen here counts.
    pub const fn unit(self) -> Option<Unit> {
        match self {
            Self::Rpm | Self::Rpd | Self::Requests5h => Some(Unit::Requests),
            Self::Tpm | Self::Tpd => Some(Unit::Tokens),
            Self::InputTpm => Some(Unit::InputTokens),
            Self::OutputTpm => Some(Unit::OutputTokens),
            Self::Weekly
            | Self::Monthly
            | Self::Concurrency
            | Self::Credits
            | Self::Images
            | Self::AudioSeconds
            | Self::Other => None,
        }
    }

    /// How long its window is by its name.
    pub const fn usual_window(self) -> Option<Duration> {
        const MINUTE: u64 = 60;
        const DAY: u64 = 24 * 3600;
        let seconds = match self {
            Self::Rpm | Self::Tpm | Self::InputTpm | Self::OutputTpm => MINUTE,
            Self::Rpd | Self::Tpd => DAY,
            Self::Requests5h => 5 * 3600,
            Self::Weekly => 7 * DAY,
            Self::Monthly => 31 * DAY,
            Self::Concurrency | Self::Credits | Self::Images | Self::AudioSeconds | Self::Other => return None,
        };
        Some(Duration::from_secs(seconds))
    }
}
