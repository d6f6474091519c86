//! What a model thought goes back to it as it came, and can be written down in between.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::request_tests::{provider, send};
use super::*;
use crate::domain::{Author, Message, Part, Role, Thinking, ToolCall};

fn author(text: &str) -> Author {
    text.parse().expect("an author")
}

/// The answer of `p/m`, whole or as the stream of these events, as it goes back to its maker.
fn sent_back(wire: Wire, answer: &Answer) -> Value {
    let question = Message::text(Role::User, "?");
    let result =
        |call: &ToolCall| Part::ToolResult { id: call.id.clone(), name: None, content: String::new(), is_error: false };
    let results = Message { role: Role::User, parts: answer.tool_calls.iter().map(result).collect() };
    let messages = vec![question, answer.message(&author("p/m")), results];
    let again = conversation(&written(&messages)).expect("a conversation");
    assert_eq!(again, messages, "nothing is lost on paper");
    let request = ChatRequest { messages, ..ChatRequest::default() };
    let mut body = send(&provider("p", wire), "m", &request).expect("a request").1;
    let turns = if wire == Wire::Gemini { "contents" } else { "messages" };
    body[turns][1].take()
}

fn whole(wire: Wire, body: &Value) -> Answer {
    match decode(wire, body.to_string().as_bytes()) {
        Decoded::Answer(answer) => answer,
        Decoded::Failure => panic!("no answer: {body}"),
    }
}

fn streamed(wire: Wire, chunks: &[Value]) -> Answer {
    let text: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    let mut decoder = StreamDecoder::new(wire);
    let mut assembler = Assembler::default();
    let events = decoder.push(text.as_bytes());
    events.iter().chain(&decoder.finish()).for_each(|event| assembler.push(event));
    match assembler.finish() {
        Assembled::Answer(answer) => answer,
        other => panic!("no answer: {other:?}"),
    }
}

#[test]
fn anthropics_blocks_go_back_in_their_order() {
    let content = json!([
        {"type": "thinking", "thinking": "first", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "aGlk"},
        {"type": "thinking", "thinking": "", "signature": "bm90aGluZw"},
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}},
        {"type": "thinking", "thinking": "between", "signature": "bW9yZQ"},
        {"type": "tool_use", "id": "t2", "name": "g", "input": {}},
    ]);
    let mut chunks = Vec::new();
    for (index, block) in content.as_array().expect("blocks").iter().enumerate() {
        let delta = |delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
        let start = |block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
        match block["type"].as_str() {
            Some("thinking") => {
                chunks.push(start(json!({"type": "thinking", "thinking": "", "signature": ""})));
                chunks.push(delta(json!({"type": "thinking_delta", "thinking": block["thinking"]})));
                chunks.push(delta(json!({"type": "signature_delta", "signature": block["signature"]})));
            }
            Some("text") => {
                chunks.push(start(json!({"type": "text", "text": ""})));
                chunks.push(delta(json!({"type": "text_delta", "text": "I "})));
                chunks.push(delta(json!({"type": "text_delta", "text": "look."})));
            }
            Some("tool_use") => {
                let (id, name) = (&block["id"], &block["name"]);
                chunks.push(start(json!({"type": "tool_use", "id": id, "name": name, "input": {}})));
                chunks.push(delta(json!({"type": "input_json_delta", "partial_json": block["input"].to_string()})));
            }
            _ => chunks.push(start(block.clone())),
        }
    }
    chunks.push(json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}));
    chunks.push(json!({"type": "message_stop"}));
    let body = json!({"type": "message", "content": content, "stop_reason": "tool_use"});
    for answer in [whole(Wire::Anthropic, &body), streamed(Wire::Anthropic, &chunks)] {
        assert_eq!(answer.reasoning, "firstbetween");
        assert_eq!(sent_back(Wire::Anthropic, &answer)["content"], content);
    }
    // Some servers answer a stream request with a whole body.
    let mut decoder = StreamDecoder::new(Wire::Anthropic);
    let mut assembler = Assembler::default();
    let events = [decoder.push(body.to_string().as_bytes()), decoder.finish()].concat();
    events.iter().for_each(|event| assembler.push(event));
    let Assembled::Answer(answer) = assembler.finish() else { panic!("no answer") };
    assert_eq!(sent_back(Wire::Anthropic, &answer)["content"], content);
}

