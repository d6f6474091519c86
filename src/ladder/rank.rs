//! In which order the steps of a ladder are asked: what its strategy makes of what is known.
//!
//! A strategy only ever changes the order. Who may be asked at all is decided later, step by step, so the fastest
//! deployment under a hold is as held as the slowest. Three rules hold for all strategies. Equals keep the order in which
//! the person wrote them, and what is nearly as good counts as equal: a ladder that turned over with every small jitter
//! would lose the caches of the providers and be a riddle to its operator. What was hardly asked is taken to be good, or it
//! would never get known; only a price that is not known is not, because the bill is the operator's. And each step carries
//! the numbers that placed it, so that `plan` can show them.

use jiff::Timestamp;

use crate::domain::Dimension;
use crate::policy::{ENOUGH_TIMES, Flight, LimitSource, Reading, Times, TrackRecord, UsageState, readings};

use super::cost::{Cost, costs};
use super::spec::{RequestShape, StepSpec};

/// In which order the eligible steps are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// As written.
    Ordered,
    /// By chance, by weight.
    Shuffle,
    /// The fastest first.
    Latency,
    /// The one with most of its limits left first.
    Usage,
    /// The one with the fewest requests under way first.
    LeastBusy,
    /// What a good answer is expected to cost, the cheapest first.
    Cost,
}

impl Strategy {
    /// All of them by their words.
    pub const ALL: [(&str, Self); 6] = [
        ("ordered", Self::Ordered),
        ("shuffle", Self::Shuffle),
        ("latency", Self::Latency),
        ("usage", Self::Usage),
        ("least_busy", Self::LeastBusy),
        ("cost", Self::Cost),
    ];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(_, strategy)| *strategy == self).map_or("ordered", |(word, _)| word)
    }

    /// Whether it goes by how deployments did lately.
    pub const fn needs_records(self) -> bool {
        matches!(self, Self::Latency | Self::Cost)
    }

    /// Whether only this ladder's own requests say something: another's work may be easier.
    pub const fn is_of_the_ladder(self) -> bool {
        matches!(self, Self::Cost)
    }

    /// Whether it goes by what is used and under way.
    pub const fn needs_usage(self) -> bool {
        matches!(self, Self::Usage | Self::LeastBusy | Self::Cost)
    }
}

/// What a strategy goes by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranking {
    /// Which time `latency` compares.
    pub latency_of: LatencyOf,
    /// How much more than the best a deployment may take, need or cost and still keep its place in the ladder: 0.2 is a
    /// fifth more.
    pub tolerance: f64,
    /// What a request without an answer is worth to avoid, in USD, for `cost`.
    pub failure_penalty_usd: f64,
    /// Whether answers that are not as asked are repaired, for `cost`.
    pub repair: bool,
}

impl Default for Ranking {
    fn default() -> Self {
        Self { latency_of: LatencyOf::Ttft, tolerance: 0.2, failure_penalty_usd: 0.01, repair: true }
    }
}

/// Which time is meant by latency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LatencyOf {
    /// To the first content.
    Ttft,
    /// To the end of the answer.
    Total,
}

/// A step that wants its place.
#[derive(Debug, Clone, Copy)]
pub struct Contender<'a> {
    /// The step.
    pub step: &'a StepSpec,
    /// How often it comes first under `shuffle`, against the weights of the others.
    pub weight: u32,
    /// How it did lately.
    pub record: Option<&'a TrackRecord>,
}

/// The moment at which the order is made, and the request for which it is.
#[derive(Debug, Clone, Copy)]
pub struct Scene<'a> {
    /// What is used and under way.
    pub usage: &'a UsageState,
    /// The request.
    pub shape: RequestShape,
    /// The wall clock.
    pub now: Timestamp,
}

/// The number that placed a step, with what it is made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Measure {
    /// `shuffle`: its weight, and that of all.
    Weight(u32, u64),
    /// `latency`: the time that is compared, as far as it was measured, and the attempts of which it was.
    Latency(LatencyOf, Option<Times>, u32),
    /// `usage`: the limit of which the largest share is used, with that share; none when no limit is known.
    Usage(Option<(Dimension, f64)>),
    /// `least_busy`: requests under way.
    Busy(u32),
    /// `cost`: what a good answer is expected to cost; none when the price is not known.
    Cost(Option<Cost>),
}

impl Measure {
    /// The number, less being better except for weights: a share of the draws, seconds, a used share, requests, USD. None
    /// when it is not known.
    pub fn score(&self) -> Option<f64> {
        match self {
            Self::Weight(weight, of) => Some(f64::from(*weight) / *of as f64).filter(|share| share.is_finite()),
            Self::Latency(_, times, _) => times.and_then(|times| times.usual()).map(|usual| usual.as_secs_f64()),
            Self::Usage(nearest) => Some(nearest.map_or(0.0, |(_, share)| share)),
            Self::Busy(flights) => Some(f64::from(*flights)),
            Self::Cost(cost) => cost.as_ref().map(Cost::usd),
        }
    }

    /// Whether it was asked too rarely for anything to be known: then it goes first, or it would never get known. One that
    /// was asked and did not answer is no riddle.
    pub fn is_new(&self) -> bool {
        matches!(self, Self::Latency(_, times, attempts)
            if *attempts < ENOUGH_TIMES && times.is_none_or(|times| times.usual().is_none()))
    }
}

