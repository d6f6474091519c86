//! A ladder that opens because its requests fall through, as a person and many processes see it.
#![cfg(test)]

use std::io::BufRead;
use std::process::Child;

use llmr::rehearsal::{Provider, Reply};
use serde_json::{Value, json};

use crate::stage::{Stage, config, finish, keys, openai, signal, until};

/// A failure that nobody understands, and that leaves no hold.
fn strange() -> Reply {
    Reply::status(418, json!({"error": {"message": "The frobnicator is out of phase."}}))
}

/// A stage whose ladder goes on after what nobody understands, with this said of it besides.
fn stage(lab: &Provider, besides: &str) -> Stage {
    let with = format!("[ladders.main]\non_unknown = \"next\"\n{besides}\n");
    Stage::with(&config(&[("lab", lab)]).replace("[ladders.main]\n", &with))
}

fn fall_through(stage: &Stage, times: usize) {
    (0..times).for_each(|_| drop(stage.run(&["chat", "?"]).exits(4).says(&["alarm:"])));
}

fn cascade(stage: &Stage) -> Value {
    stage.json(&["status", "--json"])["ladders"][0]["cascade"].clone()
}

const OPEN: &str = "ladder main: OPEN until 2026-08-23T03:00:30Z (in 30s) after 10 exhausted requests in a row";

#[test]
fn after_ten_in_a_row_it_answers_at_once_and_says_so_everywhere() {
    let lab = openai(strange());
    let stage = stage(&lab, "");
    fall_through(&stage, 9);
    let nine = json!({"state": "closed", "streak": 9, "since": "2026-08-23T03:00:00Z", "until": null});
    assert_eq!(cascade(&stage), nine);
    fall_through(&stage, 1);

    let turned_away = stage.run(&["chat", "--request-id", "away", "?"]).exits(4).prints("");
    let why = "error: exhausted: ladder main fell through 10 times in a row and rests until 2026-08-23T03:00:30Z; \
               it was last: lab/m says unknown: The frobnicator is out of phase.";
    assert!(!turned_away.err.contains("alarm:"), "it rang when the ladder opened: {}", turned_away.err);
    turned_away.says(&[why, "lab/m  not asked: the ladder rests, until 2026-08-23T03:00:30Z", "llmr reset main"]);
    let chat = stage.run(&["chat", "--json", "?"]).exits(4).json();
    assert_eq!((&chat["exhausted"], &chat["attempts"]), (&json!(true), &json!([])));
    let skip = json!([{"deployment": "lab/m", "step": 0, "reason": "ladder_open", "until": "2026-08-23T03:00:30Z",
        "provenance": null}]);
    assert_eq!((&chat["retry_at"], &chat["skipped"]), (&json!("2026-08-23T03:00:30Z"), &skip));
    let logged = stage.json(&["log", "--json", "away"]);
    assert_eq!((&logged["outcome"], &logged["attempts"]), (&json!("exhausted"), &json!([])));

    let open = json!({"state": "open", "streak": 10, "since": "2026-08-23T03:00:00Z", "until": "2026-08-23T03:00:30Z"});
    assert_eq!(cascade(&stage), open);
    let text = stage.run(&["status"]).exits(0).out.replace('\n', " ");
    assert!(text.contains(OPEN) && text.contains("one request may look then"), "{text}");
    let plan = stage.json(&["plan", "--json"]);
    assert_eq!((&plan["cascade"], &plan["order"], &plan["skipped"]), (&open, &json!([]), &skip));
    let text = stage.run(&["plan"]).exits(0).out;
    assert!(text.contains("OPEN until") && text.contains("nobody: the ladder turns requests away"), "{text}");
    assert_eq!(lab.hits(), 10, "nothing was sent");

    stage.run(&["chat", "-m", "lab/m", "?"]).exits(6);
    stage.run(&["chat", "--pin", "lab", "?"]).exits(4);
    assert_eq!((lab.hits(), cascade(&stage)), (12, open), "who names whom to ask is not turned away, nor counted");
}

#[test]
fn a_reset_of_the_ladder_of_a_step_or_of_all_opens_it_to_all() {
    for (args, told) in [
        (&["main"][..], true),
        (&["lab"], true),
        (&["--all"], true),
        (&["main", "--cooldown"], false),
        (&["mains"], false),
        (&["main", "--dry-run"], false),
    ] {
        let lab = openai(strange());
        let stage = stage(&lab, "cascade = { after = 1, open = \"30s\" }");
        fall_through(&stage, 1);
        let done = stage.run(&[&["reset"], args].concat()).exits(0);
        let cleared = "cleared ladder main: OPEN until 2026-08-23T03:00:30Z (in 30s) after 1 exhausted request";
        assert_eq!(done.out.starts_with(cleared), told, "{args:?}: {}", done.out);
        assert_eq!(done.err.contains("warning:"), args == ["mains"], "{args:?}: {}", done.err);
        assert_eq!(cascade(&stage) == Value::Null, told, "{args:?}");
        stage.run(&["chat", "?"]).exits(4);
        assert_eq!(lab.hits(), if told { 2 } else { 1 }, "{args:?}");
    }
    let lab = openai(strange());
    let stage = stage(&lab, "cascade = { after = 1 }");
    fall_through(&stage, 1);
    let reset = stage.json(&["reset", "--json", "main"]);
    assert_eq!((&reset["ladders"], &reset["cleared"]), (&json!(["main"]), &json!([])));
    stage.run(&["reset", "main"]).exits(0).prints("nothing to clear\n");
}

