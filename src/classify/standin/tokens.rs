//! Long tokens of mixed letters and digits, and addresses of the Internet.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::Found;

/// From this length on a part of a token may be an id.
const PART: usize = 16;

/// From this length on a token of several parts may be one.
const WHOLE: usize = 24;

pub(super) fn find(shadow: &str, found: &mut Found) {
    runs(
        shadow,
        |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'),
        |from, run| token(from, run, found),
    );
    runs(
        shadow,
        |byte| byte.is_ascii_digit() || byte == b'.',
        |from, run| {
            let run = run.trim_end_matches('.');
            if run.len() >= 7 && stands_alone(shadow, from, from + run.len()) {
                v4(from, run, found);
            }
        },
    );
    runs(
        shadow,
        |byte| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.'),
        |from, run| {
            let run = run.trim_end_matches('.');
            if run.len() >= 3 && run.contains(':') && stands_alone(shadow, from, from + run.len()) {
                v6(from, run, found);
            }
        },
    );
}

/// Calls for each longest run of such bytes.
fn runs(text: &str, belongs: impl Fn(u8) -> bool, mut each: impl FnMut(usize, &str)) {
    let mut begin = None;
    for (at, byte) in text.bytes().chain([0]).enumerate() {
        match (begin, belongs(byte)) {
            (None, true) => begin = Some(at),
            (Some(from), false) => {
                begin = None;
                if let Some(run) = text.get(from..at) {
                    each(from, run);
                }
            }
            _ => {}
        }
    }
}

/// Ids look drawn: letters and digits take turns, or capitals and small letters do. Names of models and fields have
/// such parts too, but short ones.
fn token(from: usize, run: &str, found: &mut Found) {
    if run.len() < PART {
        return;
    }
    if run.len() >= WHOLE && parts(run).any(|(_, part)| part.len() >= 8 && is_mixed(part)) {
        // A word in front says what it is.
        let head = parts(run).next().map_or(0, |(_, first)| first.len());
        let is_word = |head: &str| head.len() <= 10 && head.bytes().all(|byte| byte.is_ascii_lowercase());
        let start = if run.get(..head).is_some_and(is_word) { (head + 1).min(run.len()) } else { 0 };
        found.add((from + start, from + run.len()));
        return;
    }
    for (at, part) in parts(run).filter(|(_, part)| part.len() >= PART && is_drawn(part)) {
        found.add((from + at, from + at + part.len()));
    }
}

fn parts(run: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    run.split(['-', '_']).map(move |part| {
        let from = at;
        at += part.len() + 1;
        (from, part)
    })
}

/// What a part is made of.
#[derive(Default)]
struct Make {
    digits: usize,
    letters: usize,
    /// How often a letter follows a digit or the other way round.
    turns: usize,
    /// How often a capital follows a small letter or the other way round.
    bends: usize,
    is_hex: bool,
    has_both_cases: bool,
}

fn make(part: &str) -> Make {
    let mut make = Make { is_hex: part.bytes().all(|byte| byte.is_ascii_hexdigit()), ..Make::default() };
    let mut before: Option<u8> = None;
    for byte in part.bytes() {
        make.digits += usize::from(byte.is_ascii_digit());
        make.letters += usize::from(byte.is_ascii_alphabetic());
        if let Some(before) = before {
            if before.is_ascii_digit() != byte.is_ascii_digit() {
                make.turns += 1;
            } else if before.is_ascii_lowercase() != byte.is_ascii_lowercase() {
                make.bends += 1;
            }
        }
        before = Some(byte);
    }
    make.has_both_cases = part.bytes().any(|b| b.is_ascii_lowercase()) && part.bytes().any(|b| b.is_ascii_uppercase());
    make
}

fn is_mixed(part: &str) -> bool {
    let make = make(part);
    let is_hex = make.is_hex && make.digits > 0 && make.letters > 0;
    is_hex || (make.digits > 0 && make.turns >= 3 && (make.has_both_cases || part.len() >= PART))
}

