//! What is asked of answers, asked from outside: flags, exit codes, and what stands where.
#![cfg(test)]

use llmr::rehearsal::Reply;
use serde_json::json;

use crate::stage::{Stage, config, openai};

const SCHEMA: &str = r#"{"type": "object", "required": ["city"]}"#;

#[test]
fn an_answer_in_prose_is_printed_without_the_prose() {
    let polite = openai(Reply::answer("Sure! {\"city\": \"Bern\"} - as you asked."));
    let stage = Stage::of(&[("polite", &polite)]);
    let schema = stage.file("schema.json", SCHEMA);
    stage.run(&["chat", "--schema", &schema, "?"]).exits(0).prints("{\"city\":\"Bern\"}\n");
    let chat = stage.json(&["chat", "--json", "--schema", &schema, "?"]);
    assert_eq!((&chat["parsed"], &chat["attempts"][0]["extracted"]), (&json!({"city": "Bern"}), &json!("surrounded")));
    let id = chat["request_id"].as_str().expect("an id");
    assert_eq!(stage.json(&["log", "--json", id])["attempts"][0]["extracted"], json!("surrounded"));
}

#[test]
fn a_rule_that_does_not_hold_is_repaired_once() {
    let wrong = openai(Reply::answer(r#"{"score": 0}"#));
    let stage = Stage::of(&[("wrong", &wrong)]);
    stage
        .run(&["chat", "--check", "answer.score >= 1", "?"])
        .exits(7)
        .prints("")
        .says(&["answer.check", "`answer.score >= 1` is not true"]);
    assert_eq!(wrong.hits(), 2);
    assert!(wrong.requests()[1].body.to_string().contains("`answer.score >= 1` is not true"));
    // What is checked is not shown before it was.
    let mends = openai(vec![Reply::answer("Six."), Reply::answer(r#"{"score": 6}"#)]);
    let stage = Stage::of(&[("mends", &mends)]);
    let args = ["chat", "--stream", "--check", "answer.score >= 1", "--check", "size(input) > 2", "Score it."];
    stage.run(&args).exits(0).prints("{\"score\": 6}\n");
}

#[test]
#[cfg(unix)]
fn a_check_that_cannot_be_made_is_no_fault_of_the_model() {
    let good = openai(Reply::answer("yes"));
    let with = |check: &str| {
        let table = format!("[[ladders.main.checks]]\nname = \"judge\"\n{check}\n");
        Stage::with(&format!("{}{table}", config(&[("good", &good)])))
    };
    let stage = with("command = [\"sh\", \"-c\", \"sleep 600\"]\ntimeout = \"100ms\"");
    stage.run(&["chat", "?"]).exits(1).prints("").says(&["the check `judge` could not be made", "100ms", "hint: "]);
    let status = stage.json(&["status", "--json"]);
    assert_eq!((&status["holds"], &status["deployments"][0]["circuit"]["failures"]), (&json!([]), &json!(0)));
    let stage = with("command = [\"nowhere-judge\"]");
    let hits = good.hits();
    stage.run(&["chat", "?"]).exits(3).says(&["needs the program `nowhere-judge`"]);
    assert_eq!(good.hits(), hits, "nothing is sent");
    assert!(stage.run(&["check"]).exits(0).err.is_empty());
    let stage = with("command = [\"sh\", \"-c\", \"sleep 600\"]");
    stage.run(&["chat", "--deadline", "300ms", "?"]).exits(8).says(&["error: the deadline"]);
    let stage = with("command = [\"sh\", \"-c\", \"grep -q yes\"]");
    stage.run(&["chat", "?"]).exits(0).prints("yes\n");
}
