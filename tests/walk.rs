//! The walk down a ladder as a person sees it: retries, chains, flags, keys and the alarm.
#![cfg(test)]

use std::collections::BTreeMap;

use llmr::rehearsal::{Case, Provider, Reply, Script};
use serde_json::{Value, json};

use crate::stage::{Stage, config, declared, keys, openai, until};

fn error(status: u16, message: &str) -> Reply {
    Reply::status(status, json!({"error": {"message": message}}))
}

fn limited(seconds: u32) -> Reply {
    let headers = BTreeMap::from([("retry-after".to_owned(), seconds.to_string())]);
    let body = json!({"error": {"message": "Rate limit reached: too many requests per minute"}});
    Reply::Status { status: 429, headers, body }
}

/// Deployment, kind and class of each attempt.
fn attempts(chat: &Value) -> Vec<String> {
    let attempts = chat["attempts"].as_array().expect("a list").iter();
    let word = |value: &Value| value.as_str().unwrap_or("answered").to_owned();
    attempts.map(|one| format!("{} {} {}", word(&one["deployment"]), word(&one["kind"]), word(&one["class"]))).collect()
}

/// Why each step was skipped.
fn skipped(chat: &Value) -> Vec<String> {
    let skipped = chat["skipped"].as_array().expect("a list").iter();
    let word = |value: &Value| value.as_str().expect("a word").to_owned();
    skipped.map(|one| format!("{} {}", word(&one["deployment"]), word(&one["reason"]))).collect()
}

#[test]
fn a_transient_fault_is_retried_once_and_the_budget_is_shared_by_all_processes() {
    let shaky =
        openai(vec![error(503, "overloaded"), Reply::answer("one"), error(503, "overloaded"), Reply::answer("never")]);
    let good = openai(Reply::answer("two"));
    let text = config(&[("shaky", &shaky), ("good", &good)]);
    let stage = Stage::with(&text.replace("retry_budget = 0", "retry_budget = 1"));
    let first = stage.json(&["chat", "--json", "?"]);
    assert_eq!(attempts(&first), ["shaky/m first overloaded", "shaky/m retry answered"]);
    let second = stage.json(&["chat", "--json", "?"]);
    assert_eq!(
        attempts(&second),
        ["shaky/m first overloaded", "good/m first answered"],
        "the minute's one retry is spent"
    );
    stage.run_at("2026-08-23T03:01:01Z", &["chat", "?"]).exits(0).prints("never\n");
}

#[test]
fn a_limit_is_never_retried_within_a_request() {
    let (slow, good) = (openai(limited(1)), openai(Reply::answer("yes")));
    let stage =
        Stage::with(&config(&[("slow", &slow), ("good", &good)]).replace("retry_budget = 0", "retry_budget = 9"));
    stage.run(&["chat", "?"]).exits(0).prints("yes\n");
    assert_eq!(slow.hits(), 1);
}

#[test]
fn a_key_that_was_replaced_is_tried_at_once() {
    let case = |key: &str, reply: Reply| Case { key: Some(key.to_owned()), replies: vec![reply], ..Case::default() };
    let cases = vec![
        case("not-a-real-key-number-one", error(401, "Incorrect API key provided")),
        case("not-a-real-key-number-two", Reply::answer("welcome")),
    ];
    let lab = openai(Script { replies: vec![], cases });
    let mut stage =
        Stage::with(&format!("{}{}", config(&[("lab", &lab)]), keys("lab", &[("own", "{ env = \"LAB_KEY\" }")])));
    stage.set("LAB_KEY", "not-a-real-key-number-one");
    stage.run(&["chat", "?"]).exits(5);
    stage.run(&["chat", "?"]).exits(5);
    assert_eq!(lab.hits(), 1);
    stage.set("LAB_KEY", "not-a-real-key-number-two");
    stage.run(&["chat", "?"]).exits(0).prints("welcome\n");
    assert_eq!(stage.json(&["status", "--json"])["holds"], json!([]));
}

#[test]
fn what_is_too_large_or_filtered_goes_to_its_own_ladder() {
    let small = openai(vec![
        error(400, "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens."),
        error(400, "The response was filtered due to the prompt triggering content management policy."),
    ]);
    let (wide, lenient, next) =
        (openai(Reply::answer("wide")), openai(Reply::answer("lenient")), openai(Reply::answer("next")));
    let text = config(&[("small", &small), ("next", &next)]);
    let text =
        text.replace("[ladders.main]", "[ladders.main]\ncontext_window = \"wide\"\ncontent_policy = \"lenient\"");
    let stage = Stage::with(&format!(
        "{text}[ladders.wide]\nsteps = [\"w/big\"]\n[ladders.lenient]\nsteps = [\"l/free\"]\n{}{}",
        declared("w", &wide),
        declared("l", &lenient)
    ));
    stage.run(&["chat", "?"]).exits(0).prints("wide\n");
    stage.run(&["chat", "?"]).exits(0).prints("lenient\n");
    assert_eq!(
        (small.hits(), next.hits()),
        (2, 0),
        "the step that refused is asked once each, and the next not at all"
    );
}

#[test]
fn the_last_resort_is_asked_under_a_limit_but_not_with_a_bad_key() {
    for (reply, code, hits) in [(limited(600), 0, 2), (error(401, "Incorrect API key provided"), 5, 1)] {
        let lab = openai(vec![reply, Reply::answer("after all")]);
        let text = config(&[("lab", &lab)]).replace("[ladders.main]", "[ladders.main]\nlast_resort = \"lab/m\"");
        let stage = Stage::with(&text);
        let first = stage.run(&["chat", "?"]);
        assert!(matches!(first.code, Some(4 | 5)), "it was asked once for this request already: {first:?}");
        stage.run(&["chat", "?"]).exits(code);
        assert_eq!(lab.hits(), hits);
    }
}