#[test]
fn geminis_signatures_go_back_to_the_parts_they_came_with() {
    let parts = json!([
        {"text": "hm", "thought": true},
        {"text": "so", "thought": true, "thoughtSignature": "dGhvdWdodA"},
        {"text": "I look.", "thoughtSignature": "dGV4dA"},
        {"functionCall": {"name": "f", "args": {"a": 1}}, "thoughtSignature": "Y2FsbA"},
        {"functionCall": {"name": "g", "args": {}}},
        {"text": "", "thoughtSignature": "ZW5k"},
    ]);
    let chunk = |parts: Value, finish: Value| json!({"responseId": "r", "candidates": [{"content": {"parts": parts}, "finishReason": finish}]});
    let pieces = parts.as_array().expect("parts");
    let mut chunks: Vec<Value> = pieces.iter().map(|part| chunk(json!([part]), Value::Null)).collect();
    chunks.push(chunk(json!([]), json!("STOP")));
    for answer in [whole(Wire::Gemini, &chunk(parts.clone(), json!("STOP"))), streamed(Wire::Gemini, &chunks)] {
        assert_eq!((answer.reasoning.as_str(), answer.text.as_str()), ("hmso", "I look."));
        let mut wanted = parts.clone();
        if sent_back(Wire::Gemini, &answer)["parts"] != wanted {
            // Neighbouring thoughts are one, as in a stream nobody could tell them apart.
            wanted.as_array_mut().expect("parts").remove(0);
            wanted[0]["text"] = json!("hmso");
        }
        assert_eq!(sent_back(Wire::Gemini, &answer)["parts"], wanted);
    }
}

#[test]
fn what_nobody_noted_an_order_of_has_the_usual_one() {
    let call = ToolCall { id: "c".to_owned(), name: "f".to_owned(), arguments: "{}".to_owned() };
    let answer = Answer {
        text: "words".to_owned(),
        reasoning: "hm".to_owned(),
        tool_calls: vec![call.clone()],
        ..Answer::default()
    };
    let from = author("p/m");
    let thinking = Thinking { text: "hm".to_owned(), from: Some(from.clone()), ..Thinking::default() };
    let wanted = vec![Part::Thinking(thinking), Part::Text("words".to_owned()), Part::ToolCall(call)];
    assert_eq!(answer.message(&from).parts, wanted);
    assert!(Answer::default().message(&from).parts.is_empty());
}

#[test]
fn a_stream_of_signatures_has_an_end() {
    let mut assembler = Assembler::showing();
    let signature = StreamEvent::Signature("s".repeat(1 << 20));
    (0..16).for_each(|_| assembler.push(&signature));
    assert!(assembler.has_failed());
    let mut assembler = Assembler::default();
    for _ in 0..20_000 {
        assembler.push(&StreamEvent::Text("a".to_owned()));
        assembler.push(&StreamEvent::Reasoning("b".to_owned()));
    }
    let answer = assembler.so_far();
    assert!(answer.order.len() < 20_000, "{}", answer.order.len());
    let words = |parts: Vec<Part>| parts.iter().map(|p| if let Part::Text(t) = p { t.len() } else { 0 }).sum::<usize>();
    assert_eq!(words(answer.parts(None)), 20_000);
}

/// Any words, also none.
fn words() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), Just("{\"a\": 1}".to_owned()), ".{0,12}"]
}

fn filled() -> impl Strategy<Value = String> {
    ".{1,12}"
}

fn any_author() -> impl Strategy<Value = Option<Author>> {
    prop::option::of("[a-z]{1,4}/[a-z/@]{1,6}".prop_map(|text| author(&text)))
}

fn any_thinking() -> impl Strategy<Value = Part> {
    (words(), prop::option::of(filled()), prop::option::of(filled()), any_author())
        .prop_map(|(text, signature, redacted, from)| Part::Thinking(Thinking { text, signature, redacted, from }))
}

fn any_call() -> impl Strategy<Value = Part> {
    let arguments = prop_oneof![Just("{ }".to_owned()), Just("{\"a\":{\"b\":1.0}}".to_owned()), words()];
    (filled(), filled(), arguments).prop_map(|(id, name, arguments)| Part::ToolCall(ToolCall { id, name, arguments }))
}

fn any_message() -> impl Strategy<Value = Message> {
    let said = || words().prop_map(Part::Text);
    let image = || (filled(), filled()).prop_map(|(media_type, data)| Part::Image { media_type, data });
    let result = (filled(), prop::option::of(words()), words(), any::<bool>());
    let result = result.prop_map(|(id, name, content, is_error)| Part::ToolResult { id, name, content, is_error });
    let message = |role, parts| Message { role, parts };
    prop_oneof![
        prop::collection::vec(said(), 1..3).prop_map(move |parts| message(Role::System, parts)),
        prop::collection::vec(prop_oneof![said(), image(), result], 1..5)
            .prop_map(move |parts| message(Role::User, parts)),
        prop::collection::vec(prop_oneof![said(), image(), any_call(), any_thinking()], 1..6)
            .prop_map(move |parts| message(Role::Assistant, parts)),
    ]
}

proptest! {
    #[test]
    fn what_is_written_down_is_read_again(messages in prop::collection::vec(any_message(), 0..8)) {
        let text = written(&messages).to_string();
        let again = conversation(&serde_json::from_str(&text).expect("JSON")).expect("a conversation");
        prop_assert_eq!(again, messages);
    }
}
