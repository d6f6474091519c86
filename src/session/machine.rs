//! What is next in a conversation with tools: pure, from what was said and what was run.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::arguments::trouble;
use super::fingerprint::{arguments, fingerprints, fit_key};
use crate::config::ToolConfig;
use crate::domain::{CallEnd, CallState, Effect, JournalEntry, Message, Part, Role, Session, ToolCall, excerpt};

/// How many calls of one turn are run. What wants more is told so: a model that has lost itself may want thousands.
pub const MOST_CALLS: usize = 128;

/// How many characters of the name of a tool that is none are told.
const NAME: usize = 80;

/// Everything that the decision depends on.
#[derive(Debug, Clone, Copy)]
pub struct Scene<'a> {
    /// The conversation.
    pub session: &'a Session,
    /// What was said.
    pub turns: &'a [Message],
    /// What was run, with versions.
    pub journal: &'a [(i64, JournalEntry)],
    /// The tools that there are.
    pub tools: &'a BTreeMap<String, ToolConfig>,
    /// The names of those that the model may use.
    pub offered: &'a [String],
    /// How often in a row it may use them.
    pub rounds: u32,
    /// The calls with a side effect that a person has allowed, by fingerprint.
    pub allowed: &'a BTreeSet<String>,
    /// Whether all of them are.
    pub all_allowed: bool,
}

/// One call as it is to be run.
#[derive(Debug, Clone, PartialEq)]
pub struct Order {
    /// The turn that made it.
    pub place: u32,
    /// Which of its calls it is.
    pub position: u32,
    /// The version of its entry in the journal; none where there is none yet.
    pub expected: Option<i64>,
    /// How often it was begun.
    pub tries: u32,
    /// Which call it is.
    pub fingerprint: String,
    /// As the model wrote it.
    pub call: ToolCall,
    /// Its arguments.
    pub arguments: Value,
    /// What running it does.
    pub effect: Effect,
    /// By which the command can see that it is run again.
    pub idempotency_key: String,
}

/// What to do next.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// The model is to speak.
    Ask,
    /// Begin this call, if nobody else has.
    Run(Order),
    /// It has an effect that nobody has allowed yet.
    Confirm(Order),
    /// It was begun, and nobody knows whether it did its work; a person must say.
    Question(Order),
    /// It is not to be run; the model is told why.
    Refuse(Order, String),
    /// Its work was done by another call of the same key; the model is told what came of that.
    Repeat(Order, String),
    /// All results are known: they are the user's next turn.
    Collect(Message),
    /// The model still wants tools after so many rounds of them.
    TooManyRounds,
    /// The model has spoken, and the user is next.
    Done,
}

/// How many turns with calls the model made since the user last spoke.
pub fn rounds_of(turns: &[Message]) -> u32 {
    let is_users = |turn: &&Message| {
        turn.role == Role::User && turn.parts.iter().any(|part| !matches!(part, Part::ToolResult { .. }))
    };
    let since = turns.iter().rev().take_while(|turn| !is_users(turn));
    u32::try_from(since.filter(|turn| !calls(turn).is_empty()).count()).unwrap_or(u32::MAX)
}

/// The calls of a turn in their order.
pub(super) fn calls(turn: &Message) -> Vec<&ToolCall> {
    let spoken = turn.parts.iter().filter(|_| turn.role == Role::Assistant);
    let calls = spoken.filter_map(|part| match part {
        Part::ToolCall(call) => Some(call),
        _ => None,
    });
    calls.collect()
}

/// What to do next.
pub fn next(scene: &Scene<'_>) -> Next {
    let Some(last) = scene.turns.last() else { return Next::Done };
    if last.role != Role::Assistant {
        return Next::Ask;
    }
    let calls = calls(last);
    if calls.is_empty() {
        return Next::Done;
    }
    let place = u32::try_from(scene.turns.len() - 1).unwrap_or(u32::MAX);
    let (calls, beyond) = calls.split_at(calls.len().min(MOST_CALLS));
    let prints = fingerprints(scene.session, place, calls);
    let known: BTreeMap<&str, &(i64, JournalEntry)> =
        scene.journal.iter().map(|entry| (entry.1.fingerprint.as_str(), entry)).collect();
    let mut results = Vec::new();
    for ((call, print), position) in calls.iter().copied().zip(prints).zip(0..) {
        match known.get(print.as_str()).copied() {
            Some((_, entry)) if entry.state == CallState::Done => {
                let is_error = entry.end.is_some_and(CallEnd::is_error);
                results.push(result(call, entry.result.clone().unwrap_or_default(), is_error));
            }
            entry => return undone(scene, order(scene, call, (place, position), print, entry), entry),
        }
    }
    // Of these nothing depends on anything that has to be kept.
    let none = format!("only the first {MOST_CALLS} calls of one turn are run; this is none of them");
    results.extend(beyond.iter().map(|call| result(call, none.clone(), true)));
    Next::Collect(Message { role: Role::User, parts: results })
}

