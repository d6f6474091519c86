//! The one parser for durations and moments, in every format that providers have been seen to use.
//!
//! A hint that is read wrongly is worse than none: a hold of minutes instead of hours hammers a dead account, and the
//! reverse benches a healthy one. So all readers of headers, bodies and messages come here, and what makes no sense
//! (negative, unreadable, more than 366 days ahead) is absent, never zero.

mod find;
mod moment;

use std::time::Duration;

pub use find::{Hint, find_hint};
pub(crate) use moment::china;
pub use moment::{ZoneGuess, parse_moment};

/// The longest wait that is believed.
pub const LONGEST: Duration = Duration::from_secs(366 * 24 * 3600);

/// Reads a whole text as a duration: `7m12s`, `644ms`, `5 days 22 hours 11 minutes`, `36.5s`, `PT5M`, `22.14:18:12`,
/// `01:30:00`, `2小时30分钟`; a number alone is seconds.
///
/// None when the text is something else, negative, or longer than [`LONGEST`].
pub fn parse_duration(text: &str) -> Option<Duration> {
    let text = text.trim().trim_end_matches(['.', ',', '。']);
    if text.len() > 100 {
        return None;
    }
    if let Ok(seconds) = text.parse::<f64>() {
        return bounded(seconds);
    }
    let (duration, used) = duration_prefix(text)?;
    text.get(used..)?.trim().is_empty().then_some(duration)
}

/// Reads a number of seconds, as JSON has it.
pub(crate) fn from_seconds(seconds: f64) -> Option<Duration> {
    bounded(seconds)
}

fn bounded(seconds: f64) -> Option<Duration> {
    let duration = Duration::try_from_secs_f64(seconds).ok()?;
    (duration <= LONGEST).then_some(duration)
}

/// Reads a duration with units at the start of the text, and says how many bytes it took.
pub(crate) fn duration_prefix(text: &str) -> Option<(Duration, usize)> {
    clock_prefix(text).or_else(|| iso_prefix(text)).or_else(|| units_prefix(text))
}

/// Numbers with units, one after another: `1h2m3.5s`, `5 days, 22 hours and 11 minutes`, `2小时30分`.
fn units_prefix(text: &str) -> Option<(Duration, usize)> {
    let mut total = 0.0;
    let mut used = 0;
    // Each unit may stand once; seven are more than there are.
    for _ in 0..7 {
        let rest = text.get(used..)?;
        let start = rest.len() - skip_joint(rest, used > 0).len();
        let rest = rest.get(start..)?;
        let Some((number, digits)) = number_prefix(rest) else { break };
        let after = rest.get(digits..)?;
        let space = after.len() - after.trim_start_matches([' ', '\u{a0}', '-']).len();
        let Some((unit, letters)) = unit_prefix(after.get(space..)?) else { break };
        total += number * unit;
        used += start + digits + space + letters;
    }
    if used == 0 { None } else { Some((bounded(total)?, used)) }
}

/// White space, and between two parts also a comma and the word for "and".
fn skip_joint(text: &str, joined: bool) -> &str {
    let text = text.trim_start();
    if !joined {
        return text;
    }
    let text = text.trim_start_matches(',').trim_start();
    text.strip_prefix("and ").map_or(text, str::trim_start)
}

fn number_prefix(text: &str) -> Option<(f64, usize)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let fraction = match text.get(digits..)?.strip_prefix('.') {
        Some(after) => after.bytes().take_while(u8::is_ascii_digit).count(),
        None => 0,
    };
    let length = digits + if fraction > 0 { fraction + 1 } else { 0 };
    if digits == 0 || length > 30 {
        return None;
    }
    Some((text.get(..length)?.parse().ok()?, length))
}

