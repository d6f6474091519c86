//! Finding the one value of the asked shape in a text.
//!
//! A wrong value that is taken for the answer costs more than a good one that is asked for again. So a value is taken only
//! where no other reading of the text is likely:
//!
//! - The whole text is the value, or one fenced block with it. A block of thoughts at the beginning (`<think>…</think>`) and
//!   a byte order mark are no part of the text.
//! - Exactly one fenced block holds a value that fits, and none holds broken JSON, nor comes a block with another value
//!   after it. What stands in the prose counts for nothing, except another value that fits after the block.
//! - Exactly one value of the shape stands in plain prose: only with a schema, and only if its sentence does not go on after
//!   it. In the middle of a sentence (`You gave me {…} and I could not find …`) it is something that is talked about.
//!   Broken JSON, and any object or longer list, after the value is the answer that was meant. What a finished sentence
//!   says of its value (`You gave me {…}. There is no city in it.`) nobody can tell without understanding it: it is
//!   counted as taken out of prose, and a rule on the answer and the input is what finds it.
//!
//! Two fitting values that are the same are one, wherever they stand: what was said twice is still one value, and nobody has to
//! guess which of the two was meant.
//!
//! Outside of the value itself two things are heard. Words right before it that speak of the format and not of the answer
//! (`The format would be like this:`) say that it is a pattern to be filled; `Here is it in the format you asked for:` does
//! not. And who begins by declining to answer (see `refusal`) has not answered with the value that follows.
//!
//! A parser starts at each bracket that lies outside of what it has read already, so every byte is looked at a bounded
//! number of times, whatever the text. What lies inside of broken JSON is part of something that the model did not manage
//! to say, and what follows a value that never ends is part of it. To tell broken JSON from a bracket in prose, the first
//! signs after the bracket are looked at: `{"`, `{'` and `{name:` want to be an object, `[see` does not want to be a list.

use serde::de::DeserializeSeed;
use serde_json::Value;

use crate::domain::Extraction;

use super::fences::{self, Fence};
use super::refusal::refuses;
use super::shape::Shape;
use super::strict::Strict;

/// What was found.
#[derive(Debug, PartialEq)]
pub(super) enum Found {
    /// The answer, as a value and as it was written.
    One(Taken),
    /// So many values of the shape.
    Several(usize),
    /// JSON, none of which has the shape. The longest value, and whether it is the whole text.
    Other(Value, bool),
    /// A value that would do, but the text talks about it, or says more than it.
    Amid,
    /// JSON that is broken, with what the parser says; and whether it only ends too early.
    Broken(String, bool),
    /// No JSON.
    None,
}

/// The value that was found.
#[derive(Debug, PartialEq)]
pub(super) struct Taken {
    pub(super) value: Value,
    /// As it stood in the text.
    pub(super) written: String,
    pub(super) place: Extraction,
}

/// What is said in an answer: no byte order mark, and no thoughts that a local server left in it.
pub(super) fn spoken(text: &str) -> &str {
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.starts_with(['{', '[', '"', '`']) {
        return text;
    }
    // Templates that begin with the thoughts leave only their end.
    match (text.split_once("</think>"), text.starts_with("<think>")) {
        (Some((_, after)), _) => after.trim(),
        (None, true) => "",
        (None, false) => text,
    }
}

/// Looks for the value.
pub(super) fn find(text: &str, shape: &Shape) -> Found {
    find_counted(text, shape).0
}

/// The same, and how many bytes were looked at.
fn find_counted(text: &str, shape: &Shape) -> (Found, usize) {
    let whole = spoken(text);
    let is_all = whole.len() == text.trim_start_matches('\u{feff}').trim().len();
    let unfenced = unfenced(whole);
    let place = match unfenced {
        Some(_) => Extraction::Fenced,
        None if is_all => Extraction::Whole,
        None => Extraction::Surrounded,
    };
    let written = unfenced.unwrap_or(whole);
    let (value, read) = parse(written);
    let error = match value {
        Ok(value) if shape.fits(&value) => return (taken(value, written, place), read),
        Ok(value) => return (Found::Other(value, true), read),
        Err(error) => error,
    };
    let fences = fences::all(whole);
    if let Some(found) = in_fences(whole, &fences, shape) {
        return (found, read + 3 * whole.len());
    }
    let mut search = Search { text: whole, steps: read, ..Search::default() };
    search.go();
    let steps = search.steps;
    (search.outcome(shape, &error), steps)
}

