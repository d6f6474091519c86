//! Conversations with tools and thoughts, as each wire wants them.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::request_tests::{provider, send};
use super::*;
use crate::catalog::{ProviderInfo, ToolIds};
use crate::domain::{Message, Part, Role, Thinking, ToolCall};

/// A conversation with thoughts, calls and results, as two services left it.
fn with_tools() -> ChatRequest {
    let call = |id: &str, arguments: &str| {
        Part::ToolCall(ToolCall { id: id.to_owned(), name: "wetter".to_owned(), arguments: arguments.to_owned() })
    };
    let result = |id: &str, content: &str| Part::ToolResult {
        id: id.to_owned(),
        name: None,
        content: content.to_owned(),
        is_error: false,
    };
    let thinking = |signature: &str, from: &str| {
        let (text, signature) = ("hm".to_owned(), Some(signature.to_owned()));
        Part::Thinking(Thinking { text, signature, redacted: None, from: from.parse().ok() })
    };
    let message = |role, parts: Vec<Part>| Message { role, parts };
    ChatRequest {
        messages: vec![
            Message::text(Role::User, "Wie ist es?"),
            message(
                Role::Assistant,
                vec![
                    thinking("from-p", "p/m"),
                    thinking("from-q", "q/m"),
                    Part::Text("Ich schaue.".to_owned()),
                    call("call_1", "{\"ort\": \"Köln\"}"),
                    call("call_2", "{}"),
                ],
            ),
            message(Role::User, vec![result("call_1", "{\"grad\": 3}"), result("call_2", "kalt")]),
            message(Role::User, vec![Part::Text("Und?".to_owned())]),
            message(Role::Assistant, vec![thinking("from-q", "q/m")]),
        ],
        ..ChatRequest::default()
    }
}

#[test]
fn that_a_tool_failed_is_told_where_there_is_a_word_for_it() {
    let call = |id: &str| Part::ToolCall(ToolCall { id: id.into(), name: "f".into(), arguments: "{}".into() });
    let result = |id: &str, content: &str, is_error| Part::ToolResult {
        id: id.into(),
        name: None,
        content: content.into(),
        is_error,
    };
    let came = [("a", "no such host", true), ("b", "{\"code\":5}", true), ("c", "{\"error\":null}", false)];
    let calls = came.iter().map(|(id, ..)| call(id)).collect();
    let results = came.iter().map(|(id, content, is_error)| result(id, content, *is_error)).collect();
    let messages = vec![Message { role: Role::Assistant, parts: calls }, Message { role: Role::User, parts: results }];
    let request = ChatRequest { messages, ..ChatRequest::default() };
    let sent = |wire| send(&provider("p", wire), "m", &request).expect("a request").1;

    let body = sent(Wire::Anthropic);
    let marks = |at: usize| body["messages"][1]["content"][at]["is_error"].clone();
    assert_eq!((marks(0), marks(1), marks(2)), (json!(true), json!(true), json!(null)));
    let body = sent(Wire::Gemini);
    let response = |at: usize| body["contents"][1]["parts"][at]["functionResponse"]["response"].clone();
    assert_eq!(response(0), json!({"error": "no such host"}));
    assert_eq!(response(1), json!({"error": {"code": 5}}));
    assert_eq!(response(2), json!({"output": {"error": null}}), "what looks like one is none");
    let body = sent(Wire::OpenAi);
    assert_eq!(body["messages"][1], json!({"role": "tool", "tool_call_id": "a", "content": "no such host"}));
}

#[test]
fn tools_in_openais_form() {
    let (_, body) = send(&provider("p", Wire::OpenAi), "m", &with_tools()).expect("a request");
    let function = |id: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": "wetter", "arguments": arguments}});
    let wanted = json!([
        {"role": "user", "content": "Wie ist es?"},
        {"role": "assistant", "content": "Ich schaue.", "tool_calls": [
            function("call_1", "{\"ort\": \"Köln\"}"), function("call_2", "{}"),
        ]},
        {"role": "tool", "tool_call_id": "call_1", "content": "{\"grad\": 3}"},
        {"role": "tool", "tool_call_id": "call_2", "content": "kalt"},
        {"role": "user", "content": "Und?"},
    ]);
    assert_eq!(body["messages"], wanted);
}

#[test]
fn tools_in_anthropics_form() {
    let (_, body) = send(&provider("p", Wire::Anthropic), "m", &with_tools()).expect("a request");
    let wanted = json!([
        {"role": "user", "content": [{"type": "text", "text": "Wie ist es?"}]},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "hm", "signature": "from-p"},
            {"type": "text", "text": "Ich schaue."},
            {"type": "tool_use", "id": "call_1", "name": "wetter", "input": {"ort": "Köln"}},
            {"type": "tool_use", "id": "call_2", "name": "wetter", "input": {}},
        ]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "call_1", "content": "{\"grad\": 3}"},
            {"type": "tool_result", "tool_use_id": "call_2", "content": "kalt"},
            {"type": "text", "text": "Und?"},
        ]},
    ]);
    assert_eq!(body["messages"], wanted);
}

