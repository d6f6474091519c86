//! Whether a record lets a call pass now.
//!
//! A hold whose end is known opens for everybody when the end has come. A hold whose end was guessed, and every open
//! circuit, opens for one call only: the probe, which takes a lease that ends by itself, so that a prober that dies
//! blocks nobody for long. Nothing runs in the background to change a state; the state and the time are enough to tell.
//! What a person bars opens for nobody before its end, and then for everybody.
//!
//! The time can be wrong. A machine that starts with its clock years ahead, fails a call and is then set right would
//! find its holds set in the future, and a cooldown of seconds would last for years. So what was set well after now says
//! nothing: it is as good as over, and the next failure sets it anew by the right clock.

use std::time::Duration;

use jiff::Timestamp;

use crate::domain::{Class, Provenance, RequestId};

use super::call::Caller;
use super::record::{Change, CircuitState, Family, HoldRecord, Lease, Versioned};
use super::until::later;

/// What a record says to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// It may pass.
    Open,
    /// It may pass if it gets the lease of the one probe.
    Probe,
    /// It may not.
    Held,
}

/// How far ahead of now a hold may have been set: by a clock that was put right a little, or by another process while
/// this one waited for the store.
const AHEAD: Duration = Duration::from_secs(5 * 60);

/// The longest lease that anybody means; one that ends later was taken by a clock that was wrong.
pub(super) const LONGEST_LEASE: Duration = Duration::from_secs(24 * 3600);

/// Whether what was set at `since` was set by a clock that ran ahead.
pub(super) fn was_ahead(since: Timestamp, now: Timestamp) -> bool {
    since > later(now, AHEAD)
}

/// Whether the probe is under way.
pub(super) fn is_leased(lease: Option<&Lease>, now: Timestamp) -> bool {
    lease.is_some_and(|lease| lease.until > now && lease.until <= later(now, LONGEST_LEASE))
}

/// What a record says to this caller at this time.
pub fn gate(record: &HoldRecord, now: Timestamp, caller: Caller<'_>) -> Gate {
    let leased = |lease: &Option<Lease>| is_leased(lease.as_ref(), now);
    let probe_unless = |leased: bool| if leased { Gate::Held } else { Gate::Probe };
    match record {
        HoldRecord::Circuit(c) if c.family == Family::Operator => {
            if c.is_barred(now) {
                Gate::Held
            } else {
                Gate::Open
            }
        }
        HoldRecord::Cooldown(c) if was_ahead(c.since, now) => Gate::Open,
        HoldRecord::Quarantine(q) if was_ahead(q.since, now) => probe_unless(leased(&q.lease)),
        HoldRecord::Circuit(c) if c.state == CircuitState::Open && c.opened_at.is_some_and(|at| was_ahead(at, now)) => {
            Gate::Probe
        }
        HoldRecord::Cooldown(c) if c.until > now => Gate::Held,
        HoldRecord::Cooldown(_) => Gate::Open,
        HoldRecord::Quarantine(q) if q.until <= now && q.provenance != Provenance::Guess => Gate::Open,
        HoldRecord::Quarantine(q) if q.until <= now || q.probe_at.is_some_and(|at| at <= now) => {
            probe_unless(leased(&q.lease))
        }
        HoldRecord::Quarantine(_) => Gate::Held,
        HoldRecord::Circuit(c) => match c.state {
            CircuitState::Closed => Gate::Open,
            CircuitState::HalfOpen => probe_unless(leased(&c.lease)),
            CircuitState::Open => {
                let due = c.retry_at.is_some_and(|at| at <= now);
                if due || c.is_news(caller) { Gate::Probe } else { Gate::Held }
            }
        },
    }
}

/// Whether the record holds anything back at this time; a closed circuit and an expired cooldown only remember.
pub fn holds_now(record: &HoldRecord, now: Timestamp) -> bool {
    match record {
        HoldRecord::Cooldown(c) => c.until > now && !was_ahead(c.since, now),
        HoldRecord::Quarantine(q) => q.until > now || q.provenance == Provenance::Guess,
        HoldRecord::Circuit(c) if c.family == Family::Operator => c.is_barred(now),
        HoldRecord::Circuit(c) => c.state != CircuitState::Closed,
    }
}

