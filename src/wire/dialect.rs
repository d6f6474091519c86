//! A JSON Schema in the part of the language that a wire understands.
//!
//! No provider takes all of JSON Schema, and each refuses what it does not take. So a schema is translated before it is
//! sent, under one rule: the translation may only loosen. Whatever satisfies the schema must satisfy what is sent, so that
//! nobody is forced to answer wrongly; and the answer is checked here, against the whole schema, whoever made it. Where a
//! dialect demands what would tighten the schema (an open object closed, an optional field required), it is not used. What is
//! taken out is told in the description of its place (see `lost`), for the shapes of answers and the arguments of tools alike.

use serde_json::{Map, Value, json};

use crate::catalog::Wire;

use super::drafts::{is_list, looks_around, mended, modern, without_name};
use super::lost;
use super::refs::{count_optional, count_unions, has_named_parts, inlined, is_recursive, refs_resolve, within};

/// How deep a schema is followed; what lies deeper may be anything.
const DEEPEST: usize = 48;

/// What a wire understands. The source of each, read 2026-11-30, is how the official SDK for Python prepares a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dialect {
    /// OpenAI with `strict` (openai 3.57.0, `lib/_pydantic.py`).
    OpenAi,
    /// Anthropic's `output_config.format` (anthropic 2.14.0, `lib/_parse/_transform.py`).
    Anthropic,
    /// Gemini's `responseJsonSchema` and `parametersJsonSchema` (google-genai 3.6.1, `types.py`).
    Gemini,
}

/// Whether a keyword stands in all the dialects.
const COMMON: [&str; 9] =
    ["$ref", "$defs", "type", "title", "description", "properties", "required", "items", "additionalProperties"];

/// Formats of strings that are known to OpenAI and Anthropic.
const FORMATS: [&str; 9] = ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

/// How many properties Anthropic lets be missing, and how many places take one of several, before it refuses to compile the
/// whole (platform.claude.com, "Structured outputs", JSON Schema limitations; inbox-zero issue 2323 and vercel/ai pull
/// request 17268 for the words; read 2026-11-30).
const MOST_OPTIONAL: usize = 24;
const MOST_UNIONS: usize = 16;

/// For OpenAI's strict mode; none where the schema cannot be said in it without being tightened.
pub(super) fn openai_strict(schema: &Value) -> Option<Value> {
    let translated = Dialect::OpenAi.translate(&without_name(schema), 0);
    let is_object = translated.get("type").and_then(Value::as_str) == Some("object");
    let sound =
        is_object && translated.get("anyOf").is_none() && is_closed(&translated, true) && lists_say(&translated);
    (sound && refs_resolve(&translated)).then_some(translated)
}

/// The whole schema, for OpenAI without its strict mode.
pub(super) fn openai_loose(schema: &Value) -> Value {
    mended(&without_name(schema), Wire::OpenAi)
}

/// For Anthropic; none where the schema cannot be said without being tightened, or is too much to be compiled. It knows no
/// recursion, and no name among several schemas that all hold.
pub(super) fn anthropic(schema: &Value) -> Option<Value> {
    let translated = Dialect::Anthropic.translate(&without_name(schema), 0);
    let small = count_optional(&translated) <= MOST_OPTIONAL && count_unions(&translated) <= MOST_UNIONS;
    let known = is_typed(&translated) && !is_recursive(&translated, true) && !has_named_parts(&translated);
    let sound = is_closed(&translated, false) && small && known;
    (sound && refs_resolve(&translated)).then_some(translated)
}

/// For Gemini, which takes open objects and ignores what it does not know, but not everywhere. What comes back to itself
/// must do so through a property that may be missing (discuss.ai.google.dev 68607, read 2026-11-30).
pub(super) fn gemini(schema: &Value) -> Option<Value> {
    let translated = Dialect::Gemini.translate(&without_name(schema), 0);
    (refs_resolve(&translated) && !is_recursive(&translated, false)).then_some(translated)
}

