//! Who says what failures are.

use jiff::Timestamp;

use crate::catalog::Catalog;
use crate::domain::{Evidence, Failure};

use super::verdict::Classifier;

/// Says what failures are.
///
/// [`Classifier`] is the one that is built in. One of your own may know a gateway that nobody else has, and leave the rest
/// to it. It is called for each failed attempt, before anything is decided, so it should be quick and must not panic.
pub trait Classify: Send + Sync {
    /// What the evidence means. `now` is the time of the failure where the evidence does not say it.
    fn classify(&self, evidence: &Evidence, catalog: &Catalog, now: Timestamp) -> Failure;
}

impl Classify for Classifier {
    fn classify(&self, evidence: &Evidence, catalog: &Catalog, now: Timestamp) -> Failure {
        Self::classify(self, evidence, catalog, now)
    }
}
