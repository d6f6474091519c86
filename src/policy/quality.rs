//! How good the answers of a deployment are for one kind of work.
//!
//! A deployment can answer every call with 200 and hardly ever as asked, and how often depends on the work: a model that
//! writes fine prose may fail at every schema. So the figure is made for a ladder, which is the role, and of the answers
//! that were judged: those of which something was asked, a schema or a check. Prose of which nothing is asked cannot miss it,
//! and would hide a hundred times over that each schema is missed; a turn that calls a tool is no answer yet; and what failed
//! on its way says nothing about what would have been said. One request is one trial, by the first answer that it got: valid
//! when that was as asked at once. What is said after a repair is no second trial, for the two hang together, and two
//! failures that are one would put a good model last. That repairs help is a figure of its own.
//!
//! Small numbers must not banish anybody. A deployment is below a bar only when even the upper end of what its figures
//! allow is below it: the upper limit of Wilson's score interval (E. B. Wilson, "Probable Inference, the Law of Succession,
//! and Statistical Inference", JASA 22, 1927; recommended for small numbers by Brown, Cai and DasGupta, "Interval Estimation
//! for a Binomial Proportion", Statistical Science 16, 2001), one-sided at 90 %: of deployments that are just good enough
//! one in ten is put last for bad luck. One answer alone never does it. A ladder that has judged fewer than
//! [`ENOUGH_JUDGED`] answers of a deployment goes by those of all ladders.
//!
//! A deployment that is about as good as its bar would change its place with each answer, if the limit alone decided: the
//! next good answer lifts it over the bar, and the next bad one pulls it down again. So what is put last comes back only
//! when its share itself, and not only the upper end of what is possible, reaches the bar: between the two it stays where it
//! is. Nobody has to remember where that was, for the answers are there in their order: the highest bar that a deployment
//! passes is followed through the latest half of them, each time with those that then were the latest, and each answer moves it
//! no further than into what share and upper limit then allow. (Followed from the very first it would hang on which answers
//! those happen to be, and change more often than without.)

use crate::domain::{AttemptKind, Deployment};

use super::track::{Sample, TrackRecord};

/// With fewer judged answers of its own a ladder goes by those of all.
pub const ENOUGH_JUDGED: u32 = 5;

/// So many of the latest judged answers and repairs make the figures.
const WINDOW: usize = 100;

/// One slip is no habit, however high the bar.
const LEAST: u32 = 2;

/// The quantile of the normal distribution at 90 %.
const Z: f64 = 1.281_551_565_544_600_4;

/// How the answers of a deployment were found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quality {
    /// Answers that were judged: one for each request that asked something of them.
    pub judged: u32,
    /// Of them as asked at once.
    pub valid: u32,
    /// Repairs that were tried, whatever came of them.
    pub repairs: u32,
    /// Of them those that gave an answer as asked.
    pub repaired: u32,
    /// The highest bar that it passes, 0 to 1: under a higher one it goes last.
    pub passes: f64,
}

impl Default for Quality {
    /// Nothing was judged, and no bar is too high.
    fn default() -> Self {
        Self { judged: 0, valid: 0, repairs: 0, repaired: 0, passes: 1.0 }
    }
}

