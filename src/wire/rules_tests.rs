//! Any conversation, sent anywhere, obeys the rules of the wire that it is sent over.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::request_tests::{provider, send};
use super::*;
use crate::catalog::{ProviderInfo, ToolIds};
use crate::domain::{Author, Message, Part, Role, Thinking, ToolCall};

const AUTHORS: [&str; 3] = ["p/gemini-3-x", "q/m", "r/other"];

fn author(at: usize) -> Option<Author> {
    AUTHORS.get(at).and_then(|text| text.parse().ok())
}

/// What somebody says at one point of a conversation; calls get their results later, in any order.
#[derive(Debug, Clone)]
enum Said {
    Standing(String),
    Words(String),
    Picture,
    Answer { words: Vec<String>, thoughts: Vec<(usize, bool, bool)>, calls: Vec<String>, backwards: bool, apart: bool },
}

fn any_said() -> impl Strategy<Value = Said> {
    let words = || prop_oneof![Just(String::new()), Just("  ".to_owned()), "[a-z]{1,5}"];
    let id = prop_oneof!["[a-zA-Z0-9]{9}", "call_[a-z:.|]{0,60}", "[^\\x00-\\x1f]{1,8}"];
    let thought = (0_usize..5, any::<bool>(), any::<bool>());
    let answer = (
        prop::collection::vec(words(), 0..3),
        prop::collection::vec(thought, 0..3),
        prop::collection::btree_set(id, 0..4),
        any::<bool>(),
        any::<bool>(),
    );
    prop_oneof![
        1 => words().prop_map(Said::Standing),
        3 => words().prop_map(Said::Words),
        1 => Just(Said::Picture),
        4 => answer.prop_map(|(words, thoughts, calls, backwards, apart)| {
            Said::Answer { words, thoughts, calls: calls.into_iter().collect(), backwards, apart }
        }),
    ]
}

/// A conversation in which every call has its result.
fn conversation_of(said: &[Said]) -> Vec<Message> {
    let mut messages = vec![Message::text(Role::User, "begin")];
    for one in said {
        match one {
            Said::Standing(words) => messages.push(Message::text(Role::System, words.clone())),
            Said::Words(words) => messages.push(Message::text(Role::User, words.clone())),
            Said::Picture => {
                let picture = Part::Image { media_type: "image/png".to_owned(), data: "QUJD".to_owned() };
                messages.push(Message { role: Role::User, parts: vec![picture] });
            }
            Said::Answer { words, thoughts, calls, backwards, apart } => {
                let thought = |(who, signed, hidden): &(usize, bool, bool)| {
                    let signature = signed.then(|| format!("signed-by-{who}"));
                    let redacted = hidden.then(|| format!("hidden-by-{who}"));
                    Part::Thinking(Thinking {
                        text: format!("thought-by-{who}"),
                        signature,
                        redacted,
                        from: author(*who),
                    })
                };
                let call = |id: &String| {
                    Part::ToolCall(ToolCall { id: id.clone(), name: "f".to_owned(), arguments: "{\"a\":1}".to_owned() })
                };
                let mut parts: Vec<Part> = thoughts.iter().map(thought).collect();
                parts.extend(words.iter().cloned().map(Part::Text));
                parts.extend(calls.iter().map(call));
                messages.push(Message { role: Role::Assistant, parts });
                let result = |id: &String| Part::ToolResult {
                    id: id.clone(),
                    name: None,
                    content: format!("of {id}"),
                    is_error: false,
                };
                let mut results: Vec<Part> = calls.iter().map(result).collect();
                if *backwards {
                    results.reverse();
                    messages.push(Message::text(Role::User, "before the results"));
                }
                if *apart {
                    messages.extend(results.into_iter().map(|part| Message { role: Role::User, parts: vec![part] }));
                } else if !results.is_empty() {
                    messages.push(Message { role: Role::User, parts: results });
                }
            }
        }
    }
    messages
}

