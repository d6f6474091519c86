//! The log as figures need it: bare rows in the order in which they were written, read a piece at a time.
//!
//! Figures over a million attempts look at every row once. [`RequestRecord`](crate::domain::RequestRecord) with its names
//! and texts would cost more than the counting, so a row is lent here for as long as it is looked at.

use crate::domain::{AttemptKind, Class, Defect, Extraction, Outcome};

/// Places in the log from which a walk goes on: everything after them is new.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Places {
    /// Of the attempts.
    pub attempts: i64,
    /// Of the requests.
    pub requests: i64,
}

/// A row of the log.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fact<'a> {
    /// An exchange on the wire.
    Attempt(AttemptFact<'a>),
    /// A request. One that ends comes again, with a new place, after it was seen as unfinished.
    Request(RequestFact<'a>),
}

/// Who was asked, as the log has it; without a credential the last is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Who<'a> {
    /// The provider.
    pub provider: &'a str,
    /// The provider's own id of the model.
    pub model: &'a str,
    /// The alias of the key.
    pub credential: &'a str,
}

/// Tokens and money, where they are known.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Spent {
    /// Tokens of the prompt.
    pub input: Option<u64>,
    /// Tokens of the answer.
    pub output: Option<u64>,
    /// Tokens of the prompt that came from a cache.
    pub cached: Option<u64>,
    /// In USD.
    pub usd: Option<f64>,
}

/// One exchange on the wire.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AttemptFact<'a> {
    /// The request that it was made for.
    pub request: &'a str,
    /// The ladder of that request; empty until it has ended.
    pub ladder: &'a str,
    /// Who was asked.
    pub who: Who<'a>,
    /// The step's index in its ladder.
    pub step: u32,
    /// Why it was asked.
    pub kind: AttemptKind,
    /// What went wrong; none when it was answered or given up.
    pub class: Option<Class>,
    /// Whether it was given up before its end.
    pub is_given_up: bool,
    /// The HTTP status, when one came.
    pub status: Option<u16>,
    /// What is wrong with the answer, if one came that was judged.
    pub defect: Option<Defect>,
    /// Where the JSON of a good answer stood; none where none was asked for.
    pub extracted: Option<Extraction>,
    /// Whether what came was held against something that was asked of it.
    pub judged: bool,
    /// When it was sent, in milliseconds since 1970 UTC.
    pub started_ms: i64,
    /// To the first content, in microseconds.
    pub ttft_us: Option<u64>,
    /// To the end, in microseconds.
    pub latency_us: u64,
    /// What it used.
    pub spent: Spent,
}

/// A request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RequestFact<'a> {
    /// Its id.
    pub id: &'a str,
    /// The ladder it went down; empty until it has ended.
    pub ladder: &'a str,
    /// When it began, in milliseconds since 1970 UTC.
    pub started_ms: i64,
    /// How long it took, in microseconds.
    pub latency_us: u64,
    /// How it ended.
    pub outcome: Outcome,
    /// Who answered.
    pub who: Option<Who<'a>>,
    /// The index of the step that answered.
    pub step: Option<u32>,
    /// What all its attempts used.
    pub spent: Spent,
    /// How many retries the budget denied.
    pub retries_denied: u64,
}
