//! What a ladder's order is made of, fetched from the store: only what this ladder goes by.

use std::time::Duration;

use jiff::Timestamp;

use crate::config::{CachePreference, Config, Hedge, LadderConfig};
use crate::domain::{ChatRequest, Deployment, LadderName, Prefix};
use crate::ladder::{RequestShape, Scene};
use crate::policy::{TrackRecord, UsageState};
use crate::store::{Accounts, Store, StoreError};

use super::prefix::{Beginnings, CACHED_FOR};

/// Attempts count for so long: providers have good and bad hours, but a quiet ladder must have some to go by.
const RECORD_WINDOW: Duration = Duration::from_secs(24 * 3600);

/// So many attempts of a deployment count at most: enough for a twentieth, few enough to be quick.
const RECORD_ATTEMPTS: u32 = 200;

/// What is known at the moment at which a request comes.
#[derive(Debug, Clone)]
pub struct Facts {
    /// How the ladder's deployments did lately, where anything goes by it.
    pub records: Vec<TrackRecord>,
    /// What is used and under way, where anything goes by it.
    pub usage: UsageState,
    /// Who lately served the beginning of the prompt, the latest first, where anything goes by it.
    pub served: Vec<Prefix>,
    /// Under which digests the answer is to be noted.
    pub noted: Vec<String>,
    /// What can be said of the request.
    pub shape: RequestShape,
    /// The wall clock.
    pub now: Timestamp,
}

impl Facts {
    /// Nothing but the time: for a ladder whose order is as written.
    pub fn nothing(now: Timestamp) -> Self {
        Self {
            records: Vec::new(),
            usage: UsageState::default(),
            served: Vec::new(),
            noted: Vec::new(),
            shape: RequestShape::default(),
            now,
        }
    }

    /// What the ladder of that name goes by for this request. The salt is the store's.
    ///
    /// # Errors
    /// When the state cannot be read.
    pub fn of(
        config: &Config,
        name: &LadderName,
        request: &ChatRequest,
        (store, salt): (&dyn Store, &[u8]),
        now: Timestamp,
    ) -> Result<Self, StoreError> {
        let mut facts = Self { shape: RequestShape::of(request), ..Self::nothing(now) };
        let Some(ladder) = config.ladders.get(name) else { return Ok(facts) };
        let deployments = deployments(config, ladder);
        let limits = &ladder.limits;
        if ladder.strategy.needs_records() || limits.max_latency.is_some() || limits.hedge == Hedge::P95 {
            // What an answer takes depends on the work: shares of success are those of this ladder alone.
            let own = ladder.strategy.is_of_the_ladder().then_some(name);
            facts.records = store.track_records(&deployments, own, now - RECORD_WINDOW, RECORD_ATTEMPTS)?;
        }
        if ladder.strategy.needs_usage() || limits.max_cost_per_1k_usd.is_some() {
            let targets: Vec<_> = deployments.iter().map(|deployment| config.target(deployment)).collect();
            facts.usage = store.snapshot(&Accounts::of(&targets))?.usage;
        }
        if limits.cache != CachePreference::Off {
            let beginnings = Beginnings::of(request, salt);
            facts.noted = beginnings.noted;
            for digest in &beginnings.sought {
                facts.served.extend(store.prefixes(digest, now - CACHED_FOR)?);
            }
            facts.served.sort_by_key(|prefix| std::cmp::Reverse(prefix.at));
        }
        Ok(facts)
    }

    /// What a strategy looks at.
    pub(super) fn scene(&self) -> Scene<'_> {
        Scene { usage: &self.usage, shape: self.shape, now: self.now }
    }

    /// How the deployment did lately.
    pub(super) fn record(&self, deployment: &Deployment) -> Option<&TrackRecord> {
        self.records.iter().find(|record| record.deployment == *deployment)
    }
}

/// Every deployment that the ladder may ask, each once.
fn deployments(config: &Config, ladder: &LadderConfig) -> Vec<Deployment> {
    let chains = [&ladder.context_window, &ladder.content_policy, &ladder.unsupported];
    let chains = chains.into_iter().flatten().filter_map(|name| config.ladders.get(name));
    let steps = std::iter::once(ladder).chain(chains).flat_map(|ladder| &ladder.steps);
    let all: std::collections::BTreeSet<_> =
        steps.map(|step| &step.deployment).chain(&ladder.last_resort).cloned().collect();
    all.into_iter().collect()
}
