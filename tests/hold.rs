//! `llmr hold`: what a person bars is not asked, whatever anybody says, until the person says so or its time has come.
#![cfg(test)]

use std::collections::BTreeMap;

use llmr::rehearsal::{Provider, Reply};
use serde_json::{Value, json};

use crate::stage::{Stage, config, declared, keys, openai};

/// An hour after [`crate::stage::NOW`].
const LATER: &str = "2026-08-23T04:00:00Z";

/// Two providers, one of them with two keys, and a second ladder.
fn stage_of_two(a: &Provider, b: &Provider) -> Stage {
    let two = [("first", "{ env = \"KEY_ONE\" }"), ("second", "{ env = \"KEY_TWO\" }")];
    let mut stage = Stage::with(&format!(
        "default_ladder = \"main\"\n[limits]\nretry_budget = 0\n[ladders.main]\nsteps = [\"a/m\", \"b/m\"]\n\
         [ladders.small]\nsteps = [\"a/m@second\"]\n{}{}{}{}",
        declared("a", a),
        keys("a", &two),
        declared("b", b),
        keys("b", &[("first", "{ env = \"KEY_ONE\" }")])
    ));
    stage.set("KEY_ONE", "not-a-real-key-number-one");
    stage.set("KEY_TWO", "not-a-real-key-number-two");
    stage
}

fn scopes(object: &Value) -> Vec<&str> {
    object.as_array().expect("a list").iter().map(|hold| hold["scope"].as_str().expect("a scope")).collect()
}

