//! A spent day: asked once, remembered by every process, and asked again when the day is over and not before.
#![cfg(test)]

use std::collections::BTreeMap;

use llmr::catalog::Wire;
use llmr::rehearsal::{Provider, Reply};
use serde_json::{Value, json};

use crate::stage::{Stage, declared, keys, openai};

/// What Gemini says when the day is spent: it names the day, and promises to be back in seconds.
fn gemini_day() -> Reply {
    let body = json!({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED",
        "message": "You exceeded your current quota, please check your plan and billing details.\nPlease retry in 36.0s.",
        "details": [
            {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [
                {"quotaMetric": "generativelanguage.googleapis.com/generate_content_free_tier_requests",
                 "quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier", "quotaValue": "20"}]},
            {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "36s"}]}});
    Reply::status(429, body)
}

/// Two keys of one project at Gemini, whose day is spent, before a provider that answers.
fn gemini_stage(gemini: &Provider, good: &Provider) -> Stage {
    let places = [
        ("one", "{ env = \"KEY_ONE\" }\naccount = \"project\""),
        ("two", "{ env = \"KEY_TWO\" }\naccount = \"project\""),
    ];
    let mut stage = Stage::with(&format!(
        "[limits]\nretry_budget = 0\n[ladders.main]\nsteps = [\"gemini/gemini-2.5-flash\", \"good/m\"]\n{}{}{}",
        declared("gemini", gemini),
        keys("gemini", &places),
        declared("good", good)
    ));
    stage.set("KEY_ONE", "not-a-real-key-number-one");
    stage.set("KEY_TWO", "not-a-real-key-number-two");
    stage
}

fn gemini(replies: Vec<Reply>) -> Provider {
    Provider::start(Wire::Gemini, replies).expect("a provider")
}

#[test]
fn a_spent_day_is_met_once_in_a_hundred_requests() {
    let (spent, good) = (gemini(vec![gemini_day()]), openai(Reply::answer("yes")));
    let stage = gemini_stage(&spent, &good);
    for _ in 0..100 {
        // A process each: what they know they have from the file.
        stage.run(&["chat", "?"]).exits(0).prints("yes\n");
    }
    assert_eq!((spent.hits(), good.hits()), (1, 100), "nor under the other key of the same project");
    let hold = stage.hold();
    assert_eq!(hold["kind"], json!("quarantine"));
    assert_eq!((&hold["dimension"], &hold["provenance"]), (&json!("rpd"), &json!("documented")));
    // Midnight in California, not 36 seconds.
    assert_eq!(hold["until"], json!("2026-08-23T07:00:00Z"));
}

/// At which moment of a day in California a quota returns, and the moment just before it.
#[test]
fn a_spent_day_is_asked_again_after_midnight_of_the_providers_zone() {
    for (spent_at, before, after) in [
        ("2026-08-23T03:00:00Z", "2026-08-23T06:59:59Z", "2026-08-23T07:00:00Z"),
        // Clocks go forward at 10:00 UTC: the day has 23 hours.
        ("2026-03-08T08:30:00Z", "2026-03-09T06:59:59Z", "2026-03-09T07:00:00Z"),
        // Clocks go back at 09:00 UTC: the day has 25 hours.
        ("2026-11-01T07:30:00Z", "2026-11-02T07:59:59Z", "2026-11-02T08:00:00Z"),
    ] {
        let (spent, good) = (gemini(vec![gemini_day(), Reply::answer("back")]), openai(Reply::answer("yes")));
        let stage = gemini_stage(&spent, &good);
        stage.run_at(spent_at, &["chat", "?"]).exits(0).prints("yes\n");
        let status = stage.run_at(spent_at, &["status", "--json"]).exits(0).json();
        assert_eq!(status["holds"][0]["until"], json!(after), "{spent_at}");
        // The one early probe of a documented reset is not what this is about.
        stage.sql().execute("UPDATE quarantines SET probe_at = NULL", []).expect("written");
        stage.run_at(before, &["chat", "?"]).exits(0).prints("yes\n");
        assert_eq!(spent.hits(), 1, "{before}");
        stage.run_at(after, &["chat", "?"]).exits(0).prints("back\n");
        assert_eq!(spent.hits(), 2, "{after}");
        assert_eq!(stage.run_at(after, &["status", "--json"]).exits(0).json()["holds"], json!([]));
    }
}

