//! Requests and their attempts, as JSON and for people.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::classify::Standins;
use crate::domain::{AttemptRecord, Evidence, KeptEvidence, RequestId, RequestRecord};

use super::chat::{attempt_json, attempt_line, usage_json};
use super::moment::{rfc3339, seconds, seconds_of, span};
use super::status::{bare_table, rendered};

/// One request with its attempts: a line of `log --json`.
pub fn request_json(record: &RequestRecord) -> Value {
    json!({
        "request_id": record.id,
        "ladder": record.ladder,
        "started_at": rfc3339(record.started_at),
        "latency_s": seconds(record.latency),
        "outcome": record.outcome,
        "deployment": record.deployment,
        "step": record.step,
        "usage": usage_json(record),
        "cost_usd": record.cost_usd,
        "retry_at": record.retry_at.map(rfc3339),
        "error": record.error,
        "attempts": record.attempts.iter().map(attempt_json).collect::<Vec<_>>(),
    })
}

/// A failed attempt as a capture that `classify` reads, with stand-ins for what is personal: a line of `log --redact`.
/// Without all that was said, the excerpt stands as what a log says of it.
pub fn capture_json(
    id: &RequestId,
    index: u32,
    attempt: &AttemptRecord,
    kept: Option<&KeptEvidence>,
    standins: &mut Standins,
) -> Value {
    let KeptEvidence { headers, body, log } = kept.cloned().unwrap_or_else(|| {
        let excerpt = attempt.evidence.clone().unwrap_or_default();
        KeptEvidence { log: excerpt, ..KeptEvidence::default() }
    });
    let shared = standins.evidence(&Evidence {
        provider: Some(attempt.deployment.provider.clone()),
        model: Some(attempt.deployment.model.clone()),
        status: attempt.status,
        headers,
        body,
        log,
        at: attempt.started_at.checked_add(attempt.latency).ok(),
        ..Evidence::default()
    });
    record_json(&json!(format!("{}#{index}", standins.id(id.as_str()))), shared)
}

/// A capture in the form that `classify --format jsonl` reads.
pub(super) fn record_json(id: &Value, shared: Evidence) -> Value {
    json!({
        "id": id,
        "provider": shared.provider,
        "model": shared.model,
        "status": shared.status,
        "headers": headers_json(shared.headers),
        "body": shared.body,
        "log": shared.log,
        "at": shared.at.map(rfc3339),
    })
}

/// Headers by their names; those that came more than once as a list.
fn headers_json(headers: Vec<(String, String)>) -> Value {
    let mut named = Map::new();
    for (name, value) in headers {
        match named.get_mut(&name) {
            None => drop(named.insert(name, Value::String(value))),
            Some(Value::Array(values)) => values.push(Value::String(value)),
            Some(first) => *first = json!([first.take(), value]),
        }
    }
    Value::Object(named)
}

/// Many requests, one line each.
pub fn requests_text(records: &[RequestRecord], width: u16) -> String {
    if records.is_empty() {
        return "no request is logged\n".to_owned();
    }
    let mut table = bare_table(width);
    table.set_header(["started", "request", "outcome", "answered by", "took", "failures on the way"]);
    for record in records {
        let failed: Vec<String> = record
            .attempts
            .iter()
            .filter_map(|attempt| Some(format!("{} {}", attempt.deployment.provider, attempt.class?)))
            .collect();
        table.add_row([
            seconds_of(record.started_at),
            record.id.to_string(),
            record.outcome.to_string(),
            record.deployment.as_ref().map_or("-".to_owned(), ToString::to_string),
            span(record.latency),
            failed.join(", "),
        ]);
    }
    rendered(&table) + "\n"
}

/// One request with its whole trail.
pub fn request_text(record: &RequestRecord, now: Timestamp) -> String {
    let mut out = format!(
        "request {} on ladder {}, {} in {}: {}\n",
        record.id,
        record.ladder,
        rfc3339(record.started_at),
        span(record.latency),
        record.outcome
    );
    for attempt in &record.attempts {
        out.push_str(&format!("  {}\n", attempt_line(attempt, now)));
        if let Some(evidence) = &attempt.evidence {
            out.push_str(&format!("      {evidence}\n"));
        }
    }
    if let Some(error) = &record.error {
        out.push_str(&format!("  {error}\n"));
    }
    out
}
