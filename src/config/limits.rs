//! `[limits]`, the overrides of a ladder or step, `[breaker]` and `[cooldown]`.

use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use crate::domain::Timeouts;
use crate::ladder::{LatencyOf, OnInvalid, OnMayHaveRun};
use crate::policy::{CascadeSettings, PolicySettings};

use super::reader::{Node, Section};
use super::store::{BUFFERS, size};
use super::types::{CachePreference, Hedge, Limits, OnUnknown, StreamPolicy};

/// The keys of `[limits]`; a ladder takes all but the first.
pub(super) const LIMIT_KEYS: &[&str] = &[
    "retry_budget",
    "attempts",
    "retries",
    "deadline",
    "timeout",
    "wait",
    "max_cost_usd",
    "max_cost_per_1k_usd",
    "max_latency",
    "stream",
    "buffer",
    "on_unknown",
    "on_may_have_run",
    "on_invalid",
    "repair",
    "hedge",
    "cache",
    "tool_rounds",
];

/// Reads those limits that the section has over the given ones.
pub(super) fn limits(section: &Section<'_, '_>, mut limits: Limits) -> Limits {
    let count = |key: &str, most: u64| {
        let number = section.get(key)?.integer(u64::from(matches!(key, "attempts" | "tool_rounds"))..=most)?;
        u32::try_from(number).ok()
    };
    limits.attempts = count("attempts", 100).unwrap_or(limits.attempts);
    limits.retry_budget = count("retry_budget", 100_000).unwrap_or(limits.retry_budget);
    limits.deadline = section.get("deadline").and_then(|node| positive(&node)).unwrap_or(limits.deadline);
    limits.wait = section.get("wait").and_then(|node| node.duration()).unwrap_or(limits.wait);
    limits.timeout = timeouts(section, limits.timeout);
    limits.max_cost_usd = ceiling(section, "max_cost_usd", limits.max_cost_usd);
    limits.max_cost_per_1k_usd = ceiling(section, "max_cost_per_1k_usd", limits.max_cost_per_1k_usd);
    if let Some(latency) = section.get("max_latency").and_then(|node| positive(&node)) {
        limits.max_latency = Some(latency);
    }
    limits.tool_rounds = count("tool_rounds", 1000).unwrap_or(limits.tool_rounds);
    limits.retries = count("retries", 100).or(limits.retries);
    limits.buffer = section.get("buffer").and_then(|node| size(&node, BUFFERS)).unwrap_or(limits.buffer);
    word(section, "stream", ("policy", &["fail", "buffer", "restart"]), &mut limits.stream);
    word(section, "on_unknown", ("choice", &["stop", "next"]), &mut limits.on_unknown);
    word(section, "on_may_have_run", ("choice", &["retry", "next", "stop"]), &mut limits.on_may_have_run);
    word(section, "on_invalid", ("choice", &["next", "return", "fail"]), &mut limits.on_invalid);
    limits.repair = section.get("repair").and_then(|node| node.truth()).unwrap_or(limits.repair);
    word(section, "cache", ("choice", &["off", "prefer", "require"]), &mut limits.cache);
    limits.hedge = section.get("hedge").and_then(|node| hedge(&node)).unwrap_or(limits.hedge);
    limits
}

/// One of a few words.
fn word<T: FromStr>(section: &Section<'_, '_>, key: &str, (what, known): (&str, &[&str]), value: &mut T) {
    if let Some(found) = section.get(key).and_then(|node| node.word(what, known)) {
        *value = found;
    }
}

/// An amount of money; infinity takes the ceiling away.
fn ceiling(section: &Section<'_, '_>, key: &str, above: Option<f64>) -> Option<f64> {
    match section.get(key).and_then(|node| node.amount()) {
        Some(cost) => cost.is_finite().then_some(cost),
        None => above,
    }
}

