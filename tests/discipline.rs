//! The discipline of a ladder as a person sees it: retries, remedies, hedges, ids, and what is remembered of models.
#![cfg(test)]

use std::collections::BTreeMap;

use llmr::domain::ToolCall;
use llmr::rehearsal::{Provider, Reply};
use serde_json::{Value, json};

use crate::stage::{Stage, config, declared, openai};

fn error(status: u16, message: &str) -> Reply {
    Reply::status(status, json!({"error": {"message": message}}))
}

fn hinted(status: u16, seconds: u32) -> Reply {
    let headers = BTreeMap::from([("retry-after".to_owned(), seconds.to_string())]);
    Reply::Status { status, headers, body: json!({"error": {"message": "The model is overloaded"}}) }
}

/// `deployment kind what` of each attempt, in the order of the log.
fn attempts(of: &Value) -> Vec<String> {
    let told = |one: &Value| {
        let word = |name: &str| one[name].as_str().map(str::to_owned);
        let what = word("given_up").or_else(|| word("class")).unwrap_or_else(|| "answered".to_owned());
        format!("{} {} {what}", one["deployment"].as_str().expect("a name"), one["kind"].as_str().expect("a word"))
    };
    of["attempts"].as_array().expect("a list").iter().map(told).collect()
}

/// A ladder of these providers with these lines in `[limits]`.
fn limited(providers: &[(&str, &Provider)], limits: &str) -> Stage {
    Stage::with(&config(providers).replace("[limits]\nretry_budget = 0", &format!("[limits]\n{limits}")))
}

fn body(provider: &Provider, at: usize) -> Value {
    provider.requests()[at].body.clone()
}

#[test]
fn a_step_that_is_slow_is_overtaken_and_both_stand_in_the_log() {
    for stream in ["--stream", "--no-stream"] {
        let (slow, fast) = (openai(Reply::Hang), openai(Reply::answer("fast")));
        let stage = limited(&[("slow", &slow), ("fast", &fast)], "hedge = \"30ms\"");
        stage.run(&["chat", stream, "--request-id", "r1", "?"]).exits(0).prints("fast\n");
        let log = stage.json(&["log", "--json", "r1"]);
        assert_eq!(attempts(&log), ["slow/m first outrun", "fast/m hedge answered"], "{stream}");
        let status = stage.json(&["status", "--json"]);
        assert_eq!(status["holds"], json!([]), "being slow once is no failure");
        assert_eq!((slow.hits(), fast.hits()), (1, 1));
    }
}

#[test]
fn a_step_that_answers_in_time_is_not_overtaken_and_one_that_fails_is_not_retried_beside_another() {
    let (prompt, other) = (openai(Reply::answer("prompt")), openai(Reply::answer("other")));
    let stage = limited(&[("prompt", &prompt), ("other", &other)], "hedge = \"20s\"");
    stage.run(&["chat", "?"]).exits(0).prints("prompt\n");
    assert_eq!(other.hits(), 0);

    // Both are under way when the first one fails; the second is its second try.
    let shaky = openai(vec![Reply::SlowDrip { text: String::new(), every_ms: 60 }, Reply::answer("never")]);
    let late = openai(Reply::SlowDrip { text: "late".to_owned(), every_ms: 40 });
    let stage = limited(&[("shaky", &shaky), ("late", &late)], "hedge = \"10ms\"");
    let chat = stage.json(&["chat", "--json", "?"]);
    assert_eq!((&chat["text"], shaky.hits()), (&json!("late"), 1), "{:?}", attempts(&chat));
}

#[test]
fn a_step_is_overtaken_once_it_is_slower_than_its_own_usual_time() {
    let replies = (0..6).map(|_| Reply::answer("usual")).chain([Reply::Hang]).collect::<Vec<_>>();
    let (lab, other) = (openai(replies), openai(Reply::answer("other")));
    let stage = limited(&[("lab", &lab), ("other", &other)], "hedge = \"p95\"");
    for _ in 0..6 {
        stage.run(&["chat", "?"]).exits(0).prints("usual\n");
    }
    assert_eq!(lab.hits(), 6);
    stage.run(&["chat", "?"]).exits(0).prints("other\n");
    assert_eq!((lab.hits(), stage.json(&["status", "--json"])["holds"].clone()), (7, json!([])));
}

