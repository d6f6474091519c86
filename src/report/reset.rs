//! What a reset cleared, and what can be asked thanks to it.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::domain::Deployment;
use crate::ladder::{Eligibility, eligibility};
use crate::policy::{About, Finding, Meter, Versioned, VersionedCascade, VersionedMeter};

use super::ladder::cascade_line;
use super::moment::{distance, rfc3339};
use super::status::{Known, hold_id, hold_json, hold_line};

/// What was cleared, or would be.
#[derive(Debug)]
pub struct Reset<'a> {
    /// The moment.
    pub now: Timestamp,
    /// Whether nothing was cleared in truth.
    pub dry_run: bool,
    /// What is cleared.
    pub cleared: &'a [Versioned],
    /// The ladders that are open to all again.
    pub ladders: &'a [VersionedCascade],
    /// What is believed of models no more.
    pub findings: &'a [Finding],
    /// What is counted no more.
    pub meters: &'a [VersionedMeter],
    /// How many calls count no longer as under way.
    pub flights: usize,
    /// What stays.
    pub left: &'a [Versioned],
    /// All deployments.
    pub known: &'a [Known],
}

impl Reset<'_> {
    /// The object of `reset --json`.
    pub fn json(&self) -> Value {
        let (free, held) = self.touched();
        let held = held.iter().map(
            |(deployment, by)| json!({"deployment": deployment, "hold": hold_id(by), "reason": by.record.reason()}),
        );
        json!({
            "now": rfc3339(self.now),
            "dry_run": self.dry_run,
            "cleared": self.cleared.iter().map(hold_json).collect::<Vec<_>>(),
            "eligible": free,
            "held": held.collect::<Vec<_>>(),
            "ladders": self.ladders.iter().map(|there| &there.cascade.ladder).collect::<Vec<_>>(),
            "findings": self.findings.iter().map(finding_json).collect::<Vec<_>>(),
            "forgotten": self.meters.iter().map(|held| meter_json(&held.meter, self.now)).collect::<Vec<_>>(),
        })
    }

    /// For people: a line for each hold, then what can be asked now of what they covered, and what still cannot.
    pub fn text(&self) -> String {
        let verb = if self.dry_run { "would clear" } else { "cleared" };
        let mut out: String =
            self.cleared.iter().map(|held| format!("{verb} {}\n", hold_line(held, self.now))).collect();
        for there in self.ladders {
            out.push_str(&format!("{verb} {}\n", cascade_line(&there.cascade, self.now)));
        }
        let forgot = if self.dry_run { "would forget" } else { "forgot" };
        for finding in self.findings {
            out.push_str(&format!("{forgot} {}\n", finding_line(finding, self.now)));
        }
        for held in self.meters {
            out.push_str(&format!("{forgot} {}\n", meter_line(&held.meter, self.now)));
        }
        if self.flights > 0 {
            let verb = if self.dry_run { "would count" } else { "counts" };
            let calls = if self.flights == 1 { "1 call".to_owned() } else { format!("{} calls", self.flights) };
            out.push_str(&format!("{verb} {calls} no longer as under way\n"));
        }
        let (free, held) = self.touched();
        let can = if self.dry_run { "could be asked then" } else { "can be asked now" };
        if !free.is_empty() {
            let names: Vec<String> = free.iter().map(ToString::to_string).collect();
            out.push_str(&format!("{can}: {}\n", names.join(", ")));
        }
        for (deployment, by) in held {
            out.push_str(&format!("still held: {deployment}, by {}\n", hold_line(by, self.now)));
        }
        out
    }

    /// The deployments that the cleared holds covered: those that can be asked, and those that another hold keeps.
    fn touched(&self) -> (Vec<&Deployment>, Vec<(&Deployment, &Versioned)>) {
        let (mut free, mut held) = (Vec::new(), Vec::new());
        for known in self.known {
            let scopes = self.cleared.iter().map(|held| held.record.scope());
            let mut scopes = scopes.chain(self.meters.iter().map(|held| &held.meter.scope));
            if !scopes.any(|scope| scope.covers(&known.target)) {
                continue;
            }
            match eligibility(self.left, &known.target, self.now, known.caller()) {
                Eligibility::Held(by) => held.push((&known.target.deployment, by)),
                _ => free.push(&known.target.deployment),
            }
        }
        (free, held)
    }
}

/// What a refusal taught of a model, in one line.
pub fn finding_line(finding: &Finding, now: Timestamp) -> String {
    let Finding { provider, model, about, since, evidence, .. } = finding;
    let what = match about {
        About::Lacks(what) => format!("lacks {what}"),
        About::Window(tokens) => format!("has a window of {tokens} tokens"),
    };
    format!("that {provider}/{model} {what} (said {}: {evidence})", distance(*since, now))
}

fn finding_json(finding: &Finding) -> Value {
    json!({
        "provider": finding.provider,
        "model": finding.model,
        "what": finding.about.word(),
        "tokens": finding.about.tokens(),
        "since": rfc3339(finding.since),
        "until": rfc3339(finding.until),
    })
}

/// What is counted, in one line.
pub fn meter_line(meter: &Meter, now: Timestamp) -> String {
    let limit = meter.learned.as_ref().map_or(String::new(), |learned| format!(" of {:.0}", learned.value));
    format!("usage of {}: {:.0}{limit} {}", meter.scope, meter.level(now, None), meter.dimension)
}

fn meter_json(meter: &Meter, now: Timestamp) -> Value {
    json!({
        "scope": meter.scope.to_string(),
        "dimension": meter.dimension,
        "used": meter.level(now, None),
        "limit": meter.learned.as_ref().map(|learned| learned.value),
    })
}
