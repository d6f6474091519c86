//! What is asked of answers, asked from outside: flags, exit codes, and what stands where.
#![cfg(test)]

use llmr::rehearsal::Reply;
use serde_json::json;

use crate::stage::{Stage, config, keys, openai};

const SCHEMA: &str = r#"{"type": "object", "required": ["city"]}"#;

#[test]
fn an_answer_in_prose_is_printed_without_the_prose() {
    let polite =
        openai(Reply::answer("Sure! As you asked: {\"city\": \"Bern\", \"n\": [10.00, 12345678901234567890123]}"));
    let stage = Stage::of(&[("polite", &polite)]);
    let schema = stage.file("schema.json", SCHEMA);
    stage
        .run(&["chat", "--schema", &schema, "?"])
        .exits(0)
        .prints("{\"city\": \"Bern\", \"n\": [10.00, 12345678901234567890123]}\n");
    let chat = stage.json(&["chat", "--json", "--schema", &schema, "?"]);
    assert_eq!((&chat["parsed"]["city"], &chat["attempts"][0]["extracted"]), (&json!("Bern"), &json!("surrounded")));
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
    // It was paid for, and it is no end.
    let hits = good.hits();
    for _ in 0..2 {
        let chat = stage.run(&["chat", "--json", "--request-id", "r1", "?"]).exits(1).json();
        assert_eq!((&chat["text"], &chat["parsed"]), (&json!("yes"), &json!(null)));
    }
    assert_eq!(good.hits(), hits + 2, "the same id may be asked again");
    let status = stage.json(&["status", "--json"]);
    assert_eq!((&status["holds"], &status["deployments"][0]["circuit"]["failures"]), (&json!([]), &json!(0)));
    let stage = with("command = [\"nowhere-judge\"]");
    let hits = good.hits();
    stage.run(&["chat", "?"]).exits(3).says(&["needs the program `nowhere-judge`"]);
    assert_eq!(good.hits(), hits, "nothing is sent");
    assert!(stage.run(&["check"]).exits(0).err.is_empty());
    let flat = with("command = [\"./flat-judge\"]");
    flat.file("flat-judge", "#!/bin/sh\n");
    flat.run(&["chat", "?"]).exits(3).says(&["flat-judge`, which is not executable", "hint: make it executable"]);
    assert!(flat.run(&["check"]).exits(0).out.contains("which is not executable"));
    assert_eq!(good.hits(), hits, "nothing is sent");
    let stage = with("command = [\"sh\", \"-c\", \"sleep 600\"]");
    stage.run(&["chat", "--deadline", "300ms", "?"]).exits(8).says(&["error: the deadline"]);
    let stage = with("command = [\"sh\", \"-c\", \"grep -q yes\"]");
    stage.run(&["chat", "?"]).exits(0).prints("yes\n");
}

#[test]
#[cfg(unix)]
fn a_program_of_a_check_stands_beside_the_config_and_sees_no_keys() {
    let good = openai(Reply::answer("yes"));
    let check = "[[ladders.main.checks]]\nname = \"judge\"\ncommand = [\"./judge\"]\n";
    let keys = keys("good", &[("own", "{ env = \"LAB_KEY\" }")]);
    let mut stage = Stage::bare();
    std::fs::create_dir(stage.path("conf")).expect("a directory");
    let text = format!("{}{keys}{check}", config(&[("good", &good)]));
    let place = stage.file("conf/llmr.toml", text);
    stage.set("LLMR_CONFIG", place);
    stage.set("LAB_KEY", "not-a-real-key-number-one");
    stage.set("LAB_WORD", "bird");
    let judge = stage.file("conf/judge", "#!/bin/sh\n[ -z \"$LAB_KEY\" ] && [ \"$LAB_WORD\" = bird ]\n");
    assert!(std::process::Command::new("chmod").args(["+x", &judge]).status().is_ok_and(|status| status.success()));
    stage.run(&["chat", "?"]).exits(0).prints("yes\n");
}

#[test]
fn a_schema_that_is_none_is_told_with_its_place_before_anything_is_sent() {
    let good = openai(Reply::answer("{}"));
    let stage = Stage::of(&[("good", &good)]);
    let schema = stage.file("none.json", r#"{"properties": {"a": {"type": "objct"}}}"#);
    let said = ["--schema: ", "none.json is no JSON Schema: /properties/a/type: \"objct\""];
    stage.run(&["chat", "--schema", &schema, "?"]).exits(2).prints("").says(&said);
    assert_eq!(good.hits(), 0);
    let beside =
        format!("{}[ladders.shaped]\nsteps = [\"good/m\"]\nschema = \"none.json\"\n", config(&[("good", &good)]));
    let tool = "[tools.t]\ndescription = \"d\"\ncommand = [\"true\"]\nschema = \"none.json\"\n";
    let stage = Stage::with(&format!("{beside}{tool}"));
    stage.file("none.json", r#"{"type": "object", "properties": {"a": {"type": "objct"}}}"#);
    stage.run(&["chat", "?"]).exits(3).prints("").says(&[
        "ladders.shaped.schema: ",
        "/properties/a/type: \"objct\"",
        "tools.t.schema: ",
        "no JSON Schema: /properties/a/type: \"objct\"",
    ]);
    assert_eq!(good.hits(), 0);
}

#[test]
fn a_date_that_is_none_is_repaired() {
    let mends = openai(vec![Reply::answer(r#"{"a": "2024-02-30"}"#), Reply::answer(r#"{"a": "2024-03-01"}"#)]);
    let stage = Stage::of(&[("mends", &mends)]);
    let schema = r#"{"type": "object", "properties": {"a": {"type": "string", "format": "date"}}, "required": ["a"]}"#;
    let schema = stage.file("schema.json", schema);
    stage.run(&["chat", "--schema", &schema, "?"]).exits(0).prints("{\"a\": \"2024-03-01\"}\n");
    assert!(mends.requests()[1].body.to_string().contains("/a: "), "it is told what was wrong, and where");
}
