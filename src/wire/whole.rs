//! A conversation with what stands beside its messages.
//!
//! Three kinds of objects hold one: what `session show --json` writes, the body of a request as an SDK of Anthropic's sends
//! it, and that of OpenAI's. The first two have their standing instructions beside the messages. What else a body says (the
//! model, tools, a temperature) is not what was said, and llmr has its own means for it; so it is left out, but named: who
//! took the body of a program for a conversation must not believe that all of it was taken.

use serde_json::{Map, Value};

use crate::domain::Message;

use super::conversation::{ConversationError, conversation};

/// What the object of `session show --json` has, and no body of a request.
const OWN: [&str; 2] = ["waits_for", "calls"];

/// A conversation as it was written down.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Whole {
    /// The standing instructions beside the messages.
    pub system: Option<String>,
    /// What was said.
    pub messages: Vec<Message>,
    /// What else the object says, and is left out.
    pub left_out: Vec<String>,
}

/// Reads a list of messages, or an object that holds one as `messages`, and beside it the standing instructions as `system`:
/// a text, or a list of parts of type `text`.
///
/// # Errors
/// When it is none, or holds what cannot be sent.
pub fn whole(value: &Value) -> Result<Whole, ConversationError> {
    let messages = conversation(value)?;
    let Some(object) = value.as_object() else { return Ok(Whole { messages, ..Whole::default() }) };
    let system = object.get("system").map_or(Ok(None), system).map_err(|why| ConversationError { at: None, why })?;
    Ok(Whole { system, messages, left_out: left_out(object) })
}

fn system(value: &Value) -> Result<Option<String>, String> {
    let wrong = || "`system` is neither text nor a list of parts of type `text`".to_owned();
    let text = match value {
        Value::Null => return Ok(None),
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let text = |part: &Value| part.get("text").and_then(Value::as_str).map(str::to_owned);
            parts.iter().map(text).collect::<Option<Vec<_>>>().ok_or_else(wrong)?.join("\n\n")
        }
        _ => return Err(wrong()),
    };
    Ok(Some(text).filter(|text| !text.trim().is_empty()))
}

fn left_out(object: &Map<String, Value>) -> Vec<String> {
    if OWN.iter().all(|key| object.contains_key(*key)) {
        return Vec::new();
    }
    let others =
        object.iter().filter(|(key, value)| !["messages", "system"].contains(&key.as_str()) && !value.is_null());
    others.map(|(key, _)| key.clone()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const SAID: [&str; 1] = ["hi"];

    fn read(beside: Value) -> Result<(Option<String>, Vec<String>), String> {
        let mut object = beside;
        object["messages"] = SAID.iter().map(|words| json!({"role": "user", "content": words})).collect();
        let whole = whole(&object).map_err(|error| error.to_string())?;
        assert_eq!(whole.messages.len(), SAID.len());
        Ok((whole.system, whole.left_out))
    }

    #[test]
    fn standing_instructions_beside_the_messages_are_read() {
        let system = |value: Value| read(json!({"system": value})).map(|(system, _)| system);
        let rules = || Some("RULES".to_owned());
        assert_eq!(system(json!("RULES")), Ok(rules()));
        let cached = json!({"type": "text", "text": "RULES", "cache_control": {"type": "ephemeral"}});
        assert_eq!(system(json!([cached])), Ok(rules()));
        assert_eq!(system(json!([cached, {"type": "text", "text": "MORE"}])), Ok(Some("RULES\n\nMORE".to_owned())));
        assert_eq!((system(json!(null)), system(json!(" ")), system(json!([]))), (Ok(None), Ok(None), Ok(None)));
        for wrong in [json!(1), json!({"text": "RULES"}), json!([{"type": "image"}]), json!(["RULES"])] {
            let why = "`system` is neither text nor a list of parts of type `text`".to_owned();
            assert_eq!(system(wrong.clone()), Err(why), "{wrong}");
        }
    }

    #[test]
    fn what_else_a_body_says_is_named_and_what_we_write_ourselves_is_not() {
        let body = json!({"model": "m", "tools": [], "temperature": null, "system": "s"});
        assert_eq!(read(body).map(|(_, others)| others), Ok(vec!["model".to_owned(), "tools".to_owned()]));
        let own = json!({"name": "s", "ladder": "main", "system": null, "tools": [], "waits_for": "you", "calls": []});
        assert_eq!(read(own), Ok((None, Vec::new())));
    }
}
