//! Requests and their attempts, as JSON and for people.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::classify::Standins;
use crate::domain::{AttemptRecord, Evidence, KeptEvidence, Outcome, RequestId, RequestRecord, Usage};
use crate::policy::{Versioned, holds_now};

use super::chat::{attempt_json, attempt_line, usage_json};
use super::layout::{columns, flowed, padded, wrapped};
use super::moment::{distance, rfc3339, seconds, seconds_of, span};
use super::rank::percent;
use super::status::hold_line;

/// How wide ids of our own making are.
const ID: usize = 21;

/// How wide the longest outcome is.
const OUTCOME: usize = 12;

/// How far the further lines of a request stand below the first.
const INDENT: usize = 6;

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
        "retries_denied": record.retries_denied,
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

/// Many requests, a line each, or more where one does not suffice: when, which, how it ended, how long it took, who
/// answered, and who failed on the way.
pub fn requests_text(records: &[RequestRecord], width: u16) -> String {
    records.iter().map(|record| request_lines(record, usize::from(width))).collect()
}

fn request_lines(record: &RequestRecord, width: usize) -> String {
    let took = if record.outcome == Outcome::Unfinished { "-".to_owned() } else { span(record.latency) };
    let head = format!(
        "{} {} {} {took:>6}",
        seconds_of(record.started_at),
        padded(record.id.as_str(), ID),
        padded(record.outcome.as_str(), OUTCOME)
    );
    let who = record.deployment.as_ref().map(ToString::to_string);
    let failures = failures(record);
    let failed = (!failures.is_empty()).then(|| format!("after {}", failures.join(", ")));
    let tail: Vec<&str> = who.iter().chain(&failed).map(String::as_str).collect();
    let whole = format!("{head} {}", tail.join(" "));
    if columns(&whole) <= width {
        return format!("{}\n", whole.trim_end());
    }
    let (beside, below) = match who {
        Some(who) if columns(&head) + 1 + columns(&who) <= width => (format!(" {who}"), None),
        who => (String::new(), who),
    };
    let mut out = format!("{head}{beside}\n");
    for line in below.into_iter().chain(flowed_failures(&failures, width)) {
        out.push_str(&format!("{:INDENT$}{line}\n", ""));
    }
    out
}

fn flowed_failures(failures: &[String], width: usize) -> Vec<String> {
    let mut pieces = failures.to_vec();
    if let Some(first) = pieces.first_mut() {
        first.insert_str(0, "after ");
    }
    flowed(&pieces, ",", width.saturating_sub(INDENT))
}

/// Who failed and how, equal ones in a row together.
fn failures(record: &RequestRecord) -> Vec<String> {
    let mut all: Vec<(String, u32)> = Vec::new();
    for attempt in &record.attempts {
        let Some(class) = attempt.class else { continue };
        let text = format!("{} {class}", attempt.deployment.provider);
        match all.last_mut() {
            Some((last, times)) if *last == text => *times += 1,
            _ => all.push((text, 1)),
        }
    }
    all.into_iter().map(|(text, times)| if times > 1 { format!("{text} x{times}") } else { text }).collect()
}

/// One request with its whole trail, and which of the holds that it caused still stand.
pub fn request_text(record: &RequestRecord, holds: &[Versioned], now: Timestamp, width: u16) -> String {
    let width = usize::from(width);
    let by = record.deployment.as_ref().map_or(String::new(), |deployment| format!(" by {deployment}"));
    let mut facts = vec![
        format!("ladder {}", if record.ladder.as_str().is_empty() { "not known" } else { record.ladder.as_str() }),
        format!("started {} ({})", seconds_of(record.started_at), distance(record.started_at, now)),
        format!("took {}", span(record.latency)),
    ];
    facts.extend(record.usage.input_tokens.map(|tokens| format!("{tokens} tokens in{}", cached(&record.usage))));
    facts.extend(record.usage.output_tokens.map(|tokens| format!("{tokens} tokens out")));
    facts.extend(record.cost_usd.map(|usd| format!("${usd:.4}")));
    if record.retries_denied > 0 {
        facts.push(format!("{} retries denied by the budget", record.retries_denied));
    }
    let mut out = wrapped(&format!("request {}: {}{by}", record.id, record.outcome), 2, width);
    out.push_str(&wrapped(&format!("  {}", facts.join(", ")), 2, width));
    for (attempt, place) in record.attempts.iter().zip(1..) {
        let after = span(attempt.started_at.duration_since(record.started_at).unsigned_abs());
        let line = format!(" {place:>2}. +{after} step {}: {}", attempt.step, attempt_line(attempt, now));
        out.push_str(&wrapped(&line, 5, width));
        if let Some(evidence) = &attempt.evidence {
            out.push_str(&wrapped(&format!("     {evidence}"), 5, width));
        }
    }
    if let Some(error) = &record.error {
        out.push_str(&wrapped(&format!("  {error}"), 2, width));
    }
    let caused = |held: &&Versioned| held.record.request_id() == Some(&record.id) && holds_now(&held.record, now);
    for held in holds.iter().filter(caused) {
        out.push_str(&wrapped(&format!("  still held: {}", hold_line(held, now)), 5, width));
    }
    out
}

