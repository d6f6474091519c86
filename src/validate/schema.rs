//! A JSON Schema, compiled: in one way for the shapes of answers and for the arguments of tools.
//!
//! `format` is checked. The standard leaves that to whoever reads the schema, and here it is what the user asked for: a
//! `date` that is none is as wrong as a text that is no number. A format that nobody knows says nothing, as the standard
//! wants it, and neither does one that the draft named by `$schema` does not have yet. Nothing is fetched.

use jsonschema::{EmailOptions, ValidationError, Validator};
use serde_json::Value;

use crate::domain::excerpt;

/// How much of one error is told, in characters: it may quote the value.
const ERROR: usize = 200;

/// Compiles the schema.
///
/// # Errors
/// When it is no valid JSON Schema: what is wrong with it and where.
pub fn compiled(schema: &Value) -> Result<Validator, String> {
    // An address, and not a name with an address in brackets.
    let email = EmailOptions::default().without_display_text();
    let options = jsonschema::options().should_validate_formats(true).with_email_options(email);
    options.build(schema).map_err(|error| placed(&error, "the schema"))
}

/// What is wrong, with its place; `whole` is what the top is called.
pub fn placed(error: &ValidationError<'_>, whole: &str) -> String {
    let at = error.instance_path().to_string();
    let place = if at.is_empty() { whole } else { at.as_str() };
    format!("{place}: {}", excerpt(&error.to_string(), ERROR))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn is_valid(format: &str, value: &str) -> bool {
        let schema = compiled(&json!({"type": "string", "format": format})).expect("a schema");
        schema.is_valid(&json!(value))
    }

    #[test]
    fn formats_are_checked() {
        for (format, good, bad) in [
            ("date", "2024-02-29", "2024-02-30"),
            ("date-time", "2024-02-29T12:00:00Z", "yesterday"),
            ("date-time", "2024-02-29T12:00:00.5+01:00", "2024-02-29T12:00:00"),
            ("time", "12:00:00Z", "noon"),
            ("duration", "P3DT4H", "3 days"),
            ("email", "a.b+c@example.org", "nope"),
            ("email", "a@b.example", "Bob <a@b.example>"),
            ("uuid", "2eb8aa08-aa98-11ea-b4aa-73b441d16380", "x"),
            ("ipv4", "127.0.0.1", "999.1.1.1"),
            ("ipv6", "::1", "12345::"),
            ("hostname", "example.org", "-x-"),
            ("uri", "https://example.org/a?b", "not a uri"),
            ("regex", "^a+$", "("),
            ("json-pointer", "/a/0", "a"),
        ] {
            assert!(is_valid(format, good), "{format}: {good}");
            assert!(!is_valid(format, bad), "{format}: {bad}");
        }
    }

    #[test]
    fn a_format_that_nobody_knows_says_nothing() {
        for format in ["phone", "int32", "markdown", ""] {
            assert!(is_valid(format, "whatever"), "{format}");
        }
        let draft = "http://json-schema.org/draft-07/schema#";
        let old = compiled(&json!({"$schema": draft, "format": "uuid"})).expect("a schema");
        assert!(old.is_valid(&json!("x")), "draft 7 has no such format");
        assert!(compiled(&json!({"format": "date"})).is_ok_and(|schema| schema.is_valid(&json!(7))));
    }

    #[test]
    fn what_is_no_schema_says_where() {
        let nested = json!({"type": "object", "properties": {"a": {"type": "objct"}}});
        for (schema, said) in [
            (json!({"type": "objct"}), "/type: \"objct\" is not"),
            (nested, "/properties/a/type: \"objct\" is not"),
            (json!({"minLength": "3"}), "/minLength: \"3\" is not of type"),
            (json!([]), "the schema: [] is not of types"),
            (json!({"$ref": "https://example.com/a.json"}), "the schema: "),
        ] {
            let error = compiled(&schema).expect_err("no schema");
            assert!(error.starts_with(said), "{schema}: {error}");
        }
    }
}
