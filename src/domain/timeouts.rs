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
}

impl Default for Timeouts {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self { connect: seconds(5), first: seconds(30), idle: seconds(30), total: seconds(90) }
    }
}
