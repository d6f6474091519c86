//! Figures of limits in the words of an error, each with the limit that stands beside it.
//!
//! A figure counts only where the same sentence says what it limits and in which window; how long to wait is no reset,
//! because buckets let the next request through long before they are full.

use std::sync::LazyLock;

use jiff::Timestamp;
use regex::{Captures, Regex};

use crate::classify::duration::{Hint, find_hint};
use crate::classify::signals::{Read, Signals};
use crate::classify::times::Times;
use crate::classify::{extent, facts, text};
use crate::domain::{LimitFacts, ResetSource, StatedLimit};

use super::unit::{DAY, HOUR, MINUTE, MONTH, SECOND, Unit, WEEK, length, window_of_word};
use super::{Found, amount, window_by_reset};

/// How many layers are read, and how many names in each.
const LAYERS: usize = 12;
const NAMES: usize = 24;

/// How far before figures the name of their limit may stand, in bytes.
const NEAR: usize = 160;

/// `input tokens per minute`, `requests/day`, `seconds of audio per hour`, `rpm`.
static NAME: LazyLock<Option<Regex>> = LazyLock::new(|| {
    text::expression(concat!(
        r"\b(?:(input[ -]?tokens?|output[ -]?tokens?|tokens?|requests?|reqs?|queries|messages|calls|(?:input-)?images?|",
        r"seconds of audio) ?(?:per|/|a|an|every) ?(second|minute|min|hour|day|week|month)|",
        r"(i|o)?([rt])p([smhd])|(a)s([hd])|(a)sp([hd]))\b"
    ))
});

/// What a limit is called in a text, and where.
struct Called {
    unit: Unit,
    window: u64,
    start: usize,
    end: usize,
}

/// What one place of a text says.
struct Said {
    unit: Unit,
    window: Option<u64>,
    limit: Option<f64>,
    used: Option<f64>,
    left: Option<f64>,
}

impl Said {
    fn of(called: &Called, limit: Option<f64>, used: Option<f64>) -> Self {
        Self { unit: called.unit, window: Some(called.window), limit, used, left: None }
    }
}

/// Reads the figures of all errors.
pub(super) fn read(signals: &Signals, times: &Times, found: &mut Vec<Found>) {
    let limits = |read: &&Read| ["limit", "quota", "exceeded"].iter().any(|word| read.words.contains(word));
    for read in signals.layers.iter().filter(limits).take(LAYERS) {
        let said = said(&read.words);
        // One time cannot be told among several limits.
        let alone = said.len() == 1;
        let reset = if alone { reset(&read.layer.text, times) } else { None };
        let wait = if alone { find_hint(&read.layer.text.replace('\n', " "), times.base, &times.zone) } else { None };
        for one in said {
            found.extend(finish(&one, reset, wait, times));
        }
    }
}

fn finish(said: &Said, reset: Option<Timestamp>, wait: Option<Hint>, times: &Times) -> Option<Found> {
    let limit = said.limit.and_then(amount)?;
    let used = said.used.filter(|used| used.is_finite() && *used >= 0.0);
    let left = said.left.and_then(amount).or_else(|| used.map(|used| (limit - used).max(0.0)));
    let left = left.filter(|left| *left <= limit * 2.0);
    let after = reset.and_then(|reset| reset.duration_since(times.base).try_into().ok());
    let by_reset = || window_by_reset(None, after, None, None).map(|window| window.as_secs());
    let seconds = said.window.or_else(by_reset);
    let called = said.unit.dimension(seconds)?;
    // Where the wait is one of hours, the limit is none of a minute, whatever it is called.
    let dimension = match wait {
        Some(Hint::After(wait)) => extent::by_length(Some(called), wait)?,
        _ => called,
    };
    let stated = StatedLimit {
        dimension,
        limit: Some(limit),
        remaining: left,
        resets_at: reset,
        window: said.window.and_then(length).filter(|_| dimension == called),
        source: ResetSource::Message,
    };
    Some(Found { unit: said.unit, stated })
}

/// All that the words say, the surer forms first: where one is found, the vaguer are not looked for.
fn said(words: &str) -> Vec<Said> {
    let called = called(words);
    let mut said: Vec<Said> =
        called.iter().flat_map(|name| beside(words, name).into_iter().chain(shared(words, name))).collect();
    if said.is_empty() {
        said = listed(words);
    }
    if said.is_empty() {
        said.extend(per_seconds(words).or_else(|| of_a_period(words)).or_else(|| of_a_plan(words)));
    }
    if said.is_empty() {
        said.extend(figures(words, &called));
    }
    said
}

fn called(words: &str) -> Vec<Called> {
    let Some(expression) = NAME.as_ref() else { return Vec::new() };
    expression.captures_iter(words).take(NAMES).filter_map(|captures| name(&captures)).collect()
}

