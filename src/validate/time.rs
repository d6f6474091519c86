//! Points and lengths of time in expressions: CEL's `timestamp` and `duration`.
//!
//! The crate has them only with a second calendar and a second database of time zones, so they are ours, on the calendar
//! that is there anyway. To the evaluator they are values that it knows nothing of but their name and whether two are the
//! same; so, in an expression that speaks of time, all that orders them and reckons with them is rewritten to functions of
//! ours (see `reckon`). Other expressions stay as they are.

use std::cmp::Ordering;

use cel::extractors::{Arguments, This};
use cel::objects::Opaque;
use cel::{Context, DeclarationError, ExecutionError, Value};
use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};

const SECOND: i128 = 1_000_000_000;

/// Ten thousand years, as the language has it, in nanoseconds.
const LONGEST: i128 = 315_576_000_000 * SECOND;

/// The first second of the year 1, as the language has it, in nanoseconds of Unix time.
const FIRST: i128 = -62_135_596_800 * SECOND;

/// The functions, in the words of the language.
pub(super) const FUNCTIONS: &[&str] = &[
    "timestamp",
    "duration",
    "getFullYear",
    "getMonth",
    "getDate",
    "getDayOfMonth",
    "getDayOfWeek",
    "getDayOfYear",
    "getHours",
    "getMinutes",
    "getSeconds",
    "getMilliseconds",
];

type IsSo = fn(Ordering) -> bool;

/// The operators that order, and what they are called where time is spoken of.
const ORDERS: &[(&str, &str, IsSo)] = &[
    ("_<_", "@less", Ordering::is_lt),
    ("_<=_", "@least", Ordering::is_le),
    ("_>_", "@greater", Ordering::is_gt),
    ("_>=_", "@most", Ordering::is_ge),
];

/// What conversions see of a time.
const PLAIN: &[(&str, &str)] = &[("int", "@seconds"), ("string", "@text")];

/// A point in time, or a length, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Time {
    /// Since the beginning of Unix time.
    Point(i128),
    Length(i128),
}

impl Opaque for Time {
    fn runtime_type_name(&self) -> &'static str {
        match self {
            Self::Point(_) => "google.protobuf.Timestamp",
            Self::Length(_) => "google.protobuf.Duration",
        }
    }
}

type Came = Result<Value, ExecutionError>;

/// Whether an expression may make a time: it makes one of texts, or none.
pub(super) fn speaks_of_time(source: &str) -> bool {
    source.contains("timestamp") || source.contains("duration")
}

/// What an operator is called where time is spoken of.
pub(super) fn order(operator: &str) -> Option<&'static str> {
    ORDERS.iter().find(|(known, ..)| *known == operator).map(|(_, ours, _)| *ours)
}

/// What the argument of a conversion goes through.
pub(super) fn plain(function: &str) -> Option<&'static str> {
    PLAIN.iter().find(|(known, _)| *known == function).map(|(_, ours)| *ours)
}

fn refused(function: &str, why: impl ToString) -> ExecutionError {
    ExecutionError::function_error(function, why)
}

fn time(value: &Value) -> Option<Time> {
    match value {
        Value::Opaque(opaque) => opaque.downcast_ref::<Time>().copied(),
        _ => None,
    }
}

fn value(time: Time) -> Came {
    let fits = match time {
        Time::Point(at) => at >= FIRST && Timestamp::from_nanosecond(at).is_ok(),
        Time::Length(length) => length.abs() <= LONGEST,
    };
    match fits {
        true => Ok(Value::Opaque(std::sync::Arc::new(time))),
        false => Err(ExecutionError::InternalError("the time is out of range".to_owned())),
    }
}

/// The sum or the difference of two times; nothing where one is none.
pub(super) fn reckoned(function: &str, one: &Value, other: &Value) -> Option<Came> {
    let came = match (function, time(one)?, time(other)?) {
        ("@plus", Time::Point(at), Time::Length(length)) | ("@plus", Time::Length(length), Time::Point(at)) => {
            Time::Point(at + length)
        }
        ("@minus", Time::Point(at), Time::Length(length)) => Time::Point(at - length),
        ("@minus", Time::Point(at), Time::Point(other)) => Time::Length(at - other),
        ("@plus", Time::Length(one), Time::Length(other)) => Time::Length(one + other),
        ("@minus", Time::Length(one), Time::Length(other)) => Time::Length(one - other),
        _ => return None,
    };
    Some(value(came))
}

