//! Counts that grow row by row, from which the figures are made.

use crate::domain::{AttemptKind, Class, Defect, Extraction, Outcome};

use super::journal::{AttemptRow, RequestRow, Used};

/// One counter for each word of a set.
const fn zeros<const N: usize>() -> [u64; N] {
    [0; N]
}

/// What some attempts and requests come to, before any rate is made of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Tally {
    /// Requests by how they ended, in the order of [`Outcome::ALL`].
    pub outcomes: [u64; Outcome::ALL.len()],
    /// Answered requests by the index of the step that answered.
    pub depths: Vec<u64>,
    /// Retries that the budget denied.
    pub denied: u64,
    /// How long answered requests took, in microseconds, in no order.
    pub latencies_us: Vec<u32>,
    /// What the requests used, attempts that failed included.
    pub requests_used: Sum,
    /// What those of them used that were answered as asked.
    pub answered_used: Sum,
    /// Attempts by why they were made, in the order of [`AttemptKind::ALL`].
    pub kinds: [u64; AttemptKind::ALL.len()],
    /// Attempts that failed by class, in the order of [`Class::ALL`].
    pub classes: [u64; Class::ALL.len()],
    /// Attempts that were answered.
    pub answered: u64,
    /// Attempts that came back whole, whatever was in them.
    pub whole: u64,
    /// Answers of which something was asked, without those to repairs.
    pub judged: u64,
    /// Of them as asked.
    pub valid: u64,
    /// Answers that were not as asked, by what was wrong, in the order of [`Defect::ALL`].
    pub defects: [u64; Defect::ALL.len()],
    /// Repairs that gave an answer as asked.
    pub repaired: u64,
    /// What the repairs used.
    pub repairs_used: Sum,
    /// Attempts that were given up before their end.
    pub given_up: u64,
    /// Good answers in JSON by where it stood, in the order of [`Extraction::ALL`].
    pub extracted: [u64; Extraction::ALL.len()],
    /// Times to the first content of answered attempts, in microseconds, in no order.
    pub ttfts_us: Vec<u32>,
    /// Times to the end of answered attempts, in microseconds, in no order.
    pub attempt_latencies_us: Vec<u32>,
    /// What the attempts used.
    pub attempts_used: Sum,
}

/// Tokens and money that were used.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Sum {
    /// Tokens of prompts.
    pub input: u64,
    /// Tokens of answers.
    pub output: u64,
    /// Tokens of prompts that came from a cache.
    pub cached: u64,
    /// In USD.
    pub usd: f64,
    /// Of how many the cost is known.
    pub priced: u64,
}

impl Sum {
    fn add(&mut self, used: &Used) {
        let count = |small: Option<u32>| u64::from(small.unwrap_or(0));
        self.input += count(used.input.get());
        self.output += count(used.output.get());
        self.cached += count(used.cached.get());
        if let Some(usd) = used.usd() {
            self.usd += usd;
            self.priced += 1;
        }
    }
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            outcomes: zeros(),
            depths: Vec::new(),
            denied: 0,
            latencies_us: Vec::new(),
            requests_used: Sum::default(),
            answered_used: Sum::default(),
            kinds: zeros(),
            classes: zeros(),
            answered: 0,
            whole: 0,
            judged: 0,
            valid: 0,
            defects: zeros(),
            repaired: 0,
            repairs_used: Sum::default(),
            given_up: 0,
            extracted: zeros(),
            ttfts_us: Vec::new(),
            attempt_latencies_us: Vec::new(),
            attempts_used: Sum::default(),
        }
    }
}

/// Adds one to the counter of a word.
fn count<T: PartialEq>(counters: &mut [u64], all: &[T], word: &T) {
    let at = all.iter().position(|one| one == word);
    if let Some(counter) = at.and_then(|at| counters.get_mut(at)) {
        *counter += 1;
    }
}

/// The counter of a word.
fn counted<T: PartialEq>(counters: &[u64], all: &[T], word: &T) -> u64 {
    let at = all.iter().position(|one| one == word);
    at.and_then(|at| counters.get(at)).copied().unwrap_or(0)
}

impl Tally {
    pub(super) fn add_request(&mut self, row: &RequestRow) {
        count(&mut self.outcomes, Outcome::ALL, &row.outcome);
        self.denied += u64::from(row.denied);
        self.requests_used.add(&row.used);
        if row.outcome != Outcome::Answered {
            return;
        }
        self.latencies_us.push(row.latency_us);
        self.answered_used.add(&row.used);
        let Some(step) = row.step.get() else { return };
        let step = usize::try_from(step).unwrap_or(usize::MAX).min(MOST_STEPS);
        if self.depths.len() <= step {
            self.depths.resize(step + 1, 0);
        }
        if let Some(counter) = self.depths.get_mut(step) {
            *counter += 1;
        }
    }

    pub(super) fn add_attempt(&mut self, row: &AttemptRow) {
        count(&mut self.kinds, AttemptKind::ALL, &row.kind);
        self.attempts_used.add(&row.used);
        let is_repair = row.kind == AttemptKind::Repair;
        if is_repair {
            self.repairs_used.add(&row.used);
        }
        self.whole += u64::from(row.is_whole && !row.is_given_up);
        let is_good = row.is_judged && row.class.is_none() && !row.is_given_up;
        self.judged += u64::from(row.is_judged && !is_repair && !row.is_given_up);
        self.valid += u64::from(is_good && !is_repair);
        self.repaired += u64::from(is_good && is_repair);
        match row.class {
            _ if row.is_given_up => self.given_up += 1,
            Some(class) => {
                count(&mut self.classes, Class::ALL, &class);
                row.defect.iter().for_each(|defect| count(&mut self.defects, Defect::ALL, defect));
            }
            None => {
                self.answered += 1;
                row.extracted.iter().for_each(|place| count(&mut self.extracted, Extraction::ALL, place));
                self.ttfts_us.extend(row.ttft_us.get());
                self.attempt_latencies_us.push(row.latency_us);
            }
        }
    }

    /// Good answers whose JSON stood there.
    pub fn of_extraction(&self, place: Extraction) -> u64 {
        counted(&self.extracted, Extraction::ALL, &place)
    }

    /// Requests that ended so.
    pub fn of_outcome(&self, outcome: Outcome) -> u64 {
        counted(&self.outcomes, Outcome::ALL, &outcome)
    }

    /// Attempts that failed so.
    pub fn of_class(&self, class: Class) -> u64 {
        counted(&self.classes, Class::ALL, &class)
    }

    /// Attempts that were made for this reason.
    pub fn of_kind(&self, kind: AttemptKind) -> u64 {
        counted(&self.kinds, AttemptKind::ALL, &kind)
    }

    /// Answers that were wrong in this way.
    pub fn of_defect(&self, defect: Defect) -> u64 {
        counted(&self.defects, Defect::ALL, &defect)
    }

    /// Requests that have ended.
    pub fn requests(&self) -> u64 {
        self.outcomes.iter().sum()
    }

    /// All attempts.
    pub fn attempts(&self) -> u64 {
        self.kinds.iter().sum()
    }

    /// Attempts that failed.
    pub fn failed(&self) -> u64 {
        self.classes.iter().sum()
    }
}

/// Steps from here on count as one: a number that outside data gave must not make a table of its size.
const MOST_STEPS: usize = 999;