impl Quality {
    /// What the attempts come to, the oldest first. The figures are those of the latest hundred of which something was
    /// asked; the ones before them only have a say in where the deployment stands.
    pub(super) fn of<'a>(samples: impl Iterator<Item = &'a Sample>) -> Self {
        let all: Vec<&Sample> = samples.filter(|sample| sample.judged || sample.kind == AttemptKind::Repair).collect();
        let first = all.len() - (all.len() / 2).min(WINDOW);
        let mut then = Self::default();
        let mut passes = 1.0_f64;
        for (at, sample) in all.iter().enumerate() {
            then.count(sample, |number| *number += 1);
            let leaving = at.checked_sub(WINDOW).and_then(|at| all.get(at));
            leaving.into_iter().for_each(|sample| then.count(sample, |number| *number -= 1));
            if at + 1 >= first && then.judged >= LEAST {
                passes = passes.max(then.rate().unwrap_or(1.0)).min(then.at_most());
            }
        }
        Self { passes, ..then }
    }

    /// Counts an attempt that comes, or one that leaves.
    fn count(&mut self, Sample { kind, class, judged, .. }: &Sample, change: impl Fn(&mut u32)) {
        let (is_repair, is_valid) = (*kind == AttemptKind::Repair, *judged && class.is_none());
        let figures = [
            (&mut self.judged, *judged && !is_repair),
            (&mut self.valid, is_valid && !is_repair),
            (&mut self.repairs, is_repair),
            (&mut self.repaired, is_valid && is_repair),
        ];
        figures.into_iter().filter(|(_, counts)| *counts).for_each(|(number, _)| change(number));
    }

    /// The share that was as asked at once, 0 to 1; none of none.
    pub fn rate(&self) -> Option<f64> {
        (self.judged > 0).then(|| f64::from(self.valid) / f64::from(self.judged))
    }

    /// The share that it has at most, by its figures: 1 of none.
    pub fn at_most(&self) -> f64 {
        let Some(rate) = self.rate() else { return 1.0 };
        let number = f64::from(self.judged);
        let weight = Z * Z / number;
        let spread = (rate * (1.0 - rate) / number + weight / (4.0 * number)).sqrt();
        ((rate + weight / 2.0 + Z * spread) / (1.0 + weight)).clamp(rate, 1.0)
    }

    /// Whether its figures say that its share is less than this, or said so and its share has not reached it since.
    pub fn is_below(&self, bar: f64) -> bool {
        self.passes < bar
    }
}

/// Of which requests a figure is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Of one ladder's.
    Ladder,
    /// Of all ladders'.
    All,
}

impl Role {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ladder => "ladder",
            Self::All => "all",
        }
    }
}

/// How good a deployment is for a ladder's work.
#[derive(Debug, Clone, PartialEq)]
pub struct Grade {
    /// Who.
    pub deployment: Deployment,
    /// Of which requests.
    pub of: Role,
    /// How good.
    pub quality: Quality,
}

