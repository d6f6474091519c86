//! What would free a hold, in a sentence for the person who looks at it.

use jiff::Timestamp;

use crate::domain::{Class, Provenance};
use crate::policy::{CircuitState, Family, HoldRecord, Versioned};
use crate::report::{distance, rfc3339};

/// What ends the hold: by itself, by a probe, or by what a person does.
pub(super) fn frees(held: &Versioned, now: Timestamp) -> String {
    match &held.record {
        HoldRecord::Cooldown(cooldown) => {
            format!("it ends by itself {}; `r` clears it at once", when(cooldown.until, now))
        }
        HoldRecord::Quarantine(quarantine) => {
            let returns = match quarantine.provenance {
                Provenance::Guess => format!("one probe looks {}", when(quarantine.until, now)),
                _ => format!("the quota returns {}", when(quarantine.until, now)),
            };
            let early = quarantine.probe_at.filter(|at| *at < quarantine.until);
            let early = early.map_or(String::new(), |at| format!(", a probe looks before, {}", when(at, now)));
            format!("{returns}{early}; `p` looks now")
        }
        HoldRecord::Circuit(circuit) if circuit.family == Family::Operator => {
            let ends = circuit.retry_at.map(|at| format!("it ends {}", when(at, now)));
            format!(
                "{}; `r` clears it",
                ends.unwrap_or_else(|| "a person set it, and only a person ends it".to_owned())
            )
        }
        HoldRecord::Circuit(circuit) => {
            let probe = match (circuit.state, circuit.retry_at) {
                (CircuitState::HalfOpen, _) => "a probe is under way".to_owned(),
                (_, Some(at)) => format!("a probe looks {}", when(at, now)),
                (_, None) => "no probe is planned".to_owned(),
            };
            format!("{}; {probe}; `p` looks now, `r` clears it", by_a_person(circuit.family, circuit.class))
        }
    }
}

fn when(at: Timestamp, now: Timestamp) -> String {
    format!("{} ({})", distance(at, now), rfc3339(at))
}

const fn by_a_person(family: Family, class: Class) -> &'static str {
    match (family, class) {
        (Family::Transient, _) => "it closes with the first answer",
        (Family::Billing, _) => "pay or add credits at the provider",
        (Family::Auth, _) => "replace the key: a new one is tried at once",
        (Family::Permission | Family::Operator, _) => "ask for access, or take the step out of the ladder",
        (Family::Model, _) => "name another model: the provider does not serve this one",
    }
}
