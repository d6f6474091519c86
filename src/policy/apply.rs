//! The one door: what a failure or a success of a call changes.
//!
//! Every call goes through it, whoever made it, or a circuit would open on one path and never close on the other. A
//! failure touches the one record of its class and scope and no wider one: two models of a key that fail are two facts
//! about models, not one about the key. A success lifts the holds that cover the target, as far as they were set before
//! the call was sent; an answer to an older call proves nothing about now.

use jiff::Timestamp;

use crate::domain::{Class, Dimension, Failure, RequestId, Scope, ScopeLevel, Target};

use super::quarantine::is_holder;
use super::record::{Change, CircuitState, Family, HoldRecord, Key, Versioned};
use super::settings::PolicySettings;
use super::{circuit, cooldown, quarantine};

/// What came of a call.
#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    /// A real answer.
    Success,
    /// A failure, as classified.
    Failure(&'a Failure),
    /// The caller gave up: no evidence against the deployment, but a lease must be freed.
    Abandoned,
}

/// The call that it came of.
#[derive(Debug, Clone, Copy)]
pub struct Report<'a> {
    /// Who was asked.
    pub target: &'a Target,
    /// The request, which is also the holder of the leases that it took.
    pub request_id: &'a RequestId,
    /// When the call was sent: what it says is true of that time, not of now.
    pub started_at: Timestamp,
    /// The salted fingerprint of the key that was used.
    pub fingerprint: Option<&'a str>,
    /// Whether this key ever got an answer.
    pub ever_worked: bool,
}

/// When and by which numbers a decision is made.
#[derive(Debug, Clone, Copy)]
pub struct Moment<'a> {
    /// The wall-clock time.
    pub now: Timestamp,
    /// The numbers of the failure table.
    pub settings: &'a PolicySettings,
    /// A drawn number in 0..1.
    pub jitter: f64,
}

/// The changes that the event makes to the records.
pub fn apply(holds: &[Versioned], event: Event<'_>, report: &Report<'_>, moment: &Moment<'_>) -> Vec<Change> {
    let now = moment.now;
    let covering = holds.iter().filter(|held| held.record.scope().covers(report.target));
    match event {
        Event::Success => covering.filter_map(|held| after_success(held, report, now)).collect(),
        Event::Abandoned => covering.filter_map(|held| freed(held, report, now)).collect(),
        Event::Failure(failure) => {
            let mut changes = after_failure(holds, failure, report, moment);
            // A probe that failed for another reason says nothing about this hold, but its lease must not linger.
            let others: Vec<Change> = covering
                .filter(|held| !changes.iter().any(|change| change.key == held.record.key()))
                .filter_map(|held| freed(held, report, now))
                .collect();
            changes.extend(others);
            changes
        }
    }
}

/// What the failure's class does to its own records.
fn after_failure(holds: &[Versioned], failure: &Failure, report: &Report<'_>, moment: &Moment<'_>) -> Vec<Change> {
    let now = moment.now;
    let Some(scope) = hold_scope(failure, report.target) else { return Vec::new() };
    let mut changes = Vec::new();
    match failure.class {
        Class::RateLimit => changes.push(cool(holds, failure, scope, report, moment)),
        Class::QuotaExhausted => {
            let dimension = failure.dimension.unwrap_or(Dimension::Other);
            let key = Key::Quarantine(scope.clone(), dimension);
            let existing = find(holds, &key);
            let old = existing.and_then(|held| match &held.record {
                HoldRecord::Quarantine(q) => Some(q),
                _ => None,
            });
            let new = quarantine::after_failure(old, failure, scope, report, now);
            changes.push(put(existing, key, HoldRecord::Quarantine(new)));
        }
        class => {
            let Some(family) = Family::of(class) else { return changes };
            // A provider that says when it is back is believed at once, whatever the count.
            if family == Family::Transient && failure.retry_at.is_some_and(|at| at > now) {
                changes.push(cool(holds, failure, Scope::deployment(report.target), report, moment));
            }
            let key = Key::Circuit(scope.clone(), family);
            let existing = find(holds, &key);
            let old = existing.and_then(|held| match &held.record {
                HoldRecord::Circuit(c) => Some(c),
                _ => None,
            });
            let new = circuit::after_failure(old, failure, scope, family, report, moment);
            changes.extend(new.map(|circuit| put(existing, key, HoldRecord::Circuit(circuit))));
        }
    }
    changes
}

