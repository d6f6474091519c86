//! What was made of a call that another program reported, as JSON and in one line.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::domain::RequestId;
use crate::policy::{CircuitState, HoldRecord, Key, holds_now, returns_at};
use crate::route::Written;

use super::chat::until_text;
use super::moment::rfc3339;

/// A call that was written down.
#[derive(Debug)]
pub struct Recorded<'a> {
    /// The time.
    pub now: Timestamp,
    /// The id under which it stands in the log.
    pub request_id: &'a RequestId,
    /// What was written.
    pub written: &'a Written,
}

impl Recorded<'_> {
    /// The hold that its failure set or that goes on because of it; the one that lasts longest.
    fn hold(&self) -> Option<&HoldRecord> {
        let records = self.written.booked.changes.iter().filter_map(|change| change.record.as_ref());
        let holding = records.filter(|record| holds_now(record, self.now));
        holding
            .filter(|record| returns_at(record).is_none_or(|at| at > self.now))
            .max_by_key(|record| returns_at(record))
    }

    /// The object of `record --json`.
    pub fn json(&self) -> Value {
        let attempt = &self.written.attempt;
        let hold = self.hold();
        json!({
            "request_id": self.request_id,
            "deployment": attempt.deployment,
            "attempt": attempt.kind,
            "class": attempt.class,
            "action": attempt.class.map(crate::domain::Class::action),
            "scope": attempt.scope,
            "dimension": attempt.dimension,
            "status": attempt.status,
            "rule": attempt.rule,
            "evidence": attempt.evidence,
            "kind": hold.map(HoldRecord::kind),
            "held_until": hold.and_then(returns_at).map(rfc3339),
            "provenance": hold.map(HoldRecord::provenance),
        })
    }

    /// One line.
    pub fn text(&self) -> String {
        let attempt = &self.written.attempt;
        let probe = if attempt.kind == crate::domain::AttemptKind::Probe { " (the probe)" } else { "" };
        let head = format!("recorded {}{probe}:", attempt.deployment);
        let Some(class) = attempt.class else { return format!("{head} answered{}\n", self.lifted()) };
        let rule = attempt.rule.as_deref().unwrap_or("-");
        format!("{head} {class} ({rule}), {}\n", self.consequence())
    }

    /// What a success ended.
    fn lifted(&self) -> String {
        let gone = self.written.booked.changes.iter().filter(|change| change.record.is_none());
        let mut kinds: Vec<&str> = gone
            .map(|change| match change.key {
                Key::Cooldown(..) => "cooldown",
                Key::Quarantine(..) => "quarantine",
                Key::Circuit(..) => "circuit",
            })
            .collect();
        kinds.dedup();
        if kinds.is_empty() { String::new() } else { format!(", ends its {}", kinds.join(" and ")) }
    }

    /// What a failure changes.
    fn consequence(&self) -> String {
        if let Some(hold) = self.hold() {
            let until = returns_at(hold).map(|at| until_text(at, self.now));
            let until = until.unwrap_or_else(|| "until a person acts".to_owned());
            return format!("{} of {} {until}, {}", hold.kind(), hold.scope(), hold.provenance());
        }
        let counted = self.written.booked.changes.iter().find_map(|change| match &change.record {
            Some(HoldRecord::Circuit(circuit)) if circuit.state == CircuitState::Closed => Some(circuit.consecutive),
            _ => None,
        });
        match counted {
            Some(streak) => format!("counted: {streak} in a row, nothing held"),
            None => "nothing new held".to_owned(),
        }
    }
}
