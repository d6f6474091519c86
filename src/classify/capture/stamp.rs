//! When a line of a log was written, as the line itself says it.
//!
//! A wait of a failure counts from when it happened, so the time of the line turns "in 12 minutes" into a moment. Loggers
//! write the same moment in a dozen ways; some leave the zone out, then the zone that the reader was told counts, and
//! some the year, then it is the latest such day that is not in the future.

use std::sync::LazyLock;

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::{Offset, TimeZone};
use jiff::{Timestamp, ToSpan};
use regex::{Captures, Regex};
use serde_json::Value;

use crate::classify::text;

/// What times in captured logs are read against.
#[derive(Debug, Clone)]
pub struct Reading {
    /// The wall clock's time: no log is from the future.
    pub now: Timestamp,
    /// The zone of times that name none.
    pub zone: TimeZone,
}

impl Reading {
    /// Times without a zone are UTC.
    pub fn at(now: Timestamp) -> Self {
        Self { now, zone: TimeZone::UTC }
    }
}

/// How many bytes from the start of a line a time may begin.
const HEAD: usize = 80;

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// `2026-11-15T10:00:00.123Z`, `2026/11/15 10:00:00`, `2026-11-15 10:00:00,123 +0800`.
static ISO: LazyLock<Option<Regex>> = LazyLock::new(|| {
    text::expression(concat!(
        r"\b(\d{4})[-/.](\d\d)[-/.](\d\d)(?: - |[T _]{1,2})(\d\d):(\d\d):(\d\d)(?:[.,:](\d{1,9}))?",
        r" ?(Z\b|UTC|GMT|[+-]\d\d:?\d\d\b)?"
    ))
});

/// `15/Nov/2026:10:00:00 +0000`, as web servers write it.
static CLF: LazyLock<Option<Regex>> =
    LazyLock::new(|| text::expression(r"\b(\d\d)/([A-Z][a-z]{2})/(\d{4})[: ](\d\d):(\d\d):(\d\d)(?: ([+-]\d{4}))?"));

/// `Nov 15 10:00:00`, with the year behind it or not at all: syslog, `date`, asctime.
static SYSLOG: LazyLock<Option<Regex>> = LazyLock::new(|| {
    text::expression(
        r"\b([A-Z][a-z]{2}) {1,2}(\d{1,2}) (\d\d):(\d\d):(\d\d)(?:\.\d{1,9})?(?: (UTC|GMT|Z))?(?: (\d{4}))?\b",
    )
});

/// `15 Nov 2026 10:00:00 GMT`, as mail and HTTP write it.
static HTTP: LazyLock<Option<Regex>> = LazyLock::new(|| {
    text::expression(r"\b(\d{1,2})[ -]([A-Z][a-z]{2})[ -](\d{4}) (\d\d):(\d\d):(\d\d)(?: (UTC|GMT|Z|[+-]\d{4}))?")
});

/// `E1115 10:00:00.000000`, as Kubernetes' components write it.
static KLOG: LazyLock<Option<Regex>> =
    LazyLock::new(|| text::expression(r"^[IWEF](\d\d)(\d\d) (\d\d):(\d\d):(\d\d)(?:\.\d{1,9})? "));

/// Seconds or milliseconds since 1970 at the very start: `[1731664800] …`, `1731664800.123 …`.
static EPOCH: LazyLock<Option<Regex>> =
    LazyLock::new(|| text::expression(r"^[\[(]?(?:ts=|time=)?(1[4-9]\d{8})(\d{3})?(?:\.\d{1,9})?[\])]?(?:[ ,|:\t]|$)"));

/// The time at the head of a line.
pub(super) fn of_line(line: &str, reading: &Reading) -> Option<Timestamp> {
    let mut end = line.len().min(HEAD + 40);
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    let head = line.get(..end)?;
    // To build all these expressions takes longer than a short process lives: first a look whether there can be a time.
    let epoch_starts = head.trim_start_matches(['[', '(']).starts_with(['1', 't']);
    if !shows_a_clock(head) {
        return if epoch_starts { EPOCH.as_ref()?.captures(head).and_then(|c| epoch(&c)) } else { None };
    }
    let found = |pattern: &'static LazyLock<Option<Regex>>| {
        pattern.as_ref()?.captures(head).filter(|found| found.get(0).is_some_and(|whole| whole.start() < HEAD))
    };
    found(&ISO)
        .and_then(|c| iso(&c, reading))
        .or_else(|| found(&CLF).and_then(|c| clf(&c, reading)))
        .or_else(|| found(&HTTP).and_then(|c| clf(&c, reading)))
        .or_else(|| found(&SYSLOG).and_then(|c| syslog(&c, reading)))
        .or_else(|| found(&KLOG).and_then(|c| klog(&c, reading)))
        .or_else(|| found(&EPOCH).filter(|_| epoch_starts).and_then(|c| epoch(&c)))
}

