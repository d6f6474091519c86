//! Gemini's generateContent.

use serde_json::{Map, Value, json};

use crate::domain::{Answer, ChatRequest, Part, Role, StreamEvent, Usage};

use super::message::{alternating, system_text};
use super::openai::number;
use super::request::{EncodeError, Endpoint, merge_options};
use super::trouble::IsFilled;
use super::{finish, schema, url};

/// The path below the base URL and the request object.
pub(super) fn encode(
    endpoint: &Endpoint<'_>,
    request: &ChatRequest,
) -> Result<(String, Map<String, Value>), EncodeError> {
    let native = schema::is_native(endpoint);
    let instruction = request.schema.as_ref().filter(|_| !native).map(schema::instruction);
    let mut body = Map::new();
    if let Some(system) = system_text(request, instruction.as_deref()) {
        body.insert("systemInstruction".to_owned(), json!({"parts": [{"text": system}]}));
    }
    body.insert("contents".to_owned(), alternating(request).iter().map(|(role, parts)| turn(*role, parts)).collect());
    let config = generation_config(endpoint, request, native);
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

fn generation_config(endpoint: &Endpoint<'_>, request: &ChatRequest, native: bool) -> Map<String, Value> {
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
    if let Some(wanted) = request.schema.as_ref().filter(|_| native) {
        config.insert("responseMimeType".to_owned(), json!("application/json"));
        config.insert("responseJsonSchema".to_owned(), wanted.clone());
    }
    config
}

fn turn(role: Role, parts: &[&Part]) -> Value {
    let role = if role == Role::Assistant { "model" } else { "user" };
    let parts: Vec<Value> = parts.iter().map(|part| piece(part)).collect();
    json!({"role": role, "parts": parts})
}

fn piece(part: &Part) -> Value {
    match part {
        Part::Text(text) => json!({"text": text}),
        Part::Image { media_type, data } => json!({"inlineData": {"mimeType": media_type, "data": data}}),
    }
}

/// Reads a whole answer; none when the prompt was blocked or nothing was generated.
pub(super) fn decode(body: &Value) -> Option<Answer> {
    if blocked(body) {
        return None;
    }
    let candidate = body.get("candidates")?.get(0)?;
    let (text, other_content) = content(candidate);
    let finish = finish::read(candidate.get("finishReason"));
    Some(Answer { text, finish, usage: usage(body).unwrap_or_default(), other_content })
}

/// What one event of a stream says.
pub(super) fn events(chunk: &Value) -> Vec<StreamEvent> {
    let mut events = Vec::new();
    let candidate = chunk.get("candidates").and_then(|list| list.get(0)).unwrap_or(&Value::Null);
    let (text, other) = content(candidate);
    if other {
        events.push(StreamEvent::OtherContent);
    }
    if !text.is_empty() {
        events.push(StreamEvent::Text(text));
    }
    events.extend(usage(chunk).map(StreamEvent::Usage));
    if blocked(chunk) {
        events.push(StreamEvent::Error(String::new()));
    }
    events.extend(finish::read(candidate.get("finishReason")).map(StreamEvent::Finish));
    events
}

fn blocked(body: &Value) -> bool {
    body.pointer("/promptFeedback/blockReason").is_some_and(IsFilled::is_filled)
}

/// The words, without the model's thoughts, and whether there is anything else.
fn content(candidate: &Value) -> (String, bool) {
    let parts = candidate.pointer("/content/parts").and_then(Value::as_array);
    let mut text = String::new();
    let mut other = false;
    for part in parts.into_iter().flatten() {
        match part.get("text").and_then(Value::as_str) {
            Some(words) if part.get("thought") != Some(&Value::Bool(true)) => text.push_str(words),
            _ => other = true,
        }
    }
    (text, other)
}

fn usage(body: &Value) -> Option<Usage> {
    let object = body.get("usageMetadata")?;
    let field = |name: &str| number(object.get(name));
    let (words, thoughts) = (field("candidatesTokenCount"), field("thoughtsTokenCount"));
    let output = match (words, thoughts) {
        (None, None) => None,
        (words, thoughts) => Some(words.unwrap_or(0).saturating_add(thoughts.unwrap_or(0))),
    };
    let cached = field("cachedContentTokenCount");
    let usage = Usage { input_tokens: field("promptTokenCount"), output_tokens: output, cached_tokens: cached };
    (usage != Usage::default()).then_some(usage)
}
