//! Gemini's generateContent: answers.

use serde_json::Value;

use crate::domain::{Answer, Piece, StreamEvent, Thinking, ToolCall, ToolPiece, Usage};

use super::calls::hashed;
use super::finish;
use super::openai_reply::number;
use super::trouble::IsFilled;

/// Reads a whole answer; none when the prompt was blocked or nothing was generated.
pub(super) fn decode(body: &Value) -> Option<Answer> {
    if blocked(body) {
        return None;
    }
    let candidate = body.get("candidates")?.get(0)?;
    let finish = finish::read(candidate.get("finishReason"));
    let mut answer = Answer { finish, usage: usage(body).unwrap_or_default(), ..Answer::default() };
    for event in content(body, candidate) {
        match event {
            StreamEvent::Text(text) => {
                answer.text.push_str(&text);
                Piece::text(&mut answer.order, text.len());
            }
            StreamEvent::Reasoning(text) => {
                answer.reasoning.push_str(&text);
                Piece::thought(&mut answer.order, &text);
            }
            StreamEvent::Signature(signature) => Piece::signature(&mut answer.order, &signature),
            StreamEvent::Thought(thinking) => answer.order.push(Piece::Thought(thinking)),
            StreamEvent::ToolCall(ToolPiece { id, name, arguments, .. }) => {
                answer.tool_calls.push(ToolCall { id, name, arguments });
                answer.order.push(Piece::Call);
            }
            _ => answer.other_content = true,
        }
    }
    Some(answer)
}

/// What one event of a stream says.
pub(super) fn events(chunk: &Value) -> Vec<StreamEvent> {
    let candidate = chunk.get("candidates").and_then(|list| list.get(0)).unwrap_or(&Value::Null);
    let mut events = content(chunk, candidate);
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

/// What the parts say, in order. Calls come whole, also in streams. A signature may stand at any part, most often at a
/// call, and has to go back at the same.
fn content(body: &Value, candidate: &Value) -> Vec<StreamEvent> {
    let parts = candidate.pointer("/content/parts").and_then(Value::as_array);
    let response = body.get("responseId").and_then(Value::as_str).unwrap_or_default();
    let mut events = Vec::new();
    for (index, part) in (0_u64..).zip(parts.into_iter().flatten()) {
        let thought = part.get("thought") == Some(&Value::Bool(true));
        let signature = part.get("thoughtSignature").and_then(Value::as_str).filter(|text| !text.is_empty());
        let follows = signature.filter(|_| !thought).map(|text| Some(text.to_owned()));
        events.extend(follows.map(|signature| StreamEvent::Thought(Thinking { signature, ..Thinking::default() })));
        if let Some(text) = part.get("text").and_then(Value::as_str) {
            if !text.is_empty() {
                let event = if thought { StreamEvent::Reasoning } else { StreamEvent::Text };
                events.push(event(text.to_owned()));
            }
        } else if let Some(call) = part.get("functionCall") {
            events.push(StreamEvent::ToolCall(function_call(call, index, response)));
        } else if part.as_object().is_some_and(|fields| fields.keys().any(|field| field != "thoughtSignature")) {
            events.push(StreamEvent::OtherContent);
        }
        events.extend(signature.filter(|_| thought).map(|text| StreamEvent::Signature(text.to_owned())));
    }
    events
}

/// Not all models give their calls an id. One is made of what tells this call from those of other answers.
fn function_call(call: &Value, index: u64, response: &str) -> ToolPiece {
    let text = |field: &str| call.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    let arguments = call.get("args").map_or_else(|| "{}".to_owned(), Value::to_string);
    let (mut id, name) = (text("id"), text("name"));
    if id.is_empty() && !response.is_empty() {
        id = format!("call_{}", hashed(&[response, &index.to_string(), &name, &arguments], 16));
    }
    ToolPiece { index, id, name, arguments }
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
