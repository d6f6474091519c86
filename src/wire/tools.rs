//! What a request offers the model to call: names that the wire takes, and which of the calls are wanted.
//!
//! A tool's name is the program's own, and each wire takes other names. One that does not fit is written anew, in the
//! declaration, in the choice and in all calls and results of the history alike, and always the same way, so that a
//! conversation keeps its names from turn to turn; in the answer it is the program's own name again.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::catalog::Wire;
use crate::domain::{Answer, ChatRequest, Part, Tool, ToolChoice};

use super::calls::hashed;
use super::dialect;
use super::request::EncodeError;

/// The longest name that all take. OpenAI: letters, digits, `_` and `-`, at most 64 (openai 3.57.0,
/// `FunctionDefinition.name`); Anthropic the same, its newest models more; Gemini's newest take 128 and more characters,
/// older ones 63, and none a digit or dash at the beginning (google-genai 3.6.1, `FunctionDeclaration.name`; protos of
/// v1beta). Read 2026-11-30.
const LONGEST: usize = 63;

fn fits(name: &str, wire: Wire) -> bool {
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    let begins = |byte: u8| wire != Wire::Gemini || byte.is_ascii_alphabetic() || byte == b'_';
    (1..=LONGEST).contains(&name.len()) && name.bytes().all(word) && name.bytes().next().is_some_and(begins)
}

/// The name as the wire takes it. What had to be changed carries a digest of the whole name, so that two stay two.
pub(super) fn name_for(name: &str, wire: Wire) -> String {
    if fits(name, wire) {
        return name.to_owned();
    }
    let letter = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let readable: String = name.chars().map(letter).take(40).collect();
    format!("t_{readable}_{}", hashed(&[name], 12))
}

/// Whether the tools can be told apart and have arguments, and the choice is among them.
pub(super) fn check(request: &ChatRequest) -> Result<(), EncodeError> {
    let trouble = |name: &str, why: &str| EncodeError::BadTool { name: name.to_owned(), why: why.to_owned() };
    for (at, tool) in request.tools.iter().enumerate() {
        if tool.name.trim().is_empty() {
            return Err(trouble(&tool.name, "it has no name"));
        }
        if request.tools.iter().take(at).any(|other| other.name == tool.name) {
            return Err(trouble(&tool.name, "there are two of that name"));
        }
        if dialect::arguments(&tool.schema, Wire::Anthropic).is_none() {
            return Err(trouble(&tool.name, "its schema takes no object, and arguments are always one"));
        }
    }
    match &request.tool_choice {
        Some(ToolChoice::Named(name)) if !request.tools.iter().any(|tool| tool.name == *name) => {
            Err(trouble(name, "it is asked for, but not offered"))
        }
        _ if request.tools.is_empty() => Ok(()),
        _ => match ["tools", "functions"].into_iter().find(|name| request.options.contains_key(*name)) {
            Some(option) => Err(EncodeError::ToolsTwice(option.to_owned())),
            None => Ok(()),
        },
    }
}

/// Writes the names as the wire takes them, everywhere; nothing where all of them fit.
pub(super) fn renamed(request: &ChatRequest, wire: Wire) -> Option<ChatRequest> {
    let calls = request.messages.iter().flat_map(|message| &message.parts).filter_map(|part| match part {
        Part::ToolCall(call) => Some(call.name.as_str()),
        Part::ToolResult { name, .. } => name.as_deref(),
        _ => None,
    });
    let mut all = calls.chain(request.tools.iter().map(|tool| tool.name.as_str()));
    if all.all(|name| name.is_empty() || fits(name, wire)) {
        return None;
    }
    let mut request = request.clone();
    let rename = |name: &mut String| {
        if !name.is_empty() {
            *name = name_for(name, wire);
        }
    };
    request.tools.iter_mut().for_each(|tool| rename(&mut tool.name));
    if let Some(ToolChoice::Named(name)) = &mut request.tool_choice {
        rename(name);
    }
    for part in request.messages.iter_mut().flat_map(|message| &mut message.parts) {
        match part {
            Part::ToolCall(call) => rename(&mut call.name),
            Part::ToolResult { name: Some(name), .. } => rename(name),
            _ => {}
        }
    }
    Some(request)
}

/// Gives the calls of an answer the names that the program knows its tools by.
pub fn restore_names(wire: Wire, tools: &[Tool], answer: &mut Answer) {
    let changed = tools.iter().map(|tool| tool.name.as_str()).filter(|name| !fits(name, wire));
    let names: BTreeMap<String, &str> = changed.map(|name| (name_for(name, wire), name)).collect();
    for call in &mut answer.tool_calls {
        if let Some(name) = names.get(&call.name) {
            (*name).clone_into(&mut call.name);
        }
    }
}

