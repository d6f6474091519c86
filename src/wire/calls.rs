//! Tool calls as a provider answered them: whole or not, and by which id.

use std::collections::BTreeSet;

use crate::domain::{Answer, Finish, ToolCall};

const ALPHABET: &[u8; 62] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// Letters and digits that tell the parts from others: always the same for the same parts.
pub(super) fn hashed(parts: &[&str], length: usize) -> String {
    let mut context = ring::digest::Context::new(&ring::digest::SHA256);
    for part in parts {
        context.update(&(part.len() as u64).to_be_bytes());
        context.update(part.as_bytes());
    }
    let digest = context.finish();
    let letter = |byte: &u8| ALPHABET.get(usize::from(*byte) % ALPHABET.len()).map(|letter| char::from(*letter));
    digest.as_ref().iter().take(length).filter_map(letter).collect()
}

/// Brings the calls of an answer that has ended into one form. Some servers leave out the arguments of a tool that has
/// none, some the ids, and some end on `stop`, or without a word, although they want a tool to be run.
pub(super) fn settle(answer: &mut Answer) {
    if matches!(answer.finish, Some(Finish::Stop) | None) && !answer.tool_calls.is_empty() {
        answer.finish = Some(Finish::ToolCalls);
    }
    let mut known = BTreeSet::new();
    for (at, call) in answer.tool_calls.iter_mut().enumerate() {
        // Cut by the token limit, the arguments may be what is missing.
        if call.arguments.trim().is_empty() && answer.finish == Some(Finish::ToolCalls) {
            "{}".clone_into(&mut call.arguments);
        }
        if call.id.is_empty() || known.contains(&call.id) {
            call.id = format!("call_{}", hashed(&[&call.id, &at.to_string(), &call.name, &call.arguments], 16));
        }
        known.insert(call.id.clone());
    }
}

/// Whether it can be run: half a call is none.
pub(super) fn is_whole(call: &ToolCall) -> bool {
    !call.name.is_empty() && call.trouble().is_none()
}
