//! What is written for each wire.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::*;
use crate::catalog::{AuthStyle, ModelInfo, ProviderInfo};
use crate::domain::{Message, ModelName, Part, Role, Secret};

const KEY: &str = "llmr-test-0123456789abcdef";

pub(super) fn provider(name: &str, wire: Wire) -> ProviderInfo {
    ProviderInfo { wire: Some(wire), auth: AuthStyle::usual(wire), ..ProviderInfo::blank(name.into()) }
}

/// A request that uses every field.
fn full() -> ChatRequest {
    let picture = Part::Image { media_type: "image/png".to_owned(), data: "QUJD".to_owned() };
    ChatRequest {
        system: Some("Be brief.".to_owned()),
        developer: None,
        messages: vec![
            Message::text(Role::User, "one"),
            Message::text(Role::System, "Be kind."),
            Message { role: Role::User, parts: vec![Part::Text("two".to_owned()), picture] },
            Message::text(Role::Assistant, "three"),
            Message::text(Role::User, "four"),
        ],
        max_tokens: Some(500),
        temperature: Some(1.5),
        stop: vec!["END".to_owned()],
        schema: Some(json!({"type": "object"})),
        options: BTreeMap::from([("seed".to_owned(), json!(7))]),
        stream: true,
        ..ChatRequest::default()
    }
}

pub(super) fn send(
    provider: &ProviderInfo,
    model: &str,
    request: &ChatRequest,
) -> Result<(HttpRequest, Value), EncodeError> {
    let (model, key) = (ModelName::new(model), Secret::new(KEY));
    let endpoint =
        Endpoint { provider, model: &model, base_url: "https://api.example.com/v1", key: Some(&key), ids: None };
    let http = encode(&endpoint, request)?;
    let body = serde_json::from_slice(&http.body).expect("JSON");
    Ok((http, body))
}

fn header<'a>(request: &'a HttpRequest, name: &str) -> Option<&'a str> {
    request.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.expose())
}

fn shape_in_words() -> String {
    format!("Be brief.\n\nBe kind.\n\n{}", schema::instruction(&json!({"type": "object"})))
}

