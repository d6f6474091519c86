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
    /// Whether the last resort would be asked when no step can be.
    pub(in crate::dash) has_resort: bool,
    /// Steps that can be asked.
    pub(in crate::dash) available: usize,
    /// Groups of steps that fall together: all, and those of which a step can be asked.
    pub(in crate::dash) domains: usize,
    pub(in crate::dash) domains_left: usize,
    /// What is remembered of requests that fell through, if the ladder turns requests away for it.
    pub(in crate::dash) cascade: Option<Cascade>,
    /// Whether it turns away a request that comes now although a step could be asked: each of these failed in the request
    /// that opened it, and the time to look has not come.
    pub(in crate::dash) turns_away: bool,
    /// When the first step returns, where none can be asked.
    pub(in crate::dash) returns: Option<Timestamp>,
    pub(in crate::dash) pace: Pace,
}

impl LadderLine {
    /// Whether a request that comes now is answered by nobody.
    pub(in crate::dash) const fn is_exhausted(&self) -> bool {
        let nobody = self.available == 0 && !self.has_resort;
        !self.steps.is_empty() && (nobody || self.turns_away)
    }

    /// The worse, the less.
    pub(super) fn rank(&self) -> u8 {
        match () {
            () if self.is_exhausted() => 0,
            () if self.is_one_away() => 1,
            () if self.available < self.steps.len() => 2,
            () => 3,
        }
    }

    /// Whether one failure is left although the ladder is built to stand more.
    pub(in crate::dash) fn is_one_away(&self) -> bool {
        !self.is_exhausted() && self.domains > 1 && self.domains_left == 1
    }

    /// The only step that is left, or those that fall together.
    pub(in crate::dash) fn left(&self) -> impl Iterator<Item = &RungLine> {
        let resort = self.last_resort.iter().filter(|_| self.has_resort);
        self.steps.iter().filter(|step| step.state.may_answer()).chain(resort)
    }

    /// How much deeper requests fell than a week before.
    pub(in crate::dash) fn drift(&self) -> Option<f64> {
        Some(self.pace.figures.depth.mean? - self.pace.depth_before?)
    }
}

/// All ladders, the worst first.
pub(super) fn lines(reading: &Reading, deployments: &[DeploymentLine]) -> Vec<LadderLine> {
    let mut lines: Vec<LadderLine> = reading.ladders.iter().map(|rungs| line(rungs, reading, deployments)).collect();
    lines.sort_by_key(LadderLine::rank);
    lines
}

fn line(rungs: &Rungs, reading: &Reading, deployments: &[DeploymentLine]) -> LadderLine {
    let step = |known: usize| {
        let last =
            reading.known.get(known).is_some_and(|known| known.put_last().any(|(name, _)| *name == rungs.ladder));
        deployments.get(known).map(|line| rung(line, last))
    };
    let steps: Vec<RungLine> = rungs.steps.iter().filter_map(|rung| step(rung.known)).collect();
    let mut all = BTreeSet::new();
    let mut left = BTreeSet::new();
    for (rung, line) in rungs.steps.iter().zip(&steps) {
        all.insert(&rung.domain);
        if line.state.may_answer() {
            left.insert(&rung.domain);
        }
    }
    let last_resort = rungs.last_resort.as_ref().and_then(|rung| step(rung.known));
    let has_resort = last_resort.as_ref().is_some_and(|line| line.state.may_be_the_last_resort());
    if let Some(rung) = &rungs.last_resort {
        all.insert(&rung.domain);
        left.extend(has_resort.then_some(&rung.domain));
    }
    let cascades = reading.snapshot.cascades.iter().map(|there| &there.cascade);
    let mut cascades = cascades.filter(|cascade| cascade.ladder == rungs.ladder && !cascade.is_void(reading.now));
    let cascade = cascades.find(|cascade| cascade.state != CascadeState::Closed).cloned();
    LadderLine {
        ladder: rungs.ladder.clone(),
        available: steps.iter().filter(|step| step.state.may_answer()).count(),
        has_resort,
        domains: all.len(),
        domains_left: left.len(),
        turns_away: cascade.as_ref().is_some_and(|cascade| turns_away(cascade, &steps, reading)),
        cascade,
        returns: returns(&steps),
        last_resort,
        pace: reading.measured.ladders.get(&rungs.ladder).cloned().unwrap_or_default(),
        steps,
    }
}

/// As the ladder itself decides: a step that is none of those that failed is asked at once.
fn turns_away(cascade: &Cascade, steps: &[RungLine], reading: &Reading) -> bool {
    let failed = |step: &RungLine| {
        let known = reading.known.get(step.known).map(|known| known.target.deployment.to_string());
        let who = |print: &String| print.split_whitespace().next().map(str::to_owned);
        cascade.failed.iter().any(|print| who(print) == known)
    };
    cascade.state == CascadeState::Open
        && cascade.until > reading.now
        && steps.iter().filter(|step| step.state.may_answer()).all(failed)
}

/// `last` says whether the ladder puts it last for its answers.
fn rung(line: &DeploymentLine, last: bool) -> RungLine {
    let word = match (line.state, line.class) {
        (State::Free, _) if last => "put last".to_owned(),
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
