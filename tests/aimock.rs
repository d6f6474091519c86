//! The real program against `@copilotkit/aimock`, which speaks all three wires and was written by others.
//!
//! `npm install @copilotkit/aimock@1.43.0` somewhere, then
//! `LLMR_AIMOCK=SOMEWHERE/node_modules/@copilotkit/aimock cargo test --locked aimock -- --ignored`
#![cfg(test)]

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::json;

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

#[test]
#[ignore = "needs node and LLMR_AIMOCK=path of @copilotkit/aimock"]
#[expect(clippy::disallowed_methods, reason = "whoever runs it says where the mock is")]
fn aimock_is_understood_on_all_three_wires() {
    let path = std::env::var("LLMR_AIMOCK").expect("LLMR_AIMOCK=path of @copilotkit/aimock");
    let bare = Stage::bare();
    let mock = Aimock::start(&path, &bare);
    for (wire, version, model) in
        [("openai", "v1", "gpt-4o"), ("anthropic", "v1", "claude-sonnet-4-5"), ("gemini", "v1beta", "gemini-2.5-flash")]
    {
        let url = format!("http://127.0.0.1:{}/{version}", mock.port);
        let stage = Stage::with(&format!(
            "[providers.mock]\nbase_url = \"{url}\"\nwire = \"{wire}\"\n[ladders.main]\nsteps = [\"mock/{model}\"]\n\
             [[providers.mock.credentials]]\nname = \"k\"\nkey = {{ env = \"MOCK_KEY\" }}\n"
        ));
        let mut stage = stage;
        stage.set("MOCK_KEY", "mock-key-0123456789");
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