#[test]
fn tools_in_geminis_form() {
    let call = |args: Value| json!({"functionCall": {"name": "wetter", "args": args}});
    let response = |response: Value| json!({"functionResponse": {"name": "wetter", "response": response}});
    let results = json!({"role": "user", "parts": [
        response(json!({"grad": 3})), response(json!({"result": "kalt"})), {"text": "Und?"},
    ]});
    let contents = |model: &str, name: &str| {
        let (_, body) = send(&provider(name, Wire::Gemini), model, &with_tools()).expect("a request");
        body["contents"].clone()
    };
    let said = contents("m", "p");
    let wanted = json!([
        {"text": "hm", "thought": true, "thoughtSignature": "from-p"},
        {"text": "Ich schaue."},
        call(json!({"ort": "Köln"})),
        call(json!({})),
    ]);
    assert_eq!((&said[1]["parts"], &said[2], said.get(3)), (&wanted, &results, None));
    // The third generation refuses calls without a signature, and has a word for those that never had one.
    for (model, signed) in [("gemini-2.5-pro", false), ("gemini-3-pro", true), ("models/gemini-4.1-x", true)] {
        let parts = &contents(model, "other")[1]["parts"];
        let signature = signed.then(|| json!("skip_thought_signature_validator"));
        assert_eq!(parts[1].get("thoughtSignature"), signature.as_ref(), "{model}");
        assert_eq!(parts[2].get("thoughtSignature"), None, "of several calls the first has it");
    }
}

#[test]
fn thoughts_go_to_their_maker_or_nowhere() {
    let request = with_tools();
    assert!(request.has_thinking() && !request.without_thinking().has_thinking());
    for wire in [Wire::OpenAi, Wire::Anthropic, Wire::Gemini] {
        let sent = |name: &str, model: &str, request: &ChatRequest| {
            let body = send(&provider(name, wire), model, request).expect("a request").0.body;
            String::from_utf8(body).expect("text")
        };
        // The same model elsewhere is somebody else, and so is another model of the same service.
        for (name, model) in [("r", "m"), ("p", "other"), ("P", "m")] {
            assert_eq!(sent(name, model, &request), sent(name, model, &request.without_thinking()), "{wire:?}");
        }
        let own = sent("q", "m", &request);
        assert!(!own.contains("from-p"), "{own}");
        assert_eq!(own.contains("from-q"), wire != Wire::OpenAi, "{own}");
        let mut nobodys = request.clone();
        for part in nobodys.messages.iter_mut().flat_map(|message| &mut message.parts) {
            if let Part::Thinking(thinking) = part {
                thinking.from = None;
            }
        }
        assert_eq!(sent("p", "m", &nobodys), sent("p", "m", &request.without_thinking()));
    }
}

#[test]
fn hidden_thoughts_go_back_as_they_came() {
    let redacted = Thinking { redacted: Some("aGlkZGVu".to_owned()), from: "p/m".parse().ok(), ..Thinking::default() };
    let unsigned = Thinking { text: "hm".to_owned(), from: "p/m".parse().ok(), ..Thinking::default() };
    let parts = vec![Part::Thinking(redacted), Part::Thinking(unsigned), Part::Text("ja".to_owned())];
    let request = ChatRequest { messages: vec![Message { role: Role::Assistant, parts }], ..ChatRequest::default() };
    let (_, body) = send(&provider("p", Wire::Anthropic), "m", &request).expect("a request");
    let wanted = json!([{"type": "redacted_thinking", "data": "aGlkZGVu"}, {"type": "text", "text": "ja"}]);
    assert_eq!(body["messages"][0]["content"], wanted, "thoughts without a signature are refused");
}

#[test]
fn a_call_that_is_none_is_our_own_error() {
    let mut request = with_tools();
    let call = |arguments: &str| {
        Part::ToolCall(ToolCall { id: "c".to_owned(), name: "f".to_owned(), arguments: arguments.to_owned() })
    };
    for arguments in ["{not json", "", "[1]", "12", "null", "{\"a\": 1} {}"] {
        request.messages.push(Message { role: Role::Assistant, parts: vec![call(arguments)] });
        for wire in [Wire::OpenAi, Wire::Anthropic, Wire::Gemini] {
            let error = send(&provider("p", wire), "m", &request).expect_err("refused");
            assert!(matches!(&error, EncodeError::BadArguments { message: 5, name, .. } if name == "f"), "{error}");
        }
        request.messages.pop();
    }
    let orphan = Part::ToolResult { id: "c".to_owned(), name: None, content: String::new(), is_error: false };
    request.messages.push(Message { role: Role::User, parts: vec![orphan] });
    request.messages.push(Message { role: Role::Assistant, parts: vec![call("{}")] });
    let error = send(&provider("p", Wire::Gemini), "m", &request).expect_err("refused");
    assert_eq!(error, EncodeError::NoSuchCall { message: 5, id: "c".to_owned() }, "a call that follows is none of it");
}

