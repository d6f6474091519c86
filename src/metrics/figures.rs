//! The figures that people ask for, made of counts.

use std::time::Duration;

use crate::domain::{AttemptKind, Class, Defect, Extraction, Outcome};

use super::tally::{Sum, Tally};

/// Times by nearest rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Percentiles {
    /// Half took no longer.
    pub p50: Duration,
    /// 95 of 100 took no longer.
    pub p95: Duration,
    /// 99 of 100 took no longer.
    pub p99: Duration,
    /// How many were measured.
    pub samples: u64,
}

impl Percentiles {
    /// Of microseconds in any order; none of none.
    fn of(mut all: Vec<u32>) -> Option<Self> {
        let count = all.len();
        let mut rank = |percent: usize| {
            let at = (count * percent).div_ceil(100).saturating_sub(1);
            let in_range = at < count;
            in_range.then(|| Duration::from_micros(u64::from(*all.select_nth_unstable(at).1)))
        };
        Some(Self { p50: rank(50)?, p95: rank(95)?, p99: rank(99)?, samples: u64::try_from(count).unwrap_or(u64::MAX) })
    }
}

/// How deep answered requests fell.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Depth {
    /// Mean index of the step that answered: 0 is the primary.
    pub mean: Option<f64>,
    /// How many were answered by each step, by its index.
    pub at: Vec<u64>,
}

/// Tokens of all attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tokens {
    /// Of prompts.
    pub input: u64,
    /// Of answers.
    pub output: u64,
    /// Of prompts, from a cache.
    pub cached: u64,
}

/// Tokens for each of something, with all that failed, was repeated or repaired on the way.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TokensPer {
    /// Of prompts.
    pub input: f64,
    /// Of answers.
    pub output: f64,
}

/// What was paid, in USD, where prices are known.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Money {
    /// For all attempts.
    pub total: f64,
    /// For a request, whatever came of it: all attempts over the requests of which a cost is known.
    pub per_request: Option<f64>,
    /// For an answer as asked, with all that failed on the way, in that request and in others.
    pub per_success: Option<f64>,
}

/// What is asked of a span of the log.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Figures {
    /// Requests that have ended.
    pub requests: u64,
    /// Of them, answered as asked.
    pub answered: u64,
    /// How many ended in each way, in the order of [`Outcome::ALL`] without those that have not ended.
    pub outcomes: Vec<(Outcome, u64)>,
    /// Answered as asked, of all but those that a person broke off; 0 to 1.
    pub success: Option<f64>,
    /// By step.
    pub depth: Depth,
    /// Requests that fell through the ladder.
    pub exhausted: u64,
    /// Exchanges on the wire.
    pub attempts: u64,
    /// Exchanges that were answered as asked, of all that were not given up: success of the application; 0 to 1.
    pub attempt_success: Option<f64>,
    /// Exchanges that came back whole with a status of success, whatever was in them.
    pub whole: u64,
    /// The same of all that were not given up: success of the transport; 0 to 1.
    pub transport: Option<f64>,
    /// Answers that were judged: of which something was asked, one for each request and deployment.
    pub judged: u64,
    /// Of them those that were as asked at once; 0 to 1.
    pub valid: Option<f64>,
    /// Answers that were not as asked, by what was wrong, in the order of [`Defect::ALL`].
    pub defects: Vec<(Defect, u64)>,
    /// Good answers in JSON by where it stood, in the order of [`Extraction::ALL`].
    pub extracted: Vec<(Extraction, u64)>,
    /// Exchanges that repeated one after a fault that may pass.
    pub retries: u64,
    /// Retries that the shared budget denied.
    pub retries_denied: u64,
    /// Exchanges that told what was wrong with an answer.
    pub repairs: u64,
    /// Of them those that gave an answer as asked.
    pub repaired: u64,
    /// What they cost, in USD, where the price is known.
    pub repairs_usd: f64,
    /// Exchanges that asked the same deployment for what it says that it can take.
    pub adjusted: u64,
    /// Exchanges beside a slow one.
    pub hedges: u64,
    /// Exchanges that looked whether a hold can go.
    pub probes: u64,
    /// Exchanges that were given up before their end.
    pub given_up: u64,
    /// How often each class occurred, in the order of [`Class::ALL`].
    pub classes: Vec<(Class, u64)>,
    /// Answers that were cut off, empty or not as asked, of all answers, whether anything was asked of them or not; 0 to 1.
    pub schema_failures: Option<f64>,
    /// From sending to the first content of answered exchanges.
    pub ttft: Option<Percentiles>,
    /// From sending to the end of answered exchanges.
    pub attempt_latency: Option<Percentiles>,
    /// Of whole requests that were answered as asked: who is turned away at once is not served fast.
    pub latency: Option<Percentiles>,
    /// Of all attempts.
    pub tokens: Tokens,
    /// For a request, whatever came of it.
    pub tokens_per_request: Option<TokensPer>,
    /// For an answer as asked.
    pub tokens_per_success: Option<TokensPer>,
    /// Of all attempts.
    pub money: Money,
}

