//! Sessions and tools at the command line: what is printed, what is kept, and what a person is asked.
#![cfg(test)]

use llmr::catalog::Wire;
use llmr::domain::{ToolCall, Usage};
use llmr::rehearsal::{Provider, Reply, Script};
use serde_json::{Value, json};
use std::process::Stdio;

use crate::stage::{Stage, config, finish, names, openai, signal, until};

fn call(id: &str, tool: &str, arguments: &Value) -> ToolCall {
    ToolCall { id: id.to_owned(), name: tool.to_owned(), arguments: arguments.to_string() }
}

fn wants(tool: &str, arguments: &Value) -> Reply {
    Reply::tool_calls(vec![call("c1", tool, arguments)])
}

/// A model that wants this once, and answers when it has seen the result.
fn once(tool: &str, arguments: &Value, answer: &str) -> Script {
    Script::from(vec![wants(tool, arguments), Reply::answer(answer)])
}

/// A ladder that may use a tool `t`, which runs this in a shell.
fn stage(lab: &Provider, more: &str, shell: &str) -> Stage {
    let text = config(&[("lab", lab)]).replace("[ladders.main]\n", "[ladders.main]\ntools = [\"t\"]\n");
    Stage::with(&format!(
        "{text}\n[tools.t]\ndescription = \"A tool\"\ncommand = [\"sh\", \"-c\", '{shell}']\n\
         schema = {{ type = \"object\", properties = {{ n = {{ type = \"integer\" }} }} }}\n{more}"
    ))
}

/// What the provider was sent as the result of the call.
fn result(lab: &Provider) -> String {
    let seen = lab.requests();
    let messages = seen.last().expect("a request").body["messages"].clone();
    let tool = messages.as_array().expect("a list").iter().find(|message| message["role"] == "tool");
    tool.expect("a result")["content"].as_str().expect("a text").to_owned()
}

#[test]
fn a_conversation_goes_on_from_one_process_to_the_next() {
    let lab = openai(vec![Reply::answer("I am one"), Reply::answer("I am two")]);
    let stage = Stage::of(&[("lab", &lab)]);
    stage.run(&["chat", "--session", "s", "-s", "Be brief.", "who are you?"]).exits(0).prints("I am one\n");
    stage.run(&["chat", "--session", "s", "and now?"]).exits(0).prints("I am two\n");
    let sent = lab.requests()[1].body["messages"].clone();
    let texts: Vec<&str> = sent.as_array().expect("a list").iter().filter_map(|m| m["content"].as_str()).collect();
    assert_eq!(texts, ["Be brief.", "who are you?", "I am one", "and now?"], "with the system's words");
    let again = stage.run(&["chat", "--session", "s"]).exits(0).prints("I am two\n");
    again.says(&["nothing is under way"]);
    assert_eq!(lab.hits(), 2);
    let file = stage.file("s.json", stage.run(&["session", "show", "s", "--json"]).exits(0).out);
    lab.play(Reply::answer("from a file"));
    stage.run(&["chat", "--session", "copy", "--messages", &file, "and then?"]).exits(0).prints("from a file\n");
    let sent = lab.requests()[2].body["messages"].as_array().expect("a list").clone();
    assert_eq!((sent.len(), &sent[0]["content"]), (6, &json!("Be brief.")), "with the system's words");
    stage.run(&["chat", "--session", "copy", "--messages", &file, "?"]).exits(2).says(&["has begun already"]);
}

#[test]
fn what_was_not_answered_is_kept_once_and_may_be_put_otherwise() {
    let lab = openai(Reply::status(503, json!({"error": {"message": "The model is overloaded"}})));
    let stage = Stage::of(&[("lab", &lab)]);
    for _ in 0..2 {
        stage.run(&["chat", "--session", "s", "first"]).exits(4).says(&["what was said is kept", "--session s"]);
    }
    lab.play(Reply::answer("well"));
    let turns = || stage.json(&["session", "show", "s", "--json"])["messages"].as_array().expect("a list").len();
    assert_eq!(turns(), 1, "the same command does not say it twice");
    stage.run(&["reset", "--all", "-y"]).exits(0);
    stage.run(&["chat", "--session", "s", "second"]).exits(0).prints("well\n").says(&["takes its place"]);
    assert_eq!(turns(), 2);
    let last = lab.requests().last().expect("a request").body["messages"].clone();
    assert_eq!(last, json!([{"role": "user", "content": "second"}]));
}

