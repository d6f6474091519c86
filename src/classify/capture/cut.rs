//! Cuts the lines of a log where a new entry may begin.
//!
//! A time or a level begins an entry. Where a log has neither, an exception's name, a status line or a mark of a tool
//! does, unless a dump or a trace is still open: their own last line has such a name too.

use std::sync::LazyLock;

use jiff::Timestamp;
use regex::Regex;

use crate::classify::{provider, text};

use super::line::{Begins, Line};
use super::stamp::Reading;

/// The start of a log entry: a time, a level, or both.
static ENTRY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    text::expression(concat!(
        r#"^\s{0,4}(?:(?:time|ts|timestamp|at|t)=["\d]|[@"]?[\w/.-]{0,24}\[?\d{4}[-/.]\d\d[-/.]\d\d[T _]\d\d[:-]\d\d|\[?\d\d:\d\d:\d\d|"#,
        r"\[?[A-Z][a-z]{2} [ \d]\d \d\d:\d\d|\d\d-[A-Z][a-z]{2}-\d{4} \d\d:\d\d|[IWEF]\d{4} \d\d:\d\d:\d\d|",
        r"\S{1,60} \S{1,40} \S{1,40} \[\d\d/[A-Z][a-z]{2}/\d{4}|",
        r"\[?(?i:error|warning|warn|info|debug|fatal|critical|trace|gin|notice|sys|err|severe|fail|crit|dbug|wrn|inf|dbg)\]?[ :|\t]|",
        r"[\[【](?:错误|信息|警告|调试|致命)[\]】])"
    ))
});

/// A line that begins a failure of its own although nothing marks it as an entry.
static HEAD: LazyLock<Option<Regex>> = LazyLock::new(|| {
    text::expression(concat!(
        r"^(?:\W{0,6}(?:\[?API Error|Error code: \d{3}|HTTP(?:/\d\S*)? [45]\d\d\b|(?:Get|Post|Put) \x22https?://|\{\x22(?:type|error|code|message|object|status)\x22|",
        r"(?:[a-z_]+\.)+[A-Za-z]*(?:Error|Exception)\b|[A-Za-z]*(?:Error|Exception)\b: ?\S|[45]\d\d [A-Z{\x22])|",
        r"Retrying \S{3,200} in \d|[■✖✗❌✕⨯⚠])"
    ))
});

/// The first line of an exchange as a dump shows it: headers follow, a blank line, and the body.
static DUMP: LazyLock<Option<Regex>> = LazyLock::new(|| text::expression(r"^\W{0,4}HTTP/[\d.]{1,3} \d{3}\b"));

/// A command that a person typed at a prompt: what it says is asked for, not what happened.
static COMMAND: LazyLock<Option<Regex>> = LazyLock::new(|| {
    text::expression(
        r"^(?:[\w@~:/.-]{0,40}[$%#❯] |> ?)(?:curl|node|python3?|npm|npx|llm|http|uv|cargo|go|docker|kubectl|bash)\b",
    )
});

/// How many lines of a dump that does not close are believed to belong to it.
const OPEN: usize = 400;

/// A piece of a log.
pub(super) struct Piece {
    /// The number of its first line.
    pub(super) line: usize,
    /// The number of its last line.
    pub(super) end_line: usize,
    /// Its text.
    pub(super) text: String,
    /// When its first line was written.
    pub(super) at: Option<Timestamp>,
    /// Whether a time or level stood before it, so that it is an entry for certain.
    pub(super) entry: bool,
    /// Whether a blank line stood before it.
    pub(super) apart: bool,
}

/// What is known of the lines before the one that is looked at.
struct Before {
    /// A blank line stood there.
    blank: bool,
    /// The line announces what follows.
    announced: bool,
    /// Brackets that are not closed yet.
    open: i64,
    /// Lines of the piece.
    length: usize,
    /// The head of an exchange stood there.
    dumped: bool,
    /// A trace is open: it ends with the exception's own line.
    traced: bool,
    /// The line was a whole object.
    object: bool,
}

