//! When requests come: one in each minute, and now and then ten within half a minute.

use std::time::Duration;

use llmr::clock::Rng;

const BURST: u64 = 10;

/// How long after the start each request comes, in order.
pub(crate) fn arrivals(seed: u64, length: Duration) -> Vec<Duration> {
    let mut rng = Rng::new(Some(seed));
    let mut all = Vec::new();
    for minute in 0..length.as_secs() / 60 {
        let at = |within: f64| Duration::from_secs(minute * 60) + Duration::from_secs_f64(within);
        let first = rng.unit() * 30.0;
        let burst = if rng.unit() < 0.04 { BURST } else { 1 };
        all.extend((0..burst).map(|n| at(first + 3.0 * n as f64)));
    }
    all
}
