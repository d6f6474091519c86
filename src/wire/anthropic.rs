//! Anthropic's messages: requests.

use serde_json::{Map, Value, json};

use crate::catalog::Wire;
use crate::domain::{ChatRequest, Part, Role, Thinking};

use super::message::{alternating, object, system_text};
use super::request::{EncodeError, Endpoint, merge_options};
use super::schema::{self, Shape};
use super::tools;

/// The answer's length where nobody says one; the wire insists on a number.
const MAX_TOKENS: u64 = 4096;

/// The path below the base URL and the request object.
pub(super) fn encode(
    endpoint: &Endpoint<'_>,
    request: &ChatRequest,
) -> Result<(String, Map<String, Value>), EncodeError> {
    let shape = schema::shape(endpoint, Wire::Anthropic, request);
    let instruction = shape.instruction(request);
    let ceiling = endpoint.model_info().and_then(|info| info.max_output).unwrap_or(MAX_TOKENS);
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(endpoint.model.as_str()));
    body.insert("max_tokens".to_owned(), json!(endpoint.max_tokens(request).unwrap_or(ceiling)));
    if let Some(system) = system_text(request, request.developer.as_deref(), instruction.as_deref()) {
        body.insert("system".to_owned(), json!(system));
    }
    let turns = alternating(request, |part| block(part).is_some());
    if turns.is_empty() {
        return Err(EncodeError::NoMessages);
    }
    body.insert("messages".to_owned(), turns.iter().map(|(role, parts)| turn(*role, parts)).collect());
    if let Some(temperature) = request.temperature {
        // The scale ends at 1 here and at 2 elsewhere; a ladder's request must not be malformed for one of its steps.
        body.insert("temperature".to_owned(), json!(temperature.min(1.0)));
    }
    if !request.stop.is_empty() {
        body.insert("stop_sequences".to_owned(), json!(request.stop));
    }
    if let Shape::Schema(wanted, _) = shape {
        body.insert("output_config".to_owned(), json!({"format": {"type": "json_schema", "schema": wanted}}));
    }
    if !request.tools.is_empty() {
        tools::anthropic(&mut body, request);
    }
    if request.stream {
        body.insert("stream".to_owned(), json!(true));
    }
    merge_options(&mut body, request, &["messages", "model", "stream"])?;
    Ok(("/messages".to_owned(), body))
}

fn turn(role: Role, parts: &[&Part]) -> Value {
    let role = if role == Role::Assistant { "assistant" } else { "user" };
    let content: Vec<Value> = parts.iter().filter_map(|part| block(part)).collect();
    json!({"role": role, "content": content})
}

/// A piece of content; none for what would be refused: thoughts that nobody signed, words of nothing but white space.
fn block(part: &Part) -> Option<Value> {
    Some(match part {
        Part::Text(text) if text.trim().is_empty() => return None,
        Part::Text(text) => json!({"type": "text", "text": text}),
        Part::Image { media_type, data } => {
            json!({"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}})
        }
        Part::ToolCall(call) => {
            json!({"type": "tool_use", "id": call.id, "name": call.name, "input": object(&call.arguments)})
        }
        Part::ToolResult { id, content, is_error: false, .. } => {
            json!({"type": "tool_result", "tool_use_id": id, "content": content})
        }
        Part::ToolResult { id, content, is_error: true, .. } => {
            json!({"type": "tool_result", "tool_use_id": id, "content": content, "is_error": true})
        }
        Part::Thinking(Thinking { redacted: Some(data), .. }) => json!({"type": "redacted_thinking", "data": data}),
        Part::Thinking(Thinking { text, signature, .. }) => {
            json!({"type": "thinking", "thinking": text, "signature": signature.as_ref()?})
        }
    })
}
