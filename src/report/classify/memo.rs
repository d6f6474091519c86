//! Lines that were classified before.
//!
//! A log of a bad night holds the same failure ten thousand times, with another id and another time in each record. So a
//! record is remembered by all of its bytes but the values of `id` and `at` and the provider's ids (`mask`), and compared
//! byte by byte before it counts as known. That its result follows from those bytes alone is not taken for granted: the
//! worker classifies it with other times and other ids too before it is remembered.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;
use std::sync::LazyLock;
use std::time::Duration;

use memchr::memmem::Finder;

use crate::domain::Class;

use super::json::Parts;
use super::mask::{self, Place};

/// How much is remembered, in bytes of lines.
const MOST: usize = 24 << 20;

/// Longer lines are not remembered.
const LONGEST: usize = 64 << 10;

/// Where in a line the values stand that do not count.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Spans {
    /// The value of `id`, with its quotes.
    pub(super) id: Option<Range<usize>>,
    /// The value of `at`, without its quotes.
    pub(super) at: Option<Range<usize>>,
}

/// When a known failure heals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Heals {
    /// At the moment that stands in the result, or nobody knows.
    AsSaid,
    /// So long after the time of the record.
    After(Duration),
}

/// What is remembered of a line.
#[derive(Debug)]
pub(super) struct Known {
    /// The line without its own values: as it stands between them, with a filler for each byte of an id.
    line: Box<[u8]>,
    /// Where ids stand in the result, with their numbers.
    places: Box<[Place]>,
    /// Its result.
    pub(super) parts: Parts,
    /// When it heals.
    pub(super) heals: Heals,
    /// What it is.
    pub(super) class: Class,
    /// Whose it is.
    pub(super) provider: Option<Box<str>>,
    /// How often it was met since this was last asked.
    pub(super) met: usize,
}

/// The memory.
#[derive(Debug, Default)]
pub(super) struct Memo {
    known: HashMap<u64, Known, BuildHasherDefault<Hashed>>,
    bytes: usize,
    /// Whether lines with ids were remembered, so that it is worth looking for them.
    masks: bool,
    /// The line that is looked for.
    line: Vec<u8>,
}

/// A line that is known.
pub(super) struct Met<'m> {
    /// What is known of it.
    pub(super) known: &'m mut Known,
    /// Where its own values stand.
    pub(super) spans: Spans,
    /// Where its ids stand, if it was found without them.
    ids: Vec<Range<usize>>,
}

impl Met<'_> {
    /// The ids of the line in the places that they have in the result.
    pub(super) fn ids<'l>(&self, line: &'l [u8]) -> impl Iterator<Item = (usize, &'l str)> {
        let id = |number: usize| text(line, self.ids.get(number));
        self.known.places.iter().filter_map(move |(place, number)| Some((*place, id(*number)?)))
    }
}

impl Memo {
    /// What is known of the line, and where its own values stand.
    pub(super) fn get(&mut self, line: &[u8]) -> Option<Met<'_>> {
        let spans = spans(line);
        let mut ids = Vec::new();
        fill(&mut self.line, line, &spans, &[]);
        let mut key = hash(&self.line);
        let plain = self.known.get(&key).is_some_and(|known| *known.line == *self.line);
        if !plain && self.masks {
            ids = foreign_ids(line, &spans);
            if ids.is_empty() {
                return None;
            }
            fill(&mut self.line, line, &spans, &ids);
            key = hash(&self.line);
        }
        let known = self.known.get_mut(&key).filter(|known| *known.line == *self.line)?;
        Some(Met { known, spans, ids })
    }

    /// Remembers a result; with the line's ids and their places in it, if it is the same for others.
    pub(super) fn put(
        &mut self,
        line: &[u8],
        result: (Parts, Heals, Class, Option<&str>),
        (ids, places): (&[Range<usize>], Vec<Place>),
    ) {
        if line.len() > LONGEST {
            return;
        }
        let (parts, heals, class, provider) = result;
        self.masks |= !ids.is_empty();
        fill(&mut self.line, line, &spans(line), ids);
        self.bytes += line.len() + 512;
        let provider = provider.map(Into::into);
        let known =
            Known { line: self.line.as_slice().into(), places: places.into(), parts, heals, class, provider, met: 0 };
        self.known.insert(hash(&self.line), known);
    }

    /// Whether there is no room for more.
    pub(super) fn is_full(&self) -> bool {
        self.bytes > MOST
    }

    /// Calls `count` for all that was met since the last time.
    pub(super) fn count(&mut self, mut count: impl FnMut(Class, Option<&str>, usize)) {
        for known in self.known.values_mut().filter(|known| known.met > 0) {
            count(known.class, known.provider.as_deref(), std::mem::take(&mut known.met));
        }
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.known.clear();
        self.bytes = 0;
    }
}