fn cool(holds: &[Versioned], failure: &Failure, scope: Scope, report: &Report<'_>, moment: &Moment<'_>) -> Change {
    let key = Key::Cooldown(scope.clone(), failure.dimension.unwrap_or(Dimension::Other));
    let existing = find(holds, &key);
    let old = existing.and_then(|held| match &held.record {
        HoldRecord::Cooldown(c) => Some(c),
        _ => None,
    });
    let new = cooldown::after_failure(old, failure, scope, report, moment);
    put(existing, key, HoldRecord::Cooldown(new))
}

fn find<'a>(holds: &'a [Versioned], key: &Key) -> Option<&'a Versioned> {
    holds.iter().find(|held| held.record.key() == *key)
}

fn put(existing: Option<&Versioned>, key: Key, record: HoldRecord) -> Change {
    Change { key, expected: existing.map(|held| held.version), record: Some(record) }
}

/// What a success does to a record that covers the target; none when nothing changes.
fn after_success(held: &Versioned, report: &Report<'_>, now: Timestamp) -> Option<Change> {
    let change = |record: Option<HoldRecord>| {
        (record.as_ref() != Some(&held.record)).then(|| Change {
            key: held.record.key(),
            expected: Some(held.version),
            record,
        })
    };
    match &held.record {
        // It proves that the limit is over only when the call was sent after the limit was met.
        HoldRecord::Cooldown(c) if report.started_at >= c.since || c.until <= now => change(None),
        HoldRecord::Quarantine(q) if report.started_at >= q.since || q.until <= now => change(None),
        HoldRecord::Cooldown(_) | HoldRecord::Quarantine(_) => None,
        HoldRecord::Circuit(c) => change(c.after_success(report).map(HoldRecord::Circuit)),
    }
}

/// The record without the lease that the report's request holds on it; none when it holds none.
fn freed(held: &Versioned, report: &Report<'_>, now: Timestamp) -> Option<Change> {
    let record = match &held.record {
        HoldRecord::Quarantine(q) if is_holder(q.lease.as_ref(), report) => {
            HoldRecord::Quarantine(super::Quarantine { lease: None, ..q.clone() })
        }
        HoldRecord::Circuit(c) if is_holder(c.lease.as_ref(), report) => HoldRecord::Circuit(super::Circuit {
            lease: None,
            state: CircuitState::Open,
            retry_at: Some(now),
            ..c.clone()
        }),
        _ => return None,
    };
    Some(Change { key: record.key(), expected: Some(held.version), record: Some(record) })
}

/// What a failure holds back: the class's usual scope, or what the payload says where it says better. None for failures
/// that are the request's own.
pub fn hold_scope(failure: &Failure, target: &Target) -> Option<Scope> {
    let scope = match failure.class {
        Class::RateLimit | Class::QuotaExhausted => match failure.scope {
            ScopeLevel::Provider => Scope::provider(target.deployment.provider.clone()),
            ScopeLevel::Region => Scope::region(target),
            ScopeLevel::Credential => Scope::credential(target),
            ScopeLevel::Account => Scope::account(target),
            ScopeLevel::Model | ScopeLevel::Request => Scope::account_model(target),
        },
        Class::Billing => match failure.scope {
            ScopeLevel::Model => Scope::account_model(target),
            ScopeLevel::Credential => Scope::credential(target),
            _ => Scope::account(target),
        },
        Class::Auth => match failure.scope {
            ScopeLevel::Account => Scope::account(target),
            _ => Scope::credential(target),
        },
        Class::Permission => match failure.scope {
            ScopeLevel::Region => Scope::region(target),
            ScopeLevel::Account => Scope::account(target),
            ScopeLevel::Credential => Scope::credential(target),
            _ => Scope::deployment(target),
        },
        Class::ModelUnavailable => Scope::provider_model(target),
        Class::Network => Scope::provider(target.deployment.provider.clone()),
        Class::Overloaded | Class::ServerError | Class::Timeout => Scope::deployment(target),
        _ => return None,
    };
    Some(scope)
}
