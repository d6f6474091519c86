//! Gemini's generateContent: requests.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::catalog::Wire;
use crate::domain::{ChatRequest, Part, Role};

use super::message::{alternating, object, system_text};
use super::request::{EncodeError, Endpoint, merge_options};
use super::schema::{self, Shape};
use super::{tools, url};

/// Stands for a signature at a call that another model made, as the documentation wants it for such conversations.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// The path below the base URL and the request object.
pub(super) fn encode(
    endpoint: &Endpoint<'_>,
    request: &ChatRequest,
) -> Result<(String, Map<String, Value>), EncodeError> {
    let shape = schema::shape(endpoint, Wire::Gemini, request);
    let instruction = shape.instruction(request);
    let mut body = Map::new();
    if let Some(system) = system_text(request, request.developer.as_deref(), instruction.as_deref()) {
        body.insert("systemInstruction".to_owned(), json!({"parts": [{"text": system}]}));
    }
    let names = tool_names(request);
    // From the third generation on, calls without a signature are refused.
    let signs = schema::is_third_generation(endpoint.model.as_str());
    let turns = alternating(request, says_something);
    if turns.is_empty() {
        return Err(EncodeError::NoMessages);
    }
    let contents = turns.iter().map(|(role, parts)| turn(*role, parts, &names, signs));
    body.insert("contents".to_owned(), contents.collect());
    if !request.tools.is_empty() {
        tools::gemini(&mut body, request);
    }
    let config = generation_config(endpoint, request, shape);
    if !config.is_empty() {
        body.insert("generationConfig".to_owned(), Value::Object(config));
    }
    // The model and the manner stand in the path; as fields they would be refused, so they are reserved all the same.
    merge_options(&mut body, request, &["contents", "messages", "model", "stream"])?;
    Ok((path(endpoint.model.as_str(), request.stream)?, body))
}

/// `models/` is understood; tuned models come with a collection of their own.
fn path(model: &str, stream: bool) -> Result<String, EncodeError> {
    let collection = if model.contains('/') { "" } else { "models/" };
    let method = if stream { "streamGenerateContent?alt=sse" } else { "generateContent" };
    Ok(format!("/{collection}{}:{method}", url::model_path(model)?))
}

fn generation_config(endpoint: &Endpoint<'_>, request: &ChatRequest, shape: Shape) -> Map<String, Value> {
    let mut config = Map::new();
    if let Some(tokens) = endpoint.max_tokens(request) {
        config.insert("maxOutputTokens".to_owned(), json!(tokens));
    }
    if let Some(temperature) = request.temperature {
        config.insert("temperature".to_owned(), json!(temperature));
    }
    if !request.stop.is_empty() {
        config.insert("stopSequences".to_owned(), json!(request.stop));
    }
    if matches!(shape, Shape::Schema(..) | Shape::JsonMode) {
        config.insert("responseMimeType".to_owned(), json!("application/json"));
    }
    if let Shape::Schema(wanted, _) = shape {
        config.insert("responseJsonSchema".to_owned(), wanted);
    }
    config
}

/// The tools by the ids of their calls: a result is told by the tool's name here.
fn tool_names(request: &ChatRequest) -> BTreeMap<&str, &str> {
    let parts = request.messages.iter().flat_map(|message| &message.parts);
    let calls = parts.filter_map(|part| match part {
        Part::ToolCall(call) => Some((call.id.as_str(), call.name.as_str())),
        _ => None,
    });
    calls.collect()
}

/// Whether there is anything of it to be sent: of hidden thoughts only their signature goes here.
fn says_something(part: &Part) -> bool {
    !matches!(part, Part::Thinking(thinking) if thinking.text.is_empty() && thinking.signature.is_none())
}

/// One turn. A signature stands where it came: with its thought, or, where it
/// came without one, at the part that follows. Of several calls in a row only the first needs one.
fn turn(role: Role, parts: &[&Part], names: &BTreeMap<&str, &str>, signs: bool) -> Value {
    let mut written: Vec<Value> = Vec::new();
    let mut signature: Option<&str> = None;
    let mut called = false;
    for part in parts {
        let mut piece = match part {
            Part::Thinking(thinking) => {
                match (&thinking.text, thinking.signature.as_deref()) {
                    (text, None) if text.is_empty() => {}
                    (text, None) => written.push(json!({"text": text, "thought": true})),
                    (text, Some(sign)) if text.is_empty() => {
                        written.extend(signature.replace(sign).map(alone));
                    }
                    (text, Some(sign)) => {
                        written.push(json!({"text": text, "thought": true, "thoughtSignature": sign}));
                    }
                }
                continue;
            }
            part => piece(part, names),
        };
        let is_call = matches!(part, Part::ToolCall(_));
        let sign = signature.take().or_else(|| (signs && is_call && !called).then_some(NO_SIGNATURE));
        called |= is_call;
        if let (Some(object), Some(sign)) = (piece.as_object_mut(), sign) {
            object.insert("thoughtSignature".to_owned(), json!(sign));
        }
        written.push(piece);
    }
    written.extend(signature.map(alone));
    let role = if role == Role::Assistant { "model" } else { "user" };
    json!({"role": role, "parts": written})
}

/// Nothing follows that could take the signature: an empty part does.
fn alone(sign: &str) -> Value {
    json!({"text": "", "thoughtSignature": sign})
}

fn piece(part: &Part, names: &BTreeMap<&str, &str>) -> Value {
    match part {
        Part::Text(text) => json!({"text": text}),
        Part::Image { media_type, data } => json!({"inlineData": {"mimeType": media_type, "data": data}}),
        Part::ToolCall(call) => json!({"functionCall": {"name": call.name, "args": object(&call.arguments)}}),
        Part::ToolResult { id, name, content, is_error } => {
            let name = name.as_deref().or_else(|| names.get(id.as_str()).copied()).unwrap_or_default();
            let result = serde_json::from_str::<Value>(content).ok().filter(Value::is_object);
            let response = match (result, is_error) {
                // `error` and `output` mean just that; without either, all of it is the output (the API's reference of
                // `FunctionResponse`; read 2026-11-30).
                (result, true) => json!({"error": result.unwrap_or_else(|| json!(content))}),
                (Some(result), false) if ["output", "error"].iter().all(|key| result.get(key).is_none()) => result,
                (Some(result), false) => json!({"output": result}),
                (None, false) => json!({"result": content}),
            };
            json!({"functionResponse": {"name": name, "response": response}})
        }
        Part::Thinking(thinking) => json!({"text": thinking.text, "thought": true}),
    }
}
