//! What was expected against what came.

use std::collections::BTreeMap;

use crate::catalog::parse_duration;
use crate::domain::{AttemptRecord, Dimension, ToolCall};
use crate::ladder::Skip;
use crate::policy::{
    Cascade, CascadeState, CircuitState, HoldRecord, Versioned, VersionedCascade, holds_now, returns_at,
};
use jiff::Timestamp;

use super::file::Expect;
use super::stage::Came;

/// Compares in the lines of the file's own notation; one entry per part that differs.
pub(super) fn differences(expect: &Expect, came: &Came, now: Timestamp) -> String {
    let mut out = String::new();
    let one = |value: &str| vec![value.to_owned()];
    let maybe = |value: Option<&str>| value.map(one).unwrap_or_default();
    for report in &came.reports {
        let record = &report.record;
        part(&mut out, "outcome", &one(expect.outcome.as_str()), &one(record.outcome.as_str()));
        if !came.at_once {
            let by = record.deployment.as_ref().map(ToString::to_string);
            part(&mut out, "by", &maybe(expect.by.as_deref()), &maybe(by.as_deref()));
            let retry_at = record.retry_at.map(|at| at.to_string());
            part(&mut out, "retry_at", &maybe(expect.retry_at.as_deref()), &maybe(retry_at.as_deref()));
        }
        if let Some(text) = &expect.text {
            part(&mut out, "text", &one(text), &one(&report.text));
        }
        if let Some(wanted) = &expect.calls {
            let line = |call: &ToolCall| format!("{}({})", call.name, call.arguments);
            part(&mut out, "calls", wanted, &report.tool_calls.iter().map(line).collect::<Vec<_>>());
        }
        if let Some(within) = &expect.within
            && parse_duration(within).is_none_or(|within| record.latency > within)
        {
            part(&mut out, "within", &one(within), &one(&format!("{:.1?}", record.latency)));
        }
        let error = record.error.clone().unwrap_or_default();
        if expect.error.as_ref().is_some_and(|wanted| !error.contains(wanted.as_str())) {
            part(&mut out, "error", &maybe(expect.error.as_deref()), &one(&error));
        }
    }
    let hits = |hits: &BTreeMap<String, usize>| -> Vec<String> {
        hits.iter().filter(|(_, count)| **count > 0).map(|(name, count)| format!("{name} {count}")).collect()
    };
    part(&mut out, "hits", &hits(&expect.hits), &hits(&came.hits));
    if let Some(wanted) = &expect.attempts {
        let attempts = came.reports.iter().flat_map(|report| &report.record.attempts);
        part(&mut out, "attempts", wanted, &attempts.map(attempt).collect::<Vec<_>>());
    }
    if let Some(wanted) = &expect.rules {
        let attempts = came.reports.iter().flat_map(|report| &report.record.attempts);
        part(&mut out, "rules", wanted, &attempts.map(rule).collect::<Vec<_>>());
    }
    if !came.at_once {
        let skipped = came.reports.last().map(|report| skips(&report.skipped)).unwrap_or_default();
        part(&mut out, "skipped", &expect.skipped, &skipped);
    }
    part(&mut out, "holds", &expect.holds, &holds(&came.holds, now));
    if let Some(wanted) = &expect.ladders {
        part(&mut out, "ladders", wanted, &came.ladders.iter().map(ladder).collect::<Vec<_>>());
    }
    if let Some(shown) = &expect.shown {
        part(&mut out, "shown", shown, &came.shown);
    }
    for (provider, wanted) in &expect.sent {
        let body = came.last_bodies.get(provider).cloned().unwrap_or_default();
        if !body.contains(wanted.as_str()) {
            part(&mut out, "sent", &one(wanted), &one(&body));
        }
    }
    for (provider, unwanted) in &expect.never_sent {
        let body = came.last_bodies.get(provider).cloned().unwrap_or_default();
        if body.contains(unwanted.as_str()) {
            part(&mut out, "never_sent", &[], &one(&body));
        }
    }
    out
}

/// What decided of an exchange.
fn rule(attempt: &AttemptRecord) -> String {
    let place = || attempt.extracted.map(|place| place.to_string());
    attempt.rule.clone().or_else(place).unwrap_or_else(|| "-".to_owned())
}

