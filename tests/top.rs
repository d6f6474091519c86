//! `llmr top` in a terminal: what it shows, what keys and signals do, and that the terminal is given back.
#![cfg(test)]

use std::io::Read as _;

use portable_pty::{PtySize, native_pty_system};
use serde_json::Value;

use crate::generated::night;
use crate::stage::{NOW, Stage, until};
use crate::terminal::{Show, command};

/// Two ladders of two providers that nobody can reach; what is to be seen is recorded by hand.
const CONFIG: &str = r#"
default_ladder = "main"
[providers.near]
base_url = "http://127.0.0.1:9/v1"
wire = "openai"
[[providers.near.credentials]]
name = "k"
key = { env = "NEAR_KEY" }
[providers.far]
base_url = "http://127.0.0.1:9/v1"
wire = "openai"
[ladders.main]
steps = ["near/m@k", "far/m"]
[ladders.spare]
steps = ["far/m"]
"#;

fn stage() -> Stage {
    let mut stage = Stage::with(CONFIG);
    stage.set("NEAR_KEY", "sk-near-0123456789abcdef");
    stage.set("LANG", "C.UTF-8");
    stage.set("TERM", "xterm-256color");
    stage
}

fn fail(stage: &Stage, deployment: &str, status: &str, body: &str) {
    let done = stage.run(&["record", deployment, "--status", status, "--body", body]);
    assert_eq!(done.code, Some(0), "{}", done.err);
}

const NO_MONEY: &str = r#"{"error":{"message":"Insufficient balance: please add credits"}}"#;

#[test]
fn the_fall_is_seen_as_it_happens_and_so_is_the_way_back() {
    let stage = stage();
    let mut show = Show::start(&stage, (100, 30), &["top", "--interval", "100ms"]);
    show.shows("2 of 2 steps");
    fail(&stage, "near/m@k", "402", NO_MONEY);
    show.shows("ladder main is ONE FAILURE AWAY from exhaustion: only far/m left");
    fail(&stage, "far/m", "402", NO_MONEY);
    show.shows("LADDER main IS EXHAUSTED");
    show.shows("LADDER spare IS EXHAUSTED");
    show.press("/near\r");
    show.shows("filter: near");
    show.press("\r");
    show.shows("pay or add credits at the provider");
    show.press("\x1b");
    // Esc and a letter in one piece would be another key.
    until("the details are left", || !show.text().contains("to free it"));
    show.press("r");
    show.shows("runs  llmr reset -y -- near/m@k");
    show.press("y");
    show.shows("cleared circuit");
    until("the ladder is back", || !show.text().contains("LADDER main IS"));
    show.press("q");
    show.ends_with(0);
    let held = stage.json(&["status", "--json"]);
    assert_eq!(held["holds"].as_array().expect("holds").len(), 1, "what was reset is gone, the other stays: {held:#}");
}

#[test]
fn ctrl_c_and_signals_end_it_with_their_codes_and_the_terminal_is_given_back() {
    let stage = stage();
    let start = || {
        let show = Show::start(&stage, (80, 24), &["top"]);
        show.shows("1 ladders");
        show
    };
    let mut show = start();
    show.press("?");
    show.shows("narrow: class:auth");
    show.press("\x03");
    show.ends_with(130);
    for (signal, code) in [("TERM", 143), ("INT", 130), ("HUP", 129)] {
        let show = start();
        show.signal(signal);
        show.ends_with(code);
    }
}

#[test]
fn it_ends_when_its_terminal_is_gone() {
    let stage = stage();
    let pair = native_pty_system().openpty(PtySize::default()).expect("a terminal");
    let mut child = pair.slave.spawn_command(command(&stage, &["top"])).expect("started");
    drop(pair.slave);
    let mut reader = pair.master.try_clone_reader().expect("a reader");
    let mut seen = Vec::new();
    while !String::from_utf8_lossy(&seen).contains("ladders") {
        let mut bytes = [0; 4096];
        let count = reader.read(&mut bytes).expect("read");
        seen.extend_from_slice(&bytes[..count]);
    }
    drop(reader);
    drop(pair.master);
    until("it has ended", || child.try_wait().expect("looked").is_some());
}

