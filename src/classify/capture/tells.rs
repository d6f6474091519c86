//! Whether a text tells of a failure that happened.
//!
//! Logs, manuals, settings and counters use the same words. A failure is told by an exception's name, a level, a verb of
//! trouble; what is denied ("0 failed"), asked ("how do I …") or foreseen ("if you exceed …") is none.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

use crate::classify::text;

/// Whether a level or a field says that it is an error.
pub(super) fn says_level_of_trouble(text: &str) -> bool {
    ["ERROR", "FATAL", "CRITICAL", "level=error", "\"error\""].iter().any(|level| text.contains(level))
}

/// The text without what it says did not happen: `0 failed`, `no errors`, `not exceeded`.
pub(super) fn without_denials(text: &str) -> Cow<'_, str> {
    DENIAL.as_ref().map_or(Cow::Borrowed(text), |pattern| pattern.replace_all(text, "-"))
}

static DENIAL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    text::expression(concat!(
        r"(?i)\b(?:0|no|zero) (?:rate.limit(?:ed|s)?|fail(?:ed|ures?)|errors?|timeouts?|throttl(?:ed|es))\b|",
        r"\bnot (?:yet )?(?:reached|exceeded|exhausted|hit|throttled|rate.limited)\b"
    ))
});

/// Whether its first line is an entry of a level at which no trouble is told.
pub(super) fn is_calm(text: &str) -> bool {
    let head: String = text.lines().next().unwrap_or("").chars().take(60).collect();
    let has = |levels: &[&str]| head.split(|c: char| !c.is_alphanumeric()).any(|word| levels.contains(&word));
    has(&["INFO", "DEBUG", "TRACE", "info", "debug", "trace"]) && !has(&["ERROR", "WARN", "error", "warn"])
}

/// Whether it speaks of a model or of what serves one.
pub(super) fn names_a_model(text: &str) -> bool {
    let lower = text.to_lowercase();
    ["model", "deployment", "endpoint", "engine", "channel", "provider", "模型", "渠道", "gpt", "claude", "gemini"]
        .iter()
        .any(|word| lower.contains(word))
}

/// Sentences of a manual, which tell of failures that may come.
pub(super) fn is_prose(text: &str) -> bool {
    const WORDS: &[&str] = &[
        "if you exceed",
        "when you exceed",
        "if you hit",
        "when you hit",
        "if the limit is",
        "the api returns",
        "the server returns",
        "will return",
        "is returned when",
        "are returned when",
        "- [ ] ",
        "- [x] ",
        "how do i",
        "how to ",
        "retry on",
        "retry_on",
        "retries on",
        "means that",
    ];
    let lower = text.to_lowercase();
    WORDS.iter().any(|word| lower.contains(word)) && !SAYS_EXCEPTION.as_ref().is_some_and(|found| found.is_match(text))
}

/// The name of an exception, which no manual's sentence begins with.
static SAYS_EXCEPTION: LazyLock<Option<Regex>> =
    LazyLock::new(|| text::expression(r"(?m)^\W{0,6}(?:[\w.]{1,80}(?:Error|Exception)\b|Traceback|Caused by)"));

/// Whether a verb or a name of trouble occurs.
pub(super) fn says_trouble(text: &str) -> bool {
    const WORDS: &[&str] = &[
        "error",
        "fail",
        "exceed",
        "reached",
        "hit your",
        "exhaust",
        "too many",
        "used up",
        "try again",
        "please wait",
        "throttl",
        "slow down",
        "denied",
        "refused",
        "reset",
        "timed out",
        "hang up",
        "overload",
        "unable",
        "cannot",
        "can't",
        "could not",
        "couldn't",
        "goaway",
        "ran out of",
        "limited to",
        "blocked",
        "错误",
        "失败",
        "超",
        "上限",
        "频繁",
        "限制",
        "限流",
        "用完",
        "用尽",
        "out of ",
        "no deployments",
        "dial tcp",
        "no such host",
        "lookup",
        "not known",
        "getaddrinfo",
        "broken pipe",
        "unexpected eof",
        "econn",
        "enotfound",
        "disconnected",
        "reject",
        "violat",
        "flagged",
        "refusal",
        "filtered",
        "triggered",
    ];
    let lower = text.to_lowercase();
    WORDS.iter().any(|word| lower.contains(word))
}

/// Whether the text tells of an error that happened, not of errors as such ("how to handle a timeout error").
pub(super) fn says_error(text: &str) -> bool {
    SAYS_ERROR.as_ref().is_some_and(|pattern| pattern.is_match(text))
}

static SAYS_ERROR: LazyLock<Option<Regex>> = LazyLock::new(|| {
    text::expression(concat!(
        r#"(?i:\berror\b["']?\s{0,2}(?:[:=\](|,\x22]|-|$))|[a-z_](?:Error|Exception|Timeout)\b|\b[A-Z][A-Za-z]{2,40}(?:Error|Exception)\b|\bERROR\b|\bFATAL\b|"#,
        r"(?i:\bfailed\b|\bfailure:|\bdenied\b|\bexceeded\b|\bunavailable\b|\brate.limit(?:ed|ing)\b|\brate.limit (?:hit|reached|exceed|error:)|",
        r"\btoo many requests\b|\btry again\b|\berror (?:occurred|code|from|while|in response|sending)\b|\b(?:an|the following) error\b)|错误|失败|频繁|超"
    ))
});