fn three() -> (Vec<Provider>, Stage) {
    let bad = || openai(error(403, "Country, region, or territory not supported"));
    let providers = vec![bad(), bad(), openai(Reply::answer("yes"))];
    let names = ["a", "b", "c"];
    let parts: Vec<(&str, &Provider)> = names.into_iter().zip(&providers).collect();
    let stage = Stage::of(&parts);
    (providers, stage)
}

#[test]
fn flags_narrow_who_is_asked() {
    for (flags, code, hits, reasons) in [
        (&["--no-fallback"][..], 5, [1, 0, 0], &["b/m no_fallback", "c/m no_fallback"][..]),
        (&["--pin", "c"], 0, [0, 0, 1], &["a/m not_pinned", "b/m not_pinned"]),
        (&["--exclude", "a", "--exclude", "b"], 0, [0, 0, 1], &["a/m excluded", "b/m excluded"]),
        (&["--max-steps", "2"], 5, [1, 1, 0], &["c/m not_needed"]),
        (&["-m", "b/m"], 5, [0, 1, 0], &[]),
        (&["-m", "c/other"], 0, [0, 0, 1], &[]),
    ] {
        let (providers, stage) = three();
        let done = stage.run(&[&["chat", "--json", "?"], flags].concat());
        assert_eq!(done.code, Some(code), "{flags:?}: {}", done.err);
        assert_eq!(providers.iter().map(Provider::hits).collect::<Vec<_>>(), hits, "{flags:?}");
        if flags[0] != "--max-steps" {
            assert_eq!(skipped(&done.json()), reasons, "{flags:?}");
        }
    }
}

#[test]
fn a_step_that_could_cost_too_much_is_passed_over() {
    let (dear, cheap) = (openai(Reply::answer("dear")), openai(Reply::answer("cheap")));
    let price = "[[providers.dear.models]]\nid = \"m\"\nprice = { input = 100.0, output = 1000.0 }\n";
    let stage = Stage::with(&format!("{}{price}", config(&[("dear", &dear), ("cheap", &cheap)])));
    let chat = stage.json(&["chat", "--json", "--max-cost", "0.01", "--max-tokens", "100", "?"]);
    assert_eq!((&chat["text"], skipped(&chat)), (&json!("cheap"), vec!["dear/m too_expensive".to_owned()]));
    stage.run(&["chat", "--max-cost", "1", "--max-tokens", "100", "?"]).exits(0).prints("dear\n");
}

#[test]
fn the_request_carries_what_the_person_gave() {
    let lab = openai(Reply::answer("yes"));
    let stage = Stage::of(&[("lab", &lab)]);
    stage.file("note.txt", "a note\n");
    stage.file("system.txt", "be brief");
    stage.file("talk.json", r#"[{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]"#);
    let args = [
        "chat",
        "-s",
        "@system.txt",
        "-f",
        "note.txt",
        "--messages",
        "talk.json",
        "--max-tokens",
        "9",
        "-o",
        "seed=7",
        "why?",
    ];
    stage.run_with(b"from a pipe\n", &args).exits(0);
    let body = lab.requests()[0].body.clone();
    let talk: Vec<(&str, &str)> = body["messages"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|turn| (turn["role"].as_str().expect("a role"), turn["content"].as_str().expect("words")))
        .collect();
    assert_eq!(
        talk,
        [
            ("system", "be brief"),
            ("user", "hi"),
            ("assistant", "hello"),
            ("user", "why?\n\nnote.txt:\na note\n\nfrom a pipe"),
        ]
    );
    assert_eq!((&body["seed"], &body["model"]), (&json!(7), &json!("m")));
    assert!(body["max_tokens"] == json!(9) || body["max_completion_tokens"] == json!(9), "{body}");
}

#[test]
fn nobody_waits_past_the_deadline() {
    let slow = openai(limited(3000));
    let stage = Stage::of(&[("slow", &slow)]);
    let done = stage.run(&["chat", "--wait", "2h", "--deadline", "150ms", "?"]);
    assert!(matches!(done.code, Some(4 | 8)), "{done:?}");
    assert_eq!(slow.hits(), 1);
}

#[test]
fn the_alarm_rings_when_a_ladder_is_exhausted_and_only_then() {
    let lab = openai(vec![Reply::answer("yes"), limited(40)]);
    let alarm =
        "[alarm]\ncommand = [\"sh\", \"-c\", \"printf %s \\\"$0\\\" > rung.tmp; mv rung.tmp rung\", \"{summary}\"]\n";
    let stage = Stage::with(&format!("{}{alarm}", config(&[("lab", &lab)])));
    stage.run(&["chat", "?"]).exits(0);
    assert!(!stage.path("rung").exists());
    stage.run(&["chat", "?"]).exits(4).says(&["alarm: llmr: ladder main is exhausted"]);
    until("the alarm rang", || stage.path("rung").exists());
    let said = std::fs::read_to_string(stage.path("rung")).expect("words");
    assert_eq!(
        said,
        "llmr: ladder main is exhausted: its one step cannot answer, lab/m is back first, in 40s, at 2026-08-23T03:00:40Z"
    );
}
