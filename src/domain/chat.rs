//! A request, free of any provider's wire format.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::part::{Part, Thinking};
use super::tool::{Tool, ToolChoice};

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Role {
    /// Standing instructions.
    System,
    /// The person.
    User,
    /// The model.
    Assistant,
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

    /// All words of it, one part after the other.
    pub fn words(&self) -> String {
        let words = self.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            _ => None,
        });
        words.collect()
    }
}

/// What the user asks.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ChatRequest {
    /// Standing instructions.
    pub system: Option<String>,
    /// What the developer adds to them: a role of its own where the provider has one, else a part of them.
    pub developer: Option<String>,
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
    /// What the model may ask to be run.
    pub tools: Vec<Tool>,
    /// Whether it does; none: as the provider has it, which is as the model likes. Without tools it means nothing.
    pub tool_choice: Option<ToolChoice>,
    /// Whether it may ask for several at once; none: as the provider has it. Without tools it means nothing.
    pub parallel_tools: Option<bool>,
    /// Further fields of the wire's request object, passed as they are.
    pub options: BTreeMap<String, Value>,
    /// Whether the answer comes piece by piece.
    pub stream: bool,
}

impl ChatRequest {
    /// Whether the conversation holds a model's thoughts.
    pub fn has_thinking(&self) -> bool {
        self.messages.iter().flat_map(|message| &message.parts).any(|part| matches!(part, Part::Thinking(_)))
    }

    /// The same request without the thoughts in it: for one more try at a provider that takes none of them.
    #[must_use]
    pub fn without_thinking(&self) -> Self {
        self.keeping(|_| false)
    }

    /// The same request with only those thoughts that `keep` wants. A message in which nothing else stood is gone.
    #[must_use]
    pub(crate) fn keeping(&self, keep: impl Fn(&Thinking) -> bool) -> Self {
        let wanted = |part: &Part| match part {
            Part::Thinking(thinking) => keep(thinking),
            _ => true,
        };
        let mut request = self.clone();
        request.messages.retain_mut(|message| {
            let was_empty = message.parts.is_empty();
            message.parts.retain(wanted);
            was_empty || !message.parts.is_empty()
        });
        request
    }
}
