//! `probe` makes the calls that are due and no others, one for each hold.
#![cfg(test)]

use std::collections::BTreeMap;

use llmr::rehearsal::{Provider, Reply};
use serde_json::{Value, json};

use crate::stage::{Stage, config, declared, finish, keys, openai, signal, until};

/// When a circuit that three failures opened at [`crate::stage::NOW`] lets its probe pass.
const DUE: &str = "2026-08-23T03:01:00Z";

/// A ladder with a step for each of these, each with an open circuit of its own.
fn broken(providers: &[(&str, &Provider)]) -> Stage {
    let stage = Stage::of(providers);
    for (name, _) in providers {
        for _ in 0..3 {
            stage.run(&["record", &format!("{name}/m"), "--status", "500"]).exits(0);
        }
    }
    stage
}

fn number(stage: &Stage, query: &str) -> u32 {
    stage.sql().query_row(query, [], |row| row.get(0)).expect(query)
}

#[test]
fn a_circuit_that_is_due_is_probed_and_closed_and_before_its_time_nothing_is_sent() {
    let lab = openai(Reply::answer("Hello"));
    let stage = broken(&[("lab", &lab)]);
    stage.run(&["probe"]).exits(0).prints("nothing is due\n");
    assert_eq!(lab.hits(), 0);
    stage
        .run_at(DUE, &["probe", "--dry-run"])
        .exits(0)
        .prints("lab/m: due (circuit b1 of lab/m account=lab, server_error)\n");
    assert_eq!(lab.hits(), 0);
    stage.run_at(DUE, &["probe"]).exits(0).prints("lab/m: recovered\n");
    assert_eq!(lab.hits(), 1);
    assert_eq!(number(&stage, "SELECT count(*) FROM circuits"), 0);
    assert_eq!(number(&stage, "SELECT count(*) FROM attempts WHERE kind = 'probe'"), 1);
    assert_eq!(number(&stage, "SELECT count(*) FROM requests WHERE ladder = 'probe'"), 1);
    stage.run_at(DUE, &["probe"]).exits(0).prints("nothing is due\n");
    let asked = lab.requests()[0].body.clone();
    assert_eq!((&asked["max_tokens"], &asked["stream"]), (&json!(1), &Value::Null));
}

#[test]
fn a_quarantine_is_looked_at_early() {
    let lab =
        openai(vec![Reply::status(429, json!({"error": {"message": "Daily quota exceeded"}})), Reply::answer("Hello")]);
    let stage = Stage::of(&[("lab", &lab)]);
    stage.run(&["record", "lab/m", "--status", "429", "--body", "{\"error\":{\"message\":\"Daily quota exceeded\"}}"]);
    let hold = stage.hold();
    assert_eq!(hold["kind"], json!("quarantine"));
    let probe_at = hold["probe_at"].as_str().expect("a time").to_owned();
    stage.run(&["probe"]).exits(0).prints("nothing is due\n");
    let done = stage.run_at(&probe_at, &["probe"]).exits(0);
    assert!(done.out.starts_with("lab/m: still quota_exhausted, next probe 2026-08-23T"), "{}", done.out);
    let told = stage.run_at(&probe_at, &["status", "--json"]).json();
    let next = told["holds"][0]["until"].as_str().expect("a time").to_owned();
    let done = stage.run_at(&next, &["probe"]).exits(0);
    done.prints("lab/m: recovered\n");
    assert_eq!(number(&stage, "SELECT count(*) FROM quarantines"), 0);
}

#[test]
fn a_hold_of_a_provider_is_probed_through_one_deployment_the_one_that_failed_last() {
    let lab = openai(Reply::answer("Hello"));
    let text = config(&[("lab", &lab)]).replace("\"lab/m\"", "\"lab/a\", \"lab/b\", \"lab/c\"");
    let stage = Stage::with(&text);
    for (name, now) in [("lab/a", "02:59:58"), ("lab/c", "02:59:59"), ("lab/b", "03:00:00")] {
        stage.run_at(&format!("2026-08-23T{now}Z"), &["record", name, "--transport", "refused"]).exits(0);
    }
    stage.run(&["guard", "lab/a"]).exits(4);
    let told = stage.run_at(DUE, &["probe", "--json"]).exits(0).json();
    assert_eq!((&told["deployment"], &told["result"]), (&json!("lab/b"), &json!("recovered")));
    assert_eq!(lab.hits(), 1);
    stage.run_at(DUE, &["guard", "lab/a"]).exits(0).prints("ok lab/a\n");
}

