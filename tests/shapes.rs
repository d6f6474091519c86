//! The JSON that scripts read: exactly these names, in this order.
#![cfg(test)]

use llmr::rehearsal::Reply;
use serde_json::{Value, json};

use crate::stage::{Stage, config, names, openai};

const CHAT: &str = "request_id ladder text parsed reasoning tool_calls finish_reason deployment step usage \
     cost_usd ttft_s latency_s attempts skipped exhausted retry_at error retries_denied stored";
const ATTEMPT: &str = "deployment step kind class scope status rule evidence started_at ttft_s latency_s held_until \
     execution given_up extracted judged adjusted";
const SKIP: &str = "deployment step reason until provenance";
const HOLD: &str = "id kind scope dimension class since until probe_at provenance evidence request_id";

fn day_is_spent() -> Reply {
    let message =
        "Rate limit reached for model m: requests per day (RPD): Limit 100, Used 100. Please try again in 2h0m0s.";
    Reply::status(429, json!({"error": {"message": message, "code": "rate_limit_exceeded"}}))
}

#[test]
fn chat_tells_the_whole_story_of_an_answer() {
    let (spent, good) = (openai(day_is_spent()), openai(Reply::answer("yes")));
    let stage = Stage::of(&[("spent", &spent), ("good", &good)]);
    let chat = stage.json(&["chat", "--json", "--request-id", "r1", "?"]);
    assert_eq!(names(&chat), CHAT);
    assert_eq!(names(&chat["usage"]), "input_tokens output_tokens cached_tokens");
    assert_eq!(names(&chat["attempts"][0]), ATTEMPT);
    let expected = json!({
        "request_id": "r1", "ladder": "main", "text": "yes", "finish_reason": "stop", "deployment": "good/m", "step": 1,
        "exhausted": false, "retry_at": null, "error": null, "parsed": null, "skipped": [],
    });
    for (name, value) in expected.as_object().expect("an object") {
        assert_eq!(&chat[name], value, "{name}");
    }
    let attempt = &chat["attempts"][0];
    assert_eq!(
        (&attempt["kind"], &attempt["class"], &attempt["status"]),
        (&json!("first"), &json!("quota_exhausted"), &json!(429))
    );
    assert_eq!(attempt["held_until"], json!("2026-08-23T05:00:00Z"));
    assert_eq!((&chat["attempts"][1]["class"], &chat["attempts"][1]["kind"]), (&Value::Null, &json!("first")));

    let again = stage.json(&["chat", "--json", "?"]);
    assert_eq!(names(&again["skipped"][0]), SKIP);
    let expected = json!({"deployment": "spent/m", "step": 0, "reason": "quota_exhausted", "until": "2026-08-23T05:00:00Z",
        "provenance": "fact"});
    assert_eq!(again["skipped"][0], expected);
    assert_eq!(again["attempts"].as_array().map(Vec::len), Some(1));
}

#[test]
fn chat_prints_the_same_object_when_nobody_answered() {
    let spent = openai(day_is_spent());
    let stage = Stage::of(&[("spent", &spent)]);
    for args in [&["chat", "--json", "?"][..], &["chat", "--json", "--stream", "?"]] {
        let done = stage.run(args).exits(4).says(&["error: "]);
        let chat = done.json();
        assert_eq!(names(&chat), CHAT);
        assert_eq!((&chat["exhausted"], &chat["retry_at"]), (&json!(true), &json!("2026-08-23T05:00:00Z")));
        assert_eq!((&chat["deployment"], &chat["text"]), (&Value::Null, &json!("")));
        assert!(chat["error"].as_str().is_some_and(|error| error.starts_with("exhausted")), "{chat}");
    }
    assert_eq!(spent.hits(), 1);
}

