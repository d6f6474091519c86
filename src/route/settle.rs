//! From what came over the wire to a record, its consequences in the state, and the machine's next move.

use std::time::Duration;

use jiff::Timestamp;

use crate::config::StreamPolicy;
use crate::domain::{
    Answer, AttemptRecord, ChatRequest, Evidence, Execution, Failure, KeptEvidence, Message, Role, TransportFault,
    Usage,
};
use crate::ladder::{Exchange, StepSpec};
use crate::policy::{Demand, Event, UsageState};
use crate::store::{Store, StoreError};
use crate::wire::{EncodeError, Endpoint, HttpRequest, encode};

use super::drive::Drive;
use super::exchange::{Call, Came, Measured};
use super::job::{Lane, Wanted};
use super::ledger::{Asked, Booked, Entry, Metered};
use super::record::{Blame, cost, note, presentable};

/// Retries are counted over this time.
const BUDGET_WINDOW: Duration = Duration::from_secs(60);

impl<S: Store> Drive<'_, S> {
    /// The request as this step's provider wants it.
    pub(super) fn write(&self, exchange: &Exchange, step: &StepSpec, lane: &Lane) -> Result<HttpRequest, EncodeError> {
        let model = &step.target.deployment.model;
        let endpoint = Endpoint { provider: &lane.provider, model, base_url: &lane.base_url, key: lane.key.as_ref() };
        encode(&endpoint, &self.request_for(exchange, lane))
    }

    /// The user's request with the step's own instructions, and with what was wrong when an answer is to be repaired.
    fn request_for(&self, exchange: &Exchange, lane: &Lane) -> ChatRequest {
        let mut request = self.job.request.clone();
        if let Some(system) = &lane.system {
            request.system = Some(system.clone());
        }
        if let Some(wrong) = &exchange.repair {
            let said = self.made.answer.as_ref().map(|answer| answer.text.clone());
            let said = said.filter(|text| !text.trim().is_empty());
            request.messages.extend(said.map(|text| Message::text(Role::Assistant, text)));
            let ask = format!("That answer cannot be used: {wrong}. Answer again, with the corrected answer alone.");
            request.messages.push(Message::text(Role::User, ask));
        }
        request
    }

    /// Makes the exchange, or stops it when the user says so.
    pub(super) async fn exchange(&mut self, exchange: &Exchange, http: &HttpRequest, lane: &Lane) -> Measured {
        let watch = self.router.clock.stopwatch();
        let call = Call {
            transport: self.router.transport,
            http,
            lane,
            wanted: self.job.wanted,
            stream: self.job.streams(),
            time_left: exchange.time_left,
            watch,
        };
        let mut stop = self.stop.clone();
        tokio::select! {
            measured = call.make(self.observer) => measured,
            Ok(_) = stop.wait_for(|stopped| *stopped) => {
                self.machine.on_interrupt();
                Measured { came: Came::GaveUp, status: None, headers: Vec::new(), ttft: None, latency: watch.elapsed() }
            }
        }
    }

    /// Turns what came into a record, commits it with what it changes, and tells the machine.
    pub(super) fn settle(
        &mut self,
        exchange: &Exchange,
        step: &StepSpec,
        started_at: Timestamp,
        measured: Measured,
    ) -> Result<(), StoreError> {
        let mut attempt = blank(exchange, step, started_at, &measured);
        match measured.came {
            Came::Answer(answer) => {
                let metered = self.metered(step, &answer.usage, measured.status, measured.headers);
                attempt.usage = answer.usage;
                attempt.cost_usd = cost(step.price, &answer.usage);
                self.machine.on_cost(attempt.cost_usd.unwrap_or(0.0));
                let verdict = match self.job.wanted {
                    Wanted::Words => self.shape.check(&answer),
                    Wanted::Sign => Ok(None),
                };
                self.made.answer = Some(answer);
                match verdict {
                    Ok(parsed) => {
                        self.made.parsed = parsed;
                        self.made.ttft = attempt.ttft;
                        self.machine.on_answer(exchange.step);
                        tracing::info!(request = %self.job.id, deployment = %step.target.deployment, "answered");
                        self.commit(step, Event::Success, Written { attempt, kept: None, metered, unsent: false })
                    }
                    Err(failure) => {
                        let failure = presentable(*failure, self.router.redactor);
                        self.fail(exchange, step, &failure, Written { attempt, kept: None, metered, unsent: false })
                    }
                }
            }
            Came::Failed(evidence) => {
                let (failure, written) = self.classify(*evidence, step, attempt);
                self.fail(exchange, step, &failure, written)
            }
            Came::Broke(evidence, shown) => {
                let (failure, written) = self.classify(*evidence, step, attempt);
                self.fail(exchange, step, &failure, written)?;
                self.broke(shown);
                Ok(())
            }
            Came::ConsumerGone(shown) => {
                self.made.answer = Some(Answer { text: shown, ..Answer::default() });
                self.made.consumer_gone = true;
                self.machine.on_answer(exchange.step);
                self.abandon(step, started_at)
            }
            Came::GaveUp => self.abandon(step, started_at),
        }
    }

    /// What was shown of a stream is void, or it is all that there will be.
    fn broke(&mut self, shown: String) {
        if self.job.stream == StreamPolicy::Fail {
            self.made.answer = Some(Answer { text: shown, ..Answer::default() });
            self.machine.on_partial();
        } else {
            self.observer.restart();
        }
    }

    fn fail(
        &mut self,
        exchange: &Exchange,
        step: &StepSpec,
        failure: &Failure,
        mut written: Written,
    ) -> Result<(), StoreError> {
        let unsent = written.unsent;
        note(&mut written.attempt, failure, unsent);
        let status = written.attempt.status;
        tracing::info!(
            request = %self.job.id, deployment = %step.target.deployment, class = %failure.class, rule = %failure.rule,
            status, retry_at = failure.retry_at.map(tracing::field::display), "failed"
        );
        self.made.blame = Some(Blame {
            deployment: Some(step.target.deployment.clone()),
            class: failure.class,
            evidence: failure.evidence.clone(),
        });
        self.commit(step, Event::Failure(failure), written)?;
        let now = self.router.clock.now();
        let may_retry = self.router.store.take_retry(&self.job.id, now, now - BUDGET_WINDOW, self.job.retry_budget)?;
        let unit = self.rng.unit();
        self.machine.on_failure(exchange, failure, status, self.watch.elapsed(), may_retry, unit);
        Ok(())
    }

    /// Commits the attempt and what it changes in one transaction, with the request's own row when this is its end.
    fn commit(&mut self, step: &StepSpec, event: Event<'_>, written: Written) -> Result<(), StoreError> {
        let Written { attempt, kept, metered, .. } = written;
        let index = u32::try_from(self.made.attempts.len()).unwrap_or(u32::MAX);
        let started_at = attempt.started_at;
        self.made.attempts.push(attempt.clone());
        let request = match (event, self.machine.end()) {
            (Event::Success, Some(end)) => Some(self.record(end)),
            _ => None,
        };
        self.made.recorded = request.is_some();
        let ladder_end = self.machine.end().filter(|_| request.is_some()).and_then(|end| self.ladder_end(end, None));
        let entry = Entry { attempt: Some((index, attempt)), kept, metered, request, ladder_end, lands: None };
        let booked = self.book(step, event, started_at, &entry)?;
        if let Some(attempt) = self.made.attempts.last_mut() {
            attempt.held_until = booked.held_until;
            self.observer.asked(attempt);
        }
        Ok(())
    }

    /// The caller gave up: the deployment is not blamed, but leases are freed.
    fn abandon(&mut self, step: &StepSpec, started_at: Timestamp) -> Result<(), StoreError> {
        self.made.unanswered = Some(step.target.deployment.clone());
        self.book(step, Event::Abandoned, started_at, &Entry::default()).map(drop)
    }

    /// Through the one door.
    fn book(
        &mut self,
        step: &StepSpec,
        event: Event<'_>,
        started_at: Timestamp,
        entry: &Entry,
    ) -> Result<Booked, StoreError> {
        let jitter = self.rng.unit();
        let same_account = |other: &&StepSpec| {
            other.target.account == step.target.account
                && other.target.deployment.provider == step.target.deployment.provider
        };
        let steps = self.machine.steps().iter().filter(same_account);
        let siblings: Vec<&str> = steps.filter_map(|other| other.fingerprint.as_deref()).collect();
        let asked = Asked {
            target: &step.target,
            request_id: &self.job.id,
            started_at,
            caller: step.caller(),
            siblings: &siblings,
            gauges: &step.gauges,
        };
        self.router.ledger().book(&asked, event, entry, jitter)
    }

    /// What the evidence means, with all that is written down of it.
    fn classify(&self, evidence: Evidence, step: &StepSpec, attempt: AttemptRecord) -> (Failure, Written) {
        let (ledger, now) = (self.router.ledger(), self.router.clock.now());
        let unsent = evidence.transport.is_some_and(TransportFault::is_unsent);
        let stated = ledger.stated(&evidence, &step.target.deployment, now);
        let (failure, kept) = ledger.judge(evidence, &step.target.deployment, now);
        (failure, Written { attempt, kept, metered: Metered { stated, ..Metered::default() }, unsent })
    }

    /// What an answer used and taught. Where it does not say what it used, it counts as what was expected.
    fn metered(&self, step: &StepSpec, usage: &Usage, status: Option<u16>, headers: Vec<(String, String)>) -> Metered {
        let input = self.job.shape.input_tokens;
        let expected = self.job.shape.demand(step, &UsageState::default());
        let head = Evidence { status, headers, ..Evidence::default() };
        Metered {
            used: Demand {
                requests: 1.0,
                input: usage.input_tokens.map_or(expected.input, |tokens| tokens as f64),
                output: usage.output_tokens.map_or(expected.output, |tokens| tokens as f64),
                usd: cost(step.price, usage).unwrap_or(expected.usd),
            },
            stated: self.router.ledger().stated(&head, &step.target.deployment, self.router.clock.now()),
            tokens: Some((input, *usage)),
        }
    }
}

/// What is written down of an exchange.
struct Written {
    attempt: AttemptRecord,
    kept: Option<KeptEvidence>,
    metered: Metered,
    /// Whether nothing was sent.
    unsent: bool,
}

/// The record of an exchange before it is judged.
fn blank(exchange: &Exchange, step: &StepSpec, started_at: Timestamp, measured: &Measured) -> AttemptRecord {
    AttemptRecord {
        deployment: step.target.deployment.clone(),
        account: step.target.account.clone(),
        step: u32::try_from(exchange.step).unwrap_or(u32::MAX),
        kind: exchange.kind,
        class: None,
        scope: None,
        dimension: None,
        status: measured.status,
        rule: None,
        evidence: None,
        started_at,
        ttft: measured.ttft,
        latency: measured.latency,
        held_until: None,
        usage: Usage::default(),
        cost_usd: None,
        execution: Execution::Ran,
        given_up: None,
    }
}