#[test]
fn a_terminal_that_grows_and_shrinks_is_filled_anew() {
    let stage = stage();
    let mut show = Show::start(&stage, (80, 24), &["top", "--no-mouse"]);
    show.shows("2 deployments");
    assert!(!show.text().contains("3 quotas"), "there is no room for it");
    show.resize(200, 60);
    show.shows("3 quotas");
    show.resize(40, 12);
    until("it is narrow", || !show.text().contains("3 quotas"));
    show.shows("main well");
    for (columns, rows) in [(1, 1), (3, 2), (20, 4)] {
        show.resize(columns, rows);
    }
    show.resize(80, 24);
    show.shows("4 attempts");
    show.press("q");
    show.ends_with(0);
}

#[test]
fn it_waits_for_a_state_that_is_not_there_yet() {
    let stage = stage();
    let mut show = Show::start(&stage, (100, 30), &["top", "--interval", "100ms"]);
    show.shows("nobody was asked lately");
    assert!(!stage.state().exists(), "who looks makes no file");
    fail(&stage, "near/m@k", "402", NO_MONEY);
    show.shows("billing");
    show.press("q");
    show.ends_with(0);
}

#[test]
fn without_a_terminal_it_is_one_snapshot() {
    let stage = stage();
    fail(&stage, "near/m@k", "402", NO_MONEY);
    for args in [&["top"][..], &["top", "--once"]] {
        let done = stage.run(args);
        assert_eq!((done.code, done.err.as_str()), (Some(0), ""));
        assert!(done.out.contains("ONE FAILURE AWAY") && done.out.contains("near/m@k"), "{}", done.out);
        assert!(!done.out.contains('\u{1b}') && !done.out.contains("q quit"), "{}", done.out);
    }
    let value = stage.json(&["top", "--json", "--ladder", "main"]);
    assert_eq!((&value["now"], &value["exhausted"]), (&Value::from(NOW), &Value::Array(vec![])));
    assert_eq!(value["one_failure_away"][0], "main");
    assert_eq!(value["ladders"][0]["steps"][0]["why"], "billing");
    assert_eq!(value["ladders"].as_array().expect("a list").len(), 1);
    assert_eq!(stage.json(&["top", "--json"])["attempts"], 1);
}

#[test]
fn what_it_cannot_show_is_said() {
    let stage = stage();
    let done = stage.run(&["top", "--ladder", "mian", "--once"]);
    assert_eq!(done.code, Some(2));
    assert!(done.err.contains("there is no ladder `mian`") && done.err.contains("main, spare"), "{}", done.err);
    assert_eq!(stage.run(&["top", "--interval", "1ms"]).code, Some(2));
    let bare = Stage::bare().run(&["top", "--once"]);
    assert_eq!(bare.code, Some(0), "{}", bare.err);
    assert!(bare.out.contains("no config: no ladders are known"), "{}", bare.out);
}