#[test]
fn the_first_of_a_hedge_stays_under_way_when_the_second_fails() {
    let (slow, bad) = (openai(Reply::Hang), openai(error(500, "internal error")));
    let caps = "[[caps]]\nprovider = \"slow\"\ndimension = \"rpm\"\nlimit = 100\n";
    let limits = "retry_budget = 0\nhedge = \"10ms\"";
    let text = config(&[("slow", &slow), ("bad", &bad)]).replace("retry_budget = 0", limits);
    let stage = Stage::with(&format!("{text}{caps}"));
    let child = stage.command(&["chat", "--request-id", "r1", "?"]).spawn().expect("started");
    crate::stage::until("the second asks", || bad.hits() == 1);
    let count = |sql: &str| stage.sql().query_row(sql, [], |row| row.get::<_, u32>(0)).unwrap_or(0);
    crate::stage::until("the second has failed", || count("SELECT count(*) FROM attempts") == 1);
    assert_eq!(count("SELECT count(*) FROM flights WHERE request_id = 'r1'"), 1, "it still counts against the limit");
    crate::stage::signal(child.id(), "INT");
    crate::stage::finish(child).exits(130);
    assert_eq!(count("SELECT count(*) FROM flights"), 0);
}

#[test]
fn what_both_of_a_hedge_cost_is_counted() {
    let price =
        |name: &str| format!("[[providers.{name}.models]]\nid = \"m\"\nprice = {{ input = 100.0, output = 1000.0 }}\n");
    let (slow, fast) = (openai(Reply::Hang), openai(Reply::answer("fast")));
    let text = config(&[]).replace("steps = []", "steps = [\"slow/m\", \"fast/m\"]\nhedge = \"30ms\"");
    let parts = [declared("slow", &slow), price("slow"), declared("fast", &fast), price("fast")];
    let stage = Stage::with(&format!("{text}{}", parts.concat()));
    let chat = stage.json(&["chat", "--json", "--max-tokens", "10", "--max-cost", "5", "why is the sky so blue?"]);
    assert_eq!(attempts(&chat), ["slow/m first outrun", "fast/m hedge answered"]);
    let costs: Vec<f64> = stage.json(&["log", "--json", chat["request_id"].as_str().expect("an id")])["attempts"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|_| chat["cost_usd"].as_f64().expect("a cost"))
        .collect();
    let own = {
        let stage = Stage::with(&format!(
            "{}{}{}",
            config(&[]).replace("steps = []", "steps = [\"fast/m\"]"),
            declared("fast", &fast),
            price("fast")
        ));
        stage.json(&["chat", "--json", "--max-tokens", "10", "--max-cost", "5", "why is the sky so blue?"])["cost_usd"]
            .as_f64()
            .expect("a cost")
    };
    assert!(costs[0] > own, "{costs:?} against {own} for one alone");
}

#[test]
fn an_id_is_paid_once() {
    let lab = openai(vec![Reply::answer("the first answer"), Reply::answer("another answer")]);
    let stage = Stage::with(&format!("{}[store]\ncontent = true\n", config(&[("lab", &lab)])));
    stage.run(&["chat", "--request-id", "nightly", "?"]).exits(0).prints("the first answer\n");
    let again = stage.run(&["chat", "--request-id", "nightly", "?"]).exits(0).prints("the first answer\n");
    assert!(again.err.contains("stored: nightly"), "{}", again.err);
    let object = stage.json(&["chat", "--json", "--request-id", "nightly", "?"]);
    assert_eq!((&object["text"], &object["stored"], lab.hits()), (&json!("the first answer"), &json!(true), 1));
    stage.run(&["chat", "--request-id", "other", "?"]).exits(0).prints("another answer\n");
}

#[test]
fn an_answer_is_told_again_without_keys_that_are_known_by_now_and_with_its_tools() {
    let (keyed, lab) = (openai(Reply::answer("never")), openai(Reply::answer("it is not-a-real-key-number-two")));
    let key = crate::stage::keys("keyed", &[("own", "{ env = \"LAB_KEY\" }")]);
    let text = format!("{}{key}[store]\ncontent = true\n", config(&[("keyed", &keyed), ("lab", &lab)]));
    let mut stage = Stage::with(&text);
    stage.run(&["chat", "--request-id", "r1", "?"]).exits(0).prints("it is not-a-real-key-number-two\n");
    stage.set("LAB_KEY", "not-a-real-key-number-two");
    stage.run(&["chat", "--request-id", "r1", "?"]).exits(0).prints("it is [redacted]\n");
    assert_eq!(stage.json(&["chat", "--json", "--request-id", "r1", "?"])["text"], json!("it is [redacted]"));

    let call = ToolCall { id: "c".into(), name: "a\nerror: b\u{9b}1m".into(), arguments: "{}".into() };
    let calls = openai(Reply::tool_calls(vec![call]));
    let stage = Stage::with(&format!("{}[store]\ncontent = true\n", config(&[("calls", &calls)])));
    for _ in 0..2 {
        stage.run(&["chat", "--request-id", "r1", "?"]).exits(0).prints("").says(&["tools to be run: a error: b;"]);
    }
}

