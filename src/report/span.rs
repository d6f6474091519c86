//! Spans of time as people say them.

use jiff::SignedDuration;

/// The span in at most two units: `45s`, `5m`, `3h 12m`, `2d 4h`. What is past is `0s`; days begin at two.
pub fn short_span(span: SignedDuration) -> String {
    let seconds = span.as_secs().max(0);
    let two = |large: i64, unit: &str, small: i64, small_unit: &str| match small {
        0 => format!("{large}{unit}"),
        _ => format!("{large}{unit} {small}{small_unit}"),
    };
    match seconds {
        0..60 => format!("{seconds}s"),
        60..600 => two(seconds / 60, "m", seconds % 60, "s"),
        600..3_600 => format!("{}m", seconds / 60),
        3_600..172_800 => two(seconds / 3_600, "h", seconds % 3_600 / 60, "m"),
        _ => two(seconds / 86_400, "d", seconds % 86_400 / 3_600, "h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_short() {
        for (seconds, text) in [
            (-5, "0s"),
            (59, "59s"),
            (60, "1m"),
            (90, "1m 30s"),
            (3_599, "59m"),
            (3_600, "1h"),
            (11_520, "3h 12m"),
            (88_200, "24h 30m"),
            (172_800, "2d"),
            (187_200, "2d 4h"),
        ] {
            assert_eq!(short_span(SignedDuration::from_secs(seconds)), text);
        }
    }
}
