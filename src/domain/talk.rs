//! What is kept of a conversation that goes over several requests, and of the tools that were run for it.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::deployment::ParseNameError;
use super::failure::words;
use super::names::{LadderName, RequestId, SessionName};
use super::part::Author;

words! {
    /// What running a tool does to the world.
    #[non_exhaustive]
    Effect("effect (pure or side_effecting)") {
        /// Nothing: it may be run again at any time.
        Pure = "pure",
        /// Something that must not be done twice.
        SideEffecting = "side_effecting",
    }
}

words! {
    /// How far a call of a tool has come.
    CallState("state of a call") {
        /// It was begun; whether it did its work is not known before it has ended.
        Started = "started",
        /// Its result is known and is never asked for again.
        Done = "done",
        /// It was begun and nobody can say what it did.
        Unknown = "unknown",
        /// A person said that it was not done and may be run once more.
        Again = "again",
    }
}

words! {
    /// What a call came to.
    #[non_exhaustive]
    CallEnd("end of a call") {
        /// The command did its work.
        Ok = "ok",
        /// The command says that it failed.
        Failed = "failed",
        /// It was not run: there is no such tool, or the arguments are not as it wants them.
        Refused = "refused",
        /// The user did not want it to be run.
        Declined = "declined",
        /// The command was stopped when its time was over.
        TimedOut = "timed_out",
        /// A person said what came of it.
        Told = "told",
    }
}

impl CallEnd {
    /// Whether nothing came of the call: the model is told why.
    pub const fn is_error(self) -> bool {
        match self {
            Self::Ok | Self::Told => false,
            Self::Failed | Self::Refused | Self::Declined | Self::TimedOut => true,
        }
    }
}

/// The length of an id that the program makes, after `req_`: eleven digits of the time, and six letters.
const OWN: usize = 17;

/// The longest name of a session, in characters.
const LONGEST_NAME: usize = 64;

impl SessionName {
    /// Whether the text can be one: letters, digits, `.`, `_` and `-`, up to 64, the first of them a letter or a digit.
    pub fn is_good(text: &str) -> bool {
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        text.len() <= LONGEST_NAME
            && text.chars().all(plain)
            && text.chars().next().is_some_and(|c| c.is_ascii_alphanumeric())
    }
}

impl RequestId {
    /// The id of a further request for the answer to the one of this id; they are counted from 2.
    pub fn round(&self, number: usize) -> Self {
        Self::new(format!("{self}-{number}"))
    }

    /// Whether the program may give this id to a further request by itself.
    pub fn is_round(&self) -> bool {
        let own = |first: &str| first.strip_prefix("req_").is_some_and(|rest| rest.len() == OWN && rest.is_ascii());
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        self.as_str().rsplit_once('-').is_some_and(|(first, number)| own(first) && is_number(number))
    }
}

/// A conversation that a person named so that it can go on.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    /// Its name.
    pub name: SessionName,
    /// When it began. With the name it tells the conversation from an earlier one of the same name.
    pub created_at: Timestamp,
    /// When something was last written.
    pub updated_at: Timestamp,
    /// Who may write: one process at a time.
    pub holder: String,
    /// With what it goes on.
    pub settings: TalkSettings,
    /// How many turns there are.
    pub turns: u32,
    /// How many of them the user was told; an answer beyond that was given, but the process ended before it was printed.
    pub told: u32,
}

/// With what a conversation goes on, unless the person says otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TalkSettings {
    /// The ladder, or who alone is asked.
    pub ladder: Option<LadderName>,
    /// Standing instructions that the user gave.
    pub system: Option<String>,
    /// The tools that the model may use.
    pub tools: Vec<String>,
    /// What is asked of the answer to what the user said last.
    pub asked: AskedFor,
}

/// What is asked of one answer.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct AskedFor {
    /// The JSON Schema that it must satisfy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
    /// The rules that it must keep, in CEL.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<String>,
}

impl AskedFor {
    /// Whether any answer will do.
    pub fn is_empty(&self) -> bool {
        self.schema.is_none() && self.checks.is_empty()
    }
}

/// One message of a conversation in the form that belongs to no provider.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredTurn {
    /// The message as JSON.
    pub message: Value,
    /// Which model said it.
    pub author: Option<Author>,
    /// The request that brought it.
    pub request_id: Option<RequestId>,
    /// When.
    pub at: Timestamp,
}

/// One call of a tool, from the moment at which it is begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalEntry {
    /// Which call it is, whatever id a provider gave it.
    pub fingerprint: String,
    /// The turn that made it, counted from 0.
    pub place: u32,
    /// Which of that turn's calls it is, counted from 0.
    pub position: u32,
    /// The id that the provider gave it.
    pub call_id: String,
    /// The tool.
    pub tool: String,
    /// The arguments as JSON.
    pub arguments: String,
    /// What running it does.
    pub effect: Effect,
    /// By which the tool can see that it is run again.
    pub idempotency_key: String,
    /// How far it has come.
    pub state: CallState,
    /// What it came to, once that is known.
    pub end: Option<CallEnd>,
    /// What the model is told of it; of one that is not done, why nobody knows.
    pub result: Option<String>,
    /// How often the command was begun.
    pub tries: u32,
    /// When it was last begun.
    pub started_at: Option<Timestamp>,
    /// When the result was known.
    pub ended_at: Option<Timestamp>,
}

impl JournalEntry {
    /// Whether only a person can say what is next: it was begun, nobody knows whether it did its work, and it must not do
    /// it twice. A pure one is simply run again.
    pub fn needs_word(&self) -> bool {
        self.effect == Effect::SideEffecting && matches!(self.state, CallState::Started | CallState::Unknown)
    }
}
