//! Which limit was hit, and what to hold back for it.
//!
//! The scope decides whom a failure benches, so it follows what the text names: a model, a key, an organisation. When
//! nothing is named, the class and the provider's way of counting decide, the narrower reading first: facts from one
//! scope never widen.

use std::time::Duration;

use crate::domain::{Class, Dimension, ScopeLevel};

use super::matcher::Matched;
use super::rules::{EMPTY_OF_A_DAY, EMPTY_OF_GROQS_DAY};
use super::signals::Signals;

/// The limit that was hit; none for classes that are no limits.
pub(crate) fn dimension(class: Class, matched: Option<&Matched>, signals: &Signals) -> Option<Dimension> {
    let layer = matched.and_then(|matched| matched.layer).and_then(|index| signals.layers.get(index));
    let words = layer.map_or("", |read| read.words.as_str());
    match class {
        Class::Billing => return Some(Dimension::Credits),
        Class::RateLimit | Class::QuotaExhausted => {}
        // A request that exceeds a limit per window says which.
        Class::ContextOverflow => {
            let per_minute = signals.layers.iter().any(|read| named(&read.words) == Some(Dimension::Tpm));
            return (per_minute && signals.limits.requested.is_some()).then_some(Dimension::Tpm);
        }
        _ => return None,
    }
    let by_rule = matched.and_then(|matched| matched.rule.dimension);
    let google = google(signals);
    // What is counted is told by its name, whatever the window.
    let counted = if words.contains("seconds of audio") || words.contains("audio seconds") {
        Some(Dimension::AudioSeconds)
    } else if words.contains("images per") || words.contains("image generation") {
        Some(Dimension::Images)
    } else {
        None
    };
    google
        .or(counted)
        .or(by_rule)
        .or_else(|| by_headers(signals))
        .or_else(|| named(words))
        .or_else(|| signals.layers.iter().find_map(|read| named(&read.words)))
}

/// A long wait tells the window, where the words name a short one or none.
pub(crate) fn by_length(dimension: Option<Dimension>, after: Duration) -> Option<Dimension> {
    const DAY: u64 = 24 * 3600;
    let (short, tokens) = match dimension {
        None | Some(Dimension::Other | Dimension::Rpm | Dimension::Concurrency) => (true, false),
        Some(Dimension::Tpm | Dimension::InputTpm | Dimension::OutputTpm) => (true, true),
        Some(_) => (false, false),
    };
    match after.as_secs() {
        _ if !short => dimension,
        0..3601 => dimension,
        seconds if seconds <= DAY + 3600 => match (tokens, dimension) {
            (true, _) => Some(Dimension::Tpd),
            (false, Some(Dimension::Rpm)) => Some(Dimension::Rpd),
            _ => dimension,
        },
        seconds if seconds <= 3 * DAY => dimension,
        seconds if seconds <= 7 * DAY + 3600 => Some(Dimension::Weekly),
        _ => Some(Dimension::Monthly),
    }
}

/// Google names the quota.
fn google(signals: &Signals) -> Option<Dimension> {
    let raw = &signals.raw;
    let (day, minute) = (signals.quotas.per_day, signals.quotas.per_minute);
    let tokens = raw.contains("TokensPer") || raw.contains("TokenCount") || raw.contains("token_count");
    match (day, minute, tokens) {
        (true, _, true) if !raw.contains("RequestsPerDay") => Some(Dimension::Tpd),
        (true, ..) => Some(Dimension::Rpd),
        (false, true, true) => Some(Dimension::InputTpm),
        (false, true, false) => Some(Dimension::Rpm),
        _ => None,
    }
}

