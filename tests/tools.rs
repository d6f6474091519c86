//! Tools and thoughts, from a conversation in a file to the JSON of the answer.
#![cfg(test)]

use llmr::catalog::Wire;
use llmr::domain::ToolCall;
use llmr::rehearsal::{Provider, Reply};
use serde_json::json;

use crate::stage::{Stage, openai};

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
