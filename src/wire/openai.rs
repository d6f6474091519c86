//! OpenAI's chat completions, and all who copy them more or less well.

use serde_json::{Map, Value, json};

use crate::domain::{Answer, ChatRequest, Message, Part, Role, StreamEvent, Usage};

use super::message::{system_text, words};
use super::request::{EncodeError, Endpoint, merge_options};
use super::trouble::IsFilled;
use super::{finish, schema};

/// The path below the base URL and the request object.
pub(super) fn encode(
    endpoint: &Endpoint<'_>,
    request: &ChatRequest,
) -> Result<(String, Map<String, Value>), EncodeError> {
    let native = schema::is_native(endpoint);
    let instruction = request.schema.as_ref().filter(|_| !native).map(schema::instruction);
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(endpoint.model.as_str()));
    body.insert("messages".to_owned(), Value::Array(messages(request, instruction.as_deref())));
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
fn messages(request: &ChatRequest, instruction: Option<&str>) -> Vec<Value> {
    let system = system_text(request, instruction).map(|text| json!({"role": "system", "content": text}));
    let turns = request.messages.iter().filter(|message| message.role != Role::System).map(turn);
    system.into_iter().chain(turns).collect()
}

fn turn(message: &Message) -> Value {
    let role = if message.role == Role::Assistant { "assistant" } else { "user" };
    let pictures = message.parts.iter().any(|part| matches!(part, Part::Image { .. }));
    // Words alone go as a plain string: many of the copies know nothing else.
    let content =
        if pictures { Value::Array(message.parts.iter().map(part).collect()) } else { Value::String(words(message)) };
    json!({"role": role, "content": content})
}

fn part(part: &Part) -> Value {
    match part {
        Part::Text(text) => json!({"type": "text", "text": text}),
        Part::Image { media_type, data } => {
            json!({"type": "image_url", "image_url": {"url": format!("data:{media_type};base64,{data}")}})
        }
    }
}

/// Reads a whole answer; none when there is none or the provider refused.
pub(super) fn decode(body: &Value) -> Option<Answer> {
    let choice = first_choice(body)?;
    let message = choice.get("message").unwrap_or(&Value::Null);
    if has(choice, "error") || refuses(message) {
        return None;
    }
    Some(Answer {
        text: text(message.get("content")),
        finish: finish::read(choice.get("finish_reason")),
        usage: usage(body).unwrap_or_default(),
        other_content: has_other_content(message),
    })
}

/// What one event of a stream says. Of several choices only the first is ours: we ask for one.
pub(super) fn events(chunk: &Value) -> Vec<StreamEvent> {
    let mut events = Vec::new();
    if let Some(choice) = first_choice(chunk) {
        // Some servers answer a stream request with whole messages as chunks.
        let delta = choice.get("delta").or_else(|| choice.get("message")).unwrap_or(&Value::Null);
        if has_other_content(delta) {
            events.push(StreamEvent::OtherContent);
        }
        let text = text(delta.get("content"));
        if !text.is_empty() {
            events.push(StreamEvent::Text(text));
        }
        if has(choice, "error") || refuses(delta) {
            events.push(StreamEvent::Error(String::new()));
        }
        events.extend(finish::read(choice.get("finish_reason")).map(StreamEvent::Finish));
    }
    if chunk.pointer("/x_groq/error").is_some_and(IsFilled::is_filled) {
        events.push(StreamEvent::Error(String::new()));
    }
    // The error of an event is told before its finish word, and the count before both.
    if let Some(usage) = usage(chunk) {
        let at = events.iter().position(|event| matches!(event, StreamEvent::Error(_) | StreamEvent::Finish(_)));
        events.insert(at.unwrap_or(events.len()), StreamEvent::Usage(usage));
    }
    events
}

fn first_choice(body: &Value) -> Option<&Value> {
    let first = |choice: &&Value| choice.get("index").and_then(Value::as_i64).unwrap_or(0) == 0;
    body.get("choices")?.as_array()?.iter().find(first)
}

fn has(value: &Value, field: &str) -> bool {
    value.get(field).is_some_and(IsFilled::is_filled)
}

/// A refusal has its own field, or its own kind of part.
fn refuses(message: &Value) -> bool {
    let part = |part: &Value| part.get("type").and_then(Value::as_str) == Some("refusal");
    has(message, "refusal")
        || message.get("content").and_then(Value::as_array).is_some_and(|list| list.iter().any(part))
}

/// The words: a string, or a list of parts of which only the text counts.
fn text(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts.iter().filter_map(part_text).collect(),
        _ => String::new(),
    }
}

fn part_text(part: &Value) -> Option<&str> {
    match part.get("type").and_then(Value::as_str) {
        None | Some("text" | "output_text") => part.get("text").and_then(Value::as_str).or_else(|| part.as_str()),
        Some(_) => None,
    }
}

fn has_other_content(message: &Value) -> bool {
    let thought = |part: &Value| {
        !part.is_string()
            && !matches!(part.get("type").and_then(Value::as_str), None | Some("text" | "output_text" | "refusal"))
    };
    ["reasoning", "reasoning_content", "reasoning_details", "thinking", "tool_calls", "function_call"]
        .iter()
        .any(|field| has(message, field))
        || message.get("content").and_then(Value::as_array).is_some_and(|list| list.iter().any(thought))
}

/// The count, at the usual place or where Groq's streams have it.
fn usage(body: &Value) -> Option<Usage> {
    let object = [body.get("usage"), body.pointer("/x_groq/usage")].into_iter().flatten().find(|v| v.is_object())?;
    let number = |path: &str| number(object.pointer(path));
    let input = number("/prompt_tokens").or_else(|| number("/input_tokens"));
    let output = number("/completion_tokens").or_else(|| number("/output_tokens"));
    // Some leave thinking out of the answer's tokens and show it only in the total.
    let rest = number("/total_tokens").zip(input).map(|(total, input)| total.saturating_sub(input));
    let cached = number("/prompt_tokens_details/cached_tokens").or_else(|| number("/prompt_cache_hit_tokens"));
    let usage =
        Usage { input_tokens: input, output_tokens: output.map(|n| n.max(rest.unwrap_or(0))), cached_tokens: cached };
    (usage != Usage::default()).then_some(usage)
}

/// A count of tokens; some write it as 12.0.
pub(super) fn number(value: Option<&Value>) -> Option<u64> {
    let value = value?;
    value.as_u64().or_else(|| value.as_f64().filter(|n| (0.0..1e15).contains(n)).map(|n| n as u64))
}
