//! The timers of one attempt.

use std::time::Duration;

/// How long one attempt may take, part by part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// To the end of the TLS handshake.
    pub connect: Duration,
    /// To the first content, from the start; comments and pings are not content.
    pub first: Duration,
    /// Between one piece of content and the next.
    pub idle: Duration,
    /// The whole attempt, from the start.
    pub total: Duration,
    /// How much longer `first` and `total` are for each 1,000 tokens of the prompt, and `total` for each 1,000 tokens
    /// of the longest answer that is asked for.
    pub per_1k_tokens: Duration,
}

impl Timeouts {
    /// The timers of a request of this size, in tokens.
    #[must_use]
    pub fn for_size(self, input: u64, output: u64) -> Self {
        let more = |tokens: u64| self.per_1k_tokens.saturating_mul(u32::try_from(tokens / 1000).unwrap_or(u32::MAX));
        let first = self.first.saturating_add(more(input));
        let total = self.total.saturating_add(more(input)).saturating_add(more(output));
        Self { first, total, ..self }
    }
}

impl Default for Timeouts {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self {
            connect: seconds(5),
            first: seconds(30),
            idle: seconds(30),
            total: seconds(90),
            per_1k_tokens: Duration::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_request_has_more_time() {
        let timers = Timeouts { per_1k_tokens: Duration::from_millis(100), ..Timeouts::default() };
        assert_eq!(timers.for_size(999, 999), timers);
        let large = timers.for_size(100_000, 5_000);
        assert_eq!((large.first.as_millis(), large.total.as_millis()), (40_000, 100_500));
        assert_eq!(
            (large.connect, large.idle),
            (timers.connect, timers.idle),
            "the network and the pace stay the same"
        );
        assert_eq!(timers.for_size(u64::MAX, u64::MAX).first, timers.first + timers.per_1k_tokens * u32::MAX);
    }
}
