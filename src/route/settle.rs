//! From what came over the wire to a record, its consequences in the state, and the machine's next move.

use std::time::Duration;

use jiff::Timestamp;

use crate::config::StreamPolicy;
use crate::domain::{
    Answer, AttemptRecord, ChatRequest, Class, Deployment, Evidence, Failure, KeptEvidence, Message, Role, Usage,
};
use crate::ladder::{Exchange, StepSpec};
use crate::policy::{Change, Event, Moment, Report as Happened, apply};
use crate::store::{Batch, Store, StoreError, update};
use crate::wire::{EncodeError, Endpoint, HttpRequest, encode};

use super::drive::Drive;
use super::exchange::{Call, Came, Measured};
use super::job::Lane;
use super::keep::kept;
use super::record::{Blame, cost, held_until, note, presentable};

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
            stream: self.job.streams(),
            time_left: exchange.time_left,
            watch,
        };
        let mut stop = self.stop.clone();
        tokio::select! {
            measured = call.make(self.observer) => measured,
            Ok(_) = stop.wait_for(|stopped| *stopped) => {
                self.machine.on_interrupt();
                Measured { came: Came::GaveUp, status: None, ttft: None, latency: watch.elapsed() }
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
                attempt.usage = answer.usage;
                attempt.cost_usd = cost(step.price, &answer.usage);
                self.machine.on_cost(attempt.cost_usd.unwrap_or(0.0));
                let verdict = self.shape.check(&answer);
                self.made.answer = Some(answer);
                match verdict {
                    Ok(parsed) => {
                        self.made.parsed = parsed;
                        self.made.ttft = attempt.ttft;
                        self.machine.on_answer(exchange.step);
                        tracing::info!(request = %self.job.id, deployment = %step.target.deployment, "answered");
                        self.commit(step, Event::Success, attempt, None)
                    }
                    Err(failure) => {
                        let failure = presentable(*failure, self.router.redactor);
                        self.fail(exchange, step, &failure, attempt, None)
                    }
                }
            }
            Came::Failed(evidence) => {
                let (failure, kept) = self.classify(*evidence, step);
                self.fail(exchange, step, &failure, attempt, kept.as_ref())
            }
            Came::Broke(evidence, shown) => {
                let (failure, kept) = self.classify(*evidence, step);
                self.fail(exchange, step, &failure, attempt, kept.as_ref())?;
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
        mut attempt: AttemptRecord,
        kept: Option<&KeptEvidence>,
    ) -> Result<(), StoreError> {
        note(&mut attempt, failure);
        tracing::info!(
            request = %self.job.id, deployment = %step.target.deployment, class = %failure.class, rule = %failure.rule,
            status = attempt.status, retry_at = failure.retry_at.map(tracing::field::display), "failed"
        );
        let status = attempt.status;
        self.made.blame = Some(Blame {
            deployment: Some(step.target.deployment.clone()),
            class: failure.class,
            evidence: failure.evidence.clone(),
        });
        self.commit(step, Event::Failure(failure), attempt, kept)?;
        let retries = self.router.store.retries_since(self.router.clock.now() - BUDGET_WINDOW)?;
        let may_retry = retries < self.job.retry_budget;
        let unit = self.rng.unit();
        self.machine.on_failure(exchange, failure, status, self.watch.elapsed(), may_retry, unit);
        Ok(())
    }

    /// Commits the attempt and what it changes in one transaction, with the request's own row when this is its end.
    fn commit(
        &mut self,
        step: &StepSpec,
        event: Event<'_>,
        attempt: AttemptRecord,
        kept: Option<&KeptEvidence>,
    ) -> Result<(), StoreError> {
        let index = u32::try_from(self.made.attempts.len()).unwrap_or(u32::MAX);
        let started_at = attempt.started_at;
        self.made.attempts.push(attempt);
        let request = match (event, self.machine.end()) {
            (Event::Success, Some(end)) => Some(self.record(end)),
            _ => None,
        };
        self.made.recorded = request.is_some();
        let jitter = self.rng.unit();
        let held_until = self.apply(step, event, started_at, jitter, |held_until| {
            let attempt = self.made.attempts.last().map(|attempt| AttemptRecord { held_until, ..attempt.clone() });
            let attempts = attempt.into_iter().map(|attempt| (self.job.id.clone(), index, attempt)).collect();
            let kept = kept.map(|kept| (self.job.id.clone(), index, kept.clone())).into_iter().collect();
            Batch { attempts, kept, request: request.clone(), ..Batch::default() }
        })?;
        if let Some(attempt) = self.made.attempts.last_mut() {
            attempt.held_until = held_until;
            self.observer.asked(attempt);
        }
        Ok(())
    }

    /// The caller gave up: the deployment is not blamed, but leases are freed.
    fn abandon(&mut self, step: &StepSpec, started_at: Timestamp) -> Result<(), StoreError> {
        self.made.unanswered = Some(step.target.deployment.clone());
        let jitter = self.rng.unit();
        self.apply(step, Event::Abandoned, started_at, jitter, |_| Batch::default()).map(drop)
    }

    /// Makes the decision on what the store holds and commits it with the rest of the batch; says until when it holds.
    fn apply(
        &self,
        step: &StepSpec,
        event: Event<'_>,
        started_at: Timestamp,
        jitter: f64,
        rest: impl Fn(Option<Timestamp>) -> Batch,
    ) -> Result<Option<Timestamp>, StoreError> {
        let ever_worked = match event {
            Event::Failure(failure) if failure.class == Class::Auth => self.ever_worked(&step.target.deployment)?,
            _ => false,
        };
        let same_account = |other: &&StepSpec| {
            other.target.account == step.target.account
                && other.target.deployment.provider == step.target.deployment.provider
        };
        let steps = self.machine.steps().iter().filter(same_account);
        let siblings: Vec<&str> = steps.filter_map(|other| other.fingerprint.as_deref()).collect();
        let happened = Happened {
            target: &step.target,
            request_id: &self.job.id,
            started_at,
            fingerprint: step.fingerprint.as_deref(),
            siblings: &siblings,
            ever_worked,
        };
        let now = self.router.clock.now();
        let moment = Moment { now, settings: self.router.settings, jitter };
        update(self.router.store, |holds| {
            let changes: Vec<Change> = apply(holds, event, &happened, &moment);
            let held = held_until(&changes, now);
            (Batch { changes, ..rest(held) }, held)
        })
    }

    /// Whether this key ever got an answer.
    fn ever_worked(&self, asked: &Deployment) -> Result<bool, StoreError> {
        let health = self.router.store.health()?;
        let same_key = |known: &Deployment| known.provider == asked.provider && known.credential == asked.credential;
        Ok(health.iter().any(|known| same_key(&known.deployment) && known.last_success.is_some()))
    }

    /// What the evidence means; with all of it where that is not known.
    fn classify(&self, evidence: Evidence, step: &StepSpec) -> (Failure, Option<KeptEvidence>) {
        let Deployment { provider, model, .. } = step.target.deployment.clone();
        let now = self.router.clock.now();
        let evidence = Evidence { provider: Some(provider), model: Some(model), at: Some(now), ..evidence };
        let failure = self.router.classifier.classify(&evidence, self.router.catalog, now);
        let kept = (failure.class == Class::Unknown).then(|| kept(&evidence, self.router.redactor));
        (presentable(failure, self.router.redactor), kept)
    }
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
    }
}
