//! What the router would do now.

use jiff::Timestamp;

use crate::domain::{Deployment, LadderName};
use crate::ladder::{Planned as Turn, Run, Skip};
use crate::route::Job;

use super::answered::Skipped;

/// Who would be asked at this moment, and who not.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Plan {
    /// The moment.
    pub now: Timestamp,
    /// The ladder.
    pub ladder: LadderName,
    /// Who would be asked, in order. Empty when every step is held.
    pub order: Vec<Planned>,
    /// Who would not, and why.
    pub skipped: Vec<Skipped>,
}

/// One that would be asked.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Planned {
    /// Who.
    pub deployment: Deployment,
    /// Its step in the ladder; 0 is the first.
    pub step: usize,
    /// Whether it would be asked as the one probe of a hold.
    pub is_probe: bool,
}

impl Plan {
    /// When the first of the steps returns that are held; none when nothing is held, or nobody knows.
    pub fn retry_at(&self) -> Option<Timestamp> {
        self.skipped.iter().filter_map(|skipped| skipped.until).min()
    }

    pub(super) fn new(now: Timestamp, job: &Job, machine: &Run, order: &[Turn], skipped: &[Skip]) -> Self {
        let planned = |turn: &Turn| {
            let deployment = machine.steps().get(turn.step)?.target.deployment.clone();
            Some(Planned { deployment, step: turn.step, is_probe: turn.probe })
        };
        Self {
            now,
            ladder: job.spec.name.clone(),
            order: order.iter().filter_map(planned).collect(),
            skipped: skipped.iter().map(Skipped::from).collect(),
        }
    }
}
