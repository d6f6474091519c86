//! Finding the failures in free log text.
//!
//! A log has no records, only lines. A failure may be one line, a line with a dump of twenty lines after it, or a
//! sentence, a blank line and the upstream's body. So the text is cut where a new entry may begin, each piece is asked
//! whether it is a failure by itself, and neighbours are joined again where one only repeats or explains the other.

use std::sync::LazyLock;

use jiff::Timestamp;
use regex::Regex;

use crate::catalog::Catalog;
use crate::classify::answer;
use crate::classify::matcher::{self, Matched};
use crate::classify::provider;
use crate::classify::rules::Tier;
use crate::classify::signals::Signals;
use crate::classify::text;
use crate::domain::{Class, Evidence};

use super::Capture;
use super::tells::{
    is_calm, is_prose, names_a_model, says_error, says_level_of_trouble, says_trouble, without_denials,
};

/// The start of a log entry: a time, a level, or both.
static ENTRY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    text::expression(concat!(
        r"^\s{0,4}(?:@?[\w/.-]{0,24}\[?\d{4}[-/.]\d\d[-/.]\d\d[T _]\d\d[:-]\d\d|\[?\d\d:\d\d:\d\d|\[?[A-Z][a-z]{2} [ \d]\d \d\d:\d\d|",
        r"\[?(?i:error|warning|warn|info|debug|fatal|critical|trace|gin|notice)\]?[ :|\t])"
    ))
});

/// A line that begins a failure of its own although nothing marks it as an entry.
static HEAD: LazyLock<Option<Regex>> = LazyLock::new(|| {
    text::expression(concat!(
        r"^(?:\W{0,6}(?:\[?API Error|Error code: \d{3}|HTTP(?:/\d\S*)? [45]\d\d\b|(?:Get|Post|Put) \x22https?://|\{\x22(?:type|error|code|message|object|status)\x22|",
        r"(?:[a-z_]+\.)+[A-Za-z]*(?:Error|Exception)\b|[A-Za-z]*(?:Error|Exception)\b: ?\S|[45]\d\d [A-Z{\x22]))"
    ))
});

/// The first line of an exchange as a dump shows it: headers follow, a blank line, and the body.
static DUMP: LazyLock<Option<Regex>> = LazyLock::new(|| text::expression(r"^\W{0,4}HTTP/[\d.]{1,3} \d{3}\b"));

/// A piece of the text.
struct Piece {
    line: usize,
    text: String,
    /// Whether a time or level stood before it, so that it is an entry for certain.
    entry: bool,
    /// Whether a blank line stood before it.
    apart: bool,
    judged: Option<Judged>,
}

/// What a piece is by itself.
struct Judged {
    class: Class,
    clear: bool,
    status: Option<u16>,
    words: String,
}

/// Reads the failures; a text without any gives none.
pub(super) fn read(text: &str) -> Vec<Capture> {
    let mut pieces: Vec<Piece> = Vec::new();
    for mut piece in cut(text) {
        piece.judged = judge(&piece.text);
        match pieces.last_mut() {
            Some(last) if belongs(last, &piece) => join(last, piece),
            _ => pieces.push(piece),
        }
    }
    pieces.into_iter().filter(|piece| piece.judged.is_some()).map(|piece| capture(&piece)).collect()
}

fn capture(piece: &Piece) -> Capture {
    let at = piece
        .text
        .trim_start_matches(['[', ' '])
        .split([' ', ']'])
        .next()
        .and_then(|word| word.parse::<Timestamp>().ok());
    let log = piece.text.trim_end().to_owned();
    Capture { id: None, line: piece.line, evidence: Evidence { log, at, ..Evidence::default() } }
}