#[test]
fn one_object_tells_of_all_rounds() {
    let lab = openai(once("t", &json!({"n": 7}), "it is done"));
    let stage = stage(&lab, "effect = \"pure\"\n", "cat; echo \" $LLMR_TOOL $LLMR_SESSION\"");
    let chat = stage.json(&["chat", "--json", "--session", "s", "?"]);
    assert_eq!((&chat["text"], &chat["session"], &chat["error"]), (&json!("it is done"), &json!("s"), &json!(null)));
    assert_eq!(chat["attempts"].as_array().expect("a list").len(), 2);
    let tool = &chat["tools"][0];
    assert_eq!(names(tool), "tool call effect state end replayed latency_s");
    assert_eq!(
        (&tool["tool"], &tool["effect"], &tool["state"], &tool["replayed"]),
        (&json!("t"), &json!("pure"), &json!("done"), &json!(false))
    );
    assert_eq!(result(&lab), "{\"n\":7} t s");
    let id = chat["request_id"].as_str().expect("an id");
    for (id, outcome) in [(id.to_owned(), "answered"), (format!("{id}-2"), "answered")] {
        assert_eq!(stage.json(&["log", "--json", &id])["outcome"], outcome, "{id}");
    }
    let offered = &lab.requests()[0].body["tools"];
    assert!(offered[0].to_string().contains("A tool"), "{offered}");
}

#[test]
fn a_side_effect_needs_a_yes() {
    let lab = openai(once("t", &json!({"n": 7}), "it is done"));
    let stage = stage(&lab, "", "echo x >> effects");
    let is_done = || stage.path("effects").exists();
    let plain = stage.run(&["chat", "?"]).exits(5).prints("");
    plain.says(&["`t` has a side effect, and nobody has allowed it", "arguments: {\"n\":7}", "--yes-tools"]);
    lab.play(once("t", &json!({"n": 7}), "it is done"));
    let chat = stage.run(&["chat", "--json", "--session", "s", "?"]).exits(5).says(&["--session s --yes-tools"]).json();
    assert_eq!((&chat["question"]["about"], &chat["question"]["tool"]), (&json!("consent"), &json!("t")));
    stage
        .run(&["chat", "--session", "s", "something else"])
        .exits(2)
        .says(&["in the middle of an answer", "session rm s"]);
    assert!(!is_done());
    stage.run(&["chat", "--session", "s", "--yes-tools"]).exits(0).prints("it is done\n");
    assert!(is_done());
    assert_eq!(lab.hits(), 3, "the first request of each, and one for the result");
}

#[test]
fn what_goes_wrong_with_a_tool_goes_back_to_the_model() {
    for (tool, arguments, shell, more, told) in [
        (
            "t",
            json!({"n": 1}),
            "echo out; echo no room >&2; exit 3",
            "",
            "the command failed with exit code 3\nno room\nout",
        ),
        (
            "t",
            json!({"n": "one"}),
            "true",
            "",
            "the arguments are not as the tool wants them: /n: \"one\" is not of type \"integer\"",
        ),
        ("other", json!({}), "true", "", "there is no tool `other`; there are t"),
        ("t", json!({}), "printf \"a\\033[31mb\"", "", "ab"),
        (
            "t",
            json!({}),
            "exec sleep 600",
            "timeout = \"50ms\"\neffect = \"pure\"\n",
            "it was stopped after 0.05 s, when its time was over",
        ),
    ] {
        let lab = openai(once(tool, &arguments, "so be it"));
        let stage = stage(&lab, more, shell);
        stage.run(&["chat", "--yes-tools", "?"]).exits(0).prints("so be it\n");
        assert_eq!(result(&lab), told);
    }
    let lab = openai(once("t", &json!({}), "so be it"));
    let stage = stage(&lab, "", "head -c 70000 /dev/zero | tr \"\\0\" x");
    stage.run(&["chat", "--yes-tools", "?"]).exits(0);
    let told = result(&lab);
    assert!(told.len() < 66_000 && told.ends_with("x\n[cut: only the first 65536 bytes are shown]"));
}

