//! What a prober found out, as JSON and in one line each.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::domain::{Class, Deployment, RequestId};
use crate::policy::{HoldRecord, Versioned, returns_at};
use crate::route::{Report, passes_at, probing};

use super::chat::until_text;
use super::moment::rfc3339;
use super::status::{hold_id, named};

/// A probe that was made, or was to be made.
#[derive(Debug)]
pub struct Probed<'a> {
    /// The time.
    pub now: Timestamp,
    /// Who was asked.
    pub deployment: &'a Deployment,
    /// The holds that it was about.
    pub holds: &'a [Versioned],
    /// What came of the call; none if it was not made.
    pub report: Option<&'a Report>,
    /// What holds the deployment back now, if anything does.
    pub by: Option<&'a HoldRecord>,
    /// Why no call was made although no other process makes it.
    pub no_key: Option<&'a str>,
}

/// How a probe ended.
enum Found {
    Recovered,
    Failed(Class),
    Taken,
    NoKey,
    Interrupted,
}

impl Found {
    fn word(&self) -> &'static str {
        match self {
            Self::Recovered => "recovered",
            Self::Failed(_) => "failed",
            Self::Taken => "taken",
            Self::NoKey => "no_key",
            Self::Interrupted => "interrupted",
        }
    }
}

impl Probed<'_> {
    fn found(&self) -> Found {
        if self.no_key.is_some() {
            return Found::NoKey;
        }
        match self.report.map(|report| (report.record.attempts.last(), &report.record.deployment)) {
            Some((_, Some(_))) => Found::Recovered,
            Some((Some(attempt), None)) => attempt.class.map_or(Found::Interrupted, Found::Failed),
            Some((None, None)) if self.report.is_some_and(|report| report.end == crate::ladder::End::Interrupted) => {
                Found::Interrupted
            }
            Some((None, None)) | None => Found::Taken,
        }
    }

    /// When asking can help again.
    fn next(&self) -> Option<Timestamp> {
        let by = self.by?;
        by.probe_at().filter(|at| *at > self.now).or_else(|| returns_at(by))
    }

    /// A line of `probe --json`.
    pub fn json(&self) -> Value {
        let found = self.found();
        let attempt = self.report.and_then(|report| report.record.attempts.last());
        json!({
            "deployment": self.deployment,
            "holds": self.holds.iter().map(hold_id).collect::<Vec<_>>(),
            "result": found.word(),
            "request_id": self.report.filter(|_| attempt.is_some()).map(|report| &report.record.id),
            "class": attempt.and_then(|attempt| attempt.class),
            "status": attempt.and_then(|attempt| attempt.status),
            "rule": attempt.and_then(|attempt| attempt.rule.as_deref()),
            "evidence": attempt.and_then(|attempt| attempt.evidence.as_deref()),
            "next_probe_at": self.next().map(rfc3339),
        })
    }

    /// One line.
    pub fn text(&self) -> String {
        let next = self.next().map(|at| format!(", next probe {}", until_text(at, self.now).replacen("until ", "", 1)));
        let next = next.unwrap_or_default();
        let was = self.holds.first().map(|held| held.record.class());
        let what = match self.found() {
            Found::Recovered => "recovered".to_owned(),
            Found::Failed(class) if Some(class) == was => format!("still {class}{next}"),
            Found::Failed(class) => format!("not recovered: {class}{next}"),
            Found::Taken => format!("another process was faster and makes the probe{next}"),
            Found::NoKey => format!("not asked: {}", self.no_key.unwrap_or_default()),
            Found::Interrupted => "interrupted; the probe is due still".to_owned(),
        };
        format!("{}: {what}\n", self.deployment)
    }
}

/// Who cannot be probed although a person wants it.
#[derive(Debug)]
pub struct Kept<'a> {
    /// The time.
    pub now: Timestamp,
    /// Who.
    pub deployments: Vec<&'a Deployment>,
    /// The hold that is in the way.
    pub by: &'a Versioned,
    /// Whether this is a hold that the person named.
    pub is_named: bool,
}

impl Kept<'_> {
    /// A line of `probe --now --json`.
    pub fn json(&self) -> Value {
        json!({
            "deployment": self.deployments.first(),
            "holds": [hold_id(self.by)],
            "result": "held",
            "request_id": Option::<RequestId>::None,
            "class": self.by.record.class(),
            "next_probe_at": passes_at(&self.by.record, self.now).map(rfc3339),
        })
    }

    /// One line.
    pub fn text(&self) -> String {
        let Self { now, by, .. } = self;
        let (id, record) = (hold_id(by), &by.record);
        let who = match self.deployments.as_slice() {
            [] => record.scope().to_string(),
            [only] => only.to_string(),
            [first, others @ ..] => format!("{first} and {} more", others.len()),
        };
        let until = passes_at(record, *now).map(|at| until_text(at, *now));
        let until = until.unwrap_or_else(|| "until somebody resets it".to_owned());
        let why = match record {
            record if record.is_by_hand() => format!("{} {until}; `llmr reset {id}` lifts it", named(record)),
            record if probing(record, *now) => format!("the probe of {id} is under way, {until} at most"),
            HoldRecord::Cooldown(_) => {
                format!("a cooldown has no probe; {id} lasts {until}, and `llmr reset {id}` ends it")
            }
            _ if self.is_named => format!("{id} holds it {until}"),
            _ => format!("{id} ({}) holds it as well, {until}; name it too", named(record)),
        };
        format!("{who}: not probed: {why}\n")
    }
}

/// A line of `probe --dry-run --json`.
pub fn due_json(deployment: &Deployment, holds: &[Versioned]) -> Value {
    json!({
        "deployment": deployment,
        "holds": holds.iter().map(hold_id).collect::<Vec<_>>(),
        "result": "due",
        "request_id": Option::<RequestId>::None,
        "class": holds.first().map(|held| held.record.class()),
    })
}

/// The same for people.
pub fn due_text(deployment: &Deployment, holds: &[Versioned]) -> String {
    let what = |held: &Versioned| {
        let record = &held.record;
        format!("{} {} of {}, {}", record.kind(), hold_id(held), record.scope(), record.class())
    };
    let holds: Vec<String> = holds.iter().map(what).collect();
    format!("{deployment}: due ({})\n", holds.join("; "))
}
