//! Every deployment: eligible, or held by what, why, until when and who said so.

use comfy_table::{ContentArrangement, Table, presets};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::domain::{Deployment, LadderName, Target, excerpt};
use crate::ladder::{Eligibility, eligibility};
use crate::policy::{CircuitState, HoldRecord, Versioned, holds_now, returns_at};
use crate::store::Health;

use super::moment::{distance, rfc3339, seconds_of};

/// From this width on holds stand in a table.
const WIDE: u16 = 160;

/// How much of the evidence stands in the table, in characters; `log` and JSON have all that is kept.
const QUOTE: usize = 64;

/// A deployment that config or the state knows.
#[derive(Debug, Clone, PartialEq)]
pub struct Known {
    /// What it is.
    pub target: Target,
    /// Where it stands: each ladder with the index of its step.
    pub ladders: Vec<(LadderName, usize)>,
    /// The salted fingerprint of its key as it is now; none when it was not looked at.
    pub fingerprint: Option<String>,
}

/// The state at one moment.
#[derive(Debug)]
pub struct Status<'a> {
    /// The moment.
    pub now: Timestamp,
    /// All deployments.
    pub known: &'a [Known],
    /// All records.
    pub holds: &'a [Versioned],
    /// When each deployment last worked and last failed.
    pub health: &'a [Health],
}

impl Status<'_> {
    /// The object of `status --json`.
    pub fn json(&self) -> Value {
        json!({
            "now": rfc3339(self.now),
            "deployments": self.known.iter().map(|known| self.deployment_json(known)).collect::<Vec<_>>(),
            "holds": self.active().map(hold_json).collect::<Vec<_>>(),
        })
    }

    fn active(&self) -> impl Iterator<Item = &Versioned> {
        self.holds.iter().filter(|held| holds_now(&held.record, self.now))
    }

    fn covering(&self, target: &Target) -> impl Iterator<Item = &Versioned> {
        self.holds.iter().filter(|held| held.record.scope().covers(target))
    }

    /// Whether it may be asked. A key that was not looked at is taken for the one that failed.
    fn eligibility(&self, known: &Known) -> Eligibility<'_> {
        eligibility(self.holds, &known.target, self.now, known.fingerprint.as_deref())
    }

    fn health(&self, deployment: &Deployment) -> Option<&Health> {
        self.health.iter().find(|health| health.deployment == *deployment)
    }

    fn deployment_json(&self, known: &Known) -> Value {
        let Known { target, ladders, .. } = known;
        let held = match self.eligibility(known) {
            Eligibility::Held(by) => Some(by),
            _ => None,
        };
        let health = self.health(&target.deployment);
        let cooldowns = self
            .covering(target)
            .filter(|held| holds_now(&held.record, self.now))
            .filter(|held| matches!(held.record, HoldRecord::Cooldown(_)))
            .map(hold_json);
        let quarantine = self
            .covering(target)
            .find(|held| matches!(held.record, HoldRecord::Quarantine(_)) && holds_now(&held.record, self.now));
        json!({
            "deployment": target.deployment,
            "ladders": ladders.iter().map(|(l, s)| json!({"ladder": l, "step": s})).collect::<Vec<_>>(),
            "eligible": held.is_none(),
            "reason": held.map(|by| by.record.class()),
            "until": held.and_then(|by| returns_at(&by.record)).map(rfc3339),
            "provenance": held.map(|by| by.record.provenance()),
            "circuit": self.circuit_json(target),
            "cooldowns": cooldowns.collect::<Vec<_>>(),
            "quarantine": quarantine.map(hold_json),
            "usage": [],
            "last_success": health.and_then(|h| h.last_success).map(rfc3339),
            "last_failure": health.and_then(|h| h.last_failure).map(rfc3339),
        })
    }

    /// The circuit that matters most to the target: an open one before one that counts.
    fn circuit_json(&self, target: &Target) -> Value {
        let circuits = self.covering(target).filter_map(|held| match &held.record {
            HoldRecord::Circuit(circuit) => Some(circuit),
            _ => None,
        });
        let rank = |state| match state {
            CircuitState::Closed => 0,
            CircuitState::HalfOpen => 1,
            CircuitState::Open => 2,
        };
        match circuits.max_by_key(|circuit| (rank(circuit.state), circuit.consecutive)) {
            Some(circuit) => json!({
                "state": circuit.state,
                "failures": circuit.consecutive,
                "opened_at": circuit.opened_at.map(rfc3339),
                "retry_at": circuit.retry_at.map(rfc3339),
                "cause": circuit.class,
            }),
            None => json!({
                "state": CircuitState::Closed, "failures": 0, "opened_at": null, "retry_at": null, "cause": null,
            }),
        }
    }

    /// For people, at most `width` columns.
    pub fn text(&self, width: u16) -> String {
        let mut out = String::new();
        if self.known.is_empty() && self.active().next().is_none() {
            out.push_str("nothing is known and nothing is held\n");
            return out;
        }
        if !self.known.is_empty() {
            out.push_str(&self.deployments_table(width));
            out.push('\n');
        }
        let held = self.active().count();
        if held == 0 {
            out.push_str("nothing is held\n");
        } else {
            let text = if width >= WIDE { self.holds_table(width) + "\n" } else { self.holds_list(width) };
            out.push_str(&text);
        }
        out
    }

    fn deployments_table(&self, width: u16) -> String {
        let mut table = bare_table(width);
        table.set_header(["deployment", "state", "until", "last success"]);
        for known in self.known {
            let deployment = known.target.deployment.to_string();
            let (state, until) = match self.eligibility(known) {
                Eligibility::Eligible => ("ok".to_owned(), String::new()),
                Eligibility::Probe(_) => ("probe due".to_owned(), String::new()),
                Eligibility::Held(by) => (
                    format!("held: {}", by.record.class()),
                    returns_at(&by.record).map_or("a person acts".to_owned(), |at| distance(at, self.now)),
                ),
            };
            let last = self.health(&known.target.deployment).and_then(|h| h.last_success);
            table.add_row([deployment, state, until, last.map_or("-".to_owned(), |at| distance(at, self.now))]);
        }
        rendered(&table)
    }

    fn holds_table(&self, width: u16) -> String {
        let mut table = bare_table(width);
        table.set_header(["hold", "covers", "why", "ends", "known by", "since", "request", "evidence"]);
        for held in self.active() {
            let record = &held.record;
            table.add_row([
                hold_id(held),
                record.scope().to_string(),
                why(record),
                self.end(record),
                record.provenance().to_string(),
                distance(record.since(), self.now),
                record.request_id().map_or("-".to_owned(), ToString::to_string),
                excerpt(record.evidence(), QUOTE),
            ]);
        }
        rendered(&table)
    }

    /// One hold after the other, for screens on which a table would be a heap of broken words.
    fn holds_list(&self, width: u16) -> String {
        let mut out = String::new();
        for held in self.active() {
            let record = &held.record;
            out.push_str(&format!(" {:<4} {}\n", hold_id(held), record.scope()));
            out.push_str(&format!("      {}, ends {}, {}\n", why(record), self.end(record), record.provenance()));
            if !record.evidence().is_empty() {
                out.push_str(&format!("      {}\n", excerpt(record.evidence(), usize::from(width).saturating_sub(8))));
            }
        }
        out
    }

    fn end(&self, record: &HoldRecord) -> String {
        returns_at(record)
            .map_or("when a person acts".to_owned(), |at| format!("{} ({})", seconds_of(at), distance(at, self.now)))
    }
}

