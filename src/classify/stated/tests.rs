//! What providers really send, and what must be made of it.

use std::collections::BTreeMap;
use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::classify::capture::{self, Format, Reading};

fn now() -> Timestamp {
    "2026-11-15T12:00:00Z".parse().expect("a time")
}

fn catalog() -> Catalog {
    Catalog::builtin().expect("the catalogue")
}

/// `name: value` lines.
fn answer(provider: &str, status: u16, headers: &str, body: &str) -> Evidence {
    let pairs = headers.lines().filter_map(|line| line.trim().split_once(": "));
    Evidence {
        provider: (!provider.is_empty()).then(|| provider.into()),
        status: Some(status),
        headers: pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        body: body.to_owned(),
        ..Evidence::default()
    }
}

/// `tpm 5843/6000 +1.57s /60s`: the dimension, what is left of how much, after which time it is back, in which window.
fn told(evidence: &Evidence) -> Vec<String> {
    let figure = |number: Option<f64>| number.map_or("?".to_owned(), |number| number.to_string());
    let one = |stated: StatedLimit| {
        let after =
            stated.resets_at.map(|at| format!(" +{}s", at.duration_since(now()).as_millis_f64().round() / 1000.0));
        let window = stated.window.map(|window| format!(" /{}s", window.as_secs()));
        let (left, limit) = (figure(stated.remaining), figure(stated.limit));
        format!("{} {left}/{limit}{}{}", stated.dimension, after.unwrap_or_default(), window.unwrap_or_default())
    };
    stated_limits(evidence, &catalog(), now()).into_iter().map(one).collect()
}

/// A provider, headers of one of its answers, and what they state.
type Row = (&'static str, &'static str, &'static [&'static str]);

