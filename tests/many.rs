//! Many processes that fail at once: none is lost, none stumbles over the others, and the breaker counts them all.
#![cfg(test)]

use std::process::Child;

use llmr::rehearsal::Reply;
use serde_json::json;

use crate::stage::{Stage, config, finish, openai, signal, until};

/// How many run at once.
const PROCESSES: u32 = 32;

fn breaks() -> Reply {
    Reply::status(500, json!({"error": {"message": "Internal server error"}}))
}

fn all_at_once(stage: &Stage) {
    let start = |n: u32| stage.command(&["chat", "--request-id", &format!("r{n}"), "?"]).spawn().expect("started");
    let children: Vec<Child> = (0..PROCESSES).map(start).collect();
    for child in children {
        let done = finish(child).exits(4).prints("");
        assert!(!done.err.contains("warning:"), "trouble with the store: {}", done.err);
    }
}

fn number(stage: &Stage, query: &str) -> u32 {
    stage.sql().query_row(query, [], |row| row.get(0)).expect(query)
}

#[test]
fn failures_at_once_are_as_many_in_a_row() {
    let bad = openai(breaks());
    // A breaker that never opens counts them all, and so does a ladder.
    let text = config(&[("bad", &bad)]).replace("[ladders.main]", "[ladders.main]\ncascade = { after = 1000 }");
    let stage = Stage::with(&format!("{text}[breaker]\nfailures = 1000\nconsecutive = 1000\n"));
    all_at_once(&stage);
    assert_eq!(bad.hits(), PROCESSES as usize);
    assert_eq!(number(&stage, "SELECT count(*) FROM attempts WHERE class = 'server_error'"), PROCESSES);
    assert_eq!(number(&stage, "SELECT count(DISTINCT request_id) FROM attempts"), PROCESSES);
    assert_eq!(number(&stage, "SELECT count(*) FROM requests WHERE outcome = 'exhausted'"), PROCESSES);
    let status = stage.json(&["status", "--json"]);
    assert_eq!(status["deployments"][0]["circuit"]["failures"], json!(PROCESSES));
    assert_eq!((&status["deployments"][0]["circuit"]["state"], &status["holds"]), (&json!("closed"), &json!([])));
    assert_eq!(status["ladders"][0]["cascade"]["streak"], json!(PROCESSES));
}

#[test]
fn the_breaker_opens_at_the_third_in_a_row_and_late_failures_change_nothing() {
    let bad = openai(breaks());
    let stage = Stage::of(&[("bad", &bad)]);
    all_at_once(&stage);
    let sent = u32::try_from(bad.hits()).expect("a small number");
    assert!((3..=PROCESSES).contains(&sent), "{sent}");
    assert_eq!(number(&stage, "SELECT count(*) FROM attempts"), sent, "what was sent is logged, no more and no less");
    assert_eq!(number(&stage, "SELECT count(*) FROM requests"), PROCESSES);
    let circuit = stage.json(&["status", "--json"])["deployments"][0]["circuit"].clone();
    assert_eq!((&circuit["state"], &circuit["failures"]), (&json!("open"), &json!(3)));
    assert_eq!(number(&stage, "SELECT opens FROM circuits"), 1, "late failures do not open it again");
    stage.run(&["chat", "?"]).exits(4);
    assert_eq!(bad.hits(), sent as usize, "an open circuit lets nobody pass");
}

