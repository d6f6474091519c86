//! What messages are made of.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::deployment::ParseNameError;
use super::names::{ModelName, ProviderName};

/// A piece of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part {
    /// Words.
    Text(String),
    /// A picture; [`Part::image`] makes it.
    #[non_exhaustive]
    Image {
        /// For example `image/png`.
        media_type: String,
        /// The bytes in base64.
        data: String,
    },
    /// The model wants a tool to be run.
    ToolCall(ToolCall),
    /// What came of running it; the user's side says it. [`Part::tool_result`] and [`Part::tool_error`] make it.
    #[non_exhaustive]
    ToolResult {
        /// The id of the call.
        id: String,
        /// The tool's name, where it is said; else the call has it.
        name: Option<String>,
        /// What came of it.
        content: String,
        /// Whether nothing came of it, and the content says why.
        is_error: bool,
    },
    /// What the model thought.
    Thinking(Thinking),
}

impl Part {
    /// A picture: its type, for example `image/png`, and its bytes in base64.
    pub fn image(media_type: impl Into<String>, data: impl Into<String>) -> Self {
        Self::Image { media_type: media_type.into(), data: data.into() }
    }

    /// What came of the call of this id.
    pub fn tool_result(id: impl Into<String>, content: impl Into<String>) -> Self {
        Self::ToolResult { id: id.into(), name: None, content: content.into(), is_error: false }
    }

    /// Why nothing came of the call of this id.
    pub fn tool_error(id: impl Into<String>, why: impl Into<String>) -> Self {
        Self::ToolResult { id: id.into(), name: None, content: why.into(), is_error: true }
    }
}

/// A tool that the model wants to be run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolCall {
    /// By which the result is told to belong to it.
    pub id: String,
    /// Which tool.
    pub name: String,
    /// A JSON object as text, as the model wrote it.
    pub arguments: String,
}

impl ToolCall {
    /// Why the arguments are none; nothing when they are a JSON object.
    pub fn trouble(&self) -> Option<String> {
        match serde_json::from_str::<serde_json::Value>(&self.arguments) {
            Ok(value) if value.is_object() => None,
            Ok(_) => Some("they are no JSON object".to_owned()),
            Err(error) => Some(format!("they are no JSON ({error})")),
        }
    }
}

/// Thoughts of a model. Their signature is good for the one who made it and for nobody else: the same model on another
/// platform refuses it already.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Thinking {
    /// The thoughts; empty where they are not shown.
    pub text: String,
    /// By which their maker knows them again.
    pub signature: Option<String>,
    /// The thoughts in a form that only their maker can read.
    pub redacted: Option<String>,
    /// Who thought so; none when nobody knows.
    pub from: Option<Author>,
}

/// Who said something: a model at a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Author {
    /// The service.
    pub provider: ProviderName,
    /// The provider's own id of the model.
    pub model: ModelName,
}

impl FromStr for Author {
    type Err = ParseNameError;

    /// Reads `provider/model`; ids of models may hold `/` themselves.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once('/') {
            Some((provider, model)) if !provider.is_empty() && !model.is_empty() => {
                Ok(Self { provider: ProviderName::new(provider), model: ModelName::new(model) })
            }
            _ => Err(ParseNameError { text: text.to_owned(), wanted: "provider/model" }),
        }
    }
}

impl fmt::Display for Author {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.provider, self.model)
    }
}
