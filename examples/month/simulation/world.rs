//! The clock and the wire: makes calls, lets time pass, and sees what no router can see.

use std::collections::VecDeque;
use std::time::Duration;

use jiff::Timestamp;
use llmr::domain::Class;

use super::provider::{PATIENCE, Provider, Quota, Reply, drawn, outages};
use super::tally::Tally;
use super::{DAYS, START, STEPS};

/// An answer that takes longer is late.
const LATE: Duration = Duration::from_secs(10);

/// The month as it truly is.
pub(crate) struct World {
    now: Timestamp,
    seed: u64,
    providers: Vec<Provider>,
    /// What each provider's latest cause of failure was; whoever asks under the same one again wastes a call.
    told: Vec<Option<i64>>,
    /// The steps that this request has asked.
    asked: Vec<usize>,
    began: Timestamp,
    tally: Tally,
}

impl World {
    pub(crate) fn new(seed: u64) -> Self {
        let start: Timestamp = START.parse().expect("a time");
        let providers = vec![
            // Most of October's are used already.
            Provider::Monthly(Quota::new("UTC", 3000, 2900)),
            Provider::Daily(Quota::new("America/Los_Angeles", 250, 0)),
            Provider::Flaky { outages: outages(seed, start, DAYS), seed },
            Provider::Minute { most: 5, taken: VecDeque::new() },
            Provider::Last,
        ];
        Self {
            now: start,
            seed,
            told: vec![None; providers.len()],
            providers,
            asked: Vec::new(),
            began: start,
            tally: Tally::default(),
        }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.now
    }

    /// Since the request began.
    pub(crate) fn elapsed(&self) -> Duration {
        self.now.duration_since(self.began).unsigned_abs()
    }

    /// Time passes.
    pub(crate) fn wait(&mut self, length: Duration) {
        self.now += length;
    }

    /// A request comes; it begins when the one before it is over.
    pub(crate) fn begin(&mut self, at: Timestamp) {
        self.now = self.now.max(at);
        self.began = self.now;
        self.asked.clear();
        self.tally.requests += 1;
    }

    /// Asks a step, which takes its time.
    pub(crate) fn call(&mut self, step: usize) -> Reply {
        let cause = self.providers[step].cause(self.now);
        let reply = self.providers[step].ask(self.now);
        let of_step = &mut self.tally.steps[step];
        of_step.calls += 1;
        if reply != Reply::Answer {
            of_step.failed += 1;
            if cause.is_some() && self.told[step] == cause {
                of_step.wasted += 1;
            }
            self.told[step] = cause.or(self.told[step]);
        }
        self.asked.push(step);
        self.now += match reply {
            Reply::Answer => {
                Duration::from_millis(300) + Duration::from_millis(900).mul_f64(drawn(self.seed, self.now))
            }
            Reply::Broken(Class::Timeout) => PATIENCE,
            _ => Duration::from_millis(80),
        };
        reply
    }

    /// The request is over: which better steps would have answered, had they been asked?
    pub(crate) fn end(&mut self, answered: Option<usize>) {
        let now = self.now;
        for step in (0..answered.unwrap_or(STEPS.len())).filter(|step| !self.asked.contains(step)) {
            if self.providers[step].would_say(now) == Reply::Answer {
                self.tally.steps[step].missed += 1;
            }
        }
        match answered {
            Some(_) if self.elapsed() > LATE => self.tally.late += 1,
            Some(_) => {}
            None => self.tally.unanswered += 1,
        }
    }

    pub(crate) fn into_tally(self) -> Tally {
        self.tally
    }
}
