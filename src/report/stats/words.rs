//! Numbers as people read them.

use std::time::Duration;

use crate::report::moment::span;

/// With a comma between thousands: `1,204`.
pub(super) fn whole(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Three digits that say something: `940`, `12.3k`, `1.25M`.
pub(super) fn short(count: f64) -> String {
    let scaled = |of: f64, unit: &str| {
        let value = count / of;
        let digits = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
        format!("{value:.digits$}{unit}")
    };
    match count {
        ..9_999.5 => whole(count.round() as u64),
        ..999_500.0 => scaled(1e3, "k"),
        ..999_500_000.0 => scaled(1e6, "M"),
        _ => scaled(1e9, "G"),
    }
}

/// `97.8 %`, but never all where something is missing, nor nothing where there is some.
pub(super) fn percent(share: f64) -> String {
    let tenths = (share * 1000.0).round();
    if share > 0.0 && tenths < 1.0 {
        "<0.1 %".to_owned()
    } else if share < 1.0 && tenths >= 1000.0 {
        ">99.9 %".to_owned()
    } else if tenths.rem_euclid(10.0) == 0.0 && (tenths == 0.0 || tenths == 1000.0) {
        format!("{:.0} %", share * 100.0)
    } else {
        format!("{:.1} %", share * 100.0)
    }
}

/// Milliseconds below a second, tenths below a minute.
pub(super) fn time(length: Duration) -> String {
    match length.as_millis() {
        ..1_000 => format!("{} ms", length.as_millis()),
        1_000..60_000 => format!("{:.1} s", length.as_secs_f64()),
        _ => span(length),
    }
}

/// At least two digits that say something, down to a millionth.
pub(super) fn usd(usd: f64) -> String {
    match usd {
        0.0 => "$0".to_owned(),
        100.0.. => format!("${}", whole(usd.round() as u64)),
        1.0.. => format!("${usd:.2}"),
        0.01.. => format!("${usd:.4}"),
        _ => format!("${usd:.6}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_what_says_something() {
        assert_eq!([0, 12, 999, 1000, 1_234_567].map(whole), ["0", "12", "999", "1,000", "1,234,567"]);
        let shorts = [0.4, 940.0, 9_999.4, 12_345.0, 123_456.0, 999_400.0, 1_250_000.0, 4.2e9];
        assert_eq!(shorts.map(short), ["0", "940", "9,999", "12.3k", "123k", "999k", "1.25M", "4.20G"]);
        let shares = [0.0, 0.000_01, 0.5, 0.978, 0.999_99, 1.0];
        assert_eq!(shares.map(percent), ["0 %", "<0.1 %", "50.0 %", "97.8 %", ">99.9 %", "100 %"]);
        let times = [7, 999, 1_900, 59_940, 61_000].map(Duration::from_millis);
        assert_eq!(times.map(time), ["7 ms", "999 ms", "1.9 s", "59.9 s", "1m 1s"]);
        assert_eq!([0.0, 0.001_234, 0.5, 12.3, 1234.5].map(usd), ["$0", "$0.001234", "$0.5000", "$12.30", "$1,235"]);
    }
}