/// The places of the contenders in the order in which they are asked, each with what placed it. `draw` gives numbers in
/// 0..1.
pub fn rank(
    strategy: Strategy,
    ranking: &Ranking,
    contenders: &[Contender<'_>],
    scene: &Scene<'_>,
    draw: &mut dyn FnMut() -> f64,
) -> Vec<(usize, Option<Measure>)> {
    let measures = measures(strategy, ranking, contenders, scene);
    let value = |at: usize| measures.get(at).and_then(Measure::score).filter(|value| !value.is_nan());
    let (known, unknown): (Vec<usize>, Vec<usize>) = (0..contenders.len()).partition(|at| value(*at).is_some());
    let known: Vec<(usize, f64)> = known.into_iter().filter_map(|at| Some((at, value(at)?))).collect();
    let ratio = 1.0 + ranking.tolerance;
    let order: Vec<usize> = match strategy {
        Strategy::Ordered => unknown,
        Strategy::Shuffle => shuffled(contenders, draw),
        Strategy::Latency => {
            let is_new = |at: &usize| measures.get(*at).is_some_and(Measure::is_new);
            let (new, failing): (Vec<usize>, Vec<usize>) = unknown.into_iter().partition(is_new);
            new.into_iter().chain(banded(known, |best, other| other <= best * ratio)).chain(failing).collect()
        }
        // What is compared is what is left: of two that are nearly empty, one may have twice as much.
        Strategy::Usage => banded(known, |best, other| left(other) * ratio >= left(best)),
        Strategy::LeastBusy => banded(known, |_, _| false),
        Strategy::Cost => banded(known, |best, other| other <= best * ratio).into_iter().chain(unknown).collect(),
    };
    order.into_iter().map(|at| (at, measures.get(at).copied())).collect()
}

fn measures(strategy: Strategy, ranking: &Ranking, contenders: &[Contender<'_>], scene: &Scene<'_>) -> Vec<Measure> {
    let each = |measure: &dyn Fn(&Contender<'_>) -> Measure| contenders.iter().map(measure).collect();
    match strategy {
        Strategy::Ordered => Vec::new(),
        Strategy::Shuffle => {
            let all = contenders.iter().map(|one| u64::from(one.weight)).sum();
            let differ =
                contenders.windows(2).any(|pair| pair.first().map(|a| a.weight) != pair.last().map(|b| b.weight));
            if differ { each(&|one| Measure::Weight(one.weight, all)) } else { Vec::new() }
        }
        Strategy::Latency => each(&|one| {
            let time = |record: &TrackRecord| match ranking.latency_of {
                LatencyOf::Ttft => record.ttft,
                LatencyOf::Total => record.latency,
            };
            let attempts = one.record.map_or(0, TrackRecord::samples);
            Measure::Latency(ranking.latency_of, one.record.and_then(time), attempts)
        }),
        Strategy::Usage => each(&|one| Measure::Usage(nearest(one.step, scene))),
        Strategy::LeastBusy => each(&|one| Measure::Busy(flights(one.step, scene))),
        Strategy::Cost => costs(ranking, contenders, scene).into_iter().map(Measure::Cost).collect(),
    }
}

/// From best to worst, but all that is near the best of what is left keeps its order.
fn banded(mut rest: Vec<(usize, f64)>, is_near: impl Fn(f64, f64) -> bool) -> Vec<usize> {
    let mut order = Vec::with_capacity(rest.len());
    while let Some(best) = rest.iter().map(|(_, value)| *value).min_by(f64::total_cmp) {
        let is_next = |(_, other): &(usize, f64)| *other <= best || is_near(best, *other);
        let (next, later): (Vec<_>, Vec<_>) = rest.into_iter().partition(is_next);
        order.extend(next.into_iter().map(|(at, _)| at));
        rest = later;
    }
    order
}

/// One draw after the other, each by the weights of those that are left.
fn shuffled(contenders: &[Contender<'_>], draw: &mut dyn FnMut() -> f64) -> Vec<usize> {
    let mut rest: Vec<(usize, f64)> = contenders.iter().map(|one| f64::from(one.weight)).enumerate().collect();
    let mut order = Vec::with_capacity(rest.len());
    while !rest.is_empty() {
        let mut point = draw() * rest.iter().map(|(_, weight)| weight).sum::<f64>();
        let hit = rest.iter().position(|(_, weight)| {
            point -= weight;
            point < 0.0
        });
        order.push(rest.remove(hit.unwrap_or(rest.len() - 1)).0);
    }
    order
}

fn left(used: f64) -> f64 {
    (1.0 - used).max(0.0)
}

/// The limit of which the largest share is used.
fn nearest(step: &StepSpec, scene: &Scene<'_>) -> Option<(Dimension, f64)> {
    let share = |reading: Reading| {
        let limit = reading.limit?;
        let share = if limit.value > 0.0 { reading.used / limit.value } else { 1.0 };
        // Where more was used than the catalogue allows, its number is that of another plan.
        (limit.source != LimitSource::Catalogue || share <= 1.0).then_some((reading.dimension, share))
    };
    let readings = readings(&step.target, &step.gauges, scene.usage, scene.now);
    readings.into_iter().filter_map(share).max_by(|a, b| a.1.total_cmp(&b.1))
}

/// Requests that all processes have under way at the deployment.
fn flights(step: &StepSpec, scene: &Scene<'_>) -> u32 {
    let is_here = |flight: &&Flight| flight.is_up(scene.now) && flight.target.deployment == step.target.deployment;
    u32::try_from(scene.usage.flights.iter().filter(is_here).count()).unwrap_or(u32::MAX)
}
