//! Delivery: signed webhooks, commands, and what happens when they fail, hang or are killed.
#![cfg(test)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use base64::Engine;
use llmr::rehearsal::Reply;
use serde_json::{Value, json};

use crate::alarm::{error, listed, rang, ringing};
use crate::stage::{NOW, Stage, config, finish, openai, signal, until};

/// What the one who listens does with a message.
#[derive(Clone, Copy)]
enum Does {
    Says(u16),
    Hangs,
    Redirects,
}

#[derive(Debug, Clone)]
pub struct Posted {
    path: String,
    headers: Vec<(String, String)>,
    body: String,
}

impl Posted {
    fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str()).expect(name)
    }
}

/// A server on loopback that takes messages; what it does comes from the list, the last of it for ever.
struct Hook {
    url: String,
    posted: Arc<Mutex<Vec<Posted>>>,
}

impl Hook {
    fn start(does: &'static [Does]) -> Self {
        let socket = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let url = format!("http://{}/hook", socket.local_addr().expect("an address"));
        let posted = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&posted);
        // It ends with the tests.
        std::thread::spawn(move || {
            let mut open = Vec::new();
            for stream in socket.incoming().map_while(Result::ok) {
                let Some(message) = read(&stream) else { continue };
                let at = { seen.lock().expect("no panic").len() };
                match does.get(at).or(does.last()).expect("something to do") {
                    Does::Says(status) => {
                        say(&stream, &format!("HTTP/1.1 {status} X\r\ncontent-length: 5\r\n\r\nhello"));
                    }
                    Does::Redirects => {
                        say(&stream, "HTTP/1.1 302 Found\r\nlocation: /elsewhere\r\ncontent-length: 0\r\n\r\n");
                    }
                    Does::Hangs => open.push(stream.try_clone()),
                }
                seen.lock().expect("no panic").push(message);
            }
        });
        Self { url, posted }
    }

    fn posted(&self) -> Vec<Posted> {
        self.posted.lock().expect("no panic").clone()
    }

    fn section(&self) -> String {
        format!("[alarm]\nwebhook = {{ url = \"{}\", secret = {{ env = \"HOOK_SECRET\" }} }}\n", self.url)
    }
}

pub fn say(mut stream: &TcpStream, text: &str) {
    // Who has gone away does not hear it.
    let _ = stream.write_all(text.as_bytes());
}

pub fn read(stream: &TcpStream) -> Option<Posted> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|length| *length > 0)?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.push((name.to_lowercase(), value.to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length")?.1.parse().ok()?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Posted { path, headers, body: String::from_utf8(body).ok()? })
}

const SECRET: &str = "whsec_bm90LWEtcmVhbC1zZWNyZXQtb2Ytb3Vycw==";

/// A ladder that falls through, and tells this hook.
fn stage(hook: &Hook, besides: &str) -> (llmr::rehearsal::Provider, Stage) {
    let lab = openai(error(418, "The frobnicator is out of phase."));
    let ladder = "[ladders.main]\non_unknown = \"next\"\ncascade = \"off\"\n";
    let text = config(&[("lab", &lab)]).replace("[ladders.main]\n", ladder);
    let mut stage = Stage::with(&format!("{text}{}{besides}", hook.section()));
    stage.set("HOOK_SECRET", SECRET);
    (lab, stage)
}

/// The signature as the standard describes it, by other means than the program's own.
fn is_signed(message: &Posted, key: &[u8]) -> bool {
    let signed = format!("{}.{}.{}", message.header("webhook-id"), message.header("webhook-timestamp"), message.body);
    let given = message.header("webhook-signature").strip_prefix("v1,").expect("a version");
    let given = base64::engine::general_purpose::STANDARD.decode(given).expect("base64");
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, key);
    ring::hmac::verify(&key, signed.as_bytes(), &given).is_ok()
}

#[test]
fn a_webhook_is_signed_and_tells_the_same_as_the_command() {
    let hook = Hook::start(&[Does::Says(200)]);
    let (_lab, stage) = stage(&hook, "");
    let done = stage.run(&["chat", "?"]).exits(4);
    assert!(!done.err.contains("warning:"), "{}", done.err);
    let posted = hook.posted();
    assert_eq!(posted.len(), 1);
    let message = &posted[0];
    assert!(is_signed(message, b"not-a-real-secret-of-ours"), "{message:?}");
    assert!(!is_signed(message, b"another secret"));
    assert!(!is_signed(
        &Posted { body: format!("{} ", message.body), ..message.clone() },
        b"not-a-real-secret-of-ours"
    ));
    // 2026-08-23T03:00:00Z
    assert_eq!((message.header("webhook-timestamp"), message.path.as_str()), ("1787454000", "/hook"));
    assert_eq!(message.header("content-type"), "application/json");
    let body: Value = serde_json::from_str(&message.body).expect("JSON");
    assert_eq!(body["id"], message.header("webhook-id"));
    assert_eq!((&body["event"], &body["subject"]), (&json!("raised"), &json!("main")));
    assert!(body["text"].as_str().is_some_and(|text| text.contains("The frobnicator is out of phase.")), "{body:#}");
    let secret = ["whsec_", "bm90LWEt"];
    let state = String::from_utf8_lossy(&stage.state_bytes()).into_owned();
    assert!(secret.iter().all(|part| !state.contains(part) && !done.err.contains(part)));
}

