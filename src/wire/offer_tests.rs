//! What a request offers the model to call, in each wire's words.

use serde_json::{Value, json};

use super::request_tests::{provider, send};
use super::*;
use crate::catalog::ProviderInfo;
use crate::domain::{Message, Part, Role, Tool, ToolCall, ToolChoice};

fn tool(name: &str) -> Tool {
    let schema =
        json!({"type": "object", "properties": {"city": {"type": "string", "minLength": 1}}, "required": ["city"]});
    Tool { name: name.to_owned(), description: "Looks it up.".to_owned(), schema }
}

fn offering(choice: Option<ToolChoice>, parallel_tools: Option<bool>) -> ChatRequest {
    ChatRequest {
        messages: vec![Message::text(Role::User, "Wie warm ist es?")],
        tools: vec![tool("weather"), Tool { description: String::new(), schema: json!({}), ..tool("now") }],
        tool_choice: choice,
        parallel_tools,
        ..ChatRequest::default()
    }
}

fn body(info: &ProviderInfo, request: &ChatRequest) -> Value {
    send(info, "m", request).expect("a request").1
}

#[test]
fn tools_are_declared_in_each_wires_words() {
    let request = offering(None, None);
    let schema = request.tools[0].schema.clone();
    let empty = json!({"type": "object", "properties": {}});
    let openai = body(&provider("p", Wire::OpenAi), &request);
    let wanted = json!([
        {"type": "function", "function": {"name": "weather", "description": "Looks it up.", "parameters": schema}},
        {"type": "function", "function": {"name": "now", "parameters": empty}},
    ]);
    assert_eq!((&openai["tools"], openai.get("tool_choice"), openai.get("parallel_tool_calls")), (&wanted, None, None));
    let anthropic = body(&provider("p", Wire::Anthropic), &request);
    let wanted = json!([
        {"name": "weather", "description": "Looks it up.", "input_schema": schema},
        {"name": "now", "input_schema": empty},
    ]);
    assert_eq!((&anthropic["tools"], anthropic.get("tool_choice")), (&wanted, None));
    let gemini = body(&provider("p", Wire::Gemini), &request);
    let city = json!({"type": "string", "description": "Must also satisfy this JSON Schema: {\"minLength\":1}"});
    let loose = json!({"type": "object", "properties": {"city": city}, "required": ["city"]});
    let wanted = json!([{"functionDeclarations": [
        {"name": "weather", "description": "Looks it up.", "parametersJsonSchema": loose},
        {"name": "now", "parametersJsonSchema": empty},
    ]}]);
    assert_eq!((&gemini["tools"], gemini.get("toolConfig")), (&wanted, None));
}

#[test]
fn the_choice_in_each_wires_words() {
    let named = || ToolChoice::Named("now".to_owned());
    for (choice, openai, anthropic, gemini) in [
        (ToolChoice::Auto, json!("auto"), json!({"type": "auto"}), json!({"mode": "AUTO"})),
        (ToolChoice::None, json!("none"), json!({"type": "none"}), json!({"mode": "NONE"})),
        (ToolChoice::Required, json!("required"), json!({"type": "any"}), json!({"mode": "ANY"})),
        (
            named(),
            json!({"type": "function", "function": {"name": "now"}}),
            json!({"type": "tool", "name": "now"}),
            json!({"mode": "ANY", "allowedFunctionNames": ["now"]}),
        ),
    ] {
        let request = offering(Some(choice), None);
        assert_eq!(body(&provider("p", Wire::OpenAi), &request)["tool_choice"], openai);
        assert_eq!(body(&provider("p", Wire::Anthropic), &request)["tool_choice"], anthropic);
        assert_eq!(body(&provider("p", Wire::Gemini), &request)["toolConfig"]["functionCallingConfig"], gemini);
    }
    let one = offering(Some(named()), Some(false));
    assert_eq!(body(&provider("p", Wire::OpenAi), &one)["parallel_tool_calls"], false);
    let wanted = json!({"type": "tool", "name": "now", "disable_parallel_tool_use": true});
    assert_eq!(body(&provider("p", Wire::Anthropic), &one)["tool_choice"], wanted);
    let one = offering(None, Some(false));
    let wanted = json!({"type": "auto", "disable_parallel_tool_use": true});
    assert_eq!(body(&provider("p", Wire::Anthropic), &one)["tool_choice"], wanted);
    let none = offering(Some(ToolChoice::None), Some(false));
    assert_eq!(body(&provider("p", Wire::Anthropic), &none)["tool_choice"], json!({"type": "none"}));
    // Without tools there is nothing to choose.
    let nothing = ChatRequest { tools: Vec::new(), ..offering(Some(ToolChoice::Required), Some(false)) };
    for wire in Wire::ALL {
        let body = body(&provider("p", *wire), &nothing);
        assert!(
            ["tools", "tool_choice", "toolConfig", "parallel_tool_calls"].iter().all(|name| body.get(name).is_none())
        );
    }
}

