//! Each deployment: how it stands and how it does.

use std::collections::HashMap;

use jiff::Timestamp;

use crate::domain::{Class, Deployment, LadderName, Provenance, Target, printable};
use crate::ladder::{Access, access};
use crate::metrics::Figures;
use crate::policy::{Family, HoldRecord, Versioned, returns_at};
use crate::report::hold_id;

use super::super::reading::Reading;
use super::super::sign::State;

/// A deployment.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::dash) struct DeploymentLine {
    /// Its place among those that are known.
    pub(in crate::dash) known: usize,
    pub(in crate::dash) target: Target,
    /// Its name, fit for a terminal.
    pub(in crate::dash) name: String,
    pub(in crate::dash) ladders: Vec<LadderName>,
    pub(in crate::dash) state: State,
    pub(in crate::dash) class: Option<Class>,
    /// Why, in a word or two.
    pub(in crate::dash) why: String,
    /// When it can be asked again, or looked at.
    pub(in crate::dash) until: Option<Timestamp>,
    /// Whether that is the time of a probe, and nobody knows whether it will work.
    pub(in crate::dash) is_probe: bool,
    pub(in crate::dash) provenance: Option<Provenance>,
    /// The hold that counts.
    pub(in crate::dash) hold: Option<String>,
    /// Attempts of the span that failed.
    pub(in crate::dash) failures: u64,
    pub(in crate::dash) figures: Figures,
    pub(in crate::dash) last_success: Option<Timestamp>,
}

pub(super) fn lines(reading: &Reading) -> Vec<DeploymentLine> {
    let health: HashMap<&Deployment, Option<Timestamp>> =
        reading.health.iter().map(|health| (&health.deployment, health.last_success)).collect();
    let held = ByProvider::of(&reading.snapshot.holds);
    let line = |(at, known): (usize, &crate::report::Known)| {
        let deployment = &known.target.deployment;
        let figures = reading.measured.deployments.get(deployment).cloned().unwrap_or_default();
        let holds = held.of_provider(deployment);
        let usage = &reading.snapshot.usage;
        let standing = access(holds, usage, &known.asked(), &reading.bounds, reading.now);
        let mut line = DeploymentLine {
            known: at,
            target: known.target.clone(),
            name: printable(&deployment.to_string()),
            ladders: known.on().cloned().collect(),
            state: State::Free,
            class: None,
            why: String::new(),
            until: None,
            is_probe: false,
            provenance: None,
            hold: None,
            failures: figures.classes.iter().map(|(_, count)| count).sum(),
            figures,
            last_success: health.get(deployment).copied().flatten(),
        };
        line.stand(&standing);
        if let (State::Free, Some((ladder, _))) = (line.state, known.put_last().next()) {
            line.why = format!("put last by {ladder}");
        }
        if known.no_key && line.state.is_available() {
            line.state = State::NoKey;
            "its key cannot be had here".clone_into(&mut line.why);
        }
        line
    };
    reading.known.iter().enumerate().map(line).collect()
}

impl DeploymentLine {
    fn stand(&mut self, access: &Access<'_>) {
        match access {
            Access::Free => {}
            Access::Probe(claims) => {
                self.state = State::Probe;
                if let Some(by) = claims.first() {
                    self.held_by(by);
                    self.until = None;
                }
            }
            Access::Held(by) => {
                self.state = state_of(&by.record);
                self.held_by(by);
                self.until = returns_at(&by.record);
                self.is_probe = by.record.needs_a_person() && !by.record.is_by_hand();
            }
            Access::Full(tight) => {
                self.state = State::Full;
                self.why = tight.reading();
                self.until = tight.until;
                self.provenance = Some(tight.provenance);
            }
        }
    }

    fn held_by(&mut self, by: &Versioned) {
        self.class = (!by.record.is_by_hand()).then(|| by.record.class());
        self.why = match &by.record {
            record if record.is_by_hand() => "by hand".to_owned(),
            HoldRecord::Cooldown(cooldown) => format!("{} {}", cooldown.class, cooldown.dimension),
            HoldRecord::Quarantine(quarantine) => format!("quota {}", quarantine.dimension),
            HoldRecord::Circuit(circuit) => circuit.class.to_string(),
        };
        self.provenance = Some(by.record.provenance());
        self.hold = Some(hold_id(by));
    }
}

/// The state that a hold puts a deployment into.
pub(super) fn state_of(record: &HoldRecord) -> State {
    match record {
        HoldRecord::Cooldown(_) => State::Cooling,
        HoldRecord::Quarantine(_) => State::Quarantined,
        HoldRecord::Circuit(circuit) if circuit.family == Family::Transient => State::Open,
        HoldRecord::Circuit(_) => State::Barred,
    }
}

/// The holds by provider, so that a thousand deployments are not each held against all of them.
struct ByProvider {
    holds: HashMap<String, Vec<Versioned>>,
}

impl ByProvider {
    fn of(holds: &[Versioned]) -> Self {
        let mut by: HashMap<String, Vec<Versioned>> = HashMap::new();
        for held in holds {
            by.entry(held.record.scope().provider.to_string()).or_default().push(held.clone());
        }
        Self { holds: by }
    }

    fn of_provider(&self, deployment: &Deployment) -> &[Versioned] {
        self.holds.get(deployment.provider.as_str()).map(Vec::as_slice).unwrap_or_default()
    }
}