#[test]
fn what_failed_is_tried_again_by_a_later_process_with_the_same_id() {
    let hook = Hook::start(&[Does::Says(500), Does::Says(200)]);
    let (_lab, stage) = stage(&hook, "");
    stage.run(&["chat", "?"]).exits(4).says(&[
        "warning: the alarm was not delivered by webhook: status 500: hello; try 1 of 8 failed, the next is due in 3",
        "`llmr alarm list` shows what waits",
    ]);
    let waits = &listed(&stage, NOW)[0]["letters"][0];
    assert_eq!((&waits["state"], &waits["error"]), (&json!("waiting"), &json!("status 500: hello")));
    let done = stage.run_at("2026-08-23T03:00:29Z", &["chat", "?"]).exits(4);
    assert!(!done.err.contains("warning:") && hook.posted().len() == 1, "not due yet: {}", done.err);
    stage.run_at("2026-08-23T03:00:37Z", &["check", "--alarm"]).exits(0);
    let posted = hook.posted();
    assert_eq!(posted.len(), 2);
    assert_eq!(posted[0].header("webhook-id"), posted[1].header("webhook-id"));
    assert_ne!(posted[0].header("webhook-timestamp"), posted[1].header("webhook-timestamp"));
    assert_eq!(posted[0].body, posted[1].body);
    assert!(posted.iter().all(|message| is_signed(message, b"not-a-real-secret-of-ours")));
    assert_eq!(listed(&stage, NOW)[0]["letters"][0]["state"], "delivered");
    stage.run_at("2026-08-23T03:02:00Z", &["check", "--alarm"]).exits(0);
    assert_eq!(hook.posted().len(), 2);
}

#[test]
fn tries_have_an_end_which_is_shown() {
    let hook = Hook::start(&[Does::Says(503)]);
    let (_lab, stage) = stage(&hook, "tries = 2\n");
    stage.run(&["chat", "?"]).exits(4);
    stage.run_at("2026-08-23T03:01:00Z", &["chat", "?"]).exits(4).says(&["given up after 2 tries"]);
    stage.run_at("2026-08-23T04:00:00Z", &["chat", "?"]).exits(4);
    assert_eq!(hook.posted().len(), 2);
    let list = stage.run(&["alarm", "list"]).exits(0).out;
    assert!(list.contains("GIVEN UP") && list.contains("status 503"), "{list}");
}

#[test]
fn a_hook_that_hangs_redirects_or_is_not_there_stops_nobody() {
    for (does, timeout, why) in [
        (&[Does::Hangs][..], "300ms", "no answer within 300ms"),
        (&[Does::Redirects], "9s", "status 302: redirects are not followed"),
    ] {
        let hook = Hook::start(does);
        let (lab, stage) = stage(&hook, &format!("timeout = \"{timeout}\"\n"));
        stage.run(&["chat", "?"]).exits(4).says(&[why]);
        lab.play(Reply::answer("yes"));
        stage.run_at("2026-08-23T03:02:00Z", &["chat", "?"]).exits(0).prints("yes\n").says(&[why]);
        assert!(hook.posted().iter().all(|message| message.path == "/hook"));
        assert!(!listed(&stage, NOW)[0].to_string().contains("127.0.0.1"), "the URL is not told");
    }
    let hook = Hook::start(&[Does::Says(200)]);
    let (_lab, mut stage) = stage(&hook, "");
    stage.set("HOOK_SECRET", "");
    stage.run(&["chat", "?"]).exits(4).says(&["webhook secret: environment variable HOOK_SECRET is not set"]);
    assert_eq!(hook.posted().len(), 0, "nothing goes out unsigned");
}

/// A ladder that falls through, with this command.
fn commanded(command: &str, besides: &str) -> (llmr::rehearsal::Provider, Stage) {
    let lab = openai(error(418, "The frobnicator is out of phase."));
    let ladder = "[ladders.main]\non_unknown = \"next\"\ncascade = \"off\"\n";
    let text = config(&[("lab", &lab)]).replace("[ladders.main]\n", ladder);
    (lab, Stage::with(&format!("{text}[alarm]\ncommand = {command}\n{besides}")))
}

#[test]
fn a_command_that_fails_hangs_or_is_not_there_stops_nobody() {
    for (command, why) in [
        ("[\"sh\", \"-c\", \"echo no such pager >&2; exit 3\"]", "exit status: 3: no such pager"),
        ("[\"sh\", \"-c\", \"sleep 100; true\"]", "it was killed, for it took longer than 300ms"),
        ("[\"no-such-program\", \"{summary}\"]", "`no-such-program` cannot be run"),
    ] {
        let (lab, stage) = commanded(command, "timeout = \"300ms\"\n");
        stage.run(&["chat", "?"]).exits(4).says(&["warning: the alarm was not delivered by command", why]);
        lab.play(Reply::answer("yes"));
        stage.run_at("2026-08-23T03:02:00Z", &["chat", "?"]).exits(0).prints("yes\n").says(&[why]);
    }
}

