//! A store of invented time for the tests: what `apply` answers is written at once.

use jiff::Timestamp;

use super::rivals::decide;
use super::*;
use crate::domain::{Class, Failure, Provenance, RequestId, ScopeLevel, Target};

pub(super) fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_790_000_000 + second).expect("a time")
}

pub(super) fn target(text: &str) -> Target {
    Target { deployment: text.parse().expect("a deployment"), account: "acme".into(), region: None }
}

/// A store of its own kind: what `apply` answers is written at once.
pub(super) struct World {
    pub(super) holds: Vec<Versioned>,
    pub(super) settings: PolicySettings,
    pub(super) next_id: i64,
}

impl World {
    pub(super) fn new() -> Self {
        Self { holds: Vec::new(), settings: PolicySettings::default(), next_id: 1 }
    }

    /// Writes what was decided on what is there.
    pub(super) fn write(&mut self, changes: &[Change]) {
        let is_there = |key: &Key| self.holds.iter().any(|held| held.record.key() == *key);
        assert!(changes.iter().all(|change| change.record.is_some() || is_there(&change.key)), "deletes what is there");
        assert!(self.try_write(changes), "decided on what was there");
    }

    pub(super) fn happens(&mut self, event: Event<'_>, call: &Call<'_>, now: Timestamp) {
        let changes = decide(&self.holds, event, call, now, &self.settings);
        self.write(&changes);
    }

    pub(super) fn fails(&mut self, failure: &Failure, call: &Call<'_>, now: Timestamp) {
        self.happens(Event::Failure(failure), call, now);
    }

    pub(super) fn gate(&self, target: &Target, now: Timestamp) -> Gate {
        self.gate_with(target, now, Some("k1"))
    }

    pub(super) fn gate_with(&self, target: &Target, now: Timestamp, key: Option<&str>) -> Gate {
        let covering = self.holds.iter().filter(|held| held.record.scope().covers(target));
        covering.map(|held| gate(&held.record, now, Caller { key, entry: None })).fold(Gate::Open, |worst, one| match (
            worst, one,
        ) {
            (Gate::Held, _) | (_, Gate::Held) => Gate::Held,
            (Gate::Probe, _) | (_, Gate::Probe) => Gate::Probe,
            _ => Gate::Open,
        })
    }

    pub(super) fn claim_all(&mut self, target: &Target, holder: &str, now: Timestamp, until: Timestamp) {
        let changes: Vec<Change> = self
            .holds
            .iter()
            .filter(|held| {
                held.record.scope().covers(target)
                    && gate(&held.record, now, Caller { key: Some("k1"), entry: None }) == Gate::Probe
            })
            .filter_map(|held| claim(held, &RequestId::new(holder), until))
            .collect();
        self.write(&changes);
    }
}

pub(super) struct Call<'a> {
    pub(super) target: &'a Target,
    pub(super) id: &'a str,
    pub(super) sent: Timestamp,
    pub(super) key: Option<&'a str>,
    pub(super) siblings: &'a [&'a str],
    pub(super) entry: Option<&'a str>,
    pub(super) last_success: Option<Timestamp>,
}

impl<'a> Call<'a> {
    pub(super) fn new(target: &'a Target, id: &'a str, sent: Timestamp) -> Self {
        Self { target, id, sent, key: Some("k1"), siblings: &[], entry: None, last_success: None }
    }
}

pub(super) fn failure(class: Class) -> Failure {
    Failure::new(class, ScopeLevel::Model, "test", "evidence")
}

pub(super) fn stated(class: Class, until: Timestamp) -> Failure {
    Failure { retry_at: Some(until), provenance: Provenance::Fact, ..failure(class) }
}

/// How many seconds after `from` the deployment passes again; none when it never does. The gate can only change at a
/// moment that a record names, so those are tried, and each must be held until just before.
pub(super) fn returns_after(world: &World, target: &Target, from: i64) -> Option<i64> {
    let mut moments: Vec<i64> = world
        .holds
        .iter()
        .flat_map(|held| [returns_at(&held.record), held.record.probe_at()])
        .flatten()
        .map(|moment| moment.as_second() - at(0).as_second())
        .filter(|second| *second > from)
        .chain([from])
        .collect();
    moments.sort_unstable();
    let second = moments.into_iter().find(|second| world.gate(target, at(*second)) != Gate::Held)?;
    assert!(second == from || world.gate(target, at(second - 1)) == Gate::Held, "held until just before");
    Some(second - from)
}