/// The ids of calls and of results, in order.
fn ids(provider: &ProviderInfo, request: &ChatRequest) -> (Vec<String>, Vec<String>) {
    let body = send(provider, "m", request).expect("a request").1;
    let messages = body["messages"].as_array().expect("messages");
    let text = |value: &Value| value.as_str().expect("an id").to_owned();
    let calls = messages.iter().filter_map(|message| message["tool_calls"].as_array()).flatten();
    let results = messages.iter().filter_map(|message| message.get("tool_call_id"));
    (calls.map(|call| text(&call["id"])).collect(), results.map(text).collect())
}

fn calls_with(ids: &[String]) -> ChatRequest {
    let call =
        |id: &String| Part::ToolCall(ToolCall { id: id.clone(), name: "f".to_owned(), arguments: "{}".to_owned() });
    let result =
        |id: &String| Part::ToolResult { id: id.clone(), name: None, content: "ok".to_owned(), is_error: false };
    let message = |role, parts| Message { role, parts };
    ChatRequest {
        messages: vec![
            message(Role::Assistant, ids.iter().map(call).collect()),
            message(Role::User, ids.iter().map(result).collect()),
        ],
        ..ChatRequest::default()
    }
}

#[test]
fn an_id_that_fits_stays() {
    let mistral = ProviderInfo { tool_ids: ToolIds::Alnum9, ..provider("p", Wire::OpenAi) };
    let given = ["abcDEF123".to_owned(), "call005AKQn2j5TEr4S6i3zNN59moT".to_owned()];
    let (calls, results) = ids(&mistral, &calls_with(&given));
    assert_eq!((&calls[0], &calls), (&given[0], &results));
    assert!(calls[1].len() == 9 && calls[1].bytes().all(|b| b.is_ascii_alphanumeric()), "{calls:?}");
    // A longer conversation keeps the ids of the shorter one.
    let longer = [given.as_slice(), &["toolu_1".to_owned()]].concat();
    assert_eq!(ids(&mistral, &calls_with(&longer)).0[..2], calls);
    // Where the new id is somebody's own already, another is found.
    let taken = [given[1].clone(), calls[1].clone()];
    let (again, _) = ids(&mistral, &calls_with(&taken));
    assert_eq!(again[1], calls[1]);
    assert_ne!(again[0], again[1]);
    let word = ProviderInfo { tool_ids: ToolIds::Word40, ..provider("p", Wire::OpenAi) };
    let given = ["toolu_01-A".to_owned(), "functions.Bash:0".to_owned(), "x".repeat(41)];
    let (calls, _) = ids(&word, &calls_with(&given));
    assert_eq!(calls[0], given[0]);
    assert!(calls[1..].iter().all(|id| id.len() == 9), "{calls:?}");
}

/// Anthropic refuses a conversation with an id in two answers, and some servers begin each answer with `call_0`.
#[test]
fn an_id_that_comes_again_is_written_anew_and_its_result_follows() {
    let turns = |count: usize| {
        let turn = calls_with(&["call_0".to_owned(), "call_1".to_owned()]);
        ChatRequest { messages: vec![turn.messages; count].concat(), ..turn }
    };
    for form in ToolIds::ALL {
        let info = ProviderInfo { tool_ids: *form, ..provider("p", Wire::OpenAi) };
        let (calls, results) = ids(&info, &turns(3));
        assert_eq!(calls, results, "{form:?}");
        let distinct: std::collections::BTreeSet<&String> = calls.iter().collect();
        assert_eq!(distinct.len(), 6, "{form:?}: {calls:?}");
        assert_eq!(ids(&info, &turns(2)).0, calls[..4], "a longer conversation keeps the ids of the shorter one");
    }
    let body = send(&provider("p", Wire::Anthropic), "m", &turns(2)).expect("a request").1.to_string();
    assert_eq!(body.matches("\"call_0\"").count(), 2, "one call and its result: {body}");
}

proptest! {
    #[test]
    fn ids_stay_apart_and_results_with_their_calls(given in prop::collection::btree_set("[a-z0-9_]{0,3}|[a-zA-Z0-9]{9}|call_.{0,40}", 1..20)) {
        let given: Vec<String> = given.into_iter().collect();
        for form in ToolIds::ALL {
            let info = ProviderInfo { tool_ids: *form, ..provider("p", Wire::OpenAi) };
            let (calls, results) = ids(&info, &calls_with(&given));
            prop_assert_eq!(&calls, &results);
            let distinct: std::collections::BTreeSet<&String> = calls.iter().collect();
            prop_assert_eq!(distinct.len(), given.len());
            for (id, old) in calls.iter().zip(&given) {
                let nine = id.len() == 9 && id.bytes().all(|b| b.is_ascii_alphanumeric());
                match form {
                    ToolIds::Any => prop_assert_eq!(id, old),
                    ToolIds::Alnum9 => prop_assert!(nine),
                    ToolIds::Word40 => prop_assert!(nine || id == old),
                }
            }
        }
    }
}
