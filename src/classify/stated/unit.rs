//! What a limit counts, and the dimension that it is in a window.

use std::time::Duration;

use crate::domain::Dimension;

/// One second, and what the other windows are in it.
pub(super) const SECOND: u64 = 1;
/// A minute.
pub(super) const MINUTE: u64 = 60;
/// An hour.
pub(super) const HOUR: u64 = 3600;
/// A day.
pub(super) const DAY: u64 = 86_400;
/// A week.
pub(super) const WEEK: u64 = 7 * DAY;
/// A month: of the calendar, so that its length is not stated.
pub(super) const MONTH: u64 = 30 * DAY;

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Requests.
    Requests,
    /// Tokens of both directions.
    Tokens,
    /// Tokens of the prompt.
    Input,
    /// Tokens of the answer.
    Output,
    /// Images.
    Images,
    /// Seconds of audio.
    Audio,
    /// Requests at the same time.
    Concurrency,
    /// A share of a plan, in percent.
    Share,
}

impl Unit {
    /// The dimension that it is in a window of so many seconds; none when that would not be known.
    pub(super) fn dimension(self, seconds: Option<u64>) -> Option<Dimension> {
        const MONTH_LEAST: u64 = 28 * DAY;
        const MONTH_MOST: u64 = 31 * DAY;
        Some(match (self, seconds) {
            (Self::Concurrency, _) => Dimension::Concurrency,
            (Self::Images, _) => Dimension::Images,
            (Self::Audio, _) => Dimension::AudioSeconds,
            (_, None) => return None,
            (Self::Requests, Some(MINUTE)) => Dimension::Rpm,
            (Self::Tokens, Some(MINUTE)) => Dimension::Tpm,
            (Self::Input, Some(MINUTE)) => Dimension::InputTpm,
            (Self::Output, Some(MINUTE)) => Dimension::OutputTpm,
            (Self::Requests, Some(DAY)) => Dimension::Rpd,
            (Self::Tokens, Some(DAY)) => Dimension::Tpd,
            (_, Some(18_000)) => Dimension::Requests5h,
            (_, Some(WEEK)) => Dimension::Weekly,
            (_, Some(MONTH_LEAST..=MONTH_MOST)) => Dimension::Monthly,
            _ => Dimension::Other,
        })
    }

    /// The unit that a word names, in any number, in lower case.
    pub(super) fn of_word(word: &str) -> Option<Self> {
        Some(match word {
            "request" | "requests" | "req" | "reqs" | "query" | "queries" | "call" | "calls" | "message"
            | "messages" => Self::Requests,
            "token" | "tokens" | "tokenlimit" | "ratelimitbysize" => Self::Tokens,
            "image" | "images" => Self::Images,
            "concurrent" | "concurrency" | "parallel" => Self::Concurrency,
            _ => return None,
        })
    }

    /// What two words of one name mean together: `input` and `tokens`, `concurrent` and `requests`.
    pub(super) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Tokens | Self::Requests, other) => other,
            (own, _) => own,
        }
    }
}

/// The window that a word names, in seconds.
pub(super) fn window_of_word(word: &str) -> Option<u64> {
    Some(match word {
        "second" | "sec" | "s" => SECOND,
        "minute" | "min" | "1m" => MINUTE,
        "hour" | "hourly" | "1h" => HOUR,
        "day" | "daily" | "24h" | "1d" => DAY,
        "week" | "weekly" | "7d" => WEEK,
        "month" | "monthly" => MONTH,
        _ => return None,
    })
}

/// The stated length of a window; a month has none.
pub(super) fn length(seconds: u64) -> Option<Duration> {
    (seconds != MONTH && seconds > 0).then(|| Duration::from_secs(seconds))
}
