//! Writes requests as each wire has them, one JSON object a line, for `checks/sdk/check.py`; with `--read`, reads answers
//! that the official SDKs built, one a line, and says what was found in them.
//!
//! `cargo run --example encodings [-- --read < FILE]`

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a tool for who works on this program may just end"
)]

use std::io::{BufRead as _, stdin};
use std::str::FromStr as _;

use llmr::catalog::{Catalog, Wire};
use llmr::domain::{
    Author, ChatRequest, Message, ModelName, Part, ProviderName, Role, Thinking, Tool, ToolCall, ToolChoice,
};
use llmr::wire::{Decoded, Endpoint, decode, encode};
use serde_json::{Value, json};

/// Who is asked: one of each wire and habit.
const ASKED: [(&str, &str); 9] = [
    ("openai", "gpt-5-mini"),
    ("groq", "llama-3.3-70b-versatile"),
    ("mistral", "mistral-small-latest"),
    ("deepseek", "deepseek-chat"),
    ("cerebras", "llama-3.3-70b"),
    ("anthropic", "claude-sonnet-4-5"),
    ("anthropic", "claude-unheard-of"),
    ("gemini", "gemini-2.5-flash"),
    ("gemini", "gemini-3.6-flash"),
];

fn main() {
    if std::env::args().any(|argument| argument == "--read") { read() } else { write() }
}

fn write() {
    let catalog = Catalog::builtin().expect("a catalogue");
    for (provider, model) in ASKED {
        let info = catalog.provider(&ProviderName::new(provider)).expect("a known provider");
        let wire = info.wire.expect("a wire").as_str();
        let name = ModelName::new(model);
        let endpoint =
            Endpoint { provider: info, model: &name, base_url: "https://api.example.com/v1", key: None, ids: None };
        for (what, request) in requests(&format!("{provider}/{model}")) {
            let http = encode(&endpoint, &request).unwrap_or_else(|error| panic!("{provider} {what}: {error}"));
            let body: Value = serde_json::from_slice(&http.body).expect("JSON");
            println!("{}", json!({"wire": wire, "provider": provider, "model": model, "what": what, "body": body}));
        }
    }
}

fn read() {
    for line in stdin().lock().lines() {
        let line: Value = serde_json::from_str(&line.expect("a line")).expect("JSON");
        let wire = Wire::from_str(line["wire"].as_str().unwrap_or_default()).expect("a wire");
        let found = match decode(wire, line["body"].to_string().as_bytes()) {
            Decoded::Failure => json!({"what": line["what"], "failure": true}),
            Decoded::Answer(answer) => json!({
                "what": line["what"], "text": answer.text, "reasoning": answer.reasoning,
                "calls": answer.tool_calls, "finish": answer.finish.as_ref().map(llmr::domain::Finish::as_str),
                "signatures": answer.thoughts().filter_map(|t| t.signature.clone().or(t.redacted.clone())).collect::<Vec<_>>(),
                "input": answer.usage.input_tokens, "output": answer.usage.output_tokens,
            }),
        };
        println!("{found}");
    }
}

fn requests(own: &str) -> Vec<(String, ChatRequest)> {
    let mut all = Vec::new();
    let plain = ChatRequest { messages: vec![Message::text(Role::User, "Hi.")], ..ChatRequest::default() };
    let full = ChatRequest {
        system: Some("Be brief.".to_owned()),
        developer: Some("Use metres.".to_owned()),
        max_tokens: Some(200),
        temperature: Some(0.5),
        stop: vec!["END".to_owned()],
        stream: true,
        ..plain.clone()
    };
    all.push(("plain".to_owned(), plain.clone()));
    all.push(("full".to_owned(), full.clone()));
    for (name, schema) in schemas() {
        all.push((format!("schema {name}"), ChatRequest { schema: Some(schema.clone()), ..full.clone() }));
        all.push((
            format!("schema {name} with tools"),
            ChatRequest { schema: Some(schema), tools: tools(), ..full.clone() },
        ));
    }
    let choices = [
        None,
        Some(ToolChoice::Auto),
        Some(ToolChoice::None),
        Some(ToolChoice::Required),
        Some(ToolChoice::Named("files.read/2".to_owned())),
    ];
    for tool_choice in choices {
        for parallel_tools in [None, Some(true), Some(false)] {
            let what = format!("tools {tool_choice:?} {parallel_tools:?}");
            let (tools, tool_choice) = (tools(), tool_choice.clone());
            all.push((what, ChatRequest { tools, tool_choice, parallel_tools, ..plain.clone() }));
        }
    }
    let messages = conversation(&own.parse().expect("an author"));
    all.push(("history".to_owned(), ChatRequest { messages: messages.clone(), ..ChatRequest::default() }));
    all.push(("history with tools".to_owned(), ChatRequest { messages, tools: tools(), ..full }));
    all
}

