//! What many routers do: whatever fails, for whatever reason, rests for a fixed time.

use std::time::Duration;

use jiff::Timestamp;

use super::provider::Reply;
use super::world::World;
use super::{Router, STEPS};

/// A router that benches what fails.
pub(crate) struct Naive {
    bench: Duration,
    until: [Timestamp; STEPS.len()],
}

impl Naive {
    pub(crate) fn new(bench: Duration) -> Self {
        Self { bench, until: [Timestamp::MIN; STEPS.len()] }
    }
}

impl Router for Naive {
    fn route(&mut self, world: &mut World) -> Option<usize> {
        for step in 0..STEPS.len() {
            if self.until[step] > world.now() {
                continue;
            }
            if world.call(step) == Reply::Answer {
                return Some(step);
            }
            self.until[step] = world.now() + self.bench;
        }
        None
    }
}