/// The ids in a line that are not its own.
pub(super) fn ids(line: &[u8]) -> Vec<Range<usize>> {
    foreign_ids(line, &spans(line))
}

fn foreign_ids(line: &[u8], spans: &Spans) -> Vec<Range<usize>> {
    let is_own = |id: &Range<usize>| {
        [&spans.id, &spans.at].into_iter().flatten().any(|own| id.start < own.end && own.start < id.end)
    };
    mask::ids(line).into_iter().filter(|id| !is_own(id)).collect()
}

/// The text of a span.
pub(super) fn text<'l>(line: &'l [u8], span: Option<&Range<usize>>) -> Option<&'l str> {
    std::str::from_utf8(line.get(span?.clone())?).ok()
}

/// Finds `id` where it is the first of the keys, and `at`. Whether the latter is the record's own is checked when a
/// result is remembered.
pub(super) fn spans(line: &[u8]) -> Spans {
    Spans { id: id(line), at: at(line) }
}

fn id(line: &[u8]) -> Option<Range<usize>> {
    let rest = line.strip_prefix(b"{\"id\":")?;
    let start = line.len() - rest.trim_ascii_start().len();
    let value = line.get(start..)?;
    let length = if value.first() == Some(&b'"') {
        let inside = value.get(1..)?;
        let end = memchr::memchr2(b'"', b'\\', inside)?;
        // An escape within an id is too rare to be worth reading.
        (inside.get(end) == Some(&b'"')).then_some(end + 2)?
    } else {
        // Larger numbers, and others than these, are written in more than one way.
        let length = value.iter().position(|byte| !byte.is_ascii_digit())?;
        let ends = matches!(value.get(length), Some(b',' | b'}' | b' '));
        let plain = ends && length <= 15 && (length == 1 || value.first() != Some(&b'0'));
        if plain { length } else { 0 }
    };
    (length > 0).then_some(start..start + length)
}

/// Building the search takes longer than the search.
static AT: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"at\":"));

fn at(line: &[u8]) -> Option<Range<usize>> {
    let key = AT.find(line)?;
    if !matches!(line.get(key.checked_sub(1)?), Some(b',' | b' ' | b'{')) {
        return None;
    }
    let after = line.get(key + 5..)?;
    let start = line.len() - after.trim_ascii_start().len() + 1;
    let value = line.get(start..)?;
    let is_text = line.get(start - 1) == Some(&b'"');
    let end = memchr::memchr(b'"', value).filter(|_| is_text)?;
    // Of two, nobody knows from here which is the record's own.
    let another = value.get(end..).is_some_and(|rest| AT.find(rest).is_some());
    (!another).then_some(start..start + end)
}

/// What stands in the place of an id's bytes, and between the pieces of a line. JSON has neither.
const ID: u8 = 1;
const OWN: u8 = 2;

