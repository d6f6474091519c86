//! How fast failures are understood: one capture at a time, as `chat` does it, and a file of them, as `classify` does.

#![expect(clippy::expect_used, reason = "a benchmark is a program of its own that may just end")]

use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use jiff::Timestamp;
use llmr::catalog::Catalog;
use llmr::classify::capture::{self, Format, Reading};
use llmr::classify::{Classifier, stated_limits};
use llmr::domain::Evidence;
use serde_json::{Value, json};

const GEMINI: &str = include_str!("../fixtures/night/gemini.json");

fn now() -> Timestamp {
    Timestamp::from_second(1_787_450_400).expect("a time")
}

/// A spent day with a wait of seconds: nested details, a quota id and a misleading hint.
fn spent_day() -> Evidence {
    let part: Value = serde_json::from_str(GEMINI).expect("JSON");
    let body = part.pointer("/replies/0/status/body").expect("a body").to_string();
    Evidence { provider: Some("gemini".into()), status: Some(429), body, ..Evidence::default() }
}

/// Nothing that any rule knows, so that all of them are tried.
fn nonsense() -> Evidence {
    let body = json!({"error": {"message": "the flux capacitor is out of phase ".repeat(20)}}).to_string();
    Evidence { status: Some(418), body, ..Evidence::default() }
}

/// All captures of the fixtures as one JSONL text.
fn captures() -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/captures");
    let mut files: Vec<_> = std::fs::read_dir(folder).map_or_else(|_| Vec::new(), |files| files.flatten().collect());
    files.retain(|file| file.path().extension().is_some_and(|ending| ending == "jsonl"));
    let mut text: Vec<u8> = files.iter().flat_map(|file| std::fs::read(file.path()).expect("a file")).collect();
    if text.is_empty() {
        let Evidence { body, .. } = spent_day();
        text = format!("{}\n", json!({"provider": "gemini", "status": 429, "body": body})).repeat(200).into_bytes();
    }
    text
}

fn one(bench: &mut Criterion) {
    let catalog = Catalog::builtin().expect("the catalogue");
    let classifier = Classifier::default();
    for (name, evidence) in [("a spent day at gemini", spent_day()), ("an error that no rule knows", nonsense())] {
        bench.bench_function(name, |bencher| {
            bencher.iter(|| classifier.classify(black_box(&evidence), &catalog, now()));
        });
    }
}

/// An answer of a provider behind a CDN: twenty headers, of which six state two limits.
fn success() -> Evidence {
    const HEADERS: &[(&str, &str)] = &[
        ("date", "Sun, 15 Nov 2026 12:00:00 GMT"),
        ("content-type", "application/json"),
        ("content-length", "412"),
        ("connection", "keep-alive"),
        ("access-control-expose-headers", "X-Request-ID"),
        ("openai-organization", "acme"),
        ("openai-processing-ms", "371"),
        ("openai-version", "2020-10-01"),
        ("x-ratelimit-limit-requests", "10000"),
        ("x-ratelimit-limit-tokens", "450000"),
        ("x-ratelimit-remaining-requests", "9999"),
        ("x-ratelimit-remaining-tokens", "449700"),
        ("x-ratelimit-reset-requests", "6ms"),
        ("x-ratelimit-reset-tokens", "40ms"),
        ("x-request-id", "req_0123456789abcdef0123456789abcdef"),
        ("strict-transport-security", "max-age=31536000; includeSubDomains; preload"),
        ("cf-cache-status", "DYNAMIC"),
        ("x-content-type-options", "nosniff"),
        ("server", "cloudflare"),
        ("cf-ray", "0123456789abcdef-FRA"),
    ];
    let body = json!({"choices": [{"message": {"content": "well said ".repeat(400)}, "finish_reason": "stop"}]});
    Evidence {
        provider: Some("openai".into()),
        status: Some(200),
        headers: HEADERS.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        body: body.to_string(),
        at: Some(now()),
        ..Evidence::default()
    }
}

fn limits(bench: &mut Criterion) {
    let catalog = Catalog::builtin().expect("the catalogue");
    let mut group = bench.benchmark_group("limits that are stated");
    for (name, evidence) in [("beside a success", success()), ("in a spent day at gemini", spent_day())] {
        group.bench_function(name, |bencher| {
            bencher.iter(|| stated_limits(black_box(&evidence), &catalog, now()));
        });
    }
    group.finish();
}

fn many(bench: &mut Criterion) {
    let catalog = Catalog::builtin().expect("the catalogue");
    let classifier = Classifier::default();
    let text = captures();
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count();
    let mut group = bench.benchmark_group("a JSONL file of captures");
    group.throughput(Throughput::Elements(lines as u64)).sample_size(20);
    group.bench_function("read and classified", |bencher| {
        bencher.iter(|| {
            let captures = capture::read(black_box(&text), Format::Jsonl, &Reading::at(now()));
            for one in captures.into_iter().flatten() {
                black_box(classifier.classify(&one.evidence, &catalog, now()));
            }
        });
    });
    group.finish();
}

criterion_group!(benches, one, limits, many);
criterion_main!(benches);