#[test]
fn a_key_that_is_replaced_while_it_runs_is_seen() {
    let mut stage = Stage::with(&CONFIG.replace("{ env = \"NEAR_KEY\" }", "{ file = \"near.key\" }"));
    stage.set("LANG", "C.UTF-8");
    stage.set("TERM", "xterm-256color");
    stage.file("near.key", "sk-near-0123456789abcdef");
    fail(&stage, "near/m@k", "401", r#"{"error":{"message":"Incorrect API key provided"}}"#);
    let mut show = Show::start(&stage, (100, 30), &["top", "--interval", "100ms"]);
    show.shows("barred");
    stage.file("near.key", "sk-near-fedcba9876543210");
    show.shows("probe due");
    show.press("q");
    show.ends_with(0);
}

#[test]
fn a_locale_without_utf_8_gets_ascii() {
    let mut stage = stage();
    fail(&stage, "near/m@k", "402", NO_MONEY);
    stage.set("LC_ALL", "C");
    let done = stage.run(&["top"]);
    assert!(done.out.is_ascii() && done.out.contains("X barred"), "{}", done.out);
}

#[test]
fn what_it_shows_of_a_night_is_what_sql_counts() {
    let stage = stage();
    let sql = night(&stage.state(), NOW);
    let value = stage.json(&["top", "--json", "--span", "24h"]);
    let count = |question: &str| -> f64 {
        let question = question.replace("{A}", "FROM attempts WHERE started_at BETWEEN 1787367600001 AND 1787454000000").replace(
            "{R}",
            "FROM requests WHERE started_at BETWEEN 1787367600001 AND 1787454000000 AND outcome <> 'unfinished' AND ladder NOT IN ('probe', 'record')",
        );
        sql.query_row(&question, [], |row| row.get::<_, Option<f64>>(0)).expect(&question).unwrap_or(0.0)
    };
    let agrees = |shown: &Value, question: &str| {
        let (shown, counted) = (shown.as_f64().unwrap_or(0.0), count(question));
        assert!(
            (shown - counted).abs() <= 1e-6 * counted.abs().max(1.0),
            "{question}: {shown} is shown, {counted} counted"
        );
    };
    assert!(count("SELECT count(*) {A}") > 90_000.0, "there is something to count");
    agrees(&value["attempts"], "SELECT count(*) {A}");
    agrees(&value["requests"], "SELECT count(*) {R}");
    agrees(&value["answered"], "SELECT count(*) {R} AND outcome = 'answered'");
    agrees(&value["exhausted_requests"], "SELECT count(*) {R} AND outcome IN ('exhausted', 'needs_person')");
    agrees(&value["depth"], "SELECT avg(step) {R} AND outcome = 'answered'");
    agrees(&value["retries_denied"], "SELECT sum(retries_denied) {R}");
    agrees(&value["cost_usd"], "SELECT sum(cost_usd) {A}");
    agrees(&value["input_tokens"], "SELECT sum(input_tokens) {A}");
    let rank = |column: &str, rows: &str| {
        format!(
            "SELECT {column} / 1e6 {rows} ORDER BY {column} LIMIT 1 OFFSET \
             (SELECT (count(*) * 95 + 99) / 100 - 1 {rows})"
        )
    };
    agrees(&value["latency_p95_s"], &rank("latency_us", "{R} AND outcome = 'answered'"));
    agrees(
        &value["ttft_p95_s"],
        &rank("ttft_us", "{A} AND class IS NULL AND given_up IS NULL AND ttft_us IS NOT NULL"),
    );
    for (class, shown) in value["classes"].as_object().expect("classes") {
        agrees(shown, &format!("SELECT count(*) {{A}} AND given_up IS NULL AND class = '{class}'"));
    }
    for one in value["deployments"].as_array().expect("deployments").iter().take(40) {
        let name = one["deployment"].as_str().expect("a name");
        let who = format!("provider || '/' || model || iif(credential = '', '', '@' || credential) = '{name}'");
        agrees(&one["attempts"], &format!("SELECT count(*) {{A}} AND {who}"));
        agrees(
            &one["failures"],
            &format!("SELECT count(*) {{A}} AND given_up IS NULL AND class IS NOT NULL AND {who}"),
        );
    }
    for one in value["ladders"].as_array().expect("ladders") {
        let name = one["ladder"].as_str().expect("a name");
        let fell = "outcome IN ('exhausted', 'needs_person')";
        agrees(&one["exhausted_requests"], &format!("SELECT count(*) {{R}} AND {fell} AND ladder = '{name}'"));
        agrees(&one["depth"], &format!("SELECT avg(step) {{R}} AND outcome = 'answered' AND ladder = '{name}'"));
    }
}