/// Makes the functions known.
pub(super) fn teach(context: &mut Context<'_, '_>) -> Result<(), DeclarationError> {
    context.add_function("timestamp", point)?;
    context.add_function("duration", length)?;
    for (_, name, is_so) in ORDERS {
        let compare = |one: Value, other: Value| ordered(&one, &other).map(|order| Value::Bool(is_so(order)));
        context.add_function(name, compare)?;
    }
    context.add_function("@seconds", |found: Value| match time(&found) {
        Some(Time::Point(at)) => Value::Int(i64::try_from(at.div_euclid(SECOND)).unwrap_or_default()),
        Some(Time::Length(_)) | None => found,
    })?;
    context.add_function("@text", |found: Value| time(&found).map_or(found, |time| written(time).into()))?;
    for name in FUNCTIONS.iter().skip(2) {
        let part = |This(found): This<Value>, Arguments(zone): Arguments| match (time(&found), zone.as_slice()) {
            (Some(Time::Point(at)), []) => part_of(name, at, "UTC"),
            (Some(Time::Point(at)), [Value::String(zone)]) => part_of(name, at, zone),
            (Some(Time::Length(length)), []) => part_of_length(name, length),
            _ => Err(refused(name, "a timestamp is wanted, and a time zone at most")),
        };
        context.add_function(name, part)?;
    }
    Ok(())
}

fn ordered(one: &Value, other: &Value) -> Result<Ordering, ExecutionError> {
    let no_order = || ExecutionError::InternalError("the two cannot be compared".to_owned());
    match (time(one), time(other)) {
        (Some(Time::Point(one)), Some(Time::Point(other))) => Ok(one.cmp(&other)),
        (Some(Time::Length(one)), Some(Time::Length(other))) => Ok(one.cmp(&other)),
        (None, None) => one.partial_cmp(other).ok_or_else(no_order),
        _ => Err(no_order()),
    }
}

fn point(found: Value) -> Came {
    match &found {
        Value::String(text) => read_point(text).ok_or_else(|| {
            let wanted = "no point in time as RFC 3339 has it, such as 2025-01-31T12:00:00Z";
            refused("timestamp", format!("`{}` is {wanted}", crate::domain::excerpt(text, 40)))
        }),
        Value::Int(seconds) => value(Time::Point(i128::from(*seconds) * SECOND)),
        other if matches!(time(other), Some(Time::Point(_))) => Ok(found),
        _ => Err(refused("timestamp", "a text or a number of seconds is wanted")),
    }
}

fn read_point(text: &str) -> Option<Value> {
    // The reader also knows other ways to write it, which are not the language's.
    let is_plain =
        text.is_ascii() && !text.contains(['[', ' ']) && matches!(text.as_bytes().get(10), Some(b'T' | b't'));
    let at: Timestamp = text.parse().ok().filter(|_| is_plain)?;
    value(Time::Point(at.as_nanosecond())).ok()
}

fn length(found: Value) -> Came {
    match &found {
        Value::String(text) => match read_length(text) {
            Some(length) => value(Time::Length(length)),
            None => {
                let text = crate::domain::excerpt(text, 40);
                Err(refused("duration", format!("`{text}` is no length of time, such as 36h, 1h30m or 1.5s")))
            }
        },
        other if matches!(time(other), Some(Time::Length(_))) => Ok(found),
        _ => Err(refused("duration", "a text is wanted")),
    }
}

