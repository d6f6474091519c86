//! Every deployment: eligible, or held by what, why, until when and who said so.

mod held;
mod rows;
#[cfg(test)]
mod tests;
mod usage;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::domain::{Deployment, LadderName, Target};
use crate::ladder::{Access, Asked, access};
use crate::policy::{
    Caller, Cascade, CircuitState, Family, Gauge, Grade, HoldRecord, LimitSource, Reading, UsageSettings, Versioned,
    holds_now, readings, returns_at,
};
use crate::store::{Health, Snapshot};

use super::choice::Choice;
use super::grade::grade_json;
use super::ladder::cascade_json;
use super::moment::rfc3339;
use super::tone::{Tone, Toned};

pub use held::hold_line;
pub(super) use held::named;

/// The word for a limit that is too near, as `plan` has it.
const NEAR_LIMIT: &str = "near_limit";

/// A deployment that config or the state knows.
#[derive(Debug, Clone, PartialEq)]
pub struct Known {
    /// What it is.
    pub target: Target,
    /// Where it stands: each ladder with the index of its step.
    pub ladders: Vec<(LadderName, usize)>,
    /// The ladders that ask it when nobody else is left.
    pub last_resort_of: Vec<LadderName>,
    /// The salted fingerprint of its key as it is now; none when it was not looked at.
    pub fingerprint: Option<String>,
    /// That of what the config says of it.
    pub entry: Option<String>,
    /// Whether its key cannot be had here, so that who asks from here passes it over; nothing holds it for others.
    pub no_key: bool,
    /// Its allowances.
    pub gauges: Vec<Gauge>,
    /// How good its answers lately were, by ladder.
    pub graded: Vec<Graded>,
}

/// How good a deployment lately was at a ladder's work.
#[derive(Debug, Clone, PartialEq)]
pub struct Graded {
    /// The ladder.
    pub ladder: LadderName,
    /// How good.
    pub grade: Grade,
    /// Why it goes last there for requests that ask for a shape.
    pub put_last: Option<String>,
}

impl Known {
    /// The ladders that ask it, as a step or when nobody else is left.
    pub fn on(&self) -> impl Iterator<Item = &LadderName> {
        self.ladders.iter().map(|(name, _)| name).chain(&self.last_resort_of)
    }

    /// With what it would be asked.
    pub fn caller(&self) -> Caller<'_> {
        Caller { key: self.fingerprint.as_deref(), entry: self.entry.as_deref() }
    }

    /// The ladders for whose work its answers are not good enough, with why.
    pub fn put_last(&self) -> impl Iterator<Item = (&LadderName, &str)> {
        self.graded.iter().filter_map(|graded| Some((&graded.ladder, graded.put_last.as_deref()?)))
    }

    /// What decides whether it may be asked.
    pub fn asked(&self) -> Asked<'_> {
        Asked { target: &self.target, gauges: &self.gauges, caller: self.caller() }
    }
}

/// The state at one moment.
#[derive(Debug)]
pub struct Status<'a> {
    /// The moment.
    pub now: Timestamp,
    /// All deployments.
    pub known: &'a [Known],
    /// All records, and what was used of each allowance.
    pub snapshot: &'a Snapshot,
    /// How near limits may come.
    pub bounds: &'a UsageSettings,
    /// When each deployment last worked and last failed.
    pub health: &'a [Health],
    /// What is to be shown.
    pub choice: &'a Choice,
    /// Whether deployments that nothing holds are left out.
    pub only_held: bool,
}

