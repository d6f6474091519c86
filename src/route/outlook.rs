//! What the ladder would do with a job at this moment, without doing it.

use std::time::Duration;

use jiff::Timestamp;

use crate::ladder::{Planned, Run, Skip, View};
use crate::policy::{Cascade, Passage, UsageSettings};
use crate::store::Snapshot;

use super::cascade::{cascade_of, passage};
use super::job::Job;

/// Who would be asked, and who not.
#[derive(Debug)]
pub struct Outlook<'a> {
    /// Who would be asked, in order.
    pub order: Vec<Planned>,
    /// Who would not, and why.
    pub skipped: Vec<Skip>,
    /// What is remembered of requests that fell through the ladder.
    pub cascade: Option<&'a Cascade>,
}

/// Looks with the job's machine at what the state was at this moment.
pub fn outlook<'a>(
    job: &Job,
    machine: &Run,
    snapshot: &'a Snapshot,
    bounds: &UsageSettings,
    now: Timestamp,
) -> Outlook<'a> {
    let view = View { holds: &snapshot.holds, usage: &snapshot.usage, bounds, now, elapsed: Duration::ZERO };
    let cascade = cascade_of(job, snapshot, view.now);
    let (order, mut skipped) = match cascade.map(|cascade| passage(job, cascade, machine, &view)) {
        Some(Passage::Refused { until, is_looked_at }) => {
            (Vec::new(), machine.skipped_by_ladder(&view, &machine.turned_away(&view, until, is_looked_at)))
        }
        _ => (machine.plan(&view), machine.skipped(&view)),
    };
    // A last resort is asked although it is held.
    skipped.retain(|skip| !order.iter().any(|planned| planned.step == skip.step));
    Outlook { order, skipped, cascade }
}
