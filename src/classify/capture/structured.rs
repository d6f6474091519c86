//! Logs whose lines are JSON objects: loggers, collectors, container runtimes, OpenTelemetry.
//!
//! They differ in names only. A record says when, how bad, in which words, and with which exception; what is left of it
//! may hold the provider's answer. It becomes the lines that a plain log would have: level and message, the exception's
//! text, and the rest as an object in which the errors are found as in any other.

use std::borrow::Cow;

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::line::{self, Begins, Line};
use super::stamp::{self, Reading};

/// Where loggers say when.
const TIMES: &[&str] = &[
    "time",
    "timestamp",
    "@timestamp",
    "ts",
    "Timestamp",
    "@t",
    "timeUnixNano",
    "observedTimeUnixNano",
    "asctime",
    "datetime",
    "date",
    "instant",
    "timeMillis",
    "__REALTIME_TIMESTAMP",
    "eventTime",
    "receiveTimestamp",
    "t",
];

/// Where loggers say how bad.
const LEVELS: &[&str] = &[
    "level",
    "severity",
    "levelname",
    "lvl",
    "log.level",
    "loglevel",
    "@l",
    "severityText",
    "SeverityText",
    "Level",
    "level_name",
    "LogLevel",
    "log_level",
    "PRIORITY",
    "severityNumber",
];

/// Where loggers put the message.
const MESSAGES: &[&str] = &[
    "message",
    "msg",
    "Message",
    "@m",
    "RenderedMessage",
    "renderedMessage",
    "MESSAGE",
    "event",
    "short_message",
    "textPayload",
    "@message",
    "text",
    "body",
    "Body",
    "@mt",
    "MessageTemplate",
    "exception.message",
    "error.message",
    "full_message",
];

/// Where loggers put the text of an exception, with its trace.
const EXCEPTIONS: &[&str] = &[
    "exc_info",
    "exc_text",
    "exception",
    "Exception",
    "stack",
    "stack_trace",
    "stacktrace",
    "stackTrace",
    "traceback",
    "error.stack_trace",
    "error.stack",
    "exception.stacktrace",
    "@x",
    "errorVerbose",
    "exc",
];

/// What says nothing of a failure, and may hold anything.
const NOISE: &[&str] = &[
    "pid",
    "hostname",
    "thread",
    "caller",
    "logger",
    "logger_name",
    "filename",
    "lineno",
    "funcName",
    "module",
    "pathname",
    "process",
    "processName",
    "threadName",
    "kubernetes",
    "docker",
    "labels",
    "resource",
    "logName",
    "insertId",
    "prompt",
    "messages",
    "request_body",
    "trace_id",
    "span_id",
    "traceId",
    "spanId",
    "v",
    "stream",
    "flags",
    "sourceLocation",
    "@version",
    "ecs.version",
    "agent",
    "host",
    "tags",
];

/// Adds the lines of the record; false when the text is no record of a log.
pub(super) fn add(number: usize, raw: &str, reading: &Reading, out: &mut Vec<Line<'_>>) -> bool {
    if !raw.trim_end().ends_with('}') {
        return false;
    }
    match serde_json::from_str(raw) {
        Ok(Value::Object(map)) => add_object(number, &map, reading, out),
        _ => false,
    }
}

/// Whether the object is a record of a log or a batch of them; if so its lines are added.
pub(super) fn add_object(number: usize, map: &Map<String, Value>, reading: &Reading, out: &mut Vec<Line<'_>>) -> bool {
    for (batch, entry) in [("resourceLogs", "logRecords"), ("resource_logs", "log_records")] {
        if let Some(value) = map.get(batch) {
            let before = out.len();
            each_within(value, entry, 0, &mut |record| {
                add_record(number, &flat(record), reading, out);
            });
            return out.len() > before;
        }
    }
    if let Some(Value::Array(events)) = map.get("events")
        && events.iter().all(|event| event.get("message").is_some())
    {
        for event in events.iter().filter_map(Value::as_object) {
            add_record(number, event, reading, out);
        }
        return !events.is_empty();
    }
    if wraps_a_line(map) {
        return add_wrapped(number, map, reading, out);
    }
    if is_record(map) {
        add_record(number, map, reading, out);
        return true;
    }
    false
}