impl Status<'_> {
    /// The object of `status --json`.
    pub fn json(&self) -> Value {
        json!({
            "now": rfc3339(self.now),
            "deployments": self.shown().map(|known| self.deployment_json(known)).collect::<Vec<_>>(),
            "holds": self.shown_holds().map(hold_json).collect::<Vec<_>>(),
            "ladders": self.shown_ladders().into_iter().map(|ladder| {
                json!({"ladder": ladder, "cascade": cascade_json(self.cascade(ladder))})
            }).collect::<Vec<_>>(),
        })
    }

    /// For people, at most `width` columns where names, times and ids leave it the choice.
    pub fn text(&self, width: u16) -> Toned {
        let mut out = Toned::default();
        let width = usize::from(width);
        self.write_ladders(&mut out, width);
        let held = self.shown_holds().next().is_some();
        match (out.runs().is_empty(), held) {
            (true, false) if self.known.is_empty() && self.choice.is_everything() => {
                out.line(Tone::Plain, "nothing is known and nothing is held");
            }
            (_, false) => out.line(Tone::Plain, "nothing is held"),
            (true, true) => self.write_holds(&mut out, width),
            (false, true) => {
                out.line(Tone::Strong, "held (`llmr reset ID` clears one, `llmr log REQUEST` shows how it came)");
                self.write_holds(&mut out, width);
            }
        }
        self.write_usage(&mut out, width);
        out
    }

    /// The deployments that are to be shown.
    fn shown(&self) -> impl Iterator<Item = &Known> {
        self.known.iter().filter(|known| {
            self.choice.means(&known.target, &self.snapshot.holds)
                && !(self.only_held && self.access(known) == Access::Free)
        })
    }

    /// The holds that are to be shown.
    fn shown_holds(&self) -> impl Iterator<Item = &Versioned> {
        let active = self.snapshot.holds.iter().filter(|held| holds_now(&held.record, self.now));
        active.filter(|held| self.choice.means_hold(held, self.known))
    }

    /// The ladders of which something is to be shown, sorted; without a config those that fell through.
    fn shown_ladders(&self) -> Vec<&LadderName> {
        let meant = self.known.iter().filter(|known| self.choice.means(&known.target, &self.snapshot.holds));
        let meant = meant.flat_map(Known::on);
        let is_known = |name: &LadderName| self.known.iter().flat_map(Known::on).any(|ladder| ladder == name);
        let fallen = self.snapshot.cascades.iter().map(|there| &there.cascade.ladder);
        let strange = fallen.filter(|name| self.choice.is_everything() && !is_known(name));
        let mut ladders: Vec<&LadderName> = meant.chain(strange).collect();
        ladders.sort();
        ladders.dedup();
        ladders
    }

    /// What is remembered of requests that fell through the ladder.
    fn cascade(&self, ladder: &LadderName) -> Option<&Cascade> {
        let cascades = self.snapshot.cascades.iter().map(|there| &there.cascade);
        cascades.filter(|cascade| cascade.ladder == *ladder).find(|cascade| !cascade.is_void(self.now))
    }

    fn covering(&self, target: &Target) -> impl Iterator<Item = &Versioned> {
        self.snapshot.holds.iter().filter(|held| held.record.scope().covers(target))
    }

    /// Whether it may be asked. A key that was not looked at is taken for the one that failed.
    fn access(&self, known: &Known) -> Access<'_> {
        access(&self.snapshot.holds, &self.snapshot.usage, &known.asked(), self.bounds, self.now)
    }

    /// Whether it may be asked now: nothing holds it, or it may be probed, and no limit is too near.
    pub(super) fn is_eligible(&self, known: &Known) -> bool {
        self.access(known).is_open()
    }

    pub(super) fn readings(&self, known: &Known) -> Vec<Reading> {
        readings(&known.target, &known.gauges, &self.snapshot.usage, self.now)
    }

    fn health(&self, deployment: &Deployment) -> Option<&Health> {
        self.health.iter().find(|health| health.deployment == *deployment)
    }

    fn deployment_json(&self, known: &Known) -> Value {
        let Known { target, ladders, .. } = known;
        let access = self.access(known);
        let (held, full) = match &access {
            Access::Held(by) => (Some(*by), None),
            Access::Full(tight) => (None, Some(tight)),
            Access::Free | Access::Probe(_) => (None, None),
        };
        let health = self.health(&target.deployment);
        let cooldowns = self
            .covering(target)
            .filter(|held| holds_now(&held.record, self.now))
            .filter(|held| matches!(held.record, HoldRecord::Cooldown(_)))
            .map(hold_json);
        let quarantine = self
            .covering(target)
            .find(|held| matches!(held.record, HoldRecord::Quarantine(_)) && holds_now(&held.record, self.now));
        json!({
            "deployment": target.deployment,
            "ladders": ladders.iter().map(|(l, s)| json!({"ladder": l, "step": s})).collect::<Vec<_>>(),
            "eligible": held.is_none() && full.is_none(),
            "reason": held.map(|by| by.record.reason()).or(full.map(|_| NEAR_LIMIT)),
            "until": held.and_then(|by| returns_at(&by.record)).or(full.and_then(|tight| tight.until)).map(rfc3339),
            "provenance": held.map(|by| by.record.provenance()).or(full.map(|tight| tight.provenance)),
            "circuit": self.circuit_json(target),
            "cooldowns": cooldowns.collect::<Vec<_>>(),
            "quarantine": quarantine.map(hold_json),
            "usage": self.readings(known).iter().map(reading_json).collect::<Vec<_>>(),
            "last_success": health.and_then(|h| h.last_success).map(rfc3339),
            "last_failure": health.and_then(|h| h.last_failure).map(rfc3339),
            "quality": known.graded.iter().map(graded_json).collect::<Vec<_>>(),
        })
    }

    /// The circuit that matters most to the target: an open one before one that counts, and what a person bars first of
    /// all, as long as it does.
    fn circuit_json(&self, target: &Target) -> Value {
        let is_over = |record: &HoldRecord| record.is_by_hand() && !holds_now(record, self.now);
        let records = self.covering(target).map(|held| &held.record).filter(|record| !is_over(record));
        let circuits = records.filter_map(HoldRecord::as_circuit);
        let rank = |state| match state {
            CircuitState::Closed => 0,
            CircuitState::HalfOpen => 1,
            CircuitState::Open => 2,
        };
        match circuits
            .max_by_key(|circuit| (circuit.family == Family::Operator, rank(circuit.state), circuit.consecutive))
        {
            Some(circuit) => json!({
                "state": circuit.state,
                "failures": circuit.consecutive,
                "opened_at": circuit.opened_at.map(rfc3339),
                "retry_at": circuit.retry_at.map(rfc3339),
                "cause": circuit.class,
            }),
            None => json!({
                "state": CircuitState::Closed, "failures": 0, "opened_at": null, "retry_at": null, "cause": null,
            }),
        }
    }
}

