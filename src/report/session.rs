//! Conversations and the tools that were run for them, as text and JSON.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::domain::{CallEnd, CallState, JournalEntry, Part, Role, excerpt, visible};
use crate::session::{Order, ToolRun, canonical, message};
use crate::store::{Outline, Talk};

use super::layout::{columns, padded};
use super::moment::{distance, rfc3339, seconds, span};

/// How much of the arguments and of a result a line shows, in characters.
const SHOWN: usize = 200;

/// How much of the arguments is shown to who must say yes, in bytes.
const WHOLE: usize = 4096;

/// How much of a complaint a line shows, in characters.
const COMPLAINT: usize = 120;

/// How much of a tool's name a line shows, in characters: as much as a tool of the config can have.
const NAME: usize = 65;

/// How many characters of a fingerprint name a call.
const NAMED: usize = 8;

/// The short name of a call, by which a person says which one is meant.
pub fn call_name(fingerprint: &str) -> &str {
    fingerprint.get(..NAMED).unwrap_or(fingerprint)
}

/// A call as one line: `tool disk_usage  ok 12ms`.
pub fn tool_line(run: &ToolRun) -> String {
    let what = match (run.state, run.end) {
        (CallState::Done, Some(CallEnd::Told)) => "settled by hand; not run again".to_owned(),
        (CallState::Done, Some(CallEnd::Refused)) => refused(run.said.as_deref()),
        (CallState::Done, Some(end)) if run.replayed => format!("{} before; not run again", end_words(end)),
        (CallState::Done, Some(CallEnd::Ok)) => format!("ok {}", span(run.latency)),
        (CallState::Done, Some(CallEnd::Failed)) => {
            let why = run.said.as_deref().map_or(String::new(), |said| format!(": {}", complaint(said)));
            format!("failed {}{why}", span(run.latency))
        }
        (CallState::Done, Some(end)) => end_words(end).to_owned(),
        _ => "nobody knows whether it did its work".to_owned(),
    };
    format!("tool {}  {what}", seen(&run.tool, NAME))
}

/// The beginning of what a model wrote, on one line and with all that is in it.
fn seen(text: &str, limit: usize) -> String {
    excerpt(&visible(text), limit)
}

/// The first two lines of what the model is told: how the command ended, and what it says of it.
fn complaint(said: &str) -> String {
    let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).take(2).collect();
    excerpt(&lines.join(": "), COMPLAINT)
}

/// That a call was not run, and why, as the model is told.
fn refused(why: Option<&str>) -> String {
    let end = end_words(CallEnd::Refused);
    why.map_or(end.to_owned(), |why| format!("{end}: {}", complaint(why)))
}

const fn end_words(end: CallEnd) -> &'static str {
    match end {
        CallEnd::Ok => "ok",
        CallEnd::Failed => "failed",
        CallEnd::Refused => "not run",
        CallEnd::Declined => "declined",
        CallEnd::TimedOut => "stopped: its time was over",
        CallEnd::Told => "settled by hand",
    }
}

/// The same as JSON.
pub fn tool_json(run: &ToolRun) -> Value {
    json!({
        "tool": run.tool,
        "call": call_name(&run.fingerprint),
        "effect": run.effect,
        "state": run.state,
        "end": run.end,
        "replayed": run.replayed,
        "latency_s": seconds(run.latency),
    })
}

/// What a call would do, for who must say yes: all of it, unless that is beyond reading. The command gets exactly that,
/// so nothing of it is left out or can hide: it is the same JSON with what nobody would see in letters.
pub fn order_lines(order: &Order) -> Vec<String> {
    let mut arguments = canonical(&order.arguments);
    arguments.truncate(arguments.floor_char_boundary(WHOLE));
    let mut lines = vec![format!("arguments: {}", visible(&arguments))];
    match hidden_bytes(order) {
        0 => {}
        hidden => lines.push(format!("and {hidden} bytes more of arguments, which are not shown")),
    }
    // In the escapes of JSON, so that a `\u` that the model wrote itself is told apart.
    let key = visible(&Value::from(order.idempotency_key.as_str()).to_string());
    let bare = key.strip_prefix('"').and_then(|key| key.strip_suffix('"')).unwrap_or(&key);
    lines.push(format!("idempotency key: {bare}"));
    lines
}

