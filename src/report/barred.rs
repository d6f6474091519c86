//! What a person barred, and who is left to ask.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::domain::{Deployment, LadderName, excerpt};
use crate::ladder::access;
use crate::policy::{HoldRecord, UsageSettings, Versioned, holds_now, returns_at};
use crate::store::Snapshot;

use super::chat::until_text;
use super::choice::selector_of;
use super::moment::rfc3339;
use super::status::{Known, hold_id, hold_json};

/// How many names stand in a line; JSON has them all.
const NAMES: usize = 6;

/// How much of the reason stands in a line, in characters.
const REASON: usize = 160;

/// What is barred by hand, or would be.
#[derive(Debug)]
pub struct Barred<'a> {
    /// The moment.
    pub now: Timestamp,
    /// Whether nothing was written in truth: the ids are not given yet then.
    pub dry_run: bool,
    /// The holds that were set.
    pub set: &'a [Versioned],
    /// The holds that these replaced.
    pub replaced: &'a [Versioned],
    /// The state with them.
    pub snapshot: &'a Snapshot,
    /// All deployments.
    pub known: &'a [Known],
    /// How near limits may come.
    pub bounds: &'a UsageSettings,
}

/// Who of a ladder can still be asked.
struct Left<'a> {
    ladder: &'a LadderName,
    of: usize,
    left: usize,
}

impl Barred<'_> {
    /// The object of `hold --json`.
    pub fn json(&self) -> Value {
        let hold = |held: &Versioned| {
            let mut hold = hold_json(held);
            let has_no_id = self.dry_run && !self.replaced.iter().any(|old| old.id == held.id);
            if let Some(hold) = hold.as_object_mut().filter(|_| has_no_id) {
                hold.insert("id".to_owned(), Value::Null);
            }
            hold
        };
        json!({
            "now": rfc3339(self.now),
            "dry_run": self.dry_run,
            "held": self.set.iter().map(hold).collect::<Vec<_>>(),
            "deployments": self.covered().map(|known| &known.target.deployment).collect::<Vec<_>>(),
            "ladders": self.left().iter().map(|Left { ladder, of, left }| {
                json!({"ladder": ladder, "deployments": of, "left": left})
            }).collect::<Vec<_>>(),
        })
    }

    /// For people: a line for each hold, and one for what they mean.
    pub fn text(&self) -> String {
        let holds: String = self.set.iter().map(|held| format!("{}\n", self.line(held))).collect();
        format!("{holds}{}\n", self.consequence())
    }

    fn line(&self, held: &Versioned) -> String {
        let record = &held.record;
        let name = match self.dry_run {
            true => format!("would hold {}", record.scope()),
            false => format!("held {} ({})", record.scope(), hold_id(held)),
        };
        let why = excerpt(record.evidence(), REASON);
        let why = if why.is_empty() { why } else { format!(": {why}") };
        let replaced = self.replaced.iter().find(|old| old.id == held.id);
        let still = replaced.filter(|old| holds_now(&old.record, self.now));
        let before = still.map_or(String::new(), |old| format!(" (before: {})", self.end(&old.record)));
        format!("{name} by hand {}{why}{before}", self.end(record))
    }

    fn end(&self, record: &HoldRecord) -> String {
        match returns_at(record) {
            Some(at) => until_text(at, self.now),
            None => format!("until `llmr reset {}`", selector_of(record.scope())),
        }
    }

    /// Who cannot be asked by it, and whom that leaves.
    fn consequence(&self) -> String {
        let names: Vec<String> = self.covered().map(|known| known.target.deployment.to_string()).collect();
        if names.is_empty() {
            return "no ladder asks it".to_owned();
        }
        let would = if self.dry_run { "would have" } else { "has" };
        let ladders = self.left().into_iter().map(|Left { ladder, of, left }| match left {
            0 => format!("ladder {ladder} {would} NOBODY left to ask"),
            left => format!("ladder {ladder} {would} {left} of {of} left to ask"),
        });
        let more = names.len().saturating_sub(NAMES);
        let listed = names.iter().take(NAMES).map(String::as_str).collect::<Vec<_>>().join(", ");
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let keeps = if self.dry_run { "it would keep back" } else { "it keeps back" };
        ladders.chain([format!("{keeps} {listed}{more}")]).collect::<Vec<_>>().join("; ")
    }

    /// The deployments that are known and cannot be asked by it.
    fn covered(&self) -> impl Iterator<Item = &Known> {
        let is_covered = |known: &&Known| self.set.iter().any(|held| held.record.scope().covers(&known.target));
        self.known.iter().filter(is_covered)
    }

    /// The ladders that ask one of these, each with how many of its deployments can be asked still.
    fn left(&self) -> Vec<Left<'_>> {
        let touched: BTreeSet<&LadderName> = self.covered().flat_map(Known::on).collect();
        let mut all: BTreeMap<&LadderName, BTreeMap<&Deployment, bool>> = BTreeMap::new();
        for known in self.known {
            let access = access(&self.snapshot.holds, &self.snapshot.usage, &known.asked(), self.bounds, self.now);
            let can = access.is_open() && !known.no_key;
            for ladder in known.on().filter(|ladder| touched.contains(ladder)) {
                all.entry(ladder).or_default().insert(&known.target.deployment, can);
            }
        }
        let count = |(ladder, steps): (_, BTreeMap<&Deployment, bool>)| Left {
            ladder,
            of: steps.len(),
            left: steps.values().filter(|can| **can).count(),
        };
        all.into_iter().map(count).collect()
    }
}