/// Whether there are two colons with digits around them, as in 10:00:00.
fn shows_a_clock(head: &str) -> bool {
    let is_clock = |part: &[u8]| match part {
        [a, b':', c, d, b':', e, ..] => [a, c, d, e].iter().all(|digit| digit.is_ascii_digit()),
        _ => false,
    };
    head.as_bytes().windows(6).any(is_clock)
}

/// A time in a field: a text, or a number of seconds, milliseconds, microseconds or nanoseconds since 1970.
pub(super) fn of_value(value: &Value, reading: &Reading) -> Option<Timestamp> {
    match value {
        Value::String(text) => {
            let text = text.trim();
            let number = || text.parse::<f64>().ok().and_then(since_1970);
            text.parse().ok().or_else(|| of_line(text, reading)).or_else(number)
        }
        Value::Number(number) => since_1970(number.as_f64()?),
        // log4j's and protobuf's instants.
        Value::Object(map) => {
            let seconds = map.get("epochSecond").or_else(|| map.get("seconds"))?;
            since_1970(seconds.as_f64().or_else(|| seconds.as_str()?.parse().ok())?)
        }
        _ => None,
    }
}

/// The unit follows from the size: nobody logs times before 2001 or after 2100.
fn since_1970(number: f64) -> Option<Timestamp> {
    const OLDEST: f64 = 1e9;
    const NEWEST: f64 = 4.2e9;
    let scale = [1.0, 1e3, 1e6, 1e9].into_iter().find(|scale| (OLDEST..NEWEST).contains(&(number / scale)))?;
    let milliseconds = (number / scale * 1000.0).round();
    // The range above keeps it far within an i64.
    #[expect(clippy::cast_possible_truncation, reason = "between 1e12 and 4.2e12")]
    Timestamp::from_millisecond(milliseconds as i64).ok()
}

fn part<T: std::str::FromStr>(captures: &Captures<'_>, at: usize) -> Option<T> {
    captures.get(at)?.as_str().parse().ok()
}

fn month(captures: &Captures<'_>, at: usize) -> Option<i8> {
    let name = captures.get(at)?.as_str();
    (1..).zip(MONTHS).find(|(_, month)| *month == name).map(|(number, _)| number)
}

fn time(captures: &Captures<'_>, from: usize, nanos: i32) -> Option<Time> {
    Time::new(part(captures, from)?, part(captures, from + 1)?, part(captures, from + 2)?, nanos).ok()
}

/// The digits after the point, as nanoseconds.
fn nanos(digits: &str) -> i32 {
    format!("{digits:0<9}").parse().unwrap_or(0)
}

fn resolve(civil: DateTime, zone: Option<&str>, reading: &Reading) -> Option<Timestamp> {
    let zone = match zone {
        None => reading.zone.clone(),
        Some("Z" | "UTC" | "GMT") => TimeZone::UTC,
        Some(offset) => TimeZone::fixed(self::offset(offset)?),
    };
    zone.to_timestamp(civil).ok()
}

/// `+0800`, `-05:30`.
fn offset(text: &str) -> Option<Offset> {
    let sign = if text.starts_with('-') { -1 } else { 1 };
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let (hours, minutes) = (digits.get(..2)?.parse::<i32>().ok()?, digits.get(2..4)?.parse::<i32>().ok()?);
    Offset::from_seconds(sign * (hours * 3600 + minutes * 60)).ok()
}

fn iso(found: &Captures<'_>, reading: &Reading) -> Option<Timestamp> {
    let date = Date::new(part(found, 1)?, part(found, 2)?, part(found, 3)?).ok()?;
    let fraction = found.get(7).map_or(0, |digits| nanos(digits.as_str()));
    resolve(date.to_datetime(time(found, 4, fraction)?), found.get(8).map(|zone| zone.as_str()), reading)
}

fn clf(found: &Captures<'_>, reading: &Reading) -> Option<Timestamp> {
    let date = Date::new(part(found, 3)?, month(found, 2)?, part(found, 1)?).ok()?;
    resolve(date.to_datetime(time(found, 4, 0)?), found.get(7).map(|zone| zone.as_str()), reading)
}