/// The empty bucket of Anthropic's headers, and the window of its and of ChatGPT's plans.
fn by_headers(signals: &Signals) -> Option<Dimension> {
    const BUCKETS: &[(&str, Dimension)] = &[
        ("input-tokens-remaining", Dimension::InputTpm),
        ("output-tokens-remaining", Dimension::OutputTpm),
        ("-tokens-remaining", Dimension::Tpm),
        ("-requests-remaining", Dimension::Rpm),
    ];
    let empty = |end: &str| {
        signals
            .headers
            .iter()
            .any(|(name, value)| name.starts_with("anthropic-ratelimit-") && name.ends_with(end) && value.trim() == "0")
    };
    if let Some((_, dimension)) = BUCKETS.iter().find(|(end, _)| empty(end)) {
        return Some(*dimension);
    }
    if let Some((name, _)) = EMPTY_OF_A_DAY.header(signals) {
        return Some(if name.contains("token") { Dimension::Tpd } else { Dimension::Rpd });
    }
    if signals.provider.as_deref() == Some("groq") && EMPTY_OF_GROQS_DAY.header(signals).is_some() {
        return Some(Dimension::Rpd);
    }
    if signals.header("x-ratelimit-type").is_some_and(|kind| kind.contains("Concurrent")) {
        return Some(Dimension::Concurrency);
    }
    if let Some(dimension) = empty_minute(signals) {
        return Some(dimension);
    }
    let claim = signals.header("anthropic-ratelimit-unified-representative-claim").unwrap_or("");
    let rejected =
        |window: &str| signals.header(&format!("anthropic-ratelimit-unified-{window}-status")) == Some("rejected");
    if claim.starts_with("seven_day") || rejected("7d") {
        return Some(Dimension::Weekly);
    }
    if claim.starts_with("five_hour") || rejected("5h") {
        return Some(Dimension::Requests5h);
    }
    codex_window(signals)
}

/// What the common headers say is empty of a minute.
fn empty_minute(signals: &Signals) -> Option<Dimension> {
    let (name, _) = signals
        .headers
        .iter()
        .find(|(name, value)| name.starts_with("x-ratelimit-remaining-") && value.trim() == "0")?;
    match name {
        _ if name.ends_with("month") || name.ends_with("hour") => None,
        _ if name.contains("token") => Some(Dimension::Tpm),
        _ => Some(Dimension::Rpm),
    }
}

/// The window of a ChatGPT plan that is used up, by its length in minutes.
fn codex_window(signals: &Signals) -> Option<Dimension> {
    ["primary", "secondary"].into_iter().find_map(|which| {
        let used: f64 = signals.header(&format!("x-codex-{which}-used-percent"))?.parse().ok()?;
        let minutes: u32 = signals.header(&format!("x-codex-{which}-window-minutes"))?.parse().ok()?;
        (used >= 100.0).then(|| plan_window(minutes))
    })
}

/// The dimension of a plan's window of so many minutes.
pub(crate) const fn plan_window(minutes: u32) -> Dimension {
    match minutes {
        0..=1440 => Dimension::Requests5h,
        1441..=14_400 => Dimension::Weekly,
        _ => Dimension::Monthly,
    }
}

/// What the words name.
pub(crate) fn named(words: &str) -> Option<Dimension> {
    const NAMES: &[(&[&str], Dimension)] = &[
        (&["tokens per day", "(tpd)", "tpd "], Dimension::Tpd),
        (&["requests per day", "(rpd)", "per-day", "per day"], Dimension::Rpd),
        (
            &[
                "今日的免费次数",
                "今日次数",
                "今日调用次数",
                "今天的次数",
                "每日次数",
                "daily limit of requests",
                "daily request",
                "requests today",
                "requests for today",
                "messages per day",
            ],
            Dimension::Rpd,
        ),
        (&["daily token", "tokens today", "daily limit of tokens"], Dimension::Tpd),
        (&["weekly", "7-day", "every week", "每周"], Dimension::Weekly),
        (&["monthly", "billing cycle", "this month", "每月"], Dimension::Monthly),
        (&["5-hour", "5 hour", "5 小时", "5小时", "session usage"], Dimension::Requests5h),
        (&["input tokens"], Dimension::InputTpm),
        (&["output tokens"], Dimension::OutputTpm),
        (&["(tpm)", "tokens per min", "tpm", "too many tokens", "token rate"], Dimension::Tpm),
        (&["concurren", "并发", "count.gauge"], Dimension::Concurrency),
        (&["images per", "image generation"], Dimension::Images),
        (&["seconds of audio", "audio seconds"], Dimension::AudioSeconds),
        (&["(rpm)", "requests per min", "rpm", "per minute", "per-min", "分钟内", "too many requests"], Dimension::Rpm),
        (&["neurons"], Dimension::Other),
    ];
    NAMES
        .iter()
        .find(|(phrases, _)| phrases.iter().any(|phrase| words.contains(phrase)))
        .map(|(_, dimension)| *dimension)
}