/// How many bytes of the arguments are not shown.
pub fn hidden_bytes(order: &Order) -> usize {
    let arguments = canonical(&order.arguments);
    arguments.len() - arguments.floor_char_boundary(WHOLE.min(arguments.len()))
}

/// What is known of a call of which nobody knows whether it did its work, for who must say.
pub fn question_lines(order: &Order, entry: &JournalEntry, now: Timestamp) -> Vec<String> {
    let begun = entry
        .started_at
        .map_or("at an unknown time".to_owned(), |at| format!("{} ({})", rfc3339(at), distance(at, now)));
    let gone = "the process that ran it is gone, and its command may still be running";
    let why = entry.result.as_deref().unwrap_or(gone);
    let again = if entry.tries > 1 { format!(", for the {}. time", entry.tries) } else { String::new() };
    let mut lines = vec![format!("begun {begun}{again}; {}", seen(why, SHOWN))];
    lines.extend(order_lines(order));
    lines
}

/// The object of `chat --json` for an answer that was given before: what is not kept of it is null.
pub fn retold_json(talk: &Talk, text: &str, parsed: Option<&Value>) -> Value {
    let last = talk.turns.last();
    let author = last.and_then(|turn| turn.author.as_ref());
    json!({
        "request_id": last.and_then(|turn| turn.request_id.as_ref()),
        "ladder": talk.session.settings.ladder,
        "text": text,
        "parsed": parsed,
        "reasoning": null,
        "tool_calls": null,
        "finish_reason": null,
        "deployment": author.map(ToString::to_string),
        "step": null,
        "usage": {"input_tokens": null, "output_tokens": null, "cached_tokens": null},
        "cost_usd": null,
        "ttft_s": null,
        "latency_s": null,
        "attempts": [],
        "skipped": [],
        "exhausted": false,
        "retry_at": null,
        "error": null,
        "retries_denied": 0,
        "stored": true,
        "session": talk.session.name,
        "tools": [],
    })
}

/// What a conversation waits for.
fn waits_for(outline: &Outline) -> &'static str {
    let Some(last) = &outline.last else { return "its first words" };
    match message(last) {
        _ if outline.needs_word => "a person: a tool's outcome is not known",
        Err(_) => "another program: its last message cannot be read by this one",
        Ok(last) if last.parts.iter().any(|part| matches!(part, Part::ToolCall(_))) => "its tools",
        Ok(last) if last.role == Role::Assistant => "you",
        Ok(_) => "an answer",
    }
}

