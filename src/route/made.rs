//! What the exchanges of one request have come to.

use std::time::Duration;

use serde_json::Value;

use crate::domain::{Answer, AttemptRecord, Deployment};
use crate::ladder::End;

use super::cascade::Passing;
use super::record::Blame;

/// What the exchanges of a request have come to so far.
#[derive(Default)]
pub(super) struct Made {
    pub(super) attempts: Vec<AttemptRecord>,
    pub(super) answer: Option<Answer>,
    pub(super) parsed: Option<Value>,
    pub(super) ttft: Option<Duration>,
    /// What the model is told of its last answer, when that was wrong.
    pub(super) told: Option<String>,
    /// Why the last answer could not be checked.
    pub(super) trouble: Option<String>,
    pub(super) blame: Option<Blame>,
    /// The latest answer with words that is not as asked, and what is wrong with it.
    pub(super) invalid: Option<(Answer, Blame)>,
    /// Who was being asked when the request was given up.
    pub(super) unanswered: Option<Deployment>,
    pub(super) consumer_gone: bool,
    /// How many retries the budget denied.
    pub(super) retries_denied: u32,
    /// Whether the request's own row is written.
    pub(super) recorded: bool,
    /// What has been between it and its ladder.
    pub(super) passing: Passing,
}

impl Made {
    /// The failure that the end is told with.
    pub(super) fn to_blame(&self, end: End) -> Option<&Blame> {
        let of_answer = self.invalid.as_ref().map(|(_, blame)| blame);
        if matches!(end, End::AsItIs | End::Rejected) { of_answer.or(self.blame.as_ref()) } else { self.blame.as_ref() }
    }
}
