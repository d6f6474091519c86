//! A line of a log as the reader of logs sees it: without what a collector put around it.

use std::borrow::Cow;
use std::sync::LazyLock;

use jiff::Timestamp;
use regex::Regex;

use crate::classify::text;
use crate::domain::printable;

use super::stamp::{self, Reading};
use super::structured;

/// Whether a line begins an entry of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Begins {
    /// Its looks decide.
    Looks,
    /// It does, for certain.
    Entry,
    /// It belongs to the line before it.
    No,
}

/// One line.
#[derive(Debug, Clone)]
pub(super) struct Line<'a> {
    /// Its number in the file, from 1; several lines of one record have the same.
    pub(super) number: usize,
    /// Its text, without terminal escapes.
    pub(super) text: Cow<'a, str>,
    /// When it was written, where a record around it says so.
    pub(super) at: Option<Timestamp>,
    /// Whether it begins an entry.
    pub(super) begins: Begins,
}

impl<'a> Line<'a> {
    fn plain(number: usize, text: Cow<'a, str>) -> Self {
        Self { number, text, at: None, begins: Begins::Looks }
    }

    /// When it was written.
    pub(super) fn written(&self, reading: &Reading) -> Option<Timestamp> {
        self.at.or_else(|| stamp::of_line(&self.text, reading))
    }
}

/// What container runtimes put before a line: the time, the stream, and whether the line is whole.
static RUNTIME: LazyLock<Option<Regex>> =
    LazyLock::new(|| text::expression(r"^(\d{4}-\d\d-\d\dT[0-9:.]+(?:Z|[+-]\d\d:\d\d)) (?:stdout|stderr) [FP] ?"));

/// What `compose` puts before a line: the service.
static SERVICE: LazyLock<Option<Regex>> = LazyLock::new(|| text::expression(r"^[a-z0-9][\w.-]{1,40} {1,30}\| ?"));

/// Adds the line, or the lines that it holds.
pub(super) fn add<'a>(number: usize, raw: &'a str, reading: &Reading, out: &mut Vec<Line<'a>>) {
    let raw = raw.strip_suffix('\r').unwrap_or(raw);
    let raw = raw.strip_prefix('\u{feff}').unwrap_or(raw);
    if raw.contains(['\u{1b}', '\u{9b}']) {
        let plain = printable(raw);
        let mut inner = Vec::new();
        add_plain(number, &plain, reading, &mut inner);
        out.extend(inner.into_iter().map(owned));
        return;
    }
    add_plain(number, raw, reading, out);
}

/// The same line, borrowing from nothing.
pub(super) fn owned<'b>(line: Line<'_>) -> Line<'b> {
    Line { number: line.number, text: Cow::Owned(line.text.into_owned()), at: line.at, begins: line.begins }
}

fn add_plain<'a>(number: usize, raw: &'a str, reading: &Reading, out: &mut Vec<Line<'a>>) {
    let start = raw.as_bytes().first().copied().unwrap_or(b' ');
    if start.is_ascii_digit()
        && let Some(found) = RUNTIME.as_ref().and_then(|pattern| pattern.captures(raw))
    {
        let at = found.get(1).and_then(|time| time.as_str().parse().ok());
        let rest = raw.get(found.get(0).map_or(0, |whole| whole.end())..).unwrap_or("");
        return inside(number, rest, at, reading, out);
    }
    if start.is_ascii_alphanumeric()
        && raw.contains(" | ")
        && let Some(found) = SERVICE.as_ref().and_then(|pattern| pattern.find(raw))
    {
        return inside(number, raw.get(found.end()..).unwrap_or(""), None, reading, out);
    }
    if start == b'{' && structured::add(number, raw, reading, out) {
        return;
    }
    out.push(Line::plain(number, Cow::Borrowed(raw)));
}

/// A line within a record: it may be a record itself.
pub(super) fn inside<'a>(
    number: usize,
    raw: &'a str,
    at: Option<Timestamp>,
    reading: &Reading,
    out: &mut Vec<Line<'a>>,
) {
    let before = out.len();
    if !(raw.starts_with('{') && structured::add(number, raw, reading, out)) {
        out.push(Line::plain(number, Cow::Borrowed(raw)));
    }
    for line in out.iter_mut().skip(before) {
        line.at = line.at.or(at);
    }
}