fn why(record: &HoldRecord) -> String {
    format!("{} ({})", record.class(), record.kind())
}

/// A table without lines, as wide as it may be.
pub(super) fn bare_table(width: u16) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    table
}

/// The table as lines without blanks at their ends.
pub(super) fn rendered(table: &Table) -> String {
    let lines: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    lines.join("\n")
}

/// The short name of a hold: its kind's letter and the store's number.
pub fn hold_id(held: &Versioned) -> String {
    let letter = match held.record {
        HoldRecord::Cooldown(_) => 'c',
        HoldRecord::Quarantine(_) => 'q',
        HoldRecord::Circuit(_) => 'b',
    };
    format!("{letter}{}", held.id)
}

/// One hold.
pub fn hold_json(held: &Versioned) -> Value {
    let record = &held.record;
    let dimension = match record {
        HoldRecord::Cooldown(c) => Some(c.dimension),
        HoldRecord::Quarantine(q) => Some(q.dimension),
        HoldRecord::Circuit(_) => None,
    };
    json!({
        "id": hold_id(held),
        "kind": record.kind(),
        "scope": record.scope().to_string(),
        "dimension": dimension,
        "class": record.class(),
        "since": rfc3339(record.since()),
        "until": returns_at(record).map(rfc3339),
        "probe_at": record.probe_at().map(rfc3339),
        "provenance": record.provenance(),
        "evidence": record.evidence(),
        "request_id": record.request_id(),
    })
}