/// Reads `timeout = { … }` over the given ones.
pub(super) fn timeouts(section: &Section<'_, '_>, mut timeouts: Timeouts) -> Timeouts {
    let Some(node) = section.get("timeout") else { return timeouts };
    if node.as_text().is_some() {
        let hint = "write { connect = \"5s\", first = \"30s\", idle = \"30s\", total = \"90s\" }, or only some of them";
        node.reader.error(&node.place, "a table is wanted, this is one duration", Some(hint.to_owned()));
        return timeouts;
    }
    let Some(table) = node.section() else { return timeouts };
    table.allow(&["connect", "first", "idle", "total", "per_1k_tokens"]);
    let read = |key: &str, value: &mut Duration| {
        *value = table.get(key).and_then(|node| positive(&node)).unwrap_or(*value);
    };
    read("connect", &mut timeouts.connect);
    read("first", &mut timeouts.first);
    read("idle", &mut timeouts.idle);
    read("total", &mut timeouts.total);
    timeouts.per_1k_tokens =
        table.get("per_1k_tokens").and_then(|node| node.duration()).unwrap_or(timeouts.per_1k_tokens);
    timeouts
}

/// A duration that is not zero.
pub(super) fn positive(node: &Node<'_, '_>) -> Option<Duration> {
    let duration = node.duration()?;
    if duration.is_zero() {
        node.reader.error(&node.place, "must be more than 0", None);
        return None;
    }
    Some(duration)
}

/// `"off"`, `"p95"` or a delay.
fn hedge(node: &Node<'_, '_>) -> Option<Hedge> {
    match node.as_text() {
        Some("off") => Some(Hedge::Off),
        Some("p95") => Some(Hedge::P95),
        Some(text) if crate::catalog::parse_duration(text).is_none() => {
            let hint = "write \"off\", \"p95\", or a delay such as \"750ms\"".to_owned();
            node.reader.error(&node.place, format!("{} is no delay", node.reader.show(text)), Some(hint));
            None
        }
        _ => positive(node).map(Hedge::After),
    }
}

/// `cascade = "off"`, or when the ladder itself opens.
pub(super) fn cascade(section: &Section<'_, '_>) -> Option<CascadeSettings> {
    let usual = CascadeSettings::default();
    let Some(node) = section.get("cascade") else { return Some(usual) };
    if node.as_text() == Some("off") {
        return None;
    }
    if !node.is_table() {
        let hint = "write \"off\", or { after = 10, open = \"30s\", open_max = \"5m\" }".to_owned();
        node.reader.error(&node.place, "neither \"off\" nor a table", Some(hint));
        return None;
    }
    let table = node.section()?;
    table.allow(&["after", "open", "open_max"]);
    let after = table.get("after").and_then(|node| node.integer(1..=1000)).and_then(|n| u32::try_from(n).ok());
    let mut cascade = CascadeSettings { after: after.unwrap_or(usual.after), ..usual };
    span(&table, "open", &mut cascade.open);
    span(&table, "open_max", &mut cascade.open_max);
    ordered(&table, ("open", cascade.open), ("open_max", cascade.open_max));
    Some(cascade)
}

/// `[breaker]`, `[cooldown]` and `[usage]` over the defaults.
pub(super) fn policy(root: &Section<'_, '_>) -> PolicySettings {
    let mut settings = PolicySettings::default();
    if let Some(section) = root.section("breaker") {
        section.allow(&["failures", "window", "consecutive", "consecutive_window", "open", "open_max"]);
        let count = |key: &str, value: &mut u32| {
            let number = section.get(key).and_then(|node| node.integer(1..=1000));
            *value = number.and_then(|number| u32::try_from(number).ok()).unwrap_or(*value);
        };
        count("failures", &mut settings.breaker.failures);
        count("consecutive", &mut settings.breaker.consecutive);
        span(&section, "window", &mut settings.breaker.window);
        span(&section, "consecutive_window", &mut settings.breaker.consecutive_window);
        span(&section, "open", &mut settings.breaker.open);
        span(&section, "open_max", &mut settings.breaker.open_max);
        ordered(&section, ("open", settings.breaker.open), ("open_max", settings.breaker.open_max));
    }
    if let Some(section) = root.section("cooldown") {
        section.allow(&["first", "max"]);
        span(&section, "first", &mut settings.rate_limit.first);
        span(&section, "max", &mut settings.rate_limit.max);
        ordered(&section, ("first", settings.rate_limit.first), ("max", settings.rate_limit.max));
    }
    if let Some(section) = root.section("usage") {
        section.allow(&["skip", "put_last"]);
        part(&section, "skip", &mut settings.usage.skip);
        part(&section, "put_last", &mut settings.usage.put_last);
        if settings.usage.put_last > settings.usage.skip
            && let Some(node) = section.get("put_last").or_else(|| section.get("skip"))
        {
            node.reader.error(&node.place, "`put_last` must not be more than `skip`", None);
        }
    }
    settings
}

