//! Finding the one value of the asked shape in a text.
//!
//! The whole text is tried first. Then a parser starts at each bracket that lies outside of what it has read already, so
//! every byte is looked at a bounded number of times, whatever the text. A value counts only if it stands on its own: what
//! lies inside of broken JSON is part of something that the model did not manage to say, and what follows a value that
//! never ends is part of it. To tell broken JSON from a bracket in prose, the first signs after the bracket are looked at:
//! `{"`, `{'` and `{name:` want to be an object, `[see` does not want to be a list.

use serde::de::DeserializeSeed;
use serde_json::Value;

use crate::domain::Extraction;

use super::shape::Shape;
use super::strict::Strict;

/// What was found.
#[derive(Debug, PartialEq)]
pub(super) enum Found {
    /// The answer.
    One(Value, Extraction),
    /// So many values of the shape.
    Several(usize),
    /// JSON, none of which has the shape. The longest value, and whether it is the whole text.
    Other(Value, bool),
    /// JSON that is broken, with what the parser says; and whether it only ends too early.
    Broken(String, bool),
    /// No JSON.
    None,
}

/// Looks for the value.
pub(super) fn find(text: &str, shape: &Shape) -> Found {
    find_counted(text, shape).0
}

/// The same, and how many bytes were looked at.
fn find_counted(text: &str, shape: &Shape) -> (Found, usize) {
    let whole = text.trim();
    let unfenced = unfenced(whole);
    let place = if unfenced.is_some() { Extraction::Fenced } else { Extraction::Whole };
    let (value, read) = parse(unfenced.unwrap_or(whole));
    match value {
        Ok(value) if shape.fits(&value) => (Found::One(value, place), read),
        Ok(value) => (Found::Other(value, true), read),
        Err(error) => {
            let mut search = Search { text, steps: read, ..Search::default() };
            search.go();
            let steps = search.steps;
            (search.outcome(shape, &error), steps)
        }
    }
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

#[derive(Default)]
struct Search<'t> {
    text: &'t str,
    found: Vec<Candidate>,
    /// What the parser said of the first that is broken, and whether it only ends too early.
    broken: Option<(String, bool)>,
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
        let mut fitting = self.found.iter().filter(|candidate| shape.fits(&candidate.value));
        match (fitting.next(), fitting.count()) {
            (Some(only), 0) => {
                let place = place(self.text, only);
                Found::One(only.value.clone(), place)
            }
            (Some(_), more) => Found::Several(more + 1),
            (None, _) => {
                let longest = self.found.into_iter().max_by_key(|candidate| candidate.to - candidate.from);
                match (longest, self.broken) {
                    (_, Some((why, is_short))) => Found::Broken(why, is_short),
                    (Some(candidate), None) => Found::Other(candidate.value, false),
                    // A text in quotes that never ends, and the like.
                    (None, None) if self.text.trim_start().starts_with('"') => {
                        Found::Broken(whole.to_string(), whole.is_eof())
                    }
                    (None, None) => Found::None,
                }
            }
        }
    }
}

/// Whether the value is all that stands in a fence.
fn place(text: &str, candidate: &Candidate) -> Extraction {
    let before = text.get(..candidate.from).unwrap_or_default().trim_end();
    let after = text.get(candidate.to..).unwrap_or_default().trim_start();
    let opened = before.rsplit('\n').next().unwrap_or_default().trim();
    let is_fenced = opened.strip_prefix("```").is_some_and(is_tag) && after.starts_with("```");
    if is_fenced { Extraction::Fenced } else { Extraction::Surrounded }
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
