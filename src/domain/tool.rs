//! Tools that a request offers, free of any provider's wire format.

use serde_json::Value;

/// A tool that the model may ask to be run.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// By which the model calls it. Any text will do: what a wire does not take is written anew, and calls come back by
    /// this name.
    pub name: String,
    /// What it is good for, for the model to read.
    pub description: String,
    /// The JSON Schema of its arguments, which are always an object.
    pub schema: Value,
}

impl Tool {
    /// How much the model has to read of it, in bytes.
    pub fn size(&self) -> usize {
        self.name.len() + self.description.len() + self.schema.to_string().len()
    }
}

/// Whether the model calls a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolChoice {
    /// As the model likes.
    Auto,
    /// No: it answers in words.
    None,
    /// At least one, whichever it likes.
    Required,
    /// This one.
    Named(String),
}
