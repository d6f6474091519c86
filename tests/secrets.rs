//! No key leaves the process, whatever a provider does with it.
#![cfg(test)]

use std::collections::BTreeMap;

use llmr::catalog::Wire;
use llmr::rehearsal::{Provider, Reply};
use serde_json::json;

use crate::stage::{Done, Stage, declared, keys, openai};

/// It looks like nobody's key, so that only its value gives it away.
const KEY: &str = "Zq7xW2pL9vT4mR8kY3nB6cJ1hF5dS0";

/// How many of its characters in a row may never be seen.
const RUN: usize = 12;

/// A ladder of one step, `lab/m@own`, with the key at this place.
fn stage(lab: &Provider, place: &str) -> Stage {
    let text = format!("[limits]\nretry_budget = 0\n[ladders.main]\nsteps = [\"lab/m\"]\n{}", declared("lab", lab));
    let mut stage = Stage::with(&format!("{text}{}", keys("lab", &[("own", place)])));
    stage.set("LAB_KEY", KEY);
    stage
}

#[track_caller]
fn is_clean(what: &str, bytes: &[u8]) {
    for run in KEY.as_bytes().windows(RUN) {
        let found = bytes.windows(RUN).any(|window| window == run);
        assert!(!found, "{what} shows the key: {}", String::from_utf8_lossy(bytes));
    }
}

fn runs_clean(what: &str, done: &Done) {
    is_clean(&format!("stdout of {what}"), done.out.as_bytes());
    is_clean(&format!("stderr of {what}"), done.err.as_bytes());
}

/// Everything that a person or a script may look at afterwards.
fn all_is_clean(what: &str, stage: &Stage) {
    for args in [
        &["chat", "?"][..],
        &["chat", "-vv", "?"],
        &["chat", "-vv", "--stream", "?"],
        &["chat", "--json", "?"],
        &["log"],
        &["log", "--json"],
        &["log", "req_fixed"],
        &["log", "--redact"],
        &["log", "--format", "otlp-json"],
        &["status"],
        &["status", "--json"],
        &["plan"],
        &["plan", "--json"],
        &["check"],
        &["reset", "--all", "--dry-run"],
    ] {
        runs_clean(&format!("{what}: {args:?}"), &stage.run(args));
    }
    is_clean(&format!("{what}: the state file"), &stage.state_bytes());
}

/// The same after one echo: all of it for the whole key, and for a part of it what it is all made from.
fn remembers_clean(what: &str, stage: &Stage, echo: &str) {
    if echo == KEY {
        all_is_clean(what, stage);
    }
    is_clean(&format!("{what}: the state file"), &stage.state_bytes());
}

/// The key whole, and twelve of its characters from several places.
fn echoes() -> Vec<String> {
    let part = |start: usize| KEY.get(start..start + RUN).expect("a part").to_owned();
    vec![KEY.to_owned(), part(0), part(9), part(KEY.len() - RUN)]
}

#[test]
fn an_error_that_echoes_the_key() {
    for echo in echoes() {
        for (status, words) in [
            (401, format!("Incorrect API key provided: {echo}. You can find your key at https://example.org")),
            (429, format!("Rate limit reached for key {echo}: requests per day (RPD): Limit 1, Used 1")),
            (500, format!("panic at handler: key={echo}")),
            (400, format!("bad header 'Bearer {echo}'")),
            (418, format!("\u{1b}[1m{echo}\u{1b}[0m")),
        ] {
            let lab = openai(Reply::status(status, json!({"error": {"message": words}})));
            let stage = stage(&lab, "{ env = \"LAB_KEY\" }");
            runs_clean("the first request", &stage.run(&["chat", "--request-id", "req_fixed", "?"]));
            assert_eq!(lab.requests()[0].key(), Some(KEY), "the provider itself does get it");
            remembers_clean(&format!("{status} with {echo}"), &stage, &echo);
        }
    }
}

#[test]
fn headers_and_odd_bodies_that_echo_the_key() {
    let spaced: String = KEY.chars().flat_map(|letter| [letter, '\u{7}']).collect();
    for echo in echoes() {
        let headers = [("x-request-id", echo.clone()), ("retry-after", echo.clone()), ("location", echo.clone())];
        let headers: BTreeMap<String, String> =
            headers.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        for reply in [
            Reply::Status {
                status: 429,
                headers: headers.clone(),
                body: json!({"error": {"message": "slow down", "code": echo}}),
            },
            Reply::Status { status: 302, headers, body: json!(echo) },
            Reply::status(503, format!("<html><title>{echo}</title>{}", echo.repeat(2000))),
            Reply::status(500, json!([{"errors": [{"detail": {"inner": format!("{{\"error\":\"{echo}\"}}")}}]}])),
            Reply::status(401, format!("no key {spaced}")),
            Reply::ErrorEvent { chunks: vec![], error: json!({"error": {"message": echo}}) },
            Reply::Raw { text: format!("HTTP/1.1 200 {echo}\r\n{echo}\r\n\r\n{echo}") },
        ] {
            let lab = openai(reply.clone());
            let stage = stage(&lab, "{ env = \"LAB_KEY\" }");
            runs_clean("the first request", &stage.run(&["chat", "--request-id", "req_fixed", "?"]));
            remembers_clean(&format!("{reply:?}"), &stage, &echo);
        }
    }
}

