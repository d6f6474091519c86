//! Each ladder: whether anybody would answer, and how far from that it is.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::domain::LadderName;
use crate::policy::{Cascade, CascadeState};

use super::DeploymentLine;
use crate::dash::reading::{Pace, Reading, Rungs};
use crate::dash::sign::State;

/// A step as it stands.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::dash) struct RungLine {
    /// Its place among the deployments that are known.
    pub(in crate::dash) known: usize,
    pub(in crate::dash) name: String,
    pub(in crate::dash) state: State,
    /// The class, or what else there is to say in a word.
    pub(in crate::dash) word: String,
    pub(in crate::dash) until: Option<Timestamp>,
    /// Whether that is the time of a probe, and a person must act in truth.
    pub(in crate::dash) is_probe: bool,
}

/// A ladder as it stands.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::dash) struct LadderLine {
    pub(in crate::dash) ladder: LadderName,
    pub(in crate::dash) steps: Vec<RungLine>,
    pub(in crate::dash) last_resort: Option<RungLine>,
    /// Steps that can be asked.
    pub(in crate::dash) available: usize,
    /// Groups of steps that fall together: all, and those of which a step can be asked.
    pub(in crate::dash) domains: usize,
    pub(in crate::dash) domains_left: usize,
    /// What is remembered of requests that fell through, if the ladder turns requests away for it.
    pub(in crate::dash) cascade: Option<Cascade>,
    /// When the first step returns, where none can be asked.
    pub(in crate::dash) returns: Option<Timestamp>,
    pub(in crate::dash) pace: Pace,
}

impl LadderLine {
    /// Whether a request that comes now is answered by nobody.
    pub(in crate::dash) fn is_exhausted(&self) -> bool {
        let turns_away = self.cascade.as_ref().is_some_and(|cascade| cascade.state == CascadeState::Open);
        !self.steps.is_empty() && (self.available == 0 || turns_away)
    }

    /// Whether one failure is left although the ladder is built to stand more.
    pub(in crate::dash) fn is_one_away(&self) -> bool {
        !self.is_exhausted() && self.domains > 1 && self.domains_left == 1
    }

    /// The only step that is left, or those that fall together.
    pub(in crate::dash) fn left(&self) -> impl Iterator<Item = &RungLine> {
        self.steps.iter().filter(|step| step.state.is_available())
    }

    /// How much deeper requests fell than a week before.
    pub(in crate::dash) fn drift(&self) -> Option<f64> {
        Some(self.pace.figures.depth.mean? - self.pace.depth_before?)
    }
}

pub(super) fn lines(reading: &Reading, deployments: &[DeploymentLine]) -> Vec<LadderLine> {
    reading.ladders.iter().map(|rungs| line(rungs, reading, deployments)).collect()
}

fn line(rungs: &Rungs, reading: &Reading, deployments: &[DeploymentLine]) -> LadderLine {
    let step = |known: usize| deployments.get(known).map(rung);
    let steps: Vec<RungLine> = rungs.steps.iter().filter_map(|rung| step(rung.known)).collect();
    let mut all = BTreeSet::new();
    let mut left = BTreeSet::new();
    for (rung, line) in rungs.steps.iter().zip(&steps) {
        all.insert(&rung.domain);
        if line.state.is_available() {
            left.insert(&rung.domain);
        }
    }
    let cascades = reading.snapshot.cascades.iter().map(|there| &there.cascade);
    let mut cascade = cascades.filter(|cascade| cascade.ladder == rungs.ladder && !cascade.is_void(reading.now));
    LadderLine {
        ladder: rungs.ladder.clone(),
        available: steps.iter().filter(|step| step.state.is_available()).count(),
        domains: all.len(),
        domains_left: left.len(),
        cascade: cascade.find(|cascade| cascade.state != CascadeState::Closed).cloned(),
        returns: returns(&steps),
        last_resort: rungs.last_resort.and_then(step),
        pace: reading.measured.ladders.get(&rungs.ladder).cloned().unwrap_or_default(),
        steps,
    }
}

fn rung(line: &DeploymentLine) -> RungLine {
    let word = match (line.state, line.class) {
        (State::Free, _) => State::Free.word().to_owned(),
        (_, Some(class)) => class.to_string(),
        (State::Barred, None) => line.why.clone(),
        (state, None) => state.word().to_owned(),
    };
    let (state, until, is_probe) = (line.state, line.until, line.is_probe);
    RungLine { known: line.known, name: line.name.clone(), state, word, until, is_probe }
}

/// When the first step returns: what passes by itself before what a probe may find out.
fn returns(steps: &[RungLine]) -> Option<Timestamp> {
    let soonest = |is_probe: bool| {
        let these = steps.iter().filter(|step| step.is_probe == is_probe);
        these.filter_map(|step| step.until).min()
    };
    soonest(false).or_else(|| soonest(true))
}