/// Calls `found` for each object in the lists of that name.
fn each_within(value: &Value, name: &str, depth: usize, found: &mut dyn FnMut(&Map<String, Value>)) {
    if depth > 8 {
        return;
    }
    match value {
        Value::Array(items) => items.iter().for_each(|item| each_within(item, name, depth + 1, found)),
        Value::Object(map) => {
            for (key, value) in map {
                match value {
                    Value::Array(items) if key == name => {
                        items.iter().filter_map(Value::as_object).for_each(&mut *found);
                    }
                    _ => each_within(value, name, depth + 1, found),
                }
            }
        }
        _ => {}
    }
}

/// OpenTelemetry's pairs of keys and typed values as a plain object.
fn flat(record: &Map<String, Value>) -> Map<String, Value> {
    let mut out = Map::new();
    for (key, value) in record {
        match value {
            Value::Array(pairs) if key == "attributes" => {
                for pair in pairs {
                    let name = pair.get("key").and_then(Value::as_str);
                    if let (Some(name), Some(value)) = (name, pair.get("value")) {
                        out.insert(name.to_owned(), untyped(value, 0));
                    }
                }
            }
            value => {
                out.insert(key.clone(), untyped(value, 0));
            }
        }
    }
    out
}

/// `{"stringValue": "x"}` is "x".
fn untyped(value: &Value, depth: usize) -> Value {
    let Some(map) = value.as_object().filter(|map| map.len() == 1 && depth < 16) else { return value.clone() };
    match map.iter().next() {
        Some((key, inner)) if matches!(key.as_str(), "stringValue" | "intValue" | "doubleValue" | "boolValue") => {
            inner.clone()
        }
        Some((key, inner)) if key == "kvlistValue" => {
            let pairs = inner.get("values").and_then(Value::as_array);
            let pairs = pairs.into_iter().flatten().filter_map(|pair| {
                Some((pair.get("key")?.as_str()?.to_owned(), untyped(pair.get("value")?, depth + 1)))
            });
            Value::Object(pairs.collect())
        }
        _ => value.clone(),
    }
}

/// What a container runtime, a collector or the system's journal writes: a line of another log, with its time.
fn wraps_a_line(map: &Map<String, Value>) -> bool {
    let around = ["stream", "time", "kubernetes", "date", "@timestamp", "container_id", "docker"];
    match map.get("log") {
        Some(Value::String(_)) => around.iter().any(|key| map.contains_key(*key)),
        _ => map.contains_key("MESSAGE") && map.keys().any(|key| key.starts_with('_')),
    }
}

fn add_wrapped(number: usize, map: &Map<String, Value>, reading: &Reading, out: &mut Vec<Line<'_>>) -> bool {
    let Some(Value::String(inner)) = map.get("log").or_else(|| map.get("MESSAGE")) else { return false };
    let at = time(map, reading);
    for text in inner.trim_end_matches(['\n', '\r']).split('\n') {
        let mut lines = Vec::new();
        line::inside(number, text, at, reading, &mut lines);
        out.extend(lines.into_iter().map(line::owned));
    }
    true
}

/// A record has a level, or a time and a message.
fn is_record(map: &Map<String, Value>) -> bool {
    let has = |keys: &[&str]| keys.iter().any(|key| map.contains_key(*key));
    has(LEVELS) || (has(TIMES) && (has(MESSAGES) || has(EXCEPTIONS) || map.contains_key("jsonPayload")))
}

fn time(map: &Map<String, Value>, reading: &Reading) -> Option<Timestamp> {
    TIMES.iter().filter_map(|key| map.get(*key)).find_map(|value| stamp::of_value(value, reading))
}

fn add_record(number: usize, map: &Map<String, Value>, reading: &Reading, out: &mut Vec<Line<'_>>) {
    // Cloud loggers put the record of the program into one field of their own.
    let inner = ["jsonPayload", "Properties"].iter().find_map(|key| map.get(*key)).and_then(Value::as_object);
    let at = time(map, reading).or_else(|| inner.and_then(|inner| time(inner, reading)));
    let mut rest = map.clone();
    if let Some(inner) = inner {
        rest.remove("jsonPayload");
        rest.remove("Properties");
        rest.extend(inner.clone());
    }
    let level = take(&mut rest, LEVELS).and_then(|value| level(&value)).unwrap_or("");
    if is_healthy(level, &rest) {
        // What goes well is told with the same words: limits, what is left of them, when to come back.
        rest.clear();
    }
    TIMES.iter().chain(NOISE).for_each(|key| drop(rest.shift_remove(*key)));
    let message = take_text(&mut rest, MESSAGES);
    let exception = take_text(&mut rest, EXCEPTIONS).or_else(|| inner_stack(&mut rest));
    plain_names(&mut rest);
    let mut begins = Begins::Entry;
    let mut push = |text: &str| {
        for text in text.lines() {
            out.push(Line { number, text: Cow::Owned(text.to_owned()), at, begins });
            begins = Begins::No;
        }
    };
    push(format!("{level} {}", message.as_deref().unwrap_or("")).trim());
    push(exception.as_deref().unwrap_or(""));
    if rest.values().any(|value| !value.is_null()) {
        push(&Value::Object(rest).to_string());
    }
}

