//! Anthropic's messages.

use serde_json::{Map, Value, json};

use crate::domain::{Answer, ChatRequest, Part, Role, StreamEvent, Usage};

use super::message::{alternating, system_text};
use super::openai::number;
use super::request::{EncodeError, Endpoint, merge_options};
use super::{finish, schema};

/// The answer's length where nobody says one; the wire insists on a number.
const MAX_TOKENS: u64 = 4096;

/// The path below the base URL and the request object.
pub(super) fn encode(
    endpoint: &Endpoint<'_>,
    request: &ChatRequest,
) -> Result<(String, Map<String, Value>), EncodeError> {
    let native = schema::is_native(endpoint);
    let instruction = request.schema.as_ref().filter(|_| !native).map(schema::instruction);
    let ceiling = endpoint.model_info().and_then(|info| info.max_output).unwrap_or(MAX_TOKENS);
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(endpoint.model.as_str()));
    body.insert("max_tokens".to_owned(), json!(endpoint.max_tokens(request).unwrap_or(ceiling)));
    if let Some(system) = system_text(request, instruction.as_deref()) {
        body.insert("system".to_owned(), json!(system));
    }
    body.insert("messages".to_owned(), alternating(request).iter().map(|(role, parts)| turn(*role, parts)).collect());
    if let Some(temperature) = request.temperature {
        // The scale ends at 1 here and at 2 elsewhere; a ladder's request must not be malformed for one of its steps.
        body.insert("temperature".to_owned(), json!(temperature.min(1.0)));
    }
    if !request.stop.is_empty() {
        body.insert("stop_sequences".to_owned(), json!(request.stop));
    }
    if let Some(wanted) = request.schema.as_ref().filter(|_| native) {
        body.insert("output_config".to_owned(), json!({"format": {"type": "json_schema", "schema": wanted}}));
    }
    if request.stream {
        body.insert("stream".to_owned(), json!(true));
    }
    merge_options(&mut body, request, &["messages", "model", "stream"])?;
    Ok(("/messages".to_owned(), body))
}

fn turn(role: Role, parts: &[&Part]) -> Value {
    let role = if role == Role::Assistant { "assistant" } else { "user" };
    let content: Vec<Value> = parts.iter().map(|part| block(part)).collect();
    json!({"role": role, "content": content})
}

fn block(part: &Part) -> Value {
    match part {
        Part::Text(text) => json!({"type": "text", "text": text}),
        Part::Image { media_type, data } => {
            json!({"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}})
        }
    }
}

/// Reads a whole answer.
pub(super) fn decode(body: &Value) -> Option<Answer> {
    let mut answer = Answer {
        finish: finish::read(body.get("stop_reason")),
        usage: usage(body.get("usage")).unwrap_or_default(),
        ..Answer::default()
    };
    for block in body.get("content")?.as_array()? {
        match kind(block) {
            "text" => answer.text.push_str(block.get("text").and_then(Value::as_str).unwrap_or_default()),
            _ => answer.other_content = true,
        }
    }
    Some(answer)
}

/// What one event of a stream says.
pub(super) fn events(event: &Value) -> Vec<StreamEvent> {
    let mut events = Vec::new();
    match kind(event) {
        "message_start" => {
            events.extend(usage(event.pointer("/message/usage")).map(StreamEvent::Usage));
        }
        "content_block_start" => events.extend(content(event.get("content_block"))),
        "content_block_delta" => events.extend(content(event.get("delta"))),
        "message_delta" => {
            events.extend(usage(event.get("usage")).map(StreamEvent::Usage));
            events.extend(finish::read(event.pointer("/delta/stop_reason")).map(StreamEvent::Finish));
        }
        "message_stop" => events.push(StreamEvent::End),
        _ => {}
    }
    events
}

/// A piece of a block: words, or something else that is content.
fn content(piece: Option<&Value>) -> Option<StreamEvent> {
    let piece = piece?;
    match kind(piece) {
        "text" | "text_delta" => {
            let text = piece.get("text").and_then(Value::as_str).unwrap_or_default();
            (!text.is_empty()).then(|| StreamEvent::Text(text.to_owned()))
        }
        "" | "citations_delta" => None,
        _ => Some(StreamEvent::OtherContent),
    }
}

fn kind(value: &Value) -> &str {
    value.get("type").and_then(Value::as_str).unwrap_or_default()
}

/// The count. What came from the cache or went into it is counted apart here and belongs to the input.
fn usage(object: Option<&Value>) -> Option<Usage> {
    let object = object?;
    let field = |name: &str| number(object.get(name));
    let read = field("cache_read_input_tokens");
    let written = field("cache_creation_input_tokens");
    let input = field("input_tokens").map(|n| n.saturating_add(read.unwrap_or(0)).saturating_add(written.unwrap_or(0)));
    let usage = Usage { input_tokens: input, output_tokens: field("output_tokens"), cached_tokens: read };
    (usage != Usage::default()).then_some(usage)
}
