//! What the exchanges of one request have come to.

use std::time::Duration;

use serde_json::Value;

use crate::domain::{Answer, AttemptRecord, Class, Deployment};
use crate::ladder::End;

use super::cascade::Passing;
use super::record::Blame;

/// What the exchanges of a request have come to so far.
#[derive(Default)]
pub(super) struct Made {
    pub(super) attempts: Vec<AttemptRecord>,
    /// What the exchange that was settled last came to; none when it gave no answer.
    pub(super) answer: Option<Answer>,
    pub(super) parsed: Option<Value>,
    pub(super) ttft: Option<Duration>,
    /// What the model is told of its last answer, when that was wrong.
    pub(super) told: Option<String>,
    /// Why the last answer could not be checked.
    pub(super) trouble: Option<String>,
    pub(super) blame: Option<Blame>,
    /// The latest answer that is not as asked; one without words only where none had any.
    pub(super) invalid: Option<Invalid>,
    /// Who was being asked when the request was given up.
    pub(super) unanswered: Option<Deployment>,
    pub(super) consumer_gone: bool,
    /// How many retries the budget denied.
    pub(super) retries_denied: u32,
    /// Whether the request's own row is written.
    pub(super) recorded: bool,
    /// Whether it stands there as one that is under way.
    pub(super) is_noted: bool,
    /// What has been between it and its ladder.
    pub(super) passing: Passing,
}

/// An answer that is not as asked. What is wrong with it stays with it: what is handed out, and what is said of it, are of
/// one exchange.
pub(super) struct Invalid {
    pub(super) answer: Answer,
    pub(super) blame: Blame,
}

impl Made {
    /// The failure that the end is told with.
    pub(super) fn to_blame(&self, end: End) -> Option<&Blame> {
        let of_answer = self.invalid.as_ref().filter(|_| is_of_an_answer(end)).map(|invalid| &invalid.blame);
        of_answer.or(self.blame.as_ref())
    }

    /// Keeps what came although it is not as asked: it may be all that there will be. Words are not given up for none.
    pub(super) fn remember_invalid(&mut self, blame: &Blame) {
        if blame.class != Class::InvalidOutput {
            return;
        }
        let answer = self.answer.clone().unwrap_or_default();
        let has_words = |answer: &Answer| !answer.text.trim().is_empty();
        if has_words(&answer) || !self.invalid.as_ref().is_some_and(|before| has_words(&before.answer)) {
            self.invalid = Some(Invalid { answer, blame: blame.clone() });
        }
    }

    /// At an end with an answer that is not as asked, that is the answer: an exchange that came after it may have failed in
    /// its own way. Says who gave it.
    pub(super) fn hand_out_invalid(&mut self, end: End) -> Option<Deployment> {
        let invalid = self.invalid.take_if(|_| is_of_an_answer(end))?;
        self.answer = Some(invalid.answer);
        invalid.blame.deployment
    }
}

/// Whether the request ends with an answer that is not as asked.
const fn is_of_an_answer(end: End) -> bool {
    matches!(end, End::WrongShape | End::AsItIs | End::Rejected)
}
