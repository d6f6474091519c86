//! Streams: over each wire, broken off at each moment, under each policy, and with a reader that leaves.
#![cfg(test)]

use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::TcpListener;

use llmr::catalog::Wire;
use llmr::rehearsal::{Provider, Reply};
use serde_json::json;

use crate::stage::{Done, Stage, config, finish, openai};

const WIRES: [Wire; 3] = [Wire::OpenAi, Wire::Anthropic, Wire::Gemini];

fn pieces(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// A stream that ends badly before a step that answers well, under this policy.
fn broken(wire: Wire, reply: Reply, policy: &str) -> (Done, usize, Stage) {
    let first = Provider::start(wire, reply).expect("a provider");
    let second = Provider::start(wire, Reply::answer("a whole answer")).expect("a provider");
    let text = config(&[("first", &first), ("second", &second)]);
    let stage = Stage::with(&text.replace("[limits]", &format!("[limits]\nstream = \"{policy}\"")));
    let done = stage.run(&["chat", "--stream", "--request-id", "r1", "?"]);
    (done, second.hits(), stage)
}

#[test]
fn an_answer_streams_over_each_wire() {
    for wire in WIRES {
        let reply = Reply::stream(["Grüße ", "aus ", "Bern 🏔\n", "!"]);
        let good = Provider::start(wire, reply).expect("a provider");
        let done =
            Stage::of(&[("good", &good)]).run(&["chat", "--stream", "?"]).exits(0).prints("Grüße aus Bern 🏔\n!\n");
        assert_eq!(done.err, "");
        assert!(good.requests()[0].streams(), "{wire:?}");
        let whole = Stage::of(&[("good", &good)]).run(&["chat", "?"]).exits(0);
        assert_eq!(whole.out, done.out, "whole and streamed are the same words");
        assert!(!good.requests()[1].streams(), "into a pipe it comes whole");
    }
}

#[test]
fn words_are_shown_before_the_stream_ends() {
    let stalls = openai(Reply::Stall { chunks: pieces(&["first words\n"]) });
    let stage = Stage::of(&[("stalls", &stalls)]);
    let mut child = stage.command(&["chat", "--stream", "?"]).spawn().expect("started");
    let mut line = String::new();
    let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
    // The provider is silent from here on: a program that waited for the end would show nothing.
    out.read_line(&mut line).expect("a line");
    assert_eq!(line, "first words\n");
    crate::stage::signal(child.id(), "INT");
    finish(child).exits(130);
}

#[test]
fn an_error_as_the_first_event_falls_through() {
    // What each of them says when it has no room.
    for (wire, class) in WIRES.into_iter().zip(["server_error", "overloaded", "overloaded"]) {
        for policy in ["fail", "buffer", "restart"] {
            let reply = Reply::ErrorEvent { chunks: vec![], error: serde_json::Value::Null };
            let (done, _, stage) = broken(wire, reply, policy);
            let done = done.exits(0).prints("a whole answer\n");
            assert_eq!(done.err, "", "{wire:?} {policy}: nothing was shown yet, so there is nothing to take back");
            let log = stage.json(&["log", "--json", "r1"]);
            assert_eq!(log["attempts"][0]["class"], json!(class), "{wire:?}: {log:#}");
        }
    }
}

#[test]
fn an_error_ends_a_stream_although_the_connection_stays_open() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a client");
        let _ = stream.read(&mut [0; 65536]);
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
        let event = "data: {\"error\":{\"message\":\"The model is overloaded\",\"code\":503}}\n\n";
        let _ = stream.write_all(format!("{head}{event}").as_bytes());
        // Until the client has gone.
        while stream.read(&mut [0; 64]).is_ok_and(|count| count > 0) {}
    });
    let good = openai(Reply::answer("a whole answer"));
    let text = config(&[("good", &good)])
        .replace("[limits]", "[limits]\ndeadline = \"8s\"")
        .replace("\"good/m\"", "\"open/m\", \"good/m\"");
    let open = format!("[providers.open]\nbase_url = \"http://{address}/v1\"\nwire = \"openai\"\n");
    Stage::with(&format!("{text}\n{open}")).run(&["chat", "--stream", "?"]).exits(0).prints("a whole answer\n");
    server.join().expect("no panic");
}

#[test]
fn a_cut_is_never_an_answer() {
    for wire in WIRES {
        for chunks in [vec![], pieces(&["half an "])] {
            let cut = Reply::CutStream { chunks: chunks.clone() };
            let error = Reply::ErrorEvent { chunks, error: serde_json::Value::Null };
            for reply in [cut, error] {
                let (done, hits, _) = broken(wire, reply.clone(), "restart");
                let done = done.exits(0);
                assert!(done.out.ends_with("a whole answer\n"), "{wire:?} {reply:?}: {}", done.out);
                assert_eq!(hits, 1, "{wire:?} {reply:?}");
            }
        }
    }
}

#[test]
fn fail_shows_what_there_was_and_says_so() {
    for wire in WIRES {
        for reply in [
            Reply::CutStream { chunks: pieces(&["half ", "an "]) },
            Reply::ErrorEvent { chunks: pieces(&["half ", "an "]), error: serde_json::Value::Null },
        ] {
            let (done, hits, stage) = broken(wire, reply, "fail");
            done.exits(9).prints("half an \n").says(&["error: the stream broke", "first/m", "hint: "]);
            assert_eq!(hits, 0, "nobody else is asked");
            assert_eq!(stage.json(&["log", "--json", "r1"])["outcome"], json!("partial"));
        }
    }
}