#[test]
fn what_has_not_recovered_is_told_with_the_next_probe() {
    let lab = openai(Reply::status(503, json!({"error": {"message": "The server is overloaded"}})));
    let (old, new) = (openai(Reply::answer("Hello")), openai(Reply::Hang));
    let stage = broken(&[("lab", &lab), ("old", &old), ("new", &new)]);
    let done = stage.run_at(DUE, &["probe", "--deadline", "100ms"]).exits(0);
    let lines: Vec<&str> = done.out.lines().collect();
    assert_eq!(lines.len(), 3, "{}", done.out);
    assert!(lines[0].starts_with("lab/m: not recovered: overloaded, next probe 2026-08-23T03:02:0"), "{}", done.out);
    assert_eq!(lines[1], "old/m: recovered");
    assert!(lines[2].starts_with("new/m: not recovered: timeout, next probe "), "{}", done.out);
    assert_eq!(number(&stage, "SELECT count(*) FROM circuits WHERE state = 'open' AND opens = 2"), 2);
    assert_eq!((lab.hits(), new.hits()), (1, 1), "no retry");
}

#[test]
fn any_sign_of_the_model_counts_and_a_success_that_is_no_answer_does_not() {
    let cut = json!({"choices": [{"index": 0, "message": {"content": ""}, "finish_reason": "length"}]});
    let models = json!({"object": "list", "data": [{"id": "m", "object": "model"}]});
    let empty = json!({"choices": [{"index": 0, "message": {"content": ""}, "finish_reason": "stop"}]});
    for (body, recovered) in [(cut, true), (models, false), (empty, false), (json!({"status": "ok"}), false)] {
        let lab = openai(Reply::status(200, body.clone()));
        let stage = broken(&[("lab", &lab)]);
        let told = stage.run_at(DUE, &["probe", "--json"]).exits(0).json();
        assert_eq!(told["result"] == "recovered", recovered, "{body}: {told}");
        assert_eq!(number(&stage, "SELECT count(*) FROM circuits") == 0, recovered, "{body}");
        assert_eq!(lab.hits(), 1, "no repair");
    }
}

#[test]
fn another_key_is_tried_at_once_and_an_expired_lease_is_due_again() {
    let lab = openai(Reply::answer("Hello"));
    let text = format!("[ladders.main]\nsteps = [\"lab/m\"]\n{}", declared("lab", &lab));
    let mut stage = Stage::with(&format!("{text}{}", keys("lab", &[("own", "{ env = \"LAB_KEY\" }")])));
    stage.set("LAB_KEY", "the-first-key-of-the-lab");
    stage.run(&["record", "lab/m", "--status", "401"]).exits(0);
    stage.run(&["probe"]).exits(0).prints("nothing is due\n");
    stage.set("LAB_KEY", "another-key-of-the-lab");
    stage.run(&["guard", "lab/m", "--lease", "1m"]).exits(0);
    stage.run(&["probe"]).exits(0).prints("nothing is due\n");
    assert_eq!(lab.hits(), 0, "a program makes the probe");
    stage.run_at(DUE, &["probe"]).exits(0).prints("lab/m@own: recovered\n");
    stage.set("LAB_KEY", "");
    stage.run(&["record", "lab/m", "--status", "401"]).exits(0);
    let done = stage.run_at("2026-08-25T00:00:00Z", &["probe"]).exits(0);
    assert!(done.out.starts_with("lab/m@own: not asked: credential lab@own: "), "{}", done.out);
}

