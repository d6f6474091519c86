//! A call that another program made, written down like one of our own.
//!
//! It stands in the log as a request of one step on a ladder of its own name, and whatever it says goes through the same
//! ledger: so a circuit that a report opens holds back `chat` as well, and the other way round. Several reports under one
//! id are the attempts of one request, in the order in which they came.

use std::time::Duration;

use crate::catalog::Price;
use crate::domain::{
    AttemptKind, AttemptRecord, Class, Execution, Failure, KeptEvidence, LadderName, Outcome, RequestId, RequestRecord,
    StatedLimit, TransportFault, Usage,
};
use crate::policy::{Demand, Event};
use crate::store::StoreError;

use super::ledger::{Asked, Booked, Entry, Ledger, Metered};
use super::record::{cost, note, presentable};
use super::reply::Told;

/// A call that another program made.
#[derive(Debug, Clone)]
pub struct OutsideCall<'a> {
    /// Who was asked, for which request, when.
    pub asked: Asked<'a>,
    /// How long it took.
    pub latency: Duration,
    /// The HTTP status, if one came.
    pub status: Option<u16>,
    /// What came.
    pub told: Told,
    /// Tokens as the program counted them; else those of the answer count.
    pub usage: Usage,
    /// What tokens cost.
    pub price: Option<Price>,
    /// The limits that the reply states.
    pub stated: Vec<StatedLimit>,
    /// Whether the call was let through as a probe.
    pub probe: bool,
    /// The call that a guard let pass under another id.
    pub lands: Option<RequestId>,
    /// What the log has of the request already.
    pub before: Option<RequestRecord>,
}

/// What was written down.
#[derive(Debug, Clone, PartialEq)]
pub struct Written {
    /// The attempt.
    pub attempt: AttemptRecord,
    /// What it changed.
    pub booked: Booked,
}

impl OutsideCall<'_> {
    /// Judges the call and writes it down with all that follows. `jitter` is a drawn number in 0..1.
    ///
    /// # Errors
    /// When the state cannot be read or written; nothing is written then.
    pub fn write(self, ledger: &Ledger<'_>, jitter: f64) -> Result<Written, StoreError> {
        let mut attempt = self.blank();
        let now = ledger.clock.now();
        let answered = !matches!(self.told, Told::Failed(_));
        let ended_at = attempt.started_at.checked_add(attempt.latency).unwrap_or(now).min(now);
        let unsent =
            matches!(&self.told, Told::Failed(evidence) if evidence.transport.is_some_and(TransportFault::is_unsent));
        let (failure, kept) = match self.told {
            Told::Answer(answer) => {
                attempt.usage = over(self.usage, answer.usage);
                (None, None)
            }
            Told::Wrong(failure) => (Some(presentable(*failure, ledger.redactor)), None),
            Told::Failed(evidence) => {
                let (failure, kept) = ledger.judge(*evidence, &self.asked.target.deployment, ended_at);
                (Some(failure), kept)
            }
        };
        attempt.cost_usd = cost(self.price, &attempt.usage);
        if let Some(failure) = &failure {
            note(&mut attempt, failure, unsent);
        }
        let event = failure.as_ref().map_or(Event::Success, Event::Failure);
        let mut entry = entry(self.asked, &attempt, failure.as_ref(), kept, self.before.as_ref());
        entry.metered = Metered { used: used(&attempt, answered), stated: self.stated, tokens: None };
        entry.lands = self.lands;
        let booked = ledger.book(&self.asked, event, &entry, jitter)?;
        attempt.held_until = booked.held_until;
        Ok(Written { attempt, booked })
    }

    /// The attempt before it is judged.
    fn blank(&self) -> AttemptRecord {
        let target = self.asked.target;
        let earlier = self.before.iter().flat_map(|request| &request.attempts);
        let again = earlier.clone().any(|earlier| earlier.deployment == target.deployment);
        AttemptRecord {
            deployment: target.deployment.clone(),
            account: target.account.clone(),
            step: 0,
            kind: match (self.probe, again) {
                (true, _) => AttemptKind::Probe,
                (false, true) => AttemptKind::Retry,
                (false, false) => AttemptKind::First,
            },
            class: None,
            scope: None,
            dimension: None,
            status: self.status,
            rule: None,
            evidence: None,
            started_at: self.asked.started_at,
            ttft: None,
            latency: self.latency,
            held_until: None,
            usage: self.usage,
            cost_usd: None,
            execution: Execution::Ran,
            given_up: None,
            extracted: None,
            judged: false,
        }
    }
}

/// What the call used, as far as it is told.
fn used(attempt: &AttemptRecord, answered: bool) -> Demand {
    let count = |tokens: Option<u64>| tokens.map_or(0.0, |tokens| tokens as f64);
    Demand {
        requests: f64::from(u8::from(answered)),
        input: count(attempt.usage.input_tokens),
        output: count(attempt.usage.output_tokens),
        usd: attempt.cost_usd.unwrap_or(0.0),
    }
}

fn over(told: Usage, read: Usage) -> Usage {
    Usage {
        input_tokens: told.input_tokens.or(read.input_tokens),
        output_tokens: told.output_tokens.or(read.output_tokens),
        cached_tokens: told.cached_tokens.or(read.cached_tokens),
    }
}

/// The rows of the log: the attempt after those that are there, and the request as it stands with it.
fn entry(
    asked: Asked<'_>,
    attempt: &AttemptRecord,
    failure: Option<&Failure>,
    kept: Option<KeptEvidence>,
    before: Option<&RequestRecord>,
) -> Entry {
    let place = before.map_or(0, |request| u32::try_from(request.attempts.len()).unwrap_or(u32::MAX));
    let begun = before.map_or(attempt.started_at, |request| request.started_at.min(attempt.started_at));
    let ended = attempt.started_at.checked_add(attempt.latency).unwrap_or(attempt.started_at);
    let usage = before.map(|request| request.usage).unwrap_or_default().plus(attempt.usage);
    let costs = [before.and_then(|request| request.cost_usd), attempt.cost_usd];
    let request = RequestRecord {
        id: asked.request_id.clone(),
        ladder: LadderName::new(LadderName::REPORTS),
        started_at: begun,
        latency: Duration::try_from(ended.duration_since(begun)).unwrap_or(attempt.latency),
        outcome: failure.map_or(Outcome::Answered, |failure| outcome(failure.class)),
        deployment: failure.is_none().then(|| attempt.deployment.clone()),
        step: failure.is_none().then_some(attempt.step),
        usage,
        cost_usd: costs.iter().any(Option::is_some).then(|| costs.iter().flatten().sum()),
        retry_at: None,
        retries_denied: 0,
        error: failure.map(|failure| format!("{} says {}: {}", attempt.deployment, failure.class, failure.evidence)),
        attempts: Vec::new(),
    };
    Entry { attempt: Some((place, attempt.clone())), kept, request: Some(request), ..Entry::default() }
}

/// How a request ends whose only step fails so.
fn outcome(class: Class) -> Outcome {
    match class {
        Class::InvalidOutput => Outcome::WrongShape,
        class if class.needs_a_person() => Outcome::NeedsPerson,
        class if class.is_the_requests_fault() => Outcome::Refused,
        _ => Outcome::Exhausted,
    }
}

/// Whether further calls may join this request of the log: one that went down a ladder of ours is complete by itself.
pub fn may_join(request: &RequestRecord) -> bool {
    request.ladder == *LadderName::REPORTS
}
