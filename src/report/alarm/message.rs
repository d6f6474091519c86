//! A message, as it goes to a program's standard input and to a webhook.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::policy::{Alarm, AlarmEvent, AlarmKind, Letter, Sink, Telling};
use crate::report::moment::{rfc3339, seconds_of, span};

use super::{BY_HAND, inert, time};

/// The messages of what is to be told, one for each sink. They share an id.
pub fn alarm_letters(telling: &Telling, sinks: &[Sink], id: &str, now: Timestamp) -> Vec<Letter> {
    let body = alarm_body(telling, id, now).to_string();
    let letter = |sink: &Sink| Letter {
        id: id.to_owned(),
        sink: *sink,
        event: telling.event,
        kind: telling.alarm.kind,
        subject: telling.alarm.subject.clone(),
        at: now,
        body: body.clone(),
        tries: 0,
        due_at: now,
        lease: None,
        end: None,
        error: None,
    };
    sinks.iter().map(letter).collect()
}

/// The message as one JSON object.
pub fn alarm_body(telling: &Telling, id: &str, now: Timestamp) -> Value {
    let Telling { event, alarm, .. } = telling;
    let details: Value = serde_json::from_str(&alarm.words.details).unwrap_or(Value::Null);
    let ladders = details.get("ladders").and_then(Value::as_array).cloned().unwrap_or_default();
    let ladder: Vec<&str> = ladders.iter().filter_map(Value::as_str).collect();
    let (summary, text) = words(telling, now);
    json!({
        "id": id,
        "type": format!("alarm.{event}"),
        "timestamp": rfc3339(now),
        "event": event.as_str(),
        "kind": alarm.kind.as_str(),
        "subject": alarm.subject,
        "ladder": ladder.join(","),
        "summary": summary,
        "text": text,
        "raised_at": rfc3339(alarm.raised_at),
        "healed_at": time(alarm.healed_at),
        "count": alarm.count,
        "details": details,
    })
}

/// A message that only tries whether anybody hears.
pub fn test_body(id: &str, now: Timestamp) -> Value {
    let summary = "llmr: this is a test of the alarm, nothing is wrong";
    let text = format!("{summary}\n\nA person asked for it with `llmr alarm test` at {}.\n", seconds_of(now));
    json!({
        "id": id,
        "type": "alarm.test",
        "timestamp": rfc3339(now),
        "event": AlarmEvent::Test.as_str(),
        "kind": "test",
        "subject": "test",
        "ladder": "",
        "summary": summary,
        "text": text,
        "raised_at": rfc3339(now),
        "healed_at": null,
        "count": 0,
        "details": null,
    })
}

/// The first line, and all of it.
fn words(telling: &Telling, now: Timestamp) -> (String, String) {
    let Telling { event, alarm, parts, .. } = telling;
    let (head, whole) = (&alarm.words.summary, &alarm.words.text);
    match event {
        AlarmEvent::Raised if is_old(alarm, now) => {
            let summary = inert(&format!("{head}, since {}", seconds_of(alarm.raised_at)));
            let text = format!("{summary}\n\nIt was so in a quiet time and still is. {}\n\n{whole}", as_of(telling));
            (summary, text)
        }
        AlarmEvent::Raised | AlarmEvent::Test => (head.clone(), whole.clone()),
        AlarmEvent::Reminder => {
            let rest = head.strip_prefix("llmr: ").unwrap_or(head);
            let summary = inert(&format!("llmr: still so after {}: {rest}", lasted(alarm, now)));
            let text = format!("{summary}\n\n{}\n\n{whole}", as_of(telling));
            (summary, text)
        }
        AlarmEvent::Healed => {
            let summary = inert(&format!("llmr: over: {}", over(alarm, &lasted(alarm, now))));
            let text = format!("{summary}\n\n{}{}", story(alarm), still(parts));
            (summary, text)
        }
        AlarmEvent::Passed => {
            let summary = inert(&format!("llmr: came and went: {}, for {}", was(alarm), lasted(alarm, now)));
            let text = format!("{summary}\n\nNobody was told, for it was a quiet time. {}\n{whole}", story(alarm));
            (summary, text)
        }
    }
}

