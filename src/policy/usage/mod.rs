//! Usage: how much of each allowance is spent, and whether one more request fits.
//!
//! Asking beyond a limit is a wasted call, and with some providers one that counts. So what answers used is counted for
//! each account, model and limit, what other processes have under way is counted with it, and a step whose limit this
//! request would cross is passed over before anything is sent. Numbers are believed by where they come from. The
//! operator's and the provider's own stop a request; of the two the smaller, because a limit that is lower than thought
//! is learned at once. The catalogue's number is that of a plan the account may not have: it puts a step last, and stops
//! nothing. Where more was used than it allows, it is plainly wrong and says nothing.

mod count;
mod estimate;
mod forecast;
mod gauge;
mod meter;
mod room;

#[cfg(test)]
mod forecast_tests;
#[cfg(test)]
mod tests;

pub use count::{Spent, count};
pub use estimate::{Demand, Estimate};
pub use forecast::{Forecast, Pace, forecasts};
pub use gauge::{Gauge, Limit, LimitSource};
pub use meter::{Learned, Meter};
pub use room::{Reading, Room, Tightness, full, is_limited, readings, room, tokens_left};

use jiff::Timestamp;

use super::gate::LONGEST_LEASE;
use super::until::later;
use crate::domain::{Deployment, Dimension, RequestId, Scope, Target};

/// What makes a meter the same meter.
pub type MeterKey = (Scope, Dimension);

/// A meter as the store has it.
#[derive(Debug, Clone, PartialEq)]
pub struct VersionedMeter {
    /// Grows by one with every write.
    pub version: i64,
    /// The meter itself.
    pub meter: Meter,
}

/// A write that happens only if the meter is still at the version that the decision saw.
#[derive(Debug, Clone, PartialEq)]
pub struct MeterChange {
    /// Which meter.
    pub key: MeterKey,
    /// The version that the decision saw; none when there was no meter.
    pub expected: Option<i64>,
    /// The new meter; none deletes it.
    pub meter: Option<Meter>,
}

/// A request that some process has under way. It ends by itself, so a process that is killed does not count for long.
#[derive(Debug, Clone, PartialEq)]
pub struct Flight {
    /// The request.
    pub id: RequestId,
    /// Who is asked.
    pub target: Target,
    /// What it is expected to use.
    pub demand: Demand,
    /// When it ends by itself.
    pub until: Timestamp,
}

impl Flight {
    /// Whether it is still under way. One that ends in the far future was noted by a clock that ran ahead.
    pub fn is_up(&self, now: Timestamp) -> bool {
        self.until > now && self.until <= later(now, LONGEST_LEASE)
    }
}

/// All that is known of usage, for some accounts.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UsageState {
    /// What was used.
    pub meters: Vec<VersionedMeter>,
    /// What is under way.
    pub flights: Vec<Flight>,
    /// How tokens are estimated.
    pub estimates: Vec<Estimate>,
}

impl UsageState {
    /// What is known of the tokens of a deployment's model.
    pub fn estimate(&self, deployment: &Deployment) -> Estimate {
        let same = |known: &&Estimate| known.provider == deployment.provider && known.model == deployment.model;
        let new = || Estimate::new(deployment.provider.clone(), deployment.model.clone());
        self.estimates.iter().find(same).cloned().unwrap_or_else(new)
    }

    /// Of the requests that are under way those that are not any more: this one, and all whose time is over.
    pub fn landed(&self, id: &RequestId, now: Timestamp) -> Vec<RequestId> {
        let over = self.flights.iter().filter(|flight| flight.id == *id || !flight.is_up(now));
        over.map(|flight| flight.id.clone()).collect()
    }

    /// The meter of that scope and limit.
    pub fn meter(&self, scope: &Scope, dimension: Dimension) -> Option<&VersionedMeter> {
        self.meters.iter().find(|held| held.meter.dimension == dimension && held.meter.scope == *scope)
    }
}
