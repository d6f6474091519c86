//! How long to wait before the same is tried again.

use std::time::Duration;

/// The wait before retry number `retry` (0 is the first): between half and the whole of `base` doubled each time, at
/// most `max`. `unit` is a drawn number in 0..1; the half that is never drawn away keeps a retry from coming at once.
pub fn full_jitter(base: Duration, max: Duration, retry: u32, unit: f64) -> Duration {
    let ceiling = doubled(base, max, retry);
    ceiling.mul_f64(0.5 + 0.5 * unit.clamp(0.0, 1.0))
}

/// `base` doubled `times` times, at most `max`.
pub(super) fn doubled(base: Duration, max: Duration, times: u32) -> Duration {
    base.saturating_mul(1_u32.checked_shl(times).unwrap_or(u32::MAX)).min(max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_their_bound_and_are_spread() {
        let (base, max) = (Duration::from_secs(5), Duration::from_secs(3600));
        assert_eq!(doubled(base, max, 0), base);
        assert_eq!(doubled(base, max, 3), Duration::from_secs(40));
        assert_eq!(doubled(base, max, 40), max);
        assert_eq!(full_jitter(base, max, 0, 0.0), Duration::from_millis(2500));
        assert_eq!(full_jitter(base, max, 1, 1.0), Duration::from_secs(10));
    }
}
