//! What a provider says, as data.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;
use serde_json::Value;

use crate::domain::{ToolCall, Usage};

use super::http::Seen;

/// The replies of one provider, one per request; the last one is repeated. Without any it answers 500.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// Replies to requests that no case is about.
    #[serde(default)]
    pub replies: Vec<Reply>,
    /// Replies to requests for one model, with one key, or that hold something; the first case that fits counts.
    #[serde(default)]
    pub cases: Vec<Case>,
}

/// Replies to some of the requests, counted by themselves.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// The model that must be asked.
    pub model: Option<String>,
    /// The key that must be shown.
    pub key: Option<String>,
    /// What the request must hold, as it stands in its JSON.
    #[serde(default)]
    pub contains: Option<String>,
    /// One per request that fits; the last one is repeated.
    pub replies: Vec<Reply>,
}

/// One reply. Where it holds an answer it is rendered in the provider's wire format: as a stream when the request asks
/// for one, else whole.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Reply {
    /// A status with a body as it stands.
    Status {
        /// The HTTP status.
        status: u16,
        /// Headers of the reply; `content-type` is JSON unless it is set.
        #[serde(default)]
        headers: BTreeMap<String, String>,
        /// A text goes as it is, anything else as JSON.
        #[serde(default)]
        body: Value,
    },
    /// A good answer.
    Answer {
        /// The words.
        text: String,
        /// Why it ended, in the domain's words: `stop`, `length`, `content_filter`, `tool_calls`. When it is left out,
        /// `tool_calls` if there are some, else `stop`.
        #[serde(default)]
        finish: Option<String>,
        /// Tokens; a guess from the words when they are left out.
        #[serde(default)]
        usage: Option<Usage>,
        /// Headers of the reply.
        #[serde(default)]
        headers: BTreeMap<String, String>,
        /// What the model thought before.
        #[serde(default)]
        reasoning: Option<String>,
        /// The tools that it wants to be run after its words.
        #[serde(default)]
        tool_calls: Vec<ToolCall>,
    },
    /// A good answer in these pieces.
    Stream {
        /// The pieces.
        chunks: Vec<String>,
        /// What the model thought before.
        #[serde(default)]
        reasoning: Option<String>,
        /// The tools that it wants to be run after its words.
        #[serde(default)]
        tool_calls: Vec<ToolCall>,
    },
    /// An answer whose connection is closed after these pieces; whole, it stops in the middle of the body.
    CutStream {
        /// The pieces.
        chunks: Vec<String>,
    },
    /// An answer in which an error follows these pieces; whole, a 200 that holds the error.
    ErrorEvent {
        /// The pieces.
        #[serde(default)]
        chunks: Vec<String>,
        /// The event's data; when it is left out, the wire's own words for being overloaded.
        #[serde(default)]
        error: Value,
    },
    /// An answer that stops after these pieces, with the connection left open.
    Stall {
        /// The pieces.
        #[serde(default)]
        chunks: Vec<String>,
    },
    /// A good answer, word by word.
    SlowDrip {
        /// The words.
        text: String,
        /// Milliseconds between two words.
        every_ms: u64,
    },
    /// Comments (whole: white space) after these pieces and nothing else, as long as the client stays.
    Pings {
        /// The pieces of a stream.
        #[serde(default)]
        chunks: Vec<String>,
        /// Milliseconds between two pings.
        every_ms: u64,
    },
    /// Nothing for so long, then another reply.
    Delay {
        /// Milliseconds.
        ms: u64,
        /// What is said then, if the client is still there.
        then: Box<Reply>,
    },
    /// The request is taken and nothing is said.
    Hang,
    /// The request is taken and the connection is reset.
    Reset,
    /// Nobody listens on the port. Only as the very first reply of a script, and then for good.
    Refuse,
    /// Bytes that need not be HTTP, then the end.
    Raw {
        /// The bytes.
        text: String,
    },
}

impl Reply {
    /// A good answer with these words.
    pub fn answer(text: impl Into<String>) -> Self {
        Self::Answer {
            text: text.into(),
            finish: None,
            usage: None,
            headers: BTreeMap::new(),
            reasoning: None,
            tool_calls: Vec::new(),
        }
    }

    /// A good answer in these pieces.
    pub fn stream(chunks: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let chunks = chunks.into_iter().map(Into::into).collect();
        Self::Stream { chunks, reasoning: None, tool_calls: Vec::new() }
    }

    /// An answer without words that wants these tools to be run.
    pub fn tool_calls(calls: Vec<ToolCall>) -> Self {
        Self::Stream { chunks: Vec::new(), reasoning: None, tool_calls: calls }
    }

    /// The same, but so much later.
    #[must_use]
    pub fn after(self, ms: u64) -> Self {
        Self::Delay { ms, then: Box::new(self) }
    }

    /// A status with this JSON or text.
    pub fn status(status: u16, body: impl Into<Value>) -> Self {
        Self::Status { status, headers: BTreeMap::new(), body: body.into() }
    }
}

impl From<Reply> for Script {
    /// The same reply to every request.
    fn from(reply: Reply) -> Self {
        Self { replies: vec![reply], cases: Vec::new() }
    }
}

impl From<Vec<Reply>> for Script {
    /// These replies, the last one repeated.
    fn from(replies: Vec<Reply>) -> Self {
        Self { replies, cases: Vec::new() }
    }
}

/// A script and how far it has come.
#[derive(Debug, Default)]
pub(super) struct Prompter {
    script: Script,
    /// How often each list of the script was used.
    used: HashMap<usize, usize>,
}

impl Prompter {
    /// The script from its beginning.
    pub(super) fn new(script: Script) -> Self {
        Self { script, used: HashMap::new() }
    }

    /// Whether nobody listens at all.
    pub(super) fn refuses(&self) -> bool {
        matches!(self.script.replies.first(), Some(Reply::Refuse))
    }

    /// What is said to this request.
    pub(super) fn reply_to(&mut self, seen: &Seen) -> Reply {
        let (list, replies) = self.script.list(seen);
        let used = self.used.entry(list).or_default();
        let number = *used;
        *used += 1;
        let reply = replies.get(number).or(replies.last()).cloned();
        reply.unwrap_or_else(|| Reply::status(500, "the script is empty"))
    }
}

impl Script {
    /// The list that answers this request: its number, and its replies. The number 0 is the list without conditions.
    fn list(&self, seen: &Seen) -> (usize, &[Reply]) {
        let fits = |case: &Case| {
            case.model.as_deref().is_none_or(|model| seen.model() == Some(model))
                && case.key.as_deref().is_none_or(|key| seen.key() == Some(key))
                && case.contains.as_deref().is_none_or(|text| seen.body.to_string().contains(text))
        };
        let case = self.cases.iter().enumerate().find(|(_, case)| fits(case));
        case.map_or((0, self.replies.as_slice()), |(at, case)| (at + 1, case.replies.as_slice()))
    }
}