#[test]
fn chat_streams_nothing_but_the_object() {
    let good = openai(Reply::stream(["a ", "b"]));
    let stage = Stage::of(&[("good", &good)]);
    assert_eq!(stage.json(&["chat", "--json", "--stream", "?"])["text"], json!("a b"));
    assert_eq!(good.requests()[0].body["stream"], json!(true));
}

#[test]
fn chat_gives_the_parsed_answer_and_its_price() {
    let good = openai(Reply::answer(r#"{"city": "Bern"}"#));
    let priced = "[[providers.good.models]]\nid = \"m\"\nprice = { input = 1.0, output = 2.0 }\n";
    let stage = Stage::with(&format!("{}{priced}", config(&[("good", &good)])));
    let schema = stage.file("schema.json", r#"{"type": "object", "required": ["city"]}"#);
    let chat = stage.json(&["chat", "--json", "--schema", &schema, "?"]);
    assert_eq!(chat["parsed"], json!({"city": "Bern"}));
    let tokens = |name: &str| chat["usage"][name].as_f64().expect("tokens");
    let cost = (tokens("input_tokens") + 2.0 * tokens("output_tokens")) / 1e6;
    assert!((chat["cost_usd"].as_f64().expect("a price") - cost).abs() < 1e-12, "{chat}");
}

#[test]
fn plan_says_who_and_who_not() {
    let (spent, good) = (openai(day_is_spent()), openai(Reply::answer("yes")));
    let stage = Stage::of(&[("spent", &spent), ("good", &good)]);
    stage.run(&["chat", "?"]).exits(0);
    let asked = (spent.hits(), good.hits());
    let plan = stage.json(&["plan", "--json"]);
    assert_eq!(names(&plan), "now ladder order skipped cascade domains domains_by shared single_failures unknown");
    assert!(names(&plan["order"][0]).starts_with("deployment step score"), "{plan}");
    assert_eq!(
        (&plan["now"], &plan["ladder"], &plan["domains"]),
        (&json!("2026-08-23T03:00:00Z"), &json!("main"), &json!(2))
    );
    assert_eq!((&plan["order"][0]["deployment"], &plan["order"][0]["step"]), (&json!("good/m"), &json!(1)));
    assert_eq!(plan["order"].as_array().map(Vec::len), Some(1));
    assert_eq!(names(&plan["skipped"][0]), SKIP);
    assert_eq!(plan["skipped"][0]["reason"], json!("quota_exhausted"));
    assert_eq!(stage.json(&["chat", "--dry-run", "--json", "?"]), plan);
    assert_eq!((spent.hits(), good.hits()), asked, "a plan sends nothing");
}

#[test]
fn check_and_plan_tell_alike_what_takes_a_whole_ladder() {
    let (alpha, beta) = (openai(Reply::answer("yes")), openai(Reply::answer("yes")));
    let text = config(&[("alpha", &alpha), ("beta", &beta)]);
    let apart = Stage::with(&text);
    let check = apart.json(&["check", "--json"]);
    let ladder = &check["ladders"][0];
    assert_eq!(names(ladder), "ladder steps domains domains_by shared single_failures unknown");
    assert_eq!(names(&ladder["domains_by"]), "provider account model_family backend region network");
    assert_eq!(names(&ladder["single_failures"][0]), "dimension name provider steps through");
    assert_eq!(ladder["unknown"][0], json!({"dimension": "backend", "steps": [0, 1]}));
    let plan = apart.json(&["plan", "--json"]);
    for name in ["domains", "domains_by", "shared", "single_failures", "unknown"] {
        assert_eq!(ladder[name], plan[name], "{name}");
    }

    let rack = |name: &str| (format!("[providers.{name}]"), format!("[providers.{name}]\nbackend = \"rack-1\""));
    let [(a, a_in_rack), (b, b_in_rack)] = [rack("alpha"), rack("beta")];
    let one = Stage::with(&text.replace(&a, &a_in_rack).replace(&b, &b_in_rack));
    for command in ["check", "plan"] {
        let out = one.run(&[command]).exits(0).out;
        assert!(out.contains("single failure: all steps fall with backend rack-1"), "{out}");
    }
    let plan = one.run(&["plan"]).exits(0).out;
    assert_eq!(plan.lines().last(), Some("1 independent failure domain"), "{plan}");
    let plan = apart.run(&["plan"]).exits(0).out;
    assert_eq!(plan.lines().last(), Some("2 independent failure domains"), "{plan}");
}

#[test]
fn status_tells_each_deployment_and_each_hold() {
    let (spent, good) = (openai(day_is_spent()), openai(Reply::answer("yes")));
    let stage = Stage::of(&[("spent", &spent), ("good", &good)]);
    stage.run(&["chat", "--request-id", "r1", "?"]).exits(0);
    let status = stage.json(&["status", "--json"]);
    assert_eq!(names(&status), "now deployments holds ladders");
    assert_eq!(status["ladders"], json!([{"ladder": "main", "cascade": null}]));
    let deployments = status["deployments"].as_array().expect("a list");
    let held = deployments.iter().find(|one| one["deployment"] == json!("spent/m")).expect("spent");
    assert_eq!(
        names(held),
        "deployment ladders eligible reason until provenance circuit cooldowns quarantine usage last_success last_failure quality"
    );
    assert_eq!(names(&held["circuit"]), "state failures opened_at retry_at cause");
    assert_eq!(held["ladders"], json!([{"ladder": "main", "step": 0}]));
    assert_eq!(
        (&held["eligible"], &held["reason"], &held["provenance"]),
        (&json!(false), &json!("quota_exhausted"), &json!("fact"))
    );
    assert_eq!((&held["quarantine"]["kind"], &held["cooldowns"]), (&json!("quarantine"), &json!([])));
    assert_eq!(held["last_failure"], json!("2026-08-23T03:00:00Z"));
    let hold = stage.hold();
    assert_eq!(names(&hold), HOLD);
    let expected = json!({"kind": "quarantine", "scope": "spent/m account=spent", "dimension": "rpd", "class": "quota_exhausted",
        "since": "2026-08-23T03:00:00Z", "until": "2026-08-23T05:00:00Z", "provenance": "fact", "request_id": "r1"});
    for (name, value) in expected.as_object().expect("an object") {
        assert_eq!(&hold[name], value, "{name}: {hold:#}");
    }
    let free = deployments.iter().find(|one| one["deployment"] == json!("good/m")).expect("good");
    assert_eq!(
        (&free["eligible"], &free["circuit"]["state"], &free["quarantine"]),
        (&json!(true), &json!("closed"), &Value::Null)
    );
    assert_eq!(free["last_success"], json!("2026-08-23T03:00:00Z"));
    let only = stage.json(&["status", "--json", "good"]);
    assert_eq!((only["deployments"].as_array().map(Vec::len), &only["holds"]), (Some(1), &json!([])));
}

#[test]
fn log_gives_one_request_a_line() {
    let (spent, good) = (openai(day_is_spent()), openai(Reply::answer("yes")));
    let stage = Stage::of(&[("spent", &spent), ("good", &good)]);
    for id in ["r1", "r2"] {
        stage.run(&["chat", "--request-id", id, "?"]).exits(0);
    }
    let lines = stage.run(&["log", "--json"]).exits(0).out;
    let requests: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let mut ids: Vec<&str> = requests.iter().filter_map(|request| request["request_id"].as_str()).collect();
    ids.sort_unstable();
    assert_eq!(ids, ["r1", "r2"]);
    let first = stage.json(&["log", "--json", "r1"]);
    assert_eq!(names(&first["attempts"][0]), ATTEMPT);
    assert_eq!((&first["outcome"], first["attempts"].as_array().map(Vec::len)), (&json!("answered"), Some(2)));
    assert_eq!(stage.run(&["log", "--json", "--class", "quota_exhausted"]).exits(0).json()["request_id"], json!("r1"));
}