/// One part of the expectation; nothing when it is met.
fn part(out: &mut String, name: &str, wanted: &[String], came: &[String]) {
    let alike = wanted.len() == came.len() && wanted.iter().zip(came).all(|(wanted, came)| same(wanted, came));
    if alike {
        return;
    }
    out.push_str(&format!("    {name}:\n"));
    for line in came {
        let known = wanted.iter().any(|wanted| same(wanted, line));
        out.push_str(&format!("      {} {line}\n", if known { ' ' } else { '+' }));
    }
    for line in wanted.iter().filter(|wanted| !came.iter().any(|came| same(wanted, came))) {
        out.push_str(&format!("      - {line}\n"));
    }
    if wanted.len() == came.len() && wanted.iter().all(|wanted| came.iter().any(|came| same(wanted, came))) {
        out.push_str("      (in another order)\n");
    }
}

/// Whether the lines are the same word by word, `A..B` being any moment between the two.
fn same(wanted: &str, came: &str) -> bool {
    let within = |wanted: &str, came: &str| -> Option<bool> {
        let (from, to) = wanted.split_once("..")?;
        let (from, to): (Timestamp, Timestamp) = (from.parse().ok()?, to.parse().ok()?);
        came.parse::<Timestamp>().ok().map(|at| from <= at && at <= to)
    };
    let (wanted, came): (Vec<&str>, Vec<&str>) = (wanted.split(' ').collect(), came.split(' ').collect());
    wanted.len() == came.len()
        && wanted.iter().zip(&came).all(|(wanted, came)| wanted == came || within(wanted, came) == Some(true))
}

fn attempt(attempt: &AttemptRecord) -> String {
    let status = attempt.status.map_or("-".to_owned(), |status| status.to_string());
    let class = attempt.class.map_or("answered", |class| class.as_str());
    let class = attempt.given_up.map_or(class, |_| "given_up");
    format!("{} {} {status} {class}", attempt.deployment, attempt.kind)
}

fn skips(skipped: &[Skip]) -> Vec<String> {
    let line = |skip: &Skip| {
        let until = skip.until.map_or(String::new(), |at| format!(" until {at}"));
        let trust = skip.provenance.map_or(String::new(), |provenance| format!(" {provenance}"));
        format!("{} {}{until}{trust}", skip.deployment, skip.reason.word())
    };
    skipped.iter().map(line).collect()
}

fn ladder(there: &VersionedCascade) -> String {
    let Cascade { ladder, state, streak, slots, until, .. } = &there.cascade;
    match state {
        CascadeState::Closed => format!("{ladder} closed x{streak}"),
        CascadeState::Open => format!("{ladder} open x{streak} until {until}"),
        CascadeState::Recovering => format!("{ladder} recovering x{streak} slots {slots}"),
    }
}

/// All holds that hold or count, sorted by their lines.
fn holds(holds: &[Versioned], now: Timestamp) -> Vec<String> {
    let mut lines: Vec<String> = holds.iter().filter_map(|held| hold(&held.record, now)).collect();
    lines.sort();
    lines
}

fn hold(record: &HoldRecord, now: Timestamp) -> Option<String> {
    let (kind, scope, class) = (record.kind(), record.scope(), record.class());
    if let HoldRecord::Circuit(circuit) = record
        && circuit.state == CircuitState::Closed
    {
        let count = circuit.consecutive;
        return (count > 0).then(|| format!("{kind} {scope} closed {class} x{count}"));
    }
    if !holds_now(record, now) {
        return None;
    }
    let limit = match record {
        HoldRecord::Cooldown(hold) => hold.dimension,
        HoldRecord::Quarantine(hold) => hold.dimension,
        HoldRecord::Circuit(_) => Dimension::Other,
    };
    let limit = if limit == Dimension::Other { String::new() } else { format!("{limit} ") };
    let until = returns_at(record).map_or(String::new(), |at| format!("until {at} "));
    let probe = record.probe_at().filter(|at| Some(*at) != returns_at(record));
    let probe = probe.map_or(String::new(), |at| format!(" probe {at}"));
    Some(format!("{kind} {scope} {limit}{} {until}{}{probe}", record.reason(), record.provenance()))
}