#[test]
fn what_ends_with_a_broken_stream_takes_no_retry_and_announces_no_restart() {
    for (limits, code) in [("stream = \"fail\"", 9), ("stream = \"restart\"\non_may_have_run = \"stop\"", 4)] {
        let cut = openai(Reply::CutStream { chunks: pieces(&["half "]) });
        let text = config(&[("cut", &cut)]).replace("retry_budget = 0", &format!("retry_budget = 9\n{limits}"));
        let stage = Stage::with(&text);
        let done = stage.run(&["chat", "--stream", "?"]).exits(code);
        assert!(!done.err.contains("restart:"), "{limits}: {}", done.err);
        let taken: u32 = stage.sql().query_row("SELECT count(*) FROM retries", [], |row| row.get(0)).expect("a count");
        assert_eq!((taken, cut.hits()), (0, 1), "{limits}");
    }
}

#[test]
fn buffer_shows_nothing_of_what_broke() {
    for wire in WIRES {
        let (done, hits, _) = broken(wire, Reply::CutStream { chunks: pieces(&["half ", "an "]) }, "buffer");
        let done = done.exits(0).prints("a whole answer\n");
        assert_eq!((hits, done.err.as_str()), (1, ""));
    }
}

#[test]
fn restart_marks_where_the_answer_begins_anew() {
    for wire in WIRES {
        let (done, hits, stage) = broken(wire, Reply::CutStream { chunks: pieces(&["half ", "an "]) }, "restart");
        done.exits(0).prints("half an \na whole answer\n").says(&["restart: "]);
        assert_eq!(hits, 1);
        let log = stage.json(&["log", "--json", "r1"]);
        assert_eq!((&log["outcome"], &log["attempts"][0]["class"]), (&json!("answered"), &json!("network")));
    }
}

#[test]
fn json_carries_the_whole_answer_alone_after_a_restart() {
    let first = openai(Reply::CutStream { chunks: pieces(&["half "]) });
    let second = openai(Reply::answer("a whole answer"));
    let stage = Stage::of(&[("first", &first), ("second", &second)]);
    let chat = stage.json(&["chat", "--stream", "--json", "?"]);
    assert_eq!((&chat["text"], &chat["step"]), (&json!("a whole answer"), &json!(1)));
}

#[test]
fn a_stream_that_falls_silent_is_a_timeout() {
    for (timer, reply) in [
        ("first = \"60ms\"", Reply::Pings { chunks: vec![], every_ms: 5 }),
        ("first = \"60ms\"", Reply::Hang),
        ("idle = \"60ms\"", Reply::Stall { chunks: pieces(&["half "]) }),
        ("idle = \"60ms\"", Reply::Pings { chunks: pieces(&["half "]), every_ms: 5 }),
        ("total = \"60ms\"", Reply::SlowDrip { text: "word ".repeat(1000), every_ms: 5 }),
    ] {
        let first = openai(reply.clone());
        let second = openai(Reply::answer("a whole answer"));
        let text = config(&[("first", &first), ("second", &second)]);
        let stage = Stage::with(&text.replace("[limits]", &format!("[limits]\ntimeout = {{ {timer} }}")));
        let done = stage.run(&["chat", "--stream", "--request-id", "r1", "?"]).exits(0);
        assert!(done.out.ends_with("a whole answer\n"), "{timer} {reply:?}: {}", done.out);
        assert_eq!(stage.json(&["log", "--json", "r1"])["attempts"][0]["class"], json!("timeout"), "{timer} {reply:?}");
    }
}

#[test]
fn a_reader_that_leaves_ends_the_request_without_trouble() {
    let endless = openai(Reply::SlowDrip { text: "word ".repeat(100_000), every_ms: 1 });
    let stage = Stage::of(&[("endless", &endless)]);
    let mut child = stage.command(&["chat", "--stream", "--request-id", "r1", "?"]).spawn().expect("started");
    let mut out = child.stdout.take().expect("a pipe");
    let mut first = [0; 5];
    std::io::Read::read_exact(&mut out, &mut first).expect("five bytes");
    assert_eq!(&first, b"word ");
    drop(out);
    // The drip would go on for minutes: who waits for its end is killed.
    let done = finish(child).exits(0);
    assert_eq!(done.err, "");
    let status = stage.json(&["status", "--json"]);
    assert_eq!(status["deployments"][0]["circuit"]["failures"], json!(0), "nobody is to blame");
    assert_eq!(stage.json(&["log", "--json", "r1"])["outcome"], json!("answered"));
}

#[test]
fn a_reader_that_leaves_is_no_trouble_for_any_command() {
    let good = openai(Reply::answer("yes"));
    let stage = Stage::of(&[("good", &good)]);
    for args in [
        &["chat", "?"][..],
        &["chat", "--json", "?"],
        &["status"],
        &["status", "--json"],
        &["plan"],
        &["log"],
        &["caps"],
        &["check"],
        &["completions", "bash"],
        &["man"],
        &["reset", "--all"],
        &["classify", "llmr.toml"],
    ] {
        let mut child = stage.command(args).spawn().expect("started");
        // Gone before the first byte, as far as one can be; else the pipe takes it and all is well anyway.
        drop(child.stdout.take());
        let done = finish(child);
        assert_eq!((done.code, done.err.as_str()), (Some(0), ""), "{args:?}");
    }
}