impl Grade {
    /// By the ladder's own figures, if there are enough of them, else by those of all ladders; none where nothing was
    /// judged.
    pub fn of(own: Option<&TrackRecord>, all: Option<&TrackRecord>) -> Option<Self> {
        let grade =
            |record: &TrackRecord, of| Self { deployment: record.deployment.clone(), of, quality: record.quality };
        let own = own.filter(|record| record.quality.judged > 0).map(|record| grade(record, Role::Ladder));
        let all = all.filter(|record| record.quality.judged > 0).map(|record| grade(record, Role::All));
        match (own, all) {
            (Some(own), Some(all)) if own.quality.judged < ENOUGH_JUDGED && all.quality.judged > own.quality.judged => {
                Some(all)
            }
            (own, all) => own.or(all),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::Class;

    fn answer(is_valid: bool) -> Sample {
        sample(AttemptKind::First, (!is_valid).then_some(Class::InvalidOutput))
    }

    fn sample(kind: AttemptKind, class: Option<Class>) -> Sample {
        let judged = matches!(class, None | Some(Class::InvalidOutput));
        let latency = std::time::Duration::ZERO;
        Sample { kind, class, judged, ttft: None, latency, output_tokens: None, cost_usd: None }
    }

    /// So many answers, the good ones first.
    fn quality(valid: u32, judged: u32) -> Quality {
        let all: Vec<Sample> = (0..judged).map(|at| answer(at < valid)).collect();
        Quality::of(all.iter())
    }

    /// Figures alone.
    fn counted(valid: u32, judged: u32) -> Quality {
        Quality { judged, valid, ..Quality::default() }
    }

    #[test]
    fn few_answers_are_below_a_bar_only_when_they_are_clearly() {
        for (valid, judged, bar, below) in [
            (0, 0, 1.0, false),
            (0, 1, 1.0, false),
            (0, 2, 0.5, true),
            (1, 2, 0.5, false),
            (1, 2, 0.9, true),
            (8, 10, 0.9, false),
            (80, 100, 0.9, true),
            (89, 100, 0.9, false),
            (36, 40, 0.9, false),
            (40, 40, 1.0, false),
            (0, 200, 0.0, false),
        ] {
            assert_eq!(quality(valid, judged).is_below(bar), below, "{valid} of {judged} under {bar}");
        }
        // By hand: p = 0.5, n = 2 and z = 1.2816 give (0.5 + 0.41059 + 0.61144) / 1.82118.
        assert!((quality(1, 2).at_most() - 0.835_737).abs() < 1e-4, "{}", quality(1, 2).at_most());
    }

    #[test]
    fn a_repair_that_helps_is_no_answer_at_once() {
        let invalid = Some(Class::InvalidOutput);
        let samples = [
            sample(AttemptKind::First, None),
            sample(AttemptKind::Retry, None),
            sample(AttemptKind::First, invalid),
            sample(AttemptKind::Repair, None),
            sample(AttemptKind::First, invalid),
            sample(AttemptKind::Repair, invalid),
            sample(AttemptKind::First, invalid),
            sample(AttemptKind::Repair, Some(Class::Timeout)),
            sample(AttemptKind::First, Some(Class::RateLimit)),
        ];
        let found = Quality::of(samples.iter());
        let found = (found.judged, found.valid, found.repairs, found.repaired);
        assert_eq!(found, (5, 2, 3, 1));
    }

    /// A repair that was answered with another call of a tool, and prose of which nothing was asked.
    #[test]
    fn of_what_nothing_was_asked_nothing_is_said() {
        let unasked = |kind, class| Sample { judged: false, ..sample(kind, class) };
        let invalid = Some(Class::InvalidOutput);
        let mut samples = vec![unasked(AttemptKind::First, None); 95];
        samples.extend([unasked(AttemptKind::First, invalid), unasked(AttemptKind::Adjusted, None)]);
        assert_eq!(Quality::of(samples.iter()), Quality::default());
        samples.extend(vec![answer(false); 5]);
        samples.push(unasked(AttemptKind::Repair, None));
        samples.extend(vec![unasked(AttemptKind::First, None); 95]);
        let found = Quality::of(samples.iter());
        assert_eq!((found.judged, found.valid, found.repairs, found.repaired), (5, 0, 1, 0));
        assert!(found.is_below(0.5));
    }

    #[test]
    fn a_request_that_was_mended_is_one_trial_and_one_alone_is_no_habit() {
        let mended = [sample(AttemptKind::First, Some(Class::InvalidOutput)), sample(AttemptKind::Repair, None)];
        for (requests, below) in [(1, false), (2, true)] {
            let samples = mended.iter().cycle().take(2 * requests);
            assert_eq!(Quality::of(samples).is_below(0.5), below, "{requests}");
        }
    }

    #[test]
    fn a_ladder_with_few_figures_of_its_own_goes_by_those_of_all() {
        let record = |judged, valid| {
            let mut samples = vec![answer(true); valid];
            samples.resize(judged, answer(false));
            TrackRecord::of("a/m".parse().expect("a deployment"), &samples)
        };
        for (own, all, of, judged) in [
            (record(4, 0), record(50, 50), Role::All, 50),
            (record(5, 0), record(50, 50), Role::Ladder, 5),
            (record(0, 0), record(2, 0), Role::All, 2),
            (record(3, 3), record(3, 3), Role::Ladder, 3),
            (record(3, 3), None, Role::Ladder, 3),
        ] {
            let grade = Grade::of(own.as_ref(), all.as_ref()).expect("a grade");
            assert_eq!((grade.of, grade.quality.judged), (of, judged));
        }
        assert_eq!(Grade::of(None, None), None);
    }

    /// Where a deployment stands after each answer of an invented night: whether it is put last under the bar. So many of its
    /// latest answers are known.
    fn places(good: f64, bar: f64, seed: u64, is_low: &dyn Fn(&Quality, f64) -> bool) -> Vec<bool> {
        let mut rng = crate::clock::Rng::new(Some(seed));
        let night: Vec<Sample> = (0..1_000).map(|_| answer(rng.unit() < good)).collect();
        let known = |upto: usize| night[upto.saturating_sub(2 * WINDOW)..upto].iter();
        (1..=night.len()).map(|upto| is_low(&Quality::of(known(upto)), bar)).collect()
    }

    /// In ten nights together, and in the worst of them.
    fn changes(good: f64, bar: f64, is_low: &dyn Fn(&Quality, f64) -> bool) -> (usize, usize) {
        let of = |places: Vec<bool>| places.windows(2).filter(|pair| pair[0] != pair[1]).count();
        let each: Vec<usize> = (0..10).map(|seed| of(places(good, bar, seed, is_low))).collect();
        (each.iter().sum(), each.iter().max().copied().unwrap_or(0))
    }

    /// Nights near a bar: without the band between leaving and returning, a place changes twice to six times as often.
    #[test]
    fn a_deployment_near_its_bar_does_not_change_its_place_with_each_answer() {
        let bare = |quality: &Quality, bar: f64| quality.judged >= LEAST && quality.at_most() < bar;
        for (good, bar) in [(0.5, 0.5), (0.45, 0.5), (0.8, 0.9), (0.85, 0.9), (0.9, 0.9), (0.93, 0.95)] {
            let (with, worst) = changes(good, bar, &|quality, bar| quality.is_below(bar));
            let (without, _) = changes(good, bar, &bare);
            assert!(with * 2 <= without, "{good} under {bar}: {with} changes, {without} without the band");
            assert!(worst <= 15, "{good} under {bar}: {worst} changes in one night of a thousand answers");
        }
        // Who is far from the bar keeps its place.
        for (good, bar, last) in [(0.99, 0.8, false), (0.3, 0.9, true)] {
            for seed in 0..10 {
                let places = places(good, bar, seed, &|quality, bar| quality.is_below(bar));
                assert!(places[50..].iter().all(|place| *place == last), "{good} under {bar}, night {seed}");
            }
        }
    }

    #[test]
    fn what_was_put_last_returns_when_its_share_reaches_the_bar() {
        let night = [false, false, true, true, false, false].map(answer);
        let places: Vec<(bool, bool)> = (1..=night.len())
            .map(|upto| Quality::of(night[..upto].iter()))
            .map(|found| (found.is_below(0.5), found.judged >= LEAST && found.at_most() < 0.5))
            .collect();
        // The upper end is above the bar again with the first good answer, but one of three is no half; and of half that were
        // good nobody can say that they are fewer.
        let both = [(false, false), (true, true), (true, false), (false, false), (false, false), (false, false)];
        assert_eq!(places, both);
    }

    proptest! {
        /// A bar is passed where the share reaches it, and is not where the upper end does not.
        #[test]
        fn the_bar_that_is_passed_lies_between_share_and_upper_end(night in proptest::collection::vec(any::<bool>(), 2..200)) {
            let samples: Vec<Sample> = night.into_iter().map(answer).collect();
            let found = Quality::of(samples.iter());
            prop_assert!(found.rate().is_some_and(|rate| rate <= found.passes) && found.passes <= found.at_most());
        }

        /// More good answers never lower what is thought of a deployment, and more of the same share only make it surer.
        #[test]
        fn the_upper_end_is_a_share_and_moves_the_right_way(valid in 0_u32..300, invalid in 0_u32..300, more in 1_u32..50) {
            let judged = valid + invalid;
            let found = counted(valid, judged);
            let (rate, most) = (found.rate().unwrap_or(0.0), found.at_most());
            prop_assert!((rate..=1.0).contains(&most));
            prop_assert!(counted(valid + more, judged + more).at_most() + 1e-9 >= most);
            prop_assert!(counted(valid, judged + more).at_most() <= most + 1e-9);
            if judged > 0 {
                let same = counted(valid * (more + 1), judged * (more + 1));
                prop_assert!(same.at_most() <= most + 1e-9);
            }
        }
    }
}
