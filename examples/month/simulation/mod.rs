//! A month of five providers, played on invented time by routers that know nothing of each other.
//!
//! The providers have state of their own and answer by it: counters that start over with a month in UTC or with a day in
//! Los Angeles, a window of a minute, outages. Requests, outages and latencies are drawn from the seed and from the time
//! alone, so that every router meets the same month, whatever it asks.

mod arrivals;
mod llmr;
mod naive;
mod provider;
mod tally;
mod world;

use std::time::Duration;

pub(crate) use llmr::{Knows, Llmr};
pub(crate) use naive::Naive;
pub(crate) use tally::Tally;
use world::World;

/// When it begins. The month changes after twelve days, and in the night after that the clocks of Los Angeles go back.
pub(crate) const START: &str = "2026-10-20T00:00:00Z";

/// How long it lasts.
pub(crate) const DAYS: u32 = 31;

/// The steps of the ladder, in their order.
pub(crate) const STEPS: [&str; 5] = ["monthly", "daily", "flaky", "minute", "last"];

/// Somebody who sends a request to one step after the other until one answers.
pub(crate) trait Router {
    /// Asks steps until one answers, and says which one did.
    fn route(&mut self, world: &mut World) -> Option<usize>;
}

/// Plays the whole month and counts what it cost.
pub(crate) fn play(router: &mut dyn Router, seed: u64) -> Tally {
    let mut world = World::new(seed);
    let start = world.now();
    for after in arrivals::arrivals(seed, Duration::from_secs(u64::from(DAYS) * 86_400)) {
        world.begin(start + after);
        let answered = router.route(&mut world);
        world.end(answered);
    }
    world.into_tally()
}