/// Whether the words before a value say that it is none of the answer.
fn is_disowned(before: &str) -> bool {
    refuses(before) || shows_format(before)
}

/// Whether the words right before a value introduce a pattern: they speak of the format as of something that would be, or
/// of an example of it.
fn shows_format(before: &str) -> bool {
    let lead = before.trim_end();
    let lead = lead
        .strip_suffix("```json")
        .unwrap_or(lead)
        .trim_end_matches(|c: char| c == ':' || c == '*' || c == '`' || c.is_whitespace());
    let lead = lead.rsplit(['.', '!', '?', '\n', ':']).next().unwrap_or_default().trim().to_lowercase();
    let words: Vec<&str> = lead.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let Some(at) = words.iter().position(|word| matches!(*word, "format" | "schema" | "structure" | "template")) else {
        return false;
    };
    let (before, after) = words.split_at_checked(at).unwrap_or_default();
    let is_subject = before.iter().all(|word| SUBJECT.contains(word));
    let is_example = before.windows(2).any(|pair| pair == ["example", "of"]);
    is_subject
        && (is_example || after.get(1).is_some_and(|word| matches!(*word, "would" | "should" | "could" | "must")))
}

/// What stands before a format that a sentence is about.
const SUBJECT: &[&str] = &[
    "the",
    "an",
    "a",
    "this",
    "is",
    "here",
    "s",
    "example",
    "of",
    "expected",
    "required",
    "requested",
    "json",
    "output",
    "answer",
    "response",
    "right",
    "correct",
    "but",
    "and",
    "so",
];

fn taken(value: Value, written: &str, place: Extraction) -> Found {
    Found::One(Taken { value, written: written.to_owned(), place })
}

/// Whether the two are the same value. Numbers that were rounded may look the same and not be.
fn is_same(one: (&Value, &str), other: (&Value, &str)) -> bool {
    one.0 == other.0 && (one.1 == other.1 || !is_rounded(one.0))
}

fn is_rounded(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_f64(),
        Value::Array(items) => items.iter().any(is_rounded),
        Value::Object(entries) => entries.values().any(is_rounded),
        _ => false,
    }
}

/// How many different values there are.
fn different<'v>(values: impl Iterator<Item = (&'v Value, &'v str)>) -> usize {
    let mut seen: Vec<(&Value, &str)> = Vec::new();
    for value in values {
        // A few are enough to say that there are several.
        if seen.len() < 16 && !seen.iter().any(|before| is_same(*before, value)) {
            seen.push(value);
        }
    }
    seen.len()
}

/// What the fenced blocks say; none when they leave it to the prose.
fn in_fences(text: &str, fences: &[Fence<'_>], shape: &Shape) -> Option<Found> {
    let tries = fences.iter().filter(|fence| fence.is_json || opens_like_json(fence.body));
    let read: Vec<_> = tries.map(|fence| (fence, parse(fence.body).0)).collect();
    let fits = |value: &Value| shape.fits(value);
    let fitting = || read.iter().filter_map(|(fence, value)| Some((*fence, value.as_ref().ok().filter(|v| fits(v))?)));
    let (last, value) = fitting().next_back()?;
    if let Some(error) = read.iter().find_map(|(_, value)| value.as_ref().err()) {
        return Some(Found::Broken(error.to_string(), error.is_eof()));
    }
    let count = different(fitting().map(|(fence, value)| (value, fence.body)));
    if count > 1 {
        return Some(Found::Several(count));
    }
    let mut later =
        read.iter().filter(|(fence, _)| fence.from > last.from).filter_map(|(_, value)| value.as_ref().ok());
    if let Some(other) = later.next_back() {
        return Some(Found::Other(other.clone(), false));
    }
    let rest = text.get(last.to..).unwrap_or_default();
    if said_otherwise(rest, shape, (value, last.body)) {
        return Some(Found::Several(2));
    }
    if is_disowned(text.get(..last.from).unwrap_or_default()) {
        return Some(Found::Amid);
    }
    Some(taken(value.clone(), last.body, Extraction::Fenced))
}

/// Where the value, which was found in this text, stands in it: fences first, and the last of several that are the same.
pub fn as_written<'t>(text: &'t str, value: &Value) -> Option<&'t str> {
    let whole = spoken(text);
    let is_it = |body: &&str| parse(body).0.is_ok_and(|found| found == *value);
    let fenced = || fences::all(whole).into_iter().map(|fence| fence.body).rfind(is_it);
    let prose = || {
        let mut search = Search { text: whole, ..Search::default() };
        search.go();
        search.found.iter().rfind(|found| found.value == *value).map(|found| found.written(whole))
    };
    Some(whole).filter(is_it).or_else(|| unfenced(whole).filter(is_it)).or_else(fenced).or_else(prose)
}

