//! Providers that send what nobody should send: no control sequence reaches the terminal, nothing hangs or panics.
#![cfg(test)]

use std::collections::BTreeMap;

use llmr::rehearsal::Reply;
use serde_json::json;

use crate::stage::{Done, Stage, openai};

/// Clears the screen, sets the title, rings, moves the cursor back, and turns the direction of text.
const EVIL: &str = "\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31mred\u{8}\u{8}\r\u{202e}txt\u{90}q\u{9c}\u{7f}";

/// Whether a terminal would do anything but show it.
#[track_caller]
fn is_tame(what: &str, text: &str) {
    let wild =
        text.chars().find(|c| (c.is_control() && !matches!(c, '\n' | '\t')) || ('\u{202a}'..='\u{202e}').contains(c));
    assert_eq!(wild, None, "{what}: {text:?}");
}

fn runs_tame(what: &str, done: &Done) {
    is_tame(&format!("stderr of {what}"), &done.err);
    assert!(!done.err.contains("panicked"), "{what}: {}", done.err);
    assert!(matches!(done.code, Some(0 | 4 | 5 | 6 | 7)), "{what}: {done:?}");
}

fn replies() -> Vec<Reply> {
    let headers: BTreeMap<String, String> =
        [("retry-after", EVIL.replace(['\r', '\u{7f}'], "")), ("x-error", "\u{1b}[2J".to_owned())]
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
    let nested = format!("{}{}{}", "[".repeat(100_000), 1, "]".repeat(100_000));
    vec![
        Reply::status(400, EVIL),
        Reply::status(401, json!({"error": {"message": format!("Incorrect API key provided {EVIL}")}})),
        Reply::status(
            429,
            json!({"error": {"message": format!("requests per day {EVIL}"), "type": EVIL, "code": EVIL}}),
        ),
        Reply::status(500, json!({ EVIL: { EVIL: EVIL } })),
        Reply::Status { status: 429, headers, body: json!(EVIL) },
        Reply::status(500, format!("{{\"error\": \"{}", EVIL.repeat(5000))),
        Reply::status(500, nested.clone()),
        Reply::status(200, nested),
        Reply::status(500, "x".repeat(3_000_000)),
        Reply::status(999, "no such status"),
        Reply::ErrorEvent { chunks: vec![], error: json!({"error": {"message": EVIL, "type": EVIL}}) },
        Reply::Raw { text: format!("HTTP/1.1 200 OK\r\nx: {EVIL}\r\n\r\n{EVIL}") },
        Reply::Raw { text: EVIL.to_owned() },
        Reply::Raw { text: "HTTP/1.1 200 OK\r\ncontent-length: 99999999999999999999\r\n\r\n{}".to_owned() },
        Reply::Raw { text: "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffff\r\n{}".to_owned() },
        Reply::Raw { text: format!("HTTP/1.1 200 OK\r\n{}\r\n{{}}", "a: b\r\n".repeat(1000)) },
        Reply::Reset,
    ]
}

#[test]
fn no_control_sequence_reaches_the_terminal() {
    for reply in replies() {
        let lab = openai(reply.clone());
        let stage = Stage::of(&[("lab", &lab)]);
        let name = format!("{reply:?}").chars().take(80).collect::<String>();
        runs_tame(&name, &stage.run(&["chat", "-vv", "--request-id", "r1", "?"]));
        runs_tame(&name, &stage.run(&["chat", "-vv", "--stream", "?"]));
        for args in [&["log"][..], &["log", "r1"], &["log", "--json"], &["status"], &["status", "--json"], &["plan"]] {
            let done = stage.run(args).exits(0);
            is_tame(&format!("{name}: {args:?}"), &done.out);
        }
        assert!(stage.state_bytes().len() < 1_000_000, "{name}: what is kept is bounded");
    }
}

#[test]
fn what_a_script_reads_is_as_the_provider_said_it() {
    let lab = openai(Reply::answer(EVIL));
    let stage = Stage::of(&[("lab", &lab)]);
    // Into a pipe the answer goes as it is: it may be anything, and no terminal reads it.
    stage.run(&["chat", "?"]).exits(0).prints(&format!("{EVIL}\n"));
    assert_eq!(stage.json(&["chat", "--json", "?"])["text"], json!(EVIL));
}

#[test]
fn captured_logs_are_as_tame() {
    let stage = Stage::bare();
    let log = format!("Error code: 429 - {{'error': {{'message': 'requests per day {EVIL}'}}}}\n");
    for args in
        [&["classify"][..], &["classify", "--explain"], &["classify", "--summary"], &["classify", "--format", "text"]]
    {
        let done = stage.run_with(log.as_bytes(), args).exits(0);
        is_tame(&format!("{args:?}"), &done.out);
        is_tame(&format!("{args:?}"), &done.err);
    }
    let line =
        json!({"id": EVIL, "provider": EVIL, "model": EVIL, "status": 500, "body": EVIL, "log": EVIL}).to_string();
    for args in [&["classify", "--format", "jsonl"][..], &["classify", "--format", "jsonl", "--explain"]] {
        is_tame(&format!("{args:?}"), &stage.run_with(line.as_bytes(), args).exits(0).out);
    }
    let broken = format!("{{\"at\": \"\\u001b[2J{EVIL}\"}}\n{{{EVIL}");
    let done = stage.run_with(broken.as_bytes(), &["classify", "--format", "jsonl"]).exits(0);
    is_tame("complaints", &done.err);
}

#[test]
fn what_the_person_types_is_echoed_tame() {
    let lab = openai(Reply::answer("yes"));
    let stage = Stage::of(&[("lab", &lab)]);
    for args in [
        &["chat", "-m", EVIL, "?"][..],
        &["chat", "--pin", EVIL, "?"],
        &["status", EVIL],
        &["log", EVIL],
        &["caps", EVIL],
        &["reset", EVIL],
    ] {
        let done = stage.run(args);
        is_tame(&format!("{args:?}"), &done.err);
        is_tame(&format!("{args:?}"), &done.out);
    }
}