/// Of when its words are.
fn as_of(telling: &Telling) -> String {
    match telling.is_current {
        true => "This is how it stands now:".to_owned(),
        false => format!("When it was last met, at {}:", seconds_of(telling.alarm.seen_at)),
    }
}

/// Whether it was raised well before it is told.
fn is_old(alarm: &Alarm, now: Timestamp) -> bool {
    now.duration_since(alarm.raised_at).as_secs() >= 60
}

fn lasted(alarm: &Alarm, now: Timestamp) -> String {
    let end = alarm.healed_at.unwrap_or(now);
    let length = Duration::try_from(end.duration_since(alarm.raised_at)).unwrap_or_default();
    if length.is_zero() { "0s".to_owned() } else { span(length) }
}

/// What is so, in words: `ladder main is exhausted`, `groq is held by hand`.
pub fn alarm_name(alarm: &Alarm) -> String {
    let subject = &alarm.subject;
    match alarm.kind {
        AlarmKind::Exhausted => format!("ladder {subject} is exhausted"),
        AlarmKind::Hold => {
            let (who, why) = held(alarm);
            format!("{who} is {why}")
        }
        AlarmKind::Budget => "retries are denied".to_owned(),
        AlarmKind::Forecast => format!("{subject} is about to run out"),
    }
}

fn over(alarm: &Alarm, lasted: &str) -> String {
    let subject = &alarm.subject;
    match alarm.kind {
        AlarmKind::Exhausted => format!("ladder {subject} is exhausted no more, after {lasted}"),
        AlarmKind::Hold => {
            let (who, why) = held(alarm);
            format!("{who} is free again after {lasted}: it was {why}")
        }
        AlarmKind::Budget => format!("retries are granted again after {lasted}"),
        AlarmKind::Forecast => format!("{subject} lasts again after {lasted}"),
    }
}

fn was(alarm: &Alarm) -> String {
    let subject = &alarm.subject;
    match alarm.kind {
        AlarmKind::Exhausted => format!("ladder {subject} was exhausted"),
        AlarmKind::Hold => {
            let (who, why) = held(alarm);
            format!("{who} was {why}")
        }
        AlarmKind::Budget => "retries were denied".to_owned(),
        AlarmKind::Forecast => format!("{subject} was about to run out"),
    }
}

/// Who is held, and why: `held by hand`, `held, no money on the account`. The subject is only there to tell holds apart.
fn held(alarm: &Alarm) -> (String, String) {
    let details: Value = serde_json::from_str(&alarm.words.details).unwrap_or(Value::Null);
    let text = |name: &str| details.get(name).and_then(Value::as_str);
    let why = match text("why") {
        Some(BY_HAND) => BY_HAND.to_owned(),
        Some(why) => format!("held, {why}"),
        None => "held".to_owned(),
    };
    (text("scope").unwrap_or(&alarm.subject).to_owned(), why)
}

fn story(alarm: &Alarm) -> String {
    let met = match (alarm.kind, alarm.count) {
        (AlarmKind::Exhausted, 1) => "; it was met once".to_owned(),
        (AlarmKind::Exhausted, count) => format!("; it was met {count} times"),
        _ => String::new(),
    };
    let end = alarm.healed_at.map_or(String::new(), |at| format!(" to {}", seconds_of(at)));
    format!("It was so from {}{end}{met}.\n", seconds_of(alarm.raised_at))
}

/// What was told with it and still holds.
fn still(parts: &[Alarm]) -> String {
    if parts.is_empty() {
        return String::new();
    }
    let lines: Vec<String> = parts.iter().map(|part| format!("- {}\n", alarm_name(part))).collect();
    format!("\nOf what it died of this still is so:\n{}", lines.concat())
}