/// The short name of a hold: its kind's letter and the store's number.
pub fn hold_id(held: &Versioned) -> String {
    let letter = match held.record {
        HoldRecord::Cooldown(_) => 'c',
        HoldRecord::Quarantine(_) => 'q',
        HoldRecord::Circuit(_) => 'b',
    };
    format!("{letter}{}", held.id)
}

/// How good it is at one ladder's work.
fn graded_json(graded: &Graded) -> Value {
    let mut object = Map::new();
    object.insert("ladder".to_owned(), json!(graded.ladder));
    object.extend(grade_json(&graded.grade));
    object.insert("put_last".to_owned(), json!(graded.put_last));
    Value::Object(object)
}

/// What is used of one allowance.
fn reading_json(reading: &Reading) -> Value {
    let Reading { dimension, used, limit, resets_at, .. } = reading;
    let thousandth = |number: f64| (number * 1000.0).round() / 1000.0;
    let source = limit.as_ref().map(|limit| match &limit.source {
        LimitSource::Config => "config",
        LimitSource::Stated(place) => place,
        LimitSource::Catalogue => "catalogue",
    });
    json!({
        "dimension": dimension,
        "used": thousandth(*used),
        "limit": limit.as_ref().map(|limit| limit.value),
        "resets_at": resets_at.map(rfc3339),
        "source": source,
    })
}

/// One hold.
pub fn hold_json(held: &Versioned) -> Value {
    let record = &held.record;
    let dimension = match record {
        HoldRecord::Cooldown(c) => Some(c.dimension),
        HoldRecord::Quarantine(q) => Some(q.dimension),
        HoldRecord::Circuit(_) => None,
    };
    json!({
        "id": hold_id(held),
        "kind": record.kind(),
        "scope": record.scope().to_string(),
        "dimension": dimension,
        "class": record.class(),
        "since": rfc3339(record.since()),
        "until": returns_at(record).map(rfc3339),
        "probe_at": record.probe_at().map(rfc3339),
        "provenance": record.provenance(),
        "evidence": record.evidence(),
        "request_id": record.request_id(),
    })
}