/// Whether a record of a low level holds no error either. Its message stays: some log failures as information.
fn is_healthy(level: &str, rest: &Map<String, Value>) -> bool {
    const ERRORS: &[&str] = &["err", "error", "exception", "errors", "exc_info", "failure", "reason", "cause"];
    let calm = matches!(level, "INFO" | "DEBUG");
    let status = ["status", "statusCode", "status_code"].iter().find_map(|key| rest.get(*key)).and_then(Value::as_u64);
    let holds = |key: &str| rest.get(key).is_some_and(|value| !value.is_null() && value != false && value != "");
    calm && status.is_none_or(|status| status < 400) && !ERRORS.iter().any(|key| holds(key))
}

fn take(map: &mut Map<String, Value>, keys: &[&str]) -> Option<Value> {
    keys.iter().find_map(|key| map.shift_remove(*key))
}

/// The first of the fields that is a text.
fn take_text(map: &mut Map<String, Value>, keys: &[&str]) -> Option<String> {
    let key = keys.iter().find(|key| map.get(**key).and_then(Value::as_str).is_some_and(|text| !text.is_empty()))?;
    map.shift_remove(*key)?.as_str().map(str::to_owned)
}

/// The trace within an error object: as lines it is read, as one field it would be passed over.
fn inner_stack(rest: &mut Map<String, Value>) -> Option<String> {
    let error =
        ["err", "error", "exception", "thrown"].iter().find(|key| rest.get(**key).is_some_and(Value::is_object))?;
    let error = rest.get_mut(*error)?.as_object_mut()?;
    take_text(error, &["stack", "stack_trace", "stacktrace", "extendedStackTrace", "errorVerbose"])
}

/// The names of conventions under the names that errors have elsewhere.
fn plain_names(rest: &mut Map<String, Value>) {
    const NAMES: &[(&str, &str)] = &[
        ("http.response.status_code", "status_code"),
        ("http.status_code", "status_code"),
        ("exception.message", "message"),
        ("error.message", "message"),
        ("exception.type", "error_type"),
        ("error.type", "error_type"),
        ("error.code", "error_code"),
        ("gen_ai.system", "provider"),
        ("gen_ai.provider.name", "provider"),
        ("http.response.body", "body"),
        ("http.response.body.content", "body"),
    ];
    for (name, plain) in NAMES {
        if let Some(value) = rest.shift_remove(*name) {
            rest.entry(*plain).or_insert(value);
        }
    }
}

/// The level as the word that plain logs use.
fn level(value: &Value) -> Option<&'static str> {
    match value {
        Value::Number(number) => number.as_u64().map(level_of_number),
        Value::String(text) => {
            let lower = text.to_ascii_lowercase();
            if let Ok(number) = lower.parse() {
                return Some(level_of_number(number));
            }
            Some(match lower.get(..3).unwrap_or(&lower) {
                "err" | "sev" | "e" => "ERROR",
                "fat" | "cri" | "eme" | "ale" | "pan" | "f" => "FATAL",
                "war" | "w" => "WARN",
                "deb" | "tra" | "ver" | "d" | "t" => "DEBUG",
                _ => "INFO",
            })
        }
        _ => None,
    }
}

/// Tens are pino's and bunyan's levels, 0 to 7 the journal's; OpenTelemetry's up to 24 overlap with neither in errors.
fn level_of_number(number: u64) -> &'static str {
    match number {
        60.. | 0..=2 | 21..=24 => "FATAL",
        50..=59 | 3 | 17..=19 => "ERROR",
        40..=49 | 4 | 13..=16 => "WARN",
        _ => "INFO",
    }
}
