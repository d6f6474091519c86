//! Whether a text tells of a failure that happened.
//!
//! Logs, manuals, settings and counters use the same words. A failure is told by an exception's name, a level, a verb of
//! trouble; what is denied ("0 failed"), asked ("how do I …") or foreseen ("if you exceed …") is none.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

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
        r"\bfailed? ?over\b|\bnot (?:yet )?(?:reached|exceeded|exhausted|hit|throttled|rate.limited)\b"
    ))
});

/// Whether its first line is an entry of a level at which no trouble is told.
pub(super) fn is_calm(text: &str) -> bool {
    let head: String = text.lines().next().unwrap_or("").chars().take(60).collect();
    let has = |levels: &[&str]| head.split(|c: char| !c.is_alphanumeric()).any(|word| levels.contains(&word));
    has(&["INFO", "DEBUG", "TRACE", "info", "debug", "trace", "SYS", "信息", "调试"])
        && !has(&["ERROR", "WARN", "error", "warn"])
}

/// Whether it speaks of a model or of what serves one.
pub(super) fn names_a_model(text: &str) -> bool {
    let lower = text.to_lowercase();
    ["model", "deployment", "endpoint", "engine", "channel", "provider", "模型", "渠道", "gpt", "claude", "gemini"]
        .iter()
        .any(|word| lower.contains(word))
}

/// Whether it tells of what will be, or of code that should be changed.
pub(super) fn announces(text: &str) -> bool {
    let lower = text.to_lowercase();
    [
        "deprecationwarning",
        "will be retired",
        "will be removed",
        "will be deprecated",
        "is deprecated, use",
        "futurewarning",
    ]
    .iter()
    .any(|word| lower.contains(word))
}

/// Whether it is no log at all but source code, a chat, a list of changes, metrics, the report of a test run, or the
/// access log's line of a request that went well.
pub(super) fn is_no_log(text: &str) -> bool {
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    let count = lines().count().max(1);
    let share = |pattern: &LazyLock<Option<Regex>>| {
        lines().filter(|line| pattern.as_ref().is_some_and(|pattern| pattern.is_match(line))).count()
    };
    let traced = ["Traceback", "    at ", "\tat ", "  File \""].iter().any(|sign| text.contains(sign));
    // Each expression is asked only where it can be right: to build one takes longer than a short process lives.
    let holds = |signs: &[&str]| signs.iter().any(|sign| text.contains(sign));
    // One line that begins like a program's may be a sentence; one that ends like it too is none.
    let ends_so = count == 1 && text.trim_end().ends_with(['{', '}', ';', ':']);
    let is_code = || (share(&CODE) > 1 || (ends_so && share(&CODE) == 1)) && share(&CODE) * 5 >= count * 2;
    ((count > 1 || ends_so) && !traced && is_code())
        || (holds(&[": ", "> ", ":\n"]) && holds(SPEAKERS) && share(&CHAT) * 2 >= count)
        || (holds(&["# ", "} ", "::", "- ", "* ", "|", "=====", "test "]) && share(&LISTED) * 3 >= count * 2)
        || (text.contains(" HTTP/") && share(&ACCESS) > 0 && share(&ACCESS) == count)
}

/// Who speaks in a conversation.
const SPEAKERS: &[&str] = &["ser", "ssistant", "uman", "ystem", "ot", "AI", "ai", "A:", "Q:", "a:", "q:", "A>", "Q>"];

/// Lines of programs.
static CODE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    text::expression(concat!(
        r"^\s*(?:import \S|from \S+ import |def \w+\(|class \w+|return\b|raise \w+\(|throw new |try:|except \S+|if .*:$|if \(|for \w+ in |while |const \w+ =|let \w+ =|var \w+|",
        r"export |func \w+\(|fn \w+\(|pub fn|use \w+::|print\(|#include|assert |[A-Z_]{3,30} = |time\.sleep)"
    ))
});

