//! Times, explanations, and evidence that is meant to hurt.

use jiff::Timestamp;
use proptest::prelude::*;

use super::Classifier;
use super::boundary_tests::{classify, log, now, wire};
use crate::catalog::Catalog;
use crate::domain::{Class::*, Dimension, Evidence, Provenance, ResetSource};

#[test]
fn the_time_is_a_fact_with_its_source_or_a_guess() {
    let stated = |evidence: &Evidence| {
        let got = classify(evidence);
        (
            got.retry_after.map(|after| after.as_secs()),
            got.retry_at.map(|at| at.to_string()),
            got.reset_source,
            got.provenance,
        )
    };
    let with = |name: &str, value: &str, evidence: Evidence| Evidence {
        headers: vec![(name.into(), value.into())],
        ..evidence
    };
    let limited = || wire("openai", 429, r#"{"error":{"message":"Rate limit reached on requests per min"}}"#);
    let header = |name: &str| Some(ResetSource::Header(name.into()));
    let minute = Some("2026-11-15T12:01:00Z".to_owned());
    assert_eq!(stated(&limited()), (None, None, None, Provenance::Guess));
    assert_eq!(
        stated(&with("Retry-After", "60", limited())),
        (Some(60), minute.clone(), header("retry-after"), Provenance::Fact)
    );
    assert_eq!(stated(&with("Retry-After", "Sun, 15 Nov 2026 12:01:00 GMT", limited())).1, minute);
    assert_eq!(stated(&with("retry-after-ms", "60000", limited())).1, minute);
    for nonsense in ["-5", "soon", "99999999", "NaN", ""] {
        assert_eq!(stated(&with("retry-after", nonsense, limited())).3, Provenance::Guess, "{nonsense}");
    }
    let two = Evidence {
        headers: vec![
            ("x-ratelimit-remaining-requests".into(), "0".into()),
            ("x-ratelimit-reset-requests".into(), "1m0s".into()),
            ("x-ratelimit-remaining-tokens".into(), "9".into()),
            ("x-ratelimit-reset-tokens".into(), "6h0s".into()),
        ],
        ..limited()
    };
    assert_eq!(stated(&two).2, header("x-ratelimit-reset-requests"), "only the bucket that is empty counts");
    let body = wire(
        "openai",
        429,
        r#"{"error":{"type":"usage_limit_reached","message":"x","resets_at":1794756000,"resets_in_seconds":12000}}"#,
    );
    assert_eq!(stated(&body).2, Some(ResetSource::Body("error.resets_in_seconds".into())));
    assert_eq!(stated(&body).0, Some(12000));
    let zoned = wire(
        "zhipu",
        429,
        r#"{"error":{"code":"1308","message":"已达到 5 小时的使用上限。您的限额将在 2026-11-15 22:00:00 重置。"}}"#,
    );
    assert_eq!(stated(&zoned).1.as_deref(), Some("2026-11-15T14:00:00Z"));
    assert_eq!(stated(&zoned).0, None, "a moment is no wait when nobody says what time it was");
}

#[test]
fn plan_windows_show_in_headers_only() {
    let body = r#"{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your account's rate limit. Please try again later."}}"#;
    let headers = |pairs: &[(&str, &str)]| Evidence {
        headers: pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        ..wire("anthropic", 429, body)
    };
    let got = classify(&headers(&[
        ("anthropic-ratelimit-unified-status", "rejected"),
        ("anthropic-ratelimit-unified-5h-status", "rejected"),
        ("anthropic-ratelimit-unified-5h-reset", "1794762000"),
        ("anthropic-ratelimit-unified-7d-status", "rejected"),
        ("anthropic-ratelimit-unified-7d-reset", "1795000000"),
    ]));
    assert_eq!((got.class, got.dimension), (QuotaExhausted, Some(Dimension::Weekly)));
    assert_eq!(got.retry_at.map(Timestamp::as_second), Some(1_795_000_000), "the latest of the rejected windows");
    let got = classify(&headers(&[("anthropic-ratelimit-unified-status", "allowed"), ("retry-after", "20")]));
    assert_eq!(got.class, RateLimit);
}

#[test]
fn the_explanation_names_the_winner_first_and_why() {
    let evidence = wire("", 429, r#"{"error":{"message":"Your credit balance is too low","type":"rate_limit_error"}}"#);
    let explanation = Classifier::default().explain(&evidence, &Catalog::default(), now());
    assert_eq!(explanation.matches[0].rule, explanation.failure.rule);
    assert!(explanation.matches.iter().any(|one| one.class == RateLimit));
    assert!(explanation.reason.contains("words come before vague"), "{}", explanation.reason);
}

#[test]
fn the_evidence_is_one_redacted_line() {
    let got = classify(&wire(
        "openai",
        401,
        "{\"error\":{\"message\":\"Incorrect API key provided:\\n sk-proj-AbCdEfGhIjKlMnOpQrStUvWx \\u001b[31m\",\"code\":\"invalid_api_key\"}}",
    ));
    assert!(!got.evidence.contains("AbCdEfGh") && !got.evidence.contains(['\n', '\u{1b}']), "{}", got.evidence);
    assert!(got.evidence.contains("Incorrect API key provided"));
}

#[test]
fn large_hostile_bodies_cost_little() {
    for piece in [
        "{",
        "[{\"a\":",
        "\\\"",
        "{\"error\":\"",
        "429 ",
        "try again in ",
        "rate limit exceeded ",
        "limit: 0",
        "<a",
        "data: {\n",
    ] {
        let body = piece.repeat(4_000_000 / piece.len());
        classify(&wire("", 429, &body));
        classify(&log(&body));
    }
}

proptest! {
    #[test]
    fn any_evidence_gives_an_answer(
        body in "\\PC{0,200}", soup in "[{}\\[\\]\"':,\\\\ a1e\n<>=-]{0,200}", status in proptest::option::of(0_u16..1000),
        name in "[a-z-]{0,30}", value in "\\PC{0,40}",
    ) {
        for text in [&body, &soup] {
            let evidence = Evidence { status, body: text.clone(), headers: vec![(name.clone(), value.clone())], ..Evidence::default() };
            let got = classify(&evidence);
            prop_assert!(got.evidence.chars().count() <= 200);
            prop_assert!(got.retry_at.is_none() || got.provenance != Provenance::Guess);
            classify(&log(text));
        }
    }
}