const NAMED: &[Row] = &[
    (
        "openai",
        "x-ratelimit-limit-requests: 10000\nx-ratelimit-remaining-requests: 9999\nx-ratelimit-reset-requests: 6ms
         x-ratelimit-limit-tokens: 450000\nx-ratelimit-remaining-tokens: 449700\nx-ratelimit-reset-tokens: 40ms",
        &["rpm 9999/10000 +0.006s", "tpm 449700/450000 +0.04s"],
    ),
    // The window of requests is a day on small plans: one of 200 is back after 1/200 of it.
    (
        "openai",
        "x-ratelimit-limit-requests: 200\nx-ratelimit-remaining-requests: 199\nx-ratelimit-reset-requests: 7m12s
         x-ratelimit-limit-tokens: 40000\nx-ratelimit-remaining-tokens: 40000\nx-ratelimit-reset-tokens: 0s",
        &["rpd 199/200 +432s", "tpm 40000/40000"],
    ),
    // Of the organisation and of the project: the tightest.
    (
        "openai",
        "x-ratelimit-limit-tokens: 150000\nx-ratelimit-remaining-tokens: 149984
         x-ratelimit-limit-project-tokens: 20000\nx-ratelimit-remaining-project-tokens: 19000",
        &["tpm 19000/20000"],
    ),
    (
        "openai",
        "x-codex-primary-used-percent: 42\nx-codex-primary-window-minutes: 300\nx-codex-primary-reset-after-seconds: 600
         x-codex-secondary-used-percent: 0\nx-codex-secondary-window-minutes: 0\nx-codex-credits-balance: 0",
        &["requests_5h 58/100 +600s /18000s"],
    ),
    (
        "groq",
        "x-ratelimit-limit-requests: 14400\nx-ratelimit-remaining-requests: 14399\nx-ratelimit-reset-requests: 6s
         x-ratelimit-limit-tokens: 6000\nx-ratelimit-remaining-tokens: 5843\nx-ratelimit-reset-tokens: 1.57s",
        &["rpd 14399/14400 +6s", "tpm 5843/6000 +1.57s"],
    ),
    // An empty bucket of a day is not full after a minute.
    (
        "groq",
        "x-ratelimit-limit-requests: 1000\nx-ratelimit-remaining-requests: 0\nx-ratelimit-reset-requests: 1m26.4s",
        &["rpd 0/1000"],
    ),
    (
        "azure",
        "X-RateLimit-Limit-Requests: 8\nX-RateLimit-Remaining-Requests: 7\nx-ratelimit-limit-tokens: -1
         x-ratelimit-remaining-tokens: -1\nx-ratelimit-reset-tokens: 0",
        &["rpm 7/8"],
    ),
    (
        "cerebras",
        "x-ratelimit-limit-requests-day: 14400\nx-ratelimit-remaining-requests-day: 13902
         x-ratelimit-reset-requests-day: 33011.382867574692\nx-ratelimit-limit-tokens-hour: 1000000
         x-ratelimit-remaining-tokens-hour: 1000000\nx-ratelimit-limit-tokens-minute: 60000
         x-ratelimit-remaining-tokens-minute: 60000\nx-ratelimit-reset-tokens-minute: 11.5",
        &["rpd 13902/14400 +33011.383s /86400s", "other 1000000/1000000 /3600s", "tpm 60000/60000 +11.5s /60s"],
    ),
    (
        "mistral",
        "x-ratelimit-limit-req-minute: 60\nx-ratelimit-remaining-req-minute: 59\nx-ratelimit-limit-tokens-minute: 500000
         x-ratelimit-remaining-tokens-minute: 499000\nx-ratelimitbysize-limit-month: 1000000000
         x-ratelimitbysize-remaining-month: 999000000\nx-ratelimit-tokens-query-cost: 32",
        &["rpm 59/60 /60s", "tpm 499000/500000 /60s", "monthly 999000000/1000000000"],
    ),
    (
        "together",
        "x-ratelimit-limit: 10\nx-ratelimit-remaining: 9\nx-ratelimit-reset: 1
         x-tokenlimit-limit: 3000\nx-tokenlimit-remaining: 2990",
        &["other 9/10 +1s /1s", "other 2990/3000 /1s"],
    ),
    (
        "fireworks",
        "x-ratelimit-limit-requests: 600\nx-ratelimit-remaining-requests: 599\nx-ratelimit-over-limit: no
         x-ratelimit-limit-tokens-prompt: 60000\nx-ratelimit-remaining-tokens-prompt: 59990
         x-ratelimit-limit-tokens-generated: 6000\nx-ratelimit-remaining-tokens-generated: 5990",
        &["rpm 599/600", "input_tpm 59990/60000", "output_tpm 5990/6000"],
    ),
    (
        "sambanova",
        "x-ratelimit-limit-requests: 60\nx-ratelimit-remaining-requests: 59\nx-ratelimit-reset-requests: 1794744060
         x-ratelimit-limit-requests-day: 12000\nx-ratelimit-remaining-requests-day: 11990",
        &["rpm 59/60 +60s", "rpd 11990/12000 /86400s"],
    ),
    (
        "xai",
        "x-ratelimit-limit-requests: 480\nx-ratelimit-remaining-requests: 479\nx-ratelimit-limit-tokens: 2000000
         x-ratelimit-remaining-tokens: 1999000",
        &["rpm 479/480", "tpm 1999000/2000000"],
    ),
    (
        "github-models",
        "x-ratelimit-limit-requests: 20000\nx-ratelimit-remaining-requests: 19999\nx-ratelimit-reset-requests: 3
         x-ratelimit-renewalperiod-requests: 60\nx-ratelimit-limit-tokens: 2000000\nx-ratelimit-key: gpt-x
         x-ratelimit-remaining-tokens: 1999967\nx-ratelimit-renewalperiod-tokens: 10",
        &["rpm 19999/20000 +3s /60s", "other 1999967/2000000 /10s"],
    ),
    (
        "cohere",
        "x-endpoint-monthly-call-limit: 1000\nx-trial-endpoint-call-limit: 20\nx-trial-endpoint-call-remaining: 19",
        &["monthly ?/1000", "rpm 19/20"],
    ),
    ("deepseek", "content-type: application/json\nx-ds-trace-id: 7\nserver: CloudFront", &[]),
    ("nvidia", "nvcf-reqid: 7\nnvcf-status: fulfilled", &[]),
];

