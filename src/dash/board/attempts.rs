//! What is under way and what happened lately, newest first.

use std::collections::BTreeSet;
use std::time::Duration;

use jiff::Timestamp;

use crate::domain::{AttemptKind, AttemptRecord, Class, LadderName, RequestId, RequestRecord, printable};

use crate::dash::reading::Reading;

/// What came of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::dash) enum Fate {
    /// It is under way.
    Running,
    /// It was answered.
    Answered,
    /// It failed.
    Failed(Class),
    /// It was given up before its end.
    GivenUp,
    /// No step was asked: all were held.
    Nobody,
}

/// An exchange, or a request that nobody was asked for.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::dash) struct AttemptLine {
    pub(in crate::dash) request: RequestId,
    /// The place of the request among the latest ones.
    pub(in crate::dash) at: Option<usize>,
    pub(in crate::dash) started: Option<Timestamp>,
    pub(in crate::dash) name: String,
    pub(in crate::dash) provider: String,
    pub(in crate::dash) step: u32,
    pub(in crate::dash) kind: AttemptKind,
    pub(in crate::dash) fate: Fate,
    pub(in crate::dash) ttft: Option<Duration>,
    pub(in crate::dash) latency: Option<Duration>,
    pub(in crate::dash) tokens: (Option<u64>, Option<u64>),
    /// What the provider said, or how long it may take.
    pub(in crate::dash) said: String,
}

pub(super) fn lines(reading: &Reading, only: Option<&LadderName>) -> Vec<AttemptLine> {
    let requests = || reading.recent.iter().enumerate();
    let is_meant = |request: &RequestRecord| {
        // Of one that has not ended nobody knows the ladder.
        only.is_none_or(|only| request.ladder == *only || request.ladder.as_str().is_empty())
    };
    let meant = requests().filter(|(_, request)| is_meant(request));
    let mut lines: Vec<AttemptLine> = meant.flat_map(|(at, request)| of_request(at, request)).collect();
    lines.sort_by_key(|line| std::cmp::Reverse(line.started));
    let landed: BTreeSet<&RequestId> = requests()
        .filter(|(_, request)| request.outcome != crate::domain::Outcome::Unfinished)
        .map(|(_, request)| &request.id)
        .collect();
    let flights = reading.snapshot.usage.flights.iter();
    let up = flights.filter(|flight| flight.is_up(reading.now) && !landed.contains(&flight.id));
    let running = up.map(|flight| AttemptLine {
        request: flight.id.clone(),
        at: None,
        started: None,
        name: printable(&flight.target.deployment.to_string()),
        provider: flight.target.deployment.provider.to_string(),
        step: 0,
        kind: AttemptKind::First,
        fate: Fate::Running,
        ttft: None,
        latency: None,
        tokens: (Some(tokens(flight.demand.input)), None),
        said: String::new(),
    });
    running.chain(lines).collect()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an estimate of a prompt's length")]
fn tokens(estimate: f64) -> u64 {
    estimate.max(0.0) as u64
}

fn of_request(at: usize, request: &RequestRecord) -> Vec<AttemptLine> {
    if !request.attempts.is_empty() {
        return request.attempts.iter().map(|attempt| of_attempt(at, request, attempt)).collect();
    }
    if request.outcome == crate::domain::Outcome::Unfinished {
        return Vec::new();
    }
    vec![AttemptLine {
        request: request.id.clone(),
        at: Some(at),
        started: Some(request.started_at),
        name: printable(&format!("ladder {}", request.ladder)),
        provider: String::new(),
        step: 0,
        kind: AttemptKind::First,
        fate: Fate::Nobody,
        ttft: None,
        latency: Some(request.latency),
        tokens: (None, None),
        said: printable(request.error.as_deref().unwrap_or_else(|| request.outcome.as_str())),
    }]
}

fn of_attempt(at: usize, request: &RequestRecord, attempt: &AttemptRecord) -> AttemptLine {
    AttemptLine {
        request: request.id.clone(),
        at: Some(at),
        started: Some(attempt.started_at),
        name: printable(&attempt.deployment.to_string()),
        provider: attempt.deployment.provider.to_string(),
        step: attempt.step,
        kind: attempt.kind,
        fate: match attempt.class {
            _ if attempt.given_up.is_some() => Fate::GivenUp,
            Some(class) => Fate::Failed(class),
            None => Fate::Answered,
        },
        ttft: attempt.ttft,
        latency: Some(attempt.latency),
        tokens: (attempt.usage.input_tokens, attempt.usage.output_tokens),
        said: printable(&attempt.evidence.clone().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")),
    }
}