/// Whether another value of the shape stands in the prose after the fence.
fn said_otherwise(rest: &str, shape: &Shape, taken: (&Value, &str)) -> bool {
    // Any list or object of a remark would do where nothing is asked of the shape.
    if shape.is_any() {
        return false;
    }
    let mut search = Search { text: rest, ..Search::default() };
    search.go();
    let mut found = search.found.iter();
    found.any(|other| shape.fits(&other.value) && !is_same((&other.value, other.written(rest)), taken))
}

/// A whole text as JSON, and how many bytes it has.
fn parse(text: &str) -> (Result<Value, serde_json::Error>, usize) {
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = Strict.deserialize(&mut reader).and_then(|value| reader.end().map(|()| value));
    (value, text.len())
}

/// The inside of a Markdown fence, if the whole text is one fenced block; models add it although nobody asked.
fn unfenced(text: &str) -> Option<&str> {
    let inside = text.strip_prefix("```")?.strip_suffix("```")?;
    let (_, body) = inside.split_once('\n').filter(|(tag, _)| is_tag(tag))?;
    (!body.contains("```")).then_some(body.trim())
}

/// The word for a language behind a fence.
fn is_tag(tag: &str) -> bool {
    let tag = tag.trim();
    tag.len() <= 8 && tag.chars().all(|c| c.is_ascii_alphanumeric())
}

/// A value that stands on its own, from where to where.
struct Candidate {
    value: Value,
    from: usize,
    to: usize,
}

impl Candidate {
    fn written<'t>(&self, text: &'t str) -> &'t str {
        text.get(self.from..self.to).unwrap_or_default()
    }

    /// Whether it may be an answer that went wrong, and is not a reference such as `[1]`.
    fn is_try(&self) -> bool {
        match &self.value {
            Value::Array(items) => items.len() > 3 || !items.iter().all(Value::is_number),
            Value::Object(entries) => !entries.is_empty(),
            _ => false,
        }
    }
}

#[derive(Default)]
struct Search<'t> {
    text: &'t str,
    found: Vec<Candidate>,
    /// What the parser said of the first that is broken, and whether it only ends too early.
    broken: Option<(String, bool)>,
    /// Where the last that is broken begins.
    broken_at: usize,
    /// Whether what follows cannot be told from the inside of something broken.
    is_lost: bool,
    steps: usize,
}

