//! What a month cost.

use super::{DAYS, STEPS};

/// What was counted of one step.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct OfStep {
    pub(crate) calls: u32,
    pub(crate) failed: u32,
    /// Calls that failed for a cause that an earlier call had been told of.
    pub(crate) wasted: u32,
    /// Requests that went to a worse step, or nowhere, although this one would have answered.
    pub(crate) missed: u32,
}

impl OfStep {
    /// Wasted calls per day.
    pub(crate) fn wasted_a_day(&self) -> f64 {
        f64::from(self.wasted) / f64::from(DAYS)
    }
}

/// What was counted of a month.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    pub(crate) requests: u32,
    pub(crate) steps: [OfStep; STEPS.len()],
    pub(crate) late: u32,
    pub(crate) unanswered: u32,
}

impl Tally {
    /// What was counted of the step of that name.
    pub(crate) fn of(&self, step: &str) -> OfStep {
        STEPS.iter().zip(self.steps).find(|(name, _)| **name == step).map(|(_, counted)| counted).unwrap_or_default()
    }
}
