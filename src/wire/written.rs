//! Writing a conversation down, so that it can be read again exactly.
//!
//! The form is the one that [`conversation`](super::conversation) reads, in the style of Anthropic's blocks because these
//! keep the order of words, thoughts and calls. Each thought says whose it is. Arguments of calls go as the JSON that
//! they are where nothing is lost by it, else as the text that the model wrote: a call has to go back letter by letter.

use serde_json::{Map, Value, json};

use crate::domain::{Message, Part, Role, Thinking, ToolCall};

/// The messages as a list in JSON, from which `conversation` reads the same messages again.
///
/// That holds for any message that can be said at all: one with parts in it, calls and thoughts on the assistant's side,
/// results on the user's, pictures not among the standing instructions, and ids, names, signatures and data not empty.
pub fn written(messages: &[Message]) -> Value {
    messages.iter().map(message).collect()
}

fn message(message: &Message) -> Value {
    let role = match message.role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    let content = match message.parts.as_slice() {
        [Part::Text(text)] => Value::String(text.clone()),
        parts => parts.iter().map(block).collect(),
    };
    json!({"role": role, "content": content})
}

fn block(part: &Part) -> Value {
    match part {
        Part::Text(text) => json!({"type": "text", "text": text}),
        Part::Image { media_type, data } => {
            json!({"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}})
        }
        Part::ToolCall(call) => {
            json!({"type": "tool_use", "id": call.id, "name": call.name, "input": arguments(call)})
        }
        Part::ToolResult { id, name, content, is_error } => {
            let mut block = json!({"type": "tool_result", "tool_use_id": id, "content": content});
            set(&mut block, "name", name.as_deref());
            if let Some(fields) = block.as_object_mut().filter(|_| *is_error) {
                fields.insert("is_error".to_owned(), json!(true));
            }
            block
        }
        Part::Thinking(thinking) => thought(thinking),
    }
}

fn thought(thinking: &Thinking) -> Value {
    let Thinking { text, signature, redacted, from } = thinking;
    let mut block = match redacted {
        Some(data) => json!({"type": "redacted_thinking", "data": data}),
        None => json!({"type": "thinking"}),
    };
    set(&mut block, "thinking", Some(text.as_str()).filter(|text| redacted.is_none() || !text.is_empty()));
    set(&mut block, "signature", signature.as_deref());
    set(&mut block, "from", from.as_ref().map(ToString::to_string).as_deref());
    block
}

fn set(block: &mut Value, field: &str, text: Option<&str>) {
    let fields: Option<&mut Map<String, Value>> = block.as_object_mut();
    if let (Some(fields), Some(text)) = (fields, text) {
        fields.insert(field.to_owned(), json!(text));
    }
}

/// As an object where writing it gives the same text again.
fn arguments(call: &ToolCall) -> Value {
    let object = serde_json::from_str::<Value>(&call.arguments).ok().filter(Value::is_object);
    let is_same = |object: &Value| serde_json::to_string(object).is_ok_and(|text| text == call.arguments);
    object.filter(is_same).unwrap_or_else(|| json!(call.arguments))
}
