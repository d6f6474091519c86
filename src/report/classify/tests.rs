use serde_json::json;

use super::*;
use crate::catalog::Catalog;
use crate::classify::Classifier;
use crate::classify::capture::{Block, Format, Reading};
use crate::domain::Class;

fn output(shape: Shape, text: &str) -> Output {
    let (classifier, catalog) = (Classifier::default(), Catalog::default());
    let reading = Reading::at("2026-01-01T00:00:00Z".parse().expect("a time"));
    let mut worker = Worker::new(&classifier, &catalog, None, shape);
    worker.read(&Block::whole(text.as_bytes().to_vec()), Format::Auto, &reading, "", Vec::new())
}

const SLOW_DOWN: &str =
    "Error code: 429 - tokens per min (TPM): Limit 100, Used 90, Requested 20. please try again in 7m12s";

#[test]
fn json_has_the_documented_fields_in_order() {
    let text = output(Shape::Json, SLOW_DOWN).text;
    let value: Value = serde_json::from_str(&text).expect("JSON");
    let keys: Vec<_> = value.as_object().expect("an object").keys().map(String::as_str).collect();
    let wanted = "id provider status class action scope dimension retry_after_s retry_at reset_source provenance rule evidence line end_line limits";
    assert_eq!(keys.join(" "), wanted);
    assert_eq!(value["retry_after_s"], json!(432));
    assert_eq!(value["retry_at"], json!("2026-01-01T00:07:12Z"));
    assert_eq!(value["provenance"], json!("fact"));
    assert_eq!(value["limits"], json!({"limit": 100, "used": 90, "requested": 20, "remaining": null}));
}

#[test]
fn nothing_of_the_input_controls_the_terminal() {
    let hostile = "Error 500: \u{1b}]0;title\u{7} internal server error \u{1b}[2J";
    let mut table = Table::new(100);
    let shown = output(Shape::Table, hostile).rendered(&mut table, true) + &output(Shape::ExplainedText, hostile).text;
    assert!(shown.contains("server_error"), "{shown}");
    assert!(!shown.contains('\u{1b}') && !shown.contains('\u{7}'), "{shown:?}");
}

#[test]
fn totals_count_classes_and_providers() {
    let text = "https://api.groq.com 500 internal server error\n\nhttps://api.groq.com read timed out error\n";
    let mut totals = output(Shape::Totals, text).totals;
    totals.broken = 1;
    assert_eq!(
        totals.json(),
        json!({"failures":2,"classes":{"server_error":1,"timeout":1},"providers":{"groq":2},"broken":1})
    );
    assert!(totals.text().starts_with("2 failures\n") && totals.text().contains("2 groq"));
    assert!(totals.text().contains("1 record could not be read"));
    let mut more = Totals::default();
    assert_eq!(more.text(), "0 failures\n");
    more.merge(&totals);
    more.merge(&totals);
    assert_eq!((more.of(Class::Timeout), more.failures, more.broken), (2, 4, 2));
}

fn lines_of(text: &str) -> Vec<Value> {
    let all = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    all.map(|mut value| {
        value["line"].take();
        value["end_line"].take();
        value["error"].take();
        value
    })
    .collect()
}

/// What the lines give together, which must be what each gives alone.
fn same_together(lines: &[String]) -> Output {
    let alone: String = lines.iter().map(|line| output(Shape::Json, line).text).collect();
    let together = output(Shape::Json, &lines.concat());
    assert_eq!(lines_of(&together.text), lines_of(&alone));
    together
}

