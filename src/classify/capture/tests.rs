use super::*;

fn reading() -> Reading {
    Reading::at("2026-11-20T12:00:00Z".parse().expect("a time"))
}

fn captures(text: &str, format: Format) -> Vec<Capture> {
    read(text.as_bytes(), format, &reading()).into_iter().map(|one| one.expect("readable")).collect()
}

#[test]
fn jsonl_takes_every_shape_of_a_record() {
    let text = concat!(
        r#"{"id":7,"provider":"groq","model":"m","status":"429","headers":{"Retry-After":12,"X":["a","b"]},"body":{"error":"x"},"at":"2026-01-02T03:04:05Z"}"#,
        "\n\n",
        r#"{"id":{"a":[1]},"status":503,"headers":[["A","b"],{"name":"C","value":"d"}],"body":null,"log":"boom"}"#,
        "\n{}\n",
    );
    let all = captures(text, Format::Jsonl);
    assert_eq!(all.iter().map(|capture| capture.line).collect::<Vec<_>>(), [1, 3, 4]);
    assert_eq!(all[0].id, Some(7.into()));
    assert_eq!(all[0].evidence.status, Some(429));
    assert_eq!(all[0].evidence.header("retry-after"), Some("12"));
    assert_eq!(all[0].evidence.headers.len(), 3);
    assert_eq!(all[0].evidence.body, r#"{"error":"x"}"#);
    assert!(all[0].evidence.at.is_some());
    assert_eq!(all[1].id.as_ref().expect("an id").to_string(), r#"{"a":[1]}"#);
    assert_eq!(all[1].evidence.headers, [("A".into(), "b".into()), ("C".into(), "d".into())]);
    assert_eq!(all[1].evidence.log, "boom");
    assert_eq!(all[2].evidence, Evidence::default());
}

#[test]
fn a_broken_line_is_one_error_in_its_place() {
    let all = read(
        b"{\"status\":429}\n{oops\n[1]\n{\"status\":\"x\"}\n\xff\n{\"at\":\"noon\"}\n{\"status\":500}",
        Format::Jsonl,
        &reading(),
    );
    let lines: Vec<_> = all.iter().map(|one| one.as_ref().map(|c| c.line).map_err(|b| b.line)).collect();
    assert_eq!(lines, [Ok(1), Err(2), Err(3), Err(4), Err(5), Err(6), Ok(7)]);
}

#[test]
fn har_gives_the_entries_that_failed() {
    let har = r#"{"log":{"entries":[
        {"startedDateTime":"2026-01-01T00:00:00Z","request":{"url":"https://api.groq.com/x"},"response":{"status":200,"headers":[],"content":{"text":"{}"}}},
        {"request":{"url":"https://api.groq.com/x"},"response":{"status":429,"headers":[{"name":"retry-after","value":"3"}],"content":{"text":"{\"error\":{}}"}}},
        {"request":{"url":"https://nowhere.example"},"response":{"status":0}}]}}"#;
    let all = captures(har, Format::Har);
    assert_eq!(all.iter().map(|capture| capture.line).collect::<Vec<_>>(), [3, 4]);
    assert_eq!(all[0].evidence.provider, Some("groq".into()));
    assert!(read(b"{}", Format::Har, &reading())[0].is_err());
}

#[test]
fn several_failures_in_a_log_are_several() {
    let log = concat!(
        "2026-01-01 10:00:00 INFO starting, limit is 60 requests\n",
        "2026-01-01 10:00:01 ERROR Error code: 429 - {'error': {'message': 'Rate limit reached on tokens per min (TPM): Limit 10, Used 9, Requested 5. Please try again in 2s.', 'type': 'tokens'}}\n",
        "2026-01-01 10:00:02 INFO ok\n",
        "2026-01-01 10:00:03 ERROR Error code: 401 - {'error': {'message': 'Incorrect API key provided', 'code': 'invalid_api_key'}}\n",
        "Traceback (most recent call last):\n  File \"x.py\", line 429, in f\n    raise e\n",
        "2026-01-01 10:00:04 ERROR Error code: 429 - {'error': {'message': 'You exceeded your current quota', 'code': 'insufficient_quota'}}\n",
    );
    assert_eq!(captures(log, Format::Text).iter().map(|capture| capture.line).collect::<Vec<_>>(), [2, 4, 8]);
}