#[test]
fn a_tool_with_an_effect_that_takes_too_long_is_a_question() {
    let lab = openai(once("t", &json!({"n": 7}), "it is done"));
    let stage = stage(&lab, "timeout = \"50ms\"\nidempotency_key = \"{tool}/{args.n}\"\n", "exec sleep 600");
    let asked = stage.run(&["chat", "--session", "s", "--yes-tools", "?"]).exits(5);
    let asked =
        asked.says(&["nobody knows whether `t` did its work", "it was stopped after 0.05 s", "idempotency key: t/7"]);
    let shown = stage.run(&["session", "show", "s"]).exits(0).out;
    assert!(shown.contains("waits for a person") && shown.contains("nobody knows"), "{shown}");
    let name = stage.json(&["session", "show", "s", "--json"])["calls"][0]["call"].as_str().expect("a name").to_owned();
    assert!(asked.err.contains(&format!("llmr session settle s {name} --result")), "{}", asked.err);
    stage.run(&["session", "settle", "s", "nope", "--again"]).exits(2).says(&["names no call"]);
    stage.run(&["session", "settle", "s", &name, "--result", "it was deployed"]).exits(0).says(&["is settled"]);
    stage.run(&["session", "settle", "s", &name, "--again"]).exits(2).says(&["nothing to settle", "settled by hand"]);
    stage.run(&["chat", "--session", "s"]).exits(0).prints("it is done\n").says(&["not run again"]);
    assert_eq!(result(&lab), "it was deployed");
}

#[test]
fn a_signal_stops_a_tool_and_says_what_is_open() {
    for (name, code) in [("INT", 130), ("TERM", 143)] {
        let lab = openai(once("t", &json!({}), "it is done"));
        let stage = stage(&lab, "", "echo $$ > id; mv id begun; exec sleep 600");
        let child = stage.command(&["chat", "--session", "s", "--yes-tools", "?"]).spawn().expect("started");
        until("the tool runs", || stage.path("begun").exists());
        signal(child.id(), name);
        finish(child).exits(code).says(&["interrupted", "--session s"]);
        let tool = std::fs::read_to_string(stage.path("begun")).expect("its number");
        assert!(!is_alive(tool.trim()), "{name}: it does not outlive us");
        stage.run(&["chat", "--session", "s", "--yes-tools"]).exits(5).says(&["the user stopped it"]);
    }
}

fn is_alive(process: &str) -> bool {
    std::process::Command::new("kill").args(["-0", process]).stderr(Stdio::null()).status().expect("kill").success()
}

#[test]
fn no_key_reaches_a_tool_and_none_is_kept() {
    let key = "not-a-real-key-number-three";
    let lab = openai(once("t", &json!({}), "it is done"));
    let text = crate::stage::keys("lab", &[("own", "{ env = \"LAB_KEY\" }")]);
    let mut stage = stage(&lab, &format!("effect = \"pure\"\n{text}"), "env; cat key");
    stage.set("LAB_KEY", key);
    stage.set("OTHER", format!("Bearer {key}"));
    stage.set("PLAIN", "visible");
    stage.file("key", key);
    stage.run(&["chat", "--session", "s", "-s", &format!("Keep {key} safe."), &format!("is it {key}?")]).exits(0);
    let told = result(&lab);
    assert!(told.contains("PLAIN=visible") && !told.contains("LAB_KEY") && !told.contains("OTHER"), "{told}");
    assert!(told.ends_with("[redacted]"), "{told}");
    assert!(!String::from_utf8_lossy(&stage.state_bytes()).contains(key));
}

#[test]
fn a_session_is_gone_on_with_by_one_process_at_a_time() {
    let lab = openai(Reply::Hang);
    let stage = Stage::of(&[("lab", &lab)]);
    let child = stage.command(&["chat", "--session", "s", "?"]).spawn().expect("started");
    until("it asks", || lab.hits() == 1);
    for args in [&["chat", "--session", "s", "?"][..], &["session", "rm", "s"]] {
        stage.run(args).exits(1).says(&["another process is going on with `s`"]);
    }
    stage.run(&["session", "show", "s"]).exits(0);
    signal(child.id(), "KILL");
    finish(child);
    lab.play(Reply::answer("now"));
    stage.run(&["chat", "--session", "s"]).exits(0).prints("now\n");
}