#[test]
fn what_is_remembered_depends_on_nothing_that_is_not_compared() {
    let at = |times: &[&str], rest: &str| -> Vec<String> {
        times.iter().enumerate().map(|(id, at)| format!("{{\"id\":{id},\"at\":\"{at}\",{rest}}}\n")).collect()
    };
    // A moment that is past for one record is to come for another.
    let reset = r#""provider":"openrouter","status":429,"headers":{"x-ratelimit-reset":"1794736800000","x-ratelimit-remaining":"0"},"body":"{}""#;
    same_together(&at(
        &["2026-11-16T00:00:00Z", "2026-11-15T09:00:00Z", "2026-11-15T09:30:00Z", "2026-06-01T00:00:00Z"],
        reset,
    ));
    let clock = r#""provider":"google","status":429,"body":"quota exceeded, resets at 5pm (UTC)""#;
    same_together(&at(&["2026-11-16T10:01:00Z", "2026-11-15T19:00:00Z", "2026-11-15T16:00:00Z"], clock));
    // Ids of the record's own are none of the provider's.
    let named = |id: &str, other: &str| {
        format!("{{\"id\":\"{id}\",\"status\":401,\"body\":\"Invalid API key, request id {other} please\"}}\n")
    };
    same_together(&[
        named("a", "0123456789abcdef01"),
        named("b", "0123456789abcdef02"),
        named("fedcba9876543210fedcba9876543210", "0123456789abcdef03"),
        named("c", "0123456789abcdef04"),
    ]);
    // Only some keys are told by how they begin.
    let keyed =
        |id: usize, key: &str| format!("{{\"id\":{id},\"status\":401,\"body\":\"Invalid API key {key} was given\"}}\n");
    let secret = "AIzaSyA1234567890abcdefghijklmnopqrstuv";
    let out = same_together(&[
        keyed(1, &secret.replace("AI", "BB")),
        keyed(2, &secret.replace("AI", "CC")),
        keyed(3, secret),
    ]);
    assert!(!out.text.contains(secret), "{}", out.text);
    // Numbers are written as they are read.
    for id in ["NaN", "01", "1e5", "12345678901234567890123", "-3", "true", "null"] {
        let line = |id: &str| format!("{{\"id\":{id},\"provider\":\"openai\",\"status\":500,\"body\":\"x\"}}\n");
        let all = output(Shape::Json, &[line("1"), line(id)].concat());
        assert_eq!(lines_of(&all.text).len(), 2, "{id}: {}", all.text);
    }
}

#[test]
fn a_known_record_gives_what_a_new_one_gives() {
    let record = |id: &str, at: &str, wait: &str| {
        format!(
            "{}\n",
            json!({"id": id, "provider": "groq", "status": 429, "at": at,
                   "body": format!("{{\"error\":{{\"message\":\"Rate limit reached on tokens per minute (TPM): Limit 9, Used 8, Requested 7. Please try again in {wait}.\"}}}}")})
        )
    };
    let broken = "{\"id\":\"x\",\"provider\":\"groq\",\"status\":429,\"at\":\"noon\",\"body\":\"slow down\"}\n";
    let lines = [
        record("a", "2026-01-01T00:00:00Z", "7s"),
        record("b\u{e9}", "2026-01-02T00:00:00Z", "7s"),
        record("a", "2026-01-02T00:00:00Z", "8s"),
        broken.replace("noon", "2026-01-01T00:00:00Z"),
        broken.to_owned(),
        "{\"id\":7,\"status\":401,\"body\":\"Invalid API key (request id: req_0123456789abcdef)\"}\n".to_owned(),
        "{\"id\":8,\"status\":401,\"body\":\"Invalid API key (request id: req_fedcba9876543210)\"}\n".to_owned(),
        "{\"id\":1,\"status\":503,\"body\":\"\"}\n".to_owned(),
        "{\"id\":2,\"status\":503,\"body\":\"\"}\n".to_owned(),
        "{\"status\":429,\"id\":3,\"body\":\"{\\\"at\\\":\\\"x\\\"}\"}\n".to_owned(),
    ];
    let together = same_together(&lines);
    assert_eq!((together.totals.failures, together.totals.broken), (9, 1));
    assert_eq!(lines_of(&together.text)[1]["retry_at"], json!("2026-01-02T00:00:07Z"));
}

#[test]
fn explaining_says_what_follows_and_until_when() {
    let text = output(Shape::ExplainedText, SLOW_DOWN).text;
    for part in [
        "seen     status 429",
        "figures  limit 100",
        "because",
        "next     rest",
        "until 2026-01-01T00:07:12Z (in 7m 12s",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn every_class_has_its_paragraph() {
    for class in Class::ALL {
        let help = class_help_lines(*class, 80);
        assert!(help.len() > 150 && !help.contains("  "), "{help}");
        assert!(help.lines().all(|line| line.len() <= 80), "{help}");
    }
}

#[test]
fn a_table_goes_on_with_the_same_columns() {
    let mut table = Table::new(160);
    let first = output(Shape::Table, SLOW_DOWN).rendered(&mut table, true);
    let second = output(Shape::Table, SLOW_DOWN).rendered(&mut table, true);
    assert!(first.starts_with("where") || first.starts_with(" where"), "{first}");
    let body: Vec<&str> = first.lines().skip(1).collect();
    assert_eq!(body, second.lines().collect::<Vec<_>>());
}
