//! OpenAI's chat completions, and all who copy them more or less well: requests.

use serde_json::{Map, Value, json};

use crate::catalog::Wire;
use crate::domain::{ChatRequest, Part, Role, ToolCall};

use super::message::{alternating, system_text};
use super::request::{EncodeError, Endpoint, merge_options};
use super::schema::{self, Shape};
use super::tools;

/// The path below the base URL and the request object.
pub(super) fn encode(
    endpoint: &Endpoint<'_>,
    request: &ChatRequest,
) -> Result<(String, Map<String, Value>), EncodeError> {
    let shape = schema::shape(endpoint, Wire::OpenAi, request);
    let instruction = said_in_words(endpoint, request, &shape);
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
    if !request.tools.is_empty() {
        tools::openai(&mut body, request, endpoint.provider.forces_tools, endpoint.provider.parallel_tools);
    }
    body.extend(response_format(shape).map(|format| ("response_format".to_owned(), format)));
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

fn response_format(shape: Shape) -> Option<Value> {
    Some(match shape {
        Shape::Schema(schema, true) => {
            json!({"type": "json_schema", "json_schema": {"name": "answer", "schema": schema, "strict": true}})
        }
        Shape::Schema(schema, false) => {
            json!({"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}})
        }
        Shape::JsonMode => json!({"type": "json_object"}),
        Shape::Any | Shape::Words => return None,
    })
}

/// What the provider's own fields cannot say: a shape, or that a tool has to be called.
fn said_in_words(endpoint: &Endpoint<'_>, request: &ChatRequest, shape: &Shape) -> Option<String> {
    let choice = request.tool_choice.as_ref().filter(|_| !endpoint.provider.forces_tools && !request.tools.is_empty());
    let texts: Vec<String> = shape.instruction(request).into_iter().chain(choice.and_then(tools::in_words)).collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

/// System texts come first, in one message: several of them, or one in the middle, are refused by some.
fn messages(endpoint: &Endpoint<'_>, request: &ChatRequest, instruction: Option<&str>) -> Vec<Value> {
    let developer = request.developer.as_deref().filter(|text| !text.trim().is_empty());
    let (apart, among) = if endpoint.provider.developer_role { (developer, None) } else { (None, developer) };
    let system = system_text(request, among, instruction).map(|text| json!({"role": "system", "content": text}));
    let developer = apart.map(|text| json!({"role": "developer", "content": text}));
    let mut written: Vec<Value> = system.into_iter().chain(developer).collect();
    let thoughts = endpoint.provider.thoughts_back;
    let takes = |part: &Part| !matches!(part, Part::Thinking(thinking) if !thoughts || thinking.text.is_empty());
    for (role, parts) in alternating(request, takes) {
        // Where a turn was several messages it stays so, unless results or calls are among them, which must not be torn.
        let pieces = if endpoint.provider.alternates { vec![parts.clone()] } else { as_said(request, &parts) };
        written.extend(results(&parts));
        written.extend(pieces.iter().filter_map(|parts| said(role, parts, thoughts)));
    }
    written
}

/// The parts of a turn by the messages that they came in; in one, where it calls tools.
fn as_said<'a>(request: &'a ChatRequest, parts: &[&'a Part]) -> Vec<Vec<&'a Part>> {
    if parts.iter().any(|part| matches!(part, Part::ToolCall(_))) {
        return vec![parts.to_vec()];
    }
    let is_in = |part: &Part| parts.iter().any(|other| std::ptr::eq(*other, part));
    let messages = request.messages.iter().filter(|message| message.parts.iter().any(is_in));
    messages.map(|message| message.parts.iter().filter(|part| is_in(part)).collect()).collect()
}

/// Results of tools are messages of their own here, and come first, for they must follow their calls at once.
fn results(parts: &[&Part]) -> impl Iterator<Item = Value> {
    parts.iter().filter_map(|part| match part {
        Part::ToolResult { id, content, .. } => Some(json!({"role": "tool", "tool_call_id": id, "content": content})),
        _ => None,
    })
}

/// What is said besides. Thoughts have no place in this format that all its copies would take; those who want them back
/// want the field in every answer of the assistant, empty where the thoughts are another's (deepseek, "Thinking mode",
/// and openclaw pull request 74846 for Moonshot; read 2026-11-30).
fn said(role: Role, parts: &[&Part], thoughts: bool) -> Option<Value> {
    let content: Vec<Value> = parts.iter().filter_map(|part| self::part(part)).collect();
    let calls: Vec<Value> = parts.iter().filter_map(|part| call(part)).collect();
    if content.is_empty() && calls.is_empty() && !parts.is_empty() {
        return None;
    }
    let pictures = parts.iter().any(|part| matches!(part, Part::Image { .. }));
    let content = match (content.is_empty(), pictures) {
        (true, _) if !calls.is_empty() => Value::Null,
        (_, true) => Value::Array(content),
        // Words alone go as a plain string: many of the copies know nothing else.
        (_, false) => Value::String(words(parts)),
    };
    let mut own = Map::new();
    own.insert("role".to_owned(), json!(if role == Role::Assistant { "assistant" } else { "user" }));
    own.insert("content".to_owned(), content);
    if thoughts && role == Role::Assistant {
        own.insert("reasoning_content".to_owned(), json!(thought(parts)));
    }
    if !calls.is_empty() {
        own.insert("tool_calls".to_owned(), Value::Array(calls));
    }
    Some(Value::Object(own))
}

fn words(parts: &[&Part]) -> String {
    let texts = parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn thought(parts: &[&Part]) -> String {
    let texts = parts.iter().filter_map(|part| match part {
        Part::Thinking(thinking) => Some(thinking.text.as_str()),
        _ => None,
    });
    texts.collect()
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
