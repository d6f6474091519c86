//! Requests as OpenTelemetry spans: a line of `log --format otlp-json`.
//!
//! A line is a whole `TracesData` in OTLP/JSON, so a file of lines is what OpenTelemetry's file exporter writes and what
//! the collector's `otlpjsonfile` receiver reads. One request is one trace: a root span for what the user asked, and below
//! it one CLIENT span for each exchange on the wire, whatever came of it. Names and values follow the GenAI conventions
//! (semantic-conventions-genai v0.1.0, of status Development); what these have no name for stands under `llmr.`, by the
//! name that it has in `log --json`.
//!
//! - Nothing here says what was asked or answered: neither prompts, answers nor the evidence of a failure, which quotes
//!   the provider, which may quote the prompt; nor the request's `error`, which quotes the evidence.
//! - Only attempts carry `gen_ai.usage.*`. The sums of the request stand under `llmr.`, or whoever adds up all spans
//!   would count every token twice.
//! - A failure that a later attempt made good is no error of the request. What was given up is nobody's fault, so its
//!   status is unset, as it must be for all that ended well.
//! - The time to the first content is not called `gen_ai.response.time_to_first_chunk`, which only a streamed answer may
//!   have: the log does not keep which one was.
//! - Ids are derived from what the spans are of, so that a second export brings the same spans, not more of them.

mod attributes;
mod ids;
mod provider;
#[cfg(test)]
mod tests;

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::domain::{AttemptRecord, Class, Dimension, GivenUp, Outcome, RequestId, RequestRecord, ScopeLevel};

use attributes::Attributes;
use ids::{SpanIds, root_id, trace_id};
use provider::well_known;

/// The last schema of the core conventions that the GenAI names stand in. They have moved to a repository of their own,
/// whose v0.1.0 changed none of those that are used here.
const SCHEMA: &str = "https://opentelemetry.io/schemas/1.41.0";

/// The enumerations of `trace.proto`, of which OTLP/JSON takes the numbers only.
const INTERNAL: u8 = 1;
const CLIENT: u8 = 3;
const ERROR: u8 = 2;

/// One request with its attempts as a trace of its own. What has not ended reaches as far as is known of it.
pub fn otlp_json(record: &RequestRecord) -> Value {
    let version = env!("CARGO_PKG_VERSION");
    let resource = Attributes::default().text("service.name", "llmr").text("service.version", version);
    let mut ids = SpanIds::new(&record.id);
    let attempts = record.attempts.iter().map(|attempt| attempt_span(attempt, ids.of(attempt), &record.id));
    let spans: Vec<Value> = std::iter::once(request_span(record)).chain(attempts).collect();
    json!({
        "resourceSpans": [{
            "resource": { "attributes": resource.into_json() },
            "scopeSpans": [{
                "scope": { "name": "llmr", "version": version },
                "spans": spans,
                "schemaUrl": SCHEMA,
            }],
        }],
    })
}

/// What the user asked. It reaches over all attempts, also those that an earlier run under the same id made, and those
/// that are all that is known of a request that has not ended.
fn request_span(record: &RequestRecord) -> Value {
    let starts = record.attempts.iter().map(|attempt| nanos(attempt.started_at));
    let ends = record.attempts.iter().map(|attempt| end(attempt.started_at, attempt.latency));
    let start = starts.fold(nanos(record.started_at), u64::min);
    let end = ends.fold(end(record.started_at, record.latency), u64::max);
    Span {
        trace: trace_id(&record.id),
        id: root_id(&record.id),
        parent: None,
        name: ladder_of(record).map_or("llmr".to_owned(), |ladder| format!("llmr {ladder}")),
        kind: INTERNAL,
        time: (start, end),
        attributes: request_attributes(record),
        failed: error_of(record.outcome).is_some(),
    }
    .into_json()
}

fn request_attributes(record: &RequestRecord) -> Attributes {
    Attributes::default()
        .text("error.type", error_of(record.outcome))
        .text("llmr.request_id", record.id.as_str())
        .text("llmr.ladder", ladder_of(record))
        .text("llmr.outcome", record.outcome.as_str())
        .text("llmr.deployment", record.deployment.as_ref().map(ToString::to_string).as_deref())
        .int("llmr.step", record.step.map(u64::from))
        .int("llmr.input_tokens", record.usage.input_tokens)
        .int("llmr.output_tokens", record.usage.output_tokens)
        .int("llmr.cached_tokens", record.usage.cached_tokens)
        .double("llmr.cost_usd", record.cost_usd)
        .int("llmr.retries_denied", u64::from(record.retries_denied))
        .time("llmr.retry_at", record.retry_at)
}

