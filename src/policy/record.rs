//! The records that all processes share: cooldowns, quarantines and circuits.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::domain::{Class, Dimension, ParseNameError, Provenance, RequestId, Scope};

/// The three kinds of hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HoldKind {
    /// Short, from a rate limit.
    Cooldown,
    /// Long, from a spent quota.
    Quarantine,
    /// A breaker.
    Circuit,
}

impl HoldKind {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cooldown => "cooldown",
            Self::Quarantine => "quarantine",
            Self::Circuit => "circuit",
        }
    }
}

impl fmt::Display for HoldKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Which machine of one scope a circuit is: a scope can be counted for transient faults and be barred for lack of
/// permission at the same time, and one must not close the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// Overload, server errors, timeouts, network: counted, opens at a threshold.
    Transient,
    /// No money: opens at once.
    Billing,
    /// A bad key: opens at once.
    Auth,
    /// Not allowed: opens at once.
    Permission,
    /// No such model: opens at once.
    Model,
    /// A person bars the scope: no reply opens or closes it.
    Operator,
}

impl Family {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Transient, Self::Billing, Self::Auth, Self::Permission, Self::Model, Self::Operator];

    /// The family of a class that moves a circuit; none for the others.
    pub const fn of(class: Class) -> Option<Self> {
        match class {
            Class::Overloaded | Class::ServerError | Class::Timeout | Class::Network => Some(Self::Transient),
            Class::Billing => Some(Self::Billing),
            Class::Auth => Some(Self::Auth),
            Class::Permission => Some(Self::Permission),
            Class::ModelUnavailable => Some(Self::Model),
            _ => None,
        }
    }

    /// The word that stands in the store.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Transient => "transient",
            Self::Billing => "billing",
            Self::Auth => "auth",
            Self::Permission => "permission",
            Self::Model => "model",
            Self::Operator => "operator",
        }
    }
}

impl FromStr for Family {
    type Err = ParseNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|family| family.as_str() == text)
            .ok_or_else(|| ParseNameError { text: text.to_owned(), wanted: "circuit family" })
    }
}

/// Where a circuit stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CircuitState {
    /// Calls pass.
    Closed,
    /// No call passes until `retry_at`.
    Open,
    /// One probe is under way.
    HalfOpen,
}

impl CircuitState {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open => "open",
            Self::HalfOpen => "half_open",
        }
    }
}

impl FromStr for CircuitState {
    type Err = ParseNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        [Self::Closed, Self::Open, Self::HalfOpen]
            .into_iter()
            .find(|state| state.as_str() == text)
            .ok_or_else(|| ParseNameError { text: text.to_owned(), wanted: "circuit state" })
    }
}

/// The right to make the one probe. It ends by itself, so a prober that is killed or hangs frees it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Lease {
    /// Who holds it: a request id.
    pub holder: RequestId,
    /// When it ends by itself.
    pub until: Timestamp,
}

/// A short hold from a rate limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cooldown {
    /// What is held.
    pub scope: Scope,
    /// Which limit.
    pub dimension: Dimension,
    /// What it was set for.
    pub class: Class,
    /// When it was first set.
    pub since: Timestamp,
    /// When it ends.
    pub until: Timestamp,
    /// How the end is known.
    pub provenance: Provenance,
    /// How many in a row ended and were followed by another, for guesses that double.
    pub streak: u32,
    /// How many of them in a row had a stated end that was waited for.
    pub obeyed: u32,
    /// When the first of these was set.
    pub obeyed_since: Option<Timestamp>,
    /// What the provider said.
    pub evidence: String,
    /// The request that caused it.
    pub request_id: Option<RequestId>,
}

/// A long hold from a spent quota.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quarantine {
    /// What is held.
    pub scope: Scope,
    /// Which limit.
    pub dimension: Dimension,
    /// When it was first set.
    pub since: Timestamp,
    /// When the quota returns.
    pub until: Timestamp,
    /// How the end is known.
    pub provenance: Provenance,
    /// When one probe may look whether the quota came back early.
    pub probe_at: Option<Timestamp>,
    /// How many guesses in a row were wrong, for guesses that double.
    pub streak: u32,
    /// The probe under way.
    pub lease: Option<Lease>,
    /// What the provider said.
    pub evidence: String,
    /// The request that caused it.
    pub request_id: Option<RequestId>,
}