#[test]
fn an_id_of_a_request_that_failed_tells_how_it_failed() {
    let lab = openai(error(401, "Incorrect API key provided"));
    let stage = Stage::with(&format!("{}[store]\ncontent = true\n", config(&[("lab", &lab)])));
    stage.run(&["chat", "--request-id", "nightly", "?"]).exits(5);
    let again = stage.run(&["chat", "--request-id", "nightly", "?"]).exits(5).prints("");
    assert!(again.err.contains("nothing was sent"), "{}", again.err);
    assert_eq!(lab.hits(), 1);
}

#[test]
fn without_kept_answers_an_id_that_is_known_is_refused_and_says_what_to_do() {
    let lab = openai(Reply::answer("yes"));
    let stage = Stage::of(&[("lab", &lab)]);
    stage.run(&["chat", "--request-id", "nightly", "?"]).exits(0);
    stage.run(&["chat", "--request-id", "nightly", "?"]).exits(2).prints("").says(&["nightly", "content = true"]);
    assert_eq!(lab.hits(), 1);
    let kept: u32 = stage.sql().query_row("SELECT count(*) FROM answers", [], |row| row.get(0)).expect("a count");
    assert_eq!(kept, 0);
}

#[test]
fn an_id_under_way_is_not_taken_twice() {
    let hangs = openai(Reply::Hang);
    let stage = Stage::of(&[("hangs", &hangs)]);
    let child = stage.command(&["chat", "--request-id", "nightly", "?"]).spawn().expect("started");
    crate::stage::until("it asks", || hangs.hits() == 1);
    stage.run(&["chat", "--request-id", "nightly", "?"]).exits(2).says(&["still under way"]);
    // Its own deadline counts, not that of the second.
    let hasty = ["chat", "--request-id", "nightly", "--deadline", "1s", "?"];
    stage.run_at("2026-08-23T03:01:00Z", &hasty).exits(2).says(&["still under way"]);
    crate::stage::signal(child.id(), "INT");
    crate::stage::finish(child).exits(130);
    assert_eq!(hangs.hits(), 1);
}

#[test]
fn a_retry_that_the_budget_denies_is_told() {
    let shaky = openai(error(500, "internal error"));
    let good = openai(Reply::answer("good"));
    let stage = Stage::of(&[("shaky", &shaky), ("good", &good)]);
    let done = stage.run(&["chat", "-v", "--request-id", "r1", "?"]).exits(0).prints("good\n");
    assert!(done.err.contains("shaky/m is not tried again"), "{}", done.err);
    assert_eq!(stage.json(&["log", "--json", "r1"])["retries_denied"], json!(1));
    let denied = "SELECT count(*) FROM retries WHERE granted = 0";
    assert_eq!(stage.sql().query_row(denied, [], |row| row.get::<_, u32>(0)), Ok(1));
}

#[test]
fn a_short_hint_is_waited_out_by_the_only_step() {
    let lab = openai(vec![hinted(503, 1), Reply::answer("back")]);
    let mut stage = limited(&[("lab", &lab)], "retry_budget = 9");
    stage.set("LLMR_NOW", "");
    let chat = stage.json(&["chat", "--json", "?"]);
    assert_eq!(attempts(&chat), ["lab/m first overloaded", "lab/m retry answered"]);
    assert!(chat["latency_s"].as_f64().is_some_and(|seconds| seconds >= 1.0), "{chat:#}");
}

#[test]
fn what_may_have_run_is_not_run_again_where_the_user_says_so() {
    for (choice, code, hits, execution) in
        [("retry", 0, [2, 1], "may_have_run"), ("next", 0, [1, 1], "may_have_run"), ("stop", 4, [1, 0], "may_have_run")]
    {
        let (resets, good) = (openai(Reply::Reset), openai(Reply::answer("good")));
        let limits = format!("on_may_have_run = \"{choice}\"");
        let stage = limited(&[("resets", &resets), ("good", &good)], &limits);
        stage.run(&["chat", "--request-id", "r1", "?"]).exits(code);
        assert_eq!([resets.hits(), good.hits()], hits, "{choice}");
        assert_eq!(stage.json(&["log", "--json", "r1"])["attempts"][0]["execution"], json!(execution));
    }
    let (refuses, good) = (openai(Reply::Refuse), openai(Reply::answer("good")));
    let stage = limited(&[("refuses", &refuses), ("good", &good)], "on_may_have_run = \"stop\"");
    stage.run(&["chat", "--request-id", "r1", "?"]).exits(0).prints("good\n");
    assert_eq!(stage.json(&["log", "--json", "r1"])["attempts"][0]["execution"], json!("not_run"));
}