/// The ladder. It is not known of a request whose process died after its first attempt.
fn ladder_of(record: &RequestRecord) -> Option<&str> {
    Some(record.ladder.as_str()).filter(|ladder| !ladder.is_empty())
}

/// One exchange.
fn attempt_span(attempt: &AttemptRecord, id: String, request: &RequestId) -> Value {
    Span {
        trace: trace_id(request),
        id,
        parent: Some(root_id(request)),
        name: format!("chat {}", attempt.deployment.model),
        kind: CLIENT,
        time: (nanos(attempt.started_at), end(attempt.started_at, attempt.latency)),
        attributes: attempt_attributes(attempt),
        failed: attempt.class.is_some(),
    }
    .into_json()
}

fn attempt_attributes(attempt: &AttemptRecord) -> Attributes {
    let AttemptRecord { deployment, usage, .. } = attempt;
    Attributes::default()
        .text("gen_ai.operation.name", "chat")
        .text("gen_ai.provider.name", well_known(&deployment.provider))
        .text("gen_ai.request.model", deployment.model.as_str())
        .text("error.type", attempt.class.map(Class::as_str))
        .int("http.response.status_code", attempt.status.map(u64::from))
        .int("gen_ai.usage.input_tokens", usage.input_tokens)
        .int("gen_ai.usage.output_tokens", usage.output_tokens)
        .int("gen_ai.usage.cache_read.input_tokens", usage.cached_tokens)
        .text("llmr.deployment", deployment.to_string().as_str())
        .int("llmr.step", u64::from(attempt.step))
        .text("llmr.kind", attempt.kind.as_str())
        .text("llmr.scope", attempt.scope.map(ScopeLevel::as_str))
        .text("llmr.dimension", attempt.dimension.map(Dimension::as_str))
        .text("llmr.rule", attempt.rule.as_deref())
        .time("llmr.held_until", attempt.held_until)
        .text("llmr.execution", attempt.execution.as_str())
        .text("llmr.given_up", attempt.given_up.map(GivenUp::as_str))
        .double("llmr.ttft_s", attempt.ttft.map(|ttft| ttft.as_secs_f64()))
        .double("llmr.cost_usd", attempt.cost_usd)
}

struct Span {
    trace: String,
    id: String,
    parent: Option<String>,
    name: String,
    kind: u8,
    /// Start and end, in nanoseconds since 1970.
    time: (u64, u64),
    attributes: Attributes,
    failed: bool,
}

impl Span {
    /// With the fields in the order of the protocol. What has no value is left out, as is the status of what did not fail.
    fn into_json(self) -> Value {
        // Numbers of 64 bits are text: a reader of plain JSON would round them.
        let (start, end) = (self.time.0.to_string(), self.time.1.to_string());
        let mut fields = Map::new();
        let mut put = |name: &str, value: Value| drop(fields.insert(name.to_owned(), value));
        put("traceId", self.trace.into());
        put("spanId", self.id.into());
        if let Some(parent) = self.parent {
            put("parentSpanId", parent.into());
        }
        put("name", self.name.into());
        put("kind", self.kind.into());
        put("startTimeUnixNano", start.into());
        put("endTimeUnixNano", end.into());
        put("attributes", self.attributes.into_json());
        if self.failed {
            put("status", json!({ "code": ERROR }));
        }
        Value::Object(fields)
    }
}

/// By which word a request failed, if it did. One that the user stopped, or whose end is not known, did not.
fn error_of(outcome: Outcome) -> Option<&'static str> {
    match outcome {
        Outcome::Answered | Outcome::Interrupted | Outcome::Unfinished => None,
        Outcome::Exhausted
        | Outcome::NeedsPerson
        | Outcome::Refused
        | Outcome::WrongShape
        | Outcome::Deadline
        | Outcome::Partial => Some(outcome.as_str()),
    }
}

/// Nanoseconds since 1970; the protocol knows no time before.
fn nanos(at: Timestamp) -> u64 {
    u64::try_from(at.as_nanosecond().max(0)).unwrap_or(u64::MAX)
}

/// When something that began then and took so long was over: never before it began.
fn end(start: Timestamp, length: Duration) -> u64 {
    nanos(start).saturating_add(u64::try_from(length.as_nanos()).unwrap_or(u64::MAX))
}