fn tools() -> Vec<Tool> {
    let tool = |name: &str, schema: Value| Tool { name: name.to_owned(), description: "Does it.".to_owned(), schema };
    let city =
        json!({"type": "object", "properties": {"city": {"type": "string", "minLength": 1}}, "required": ["city"]});
    let either =
        json!({"oneOf": [{"required": ["a"]}, {"required": ["b"]}], "properties": {"a": {"const": 1}, "b": {}}});
    let old = json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {
        "at": {"type": "array", "items": [{"type": "number"}, {"type": "number"}]}, "any": {"type": "array"},
        "mail": {"type": "string", "pattern": "^(?!x)"}, "kind": {"type": "string", "nullable": true, "enum": ["a", null]},
    }});
    vec![tool("weather", city), tool("now", json!({})), tool("files.read/2", either), tool("old", old)]
}

fn schemas() -> Vec<(&'static str, Value)> {
    let closed = json!({"type": "object", "properties": {
        "name": {"type": "string", "minLength": 1, "format": "hostname"}, "kind": {"const": "city"},
        "size": {"type": ["integer", "null"], "minimum": 0}, "tags": {"type": "array", "items": {"type": "string"}, "minItems": 2},
    }, "required": ["name", "kind", "size", "tags"], "additionalProperties": false});
    let open = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let named = json!({"$ref": "#/definitions/Tree", "definitions": {"Tree": {"type": "object", "properties": {
        "size": {"enum": [1.5, null]}, "next": {"$ref": "#/definitions/Tree"}}, "additionalProperties": false}}});
    let list = json!({"type": "array", "items": {"type": "number"}});
    vec![("closed", closed), ("open", open), ("list", list), ("named", named)]
}

/// With everything in it that may stand in one.
fn conversation(own: &Author) -> Vec<Message> {
    let thought = |signature: &str, from: &Author| {
        let (text, signature) = ("hm".to_owned(), Some(signature.to_owned()));
        Part::Thinking(Thinking { text, signature, redacted: None, from: Some(from.clone()) })
    };
    let foreign: Author = "elsewhere/m".parse().expect("an author");
    let hidden = Thinking { redacted: Some("aGlk".to_owned()), from: Some(own.clone()), ..Thinking::default() };
    let call = |id: &str, name: &str| {
        Part::ToolCall(ToolCall {
            id: id.to_owned(),
            name: name.to_owned(),
            arguments: "{\"city\":\"Köln\"}".to_owned(),
        })
    };
    let result = |id: &str| Part::tool_result(id, "3");
    let image = Part::image("image/png", "iVBORw0KGgo=");
    let message = |role, parts| Message { role, parts };
    vec![
        message(Role::User, vec![Part::Text("Look.".to_owned()), image]),
        Message::text(Role::System, "Be kind."),
        message(
            Role::Assistant,
            vec![
                thought("c2ln", own),
                thought("Zm9yZWlnbg==", &foreign),
                Part::Thinking(hidden),
                Part::Text("I look.".to_owned()),
                call("call|1", "weather"),
                call("toolu_2", "files.read/2"),
            ],
        ),
        message(Role::User, vec![result("toolu_2"), result("call|1")]),
        Message::text(Role::User, "And?"),
        message(Role::Assistant, vec![call("later", "now")]),
        message(Role::User, vec![result("later")]),
    ]
}