/// What to hold back.
pub(crate) fn scope(class: Class, matched: Option<&Matched>, signals: &Signals) -> ScopeLevel {
    let layer = matched.and_then(|matched| matched.layer).and_then(|index| signals.layers.get(index));
    let words = layer.map_or("", |read| read.words.as_str());
    let by_rule = matched.and_then(|matched| matched.rule.scope);
    match class {
        Class::ContextOverflow
        | Class::ContentPolicy
        | Class::InvalidRequest
        | Class::InvalidOutput
        | Class::Unknown => ScopeLevel::Request,
        Class::Unsupported => by_rule.unwrap_or(ScopeLevel::Request),
        Class::RateLimit | Class::QuotaExhausted => by_rule.unwrap_or_else(|| limit_scope(class, words, signals)),
        Class::Billing if is_relayed(signals) => ScopeLevel::Model,
        Class::Billing if names_key(words) => by_rule.unwrap_or(ScopeLevel::Credential),
        Class::Billing => by_rule.unwrap_or(ScopeLevel::Account),
        Class::Auth => by_rule.unwrap_or(ScopeLevel::Credential),
        Class::Permission if is_relayed(signals) => ScopeLevel::Model,
        Class::Permission => {
            by_rule.unwrap_or(if names_model(words) { ScopeLevel::Model } else { ScopeLevel::Credential })
        }
        Class::ModelUnavailable => ScopeLevel::Model,
        Class::Overloaded | Class::ServerError | Class::Timeout | Class::Network => {
            by_rule.unwrap_or(if class == Class::Overloaded && (names_model(words) || names_model_capacity(matched)) {
                ScopeLevel::Model
            } else {
                ScopeLevel::Provider
            })
        }
    }
}

/// Codes that speak of one model's capacity.
fn names_model_capacity(matched: Option<&Matched>) -> bool {
    matched.is_some_and(|matched| matched.by.contains("model_capacity") || matched.by.contains("error-code-429"))
}

/// Where a provider counts when its text names neither.
fn limit_scope(class: Class, words: &str, signals: &Signals) -> ScopeLevel {
    const PER_MODEL: &[&str] =
        &["groq", "openai", "gemini", "vertex", "bedrock", "azure", "github-models", "dashscope", "litellm"];
    const PER_ACCOUNT: &[&str] = &[
        "anthropic",
        "mistral",
        "cerebras",
        "moonshot",
        "zhipu",
        "copilot",
        "ollama",
        "baidu",
        "ark",
        "cohere",
        "minimax",
        "openrouter",
        "sambanova",
    ];
    let provider = signals.provider.as_deref().unwrap_or("");
    if names_model(words) {
        return ScopeLevel::Model;
    }
    if ["trial key", "this key", "your key", "api key", "workspace", "project"].iter().any(|word| words.contains(word))
    {
        return ScopeLevel::Credential;
    }
    if [
        "organization",
        "your account",
        "账户",
        "your plan",
        "your team",
        "your usage limit",
        "billing account",
        "you have been rate-limited",
        "you reached the rate limit",
        "you've reached",
        "账户",
    ]
    .iter()
    .any(|word| words.contains(word))
    {
        return ScopeLevel::Account;
    }
    match class {
        Class::RateLimit if PER_ACCOUNT.contains(&provider) => ScopeLevel::Account,
        Class::QuotaExhausted if !PER_MODEL.contains(&provider) => ScopeLevel::Account,
        Class::QuotaExhausted if words.contains("plan") || words.contains("usage limit") => ScopeLevel::Account,
        _ => ScopeLevel::Model,
    }
}

fn names_key(words: &str) -> bool {
    ["this key", "api key's", "key limit", "max budget", "token quota", "该令牌", "此令牌"]
        .iter()
        .any(|word| words.contains(word))
        && !words.contains("team=")
}

/// Whether the text speaks of one model.
fn names_model(words: &str) -> bool {
    [
        "for model",
        "model:",
        "this model",
        "the model",
        "that model",
        "selected model",
        "per_base_model",
        " for gpt-",
        "model '",
    ]
    .iter()
    .any(|word| words.contains(word))
        || (words.contains("limit reached for") && words.contains("in organization") && !words.contains("default-"))
}

/// Whether the failure is that of a gateway's own account further up: other models of the gateway are not touched.
fn is_relayed(signals: &Signals) -> bool {
    const GATEWAYS: &[&str] = &[
        "opencode",
        "pollinations",
        "puter",
        "vercel-ai-gateway",
        "9router",
        "omniroute",
        "g4f",
        "opengateway",
        "kilo",
        "omnara",
    ];
    const WORDS: &[&str] = &["error from provider (", "provider error: ", "upstream request failed"];
    signals.provider.as_deref().is_some_and(|provider| GATEWAYS.contains(&provider))
        || signals.layers.iter().any(|read| WORDS.iter().any(|word| read.words.contains(word)))
}