fn is_drawn(part: &str) -> bool {
    let Make { digits, letters, turns, bends, is_hex, has_both_cases } = make(part);
    let takes_turns = digits >= 2 && turns >= 3 && (has_both_cases || part.len() >= 20 || turns * 3 > part.len());
    let jumps = part.len() >= 20 && has_both_cases && (bends + turns) * 2 > part.len();
    (is_hex && digits > 0 && letters > 0) || takes_turns || jumps
}

/// Whether an address can stand there: versions (`lib/1.2.3.4`, `v1.2.3.4`) have four parts as well, and `Feed::add` has
/// colons.
fn stands_alone(shadow: &str, from: usize, to: usize) -> bool {
    let bytes = shadow.as_bytes();
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let before = bytes.get(..from).unwrap_or_default();
    let is_path = before.ends_with(b"/") && !before.ends_with(b"//");
    !is_path && !before.last().is_some_and(is_word) && !bytes.get(to).is_some_and(is_word)
}

fn v6(from: usize, text: &str, found: &mut Found) {
    let Ok(address) = text.parse::<Ipv6Addr>() else { return };
    let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
    if has_digit && !address.is_loopback() && !address.is_unspecified() {
        found.add((from, from + text.len()));
    }
}

fn v4(from: usize, text: &str, found: &mut Found) {
    let Ok(address) = text.parse::<Ipv4Addr>() else { return };
    // Cloud machines ask the last one for their own keys.
    let is_everywhere = address.is_loopback() || address.is_unspecified() || address.is_broadcast();
    if !is_everywhere && address != Ipv4Addr::new(169, 254, 169, 254) {
        found.add((from, from + text.len()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let mut found = Found::default();
        find(text, &mut found);
        found.spans.into_iter().map(|(from, to)| text.get(from..to).expect("a span").to_owned()).collect()
    }

    #[test]
    fn ids_are_told_from_names_of_models_and_fields() {
        for id in [
            "0af7651916cd43dd8448eb211c80319c",
            "20260922232915e8288c6600000000",
            "MTc0NDc0NDMyNy4wMDAwMDA",
            "b7ad6b7169203331",
            "Zq7xW2pL9vT4mR8kY3nB6cJ1hF5dS0",
            "aBcDeFgHiJkLmNoPqRsTuV",
        ] {
            assert_eq!(found(&format!("a {id}, b")), [id]);
        }
        assert_eq!(found("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01").len(), 1);
        for word in [
            "claude-sonnet-4-5-20250929",
            "anthropic-ratelimit-unified-5h-utilization",
            "Qwen2-VL-2B-Instruct",
            "llama3-empower-functions-small-gguf-v1",
            "GenerateRequestsPerMinutePerProjectPerModel-FreeTier",
            "Http1ExchangeCodec",
            "europe-west1-aiplatform",
            "nemotron-3-ultra-550b-a55b",
            "1741305600000",
            "2026-08-23T03:00:00Z",
            "10:20:30",
            "meta-llama-3-70b-instruct",
            "internal_server_error_exception",
        ] {
            assert_eq!(found(word), [""; 0], "{word}");
        }
    }

    #[test]
    fn addresses_are_told_from_versions_and_times() {
        assert_eq!(
            found("from 203.0.113.7:443, [2001:db8::7]:80 to fe80::1."),
            ["203.0.113.7", "2001:db8::7", "fe80::1"]
        );
        assert_eq!(found("http://10.1.2.3:8000/v1"), ["10.1.2.3"]);
        assert_eq!(found("x ::ffff:10.1.2.3"), ["10.1.2.3", "::ffff:10.1.2.3"]);
        for text in [
            "127.0.0.1:11434",
            "::1",
            "lib/1.2.3.4",
            "v1.2.3.4",
            "Feed::add",
            "300.1.1.1",
            "169.254.169.254",
            "at 10:11:12",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }
}
