//! Times as people read them.

use std::time::Duration;

use jiff::Timestamp;

/// The time in RFC 3339 with whole seconds, in UTC.
pub fn rfc3339(at: Timestamp) -> String {
    let whole = Timestamp::from_second(at.as_second()).unwrap_or(at);
    if at.subsec_millisecond() == 0 { whole.to_string() } else { format!("{at:.3}") }
}

/// The time for people: RFC 3339 in UTC without fractions, a moment later rather than sooner.
pub(super) fn seconds_of(at: Timestamp) -> String {
    let up = at.as_second() + i64::from(at.subsec_nanosecond() > 0);
    Timestamp::from_second(up).unwrap_or(at).to_string()
}

/// How far away a moment is: `in 4h 12m`, `now`, `3s ago`.
pub fn distance(at: Timestamp, now: Timestamp) -> String {
    // Rounded away from now: what ends in 59.9 s ends in 1m, not in 59s.
    let far = at.duration_since(now);
    let seconds = far.as_secs() + i64::from(far.subsec_nanos().signum());
    match seconds {
        0 => "now".to_owned(),
        1.. => format!("in {}", span(Duration::from_secs(seconds.unsigned_abs()))),
        _ => format!("{} ago", span(Duration::from_secs(seconds.unsigned_abs()))),
    }
}

/// A length of time in at most its two largest units: `45s`, `3h 12m`, `2d 4h`; days begin at two.
pub fn span(length: Duration) -> String {
    let seconds = length.as_secs();
    let two = |large: u64, unit: &str, small: u64, small_unit: &str| match small {
        0 => format!("{large}{unit}"),
        _ => format!("{large}{unit} {small}{small_unit}"),
    };
    match seconds {
        0 => format!("{}ms", length.as_millis()),
        1..60 => format!("{seconds}s"),
        60..600 => two(seconds / 60, "m", seconds % 60, "s"),
        600..3_600 => format!("{}m", seconds / 60),
        3_600..172_800 => two(seconds / 3_600, "h", seconds % 3_600 / 60, "m"),
        _ => two(seconds / 86_400, "d", seconds % 86_400 / 3_600, "h"),
    }
}

/// Seconds with milliseconds, for JSON.
pub(super) fn seconds(length: Duration) -> f64 {
    (length.as_secs_f64() * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_show_their_two_largest_units() {
        for (milliseconds, text) in [
            (7, "7ms"),
            (5_000, "5s"),
            (65_000, "1m 5s"),
            (3_599_000, "59m"),
            (3_600_000, "1h"),
            (15_120_000, "4h 12m"),
            (88_200_000, "24h 30m"),
            (200_000_000, "2d 7h"),
        ] {
            assert_eq!(span(Duration::from_millis(milliseconds)), text);
        }
    }

    #[test]
    fn moments_are_told_from_now() {
        let now: Timestamp = "2026-08-23T03:00:00Z".parse().expect("a time");
        assert_eq!(distance(now + Duration::from_secs(90), now), "in 1m 30s");
        assert_eq!(distance(now - Duration::from_secs(3), now), "3s ago");
        assert_eq!(distance(now, now), "now");
        assert_eq!(rfc3339(now), "2026-08-23T03:00:00Z");
        assert_eq!(rfc3339(now + Duration::from_millis(250)), "2026-08-23T03:00:00.250Z");
    }
}
