//! OpenAI's chat completions, and all who copy them more or less well: answers.

use serde_json::Value;

use crate::domain::{Answer, Piece, StreamEvent, ToolCall, ToolPiece, Usage};

use super::finish;
use super::trouble::IsFilled;

/// Reads a whole answer; none when there is none or the provider refused.
pub(super) fn decode(body: &Value) -> Option<Answer> {
    let choice = first_choice(body)?;
    let message = choice.get("message").unwrap_or(&Value::Null);
    if has(choice, "error") || refuses(message) {
        return None;
    }
    let (text, reasoning, tool_calls) = (text(message.get("content")), reasoning(message), whole_calls(message));
    let mut order = Vec::new();
    Piece::thought(&mut order, &reasoning);
    Piece::text(&mut order, text.len());
    order.extend(tool_calls.iter().map(|_| Piece::Call));
    Some(Answer {
        text,
        reasoning,
        tool_calls,
        order,
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
        events.extend(Some(reasoning(delta)).filter(|text| !text.is_empty()).map(StreamEvent::Reasoning));
        events.extend(Some(text(delta.get("content"))).filter(|text| !text.is_empty()).map(StreamEvent::Text));
        events.extend(pieces(delta).filter(|piece| !is_empty(piece)).map(StreamEvent::ToolCall));
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

/// What the model thought: in a field of its own whose name differs from server to server, or in parts of the content.
fn reasoning(message: &Value) -> String {
    let field = |name: &str| message.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    if let Some(text) = ["reasoning_content", "reasoning", "thinking"].into_iter().find_map(field) {
        return text.to_owned();
    }
    let list = |name: &str| message.get(name).and_then(Value::as_array).into_iter().flatten();
    let thoughts =
        list("content").filter(|part| kind(part) == "thinking").flat_map(|part| match part.get("thinking") {
            Some(Value::Array(pieces)) => pieces.iter().filter_map(part_text).collect(),
            other => Vec::from_iter(other.and_then(Value::as_str)),
        });
    let details = list("reasoning_details").filter_map(|part| match kind(part) {
        "reasoning.text" => part.get("text")?.as_str(),
        "reasoning.summary" => part.get("summary")?.as_str(),
        _ => None,
    });
    thoughts.chain(details).collect()
}

fn kind(part: &Value) -> &str {
    part.get("type").and_then(Value::as_str).unwrap_or_default()
}

/// The tool calls of a message or pieces of them, and the one call of the oldest servers.
fn pieces(message: &Value) -> impl Iterator<Item = ToolPiece> {
    let calls = message.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
    let calls = (0_u64..).zip(calls).filter_map(|(at, call)| {
        let index = call.get("index").and_then(Value::as_u64).unwrap_or(at);
        let id = call.get("id").and_then(Value::as_str).unwrap_or_default();
        Some(piece(index, id, call.get("function")?))
    });
    calls.chain(message.get("function_call").map(|function| piece(0, "", function)))
}

fn piece(index: u64, id: &str, function: &Value) -> ToolPiece {
    let name = function.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    let arguments = match function.get("arguments") {
        Some(Value::String(text)) => text.clone(),
        // Some forget that it is a text.
        Some(object @ Value::Object(_)) => object.to_string(),
        _ => String::new(),
    };
    ToolPiece { index, id: id.to_owned(), name, arguments }
}

fn is_empty(piece: &ToolPiece) -> bool {
    piece.id.is_empty() && piece.name.is_empty() && piece.arguments.is_empty()
}

fn whole_calls(message: &Value) -> Vec<ToolCall> {
    let call = |ToolPiece { id, name, arguments, .. }| ToolCall { id, name, arguments };
    pieces(message).filter(|piece| !is_empty(piece)).map(call).collect()
}

/// Thoughts that are not shown, and calls and parts of kinds that we do not know.
fn has_other_content(message: &Value) -> bool {
    let list = |name: &str| message.get(name).and_then(Value::as_array).into_iter().flatten();
    let is_odd = |part: &&Value| {
        !part.is_string() && !matches!(kind(part), "" | "text" | "output_text" | "refusal" | "thinking")
    };
    list("reasoning_details").any(|part| kind(part) == "reasoning.encrypted")
        || list("tool_calls").any(|call| call.is_object() && !has(call, "function") && has(call, "id"))
        || list("content").any(|part| is_odd(&part))
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
