//! An answer and what a stream says of it, free of any provider's wire format.

use serde::{Deserialize, Serialize};

use super::chat::{Message, Role};
use super::part::{Author, Part, Thinking, ToolCall};

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

impl Usage {
    /// The sum of what is known. Counts come from outside: what no number can hold stays the largest one.
    #[must_use]
    pub fn plus(self, more: Self) -> Self {
        let sum = |a: Option<u64>, b: Option<u64>| a.map_or(b, |a| Some(a.saturating_add(b.unwrap_or(0))));
        Self {
            input_tokens: sum(self.input_tokens, more.input_tokens),
            output_tokens: sum(self.output_tokens, more.output_tokens),
            cached_tokens: sum(self.cached_tokens, more.cached_tokens),
        }
    }
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
    /// In which order all of it came, with the thoughts as their maker wants them back. Empty where nobody noted it.
    pub order: Vec<Piece>,
}

/// A piece of an answer, in its place among the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// So many bytes more of the words.
    Text(usize),
    /// The next of the tool calls.
    Call,
    /// Thoughts, with what their maker knows them by. Whose they are stands with the answer. One that is nothing but a
    /// signature belongs to the piece that follows.
    Thought(Thinking),
}

impl Answer {
    /// Whether the model was at work: words, thoughts, tool calls or anything else has come.
    pub fn has_content(&self) -> bool {
        self.other_content || !self.text.is_empty() || !self.reasoning.is_empty() || !self.tool_calls.is_empty()
    }

    /// The assistant's turn, ready to be appended to the conversation: who said it is noted at its thoughts, so that they
    /// go back to their maker and to nobody else. Without parts when there was nothing that could be sent back.
    pub fn message(&self, from: &Author) -> Message {
        Message { role: Role::Assistant, parts: self.parts(Some(from)) }
    }

    /// All of it in order. What the order does not know of stands at the end, thoughts at the beginning.
    pub fn parts(&self, from: Option<&Author>) -> Vec<Part> {
        let own = |thinking: Thinking| Part::Thinking(Thinking { from: from.cloned(), ..thinking });
        let mut parts = Vec::new();
        if self.thoughts().all(|thinking| thinking.text.is_empty()) && !self.reasoning.is_empty() {
            parts.push(own(Thinking { text: self.reasoning.clone(), ..Thinking::default() }));
        }
        let mut rest = self.text.as_str();
        let mut calls = self.tool_calls.iter();
        for piece in &self.order {
            match piece {
                Piece::Text(bytes) => {
                    let (said, more) = rest.split_at(rest.ceil_char_boundary((*bytes).min(rest.len())));
                    parts.extend((!said.is_empty()).then(|| Part::Text(said.to_owned())));
                    rest = more;
                }
                Piece::Call => parts.extend(calls.next().cloned().map(Part::ToolCall)),
                Piece::Thought(thinking) => parts.push(own(thinking.clone())),
            }
        }
        parts.extend((!rest.is_empty()).then(|| Part::Text(rest.to_owned())));
        parts.extend(calls.cloned().map(Part::ToolCall));
        parts
    }

    /// The model's thoughts, in order, as their maker wants them back.
    pub fn thoughts(&self) -> impl Iterator<Item = &Thinking> {
        self.order.iter().filter_map(|piece| match piece {
            Piece::Thought(thinking) => Some(thinking),
            _ => None,
        })
    }
}

/// How many pieces are noted. Nobody changes between words and thoughts as often; what is beyond goes to the end.
const MOST_PIECES: usize = 16 * 1024;

/// Notes what comes next in an answer, so that neighbours of one kind are one piece.
impl Piece {
    /// More words.
    pub fn text(order: &mut Vec<Self>, bytes: usize) {
        let full = order.len() >= MOST_PIECES;
        match order.last_mut() {
            _ if bytes == 0 => {}
            Some(Self::Text(known)) => *known += bytes,
            _ if full => {}
            _ => order.push(Self::Text(bytes)),
        }
    }

    /// More thoughts: of the same thought, until it is signed.
    pub fn thought(order: &mut Vec<Self>, text: &str) {
        let full = order.len() >= MOST_PIECES;
        match order.last_mut() {
            _ if text.is_empty() => {}
            Some(Self::Thought(Thinking { text: known, signature: None, redacted: None, .. })) => known.push_str(text),
            _ if full => {}
            _ => order.push(Self::Thought(Thinking { text: text.to_owned(), ..Thinking::default() })),
        }
    }

    /// The signature of the thought before it, or of one that is not shown.
    pub fn signature(order: &mut Vec<Self>, signature: &str) {
        let signature = Some(signature.to_owned()).filter(|signature| !signature.is_empty());
        match order.last_mut() {
            _ if signature.is_none() => {}
            Some(Self::Thought(known @ Thinking { signature: None, redacted: None, .. })) => {
                known.signature = signature;
            }
            _ => order.push(Self::Thought(Thinking { signature, ..Thinking::default() })),
        }
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
    /// The signature of the thoughts before it; never empty.
    Signature(String),
    /// A thought by itself that only its maker can read, or the signature of the piece that follows.
    Thought(Thinking),
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
        match self {
            Self::Text(_) | Self::Reasoning(_) | Self::ToolCall(_) | Self::OtherContent => true,
            Self::Thought(thinking) => thinking.redacted.is_some() || !thinking.text.is_empty(),
            Self::Signature(_) | Self::Usage(_) | Self::Finish(_) | Self::Error(_) | Self::End => false,
        }
    }

    /// Whether it tells how the exchange goes, rather than what the answer is made of.
    pub fn is_evidence(&self) -> bool {
        matches!(self, Self::Usage(_) | Self::Finish(_) | Self::Error(_) | Self::End)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_is_of_what_is_known_and_no_count_is_too_large_for_it() {
        let of = |input_tokens, output_tokens| Usage { input_tokens, output_tokens, cached_tokens: None };
        let sum = of(Some(u64::MAX - 1), None).plus(of(Some(5), Some(2))).plus(of(None, Some(3)));
        assert_eq!(sum, of(Some(u64::MAX), Some(5)));
    }
}