#[test]
fn bare_failures_one_after_another_are_several() {
    let log = "API Error: 529 {\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\nAPI Error: 401 {\"error\":{\"message\":\"invalid x-api-key\"}}\n";
    assert_eq!(captures(log, Format::Text).len(), 2);
}

#[test]
fn the_same_words_a_while_later_are_another_failure() {
    let log = concat!(
        "2026-01-01 10:00:01 ERROR 529 overloaded_error: Overloaded\n",
        "2026-01-01 10:00:01 ERROR giving up: 529 overloaded_error: Overloaded\n",
        "2026-01-01 10:05:00 ERROR 529 overloaded_error: Overloaded\n",
    );
    assert_eq!(captures(log, Format::Text).iter().map(|capture| capture.line).collect::<Vec<_>>(), [1, 3]);
}

#[test]
fn a_trace_is_one_failure() {
    let log = concat!(
        "Unhandled rejection: Error: 429 Too many tokens per day\n",
        "    at generate (/app/x.js:429:500)\n",
        "    at run (/app/y.js:1:1) {\n",
        "  status: 429,\n  headers: {\n    'retry-after': '12'\n  }\n}\n",
    );
    let all = captures(log, Format::Text);
    assert_eq!(all.len(), 1);
    assert!(all[0].evidence.log.contains("retry-after"));
}

#[test]
fn lines_of_two_providers_are_two_failures() {
    for (log, wanted) in [
        (
            concat!(
                "openai.RateLimitError: Error code: 429 - {'error': {'message': 'Rate limit reached on tokens per min (TPM): Limit 10, Used 9, Requested 5. Please try again in 2s.', 'type': 'tokens'}}\n",
                "groq: {\"error\":{\"message\":\"Rate limit reached on tokens per minute (TPM): Limit 10, Used 9, Requested 5. Please try again in 4s.\",\"type\":\"tokens\"}}\n",
            ),
            &[1, 2][..],
        ),
        (
            "[openai] 429 insufficient_quota: You exceeded your current quota\n[anthropic] 400 Your credit balance is too low\n[deepseek] 402 Insufficient Balance\n",
            &[1, 2, 3],
        ),
        ("step 1 groq/a: 503 Service Unavailable\nstep 2 mistral/b: 503 Service Unavailable\n", &[1, 2]),
        (
            "HTTP/1.1 429 Too Many Requests\nretry-after: 12\n\n{\"error\":{\"message\":\"Rate limit reached\"}}\n\nHTTP/1.1 401 Unauthorized\nserver: x\n\n{\"error\":{\"message\":\"Invalid API key\"}}\n",
            &[1, 6],
        ),
        (
            "Post \"https://api.groq.com/x\": dial tcp: lookup api.groq.com: no such host\nPost \"https://api.mistral.ai/x\": context deadline exceeded\n",
            &[1, 2],
        ),
    ] {
        let lines: Vec<_> = captures(log, Format::Text).iter().map(|capture| capture.line).collect();
        assert_eq!(lines, wanted, "{log}");
    }
}

#[test]
fn bare_exceptions_and_messages_of_tools_are_failures() {
    for text in [
        "java.net.SocketTimeoutException: timeout\n\tat okhttp3.internal.X.newTimeoutException(X.kt:675)",
        "curl: (6) Could not resolve host: api.openai.com",
        "http2: server sent GOAWAY and closed the connection; LastStreamID=1, ErrCode=NO_ERROR",
        "StopCandidateException: finish_reason: SAFETY",
        "Selected model is at capacity. Please try a different model.",
    ] {
        assert_eq!(captures(text, Format::Text).len(), 1, "{text}");
    }
}