#[test]
fn what_a_provider_does_not_take_is_asked_for_in_words_or_left_out() {
    let info = ProviderInfo { forces_tools: false, parallel_tools: false, ..provider("p", Wire::OpenAi) };
    let sent = body(&info, &offering(Some(ToolChoice::Named("now".to_owned())), Some(false)));
    assert_eq!((sent.get("tool_choice"), sent.get("parallel_tool_calls")), (None, None));
    let words = sent["messages"][0]["content"].as_str().expect("words");
    assert!(words.contains("call the tool `now`"), "{words}");
    assert_eq!(body(&info, &offering(Some(ToolChoice::None), None))["tool_choice"], "none");
}

#[test]
fn a_shape_beside_tools_goes_in_words_where_both_are_refused() {
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let shaped = |choice| ChatRequest { schema: Some(schema.clone()), ..offering(choice, None) };
    let able = |wire| ProviderInfo { capabilities: Some(vec!["json_schema".to_owned()]), ..provider("p", wire) };
    let has = |body: &Value| {
        let fields = ["/response_format", "/output_config", "/generationConfig/responseJsonSchema"];
        (
            fields.iter().any(|field| body.pointer(field).is_some()),
            body.to_string().contains("satisfies the JSON Schema below"),
        )
    };
    assert_eq!(has(&body(&able(Wire::OpenAi), &shaped(None))), (true, false));
    assert_eq!(has(&body(&able(Wire::Anthropic), &shaped(None))), (true, false));
    let refuses = ProviderInfo { tools_with_schema: false, ..able(Wire::OpenAi) };
    assert_eq!(has(&body(&refuses, &shaped(None))), (false, true));
    let alone = ChatRequest { tools: Vec::new(), ..shaped(None) };
    assert_eq!(has(&body(&refuses, &alone)), (true, false));
    for (model, choice, native) in [
        ("gemini-2.5-flash", None, false),
        ("gemini-3.6-flash", None, true),
        ("gemini-3.6-flash", Some(ToolChoice::Required), false),
    ] {
        let sent = send(&able(Wire::Gemini), model, &shaped(choice)).expect("a request").1;
        assert_eq!(has(&sent), (native, !native), "{model}");
    }
}

#[test]
fn any_object_is_asked_for_where_that_is_all_there_is() {
    let able = |wire| ProviderInfo { capabilities: Some(vec!["json_object".to_owned()]), ..provider("p", wire) };
    let shaped = |schema: Value| ChatRequest {
        messages: vec![Message::text(Role::User, "?")],
        schema: Some(schema),
        ..ChatRequest::default()
    };
    let (object, list) = (shaped(json!({"type": "object"})), shaped(json!({"type": "array"})));
    let sent = body(&able(Wire::OpenAi), &object);
    assert_eq!(sent["response_format"], json!({"type": "json_object"}));
    assert!(sent["messages"][0]["content"].as_str().is_some_and(|text| text.contains("JSON")), "{sent}");
    assert_eq!(body(&able(Wire::OpenAi), &list).get("response_format"), None);
    let sent = body(&able(Wire::Gemini), &object);
    assert_eq!(sent["generationConfig"], json!({"responseMimeType": "application/json"}));
    assert_eq!(body(&able(Wire::Anthropic), &object).get("output_config"), None);
}

