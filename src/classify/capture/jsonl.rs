//! One JSON object per line: `{"id","provider","model","status","headers","body","log","at"}`, all optional.

use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::domain::{Evidence, ModelName, ProviderName};

use super::{Broken, Capture};

/// The record on a line. A line that is JSON but no record of ours gives none, unless only records are expected.
pub(super) fn line(line: &[u8], number: usize, strict: bool) -> Option<Result<Capture, Broken>> {
    match serde_json::from_slice(line) {
        Ok(Value::Object(map)) if strict || is_record(&map) => Some(of_object(map, number)),
        _ if strict => Some(Err(Broken { line: number, message: what_is_wrong(line) })),
        _ => None,
    }
}

/// What keeps a line from being a record.
pub(super) fn what_is_wrong(line: &[u8]) -> String {
    match serde_json::from_slice::<serde::de::IgnoredAny>(line) {
        Ok(_) => "no JSON object".to_owned(),
        Err(error) => format!("no JSON: {error}"),
    }
}

/// Whether an object is a record of ours rather than one of a log, or an error as a provider sends it.
pub(super) fn is_record(map: &Map<String, Value>) -> bool {
    const OURS: &[&str] = &["id", "provider", "model", "status", "headers", "body", "log", "at", "name", "expect"];
    const OTHERS: &[&str] =
        &["level", "severity", "time", "timestamp", "@timestamp", "ts", "stream", "error", "message", "msg"];
    let has = |key: &str| map.contains_key(key);
    if map.get("log").is_some_and(Value::is_object) || OTHERS.iter().any(|key| has(key)) {
        return false;
    }
    let holds = has("body") || has("headers") || map.get("log").is_some_and(Value::is_string);
    let says_whose = has("status") && (has("provider") || has("id") || has("model"));
    holds || (says_whose && map.keys().all(|key| OURS.contains(&key.as_str())))
}

/// The record that an object is.
///
/// # Errors
/// When a field makes no sense.
pub(super) fn of_object(mut fields: Map<String, Value>, number: usize) -> Result<Capture, Broken> {
    let evidence = evidence(&mut fields).map_err(|message| Broken { line: number, message })?;
    Ok(Capture { id: fields.shift_remove("id"), line: number, end_line: number, evidence })
}

fn evidence(fields: &mut Map<String, Value>) -> Result<Evidence, String> {
    let word = |key: &str| match fields.get(key) {
        Some(Value::String(text)) if !text.is_empty() => Some(text.clone()),
        _ => None,
    };
    let provider = word("provider").map(ProviderName::new);
    let model = word("model").map(ModelName::new);
    let at = match word("at") {
        Some(text) => Some(text.parse::<Timestamp>().map_err(|_| format!("`at` is no RFC 3339 time: {text}"))?),
        None => None,
    };
    Ok(Evidence {
        provider,
        model,
        status: status(fields.get("status"))?,
        headers: headers(fields.get("headers")),
        body: text(fields.get("body")),
        log: text(fields.get("log")),
        transport: None,
        at,
    })
}

fn status(value: Option<&Value>) -> Result<Option<u16>, String> {
    let number = match value {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Number(number)) => number.as_u64(),
        Some(Value::String(text)) if text.trim().is_empty() => return Ok(None),
        Some(Value::String(text)) => text.trim().parse().ok(),
        Some(_) => None,
    };
    let status = number.and_then(|number| u16::try_from(number).ok());
    match status {
        // Zero is what browsers and some SDKs write when there was no answer.
        Some(0) => Ok(None),
        Some(status) => Ok(Some(status)),
        None => Err("`status` is no HTTP status".to_owned()),
    }
}

/// A body that is no string is the value itself.
fn text(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// An object (values may be lists) or a list of pairs.
fn headers(value: Option<&Value>) -> Vec<(String, String)> {
    match value {
        Some(Value::Object(map)) => map.iter().flat_map(|(name, value)| named(name, value)).collect(),
        Some(Value::Array(items)) => items.iter().flat_map(pair).collect(),
        _ => Vec::new(),
    }
}

fn pair(item: &Value) -> Vec<(String, String)> {
    match item {
        Value::Array(pair) => match pair.as_slice() {
            [Value::String(name), value] => named(name, value),
            _ => Vec::new(),
        },
        // As HAR has them.
        Value::Object(map) => match (map.get("name").and_then(Value::as_str), map.get("value")) {
            (Some(name), Some(value)) => named(name, value),
            _ => map.iter().flat_map(|(name, value)| named(name, value)).collect(),
        },
        _ => Vec::new(),
    }
}

fn named(name: &str, value: &Value) -> Vec<(String, String)> {
    match value {
        Value::Array(values) => values.iter().map(|value| (name.to_owned(), text(Some(value)))).collect(),
        Value::Null => Vec::new(),
        value => vec![(name.to_owned(), text(Some(value)))],
    }
}