#[test]
fn a_documented_reset_is_probed_early_once_by_one_process() {
    let (spent, good) = (gemini(vec![gemini_day()]), openai(Reply::answer("yes")));
    let stage = gemini_stage(&spent, &good);
    stage.run(&["chat", "?"]).exits(0);
    assert_eq!(stage.hold()["probe_at"], json!("2026-08-23T05:00:00Z"));
    for _ in 0..5 {
        stage.run_at("2026-08-23T05:00:00Z", &["chat", "?"]).exits(0).prints("yes\n");
    }
    assert_eq!(spent.hits(), 2, "the first request and the probe");
}

fn daily(headers: &[(&str, &str)]) -> Reply {
    let headers: BTreeMap<String, String> =
        headers.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    let body =
        json!({"error": {"message": "Daily request limit reached. You have used 1000 of 1000 requests per day."}});
    Reply::Status { status: 429, headers, body }
}

fn twenty_requests(reply: Reply) -> (usize, Value) {
    let (spent, good) = (openai(reply), openai(Reply::answer("yes")));
    let stage = Stage::of(&[("spent", &spent), ("good", &good)]);
    for _ in 0..20 {
        stage.run(&["chat", "?"]).exits(0).prints("yes\n");
    }
    (spent.hits(), stage.hold())
}

#[test]
fn a_daily_limit_with_a_stated_wait_holds_as_long_as_it_says() {
    let (hits, hold) = twenty_requests(daily(&[("retry-after", "18000")]));
    assert_eq!(hits, 1);
    assert_eq!((&hold["kind"], &hold["until"]), (&json!("quarantine"), &json!("2026-08-23T08:00:00Z")));
    assert_eq!(hold["provenance"], json!("fact"));
}

#[test]
fn a_daily_limit_without_a_word_on_its_end_is_guessed() {
    let (hits, hold) = twenty_requests(daily(&[]));
    assert_eq!(hits, 1);
    assert_eq!((&hold["kind"], &hold["until"]), (&json!("quarantine"), &json!("2026-08-23T04:00:00Z")));
    assert_eq!(hold["provenance"], json!("guess"));
}

#[test]
fn a_guess_that_was_wrong_doubles() {
    let (spent, good) = (openai(daily(&[])), openai(Reply::answer("yes")));
    let stage = Stage::of(&[("spent", &spent), ("good", &good)]);
    for (now, hits, until) in [
        ("2026-08-23T03:00:00Z", 1, "2026-08-23T04:00:00Z"),
        ("2026-08-23T03:59:59Z", 1, "2026-08-23T04:00:00Z"),
        ("2026-08-23T04:00:00Z", 2, "2026-08-23T06:00:00Z"),
        ("2026-08-23T05:59:59Z", 2, "2026-08-23T06:00:00Z"),
        ("2026-08-23T06:00:00Z", 3, "2026-08-23T10:00:00Z"),
    ] {
        stage.run_at(now, &["chat", "?"]).exits(0).prints("yes\n");
        let status = stage.run_at(now, &["status", "--json"]).exits(0).json();
        assert_eq!((spent.hits(), &status["holds"][0]["until"]), (hits, &json!(until)), "{now}");
    }
}

#[test]
fn a_quota_of_one_model_leaves_the_others_alone() {
    let spent = gemini(vec![gemini_day(), Reply::answer("lite")]);
    let mut stage = Stage::with(&format!(
        "[ladders.main]\nsteps = [\"gemini/gemini-2.5-flash\", \"gemini/gemini-2.5-flash-lite\"]\n{}{}",
        declared("gemini", &spent),
        keys("gemini", &[("one", "{ env = \"KEY_ONE\" }")])
    ));
    stage.set("KEY_ONE", "not-a-real-key-number-one");
    stage.run(&["chat", "?"]).exits(0).prints("lite\n");
    assert_eq!(stage.hold()["scope"].as_str().expect("a scope").matches("flash-lite").count(), 0);
    assert_eq!(spent.hits(), 2);
}
