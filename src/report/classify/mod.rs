//! Classified failures as JSON, as a table for people, explained, and as totals.

mod explain;
mod help;
mod json;
mod mask;
mod memo;
mod table;
mod totals;
mod worker;

use serde_json::Value;

use crate::classify::Explanation;

pub use help::class_help_lines;
pub use json::{broken_json, explained_json, failure_json};
pub use table::Table;
pub use totals::Totals;
pub use worker::{Output, Shape, Worker};

/// One classified failure with what came along.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The id of the record, as it was given.
    pub id: Option<Value>,
    /// Where it stood: the file's name if there are several, and the line.
    pub place: String,
    /// The line on which it starts, from 1.
    pub line: usize,
    /// The line on which it ends.
    pub end_line: usize,
    /// What it is and why.
    pub explanation: Explanation,
}

/// The record's id, or else where it stood.
fn place(entry: &Entry) -> String {
    match &entry.id {
        Some(Value::String(id)) => id.clone(),
        Some(id) if !id.is_null() => id.to_string(),
        _ => entry.place.clone(),
    }
}

#[cfg(test)]
mod tests;
