//! A request and an answer, free of any provider's wire format.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Standing instructions.
    System,
    /// The person.
    User,
    /// The model.
    Assistant,
}

/// A piece of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Words.
    Text(String),
    /// A picture.
    Image {
        /// For example `image/png`.
        media_type: String,
        /// The bytes in base64.
        data: String,
    },
}

/// One turn of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said, in order.
    pub parts: Vec<Part>,
}

impl Message {
    /// A message of words alone.
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self { role, parts: vec![Part::Text(text.into())] }
    }
}

/// What the user asks.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ChatRequest {
    /// Standing instructions.
    pub system: Option<String>,
    /// The conversation, the last message being the question.
    pub messages: Vec<Message>,
    /// The longest answer wanted, in tokens.
    pub max_tokens: Option<u32>,
    /// Randomness, 0 to 2 with most providers.
    pub temperature: Option<f64>,
    /// Texts at which the answer ends.
    pub stop: Vec<String>,
    /// The JSON Schema that the answer must satisfy.
    pub schema: Option<Value>,
    /// Further fields of the wire's request object, passed as they are.
    pub options: BTreeMap<String, Value>,
    /// Whether the answer comes piece by piece.
    pub stream: bool,
}

/// Tokens as the provider counted them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the prompt, cached ones included.
    pub input_tokens: Option<u64>,
    /// Tokens of the answer, thinking included.
    pub output_tokens: Option<u64>,
    /// Tokens of the prompt that came from the provider's cache.
    pub cached_tokens: Option<u64>,
}

/// Why the answer ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// The model was done, or met a stop text.
    Stop,
    /// The token limit was met.
    Length,
    /// A filter stepped in.
    ContentFilter,
    /// The model wants a tool to be run.
    ToolCalls,
    /// The provider says that the answer failed.
    Error,
    /// Another word of the provider.
    #[serde(untagged)]
    Other(String),
}

impl Finish {
    /// The word for it.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Stop => "stop",
            Self::Length => "length",
            Self::ContentFilter => "content_filter",
            Self::ToolCalls => "tool_calls",
            Self::Error => "error",
            Self::Other(word) => word,
        }
    }
}

/// A whole answer.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Answer {
    /// The words.
    pub text: String,
    /// Why it ended; none when the provider did not say, which on a stream means that it was cut.
    pub finish: Option<Finish>,
    /// Tokens.
    pub usage: Usage,
    /// Whether the model showed thoughts or tool calls although there are no words.
    pub other_content: bool,
}

/// One thing that a stream says.
#[derive(Debug, Clone, PartialEq)]
pub enum StreamEvent {
    /// More words of the answer; never empty.
    Text(String),
    /// The model thinks or calls a tool: content, but no words of the answer.
    OtherContent,
    /// Tokens so far; later figures replace earlier ones where they are set.
    Usage(Usage),
    /// Why the answer ended.
    Finish(Finish),
    /// An error inside the stream, with the event's own data.
    Error(String),
    /// The provider says that nothing follows.
    End,
}
