//! What is done to a conversation before it is written for one provider.
//!
//! A ladder sends one conversation to many models, and parts of it are good for one of them only. Signatures of thoughts
//! are known to the one who made them and refused by all others, the same model on another platform included; so thoughts
//! go back to their maker or nowhere. Ids of tool calls mean nothing beyond the conversation, but some providers are
//! particular about their form; so they are written anew, in the call and in its result alike. What no provider could
//! understand is our own fault and is told before anybody is asked.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::catalog::{ToolIds, Wire};
use crate::domain::{ChatRequest, Part, Role};

use super::calls::hashed;
use super::request::{EncodeError, Endpoint};
use super::tools;

/// The request as this endpoint can take it. As a rule it stays as it is.
pub(super) fn prepared<'a>(
    endpoint: &Endpoint<'_>,
    wire: Wire,
    request: &'a ChatRequest,
) -> Result<Cow<'a, ChatRequest>, EncodeError> {
    check(request)?;
    tools::check(request)?;
    let mut request = Cow::Borrowed(request);
    if request.has_thinking() {
        let own = request.keeping(|thinking| {
            let from = thinking.from.as_ref();
            from.is_some_and(|from| from.provider == endpoint.provider.name && from.model == *endpoint.model)
        });
        if own.messages.is_empty() {
            return Err(EncodeError::NoMessages);
        }
        request = Cow::Owned(own);
    }
    if request.temperature.is_some() && !endpoint.provider.takes_temperature(endpoint.model) {
        // A wish for more or less randomness is no reason not to be answered.
        request.to_mut().temperature = None;
    }
    if let Some(ids) = new_ids(&request, endpoint.provider.tool_ids) {
        rename(request.to_mut(), ids);
    }
    if let Some(renamed) = tools::renamed(&request, wire) {
        request = Cow::Owned(renamed);
    }
    Ok(request)
}

/// Whether every call has arguments and one result, which stands between it and the assistant's next words: what else
/// there may be, all providers refuse. A result that is missing is not made up, for the model would believe it.
fn check(request: &ChatRequest) -> Result<(), EncodeError> {
    let mut open: BTreeMap<&str, usize> = BTreeMap::new();
    let mut last = Role::User;
    let unanswered = |open: &BTreeMap<&str, usize>| {
        let first = open.iter().min_by_key(|(_, message)| **message);
        first.map(|(id, message)| EncodeError::Unanswered { message: *message, id: (*id).to_owned() })
    };
    let spoken = request.messages.iter().enumerate().filter(|(_, message)| message.role != Role::System);
    for (at, message) in spoken {
        if message.role == Role::Assistant
            && last == Role::User
            && let Some(error) = unanswered(&open)
        {
            return Err(error);
        }
        last = message.role;
        for part in &message.parts {
            match part {
                Part::ToolCall(call) => {
                    if let Some(why) = call.trouble() {
                        return Err(EncodeError::BadArguments { message: at, name: call.name.clone(), why });
                    }
                    open.insert(&call.id, at);
                }
                Part::ToolResult { id, .. } if open.remove(id.as_str()).is_none() => {
                    return Err(EncodeError::NoSuchCall { message: at, id: id.clone() });
                }
                _ => {}
            }
        }
    }
    unanswered(&open).map_or(Ok(()), Err)
}

fn parts(request: &ChatRequest) -> impl Iterator<Item = &Part> {
    request.messages.iter().flat_map(|message| &message.parts)
}

/// The ids of all calls in their order, where one of them cannot stay: it does not fit, or an earlier call has it already.
/// Some servers number the calls of each answer from the start, and two of the same arguments may be called the same by
/// us; Anthropic wants an id once in a conversation. Each new one follows from the old one and from what stands before, so
/// that the next request of the same conversation has the same ids.
fn new_ids(request: &ChatRequest, form: ToolIds) -> Option<Vec<String>> {
    let calls = || {
        parts(request).filter_map(|part| match part {
            Part::ToolCall(call) => Some(call.id.as_str()),
            _ => None,
        })
    };
    let mut taken: BTreeSet<String> = calls().filter(|id| fits(id, form)).map(str::to_owned).collect();
    if taken.len() == calls().count() {
        return None;
    }
    let mut seen = BTreeSet::new();
    let ids = calls().map(|id| if seen.insert(id) && fits(id, form) { id.to_owned() } else { another(id, &mut taken) });
    Some(ids.collect())
}

/// The first id made of this one that nobody has yet.
fn another(id: &str, taken: &mut BTreeSet<String>) -> String {
    let mut number = 0_u64;
    loop {
        let candidate = hashed(&[id, &number.to_string()], 9);
        if taken.insert(candidate.clone()) {
            return candidate;
        }
        number += 1;
    }
}

fn fits(id: &str, form: ToolIds) -> bool {
    match form {
        ToolIds::Any => true,
        ToolIds::Word40 => {
            (1..=40).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
        }
        ToolIds::Alnum9 => id.len() == 9 && id.bytes().all(|b| b.is_ascii_alphanumeric()),
    }
}

/// Gives the calls these ids in their order, and each result that of its call: the last one before it.
fn rename(request: &mut ChatRequest, ids: Vec<String>) {
    let mut ids = ids.into_iter();
    let mut current: BTreeMap<String, String> = BTreeMap::new();
    for part in request.messages.iter_mut().flat_map(|message| &mut message.parts) {
        match part {
            Part::ToolCall(call) => {
                if let Some(new) = ids.next() {
                    current.insert(std::mem::replace(&mut call.id, new.clone()), new);
                }
            }
            Part::ToolResult { id, .. } => {
                if let Some(new) = current.get(id) {
                    id.clone_from(new);
                }
            }
            _ => {}
        }
    }
}
