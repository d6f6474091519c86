//! What a conversation may look like, and what is told when it does not.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn read(turns: &Value) -> Vec<Message> {
    conversation(turns).unwrap_or_else(|error| panic!("{error}"))
}

fn call(id: &str, name: &str, arguments: &str) -> Part {
    Part::ToolCall(ToolCall { id: id.to_owned(), name: name.to_owned(), arguments: arguments.to_owned() })
}

fn result(id: &str, name: Option<&str>, content: &str) -> Part {
    Part::ToolResult { id: id.to_owned(), name: name.map(str::to_owned), content: content.to_owned(), is_error: false }
}

#[test]
fn in_openais_style() {
    let messages = read(&json!({"messages": [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": [
            {"type": "text", "text": "Look:"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}},
        ]},
        {"role": "assistant", "content": null, "reasoning_content": "hm", "from": "lab/m", "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{\"a\": 1}"}},
            {"id": "c2", "type": "function", "function": {"name": "g", "arguments": {"b": 2}}},
        ]},
        {"role": "tool", "tool_call_id": "c1", "name": "f", "content": "one"},
        {"role": "tool", "tool_call_id": "c2", "content": [{"type": "text", "text": "two"}, {"type": "text", "text": "!"}]},
    ]}));
    let picture = Part::Image { media_type: "image/png".to_owned(), data: "QUJD".to_owned() };
    let thinking = Thinking { text: "hm".to_owned(), from: "lab/m".parse().ok(), ..Thinking::default() };
    assert!(thinking.from.is_some());
    let wanted = [
        (Role::System, vec![Part::Text("Be brief.".to_owned())]),
        (Role::User, vec![Part::Text("Look:".to_owned()), picture]),
        (Role::Assistant, vec![Part::Thinking(thinking), call("c1", "f", "{\"a\": 1}"), call("c2", "g", "{\"b\":2}")]),
        (Role::User, vec![result("c1", Some("f"), "one")]),
        (Role::User, vec![result("c2", None, "two\n!")]),
    ];
    assert_eq!(messages, wanted.map(|(role, parts)| Message { role, parts }));
}

#[test]
fn in_anthropics_style() {
    let messages = read(&json!([
        {"role": "user", "content": [
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD"}},
        ]},
        {"role": "assistant", "from": "anthropic/claude-x", "content": [
            {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
            {"type": "redacted_thinking", "data": "aGlk", "from": "proxy/org/claude-x"},
            {"type": "text", "text": "Ja."},
            {"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}},
        ]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "one"}], "is_error": false},
            {"type": "text", "text": "Und?"},
        ]},
    ]));
    let shown = Thinking {
        text: "hm".to_owned(),
        signature: Some("c2ln".to_owned()),
        redacted: None,
        from: "anthropic/claude-x".parse().ok(),
    };
    let from = Author { provider: "proxy".into(), model: "org/claude-x".into() };
    let hidden = Thinking { redacted: Some("aGlk".to_owned()), from: Some(from), ..Thinking::default() };
    let wanted =
        vec![Part::Thinking(shown), Part::Thinking(hidden), Part::Text("Ja.".to_owned()), call("t1", "f", "{\"a\":1}")];
    assert_eq!(messages[1].parts, wanted);
    assert_eq!(messages[2].parts, vec![result("t1", None, "one"), Part::Text("Und?".to_owned())]);
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    for (turn, told) in [
        (json!({"content": "hi"}), "`role` is missing"),
        (json!({"role": "robot", "content": "hi"}), "role `robot`"),
        (json!({"role": "user"}), "`content` is missing"),
        (json!({"role": "user", "content": 7}), "neither text nor a list"),
        (json!({"role": "user", "content": [{"text": "hi"}]}), "no `type`"),
        (json!({"role": "user", "content": [{"type": "video"}]}), "type `video`"),
        (json!({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://a/b"}}]}), "its bytes"),
        (json!({"role": "user", "content": [{"type": "tool_use", "id": "a", "name": "f"}]}), "belong to the assistant"),
        (json!({"role": "user", "content": "x", "tool_calls": [{"id": "a"}]}), "no `function`"),
        (json!({"role": "assistant", "tool_calls": [{"function": {"name": "f"}}]}), "`id` is missing"),
        (json!({"role": "assistant", "content": [{"type": "thinking", "from": "nobody"}]}), "no provider/model"),
        (json!({"role": "tool", "content": "x"}), "`tool_call_id` is missing"),
        (json!({"role": "tool", "tool_call_id": "a", "content": [{"type": "image"}]}), "only hold text"),
    ] {
        let good = json!({"role": "user", "content": "hi"});
        let error = conversation(&json!([good, turn])).expect_err("refused").to_string();
        assert!(error.starts_with("message 1: ") && error.contains(told), "{turn}: {error}");
    }
    for odd in [json!(7), json!({"role": "user"}), json!("hi")] {
        assert_eq!(conversation(&odd).expect_err("refused").to_string(), "this is no list of messages");
    }
}

proptest! {
    #[test]
    fn any_json_is_read_or_refused(
        role in prop::sample::select(vec!["user", "assistant", "tool", "system", "x"]),
        kind in prop::sample::select(vec!["text", "image", "image_url", "tool_use", "tool_result", "thinking", "redacted_thinking"]),
        value in prop::sample::select(vec![json!(null), json!(1), json!("a"), json!([]), json!({}), json!([{"type": "text"}])]),
    ) {
        let block = json!({
            "type": kind, "text": value, "source": value, "image_url": value, "id": value, "input": value,
            "tool_use_id": value, "content": value, "thinking": value, "data": value,
        });
        for content in [value.clone(), json!([block])] {
            let turn = json!({"role": role, "content": content, "tool_calls": value, "tool_call_id": value, "from": value});
            let _ = conversation(&json!([turn]));
        }
    }
}
