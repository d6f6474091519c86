//! The holds, each once: what it covers, why, until when, who said so, and which request it came from.

use jiff::Timestamp;

use crate::domain::{Dimension, excerpt};
use crate::policy::{CircuitState, HoldRecord, Versioned, holds_now, returns_at};

use super::{Status, hold_id};
use crate::report::layout::{cut, flowed};
use crate::report::moment::{distance, seconds_of};
use crate::report::tone::{Tone, Toned};

/// How far the lines of a hold stand below its id.
const INDENT: usize = 6;

/// How much of the evidence is shown, in columns; `log` and JSON have all that is kept.
const QUOTE: usize = 160;

impl Status<'_> {
    /// All holds that are to be shown.
    pub(super) fn write_holds(&self, out: &mut Toned, width: usize) {
        for held in self.shown_holds() {
            let record = &held.record;
            let tone = if record.needs_a_person() { Tone::Bad } else { Tone::Warning };
            out.push(tone, format!(" {:<4} ", hold_id(held)));
            out.line(Tone::Strong, record.scope().to_string());
            let room = width.saturating_sub(INDENT);
            for line in flowed(&self.facts(record), ";", room) {
                out.line(Tone::Plain, format!("{:INDENT$}{line}", ""));
            }
            if !record.evidence().is_empty() {
                out.line(Tone::Faint, format!("{:INDENT$}{}", "", cut(&quoted(record.evidence()), room.min(QUOTE))));
            }
        }
    }

    /// All that is known of a hold but what the provider said.
    fn facts(&self, record: &HoldRecord) -> Vec<String> {
        let known = returns_at(record).is_some_and(|at| at > self.now);
        let known_by = if known { format!(", {}", record.provenance()) } else { String::new() };
        let mut facts = vec![why(record), format!("{}{known_by}", self.end(record))];
        if let HoldRecord::Quarantine(quarantine) = record
            && let Some(at) = quarantine.probe_at.filter(|at| *at < quarantine.until)
        {
            facts.push(self.probe(at));
        }
        if let HoldRecord::Circuit(circuit) = record
            && !record.is_by_hand()
            && !circuit.class.needs_a_person()
        {
            facts.push(format!("{} failures in a row", circuit.consecutive));
        }
        facts.push(format!("set {}", distance(record.since(), self.now)));
        if let Some(id) = record.request_id() {
            facts.push(format!("request {id}"));
        }
        facts
    }

    /// How it ends.
    fn end(&self, record: &HoldRecord) -> String {
        let leased = match record {
            HoldRecord::Circuit(circuit) if circuit.state == CircuitState::HalfOpen => circuit.lease.as_ref(),
            HoldRecord::Quarantine(quarantine) => quarantine.lease.as_ref(),
            _ => None,
        };
        if let Some(lease) = leased.filter(|lease| lease.until > self.now) {
            return format!("a probe is under way, until {} at most", self.moment(lease.until));
        }
        match returns_at(record) {
            None if record.is_by_hand() => "until somebody resets it".to_owned(),
            None => "until a person acts".to_owned(),
            Some(at) if at <= self.now => self.probe(at),
            Some(at) if record.needs_a_person() => format!("until a person acts, {}", self.probe(at)),
            Some(at) => format!("until {}", self.moment(at)),
        }
    }

    fn probe(&self, at: Timestamp) -> String {
        if at <= self.now { "a probe is due".to_owned() } else { format!("next probe {}", self.moment(at)) }
    }

    fn moment(&self, at: Timestamp) -> String {
        format!("{} ({})", seconds_of(at), distance(at, self.now))
    }
}

/// The class, the kind, and which limit if it is known.
fn why(record: &HoldRecord) -> String {
    let dimension = match record {
        HoldRecord::Cooldown(cooldown) => Some(cooldown.dimension),
        HoldRecord::Quarantine(quarantine) => Some(quarantine.dimension),
        HoldRecord::Circuit(_) => None,
    };
    let dimension = dimension.filter(|dimension| *dimension != Dimension::Other);
    let limit = dimension.map_or(String::new(), |dimension| format!(", {dimension}"));
    match record.is_by_hand() {
        true => format!("by hand ({})", record.kind()),
        false => format!("{} ({}{limit})", record.class(), record.kind()),
    }
}

fn quoted(evidence: &str) -> String {
    evidence.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Why a record holds, in few words: the class of the failure, or the person's reason.
pub(crate) fn named(record: &HoldRecord) -> String {
    match record.evidence() {
        _ if !record.is_by_hand() => record.class().to_string(),
        "" => "held by hand".to_owned(),
        why => format!("held by hand ({})", excerpt(&quoted(why), QUOTE)),
    }
}

/// A hold in one line: kind, id, scope, class, and when it ends.
pub fn hold_line(held: &Versioned, now: Timestamp) -> String {
    let record = &held.record;
    let start = format!("{} {} {}: {}", record.kind(), hold_id(held), record.scope(), named(record));
    match (holds_now(record, now), returns_at(record)) {
        (false, _) => format!("{start}, holds nothing now"),
        (true, None) if record.is_by_hand() => format!("{start}, until somebody resets it"),
        (true, None) => format!("{start}, until a person acts"),
        (true, Some(at)) if at <= now => format!("{start}, a probe is due"),
        (true, Some(at)) if record.needs_a_person() => format!("{start}, next probe {}", distance(at, now)),
        (true, Some(at)) => format!("{start}, ends {}", distance(at, now)),
    }
}