fn name(captures: &Captures<'_>) -> Option<Called> {
    let whole = captures.get(0)?;
    let group = |at: usize| captures.get(at).map(|found| found.as_str());
    let (unit, window) = if let (Some(unit), Some(window)) = (group(1), group(2)) {
        let unit = match unit {
            _ if unit.starts_with("input") && unit.contains("token") => Unit::Input,
            _ if unit.starts_with("output") => Unit::Output,
            _ if unit.contains("image") => Unit::Images,
            "seconds of audio" => Unit::Audio,
            _ => Unit::of_word(unit)?,
        };
        (unit, window_of_word(window)?)
    } else if let Some(window) = group(7).or_else(|| group(9)) {
        (Unit::Audio, letter(window)?)
    } else {
        let unit = match (group(3), group(4)?) {
            (Some("i"), "t") => Unit::Input,
            (Some("o"), "t") => Unit::Output,
            (None, "t") => Unit::Tokens,
            (None, _) => Unit::Requests,
            _ => return None,
        };
        (unit, letter(group(5)?)?)
    };
    Some(Called { unit, window, start: whole.start(), end: whole.end() })
}

fn letter(letter: &str) -> Option<u64> {
    Some(match letter {
        "s" => SECOND,
        "m" => MINUTE,
        "h" => HOUR,
        "d" => DAY,
        _ => return None,
    })
}

/// Figures that touch the name: `limit of 30,000 input tokens per minute`, `requests per minute (actual/limit): 41/480`,
/// `current rpm: 1, rpm limit: 15`.
fn beside(words: &str, name: &Called) -> Option<Said> {
    let (before, after) = (last(words.get(..name.start)?, 2 * NEAR), words.get(name.end..)?);
    if let Some(figures) = after.trim_start().strip_prefix("(actual/limit):") {
        let (used, rest) = leading(figures)?;
        let (limit, _) = leading(rest.trim_start().strip_prefix('/')?)?;
        return Some(Said::of(name, Some(limit), Some(used)));
    }
    if let Some(limit) = after.strip_prefix(" limit:").and_then(leading) {
        let used = before.rsplit_once(&format!("current {}:", words.get(name.start..name.end)?));
        return Some(Said::of(name, Some(limit.0), used.and_then(|(_, figures)| leading(figures)).map(|used| used.0)));
    }
    let (number, lead) = trailing(before)?;
    is_a_limit(lead).then(|| Said::of(name, Some(number), None))
}

/// The first of two that share a window: `6.0 queries and 180000 tokens per minute`.
fn shared(words: &str, name: &Called) -> Option<Said> {
    let (_, lead) = trailing(last(words.get(..name.start)?, 2 * NEAR))?;
    let lead = lead.trim_end().strip_suffix(" and")?;
    let (rest, unit) = lead.rsplit_once(' ')?;
    let (limit, lead) = trailing(rest)?;
    let window = Some(name.window);
    is_a_limit(lead).then_some(Said { unit: Unit::of_word(unit)?, window, limit: Some(limit), used: None, left: None })
}

/// Whether the words before a figure say that it is the limit, and not what an offer would give.
fn is_a_limit(lead: &str) -> bool {
    let near = sentence(lead);
    ["limit", "maximum"].iter().any(|word| near.contains(word)) && !is_an_offer(near)
}

fn is_an_offer(sentence: &str) -> bool {
    const OFFERS: &[&str] = &["unlock", "upgrade", "increase", "raise", "up to", "purchase", "buy ", "add "];
    OFFERS.iter().any(|offer| sentence.contains(offer))
}

/// The last sentence that a text begins, or its end where that is long.
fn sentence(text: &str) -> &str {
    let text = last(text, NEAR);
    let sentence = text.rsplit(['!', '?', ';', '{', '}']).next().unwrap_or(text);
    sentence.rsplit(". ").next().unwrap_or(sentence)
}

/// The end of a text, of about so many bytes.
fn last(text: &str, bytes: usize) -> &str {
    let from = text.len().saturating_sub(bytes);
    (from..from + 4).find_map(|at| text.get(at..)).unwrap_or(text)
}

/// `minute limit: 203411 / 200000 tokens. day limit: 4002120 / 10000000 tokens.`
fn listed(words: &str) -> Vec<Said> {
    let one = |window: facts::Listed<'_>| {
        let unit = |text: &str| {
            if text.contains("token") { Some(Unit::Tokens) } else { text.contains("request").then_some(Unit::Requests) }
        };
        let after: String = words.get(window.end..)?.chars().take(10).collect();
        let seconds = window_of_word(&window.name)?;
        let unit = unit(&after).or_else(|| unit(window.whole))?;
        Some(Said { unit, window: Some(seconds), limit: Some(window.limit), used: Some(window.used), left: None })
    };
    facts::listed(words).filter_map(one).collect()
}

