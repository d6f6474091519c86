//! What a request that just ended says of its ladder.

use jiff::Timestamp;

use crate::domain::{AttemptRecord, Deployment, LadderName, RequestId};
use crate::ladder::{End, Skip};

use super::alarm::Died;
use super::record::Report;

/// A request that ended, as far as it says something of its ladder.
#[derive(Debug, Clone, PartialEq)]
pub struct Ended {
    /// The ladder.
    pub ladder: LadderName,
    /// The request.
    pub request_id: RequestId,
    /// Whether it fell through; else it was answered.
    pub fell: bool,
    /// What it asked.
    pub attempts: Vec<AttemptRecord>,
    /// What it did not ask.
    pub skipped: Vec<Skip>,
    /// When it began.
    pub started_at: Timestamp,
}

impl Ended {
    /// What the report says; none when it says nothing of the ladder: it was given up, was at fault itself, or was turned
    /// away.
    pub fn of(report: &Report) -> Option<Self> {
        let fell = report.end.is_exhaustion();
        let says = match report.end {
            End::Answered { .. } => !report.consumer_gone,
            _ => fell && !report.turned_away,
        };
        let record = &report.record;
        says.then(|| Self {
            ladder: record.ladder.clone(),
            request_id: record.id.clone(),
            fell,
            attempts: record.attempts.clone(),
            skipped: report.skipped.clone(),
            started_at: record.started_at,
        })
    }

    /// Why the deployment did not answer it, where the state does not say it better.
    pub(super) fn met(&self, deployment: &Deployment, state: &Died) -> Died {
        if matches!(state, Died::Held(_)) {
            return state.clone();
        }
        let attempt = self.attempts.iter().rev().find(|attempt| attempt.deployment == *deployment);
        if let Some(attempt) = attempt.filter(|attempt| attempt.class.is_some()) {
            return Died::Failed(attempt.clone());
        }
        if matches!(state, Died::Full(_)) {
            return state.clone();
        }
        match self.skipped.iter().find(|skip| skip.deployment == *deployment) {
            Some(skip) => Died::Skipped(skip.clone()),
            None => state.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::domain::{AttemptKind, Class, Dimension, Execution, Provenance, Usage};
    use crate::ladder::SkipReason;
    use crate::policy::{HoldKind, Tightness};

    fn who() -> Deployment {
        "lab/m".parse().expect("a deployment")
    }

    fn attempt(class: Option<Class>) -> AttemptRecord {
        AttemptRecord {
            deployment: who(),
            account: "lab".into(),
            step: 0,
            kind: AttemptKind::First,
            class,
            scope: None,
            dimension: None,
            status: None,
            rule: None,
            evidence: None,
            started_at: Timestamp::UNIX_EPOCH,
            ttft: None,
            latency: Duration::ZERO,
            held_until: None,
            usage: Usage::default(),
            cost_usd: None,
            execution: Execution::Ran,
            given_up: None,
            extracted: None,
            judged: false,
        }
    }

    fn tight(used: f64, share: f64) -> Tightness {
        Tightness { dimension: Dimension::Tpm, used, limit: 100.0, share, until: None, provenance: Provenance::Fact }
    }

    /// What a request with these attempts and this reason for a skip met at a step that is free.
    fn met(class: Option<Class>, reason: Option<SkipReason>) -> Died {
        let skip = |reason| Skip { step: 0, deployment: who(), reason, until: None, provenance: None };
        let ended = Ended {
            ladder: "main".into(),
            request_id: RequestId::new("req_1"),
            fell: true,
            attempts: class.map(|class| attempt(Some(class))).into_iter().collect(),
            skipped: reason.map(skip).into_iter().collect(),
            started_at: Timestamp::UNIX_EPOCH,
        };
        ended.met(&who(), &Died::Free)
    }

    #[test]
    fn a_step_is_down_for_what_keeps_everybody_from_it_and_not_for_what_keeps_this_request() {
        use SkipReason::{
            AttemptsUsed, BelowBar, Excluded, HeldByHand, Lacks, NearLimit, NoFallback, NoKey, NotCached, NotPinned,
            RefusedAlready, TooDear, TooExpensive, TooLarge, TooSlow,
        };
        let held = SkipReason::Held { kind: HoldKind::Circuit, class: Class::Auth, evidence: String::new() };
        let text = String::new;
        for (reason, is_down) in [
            (held, true),
            (HeldByHand(text()), true),
            (NoKey(text()), true),
            (BelowBar(text()), true),
            (NearLimit(tight(95.0, 1.05)), true),
            (NearLimit(tight(20.0, 1.05)), false),
            (NotPinned, false),
            (Excluded, false),
            (Lacks(text()), false),
            (TooLarge(8192), false),
            (TooExpensive(1.0), false),
            (TooDear(1.0), false),
            (TooSlow(Duration::from_secs(9)), false),
            (NotCached, false),
            (RefusedAlready(Class::ContentPolicy), false),
            (NoFallback, false),
            (AttemptsUsed, false),
        ] {
            let met = met(None, Some(reason));
            assert_eq!(met.is_down(), is_down, "{met:?}");
        }
        assert_eq!(met(None, None), Died::Free, "nothing kept it back");
        assert!(!Died::Free.is_down());
    }

    #[test]
    fn a_step_that_failed_is_down_unless_the_request_was_at_fault() {
        let of_request = [
            Class::ContextOverflow,
            Class::ContentPolicy,
            Class::Unsupported,
            Class::InvalidRequest,
            Class::InvalidOutput,
        ];
        for class in Class::ALL {
            // That it was tried says more than why it was not tried again.
            let met = met(Some(*class), Some(SkipReason::RetryDenied));
            assert_eq!(met.is_down(), !of_request.contains(class), "{class}");
        }
    }
}