#[test]
fn a_longest_answer_that_does_not_fit_is_lowered_once() {
    for (status, message, most) in [
        (
            400,
            "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (5000 in the messages, 4000 in the completion).",
            3192,
        ),
        (
            413,
            "Request too large for model `m` on tokens per minute (TPM): Limit 6000, Requested 9000, please reduce your message size",
            1000,
        ),
        (
            402,
            "This request requires more credits, or fewer max_tokens. You requested up to 4000 tokens, but can only afford 2000.",
            2000,
        ),
    ] {
        let lab = openai(vec![error(status, message), Reply::answer("shorter")]);
        let stage = Stage::of(&[("lab", &lab)]);
        stage.run(&["chat", "--max-tokens", "4000", "?"]).exits(0).prints("shorter\n");
        assert_eq!(body(&lab, 1)["max_tokens"], json!(most), "{message}");
        assert_eq!(stage.json(&["status", "--json"])["holds"], json!([]), "nothing is held for it: {message}");
    }
}

#[test]
fn a_model_that_lacks_something_is_not_asked_for_it_again() {
    let blind = openai(vec![
        error(400, "Invalid content type. image_url is only supported by certain models."),
        Reply::answer("words"),
    ]);
    let seeing = openai(Reply::answer("a picture"));
    let stage = Stage::of(&[("blind", &blind), ("seeing", &seeing)]);
    let png = stage.file("one.png", [0x89, b'P', b'N', b'G', 0, 0, 0, 0]);
    for _ in 0..2 {
        stage.run(&["chat", "-a", &png, "what is this?"]).exits(0).prints("a picture\n");
    }
    assert_eq!(blind.hits(), 1, "it was asked once");
    let plan = stage.json(&["plan", "--json", "-a", &png, "?"]);
    assert_eq!(plan["skipped"][0]["reason"], json!("lacks_capability"), "{plan:#}");
    stage.run(&["chat", "only words"]).exits(0).prints("words\n");
    let dry = stage.run(&["reset", "blind", "--dry-run"]).exits(0);
    assert!(dry.out.contains("would forget that blind/m lacks images"), "{}", dry.out);
    let reset = stage.json(&["reset", "blind/m", "--json"]);
    assert_eq!(reset["findings"][0]["what"], json!("images"), "{reset:#}");
    stage.run(&["chat", "-a", &png, "?"]).exits(0).prints("words\n");
    assert_eq!(blind.hits(), 3, "who clears it lets it be asked again");
}

#[test]
fn an_answer_that_is_held_back_is_bounded() {
    let long = openai(Reply::answer("word ".repeat(1000)));
    let short = openai(Reply::answer("short"));
    let stage =
        limited(&[("long", &long), ("short", &short)], "retry_budget = 0\nstream = \"buffer\"\nbuffer = \"1kB\"");
    stage.run(&["chat", "--stream", "?"]).exits(0).prints("short\n");
}

#[test]
fn steps_have_options_of_their_own() {
    let lab = openai(Reply::answer("yes"));
    let text = config(&[("lab", &lab)])
        .replace("steps = [\"lab/m\"]", "steps = [{ deployment = \"lab/m\", options = { seed = 7, top_k = 5 } }]");
    let stage = Stage::with(&text);
    stage.run(&["chat", "-o", "seed=9", "?"]).exits(0);
    assert_eq!((&body(&lab, 0)["seed"], &body(&lab, 0)["top_k"]), (&json!(9), &json!(5)), "what is typed counts more");
}

#[test]
fn a_large_request_has_the_time_that_it_needs() {
    let slow = openai(Reply::SlowDrip { text: "so slow".to_owned(), every_ms: 60 });
    let limits = "retry_budget = 0\ntimeout = { total = \"50ms\", per_1k_tokens = \"5s\" }";
    let stage = limited(&[("slow", &slow)], limits);
    stage.run(&["chat", "?"]).exits(4);
    stage.run(&["chat", &"word ".repeat(1000)]).exits(0).prints("so slow\n");
}

#[test]
fn a_look_ahead_opens_no_connection() {
    let lab = openai(Reply::answer("yes"));
    let stage = limited(&[("lab", &lab)], "hedge = \"1ms\"");
    for args in [&["plan"][..], &["plan", "--json", "?"], &["chat", "--dry-run", "?"], &["check"], &["status"]] {
        stage.run(args).exits(0);
    }
    assert_eq!(lab.connections(), 0);
    stage.run(&["chat", "?"]).exits(0);
    assert_eq!(lab.connections(), 1, "the count does count");
}
