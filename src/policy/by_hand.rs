//! Holds by hand: what a person bars, and the probe that a person wants now.
//!
//! A person knows what no reply tells: that a key is to be spared, that a provider is being moved, that its answers of
//! today are not to be trusted. What is barred by hand is a circuit of a family of its own, so that it stands beside all
//! that the replies say and nothing that they say touches it. It is open until somebody resets it or its time has come,
//! and then it is simply over: a probe would ask the provider what only the person can answer. Neither another key nor
//! another config entry opens it, and a clock that ran ahead when it was set does not void it: to hold for too long is
//! seen and mended with one word, and to ask what must not be asked is neither.
//!
//! No failure stands behind it, but records name a class. Of all of them `permission` is the nearest, "good, but not
//! allowed"; the provenance `operator` says who does not allow it. Whoever tells people of a hold asks
//! [`HoldRecord::is_by_hand`] first.
//!
//! Who looks before the time learns either that it is over, or that it is still so. So a probe is made due by moving the
//! time of the next look and nothing else: how long it was known to last stays.

use jiff::Timestamp;

use crate::domain::{Class, Provenance, Scope};

use super::gate::{gate, is_leased};
use super::record::{Change, Circuit, CircuitState, Family, HoldRecord, Key, Versioned};
use super::{Caller, Gate};

/// The word that stands where a hold of another kind has the class of its failure.
const BY_HAND: &str = "operator";

/// Bars the scope until that time, or until somebody resets it. A hold by hand that there is gets the new time and
/// reason.
pub fn bar(holds: &[Versioned], scope: Scope, until: Option<Timestamp>, why: &str, now: Timestamp) -> Change {
    let key = Key::Circuit(scope.clone(), Family::Operator);
    let old = holds.iter().find(|held| held.record.has_key(&key));
    let still = old.and_then(|held| held.record.as_circuit()).filter(|circuit| circuit.is_barred(now));
    let circuit = Circuit {
        scope,
        family: Family::Operator,
        state: CircuitState::Open,
        class: Class::Permission,
        consecutive: 0,
        recent: Vec::new(),
        opened_at: still.and_then(|circuit| circuit.opened_at).or(Some(now)),
        retry_at: until,
        opens: 1,
        lease: None,
        provenance: Provenance::Operator,
        fingerprint: None,
        last_failure: now,
        evidence: why.to_owned(),
        request_id: None,
    };
    Change { key, expected: old.map(|held| held.version), record: Some(HoldRecord::Circuit(circuit)) }
}

/// The record with its probe due now. None where that changes nothing: it is due or under way already, it holds nothing,
/// or it has no probe, as a cooldown and a hold by hand.
pub fn hastened(record: &HoldRecord, now: Timestamp) -> Option<HoldRecord> {
    if record.is_by_hand() || gate(record, now, Caller::default()) != Gate::Held {
        return None;
    }
    match record.clone() {
        HoldRecord::Quarantine(mut q) if !is_leased(q.lease.as_ref(), now) => {
            q.probe_at = Some(now);
            Some(HoldRecord::Quarantine(q))
        }
        HoldRecord::Circuit(mut c) if c.state == CircuitState::Open => {
            c.retry_at = Some(now);
            Some(HoldRecord::Circuit(c))
        }
        _ => None,
    }
}

impl Circuit {
    /// Whether a person bars the scope, and the time is not over.
    pub(super) fn is_barred(&self, now: Timestamp) -> bool {
        let lasts = self.retry_at.is_none_or(|until| until > now);
        self.family == Family::Operator && self.state != CircuitState::Closed && lasts
    }
}

impl HoldRecord {
    /// Whether a person set it.
    pub fn is_by_hand(&self) -> bool {
        self.as_circuit().is_some_and(|circuit| circuit.family == Family::Operator)
    }

    /// Why it holds, in one word that scripts match: the class of the failure, or `operator`.
    pub fn reason(&self) -> &'static str {
        if self.is_by_hand() { BY_HAND } else { self.class().as_str() }
    }

    /// Whether a person must act before it lets a call pass; what is barred by hand for some time passes by itself.
    pub fn needs_a_person(&self) -> bool {
        match self {
            Self::Circuit(circuit) if circuit.family == Family::Operator => circuit.retry_at.is_none(),
            record => record.class().needs_a_person(),
        }
    }
}