fn syslog(found: &Captures<'_>, reading: &Reading) -> Option<Timestamp> {
    let (month, day) = (month(found, 1)?, part(found, 2)?);
    let zone = found.get(6).map(|zone| zone.as_str());
    let time = time(found, 3, 0)?;
    match part(found, 7) {
        Some(year) => resolve(Date::new(year, month, day).ok()?.to_datetime(time), zone, reading),
        None => latest(month, day, time, zone, reading),
    }
}

fn klog(found: &Captures<'_>, reading: &Reading) -> Option<Timestamp> {
    latest(part(found, 1)?, part(found, 2)?, time(found, 3, 0)?, None, reading)
}

/// The latest such day that is not in the future, give or take the zones of the world.
fn latest(month: i8, day: i8, time: Time, zone: Option<&str>, reading: &Reading) -> Option<Timestamp> {
    let this_year = reading.zone.to_datetime(reading.now).year();
    let bound = reading.now.checked_add(24.hours()).ok()?;
    (0..2).find_map(|back| {
        let date = Date::new(this_year - back, month, day).ok()?;
        resolve(date.to_datetime(time), zone, reading).filter(|at| *at <= bound)
    })
}

fn epoch(found: &Captures<'_>) -> Option<Timestamp> {
    Timestamp::from_second(part(found, 1)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading() -> Reading {
        Reading::at("2026-11-20T12:00:00Z".parse().expect("a time"))
    }

    #[test]
    fn lines_say_when_in_many_ways() {
        for (line, wanted) in [
            ("2026-11-15T10:00:00.123Z ERROR x", "2026-11-15T10:00:00.123Z"),
            ("2026-11-15 10:00:00,123 - app - ERROR - x", "2026-11-15T10:00:00.123Z"),
            ("[2026-11-15 18:00:00 +0800] x", "2026-11-15T10:00:00Z"),
            ("2026/11/15 10:00:00 main.go:7: x", "2026-11-15T10:00:00Z"),
            ("[GIN] 2026/11/15 - 10:00:00 | 503 |", "2026-11-15T10:00:00Z"),
            ("time=\"2026-11-15T10:00:00+01:00\" level=error", "2026-11-15T09:00:00Z"),
            ("Nov 15 10:00:00 host app[1]: x", "2026-11-15T10:00:00Z"),
            ("Dec 31 23:59:59 host app[1]: x", "2025-12-31T23:59:59Z"),
            ("Sun Nov 15 10:00:00 2026 x", "2026-11-15T10:00:00Z"),
            ("10.0.0.1 - - [15/Nov/2026:10:00:00 +0100] \"POST", "2026-11-15T09:00:00Z"),
            ("E1115 10:00:00.000000       1 proxy.go:12] x", "2026-11-15T10:00:00Z"),
            ("1794736800.5 error x", "2026-11-15T10:00:00Z"),
            ("[1794736800123] error x", "2026-11-15T10:00:00Z"),
            ("ERROR 2026-11-15 10:00:00 x", "2026-11-15T10:00:00Z"),
            ("Sun, 15 Nov 2026 10:00:00 GMT x", "2026-11-15T10:00:00Z"),
        ] {
            assert_eq!(of_line(line, &reading()), Some(wanted.parse().expect("a time")), "{line}");
        }
        for line in
            ["10:00:00 x", "", "no time: here", "2026-13-45T99:00:00Z x", "429 - 12345678901", "Foo 15 10:00:00 x"]
        {
            assert_eq!(of_line(line, &reading()), None, "{line}");
        }
    }

    #[test]
    fn a_zone_that_was_told_counts_for_times_without_one() {
        let reading = Reading { zone: TimeZone::fixed(jiff::tz::offset(-5)), ..reading() };
        assert_eq!(of_line("2026-11-15 05:00:00 x", &reading), "2026-11-15T10:00:00Z".parse().ok());
        assert_eq!(of_line("2026-11-15 10:00:00Z x", &reading), "2026-11-15T10:00:00Z".parse().ok());
    }

    #[test]
    fn fields_say_when_in_every_unit() {
        for value in [
            serde_json::json!("2026-11-15T10:00:00Z"),
            serde_json::json!(1_794_736_800),
            serde_json::json!(1_794_736_800_000_u64),
            serde_json::json!("1794736800000000000"),
            serde_json::json!(1_794_736_800_000_000_u64),
            serde_json::json!({"epochSecond": 1_794_736_800, "nanoOfSecond": 0}),
        ] {
            assert_eq!(of_value(&value, &reading()), "2026-11-15T10:00:00Z".parse().ok(), "{value}");
        }
        assert_eq!(of_value(&serde_json::json!(12), &reading()), None);
    }
}
