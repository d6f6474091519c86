//! One line of JSON for each failure.

use std::borrow::Cow;
use std::fmt::Write;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::classify::Explanation;
use crate::domain::{Dimension, Failure, LimitFacts, ProviderName, printable};

use super::Entry;

/// A failure's line in the parts between what differs from record to record: the id, the moment, the line's number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Parts {
    /// From after the id to before `retry_at`'s value.
    before: String,
    /// `retry_at`'s value.
    at: String,
    /// From after `retry_at`'s value to before the line's number.
    after: String,
    /// From after the line's last number on.
    tail: String,
}

impl Parts {
    /// The parts of a verdict.
    pub(super) fn of(explanation: &Explanation) -> Self {
        let Explanation { failure, provider, status, .. } = explanation;
        let mut before = String::with_capacity(256);
        text(&mut before, ",\"provider\":", provider.as_ref().map(ProviderName::as_str));
        let _ = match status {
            Some(status) => write!(before, ",\"status\":{status}"),
            None => write!(before, ",\"status\":null"),
        };
        text(&mut before, ",\"class\":", Some(failure.class.as_str()));
        text(&mut before, ",\"action\":", Some(failure.class.action().as_str()));
        text(&mut before, ",\"scope\":", Some(failure.scope.as_str()));
        text(&mut before, ",\"dimension\":", failure.dimension.map(Dimension::as_str));
        let wait = failure.retry_after.map_or(Value::Null, seconds);
        let _ = write!(before, ",\"retry_after_s\":{wait},\"retry_at\":");
        let mut after = String::with_capacity(256);
        text(&mut after, ",\"reset_source\":", failure.reset_source.as_ref().map(ToString::to_string).as_deref());
        text(&mut after, ",\"provenance\":", Some(failure.provenance.as_str()));
        text(&mut after, ",\"rule\":", Some(&failure.rule));
        text(&mut after, ",\"evidence\":", Some(&failure.evidence));
        after.push_str(",\"line\":");
        let at = failure.retry_at.map_or_else(|| "null".to_owned(), |at| format!("\"{at}\""));
        Self { before, at, after, tail: format!(",\"limits\":{}}}", limits(failure)) }
    }

    /// What stands between the moment and the line's number.
    pub(super) fn after(&self) -> &str {
        &self.after
    }

    /// Whether the other gives the same line but for what stands between the moment and the line's number.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        (&self.before, &self.at, &self.tail) == (&other.before, &other.at, &other.tail)
    }

    /// Whether the other gives the same line but for the moment.
    pub(super) fn says_the_same(&self, other: &Self) -> bool {
        (&self.before, &self.after, &self.tail) == (&other.before, &other.after, &other.tail)
    }

    /// Puts the line together; `id` is JSON as it stood, `at` another moment than that of the verdict, `others` are
    /// texts that stand in other texts' places after it.
    pub(super) fn write<'o>(
        &self,
        id: &str,
        at: Option<Timestamp>,
        others: impl Iterator<Item = (usize, &'o str)>,
        lines: (usize, usize),
        out: &mut String,
    ) {
        out.push_str("{\"id\":");
        out.push_str(id);
        out.push_str(&self.before);
        match at {
            Some(at) => drop(write!(out, "\"{at}\"")),
            None => out.push_str(&self.at),
        }
        let mut done = 0;
        for (place, other) in others {
            out.push_str(self.after.get(done..place).unwrap_or(""));
            out.push_str(other);
            done = place + other.len();
        }
        out.push_str(self.after.get(done..).unwrap_or(""));
        count(out, lines.0);
        out.push_str(",\"end_line\":");
        count(out, lines.1);
        out.push_str(&self.tail);
    }
}

