//! What a schema refers to, and how much it asks of whoever compiles it.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// The schemas directly within one.
pub(super) fn within(schema: &Value) -> Vec<&Value> {
    let Some(fields) = schema.as_object() else { return Vec::new() };
    let mut found = Vec::new();
    for (name, value) in fields {
        match (name.as_str(), value) {
            ("properties" | "$defs", Value::Object(named)) => found.extend(named.values()),
            ("anyOf" | "allOf" | "prefixItems", Value::Array(list)) => found.extend(list),
            ("items" | "additionalProperties", Value::Object(_)) => found.push(value),
            _ => {}
        }
    }
    found
}

fn references(schema: &Value) -> Vec<&str> {
    let own = schema.get("$ref").and_then(Value::as_str);
    own.into_iter().chain(within(schema).into_iter().flat_map(references)).collect()
}

/// Whether every reference is to a definition that is here.
pub(super) fn refs_resolve(schema: &Value) -> bool {
    let known = |path: &str| path == "#" || path.strip_prefix("#").is_some_and(|path| schema.pointer(path).is_some());
    references(schema).into_iter().all(known)
}

/// Whether a definition comes back to itself; with `through_optional` off, without a property on the way that may be
/// missing.
pub(super) fn is_recursive(schema: &Value, through_optional: bool) -> bool {
    let Some(fields) = schema.as_object() else { return false };
    let own: Map<String, Value> = fields.iter().filter(|(name, _)| *name != "$defs").map(cloned).collect();
    let own = Value::Object(own);
    let node = |name: &str| if name == "#" { Some(&own) } else { fields.get("$defs")?.get(name) };
    let leads_to = |name: &str| {
        let mut found = BTreeSet::new();
        node(name).into_iter().for_each(|schema| targets(schema, through_optional, &mut found));
        found
    };
    let named = fields.get("$defs").and_then(Value::as_object).into_iter().flat_map(Map::keys);
    named.map(String::as_str).chain(["#"]).any(|start| {
        let (mut seen, mut next) = (BTreeSet::new(), leads_to(start));
        while let Some(name) = next.pop_first() {
            if name == start {
                return true;
            }
            if seen.insert(name.clone()) {
                next.extend(leads_to(&name));
            }
        }
        false
    })
}

fn cloned((name, value): (&String, &Value)) -> (String, Value) {
    (name.clone(), value.clone())
}

/// The definitions that a schema refers to. Whatever is none of them counts as the whole.
fn targets(schema: &Value, through_optional: bool, found: &mut BTreeSet<String>) {
    if let Some(path) = schema.get("$ref").and_then(Value::as_str) {
        found.insert(path.strip_prefix("#/$defs/").unwrap_or("#").to_owned());
    }
    let properties = schema.get("properties");
    let of_optional = optional(schema);
    for one in within(schema) {
        let is_optional = of_optional.iter().any(|name| {
            properties.and_then(|all| all.get(name.as_str())).is_some_and(|property| std::ptr::eq(property, one))
        });
        if through_optional || !is_optional {
            targets(one, through_optional, found);
        }
    }
}

/// The properties that may be missing.
fn optional(schema: &Value) -> Vec<&String> {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &String| required.is_some_and(|list| list.iter().any(|known| known == name.as_str()));
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys);
    properties.filter(|name| !is_required(name)).collect()
}

/// How many properties may be missing, in all of it.
pub(super) fn count_optional(schema: &Value) -> usize {
    optional(schema).len() + within(schema).into_iter().map(count_optional).sum::<usize>()
}

/// How many places take one of several, in all of it.
pub(super) fn count_unions(schema: &Value) -> usize {
    let own = schema.get("anyOf").is_some() || schema.get("type").is_some_and(Value::is_array);
    usize::from(own) + within(schema).into_iter().map(count_unions).sum::<usize>()
}

/// Whether a list of schemas that all hold refers to any of them by name.
pub(super) fn has_named_parts(schema: &Value) -> bool {
    let parts = schema.get("allOf").and_then(Value::as_array);
    parts.is_some_and(|parts| parts.iter().any(|part| !references(part).is_empty()))
        || within(schema).into_iter().any(has_named_parts)
}