/// A breaker of a scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Circuit {
    /// What is held.
    pub scope: Scope,
    /// Which machine of the scope.
    pub family: Family,
    /// Where it stands.
    pub state: CircuitState,
    /// The class of the latest failure; of a hold by hand always `permission`.
    pub class: Class,
    /// Failures in a row, up to now.
    pub consecutive: u32,
    /// When the failures of the window happened, oldest first; only as many as the threshold needs are kept.
    pub recent: Vec<Timestamp>,
    /// When it opened.
    pub opened_at: Option<Timestamp>,
    /// When one probe may pass; of a hold by hand, when it is over.
    pub retry_at: Option<Timestamp>,
    /// How often in a row it opened, for times that double.
    pub opens: u32,
    /// The probe under way.
    pub lease: Option<Lease>,
    /// How `retry_at` is known.
    pub provenance: Provenance,
    /// The salted fingerprints of the keys that failed, and behind `entry:` of the config entries, with blanks between
    /// them: another one may be tried at once where it can be what was wrong.
    pub fingerprint: Option<String>,
    /// When it last failed.
    pub last_failure: Timestamp,
    /// What the provider said.
    pub evidence: String,
    /// The request that caused it.
    pub request_id: Option<RequestId>,
}

/// One of the three.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HoldRecord {
    /// Short, from a rate limit.
    Cooldown(Cooldown),
    /// Long, from a spent quota.
    Quarantine(Quarantine),
    /// A breaker.
    Circuit(Circuit),
}

/// What makes a record the same record.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// One per scope and limit.
    Cooldown(Scope, Dimension),
    /// One per scope and limit.
    Quarantine(Scope, Dimension),
    /// One per scope and family.
    Circuit(Scope, Family),
}

impl HoldRecord {
    /// What makes it the same record.
    pub fn key(&self) -> Key {
        match self {
            Self::Cooldown(c) => Key::Cooldown(c.scope.clone(), c.dimension),
            Self::Quarantine(q) => Key::Quarantine(q.scope.clone(), q.dimension),
            Self::Circuit(c) => Key::Circuit(c.scope.clone(), c.family),
        }
    }

    /// Whether the key is this record's, without making another one.
    pub fn has_key(&self, key: &Key) -> bool {
        match (self, key) {
            (Self::Cooldown(c), Key::Cooldown(scope, dimension)) => c.dimension == *dimension && c.scope == *scope,
            (Self::Quarantine(q), Key::Quarantine(scope, dimension)) => q.dimension == *dimension && q.scope == *scope,
            (Self::Circuit(c), Key::Circuit(scope, family)) => c.family == *family && c.scope == *scope,
            _ => false,
        }
    }

    /// What it covers.
    pub fn scope(&self) -> &Scope {
        match self {
            Self::Cooldown(c) => &c.scope,
            Self::Quarantine(q) => &q.scope,
            Self::Circuit(c) => &c.scope,
        }
    }

    /// The cooldown that it is.
    pub fn as_cooldown(&self) -> Option<&Cooldown> {
        match self {
            Self::Cooldown(cooldown) => Some(cooldown),
            _ => None,
        }
    }

    /// The quarantine that it is.
    pub fn as_quarantine(&self) -> Option<&Quarantine> {
        match self {
            Self::Quarantine(quarantine) => Some(quarantine),
            _ => None,
        }
    }

    /// The circuit that it is.
    pub fn as_circuit(&self) -> Option<&Circuit> {
        match self {
            Self::Circuit(circuit) => Some(circuit),
            _ => None,
        }
    }

    /// Which kind it is.
    pub fn kind(&self) -> HoldKind {
        match self {
            Self::Cooldown(_) => HoldKind::Cooldown,
            Self::Quarantine(_) => HoldKind::Quarantine,
            Self::Circuit(_) => HoldKind::Circuit,
        }
    }
}

/// A record as the store has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Versioned {
    /// The store's number for it, stable while the record lives.
    pub id: i64,
    /// Grows by one with every write.
    pub version: i64,
    /// The record itself.
    pub record: HoldRecord,
}

/// A write that happens only if the record is still at the version that the decision saw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Which record.
    pub key: Key,
    /// The version that the decision saw; none when there was no record.
    pub expected: Option<i64>,
    /// The new record; none deletes it.
    pub record: Option<HoldRecord>,
}
