//! Times as an answer states them: what they count from, and by whose clock they are read.

use std::time::Duration;

use jiff::Timestamp;

use crate::domain::Evidence;

use super::duration::{self, Hint, ZoneGuess};

/// What times are read against.
#[derive(Debug, Clone)]
pub(crate) struct Times {
    /// When the answer was heard, as far as known.
    pub(crate) base: Timestamp,
    /// Whether `base` comes with the evidence, so that a moment can be turned into a wait.
    pub(crate) dated: bool,
    /// What is meant where no zone is named.
    pub(crate) zone: ZoneGuess,
}

impl Times {
    /// `date` is the header of that name; `now` serves where neither it nor the evidence says when.
    pub(crate) fn of(evidence: &Evidence, date: Option<&str>, zone: ZoneGuess, now: Timestamp) -> Self {
        let parsed = || jiff::fmt::rfc2822::parse(date?).ok().map(|date| date.timestamp());
        let heard = evidence.at.or_else(parsed);
        Self { base: heard.unwrap_or(now), dated: heard.is_some(), zone }
    }

    /// A whole text as a wait or a moment.
    pub(crate) fn parse(&self, text: &str) -> Option<Hint> {
        let moment = || duration::parse_moment(text, self.base, &self.zone).map(Hint::At);
        // Ten digits are a moment, fewer are seconds.
        let is_epoch = text.len() >= 9 && text.bytes().all(|byte| byte.is_ascii_digit());
        if is_epoch { moment() } else { duration::parse_duration(text).map(Hint::After).or_else(moment) }
    }

    /// The moment of a hint; none where it is no time from now at all.
    pub(crate) fn moment(&self, hint: Hint) -> Option<Timestamp> {
        match hint {
            Hint::After(after) if after.is_zero() => None,
            Hint::After(after) => self.after(after),
            Hint::At(at) => Some(at),
        }
    }

    /// A wait counts from when it was heard, whatever the provider's clock shows.
    pub(crate) fn after(&self, wait: Duration) -> Option<Timestamp> {
        self.base.checked_add(wait).ok()
    }
}

/// Providers in China state times of their own zone; of the rest nobody knows.
pub(crate) fn zone_of(provider: Option<&str>, text: &str) -> ZoneGuess {
    const CHINESE: &[&str] = &[
        "zhipu",
        "bigmodel",
        "dashscope",
        "qwen",
        "moonshot",
        "kimi",
        "minimax",
        "siliconflow",
        "ark",
        "baidu",
        "huawei",
        "deepseek",
        "volcengine",
    ];
    let by_name = provider.is_some_and(|provider| CHINESE.contains(&provider));
    let by_words = text.contains("重置") || text.contains("限额");
    if by_name || by_words { ZoneGuess::Known(duration::china()) } else { ZoneGuess::Latest }
}
