//! By what a call is known again.
//!
//! Providers give calls ids of their own, new ones each time. So a call is known by where it stands: in which
//! conversation and in which of its turns, which tool, with which arguments, and as which of those that are alike there.
//! The arguments count by what they mean, not by how a model happened to write them. A conversation is known by its name
//! and by when it began, so that a new one of an old name shares no keys with the old one.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::domain::{Session, ToolCall};

/// The longest key that is handed to a command as it is, in bytes; others are replaced by a digest.
const LONGEST_KEY: usize = 200;

/// The JSON with the fields of all objects in their order and without white space.
pub fn canonical(value: &Value) -> String {
    sorted(value).to_string()
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(sorted).collect(),
        Value::Object(fields) => {
            let mut names: Vec<&String> = fields.keys().collect();
            names.sort();
            let field = |name: &String| Some((name.clone(), sorted(fields.get(name)?)));
            Value::Object(names.into_iter().filter_map(field).collect::<Map<_, _>>())
        }
        other => other.clone(),
    }
}

/// What a call's arguments mean; what is no JSON stays the text that it is.
pub(super) fn arguments(call: &ToolCall) -> Value {
    serde_json::from_str(&call.arguments).unwrap_or_else(|_| Value::String(call.arguments.clone()))
}

/// The fingerprint of the call at that position of the turn's calls.
pub fn fingerprint(session: &Session, place: u32, calls: &[&ToolCall], position: usize) -> Option<String> {
    fingerprints(session, place, calls).into_iter().nth(position)
}

/// The fingerprints of all calls of the turn, in their order.
pub(super) fn fingerprints(session: &Session, place: u32, calls: &[&ToolCall]) -> Vec<String> {
    let (name, began, place) =
        (session.name.as_str(), session.created_at.as_millisecond().to_string(), place.to_string());
    let mut alike: BTreeMap<(&str, String), usize> = BTreeMap::new();
    let mut prints = Vec::with_capacity(calls.len());
    for call in calls {
        let meant = canonical(&arguments(call));
        let occurrence = alike.entry((call.name.as_str(), meant.clone())).or_default();
        prints.push(digest(&[name, &began, &place, &call.name, &meant, &occurrence.to_string()]));
        *occurrence += 1;
    }
    prints
}

/// A key that a command can find in its environment: without control characters, and not longer than services take.
pub(super) fn fit_key(key: String) -> String {
    let fits = key.len() <= LONGEST_KEY && !key.is_empty() && !key.chars().any(char::is_control);
    if fits { key } else { digest(&[&key]) }
}

/// 128 bits in hexadecimal that tell the parts from others.
fn digest(parts: &[&str]) -> String {
    let mut context = ring::digest::Context::new(&ring::digest::SHA256);
    for part in parts {
        context.update(&(part.len() as u64).to_be_bytes());
        context.update(part.as_bytes());
    }
    context.finish().as_ref().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use jiff::Timestamp;
    use serde_json::json;

    use super::*;
    use crate::domain::TalkSettings;

    fn session(name: &str, began: i64) -> Session {
        let at = Timestamp::from_millisecond(began).expect("a time");
        let settings = TalkSettings::default();
        Session {
            name: name.into(),
            created_at: at,
            updated_at: at,
            holder: String::new(),
            settings,
            turns: 0,
            told: 0,
        }
    }

    fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
        ToolCall { id: id.to_owned(), name: name.to_owned(), arguments: arguments.to_owned() }
    }

    #[test]
    fn arguments_count_by_what_they_mean() {
        assert_eq!(canonical(&json!({"b": [{"d": 1, "c": null}], "a": "x"})), r#"{"a":"x","b":[{"c":null,"d":1}]}"#);
        let one = |arguments: &str| {
            let call = call("c", "f", arguments);
            fingerprint(&session("s", 0), 1, &[&call], 0).expect("one")
        };
        assert_eq!(one(r#"{"a": 1, "b": "ü"}"#), one(r#"{"b":"\u00fc","a":1}"#));
        assert_ne!(one(r#"{"a": 1}"#), one(r#"{"a": "1"}"#));
        assert_ne!(one("{"), one("{{"), "what is no JSON is still told apart");
    }

    #[test]
    fn a_call_is_known_by_where_it_stands_and_not_by_its_id() {
        let (a, b) = (call("1", "f", "{}"), call("2", "f", "{}"));
        let of = |session: &Session, place, calls: &[&ToolCall], at| fingerprint(session, place, calls, at);
        let s = session("s", 0);
        assert_eq!(of(&s, 1, &[&a], 0), of(&s, 1, &[&b], 0), "another provider's id");
        let others = [
            of(&s, 1, &[&a], 0),
            of(&s, 1, &[&a, &b], 1),
            of(&s, 3, &[&a], 0),
            of(&session("t", 0), 1, &[&a], 0),
            of(&session("s", 1), 1, &[&a], 0),
            of(&s, 1, &[&call("1", "g", "{}")], 0),
        ];
        assert_eq!(others.iter().collect::<BTreeSet<_>>().len(), others.len());
        assert_eq!(of(&s, 1, &[&a], 1), None);
        let c = call("3", "g", "{}");
        assert_eq!(of(&s, 1, &[&c, &a], 1), of(&s, 1, &[&a], 0), "what stands beside it makes no difference");
    }

    #[test]
    fn keys_fit_an_environment() {
        assert_eq!(fit_key("deploy-7".to_owned()), "deploy-7");
        for bad in ["a\nb".to_owned(), String::new(), "x".repeat(201)] {
            assert_eq!(fit_key(bad).len(), 32);
        }
    }
}
