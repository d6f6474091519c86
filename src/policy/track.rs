//! How a deployment did lately: what its latest attempts in the log come to.
//!
//! A backend hands out the bare attempts and this module makes the figures of them, so that medians and percentiles are
//! the same whoever keeps the log. What was given up is no sample, because the deployment might have answered a moment
//! later, and neither is what was the request's own fault: a prompt that is too large is too large for good deployments
//! as well.

use std::time::Duration;

use crate::domain::{AttemptKind, Class, Deployment};

use super::quality::Quality;
use super::record::Family;

/// Fewer answers say nothing of how long a deployment usually takes.
pub const ENOUGH_TIMES: u32 = 5;

/// One attempt, as far as it counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// Why it was made.
    pub kind: AttemptKind,
    /// What went wrong; none when it was answered as asked.
    pub class: Option<Class>,
    /// Whether what came was held against something that was asked of it.
    pub judged: bool,
    /// To the first content.
    pub ttft: Option<Duration>,
    /// To the end.
    pub latency: Duration,
    /// Length of the answer, in tokens.
    pub output_tokens: Option<u64>,
    /// What it cost, in USD.
    pub cost_usd: Option<f64>,
}

/// What the latest attempts at a deployment come to.
#[derive(Debug, Clone, PartialEq)]
pub struct TrackRecord {
    /// Who was asked.
    pub deployment: Deployment,
    /// Answered as asked.
    pub answered: u32,
    /// Failed by what may pass: overload, errors of the server, timeouts, the network.
    pub transient: u32,
    /// Failed in other ways, by a limit for one.
    pub failed: u32,
    /// Answers that were cut off, empty or not in the asked shape.
    pub invalid: u32,
    /// How its answers were found.
    pub quality: Quality,
    /// Time to the first content of those that were answered.
    pub ttft: Option<Times>,
    /// Time to the end of those that were answered.
    pub latency: Option<Times>,
    /// Mean length of those answers that say it, in tokens.
    pub output_tokens: Option<f64>,
    /// Mean cost of those answers of which it is known, in USD.
    pub cost_usd: Option<f64>,
}

/// How long something took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// Half of them took no longer.
    pub median: Duration,
    /// 19 of 20 took no longer.
    pub p95: Duration,
    /// How many were measured.
    pub samples: u32,
}

impl Times {
    /// Of at least one.
    fn of(mut all: Vec<Duration>) -> Option<Self> {
        all.sort_unstable();
        let samples = u32::try_from(all.len()).unwrap_or(u32::MAX);
        // The nearest rank: a time that was really measured.
        let rank = |percent: usize| all.get((all.len() * percent).div_ceil(100).saturating_sub(1)).copied();
        Some(Self { median: rank(50)?, p95: rank(95)?, samples })
    }

    /// What 19 of 20 do not exceed, if enough were measured to say so.
    pub fn usual(&self) -> Option<Duration> {
        (self.samples >= ENOUGH_TIMES).then_some(self.p95)
    }
}

impl TrackRecord {
    /// What the samples come to, the latest first; none when no attempt counts.
    pub fn of(deployment: Deployment, samples: &[Sample]) -> Option<Self> {
        let counts = |sample: &&Sample| sample.class.is_none_or(|class| !class.is_the_requests_fault());
        let samples: Vec<&Sample> = samples.iter().filter(counts).collect();
        let number = |wanted: &dyn Fn(&Sample) -> bool| {
            u32::try_from(samples.iter().filter(|sample| wanted(sample)).count()).unwrap_or(u32::MAX)
        };
        let is_transient = |sample: &Sample| sample.class.and_then(Family::of) == Some(Family::Transient);
        let is_invalid = |sample: &Sample| sample.class == Some(Class::InvalidOutput);
        let answers = || samples.iter().filter(|sample| sample.class.is_none());
        let record = Self {
            deployment,
            answered: number(&|sample| sample.class.is_none()),
            transient: number(&is_transient),
            failed: number(&|sample| sample.class.is_some() && !is_transient(sample) && !is_invalid(sample)),
            invalid: number(&is_invalid),
            quality: Quality::of(samples.iter().rev().copied()),
            ttft: Times::of(answers().filter_map(|sample| sample.ttft).collect()),
            latency: Times::of(answers().map(|sample| sample.latency).collect()),
            output_tokens: mean(answers().filter_map(|sample| sample.output_tokens).map(|tokens| tokens as f64)),
            cost_usd: mean(answers().filter_map(|sample| sample.cost_usd)),
        };
        (record.samples() > 0).then_some(record)
    }

    /// How many attempts count.
    pub fn samples(&self) -> u32 {
        self.answered + self.transient + self.failed + self.invalid
    }
}

/// The mean, whatever the order: backends need not agree on it.
fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(class: Option<Class>, milliseconds: u64) -> Sample {
        Sample {
            kind: AttemptKind::First,
            class,
            judged: false,
            ttft: Some(Duration::from_millis(milliseconds)),
            latency: Duration::from_millis(milliseconds * 10),
            output_tokens: Some(milliseconds),
            cost_usd: None,
        }
    }

    fn record(samples: &[Sample]) -> Option<TrackRecord> {
        TrackRecord::of("lab/m".parse().expect("a deployment"), samples)
    }

    #[test]
    fn times_are_those_that_were_measured() {
        let ms = Duration::from_millis;
        for (number, median, p95) in [(1, 1, 1), (2, 1, 2), (5, 3, 5), (20, 10, 19), (21, 11, 20), (100, 50, 95)] {
            let samples: Vec<Sample> = (1..=number).rev().map(|at| sample(None, at)).collect();
            let ttft = record(&samples).and_then(|record| record.ttft).expect("times");
            let samples = u32::try_from(number).expect("few");
            assert_eq!(ttft, Times { median: ms(median), p95: ms(p95), samples }, "{number}");
            assert_eq!(ttft.usual(), (number >= 5).then_some(ms(p95)), "{number}");
        }
    }

    #[test]
    fn every_class_counts_in_its_place_and_only_answers_are_measured() {
        for (class, counts) in [
            (Class::Timeout, [0, 1, 0, 0]),
            (Class::Network, [0, 1, 0, 0]),
            (Class::RateLimit, [0, 0, 1, 0]),
            (Class::Auth, [0, 0, 1, 0]),
            (Class::Unknown, [0, 0, 1, 0]),
            (Class::InvalidOutput, [0, 0, 0, 1]),
        ] {
            let found = record(&[sample(Some(class), 900), sample(None, 10)]).expect("a record");
            let [answered, transient, failed, invalid] = counts;
            assert_eq!(
                (found.answered, found.transient, found.failed, found.invalid),
                (answered + 1, transient, failed, invalid),
                "{class}"
            );
            assert_eq!((found.output_tokens, found.cost_usd), (Some(10.0), None), "{class}");
            assert_eq!(found.latency.expect("times").p95, Duration::from_millis(100), "{class}");
        }
    }

    #[test]
    fn the_requests_own_fault_is_no_sample() {
        let faults = Class::ALL.iter().copied().filter(|class| class.is_the_requests_fault());
        let samples: Vec<Sample> = faults.map(|class| sample(Some(class), 1)).collect();
        assert!(samples.len() >= 3);
        assert_eq!(record(&samples), None);
    }
}