fn result(call: &ToolCall, content: String, is_error: bool) -> Part {
    Part::ToolResult { id: call.id.clone(), name: Some(call.name.clone()), content, is_error }
}

/// What becomes of a call whose result is not known.
fn undone(scene: &Scene<'_>, order: Order, entry: Option<&(i64, JournalEntry)>) -> Next {
    let state = entry.map(|(_, entry)| entry.state);
    if matches!(state, Some(CallState::Started | CallState::Unknown)) && order.effect == Effect::SideEffecting {
        return Next::Question(order);
    }
    if let Some(before) = done_before(scene, &order) {
        return Next::Repeat(order, before);
    }
    if rounds_of(scene.turns) > scene.rounds {
        return Next::TooManyRounds;
    }
    if let Some(why) = why_not(scene, &order) {
        return Next::Refuse(order, why);
    }
    // Who says that it may run once more has allowed it.
    let is_allowed = scene.all_allowed || scene.allowed.contains(&order.fingerprint) || state == Some(CallState::Again);
    if order.effect == Effect::SideEffecting && !is_allowed { Next::Confirm(order) } else { Next::Run(order) }
}

/// What came of the same work, if a call of the same key has done it. Reading may be repeated: what it sees changes.
fn done_before(scene: &Scene<'_>, order: &Order) -> Option<String> {
    if order.effect != Effect::SideEffecting {
        return None;
    }
    let is_it = |entry: &&JournalEntry| {
        entry.tool == order.call.name
            && entry.idempotency_key == order.idempotency_key
            && entry.fingerprint != order.fingerprint
            && entry.tries > 0
            && matches!(entry.end, Some(CallEnd::Ok | CallEnd::Told))
    };
    let before = scene.journal.iter().map(|(_, entry)| entry).find(is_it)?;
    let result = before.result.as_deref().unwrap_or_default();
    Some(format!(
        "This was done before, under the same idempotency key, and is not done again. What came of it:\n{result}"
    ))
}

/// Why the call cannot be run.
fn why_not(scene: &Scene<'_>, order: &Order) -> Option<String> {
    let call = &order.call;
    let is_offered = scene.offered.contains(&call.name);
    match scene.tools.get(&call.name).filter(|_| is_offered) {
        Some(tool) => trouble(tool, call),
        None if scene.offered.is_empty() => Some("there are no tools any more".to_owned()),
        None => {
            let name = excerpt(&call.name, NAME);
            Some(format!("there is no tool `{name}`; there are {}", scene.offered.join(", ")))
        }
    }
}

fn order(
    scene: &Scene<'_>,
    call: &ToolCall,
    (place, position): (u32, u32),
    fingerprint: String,
    found: Option<&(i64, JournalEntry)>,
) -> Order {
    let call = call.clone();
    let tool = scene.tools.get(&call.name);
    let arguments = arguments(&call);
    // What was begun as something with an effect had one, whatever the config says by now.
    let effects = [found.map(|(_, entry)| entry.effect), tool.map(|tool| tool.effect)];
    let has_effect = effects.contains(&Some(Effect::SideEffecting)) || effects == [None, None];
    let key = |tool: &ToolConfig| {
        tool.idempotency_key.fill(scene.session.name.as_str(), &call.name, &fingerprint, &arguments)
    };
    let kept = found.map(|(_, entry)| entry.idempotency_key.clone());
    let idempotency_key = kept.or_else(|| tool.and_then(key).map(fit_key)).unwrap_or_else(|| fingerprint.clone());
    Order {
        place,
        position,
        expected: found.map(|(version, _)| *version),
        tries: found.map_or(0, |(_, entry)| entry.tries),
        fingerprint,
        call,
        arguments,
        effect: if has_effect { Effect::SideEffecting } else { Effect::Pure },
        idempotency_key,
    }
}

#[cfg(test)]
#[path = "machine_tests.rs"]
mod tests;
