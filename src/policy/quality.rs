//! How good the answers of a deployment are for one kind of work.
//!
//! A deployment can answer every call with 200 and hardly ever as asked, and how often depends on the work: a model that
//! writes fine prose may fail at every schema. So the figure is made for a ladder, which is the role, and of the answers
//! that came: what failed on its way says nothing about what would have been said. An answer counts as valid when it was as
//! asked at once. One that had to be mended cost a second call and counts as two that were judged, none of them valid; that
//! repairs help is a figure of its own.
//!
//! Small numbers must not banish anybody. A deployment is below a bar only when even the upper end of what its figures
//! allow is below it: the upper limit of Wilson's score interval (E. B. Wilson, "Probable Inference, the Law of Succession,
//! and Statistical Inference", JASA 22, 1927; recommended for small numbers by Brown, Cai and DasGupta, "Interval Estimation
//! for a Binomial Proportion", Statistical Science 16, 2001), one-sided at 90 %: of deployments that are just good enough
//! one in ten is put last for bad luck. One answer alone never does it. A ladder that has judged fewer than
//! [`ENOUGH_JUDGED`] answers of a deployment goes by those of all ladders.

use crate::domain::{AttemptKind, Class, Deployment};

use super::track::{Sample, TrackRecord};

/// With fewer judged answers of its own a ladder goes by those of all.
pub const ENOUGH_JUDGED: u32 = 5;

/// One slip is no habit, however high the bar.
const LEAST: u32 = 2;

/// The quantile of the normal distribution at 90 %.
const Z: f64 = 1.281_551_565_544_600_4;

/// How the answers of a deployment were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Quality {
    /// Answers that came and were judged, those to repairs included.
    pub judged: u32,
    /// Of them as asked at once.
    pub valid: u32,
    /// Repairs that were tried, whatever came of them.
    pub repairs: u32,
    /// Of them those that gave an answer as asked.
    pub repaired: u32,
}

impl Quality {
    /// What the attempts come to.
    pub(super) fn of<'a>(samples: impl Iterator<Item = &'a Sample>) -> Self {
        let mut quality = Self::default();
        for Sample { kind, class, .. } in samples {
            let (is_repair, is_valid) = (*kind == AttemptKind::Repair, class.is_none());
            quality.judged += u32::from(is_valid || *class == Some(Class::InvalidOutput));
            quality.valid += u32::from(is_valid && !is_repair);
            quality.repairs += u32::from(is_repair);
            quality.repaired += u32::from(is_valid && is_repair);
        }
        quality
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

    /// Whether its figures say that its share is less than this.
    pub fn is_below(&self, bar: f64) -> bool {
        self.judged >= LEAST && self.at_most() < bar
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
#[derive(Debug, Clone, PartialEq, Eq)]
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

    fn quality(valid: u32, judged: u32) -> Quality {
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
        let sample = |kind, class| Sample {
            kind,
            class,
            ttft: None,
            latency: std::time::Duration::ZERO,
            output_tokens: None,
            cost_usd: None,
        };
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
        assert_eq!(found, Quality { judged: 7, valid: 2, repairs: 3, repaired: 1 });
    }

    #[test]
    fn a_ladder_with_few_figures_of_its_own_goes_by_those_of_all() {
        let record = |judged, valid| {
            let sample = |class| Sample {
                kind: AttemptKind::First,
                class,
                ttft: None,
                latency: std::time::Duration::ZERO,
                output_tokens: None,
                cost_usd: None,
            };
            let mut samples = vec![sample(None); valid];
            samples.resize(judged, sample(Some(Class::InvalidOutput)));
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

    proptest! {
        /// More good answers never lower what is thought of a deployment, and more of the same share only make it surer.
        #[test]
        fn the_upper_end_is_a_share_and_moves_the_right_way(valid in 0_u32..300, invalid in 0_u32..300, more in 1_u32..50) {
            let judged = valid + invalid;
            let found = quality(valid, judged);
            let (rate, most) = (found.rate().unwrap_or(0.0), found.at_most());
            prop_assert!((rate..=1.0).contains(&most));
            prop_assert!(quality(valid + more, judged + more).at_most() + 1e-9 >= most);
            prop_assert!(quality(valid, judged + more).at_most() <= most + 1e-9);
            if judged > 0 {
                let same = quality(valid * (more + 1), judged * (more + 1));
                prop_assert!(same.at_most() <= most + 1e-9);
            }
        }
    }
}