/// The unit at the start of the text, in seconds, with its length in bytes. It must end where a word ends.
fn unit_prefix(text: &str) -> Option<(f64, usize)> {
    // Stems, of which some languages have endings.
    const OTHERS: &[(&str, f64)] = &[
        ("毫秒", 0.001),
        ("秒钟", 1.0),
        ("秒", 1.0),
        ("分钟", 60.0),
        ("分", 60.0),
        ("个小时", 3600.0),
        ("小时", 3600.0),
        ("天", 86400.0),
        ("日", 86400.0),
        ("周", 604_800.0),
        ("時間", 3600.0),
        ("초", 1.0),
        ("시간", 3600.0),
        ("분", 60.0),
        ("секунд", 1.0),
        ("сек", 1.0),
        ("минут", 60.0),
        ("мин", 60.0),
        ("час", 3600.0),
    ];
    if let Some((word, unit)) = OTHERS.iter().find(|(word, _)| text.starts_with(word)) {
        return Some((*unit, word.len()));
    }
    let length = text.bytes().take_while(u8::is_ascii_alphabetic).count();
    // `µs` is the only unit with a letter beyond ASCII.
    if length == 0 {
        let rest = text.strip_prefix('µ').or_else(|| text.strip_prefix('μ'))?;
        return rest.starts_with('s').then_some((1e-6, text.len() - rest.len() + 1));
    }
    let unit = match text.get(..length)?.to_ascii_lowercase().as_str() {
        "ns" => 1e-9,
        "us" => 1e-6,
        "ms" | "msec" | "msecs" | "millisecond" | "milliseconds" => 0.001,
        "s" | "sec" | "secs" | "second" | "seconds" | "secondes" | "sekunden" | "segundos" => 1.0,
        "m" | "min" | "mins" | "minute" | "minutes" | "minuten" | "minutos" => 60.0,
        "h" | "hr" | "hrs" | "hour" | "hours" | "heures" | "stunden" | "horas" => 3600.0,
        "d" | "day" | "days" => 86400.0,
        "w" | "week" | "weeks" => 604_800.0,
        "month" | "months" => 30.0 * 86400.0,
        _ => return None,
    };
    Some((unit, length))
}

/// `d.hh:mm:ss` and `hh:mm:ss`, as .NET prints spans of time.
fn clock_prefix(text: &str) -> Option<(Duration, usize)> {
    let length = text.bytes().take_while(|byte| byte.is_ascii_digit() || matches!(byte, b':' | b'.')).count();
    let whole = text.get(..length)?.trim_end_matches(['.', ':']);
    let mut parts = whole.splitn(3, ':');
    let (first, minutes, seconds) = (parts.next()?, parts.next()?, parts.next()?);
    let (days, hours) = first.split_once('.').unwrap_or(("0", first));
    let days: f64 = days.parse().ok()?;
    let (hours, minutes): (u32, u32) = (hours.parse().ok()?, minutes.parse().ok()?);
    let seconds: f64 = seconds.parse().ok()?;
    if minutes > 59 || seconds >= 61.0 {
        return None;
    }
    let total = days * 86400.0 + f64::from(hours) * 3600.0 + f64::from(minutes) * 60.0 + seconds;
    Some((bounded(total)?, whole.len()))
}

/// ISO 8601: `PT5M`, `P1DT2H`.
fn iso_prefix(text: &str) -> Option<(Duration, usize)> {
    let rest = text.strip_prefix('P')?;
    let mut used = 1;
    let mut total = 0.0;
    let mut in_time = false;
    for _ in 0..8 {
        let here = text.get(used..)?;
        if !in_time && here.starts_with('T') {
            in_time = true;
            used += 1;
            continue;
        }
        let Some((number, digits)) = number_prefix(here) else { break };
        let unit = match (here.get(digits..)?.chars().next()?, in_time) {
            ('W', false) => 604_800.0,
            ('D', false) => 86400.0,
            ('H', true) => 3600.0,
            ('M', true) => 60.0,
            ('S', true) => 1.0,
            _ => return None,
        };
        total += number * unit;
        used += digits + 1;
    }
    if used <= 2 || rest.is_empty() { None } else { Some((bounded(total)?, used)) }
}

#[cfg(test)]
mod tests;
