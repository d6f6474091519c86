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
use super::record::{Change, CircuitState, Cooldown, Family, HoldRecord, Key, Quarantine, Versioned};
use super::until::later;
use super::{circuit, cooldown, history, quarantine};

/// The changes that the event makes to the records.
pub fn apply(holds: &[Versioned], event: Event<'_>, report: &Report<'_>, moment: &Moment<'_>) -> Vec<Change> {
    let now = moment.now;
    let covering = holds.iter().filter(|held| held.record.scope().covers(report.target));
    match event {
        Event::Success => covering.filter_map(|held| after_success(held, report, now)).collect(),
        Event::Abandoned => covering.filter_map(|held| freed(held, report, now, now)).collect(),
        Event::Failure(failure) => {
            let mut changes = after_failure(holds, failure, report, moment);
            // A probe that failed for another reason says nothing about this hold, but its lease must not linger. Where
            // that reason holds nothing back, the next look is not the very next request.
            let again = if changes.is_empty() { later(now, moment.settings.breaker.open) } else { now };
            let others: Vec<Change> = covering
                .filter(|held| !changes.iter().any(|change| held.record.has_key(&change.key)))
                .filter_map(|held| freed(held, report, now, again))
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
    match failure.class {
        Class::RateLimit => limit(holds, failure, scope, report, moment),
        Class::QuotaExhausted => vec![spend(holds, failure, scope, report, now, quarantine::after_failure)],
        class => {
            let Some(family) = Family::of(class) else { return Vec::new() };
            let mut changes = Vec::new();
            // A provider that says when it is back is believed at once, whatever the count.
            if family == Family::Transient && failure.retry_at.is_some_and(|at| at > now) {
                let new = cool(holds, failure, Scope::deployment(report.target), report, moment);
                changes.push(put(holds, HoldRecord::Cooldown(new)));
            }
            let old = find(holds, &Key::Circuit(scope.clone(), family)).and_then(|held| held.record.as_circuit());
            let failure = history::told(failure, holds, report, now);
            let new = circuit::after_failure(old, &failure, scope, family, report, moment);
            changes.extend(new.map(|circuit| put(holds, HoldRecord::Circuit(circuit))));
            changes
        }
    }
}

/// A limit cools; one that comes again however well its waits are obeyed is suspected to be a spent quota.
fn limit(
    holds: &[Versioned],
    failure: &Failure,
    scope: Scope,
    report: &Report<'_>,
    moment: &Moment<'_>,
) -> Vec<Change> {
    let cooled = cool(holds, failure, scope.clone(), report, moment);
    let is_news = !is_quarantined(holds, &cooled, report, moment.now);
    let suspected = (is_news && history::is_suspicious(&cooled, moment.now)).then(|| {
        let spent = history::as_suspected_quota(failure, cooled.obeyed);
        spend(holds, &spent, scope, report, moment.now, quarantine::after_suspicion)
    });
    [put(holds, HoldRecord::Cooldown(cooled))].into_iter().chain(suspected).collect()
}

/// Whether the limit is quarantined already, and this is not the probe that was to look.
fn is_quarantined(holds: &[Versioned], limit: &Cooldown, report: &Report<'_>, now: Timestamp) -> bool {
    let key = Key::Quarantine(limit.scope.clone(), limit.dimension);
    let quarantine = find(holds, &key).and_then(|held| held.record.as_quarantine());
    quarantine.is_some_and(|quarantine| quarantine.until > now && !report.holds(quarantine.lease.as_ref()))
}

fn cool(holds: &[Versioned], failure: &Failure, scope: Scope, report: &Report<'_>, moment: &Moment<'_>) -> Cooldown {
    let key = Key::Cooldown(scope.clone(), failure.dimension.unwrap_or(Dimension::Other));
    let old = find(holds, &key).and_then(|held| held.record.as_cooldown());
    cooldown::after_failure(old, failure, scope, report, moment)
}

/// What makes a quarantine of the one that there was and of what happened.
type Quarantined = fn(Option<&Quarantine>, &Failure, Scope, &Report<'_>, Timestamp) -> Quarantine;

fn spend(
    holds: &[Versioned],
    failure: &Failure,
    scope: Scope,
    report: &Report<'_>,
    now: Timestamp,
    quarantined: Quarantined,
) -> Change {
    let key = Key::Quarantine(scope.clone(), failure.dimension.unwrap_or(Dimension::Other));
    let old = find(holds, &key).and_then(|held| held.record.as_quarantine());
    put(holds, HoldRecord::Quarantine(quarantined(old, failure, scope, report, now)))
}

fn find<'a>(holds: &'a [Versioned], key: &Key) -> Option<&'a Versioned> {
    holds.iter().find(|held| held.record.has_key(key))
}

/// The record in place of the one that there is, or as a new one.
fn put(holds: &[Versioned], record: HoldRecord) -> Change {
    let key = record.key();
    Change { expected: find(holds, &key).map(|held| held.version), key, record: Some(record) }
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
        // What a person bars, no answer lifts.
        record if record.is_by_hand() => None,
        record if was_ahead(record.since(), now) => change(None),
        // It proves that the limit is over only when the call was sent after the limit was met.
        HoldRecord::Cooldown(c) if report.started_at >= c.since || c.until <= now => change(None),
        HoldRecord::Quarantine(q) if report.started_at >= q.since || q.until <= now => change(None),
        // The probe was let through after the quota was spent, whatever the clocks say.
        HoldRecord::Quarantine(q) if report.holds(q.lease.as_ref()) => change(None),
        HoldRecord::Cooldown(_) | HoldRecord::Quarantine(_) => None,
        HoldRecord::Circuit(c) => change(c.after_success(report).map(HoldRecord::Circuit)),
    }
}

/// The record without the lease that the report's request holds on it, to be looked at again at `again`; none when it
/// holds none.
fn freed(held: &Versioned, report: &Report<'_>, now: Timestamp, again: Timestamp) -> Option<Change> {
    let record = match &held.record {
        HoldRecord::Quarantine(q) if report.holds(q.lease.as_ref()) => {
            HoldRecord::Quarantine(Quarantine { lease: None, ..q.clone() })
        }
        HoldRecord::Circuit(c) if report.holds(c.lease.as_ref()) => HoldRecord::Circuit(super::Circuit {
            lease: None,
            state: CircuitState::Open,
            // Who came with another key or config entry came before the time, which still stands for the others.
            retry_at: c.retry_at.filter(|at| *at > now).or(Some(again)),
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
