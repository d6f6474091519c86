//! How to wait for a lock that another process holds.
//!
//! SQLite's own wait sleeps up to 100 ms between looks, so a writer that has waited long is the one that looks least
//! often, and some starve. Ours looks every 50 to 250 µs, by chance so that no two writers march in step, up to a
//! deadline by the stopwatch.

use std::time::Duration;

use crate::clock::{Clock, Rng, Stopwatch};

/// One wait after another for the same lock, up to a limit.
pub(super) struct Wait {
    clock: Clock,
    rng: Rng,
    limit: Duration,
    began: Option<Stopwatch>,
}

impl Wait {
    pub(super) fn new(limit: Duration) -> Self {
        Self { clock: Clock::new(None), rng: Rng::new(None), limit, began: None }
    }

    /// Sleeps a moment; false, without sleeping, once the limit is reached. `first` starts the limit anew.
    pub(super) fn pause(&mut self, first: bool) -> bool {
        if first {
            self.began = None;
        }
        let began = *self.began.get_or_insert_with(|| self.clock.stopwatch());
        if began.elapsed() >= self.limit {
            return false;
        }
        nap(Duration::from_micros(50 + self.rng.next_u64() % 201));
        true
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "SQLite calls this inside a blocking statement, so nothing above could sleep in its place; a nap is shorter \
              than the write that it waits for"
)]
fn nap(time: Duration) {
    std::thread::sleep(time);
}