/// Writes a number: a million times a second, which is more than the formatter can do.
fn count(out: &mut String, mut number: usize) {
    let mut digits = [0_u8; 20];
    let mut length = 0;
    for (digit, place) in digits.iter_mut().rev().zip(1..) {
        // A digit is below ten.
        *digit = b'0' + u8::try_from(number % 10).unwrap_or(0);
        number /= 10;
        length = place;
        if number == 0 {
            break;
        }
    }
    let digits = digits.get(digits.len() - length..).unwrap_or(&[]);
    out.push_str(std::str::from_utf8(digits).unwrap_or("0"));
}

fn text(out: &mut String, key: &str, value: Option<&str>) {
    out.push_str(key);
    match value {
        // The serialiser knows every character that JSON must not have as it is.
        Some(value) => out.push_str(&shown(&Value::from(value).to_string())),
        None => out.push_str("null"),
    }
}

/// JSON without the control characters that it may have but a terminal would obey.
pub(super) fn shown(json: &str) -> Cow<'_, str> {
    if !has_controls(json) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 16);
    for character in json.chars() {
        match character.is_control() {
            true => drop(write!(out, "\\u{:04x}", u32::from(character))),
            false => out.push(character),
        }
    }
    Cow::Owned(out)
}

/// Whether there are control characters in it.
pub(super) fn has_controls(text: &str) -> bool {
    // Those above ASCII begin with this byte.
    text.bytes().any(|byte| byte < 0x20 || matches!(byte, 0x7f | 0xc2)) && text.chars().any(char::is_control)
}

/// The figures that the payload states; null when it states none.
fn limits(failure: &Failure) -> Value {
    let LimitFacts { limit, used, requested, remaining } = failure.limits;
    match failure.limits == LimitFacts::default() {
        true => Value::Null,
        false => json!({
            "limit": limit.map(number), "used": used.map(number),
            "requested": requested.map(number), "remaining": remaining.map(number),
        }),
    }
}

/// Whole numbers without a fraction.
fn number(value: f64) -> Value {
    // The bound keeps the conversion exact.
    #[expect(clippy::cast_possible_truncation, reason = "within the integers that an f64 holds exactly")]
    if value.fract() == 0.0 && value.abs() < 9e15 { json!(value as i64) } else { json!(value) }
}

/// Whole seconds as an integer, others with their fraction.
fn seconds(duration: Duration) -> Value {
    if duration.subsec_nanos() == 0 { json!(duration.as_secs()) } else { json!(duration.as_secs_f64()) }
}

/// The failure as one JSON object with the fields of the documentation, in their order.
pub fn failure_json(entry: &Entry) -> String {
    let mut out = String::with_capacity(512);
    let id = entry.id.as_ref().map_or_else(|| "null".to_owned(), |id| shown(&id.to_string()).into_owned());
    Parts::of(&entry.explanation).write(&id, None, std::iter::empty(), (entry.line, entry.end_line), &mut out);
    out
}

/// What stands in the place of a line that could not be read: the keys of a failure without values, and why.
pub fn broken_json(line: usize, why: &str) -> String {
    json!({
        "id": null, "provider": null, "status": null, "class": null, "action": null, "scope": null, "dimension": null,
        "retry_after_s": null, "retry_at": null, "reset_source": null, "provenance": null, "rule": null,
        "evidence": null, "line": line, "end_line": line, "limits": null, "error": printable(why),
    })
    .to_string()
}

/// The same object with `explanation`: every rule that matched, and why the winner won.
pub fn explained_json(entry: &Entry) -> String {
    let mut out = failure_json(entry);
    let Explanation { reason, matches, .. } = &entry.explanation;
    let matches: Vec<Value> = matches
        .iter()
        .map(|one| json!({"rule": one.rule, "class": one.class.as_str(), "tier": one.tier, "depth": one.depth, "by": one.by}))
        .collect();
    out.truncate(out.len().saturating_sub(1));
    let _ = write!(out, ",\"explanation\":{}}}", shown(&json!({"reason": reason, "matches": matches}).to_string()));
    out
}
