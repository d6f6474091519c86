//! Answers in each wire's real format, as its provider would send them.

use serde_json::{Value, json};

use crate::catalog::Wire;
use crate::domain::Usage;

use super::http::Seen;

/// An answer to be rendered.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rendered<'a> {
    /// The format.
    pub(super) wire: Wire,
    /// The request that it answers.
    pub(super) seen: &'a Seen,
    /// The words in pieces.
    pub(super) chunks: &'a [String],
    /// Why it ended.
    pub(super) finish: &'a str,
    /// Tokens.
    pub(super) usage: Usage,
}

impl Rendered<'_> {
    /// The whole body.
    pub(super) fn whole(&self) -> String {
        let (text, model, finish) = (self.chunks.concat(), self.model(), self.word());
        let body = match self.wire {
            Wire::OpenAi => json!({
                "id": "chatcmpl-rehearsal", "object": "chat.completion", "created": 1_787_443_200, "model": model,
                "choices": [{
                    "index": 0, "message": {"role": "assistant", "content": text}, "logprobs": null,
                    "finish_reason": finish,
                }],
                "usage": self.count(),
            }),
            Wire::Anthropic => json!({
                "id": "msg_rehearsal", "type": "message", "role": "assistant", "model": model,
                "content": [{"type": "text", "text": text}],
                "stop_reason": finish, "stop_sequence": null, "usage": self.count(),
            }),
            Wire::Gemini => self.gemini(&text, Some(finish)),
        };
        body.to_string()
    }

    /// The events that hold the words: what comes before them, and one per piece.
    pub(super) fn pieces(&self) -> Vec<String> {
        let pieces = self.chunks.iter().map(|text| match self.wire {
            Wire::OpenAi => event("", &self.openai(&json!({"content": text}), None)),
            Wire::Anthropic => event(
                "content_block_delta",
                &json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}),
            ),
            Wire::Gemini => event("", &self.gemini(text, None)),
        });
        self.opening().into_iter().chain(pieces).collect()
    }

    /// The events that end an answer properly.
    pub(super) fn ending(&self) -> Vec<String> {
        match self.wire {
            Wire::OpenAi => {
                let mut events = vec![event("", &self.openai(&json!({}), Some(self.word())))];
                if self.seen.body.pointer("/stream_options/include_usage") == Some(&Value::Bool(true)) {
                    let mut last = self.openai(&json!({}), None);
                    if let Some(object) = last.as_object_mut() {
                        object.insert("choices".to_owned(), json!([]));
                        object.insert("usage".to_owned(), self.count());
                    }
                    events.push(event("", &last));
                }
                events.push("data: [DONE]\n\n".to_owned());
                events
            }
            Wire::Anthropic => vec![
                event("content_block_stop", &json!({"type": "content_block_stop", "index": 0})),
                event(
                    "message_delta",
                    &json!({
                        "type": "message_delta", "delta": {"stop_reason": self.word(), "stop_sequence": null},
                        "usage": {"output_tokens": self.usage.output_tokens},
                    }),
                ),
                event("message_stop", &json!({"type": "message_stop"})),
            ],
            Wire::Gemini => vec![event("", &self.gemini("", Some(self.word())))],
        }
    }

    fn opening(&self) -> Vec<String> {
        match self.wire {
            Wire::OpenAi => vec![event("", &self.openai(&json!({"role": "assistant", "content": ""}), None))],
            Wire::Anthropic => vec![
                event(
                    "message_start",
                    &json!({"type": "message_start", "message": {
                        "id": "msg_rehearsal", "type": "message", "role": "assistant", "model": self.model(),
                        "content": [], "stop_reason": null, "stop_sequence": null, "usage": self.count(),
                    }}),
                ),
                event(
                    "content_block_start",
                    &json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
                ),
                event("ping", &json!({"type": "ping"})),
            ],
            Wire::Gemini => Vec::new(),
        }
    }

    fn openai(&self, delta: &Value, finish: Option<&str>) -> Value {
        json!({
            "id": "chatcmpl-rehearsal", "object": "chat.completion.chunk", "created": 1_787_443_200,
            "model": self.model(),
            "choices": [{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}],
        })
    }

    fn gemini(&self, text: &str, finish: Option<&str>) -> Value {
        let mut candidate = json!({"content": {"parts": [{"text": text}], "role": "model"}, "index": 0});
        if let (Some(object), Some(finish)) = (candidate.as_object_mut(), finish) {
            object.insert("finishReason".to_owned(), json!(finish));
        }
        json!({"candidates": [candidate], "usageMetadata": self.count(), "modelVersion": self.model()})
    }

    fn count(&self) -> Value {
        let Usage { input_tokens: input, output_tokens: output, cached_tokens: cached } = self.usage;
        let total = input.unwrap_or(0) + output.unwrap_or(0);
        match self.wire {
            Wire::OpenAi => json!({
                "prompt_tokens": input, "completion_tokens": output, "total_tokens": total,
                "prompt_tokens_details": {"cached_tokens": cached},
            }),
            Wire::Anthropic => json!({
                "input_tokens": input.map(|input| input.saturating_sub(cached.unwrap_or(0))),
                "cache_creation_input_tokens": 0, "cache_read_input_tokens": cached, "output_tokens": output,
            }),
            Wire::Gemini => json!({
                "promptTokenCount": input, "candidatesTokenCount": output, "cachedContentTokenCount": cached,
                "totalTokenCount": total,
            }),
        }
    }

    fn model(&self) -> &str {
        self.seen.model().unwrap_or("rehearsal")
    }

    /// The wire's own word for why it ended; words that it has none for go as they are.
    fn word(&self) -> &str {
        match (self.wire, self.finish) {
            (Wire::Anthropic, "stop") => "end_turn",
            (Wire::Anthropic, "length") => "max_tokens",
            (Wire::Anthropic, "content_filter") => "refusal",
            (Wire::Anthropic, "tool_calls") => "tool_use",
            (Wire::Gemini, "stop" | "tool_calls") => "STOP",
            (Wire::Gemini, "length") => "MAX_TOKENS",
            (Wire::Gemini, "content_filter") => "SAFETY",
            (_, word) => word,
        }
    }
}

/// The wire's own words for being overloaded.
pub(super) fn overloaded(wire: Wire) -> Value {
    match wire {
        Wire::OpenAi => json!({"error": {
            "message": "The server had an error while processing your request. Sorry about that!",
            "type": "server_error", "param": null, "code": null,
        }}),
        Wire::Anthropic => json!({"type": "error", "error": {
            "details": null, "type": "overloaded_error", "message": "Overloaded",
        }}),
        Wire::Gemini => json!({"error": {
            "code": 503, "message": "The model is overloaded. Please try again later.", "status": "UNAVAILABLE",
        }}),
    }
}

/// An error inside a stream.
pub(super) fn error_event(wire: Wire, error: &Value) -> String {
    event(if wire == Wire::Anthropic { "error" } else { "" }, error)
}

fn event(kind: &str, data: &Value) -> String {
    if kind.is_empty() { format!("data: {data}\n\n") } else { format!("event: {kind}\ndata: {data}\n\n") }
}