/// Cuts the text where a new entry may begin.
fn cut(text: &str) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut after_blank = true;
    let mut announced = false;
    let mut open = 0_i64;
    let mut length = 0;
    let mut dumped = false;
    for (index, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            // The body of a dumped exchange stands after a blank line.
            announced |= dumped;
            after_blank = !dumped;
            dumped = false;
            continue;
        }
        let is_dump = DUMP.as_ref().is_some_and(|pattern| pattern.is_match(line));
        dumped = is_dump || (dumped && is_header(line));
        let entry = is_entry(line);
        // Within a dump that is not closed nothing begins, unless the dump never ends.
        let inside = open > 0 && length < 400 && !(entry && has_level(line)) && (!after_blank || is_continuation(line));
        let starts = pieces.is_empty()
            || (!inside
                && (!announced || entry)
                && (entry || is_head(line) || (after_blank && !is_continuation(line))));
        match pieces.last_mut() {
            Some(last) if !starts => {
                last.text.push('\n');
                if after_blank {
                    last.text.push('\n');
                }
                last.text.push_str(line);
                open += balance(line);
                length += 1;
            }
            _ => {
                pieces.push(Piece { line: index + 1, text: line.to_owned(), entry, apart: after_blank, judged: None });
                open = balance(line);
                length = 1;
            }
        }
        after_blank = false;
        // What such a line announces belongs to it.
        announced = !is_dump && line.trim_end().ends_with(':');
    }
    pieces
}

fn is_entry(line: &str) -> bool {
    let Some(pattern) = ENTRY.as_ref() else { return false };
    let Some(found) = pattern.find(line) else { return false };
    // Some loggers put a time before each line of a trace.
    let rest = line
        .get(found.end()..)
        .unwrap_or("")
        .trim_start_matches(|c: char| c.is_ascii_digit() || ":.,]ZI+-".contains(c));
    !(rest.starts_with("  ") || rest.trim_start().starts_with("at "))
}

fn has_level(line: &str) -> bool {
    ["ERROR", "WARN", "INFO", "DEBUG", "FATAL", "CRITICAL", "error", "warn", "info"]
        .iter()
        .any(|level| line.contains(level))
}

fn is_head(line: &str) -> bool {
    HEAD.as_ref().is_some_and(|pattern| pattern.is_match(line)) || provider::label(line).is_some()
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
        || ["at ", "File \"", "Traceback", "caused by", "Caused by", "During handling", "The above exception", "---"]
            .iter()
            .any(|start| line.trim_start().starts_with(start))
}

fn balance(line: &str) -> i64 {
    line.bytes().map(|byte| i64::from(matches!(byte, b'{' | b'[')) - i64::from(matches!(byte, b'}' | b']'))).sum()
}

/// What a piece is by itself; none when it is no failure.
fn judge(text: &str) -> Option<Judged> {
    let text = without_denials(text);
    let text = text.as_ref();
    let evidence = Evidence { log: text.to_owned(), ..Evidence::default() };
    let signals = Signals::read(&evidence, &Catalog::default());
    let matches = matcher::matches(&signals);
    let status = signals.innermost_status().filter(|status| *status >= 400);
    let told = has_error_object(&signals) || says_level_of_trouble(text) || is_head(text.trim_start());
    if !told && (is_prose(text) || (!signals.values.is_empty() && signals.values.iter().all(is_an_answer))) {
        return None;
    }
    if status.is_none() && !told && is_calm(text) && !says_error(text) {
        return None;
    }
    let troubled = status.is_some() || says_trouble(text) || says_error(text);
    let best = matches.first();
    let judged = |class, clear| {
        let words = best.map(|matched| sentence(matched, &signals)).unwrap_or_default();
        Some(Judged { class, clear, status, words })
    };
    match best {
        // Much else than a model is deprecated, missing or unknown.
        Some(matched) if matched.rule.class == Class::ModelUnavailable && status.is_none() && !names_a_model(text) => {
            None
        }
        Some(matched)
            if matched.rule.tier < Tier::Answer
                && (troubled || matched.rule.tier == Tier::Fact || !describes(matched.rule.class)) =>
        {
            judged(matched.rule.class, true)
        }
        Some(matched) if troubled && !(matched.rule.tier == Tier::Vague && status.is_none() && !says_error(text)) => {
            judged(matched.rule.class, false)
        }
        None if status.is_some() || has_error_object(&signals) => judged(Class::Unknown, false),
        _ => None,
    }
}

fn is_an_answer(value: &serde_json::Value) -> bool {
    answer::is_answer(std::slice::from_ref(value))
}