#[test]
fn who_asked_waits_for_one_delivery_in_all_and_what_was_not_tried_is_left_for_the_next() {
    let hook = Hook::start(&[Does::Says(200)]);
    let command = "command = [\"sleep\", \"100\"]\ntimeout = \"400ms\"\n";
    let (_lab, stage) = stage(&hook, command);
    let done = stage.run(&["chat", "?"]).exits(4);
    assert!(done.err.contains("by command: it was killed, for it took longer than 200ms"), "{}", done.err);
    stage.run_at("2026-08-23T03:00:05Z", &["check", "--alarm"]).exits(0);
    assert_eq!(hook.posted().len(), 1, "one that hangs does not silence the other");
}

#[test]
fn ctrl_c_ends_the_wait_for_a_sink_and_changes_no_exit_code() {
    let command = "[\"sh\", \"-c\", \"if mkdir first; then exec sleep 100; fi; echo $0 >> rang\", \"{kind}\"]";
    let (_lab, stage) = commanded(command, "timeout = \"90s\"\n");
    let child = stage.command(&["chat", "?"]).spawn().expect("started");
    until("it delivers", || stage.path("first").exists());
    signal(child.id(), "INT");
    finish(child).exits(4).says(&["the alarm was not delivered by command: it was interrupted; try 1 of 8 failed"]);
    stage.run_at("2026-08-23T03:01:00Z", &["check", "--alarm"]).exits(0);
    assert_eq!(rang(&stage), ["exhausted"]);
}

#[test]
fn a_process_that_is_killed_between_taking_and_delivering_loses_nothing() {
    let command = "[\"sh\", \"-c\", \"if mkdir first; then echo $$ > first/id.tmp; mv first/id.tmp first/id; exec sleep 60; fi; \
                   printf '%s\\\\n' \\\"$0\\\" >> rang\", \"{kind}\"]";
    let (_lab, stage) = commanded(command, "timeout = \"20s\"\n");
    let child = stage.command(&["chat", "?"]).spawn().expect("started");
    until("it delivers", || stage.path("first/id").exists());
    signal(child.id(), "KILL");
    let sleeper = std::fs::read_to_string(stage.path("first/id")).expect("an id");
    signal(sleeper.trim().parse().expect("a number"), "KILL");
    assert_eq!(finish(child).code, None);
    stage.run_at("2026-08-23T03:01:00Z", &["check", "--alarm"]).exits(0);
    assert_eq!(rang(&stage), [""; 0], "it may still be delivered by the one that took it");
    for minute in [2, 3] {
        stage.run_at(&format!("2026-08-23T03:0{minute}:00Z"), &["check", "--alarm"]).exits(0);
    }
    assert_eq!(rang(&stage), ["exhausted"]);
}

#[test]
fn a_test_message_goes_to_each_sink_and_says_what_came_of_it() {
    let hook = Hook::start(&[Does::Says(200), Does::Says(404)]);
    let command = "command = [\"sh\", \"-c\", \"printf '%s\\\\n' \\\"$0\\\" >> rang\", \"{kind} {summary}\"]\n";
    let (_lab, stage) = stage(&hook, command);
    stage.run(&["alarm", "test"]).exits(0).prints("command: delivered\nwebhook: delivered\n");
    assert_eq!(rang(&stage), ["test llmr: this is a test of the alarm, nothing is wrong"]);
    let posted = hook.posted();
    assert!(is_signed(&posted[0], b"not-a-real-secret-of-ours") && posted[0].body.contains("\"alarm.test\""));
    stage.run(&["alarm", "test"]).exits(1).prints("command: delivered\nwebhook: FAILED: status 404: hello\n");
    let json = stage.run(&["alarm", "test", "--json"]).exits(1).json();
    assert_eq!(json["sinks"][1], json!({"sink": "webhook", "delivered": false, "error": "status 404: hello"}));
    assert!(!stage.state().exists(), "it is no part of the state");

    let lab = openai(Reply::answer("yes"));
    let nobody = Stage::of(&[("lab", &lab)]);
    nobody.run(&["alarm", "test"]).exits(3).prints("").says(&["nobody is told", "[alarm]"]);
}

#[test]
fn a_state_file_that_cannot_be_written_does_not_silence_it() {
    let lab = openai(error(418, "The frobnicator is out of phase."));
    let mut stage = ringing(&[("lab", &lab)], "");
    let folder = stage.path("").to_str().expect("a plain path").to_owned();
    stage.set("LLMR_STATE", folder);
    stage.run(&["chat", "?"]).exits(4).says(&["memory"]);
    assert_eq!(rang(&stage).len(), 1);
}
