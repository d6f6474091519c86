//! The real program against `@copilotkit/aimock`, which speaks all three wires and was written by others.
//!
//! `npm install @copilotkit/aimock@1.43.0` somewhere, then
//! `LLMR_AIMOCK=SOMEWHERE/node_modules/@copilotkit/aimock cargo test --locked aimock -- --ignored`
#![cfg(test)]

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::stage::{Stage, until};

/// The mock on loopback; it goes when it is dropped.
struct Aimock {
    child: Child,
    port: u16,
}

impl Aimock {
    fn start(path: &str, stage: &Stage) -> Self {
        let fixtures = json!({"fixtures": [
            {"match": {"userMessage": "hello"}, "response": {"content": "Grüße, 世界! How can I help?"}},
            {"match": {"userMessage": "weather"}, "response": {"toolCalls": [
                {"name": "get_weather", "arguments": {"city": "Köln"}},
                {"name": "get_time", "arguments": {"city": "東京"}},
            ]}},
        ]});
        let mut fixtures = fixtures;
        fixtures["fixtures"].as_array_mut().expect("a list").extend(of_tools());
        let file = stage.file("aimock.json", fixtures.to_string());
        let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = free.local_addr().expect("an address").port();
        drop(free);
        let mut child = Command::new("node")
            .args([&format!("{path}/dist/cli.js"), "-p", &port.to_string(), "-f", &file])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("node");
        let out = child.stdout.take().expect("a pipe");
        // What it says is read to its end, or it would wait for us.
        std::thread::spawn(move || BufReader::new(out).lines().for_each(drop));
        until("aimock listens", || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
        Self { child, port }
    }
}

impl Drop for Aimock {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// By wire: the version in the path, and a model.
const WIRES: [(&str, &str, &str); 3] =
    [("openai", "v1", "gpt-4o"), ("anthropic", "v1", "claude-sonnet-4-5"), ("gemini", "v1beta", "gemini-2.5-flash")];

/// Who is offered the tool calls it, and says so once it has the result; who is to hand over is dead by then.
fn of_tools() -> Vec<Value> {
    let call = json!({"toolCalls": [{"name": "note", "arguments": {"n": 1}}]});
    let dead = json!({"error": {"message": "The model is overloaded. Please try again later.", "type": "overloaded_error"}, "status": 503});
    let mut all = Vec::new();
    for (_, _, model) in WIRES {
        let from = format!("from {model}");
        all.push(json!({"match": {"userMessage": from, "model": model, "hasToolResult": true}, "response": dead}));
    }
    let offered = |more: Value| {
        let mut fixture = json!({"userMessage": "note one", "toolName": "note"});
        fixture.as_object_mut().expect("an object").extend(more.as_object().cloned().unwrap_or_default());
        fixture
    };
    all.push(json!({"match": offered(json!({"hasToolResult": false})), "response": call}));
    all.push(
        json!({"match": offered(json!({"toolResultContains": "noted 1"})), "response": {"content": "It is noted."}}),
    );
    all
}

/// A home whose ladder goes over these wires, with a tool that appends to a file.
fn home(mock: &Aimock, wires: &[(&str, &str, &str)]) -> Stage {
    let steps: Vec<String> = wires.iter().map(|(wire, _, model)| format!("\"{wire}-mock/{model}\"")).collect();
    let mut text = format!("[limits]\nretry_budget = 0\n[ladders.main]\nsteps = [{}]\n", steps.join(", "));
    for (wire, version, _) in wires {
        text.push_str(&format!(
            "[providers.{wire}-mock]\nbase_url = \"http://127.0.0.1:{}/{version}\"\nwire = \"{wire}\"\n\
             [[providers.{wire}-mock.credentials]]\nname = \"k\"\nkey = {{ env = \"MOCK_KEY\" }}\n",
            mock.port
        ));
    }
    text.push_str(
        r#"
[tools.note]
description = "Notes a number"
command = ["sh", "-c", 'read -r a; echo "$a" >> notes; n=${a#*:}; echo "noted ${n%\}}"']
schema = { type = "object", properties = { n = { type = "integer" } }, required = ["n"] }
"#,
    );
    let mut stage = Stage::with(&text);
    stage.set("MOCK_KEY", "mock-key-0123456789");
    stage
}

#[expect(clippy::disallowed_methods, reason = "whoever runs it says where the mock is")]
fn place() -> String {
    std::env::var("LLMR_AIMOCK").expect("LLMR_AIMOCK=path of @copilotkit/aimock")
}

#[test]
#[ignore = "needs node and LLMR_AIMOCK=path of @copilotkit/aimock"]
fn aimock_is_understood_on_all_three_wires() {
    let bare = Stage::bare();
    let mock = Aimock::start(&place(), &bare);
    for (wire, version, model) in WIRES {
        let stage = home(&mock, &[(wire, version, model)]);
        for flags in [&["--json"][..], &["--json", "--stream"]] {
            let chat = stage.json(&[&["chat", "hello"], flags].concat());
            assert_eq!(chat["text"], "Grüße, 世界! How can I help?", "{wire} {flags:?}: {chat}");
            assert_eq!(chat["finish_reason"], "stop", "{wire}");
            let chat = stage.json(&[&["chat", "weather"], flags].concat());
            let calls = chat["tool_calls"].as_array().unwrap_or_else(|| panic!("{wire} {flags:?}: {chat}"));
            let said: Vec<(&str, &str)> = calls
                .iter()
                .map(|call| (call["name"].as_str().expect("a name"), call["arguments"].as_str().expect("a text")))
                .collect();
            assert_eq!(said, [("get_weather", r#"{"city":"Köln"}"#), ("get_time", r#"{"city":"東京"}"#)], "{wire}");
            assert!(calls.iter().all(|call| call["id"].as_str().is_some_and(|id| !id.is_empty())), "{wire}: {chat}");
            assert_eq!(chat["finish_reason"], "tool_calls", "{wire}");
        }
    }
}

#[test]
#[ignore = "needs node and LLMR_AIMOCK=path of @copilotkit/aimock"]
fn aimock_calls_the_tools_that_are_offered_and_reads_their_results() {
    let bare = Stage::bare();
    let mock = Aimock::start(&place(), &bare);
    for wire in WIRES {
        let stage = home(&mock, &[wire]);
        let chat = stage.json(&["chat", "--json", "--tool", "note", "--yes-tools", "note one"]);
        assert_eq!(chat["text"], "It is noted.", "{wire:?}: {chat:#}");
        assert_eq!((&chat["tools"][0]["tool"], &chat["tools"][0]["end"]), (&json!("note"), &json!("ok")), "{chat:#}");
        let notes = std::fs::read_to_string(stage.path("notes")).expect("notes");
        assert_eq!(notes, "{\"n\":1}\n", "{wire:?}");
    }
}

/// With tools of the config no answer streams, for each round is read as a whole; but with those that are given as they are.
#[test]
#[ignore = "needs node and LLMR_AIMOCK=path of @copilotkit/aimock"]
fn aimock_streams_calls_of_the_tools_that_are_offered() {
    let bare = Stage::bare();
    let mock = Aimock::start(&place(), &bare);
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    let tools = [
        json!([{"type": "function", "function": {"name": "note", "parameters": schema}}]),
        json!([{"name": "note", "input_schema": schema}]),
        json!([{"functionDeclarations": [{"name": "note", "parametersJsonSchema": schema}]}]),
    ];
    for (wire, tools) in WIRES.into_iter().zip(tools) {
        let stage = home(&mock, &[wire]);
        let chat = stage.json(&["chat", "--json", "--stream", "-o", &format!("tools={tools}"), "note one"]);
        let call = &chat["tool_calls"][0];
        assert_eq!((&call["name"], &call["arguments"]), (&json!("note"), &json!(r#"{"n":1}"#)), "{wire:?}: {chat:#}");
    }
}

#[test]
#[ignore = "needs node and LLMR_AIMOCK=path of @copilotkit/aimock"]
fn aimock_finishes_on_one_wire_what_was_begun_on_another() {
    let bare = Stage::bare();
    let mock = Aimock::start(&place(), &bare);
    let pairs = WIRES.iter().flat_map(|first| WIRES.iter().map(move |second| (*first, *second)));
    for (first, second) in pairs.filter(|(first, second)| first != second) {
        let stage = home(&mock, &[first, second]);
        let begun = format!("note one, from {}", first.2);
        let talk = ["chat", "--json", "--session", "s", "--tool", "note", "--yes-tools"];
        let chat = stage.json(&[&talk[..], &[begun.as_str()]].concat());
        assert_eq!(chat["text"], "It is noted.", "{first:?} {second:?}: {chat:#}");
        let last = chat["attempts"].as_array().and_then(|attempts| attempts.last()).expect("an attempt");
        let by = format!("{}-mock/{}@k", second.0, second.2);
        assert_eq!((&last["deployment"], &last["status"]), (&json!(by), &json!(200)), "{chat:#}");
        let notes = std::fs::read_to_string(stage.path("notes")).expect("notes");
        assert_eq!(notes, "{\"n\":1}\n", "{first:?} {second:?}: it was run once");
        // Both parts of the conversation go to whoever is asked next, also where the answer streams.
        for flags in [&[][..], &["--stream"]] {
            let next = [&["chat", "--json", "--session", "s", "--no-tools"], flags, &["hello"]].concat();
            assert_eq!(stage.json(&next)["text"], "Grüße, 世界! How can I help?", "{first:?} {second:?}");
        }
    }
}