#[test]
fn when_a_person_must_act_at_every_step_the_code_says_so() {
    let bad = openai(Reply::status(401, json!({"error": {"message": "Incorrect API key provided"}})));
    let text = config(&[("bad", &bad)]).replace("[ladders.main]", "[ladders.main]\ncascade = { after = 2 }");
    let mut stage = Stage::with(&format!("{text}{}", keys("bad", &[("own", "{ env = \"LAB_KEY\" }")])));
    stage.set("LAB_KEY", "not-a-real-key-number-one");
    (0..2).for_each(|_| drop(stage.run(&["chat", "?"]).exits(5).says(&["a person must act", "alarm:"])));
    stage
        .run(&["chat", "?"])
        .exits(5)
        .says(&["ladder main fell through 2 times in a row", "bad/m@own  not asked: auth"]);
    assert_eq!(cascade(&stage)["state"], json!("open"));
    stage.set("LAB_KEY", "not-a-real-key-number-two");
    stage.run(&["chat", "?"]).exits(5);
    assert_eq!(bad.hits(), 2, "another key is tried at once");
}

#[test]
fn a_ladder_that_is_not_to_open_does_not() {
    let lab = openai(strange());
    let stage = stage(&lab, "cascade = \"off\"");
    fall_through(&stage, 12);
    assert_eq!((lab.hits(), cascade(&stage)), (12, Value::Null));
}

#[test]
fn who_waits_goes_on_once_the_ladder_is_opened() {
    let lab = openai(vec![strange(), Reply::answer("awake")]);
    let stage = stage(&lab, "cascade = { after = 1, open = \"5m\" }");
    fall_through(&stage, 1);
    let mut waits = stage.command(&["chat", "--wait", "2h", "--deadline", "2h", "?"]).spawn().expect("started");
    let mut err = std::io::BufReader::new(waits.stderr.take().expect("a pipe"));
    let mut line = String::new();
    until("it waits", || {
        line.clear();
        err.read_line(&mut line).expect("a line");
        line.contains("waiting")
    });
    assert_eq!(lab.hits(), 1);
    stage.run(&["reset", "main"]).exits(0);
    finish(waits).exits(0).prints("awake\n");
}

/// When the ladder that fell through once may be looked at.
const DUE: &str = "2026-08-23T03:00:30Z";

#[test]
fn of_many_processes_one_looks_and_the_others_are_turned_away() {
    let lab = openai(vec![strange(), Reply::SlowDrip { text: "back again at last".into(), every_ms: 60 }]);
    let stage = stage(&lab, "cascade = { after = 1 }");
    fall_through(&stage, 1);
    let start = |_| stage.command(&["chat", "--stream", "?"]).env("LLMR_NOW", DUE).spawn().expect("started");
    let first = start(0);
    until("somebody looks", || lab.hits() == 2);
    let others: Vec<Child> = (0..6).map(start).collect();
    let others: Vec<_> = others.into_iter().map(finish).collect();
    finish(first).exits(0);
    // Who came after the first had its answer may have gone as well.
    let answered = others.iter().filter(|done| done.code == Some(0)).count();
    assert_eq!(lab.hits(), 2 + answered);
    assert!(answered < others.len(), "nobody was turned away");
    let turned_away = others.into_iter().filter(|done| done.code != Some(0));
    turned_away.for_each(|done| drop(done.exits(4).says(&["others look just now whether it is back"])));
}

#[test]
fn who_is_killed_while_it_looks_frees_its_slot_by_time() {
    let lab = openai(vec![strange(), Reply::Hang, Reply::answer("back")]);
    let stage = stage(&lab, "cascade = { after = 1 }\ndeadline = \"20s\"");
    fall_through(&stage, 1);
    let looks = stage.command(&["chat", "?"]).env("LLMR_NOW", DUE).spawn().expect("started");
    until("it looks", || lab.hits() == 2);
    signal(looks.id(), "KILL");
    finish(looks);
    stage.run_at("2026-08-23T03:00:59Z", &["chat", "?"]).exits(4);
    assert_eq!(lab.hits(), 2);
    stage.run_at("2026-08-23T03:01:00Z", &["chat", "?"]).exits(0).prints("back\n");
}
