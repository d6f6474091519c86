//! Durations as the catalogue and the config write them: `750ms`, `30s`, `5m`, `6h`, `7d`.

use std::time::Duration;

/// The longest duration that can be meant: ten years. More is a slip of the pen.
const MAX: Duration = Duration::from_secs(3650 * 86_400);

/// Reads a whole number with one unit (`ms`, `s`, `m`, `h`, `d`); none for anything else or more than ten years.
pub fn parse_duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at_checked(digits)?;
    let number: u64 = number.parse().ok()?;
    let millis = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    let duration = Duration::from_millis(number.checked_mul(millis)?);
    (duration <= MAX).then_some(duration)
}

/// Writes the duration in the largest unit that needs no fraction, so that [`parse_duration`] reads it back.
pub fn format_duration(duration: Duration) -> String {
    let millis = duration.as_millis();
    let (size, unit) = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1_000, "s")]
        .into_iter()
        .find(|(size, _)| millis > 0 && millis.is_multiple_of(*size))
        .unwrap_or(if millis == 0 { (1_000, "s") } else { (1, "ms") });
    format!("{}{unit}", millis / size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_back_as_they_are_written() {
        for text in ["750ms", "30s", "5m", "6h", "7d", "0s", "90s", "1001ms"] {
            let duration = parse_duration(text).expect(text);
            assert_eq!(format_duration(duration), text);
        }
        assert_eq!(format_duration(Duration::from_secs(3600)), "1h");
    }

    #[test]
    fn anything_else_is_refused() {
        for text in ["", "s", "5", "-5s", "1.5s", "5 s", "5S", "5min", "99999999999999999999s", "99999d", "5s5s", "½h"]
        {
            assert_eq!(parse_duration(text), None, "{text}");
        }
    }
}
