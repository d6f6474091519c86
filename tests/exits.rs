//! The exit codes, and what stands on which of the two outputs.
#![cfg(test)]

use std::collections::BTreeMap;

use llmr::rehearsal::Reply;
use serde_json::json;

use crate::stage::{Stage, config, finish, openai, signal, until};

fn error(status: u16, message: &str) -> Reply {
    Reply::status(status, json!({"error": {"message": message}}))
}

fn limited(seconds: u32) -> Reply {
    let headers = BTreeMap::from([("retry-after".to_owned(), seconds.to_string())]);
    let body = json!({"error": {"message": "Rate limit reached: too many requests per minute"}});
    Reply::Status { status: 429, headers, body }
}

#[test]
fn an_answer_stands_alone_on_stdout_with_its_line_end() {
    let good = openai(Reply::answer("forty-two"));
    Stage::of(&[("good", &good)]).run(&["chat", "why?"]).exits(0).prints("forty-two\n");
    let ended = openai(Reply::answer("forty-two\n"));
    let done = Stage::of(&[("ended", &ended)]).run(&["chat", "why?"]).exits(0).prints("forty-two\n");
    assert_eq!(done.err, "");
}

#[test]
fn a_failure_on_the_way_is_no_trouble_of_the_answer() {
    let (bad, good) = (openai(error(500, "oops")), openai(Reply::answer("yes")));
    let done = Stage::of(&[("bad", &bad), ("good", &good)]).run(&["chat", "?"]).exits(0).prints("yes\n");
    assert_eq!(done.err, "", "who wants to know asks with -v or `llmr log`");
    assert_eq!((bad.hits(), good.hits()), (1, 1));
}

#[test]
fn nothing_to_ask_is_a_usage_error() {
    let good = openai(Reply::answer("yes"));
    let stage = Stage::of(&[("good", &good)]);
    stage.run(&["chat"]).exits(2).prints("").says(&["error: there is nothing to ask", "hint: "]);
    stage.run(&["chat", "--nonsense", "?"]).exits(2).prints("").says(&["error: ", "--nonsense"]);
    stage.run_with(b"from a pipe", &["chat"]).exits(0).prints("yes\n");
    assert_eq!(good.hits(), 1);
    assert_eq!(good.requests()[0].body["messages"][0]["content"], json!("from a pipe"));
}

#[test]
fn more_than_is_read_of_stdin_is_told_and_not_cut_off() {
    let lab = openai(Reply::answer("yes"));
    let much = vec![b'a'; (64 << 20) + 1];
    Stage::of(&[("lab", &lab)]).run_with(&much, &["chat", "?"]).exits(2).prints("").says(&["error: stdin", "64 MiB"]);
    assert_eq!(lab.hits(), 0);
}

#[test]
fn a_wrong_config_sends_nothing_and_writes_nothing() {
    let good = openai(Reply::answer("yes"));
    let text = config(&[("good", &good)]).replace("retry_budget", "retry_budgte");
    let stage = Stage::with(&text);
    stage.run(&["chat", "?"]).exits(3).prints("").says(&[
        "error: the config has one error",
        "llmr.toml:3",
        "retry_budget",
    ]);
    assert_eq!(good.hits(), 0);
    assert!(!stage.state().exists());
}

#[test]
fn exhausted_by_what_passes_says_when_the_first_returns() {
    let (slow, slower) = (openai(limited(40)), openai(limited(90)));
    let stage = Stage::of(&[("slow", &slow), ("slower", &slower)]);
    for _ in 0..2 {
        stage.run(&["chat", "?"]).exits(4).prints("").says(&[
            "error: exhausted",
            "  slow/m  ",
            "  slower/m  ",
            "rate_limit",
            "hint: the first step returns 2026-08-23T03:00:40Z",
            "alarm: ",
        ]);
    }
    assert_eq!((slow.hits(), slower.hits()), (1, 1), "the second run only reads what the first has learned");
}

#[test]
fn exhausted_by_what_a_person_must_mend() {
    let (broke, barred) = (
        openai(error(402, "Your account has insufficient balance, please top up")),
        openai(error(401, "Incorrect API key provided")),
    );
    let stage = Stage::of(&[("broke", &broke), ("barred", &barred)]);
    for _ in 0..2 {
        let done = stage.run(&["chat", "?"]).exits(5).prints("");
        done.says(&["error: exhausted: a person must act", "billing", "auth", "hint: mend the cause"]);
    }
    assert_eq!((broke.hits(), barred.hits()), (1, 1));
}

#[test]
fn a_refused_request_stops_at_once() {
    let next = openai(Reply::answer("never"));
    for (reply, words) in [
        (error(400, "messages: at least one message is required"), "malformed"),
        (error(418, "short and stout"), "not understood"),
    ] {
        let refuses = openai(reply);
        let stage = Stage::of(&[("refuses", &refuses), ("next", &next)]);
        stage.run(&["chat", "?"]).exits(6).prints("").says(&["error: ", words, "  refuses/m  ", "hint: "]);
        assert_eq!(stage.json(&["status", "--json"])["holds"], json!([]), "the deployment is not to blame");
    }
    assert_eq!(next.hits(), 0);
}

