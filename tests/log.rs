//! `llmr log`: what each filter leaves, and what a follower sees.
#![cfg(test)]

use llmr::rehearsal::Reply;
use serde_json::{Value, json};

use crate::stage::{Follower, Stage, openai};

/// Three requests: `r1` answered by `good`, `r2` answered after `bad` failed, `r3` without an answer.
fn three() -> Stage {
    let bad = openai(Reply::status(500, "oops"));
    let good = openai(Reply::answer("yes"));
    let text = crate::stage::config(&[("bad", &bad), ("good", &good)]) + "[ladders.dead]\nsteps = [\"bad/m\"]\n";
    let stage = Stage::with(&text);
    for (now, args, code) in [
        ("2026-08-23T01:00:00Z", &["-m", "good/m", "--request-id", "r1"][..], 0),
        ("2026-08-23T02:00:00Z", &["--request-id", "r2"], 0),
        ("2026-08-23T03:00:00Z", &["-m", "dead", "--request-id", "r3"], 4),
    ] {
        let args: Vec<&str> = ["chat", "?"].into_iter().chain(args.iter().copied()).collect();
        stage.run_at(now, &args).exits(code);
    }
    stage
}

fn ids(out: &str) -> Vec<String> {
    let id = |line: &str| serde_json::from_str::<Value>(line).expect("JSON")["request_id"].as_str().map(str::to_owned);
    out.lines().map(|line| id(line).expect("an id")).collect()
}

#[test]
fn each_filter_leaves_what_it_says() {
    let stage = three();
    for (filter, left) in [
        (&[][..], &["r1", "r2", "r3"][..]),
        (&["--class", "server_error"], &["r2", "r3"]),
        (&["--class", "billing,server_error"], &["r2", "r3"]),
        (&["--class", "billing"], &[]),
        (&["--since", "90m"], &["r2", "r3"]),
        (&["--until", "2026-08-23T02:00:00Z"], &["r1"]),
        (&["--since", "2026-08-23T02:00:00Z", "--until", "1m"], &["r2"]),
        (&["--provider", "bad"], &["r2", "r3"]),
        (&["--provider", "bad", "--provider", "good"], &["r1", "r2", "r3"]),
        (&["--provider", "good"], &["r1", "r2"]),
        (&["--deployment", "good/m"], &["r1", "r2"]),
        (&["--deployment", "good/m@key"], &[]),
        (&["--ladder", "dead"], &["r3"]),
        (&["--outcome", "answered"], &["r1", "r2"]),
        (&["--outcome", "answered,exhausted", "-n", "2"], &["r2", "r3"]),
        (&["--failed"], &["r3"]),
        (&["--failed", "--provider", "good"], &[]),
        (&["-n", "0"], &[]),
    ] {
        let args: Vec<&str> = ["log", "--json"].into_iter().chain(filter.iter().copied()).collect();
        assert_eq!(ids(&stage.run(&args).exits(0).out), left, "{filter:?}");
        let lines = stage.run(&[&["log"], filter].concat()).exits(0).out;
        for id in ["r1", "r2", "r3"] {
            assert_eq!(lines.contains(&format!(" {id} ")), left.contains(&id), "{filter:?}: {lines}");
        }
    }
    stage.run(&["log", "--class", "billing"]).exits(0).prints("no request in the log is like that\n");
    stage.run(&["log", "--provider", "good", "r1"]).exits(2);
}

#[test]
fn a_trail_names_the_holds_that_still_stand() {
    let spent = openai(Reply::status(402, json!({"error": {"message": "Insufficient credits"}})));
    let stage = Stage::of(&[("spent", &spent)]);
    stage.run(&["chat", "?"]).exits(5);
    let hold = stage.hold();
    let (id, request) = (hold["id"].as_str().expect("an id"), hold["request_id"].as_str().expect("a request"));
    let trail = stage.run(&["log", request]).exits(0).out;
    assert!(trail.contains(&format!("still held: circuit {id} spent")), "{trail}");
    stage.run(&["reset", id]).exits(0);
    assert!(!stage.run(&["log", request]).exits(0).out.contains("still held"));
}

#[test]
fn a_follower_sees_each_end_once_and_ctrl_c_is_130() {
    for format in [&["--json"][..], &[]] {
        let stage = three();
        let mut follower = Follower::of(&stage, &[&["-n", "1", "--provider", "good"], format].concat());
        // What was there before, of which the newest is wanted.
        assert!(follower.line().contains("r2"));
        for (id, args) in [("r4", &[][..]), ("r5", &["-m", "dead"]), ("r6", &["-m", "good/m"])] {
            stage.run(&[&["chat", "?", "--request-id", id], args].concat());
        }
        let (fourth, sixth) = (follower.line(), follower.line());
        assert!(fourth.contains("r4") && sixth.contains("r6"), "{fourth}{sixth}");
        let done = follower.stop().exits(130);
        assert_eq!(done.err, "");
        assert_eq!(follower.line(), "", "nothing comes twice");
    }
}

#[test]
fn a_follower_waits_for_the_first_file_and_for_the_end_of_what_has_begun() {
    let stage = three();
    let unfinished = "INSERT INTO requests (id, ladder, started_at, latency_us, outcome, place) VALUES ('r0', '', \
                      1787454000000, 0, 'unfinished', 0)";
    stage.sql().execute(unfinished, []).expect("written");
    let mut follower = Follower::of(&stage, &["--json"]);
    let shown: Vec<String> = (0..3).flat_map(|_| ids(&follower.line())).collect();
    assert_eq!(shown, ["r1", "r2", "r3"]);
    let ends = "UPDATE requests SET outcome = 'answered', place = 100 WHERE id = 'r0'";
    stage.sql().execute(ends, []).expect("written");
    assert_eq!(ids(&follower.line()), ["r0"]);
    follower.stop().exits(130);

    let good = openai(Reply::answer("yes"));
    let stage = Stage::of(&[("good", &good)]);
    let mut follower = Follower::of(&stage, &["--json", "--outcome", "answered"]);
    stage.run(&["chat", "?", "--request-id", "r1"]).exits(0);
    assert_eq!(ids(&follower.line()), ["r1"]);
    follower.stop().exits(130);
}
