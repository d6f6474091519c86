//! One request after another down one ladder, within the bounds of one.

use std::time::Duration;

use jiff::Timestamp;

use super::machine::rounds_of;
use crate::clock::Stopwatch;
use crate::domain::{AttemptKind, Message, Outcome, RequestRecord, ToolChoice, Usage};
use crate::ladder::{End, RequestShape, Skip};
use crate::route::{Job, Report};

/// The requests of one answer: the model's turns between two words of the user. The highest cost, the attempts and the
/// deadline for the time that models take are over all of them, and what they come to is told as of one.
#[derive(Debug)]
pub struct Rounds {
    job: Job,
    watch: Stopwatch,
    made: Vec<Report>,
}

impl Rounds {
    /// All of them are made as this one, with other messages.
    pub fn new(job: Job, watch: Stopwatch) -> Self {
        Self { job, watch, made: Vec::new() }
    }

    /// The next one. It stays with the deployment that answered last, as long as that may be asked: it knows the
    /// conversation, and may have it in its cache. A choice of tools that was asked for is made once; else the model could
    /// never answer in words. That another process made it counts too. One attempt is left in any case: what was run is
    /// worth the try.
    pub fn next(&self, messages: Vec<Message>) -> Job {
        let mut job = self.job.clone();
        let has_called = rounds_of(&messages) > 0;
        if has_called && matches!(job.request.tool_choice, Some(ToolChoice::Required | ToolChoice::Named(_))) {
            job.request.tool_choice = None;
        }
        job.request.messages = messages;
        let number = self.made.len() + 1;
        if number > 1 {
            job.id = self.job.id.round(number);
            job.first_attempt = 0;
        }
        job.shape = RequestShape::of(&job.request);
        let limits = &mut job.spec.limits;
        // Tools have bounds of their own, and a person may think as long as they like.
        let waited: Duration = self.made.iter().map(|report| report.record.latency).sum();
        limits.deadline = limits.deadline.saturating_sub(waited);
        let asked: usize = self.made.iter().map(|report| report.record.attempts.len()).sum();
        limits.attempts = limits.attempts.saturating_sub(u32::try_from(asked).unwrap_or(u32::MAX)).max(1);
        let spent: f64 = self.made.iter().filter_map(|report| report.record.cost_usd).sum();
        limits.max_cost_usd = limits.max_cost_usd.map(|most| (most - spent).max(0.0));
        // What was wrong is told once for an answer, and not once more after each call.
        let attempts = self.made.iter().flat_map(|report| &report.record.attempts);
        let repairs = attempts.filter(|attempt| attempt.kind == AttemptKind::Repair);
        job.directives.repaired = repairs.map(|attempt| attempt.deployment.clone()).collect();
        job.directives.first = self.made.last().and_then(|report| report.record.deployment.clone());
        job
    }

    /// What one of them came to.
    pub fn note(&mut self, report: Report) {
        self.made.push(report);
    }

    /// The ladder down which they go.
    pub fn job(&self) -> &Job {
        &self.job
    }

    /// All of them as one.
    pub fn report(&self, now: Timestamp) -> Report {
        let (Some(first), Some(last)) = (self.made.first(), self.made.last()) else { return self.nothing(now) };
        let mut all = last.clone();
        all.record.id = first.record.id.clone();
        all.record.started_at = first.record.started_at;
        all.record.latency = self.watch.elapsed();
        all.record.attempts = self.made.iter().flat_map(|report| report.record.attempts.iter().cloned()).collect();
        all.record.usage = self.made.iter().fold(Usage::default(), |sum, report| sum.plus(report.record.usage));
        let costs = || self.made.iter().filter_map(|report| report.record.cost_usd);
        all.record.cost_usd = costs().next().is_some().then(|| costs().sum());
        all.record.retries_denied = self.made.iter().map(|report| report.record.retries_denied).sum();
        let mut skipped: Vec<Skip> = Vec::new();
        for skip in self.made.iter().flat_map(|report| &report.skipped) {
            if !skipped.iter().any(|known| known.step == skip.step && known.reason == skip.reason) {
                skipped.push(skip.clone());
            }
        }
        all.skipped = skipped;
        all
    }

    /// Nobody was asked.
    fn nothing(&self, now: Timestamp) -> Report {
        let begun = RequestRecord::begun(self.job.id.clone(), self.job.spec.name.clone(), now);
        let record = RequestRecord { latency: self.watch.elapsed(), outcome: Outcome::NeedsPerson, ..begun };
        Report::wordless(record, End::NeedsPerson)
    }

    /// Whether anybody was asked.
    pub fn has_asked(&self) -> bool {
        !self.made.is_empty()
    }
}