const CLAUDE: &[Row] = &[
    (
        "anthropic",
        "anthropic-ratelimit-requests-limit: 50\nanthropic-ratelimit-requests-remaining: 49
         anthropic-ratelimit-requests-reset: 2026-11-15T12:00:01Z\nanthropic-ratelimit-input-tokens-limit: 30000
         anthropic-ratelimit-input-tokens-remaining: 29000\nanthropic-ratelimit-input-tokens-reset: 2026-11-15T12:00:02Z
         anthropic-ratelimit-output-tokens-limit: 8000\nanthropic-ratelimit-output-tokens-remaining: 8000
         anthropic-ratelimit-output-tokens-reset: 2026-11-15T12:00:00Z\nanthropic-ratelimit-tokens-limit: 38000
         anthropic-ratelimit-tokens-remaining: 37000\nanthropic-ratelimit-tokens-reset: 2026-11-15T12:00:02Z",
        &["rpm 49/50 +1s", "input_tpm 29000/30000 +2s", "output_tpm 8000/8000 +0s", "tpm 37000/38000 +2s"],
    ),
    // The window of one family of models binds none of the others.
    (
        "anthropic",
        "anthropic-ratelimit-unified-status: allowed\nanthropic-ratelimit-unified-5h-status: allowed
         anthropic-ratelimit-unified-5h-utilization: 0.12\nanthropic-ratelimit-unified-5h-reset: 1794747600
         anthropic-ratelimit-unified-7d-status: rejected\nanthropic-ratelimit-unified-7d-utilization: 1.08
         anthropic-ratelimit-unified-7d-reset: 1795046400\nanthropic-ratelimit-unified-7d_opus-utilization: 0.5
         anthropic-ratelimit-unified-overage-status: rejected",
        &["requests_5h 88/100 +3600s /18000s", "weekly 0/100 +302400s /604800s"],
    ),
    // Only the whole is stated.
    (
        "anthropic",
        "anthropic-ratelimit-unified-status: rejected\nanthropic-ratelimit-unified-representative-claim: five_hour
         anthropic-ratelimit-unified-reset: 1794747600",
        &["requests_5h 0/100 +3600s /18000s"],
    ),
];

