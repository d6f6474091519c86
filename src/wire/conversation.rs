//! Reading a conversation that was written down in the style of OpenAI or of Anthropic, also mixed.
//!
//! Who made a thought is no part of either style, and without it the thought is of no use: its signature is good at its
//! maker alone. So a message, or a block of thoughts, may say `"from": "provider/model"`.

use serde_json::Value;

use crate::domain::{Author, Message, Part, Role, Thinking, ToolCall};

/// What is wrong with a conversation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{why}", at.map_or(String::new(), |at| format!("message {at}: ")))]
pub struct ConversationError {
    /// Which message, from 0; none when it is all of it.
    pub at: Option<usize>,
    /// What is wrong there.
    pub why: String,
}

/// Reads a list of messages, or an object that holds one as `messages`.
///
/// # Errors
/// When it is none, or a message holds what cannot be sent.
pub fn conversation(value: &Value) -> Result<Vec<Message>, ConversationError> {
    let turns = value.as_array().or_else(|| value.get("messages").and_then(Value::as_array));
    let turns = turns.ok_or_else(|| ConversationError { at: None, why: "this is no list of messages".to_owned() })?;
    let numbered = turns.iter().enumerate();
    numbered.map(|(at, turn)| message(turn).map_err(|why| ConversationError { at: Some(at), why })).collect()
}

fn message(turn: &Value) -> Result<Message, String> {
    let role = match turn.get("role").and_then(Value::as_str) {
        Some("system" | "developer") => Role::System,
        Some("user") => Role::User,
        Some("assistant" | "model") => Role::Assistant,
        Some("tool") => return tool_message(turn),
        Some(other) => return Err(format!("role `{other}` is none of system, user, assistant and tool")),
        None => return Err("`role` is missing".to_owned()),
    };
    let from = author(turn)?;
    let mut parts = thoughts_beside(turn, from.as_ref());
    match turn.get("content") {
        Some(Value::String(text)) => parts.push(Part::Text(text.clone())),
        Some(Value::Array(blocks)) => {
            for block in blocks {
                parts.push(self::block(block, from.as_ref())?);
            }
        }
        None | Some(Value::Null) => {}
        Some(_) => return Err("`content` is neither text nor a list of parts".to_owned()),
    }
    let calls = turn.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
    for call in calls {
        parts.push(Part::ToolCall(openai_call(call)?));
    }
    if parts.is_empty() {
        return Err("`content` is missing or empty".to_owned());
    }
    let misplaced = |part: &Part| match part {
        Part::ToolCall(_) | Part::Thinking(_) => role != Role::Assistant,
        Part::ToolResult { .. } => role != Role::User,
        Part::Image { .. } => role == Role::System,
        Part::Text(_) => false,
    };
    if parts.iter().any(misplaced) {
        return Err("tool calls and thoughts belong to the assistant, results of tools to the user".to_owned());
    }
    Ok(Message { role, parts })
}

/// The result of a tool, which is a message of its own in one of the styles.
fn tool_message(turn: &Value) -> Result<Message, String> {
    let id = need(turn, "tool_call_id")?;
    let name = turn.get("name").and_then(Value::as_str).map(str::to_owned);
    let content = result_text(turn.get("content"))?;
    Ok(Message { role: Role::User, parts: vec![Part::ToolResult { id, name, content, is_error: false }] })
}

fn need(value: &Value, field: &str) -> Result<String, String> {
    let text = value.get(field).and_then(Value::as_str).filter(|text| !text.is_empty());
    text.map(str::to_owned).ok_or_else(|| format!("`{field}` is missing or no text"))
}

fn author(value: &Value) -> Result<Option<Author>, String> {
    match value.get("from") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => {
            text.parse().map(Some).map_err(|_| format!("`from` is `{text}`, no provider/model"))
        }
        Some(_) => Err("`from` is no provider/model".to_owned()),
    }
}

