//! A 2xx that is no success: blocked, cut off, empty, or an error in the words of the answer.

use serde_json::Value;

use super::signals::is_event_stream;

/// What the body of a 2xx amounts to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answered {
    /// Nothing was sent.
    Nothing,
    /// It is neither JSON nor events.
    NotJson,
    /// A filter ended it, with the provider's word.
    Blocked(String),
    /// The model failed at its form, with the provider's word.
    Malformed(String),
    /// The provider says that it failed, with its word.
    Failed(String),
    /// There are no words in it.
    Empty,
    /// The token limit ended it before any word, or in the middle.
    Length,
    /// Events ended without an end.
    Cut,
    /// Words of an answer.
    Words(String),
}

/// Reads the body of a success; none when it has no shape of an answer.
pub(crate) fn read(values: &[Value], raw: &str, from_wire: bool, is_success: bool) -> Option<Answered> {
    if raw.trim().is_empty() {
        return is_success.then_some(Answered::Nothing);
    }
    if !from_wire {
        return None;
    }
    let mut seen = Seen::default();
    for value in values {
        seen.walk(value, 0);
    }
    if values.is_empty() || values.iter().all(|value| matches!(value, Value::String(_))) {
        return is_success.then_some(Answered::NotJson);
    }
    if !seen.answer {
        return None;
    }
    let reason = if seen.refused { "refusal".to_owned() } else { seen.reason.to_ascii_lowercase() };
    Some(match reason.as_str() {
        "content_filter"
        | "safety"
        | "recitation"
        | "blocklist"
        | "prohibited_content"
        | "spii"
        | "refusal"
        | "sensitive"
        | "image_safety"
        | "language"
        | "guardrail_intervened" => Answered::Blocked(if seen.refused { reason } else { seen.reason }),
        "malformed_function_call" | "unexpected_tool_call" => Answered::Malformed(seen.reason),
        "error" | "network_error" | "failed" | "abort" => Answered::Failed(seen.reason),
        "length" | "max_tokens" | "max_output_tokens" | "model_length" | "model_context_window_exceeded" => {
            Answered::Length
        }
        _ if seen.broken_call => Answered::Malformed("a tool call without a name, or with broken arguments".to_owned()),
        // Nothing is wrong with it that could be seen here.
        _ if seen.tools => return None,
        _ if seen.text.trim().is_empty() => Answered::Empty,
        "" if is_event_stream(raw) && !raw.contains("[DONE]") && !raw.contains("message_stop") => Answered::Cut,
        _ => Answered::Words(seen.text),
    })
}

/// Whether the values have the shape of an answer: then what stands in them are the model's words, not the provider's.
pub(crate) fn is_answer(values: &[Value]) -> bool {
    const KEYS: &[&str] = &["choices", "candidates", "output", "content", "delta", "content_block", "promptFeedback"];
    values
        .iter()
        .any(|value| KEYS.iter().any(|key| value.get(key).is_some_and(|part| part.is_array() || part.is_object())))
}

/// What was seen of an answer so far.
#[derive(Default)]
struct Seen {
    answer: bool,
    text: String,
    reason: String,
    tools: bool,
    broken_call: bool,
    refused: bool,
}

impl Seen {
    fn walk(&mut self, value: &Value, depth: usize) {
        if depth > 16 {
            return;
        }
        match value {
            Value::Array(items) => items.iter().take(256).for_each(|item| self.walk(item, depth + 1)),
            Value::Object(map) => {
                for (key, value) in map {
                    self.field(key, value, depth);
                }
            }
            _ => {}
        }
    }

    fn field(&mut self, key: &str, value: &Value, depth: usize) {
        match (key, value) {
            (
                "choices" | "candidates" | "content" | "output" | "promptFeedback",
                Value::Array(_) | Value::Object(_),
            ) => {
                self.answer = true;
                self.walk(value, depth + 1);
            }
            (
                "finish_reason" | "finishReason" | "stop_reason" | "blockReason" | "block_reason",
                Value::String(reason),
            ) => {
                self.answer = true;
                if self.reason.is_empty() || !reason.is_empty() {
                    self.reason.clone_from(reason);
                }
            }
            ("content" | "text", Value::String(text)) => {
                self.answer = true;
                if self.text.len() < 4000 {
                    self.text.push_str(text);
                }
            }
            ("refusal", Value::String(text)) if !text.is_empty() => self.refused = true,
            ("tool_calls" | "functionCall" | "function_call", Value::Array(_) | Value::Object(_)) => {
                self.tools |= value.as_array().is_none_or(|calls| !calls.is_empty());
            }
            ("type", Value::String(kind)) if kind == "tool_use" => self.tools = true,
            ("message", Value::Object(message)) => {
                // Those of a stream's pieces are broken by nature.
                let calls = message.get("tool_calls").and_then(Value::as_array);
                self.broken_call |= calls.is_some_and(|calls| calls.iter().any(is_broken));
                self.walk(value, depth + 1);
            }
            ("usage" | "error" | "reasoning_content" | "thinking" | "usageMetadata", _) => {}
            _ => self.walk(value, depth + 1),
        }
    }
}