/// Headers that do not say what they count, and lists.
const OPEN: &[Row] = &[
    (
        "openrouter",
        "X-RateLimit-Limit: 50\nX-RateLimit-Remaining: 49\nX-RateLimit-Reset: 1794787200000",
        &["rpd 49/50 +43200s"],
    ),
    ("lab", "x-ratelimit-limit: 60\nx-ratelimit-remaining: 12\nx-ratelimit-reset: 17", &["rpm 12/60 +17s"]),
    ("lab", "x-ratelimit-limit-tokens: 9000\nx-ratelimit-remaining-tokens: 8000\nx-ratelimit-reset-tokens: 11h", &["tpd 8000/9000 +39600s"]),
    // A minute or a day: nobody can say.
    ("lab", "x-ratelimit-limit: 60\nx-ratelimit-remaining: 12", &[]),
    ("lab", "x-ratelimit-limit: 60\nx-ratelimit-remaining: 12\nx-ratelimit-reset: 300", &[]),
    ("lab", "x-ratelimit-limit: 60\nx-ratelimit-remaining: 12\nx-ratelimit-reset: 30h", &[]),
    // A full minute, or the time in which a day's bucket fills by 60 of 86400: both fit.
    ("lab", "x-ratelimit-limit: 86400\nx-ratelimit-remaining: 86340\nx-ratelimit-reset: 60", &[]),
    (
        "kong",
        "x-ratelimit-limit-minute: 60\nx-ratelimit-remaining-minute: 59\nx-ratelimit-limit-day: 5000
         x-ratelimit-remaining-day: 3120\nratelimit-limit: 60\nratelimit-remaining: 59\nratelimit-reset: 17",
        &["rpm 59/60 +17s /60s", "rpd 3120/5000 /86400s"],
    ),
    (
        "huggingface",
        "ratelimit: \"api|models\";r=411;t=124\nratelimit-policy: \"fixed window\";\"api|models\";q=500;w=300",
        &["other 411/500 +124s /300s"],
    ),
    (
        "cloudflare",
        "ratelimit: \"burst\";r=5;t=10, \"daily\";r=900;t=3600
         ratelimit-policy: \"burst\";q=10;w=60, \"daily\";q=1000;w=86400;qu=\"requests\", \"size\";q=9;w=60;qu=content-bytes",
        &["rpm 5/10 +10s /60s", "rpd 900/1000 +3600s /86400s"],
    ),
    ("gateway", "ratelimit-policy: 100;w=60\nratelimit: limit=100, remaining=50, reset=5", &["rpm 50/100 +5s /60s"]),
    (
        "gateway",
        "x-ratelimit-limit: 100, 100;window=60, 10000;window=86400\nx-ratelimit-remaining: 98\nx-ratelimit-reset: 3",
        &["rpm 98/100 +3s /60s", "rpd ?/10000 /86400s"],
    ),
    (
        "gateway",
        "x-ratelimit-limit: 100\nx-ratelimit-limit-window: 60\nx-ratelimit-used: 98",
        &["rpm 2/100 /60s"],
    ),
    // Who sends it, nobody says.
    ("", "x-groq-region: dfw\nx-ratelimit-limit-requests: 1,000\nx-ratelimit-remaining-requests: 999", &["rpd 999/1000"]),
];

/// Figures that cannot be meant.
const NONSENSE: &[Row] = &[
    ("groq", "x-ratelimit-limit-tokens: 0\nx-ratelimit-remaining-tokens: 0", &[]),
    ("groq", "x-ratelimit-limit-tokens: NaN\nx-ratelimit-remaining-tokens: -5", &[]),
    ("groq", "x-ratelimit-limit-tokens: 9223372036854775807\nx-ratelimit-remaining-tokens: 1e300", &[]),
    ("groq", "x-ratelimit-limit-tokens: 100\nx-ratelimit-remaining-tokens: 250", &["tpm ?/100"]),
    ("groq", "x-ratelimit-limit-tokens: 100\nx-ratelimit-reset-tokens: 400d", &["tpm ?/100"]),
    ("groq", "x-ratelimit-limit-tokens: None\nx-ratelimit-remaining-tokens: unlimited", &[]),
    ("groq", "x-ratelimit-remaining-tokens: 40\nx-ratelimit-remaining-tokens: 7", &["tpm 7/?"]),
    ("groq", "x-ratelimit-reset-tokens: 5s", &[]),
];

#[test]
fn headers_of_providers_are_read() {
    for (provider, headers, wanted) in [NAMED, CLAUDE, OPEN, NONSENSE].concat() {
        assert_eq!(told(&answer(provider, 200, headers, "{}")), wanted, "{provider}: {headers}");
    }
    let providers: std::collections::BTreeSet<&str> = NAMED.iter().chain(CLAUDE).chain(OPEN).map(|row| row.0).collect();
    assert!(providers.len() >= 12, "{providers:?}");
}