#[test]
fn the_number_of_calls_is_bounded_and_selectors_choose() {
    let (a, b, c) = (openai(Reply::answer("a")), openai(Reply::answer("b")), openai(Reply::answer("c")));
    let stage = broken(&[("a", &a), ("b", &b), ("c", &c)]);
    stage.run_at(DUE, &["probe", "c"]).exits(0).prints("c/m: recovered\n");
    stage.run_at(DUE, &["probe", "--limit", "1"]).exits(0).prints("a/m: recovered\n");
    stage.run_at(DUE, &["probe"]).exits(0).prints("b/m: recovered\n");
    assert_eq!((a.hits(), b.hits(), c.hits()), (1, 1, 1));
    stage.run(&["probe", "nobody"]).exits(2).says(&["`nobody`", "llmr status"]);
    stage.run(&["probe", "b9"]).exits(2).says(&["there is no hold `b9`"]);
    stage.run(&["probe", "a@b@"]).exits(2).says(&["a@b@"]);
}

#[test]
fn an_interrupted_probe_is_due_again_and_two_probers_make_one_call() {
    let lab = openai(vec![Reply::Hang, Reply::answer("Hello")]);
    let stage = broken(&[("lab", &lab)]);
    let first = stage.command(&["probe"]).env("LLMR_NOW", DUE).spawn().expect("started");
    until("the probe is under way", || lab.hits() == 1);
    stage.run_at(DUE, &["probe"]).exits(0).prints("nothing is due\n");
    signal(first.id(), "INT");
    finish(first).exits(130).prints("lab/m: interrupted; the probe is due still\n");
    stage.run_at(DUE, &["probe"]).exits(0).prints("lab/m: recovered\n");
    assert_eq!(lab.hits(), 2);
}

#[test]
fn a_limit_that_the_probe_meets_is_obeyed() {
    let headers = BTreeMap::from([("retry-after".to_owned(), "600".to_owned())]);
    let body = json!({"error": {"message": "Rate limit reached"}});
    let lab = openai(Reply::Status { status: 429, headers, body });
    let stage = broken(&[("lab", &lab)]);
    let done = stage.run_at(DUE, &["probe"]).exits(0);
    assert_eq!(done.out, "lab/m: not recovered: rate_limit, next probe 2026-08-23T03:11:00Z (in 10m)\n");
    stage.run_at("2026-08-23T03:10:59Z", &["probe"]).exits(0).prints("nothing is due\n");
}

#[test]
fn without_a_state_nothing_is_due_and_a_state_that_cannot_be_used_is_trouble() {
    let lab = openai(Reply::answer("Hello"));
    let stage = Stage::of(&[("lab", &lab)]);
    stage.run(&["probe"]).exits(0).prints("nothing is due: there is no state file yet\n");
    stage.run(&["probe", "--json"]).exits(0).prints("");
    assert!(!stage.state().exists());
    stage.sql().execute_batch("CREATE TABLE others (a)").expect("another program's database");
    stage.run(&["probe"]).exits(1).says(&["is not a state file"]);
    Stage::bare().run(&["probe"]).exits(3).says(&["no config", "llmr init"]);
}

#[test]
fn what_is_not_due_is_probed_when_a_person_wants_it_now() {
    let (a, b) = (openai(Reply::answer("a")), openai(Reply::status(500, json!({"error": {"message": "oops"}}))));
    let stage = broken(&[("a", &a), ("b", &b)]);
    stage.run(&["probe", "--now"]).exits(2).says(&["--now needs to know what to probe"]);
    stage
        .run(&["probe", "--now", "--dry-run", "a"])
        .exits(0)
        .prints("a/m: due (circuit b1 of a/m account=a, server_error)\n");
    stage.run(&["probe"]).exits(0).prints("nothing is due\n");
    assert_eq!(a.hits(), 0, "a dry run makes nothing due");
    stage.run(&["probe", "--now", "a"]).exits(0).prints("a/m: recovered\n");
    stage.run(&["probe", "--now", "a"]).exits(0).prints("nothing to probe: nothing holds what was named\n");
    assert_eq!((a.hits(), b.hits()), (1, 0), "what was not named is left alone");
    // It rests for longer with each probe that fails.
    let done = stage.run(&["probe", "--now", "b2"]).exits(0);
    assert!(done.out.starts_with("b/m: still server_error, next probe 2026-08-23T03:01:"), "{}", done.out);
    let done = stage.run(&["probe", "--now", "b"]).exits(0);
    assert!(done.out.starts_with("b/m: still server_error, next probe 2026-08-23T03:02:"), "{}", done.out);
    assert_eq!(b.hits(), 2);
    stage.run(&["chat", "-m", "b/m", "?"]).exits(4);
    assert_eq!(b.hits(), 2, "it rests");
}

