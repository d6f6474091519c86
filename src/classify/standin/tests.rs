//! What goes, what stays, and that a classifier says the same of both.

use std::path::Path;

use super::Standins;
use crate::catalog::Catalog;
use crate::classify::Classifier;
use crate::classify::capture::{self, Format, Reading};
use crate::clock::Rng;
use crate::domain::{Evidence, Failure};
use jiff::Timestamp;

fn standins(seed: u64) -> Standins {
    Standins::new(&mut Rng::new(Some(seed)))
}

fn captures() -> Vec<Evidence> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/captures");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).expect("fixtures").map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    let text: Vec<u8> = files.iter().flat_map(|path| std::fs::read(path).expect("a file")).collect();
    capture::read(&text, Format::Jsonl, &Reading::at(Timestamp::UNIX_EPOCH))
        .into_iter()
        .map(|one| one.expect("a record").evidence)
        .collect()
}

/// What a verdict comes to, without its quote.
fn verdict(failure: &Failure) -> String {
    let Failure { class, scope, dimension, retry_after, retry_at, limits, rule, .. } = failure;
    format!("{class} {scope} {dimension:?} {retry_after:?} {retry_at:?} {limits:?} {rule}")
}

#[test]
fn every_capture_is_classified_as_before() {
    let (classifier, catalog) = (Classifier::default(), Catalog::builtin().expect("a catalogue"));
    let now = "2026-11-15T12:00:00Z".parse().expect("a time");
    let mut wrong = Vec::new();
    for seed in 0..3 {
        let mut standins = standins(seed);
        for original in captures() {
            let body = Evidence { log: String::new(), ..original.clone() };
            let log = Evidence { body: String::new(), ..original.clone() };
            let found = capture::read(original.log.as_bytes(), Format::Text, &Reading::at(Timestamp::UNIX_EPOCH))
                .into_iter()
                .flatten()
                .map(|one| one.evidence);
            for form in [body, log].into_iter().chain(found) {
                let before = verdict(&classifier.classify(&form, &catalog, now));
                let shared = standins.evidence(&form);
                let after = verdict(&classifier.classify(&shared, &catalog, now));
                if before != after {
                    wrong.push(format!("{before}\n{after}\n{form:?}\n{shared:?}\n"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// Texts, and what of them may not be seen afterwards.
const PLANTED: &[(&str, &[&str])] = &[
    // Ids.
    (
        r#"{"request_id":"req_011CSHoEeqs5C35K2UUqR7Fy","id":"chatcmpl-9xZabcDEF0123456789"}"#,
        &["011CSHoEeqs5C35K2UUqR7Fy", "9xZabcDEF0123456789"],
    ),
    ("Request ID: 3f2504e0-4f89-41d3-9a0c-0305e82c3301", &["3f2504e0-4f89-41d3-9a0c-0305e82c3301"]),
    ("cf-ray: 8f1a2b3c4d5e6f70-ATL\nx-request-id: 0af7651916cd43dd", &["8f1a2b3c4d5e6f70", "0af7651916cd43dd", "ATL"]),
    (
        "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        &["0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"],
    ),
    ("trace_id=4bf92f3577b34da6 span_id=00f067aa0ba902b7", &["4bf92f3577b34da6", "00f067aa0ba902b7"]),
    ("in organization org-AbCdEf0123456789AbCdEf01 on tokens per min", &["AbCdEf0123456789AbCdEf01"]),
    ("Project proj_abcDEF123456 of user-Zy9Xw8Vu7Ts6", &["abcDEF123456", "Zy9Xw8Vu7Ts6"]),
    // Keys.
    ("Incorrect API key provided: sk-proj-Ab12Cd34Ef56Gh78Ij90Kl12. You can", &["Ab12Cd34Ef56Gh78Ij90Kl12"]),
    ("Incorrect API key provided: sk-proj-Zq7x****************************T9wQ.", &["Zq7x", "T9wQ"]),
    ("key abcd1234********wxyz", &["abcd1234", "wxyz"]),
    (
        "gsk_Ab12Cd34Ef56Gh78Ij90Kl12Mn34 xai-Zq7xW2pL9vT4mR8kY3nB6cJ1hF5dS0",
        &["Ab12Cd34Ef56Gh78Ij90Kl12Mn34", "Zq7xW2pL9vT4mR8kY3nB6cJ1hF5dS0"],
    ),
    ("nvapi-Ab12Cd34Ef56Gh78Ij90 hf_AbCdEfGhIjKlMnOpQrStUv", &["Ab12Cd34Ef56Gh78Ij90", "AbCdEfGhIjKlMnOpQrStUv"]),
    (
        "AIzaSyA0b1C2d3E4f5G6h7I8j9K0l1M2n3O4p5Q and AKIAIOSFODNN7EXAMPLE",
        &["A0b1C2d3E4f5G6h7I8j9K0l1M2n3O4p5Q", "IOSFODNN7EXAMPLE"],
    ),
    (
        "aws_secret_access_key=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        &["wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "wJalrXUtnFEMI", "bPxRfiCYEXAMPLEKEY"],
    ),
    ("Authorization: Bearer q1w2e3r4t5y6", &["q1w2e3r4t5y6"]),
    ("\"authorization\": \"Basic YWxpY2U6c2VjcmV0\"", &["YWxpY2U6c2VjcmV0"]),
    (
        "token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbGljZSJ9.dBjftJeZ4CVPmB92K27u",
        &["hbGciOiJIUzI1NiJ9", "eyJzdWIiOiJhbGljZSJ9", "dBjftJeZ4CVPmB92K27u"],
    ),
    ("GET /v1beta/models?key=abcdefghijkl&alt=sse", &["abcdefghijkl"]),
    ("password=hunter password: \"correct horse\"", &["hunter", "correct", "horse"]),
    ("set-cookie: __cf_bm=aBc.dEf-123; path=/; Secure\ncookie: sid=q9w8e7; theme=dark1", &["aBc.dEf-123", "q9w8e7"]),
    // People and organisations.
    ("Limit for organization `Acme Research` reached", &["Acme", "Research"]),
    ("Quota exceeded in project acme-prod: slow down", &["acme-prod"]),
    ("Account zenithal is suspended", &["zenithal"]),
    (
        r#"{"user":"wilhelmina","workspace_id":"blue-whale","team":"Otters United"}"#,
        &["wilhelmina", "blue-whale", "Otters"],
    ),
    (
        r#"{"error":"{\"user\": \"wilhelmina\", \"tenant\":\"b\\u00fcro-nord\"}"}"#,
        &["wilhelmina", "b\\u00fcro", "nord"],
    ),
    ("user=wilhelmina tenant=bluewhale org: otters-4", &["wilhelmina", "bluewhale", "otters-4"]),
    ("openai-organization: zenithal-labs\nopenai-project: proj_9aZ", &["zenithal", "9aZ"]),
    ("{'organization': \"O'Malley & Sons\"}", &["Malley", "Sons"]),
    ("组织 organization `深圳某某` 超出", &["深圳某某"]),
    ("mail wilhelmina.k@zenithal-labs.example.org", &["wilhelmina", "zenithal"]),
    ("{\"message\":\"line\\nwilhelmina@zenithal.org said\"}", &["wilhelmina", "zenithal"]),
    ("call +49 30 1234567, (555) 867-5309 or phone: 030 7654321", &["1234567", "867-5309", "7654321"]),
    ("organization `zenithal` is over. ZENITHAL must pay", &["zenithal", "ZENITHAL"]),
    ("consumer 'project_number:855512345678' of organization (Zenithal Corp)", &["855512345678", "Zenithal", "Corp"]),
    (
        "org \"zenithal\", 组织 otters-cn, 用户 [张三丰], user wilhelmina does not have access",
        &["zenithal", "otters-cn", "张三丰", "wilhelmina"],
    ),
    (
        "https://wilhelmina:s3cret@gw.zenithal.com/v1 [otto@gpubox ~]$",
        &["wilhelmina", "s3cret", "zenithal", "otto", "gpubox"],
    ),
    ("pod/zenithal-vllm-0 mac 00:1a:2b:3c:4d:5e tunedModels/otters-9", &["zenithal-vllm", "1a:2b:3c", "otters-9"]),
    (r#"{"user_email":"wilhelmina","key_alias":"otto"}"#, &["wilhelmina", "otto"]),
    // Places.
    (
        "File \"/home/wilhelmina/app.py\", /Users/otto/x C:\\Users\\nina\\y C:\\\\Users\\\\Tom Ott\\\\z",
        &["wilhelmina", "otto", "nina", "Tom", "Ott"],
    ),
    (
        "from 203.0.113.77:4431 or 10.20.30.40, fe80::1ff:fe23:4567:890a",
        &["203.0.113.77", "10.20.30.40", "1ff:fe23:4567"],
    ),
    ("dial tcp: lookup llm.zenithal.internal: no such host; http://gpubox:8000/v1", &["zenithal", "gpubox"]),
    ("https://zenithal-east.openai.azure.com/openai/deployments/otters-chat/chat", &["zenithal-east", "otters-chat"]),
    (
        "arn:aws:sts::210987654321:assumed-role/otters-role/wilhelmina is not authorized",
        &["210987654321", "otters-role", "wilhelmina"],
    ),
    (
        "/subscriptions/3f2504e0-4f89-41d3-9a0c-0305e82c3301/resourceGroups/otters-rg/providers/Microsoft.CognitiveServices/accounts/zenithal",
        &["3f2504e0", "otters-rg", "zenithal"],
    ),
    ("projects/zenithal-77/locations/us-east5/publishers/google/models/gemini-2.5-pro", &["zenithal-77"]),
    ("model ft:gpt-4o-mini:zenithal:otters:AbC123 not found", &["zenithal", "otters", "AbC123"]),
];

/// Words that must stay.
const KEPT: &[&str] = &[
    "Error code: 429 - {'error': {'message': 'Rate limit reached for gpt-4o-mini in organization ",
    "Please try again in 6m0s",
    "Limit 12000, Used 11999, Requested 400",
    "x-ratelimit-reset-tokens: 1m30.5s",
    "retry-after: 12",
    "RESOURCE_EXHAUSTED",
    "https://platform.openai.com/account/rate-limits",
    "generativelanguage.googleapis.com/generate_content_free_tier_requests",
    "2026-08-23T03:00:00.123Z",
    "Sun, 23 Aug 2026 03:00:00 GMT",
    "claude-sonnet-4-5-20250929",
    "\"retryDelay\": \"36s\"",
    "GenerateRequestsPerDayPerProjectPerModel-FreeTier",
    "user_global_rate_limited",
    "user location is not supported",
    "{\"role\": \"user\", \"content\": \"\"}",
    "Project has been disabled",
    "http://127.0.0.1:11434/api/chat",
    "1741305600000",
    "anthropic-ratelimit-requests-remaining: 0",
    "{\"user\":null,\"org\":\"\",\"account\":false}",
    "sk-ant-",
    "key [redacted]",
    "account balance is too low",
    "team members",
    "Incorrect API key provided",
    "api_key: missing",
    "authorization required",
    "any_of(user:inference, user:ccr_inference, org:service_key_inference)",
    "maximum context length is 128000 tokens",
    "session limit reached",
    "main.go:503] cache",
    "java.net.SocketException: reset",
    "version 1.25.3",
    "support@openai.com",
];

#[test]
fn nothing_planted_survives_whole_or_in_any_run_of_twelve() {
    for seed in 0..5 {
        for (text, planted) in PLANTED {
            let shared = standins(seed).text(text);
            for secret in *planted {
                assert!(!shared.contains(secret), "{secret} in {shared}\n  of {text}");
                let letters: Vec<char> = secret.chars().collect();
                for run in letters.windows(12) {
                    assert!(!shared.contains(&run.iter().collect::<String>()), "{run:?} in {shared}");
                }
            }
            // An escape has as many digits, but others.
            assert!(text.contains("\\u") || kinds(text) == kinds(&shared), "{text}\n{shared}");
            // In a field of JSON it must go as well, and be JSON afterwards.
            let nested = serde_json::json!({"error": {"message": text}}).to_string();
            let nested = serde_json::json!({"body": nested}).to_string();
            let shared = standins(seed).text(&nested);
            serde_json::from_str::<serde_json::Value>(&shared).expect("JSON");
            for secret in planted.iter().filter(|secret| !secret.contains('\\')) {
                assert!(!shared.contains(secret), "nested: {secret} in {shared}");
            }
        }
    }
}

#[test]
fn what_tells_the_failure_stays() {
    for text in KEPT {
        assert_eq!(standins(1).text(text), *text);
        let nested = serde_json::json!({"error": {"message": text}}).to_string();
        assert_eq!(standins(1).text(&nested), nested);
    }
}

#[test]
fn equal_originals_get_equal_standins_in_all_parts() {
    let evidence = Evidence {
        provider: Some("lab".into()),
        model: Some("ft:gpt-4o:zenithal::abc9".into()),
        status: Some(418),
        headers: vec![("X-Request-Id".into(), "req_q1w2e3".into()), ("retry-after".into(), "7".into())],
        body: r#"{"error":"zenithal is full","request_id":"req_q1w2e3"}"#.into(),
        log: "organization `zenithal`, model ft:gpt-4o:zenithal::abc9".into(),
        ..Evidence::default()
    };
    let shared = standins(3).evidence(&evidence);
    let id = shared.headers[0].1.clone();
    assert_ne!(id, "req_q1w2e3");
    assert!(shared.body.contains(&id), "{shared:?}");
    let model = shared.model.as_ref().expect("a model").as_str();
    assert!(
        model.starts_with("ft:gpt-4o:") && !model.contains("zenithal") && shared.log.ends_with(model),
        "{shared:?}"
    );
    let name = model.split(':').nth(2).expect("a part");
    assert!(shared.body.contains(name) && shared.log.contains(&format!("`{name}`")), "{shared:?}");
    assert_eq!((shared.headers[0].0.as_str(), &shared.headers[1]), ("X-Request-Id", &evidence.headers[1]));
    assert_eq!((&shared.provider, shared.status), (&evidence.provider, evidence.status));
    // A name is known in the captures that follow.
    let mut standins = standins(3);
    standins.evidence(&evidence);
    assert_eq!(standins.text("zenithal is full"), format!("{name} is full"));
    assert_ne!(Standins::new(&mut Rng::new(None)).id("req_q1w2e3"), id);
}

/// The kind of each character.
fn kinds(text: &str) -> String {
    let kind = |c: char| match c {
        '0'..='9' => '0',
        'a'..='z' => 'a',
        'A'..='Z' => 'A',
        c if c.is_lowercase() => 'ä',
        c if c.is_uppercase() => 'Ä',
        c if c.is_alphabetic() => '字',
        c => c,
    };
    text.chars().map(kind).collect()
}

proptest::proptest! {
    #[test]
    fn any_text_keeps_its_length(text in ".{0,200}", seed in 0..9_u64) {
        let shared = standins(seed).text(&text);
        proptest::prop_assert_eq!(shared.chars().count(), text.chars().count());
    }

    #[test]
    fn any_text_of_such_parts_keeps_its_shape_however_often(
        parts in proptest::collection::vec(proptest::sample::select(PARTS), 0..24), seed in 0..9_u64
    ) {
        let text = parts.concat();
        let once = standins(seed).text(&text);
        let twice = standins(seed + 1).text(&once);
        proptest::prop_assert_eq!(kinds(&once), kinds(&text));
        proptest::prop_assert_eq!(kinds(&twice), kinds(&text));
    }
}

const PARTS: &[&str] = &[
    "user",
    "org",
    "\"",
    "'",
    "`",
    ": ",
    "=",
    " ",
    "\n",
    "\\n",
    "\\\"",
    "\\\\",
    "acme",
    "Zoë",
    "深圳",
    "req_",
    "sk-",
    "0a1b2c3d4e5f6071",
    "@",
    ".",
    "com",
    "://",
    "/",
    "home/",
    "Users\\",
    "10.0.0.7",
    "::",
    "fe80",
    "***",
    "{",
    "}",
    "429",
    "+49",
    "-",
    "Bearer ",
    "cookie: ",
    "api_key",
    "arn:aws:iam::",
    "123456789012",
    "ft:",
    "\u{130}",
    "é",
];
