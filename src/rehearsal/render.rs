//! Answers in each wire's real format, as its provider would send them.

use serde_json::{Value, json};

use crate::catalog::Wire;
use crate::domain::{ToolCall, Usage};

use super::http::Seen;

/// A signature as thoughts carry one.
const SIGNATURE: &str = "cmVoZWFyc2Fs";

/// What an answer says.
#[derive(Debug, Clone, Copy)]
pub(super) struct Said<'a> {
    /// The words in pieces.
    pub(super) chunks: &'a [String],
    /// What the model thought before.
    pub(super) reasoning: Option<&'a str>,
    /// The tools that it wants to be run after its words.
    pub(super) tool_calls: &'a [ToolCall],
}

impl<'a> Said<'a> {
    /// Words alone.
    pub(super) fn words(chunks: &'a [String]) -> Self {
        Self { chunks, reasoning: None, tool_calls: &[] }
    }

    /// How much it is.
    pub(super) fn bytes(self) -> usize {
        let words: usize = self.chunks.iter().map(String::len).sum();
        let calls: usize = self.tool_calls.iter().map(|call| call.name.len() + call.arguments.len()).sum();
        words + calls + self.reasoning.map_or(0, str::len)
    }
}

/// An answer to be rendered.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rendered<'a> {
    /// The format.
    pub(super) wire: Wire,
    /// The request that it answers.
    pub(super) seen: &'a Seen,
    /// What it says.
    pub(super) said: Said<'a>,
    /// Why it ended.
    pub(super) finish: &'a str,
    /// Tokens.
    pub(super) usage: Usage,
}

