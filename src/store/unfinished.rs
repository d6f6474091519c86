//! Requests of which the log knows no end.

use jiff::Timestamp;

use crate::domain::{Outcome, RequestId, RequestRecord, Usage};

/// What an unfinished request has cost and how long it has run, as far as its attempts tell.
pub(super) fn tally_unfinished(request: &mut RequestRecord) {
    if request.outcome != Outcome::Unfinished {
        return;
    }
    let Some(started_at) = request.attempts.iter().map(|attempt| attempt.started_at).min() else { return };
    request.started_at = request.started_at.min(started_at);
    let add = |sum: Option<u64>, one: Option<u64>| match (sum, one) {
        (None, None) => None,
        (sum, one) => Some(sum.unwrap_or(0).saturating_add(one.unwrap_or(0))),
    };
    request.usage = Usage::default();
    request.cost_usd = None;
    for attempt in &request.attempts {
        let ran = attempt.started_at.duration_since(request.started_at).unsigned_abs().saturating_add(attempt.latency);
        request.latency = request.latency.max(ran);
        request.usage.input_tokens = add(request.usage.input_tokens, attempt.usage.input_tokens);
        request.usage.output_tokens = add(request.usage.output_tokens, attempt.usage.output_tokens);
        request.usage.cached_tokens = add(request.usage.cached_tokens, attempt.usage.cached_tokens);
        if let Some(cost) = attempt.cost_usd {
            request.cost_usd = Some(request.cost_usd.unwrap_or(0.0) + cost);
        }
    }
}

/// The row that stands for a request of which only attempts are known.
pub(super) fn unfinished(id: &RequestId, started_at: Timestamp) -> RequestRecord {
    RequestRecord::begun(id.clone(), "".into(), started_at)
}
