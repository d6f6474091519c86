//! What the alarm says: why it rings, what is back first and when, and what a person can do now.
//!
//! A message is read at three in the morning by somebody who has not thought of this program for months. So its first
//! line says all that a pager shows; then stands what each step died of, in words, with what the provider said; then what
//! to do, chosen by what is there. The first line holds no character that a shell gives a meaning to, because it is the
//! one that people paste into a command.

mod actions;
mod exhausted;
mod hold;
mod list;
mod message;

#[cfg(test)]
mod tests;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::domain::{Class, Provenance, excerpt, printable};
use crate::policy::{
    AlarmKind, AlarmSettings, Forecast, HoldRecord, Sighting, Standing, Words, budget_standing, forecast_standing,
    hold_standing, hold_subject, returns_at,
};
use crate::route::{AlarmLook, HoldLook, LadderLook};

use super::moment::{distance, rfc3339, seconds_of};

pub use list::{AlarmList, alarms_json, alarms_text};
pub use message::{alarm_body, alarm_letters, alarm_name, test_body};

/// How much of what a provider said is told, in characters.
const SAID: usize = 200;

/// The subject of the alarm for the budget of retries.
const BUDGET: &str = "retries";

/// What was seen, with what there is to say of it.
pub fn alarm_sightings(look: &AlarmLook, settings: &AlarmSettings, now: Timestamp) -> Vec<Sighting> {
    let ladders = look.ladders.iter().map(|ladder| of_ladder(ladder, now));
    let holds = look.holds.iter().filter_map(|hold| of_hold(hold, settings, now));
    let forecasts = look.forecasts.iter().filter_map(|forecast| of_forecast(forecast, settings, now));
    ladders.chain(holds).chain(forecasts).chain([of_budget(look, now)]).collect()
}

fn of_ladder(look: &LadderLook, now: Timestamp) -> Sighting {
    Sighting {
        kind: AlarmKind::Exhausted,
        subject: look.ladder.to_string(),
        standing: look.standing,
        answered_at: look.answered_at,
        ladders: look.within.iter().map(ToString::to_string).collect(),
        until: None,
        words: match look.standing {
            Standing::Bad { .. } => exhausted::words(look, now),
            Standing::Doubtful | Standing::Better | Standing::Well => Words::default(),
        },
    }
}

fn of_hold(look: &HoldLook, settings: &AlarmSettings, now: Timestamp) -> Option<Sighting> {
    let record = &look.held.record;
    Some(Sighting {
        kind: AlarmKind::Hold,
        subject: hold_subject(record),
        standing: hold_standing(record, settings, now)?,
        answered_at: None,
        ladders: look.ladders.iter().map(ToString::to_string).collect(),
        until: returns_at(record),
        words: hold::words(look, now),
    })
}

fn of_budget(look: &AlarmLook, now: Timestamp) -> Sighting {
    let summary = "llmr: the budget of retries of all processes is spent, retries are denied".to_owned();
    let text = format!(
        "{summary}\n\nMany requests fail at the same time, and each is tried once only.\n\nWhat you can do now:\n\
         - `llmr status` and `llmr log --since 10m` show who fails\n\
         - raise `retry_budget` in [limits] if the providers can take it\n"
    );
    let details = json!({"denied_at": look.denied_at.map(rfc3339), "ladders": []}).to_string();
    Sighting {
        kind: AlarmKind::Budget,
        subject: BUDGET.to_owned(),
        standing: budget_standing(look.denied_at, now),
        answered_at: None,
        ladders: Vec::new(),
        until: None,
        words: Words { summary, text, details },
    }
}

fn of_forecast(forecast: &Forecast, settings: &AlarmSettings, now: Timestamp) -> Option<Sighting> {
    let Forecast { scope, dimension, used, limit, resets_at, runs_out, .. } = forecast;
    let standing = forecast_standing(forecast, settings, now)?;
    let out = runs_out.map_or(String::new(), |at| format!(" runs out {} at {},", distance(at, now), seconds_of(at)));
    let back = resets_at.map_or(String::new(), |at| format!(" {}", distance(at, now)));
    let summary =
        inert(&format!("llmr: {scope} {dimension}{out} {used:.0} of {:.0} are used and it is back{back}", limit.value));
    let text = format!(
        "{summary}\n\nThis is how it goes on if it goes on as it did in this window.\n\nWhat you can do now:\n\
         - slow down what can wait until it is back\n\
         - `strategy = \"usage\"` asks first who has most left; another account or provider takes what is over\n\
         - `llmr status` shows what is used\n"
    );
    let details = json!({
        "scope": scope.to_string(),
        "dimension": dimension,
        "used": used,
        "limit": limit.value,
        "runs_out_at": runs_out.map(rfc3339),
        "resets_at": resets_at.map(rfc3339),
        "ladders": [],
    });
    Some(Sighting {
        kind: AlarmKind::Forecast,
        subject: format!("{scope} {dimension}"),
        standing,
        answered_at: None,
        ladders: Vec::new(),
        until: *resets_at,
        words: Words { summary, text, details: details.to_string() },
    })
}

/// The text on one line, of characters that no shell gives a meaning to.
fn inert(text: &str) -> String {
    let plain = |c: char| match c {
        '(' | ')' | '[' | ']' | '{' | '}' | '<' | '>' | ';' | '&' | '|' | '$' | '`' | '"' | '\'' | '\\' | '*' | '?'
        | '!' | '~' | '^' => ' ',
        '#' => '.',
        c => c,
    };
    excerpt(&printable(text).chars().map(plain).collect::<String>(), 400)
}

/// Why a hold is there, in words.
fn why(record: &HoldRecord) -> &'static str {
    if record.is_by_hand() { BY_HAND } else { in_words(record.class()) }
}

/// What is said of what a person holds.
const BY_HAND: &str = "held by hand";

/// What a class means, in words.
fn in_words(class: Class) -> &'static str {
    match class {
        Class::RateLimit => "too many requests at once",
        Class::QuotaExhausted => "the quota is spent",
        Class::Billing => "no money on the account",
        Class::Auth => "the key is refused",
        Class::Permission => "the key is not allowed this model",
        Class::ModelUnavailable => "the model is not there",
        Class::Overloaded => "the provider is overloaded",
        Class::ServerError => "a fault at the provider",
        Class::Timeout => "no answer in time",
        Class::Network => "the provider is not reached",
        Class::ContextOverflow => "the request is too large for it",
        Class::ContentPolicy => "a filter refused the request",
        Class::Unsupported => "it lacks what the request needs",
        Class::InvalidRequest => "the request is malformed",
        Class::InvalidOutput => "its answer was of no use",
        Class::Unknown => "a failure that no rule knows",
    }
}

/// How a time is known, in words.
fn known_by(provenance: Provenance) -> &'static str {
    match provenance {
        Provenance::Fact => "the provider says so",
        Provenance::Documented => "by its reset clock",
        Provenance::Guess => "a guess",
        Provenance::Operator => "set by you",
    }
}

/// What a provider said, on one bounded line.
fn said(evidence: &str) -> String {
    let said = excerpt(evidence, SAID);
    if said.is_empty() { said } else { format!("; it said: {said}") }
}

fn time(at: Option<Timestamp>) -> Value {
    at.map_or(Value::Null, |at| Value::String(rfc3339(at)))
}