/// What asks for a call in words, where the provider has no field that could.
pub(super) fn in_words(choice: &ToolChoice) -> Option<String> {
    match choice {
        ToolChoice::Required => Some("Do not answer in words: call at least one of the tools.".to_owned()),
        ToolChoice::Named(name) => Some(format!("Do not answer in words: call the tool `{name}`.")),
        ToolChoice::Auto | ToolChoice::None => None,
    }
}

/// Whether one of the tools has to be called.
pub(super) fn is_forced(request: &ChatRequest) -> bool {
    !request.tools.is_empty() && matches!(request.tool_choice, Some(ToolChoice::Required | ToolChoice::Named(_)))
}

/// OpenAI's `tools`, `tool_choice` and `parallel_tool_calls` (openai 3.57.0, `CompletionCreateParams`).
pub(super) fn openai(body: &mut Map<String, Value>, request: &ChatRequest, forces: bool, parallel: bool) {
    let tool = |tool: &Tool| {
        let mut function = json!({"name": tool.name, "parameters": dialect::arguments(&tool.schema, Wire::OpenAi)});
        describe(&mut function, tool);
        json!({"type": "function", "function": function})
    };
    body.insert("tools".to_owned(), request.tools.iter().map(tool).collect());
    let choice = match &request.tool_choice {
        Some(ToolChoice::Auto) => Some(json!("auto")),
        Some(ToolChoice::None) => Some(json!("none")),
        Some(ToolChoice::Required) if forces => Some(json!("required")),
        Some(ToolChoice::Named(name)) if forces => Some(json!({"type": "function", "function": {"name": name}})),
        _ => None,
    };
    body.extend(choice.map(|choice| ("tool_choice".to_owned(), choice)));
    if let Some(several) = request.parallel_tools.filter(|_| parallel) {
        body.insert("parallel_tool_calls".to_owned(), json!(several));
    }
}

/// Anthropic's `tools` and `tool_choice` (anthropic 2.14.0, `ToolParam`, `ToolChoiceParam`).
pub(super) fn anthropic(body: &mut Map<String, Value>, request: &ChatRequest) {
    let tool = |tool: &Tool| {
        let mut object = json!({"name": tool.name, "input_schema": dialect::arguments(&tool.schema, Wire::Anthropic)});
        describe(&mut object, tool);
        object
    };
    body.insert("tools".to_owned(), request.tools.iter().map(tool).collect());
    let mut choice = match &request.tool_choice {
        Some(ToolChoice::Auto) => Some(json!({"type": "auto"})),
        Some(ToolChoice::None) => Some(json!({"type": "none"})),
        Some(ToolChoice::Required) => Some(json!({"type": "any"})),
        Some(ToolChoice::Named(name)) => Some(json!({"type": "tool", "name": name})),
        // One at a time can only be said together with the choice.
        None => request.parallel_tools.is_some_and(|several| !several).then(|| json!({"type": "auto"})),
    };
    if let (Some(false), Some(object)) = (request.parallel_tools, choice.as_mut().and_then(Value::as_object_mut))
        && request.tool_choice != Some(ToolChoice::None)
    {
        object.insert("disable_parallel_tool_use".to_owned(), json!(true));
    }
    body.extend(choice.map(|choice| ("tool_choice".to_owned(), choice)));
}

/// Gemini's `tools` and `toolConfig` (google-genai 3.6.1, `FunctionDeclaration`, `FunctionCallingConfig`). It has no field
/// for one call at a time.
pub(super) fn gemini(body: &mut Map<String, Value>, request: &ChatRequest) {
    let tool = |tool: &Tool| {
        let mut object =
            json!({"name": tool.name, "parametersJsonSchema": dialect::arguments(&tool.schema, Wire::Gemini)});
        describe(&mut object, tool);
        object
    };
    let declared: Value = request.tools.iter().map(tool).collect();
    body.insert("tools".to_owned(), json!([{"functionDeclarations": declared}]));
    let config = match &request.tool_choice {
        None => return,
        Some(ToolChoice::Auto) => json!({"mode": "AUTO"}),
        Some(ToolChoice::None) => json!({"mode": "NONE"}),
        Some(ToolChoice::Required) => json!({"mode": "ANY"}),
        Some(ToolChoice::Named(name)) => json!({"mode": "ANY", "allowedFunctionNames": [name]}),
    };
    body.insert("toolConfig".to_owned(), json!({"functionCallingConfig": config}));
}

/// An empty description says nothing and is refused by some. What the declaration cannot say is said here.
fn describe(object: &mut Value, tool: &Tool) {
    let mut text = tool.description.trim().to_owned();
    if dialect::is_cut(&tool.schema) {
        let schema = &tool.schema;
        text = format!("{text}\n\nThe arguments must satisfy this JSON Schema: {schema}").trim_start().to_owned();
    }
    if let Some(fields) = object.as_object_mut().filter(|_| !text.is_empty()) {
        fields.insert("description".to_owned(), json!(text));
    }
}
