//! What is raised, who was told, and what waits.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::policy::{Alarm, AlarmSettings, Letter, LetterEnd, Sink};
use crate::report::moment::{distance, rfc3339, seconds_of};

use super::time;

/// What is over for so long is not shown unless all is asked for.
const LATELY: Duration = Duration::from_secs(24 * 3600);

/// What is to be listed.
#[derive(Debug, Clone, Copy)]
pub struct AlarmList<'a> {
    /// The wall clock.
    pub now: Timestamp,
    /// What is known.
    pub alarms: &'a [Alarm],
    /// The messages that are kept.
    pub letters: &'a [Letter],
    /// By which a quiet time is known, where there is an `[alarm]` section.
    pub settings: Option<&'a AlarmSettings>,
    /// Who is told.
    pub sinks: &'a [Sink],
    /// Also what is over for long.
    pub all: bool,
}

impl<'a> AlarmList<'a> {
    fn shown(&self) -> Vec<&'a Alarm> {
        let is_late = |at: Timestamp| at.checked_add(LATELY).is_ok_and(|end| end > self.now);
        let is_shown = |alarm: &&Alarm| self.all || alarm.is_open() || alarm.healed_at.is_some_and(is_late);
        let mut shown: Vec<&Alarm> = self.alarms.iter().filter(is_shown).collect();
        // What holds first, and of each the newest.
        shown.sort_by_key(|alarm| (!alarm.is_raised(), std::cmp::Reverse(alarm.raised_at)));
        shown
    }

    fn letters_of(&self, alarm: &Alarm) -> Vec<&'a Letter> {
        let fits = |letter: &&Letter| {
            alarm.is(letter.kind, &letter.subject) && (self.all || letter.at >= alarm.raised_at || letter.end.is_none())
        };
        self.letters.iter().filter(fits).collect()
    }

    /// Until when a quiet time keeps it from being told.
    fn quiet_until(&self, alarm: &Alarm) -> Option<Timestamp> {
        let untold = alarm.part_of.is_none() && alarm.is_open() && (alarm.told_at.is_none() || !alarm.is_raised());
        self.settings.filter(|_| untold)?.quiet_until(alarm.kind, self.now)
    }
}

/// The list for people.
pub fn alarms_text(list: &AlarmList<'_>) -> String {
    let mut out = String::new();
    for alarm in list.shown() {
        out.push_str(&block(list, alarm));
    }
    if out.is_empty() {
        out.push_str("nothing is raised\n");
    }
    if list.sinks.is_empty() {
        out.push_str("nobody is told: the config has no [alarm] with a `command` or a `webhook`; `llmr init --print` shows one\n");
    }
    out
}

fn block(list: &AlarmList<'_>, alarm: &Alarm) -> String {
    let now = list.now;
    let state = match alarm.healed_at {
        None => format!("RAISED {} ({})", seconds_of(alarm.raised_at), distance(alarm.raised_at, now)),
        Some(at) => {
            format!("over since {} ({}), raised {}", seconds_of(at), distance(at, now), seconds_of(alarm.raised_at))
        }
    };
    let met = if alarm.count > 1 { format!(", met {} times", alarm.count) } else { String::new() };
    let mut out = format!("{} {}: {state}{met}\n  {}\n", alarm.kind, alarm.subject, alarm.words.summary);
    if let Some(ladder) = &alarm.part_of {
        out.push_str(&format!("  told with ladder {ladder}\n"));
    }
    if let Some(at) = list.quiet_until(alarm) {
        out.push_str(&format!("  not told yet: quiet until {} ({})\n", seconds_of(at), distance(at, now)));
    }
    let tries = list.settings.map(|settings| settings.tries);
    for letter in list.letters_of(alarm) {
        out.push_str(&format!("  {} by {}: {}\n", letter.event, letter.sink, fate(letter, tries, now)));
    }
    out
}

/// What became of a message.
fn fate(letter: &Letter, most: Option<u32>, now: Timestamp) -> String {
    let error = letter.error.as_deref().map_or(String::new(), |error| format!(": {error}"));
    let most = most.map_or(String::new(), |most| format!(" of {most}"));
    match (letter.end, &letter.lease) {
        (Some((LetterEnd::Delivered, at)), _) => {
            format!("delivered {}", distance(at, now))
        }
        (Some((_, at)), _) => format!("GIVEN UP {} after {} tries{error}", distance(at, now), letter.tries),
        (None, Some(lease)) if lease.until > now => {
            let before =
                letter.error.as_deref().map_or(String::new(), |error| format!("; the one before failed: {error}"));
            format!("being delivered, try {}{most}{before}", letter.tries)
        }
        (None, _) if letter.tries == 0 => "waits for the next look".to_owned(),
        (None, _) => {
            let next = if letter.due_at <= now { "now".to_owned() } else { distance(letter.due_at, now) };
            format!("try {}{most} failed{error}; next {next}", letter.tries)
        }
    }
}

/// The list as one JSON object.
pub fn alarms_json(list: &AlarmList<'_>) -> Value {
    let alarm = |alarm: &Alarm| {
        json!({
            "kind": alarm.kind.as_str(),
            "subject": alarm.subject,
            "state": if alarm.is_raised() { "raised" } else { "healed" },
            "raised_at": rfc3339(alarm.raised_at),
            "seen_at": rfc3339(alarm.seen_at),
            "healed_at": time(alarm.healed_at),
            "count": alarm.count,
            "told_at": time(alarm.told_at),
            "told_over_at": time(alarm.told_over_at),
            "part_of": alarm.part_of,
            "quiet_until": time(list.quiet_until(alarm)),
            "summary": alarm.words.summary,
            "text": alarm.words.text,
            "details": serde_json::from_str::<Value>(&alarm.words.details).unwrap_or(Value::Null),
            "letters": list.letters_of(alarm).into_iter().map(letter_json).collect::<Vec<_>>(),
        })
    };
    let sinks: Vec<&str> = list.sinks.iter().map(|sink| sink.as_str()).collect();
    json!({"now": rfc3339(list.now), "sinks": sinks, "alarms": list.shown().into_iter().map(alarm).collect::<Vec<_>>()})
}

fn letter_json(letter: &Letter) -> Value {
    json!({
        "id": letter.id,
        "sink": letter.sink.as_str(),
        "event": letter.event.as_str(),
        "at": rfc3339(letter.at),
        "state": letter.end.map_or("waiting", |(end, _)| end.as_str()),
        "tries": letter.tries,
        "due_at": letter.end.is_none().then(|| rfc3339(letter.due_at)),
        "ended_at": time(letter.end.map(|(_, at)| at)),
        "error": letter.error,
    })
}