#[test]
fn a_stated_reset_outlives_a_probe_before_its_time() {
    let body = json!({"error": {"message": "Daily quota exceeded"}});
    let lab = openai(vec![Reply::status(429, body), Reply::answer("Hello")]);
    let stage = Stage::of(&[("lab", &lab)]);
    let headers = "retry-after: 259200";
    let body = "{\"error\":{\"message\":\"Daily quota exceeded\"}}";
    stage.run(&["record", "lab/m", "--status", "429", "--headers", headers, "--body", body]).exits(0);
    let before = stage.hold();
    assert_eq!((&before["kind"], &before["until"]), (&json!("quarantine"), &json!("2026-08-26T03:00:00Z")));
    let told = stage.run(&["probe", "--now", "q1", "--json"]).exits(0).json();
    assert_eq!((&told["result"], &told["holds"]), (&json!("failed"), &json!(["q1"])));
    let after = stage.hold();
    assert_eq!((&after["until"], &after["provenance"]), (&before["until"], &before["provenance"]));
    assert_eq!(after["probe_at"], json!("2026-08-24T03:00:00Z"), "and one a day");
    stage.run(&["probe"]).exits(0).prints("nothing is due\n");
    stage.run(&["probe", "--now", "q1"]).exits(0).prints("lab/m: recovered\n");
    assert_eq!(lab.hits(), 2);
}

#[test]
fn what_cannot_be_probed_says_why_and_what_to_do() {
    let (a, b) = (openai(Reply::answer("a")), openai(Reply::answer("b")));
    let stage = broken(&[("a", &a), ("b", &b)]);
    let limit = "{\"error\":{\"message\":\"Rate limit reached\"}}";
    stage.run(&["record", "a/m", "--status", "429", "--headers", "retry-after: 600", "--body", limit]).exits(0);
    let cooldown = "a/m: not probed: a cooldown has no probe; c3 lasts until 2026-08-23T03:10:00Z (in 10m), and \
                    `llmr reset c3` ends it\n";
    stage.run(&["probe", "--now", "a"]).exits(0).prints(cooldown);
    stage.run(&["probe", "--now", "a", "--dry-run"]).exits(0).prints(cooldown);
    let as_well = "a/m: not probed: a cooldown has no probe";
    assert!(stage.run(&["probe", "--now", "b1"]).exits(0).out.starts_with(as_well));
    let told = stage.run(&["probe", "--now", "a", "--json"]).exits(0).json();
    assert_eq!((&told["result"], &told["holds"]), (&json!("held"), &json!(["c3"])));
    stage.run(&["hold", "b", "--why", "moving house", "-y"]).exits(0);
    stage
        .run(&["probe", "--now", "b"])
        .exits(0)
        .prints("b/m: not probed: held by hand (moving house) until somebody resets it; `llmr reset b4` lifts it\n");
    assert_eq!((a.hits(), b.hits()), (0, 0));
    // Nothing was made due for the next one who comes along.
    stage.run(&["reset", "c3", "b4"]).exits(0);
    stage.run(&["probe"]).exits(0).prints("nothing is due\n");
    stage.run(&["guard", "a/m"]).exits(4);
    stage.run_at(DUE, &["guard", "a/m", "--lease", "10m"]).exits(0);
    let done = stage.run_at(DUE, &["probe", "--now", "a"]).exits(0);
    assert_eq!(
        done.out,
        "a/m: not probed: the probe of b1 is under way, until 2026-08-23T03:11:00Z (in 10m) at most\n"
    );
}