/// The schema of a tool's arguments as the wire's providers take it: an object at the top, without alternatives there.
/// None where the arguments could never be an object.
pub(super) fn arguments(schema: &Value, wire: Wire) -> Option<Value> {
    let schema = match schema {
        Value::Bool(true) | Value::Null => json!({}),
        Value::Object(_) => without_name(schema),
        _ => return None,
    };
    let mut schema = match wire {
        Wire::Gemini => {
            let translated = Dialect::Gemini.translate(&schema, 0);
            // A tool cannot go without its declaration, as a shape can.
            let named = refs_resolve(&translated) && !is_recursive(&translated, false);
            if named { translated } else { inlined(&translated) }
        }
        Wire::OpenAi | Wire::Anthropic => mended(&schema, wire),
    };
    let fields = schema.as_object_mut()?;
    let takes_objects = match fields.get("type") {
        None => true,
        Some(Value::String(kind)) => kind == "object",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "object"),
        Some(_) => false,
    };
    if !takes_objects {
        return None;
    }
    fields.insert("type".to_owned(), json!("object"));
    ALTERNATIVES.iter().for_each(|alternative| drop(fields.remove(*alternative)));
    fields.entry("properties").or_insert_with(|| json!({}));
    Some(schema)
}

/// What may not stand at the top of a tool's schema.
const ALTERNATIVES: [&str; 10] = ["anyOf", "oneOf", "allOf", "not", "enum", "const", "if", "then", "else", "$ref"];

/// Whether some of the schema cannot be said in a declaration, so that the model has to be told of it in words.
pub(super) fn is_cut(schema: &Value) -> bool {
    let schema = without_name(schema);
    ALTERNATIVES.iter().any(|alternative| schema.get(*alternative).is_some())
}

impl Dialect {
    fn knows(self, keyword: &str, fields: &Map<String, Value>) -> bool {
        let value = fields.get(keyword).unwrap_or(&Value::Null);
        match keyword {
            _ if COMMON.contains(&keyword) => true,
            "anyOf" => true,
            "allOf" => self == Self::Anthropic,
            "enum" => match self {
                Self::Gemini => is_list_of(value, |one| one.is_string() || one.is_number()),
                _ => is_list_of(value, |one| !one.is_object() && !one.is_array()),
            },
            "format" => match self {
                Self::Gemini => true,
                Self::Anthropic if value == "uri" => true,
                _ => value.as_str().is_some_and(|format| FORMATS.contains(&format)),
            },
            "pattern" => self == Self::OpenAi && !looks_around(value),
            "multipleOf" | "exclusiveMinimum" | "exclusiveMaximum" => self == Self::OpenAi,
            "minimum" | "maximum" | "maxItems" => self != Self::Anthropic,
            "minItems" => self != Self::Anthropic || value.as_u64().is_some_and(|least| least <= 1),
            "prefixItems" | "$id" | "$anchor" | "propertyOrdering" => self == Self::Gemini,
            _ => false,
        }
    }

    /// The same schema or a looser one, without what is not known; what was taken out is told in its description.
    fn translate(self, schema: &Value, depth: usize) -> Value {
        let Some(fields) = schema.as_object().filter(|_| depth < DEEPEST) else {
            return if schema.is_boolean() { schema.clone() } else { json!({}) };
        };
        let mut fields = renamed(fields);
        if fields.contains_key("$ref") {
            // Nothing may stand beside a reference; leaving out what narrows it only loosens.
            let kept = fields.into_iter().filter(|(name, _)| matches!(name.as_str(), "$ref" | "$defs"));
            return Value::Object(kept.map(|(name, value)| self.below(name, &value, depth)).collect());
        }
        if self == Self::Gemini && has_null_among_words(&fields) {
            fields = one_kind_each(fields);
        }
        let mut lost = self.take_unknown(&mut fields);
        if self == Self::Anthropic {
            fields = one_kind_each(fields);
        }
        lost_beside_names(&fields, &mut lost);
        let mut fields = fields.into_iter().map(|(name, value)| self.below(name, &value, depth)).collect();
        lost::tell(&mut fields, lost);
        Value::Object(fields)
    }

    /// Takes out what is not known; of that, what limits the value.
    fn take_unknown(self, fields: &mut Map<String, Value>) -> Map<String, Value> {
        // Without the patterns that let some names in, a closed object would be tighter than it was.
        let opened = ["patternProperties", "unevaluatedProperties"].iter().any(|name| fields.contains_key(*name));
        // What the rest of a list is, is not what its first places are.
        let placed = fields.contains_key("prefixItems") && !self.knows("prefixItems", fields);
        let (mut kept, mut lost) = (Map::new(), Map::new());
        for (name, value) in &*fields {
            let stays =
                self.knows(name, fields) && !(opened && name == "additionalProperties") && !(placed && name == "items");
            if stays {
                kept.insert(name.clone(), value.clone());
            } else if lost::limits(name, value) {
                lost.insert(name.clone(), value.clone());
            }
        }
        *fields = kept;
        lost
    }

