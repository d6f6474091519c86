//! What becomes of an answer that came and is not as asked.
//!
//! It is never a failure that holds anything back: the deployment works, it only said the wrong thing. So there are two
//! cheap things to try, each once. The same deployment is told precisely what was wrong; that is the repair, and there is
//! never a second one of this deployment for what the user asked, whatever came of the first, and however many turns with
//! tools the answer takes. The next step has one of its own. Then the ladder's policy decides: the next step, which may
//! be a better model; or the answer as it is, where a broken one is worth more than none; or the end, where another model
//! must not be asked.
//!
//! A repair is an exchange like any other. It counts against the attempts, it is not made when it could cost more than the
//! ceiling leaves, nor after the deadline, nor under a hold that another process set meanwhile. A repair that cannot be
//! made is over as one that did not help.

use crate::domain::{Class, Failure};

use super::end::End;
use super::run::{Exchange, Progress, Run};
use super::spec::OnInvalid;

impl Run {
    /// Whether the step may be told what was wrong with its answer.
    pub(super) fn may_repair(&self, progress: &Progress) -> bool {
        self.spec.limits.repair && !progress.repaired
    }

    /// Whether this failure is the last word on an answer that is not as asked, and no other step is to be asked. A
    /// failure on the way of a repair leaves the answer what it was.
    pub(super) fn ends_with_invalid(&self, sent: &Exchange, failure: &Failure) -> bool {
        let before = self.progress.get(sent.step).is_some_and(|progress| progress.invalid);
        let is_invalid = failure.class == Class::InvalidOutput || (sent.kind.is_remedy() && before);
        self.spec.limits.on_invalid != OnInvalid::Next && is_invalid && self.remedy(sent, failure).is_none()
    }

    /// Ends the request as the ladder wants it after such an answer; with `next` it goes on.
    pub(super) fn end_with_invalid(&mut self) {
        self.end = match self.spec.limits.on_invalid {
            OnInvalid::Next => return,
            OnInvalid::Return => Some(End::AsItIs),
            OnInvalid::Fail => Some(End::Rejected),
        };
    }
}