fn texts<'a>(list: &'a Value, field: &str) -> Vec<&'a str> {
    list.as_array().into_iter().flatten().filter_map(|one| one.get(field)?.as_str()).collect()
}

/// OpenAI: results follow their calls at once, each call once; nothing of any thought.
fn openai_rules(messages: &Value, form: ToolIds, alternates: bool) {
    let messages = messages.as_array().expect("a list");
    let mut open: BTreeSet<&str> = BTreeSet::new();
    let mut last = "";
    for (at, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().expect("a role");
        assert!(role != "system" || at == 0, "the system speaks first");
        if role == "tool" {
            assert!(open.remove(message["tool_call_id"].as_str().expect("an id")), "no such call: {messages:?}");
            assert!(last == "tool" || last == "assistant");
        } else {
            assert!(open.is_empty(), "unanswered: {messages:?}");
            assert!(!alternates || role != last || role == "system", "{messages:?}");
            for call in message["tool_calls"].as_array().into_iter().flatten() {
                let id = call["id"].as_str().expect("an id");
                assert!(form != ToolIds::Alnum9 || (id.len() == 9 && id.bytes().all(|b| b.is_ascii_alphanumeric())));
                assert!(open.insert(id), "twice: {messages:?}");
            }
        }
        last = role;
    }
    assert!(open.is_empty());
}

/// Anthropic: roles alternate, no block is blank, results stand first in the turn after their calls.
fn anthropic_rules(messages: &Value) {
    let messages = messages.as_array().expect("a list");
    let mut called: Vec<&str> = Vec::new();
    let mut last = "";
    for message in messages {
        let (role, content) = (message["role"].as_str().expect("a role"), &message["content"]);
        assert_ne!(role, last);
        assert!(content.as_array().is_some_and(|blocks| !blocks.is_empty()), "{messages:?}");
        assert!(texts(content, "text").iter().all(|text| !text.trim().is_empty()), "{messages:?}");
        let kinds = texts(content, "type");
        let results = kinds.iter().take_while(|kind| **kind == "tool_result").count();
        assert_eq!(results, kinds.iter().filter(|kind| **kind == "tool_result").count(), "they stand first");
        assert_eq!(texts(content, "tool_use_id"), called, "every call is answered, in order");
        called = texts(content, "id");
        assert!(
            called
                .iter()
                .all(|id| id.len() <= 40 && id.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b)))
        );
        last = role;
    }
    assert!(called.is_empty());
}