    /// A keyword with the schemas in it translated.
    fn below(self, name: String, value: &Value, depth: usize) -> (String, Value) {
        let one = |schema: &Value| self.translate(schema, depth + 1);
        let value = match (name.as_str(), value) {
            ("properties" | "$defs", Value::Object(named)) => {
                Value::Object(named.iter().map(|(name, schema)| (name.clone(), one(schema))).collect())
            }
            ("anyOf" | "allOf" | "prefixItems", Value::Array(list)) => list.iter().map(one).collect(),
            ("items" | "additionalProperties", schema @ Value::Object(_)) => one(schema),
            _ => value.clone(),
        };
        (name, value)
    }
}

/// What stands beside a reference right below cannot be told there, so it is told here.
fn lost_beside_names(fields: &Map<String, Value>, lost: &mut Map<String, Value>) {
    let narrows = |schema: &Value| {
        let beside = schema.as_object().filter(|beside| beside.contains_key("$ref"));
        beside.is_some_and(|beside| beside.iter().any(|(name, value)| lost::limits(name, value)))
    };
    for (name, value) in fields {
        match (name.as_str(), value) {
            ("properties", Value::Object(named)) => {
                let narrowed = named.iter().filter(|(_, schema)| narrows(schema));
                let narrowed: Map<String, Value> =
                    narrowed.map(|(name, schema)| (name.clone(), schema.clone())).collect();
                if !narrowed.is_empty() {
                    lost.insert(name.clone(), Value::Object(narrowed));
                }
            }
            ("anyOf" | "allOf" | "prefixItems", Value::Array(list)) if list.iter().any(narrows) => {
                lost.insert(name.clone(), value.clone());
            }
            ("items" | "additionalProperties", schema) if narrows(schema) => {
                lost.insert(name.clone(), value.clone());
            }
            _ => {}
        }
    }
}

/// Whether nothing is one of several listed values, and they are of several kinds: Gemini lists texts and numbers alone.
fn has_null_among_words(fields: &Map<String, Value>) -> bool {
    let values = fields.get("enum").and_then(Value::as_array);
    values.is_some_and(|values| {
        values.contains(&Value::Null)
            && values.len() > 1
            && values.iter().all(|value| value.is_null() || value.is_string() || value.is_number())
    })
}

/// Keywords that mean the same, or less, in words that more of them know.
fn renamed(fields: &Map<String, Value>) -> Map<String, Value> {
    let mut fields = modern(fields.clone());
    if let Some(only) = fields.remove("const") {
        fields.insert("enum".to_owned(), json!([only]));
    }
    // Some want the kind said even of values that are listed.
    if let Some(kind) = fields.get("enum").and_then(Value::as_array).and_then(|values| kinds_of(values))
        && !fields.contains_key("type")
    {
        fields.insert("type".to_owned(), kind);
    }
    // One of several, exactly, is at least one of them.
    if !fields.contains_key("anyOf")
        && let Some(several) = fields.remove("oneOf")
    {
        fields.insert("anyOf".to_owned(), several);
    }
    if let Some(named) = fields.remove("definitions") {
        fields.entry("$defs").or_insert(named);
    }
    if let Some(path) = fields.get("$ref").and_then(Value::as_str).and_then(|path| path.strip_prefix("#/definitions/"))
    {
        let path = format!("#/$defs/{path}");
        fields.insert("$ref".to_owned(), json!(path));
    }
    // OpenAPI's word for it.
    if fields.remove("nullable") == Some(Value::Bool(true))
        && let Some(kind) = fields.get("type").filter(|kind| kind.is_string()).cloned()
    {
        fields.insert("type".to_owned(), json!([kind, "null"]));
        if let Some(Value::Array(values)) = fields.get_mut("enum")
            && !values.contains(&Value::Null)
        {
            values.push(Value::Null);
        }
    }
    // A list of one is that one.
    if let Some(Value::Array(list)) = fields.get("allOf")
        && let [Value::Object(only)] = list.as_slice()
    {
        let only = only.clone();
        if only.keys().all(|name| !fields.contains_key(name)) {
            fields.remove("allOf");
            fields.extend(only);
            return renamed(&fields);
        }
    }
    fields
}

