//! The one door: what a failure or a success of a call changes.
//!
//! Every call goes through it, whoever made it, or a circuit would open on one path and never close on the other. A
//! failure touches the one record of its class and scope and no wider one: two models of a key that fail are two facts
//! about models, not one about the key. A success lifts the holds that cover the target, as far as they were set before
//! the call was sent; an answer to an older call proves nothing about now.

use jiff::Timestamp;

use crate::domain::{Class, Dimension, Failure, Scope, ScopeLevel, Target};

use super::call::{Event, Moment, Report};
use super::gate::was_ahead;
use super::record::{Change, CircuitState, Family, HoldRecord, Key, Versioned};
use super::{circuit, cooldown, quarantine};

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
        record if was_ahead(record.since(), now) => change(None),
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
        HoldRecord::Quarantine(q) if report.holds(q.lease.as_ref()) => {
            HoldRecord::Quarantine(super::Quarantine { lease: None, ..q.clone() })
        }
        HoldRecord::Circuit(c) if report.holds(c.lease.as_ref()) => HoldRecord::Circuit(super::Circuit {
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
