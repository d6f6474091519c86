//! What `llmr stats --format prometheus` tells a scraper.

use llmr::config::{Config, LadderConfig};
use llmr::domain::LadderName;
use llmr::report::{Choice, Exposition, LadderLimits, Metrics, Status};
use llmr::store::{Accounts, Snapshot, Store, Totals};

use crate::context::Context;
use crate::error::CliError;
use crate::stats::retries_used;
use crate::status::{known, sign};

/// All counters over the life of the state file, and the state now.
///
/// # Errors
/// When the state cannot be read.
pub fn text(config: Option<&Config>, format: Exposition, context: &mut Context) -> Result<String, CliError> {
    let now = context.clock.now();
    let store = context.store_to_read(config)?;
    let (totals, snapshot, health, salt, retries_used) = match &store {
        Some(store) => {
            let snapshot = store.snapshot(&Accounts::All)?;
            (store.totals()?, snapshot, store.health()?, store.salt().ok(), retries_used(store, now)?)
        }
        None => (Totals::default(), Snapshot::default(), Vec::new(), None, 0),
    };
    if let Some(store) = &store {
        context.show_state_warning(store);
    }
    let mut known = known(config, &health);
    if let Some(config) = config {
        sign(&mut known, config, salt.as_deref(), context);
    }
    let ladder = |(name, ladder): (&LadderName, &LadderConfig)| LadderLimits {
        name: name.clone(),
        steps: ladder.steps.len(),
        retry_budget: ladder.limits.retry_budget,
    };
    let ladders: Vec<LadderLimits> = config.into_iter().flat_map(|config| &config.ladders).map(ladder).collect();
    let bounds = config.map(|config| config.policy.usage).unwrap_or_default();
    let choice = Choice::default();
    let status = Status {
        now,
        known: &known,
        snapshot: &snapshot,
        bounds: &bounds,
        health: &health,
        choice: &choice,
        only_held: false,
    };
    let version = env!("CARGO_PKG_VERSION");
    Ok(Metrics { version, status, ladders: &ladders, totals: &totals, retries_used }.text(format))
}