/// ` (83 % cached)`; nothing where no answer spoke of a cache.
fn cached(usage: &Usage) -> String {
    let share = usage.cached_tokens.zip(usage.input_tokens.filter(|all| *all > 0));
    let share = share.map(|(cached, all)| percent((cached as f64 / all as f64).min(1.0)));
    share.map_or(String::new(), |share| format!(" ({share} % cached)"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::domain::{AttemptKind, Class, Execution};

    fn at(seconds: u64) -> Timestamp {
        let start: Timestamp = "2026-08-23T03:00:00Z".parse().expect("a time");
        start + Duration::from_secs(seconds)
    }

    fn attempt(name: &str, class: Option<Class>, seconds: u64) -> AttemptRecord {
        AttemptRecord {
            deployment: name.parse().expect("a deployment"),
            account: "acme".into(),
            step: 0,
            kind: AttemptKind::First,
            class,
            scope: None,
            dimension: None,
            status: class.map(|_| 429),
            rule: class.map(|_| "groq.tpm".to_owned()),
            evidence: class.map(|_| "Rate limit reached: please try again in a while".to_owned()),
            started_at: at(seconds),
            ttft: None,
            latency: Duration::from_millis(7),
            held_until: class.map(|_| at(3600)),
            usage: Usage::default(),
            cost_usd: None,
            execution: Execution::NotRun,
            given_up: None,
            extracted: None,
            judged: false,
        }
    }

    fn record(attempts: Vec<AttemptRecord>) -> RequestRecord {
        RequestRecord {
            id: "req_1a02c21ae80nfmp3y".into(),
            ladder: "main".into(),
            started_at: at(0),
            latency: Duration::from_secs(2),
            outcome: Outcome::Answered,
            deployment: Some("lab/qwen3-8b@own".parse().expect("a deployment")),
            step: Some(4),
            usage: Usage { input_tokens: Some(70), output_tokens: Some(8), cached_tokens: None },
            cost_usd: Some(0.0125),
            retry_at: None,
            error: None,
            retries_denied: 0,
            attempts,
        }
    }

    #[test]
    fn a_request_is_one_line_where_it_fits() {
        let limited = || attempt("groq/llama@team", Some(Class::RateLimit), 0);
        let requests =
            [record(vec![attempt("lab/qwen3-8b@own", None, 0)]), record(vec![limited(), limited(), limited()])];
        insta::assert_snapshot!(requests_text(&requests, 200), @r"
        2026-08-23T03:00:00Z req_1a02c21ae80nfmp3y answered         2s lab/qwen3-8b@own
        2026-08-23T03:00:00Z req_1a02c21ae80nfmp3y answered         2s lab/qwen3-8b@own after groq rate_limit x3
        ");
        insta::assert_snapshot!(requests_text(&requests, 80), @r"
        2026-08-23T03:00:00Z req_1a02c21ae80nfmp3y answered         2s lab/qwen3-8b@own
        2026-08-23T03:00:00Z req_1a02c21ae80nfmp3y answered         2s lab/qwen3-8b@own
              after groq rate_limit x3
        ");
        insta::assert_snapshot!(requests_text(&requests, 70), @r"
        2026-08-23T03:00:00Z req_1a02c21ae80nfmp3y answered         2s
              lab/qwen3-8b@own
        2026-08-23T03:00:00Z req_1a02c21ae80nfmp3y answered         2s
              lab/qwen3-8b@own
              after groq rate_limit x3
        ");
    }

    #[test]
    fn a_trail_tells_what_came_from_a_cache() {
        for (cached_tokens, told) in [
            (None, "70 tokens in, 8"),
            (Some(0), "70 tokens in (0 % cached), 8"),
            (Some(58), "70 tokens in (83 % cached), 8"),
            (Some(70), "70 tokens in (100 % cached), 8"),
        ] {
            let mut request = record(Vec::new());
            request.usage.cached_tokens = cached_tokens;
            let text = request_text(&request, &[], at(60), 200);
            assert!(text.contains(told), "{text}");
        }
    }

    #[test]
    fn a_trail_tells_all() {
        let request =
            record(vec![attempt("groq/llama@team", Some(Class::RateLimit), 0), attempt("lab/qwen3-8b@own", None, 1)]);
        insta::assert_snapshot!(request_text(&request, &[], at(60), 80), @r"
        request req_1a02c21ae80nfmp3y: answered by lab/qwen3-8b@own
          ladder main, started 2026-08-23T03:00:00Z (1m ago), took 2s, 70 tokens in, 8
          tokens out, $0.0125
          1. +0ms step 0: groq/llama@team rate_limit 429 (first; groq.tpm), held until
             2026-08-23T04:00:00Z (in 59m)
             Rate limit reached: please try again in a while
          2. +1s step 0: lab/qwen3-8b@own answered (first)
        ");
    }
}