#[test]
fn who_is_held_by_hand_is_not_asked_and_everybody_says_why() {
    let (a, b) = (openai(Reply::answer("a")), openai(Reply::answer("b")));
    let stage = Stage::of(&[("a", &a), ("b", &b)]);
    stage.run(&["hold", "a", "--why", "moving house", "-y"]).exits(0).prints(
        "held a (b1) by hand until `llmr reset a`: moving house\n\
         ladder main has 1 of 2 left to ask; it keeps back a/m\n",
    );
    stage.run(&["chat", "?"]).exits(0).prints("b\n");
    assert_eq!((a.hits(), b.hits()), (0, 1));
    let hold = stage.hold();
    for (name, value) in [
        ("id", json!("b1")),
        ("kind", json!("circuit")),
        ("scope", json!("a")),
        ("provenance", json!("operator")),
        ("class", json!("permission")),
        ("evidence", json!("moving house")),
        ("until", Value::Null),
        ("probe_at", Value::Null),
        ("request_id", Value::Null),
    ] {
        assert_eq!(hold[name], value, "{name} of {hold}");
    }
    let status = stage.json(&["status", "--json", "a"]);
    let deployment = &status["deployments"][0];
    assert_eq!(
        (&deployment["eligible"], &deployment["reason"], &deployment["until"], &deployment["provenance"]),
        (&json!(false), &json!("operator"), &Value::Null, &json!("operator"))
    );
    assert_eq!(deployment["circuit"]["state"], json!("open"));
    let skipped = &stage.json(&["plan", "--json"])["skipped"];
    assert_eq!((&skipped[0]["reason"], &skipped[0]["provenance"]), (&json!("operator"), &json!("operator")));
    let plan = stage.run(&["plan"]).exits(0).out;
    assert!(plan.contains("a/m  not asked: held by hand: moving house (operator)\n"), "{plan}");
    let guard = stage.run(&["guard", "a/m"]).exits(4);
    assert_eq!(guard.out, "held a/m by hand until a person acts, operator: moving house\n");
    guard.says(&["hint: somebody holds it by hand; `llmr reset a` lifts that"]);
    let text = stage.run(&["status"]).exits(0).out;
    for words in
        ["0  held b1  a/m  by hand  a person acts  operator", "by hand (circuit); until somebody resets it; set now"]
    {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn no_call_and_no_key_lifts_it_and_a_failure_is_counted_beside_it() {
    let lab = openai(Reply::answer("yes"));
    let text = format!("[ladders.main]\nsteps = [\"lab/m\"]\n{}", declared("lab", &lab));
    let mut stage = Stage::with(&format!("{text}{}", keys("lab", &[("own", "{ env = \"LAB_KEY\" }")])));
    stage.set("LAB_KEY", "the-first-key-of-the-lab");
    stage.run(&["hold", "lab/m@own", "-y"]).exits(0);
    stage.run(&["record", "lab/m", "--ok"]).exits(0).prints("recorded lab/m@own: answered\n");
    stage.run(&["record", "lab/m", "--status", "401"]).exits(0);
    let status = stage.json(&["status", "--json"]);
    assert_eq!(scopes(&status["holds"]), ["lab/m@own", "lab@own"], "{status:#}");
    assert_eq!(status["deployments"][0]["reason"], json!("operator"), "it lasts longest");
    stage.set("LAB_KEY", "another-key-of-the-lab");
    for args in [&["chat", "?"][..], &["chat", "-m", "lab/m", "?"]] {
        stage.run(args).exits(5).says(&["held by hand", "llmr status --held"]);
    }
    stage.run_at("2027-08-23T03:00:00Z", &["probe"]).exits(0).prints("nothing is due\n");
    assert_eq!(lab.hits(), 0);
    let reset = stage.run(&["reset", "b1"]).exits(0).out;
    assert!(reset.starts_with("cleared circuit b1 lab/m@own: held by hand, until somebody resets it\n"), "{reset}");
    // Another key is there, which the circuit of the first lets try.
    stage.run(&["chat", "?"]).exits(0).prints("yes\n");
    assert_eq!(stage.json(&["status", "--json"])["holds"], json!([]));
}

#[test]
fn one_that_is_held_for_some_time_passes_by_itself_and_without_a_probe() {
    let (a, b) = (openai(Reply::answer("a")), openai(Reply::answer("b")));
    for args in [["--for", "1h"], ["--until", LATER]] {
        let stage = Stage::of(&[("a", &a), ("b", &b)]);
        let both = [&["hold", "a", "b/m", "-y"], &args[..]].concat();
        let done = stage.run(&both).exits(0).out;
        assert!(done.starts_with("held a (b1) by hand until 2026-08-23T04:00:00Z (in 1h)\n"), "{done}");
        assert!(done.contains("ladder main has NOBODY left to ask; it keeps back a/m, b/m\n"), "{done}");
        stage.run(&["chat", "?"]).exits(4).says(&["a/m  not asked: held by hand, until 2026-08-23T04:00:00Z (in 1h)"]);
        let before = stage.run_at("2026-08-23T03:59:59Z", &["guard", "a/m"]).exits(4).out;
        assert_eq!(before, "held a/m by hand until 2026-08-23T04:00:00Z (in 1s), operator\n");
        stage.run_at(LATER, &["guard", "a/m"]).exits(0).prints("ok a/m\n");
        let told = stage.run_at(LATER, &["chat", "--json", "?"]).exits(0).json();
        assert_eq!((&told["deployment"], &told["attempts"][0]["kind"]), (&json!("a/m"), &json!("first")));
        let status = stage.run_at(LATER, &["status", "--json"]).json();
        assert_eq!((&status["holds"], &status["deployments"][0]["circuit"]["state"]), (&json!([]), &json!("closed")));
    }
}

#[test]
fn a_selector_is_the_scope_and_the_ladders_are_told() {
    for (selector, scope, left) in [
        ("a", vec!["a"], [1, 0]),
        ("b", vec!["b"], [2, 9]),
        ("a/m", vec!["a/m"], [1, 0]),
        ("a/m@first", vec!["a/m@first"], [2, 9]),
        ("a@second", vec!["a@second"], [2, 0]),
        ("@first", vec!["a@first", "b@first"], [1, 9]),
        ("@second", vec!["a@second"], [2, 0]),
    ] {
        let (a, b) = (openai(Reply::answer("a")), openai(Reply::answer("b")));
        let stage = stage_of_two(&a, &b);
        let would = stage.json(&["hold", selector, "--dry-run", "--json"]);
        assert!(!stage.state().exists(), "a dry run leaves nothing behind");
        assert_eq!((&would["dry_run"], &would["held"][0]["id"]), (&json!(true), &Value::Null));
        let done = stage.json(&["hold", selector, "-y", "--json"]);
        for told in [&would, &done] {
            assert_eq!(scopes(&told["held"]), scope, "{selector}");
            let ladders: BTreeMap<&str, u64> = told["ladders"]
                .as_array()
                .expect("a list")
                .iter()
                .map(|one| (one["ladder"].as_str().expect("a name"), one["left"].as_u64().expect("a number")))
                .collect();
            let of = |name: &str| ladders.get(name).copied().unwrap_or(9);
            assert_eq!([of("main"), of("small")], left, "{selector}: {told:#}");
        }
        assert_eq!(done["held"][0]["id"], json!("b1"));
        stage.run(&["reset", selector]).exits(0);
        assert_eq!(stage.json(&["status", "--json"])["holds"], json!([]), "{selector}");
    }
}

#[test]
fn held_again_it_has_the_new_time_and_reason() {
    let lab = openai(Reply::answer("yes"));
    let stage = Stage::of(&[("lab", &lab)]);
    stage.run(&["hold", "lab", "--for", "1h", "--why", "one", "-y"]).exits(0);
    let done = stage.run(&["hold", "lab", "--why", "two", "-y"]).exits(0).out;
    let line = "held lab (b1) by hand until `llmr reset lab`: two (before: until 2026-08-23T04:00:00Z (in 1h))\n";
    assert!(done.starts_with(line), "{done}");
    let hold = stage.hold();
    assert_eq!((&hold["until"], &hold["evidence"], &hold["id"]), (&Value::Null, &json!("two"), &json!("b1")));
}

#[test]
fn a_word_to_which_nothing_answers_holds_nothing() {
    let (a, b) = (openai(Reply::answer("a")), openai(Reply::answer("b")));
    let stage = stage_of_two(&a, &b);
    for (args, words) in [
        (&["hold", "a", "a/mm"][..], &["`a/mm`", "did you mean `a/m`?"][..]),
        (&["hold", "@frist"], &["`@frist`", "did you mean `@first`?"]),
        (&["hold", "nobody-at-all"], &["`nobody-at-all`", "llmr status"]),
        (&["hold", "main"], &["`main` is a ladder", "`a/m@first`, `a/m@second`, `b/m@first`"]),
        (&["hold", "a@b@"], &["a@b@"]),
        (&["hold"], &["SELECTOR"]),
        (&["hold", "a", "--for", "0s"], &["over already"]),
        (&["hold", "a", "--until", "2026-08-23T02:59:59Z"], &["over already"]),
        (&["hold", "a", "--until", "tomorrow"], &["--until tomorrow", "2026-08-23T03:00:00Z"]),
        (&["hold", "a", "--for", "1h", "--until", LATER], &["cannot be used with"]),
    ] {
        stage.run(args).exits(2).says(words);
        assert!(!stage.state().exists(), "{args:?}");
    }
    stage.run(&["hold", "a", "-y"]).exits(0);
    stage.run(&["hold", "b1"]).exits(2).says(&["`b1` is a hold already", "`a`"]);
}

#[test]
fn what_the_config_knows_beside_its_ladders_can_be_held() {
    let (lab, spare) = (openai(Reply::answer("yes")), openai(Reply::answer("no")));
    let text = config(&[("lab", &lab)]);
    let stage = Stage::with(&format!("{text}{}", declared("spare", &spare)));
    let done = stage.run(&["hold", "spare", "-y"]).exits(0).out;
    assert_eq!(done, "held spare (b1) by hand until `llmr reset spare`\nno ladder asks it\n");
    stage.run(&["chat", "-m", "spare/x", "?"]).exits(5);
    assert_eq!(spare.hits(), 0);
    // A model of a provider of the catalogue that no ladder names.
    stage.run(&["hold", "groq/llama-3.3-70b-versatile", "-y"]).exits(0);
    stage
        .run(&["hold", "groq/llama-3.3-70b-versatil"])
        .exits(2)
        .says(&["did you mean `groq/llama-3.3-70b-versatile`?"]);
}

#[test]
fn a_last_resort_that_is_held_by_hand_is_not_asked_either() {
    let (a, b) = (openai(Reply::answer("a")), openai(Reply::answer("b")));
    let text = config(&[("a", &a)]).replace("[ladders.main]\n", "[ladders.main]\nlast_resort = \"b/m\"\n");
    let stage = Stage::with(&format!("{text}{}", declared("b", &b)));
    let done = stage.run(&["hold", "a", "-y"]).exits(0).out;
    assert!(done.contains("ladder main has 1 of 2 left to ask"), "{done}");
    stage.run(&["chat", "?"]).exits(0).prints("b\n");
    stage.run(&["hold", "b", "--for", "1h", "-y"]).exits(0);
    stage.run(&["chat", "?"]).exits(5);
    assert_eq!((a.hits(), b.hits()), (0, 1));
}

#[test]
fn a_key_in_the_reason_is_not_kept() {
    let lab = openai(Reply::answer("yes"));
    let text = format!("[ladders.main]\nsteps = [\"lab/m\"]\n{}", declared("lab", &lab));
    let mut stage = Stage::with(&format!("{text}{}", keys("lab", &[("own", "{ env = \"LAB_KEY\" }")])));
    stage.set("LAB_KEY", "the-first-key-of-the-lab");
    stage.run(&["hold", "lab", "--why", "the-first-key-of-the-lab leaked\u{1b}[2J", "-y"]).exits(0);
    let kept = stage.hold()["evidence"].as_str().expect("a text").to_owned();
    assert!(kept.contains(" leaked"), "{kept}");
    assert!(!kept.contains('\u{1b}') && !kept.contains("the-first-key"), "{kept}");
    let bytes = stage.state_bytes();
    assert!(!bytes.windows(12).any(|window| window == b"the-first-ke"), "the key is in the state file");
}
