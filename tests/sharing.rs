//! What was not understood can be looked at again, and given to others.
#![cfg(test)]

use std::collections::BTreeMap;

use llmr::rehearsal::{Provider, Reply};
use serde_json::{Value, json};

use crate::stage::{Stage, declared, keys, names, openai};

/// A key that only its value gives away, in a form that JSON writes in another way.
const KEY: &str = r#"Zq7"xW2pL9vT\4mR8kY3nB6cJ1hF5dS0"#;

/// What may not be seen of the reply below.
const PRIVATE: &[&str] =
    &["zenithal", "req_011CSHoEeqs5C35K2UUqR7Fy", "203.0.113.77", "wilhelmina", "8f1a2b3c4d5e6f70"];

/// A failure that nobody knows, full of what should not be shared.
fn strange() -> Reply {
    let headers = [
        ("x-request-id", "req_011CSHoEeqs5C35K2UUqR7Fy"),
        ("cf-ray", "8f1a2b3c4d5e6f70-ATL"),
        ("set-cookie", "sid=hunterhunter; path=/"),
        ("x-flux", "17"),
    ];
    let headers: BTreeMap<String, String> =
        headers.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let message = format!("the flux of organization `zenithal-labs` wobbles, wilhelmina@zenithal.org; {KEY}");
    let body = json!({"error": {"message": message, "code": 4242, "peer": "203.0.113.77", "pad": "~".repeat(300)}});
    Reply::Status { status: 418, headers, body }
}

