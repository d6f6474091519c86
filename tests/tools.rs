//! Tools and thoughts, from a conversation in a file to the JSON of the answer.
#![cfg(test)]

use llmr::catalog::Wire;
use llmr::domain::ToolCall;
use llmr::rehearsal::{Provider, Reply};
use serde_json::json;

use crate::stage::{Stage, config, openai};

fn weather(id: &str) -> ToolCall {
    ToolCall { id: id.into(), name: "wetter".into(), arguments: r#"{"ort":"Köln"}"#.into() }
}

#[test]
fn an_answers_tools_and_thoughts_stand_in_its_json() {
    for wire in Wire::ALL {
        let (reasoning, tool_calls) = (Some("Ich 🤔 mal.".to_owned()), vec![weather("c1"), weather("c2")]);
        let lab = Provider::start(*wire, Reply::Stream { chunks: Vec::new(), reasoning, tool_calls });
        let lab = lab.expect("a provider");
        let stage = Stage::of(&[("lab", &lab)]);
        for flags in [&["--json"][..], &["--json", "--stream"]] {
            let chat = stage.json(&[&["chat", "?"], flags].concat());
            assert_eq!((&chat["text"], &chat["finish_reason"]), (&json!(""), &json!("tool_calls")), "{wire:?}");
            assert_eq!(chat["reasoning"], "Ich 🤔 mal.");
            let call = |id: &str| json!({"id": id, "name": "wetter", "arguments": r#"{"ort":"Köln"}"#});
            assert_eq!(chat["tool_calls"], json!([call("c1"), call("c2")]), "{wire:?}");
        }
        let plain = stage.run(&["chat", "?"]).exits(0).says(&["wetter", "--json"]);
        assert_eq!(plain.out.trim(), "");
    }
    let chat = Stage::of(&[("plain", &openai(Reply::answer("hi")))]).json(&["chat", "--json", "?"]);
    assert_eq!((&chat["reasoning"], &chat["tool_calls"]), (&json!(null), &json!(null)));
}

#[test]
fn a_conversation_with_tools_comes_from_a_file() {
    let lab = openai(Reply::answer("3 Grad"));
    let stage = Stage::of(&[("lab", &lab)]);
    let turns = json!([
        {"role": "user", "content": "Wie warm ist es?"},
        {"role": "assistant", "from": "elsewhere/m", "content": [
            {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
            {"type": "tool_use", "id": "t1", "name": "wetter", "input": {"ort": "Köln"}},
        ]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "3"}]},
    ]);
    let file = stage.file("turns.json", turns.to_string());
    stage.run(&["chat", "--messages", &file]).exits(0).prints("3 Grad\n");
    let sent = &lab.requests()[0].body["messages"];
    let function = json!({"name": "wetter", "arguments": r#"{"ort":"Köln"}"#});
    let call = json!({"id": "t1", "type": "function", "function": function});
    assert_eq!(sent[1], json!({"role": "assistant", "content": null, "tool_calls": [call]}));
    assert_eq!(sent[2], json!({"role": "tool", "tool_call_id": "t1", "content": "3"}));
}

#[test]
fn what_is_wrong_with_a_conversation_is_told_before_anyone_is_asked() {
    let lab = openai(Reply::answer("never"));
    let stage = Stage::of(&[("lab", &lab)]);
    let call = |arguments: &str| json!([{"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": arguments}}]}]);
    for (turns, code, told) in [
        (
            json!([{"role": "user", "content": "hi"}, {"role": "user"}]),
            2,
            "turns.json: message 1: `content` is missing",
        ),
        (json!({"turns": []}), 2, "turns.json: this is no list of messages"),
        (call("{not json"), 6, "message 0: the arguments of the tool call `f`"),
        (json!([{"role": "tool", "tool_call_id": "c", "content": "x"}]), 6, "message 0: there is no tool call `c`"),
    ] {
        let file = stage.file("turns.json", turns.to_string());
        stage.run(&["chat", "--messages", &file, "?"]).exits(code).says(&[told]);
    }
    assert_eq!(lab.hits(), 0);
    assert_eq!(stage.json(&["status", "--json"])["holds"], json!([]));
}

#[test]
fn standing_instructions_of_a_file_are_said_unless_others_are_given() {
    let lab = openai(Reply::answer("hi"));
    let stage = Stage::of(&[("lab", &lab)]);
    stage.run(&["chat", "--session", "sy", "-s", "SYS RULES", "hi"]).exits(0);
    let own = stage.file("sy.json", stage.run(&["session", "show", "sy", "--json"]).exits(0).out);
    let blocks = json!([{"type": "text", "text": "BLOCK RULES"}]);
    let said = json!([{"role": "developer", "content": "INSIDE"}, {"role": "user", "content": "hi"}]);
    let body = json!({"model": "claude", "max_tokens": 9, "system": blocks, "messages": said});
    let body = stage.file("body.json", body.to_string());
    let system = |args: &[&str]| {
        let ran = stage.run(&[&["chat"], args].concat()).exits(0);
        let sent = lab.requests().last().expect("a request").body["messages"].clone();
        (sent[0]["content"].as_str().expect("a text").to_owned(), ran.err)
    };
    let (text, err) = system(&["--messages", &own, "and?"]);
    assert_eq!((text.as_str(), err.as_str()), ("SYS RULES", ""), "of what we write ourselves nothing is left out");
    let (text, err) = system(&["--messages", &body]);
    assert_eq!(text, "BLOCK RULES\n\nINSIDE");
    assert!(err.contains("only `messages` and `system` are read; left out: model, max_tokens"), "{err}");
    assert_eq!(system(&["-s", "MINE", "--messages", &body]).0, "MINE\n\nINSIDE");
    system(&["--session", "new", "--messages", &own, "and?"]);
    assert_eq!(stage.json(&["session", "show", "new", "--json"])["system"], "SYS RULES", "a session begins with them");
}

#[test]
fn that_a_tool_failed_goes_from_a_file_and_from_a_tool_to_who_has_a_word_for_it() {
    let call = ToolCall { id: "c1".into(), name: "t".into(), arguments: "{}".into() };
    let lab = Provider::start(Wire::Anthropic, Reply::answer("hm")).expect("a provider");
    let turns = json!([
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "t", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "no", "is_error": true}]},
    ]);
    let text = config(&[("lab", &lab)]).replace("[ladders.main]\n", "[ladders.main]\ntools = [\"t\"]\n");
    let tool = "[tools.t]\ndescription = \"Fails\"\neffect = \"pure\"\ncommand = [\"false\"]\n";
    let stage = Stage::with(&format!("{text}\n{tool}"));
    let file = stage.file("turns.json", turns.to_string());
    stage.run(&["chat", "--no-tools", "--messages", &file]).exits(0);
    let result = |at: usize, turn: usize| lab.requests()[at].body["messages"][turn]["content"][0].clone();
    assert_eq!(result(0, 1), turns[1]["content"][0]);
    lab.play(vec![Reply::tool_calls(vec![call]), Reply::answer("it failed")]);
    stage.run(&["chat", "--session", "s", "?"]).exits(0).prints("it failed\n");
    assert_eq!((&result(2, 2)["is_error"], &result(2, 2)["type"]), (&json!(true), &json!("tool_result")));
    let kept = stage.json(&["session", "show", "s", "--json"]);
    assert_eq!(kept["messages"][2]["content"][0]["is_error"], true);
}