#[test]
fn sessions_are_listed_and_removed() {
    let lab = openai(Reply::answer("hi"));
    let stage = Stage::of(&[("lab", &lab)]);
    stage
        .run(&["session", "list"])
        .exits(0)
        .prints("there is no session yet; `llmr chat --session NAME PROMPT` begins one\n");
    stage.run(&["session", "show", "a"]).exits(2).says(&["there is no session `a`"]);
    stage.run(&["chat", "--session", "a", "?"]).exits(0);
    stage.run_at("2026-08-23T03:05:00Z", &["chat", "--session", "b", "?"]).exits(0);
    let listed = stage.run_at("2026-08-23T04:00:00Z", &["session", "list"]).exits(0).out;
    assert_eq!(
        listed,
        "SESSION  TURNS  USED     LADDER  WAITS FOR\nb        2      55m ago  main    you\n\
         a        2      1h ago   main    you\n"
    );
    let lines = stage.run(&["session", "list", "--json"]).exits(0).out;
    assert_eq!(lines.lines().count(), 2);
    stage.run(&["session", "rm", "a", "nothing"]).exits(2).says(&["nothing was removed"]);
    stage.run(&["session", "rm", "a", "a", "b"]).exits(0);
    assert_eq!(stage.run(&["session", "list", "--json"]).exits(0).out, "");
    let rows = |table: &str| {
        stage
            .sql()
            .query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get::<_, u32>(0))
            .expect("a count")
    };
    assert_eq!((rows("turns"), rows("journal"), rows("sessions")), (0, 0, 0));
}

#[test]
fn slips_are_told_before_anybody_is_asked() {
    let lab = openai(Reply::answer("never"));
    let stage = stage(&lab, "", "true");
    for (args, code, told) in [
        (&["chat", "--session", "a b", "?"][..], 2, "`a b` is no name of a session"),
        (&["chat", "--session", "s"], 2, "there is nothing to ask"),
        (&["chat", "--tool", "nope", "?"], 2, "there is no tool `nope`"),
        (&["chat", "--tool-choice", "nope", "?"], 2, "the model is offered no tool `nope`"),
        (&["chat", "--no-tools", "--tool-choice", "required", "?"], 2, "the model is offered no tools"),
        (&["chat", "--session", "s", "--state", "/dev/null/x", "?"], 1, "a conversation is kept in the state file"),
        (&["chat", "--session", "s", "--request-id", "r", "?"], 2, "cannot be used with"),
    ] {
        stage.run(args).exits(code).says(&[told]);
    }
    assert_eq!(lab.hits(), 0);
    assert_eq!(stage.run(&["session", "list", "--json"]).exits(0).out, "", "and nothing was begun");
}

#[test]
fn a_model_that_wants_tools_for_ever_is_stopped_and_may_go_on() {
    let lab = openai(wants("t", &json!({})));
    let stage = stage(&lab, "effect = \"pure\"\n", "echo more");
    let stopped = stage.run(&["chat", "--session", "s", "--max-tool-rounds", "2", "?"]).exits(7);
    stopped.says(&["has not answered in words", "--max-tool-rounds"]);
    assert_eq!(lab.hits(), 3);
    lab.play(Reply::answer("enough"));
    stage.run(&["chat", "--session", "s", "--max-tool-rounds", "3"]).exits(0).prints("enough\n");
}