fn stage(lab: &Provider) -> Stage {
    let text = format!(
        "[limits]\nretry_budget = 0\n[ladders.main]\nsteps = [\"lab/m\"]\n{}{}",
        declared("lab", lab),
        keys("lab", &[("own", "{ env = \"LAB_KEY\" }")])
    );
    let mut stage = Stage::with(&text);
    stage.set("LAB_KEY", KEY);
    stage.run(&["chat", "--request-id", "req_customer77", "?"]).exits(6);
    stage
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[track_caller]
fn shows_nothing(text: &str) {
    for secret in PRIVATE.iter().chain(&["req_customer77", "hunterhunter", "Zq7"]) {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
    for run in KEY.as_bytes().windows(12) {
        assert!(!text.as_bytes().windows(12).any(|window| window == run), "the key in {text}");
    }
}

#[test]
fn an_unknown_failure_can_be_shared_and_is_then_as_unknown_as_before() {
    let lab = openai(strange());
    let stage = stage(&lab);
    let shared = stage.run(&["log", "--class", "unknown", "--redact"]).exits(0);
    shows_nothing(&shared.out);
    let [capture] = &lines(&shared.out)[..] else { panic!("one capture: {}", shared.out) };
    assert_eq!(names(capture), "id provider model status headers body log at");
    assert_eq!(
        (&capture["provider"], &capture["model"], &capture["status"]),
        (&json!("lab"), &json!("m"), &json!(418))
    );
    assert_eq!(capture["headers"]["x-flux"], "17");
    assert_eq!(capture["headers"]["x-request-id"].as_str().map(str::len), Some("req_011CSHoEeqs5C35K2UUqR7Fy".len()));
    assert!(capture["at"].as_str().is_some_and(|at| at.starts_with("2026-08-23T03:00:")), "{capture}");
    // Nothing is cut off, and what says what happened is there.
    let body: Value = serde_json::from_str(capture["body"].as_str().expect("text")).expect("JSON");
    let message = body["error"]["message"].as_str().expect("words");
    assert!(message.starts_with("the flux of organization `") && message.contains("` wobbles, "), "{message}");
    assert_eq!((&body["error"]["code"], &body["error"]["pad"]), (&json!(4242), &json!("~".repeat(300))));

    let again = stage.run_with(shared.out.as_bytes(), &["classify", "--format", "jsonl", "--json"]).exits(0);
    assert_eq!(again.json()["class"], "unknown");
    assert_eq!(again.json()["id"], capture["id"]);
    // Each run draws other stand-ins, whatever the seed.
    assert_ne!(stage.run(&["log", "--redact"]).exits(0).out, shared.out);
    assert!(!String::from_utf8_lossy(&stage.state_bytes()).contains("hunterhunter"), "a cookie in the state file");
}

#[test]
fn a_known_failure_is_shared_by_its_excerpt() {
    let words = "Rate limit reached for organization `zenithal-labs`: Limit 3, Used 3. Please try again in 20s.";
    let lab = openai(Reply::status(429, json!({"error": {"message": words}})));
    let stage = Stage::of(&[("lab", &lab)]);
    stage.run(&["chat", "?"]).exits(4);
    assert_eq!(stage.run(&["log", "--redact", "--class", "unknown"]).exits(0).out, "");
    let shared = stage.run(&["log", "--redact"]).exits(0);
    let [capture] = &lines(&shared.out)[..] else { panic!("one capture: {}", shared.out) };
    let log = capture["log"].as_str().expect("text");
    assert!(log.ends_with("`: Limit 3, Used 3. Please try again in 20s.") && !log.contains("zenithal"), "{log}");
    let again = stage.run_with(shared.out.as_bytes(), &["classify", "--format", "jsonl", "--json"]).exits(0).json();
    assert_eq!((&again["class"], &again["retry_after_s"]), (&json!("rate_limit"), &json!(20)));
}

#[test]
fn sharing_is_another_form_than_json_and_has_an_end() {
    let stage = Stage::bare();
    for other in ["--json", "--follow"] {
        stage.run(&["log", "--redact", other]).exits(2).prints("").says(&["--redact", other]);
    }
    stage.run(&["log", "--redact"]).exits(0).prints("");
}

#[test]
fn a_state_file_of_an_older_program_is_brought_up_to_date_by_a_look() {
    let lab = openai(strange());
    let stage = stage(&lab);
    let sql = stage.sql();
    sql.execute_batch(
        "DROP VIEW conversation; DROP VIEW calls; DROP TABLE sessions; DROP TABLE turns; DROP TABLE journal; \
         DROP VIEW alarm; DROP VIEW outbox; DROP TABLE alarms; DROP TABLE letters; \
         DROP TABLE attempt_totals; DROP TABLE request_totals; DROP TABLE time_totals; DROP TABLE retry_totals; \
         DROP TABLE counted; DROP TABLE answer_totals; DROP TABLE baselines; \
         DROP INDEX attempts_by_deployment; \
         ALTER TABLE attempts DROP COLUMN extracted; ALTER TABLE attempts DROP COLUMN judged; ALTER TABLE attempts DROP COLUMN execution; ALTER TABLE attempts DROP COLUMN given_up; \
         ALTER TABLE requests DROP COLUMN retries_denied; ALTER TABLE requests DROP COLUMN claimed_until; \
         ALTER TABLE requests DROP COLUMN asked; \
         DROP TRIGGER answers_go_with_their_request; \
         DROP TABLE answers; DROP TABLE retries; DROP TABLE findings; DROP TABLE prefixes; DROP TABLE cascades; \
         CREATE INDEX retries_by_time ON attempts (started_at) WHERE kind = 'retry'; \
         DROP VIEW usage; DROP TABLE meters; DROP TABLE flights; DROP TABLE estimates; \
         ALTER TABLE cooldowns DROP COLUMN obeyed; ALTER TABLE cooldowns DROP COLUMN obeyed_since; \
         DROP TRIGGER evidence_goes_with_its_attempt; DROP TABLE evidence; \
         PRAGMA user_version = 1",
    )
    .expect("as an older program left it");
    drop(sql);
    // What was not kept is known by its excerpt.
    let shared = stage.run(&["log", "--redact"]).exits(0);
    shows_nothing(&shared.out);
    assert_eq!((lines(&shared.out).len(), &lines(&shared.out)[0]["body"]), (1, &json!("")));
    stage.run(&["chat", "?"]).exits(6);
    assert_ne!(lines(&stage.run(&["log", "--redact"]).exits(0).out)[1]["body"], "");
}