/// All conversations as a table.
pub fn sessions_text(outlines: &[Outline], now: Timestamp) -> String {
    if outlines.is_empty() {
        return "there is no session yet; `llmr chat --session NAME PROMPT` begins one\n".to_owned();
    }
    let row = |outline: &Outline| {
        let session = &outline.session;
        let ladder = session.settings.ladder.as_ref().map_or("-".to_owned(), ToString::to_string);
        let used = distance(session.updated_at, now);
        [session.name.to_string(), session.turns.to_string(), used, ladder, waits_for(outline).to_owned()]
    };
    let head = ["SESSION", "TURNS", "USED", "LADDER", "WAITS FOR"].map(str::to_owned);
    let rows: Vec<[String; 5]> = std::iter::once(head).chain(outlines.iter().map(row)).collect();
    let width = |at: usize| rows.iter().filter_map(|row| row.get(at)).map(|cell| columns(cell)).max().unwrap_or(0);
    let widths: Vec<usize> = (0..5).map(width).collect();
    let line = |row: &[String; 5]| {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| padded(cell, *width)).collect();
        format!("{}\n", cells.join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}

/// One line of JSON for each conversation.
pub fn session_json(outline: &Outline) -> Value {
    let session = &outline.session;
    json!({
        "name": session.name,
        "created_at": rfc3339(session.created_at),
        "updated_at": rfc3339(session.updated_at),
        "turns": session.turns,
        "ladder": session.settings.ladder,
        "system": session.settings.system,
        "tools": session.settings.tools,
        "waits_for": waits_for(outline),
    })
}

/// A whole conversation as JSON: what `chat --messages` reads, with the journal beside it.
pub fn talk_json(talk: &Talk) -> Value {
    let mut value = session_json(&talk.into());
    let messages = talk.turns.iter().flat_map(|turn| match &turn.message {
        Value::Array(several) => several.clone(),
        one => vec![one.clone()],
    });
    if let Some(object) = value.as_object_mut() {
        object.insert("messages".to_owned(), messages.collect());
        object.insert("calls".to_owned(), talk.journal.iter().map(|(_, entry)| call_json(entry)).collect());
    }
    value
}

fn call_json(entry: &JournalEntry) -> Value {
    json!({
        "call": call_name(&entry.fingerprint),
        "fingerprint": entry.fingerprint,
        "turn": entry.place,
        "call_id": entry.call_id,
        "tool": entry.tool,
        "arguments": entry.arguments,
        "effect": entry.effect,
        "idempotency_key": entry.idempotency_key,
        "state": entry.state,
        "end": entry.end,
        "result": entry.result,
        "tries": entry.tries,
        "started_at": entry.started_at.map(rfc3339),
        "ended_at": entry.ended_at.map(rfc3339),
    })
}

/// A whole conversation for people.
pub fn talk_text(talk: &Talk, now: Timestamp) -> String {
    let Talk { session, turns, journal } = talk;
    let mut lines = vec![format!(
        "{}  {} turns, used {}, waits for {}",
        session.name,
        session.turns,
        distance(session.updated_at, now),
        waits_for(&talk.into())
    )];
    for (turn, place) in turns.iter().zip(0..) {
        let Ok(message) = message(&turn.message) else {
            lines.push(format!("#{place}  (not readable by this program)"));
            continue;
        };
        let who = turn.author.as_ref().map_or_else(|| role_word(&turn.message), ToString::to_string);
        lines.push(format!("\n#{place} {who}  {}", rfc3339(turn.at)));
        lines.extend(message.parts.iter().filter_map(part_line));
        for (_, entry) in journal.iter().filter(|(_, entry)| entry.place == place) {
            lines.push(format!("  {}", call_line(entry)));
        }
    }
    lines.push(String::new());
    lines.join("\n")
}

fn role_word(message: &Value) -> String {
    let role = message.get("role").or_else(|| message.get(0)?.get("role")).and_then(Value::as_str);
    role.unwrap_or("user").to_owned()
}

fn part_line(part: &Part) -> Option<String> {
    Some(match part {
        Part::Text(text) => text.clone(),
        Part::Image { media_type, .. } => format!("[{media_type}]"),
        Part::ToolCall(call) => format!("-> {} {}", seen(&call.name, NAME), seen(&call.arguments, SHOWN)),
        Part::ToolResult { name, content, .. } => {
            format!("<- {} {}", seen(name.as_deref().unwrap_or("tool"), NAME), excerpt(content, SHOWN))
        }
        Part::Thinking(thinking) if thinking.text.is_empty() => return None,
        Part::Thinking(thinking) => format!("(thought) {}", excerpt(&thinking.text, SHOWN)),
    })
}

/// A call of the journal as one line.
pub fn call_line(entry: &JournalEntry) -> String {
    let came = match (entry.state, entry.end) {
        (CallState::Done, Some(CallEnd::Refused)) => refused(entry.result.as_deref()),
        (CallState::Done, Some(end)) => end_words(end).to_owned(),
        (CallState::Again, _) => "may be run once more".to_owned(),
        _ if !entry.needs_word() => "was broken off and is simply run again".to_owned(),
        _ => "nobody knows whether it did its work".to_owned(),
    };
    format!(
        "{} {}  {came} ({}, begun {}x)",
        call_name(&entry.fingerprint),
        seen(&entry.tool, NAME),
        entry.effect,
        entry.tries
    )
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