#[test]
fn an_open_circuit_lets_one_probe_of_all_pass() {
    // Three failures open it, and the probe hangs long enough for all others to come while it is under way.
    let replies =
        vec![breaks(), breaks(), breaks(), Reply::SlowDrip { text: "back again at last".into(), every_ms: 60 }];
    let bad = openai(replies);
    let stage = Stage::of(&[("bad", &bad)]);
    for _ in 0..3 {
        stage.run(&["chat", "?"]).exits(4);
    }
    let later = "2026-08-23T03:01:00Z";
    let start = |_| stage.command(&["chat", "--stream", "?"]).env("LLMR_NOW", later).spawn().expect("started");
    // Not more than can start while the probe is under way.
    let children: Vec<Child> = (0..PROCESSES / 2).map(start).collect();
    let codes: Vec<Option<i32>> = children.into_iter().map(|child| finish(child).code).collect();
    // Who came before the probe was over was held; who came after it found the circuit closed.
    let answered = codes.iter().filter(|code| **code == Some(0)).count();
    assert!(codes.iter().all(|code| matches!(code, Some(0 | 4))), "{codes:?}");
    assert_eq!(bad.hits(), 3 + answered);
    let probes: u32 = number(&stage, "SELECT count(*) FROM attempts WHERE kind = 'probe'");
    assert_eq!(probes, 1);
    assert_eq!(number(&stage, "SELECT count(*) FROM circuits WHERE state <> 'closed'"), 0);
}

/// A stage whose circuit is open, at a provider that takes the probe and says nothing.
fn probed() -> (llmr::rehearsal::Provider, Stage) {
    let bad = openai(vec![breaks(), breaks(), breaks(), Reply::Hang, Reply::answer("back")]);
    let stage = Stage::of(&[("bad", &bad)]);
    for _ in 0..3 {
        stage.run(&["chat", "?"]).exits(4);
    }
    (bad, stage)
}

/// When the circuit of [`probed`] lets its probe pass.
const DUE: &str = "2026-08-23T03:01:00Z";

#[test]
fn a_prober_that_is_killed_frees_its_probe_by_time() {
    let (bad, stage) = probed();
    let prober = stage.command(&["chat", "?"]).env("LLMR_NOW", DUE).spawn().expect("started");
    until("the probe is under way", || bad.hits() == 4);
    signal(prober.id(), "KILL");
    assert_eq!(finish(prober).code, None);
    stage.run_at(DUE, &["chat", "?"]).exits(4);
    assert_eq!(bad.hits(), 4, "the lease still stands");
    let until = stage.run_at(DUE, &["status", "--json"]).exits(0).json()["holds"][0]["until"].clone();
    stage.run_at(until.as_str().expect("a time"), &["chat", "?"]).exits(0).prints("back\n");
}

#[test]
fn a_prober_that_is_interrupted_or_late_frees_its_probe_at_once() {
    for deadline in [None, Some("50ms")] {
        let (bad, stage) = probed();
        let args = ["chat", "?", "--deadline", deadline.unwrap_or("60s")];
        let prober = stage.command(&args).env("LLMR_NOW", DUE).spawn().expect("started");
        until("the probe is under way", || bad.hits() == 4);
        if deadline.is_none() {
            signal(prober.id(), "INT");
        }
        finish(prober).exits(if deadline.is_none() { 130 } else { 8 });
        stage.run_at(DUE, &["chat", "?"]).exits(0).prints("back\n");
        assert_eq!(bad.hits(), 5);
    }
}

#[test]
fn a_probe_at_a_patient_step_keeps_its_lease_as_long_as_it_may_take() {
    let bad = openai(vec![breaks(), breaks(), breaks(), Reply::Hang]);
    let step = "{ deployment = \"bad/m\", timeout = { total = \"500s\" } }";
    let text = config(&[("bad", &bad)]).replace("\"bad/m\"", step);
    let stage = Stage::with(&text.replace("[limits]", "[limits]\ndeadline = \"600s\""));
    for _ in 0..3 {
        stage.run(&["chat", "?"]).exits(4);
    }
    let prober = stage.command(&["chat", "?"]).env("LLMR_NOW", DUE).spawn().expect("started");
    until("the probe is under way", || bad.hits() == 4);
    let lease = number(&stage, "SELECT (lease_until - last_failure) / 1000 FROM circuits");
    signal(prober.id(), "KILL");
    finish(prober);
    assert!(lease >= 560, "{lease} s after the last failure, of which 60 s had passed");
}
