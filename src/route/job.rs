//! What the driver is given for one request.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use crate::catalog::ProviderInfo;
use crate::config::StreamPolicy;
use crate::domain::{ChatRequest, Deployment, RequestId, Secret, Timeouts};
use crate::ladder::{Directives, RequestShape, Spec};
use crate::policy::CascadeSettings;
use crate::validate::Demands;

use super::assemble::Assembled;

/// How one deployment is reached.
#[derive(Debug, Clone)]
pub struct Lane {
    /// The catalogue's entry, overlaid by config.
    pub provider: ProviderInfo,
    /// The base URL with its variables filled in.
    pub base_url: String,
    /// The key.
    pub key: Option<Secret>,
    /// Standing instructions of this step, instead of the request's own.
    pub system: Option<String>,
    /// Instructions of the program's author, instead of the request's own.
    pub developer: Option<String>,
    /// Further fields of the wire's request object, under those of the request.
    pub options: BTreeMap<String, Value>,
    /// Bounds of one exchange.
    pub timeouts: Timeouts,
}

/// How much of an answer it takes to count as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Wanted {
    /// Words, in the asked shape if there is one.
    #[default]
    Words,
    /// A sign of the model at work, even if the token limit left no room for words: what a probe looks for.
    Sign,
}

/// One request with everything that it needs.
#[derive(Debug, Clone)]
pub struct Job {
    /// Its id.
    pub id: RequestId,
    /// The ladder.
    pub spec: Spec,
    /// How each of its deployments is reached.
    pub lanes: BTreeMap<Deployment, Lane>,
    /// What the user asks.
    pub request: ChatRequest,
    /// What is asked of the answer besides its schema.
    pub demands: Demands,
    /// The variables of our environment that the programs of its checks must not find.
    pub hidden: Vec<String>,
    /// What can be said of it beforehand.
    pub shape: RequestShape,
    /// When its ladder opens; none when it has no say.
    pub cascade: Option<CascadeSettings>,
    /// What the user said about it.
    pub directives: Directives,
    /// What counts as an answer.
    pub wanted: Wanted,
    /// What to do when a stream breaks.
    pub stream: StreamPolicy,
    /// Under which digests of the prompt's beginning it is noted who answered.
    pub noted: Vec<String>,
    /// Retries per minute over all processes.
    pub retry_budget: u32,
    /// How long a probe's lease lives.
    pub lease: Duration,
    /// How much of an answer may be held back, in bytes.
    pub buffer: u64,
    /// Whether the report is to hold the whole text although the observer gets it in pieces; else it may end early.
    pub wants_text: bool,
    /// Whether the answer is kept with the request.
    pub keeps_answer: bool,
    /// The place of the first attempt in the log: a process that died under the same id may have made some.
    pub first_attempt: u32,
}

/// How much longer than the longest attempt a lease lives.
const SLACK: Duration = Duration::from_secs(10);

impl Job {
    /// A request that goes down a ladder by the ladder's own limits.
    pub fn new(id: RequestId, ladder: Assembled, mut request: ChatRequest, directives: Directives) -> Self {
        let Assembled { spec, lanes, limits, cascade, answer, .. } = ladder;
        // What the user asks for this one request counts more than what the config says of all.
        request.schema = request.schema.or(answer.schema);
        let shape = RequestShape::of(&request);
        let output = shape.max_tokens.unwrap_or(0);
        // A probe must not lose its lease while it is under way, and a step may have longer timers than its ladder.
        let longest = lanes.values().map(|lane| lane.timeouts.for_size(shape.input_tokens, output).total).max();
        let longest = longest.unwrap_or(limits.timeout.total).min(spec.limits.deadline);
        Self {
            id,
            spec,
            lanes,
            request,
            demands: answer.demands,
            hidden: Vec::new(),
            cascade,
            shape,
            directives,
            wanted: Wanted::Words,
            stream: limits.stream,
            retry_budget: limits.retry_budget,
            lease: longest + SLACK,
            buffer: limits.buffer,
            noted: Vec::new(),
            wants_text: true,
            keeps_answer: false,
            first_attempt: 0,
        }
    }

    /// How the answer streams; none when it comes whole. An answer that must be checked as a whole is not shown before
    /// it was.
    pub(super) fn streams(&self) -> Option<StreamPolicy> {
        let is_checked = self.request.schema.is_some() || !self.demands.is_empty();
        let policy = if is_checked { StreamPolicy::Buffer } else { self.stream };
        self.request.stream.then_some(policy)
    }

    /// Whether all words of a stream are wanted at its end: those that are shown as they come need not stay in memory.
    pub(super) fn keeps_all(&self) -> bool {
        self.wants_text || self.keeps_answer || !self.shows_pieces()
    }

    /// Whether the observer gets the words as they come; else they stand in the report alone.
    pub fn shows_pieces(&self) -> bool {
        self.streams().is_some_and(|policy| policy != StreamPolicy::Buffer)
    }
}