/// GitHub: `rate limit of 50 per 86400s exceeded for userbymodelbyday`.
fn per_seconds(words: &str) -> Option<Said> {
    let (_, rest) = words.split_once("rate limit of ")?;
    let (limit, rest) = leading(rest)?;
    let (seconds, rest) = leading(rest.trim_start().strip_prefix("per ")?)?;
    let whose = rest.strip_prefix("s exceeded for ")?.split(['.', ' ']).next()?;
    let unit = match whose {
        _ if whose.contains("concurrent") => Unit::Concurrency,
        _ if whose.contains("token") => Unit::Tokens,
        _ => Unit::Requests,
    };
    // A whole number of seconds that was read from at most 16 digits.
    let window = (seconds >= 1.0).then_some(seconds as u64);
    Some(Said { unit, window, limit: Some(limit), used: None, left: None })
}

/// `daily limit of 1000 requests`.
fn of_a_period(words: &str) -> Option<Said> {
    let (before, rest) = words.split_once(" limit of ")?;
    let window = window_of_word(before.rsplit(' ').next()?)?;
    let (limit, rest) = leading(rest)?;
    let word = rest.trim_start().split(|c: char| !c.is_ascii_alphabetic()).next()?;
    Some(Said { unit: Unit::of_word(word)?, window: Some(window), limit: Some(limit), used: None, left: None })
}

/// `5-hour usage limit reached for token plan plus (1500/1500 used)`.
fn of_a_plan(words: &str) -> Option<Said> {
    const PLANS: &[(&str, u64)] = &[("5-hour", 5 * HOUR), ("5 hour", 5 * HOUR), ("weekly", WEEK), ("monthly", MONTH)];
    let (before, _) = words.split_once(" used)")?;
    let (_, figures) = before.rsplit_once('(')?;
    let (used, limit) = figures.split_once('/')?;
    let (used, limit) = (leading(used)?.0, leading(limit)?.0);
    let (_, window) = PLANS.iter().find(|(name, _)| before.contains(name))?;
    (limit > 0.0).then_some(Said {
        unit: Unit::Requests,
        window: Some(*window),
        limit: Some(limit),
        used: Some(used),
        left: None,
    })
}

/// `tokens per minute (tpm): limit 6000, used 5034`, `limit type: requests. current limit: 20, remaining: 0`.
fn figures(words: &str, called: &[Called]) -> Option<Said> {
    let (limits, start) = facts::limits_at(words)?;
    let LimitFacts { limit, used, remaining, .. } = limits;
    let offered = |name: &Called| words.get(..name.start).is_none_or(|before| is_an_offer(sentence(before)));
    let near = |name: &&Called| name.end <= start && start - name.end <= NEAR && !offered(name);
    if let Some(name) = called.iter().rev().find(near) {
        return Some(Said { left: remaining, ..Said::of(name, limit, used) });
    }
    let unit = match words.split_once("limit type: ") {
        Some((_, rest)) if rest.starts_with("requests") => Unit::Requests,
        Some((_, rest)) if rest.starts_with("tokens") => Unit::Tokens,
        Some((_, rest)) if rest.starts_with("max_parallel") => Unit::Concurrency,
        _ if words.contains("concurrent requests") => Unit::Concurrency,
        _ => return None,
    };
    Some(Said { unit, window: None, limit, used, left: remaining })
}

/// The moment at which the text says that the limit resets.
fn reset(text: &str, times: &Times) -> Option<Timestamp> {
    let at = text.find("reset")?;
    let rest = text.get(at..)?;
    let end = ["try again", "retry"].iter().filter_map(|word| rest.find(word)).min().unwrap_or(rest.len());
    times.moment(find_hint(&rest.get(..end)?.replace('\n', " "), times.base, &times.zone)?)
}

/// The number at the start of a text, after a space, and what follows it.
fn leading(text: &str) -> Option<(f64, &str)> {
    let text = text.trim_start();
    let length = text.bytes().take_while(|byte| byte.is_ascii_digit() || matches!(byte, b',' | b'.')).take(24).count();
    let (number, rest) = text.split_at_checked(length)?;
    parse(number.trim_end_matches([',', '.'])).map(|number| (number, rest))
}

/// The number at the end of a text, and what stands before it; `10k` is ten thousand.
fn trailing(text: &str) -> Option<(f64, &str)> {
    let text = text.trim_end();
    let (text, times) = match text.strip_suffix('k') {
        Some(text) => (text, 1000.0),
        None => (text, 1.0),
    };
    let length =
        text.bytes().rev().take_while(|byte| byte.is_ascii_digit() || matches!(byte, b',' | b'.')).take(24).count();
    let (rest, number) = text.split_at_checked(text.len() - length)?;
    // Digits at the end of a word or of a sum are another kind of number.
    let joined = rest.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '/' | '$' | '¥'));
    if joined { None } else { parse(number).map(|number| (number * times, rest)) }
}

fn parse(number: &str) -> Option<f64> {
    number.replace(',', "").parse().ok()
}
