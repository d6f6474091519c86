//! Ids in a line, which never decide what a failure is.
//!
//! Every answer of a provider has an id of its own: `req_011CT8…`, a UUID, a trace. Two lines that differ in such ids
//! alone are the same failure. What counts as one is narrow, since a number or a word may well decide: sixteen and more
//! letters and digits without a break, with enough of both, or a UUID. That they do not decide is not taken for granted
//! either: a result is remembered for other ids only when the same line with other ids gives the same result.

use std::ops::Range;

/// From this length on a run of letters and digits can be an id.
const SHORTEST: usize = 16;

/// How many ids of a line are looked at.
const MOST: usize = 32;

/// The ids of a line, in order.
pub(super) fn ids(line: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < line.len() && found.len() < MOST {
        let rest = line.get(at..).unwrap_or(&[]);
        let length = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        if length == 0 {
            at += 1;
            continue;
        }
        // The first letter after a backslash belongs to an escape, after `\u` the first five.
        let escaped = match (at.checked_sub(1).and_then(|before| line.get(before)), rest.first()) {
            (Some(b'\\'), Some(b'u')) => 5,
            (Some(b'\\'), _) => 1,
            _ => 0,
        };
        let run = at + escaped.min(length)..at + length;
        let uuid = if length == 8 && escaped == 0 { uuid(rest) } else { false };
        if uuid {
            found.push(at..at + UUID);
            at += UUID;
            continue;
        }
        if run.len() >= SHORTEST && is_mixed(line.get(run.clone()).unwrap_or(&[])) {
            found.push(run);
        }
        at += length;
    }
    found
}

const UUID: usize = 36;

/// Whether the text begins with a UUID that ends there.
fn uuid(text: &[u8]) -> bool {
    let fits = |(at, byte): (usize, &u8)| match at {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    let whole = text.get(..UUID).is_some_and(|text| text.iter().enumerate().all(fits));
    whole && !text.get(UUID).is_some_and(u8::is_ascii_alphanumeric)
}

/// Whether there are both digits and letters enough: long words and long numbers are no ids.
fn is_mixed(run: &[u8]) -> bool {
    let digits = run.iter().filter(|byte| byte.is_ascii_digit()).count();
    digits >= 4 && run.len() - digits >= 2
}

/// The line with other ids of the same shape.
pub(super) fn with_others(line: &[u8], ids: &[Range<usize>]) -> Vec<u8> {
    let mut out = line.to_vec();
    for id in ids {
        let bytes = out.get_mut(id.clone()).into_iter().flatten();
        bytes.for_each(|byte| *byte = other(*byte));
    }
    out
}

/// Another letter or digit of the same kind; hexadecimal digits stay such.
fn other(byte: u8) -> u8 {
    let next = |first: u8, count: u8| first + (byte - first + 1) % count;
    match byte {
        b'0'..=b'9' => next(b'0', 10),
        b'a'..=b'f' => next(b'a', 6),
        b'g'..=b'z' => next(b'g', 20),
        b'A'..=b'F' => next(b'A', 6),
        b'G'..=b'Z' => next(b'G', 20),
        other => other,
    }
}

/// Where an id stands in a text, and which of the line's it is.
pub(super) type Place = (usize, usize);

/// Where the ids of a line stand in a text that was made of it; none when the text depends on them in another way.
/// `changed` is the text made of the line with other ids.
pub(super) fn places(line: &[u8], ids: &[Range<usize>], text: &str, changed: &str) -> Option<Vec<Place>> {
    if text == changed {
        return Some(Vec::new());
    }
    let mut found = Vec::new();
    let mut again = text.to_owned();
    for (number, id) in ids.iter().enumerate() {
        let id = std::str::from_utf8(line.get(id.clone())?).ok()?;
        let renewed: String = id.bytes().map(|byte| char::from(other(byte))).collect();
        let mut from = 0;
        while let Some(at) = again.get(from..)?.find(id).map(|at| at + from) {
            again.replace_range(at..at + id.len(), &renewed);
            found.push((at, number));
            from = at + id.len();
        }
    }
    found.sort_unstable();
    (again == changed).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(line: &str) -> Vec<&str> {
        ids(line.as_bytes()).into_iter().map(|id| line.get(id).expect("text")).collect()
    }

    #[test]
    fn ids_are_long_and_mixed() {
        assert_eq!(found(r#"{"request_id":"req_011CT8abcdefgh123"}"#), ["011CT8abcdefgh123"]);
        assert_eq!(found("x 4be2a7cc-1b70-4f5e-9f36-8ba0a2dd9a11."), ["4be2a7cc-1b70-4f5e-9f36-8ba0a2dd9a11"]);
        assert_eq!(found(r#""\n0123456789abcdef01""#), ["0123456789abcdef01"]);
        assert_eq!(found(r#""\u00e90123456789abcdef01""#), ["0123456789abcdef01"]);
        for none in [
            "claude-haiku-4-5-20251001",
            "model_not_found_in_the_whole_region",
            "1794736800000000000",
            "GenerateRequestsPerDayPerProjectPerModel",
            "429 4290 0x1234",
            "4be2a7cc-1b70-4f5e",
        ] {
            assert_eq!(found(none), [""; 0], "{none}");
        }
    }

    #[test]
    fn places_are_those_at_which_texts_follow_the_ids() {
        let line = b"id 0123456789abcdefX0 and 9876543210fedcbaY9";
        let ids = ids(line);
        let others = with_others(line, &ids);
        let others = std::str::from_utf8(&others).expect("text");
        let text = "see 9876543210fedcbaY9, 0123456789abcdefX0";
        let renewed = |id: usize| others.get(ids[id].clone()).expect("text");
        let changed = format!("see {}, {}", renewed(1), renewed(0));
        assert_eq!(places(line, &ids, text, &changed), Some(vec![(4, 1), (24, 0)]));
        assert_eq!(places(line, &ids, "429", "429"), Some(vec![]));
        assert_eq!(places(line, &ids, "see 0123456789…", "see 1234567890…"), None);
    }
}
