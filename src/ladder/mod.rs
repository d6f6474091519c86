//! Who is eligible now and in which order, and the machine that walks one request down the ladder.
//!
//! The machine does no I/O. The driver asks it what to do (`poll`), does it, and tells it what came of it. So the same
//! machine serves `chat`, `plan` and the scenario tests, and can be played on invented time, thousands of times a
//! second.

mod access;
mod bars;
mod closed;
mod closing;
mod cost;
mod eligibility;
mod end;
mod invalid;
mod plans;
mod rank;
mod run;
mod spec;
mod turn;

#[cfg(test)]
mod invalid_tests;
#[cfg(test)]
mod limits_tests;
#[cfg(test)]
mod plans_tests;
#[cfg(test)]
mod play;
#[cfg(test)]
mod rank_tests;
#[cfg(test)]
mod tests;

pub use access::{Access, Asked, access};
pub use closed::TurnedAway;
pub use cost::Cost;
pub use eligibility::{Eligibility, eligibility};
pub use end::{End, Skip, SkipReason};
pub use plans::{Failed, Remedy};
pub use rank::{Contender, LatencyOf, Measure, Ranking, Scene, Strategy, rank};
pub use run::{Exchange, Planned, Run, Step, View};
pub use spec::{
    ATTEMPTS, Directives, OnInvalid, OnMayHaveRun, RequestShape, RunLimits, Served, Spec, Standing, StepSpec,
};
