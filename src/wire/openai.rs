//! OpenAI's chat completions, and all who copy them more or less well: requests.

use serde_json::{Map, Value, json};

use crate::domain::{ChatRequest, Message, Part, Role, ToolCall};

use super::message::{system_text, words};
use super::request::{EncodeError, Endpoint, merge_options};
use super::schema;

/// The path below the base URL and the request object.
pub(super) fn encode(
    endpoint: &Endpoint<'_>,
    request: &ChatRequest,
) -> Result<(String, Map<String, Value>), EncodeError> {
    let native = schema::is_native(endpoint);
    let instruction = request.schema.as_ref().filter(|_| !native).map(schema::instruction);
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(endpoint.model.as_str()));
    body.insert("messages".to_owned(), Value::Array(messages(endpoint, request, instruction.as_deref())));
    if let Some(tokens) = endpoint.max_tokens(request) {
        body.insert(endpoint.provider.max_tokens_field.clone(), json!(tokens));
    }
    if let Some(temperature) = request.temperature {
        body.insert("temperature".to_owned(), json!(temperature));
    }
    if !request.stop.is_empty() {
        body.insert("stop".to_owned(), json!(request.stop));
    }
    if let Some(wanted) = request.schema.as_ref().filter(|_| native) {
        let shape = if schema::is_strict(wanted) {
            json!({"name": "answer", "schema": wanted, "strict": true})
        } else {
            json!({"name": "answer", "schema": wanted})
        };
        body.insert("response_format".to_owned(), json!({"type": "json_schema", "json_schema": shape}));
    }
    if request.stream {
        body.insert("stream".to_owned(), json!(true));
        if counts_only_when_asked(endpoint) {
            body.insert("stream_options".to_owned(), json!({"include_usage": true}));
        }
    }
    merge_options(&mut body, request, &["messages", "model", "stream"])?;
    Ok(("/chat/completions".to_owned(), body))
}

/// Whether a stream counts tokens only when asked to. Mistral always does, and refuses the question with a 422.
fn counts_only_when_asked(endpoint: &Endpoint<'_>) -> bool {
    endpoint.provider.name != "mistral" && !endpoint.base_url.contains("mistral.ai")
}

/// System texts come first, in one message: several of them, or one in the middle, are refused by some.
fn messages(endpoint: &Endpoint<'_>, request: &ChatRequest, instruction: Option<&str>) -> Vec<Value> {
    let developer = request.developer.as_deref().filter(|text| !text.trim().is_empty());
    let (apart, among) = if endpoint.provider.developer_role { (developer, None) } else { (None, developer) };
    let system = system_text(request, among, instruction).map(|text| json!({"role": "system", "content": text}));
    let developer = apart.map(|text| json!({"role": "developer", "content": text}));
    let turns = request.messages.iter().filter(|message| message.role != Role::System).flat_map(turn);
    system.into_iter().chain(developer).chain(turns).collect()
}

/// The messages that one of ours becomes: results of tools are messages of their own here, and come first, for they must
/// follow their calls at once. Thoughts have no place in this format that all its copies would take.
fn turn(message: &Message) -> Vec<Value> {
    let results = message.parts.iter().filter_map(|part| match part {
        Part::ToolResult { id, content, .. } => Some(json!({"role": "tool", "tool_call_id": id, "content": content})),
        _ => None,
    });
    let mut written: Vec<Value> = results.collect();
    let said: Vec<Value> = message.parts.iter().filter_map(part).collect();
    let calls: Vec<Value> = message.parts.iter().filter_map(call).collect();
    if said.is_empty() && calls.is_empty() && !message.parts.is_empty() {
        return written;
    }
    let role = if message.role == Role::Assistant { "assistant" } else { "user" };
    let pictures = message.parts.iter().any(|part| matches!(part, Part::Image { .. }));
    let content = match (said.is_empty(), pictures) {
        (true, _) if !calls.is_empty() => Value::Null,
        (_, true) => Value::Array(said),
        // Words alone go as a plain string: many of the copies know nothing else.
        (_, false) => Value::String(words(message)),
    };
    let mut own = json!({"role": role, "content": content});
    if let Some(object) = own.as_object_mut().filter(|_| !calls.is_empty()) {
        object.insert("tool_calls".to_owned(), Value::Array(calls));
    }
    written.push(own);
    written
}

fn part(part: &Part) -> Option<Value> {
    match part {
        Part::Text(text) => Some(json!({"type": "text", "text": text})),
        Part::Image { media_type, data } => {
            Some(json!({"type": "image_url", "image_url": {"url": format!("data:{media_type};base64,{data}")}}))
        }
        Part::ToolCall(_) | Part::ToolResult { .. } | Part::Thinking(_) => None,
    }
}

fn call(part: &Part) -> Option<Value> {
    match part {
        Part::ToolCall(ToolCall { id, name, arguments }) => {
            Some(json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}))
        }
        _ => None,
    }
}