/// Gemini: roles alternate, as many responses as calls in the turn after, and the first call of a turn is signed.
fn gemini_rules(contents: &Value) {
    let contents = contents.as_array().expect("a list");
    let mut calls = 0;
    let mut last = "";
    for content in contents {
        let (role, parts) = (content["role"].as_str().expect("a role"), content["parts"].as_array().expect("parts"));
        assert!(role != last && !parts.is_empty(), "{contents:?}");
        let with = |field: &str| parts.iter().filter(|part| part.get(field).is_some()).count();
        assert_eq!(with("functionResponse"), calls, "{contents:?}");
        assert!(parts.iter().take(calls).all(|part| part.get("functionResponse").is_some()));
        calls = with("functionCall");
        let first = parts.iter().find(|part| part.get("functionCall").is_some());
        assert!(first.is_none_or(|part| part.get("thoughtSignature").is_some()), "{contents:?}");
        last = role;
    }
    assert_eq!(calls, 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_conversation_obeys_the_wires_rules(said in prop::collection::vec(any_said(), 0..8), alternates: bool) {
        let request = ChatRequest { messages: conversation_of(&said), ..ChatRequest::default() };
        for (wire, name, model) in
            [(Wire::OpenAi, "q", "m"), (Wire::Anthropic, "q", "m"), (Wire::Gemini, "p", "gemini-3-x"), (Wire::Gemini, "q", "gemini-3-y")]
        {
            let tool_ids = if wire == Wire::OpenAi { ToolIds::Alnum9 } else { ToolIds::Word40 };
            let info = ProviderInfo { tool_ids, alternates, ..provider(name, wire) };
            let body = send(&info, model, &request).expect("a request").1;
            let own = AUTHORS.iter().position(|author| *author == format!("{name}/{model}"));
            let text = body.to_string();
            for who in (0..5).filter(|who| Some(*who) != own) {
                prop_assert!(!text.contains(&format!("-by-{who}")), "of a stranger: {text}");
            }
            match wire {
                Wire::OpenAi => openai_rules(&body["messages"], tool_ids, alternates),
                Wire::Anthropic => anthropic_rules(&body["messages"]),
                Wire::Gemini => gemini_rules(&body["contents"]),
            }
        }
    }
}

#[test]
fn a_call_without_its_result_is_our_own_error() {
    let call =
        |id: &str| Part::ToolCall(ToolCall { id: id.to_owned(), name: "f".to_owned(), arguments: "{}".to_owned() });
    let result = |id: &str| Part::ToolResult { id: id.to_owned(), name: None, content: String::new(), is_error: false };
    let message = |role, parts| Message { role, parts };
    let asks = || Message::text(Role::User, "?");
    for (what, messages, at, missing) in [
        ("at the end", vec![asks(), message(Role::Assistant, vec![call("a")])], 1, "a"),
        (
            "one of two",
            vec![asks(), message(Role::Assistant, vec![call("a"), call("b")]), message(Role::User, vec![result("a")])],
            1,
            "b",
        ),
        (
            "too late",
            vec![
                message(Role::Assistant, vec![call("a")]),
                asks(),
                Message::text(Role::Assistant, "."),
                message(Role::User, vec![result("a")]),
            ],
            0,
            "a",
        ),
    ] {
        let request = ChatRequest { messages, ..ChatRequest::default() };
        for wire in Wire::ALL {
            let error = send(&provider("p", *wire), "m", &request).expect_err(what);
            assert_eq!(error, EncodeError::Unanswered { message: at, id: missing.to_owned() }, "{what}");
        }
    }
    let twice = vec![message(Role::Assistant, vec![call("a")]), message(Role::User, vec![result("a"), result("a")])];
    let request = ChatRequest { messages: twice, ..ChatRequest::default() };
    let error = send(&provider("p", Wire::OpenAi), "m", &request).expect_err("refused");
    assert_eq!(error, EncodeError::NoSuchCall { message: 1, id: "a".to_owned() });
}

#[test]
fn thoughts_go_back_beside_the_words_where_they_are_wanted() {
    let info = ProviderInfo { thoughts_back: true, ..provider("p", Wire::OpenAi) };
    let thought = |text: &str, from: &str| {
        Part::Thinking(Thinking { text: text.to_owned(), from: from.parse().ok(), ..Thinking::default() })
    };
    let messages = vec![
        Message::text(Role::User, "?"),
        Message { role: Role::Assistant, parts: vec![thought("own", "p/m"), Part::Text("one".to_owned())] },
        Message::text(Role::User, "?"),
        Message { role: Role::Assistant, parts: vec![thought("foreign", "q/m"), Part::Text("two".to_owned())] },
    ];
    let request = ChatRequest { messages, ..ChatRequest::default() };
    let sent = send(&info, "m", &request).expect("a request").1;
    assert_eq!(sent["messages"][1], json!({"role": "assistant", "content": "one", "reasoning_content": "own"}));
    assert_eq!(sent["messages"][3], json!({"role": "assistant", "content": "two", "reasoning_content": ""}));
    let plain = send(&provider("p", Wire::OpenAi), "m", &request).expect("a request").1;
    assert_eq!(plain["messages"][1], json!({"role": "assistant", "content": "one"}));
}