impl<'t> Search<'t> {
    fn rest(&self, at: usize) -> &'t str {
        self.text.get(at..).unwrap_or_default()
    }

    fn go(&mut self) {
        let mut at = 0;
        while let Some(next) = self.rest(at).find(['{', '[', '}', ']']) {
            self.steps += next + 1;
            at += next;
            let rest = self.rest(at);
            if rest.starts_with(['}', ']']) {
                self.closes(at);
                at += 1;
            } else if opens_like_json(rest) {
                at = self.read(at);
            } else {
                at += 1;
            }
            if self.is_lost {
                return;
            }
        }
        self.steps += self.rest(at).len();
    }

    /// A bracket that nothing has opened, right after a value: the value is the inside of something broken.
    fn closes(&mut self, at: usize) {
        let Some(last) = self.found.last() else { return };
        let between = self.text.get(last.to..at).unwrap_or_default();
        if between.trim_matches([' ', '\t', '\r', '\n', ',']).is_empty() {
            self.found.pop();
            self.broken_at = at;
            self.broken.get_or_insert(("a bracket is closed that nothing has opened".to_owned(), false));
        }
    }

    /// Reads a value; where to go on.
    fn read(&mut self, at: usize) -> usize {
        let rest = self.rest(at);
        let mut reader = serde_json::Deserializer::from_str(rest);
        let value = Strict.deserialize(&mut reader);
        // The parser has no word for how far it came, but what follows is found by the brackets.
        let (length, steps) = extent(rest);
        self.steps += 2 * steps;
        match (value, length) {
            (Ok(value), Some(length)) => {
                self.found.push(Candidate { value, from: at, to: at + length });
                at + length
            }
            (Err(error), Some(length)) => {
                self.broken_at = at;
                self.broken.get_or_insert((error.to_string(), false));
                at + length
            }
            (value, None) => {
                let is_short = value.as_ref().is_err_and(serde_json::Error::is_eof);
                let why = value.err().map_or_else(String::new, |error| error.to_string());
                self.broken = Some((why, is_short));
                self.is_lost = true;
                self.text.len()
            }
        }
    }

    fn outcome(self, shape: &Shape, whole: &serde_json::Error) -> Found {
        // What goes wrong in the middle may be the beginning of what was meant.
        if self.is_lost {
            let (why, is_short) = self.broken.unwrap_or_default();
            return Found::Broken(why, is_short);
        }
        let text = self.text;
        let fitting = || self.found.iter().filter(|candidate| shape.fits(&candidate.value));
        let Some(last) = fitting().next_back() else { return self.without(whole) };
        if shape.is_any() {
            return self.broken.map_or(Found::Amid, |(why, is_short)| Found::Broken(why, is_short));
        }
        let count = different(fitting().map(|candidate| (&candidate.value, candidate.written(text))));
        if count > 1 {
            return Found::Several(count);
        }
        let mut later = self.found.iter().filter(|other| other.from >= last.to && other.is_try());
        match (self.broken, later.next_back()) {
            (Some((why, is_short)), _) if self.broken_at >= last.to => Found::Broken(why, is_short),
            (_, Some(other)) => Found::Other(other.value.clone(), false),
            _ if goes_on(text.get(last.to..).unwrap_or_default()) => Found::Amid,
            _ if is_disowned(text.get(..last.from).unwrap_or_default()) => Found::Amid,
            _ => taken(last.value.clone(), last.written(text), Extraction::Surrounded),
        }
    }

    /// Where nothing fits.
    fn without(self, whole: &serde_json::Error) -> Found {
        let longest = self.found.into_iter().max_by_key(|candidate| candidate.to - candidate.from);
        match (longest, self.broken) {
            (_, Some((why, is_short))) => Found::Broken(why, is_short),
            (Some(candidate), None) => Found::Other(candidate.value, false),
            // A text in quotes that never ends, and the like.
            (None, None) if self.text.trim_start().starts_with('"') => Found::Broken(whole.to_string(), whole.is_eof()),
            (None, None) => Found::None,
        }
    }
}

/// Whether the sentence in which the value stands goes on after it: then it is something that the sentence talks about.
fn goes_on(after: &str) -> bool {
    let is_mark =
        |c: char| matches!(c, '*' | '_' | '`' | '"' | '\'' | '(' | ')' | '“' | '”' | '~' | ',' | ';' | ' ' | '\t');
    after.trim_start_matches(is_mark).starts_with(|c: char| c.is_alphabetic() && !c.is_uppercase())
}

/// How long it is from the first bracket to the one that closes it, and how many bytes were looked at.
fn extent(text: &str) -> (Option<usize>, usize) {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => depth += 1,
            b'}' | b']' if !in_string => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return (Some(at + 1), at + 1);
                }
            }
            _ => {}
        }
    }
    (None, text.len())
}

/// Whether the bracket wants to be JSON.
fn opens_like_json(text: &str) -> bool {
    let mut signs = text.chars();
    let is_object = signs.next() == Some('{');
    let inside = signs.as_str().trim_start();
    let Some(first) = inside.chars().next() else { return true };
    if matches!(first, '"' | '\'' | '“' | '{' | '[' | '}' | ']' | '/') {
        return true;
    }
    let is_word = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '-' | '.' | '+');
    let length: usize = inside.chars().take(64).take_while(is_word).count();
    let (word, after) = inside.split_at_checked(length).unwrap_or_default();
    let next = after.trim_start().chars().next();
    if is_object {
        return length > 0 && next == Some(':');
    }
    let is_literal = matches!(word, "true" | "false" | "null" | "NaN" | "None" | "True" | "False" | "Infinity")
        || word.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    is_literal && matches!(next, None | Some(',' | ']' | '}'))
}

#[cfg(test)]
#[path = "extract_tests.rs"]
mod tests;
