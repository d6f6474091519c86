//! What the log keeps of a request and its attempts.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::answer::Usage;
use super::deployment::{Deployment, ParseNameError};
use super::failure::{Class, Dimension, ScopeLevel, words};
use super::names::{AccountName, LadderName, RequestId};

words! {
    /// Why an attempt was made.
    #[non_exhaustive]
    AttemptKind("kind of attempt") {
        /// The first one at this step.
        First = "first",
        /// The same again after a fault that may pass.
        Retry = "retry",
        /// The same deployment, told what was wrong with its answer.
        Repair = "repair",
        /// The same deployment, asked for what it says that it can take.
        Adjusted = "adjusted",
        /// The one call that a half-open hold lets through.
        Probe = "probe",
        /// A second step started while the first still runs.
        Hedge = "hedge",
    }
}

impl AttemptKind {
    /// Whether the request was changed so that the same deployment can do it: that is no further try.
    pub const fn is_remedy(self) -> bool {
        matches!(self, Self::Repair | Self::Adjusted)
    }
}

words! {
    /// Whether the provider may have done the work of an attempt: asking again may then be paid twice.
    Execution("execution") {
        /// Nothing was sent, or it was refused before any work.
        NotRun = "not_run",
        /// It was sent, and no whole answer came.
        MayHaveRun = "may_have_run",
        /// It was answered.
        Ran = "ran",
    }
}

impl Execution {
    /// Of an attempt that failed with this class and status; `unsent` says that the request never left.
    pub const fn of_failure(class: Class, status: Option<u16>, unsent: bool) -> Self {
        match (status, class) {
            _ if unsent => Self::NotRun,
            (Some(400..=499), _) => Self::NotRun,
            // A refusal for want of room, and a proxy that found nobody, come before any work.
            (Some(500..=599), Class::Overloaded | Class::RateLimit | Class::ModelUnavailable) => Self::NotRun,
            (Some(200..=299), Class::InvalidOutput) => Self::Ran,
            _ => Self::MayHaveRun,
        }
    }
}

words! {
    /// Why an attempt was given up before its end. It is nobody's fault.
    GivenUp("reason to give up") {
        /// The deadline of the request passed.
        Deadline = "deadline",
        /// The user stopped it.
        Interrupted = "interrupted",
        /// Another attempt, started beside it, had content first.
        Outrun = "outrun",
        /// Nobody read the answer any more.
        ReaderGone = "reader_gone",
    }
}

words! {
    /// Where the JSON of an answer stood in its text.
    Extraction("place of the JSON in an answer") {
        /// It is the whole text.
        Whole = "whole",
        /// Within the only code fence of the text.
        Fenced = "fenced",
        /// Within prose.
        Surrounded = "surrounded",
    }
}

words! {
    /// How a request ended.
    Outcome("outcome") {
        /// Answered as asked.
        Answered = "answered",
        /// No step answered; some will return by themselves.
        Exhausted = "exhausted",
        /// No step answered, and a person must act on all that is left.
        NeedsPerson = "needs_person",
        /// The request itself was refused.
        Refused = "refused",
        /// Answered, but never in the asked shape.
        WrongShape = "wrong_shape",
        /// The request's deadline passed.
        Deadline = "deadline",
        /// The stream broke after its first byte.
        Partial = "partial",
        /// The user stopped it.
        Interrupted = "interrupted",
        /// No end is known: it still runs, or its process died.
        Unfinished = "unfinished",
    }
}

impl Outcome {
    /// Whether the same request, made once more, is the same all over: it was answered, or refused for good. Of the others
    /// nobody got an answer.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Answered | Self::Refused | Self::WrongShape)
    }
}