#[test]
fn a_shape_is_due_with_the_last_words() {
    let lab = openai(once("t", &json!({}), r#"{"ok": true}"#));
    let stage = stage(&lab, "effect = \"pure\"\n", "echo fine");
    let schema = stage.file("schema.json", r#"{"type": "object", "required": ["ok"]}"#);
    let chat = stage.json(&["chat", "--json", "--schema", &schema, "?"]);
    assert_eq!((&chat["parsed"], lab.hits()), (&json!({"ok": true}), 2));
}

#[test]
fn attempts_are_over_all_rounds() {
    let broken = Reply::status(503, json!({"error": {"message": "The model is overloaded"}}));
    let lab = openai(vec![wants("t", &json!({})), broken, Reply::answer("too late")]);
    let main = "[ladders.main]\nattempts = 2\ntools = [\"t\"]\n";
    let text = config(&[("lab", &lab)]).replace("[ladders.main]\n", main);
    let tool = "[tools.t]\ndescription = \"A tool\"\ncommand = [\"true\"]\nschema = { type = \"object\" }\neffect = \"pure\"\n";
    Stage::with(&format!("{text}\n{tool}")).run(&["chat", "?"]).exits(4);
    assert_eq!(lab.hits(), 2, "a round of its own would have had its retry");
}

#[test]
fn the_cost_is_over_all_rounds() {
    let usage = Usage { input_tokens: Some(20), output_tokens: Some(10), cached_tokens: None };
    let first = Reply::Answer {
        text: String::new(),
        finish: None,
        usage: Some(usage),
        headers: std::collections::BTreeMap::new(),
        reasoning: None,
        tool_calls: vec![call("c1", "t", &json!({}))],
    };
    let lab = openai(vec![first, Reply::answer("never")]);
    let price = "[[providers.lab.models]]\nid = \"m\"\nprice = { input = 10.0, output = 1000.0 }\n";
    let stage = stage(&lab, &format!("effect = \"pure\"\n{price}"), "echo fine");
    // One answer of ten tokens costs a cent at most, and two of them more than this.
    let chat = stage.run(&["chat", "--json", "--max-tokens", "10", "--max-cost", "0.0115", "?"]).json();
    assert_eq!((lab.hits(), &chat["text"]), (1, &json!("")), "{chat:#}");
    assert_eq!(chat["attempts"].as_array().expect("a list").len(), 1);
}

/// What is missing may be a part of the call, also where what there is can be read.
#[test]
fn a_call_of_an_answer_that_was_cut_off_is_not_run() {
    for wire in Wire::ALL {
        for (text, finish, arguments) in [
            ("I write it.", "length", r#"{"line": 1}"#),
            ("", "length", r#"{"line": 1}"#),
            ("I write it.", "content_filter", r#"{"line": 1}"#),
            ("", "length", "{}"),
        ] {
            let cut = Reply::Answer {
                text: text.to_owned(),
                finish: Some(finish.to_owned()),
                usage: None,
                headers: std::collections::BTreeMap::new(),
                reasoning: None,
                tool_calls: vec![ToolCall { arguments: arguments.to_owned(), ..call("c1", "t", &json!({})) }],
            };
            for flag in ["--stream", "--no-stream"] {
                let lab = Provider::start(*wire, cut.clone()).expect("a provider");
                let stage = stage(&lab, "", "echo x >> effects");
                let done = stage.run(&["chat", "--yes-tools", flag, "--request-id", "r", "--no-tools", "?"]);
                let plain = (done.code, stage.json(&["log", "r", "--json"])["attempts"][0]["class"].clone());
                let done = stage.run(&["chat", "--json", "--yes-tools", flag, "?"]);
                let class = done.json()["attempts"][0]["class"].clone();
                let wanted = if finish == "length" { "invalid_output" } else { "content_policy" };
                let code = if finish == "length" { 7 } else { 6 };
                assert_eq!((done.code, &class), (Some(code), &json!(wanted)), "{wire:?} {text} {flag}: {}", done.err);
                assert_eq!(plain, (Some(code), json!(wanted)), "{wire:?} {text} {flag}");
                assert!(!stage.path("effects").exists(), "{wire:?} {text} {finish}");
            }
        }
    }
}

#[test]
fn a_call_of_a_tool_that_nobody_offered_is_no_answer_of_the_asked_shape() {
    let lab = openai(Script::from(vec![wants("t", &json!({})), Reply::answer("[1]")]));
    let stage = Stage::of(&[("lab", &lab)]);
    stage.file("schema", r#"{"type": "array"}"#);
    let chat = stage.json(&["chat", "--schema", "schema", "--json", "?"]);
    assert_eq!((&chat["text"], &chat["attempts"][0]["rule"]), (&json!("[1]"), &json!("answer.tool_call")));
    lab.play(Script::from(Reply::Answer {
        text: "[2]".to_owned(),
        finish: None,
        usage: None,
        headers: std::collections::BTreeMap::new(),
        reasoning: None,
        tool_calls: vec![call("c1", "t", &json!({}))],
    }));
    stage.run(&["chat", "--schema", "schema", "?"]).exits(7).prints("");
    // Whoever offers tools runs them.
    stage.run(&["chat", "--schema", "schema", "-o", "tools=[]", "?"]).exits(0).says(&["wants tools to be run"]);
}

#[test]
fn what_was_done_under_a_key_is_not_done_again_under_it() {
    let turns = [json!({"n": 1}), json!({"n": 1, "x": "other words"}), json!({"n": 2}), json!({}), json!({})];
    let wish = |(at, arguments): (usize, &Value)| Reply::tool_calls(vec![call(&format!("c{at}"), "t", arguments)]);
    let replies: Vec<Reply> = turns.iter().enumerate().map(wish).chain([Reply::answer("it is done")]).collect();
    let lab = openai(Script::from(replies));
    let shell = "echo \"$LLMR_IDEMPOTENCY_KEY\" >> effects; echo done";
    let stage = stage(&lab, "idempotency_key = \"k-{args.n}\"\n", shell);
    let done = stage.run(&["chat", "--session", "s", "--yes-tools", "?"]).exits(0).prints("it is done\n");
    let lines = std::fs::read_to_string(stage.path("effects")).expect("effects");
    let keys: Vec<&str> = lines.lines().collect();
    // Where an argument of the key is missing, each call is one of its own.
    assert_eq!((keys.len(), &keys[..2]), (4, &["k-1", "k-2"][..]), "{lines}");
    assert_ne!(keys[2], keys[3]);
    assert_eq!(done.err.matches("not run again").count(), 1, "{}", done.err);
    let results = lab.requests().pop().expect("a request").body["messages"].to_string();
    assert!(results.contains("done before, under the same idempotency key"), "{results}");
    // Nobody is asked to allow what is not done.
    lab.play(Script::from(vec![wants("t", &json!({"n": 2})), Reply::answer("nothing to do")]));
    stage.run(&["chat", "--session", "s", "again"]).exits(0).prints("nothing to do\n");
}

#[test]
fn who_goes_on_asks_the_same_of_the_answer() {
    let lab = openai(Script::from(vec![wants("t", &json!({})), Reply::answer("prose"), Reply::answer("[1, 2]")]));
    let stage = stage(&lab, "", "true");
    stage.file("schema", r#"{"type": "array"}"#);
    let asked = ["--schema", "schema", "--check", "size(answer) == 2"];
    stage.run(&[&["chat", "--session", "s", "list it"], &asked[..]].concat()).exits(5);
    stage.run(&["chat", "--session", "s", "--yes-tools"]).exits(0).prints("[1, 2]\n");
    assert!(lab.requests()[1].body.to_string().contains("JSON"), "the shape is asked for: {}", lab.requests()[1].body);
    // Of the next answer nothing is asked.
    lab.play(Script::from(Reply::answer("just words")));
    stage.run(&["chat", "--session", "s", "and now?"]).exits(0).prints("just words\n");
}

#[test]
fn an_answer_that_is_not_as_asked_is_told_again_as_such() {
    let lab = openai(Reply::answer("prose"));
    let stage = Stage::of(&[("lab", &lab)]);
    stage.file("schema", r#"{"type": "array"}"#);
    let chat = ["chat", "--session", "s", "--schema", "schema", "--on-invalid", "return", "--json", "list it"];
    let first = stage.run(&chat).exits(7).json();
    assert_eq!((&first["text"], &first["deployment"], &first["step"]), (&json!("prose"), &json!("lab/m"), &json!(0)));
    let hits = lab.hits();
    let again = stage.run(&["chat", "--session", "s"]).exits(7).prints("prose\n");
    again.says(&["nothing was sent", "not as it was asked for"]);
    let author = stage.sql().query_row("SELECT author FROM turns WHERE place = 1", [], |row| row.get::<_, String>(0));
    assert_eq!((author.expect("an author").as_str(), lab.hits()), ("lab/m", hits));
}

#[test]
fn a_stream_shows_the_words_of_each_round() {
    let round = |words: &[&str], tool_calls| {
        let chunks = words.iter().map(|word| (*word).to_owned()).collect();
        Reply::Stream { chunks, reasoning: None, tool_calls }
    };
    for wire in Wire::ALL {
        let lab = Provider::start(*wire, Reply::answer("never")).expect("a provider");
        let stage = stage(&lab, "effect = \"pure\"\n", "echo fine");
        for (flags, printed) in [(&["--stream"][..], "I look.\nAll is fine.\n"), (&[], "All is fine.\n")] {
            let looks = round(&["I ", "look."], vec![call("c1", "t", &json!({}))]);
            lab.play(Script::from(vec![looks, round(&["All is ", "fine."], Vec::new())]));
            stage.run(&[&["chat", "?"], flags].concat()).exits(0).prints(printed);
        }
    }
}

/// Such a file can be read once.
#[test]
#[cfg(unix)]
fn what_is_a_pipe_reaches_the_model_beside_tools_too() {
    let lab = openai(Reply::answer("fine"));
    let stage = stage(&lab, "effect = \"pure\"\n", "true");
    let program = env!("CARGO_BIN_EXE_llmr");
    for session in ["", "--session s"] {
        let mut command = std::process::Command::new("bash");
        let given = "-f <(echo the-change) -s @<(echo the-rules) --schema <(echo '{\"type\": \"string\"}')";
        command.args(["-c", &format!("exec {program} chat {session} {given} 'review'")]);
        command.env_clear().envs(stage.env().iter().cloned());
        command.current_dir(stage.path("")).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let done = finish(command.spawn().expect("started"));
        assert_eq!(done.code, Some(7), "{}", done.err);
        let sent = lab.requests().pop().expect("a request").body.to_string();
        for part in ["the-change", "the-rules", "\"string"] {
            assert!(sent.contains(part), "{session}: {part} is missing in {sent}");
        }
    }
}

#[test]
fn a_conversation_to_which_nothing_is_said_is_no_question() {
    let lab = openai(Reply::answer("never"));
    let stage = Stage::of(&[("lab", &lab)]);
    let file = stage.file("turns", r#"[{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]"#);
    let done = stage.run(&["chat", "--session", "s", "--messages", &file]).exits(2);
    done.says(&["ends with the model's words", "nothing is said"]);
    assert_eq!(lab.hits(), 0);
    stage.run(&["chat", "--session", "s", "--messages", &file, "and?"]).exits(0).prints("never\n");
}

#[test]
fn half_an_answer_for_which_nobody_waited_is_not_kept_as_a_whole_one() {
    let lab = openai(Reply::SlowDrip { text: "word ".repeat(100_000), every_ms: 1 });
    let stage = Stage::of(&[("lab", &lab)]);
    let mut child = stage.command(&["chat", "--session", "s", "--stream", "?"]).spawn().expect("started");
    let mut out = child.stdout.take().expect("a pipe");
    std::io::Read::read_exact(&mut out, &mut [0; 5]).expect("five bytes");
    drop(out);
    assert_eq!(finish(child).exits(0).err, "");
    let roles = || {
        let shown = stage.json(&["session", "show", "s", "--json"]);
        shown["messages"].as_array().expect("a list").iter().map(|turn| turn["role"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(roles(), ["user"]);
    lab.play(Script::from(Reply::answer("whole")));
    stage.run(&["chat", "--session", "s"]).exits(0).prints("whole\n");
    assert_eq!(roles(), ["user", "assistant"]);
}

#[test]
fn an_answer_that_was_kept_but_not_printed_is_printed_by_the_same_command() {
    let lab = openai(Reply::answer("once"));
    let stage = Stage::of(&[("lab", &lab)]);
    stage.run(&["chat", "--session", "s", "?"]).exits(0).prints("once\n");
    // As a process leaves it that is killed between the two.
    stage.sql().execute("UPDATE sessions SET told = 1", []).expect("set");
    stage.run(&["chat", "--session", "s", "?"]).exits(0).prints("once\n");
    assert_eq!(lab.hits(), 1);
}
