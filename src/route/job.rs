//! What the driver is given for one request.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::catalog::ProviderInfo;
use crate::config::StreamPolicy;
use crate::domain::{ChatRequest, Deployment, RequestId, Secret, Timeouts};
use crate::ladder::{Directives, RequestShape, Spec};
use crate::policy::CascadeSettings;

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
    /// Retries per minute over all processes.
    pub retry_budget: u32,
    /// How long a probe's lease lives.
    pub lease: Duration,
}

impl Job {
    /// How the answer streams; none when it comes whole. An answer that must be checked as a whole is not shown before
    /// it was.
    pub(super) fn streams(&self) -> Option<StreamPolicy> {
        let policy = if self.request.schema.is_some() { StreamPolicy::Buffer } else { self.stream };
        self.request.stream.then_some(policy)
    }

    /// Whether the observer gets the words as they come; else they stand in the report alone.
    pub fn shows_pieces(&self) -> bool {
        self.streams().is_some_and(|policy| policy != StreamPolicy::Buffer)
    }
}
