//! What older drafts of JSON Schema said in other ways, and what some providers refuse wherever it stands.
//!
//! The tools of a conversation come from many hands, and their schemas from generators of any age. A provider refuses the
//! whole request for one old word in one tool, so the words are replaced, or left out where that only loosens.

use serde_json::{Map, Value, json};

use crate::catalog::Wire;

use super::lost;

/// How deep a schema is followed; what lies deeper stays as it is.
const DEEPEST: usize = 48;

/// How many references at the top are followed.
const HOPS: usize = 8;

/// Words of older drafts, by what they are now.
pub(super) fn modern(mut fields: Map<String, Value>) -> Map<String, Value> {
    // A list by position; what may follow it was another word.
    if fields.get("items").is_some_and(Value::is_array)
        && let Some(list) = fields.remove("items")
    {
        let rest = fields.remove("additionalItems");
        fields.entry("prefixItems").or_insert(list);
        fields.extend(rest.map(|rest| ("items".to_owned(), rest)));
    }
    for (bound, exclusive) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
        if let Some(Value::Bool(is_exclusive)) = fields.get(exclusive).cloned() {
            fields.remove(exclusive);
            if is_exclusive && let Some(number) = fields.remove(bound) {
                fields.insert(exclusive.to_owned(), number);
            }
        }
    }
    if fields.get("required").is_some_and(Value::is_boolean) {
        fields.remove("required");
    }
    // Of which draft it is, is no longer true.
    fields.remove("$schema");
    fields
}

/// Whether the expression looks ahead or back. OpenAI refuses those, in tools as well (vercel/ai pull request 21037, read
/// 2026-11-30: "Invalid JSON schema: regex lookaround is not supported").
pub(super) fn looks_around(pattern: &Value) -> bool {
    pattern.as_str().is_some_and(|text| ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|sign| text.contains(sign)))
}

/// Keywords that hold one schema, several by name, and several in a list.
const ONE: [&str; 9] = [
    "items",
    "additionalProperties",
    "not",
    "if",
    "then",
    "else",
    "contains",
    "propertyNames",
    "unevaluatedProperties",
];
const NAMED: [&str; 5] = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];
const LISTED: [&str; 4] = ["anyOf", "oneOf", "allOf", "prefixItems"];

/// The schema with all its words, but for those that the wire's providers refuse wherever they stand.
pub(super) fn mended(schema: &Value, wire: Wire) -> Value {
    mend(schema, wire, 0)
}

fn mend(schema: &Value, wire: Wire, depth: usize) -> Value {
    let Some(fields) = schema.as_object().filter(|_| depth < DEEPEST) else { return schema.clone() };
    let mut fields = modern(fields.clone());
    let deeper = |schema: &Value| mend(schema, wire, depth + 1);
    for (name, value) in &mut fields {
        match value {
            Value::Object(_) if ONE.contains(&name.as_str()) => *value = deeper(value),
            Value::Object(all) if NAMED.contains(&name.as_str()) => {
                all.values_mut().for_each(|schema| *schema = deeper(schema));
            }
            Value::Array(list) if LISTED.contains(&name.as_str()) => {
                list.iter_mut().for_each(|schema| *schema = deeper(schema));
            }
            _ => {}
        }
    }
    if wire == Wire::OpenAi {
        let mut taken = Map::new();
        if fields.get("pattern").is_some_and(looks_around) {
            taken.extend(fields.remove_entry("pattern"));
        }
        // Positions are not known there, and a list must say what it is of ("array schema missing items").
        if let Some(places) = fields.remove_entry("prefixItems") {
            taken.extend([places].into_iter().chain(fields.remove_entry("items")));
        }
        if taken.contains_key("prefixItems") || (is_list(&fields) && !fields.contains_key("items")) {
            fields.insert("items".to_owned(), json!({}));
        }
        taken.retain(|name, value| lost::limits(name, value));
        lost::tell(&mut fields, taken);
    }
    Value::Object(fields)
}

/// Whether it is said to be a list.
pub(super) fn is_list(fields: &Map<String, Value>) -> bool {
    match fields.get("type") {
        Some(Value::String(kind)) => kind == "array",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "array"),
        _ => false,
    }
}

/// The schema with the definition at its top written out, where it is nothing but a name for that: generators do so for
/// every type that is named.
pub(super) fn without_name(schema: &Value) -> Value {
    let mut schema = schema.clone();
    for _ in 0..HOPS {
        let Some(fields) = schema.as_object() else { return schema };
        let Some(path) = fields.get("$ref").and_then(Value::as_str) else { return schema };
        let beside =
            |name: &str| ["$ref", "$defs", "definitions", "$schema", "$id", "title", "description"].contains(&name);
        let named = path.strip_prefix('#').filter(|path| !path.is_empty()).and_then(|path| schema.pointer(path));
        let (true, Some(Value::Object(named))) = (fields.keys().all(|name| beside(name)), named) else { return schema };
        let mut whole = fields.clone();
        whole.remove("$ref");
        for (name, value) in named {
            whole.entry(name.clone()).or_insert_with(|| value.clone());
        }
        schema = Value::Object(whole);
    }
    schema
}
