//! Conversations in the shapes that the stricter wires want.

use serde_json::{Map, Value};

use crate::domain::{ChatRequest, Message, Part, Role};

/// The standing instructions: the request's own, those among the messages, the developer's where they have no role of
/// their own, and the one that asks for a shape.
pub(super) fn system_text(request: &ChatRequest, developer: Option<&str>, instruction: Option<&str>) -> Option<String> {
    let own = request.system.as_deref().into_iter().map(str::to_owned);
    let among = request.messages.iter().filter(|message| message.role == Role::System).map(words);
    let added = developer.into_iter().chain(instruction).map(str::to_owned);
    let texts: Vec<String> = own.chain(among).chain(added).filter(|text| !text.trim().is_empty()).collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

/// The words of a message, its text parts joined by line ends.
pub(super) fn words(message: &Message) -> String {
    let texts: Vec<&str> = message
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    texts.join("\n")
}

/// The turns without the system's and without what the wire cannot take back, neighbours of the same role made one:
/// Anthropic and Gemini want the roles to alternate. Results of tools come first in their turn, as both want them, and in
/// the order of their calls, by which alone some tell them apart.
pub(super) fn alternating(request: &ChatRequest, takes: impl Fn(&Part) -> bool) -> Vec<(Role, Vec<&Part>)> {
    let mut turns: Vec<(Role, Vec<&Part>)> = Vec::new();
    for message in request.messages.iter().filter(|message| message.role != Role::System) {
        let parts: Vec<&Part> = message.parts.iter().filter(|part| takes(part)).collect();
        if parts.is_empty() {
            continue;
        }
        match turns.last_mut() {
            Some((role, before)) if *role == message.role => before.extend(parts),
            _ => turns.push((message.role, parts)),
        }
    }
    let mut called: Vec<&str> = Vec::new();
    for (role, parts) in &mut turns {
        if *role == Role::Assistant {
            called = calls(parts).collect();
        }
        // A stable sort: nothing else moves.
        parts.sort_by_key(|part| match part {
            Part::ToolResult { id, .. } => called.iter().position(|call| call == id).unwrap_or(usize::MAX - 1),
            _ => usize::MAX,
        });
    }
    turns
}

fn calls<'a>(parts: &[&'a Part]) -> impl Iterator<Item = &'a str> {
    parts.iter().filter_map(|part| match part {
        Part::ToolCall(call) => Some(call.id.as_str()),
        _ => None,
    })
}

/// The arguments of a tool call as the object that they are.
pub(super) fn object(arguments: &str) -> Value {
    serde_json::from_str(arguments).ok().filter(Value::is_object).unwrap_or_else(|| Value::Object(Map::new()))
}