#[test]
fn an_openai_request() {
    let (http, body) = send(&provider("lab", Wire::OpenAi), "org/m", &full()).expect("a request");
    assert_eq!(http.url, "https://api.example.com/v1/chat/completions");
    assert_eq!(header(&http, "authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(header(&http, "accept"), Some("text/event-stream"));
    let wanted = json!({
        "model": "org/m",
        "messages": [
            {"role": "system", "content": shape_in_words()},
            {"role": "user", "content": "one"},
            {"role": "user", "content": [
                {"type": "text", "text": "two"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}},
            ]},
            {"role": "assistant", "content": "three"},
            {"role": "user", "content": "four"},
        ],
        "max_tokens": 500,
        "temperature": 1.5,
        "stop": ["END"],
        "stream": true,
        "stream_options": {"include_usage": true},
        "seed": 7,
    });
    assert_eq!(body, wanted);
}

#[test]
fn an_anthropic_request() {
    let (http, body) = send(&provider("anthropic", Wire::Anthropic), "m", &full()).expect("a request");
    assert_eq!(http.url, "https://api.example.com/v1/messages");
    assert_eq!(header(&http, "x-api-key"), Some(KEY));
    assert_eq!(header(&http, "anthropic-version"), Some("2023-06-01"));
    let wanted = json!({
        "model": "m",
        "max_tokens": 500,
        "system": shape_in_words(),
        "messages": [
            {"role": "user", "content": [
                {"type": "text", "text": "one"},
                {"type": "text", "text": "two"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD"}},
            ]},
            {"role": "assistant", "content": [{"type": "text", "text": "three"}]},
            {"role": "user", "content": [{"type": "text", "text": "four"}]},
        ],
        "temperature": 1.0,
        "stop_sequences": ["END"],
        "stream": true,
        "seed": 7,
    });
    assert_eq!(body, wanted);
}

#[test]
fn a_gemini_request() {
    let mut request = full();
    request.options = BTreeMap::from([("generationConfig".to_owned(), json!({"topK": 3, "temperature": null}))]);
    let (http, body) = send(&provider("gemini", Wire::Gemini), "gemini-x", &request).expect("a request");
    assert_eq!(http.url, "https://api.example.com/v1/models/gemini-x:streamGenerateContent?alt=sse");
    assert_eq!(header(&http, "x-goog-api-key"), Some(KEY));
    let wanted = json!({
        "systemInstruction": {"parts": [{"text": shape_in_words()}]},
        "contents": [
            {"role": "user", "parts": [
                {"text": "one"},
                {"text": "two"},
                {"inlineData": {"mimeType": "image/png", "data": "QUJD"}},
            ]},
            {"role": "model", "parts": [{"text": "three"}]},
            {"role": "user", "parts": [{"text": "four"}]},
        ],
        "generationConfig": {"maxOutputTokens": 500, "stopSequences": ["END"], "topK": 3},
    });
    assert_eq!(body, wanted);
    request.stream = false;
    let url = |model: &str| send(&provider("gemini", Wire::Gemini), model, &request).expect("a request").0.url;
    assert_eq!(url("models/a"), "https://api.example.com/v1/models/a:generateContent");
    assert_eq!(url("tunedModels/a:b"), "https://api.example.com/v1/tunedModels/a%3Ab:generateContent");
}

#[test]
fn a_shape_goes_by_the_wires_own_means_where_they_are_declared() {
    let shape = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": false});
    let mut request = full();
    request.schema = Some(shape.clone());
    let body = |wire, shape: &Value| {
        let mut provider = provider("p", wire);
        provider.capabilities = Some(vec!["json_schema".to_owned()]);
        let request = ChatRequest { schema: Some(shape.clone()), ..request.clone() };
        send(&provider, "m", &request).expect("a request").1
    };
    let openai = body(Wire::OpenAi, &shape);
    assert_eq!(
        openai["response_format"],
        json!({"type": "json_schema", "json_schema": {"name": "answer", "schema": shape, "strict": true}})
    );
    assert_eq!(openai["messages"][0]["content"], "Be brief.\n\nBe kind.");
    let loose = json!({"type": "object"});
    assert_eq!(body(Wire::OpenAi, &loose)["response_format"]["json_schema"].get("strict"), None);
    let anthropic = body(Wire::Anthropic, &shape);
    assert_eq!(anthropic["output_config"], json!({"format": {"type": "json_schema", "schema": shape}}));
    let gemini = body(Wire::Gemini, &shape);
    assert_eq!(gemini["generationConfig"]["responseMimeType"], "application/json");
    assert_eq!(gemini["generationConfig"]["responseJsonSchema"], shape);
}

#[test]
fn the_model_says_more_than_the_provider() {
    let mut provider = provider("p", Wire::Anthropic);
    provider.capabilities = Some(vec!["json_schema".to_owned()]);
    provider.models = vec![ModelInfo {
        id: "small".into(),
        context: None,
        max_output: Some(100),
        capabilities: Some(Vec::new()),
        price: None,
    }];
    let (_, body) = send(&provider, "small", &full()).expect("a request");
    assert_eq!(body["max_tokens"], 100, "no more than the model gives");
    assert_eq!(body.get("output_config"), None, "the model lacks what the provider has");
    let short = ChatRequest { max_tokens: None, ..full() };
    assert_eq!(send(&provider, "small", &short).expect("a request").1["max_tokens"], 100);
    assert_eq!(send(&provider, "other", &short).expect("a request").1["max_tokens"], 4096);
}

#[test]
fn options_are_laid_over_the_request_but_not_over_what_we_decide() {
    let mut provider = provider("p", Wire::OpenAi);
    provider.max_tokens_field = "max_completion_tokens".to_owned();
    let with = |name: &str, value: Value| ChatRequest { options: BTreeMap::from([(name.to_owned(), value)]), ..full() };
    let body = send(&provider, "m", &with("stream_options", Value::Null)).expect("a request").1;
    assert_eq!(body.get("stream_options"), None);
    assert_eq!(body["max_completion_tokens"], 500);
    for name in ["messages", "model", "stream"] {
        for wire in [Wire::OpenAi, Wire::Anthropic, Wire::Gemini] {
            provider.wire = Some(wire);
            let error = send(&provider, "m", &with(name, json!(1))).expect_err("refused");
            assert_eq!(error, EncodeError::Reserved(name.to_owned()));
        }
    }
}

#[test]
fn a_temperature_is_left_out_where_the_model_refuses_it() {
    let mut info = provider("p", Wire::Anthropic);
    info.no_temperature = vec!["claude-opus-5*".to_owned()];
    let sent = |model: &str| send(&info, model, &full()).expect("a request").1.get("temperature").is_some();
    assert_eq!((sent("claude-opus-5-2"), sent("claude-opus-4-5")), (false, true));
}

#[test]
fn mistral_is_not_asked_to_count() {
    let body = send(&provider("mistral", Wire::OpenAi), "m", &full()).expect("a request").1;
    assert_eq!(body.get("stream_options"), None);
}

#[test]
fn headers_of_the_provider_win_and_the_key_is_not_shown() {
    let mut info = provider("p", Wire::Anthropic);
    info.headers.insert("Anthropic-Version".to_owned(), "2026-10-21".to_owned());
    let (http, _) = send(&info, "m", &full()).expect("a request");
    assert_eq!(header(&http, "anthropic-version"), Some("2026-10-21"));
    let shown = format!("{http:?}");
    assert!(!shown.contains("0123456789ab"), "{shown}");
    assert!(!shown.contains("three"), "{shown}");
    assert!(!http.url.contains(KEY) && !String::from_utf8_lossy(&http.body).contains(KEY));
}

#[test]
fn what_cannot_be_sent_is_our_own_error() {
    let mut info = provider("p", Wire::OpenAi);
    let (model, key) = (ModelName::new("m"), Secret::new("two\nlines"));
    let endpoint = Endpoint { provider: &info, model: &model, base_url: "http://a/v1", key: Some(&key), ids: None };
    let error = encode(&endpoint, &full()).expect_err("refused");
    assert_eq!(error, EncodeError::BadHeader("authorization".to_owned()));
    assert!(!format!("{error} {error:?}").contains("lines"));
    let empty = ChatRequest { messages: Vec::new(), ..full() };
    assert_eq!(send(&info, "m", &empty).expect_err("refused"), EncodeError::NoMessages);
    info.wire = None;
    assert_eq!(send(&info, "m", &full()).expect_err("refused"), EncodeError::NoWire("p".into()));
}

#[test]
fn ids_of_the_request_go_where_there_is_a_header_for_them() {
    let mut info = provider("p", Wire::OpenAi);
    let headers = |info: &ProviderInfo, request: &str| {
        let (model, ids) = (ModelName::new("m"), Some(Ids { request, idempotency: "r1-2" }));
        let endpoint = Endpoint { provider: info, model: &model, base_url: "http://a/v1", key: None, ids };
        let http = encode(&endpoint, &full()).expect("a request");
        let shown = |name: &str| header(&http, name).map(str::to_owned);
        (shown("x-client-request-id"), shown("idempotency-key"))
    };
    assert_eq!(headers(&info, "r1"), (None, None));
    info.request_id_header = Some("X-Client-Request-Id".to_owned());
    info.idempotency_header = Some("Idempotency-Key".to_owned());
    assert_eq!(headers(&info, "r1"), (Some("r1".to_owned()), Some("r1-2".to_owned())));
    // What no header can hold is left out; the request is good without.
    for odd in ["", "two\nlines", "ö", &"x".repeat(513)] {
        assert_eq!(headers(&info, odd), (None, Some("r1-2".to_owned())), "{odd}");
    }
}

#[test]
fn the_developer_has_a_role_or_a_part_of_the_instructions() {
    let request = ChatRequest { developer: Some("Use metres.".to_owned()), schema: None, ..full() };
    let among = "Be brief.\n\nBe kind.\n\nUse metres.";
    let mut info = provider("p", Wire::OpenAi);
    let messages = |info: &ProviderInfo| send(info, "m", &request).expect("a request").1["messages"].clone();
    assert_eq!(messages(&info)[0], json!({"role": "system", "content": among}));
    assert_eq!(messages(&info)[1]["role"], "user");
    info.developer_role = true;
    assert_eq!(messages(&info)[0], json!({"role": "system", "content": "Be brief.\n\nBe kind."}));
    assert_eq!(messages(&info)[1], json!({"role": "developer", "content": "Use metres."}));
    let anthropic = send(&provider("p", Wire::Anthropic), "m", &request).expect("a request").1;
    assert_eq!(anthropic["system"], among);
    let gemini = ChatRequest { options: BTreeMap::new(), ..request.clone() };
    let gemini = send(&provider("p", Wire::Gemini), "m", &gemini).expect("a request").1;
    assert_eq!(gemini["systemInstruction"]["parts"][0]["text"], among);
}