/// Whether the call, as OpenAI's wire has it, cannot be run.
fn is_broken(call: &Value) -> bool {
    let Some(function) = call.get("function") else { return false };
    let name = function.get("name").and_then(Value::as_str).unwrap_or_default();
    let arguments = function.get("arguments").and_then(Value::as_str).unwrap_or_default().trim();
    let is_object = || serde_json::from_str::<Value>(arguments).is_ok_and(|arguments| arguments.is_object());
    name.is_empty() || !(arguments.is_empty() || is_object())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn called(name: &str, arguments: &str, finish: &str) -> Value {
        let call = json!({"id": "c", "type": "function", "function": {"name": name, "arguments": arguments}});
        json!({"choices": [{"message": {"content": null, "tool_calls": [call]}, "finish_reason": finish}]})
    }

    fn broken() -> Answered {
        Answered::Malformed("a tool call without a name, or with broken arguments".to_owned())
    }

    #[test]
    fn a_whole_call_and_the_pieces_of_one_are_no_failure() {
        let read = |value: Value| read(std::slice::from_ref(&value), &value.to_string(), true, true);
        assert_eq!(read(called("t", "{\"a\": 1}", "tool_calls")), None);
        assert_eq!(read(called("t", "", "tool_calls")), None);
        let piece = json!({"index": 0, "id": "c", "function": {"name": "t", "arguments": "{\"a\": "}});
        assert_eq!(read(json!({"choices": [{"delta": {"tool_calls": [piece]}, "finish_reason": null}]})), None);
    }

    #[test]
    fn answers_that_are_none() {
        for (body, wanted) in [
            (
                json!({"choices":[{"message":{"content":null},"finish_reason":"content_filter"}]}),
                Answered::Blocked("content_filter".into()),
            ),
            (json!({"promptFeedback":{"blockReason":"SAFETY"}}), Answered::Blocked("SAFETY".into())),
            (
                json!({"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL"}]}),
                Answered::Malformed("MALFORMED_FUNCTION_CALL".into()),
            ),
            (json!({"candidates":[{"finishReason":"MAX_TOKENS","content":{}}]}), Answered::Length),
            (
                json!({"candidates":[{"finishReason":"MAX_TOKENS","content":{"parts":[{"functionCall":{"name":"t"}}]}}]}),
                Answered::Length,
            ),
            (
                json!({"stop_reason":"max_tokens","content":[{"type":"tool_use","name":"t","input":{}}]}),
                Answered::Length,
            ),
            (called("t", "{\"a\": ", "stop"), broken()),
            (called("", "{}", "tool_calls"), broken()),
            (called("t", "[]", "tool_calls"), broken()),
            (called("t", "{\"a\": ", "length"), Answered::Length),
            (json!({"choices":[{"message":{"content":""},"finish_reason":"stop"}]}), Answered::Empty),
            (json!({"content":[{"type":"thinking","thinking":"hm"}],"stop_reason":"end_turn"}), Answered::Empty),
            (json!({"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}), Answered::Words("hi".into())),
        ] {
            let raw = body.to_string();
            assert_eq!(read(&[body], &raw, true, true), Some(wanted), "{raw}");
        }
        assert_eq!(read(&[], "", true, true), Some(Answered::Nothing));
        assert_eq!(read(&[], "hello", true, true), Some(Answered::NotJson));
        let stream = "data: {\"choices\":[{\"delta\":{\"content\":\"Hel\"}}]}\n";
        let value = json!({"choices":[{"delta":{"content":"Hel"}}]});
        assert_eq!(read(&[value], stream, true, true), Some(Answered::Cut));
        assert_eq!(read(&[json!({"error":"x"})], "{}", true, true), None);
    }
}