impl Figures {
    /// Made of counts.
    pub fn of(tally: &Tally) -> Self {
        let (requests, answered) = (tally.requests(), tally.of_outcome(Outcome::Answered));
        let of_fate = requests - tally.of_outcome(Outcome::Interrupted);
        let invalid = tally.of_class(Class::InvalidOutput);
        Self {
            requests,
            answered,
            outcomes: outcomes(tally),
            success: share(answered, of_fate),
            depth: depth(tally),
            exhausted: tally.of_outcome(Outcome::Exhausted) + tally.of_outcome(Outcome::NeedsPerson),
            attempts: tally.attempts(),
            attempt_success: share(tally.answered, tally.answered + tally.failed()),
            whole: tally.whole,
            transport: share(tally.whole, tally.answered + tally.failed()),
            judged: tally.judged,
            valid: share(tally.valid, tally.judged),
            defects: Defect::ALL.iter().map(|defect| (*defect, tally.of_defect(*defect))).collect(),
            extracted: Extraction::ALL.iter().map(|place| (*place, tally.of_extraction(*place))).collect(),
            retries: tally.of_kind(AttemptKind::Retry),
            retries_denied: tally.denied,
            repairs: tally.of_kind(AttemptKind::Repair),
            repaired: tally.repaired,
            repairs_usd: tally.repairs_used.usd,
            adjusted: tally.of_kind(AttemptKind::Adjusted),
            hedges: tally.of_kind(AttemptKind::Hedge),
            probes: tally.of_kind(AttemptKind::Probe),
            given_up: tally.given_up,
            classes: Class::ALL.iter().map(|class| (*class, tally.of_class(*class))).collect(),
            schema_failures: share(invalid, tally.answered + invalid),
            ttft: Percentiles::of(tally.ttfts_us.clone()),
            attempt_latency: Percentiles::of(tally.attempt_latencies_us.clone()),
            latency: Percentiles::of(tally.latencies_us.clone()),
            tokens: tokens(&tally.attempts_used),
            tokens_per_request: tokens_per(&tally.requests_used, requests),
            tokens_per_success: tokens_per(&tally.requests_used, answered),
            money: money(tally, answered),
        }
    }
}

/// Part of a whole; none of nothing.
#[expect(clippy::cast_precision_loss, reason = "counts of a log are far below 2⁵²")]
fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[expect(clippy::cast_precision_loss, reason = "counts of a log are far below 2⁵²")]
fn depth(tally: &Tally) -> Depth {
    let answered: u64 = tally.depths.iter().sum();
    let sum: f64 = tally.depths.iter().zip(0_u32..).map(|(count, step)| *count as f64 * f64::from(step)).sum();
    Depth { mean: (answered > 0).then(|| sum / answered as f64), at: tally.depths.clone() }
}

fn outcomes(tally: &Tally) -> Vec<(Outcome, u64)> {
    let ended = Outcome::ALL.iter().filter(|outcome| **outcome != Outcome::Unfinished);
    ended.map(|outcome| (*outcome, tally.of_outcome(*outcome))).collect()
}

fn tokens_per(sum: &Sum, count: u64) -> Option<TokensPer> {
    Some(TokensPer { input: share(sum.input, count)?, output: share(sum.output, count)? })
}

const fn tokens(sum: &Sum) -> Tokens {
    Tokens { input: sum.input, output: sum.output, cached: sum.cached }
}

#[expect(clippy::cast_precision_loss, reason = "counts of a log are far below 2⁵²")]
fn money(tally: &Tally, answered: u64) -> Money {
    let per =
        |count: u64| (count > 0 && tally.requests_used.priced > 0).then(|| tally.requests_used.usd / count as f64);
    Money { total: tally.attempts_used.usd, per_request: per(tally.requests_used.priced), per_success: per(answered) }
}