/// Thoughts in a field beside the content, as servers of the OpenAI kind write them.
fn thoughts_beside(turn: &Value, from: Option<&Author>) -> Vec<Part> {
    let text = ["reasoning_content", "reasoning"].into_iter().find_map(|field| turn.get(field)?.as_str());
    let thinking = |text: &str| Thinking { text: text.to_owned(), from: from.cloned(), ..Thinking::default() };
    text.filter(|text| !text.is_empty()).map(|text| Part::Thinking(thinking(text))).into_iter().collect()
}

fn block(block: &Value, from: Option<&Author>) -> Result<Part, String> {
    let text = |field: &str| block.get(field).and_then(Value::as_str).map(str::to_owned);
    let thinking = || -> Result<Thinking, String> {
        Ok(Thinking { from: author(block)?.or_else(|| from.cloned()), ..Thinking::default() })
    };
    match block.get("type").and_then(Value::as_str).unwrap_or_default() {
        "text" => text("text").map(Part::Text).ok_or_else(|| "a part of type `text` has no `text`".to_owned()),
        "image_url" => {
            let url = block.pointer("/image_url/url").or_else(|| block.get("image_url"));
            data_url(url.and_then(Value::as_str).unwrap_or_default())
        }
        "image" => {
            let source = block.get("source").unwrap_or(&Value::Null);
            match source.get("type").and_then(Value::as_str) {
                Some("base64") => {
                    Ok(Part::Image { media_type: need(source, "media_type")?, data: need(source, "data")? })
                }
                _ => Err("an image must hold its bytes: `source` of type `base64`".to_owned()),
            }
        }
        "tool_use" => {
            let arguments = block.get("input").map_or_else(|| "{}".to_owned(), as_text);
            Ok(Part::ToolCall(ToolCall { id: need(block, "id")?, name: need(block, "name")?, arguments }))
        }
        "tool_result" => {
            let content = result_text(block.get("content"))?;
            let is_error = match block.get("is_error") {
                None | Some(Value::Null) => false,
                Some(Value::Bool(is_error)) => *is_error,
                Some(_) => return Err("`is_error` is neither true nor false".to_owned()),
            };
            Ok(Part::ToolResult { id: need(block, "tool_use_id")?, name: text("name"), content, is_error })
        }
        kind @ ("thinking" | "redacted_thinking") => {
            let signature = text("signature").filter(|signature| !signature.is_empty());
            let redacted = (kind == "redacted_thinking").then(|| need(block, "data")).transpose()?;
            let text = text("thinking").unwrap_or_default();
            Ok(Part::Thinking(Thinking { text, signature, redacted, ..thinking()? }))
        }
        "" => Err("a part of `content` has no `type`".to_owned()),
        other => Err(format!("a part of type `{other}` is not known here")),
    }
}

/// A picture that stands in the conversation itself; nobody is sent to fetch one.
fn data_url(url: &str) -> Result<Part, String> {
    let data = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    match data {
        Some((media_type, data)) if !media_type.is_empty() && !data.is_empty() => {
            Ok(Part::Image { media_type: media_type.to_owned(), data: data.to_owned() })
        }
        _ => Err("an image must hold its bytes: a URL `data:image/png;base64,…`".to_owned()),
    }
}

fn openai_call(call: &Value) -> Result<ToolCall, String> {
    let function = call.get("function").ok_or("a tool call has no `function`")?;
    let arguments = function.get("arguments").map_or_else(|| "{}".to_owned(), as_text);
    Ok(ToolCall { id: need(call, "id")?, name: need(function, "name")?, arguments })
}

/// A text as it is, anything else as JSON.
fn as_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The words of a tool's result: a text, or the text parts of a list.
fn result_text(content: Option<&Value>) -> Result<String, String> {
    match content {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(Value::Array(parts)) => {
            let text = |part: &Value| part.get("text").and_then(Value::as_str).map(str::to_owned);
            let texts: Option<Vec<String>> = parts.iter().map(text).collect();
            texts.map(|texts| texts.join("\n")).ok_or_else(|| "the result of a tool can only hold text".to_owned())
        }
        Some(_) => Err("the result of a tool is neither text nor a list of parts".to_owned()),
    }
}

#[cfg(test)]
#[path = "conversation_tests.rs"]
mod tests;