#[test]
fn text_without_failures_gives_none() {
    for text in [
        "",
        "\n\n",
        "INFO: server started on port 8080",
        "processed 429 tokens in 500 ms, 404 cached",
        "200 OK\n{\"choices\":[{\"message\":{\"content\":\"hello\"}}]}",
        "The free plan allows 60 requests per minute.",
        "GET /v1/models 200 12ms",
        "{\"level\":\"info\",\"msg\":\"done\",\"error\":null}",
        "Usage: tool --timeout 30 --max-retries 5\n  --max-retries  how often to try on 429 or 5xx errors",
        "The free tier allows 1,500 requests per day. If you exceed the rate limit, the API returns HTTP 429.",
        "fix timeout handling in error path",
        "I1115 10:00:00.000000 1 main.go:503] cache warm, 401 entries, ttl=500s",
        "Nov 15 10:00:00 host nginx[429]: 10.0.0.1 - - \"GET /healthz\" 200 503",
        "INFO content policy check passed",
        "{\"choices\":[{\"message\":{\"content\":\"A 429 means too many requests; try again.\"}}]}",
        "WARN  config: `rate_limit` is deprecated, use `limits.rpm`",
        "anthropic: 12 requests, 0 failed, 0 rate limited, p95 429ms",
        "quota check: 90 of 10,000 neurons used today; daily limit not reached",
        "2026-11-15T10:00:00Z DEBUG auth: token refreshed; previous token expired at 09:59",
        "user> how do I handle a rate limit error?",
        "retry policy: max_attempts=5, retry_on=[429,500,503,timeout]",
    ] {
        assert_eq!(captures(text, Format::Text), [], "{text}");
    }
}

proptest::proptest! {
    #[test]
    fn any_bytes_are_read(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..300)) {
        for format in [Format::Auto, Format::Jsonl, Format::Text, Format::Har] {
            read(&bytes, format, &reading());
        }
    }
}

#[test]
fn programs_manuals_and_lists_tell_of_no_failure() {
    for text in [
        "import openai\nRETRYABLE = {\"rate_limit_exceeded\", \"overloaded_error\"}\n\ndef ask(client):\n    try:\n        return client.create()\n    except openai.RateLimitError as e:\n        if e.code == \"insufficient_quota\":\n            raise RuntimeError(\"You exceeded your current quota\") from e\n        time.sleep(2)\n",
        "export class RateLimitError extends Error { status = 429 }\n\nexport function classify(e: unknown): string {\n  if (e instanceof RateLimitError) return \"rate_limit\";\n  if (m.includes(\"Overloaded\")) return \"overloaded\"; // 529\n  throw new Error(\"fetch failed: \" + m);\n}\n",
        "User: My app gets \"Error code: 429 - insufficient_quota\". What is it?\n\nAssistant: The account has no credits left.\n",
        "# TYPE llm_requests_total counter\nllm_requests_total{provider=\"anthropic\",outcome=\"overloaded\",status=\"529\"} 12\n",
        "10.0.4.9 - - [20/Apr/2026:10:00:04 +0000] \"GET /docs/errors/rate-limit-exceeded HTTP/1.1\" 200 9120 \"-\"\n",
        "2026-04-20 09:00:00 WARNING py.warnings: /app/llm.py:12: DeprecationWarning: The 'engine' argument is deprecated, use 'model'\n",
        "tests/test_errors.py::test_overloaded_529_retries PASSED [ 40%]\ntests/test_errors.py::test_read_timeout PASSED [100%]\n",
        "## 2.4.0\n- fix: treat 529 overloaded_error as retryable (#812)\n- fix: handle ECONNRESET in the stream reader\n",
        "{\"level\":30,\"time\":1776600000000,\"msg\":\"llm ok\",\"status\":200,\"headers\":{\"x-ratelimit-remaining-requests\":\"5\",\"retry-after\":null},\"error\":null}\n",
        "{\"messages\":[{\"role\":\"user\",\"content\":\"Explain: openai.RateLimitError: Error code: 429\"}]}\n",
        "npm error code E404\nnpm error 404 Not Found - GET https://registry.npmjs.org/@acme%2fllm - Not found\n",
        "2026-04-20T11:00:00Z ERROR db: psycopg2.OperationalError: connection to server failed: Connection refused\n",
    ] {
        assert_eq!(captures(text, Format::Auto), [], "{text}");
    }
}
