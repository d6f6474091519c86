//! The asked shape: a compiled JSON Schema, or JSON of any shape.

use std::fmt;

use serde_json::Value;

use super::schema::{compiled, placed};

/// So many errors are told at most: a model mends what it is told, and the rest is told the next time.
const ERRORS: usize = 8;

/// A compiled schema.
pub struct Shape(Option<jsonschema::Validator>);

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_any() { "any JSON" } else { "a schema" })
    }
}

impl Shape {
    /// Any JSON.
    pub(super) const fn any() -> Self {
        Self(None)
    }

    /// Compiles the schema.
    ///
    /// # Errors
    /// When it is no valid JSON Schema: what is wrong with it and where.
    pub fn new(schema: &Value) -> Result<Self, String> {
        compiled(schema).map(|schema| Self(Some(schema)))
    }

    pub(super) const fn is_any(&self) -> bool {
        self.0.is_none()
    }

    pub(super) fn fits(&self, value: &Value) -> bool {
        self.0.as_ref().is_none_or(|schema| schema.is_valid(value))
    }

    /// What is wrong with the value, each with its place, and how many errors there are besides.
    pub(super) fn errors(&self, value: &Value) -> (Vec<String>, usize) {
        let Some(schema) = &self.0 else { return (Vec::new(), 0) };
        let mut errors = schema.iter_errors(value);
        let first: Vec<String> = errors.by_ref().take(ERRORS).map(|error| placed(&error, "the answer")).collect();
        // A list of a million wrong items is not counted to its end.
        (first, errors.take(1000).count())
    }

    /// Whether the value is not even of the asked type: then it is as a rule no try at an answer.
    pub(super) fn is_of_another_type(&self, value: &Value) -> bool {
        let first = self.0.as_ref().and_then(|schema| schema.iter_errors(value).next());
        first.is_some_and(|error| error.instance_path().to_string().is_empty() && is_about_type(&error))
    }
}

fn is_about_type(error: &jsonschema::ValidationError<'_>) -> bool {
    error.schema_path().to_string().ends_with("/type")
}
