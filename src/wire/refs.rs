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

/// How many references within each other are followed, and how many schemas are written at most.
const UNROLLED: usize = 4;
const MOST_WRITTEN: usize = 2000;

/// The schema without names: each definition stands where it is referred to. What comes back to itself ends after a few
/// rounds in what may be anything, and so does what is not here.
pub(super) fn inlined(schema: &Value) -> Value {
    let mut left = MOST_WRITTEN;
    written_out(schema, schema, 0, &mut left)
}

fn written_out(root: &Value, schema: &Value, hops: usize, left: &mut usize) -> Value {
    let Some(fields) = schema.as_object() else { return schema.clone() };
    *left = left.saturating_sub(1);
    if let Some(path) = fields.get("$ref").and_then(Value::as_str) {
        let named = path.strip_prefix('#').and_then(|path| root.pointer(path)).filter(|_| hops < UNROLLED && *left > 0);
        return named.map_or_else(|| Value::Object(Map::new()), |named| written_out(root, named, hops + 1, left));
    }
    let mut one = |schema: &Value| written_out(root, schema, hops, left);
    let below = |(name, value): (&String, &Value)| {
        let value = match (name.as_str(), value) {
            ("properties", Value::Object(named)) => {
                Value::Object(named.iter().map(|(name, schema)| (name.clone(), one(schema))).collect())
            }
            ("anyOf" | "allOf" | "prefixItems", Value::Array(list)) => list.iter().map(&mut one).collect(),
            ("items" | "additionalProperties", Value::Object(_)) => one(value),
            _ => value.clone(),
        };
        (name.clone(), value)
    };
    Value::Object(fields.iter().filter(|(name, _)| *name != "$defs").map(below).collect())
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
