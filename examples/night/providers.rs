//! Who there is, and what each says in each mood: the bodies and headers are those that the real ones send.

use std::collections::BTreeMap;

use llmr::catalog::Wire;
use llmr::rehearsal::{Reply, Script};
use serde_json::{Value, json};

use crate::table::{Mood, RETRY_AFTER};

/// A provider of the night.
pub(crate) struct Part {
    pub(crate) name: &'static str,
    pub(crate) model: &'static str,
    pub(crate) wire: Wire,
    /// The alias of its key and the account of it; none when it wants no key.
    pub(crate) key: Option<(&'static str, &'static str)>,
    /// Further lines of the config.
    pub(crate) more: &'static str,
}

/// A model of one's own machines: what it costs is known.
const OWN: &str = "[[providers.NAME.models]]\nid = \"MODEL\"\ncontext = 32768\nprice = { input = 0.0, output = 0.0 }\n";

pub(crate) const PARTS: [Part; 9] = [
    part("groq", "llama-3.3-70b-versatile", Wire::OpenAi, Some(("team", "acme"))),
    part("anthropic", "claude-haiku-4-5", Wire::Anthropic, Some(("team", "acme"))),
    part("gemini", "gemini-2.5-flash", Wire::Gemini, Some(("free", "project-7"))),
    part("openai", "gpt-5-mini", Wire::OpenAi, Some(("team", "acme"))),
    part("cerebras", "gpt-oss-120b", Wire::OpenAi, Some(("team", "acme"))),
    part("local", "qwen3-8b", Wire::OpenAi, None),
    part("mistral", "mistral-small-latest", Wire::OpenAi, Some(("team", "acme"))),
    part("lab", "qwen3-32b", Wire::OpenAi, None),
    part("desk", "gemma3-12b", Wire::OpenAi, None),
];

const fn part(name: &'static str, model: &'static str, wire: Wire, key: Option<(&'static str, &'static str)>) -> Part {
    Part { name, model, wire, key, more: if key.is_none() { OWN } else { "" } }
}

/// What is behind the name of a provider in one mood.
pub(crate) fn says(name: &str, mood: Mood) -> Script {
    let well = || well(name);
    let after = |before: Vec<Reply>| before.into_iter().chain(well()).collect::<Vec<_>>().into();
    match mood {
        Mood::Well => well().into(),
        Mood::Slow => after(vec![answer(name, 0).after(1900); 3]),
        Mood::Stumbles => after(vec![Reply::status(
            500,
            error("The server had an error while processing your request. Sorry about that!", "server_error", None),
        )]),
        Mood::Broken => after(vec![Reply::answer("{\"title\": \"Import stopped\", \"severity\": \"hi").after(200); 4]),
        Mood::RateLimited => rate_limited().into(),
        Mood::Overloaded => {
            Reply::status(529, json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}))
                .after(90)
                .into()
        }
        Mood::DaySpent => day_spent().after(120).into(),
        Mood::KeyRefused => {
            let words = "Incorrect API key provided: night********old. You can find your API key at \
                         https://platform.openai.com/account/api-keys.";
            Reply::status(401, error(words, "invalid_request_error", Some("invalid_api_key"))).after(60).into()
        }
        Mood::Unpaid => Reply::status(
            402,
            json!({"message": "Payment required. Please add a payment method or credits to your account.",
                   "type": "payment_required_error", "param": "", "code": "payment_required"}),
        )
        .after(60)
        .into(),
        Mood::Dead => Reply::Reset.into(),
    }
}

fn error(message: &str, kind: &str, code: Option<&str>) -> Value {
    json!({"error": {"message": message, "type": kind, "param": null, "code": code}})
}

/// How long answers take, in milliseconds, in turn.
const WAITS: [u64; 5] = [180, 260, 150, 390, 220];

/// More answers than the night has requests.
const ANSWERS: u32 = 150;

/// Answers, each with what is left then.
fn well(name: &str) -> Vec<Reply> {
    let waits = WAITS.iter().cycle();
    (0..ANSWERS).zip(waits).map(|(number, wait)| answer(name, number).after(*wait)).collect()
}

/// The answer is what was asked for by schema; who asked for words gets it as well.
fn answer(name: &str, number: u32) -> Reply {
    let headers = stated(name, number).into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    Reply::Answer {
        text: "{\"title\": \"Nightly import stopped\", \"severity\": \"high\"}".to_owned(),
        finish: None,
        usage: None,
        headers,
        reasoning: None,
        tool_calls: Vec::new(),
    }
}

/// What a provider states of its limits beside an answer.
fn stated(name: &str, number: u32) -> Vec<(&'static str, String)> {
    match name {
        "groq" => vec![
            ("x-ratelimit-limit-requests", "1000".to_owned()),
            ("x-ratelimit-remaining-requests", (612 - number.min(600)).to_string()),
            ("x-ratelimit-reset-requests", "3h5m45.6s".to_owned()),
            ("x-ratelimit-limit-tokens", "12000".to_owned()),
            ("x-ratelimit-remaining-tokens", (7400_u32.saturating_sub(60 * number)).to_string()),
            ("x-ratelimit-reset-tokens", "38.2s".to_owned()),
        ],
        "anthropic" => vec![
            ("anthropic-ratelimit-requests-limit", "50".to_owned()),
            ("anthropic-ratelimit-requests-remaining", (46 - number.min(40)).to_string()),
        ],
        _ => Vec::new(),
    }
}

fn rate_limited() -> Reply {
    let words = format!(
        "Rate limit reached for model `llama-3.3-70b-versatile` in organization `org_night` service tier `on_demand` on \
         tokens per minute (TPM): Limit 12000, Used 11690, Requested 1264. Please try again in {RETRY_AFTER}s."
    );
    let headers = BTreeMap::from([
        ("retry-after".to_owned(), RETRY_AFTER.to_string()),
        ("x-ratelimit-limit-tokens".to_owned(), "12000".to_owned()),
        ("x-ratelimit-remaining-tokens".to_owned(), "310".to_owned()),
        ("x-ratelimit-reset-tokens".to_owned(), format!("{RETRY_AFTER}s")),
    ]);
    Reply::Status { status: 429, headers, body: error(&words, "tokens", Some("rate_limit_exceeded")) }.after(70)
}

fn day_spent() -> Reply {
    let quota = json!({
        "@type": "type.googleapis.com/google.rpc.QuotaFailure",
        "violations": [{
            "quotaMetric": "generativelanguage.googleapis.com/generate_content_free_tier_requests",
            "quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier",
            "quotaDimensions": {"location": "global", "model": "gemini-2.5-flash"},
            "quotaValue": "20",
        }],
    });
    let message = "You exceeded your current quota, please check your plan and billing details. * Quota exceeded for \
                   metric: generativelanguage.googleapis.com/generate_content_free_tier_requests, limit: 20, model: \
                   gemini-2.5-flash Please retry in 36.0s.";
    let retry = json!({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "36s"});
    let body = json!({"error": {
        "code": 429, "message": message, "status": "RESOURCE_EXHAUSTED", "details": [quota, retry],
    }});
    Reply::status(429, body)
}