#[test]
fn too_large_for_every_step() {
    let small =
        openai(error(400, "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens."));
    Stage::of(&[("small", &small)])
        .run(&["chat", "?"])
        .exits(6)
        .says(&["too large for every step", "context_overflow"]);
}

#[test]
fn filtered_by_every_step() {
    let reply = || error(400, "The response was filtered due to the prompt triggering content management policy.");
    let (one, two) = (openai(reply()), openai(reply()));
    let stage = Stage::with(&config(&[("one", &one), ("two", &two)]).replace("two/m", "two/other"));
    stage.run(&["chat", "?"]).exits(6).says(&["content filter", "content_policy"]);
    assert_eq!((one.hits(), two.hits()), (1, 1));
}

#[test]
fn an_answer_that_never_had_the_shape_is_repaired_once() {
    let prose = openai(Reply::answer("Sure! Here you are."));
    let stage = Stage::of(&[("prose", &prose)]);
    let schema = stage.file("schema.json", r#"{"type": "object", "required": ["city"]}"#);
    stage.run(&["chat", "--schema", &schema, "?"]).exits(7).prints("").says(&[
        "error: answered",
        "invalid_output",
        "hint: ",
    ]);
    assert_eq!(prose.hits(), 2);
    let repaired = openai(vec![Reply::answer("Sure!"), Reply::answer(r#"{"city": "Bern"}"#)]);
    let stage = Stage::of(&[("repaired", &repaired)]);
    let schema = stage.file("schema.json", r#"{"type": "object", "required": ["city"]}"#);
    stage.run(&["chat", "--schema", &schema, "?"]).exits(0).prints("{\"city\": \"Bern\"}\n");
}

#[test]
fn the_deadline_of_the_request_is_nobodys_fault() {
    let hangs = openai(Reply::Hang);
    let stage = Stage::of(&[("hangs", &hangs)]);
    stage.run(&["chat", "--deadline", "80ms", "?"]).exits(8).prints("").says(&[
        "error: the deadline",
        "while hangs/m",
        "hint: ",
    ]);
    let status = stage.json(&["status", "--json"]);
    assert_eq!((&status["holds"], &status["deployments"][0]["circuit"]["failures"]), (&json!([]), &json!(0)));
}

#[test]
fn a_broken_stream_is_partial_where_the_config_says_so() {
    let cut = openai(Reply::CutStream { chunks: vec!["half an ".into()] });
    let next = openai(Reply::answer("never"));
    let stage =
        Stage::with(&config(&[("cut", &cut), ("next", &next)]).replace("[limits]", "[limits]\nstream = \"fail\""));
    stage.run(&["chat", "--stream", "?"]).exits(9).prints("half an \n").says(&["error: the stream broke", "hint: "]);
    assert_eq!(next.hits(), 0);
}

#[test]
fn our_own_trouble_is_1() {
    Stage::bare().run(&["log", "req_nobody"]).exits(1).says(&["error: there is no request `req_nobody`", "hint: "]);
}

#[test]
#[cfg(target_os = "linux")]
fn an_answer_that_no_disk_has_room_for_is_no_success() {
    let lab = openai(Reply::answer("yes"));
    let stage = Stage::of(&[("lab", &lab)]);
    for flag in ["--no-stream", "--stream", "--json"] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("a full disk");
        let child = stage.command(&["chat", flag, "?"]).stdout(full).spawn().expect("started");
        finish(child).exits(1).says(&["error: cannot write"]);
    }
}

#[test]
fn a_signal_ends_a_request_and_blames_nobody() {
    for (name, code) in [("INT", 130), ("TERM", 143)] {
        let hangs = openai(Reply::Hang);
        let stage = Stage::of(&[("hangs", &hangs)]);
        let child = stage.command(&["chat", "--request-id", "r1", "?"]).spawn().expect("started");
        until("the request arrived", || hangs.hits() == 1);
        signal(child.id(), name);
        finish(child).exits(code).prints("").says(&["error: interrupted"]);
        let status = stage.json(&["status", "--json"]);
        assert_eq!(status["deployments"][0]["circuit"]["failures"], json!(0));
        assert_eq!(stage.json(&["log", "--json", "r1"])["outcome"], json!("interrupted"));
    }
}

/// Whether the process is stuck in the system call `write`.
fn is_writing(id: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{id}/syscall")).is_ok_and(|call| call.starts_with("1 "))
}

#[test]
fn a_second_ctrl_c_ends_a_write_that_nobody_takes() {
    let talks = openai(Reply::answer("word ".repeat(100_000)));
    let stage = Stage::of(&[("talks", &talks)]);
    let child = stage.command(&["chat", "--stream", "?"]).spawn().expect("started");
    if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        // The pipe holds less than the answer, and nobody reads it.
        until("it is stuck", || is_writing(child.id()));
    } else {
        until("it asks", || talks.hits() == 1);
    }
    let mut child = child;
    until("it ends although nobody reads", || {
        let ended = child.try_wait().is_ok_and(|ended| ended.is_some());
        if !ended {
            signal(child.id(), "INT");
        }
        ended
    });
    assert_eq!(child.wait().expect("an end").code(), Some(130));
}
