//! Readers of captured failures: JSONL records, HAR files, and free log text.

mod har;
mod jsonl;
mod log;
mod tells;

use serde_json::Value;

use crate::domain::Evidence;

/// The form of captured failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// One JSON object per line.
    Jsonl,
    /// Free text, in which the failures must be found.
    Text,
    /// What browsers and proxies export.
    Har,
    /// Whichever of these it looks like.
    #[default]
    Auto,
}

/// One captured failure.
#[derive(Debug, Clone, PartialEq)]
pub struct Capture {
    /// The id that came with it, as it was.
    pub id: Option<Value>,
    /// The line on which it starts, from 1; for HAR the number of the entry.
    pub line: usize,
    /// What is known of it.
    pub evidence: Evidence,
}

/// A record that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct Broken {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub message: String,
}

/// The captured failures in the text, in order.
///
/// # Errors
/// Each record that cannot be read is one error in its place; the others are read all the same.
pub fn read(text: &[u8], format: Format) -> Vec<Result<Capture, Broken>> {
    match format {
        Format::Jsonl => jsonl::read(text),
        Format::Har => har::read(text),
        Format::Text => log::read(&String::from_utf8_lossy(text)).into_iter().map(Ok).collect(),
        Format::Auto => read(text, guess(text)),
    }
}

/// What the text looks like.
fn guess(text: &[u8]) -> Format {
    let first = text.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty()).unwrap_or(b"");
    if let Ok(Value::Object(record)) = serde_json::from_slice(first) {
        let ours = ["body", "log", "headers", "provider"].iter().any(|key| record.contains_key(*key));
        let is_har = record.get("log").is_some_and(Value::is_object);
        return if is_har {
            Format::Har
        } else if ours && !record.contains_key("error") {
            Format::Jsonl
        } else {
            Format::Text
        };
    }
    let head = text.get(..text.len().min(4096)).unwrap_or(text);
    let head = String::from_utf8_lossy(head);
    let is_har = head.trim_start().starts_with('{') && head.contains("\"log\"") && head.contains("\"creator\"");
    if is_har { Format::Har } else { Format::Text }
}

#[cfg(test)]
mod tests;
