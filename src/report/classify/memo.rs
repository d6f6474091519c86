//! Lines that were classified before.
//!
//! A log of a bad night holds the same failure ten thousand times, with another id and another time in each record. So a
//! record is remembered by all of its bytes but the values of `id` and `at`, and compared byte by byte before it counts
//! as known: what is remembered can't be wrong. What depends on the time is worked out anew.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;
use std::sync::LazyLock;
use std::time::Duration;

use memchr::memmem::Finder;

use crate::domain::Class;

use super::json::Parts;

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
    line: Box<[u8]>,
    spans: Spans,
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
}

impl Memo {
    /// What is known of the line, and where its own values stand.
    pub(super) fn get(&mut self, line: &[u8]) -> Option<(&mut Known, Spans)> {
        let spans = spans(line);
        let known = self.known.get_mut(&hash(line, &spans))?;
        known.is(line, &spans).then_some((known, spans))
    }

    /// Remembers a result.
    pub(super) fn put(&mut self, line: &[u8], result: (Parts, Heals, Class, Option<&str>)) {
        if line.len() > LONGEST {
            return;
        }
        let spans = spans(line);
        let (parts, heals, class, provider) = result;
        self.bytes += line.len() + 512;
        let key = hash(line, &spans);
        let provider = provider.map(Into::into);
        self.known.insert(key, Known { line: line.into(), spans, parts, heals, class, provider, met: 0 });
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

impl Known {
    fn is(&self, line: &[u8], spans: &Spans) -> bool {
        let ours = pieces(&self.line, &self.spans);
        let theirs = pieces(line, spans);
        self.spans.id.is_some() == spans.id.is_some() && self.spans.at.is_some() == spans.at.is_some() && ours == theirs
    }
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
        value.iter().position(|byte| !byte.is_ascii_alphanumeric())?
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
    Some(start..start + end)
}

/// The line without its own values.
fn pieces<'l>(line: &'l [u8], spans: &Spans) -> [&'l [u8]; 3] {
    let mut cuts: [Range<usize>; 2] = [0..0, 0..0];
    for (cut, span) in cuts.iter_mut().zip([&spans.id, &spans.at].into_iter().flatten()) {
        *cut = span.clone();
    }
    let [first, second] = &cuts;
    let (first, second) =
        if second.end == 0 || first.start <= second.start { (first, second) } else { (second, first) };
    let second = if second.end == 0 { first.end..first.end } else { second.clone() };
    let piece = |from: usize, to: usize| line.get(from..to).unwrap_or(&[]);
    [piece(0, first.start), piece(first.end, second.start), piece(second.end, line.len())]
}

/// A hash that is fast rather than strong: who makes lines collide on purpose only makes them be read anew.
fn hash(line: &[u8], spans: &Spans) -> u64 {
    const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut state = 0_u64;
    for piece in pieces(line, spans) {
        let (words, rest) = piece.as_chunks::<8>();
        for word in words {
            state = (state.rotate_left(23) ^ u64::from_le_bytes(*word)).wrapping_mul(ODD);
        }
        let mut last = [0_u8; 8];
        last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        state = (state.rotate_left(23) ^ u64::from_le_bytes(last)).wrapping_mul(ODD) ^ piece.len() as u64;
    }
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
        assert_eq!(seen(r#"{"id":{"a":1}}"#), (None, None));
        assert_eq!(seen(r#"{"id":"#), (None, None));
    }

    #[test]
    fn lines_that_differ_in_id_and_time_alone_are_the_same() {
        let same = |a: &str, b: &str| {
            let (a, b) = (a.as_bytes(), b.as_bytes());
            pieces(a, &spans(a)) == pieces(b, &spans(b)) && hash(a, &spans(a)) == hash(b, &spans(b))
        };
        assert!(same(r#"{"id":"a","at":"1","body":"x"}"#, r#"{"id":"bcd","at":"22","body":"x"}"#));
        assert!(same(r#"{"id":1,"body":"x"}"#, r#"{"id":22,"body":"x"}"#));
        assert!(!same(r#"{"id":1,"body":"x"}"#, r#"{"id":1,"body":"y"}"#));
        assert!(!same(r#"{"id":1,"body":"x"}"#, r#"{"id":1,"body":"x" }"#));
        assert!(same(r#"{"at":"1","body":"x"}"#, r#"{"at":"22","body":"x"}"#));
    }
}
