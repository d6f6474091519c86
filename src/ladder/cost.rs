//! What a good answer is expected to cost at each step.
//!
//! The cheapest price is not the cheapest answer: a model that needs two tries and a repair, or leaves the work to a dear
//! one every third time, costs more than its price. So the price of this request is multiplied with the attempts that an
//! answer takes, repairs are added with what they have helped so far, and where the step fails the request goes on to somebody who wants money too, or
//! fails, which has a price of its own. The shares are those of the log. Of a step with few samples they are mostly what
//! is usual, so that one slip at the start banishes nobody.

use crate::policy::TrackRecord;

use super::rank::{Contender, Ranking, Scene};

/// What is usual counts as so many samples.
const USUAL_SAMPLES: f64 = 5.0;

/// Shares of attempts that are answered as asked, fail by a fault that passes, and miss the asked shape, before anything
/// is known; the rest fails in other ways. A repair is thought to help as often as a first try is good.
const USUAL: Odds = Odds { answered: 0.96, transient: 0.02, invalid: 0.01, repaired: 0.96 };

/// What a good answer is expected to cost, in parts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    /// One attempt, in USD.
    pub price: f64,
    /// The attempts that an answer takes.
    pub attempts: f64,
    /// The share of answers that must be repaired.
    pub repairs: f64,
    /// How probable it is that the step gives no answer.
    pub fails: f64,
    /// What that costs, in USD: the cheapest other step, and the penalty.
    pub otherwise: f64,
    /// How many attempts the shares are made of.
    pub samples: u32,
}

impl Cost {
    /// All of it, in USD.
    pub fn usd(&self) -> f64 {
        self.own() + self.fails * self.otherwise
    }

    /// What the step itself takes.
    fn own(&self) -> f64 {
        self.price * (self.attempts + self.repairs)
    }
}

/// How attempts end.
struct Odds {
    answered: f64,
    transient: f64,
    invalid: f64,
    /// The share of repairs that help.
    repaired: f64,
}

impl Odds {
    /// `repair` says whether an answer that is not as asked is repaired at all.
    fn of(record: Option<&TrackRecord>, repair: bool) -> Self {
        let quality = record.map(|record| record.quality).unwrap_or_default();
        let (helped, tried) = (f64::from(quality.repaired), f64::from(quality.repairs));
        let samples = f64::from(record.map_or(0, TrackRecord::samples));
        let share = |usual: f64, number: fn(&TrackRecord) -> u32| {
            (usual * USUAL_SAMPLES + f64::from(record.map_or(0, number))) / (USUAL_SAMPLES + samples)
        };
        Self {
            answered: share(USUAL.answered, |record| record.answered),
            transient: share(USUAL.transient, |record| record.transient),
            invalid: share(USUAL.invalid, |record| record.invalid),
            repaired: if repair { (USUAL.repaired * USUAL_SAMPLES + helped) / (USUAL_SAMPLES + tried) } else { 0.0 },
        }
    }

    /// How probable it is that so many tries and one repair give no answer. Only what passes is tried again.
    fn of_failing(&self, tries: u32) -> f64 {
        let reached: f64 = (0..tries.min(100)).map(|done| self.transient.powf(f64::from(done))).sum();
        (1.0 - reached * (self.answered + self.invalid * self.repaired)).clamp(0.0, 1.0)
    }
}

/// What a good answer costs at each of the contenders; none where the price is not known.
pub(super) fn costs(ranking: &Ranking, contenders: &[Contender<'_>], scene: &Scene<'_>) -> Vec<Option<Cost>> {
    let mut all: Vec<Option<Cost>> = contenders.iter().map(|one| alone(one, ranking.repair, scene)).collect();
    let own: Vec<Option<f64>> = all.iter().map(|cost| cost.as_ref().map(Cost::own)).collect();
    for (at, cost) in all.iter_mut().enumerate() {
        let others = own.iter().enumerate().filter(|(other, _)| *other != at).filter_map(|(_, own)| *own);
        let cheapest = others.min_by(f64::total_cmp).unwrap_or(0.0);
        if let Some(cost) = cost {
            cost.otherwise = cheapest + ranking.failure_penalty_usd;
        }
    }
    all
}

/// What the step itself takes.
fn alone(one: &Contender<'_>, repair: bool, scene: &Scene<'_>) -> Option<Cost> {
    one.step.price?;
    let (odds, tries) = (Odds::of(one.record, repair), one.step.attempts.max(1));
    Some(Cost {
        price: scene.shape.demand(one.step, scene.usage).usd,
        attempts: (1.0 / odds.answered).min(f64::from(tries)),
        repairs: if repair { odds.invalid } else { 0.0 },
        fails: odds.of_failing(tries),
        otherwise: 0.0,
        samples: one.record.map_or(0, TrackRecord::samples),
    })
}