#[test]
fn names_that_do_not_fit_are_rewritten_everywhere_and_come_back() {
    let odd = "files.read/Größe 2";
    let mut request = offering(Some(ToolChoice::Named(odd.to_owned())), None);
    request.tools.extend([tool(odd), tool("9lives"), tool("files.read/Größe 3")]);
    let call = ToolCall { id: "c".to_owned(), name: odd.to_owned(), arguments: "{}".to_owned() };
    let result =
        Part::ToolResult { id: "c".to_owned(), name: Some(odd.to_owned()), content: "x".to_owned(), is_error: false };
    request.messages.push(Message { role: Role::Assistant, parts: vec![Part::ToolCall(call.clone())] });
    request.messages.push(Message { role: Role::User, parts: vec![result] });
    for wire in Wire::ALL {
        let sent = body(&provider("p", *wire), &request);
        let name = |path: &str| {
            sent.pointer(path).and_then(Value::as_str).unwrap_or_else(|| panic!("{path} in {sent}")).to_owned()
        };
        let (declared, chosen, called) = match wire {
            Wire::OpenAi => (
                name("/tools/2/function/name"),
                name("/tool_choice/function/name"),
                name("/messages/1/tool_calls/0/function/name"),
            ),
            Wire::Anthropic => (name("/tools/2/name"), name("/tool_choice/name"), name("/messages/1/content/0/name")),
            Wire::Gemini => (
                name("/tools/0/functionDeclarations/2/name"),
                name("/toolConfig/functionCallingConfig/allowedFunctionNames/0"),
                name("/contents/1/parts/0/functionCall/name"),
            ),
        };
        assert_eq!((&declared, &declared), (&chosen, &called), "{wire:?}");
        assert!(declared.len() <= 63 && declared.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-'));
        assert!(!sent.to_string().contains("files.read"), "{sent}");
        assert_eq!(sent.to_string().contains("\"9lives\""), *wire != Wire::Gemini);
        let mut answer = Answer { tool_calls: vec![ToolCall { name: declared, ..call.clone() }], ..Answer::default() };
        restore_names(*wire, &request.tools, &mut answer);
        assert_eq!(answer.tool_calls[0].name, odd);
    }
    assert_ne!(tools::name_for(odd, Wire::OpenAi), tools::name_for("files.read/Größe 3", Wire::OpenAi));
}

#[test]
fn tools_that_cannot_be_offered_are_our_own_error() {
    let info = provider("p", Wire::OpenAi);
    let error = |request: ChatRequest| send(&info, "m", &request).expect_err("refused").to_string();
    let base = || offering(None, None);
    let with = |tools: Vec<Tool>| ChatRequest { tools, ..base() };
    assert!(error(with(vec![tool("a"), tool("a")])).contains("two of that name"));
    assert!(error(with(vec![tool(" ")])).contains("no name"));
    assert!(error(with(vec![Tool { schema: json!({"type": "string"}), ..tool("a") }])).contains("takes no object"));
    assert!(error(offering(Some(ToolChoice::Named("other".to_owned())), None)).contains("not offered"));
    let twice = ChatRequest { options: [("tools".to_owned(), json!([]))].into(), ..base() };
    assert_eq!(error(twice), "the request offers tools, and the option `tools` does too; leave one of them out");
    let raw = ChatRequest { tools: Vec::new(), options: [("tools".to_owned(), json!([7]))].into(), ..base() };
    assert_eq!(body(&info, &raw)["tools"], json!([7]), "what the user writes goes as it is");
}

#[test]
fn what_a_declaration_cannot_say_is_said_in_its_description() {
    let either = json!({"oneOf": [{"required": ["a"]}, {"required": ["b"]}]});
    let request = ChatRequest { tools: vec![Tool { schema: either, ..tool("a") }], ..offering(None, None) };
    for wire in Wire::ALL {
        let sent = body(&provider("p", *wire), &request).to_string();
        assert!(sent.contains("Looks it up.\\n\\nThe arguments must satisfy this JSON Schema: "), "{sent}");
    }
}