/// One exchange on the wire.
#[derive(Debug, Clone, PartialEq)]
pub struct AttemptRecord {
    /// Who was asked.
    pub deployment: Deployment,
    /// Whose quota it used.
    pub account: AccountName,
    /// The step's index in its ladder; 0 is the primary.
    pub step: u32,
    /// Why it was asked.
    pub kind: AttemptKind,
    /// What went wrong; none when it was answered or given up.
    pub class: Option<Class>,
    /// What is held back for it.
    pub scope: Option<ScopeLevel>,
    /// Which limit, for limits.
    pub dimension: Option<Dimension>,
    /// The HTTP status, when one came.
    pub status: Option<u16>,
    /// Which rule decided.
    pub rule: Option<String>,
    /// What the rule saw: redacted and bounded.
    pub evidence: Option<String>,
    /// When it was sent.
    pub started_at: Timestamp,
    /// Time to the first content.
    pub ttft: Option<Duration>,
    /// Time to the end.
    pub latency: Duration,
    /// Until when the failure holds the deployment back.
    pub held_until: Option<Timestamp>,
    /// Tokens.
    pub usage: Usage,
    /// What it cost, in USD, where the price is known. Of one that was given up, what it is expected to have cost.
    pub cost_usd: Option<f64>,
    /// Whether the provider may have done the work.
    pub execution: Execution,
    /// Why it was given up before its end.
    pub given_up: Option<GivenUp>,
    /// Where the JSON of a good answer stood; none where none was asked for.
    pub extracted: Option<Extraction>,
    /// Whether what came was held against something that was asked of it: a schema, a check, a demand. Of several answers
    /// by one deployment to one request the first alone is, and those to repairs.
    pub judged: bool,
}

impl AttemptRecord {
    /// Whether it was answered.
    pub fn is_answered(&self) -> bool {
        self.class.is_none() && self.given_up.is_none()
    }
}

/// Who served the beginning of a prompt, which may still be in its cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prefix {
    /// A salted digest of the beginning.
    pub digest: String,
    /// Who served it.
    pub deployment: Deployment,
    /// When.
    pub at: Timestamp,
    /// Tokens of the whole prompt.
    pub input_tokens: Option<u64>,
    /// How many of them came from the cache.
    pub cached_tokens: Option<u64>,
}

/// The answer of a request, where answers are kept.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct KeptAnswer {
    /// The words.
    pub text: String,
    /// What the model thought.
    pub reasoning: String,
    /// The tool calls, as JSON.
    pub tool_calls: Option<Value>,
    /// The answer parsed, when a shape was asked for.
    pub parsed: Option<Value>,
    /// Why it ended.
    pub finish: Option<String>,
}

/// All that a deployment said when it failed: redacted and bounded.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KeptEvidence {
    /// The response headers.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: String,
    /// What is known besides.
    pub log: String,
}

/// What the user asked and what came of it; the prompt and the answer are not kept.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestRecord {
    /// Joins the parts.
    pub id: RequestId,
    /// The ladder it went down.
    pub ladder: LadderName,
    /// When it began.
    pub started_at: Timestamp,
    /// How long it took.
    pub latency: Duration,
    /// How it ended.
    pub outcome: Outcome,
    /// Who answered.
    pub deployment: Option<Deployment>,
    /// The index of the step that answered.
    pub step: Option<u32>,
    /// Tokens of all attempts.
    pub usage: Usage,
    /// Cost of all attempts, in USD.
    pub cost_usd: Option<f64>,
    /// When the first step returns, for an exhausted ladder.
    pub retry_at: Option<Timestamp>,
    /// Why it failed, in one line.
    pub error: Option<String>,
    /// How many retries the budget denied.
    pub retries_denied: u32,
    /// The exchanges, in order.
    pub attempts: Vec<AttemptRecord>,
}

impl RequestRecord {
    /// A request that has begun and of which nothing else is known.
    pub fn begun(id: RequestId, ladder: LadderName, started_at: Timestamp) -> Self {
        Self {
            id,
            ladder,
            started_at,
            latency: Duration::ZERO,
            outcome: Outcome::Unfinished,
            deployment: None,
            step: None,
            usage: Usage::default(),
            cost_usd: None,
            retry_at: None,
            error: None,
            retries_denied: 0,
            attempts: Vec::new(),
        }
    }
}
