//! An answer and what a stream says of it, free of any provider's wire format.

use serde::{Deserialize, Serialize};

use super::part::ToolCall;

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
#[non_exhaustive]
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
    /// What the model thought, as far as it shows it.
    pub reasoning: String,
    /// The tools that it wants to be run, in order.
    pub tool_calls: Vec<ToolCall>,
    /// Why it ended; none when the provider did not say, which on a stream means that it was cut.
    pub finish: Option<Finish>,
    /// Tokens.
    pub usage: Usage,
    /// Whether there was something that is none of these: thoughts that are not shown, a tool that the provider runs.
    pub other_content: bool,
}

impl Answer {
    /// Whether the model was at work: words, thoughts, tool calls or anything else has come.
    pub fn has_content(&self) -> bool {
        self.other_content || !self.text.is_empty() || !self.reasoning.is_empty() || !self.tool_calls.is_empty()
    }
}

/// A piece of a tool call, as streams have it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolPiece {
    /// Which of the answer's calls it belongs to.
    pub index: u64,
    /// The call's id; as a rule the first piece has it.
    pub id: String,
    /// The tool's name; as a rule the first piece has it.
    pub name: String,
    /// More of the arguments.
    pub arguments: String,
}

/// One thing that a stream says.
#[derive(Debug, Clone, PartialEq)]
pub enum StreamEvent {
    /// More words of the answer; never empty.
    Text(String),
    /// More of the model's thoughts; never empty.
    Reasoning(String),
    /// More of a tool call; never empty in all its parts.
    ToolCall(ToolPiece),
    /// Content that is none of these.
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

impl StreamEvent {
    /// Whether the model is at work: words, thoughts, a tool call.
    pub fn is_content(&self) -> bool {
        matches!(self, Self::Text(_) | Self::Reasoning(_) | Self::ToolCall(_) | Self::OtherContent)
    }
}