#[test]
fn refusals_state_limits_in_words_and_fields() {
    let gemini = r#"[{"error":{"code":429,"details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[
        {"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier","quotaValue":"20"},
        {"quotaId":"GenerateContentInputTokensPerModelPerMinute-FreeTier","quotaValue":"250000"},
        {"quotaId":"GenerateRequestsPerMinutePerProjectPerModel-FreeTier","quotaValue":0}]}]}}]"#;
    let openrouter = r#"{"error":{"message":"Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free
        model requests per day","code":429,"metadata":{"headers":{"X-RateLimit-Limit":"50","X-RateLimit-Remaining":"0"}}}}"#;
    for (provider, message, wanted) in [
        (
            "groq",
            "on tokens per day (TPD): Limit 100000, Used 97050, Requested 3619. Please try again in 9m38.016s.",
            &["tpd 2950/100000 /86400s"][..],
        ),
        ("groq", "seconds of audio per hour (ASPH): Limit 7200, Used 6931.", &["audio_seconds 269/7200 /3600s"]),
        ("openai", "Request too large on tokens per min (TPM): Limit 30000, Requested 31538.", &["tpm ?/30000 /60s"]),
        ("openai", "on requests per min. Limit: 60.000000 / min. Current: 70.0 / min.", &["rpm 0/60 /60s"]),
        // Small plans call it a minute and mean a day.
        ("openai", "on tokens per min (TPM): Limit 100000, Used 99918. Try again in 14h29m11s.", &["tpd 82/100000"]),
        (
            "anthropic",
            "exceed your organization's rate limit of 30,000 input tokens per minute",
            &["input_tpm ?/30000 /60s"],
        ),
        (
            "xai",
            "Your rate limit is: requests per minute (actual/limit): 41/480, tokens per minute (actual/limit): 7/16000",
            &["rpm 439/480 /60s", "tpm 15993/16000 /60s"],
        ),
        (
            "together",
            "The maximum rate limit for this model is 6.0 queries and 180000 tokens per minute.",
            &["tpm ?/180000 /60s", "rpm ?/6 /60s"],
        ),
        ("voyage", "reduced rate limits of 3 RPM and 10K TPM", &["rpm ?/3 /60s", "tpm ?/10000 /60s"]),
        (
            "ai-dial",
            "Hit token rate limit. Minute limit: 5 / 200 tokens. Week limit: 7 / 9223372036854775807 tokens.",
            &["tpm 195/200 /60s"],
        ),
        (
            "litellm",
            "Limit type: requests. Current limit: 20, Remaining: 0. Limit resets at: 2026-11-15 12:01:00 UTC",
            &["rpm 0/20 +60s"],
        ),
        ("litellm", "current rpm: 1, rpm limit: 15, current tpm: 9, tpm limit: 5", &["rpm 14/15 /60s", "tpm 0/5 /60s"]),
        ("github-models", "Rate limit of 50 per 86400s exceeded for UserByModelByDay.", &["rpd ?/50 /86400s"]),
        ("github-models", "Rate limit of 2 per 0s exceeded for UserConcurrentRequests.", &["concurrency ?/2"]),
        ("moonshot", "organization TPD rate limit, current: 1526210, limit: 1500000", &["tpd 0/1500000 /86400s"]),
        (
            "minimax",
            "5-hour usage limit reached for Token Plan (1490/1500 used), resets at 2026-11-15T13:00:00Z",
            &["requests_5h 10/1500 +3600s /18000s"],
        ),
        ("voyage", "You have exceeded your daily limit of 1000 requests", &["rpd ?/1000 /86400s"]),
        // Neither a limit nor a window.
        ("openai", "prompt token count of 138898 exceeds the limit of 64000", &[]),
        ("openai", "Rate limit exceeded. Upgrade to get 1000 requests per day", &[]),
        ("openai", "The rate limit is gpt-5 requests per minute", &[]),
        ("openrouter", openrouter, &["rpd 0/50"]),
        ("gemini", gemini, &["rpd ?/20 /86400s", "input_tpm ?/250000 /60s", "rpm ?/0 /60s"]),
    ] {
        let body = if message.starts_with(['{', '[']) {
            message.to_owned()
        } else {
            serde_json::json!({"error": {"message": message}}).to_string()
        };
        assert_eq!(told(&answer(provider, 429, "", &body)), wanted, "{provider}: {message}");
        let log = Evidence { log: message.to_owned(), provider: Some(provider.into()), ..Evidence::default() };
        assert_eq!(told(&log), wanted, "{provider}, in a log: {message}");
    }
}