/// Sentences about limits also stand in texts that merely describe them.
fn describes(class: Class) -> bool {
    matches!(class, Class::RateLimit | Class::QuotaExhausted | Class::Timeout | Class::Network | Class::ContentPolicy)
}

/// The words that decided: the message of an object, or the line of a log from the deciding phrase on.
fn sentence(matched: &Matched, signals: &Signals) -> String {
    let Some(read) = matched.layer.and_then(|at| signals.layers.get(at)) else { return String::new() };
    if !read.layer.free {
        return read.words.clone();
    }
    let mut lines = read.layer.text.lines().map(text::normalise);
    let tail = |line: &str| line.find(&matched.by).and_then(|at| line.get(at..)).map(str::to_owned);
    lines.find_map(|line| tail(&line)).unwrap_or_else(|| read.words.clone())
}

fn has_error_object(signals: &Signals) -> bool {
    signals.values.iter().any(|value| value.get("error").is_some_and(|error| !error.is_null()))
}

/// Whether a piece goes with the one before it.
fn belongs(last: &Piece, next: &Piece) -> bool {
    let (Some(a), Some(b)) = (&last.judged, &next.judged) else {
        // What is no failure by itself is context, unless it is an entry of its own.
        return !next.entry && (last.judged.is_some() || !last.entry || next.judged.is_none());
    };
    // Lines that begin with the names of two providers are about two calls, however alike they are.
    if let (Some(a), Some(b)) = (label(last), label(next))
        && a != b
    {
        return false;
    }
    // The same words a while later are another failure.
    if last.entry && next.entry && !at_the_same_time(last, next) {
        return false;
    }
    let holds = |piece: &Piece, words: &str| !words.is_empty() && text::normalise(&piece.text).contains(words);
    let repeats = holds(last, &b.words) || holds(next, &a.words);
    let statuses_agree = a.status == b.status || a.status.is_none() || b.status.is_none();
    let head = is_head(&next.text);
    if head && !repeats && (next.apart || (a.status.is_some() && b.status.is_some())) {
        return false;
    }
    if !a.clear || !b.clear {
        return statuses_agree && (a.status.is_some() != b.status.is_some() || a.class == b.class || !next.entry);
    }
    // What a tool says of a request that was refused often has several paragraphs.
    let paragraph = !next.apart || (a.class.is_the_requests_fault() && a.status.is_none() && b.status.is_none());
    a.class == b.class && statuses_agree && (repeats || (!next.entry && paragraph && !head))
}

/// The provider, with the model if it is named, that the first line of a piece begins with.
fn label(piece: &Piece) -> Option<String> {
    provider::label(piece.text.lines().next()?).map(|label| label.whole)
}

/// Whether the clocks of two entries differ by no more than two seconds, as far as they show one.
fn at_the_same_time(last: &Piece, next: &Piece) -> bool {
    match (second_of_day(&last.text), second_of_day(&next.text)) {
        (Some(a), Some(b)) => a.abs_diff(b) <= 2,
        _ => true,
    }
}

/// The first `hh:mm:ss` of a text's first line.
fn second_of_day(text: &str) -> Option<u32> {
    let line = text.lines().next()?;
    let start = line.match_indices(':').find_map(|(at, _)| {
        let start = at.checked_sub(2)?;
        let clock = line.get(start..start + 8)?;
        let is_clock =
            clock.bytes().enumerate().all(|(i, b)| if i == 2 || i == 5 { b == b':' } else { b.is_ascii_digit() });
        is_clock.then_some(start)
    })?;
    let part = |at: usize| line.get(start + at..start + at + 2)?.parse::<u32>().ok();
    Some(part(0)? * 3600 + part(3)? * 60 + part(6)?)
}

fn join(last: &mut Piece, next: Piece) {
    last.text.push('\n');
    last.text.push_str(&next.text);
    let better = match (&last.judged, &next.judged) {
        (None, Some(_)) => true,
        (Some(a), Some(b)) => !a.clear && b.clear,
        _ => false,
    };
    if better {
        last.judged = next.judged;
    }
}
