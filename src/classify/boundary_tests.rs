//! The boundaries between the classes, in wordings of our own: what looks like one thing and is another.

use jiff::Timestamp;

use super::Classifier;
use crate::catalog::Catalog;
use crate::domain::{
    Class::{self, *},
    Evidence, Failure, TransportFault,
};

pub(super) fn now() -> Timestamp {
    "2026-11-15T12:00:00Z".parse().expect("a time")
}

pub(super) fn classify(evidence: &Evidence) -> Failure {
    Classifier::default().classify(evidence, &Catalog::default(), now())
}

pub(super) fn wire(provider: &str, status: u16, body: &str) -> Evidence {
    let provider = (!provider.is_empty()).then(|| provider.into());
    Evidence { provider, status: (status > 0).then_some(status), body: body.into(), ..Evidence::default() }
}

pub(super) fn log(text: &str) -> Evidence {
    Evidence { log: text.into(), ..Evidence::default() }
}

fn check(rows: &[(&str, u16, &str, Class)]) {
    let mut wrong = String::new();
    for (provider, status, body, class) in rows {
        let got = classify(&wire(provider, *status, body));
        if got.class != *class {
            wrong.push_str(&format!(
                "{provider} {status} {body}\n  is {class}, taken for {} by {}\n",
                got.class, got.rule
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn money_quotas_and_rates_are_told_apart() {
    check(&[
        (
            "openai",
            429,
            r#"{"error":{"message":"You exceeded your current quota.","type":"insufficient_quota","code":null}}"#,
            Billing,
        ),
        (
            "openai",
            429,
            r#"{"error":{"message":"You exceeded your current quota.","type":"insufficient_quota","code":"organization_spend_limit_exceeded"}}"#,
            QuotaExhausted,
        ),
        (
            "anthropic",
            429,
            r#"{"type":"error","error":{"type":"rate_limit_error","message":"Spend limit.","details":{"error_code":"enforced_spend_limit_reached"}}}"#,
            QuotaExhausted,
        ),
        (
            "anthropic",
            402,
            r#"{"type":"error","error":{"type":"billing_error","message":"Please check your payment method."}}"#,
            Billing,
        ),
        ("", 402, r#"{"error":{"message":"Usage limit reached, retry after 30s."}}"#, RateLimit),
        ("", 402, r#"{"error":"usage limit reached, retry after 2h"}"#, QuotaExhausted),
        ("", 429, r#"{"error":"Usage limit reached. Your plan resets, retry after 30s"}"#, QuotaExhausted),
        (
            "",
            429,
            r#"{"error":{"message":"Rate limit exceeded for api_key: ab. Limit type: max_parallel_requests. Current limit: 5, Remaining: 0. Limit resets at: 2026-11-15 10:20:00 UTC"}}"#,
            RateLimit,
        ),
        (
            "",
            200,
            "<html><head><title>Sign in to the network</title></head><body>Accept the terms of use</body></html>",
            Network,
        ),
        ("", 511, "<html><title>Network Authentication Required</title></html>", Network),
        ("", 302, "", Network),
        ("", 402, r#"{"error":"insufficient credits"}"#, Billing),
        (
            "openrouter",
            402,
            r#"{"error":{"message":"Too many paid requests in flight","code":402,"metadata":{"limit_source":"openrouter_in_flight_budget"}}}"#,
            RateLimit,
        ),
        (
            "openrouter",
            429,
            r#"{"error":{"message":"x","code":429,"metadata":{"limit_source":"openrouter_free_tier_daily"}}}"#,
            QuotaExhausted,
        ),
        (
            "openrouter",
            429,
            r#"{"error":{"message":"x","code":429,"metadata":{"limit_source":"upstream_provider_shared_pool"}}}"#,
            Overloaded,
        ),
        ("openrouter", 403, r#"{"error":{"message":"Key limit exceeded (monthly limit)","code":403}}"#, QuotaExhausted),
        ("zhipu", 429, r#"{"error":{"code":"1113","message":"余额不足"}}"#, Billing),
        ("zhipu", 429, r#"{"error":{"code":"1302","message":"您当前使用该API的并发数过高"}}"#, RateLimit),
        ("cerebras", 429, r#"{"message":"slow","code":"request_quota_exceeded"}"#, RateLimit),
        ("cerebras", 429, r#"{"message":"busy","code":"queue_exceeded"}"#, Overloaded),
        (
            "azure",
            429,
            r#"{"error":{"code":"429","message":"Requests have exceeded call rate limit of your current OpenAI S0 pricing tier. Upgrade your pricing tier. Please retry after 6 seconds."}}"#,
            RateLimit,
        ),
        (
            "groq",
            429,
            r#"{"error":{"message":"Rate limit reached on tokens per minute (TPM): Limit 6000, Used 5900, Requested 400. Please try again in 3s. Upgrade at https://console.groq.com/settings/billing","type":"tokens"}}"#,
            RateLimit,
        ),
        (
            "",
            429,
            r#"{"error":{"message":"You have used all your messages for today. Daily limit: 50."}}"#,
            QuotaExhausted,
        ),
        ("", 403, r#"{"error":{"message":"Your 7-day allowance is exhausted."}}"#, QuotaExhausted),
        ("", 500, r#"{"error":{"message":"insufficient balance (1008)","type":"api_error"}}"#, Billing),
        ("ollama", 429, r#"{"error":"you have reached your hourly usage limit"}"#, RateLimit),
    ]);
}

#[test]
fn google_is_judged_by_the_quota_it_names() {
    let body = |ids: &[&str], value: &str| {
        let violations: Vec<String> =
            ids.iter().map(|id| format!(r#"{{"quotaId":"{id}","quotaValue":"{value}"}}"#)).collect();
        format!(
            r#"{{"error":{{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED","details":[{{"violations":[{}]}},{{"retryDelay":"36s"}}]}}}}"#,
            violations.join(",")
        )
    };
    let (day, minute) =
        ("GenerateRequestsPerDayPerProjectPerModel-FreeTier", "GenerateRequestsPerMinutePerProjectPerModel");
    for (ids, value, class, after) in [
        (&[day][..], "20", QuotaExhausted, None),
        (&[minute][..], "5", RateLimit, Some(36)),
        (&[minute, day][..], "20", QuotaExhausted, None),
        (&[day][..], "0", Billing, None),
    ] {
        let got = classify(&wire("gemini", 429, &body(ids, value)));
        assert_eq!(
            (got.class, got.retry_after.map(|after| after.as_secs())),
            (class, after),
            "{ids:?} {value} by {}",
            got.rule
        );
    }
    check(&[
        (
            "gemini",
            429,
            r#"{"error":{"code":429,"message":"Resource has been exhausted (e.g. check quota).","status":"RESOURCE_EXHAUSTED"}}"#,
            RateLimit,
        ),
        (
            "gemini",
            503,
            r#"[{"error":{"code":503,"message":"Busy.","status":"UNAVAILABLE","details":[{"reason":"MODEL_CAPACITY_EXHAUSTED"}]}}]"#,
            Overloaded,
        ),
        (
            "gemini",
            429,
            r#"{"error":{"code":429,"message":"You have exhausted your capacity on this model. Your quota will reset after 2h1m.","details":[{"reason":"QUOTA_EXHAUSTED","metadata":{"quotaResetDelay":"2h1m0.5s"}}]}}"#,
            QuotaExhausted,
        ),
        (
            "gemini",
            400,
            r#"{"error":{"code":400,"message":"User location is not supported for the API use.","status":"FAILED_PRECONDITION"}}"#,
            Permission,
        ),
        (
            "gemini",
            404,
            r#"{"error":{"code":404,"message":"models/gemini-x is not found for API version v1beta, or is not supported for generateContent.","status":"NOT_FOUND"}}"#,
            ModelUnavailable,
        ),
    ]);
}

#[test]
fn a_bare_429_is_unknown_where_it_may_be_money() {
    check(&[
        ("openai", 429, "", Unknown),
        ("xai", 429, "", Unknown),
        ("nvidia", 429, r#"{"status":429,"title":"Too Many Requests"}"#, RateLimit),
        ("vertex", 429, "", RateLimit),
    ]);
    let hinted =
        |after: &str| Evidence { headers: vec![("Retry-After".into(), after.into())], ..wire("openai", 429, "") };
    assert_eq!(classify(&hinted("12")).class, RateLimit);
    assert_eq!(classify(&hinted("86000")).class, QuotaExhausted);
}

#[test]
fn requests_that_never_fit_are_no_rate_limits() {
    check(&[
        (
            "groq",
            429,
            r#"{"error":{"message":"on tokens per minute (TPM): Limit 6000, Used 0, Requested 6001. Please try again in 9s."}}"#,
            ContextOverflow,
        ),
        (
            "groq",
            429,
            r#"{"error":{"message":"on tokens per minute (TPM): Limit 6000, Used 1, Requested 6000. Please try again in 9s."}}"#,
            RateLimit,
        ),
        ("", 413, "", ContextOverflow),
        (
            "",
            400,
            r#"{"error":{"message":"Your prompt has 9000 tokens and exceeds the context window of 8192 tokens"}}"#,
            ContextOverflow,
        ),
        ("", 500, r#"{"error":{"message":"Context size has been exceeded.","type":"server_error"}}"#, ContextOverflow),
        (
            "anthropic",
            429,
            r#"{"error":{"type":"rate_limit_error","message":"This request would exceed your organization's rate limit of 10,000 input tokens per minute. Please reduce the prompt length or the maximum tokens requested"}}"#,
            RateLimit,
        ),
    ]);
}

#[test]
fn keys_permissions_and_models_are_told_apart() {
    check(&[
        (
            "gemini",
            400,
            r#"{"error":{"code":400,"message":"API Key not found. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}"#,
            Auth,
        ),
        ("nvidia", 403, r#"{"status":403,"title":"Forbidden","detail":"Authorization failed"}"#, Auth),
        (
            "groq",
            400,
            r#"{"error":{"message":"Organization has been restricted.","code":"organization_restricted"}}"#,
            Auth,
        ),
        ("huawei", 401, r#"{"error_code":"ModelArts.81005","error_msg":"no"}"#, Billing),
        (
            "openai",
            403,
            r#"{"error":{"message":"Project `p` does not have access to model `m`","code":"model_not_found"}}"#,
            Permission,
        ),
        (
            "openai",
            404,
            r#"{"error":{"message":"The model `m` does not exist or you do not have access to it.","code":"model_not_found"}}"#,
            ModelUnavailable,
        ),
        (
            "",
            503,
            r#"{"error":{"message":"当前分组 vip 下对于模型 m 无可用渠道","type":"new_api_error"}}"#,
            ModelUnavailable,
        ),
        (
            "openrouter",
            404,
            r#"{"error":{"message":"No endpoints found matching your data policy.","code":404}}"#,
            Permission,
        ),
        (
            "openrouter",
            404,
            r#"{"error":{"message":"No endpoints found that support image input","code":404}}"#,
            Unsupported,
        ),
        ("openrouter", 404, r#"{"error":{"message":"No endpoints found for a/b.","code":404}}"#, ModelUnavailable),
        (
            "moonshot",
            403,
            r#"{"error":{"type":"access_terminated_error","message":"You've reached your weekly usage limit."}}"#,
            QuotaExhausted,
        ),
        (
            "openai",
            403,
            r#"{"error":{"type":"access_terminated","message":"Your access was terminated due to violation of our policies"}}"#,
            Auth,
        ),
        ("", 405, r#"{"detail":"Method Not Allowed"}"#, Unsupported),
        (
            "openai",
            400,
            r#"{"error":{"message":"Your organization must be verified to generate reasoning summaries.","code":"unsupported_value"}}"#,
            Permission,
        ),
    ]);
}

#[test]
fn gateways_and_wrappers_are_looked_through() {
    let inner = r#"{"error":{"code":"1113","message":"Insufficient balance"}}"#;
    let escaped = serde_json::to_string(inner).expect("JSON");
    let twice = serde_json::to_string(&format!(r#"{{"error":{{"message":{escaped},"code":500}}}}"#)).expect("JSON");
    for body in [
        format!(r#"{{"error":{{"message":"Provider returned error","code":502,"metadata":{{"raw":{escaped}}}}}}}"#),
        format!(
            r#"{{"error":{{"message":"Error from provider(x,y: 429): {}","type":"api_error"}}}}"#,
            inner.replace('"', "\\\"")
        ),
        format!(r#"{{"error":{{"message":{twice},"code":500}}}}"#),
        format!("[{inner}]"),
        escaped.clone(),
        format!("event: error\ndata: {inner}\n\n"),
        format!("data: {inner}\n\ndata: [DONE]\n\n"),
        format!("litellm.RateLimitError: RateLimitError: ZaiException - {inner}. Received Model Group=x"),
        inner.replace('"', "'"),
        inner.chars().take(inner.len() - 3).collect(),
    ] {
        for status in [200, 429, 500] {
            let got = classify(&wire("", status, &body));
            assert_eq!(got.class, Billing, "{status} {body} by {}", got.rule);
        }
    }
}

#[test]
fn of_several_upstream_errors_the_soonest_to_heal_counts() {
    check(&[
        (
            "",
            502,
            r#"{"errors":[{"message":"insufficient balance"},{"message":"The engine is overloaded"}]}"#,
            Overloaded,
        ),
        ("", 502, r#"{"errors":[{"message":"insufficient balance"},{"message":"invalid api key"}]}"#, Billing),
        (
            "",
            500,
            "{\"error\":\"All variants failed with errors: a: insufficient balance\\nb: Rate limit reached, 10 requests per minute\"}",
            RateLimit,
        ),
    ]);
}

#[test]
fn digits_and_words_in_other_places_prove_nothing() {
    check(&[
        (
            "",
            400,
            r#"{"error":{"message":"request req_429_1113 had a bad field near offset 503","type":"invalid_request_error"}}"#,
            InvalidRequest,
        ),
        ("", 500, r#"{"error":{"message":"Internal server error after 429 ms"}}"#, ServerError),
        (
            "",
            200,
            r#"{"choices":[{"message":{"content":"A 429 means that the rate limit was exceeded; insufficient balance is a 402."},"finish_reason":"stop"}]}"#,
            InvalidOutput,
        ),
        (
            "",
            400,
            r#"{"error":{"message":"Unknown parameter: 'rate_limit'","type":"invalid_request_error"}}"#,
            Unsupported,
        ),
    ]);
}

#[test]
fn a_200_is_judged_by_what_it_holds() {
    check(&[
        ("openai", 200, "", InvalidOutput),
        ("openai", 200, "<html><title>Just a moment...</title></html>", Network),
        ("openai", 200, "upstream said hello", InvalidOutput),
        ("openai", 200, r#"{"choices":[{"message":{"content":""},"finish_reason":"length"}]}"#, InvalidOutput),
        (
            "openai",
            200,
            r#"{"choices":[{"message":{"content":null,"refusal":"I cannot"},"finish_reason":"stop"}]}"#,
            ContentPolicy,
        ),
        ("gemini", 200, r#"{"candidates":[{"finishReason":"SAFETY"}]}"#, ContentPolicy),
        ("openai", 200, "data: {\"choices\":[{\"delta\":{\"content\":\"Hel\"}}]}\n\n", Network),
        (
            "openai",
            200,
            r#"{"choices":[{"message":{"content":"[API Error: 429 insufficient balance, please recharge]"},"finish_reason":"stop"}]}"#,
            Billing,
        ),
        (
            "anthropic",
            200,
            "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n",
            Overloaded,
        ),
    ]);
}

#[test]
fn transport_faults_are_network_or_timeout() {
    use TransportFault as Fault;
    for (fault, class) in [
        (Fault::Dns, Network),
        (Fault::Refused, Network),
        (Fault::Reset, Network),
        (Fault::Tls, Network),
        (Fault::ConnectTimeout, Network),
        (Fault::Cut, Network),
        (Fault::Other, Network),
        (Fault::FirstTimeout, Timeout),
        (Fault::IdleTimeout, Timeout),
        (Fault::TotalTimeout, Timeout),
        (Fault::TooLarge, InvalidOutput),
    ] {
        let evidence = Evidence { transport: Some(fault), ..Evidence::default() };
        assert_eq!(classify(&evidence).class, class, "{fault}");
    }
    let cut = wire("openai", 200, "data: {\"choices\":[{\"delta\":{\"content\":\"Hel\"}}]}\n\n");
    assert_eq!(classify(&Evidence { transport: Some(Fault::Cut), ..cut }).rule, "transport.cut");
    let told = wire("zhipu", 200, r#"{"error":{"code":"1113","message":"余额不足"}}"#);
    assert_eq!(
        classify(&Evidence { transport: Some(Fault::Cut), ..told }).class,
        Billing,
        "what was said before the cut counts"
    );
}

#[test]
fn logs_without_any_object_are_read_too() {
    for (text, class) in [
        ("ERROR: HTTP 401 from upstream", Auth),
        ("request failed with status code 504", Timeout),
        ("curl: (6) Could not resolve host: api.example.com", Network),
        ("context deadline exceeded (Client.Timeout exceeded while awaiting headers)", Timeout),
        ("dial tcp 10.0.0.1:443: connect: connection refused", Network),
        (
            "Max retries exceeded with url: /v1/chat (Caused by ReadTimeoutError(\"Read timed out. (read timeout=60)\"))",
            Timeout,
        ),
        ("panic: vLLM EngineDeadError", ServerError),
        ("tokens per day (TPD): Limit 10, Used 9, Requested 2. Please try again in 2h", QuotaExhausted),
        ("rate limit exceeded, please wait 3 hours before trying again", QuotaExhausted),
    ] {
        let got = classify(&log(text));
        assert_eq!(got.class, class, "{text} by {}", got.rule);
    }
}

#[test]
fn headers_alone_tell_the_window() {
    for (provider, header, class, dimension) in [
        ("groq", "x-ratelimit-remaining-requests", QuotaExhausted, "rpd"),
        ("cerebras", "x-ratelimit-remaining-tokens-day", QuotaExhausted, "tpd"),
        ("lab", "x-ratelimit-remaining-minute", RateLimit, "rpm"),
        ("groq", "x-ratelimit-remaining-tokens", RateLimit, "tpm"),
    ] {
        let headers = vec![(header.into(), "0".into()), ("retry-after".into(), "9".into())];
        let got = classify(&Evidence { headers, ..wire(provider, 429, "") });
        let named = got.dimension.map(crate::domain::Dimension::as_str);
        assert_eq!((got.class, named), (class, Some(dimension)), "{provider} {header} by {}", got.rule);
    }
}

#[test]
fn languages_are_read() {
    check(&[
        ("", 429, r#"{"error":"レート制限に達しました。60秒後に再試行してください。"}"#, RateLimit),
        ("", 429, r#"{"error":"Zu viele Anfragen. Bitte erneut in 3 Minuten."}"#, RateLimit),
        ("", 402, r#"{"error":"Недостаточно средств на балансе."}"#, Billing),
        ("", 401, r#"{"error":"Clé API invalide"}"#, Auth),
        ("", 503, r#"{"error":"서버 과부하 상태입니다."}"#, Overloaded),
    ]);
    for (text, seconds) in [
        ("レート制限。60秒後に再試行", 60),
        ("Превышен лимит. Повторите попытку через 20 секунд.", 20),
        ("15초 후 다시", 15),
    ] {
        let got = classify(&wire("", 429, &format!(r#"{{"error":"{text}"}}"#)));
        assert_eq!(got.retry_after.map(|after| after.as_secs()), Some(seconds), "{text}");
    }
}
