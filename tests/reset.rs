//! `llmr reset`: what it means, what it clears, and that a process that waits notices at once.
#![cfg(test)]

use std::collections::BTreeMap;

use llmr::rehearsal::{Provider, Reply};
use serde_json::json;

use crate::stage::{Stage, declared, finish, keys, openai, until};

fn stage_of_three(a: &Provider, b: &Provider) -> Stage {
    let two = [("first", "{ env = \"KEY_ONE\" }"), ("second", "{ env = \"KEY_TWO\" }")];
    let mut stage = Stage::with(&format!(
        "[limits]\nretry_budget = 0\n[ladders.main]\nsteps = [\"a/m\", \"b/m\"]\n{}{}{}{}",
        declared("a", a),
        keys("a", &two),
        declared("b", b),
        keys("b", &[("first", "{ env = \"KEY_ONE\" }")])
    ));
    stage.set("KEY_ONE", "not-a-real-key-number-one");
    stage.set("KEY_TWO", "not-a-real-key-number-two");
    stage
}

fn limited(seconds: u32) -> Reply {
    let headers = BTreeMap::from([("retry-after".to_owned(), seconds.to_string())]);
    let body = json!({"error": {"message": "Rate limit reached: too many requests per minute"}});
    Reply::Status { status: 429, headers, body }
}

fn barred() -> Reply {
    Reply::status(401, json!({"error": {"message": "Incorrect API key provided"}}))
}

fn spent() -> Reply {
    let message =
        "Rate limit reached for model m: requests per day (RPD): Limit 100, Used 100. Please try again in 2h0m0s.";
    Reply::status(429, json!({"error": {"message": message}}))
}

/// The scopes that are held, sorted.
fn held(stage: &Stage) -> Vec<String> {
    let status = stage.json(&["status", "--json"]);
    let scopes = status["holds"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|hold| hold["scope"].as_str().expect("a scope").to_owned());
    let mut scopes: Vec<String> = scopes.collect();
    scopes.sort();
    scopes
}

#[test]
fn a_selector_means_what_it_names() {
    for (selector, left) in [
        ("a", 1),
        ("b", 2),
        ("a/m", 1),
        ("a/m@first", 2),
        ("a@second", 2),
        ("@first", 1),
        ("@second", 2),
        ("b/m@first", 2),
        ("nobody", 3),
        ("a/other", 3),
    ] {
        let (a, b) = (openai(barred()), openai(barred()));
        let stage = stage_of_three(&a, &b);
        stage.run(&["chat", "?"]).exits(5);
        assert_eq!(held(&stage).len(), 3);
        stage.run(&["reset", selector, "--dry-run"]).exits(0);
        assert_eq!(held(&stage).len(), 3, "a dry run clears nothing");
        let done = stage.run(&["reset", selector]).exits(0);
        assert_eq!(held(&stage).len(), left, "{selector}: {}", done.out);
        assert_eq!(done.out.lines().filter(|line| line.starts_with("cleared ")).count(), 3 - left, "{}", done.out);
    }
}

#[test]
fn all_is_all_and_nothing_is_a_usage_error() {
    let (a, b) = (openai(barred()), openai(barred()));
    let stage = stage_of_three(&a, &b);
    stage.run(&["chat", "?"]).exits(5);
    stage.run(&["reset"]).exits(2).prints("");
    stage.run(&["reset", "--all", "a"]).exits(2).prints("");
    stage.run(&["reset", "a/"]).exits(2).says(&["error: "]);
    assert_eq!(held(&stage).len(), 3);
    stage.run(&["reset", "--all", "-y"]).exits(0);
    assert_eq!(held(&stage), Vec::<String>::new());
    stage.run(&["chat", "?"]).exits(5);
    assert_eq!((a.hits(), b.hits()), (4, 2), "all three were asked again");
}

#[test]
fn each_kind_can_be_cleared_alone() {
    for (flag, kind) in [("--cooldown", "cooldown"), ("--quarantine", "quarantine"), ("--circuit", "circuit")] {
        let (a, b) = (openai(vec![limited(40), barred()]), openai(spent()));
        let stage = stage_of_three(&a, &b);
        stage.run(&["chat", "?"]).exits(4);
        let kinds = |stage: &Stage| {
            let status = stage.json(&["status", "--json"]);
            let holds = status["holds"].as_array().expect("a list");
            let mut kinds: Vec<String> =
                holds.iter().map(|hold| hold["kind"].as_str().expect("a kind").to_owned()).collect();
            kinds.sort();
            kinds
        };
        assert_eq!(kinds(&stage), ["circuit", "cooldown", "quarantine"]);
        stage.run(&["reset", "--all", flag]).exits(0);
        let left: Vec<&str> = ["circuit", "cooldown", "quarantine"].into_iter().filter(|one| *one != kind).collect();
        assert_eq!(kinds(&stage), left);
    }
}

#[test]
fn a_reset_circuit_forgets_its_failures() {
    let bad = openai(Reply::status(500, "oops"));
    let stage = Stage::of(&[("bad", &bad)]);
    for hits in [1, 2] {
        stage.run(&["chat", "?"]).exits(4);
        assert_eq!(bad.hits(), hits);
    }
    stage.run(&["reset", "bad", "--circuit"]).exits(0);
    for hits in [3, 4, 5, 5] {
        stage.run(&["chat", "?"]).exits(4);
        assert_eq!(bad.hits(), hits, "the streak began anew");
    }
}

#[test]
fn there_is_nothing_to_clear_before_the_first_request() {
    let good = openai(Reply::answer("yes"));
    let stage = Stage::of(&[("good", &good)]);
    stage.run(&["reset", "--all"]).exits(0).prints("nothing is held: there is no state file yet\n");
    assert!(!stage.state().exists());
    stage.run(&["chat", "?"]).exits(0);
    stage.run(&["reset", "--all"]).exits(0).prints("nothing to clear\n");
}

#[test]
fn a_reset_wakes_who_waits_in_another_process() {
    let slow = openai(vec![limited(3000), Reply::answer("awake")]);
    let stage = Stage::of(&[("slow", &slow)]);
    stage.run(&["chat", "?"]).exits(4);
    let mut waits = stage.command(&["chat", "--wait", "2h", "--deadline", "2h", "?"]).spawn().expect("started");
    // It says so before it sleeps.
    let mut err = std::io::BufReader::new(waits.stderr.take().expect("a pipe"));
    let mut line = String::new();
    until("it waits", || {
        line.clear();
        std::io::BufRead::read_line(&mut err, &mut line).expect("a line");
        line.contains("waiting")
    });
    assert_eq!(slow.hits(), 1);
    stage.run(&["reset", "slow"]).exits(0);
    finish(waits).exits(0).prints("awake\n");
    assert_eq!(slow.hits(), 2);
}

#[test]
fn without_time_to_wait_nobody_waits() {
    let slow = openai(limited(3000));
    let stage = Stage::of(&[("slow", &slow)]);
    stage.run(&["chat", "?"]).exits(4);
    stage.run(&["chat", "--wait", "1m", "?"]).exits(4).says(&["2026-08-23T03:50:00Z"]);
}
