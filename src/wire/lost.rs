//! What a dialect cannot say is said in the description of its place, in the words of JSON Schema.
//!
//! The answer is checked against the whole schema. A bound that reaches the model nowhere is first heard of when the answer
//! has broken it and has been paid for. So whatever limits the answer and is taken out of a schema stands in the description
//! of the place that it was taken from; the official SDKs do so as well (anthropic 2.14.0, `lib/_parse/_transform.py`).

use serde_json::{Map, Value, json};

/// What limits a value. Of other words, such as `default`, nothing depends.
const LIMITS: &[&str] = &[
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "contains",
    "contentEncoding",
    "contentMediaType",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "else",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "if",
    "items",
    "maxContains",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minContains",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "not",
    "oneOf",
    "pattern",
    "patternProperties",
    "prefixItems",
    "properties",
    "propertyNames",
    "required",
    "then",
    "type",
    "unevaluatedItems",
    "unevaluatedProperties",
    "uniqueItems",
];

/// Whether taking the word out loses something that limits a value.
pub(super) fn limits(name: &str, value: &Value) -> bool {
    let says_nothing =
        *value == Value::Bool(true) && name != "uniqueItems" || *value == json!({}) || *value == json!([null]);
    LIMITS.contains(&name) && !says_nothing
}

/// Writes into the description what was taken out. A reference has none, so it belongs to the place around it.
pub(super) fn tell(fields: &mut Map<String, Value>, lost: Map<String, Value>) {
    if lost.is_empty() {
        return;
    }
    let own = fields.get("description").and_then(Value::as_str).unwrap_or_default().trim();
    let told = format!("{own}\n\nMust also satisfy this JSON Schema: {}", Value::Object(lost));
    fields.insert("description".to_owned(), json!(told.trim_start()));
}
