//! Finding the failures in free log text.
//!
//! A log has no records, only lines. A failure may be one line, a line with a dump of twenty lines after it, or a
//! sentence, a blank line and the upstream's body. So the text is cut where a new entry may begin, each piece is asked
//! whether it is a failure by itself, and neighbours are joined again where one only repeats or explains the other.

use crate::catalog::Catalog;
use crate::classify::answer;
use crate::classify::matcher::{self, Matched};
use crate::classify::provider;
use crate::classify::rules::Tier;
use crate::classify::signals::Signals;
use crate::classify::text;
use crate::domain::{Class, Evidence};

use super::Capture;
use super::cut::{Piece, cut, is_head};
use super::line::Line;
use super::regions;
use super::stamp::Reading;
use super::tells::{
    announces, is_calm, is_description, is_foreign, is_no_log, is_prose, names_a_model, says_error,
    says_level_of_trouble, says_trouble, without_denials,
};

/// What a piece is by itself.
struct Judged {
    class: Class,
    clear: bool,
    status: Option<u16>,
    words: String,
}

/// A piece with what it is by itself; none when it is no failure.
struct Told {
    piece: Piece,
    judged: Option<Judged>,
}

/// Reads the failures; a text without any gives none.
pub(super) fn read(lines: &[Line<'_>], reading: &Reading) -> Vec<Capture> {
    let mut all: Vec<Told> = Vec::new();
    for piece in cut(lines, reading) {
        let judged = judge(&piece.text);
        let told = Told { piece, judged };
        match all.last_mut() {
            Some(last) if belongs(last, &told) => join(last, told),
            _ => all.push(told),
        }
    }
    all.into_iter().filter(|told| told.judged.is_some()).map(|told| capture(told.piece)).collect()
}

fn capture(piece: Piece) -> Capture {
    let Piece { line, end_line, text, at, .. } = piece;
    let log = text.trim_end().to_owned();
    // An object on its own is an error as the provider sent it.
    let evidence = match document(&log).is_some() {
        true => Evidence { body: log, at, ..Evidence::default() },
        false => Evidence { log, at, ..Evidence::default() },
    };
    Capture { id: None, line, end_line, evidence }
}

/// The object that the text is, if it is nothing else.
fn document(text: &str) -> Option<serde_json::Value> {
    let text = text.trim();
    if !(text.starts_with('{') && text.ends_with('}')) {
        return None;
    }
    serde_json::from_str(text).ok().filter(serde_json::Value::is_object)
}

/// Whether there is an object in the text that says to be an error.
pub(super) fn holds_error(text: &str) -> bool {
    let evidence = Evidence { body: text.to_owned(), ..Evidence::default() };
    has_error_object(&Signals::read(&evidence, &Catalog::default()))
}

/// What a piece is by itself; none when it is no failure.
fn judge(text: &str) -> Option<Judged> {
    // Most lines of most logs tell that all is well; the rest of this would find that out too, but slowly.
    if is_calm(text)
        && !text.contains(['{', '\n'])
        && !says_error(text)
        && text::statuses(&text.to_lowercase()).is_empty()
    {
        return None;
    }
    if is_no_log(text) || is_foreign(text) {
        return None;
    }
    let text = without_denials(text);
    let text = text.as_ref();
    if let Some(value) = document(text) {
        return judge_document(&value, text);
    }
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
        // Much else than a model is deprecated, missing or unknown, and much of it only will be.
        Some(matched)
            if matched.rule.class == Class::ModelUnavailable
                && status.is_none()
                && (!names_a_model(text) || announces(text)) =>
        {
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

/// An object on its own: what was asked and what was answered are objects too.
fn judge_document(value: &serde_json::Value, text: &str) -> Option<Judged> {
    if is_description(value) {
        return None;
    }
    let evidence = Evidence { body: text.to_owned(), ..Evidence::default() };
    if !has_error(value, 0) && !regions::failed(&evidence, false) {
        return None;
    }
    let signals = Signals::read(&evidence, &Catalog::default());
    let matches = matcher::matches(&signals);
    let best = matches.first();
    let class = best.map_or(Class::Unknown, |matched| matched.rule.class);
    let status = signals.innermost_status().filter(|status| *status >= 400);
    if class == Class::Unknown && status.is_none() && !has_error_object(&signals) && !has_error(value, 0) {
        return None;
    }
    let words = best.map(|matched| sentence(matched, &signals)).unwrap_or_default();
    Some(Judged { class, clear: best.is_some_and(|matched| matched.rule.tier < Tier::Answer), status, words })
}

/// Whether there is an error with something in it, at any depth of what batches and envelopes put around it.
fn has_error(value: &serde_json::Value, depth: usize) -> bool {
    match value {
        serde_json::Value::Object(map) if depth < 6 => map.iter().any(|(key, value)| match key.as_str() {
            "error" | "errors" => match value {
                serde_json::Value::Object(inner) => !inner.is_empty(),
                serde_json::Value::String(text) => !text.is_empty(),
                serde_json::Value::Array(items) => !items.is_empty(),
                _ => false,
            },
            "messages" | "choices" | "content" | "usage" | "components" | "paths" => false,
            _ => has_error(value, depth + 1),
        }),
        _ => false,
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
fn belongs(last: &Told, next: &Told) -> bool {
    let (Some(a), Some(b)) = (&last.judged, &next.judged) else {
        // What is no failure by itself is context, unless it is an entry of its own or an object: those are whole.
        let whole = |told: &Told| told.judged.is_none() && document(&told.piece.text).is_some();
        return !next.piece.entry
            && last.piece.text.len() <= LONGEST
            && !whole(next)
            && !whole(last)
            && (last.judged.is_some() || !last.piece.entry || next.judged.is_none());
    };
    if last.piece.text.len() > LONGEST {
        return false;
    }
    // Lines that begin with the names of two providers are about two calls, however alike they are.
    if let (Some(a), Some(b)) = (label(&last.piece), label(&next.piece))
        && a != b
    {
        return false;
    }
    // The same words a while later are another failure.
    if last.piece.entry && next.piece.entry && !at_the_same_time(&last.piece, &next.piece) {
        return false;
    }
    // Two objects are two errors, and a mark of a tool begins the next.
    if document(&last.piece.text).is_some() && document(&next.piece.text).is_some() {
        return false;
    }
    let holds = |told: &Told, words: &str| {
        let (start, end) = ends(&told.piece.text);
        !words.is_empty() && (text::normalise(start).contains(words) || text::normalise(end).contains(words))
    };
    let repeats = holds(last, &b.words) || holds(next, &a.words);
    let head = is_head(&next.piece.text);
    if head
        && !repeats
        && (next.piece.apart || (a.status.is_some() && b.status.is_some()) || (a.clear && a.class != b.class))
    {
        return false;
    }
    let statuses_agree = a.status == b.status || a.status.is_none() || b.status.is_none();
    if !a.clear || !b.clear {
        return statuses_agree && (a.status.is_some() != b.status.is_some() || a.class == b.class || !next.piece.entry);
    }
    // A status is explained by the paragraph after it, in words that say more.
    let explains = a.status.is_some() && b.status.is_none() && !next.piece.entry && !head && next.piece.apart;
    if explains && document(&next.piece.text).is_none() {
        return true;
    }
    // An exception right below another of the same kind is its cause.
    let causes = head && !next.piece.apart && !next.piece.entry && label(&next.piece).is_none();
    if causes && a.class == b.class && (a.status.is_none() || b.status.is_none()) {
        return true;
    }
    // A report of one failure often has several paragraphs; another one begins with an exception or a status.
    a.class == b.class && statuses_agree && (repeats || (!next.piece.entry && !head))
}

/// How much of each end of a piece is compared with its neighbour, in bytes: a piece that grows must not be read whole
/// for each that comes after it.
const COMPARED: usize = 1024;

/// Pieces are not joined to a longer one than this.
const LONGEST: usize = 128 << 10;

/// The start and the end of a text; both are the whole of a short one.
fn ends(text: &str) -> (&str, &str) {
    let mut start = text.len().min(COMPARED);
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    let mut end = text.len().saturating_sub(COMPARED);
    while !text.is_char_boundary(end) {
        end += 1;
    }
    (text.get(..start).unwrap_or(text), text.get(end..).unwrap_or(text))
}

/// The provider, with the model if it is named, that the first line of a piece begins with.
fn label(piece: &Piece) -> Option<String> {
    provider::label(piece.text.lines().next()?).map(|label| label.whole)
}

/// Whether the clocks of two entries differ by no more than two seconds, as far as they show one.
fn at_the_same_time(last: &Piece, next: &Piece) -> bool {
    if let (Some(a), Some(b)) = (last.at, next.at) {
        return b.duration_since(a).unsigned_abs() <= std::time::Duration::from_secs(2);
    }
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

fn join(last: &mut Told, next: Told) {
    last.piece.text.push('\n');
    last.piece.text.push_str(&next.piece.text);
    last.piece.end_line = next.piece.end_line;
    last.piece.at = last.piece.at.or(next.piece.at);
    let better = match (&last.judged, &next.judged) {
        (None, Some(_)) => true,
        (Some(a), Some(b)) => !a.clear && b.clear,
        _ => false,
    };
    if better {
        last.judged = next.judged;
    }
}