/// Several kinds in one word, as alternatives of one kind each, which Anthropic wants.
fn one_kind_each(mut fields: Map<String, Value>) -> Map<String, Value> {
    let Some(Value::Array(kinds)) = fields.get("type").cloned() else { return fields };
    if fields.contains_key("anyOf") {
        return fields;
    }
    let described = fields.remove("description");
    let alternative = |kind: Value| {
        let foreign: &[&str] = match kind.as_str() {
            Some("object") => &["items", "minItems", "format"],
            Some("array") => &["properties", "required", "additionalProperties", "format"],
            Some("string") => &["properties", "required", "additionalProperties", "items", "minItems"],
            _ => &["properties", "required", "additionalProperties", "items", "minItems", "format"],
        };
        let mut one = fields.clone();
        one.retain(|name, _| !foreign.contains(&name.as_str()) && name != "$defs");
        if let Some(Value::Array(values)) = one.get_mut("enum") {
            values.retain(|value| is_of(value, &kind));
            if values.is_empty() {
                return None;
            }
        }
        one.insert("type".to_owned(), kind);
        Some(Value::Object(one))
    };
    let alternatives: Vec<Value> = kinds.into_iter().filter_map(alternative).collect();
    let mut whole = match <[Value; 1]>::try_from(alternatives) {
        Ok([Value::Object(only)]) => only,
        Ok(other) => Map::from_iter([("anyOf".to_owned(), other.into_iter().collect())]),
        Err(several) => Map::from_iter([("anyOf".to_owned(), Value::Array(several))]),
    };
    whole.extend(fields.get("$defs").cloned().map(|named| ("$defs".to_owned(), named)));
    whole.extend(described.map(|text| ("description".to_owned(), text)));
    whole
}

/// The kinds that the values of a list are of: one word, or several; none where some are lists or objects.
fn kinds_of(values: &[Value]) -> Option<Value> {
    let mut kinds: Vec<&str> = Vec::new();
    for value in values {
        let kind = kind_of(value)?;
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    // A whole number is a number.
    if kinds.contains(&"number") {
        kinds.retain(|kind| *kind != "integer");
    }
    match kinds.as_slice() {
        [] => None,
        [one] => Some(json!(one)),
        several => Some(json!(several)),
    }
}

fn kind_of(value: &Value) -> Option<&'static str> {
    match value {
        Value::Null => Some("null"),
        Value::Bool(_) => Some("boolean"),
        Value::Number(number) if number.is_i64() || number.is_u64() => Some("integer"),
        Value::Number(_) => Some("number"),
        Value::String(_) => Some("string"),
        Value::Array(_) | Value::Object(_) => None,
    }
}

/// Whether a value is of the kind, as far as can be said by its form alone.
fn is_of(value: &Value, kind: &Value) -> bool {
    kind_of(value).is_none_or(|own| kind == own || (value.is_number() && (kind == "number" || kind == "integer")))
}

fn is_list_of(value: &Value, is: impl Fn(&Value) -> bool) -> bool {
    value.as_array().is_some_and(|list| !list.is_empty() && list.iter().all(is))
}

/// Whether every object is closed, and, if so wanted, every property of it required.
fn is_closed(schema: &Value, all_required: bool) -> bool {
    let kinds = schema.get("type");
    let is_object = kinds.is_some_and(|kinds| {
        kinds == "object" || kinds.as_array().is_some_and(|list| list.iter().any(|kind| kind == "object"))
    });
    let properties = schema.get("properties").and_then(Value::as_object);
    let required = |name: &String| {
        let list = schema.get("required").and_then(Value::as_array);
        list.is_some_and(|list| list.iter().any(|known| known == name.as_str()))
    };
    let closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
    let complete = !all_required || properties.is_none_or(|properties| properties.keys().all(required));
    let fits = (!is_object && properties.is_none()) || (closed && complete);
    // What may be anything may be an open object.
    let says = schema
        .as_object()
        .is_some_and(|fields| ["type", "anyOf", "allOf", "enum", "$ref"].iter().any(|name| fields.contains_key(*name)));
    fits && says && within(schema).into_iter().all(|schema| is_closed(schema, all_required))
}

/// Whether every list says what it is of, as OpenAI wants it.
fn lists_say(schema: &Value) -> bool {
    let says = schema.as_object().is_none_or(|fields| !is_list(fields) || fields.contains_key("items"));
    says && within(schema).into_iter().all(lists_say)
}

/// Whether each kind is one word, as Anthropic wants it.
fn is_typed(schema: &Value) -> bool {
    let one_word = schema.get("type").is_none_or(Value::is_string);
    one_word && within(schema).into_iter().all(is_typed)
}

#[cfg(test)]
#[path = "dialect_tests.rs"]
mod tests;