/// Lines of a conversation.
static CHAT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    text::expression(
        r"^\s{0,4}(?:user|assistant|human|ai|system|bot|q|a|User|Assistant|Human|AI|System|Bot|Q|A) ?[>:] ?\S",
    )
});

/// Metrics, results of tests, changes.
static LISTED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    text::expression(concat!(
        r"^(?:# (?:HELP|TYPE) |[a-z_][a-z0-9_:]*\{.*\} [0-9.eE+-]+$|\S+::\S+ (?:PASSED|FAILED|SKIPPED|XFAIL)|test \S+ \.\.\. |={5,}|collected \d+|",
        r"#{1,4} |[-*] (?:fix|feat|chore|docs|refactor|perf|test|build|ci)(?:\(\S*\))?!?:|\|.*\|$)"
    ))
});

/// A request that went well, in the words of a web server.
static ACCESS: LazyLock<Option<Regex>> =
    LazyLock::new(|| text::expression(r#""(?:GET|POST|PUT|HEAD|OPTIONS|DELETE) \S+ HTTP/[\d.]+"?"? [123]\d\d\b"#));

/// What is asked, and what describes an interface, is no outcome.
pub(super) fn is_description(value: &Value) -> bool {
    let is_asked = value.pointer("/messages/0/role").is_some();
    is_asked || ["prompt", "openapi", "swagger", "$schema"].iter().any(|key| value.get(key).is_some())
}

/// Whether it is the failure of something else than a model's service: databases, stores, package registries.
pub(super) fn is_foreign(text: &str) -> bool {
    const OTHERS: &[&str] = &[
        "psycopg",
        "postgres",
        "mysql",
        "redis",
        "mongodb",
        "pymongo",
        "elasticsearch",
        "kafka",
        "rabbitmq",
        "amqp",
        "memcached",
        "sqlalchemy",
        "sqlite",
        "api.github.com",
        "putobject",
        "getobject",
        "listobjects",
        "smtp",
        "npm error",
        "npm err!",
        "registry.npmjs.org",
        "pypi.org",
        "docker.io",
        "crates.io",
        "ldap",
        "sqs:",
        "dynamodb",
    ];
    // Package managers name packages by any word.
    if ["npm error", "npm err!", "registry.npmjs.org"].iter().any(|sign| text.contains(sign)) {
        return true;
    }
    const OURS: &[&str] = &[
        "openai",
        "anthropic",
        "claude",
        "gemini",
        "llm",
        "gpt",
        "chat/completions",
        "v1/messages",
        "model",
        "invokemodel",
        "converse",
        "completion",
        "token",
        "prompt",
        "upstream",
    ];
    let lower = text.to_lowercase();
    OTHERS.iter().any(|other| lower.contains(other)) && !OURS.iter().any(|ours| lower.contains(ours))
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
        "it means",
        "if you see",
        "what does it mean",
        "can also be",
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
        "敏感",
        "违规",
        "违反",
        "enqueued",
        "達し",
        "超え",
        "도달",
        "초과",
        "차단",
        "atteint",
        "dépass",
        "alcanz",
        "exced",
        "erreicht",
        "überschritten",
        "достиг",
        "исчерпан",
        "превыш",
        "spend cap",
        "zeitüber",
        "zu viele",
        "trop de",
        "demasiad",
        "atingid",
        "слишком",
        "多すぎ",
        "너무 많",
        "aufgebraucht",
        "исчерпал",
        "agotad",
        "esgotad",
        "épuisé",
        "使い切",
        "소진",
        "used 100%",
        "タイムアウト",
        "délai",
        "tiempo de espera",
        "tempo limite",
        "время ожидания",
        "違反",
        "위반",
        "bloqu",
        "blockiert",
        "заблокирован",
        "нарушает",
        "ошибка",
        "エラー",
        "오류",
        "erreur",
        "fehler",
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
        r"\btoo many requests\b|\bunauthorized:|\btry again\b|\berror (?:occurred|code|from|while|in response|sending)\b|\b(?:an|the following) error\b)|错误|失败|频繁|超"
    ))
});
