//! Figures and names that decide by themselves: what was asked against what is allowed, and which quota Google means.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use crate::classify::text;
use crate::domain::LimitFacts;

/// What Google says of the quotas that were violated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Quotas {
    /// One of them counts per day.
    pub(crate) per_day: bool,
    /// One of them counts per minute.
    pub(crate) per_minute: bool,
    /// One of them allows nothing at all.
    pub(crate) zero: bool,
    /// Where a text lists several windows with their figures: the longest one that is full.
    pub(crate) full: Option<Window>,
}

/// How long a limit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Window {
    /// Up to an hour.
    Short,
    /// A day or longer.
    Long,
}

/// Reads `quotaId`, `quota_limit` and their values, from fields and, for logs that are cut, from the text.
pub(crate) fn quotas(values: &[Value], raw: &str) -> Quotas {
    let mut quotas = Quotas {
        // These spellings occur in the names of quotas only.
        per_day: raw.contains("PerDay") || raw.contains("ByDay"),
        per_minute: raw.contains("PerMinute") || raw.contains("ByMinute"),
        zero: says_limit_zero(raw),
        full: full_window(raw),
    };
    for value in values {
        walk(value, 0, &mut quotas);
    }
    quotas
}

/// `limit: 0` as a whole number: not `limit: 0.5`, not `limit: 01`.
fn says_limit_zero(raw: &str) -> bool {
    ["limit: 0", "limit_value\": \"0\"", "limit_value\":\"0\"", "limit_value': '0'", "Limit: 0", "Limit 0"].iter().any(
        |sign| {
            raw.match_indices(sign).take(32).any(|(at, _)| {
                let after = raw.get(at + sign.len()..).unwrap_or("");
                let fraction = after.strip_prefix('.').unwrap_or(after);
                // "limit: 0 requests remaining" is a spent window, not a window of zero.
                let next: String = after.chars().take(24).collect();
                let left = next.contains("remaining") || next.contains("left");
                !left && !fraction.starts_with(|c: char| c.is_ascii_digit())
            })
        },
    )
}

/// `Minute limit: 203411 / 200000 tokens. Day limit: 4002120 / 10000000 tokens.`
static WINDOW: LazyLock<Option<Regex>> = LazyLock::new(|| {
    text::expression(concat!(
        r"(?i)\b(second|minute|hour|hourly|day|daily|week|weekly|month|monthly)[a-z ]{0,20}[:=(]{1,2} ?(\d[\d,]{0,25})",
        r" ?(?:/|of|out of) ?(\d[\d,]{0,25})"
    ))
});

/// A window in a list of windows, with its figures.
pub(crate) struct Listed<'t> {
    /// Its name, in lower case: `minute`, `daily`.
    pub(crate) name: String,
    /// What is used.
    pub(crate) used: f64,
    /// What is allowed.
    pub(crate) limit: f64,
    /// Its words and figures as they stand.
    pub(crate) whole: &'t str,
    /// Where they end.
    pub(crate) end: usize,
}

/// The windows that a text lists with what is used and what is allowed.
pub(crate) fn listed(raw: &str) -> impl Iterator<Item = Listed<'_>> {
    let number = |text: &str| text.replace(',', "").parse::<f64>().ok();
    let matches = WINDOW.as_ref().map(|window| window.captures_iter(raw).take(16));
    matches.into_iter().flatten().filter_map(move |captures| {
        let whole = captures.get(0)?;
        let (used, limit) = (number(captures.get(2)?.as_str())?, number(captures.get(3)?.as_str())?);
        let name = captures.get(1)?.as_str().to_ascii_lowercase();
        Some(Listed { name, used, limit, whole: whole.as_str(), end: whole.end() })
    })
}

/// The longest window that is full, where at least two are listed with what is used and what is allowed.
fn full_window(raw: &str) -> Option<Window> {
    let windows: Vec<(Window, bool)> = listed(raw)
        .map(|listed| {
            let is_short = ["second", "minute", "hour"].iter().any(|short| listed.name.starts_with(short));
            (if is_short { Window::Short } else { Window::Long }, listed.used >= listed.limit)
        })
        .collect();
    if windows.len() < 2 {
        return None;
    }
    windows.into_iter().filter(|(_, full)| *full).map(|(window, _)| window).max()
}

fn walk(value: &Value, depth: usize, quotas: &mut Quotas) {
    if depth > 16 {
        return;
    }
    match value {
        Value::Array(items) => items.iter().take(64).for_each(|item| walk(item, depth + 1, quotas)),
        Value::Object(map) => {
            for (key, value) in map {
                match key.as_str() {
                    "quota_limit_value" | "quotaValue" => {
                        quotas.zero |= matches!(value, Value::String(text) if text == "0") || value.as_i64() == Some(0);
                    }
                    _ => walk(value, depth + 1, quotas),
                }
            }
        }
        _ => {}
    }
}

/// `Limit 7000, Used 6148, Requested 7895`, `Limit: 60.000000 / min. Current: 70.0`, `current: 1526210, limit: 1500000`.
static FIGURES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    text::expression(r"\b(limit|used|requested|current|remaining|max)\b:? ?~?(\d[\d,]{0,15}(?:\.\d{1,9})?)")
});

/// The figures of a limit in normalised words; none when there is no limit among them.
pub(crate) fn limits(words: &str) -> Option<LimitFacts> {
    limits_at(words).map(|(facts, _)| facts)
}

/// The same, with the place where the first of them begins.
pub(crate) fn limits_at(words: &str) -> Option<(LimitFacts, usize)> {
    if !words.contains("limit") {
        return None;
    }
    let mut facts = LimitFacts::default();
    let mut start = None;
    for captures in FIGURES.as_ref()?.captures_iter(words).take(16) {
        let (name, number) = (captures.get(1)?, captures.get(2)?);
        start.get_or_insert(name.start());
        let number: f64 = number.as_str().replace(',', "").parse().ok()?;
        let place = match name.as_str() {
            "limit" | "max" => &mut facts.limit,
            "used" | "current" => &mut facts.used,
            "requested" => &mut facts.requested,
            _ => &mut facts.remaining,
        };
        place.get_or_insert(number);
    }
    (facts.limit.is_some() || facts.used.is_some()).then_some((facts, start?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_is_a_whole_number() {
        for (text, zero) in [
            ("limit: 0, model: x", true),
            ("limit: 0", true),
            ("limit: 0.5 / min", false),
            ("limit: 05", false),
            ("limit: 10", false),
            ("rate limit: 0 requests remaining", false),
            (r#""quota_limit_value":"0""#, true),
        ] {
            assert_eq!(quotas(&[], text).zero, zero, "{text}");
        }
    }

    #[test]
    fn of_several_windows_the_full_one_counts() {
        for (text, full) in [
            ("Minute limit: 203411 / 200000 tokens. Day limit: 4002120 / 10000000 tokens.", Some(Window::Short)),
            ("minute limit: 5 / 10. day limit: 100 / 100", Some(Window::Long)),
            ("hourly: 3/50, daily: 20/50", None),
            ("daily limit: 50/50", None),
        ] {
            assert_eq!(quotas(&[], text).full, full, "{text}");
        }
    }

    #[test]
    fn figures_are_read() {
        let facts = limits("tokens per minute (tpm): limit 7000, used 6148, requested ~12,903. please").unwrap();
        assert_eq!((facts.limit, facts.used, facts.requested), (Some(7000.0), Some(6148.0), Some(12903.0)));
        assert_eq!(limits("used 5 apples"), None);
    }
}
