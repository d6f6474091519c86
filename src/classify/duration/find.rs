//! Finding the words of a message that say when to come back.
//!
//! Only waits that the provider demands count. A client's own wait ("Retrying in 4 seconds") says nothing about the
//! provider, although it often stands in the same log line.

use std::sync::LazyLock;
use std::time::Duration;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use jiff::Timestamp;

use super::{ZoneGuess, duration_prefix, parse_moment};

/// What a message says of when it heals.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Hint {
    /// After this time.
    After(Duration),
    /// At this moment.
    At(Timestamp),
}

/// What the words before a time mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lead {
    /// A wait or a moment follows; a bare number is seconds.
    Wait,
    /// A moment follows (or a wait with its unit).
    Reset,
    /// The client's own wait follows.
    Client,
}

const LEADS: &[(&str, Lead)] = &[
    ("retrying in", Lead::Client),
    ("will retry in", Lead::Client),
    ("retrying after", Lead::Client),
    ("retry wait time", Lead::Client),
    ("totalretrydelay", Lead::Client),
    ("try again in", Lead::Wait),
    ("try again after", Lead::Wait),
    ("available again in", Lead::Wait),
    ("retry in", Lead::Wait),
    ("retry after", Lead::Wait),
    ("retry-after", Lead::Wait),
    ("retry_after", Lead::Wait),
    ("retryafter", Lead::Wait),
    ("retrydelay", Lead::Wait),
    ("please wait", Lead::Wait),
    ("wait for", Lead::Wait),
    ("wait at least", Lead::Wait),
    ("reset after", Lead::Wait),
    ("resets after", Lead::Wait),
    ("resets in", Lead::Wait),
    ("reset in", Lead::Wait),
    ("refreshes in", Lead::Wait),
    ("available in", Lead::Wait),
    ("replenished in", Lead::Wait),
    ("cooling down for", Lead::Wait),
    ("again after", Lead::Wait),
    ("через", Lead::Wait),
    ("réessayer dans", Lead::Wait),
    ("réessayez dans", Lead::Wait),
    ("de nuevo en", Lead::Wait),
    ("novamente em", Lead::Wait),
    ("erneut in", Lead::Wait),
    ("请在", Lead::Wait),
    ("请等待", Lead::Wait),
    ("try again at", Lead::Reset),
    ("reset at", Lead::Reset),
    ("resets at", Lead::Reset),
    ("reset on", Lead::Reset),
    ("resets on", Lead::Reset),
    ("resets", Lead::Reset),
    ("will reset", Lead::Reset),
    ("regain access on", Lead::Reset),
    ("regain access at", Lead::Reset),
    ("available at", Lead::Reset),
    ("available on", Lead::Reset),
    ("refresh at", Lead::Reset),
    ("refreshed at", Lead::Reset),
    ("limit reached|", Lead::Reset),
    ("until", Lead::Reset),
    ("将在", Lead::Reset),
    ("将于", Lead::Reset),
    ("重置时间", Lead::Reset),
    ("重置于", Lead::Reset),
];

/// Words that follow a time in Chinese, Japanese and Korean and make it a wait.
const FOLLOWERS: &[&str] = &["后", "之后", "再试", "重试", "後", "후"];

static FINDER: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder()
        // The full automaton that is chosen for few patterns takes longer to build than a short process lives.
        .kind(Some(AhoCorasickKind::ContiguousNFA))
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::LeftmostLongest)
        .build(LEADS.iter().map(|(words, _)| *words))
        .ok()
});

/// The first wait, else the first moment, that the message demands. `base` and `zone` serve moments that do not say
/// their date or zone.
pub fn find_hint(text: &str, base: Timestamp, zone: &ZoneGuess) -> Option<Hint> {
    let finder = FINDER.as_ref()?;
    let mut moment = None;
    // More leads than this are no message but an attack on our time.
    for found in finder.find_iter(text).take(64) {
        let Some((_, lead)) = LEADS.get(found.pattern().as_usize()) else { continue };
        let Some(rest) = text.get(found.end()..) else { continue };
        if *lead == Lead::Client {
            continue;
        }
        // Within a name (`completion_with_retry in 4.0 seconds`) these are not the provider's words.
        let before = text.get(..found.start()).and_then(|before| before.chars().next_back());
        if before.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_') {
            continue;
        }
        let rest = rest.trim_start_matches([' ', ':', '=', '"', '\'', '\\', '\n', '~', '(', '\u{a0}']);
        let joint = ["after ", "in ", "at ", "on "].iter().find_map(|joint| rest.strip_prefix(joint));
        let rest = joint.unwrap_or(rest);
        let rest = rest.strip_prefix("about ").or_else(|| rest.strip_prefix("approximately ")).unwrap_or(rest);
        if let Some(wait) = wait(rest, *lead) {
            return Some(Hint::After(wait));
        }
        if moment.is_none() {
            moment = parse_moment(rest, base, zone).map(Hint::At);
        }
    }
    moment.or_else(|| chinese_wait(text))
}

fn wait(rest: &str, lead: Lead) -> Option<Duration> {
    if let Some((duration, used)) = duration_prefix(rest) {
        // `resets 2026-…` and the like are moments; a clock time after "reset at" is one too.
        let clock = rest.get(..used).is_some_and(|span| span.contains(':'));
        return (!(clock && lead == Lead::Reset)).then_some(duration);
    }
    let digits = rest.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let number = rest.get(..digits)?.trim_end_matches('.');
    let after = rest.get(digits..)?;
    let ends = after.is_empty() || after.starts_with([',', '}', '"', '\'', '\n', ']', ')', ';']);
    // Five digits are more than a day: a longer bare number is a moment.
    if lead == Lead::Wait && (1..=6).contains(&number.len()) && ends {
        return super::parse_duration(number);
    }
    None
}

/// `30秒后重试`: the wait stands before the word for it.
fn chinese_wait(text: &str) -> Option<Hint> {
    for follower in FOLLOWERS {
        for (at, _) in text.match_indices(follower).take(16) {
            let before = text.get(..at)?;
            let start = before
                .char_indices()
                .rev()
                .take(16)
                .take_while(|(_, c)| {
                    c.is_ascii_digit() || *c == '.' || *c == ' ' || "毫秒钟分小时个天時間초분시간".contains(*c)
                })
                .last()
                .map(|(at, _)| at);
            let Some(start) = start else { continue };
            if let Some((duration, _)) = before.get(start..).and_then(duration_prefix) {
                return Some(Hint::After(duration));
            }
        }
    }
    None
}