/// Writes the line without its own values and with fillers for its ids.
fn fill(out: &mut Vec<u8>, line: &[u8], spans: &Spans, ids: &[Range<usize>]) {
    out.clear();
    let mut own: [Range<usize>; 2] = [spans.id.clone().unwrap_or(0..0), spans.at.clone().unwrap_or(0..0)];
    own.sort_by_key(|span| span.start);
    let mut from = 0;
    let end = line.len()..line.len();
    for span in own.into_iter().filter(|span| !span.is_empty()).chain(std::iter::once(end)) {
        let start = out.len();
        out.extend_from_slice(line.get(from..span.start).unwrap_or(&[]));
        for id in ids.iter().filter(|id| id.start >= from && id.end <= span.start) {
            let place = start + id.start - from..start + id.end - from;
            if let Some(place) = out.get_mut(place) {
                place.fill(ID);
            }
        }
        out.push(OWN);
        from = span.end;
    }
}

/// A hash that is fast rather than strong: who makes lines collide on purpose only makes them be read anew.
fn hash(line: &[u8]) -> u64 {
    const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut state = 0_u64;
    let (words, rest) = line.as_chunks::<8>();
    for word in words {
        state = (state.rotate_left(23) ^ u64::from_le_bytes(*word)).wrapping_mul(ODD);
    }
    let mut last = [0_u8; 8];
    last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    state = (state.rotate_left(23) ^ u64::from_le_bytes(last)).wrapping_mul(ODD) ^ line.len() as u64;
    state ^ (state >> 29)
}

/// Takes a number that is a hash already.
#[derive(Debug, Default)]
pub(super) struct Hashed(u64);

impl Hasher for Hashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = self.0.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(line: &str) -> (Option<&str>, Option<&str>) {
        let spans = spans(line.as_bytes());
        (text(line.as_bytes(), spans.id.as_ref()), text(line.as_bytes(), spans.at.as_ref()))
    }

    #[test]
    fn ids_and_times_are_found_where_they_stand() {
        assert_eq!(
            seen(r#"{"id":"a-1","status":429,"at":"2026-01-01T00:00:00Z"}"#),
            (Some("\"a-1\""), Some("2026-01-01T00:00:00Z"))
        );
        assert_eq!(seen(r#"{"id": 17, "at": "x"}"#), (Some("17"), Some("x")));
        assert_eq!(seen(r#"{"id":"a\"b","body":"{\"at\":\"x\"}"}"#), (None, None));
        assert_eq!(seen(r#"{"status":1,"id":"x"}"#), (None, None));
        assert_eq!(seen(r#"{"headers":{"at":"x"},"at":"x"}"#), (None, None));
        assert_eq!(seen(r#"{"id":{"a":1}}"#), (None, None));
        assert_eq!(seen(r#"{"id":"#), (None, None));
    }

    #[test]
    fn lines_that_differ_in_id_and_time_alone_are_the_same() {
        let filled = |line: &str| {
            let mut out = Vec::new();
            fill(&mut out, line.as_bytes(), &spans(line.as_bytes()), &mask::ids(line.as_bytes()));
            out
        };
        let same = |a: &str, b: &str| filled(a) == filled(b);
        assert!(same(r#"{"id":1,"body":"req_0123456789abcdef"}"#, r#"{"id":22,"body":"req_fedcba9876543210"}"#));
        assert!(!same(r#"{"id":1,"body":"req_0123456789abcdef"}"#, r#"{"id":22,"body":"req_fedcba98765432100"}"#));
        assert!(same(r#"{"id":"a","at":"1","body":"x"}"#, r#"{"id":"bcd","at":"22","body":"x"}"#));
        assert!(same(r#"{"id":1,"body":"x"}"#, r#"{"id":22,"body":"x"}"#));
        assert!(!same(r#"{"id":1,"body":"x"}"#, r#"{"id":1,"body":"y"}"#));
        assert!(!same(r#"{"id":1,"body":"x"}"#, r#"{"id":1,"body":"x" }"#));
        assert!(same(r#"{"at":"1","body":"x"}"#, r#"{"at":"22","body":"x"}"#));
    }
}