#[test]
fn headers_and_words_of_one_limit_are_one() {
    let body = r#"{"error":{"message":"Rate limit of 150 per 86400s exceeded for UserByModelByDay."}}"#;
    let headers = "x-ratelimit-type: UserByModelByDay\nx-ratelimit-timeremaining: 43012";
    assert_eq!(told(&answer("github-models", 429, headers, body)), ["rpd ?/150 +43012s /86400s"]);
    let body = r#"{"error":{"message":"on tokens per minute (TPM): Limit 6000, Used 5990, Requested 50."}}"#;
    let headers = "x-ratelimit-limit-tokens: 6000\nx-ratelimit-remaining-tokens: 30\nx-ratelimit-reset-tokens: 59.7s";
    assert_eq!(told(&answer("groq", 429, headers, body)), ["tpm 10/6000 +59.7s /60s"]);
    // Another size is another limit: its reset says nothing of this one.
    let headers = "x-ratelimit-limit-tokens: 9000\nx-ratelimit-remaining-tokens: 30\nx-ratelimit-reset-tokens: 59.7s";
    assert_eq!(told(&answer("groq", 429, headers, body)), ["tpm 10/6000 /60s"]);
    // In a refusal a zero is meant.
    let headers = "x-ratelimit-limit-tokens: 0\nx-ratelimit-remaining-tokens: 0";
    assert_eq!(told(&answer("groq", 429, headers, "{}")), ["tpm 0/0"]);
}

#[test]
fn what_the_model_says_is_no_limit() {
    let words = "rate limit of 30,000 input tokens per minute \\\"error\\\"";
    let body = format!(r#"{{"choices":[{{"message":{{"content":"{words}"}},"finish_reason":"stop"}}],"error":null}}"#);
    assert_eq!(told(&answer("openai", 200, "", &body)), Vec::<String>::new());
    // But an error within a success is one.
    let body = r#"{"error":{"message":"You are limited to 3 requests per minute","code":429}}"#;
    assert_eq!(told(&answer("openai", 200, "", body)), ["rpm ?/3 /60s"]);
    let long = format!("{}\ndata: {body}", "data: {\"choices\":[{\"delta\":{\"content\":\"é\"}}]}\n".repeat(500));
    assert_eq!(told(&answer("openai", 200, "", &long)), ["rpm ?/3 /60s"]);
}

#[test]
fn captures_state_what_they_state() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/captures");
    let files = std::fs::read_dir(folder).expect("fixtures").map(|entry| entry.expect("a file").path());
    let catalog = catalog();
    let (mut captures, mut stating, mut counts) = (0, 0, BTreeMap::<Dimension, usize>::new());
    for line in files.flat_map(|path| std::fs::read(path).expect("a file")).collect::<Vec<u8>>().split(|b| *b == b'\n')
    {
        for one in capture::read(line, Format::Jsonl, &Reading::at(now())).into_iter().flatten() {
            let stated = stated_limits(&one.evidence, &catalog, now());
            captures += 1;
            stating += usize::from(!stated.is_empty());
            stated.iter().for_each(|stated| *counts.entry(stated.dimension).or_default() += 1);
            check(&stated, one.evidence.at.unwrap_or(now()));
        }
    }
    println!("{stating} of {captures} captures state limits: {counts:?}");
    assert!(captures > 1000 && stating >= 115, "{stating} of {captures}");
    for (dimension, least) in [
        (Dimension::Rpm, 36),
        (Dimension::Tpm, 40),
        (Dimension::Rpd, 25),
        (Dimension::Tpd, 8),
        (Dimension::InputTpm, 6),
        (Dimension::Requests5h, 7),
        (Dimension::Weekly, 5),
        (Dimension::Concurrency, 4),
    ] {
        let count = counts.get(&dimension).copied().unwrap_or(0);
        assert!(count >= least, "{dimension}: {count}");
    }
}

