//! Who watches a request: the terminal, the demo, or nobody.

use std::time::Duration;

use crate::domain::{AttemptKind, AttemptRecord, Deployment};
use crate::ladder::Skip;

/// Nobody reads any more; the provider's work is stopped, and that is no failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConsumerGone;

/// Told what happens as it happens. All methods do nothing by default.
pub trait Observer {
    /// A deployment is about to be asked.
    fn asking(&mut self, deployment: &Deployment, step: usize, kind: AttemptKind) {
        let _ = (deployment, step, kind);
    }

    /// The exchange is over, with its class when it failed.
    fn asked(&mut self, attempt: &AttemptRecord) {
        let _ = attempt;
    }

    /// The budget of retries of a minute is spent: the deployment is not tried again.
    fn retry_denied(&mut self, deployment: &Deployment, budget: u32) {
        let _ = (deployment, budget);
    }

    /// A step was passed over.
    fn skipped(&mut self, skip: &Skip) {
        let _ = skip;
    }

    /// A piece of the answer, when the request streams.
    ///
    /// # Errors
    /// When nobody reads any more.
    fn text(&mut self, piece: &str) -> Result<(), ConsumerGone> {
        let _ = piece;
        Ok(())
    }

    /// What was shown so far is void; the next step starts over.
    fn restart(&mut self) {}

    /// Nothing is eligible for so long.
    fn waiting(&mut self, wait: Duration) {
        let _ = wait;
    }

    /// Something is wrong on our side, but the request goes on.
    fn warning(&mut self, message: &str) {
        let _ = message;
    }
}

/// Nobody watches.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {}