/// When the record lets a call pass by itself; none when only a person knows.
pub fn returns_at(record: &HoldRecord) -> Option<Timestamp> {
    match record {
        HoldRecord::Cooldown(c) => Some(c.until),
        // A guess that has ended is looked at by one, and while that one is out the others wait for it.
        HoldRecord::Quarantine(q) => match &q.lease {
            Some(lease) if q.provenance == Provenance::Guess => Some(q.until.max(lease.until)),
            _ => Some(q.until),
        },
        HoldRecord::Circuit(c) => match (c.state, &c.lease) {
            (CircuitState::HalfOpen, Some(lease)) => Some(lease.until),
            _ => c.retry_at,
        },
    }
}

impl HoldRecord {
    /// The class of failure that it was set for; `permission` for a hold by hand, which no failure set.
    pub fn class(&self) -> Class {
        match self {
            Self::Cooldown(c) => c.class,
            Self::Quarantine(_) => Class::QuotaExhausted,
            Self::Circuit(c) => c.class,
        }
    }

    /// How its end is known.
    pub fn provenance(&self) -> Provenance {
        match self {
            Self::Cooldown(c) => c.provenance,
            Self::Quarantine(q) => q.provenance,
            Self::Circuit(c) => c.provenance,
        }
    }

    /// What the provider said, or a person's reason.
    pub fn evidence(&self) -> &str {
        match self {
            Self::Cooldown(c) => &c.evidence,
            Self::Quarantine(q) => &q.evidence,
            Self::Circuit(c) => &c.evidence,
        }
    }

    /// The request that caused it.
    pub fn request_id(&self) -> Option<&RequestId> {
        match self {
            Self::Cooldown(c) => c.request_id.as_ref(),
            Self::Quarantine(q) => q.request_id.as_ref(),
            Self::Circuit(c) => c.request_id.as_ref(),
        }
    }

    /// When it began to hold; for a closed circuit the latest failure.
    pub fn since(&self) -> Timestamp {
        match self {
            Self::Cooldown(c) => c.since,
            Self::Quarantine(q) => q.since,
            Self::Circuit(c) => c.opened_at.unwrap_or(c.last_failure),
        }
    }

    /// When one probe may pass before the end; what is held by hand is never probed.
    pub fn probe_at(&self) -> Option<Timestamp> {
        match self {
            Self::Cooldown(_) => None,
            Self::Circuit(c) if c.family == Family::Operator => None,
            Self::Quarantine(q) => q.probe_at,
            Self::Circuit(c) => c.retry_at.filter(|_| c.state == CircuitState::Open),
        }
    }
}

/// Whether the answer of the gate depends on who asks: the record holds back those keys and config entries that failed,
/// and others may try.
pub fn depends_on_caller(record: &HoldRecord) -> bool {
    let open = record.as_circuit().filter(|circuit| circuit.state == CircuitState::Open);
    let asks_who = |family| !matches!(family, Family::Transient | Family::Operator);
    open.is_some_and(|circuit| asks_who(circuit.family) && circuit.fingerprint.is_some())
}

/// Takes the lease of the one probe. Of all processes that try, the store lets one through.
pub fn claim(held: &Versioned, holder: &RequestId, until: Timestamp) -> Option<Change> {
    let lease = Some(Lease { holder: holder.clone(), until });
    let record = match held.record.clone() {
        HoldRecord::Cooldown(_) => return None,
        HoldRecord::Circuit(c) if c.family == Family::Operator => return None,
        HoldRecord::Quarantine(mut q) => {
            q.lease = lease;
            HoldRecord::Quarantine(q)
        }
        HoldRecord::Circuit(mut c) => {
            c.state = CircuitState::HalfOpen;
            c.lease = lease;
            HoldRecord::Circuit(c)
        }
    };
    Some(Change { key: record.key(), expected: Some(held.version), record: Some(record) })
}

/// Whether the hold passes by itself and soon: what `last_resort` may be asked under. Never a spent quota, auth, billing
/// or another hold under which asking cannot help, and never what a person bars.
pub fn is_transient(record: &HoldRecord) -> bool {
    match record {
        HoldRecord::Cooldown(_) => true,
        HoldRecord::Quarantine(_) => false,
        HoldRecord::Circuit(circuit) => circuit.family == Family::Transient,
    }
}