/// What holds for any answer.
fn check(stated: &[StatedLimit], since: Timestamp) {
    for (at, one) in stated.iter().enumerate() {
        let figures = [one.limit, one.remaining];
        assert!(figures.iter().any(Option::is_some), "{one:?}");
        for figure in figures.into_iter().flatten() {
            assert!(figure.is_finite() && (0.0..=LARGEST).contains(&figure), "{one:?}");
        }
        if let Some(resets_at) = one.resets_at {
            let ahead = resets_at.duration_since(since);
            // A capture that says when it was made is read against that; its date header may differ from it.
            assert!(ahead.as_hours() <= 367 * 24, "{one:?}");
        }
        assert!(one.window.is_none_or(|window| !window.is_zero()), "{one:?}");
        let again = |other: &StatedLimit| other.dimension == one.dimension && other.dimension != Dimension::Other;
        assert!(!stated.iter().skip(at + 1).any(again), "{stated:?}");
    }
}

/// Parts of names and values as they stand in headers, and anything else.
fn word() -> impl Strategy<Value = String> {
    let parts = "x|ratelimit|limit|remaining|reset|used|window|requests|tokens|input|output|day|minute|month|policy|type|\
        anthropic|unified|5h|7d|utilization|status|codex|primary|used-percent|window-minutes|key|trial|endpoint|call";
    prop_oneof![8 => prop::sample::select(parts.split('|').collect::<Vec<_>>()).prop_map(str::to_owned), 1 => ".{0,6}"]
}

fn value() -> impl Strategy<Value = String> {
    let values = "0|1|-1|NaN|inf|1e400|100, 100;w=60|\"a\";q=5;w=60|r=;t=9|limit=9, remaining=1|2026-11-15T12:00:01Z|\
        1794747600|1794747600000|6ms|7m12s|99999999999999999999|rejected|1,000|;;,,=|\"|\u{a0}";
    prop_oneof![
        4 => prop::sample::select(values.split('|').collect::<Vec<_>>()).prop_map(str::to_owned),
        4 => (0_u64..2_000_000).prop_map(|number| number.to_string()),
        1 => ".{0,40}",
    ]
}

proptest! {
    #[test]
    fn any_headers_give_figures_that_can_be_meant(
        headers in prop::collection::vec((prop::collection::vec(word(), 1..6), value()), 0..30),
        provider in prop::sample::select(vec!["", "groq", "openai", "anthropic", "together", "lab"]),
        status in prop::sample::select(vec![200_u16, 429, 500]),
    ) {
        let mut evidence = answer(provider, status, "", "");
        evidence.headers = headers.into_iter().map(|(words, value)| (words.join("-"), value)).collect();
        evidence.at = Some(now());
        let stated = stated_limits(&evidence, &catalog(), now());
        check(&stated, now());
        prop_assert!(stated.iter().all(|one| one.resets_at.is_none_or(|at| at >= now())));
    }

    #[test]
    fn any_words_give_figures_that_can_be_meant(
        parts in prop::collection::vec(prop_oneof![
            prop::sample::select(vec![
                "limit", "rate limit of ", "tokens per minute", " rpm", " and ", "(actual/limit): ", "/", "10k", "5,", "1e9", ".", "é",
                "current ", "rpm limit: ", "daily limit of ", " used)", "(", "5-hour", "per ", "s exceeded for ", "minute limit: ",
                "{\"quotaId\":\"PerDay\",\"quotaValue\":\"", "\"}", "resets at ", "2026-11-16 ", "limit type: requests", "remaining: ",
            ]).prop_map(str::to_owned),
            (0_u64..2_000_000_000_000_000).prop_map(|number| number.to_string()),
            ".{0,5}",
        ], 0..24),
    ) {
        let text = parts.concat();
        for evidence in [answer("lab", 429, "", &text), Evidence { log: text.clone(), ..Evidence::default() }] {
            check(&stated_limits(&evidence, &catalog(), now()), now());
        }
    }
}
