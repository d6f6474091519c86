//! Anthropic's messages: answers.

use serde_json::Value;

use crate::domain::{Answer, Piece, StreamEvent, Thinking, ToolCall, ToolPiece, Usage};

use super::finish;
use super::openai_reply::number;
use super::trouble::IsFilled;

/// Reads a whole answer.
pub(super) fn decode(body: &Value) -> Option<Answer> {
    let mut answer = Answer {
        finish: finish::read(body.get("stop_reason")),
        usage: usage(body.get("usage")).unwrap_or_default(),
        ..Answer::default()
    };
    for block in body.get("content")?.as_array()? {
        let text = |field: &str| block.get(field).and_then(Value::as_str).unwrap_or_default();
        match text("type") {
            "text" => {
                answer.text.push_str(text("text"));
                Piece::text(&mut answer.order, text("text").len());
            }
            "tool_use" => {
                answer.tool_calls.push(ToolCall {
                    id: text("id").to_owned(),
                    name: text("name").to_owned(),
                    arguments: block.get("input").map(Value::to_string).unwrap_or_default(),
                });
                answer.order.push(Piece::Call);
            }
            kind => {
                if kind == "thinking" {
                    answer.reasoning.push_str(text("thinking"));
                    Piece::thought(&mut answer.order, text("thinking"));
                    Piece::signature(&mut answer.order, text("signature"));
                }
                answer.order.extend(redacted(block).map(Piece::Thought));
                // Where the thoughts are not shown, the block alone says that there were some.
                answer.other_content = true;
            }
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
        "content_block_start" => {
            let block = event.get("content_block").unwrap_or(&Value::Null);
            // A block of another kind says by its beginning that the model is at work.
            if !matches!(kind(block), "" | "text" | "tool_use") {
                events.push(StreamEvent::OtherContent);
            }
            events.extend(content(event, block));
            events.extend(redacted(block).map(StreamEvent::Thought));
        }
        "content_block_delta" => {
            events.extend(event.get("delta").into_iter().flat_map(|delta| content(event, delta)));
        }
        "message_delta" => {
            events.extend(usage(event.get("usage")).map(StreamEvent::Usage));
            events.extend(finish::read(event.pointer("/delta/stop_reason")).map(StreamEvent::Finish));
        }
        "message_stop" => events.push(StreamEvent::End),
        _ => {}
    }
    events
}

/// Thoughts that only their maker can read.
fn redacted(block: &Value) -> Option<Thinking> {
    let data = block.get("data").and_then(Value::as_str).filter(|data| !data.is_empty());
    let data = data.filter(|_| kind(block) == "redacted_thinking")?;
    Some(Thinking { redacted: Some(data.to_owned()), ..Thinking::default() })
}

/// What a piece of a block says; nothing where it is empty.
fn content(event: &Value, piece: &Value) -> impl Iterator<Item = StreamEvent> {
    // It comes when the thoughts are over; some have it where they begin, which is the same to us.
    let signature = piece.get("signature").and_then(Value::as_str).filter(|text| !text.is_empty());
    let signature = signature.filter(|_| matches!(kind(piece), "thinking" | "signature_delta"));
    shown(event, piece).into_iter().chain(signature.map(|text| StreamEvent::Signature(text.to_owned())))
}

fn shown(event: &Value, piece: &Value) -> Option<StreamEvent> {
    let text = |field: &str| piece.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    let filled = |text: String| (!text.is_empty()).then_some(text);
    let index = event.get("index").and_then(Value::as_u64).unwrap_or_default();
    match kind(piece) {
        "text" | "text_delta" => filled(text("text")).map(StreamEvent::Text),
        "thinking" | "thinking_delta" => filled(text("thinking")).map(StreamEvent::Reasoning),
        "tool_use" => {
            // Empty as a rule, and then in pieces; some have the whole of it here.
            let input = piece.get("input").filter(|input| input.is_filled()).map(Value::to_string);
            let arguments = input.unwrap_or_default();
            Some(StreamEvent::ToolCall(ToolPiece { index, id: text("id"), name: text("name"), arguments }))
        }
        "input_json_delta" => filled(text("partial_json"))
            .map(|arguments| StreamEvent::ToolCall(ToolPiece { index, arguments, ..ToolPiece::default() })),
        _ => None,
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