#[test]
fn an_answer_that_echoes_the_key() {
    for echo in echoes() {
        let lab = openai(Reply::answer(format!("your key is {echo}, keep it")));
        let stage = stage(&lab, "{ env = \"LAB_KEY\" }");
        let done =
            stage.run(&["chat", "--request-id", "req_fixed", "?"]).exits(0).prints("your key is [redacted], keep it\n");
        assert_eq!(done.err, "");
        assert_eq!(stage.json(&["chat", "--json", "?"])["text"], json!("your key is [redacted], keep it"));
        let schema = stage.file("schema.json", r#"{"type": "object"}"#);
        runs_clean("an answer of the wrong shape", &stage.run(&["chat", "--schema", &schema, "?"]).exits(7));
        all_is_clean(&echo, &stage);
    }
}

#[test]
fn a_stream_that_echoes_the_key_split_anywhere() {
    let text = format!("your key is {KEY}, keep it");
    let letters: Vec<char> = text.chars().collect();
    let begin = text.find(KEY).expect("the key");
    let mut scripts = vec![letters.iter().map(char::to_string).collect::<Vec<_>>()];
    for at in begin..=begin + KEY.len() {
        let (head, tail) = text.split_at(at);
        scripts.push(vec![head.to_owned(), tail.to_owned()]);
    }
    for size in [3, 5, 11] {
        scripts.push(letters.chunks(size).map(|piece| piece.iter().collect()).collect());
    }
    for (at, chunks) in scripts.into_iter().enumerate() {
        let wire = [Wire::OpenAi, Wire::Anthropic, Wire::Gemini][at % 3];
        let lab = Provider::start(wire, Reply::stream(chunks.clone())).expect("a provider");
        let done = stage(&lab, "{ env = \"LAB_KEY\" }").run(&["chat", "--stream", "-vv", "?"]).exits(0);
        assert_eq!(done.out, "your key is [redacted], keep it\n", "{chunks:?}");
        runs_clean("the stream", &done);
    }
}

#[test]
fn a_broken_stream_that_ends_within_the_key() {
    for cut in [RUN, RUN + 1, KEY.len() - 1, KEY.len()] {
        let (head, tail) = KEY.split_at(cut).0.split_at(5);
        let chunks = vec!["key ".to_owned(), head.to_owned(), tail.to_owned()];
        let lab = openai(Reply::CutStream { chunks });
        let stage = stage(&lab, "{ env = \"LAB_KEY\" }");
        let text = std::fs::read_to_string(stage.path("llmr.toml")).expect("the config");
        // Under `fail` what was held back is shown at the end, for it is all that there will be.
        stage.file("llmr.toml", text.replace("[limits]", "[limits]\nstream = \"fail\""));
        let done = stage.run(&["chat", "--stream", "--request-id", "req_fixed", "?"]).exits(9);
        assert_eq!(done.out, "key [redacted]\n");
        stage.file("llmr.toml", text);
        all_is_clean("a cut stream", &stage);
    }
}

#[test]
fn keys_from_a_file_and_from_a_command_are_kept_as_well() {
    for place in ["{ file = \"key.txt\" }", "{ command = [\"cat\", \"key.txt\"] }"] {
        let lab = openai(Reply::answer(format!("your key is {KEY}, keep it")));
        let mut stage = stage(&lab, place);
        stage.set("LAB_KEY", "");
        stage.file("key.txt", format!("  {KEY}\n"));
        stage.run(&["chat", "--request-id", "req_fixed", "?"]).exits(0).prints("your key is [redacted], keep it\n");
        assert_eq!(lab.requests()[0].key(), Some(KEY));
        all_is_clean(place, &stage);
    }
}

#[test]
fn debug_output_of_everything_below_is_clean() {
    for reply in [Reply::answer(KEY), Reply::status(401, json!({"error": KEY})), Reply::Reset, Reply::Refuse] {
        let lab = openai(reply);
        let mut stage = stage(&lab, "{ env = \"LAB_KEY\" }");
        stage.set("LLMR_LOG", "trace");
        stage.set("RUST_LOG", "trace");
        stage.set("RUST_BACKTRACE", "full");
        runs_clean("a traced request", &stage.run(&["chat", "?"]));
        runs_clean("a traced request", &stage.run(&["chat", "-vvv", "--stream", "?"]));
    }
}

#[test]
fn a_key_that_json_writes_differently_is_kept_as_well() {
    let odd = r#"Zq7"xW2\pL9"vT4\mR8"kY3\nB6""#;
    let lab = openai(Reply::answer(format!("your key is {odd}, keep it")));
    let mut stage = stage(&lab, "{ env = \"LAB_KEY\" }");
    stage.set("LAB_KEY", odd);
    stage.run(&["chat", "?"]).exits(0).prints("your key is [redacted], keep it\n");
    assert_eq!(stage.json(&["chat", "--json", "?"])["text"], json!("your key is [redacted], keep it"));
}

#[test]
fn a_literal_key_in_the_config_is_refused_and_not_shown() {
    let lab = openai(Reply::answer("yes"));
    for place in [format!("\"{KEY}\""), format!("{{ env = \"{KEY}-\" }}"), format!("{{ literal = \"{KEY}\" }}")] {
        let done = stage(&lab, &place).run(&["chat", "?"]).exits(3);
        runs_clean(&place, &done);
    }
    assert_eq!(lab.hits(), 0);
}
