//! The result of a request as JSON, and its trail for people.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::domain::{AttemptKind, AttemptRecord, Extraction, GivenUp, KeptAnswer, Outcome, RequestRecord};
use crate::ladder::Skip;
use crate::route::Report;

use super::moment::{distance, rfc3339, seconds, seconds_of};

/// The object of `chat --json`.
pub fn chat_json(report: &Report) -> Value {
    let record = &report.record;
    json!({
        "request_id": record.id,
        "ladder": record.ladder,
        "text": report.text,
        "parsed": report.parsed,
        "reasoning": Some(&report.reasoning).filter(|text| !text.is_empty()),
        "tool_calls": Some(&report.tool_calls).filter(|calls| !calls.is_empty()),
        "finish_reason": report.finish.as_ref().map(|finish| finish.as_str().to_owned()),
        "deployment": report.by,
        "step": step(report),
        "usage": usage_json(record),
        "cost_usd": record.cost_usd,
        "ttft_s": report.ttft.map(seconds),
        "latency_s": seconds(record.latency),
        "attempts": record.attempts.iter().map(attempt_json).collect::<Vec<_>>(),
        "skipped": report.skipped.iter().map(skip_json).collect::<Vec<_>>(),
        "exhausted": report.end.is_exhaustion(),
        "retry_at": record.retry_at.map(rfc3339),
        "error": record.error,
        "retries_denied": record.retries_denied,
        "stored": false,
    })
}

/// The step of who gave the answer.
fn step(report: &Report) -> Option<u32> {
    let by = report.by.as_ref()?;
    let last = || report.record.attempts.iter().rev().find(|attempt| attempt.deployment == *by);
    report.record.step.or_else(|| last().map(|attempt| attempt.step))
}

/// The same object of a request that ended before, from what is kept of it.
pub fn stored_json(record: &RequestRecord, answer: Option<&KeptAnswer>) -> Value {
    let answered = record.attempts.iter().rev().find(|attempt| attempt.is_answered());
    json!({
        "request_id": record.id,
        "ladder": record.ladder,
        "text": answer.map(|answer| answer.text.as_str()).unwrap_or_default(),
        "parsed": answer.and_then(|answer| answer.parsed.as_ref()),
        "reasoning": answer.map(|answer| answer.reasoning.as_str()).filter(|text| !text.is_empty()),
        "tool_calls": answer.and_then(|answer| answer.tool_calls.as_ref()),
        "finish_reason": answer.and_then(|answer| answer.finish.as_ref()),
        "deployment": record.deployment,
        "step": record.step,
        "usage": usage_json(record),
        "cost_usd": record.cost_usd,
        "ttft_s": answered.and_then(|attempt| attempt.ttft).map(seconds),
        "latency_s": seconds(record.latency),
        "attempts": record.attempts.iter().map(attempt_json).collect::<Vec<_>>(),
        "skipped": [],
        "exhausted": matches!(record.outcome, Outcome::Exhausted | Outcome::NeedsPerson),
        "retry_at": record.retry_at.map(rfc3339),
        "error": record.error,
        "retries_denied": record.retries_denied,
        "stored": true,
    })
}

/// Tokens of a request.
pub(super) fn usage_json(record: &RequestRecord) -> Value {
    json!({
        "input_tokens": record.usage.input_tokens,
        "output_tokens": record.usage.output_tokens,
        "cached_tokens": record.usage.cached_tokens,
    })
}

/// The kind as scripts know it. They know five, and what was asked again in another way is a repair to them.
const fn kind_word(kind: AttemptKind) -> &'static str {
    match kind {
        AttemptKind::Adjusted => AttemptKind::Repair.as_str(),
        kind => kind.as_str(),
    }
}

/// One exchange.
pub(super) fn attempt_json(attempt: &AttemptRecord) -> Value {
    json!({
        "deployment": attempt.deployment,
        "step": attempt.step,
        "kind": kind_word(attempt.kind),
        "class": attempt.class,
        "scope": attempt.scope,
        "status": attempt.status,
        "rule": attempt.rule,
        "evidence": attempt.evidence,
        "started_at": rfc3339(attempt.started_at),
        "ttft_s": attempt.ttft.map(seconds),
        "latency_s": seconds(attempt.latency),
        "held_until": attempt.held_until.map(rfc3339),
        "execution": attempt.execution,
        "given_up": attempt.given_up,
        "extracted": attempt.extracted,
        "judged": attempt.judged,
        "adjusted": attempt.kind == AttemptKind::Adjusted,
    })
}

/// A step that was not asked.
pub(super) fn skip_json(skip: &Skip) -> Value {
    json!({
        "deployment": skip.deployment,
        "step": skip.step,
        "reason": skip.reason.word(),
        "until": skip.until.map(rfc3339),
        "provenance": skip.provenance,
    })
}

/// One line for each exchange that failed and each step that was passed over for a reason that a person wants to know.
pub fn trail(report: &Report, now: Timestamp) -> Vec<String> {
    let attempts = report.record.attempts.iter().map(|attempt| attempt_line(attempt, now));
    let skipped = report.skipped.iter().map(|skip| skip_line(skip, now));
    attempts.chain(skipped).collect()
}

/// What an exchange came to: class, rule, until when.
pub fn attempt_line(attempt: &AttemptRecord, now: Timestamp) -> String {
    let AttemptRecord { deployment, kind, .. } = attempt;
    if let Some(why) = attempt.given_up {
        return format!("{deployment}  given up: {} ({kind})", why_given_up(why));
    }
    let Some(class) = attempt.class else {
        let place = attempt.extracted.map_or("", where_it_stood);
        return format!("{deployment}  answered ({kind}{place})");
    };
    let held = attempt.held_until.map_or(String::new(), |until| format!(", held {}", until_text(until, now)));
    let rule = attempt.rule.as_deref().unwrap_or("-");
    let status = attempt.status.map_or(String::new(), |status| format!(" {status}"));
    format!("{deployment}  {class}{status} ({kind}; {rule}){held}")
}

/// Where JSON stood that was not alone.
fn where_it_stood(place: Extraction) -> &'static str {
    match place {
        Extraction::Whole => "",
        Extraction::Fenced => "; JSON in a fence",
        Extraction::Surrounded => "; JSON within prose",
    }
}

fn why_given_up(why: GivenUp) -> &'static str {
    match why {
        GivenUp::Deadline => "the deadline of the request passed",
        GivenUp::Interrupted => "interrupted",
        GivenUp::Outrun => "another step was faster",
        GivenUp::ReaderGone => "nobody read on",
    }
}

/// Why a step was passed over, and until when.
pub fn skip_line(skip: &Skip, now: Timestamp) -> String {
    let until = skip.until.map_or(String::new(), |until| format!(", {}", until_text(until, now)));
    let trust = skip.provenance.map_or(String::new(), |provenance| format!(" ({provenance})"));
    format!("{}  not asked: {}{until}{trust}", skip.deployment, skip.reason)
}

/// A moment with its distance.
pub(super) fn until_text(until: Timestamp, now: Timestamp) -> String {
    format!("until {} ({})", seconds_of(until), distance(until, now))
}