/// Cuts the text where a new entry may begin.
pub(super) fn cut(lines: &[Line<'_>], reading: &Reading) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut before =
        Before { blank: true, announced: false, open: 0, length: 0, dumped: false, traced: false, object: false };
    for line in lines {
        let text = line.text.as_ref();
        if text.trim().is_empty() || is_command(text) {
            // The body of a dumped exchange stands after a blank line.
            before.announced |= before.dumped;
            before.blank = !before.dumped;
            before.dumped = false;
            continue;
        }
        let is_dump = DUMP.as_ref().is_some_and(|pattern| pattern.is_match(text));
        before.dumped = is_dump || (before.dumped && is_header(text));
        let entry = line.begins == Begins::Entry || (line.begins == Begins::Looks && is_entry(text));
        let object = is_object(text);
        let starts = pieces.is_empty()
            || (line.begins != Begins::No && ((object && before.object) || starts(text, entry, &before)));
        match pieces.last_mut() {
            Some(last) if !starts => append(last, line, &mut before),
            _ => {
                pieces.push(Piece {
                    line: line.number,
                    end_line: line.number,
                    at: line.written(reading),
                    text: text.to_owned(),
                    entry,
                    apart: before.blank,
                });
                before.open = balance(text);
                before.length = 1;
                before.traced = false;
            }
        }
        before.blank = false;
        before.object = object;
        before.traced =
            text.contains("Traceback (most recent") || (before.traced && text.starts_with([' ', '\t', '+', '|']));
        // What such a line announces belongs to it.
        before.announced = !is_dump && text.trim_end().ends_with(':');
    }
    pieces
}

fn append(piece: &mut Piece, line: &Line<'_>, before: &mut Before) {
    piece.text.push('\n');
    if before.blank {
        piece.text.push('\n');
    }
    piece.text.push_str(&line.text);
    piece.end_line = line.number;
    before.open += balance(&line.text);
    before.length += 1;
}

/// Whether a piece starts with this line.
fn starts(line: &str, entry: bool, before: &Before) -> bool {
    if before.traced && !(entry && has_level(line)) {
        return false;
    }
    // Within a dump that is not closed nothing begins, unless the dump never ends.
    let closed_by_blank = before.blank && !is_continuation(line);
    // The fields of a dump have names like `error:` too, but they are indented.
    let marked = entry && has_level(line) && !line.starts_with(' ');
    let inside = before.open > 0 && before.length < OPEN && !marked && !closed_by_blank;
    if inside || (before.announced && !entry) {
        return false;
    }
    entry || is_head(line) || closed_by_blank
}

/// Whether an entry of the log begins with this line.
pub(super) fn is_entry(line: &str) -> bool {
    let Some(pattern) = ENTRY.as_ref() else { return false };
    let Some(found) = pattern.find(line) else { return false };
    // Some loggers put a time before each line of a trace.
    let rest = line
        .get(found.end()..)
        .unwrap_or("")
        .trim_start_matches(|c: char| c.is_ascii_digit() || ":.,]ZI+-".contains(c));
    !(rest.starts_with("  ") || rest.trim_start().starts_with("at "))
}

/// Whether such a line shows a clock, which no line of a trace does.
pub(super) fn is_dated(line: &str) -> bool {
    line.bytes().take(60).filter(|byte| *byte == b':').count() >= 2 && is_entry(line)
}

fn has_level(line: &str) -> bool {
    ["ERROR", "WARN", "INFO", "DEBUG", "FATAL", "CRITICAL", "error", "warn", "info"]
        .iter()
        .any(|level| line.contains(level))
}

/// Whether a failure of its own begins with this line.
pub(super) fn is_head(line: &str) -> bool {
    HEAD.as_ref().is_some_and(|pattern| pattern.is_match(line)) || provider::label(line).is_some()
}

fn is_command(line: &str) -> bool {
    const SHELLS: [char; 6] = ['$', '%', '#', '❯', '>', '~'];
    line.len() < 2000 && line.contains(SHELLS) && COMMAND.as_ref().is_some_and(|pattern| pattern.is_match(line))
}

/// A whole object on one line.
fn is_object(line: &str) -> bool {
    let line = line.trim();
    line.starts_with("{\"") && line.ends_with('}')
}

/// `name: value`.
fn is_header(line: &str) -> bool {
    line.split_once(':').is_some_and(|(name, _)| {
        !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'<' | b' '))
    })
}

/// Lines of a trace or of a dump.
fn is_continuation(line: &str) -> bool {
    line.starts_with([' ', '\t', '}', ']', ')', '|', '│', '└'])
        || [
            "at ",
            "File \"",
            "Traceback",
            "caused by",
            "Caused by",
            "During handling",
            "The above exception",
            "---",
            "Headers:",
            "Content:",
        ]
        .iter()
        .any(|start| line.trim_start().starts_with(start))
}

/// How many more brackets the line opens than it closes.
pub(super) fn balance(line: &str) -> i64 {
    line.bytes().map(|byte| i64::from(matches!(byte, b'{' | b'[')) - i64::from(matches!(byte, b'}' | b']'))).sum()
}
