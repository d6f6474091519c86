//! What is done to a conversation before it is written for one provider.
//!
//! A ladder sends one conversation to many models, and parts of it are good for one of them only. Signatures of thoughts
//! are known to the one who made them and refused by all others, the same model on another platform included; so thoughts
//! go back to their maker or nowhere. Ids of tool calls mean nothing beyond the conversation, but some providers are
//! particular about their form; so they are written anew, in the call and in its result alike. What no provider could
//! understand is our own fault and is told before anybody is asked.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::catalog::ToolIds;
use crate::domain::{ChatRequest, Part};

use super::calls::hashed;
use super::request::{EncodeError, Endpoint};

/// The request as this endpoint can take it. Without tools and thoughts it stays as it is.
pub(super) fn prepared<'a>(
    endpoint: &Endpoint<'_>,
    request: &'a ChatRequest,
) -> Result<Cow<'a, ChatRequest>, EncodeError> {
    check(request)?;
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
    let ids = new_ids(&request, endpoint.provider.tool_ids);
    if !ids.is_empty() {
        rename(request.to_mut(), &ids);
    }
    Ok(request)
}

/// Whether every call has arguments and every result a call before it.
fn check(request: &ChatRequest) -> Result<(), EncodeError> {
    let mut called = BTreeSet::new();
    for (message, part) in parts(request) {
        match part {
            Part::ToolCall(call) => {
                if let Some(why) = call.trouble() {
                    return Err(EncodeError::BadArguments { message, name: call.name.clone(), why });
                }
                called.insert(call.id.as_str());
            }
            Part::ToolResult { id, .. } if !called.contains(id.as_str()) => {
                return Err(EncodeError::NoSuchCall { message, id: id.clone() });
            }
            _ => {}
        }
    }
    Ok(())
}

fn parts(request: &ChatRequest) -> impl Iterator<Item = (usize, &Part)> {
    let messages = request.messages.iter().enumerate();
    messages.flat_map(|(at, message)| message.parts.iter().map(move |part| (at, part)))
}

/// The new ids of those calls whose own do not fit. Each follows from the old one, so that the next request of the same
/// conversation has the same ids; the number is counted up only where two would meet.
fn new_ids(request: &ChatRequest, form: ToolIds) -> BTreeMap<String, String> {
    let calls = parts(request).filter_map(|(_, part)| match part {
        Part::ToolCall(call) => Some(call.id.as_str()),
        _ => None,
    });
    let (mut taken, mut others) = (BTreeSet::new(), Vec::new());
    for id in calls {
        if fits(id, form) {
            taken.insert(id.to_owned());
        } else {
            others.push(id);
        }
    }
    let mut ids = BTreeMap::new();
    for id in others {
        if ids.contains_key(id) {
            continue;
        }
        let mut number = 0_u64;
        let new = loop {
            let candidate = hashed(&[id, &number.to_string()], 9);
            if taken.insert(candidate.clone()) {
                break candidate;
            }
            number += 1;
        };
        ids.insert(id.to_owned(), new);
    }
    ids
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

fn rename(request: &mut ChatRequest, ids: &BTreeMap<String, String>) {
    for part in request.messages.iter_mut().flat_map(|message| &mut message.parts) {
        let id = match part {
            Part::ToolCall(call) => &mut call.id,
            Part::ToolResult { id, .. } => id,
            _ => continue,
        };
        if let Some(new) = ids.get(id.as_str()) {
            id.clone_from(new);
        }
    }
}