/// A part of a whole.
fn part(section: &Section<'_, '_>, key: &str, value: &mut f64) {
    let Some(node) = section.get(key) else { return };
    let Some(amount) = node.amount() else { return };
    if amount > 0.0 && amount <= 1.0 {
        *value = amount;
    } else {
        let hint = "write a part of the limit, such as 0.97; 1 is all of it".to_owned();
        node.reader.error(&node.place, "must be more than 0 and at most 1", Some(hint));
    }
}

fn span(section: &Section<'_, '_>, key: &str, value: &mut Duration) {
    *value = section.get(key).and_then(|node| positive(&node)).unwrap_or(*value);
}

fn ordered(section: &Section<'_, '_>, (low_key, low): (&str, Duration), (high_key, high): (&str, Duration)) {
    let node = section.get(high_key).or_else(|| section.get(low_key));
    if let Some(node) = node.filter(|_| low > high) {
        node.reader.error(&node.place, format!("`{high_key}` must not be less than `{low_key}`"), None);
    }
}

/// A program with its arguments.
pub(super) fn program(node: &Node<'_, '_>) -> Option<Vec<String>> {
    if node.as_text().is_some() {
        let hint = "write a program and its arguments: [\"PROGRAM\", \"ARGUMENT\"]";
        node.reader.error(&node.place, "an array is wanted; no shell reads this", Some(hint.to_owned()));
        return None;
    }
    let words = node.texts()?;
    if words.is_empty() {
        node.reader.error(&node.place, "empty", None);
        return None;
    }
    Some(words)
}

/// The same, where the program may stand beside the config: a relative path is taken from there, as those of files are. A
/// name without a slash is looked for in `PATH`.
pub(super) fn own_program(node: &Node<'_, '_>) -> Option<Vec<String>> {
    let mut words = program(node)?;
    if let Some(first) = words.first_mut()
        && first.contains('/')
        && !Path::new(first.as_str()).is_absolute()
    {
        let path = node.reader.path(first.strip_prefix("./").unwrap_or(first));
        // Without a slash it would be looked for elsewhere.
        let path = if path.components().count() > 1 { path } else { Path::new(".").join(path) };
        *first = path.into_os_string().into_string().unwrap_or_else(|_| first.clone());
    }
    Some(words)
}

/// What a word of a fixed set is, or not.
macro_rules! one_of {
    ($type:ty, $wanted:literal, $($word:literal => $value:expr),+) => {
        impl FromStr for $type {
            type Err = crate::domain::ParseNameError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                match text {
                    $($word => Ok($value),)+
                    _ => Err(crate::domain::ParseNameError { text: text.to_owned(), wanted: $wanted }),
                }
            }
        }
    };
}

one_of!(StreamPolicy, "stream policy", "fail" => Self::Fail, "buffer" => Self::Buffer, "restart" => Self::Restart);
one_of!(OnMayHaveRun, "choice", "retry" => Self::Retry, "next" => Self::Next, "stop" => Self::Stop);
one_of!(OnInvalid, "choice (next, return or fail)", "next" => Self::Next, "return" => Self::Return, "fail" => Self::Fail);
one_of!(CachePreference, "choice", "off" => Self::Off, "prefer" => Self::Prefer, "require" => Self::Require);
one_of!(LatencyOf, "time (ttft or total)", "ttft" => Self::Ttft, "total" => Self::Total);
one_of!(OnUnknown, "choice (stop or next)", "stop" => Self::Stop, "next" => Self::Next);