/// A sign, then numbers with units, in nanoseconds. Bounded: what is longer than the longest is none.
fn read_length(text: &str) -> Option<i128> {
    let (sign, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(0);
    }
    let mut sum: i128 = 0;
    while !rest.is_empty() {
        let (number, after) = rest.split_at_checked(rest.find(|c: char| !c.is_ascii_digit() && c != '.')?)?;
        let (unit, after) = after.split_at_checked(after.find(|c: char| c.is_ascii_digit()).unwrap_or(after.len()))?;
        let nanoseconds: i128 = match unit {
            "h" => 3600 * SECOND,
            "m" => 60 * SECOND,
            "s" => SECOND,
            "ms" => 1_000_000,
            "us" | "µs" | "μs" => 1_000,
            "ns" => 1,
            _ => return None,
        };
        sum = sum.checked_add(times(number, nanoseconds)?).filter(|sum| *sum <= LONGEST)?;
        rest = after;
    }
    (!text.is_empty() && sum > 0 || text.contains('0')).then_some(sign * sum)
}

/// A number with or without a broken part, times this.
fn times(number: &str, unit: i128) -> Option<i128> {
    let (whole, broken) = number.split_once('.').unwrap_or((number, ""));
    if number.len() > 24 || (whole.is_empty() && broken.is_empty()) || broken.contains('.') {
        return None;
    }
    let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    // More than 18 digits say nothing that a nanosecond could.
    let broken: String = broken.chars().take(18).collect();
    let scale = 10_i128.checked_pow(u32::try_from(broken.len()).ok()?)?;
    let part: i128 = if broken.is_empty() { 0 } else { broken.parse().ok()? };
    whole.checked_mul(unit)?.checked_add(part.checked_mul(unit)? / scale)
}

fn written(time: Time) -> String {
    match time {
        Time::Point(at) => Timestamp::from_nanosecond(at).map(|at| at.to_string()).unwrap_or_default(),
        Time::Length(length) => {
            let (sign, length) = (if length < 0 { "-" } else { "" }, length.abs());
            let broken = format!("{:09}", length % SECOND);
            let broken = broken.trim_end_matches('0');
            let point = if broken.is_empty() { "" } else { "." };
            format!("{sign}{}{point}{broken}s", length / SECOND)
        }
    }
}

fn part_of(name: &str, at: i128, zone: &str) -> Came {
    let zone_of = || match zone {
        "UTC" | "" => Some(TimeZone::UTC),
        _ => offset(zone).or_else(|| TimeZone::get(zone).ok()),
    };
    let zone = zone_of().ok_or_else(|| refused(name, "no such time zone"))?;
    let at = Timestamp::from_nanosecond(at).map_err(|error| refused(name, error))?;
    let at = at.to_zoned_datetime(zone);
    let part = match name {
        "getFullYear" => i64::from(at.year()),
        "getMonth" => i64::from(at.month()) - 1,
        "getDate" => i64::from(at.day()),
        "getDayOfMonth" => i64::from(at.day()) - 1,
        "getDayOfWeek" => i64::from(at.weekday().to_sunday_zero_offset()),
        "getDayOfYear" => i64::from(at.day_of_year()) - 1,
        "getHours" => i64::from(at.hour()),
        "getMinutes" => i64::from(at.minute()),
        "getSeconds" => i64::from(at.second()),
        _ => i64::from(at.millisecond()),
    };
    Ok(Value::Int(part))
}

/// `+02:00`, with or without the sign.
fn offset(zone: &str) -> Option<TimeZone> {
    let (hours, minutes) = zone.trim_start_matches(['+', '-']).split_once(':')?;
    let (hours, minutes): (i32, i32) = (hours.parse().ok()?, minutes.parse().ok()?);
    let seconds = hours.checked_mul(3600)?.checked_add(minutes.checked_mul(60)?)?;
    let seconds = if zone.starts_with('-') { -seconds } else { seconds };
    Some(TimeZone::fixed(Offset::from_seconds(seconds).ok()?))
}

fn part_of_length(name: &str, length: i128) -> Came {
    let part = match name {
        "getHours" => length / (3600 * SECOND),
        "getMinutes" => length / (60 * SECOND),
        "getSeconds" => length / SECOND,
        "getMilliseconds" => length % SECOND / 1_000_000,
        _ => return Err(refused(name, "a duration has no such part")),
    };
    Ok(Value::Int(i64::try_from(part).unwrap_or_default()))
}