impl Rendered<'_> {
    /// The whole body.
    pub(super) fn whole(&self) -> String {
        let (model, finish) = (self.model(), self.word());
        let body = match self.wire {
            Wire::OpenAi => json!({
                "id": "chatcmpl-rehearsal", "object": "chat.completion", "created": 1_787_443_200, "model": model,
                "choices": [{
                    "index": 0, "message": self.openai_message(), "logprobs": null, "finish_reason": finish,
                }],
                "usage": self.count(),
            }),
            Wire::Anthropic => json!({
                "id": "msg_rehearsal", "type": "message", "role": "assistant", "model": model,
                "content": self.blocks().iter().map(Block::whole).collect::<Vec<_>>(),
                "stop_reason": finish, "stop_sequence": null, "usage": self.count(),
            }),
            Wire::Gemini => self.gemini(&self.gemini_parts(), Some(finish)),
        };
        body.to_string()
    }

    /// The events that hold the content: what comes before it, and one per piece.
    pub(super) fn pieces(&self) -> Vec<String> {
        match self.wire {
            Wire::OpenAi => self.openai_pieces(),
            Wire::Anthropic => self.anthropic_pieces(),
            Wire::Gemini => {
                let thoughts = self.said.reasoning.into_iter().flat_map(split).map(thought);
                let words = self.said.chunks.iter().map(|text| json!({"text": text}));
                let parts = thoughts.chain(words).chain(self.said.tool_calls.iter().map(function_call));
                parts.map(|part| event("", &self.gemini(&[part], None))).collect()
            }
        }
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
                stop(self.blocks().len().saturating_sub(1)),
                event(
                    "message_delta",
                    &json!({
                        "type": "message_delta", "delta": {"stop_reason": self.word(), "stop_sequence": null},
                        "usage": {"output_tokens": self.usage.output_tokens},
                    }),
                ),
                event("message_stop", &json!({"type": "message_stop"})),
            ],
            Wire::Gemini => vec![event("", &self.gemini(&[json!({"text": ""})], Some(self.word())))],
        }
    }

    fn openai_message(&self) -> Value {
        let Said { chunks, reasoning, tool_calls } = self.said;
        let text = chunks.concat();
        let silent = text.is_empty() && !tool_calls.is_empty();
        let mut message = json!({"role": "assistant", "content": (!silent).then_some(text)});
        let Some(object) = message.as_object_mut() else { return message };
        if let Some(text) = reasoning {
            object.insert("reasoning_content".to_owned(), json!(text));
        }
        if !tool_calls.is_empty() {
            let call = |ToolCall { id, name, arguments }: &ToolCall| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
            object.insert("tool_calls".to_owned(), tool_calls.iter().map(call).collect());
        }
        message
    }

    fn openai_pieces(&self) -> Vec<String> {
        let mut deltas = vec![json!({"role": "assistant", "content": ""})];
        let thoughts = self.said.reasoning.into_iter().flat_map(split);
        deltas.extend(thoughts.map(|text| json!({"reasoning_content": text})));
        deltas.extend(self.said.chunks.iter().map(|text| json!({"content": text})));
        for (index, call) in self.said.tool_calls.iter().enumerate() {
            deltas.push(json!({"tool_calls": [{
                "index": index, "id": call.id, "type": "function", "function": {"name": call.name, "arguments": ""},
            }]}));
            let more = |text| json!({"tool_calls": [{"index": index, "function": {"arguments": text}}]});
            deltas.extend(split(&call.arguments).map(more));
        }
        deltas.iter().map(|delta| event("", &self.openai(delta, None))).collect()
    }

    /// All but the end of the last block.
    fn anthropic_pieces(&self) -> Vec<String> {
        let start = json!({"type": "message_start", "message": {
            "id": "msg_rehearsal", "type": "message", "role": "assistant", "model": self.model(),
            "content": [], "stop_reason": null, "stop_sequence": null, "usage": self.count(),
        }});
        let mut events = vec![event("message_start", &start)];
        for (index, block) in self.blocks().iter().enumerate() {
            if index > 0 {
                events.push(stop(index - 1));
            }
            let start = json!({"type": "content_block_start", "index": index, "content_block": block.start()});
            events.push(event("content_block_start", &start));
            if index == 0 {
                events.push(event("ping", &json!({"type": "ping"})));
            }
            let delta = |delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
            events.extend(block.deltas().into_iter().map(|piece| event("content_block_delta", &delta(piece))));
        }
        events
    }

    fn blocks(&self) -> Vec<Block<'_>> {
        let Said { chunks, reasoning, tool_calls } = self.said;
        let mut blocks = Vec::from_iter(reasoning.map(Block::Thinking));
        if !chunks.is_empty() || tool_calls.is_empty() {
            blocks.push(Block::Text(chunks));
        }
        blocks.extend(tool_calls.iter().map(Block::Tool));
        blocks
    }

    fn gemini_parts(&self) -> Vec<Value> {
        let Said { chunks, reasoning, tool_calls } = self.said;
        let mut parts = Vec::from_iter(reasoning.map(thought));
        if !chunks.is_empty() || tool_calls.is_empty() {
            parts.push(json!({"text": chunks.concat()}));
        }
        parts.extend(tool_calls.iter().map(function_call));
        parts
    }

    fn openai(&self, delta: &Value, finish: Option<&str>) -> Value {
        json!({
            "id": "chatcmpl-rehearsal", "object": "chat.completion.chunk", "created": 1_787_443_200,
            "model": self.model(),
            "choices": [{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}],
        })
    }

    fn gemini(&self, parts: &[Value], finish: Option<&str>) -> Value {
        let mut candidate = json!({"content": {"parts": parts, "role": "model"}, "index": 0});
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

/// A block of Anthropic's content.
enum Block<'a> {
    Thinking(&'a str),
    Text(&'a [String]),
    Tool(&'a ToolCall),
}

impl Block<'_> {
    fn whole(&self) -> Value {
        match self {
            Self::Thinking(text) => json!({"type": "thinking", "thinking": text, "signature": SIGNATURE}),
            Self::Text(chunks) => json!({"type": "text", "text": chunks.concat()}),
            Self::Tool(call) => json!({"type": "tool_use", "id": call.id, "name": call.name, "input": input(call)}),
        }
    }

    fn start(&self) -> Value {
        match self {
            Self::Thinking(_) => json!({"type": "thinking", "thinking": "", "signature": ""}),
            Self::Text(_) => json!({"type": "text", "text": ""}),
            Self::Tool(call) => json!({"type": "tool_use", "id": call.id, "name": call.name, "input": {}}),
        }
    }

    fn deltas(&self) -> Vec<Value> {
        match self {
            Self::Thinking(text) => {
                let thoughts = split(text).map(|text| json!({"type": "thinking_delta", "thinking": text}));
                thoughts.chain([json!({"type": "signature_delta", "signature": SIGNATURE})]).collect()
            }
            Self::Text(chunks) => chunks.iter().map(|text| json!({"type": "text_delta", "text": text})).collect(),
            Self::Tool(call) => {
                let pieces = std::iter::once("").chain(split(&call.arguments));
                pieces.map(|text| json!({"type": "input_json_delta", "partial_json": text})).collect()
            }
        }
    }
}

/// The end of one of Anthropic's blocks.
fn stop(index: usize) -> String {
    event("content_block_stop", &json!({"type": "content_block_stop", "index": index}))
}

fn thought(text: &str) -> Value {
    json!({"text": text, "thought": true})
}

/// Gemini never sends a call in pieces.
fn function_call(call: &ToolCall) -> Value {
    json!({
        "functionCall": {"id": call.id, "name": call.name, "args": input(call)}, "thoughtSignature": SIGNATURE,
    })
}

/// The arguments as JSON; what is none stays a text, as no provider would send it.
fn input(call: &ToolCall) -> Value {
    serde_json::from_str(&call.arguments).unwrap_or_else(|_| json!(call.arguments))
}

/// The text in a few pieces, the cuts falling where nothing asks for one.
fn split(text: &str) -> impl Iterator<Item = &str> {
    let length = text.len().div_ceil(3).max(1);
    let mut rest = text;
    std::iter::from_fn(move || {
        let (piece, more) = rest.split_at_checked(rest.ceil_char_boundary(length.min(rest.len())))?;
        rest = more;
        (!piece.is_empty()).then_some(piece)
    })
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
