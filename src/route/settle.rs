//! From what came over the wire to a record, its consequences in the state, and the machine's next move.

use std::time::Duration;

use jiff::Timestamp;

use crate::config::StreamPolicy;
use crate::domain::{
    Answer, AttemptKind, AttemptRecord, ChatRequest, Class, Deployment, Evidence, Execution, Failure, Feature, GivenUp,
    KeptAnswer, KeptEvidence, RequestId, TransportFault, Usage,
};
use crate::ladder::{Exchange, Failed, Remedy, StepSpec};
use crate::policy::{About, BELIEVED, Demand, Event, Finding, UsageState};
use crate::store::{Store, StoreError};
use crate::validate::{Flaw, Judged, Wrong};
use crate::wire::{EncodeError, Endpoint, HttpRequest, Ids, encode, restore_names, shape_in_words};

use super::answered::{JSON_ALONE, repair};
use super::drive::Drive;
use super::exchange::{Came, Measured};
use super::flight::Flight;
use super::job::{Lane, Wanted};
use super::ledger::{Asked, Booked, Entry, Metered};
use super::record::{Blame, cost, note, presentable};

impl<S: Store> Drive<'_, S> {
    /// The request as this step's provider wants it.
    pub(super) fn write(&self, exchange: &Exchange, step: &StepSpec, lane: &Lane) -> Result<HttpRequest, EncodeError> {
        let model = &step.target.deployment.model;
        let key = lane.key.as_ref();
        let idempotency = idempotency(&self.job.id, exchange);
        let ids = Some(Ids { request: self.job.id.as_str(), idempotency: &idempotency });
        let endpoint = Endpoint { provider: &lane.provider, model, base_url: &lane.base_url, key, ids };
        encode(&endpoint, &self.request_for(exchange, lane))
    }

    /// The user's request with the step's own instructions, and with what was wrong when an answer is to be repaired.
    fn request_for(&self, exchange: &Exchange, lane: &Lane) -> ChatRequest {
        let mut request = self.job.request.clone();
        if let Some(system) = &lane.system {
            request.system = Some(system.clone());
        }
        if let Some(developer) = &lane.developer {
            request.developer = Some(developer.clone());
        }
        for (name, value) in &lane.options {
            request.options.entry(name.clone()).or_insert_with(|| value.clone());
        }
        if let Some(most) = exchange.max_tokens {
            request.max_tokens = Some(u32::try_from(most).unwrap_or(u32::MAX));
        }
        if self.validation.needs_words_for_json() {
            let own = request.system.take().map(|system| format!("{system}\n\n")).unwrap_or_default();
            request.system = Some(format!("{own}{JSON_ALONE}"));
        }
        if let Some(Remedy::Shape(evidence)) = &exchange.remedy {
            let said = self.made.answer.as_ref().map(|answer| answer.text.as_str());
            request.messages.extend(match &self.made.told {
                Some(told) => repair(said.unwrap_or_default(), told),
                // No answer came of it that could be shown.
                None => repair("", &format!("This was wrong with it: {evidence}.")),
            });
        }
        if exchange.in_words {
            request = shape_in_words(request);
        }
        if exchange.without_thinking { request.without_thinking() } else { request }
    }

    /// Turns what came into a record, commits it with what it changes, and tells the machine. `alone` says that nothing
    /// else of this request is under way.
    pub(super) async fn settle(&mut self, flight: &Flight, measured: Measured, alone: bool) -> Result<(), StoreError> {
        let mut attempt = blank(flight, &measured);
        // What was before says nothing of this one.
        (self.made.answer, self.made.told) = (None, None);
        match measured.came {
            Came::Answer(mut answer) => {
                self.restore_names(&flight.step, &mut answer);
                let metered = self.metered(&flight.step, &answer.usage, measured.status, measured.headers);
                attempt.usage = answer.usage;
                attempt.cost_usd = cost(flight.step.price, &answer.usage);
                self.machine.on_cost(attempt.cost_usd.unwrap_or(0.0));
                self.judge(flight, answer, Written::of(attempt, metered), alone).await
            }
            Came::Failed(evidence) => {
                let (failure, written) = self.classify(*evidence, &flight.step, attempt);
                self.fail(flight, &failure, written, alone)
            }
            Came::Broke(evidence, shown) => {
                let (failure, written) = self.classify(*evidence, &flight.step, attempt);
                // Where it ends here, no retry is taken from the others.
                let goes_on = self.job.stream != StreamPolicy::Fail;
                self.fail(flight, &failure, written, alone && goes_on)?;
                self.broke(shown);
                Ok(())
            }
            Came::ConsumerGone(shown) => {
                self.made.answer = Some(shown);
                self.made.consumer_gone = true;
                self.machine.on_answer(flight.exchange.step);
                self.write_off(flight, attempt, GivenUp::ReaderGone)
            }
            Came::GaveUp => {
                self.made.unanswered = Some(flight.step.target.deployment.clone());
                self.write_off(flight, attempt, GivenUp::Deadline)
            }
        }
    }

    /// Tools are known by the program's own names here, whatever this provider had to be told.
    fn restore_names(&self, step: &StepSpec, answer: &mut Answer) {
        let wire = self.job.lanes.get(&step.target.deployment).and_then(|lane| lane.provider.wire);
        if let Some(wire) = wire {
            restore_names(wire, &self.job.request.tools, answer);
        }
    }

    /// Whether the answer is the one that was asked for.
    async fn judge(
        &mut self,
        flight: &Flight,
        answer: Answer,
        mut written: Written,
        alone: bool,
    ) -> Result<(), StoreError> {
        let verdict = match (self.job.wanted, self.checking(&answer)) {
            (Wanted::Words, Some(checking)) => checking.made().await,
            (Wanted::Words, None) => self.validate(&answer),
            (Wanted::Sign, _) => Ok(Judged::default()),
        };
        let is_trial = self.is_trial(flight) && !self.validation.is_deferred(&answer);
        self.made.answer = Some(answer);
        match verdict {
            Ok(Judged { parsed, extraction, .. }) => {
                written.attempt.judged = is_trial;
                self.made.parsed = parsed;
                self.made.ttft = written.attempt.ttft;
                written.attempt.extracted = extraction;
                self.machine.on_answer(flight.exchange.step);
                tracing::info!(request = %self.job.id, deployment = %flight.step.target.deployment, "answered");
                self.commit(flight, Event::Success, written)
            }
            Err(Flaw::Own(trouble)) => self.unchecked(flight, trouble, written),
            Err(Flaw::Answer(wrong)) => {
                let Wrong { failure, told } = *wrong;
                self.made.told = Some(self.router.redactor.redact(&told).into_owned());
                let failure = presentable(failure, self.router.redactor);
                // What is refused at its end, by a filter, was shown as it came.
                let shown =
                    self.made.answer.clone().filter(|answer| self.job.shows_pieces() && !answer.text.trim().is_empty());
                let goes_on = shown.is_none() || self.job.stream != StreamPolicy::Fail;
                self.fail(flight, &failure, written, alone && goes_on)?;
                shown.into_iter().for_each(|shown| self.broke(shown));
                Ok(())
            }
        }
    }

    /// What was shown of a stream is void, or it is all that there will be.
    fn broke(&mut self, shown: Answer) {
        if self.job.stream == StreamPolicy::Fail {
            self.made.answer = Some(shown);
            self.machine.on_partial();
        } else if self.machine.end().is_none() {
            self.observer.restart();
        }
    }

    fn fail(
        &mut self,
        flight: &Flight,
        failure: &Failure,
        mut written: Written,
        alone: bool,
    ) -> Result<(), StoreError> {
        let deployment = &flight.step.target.deployment;
        note(&mut written.attempt, failure, written.unsent);
        written.attempt.judged = failure.class == Class::InvalidOutput && self.is_trial(flight);
        let (status, execution) = (written.attempt.status, written.attempt.execution);
        tracing::info!(
            request = %self.job.id, deployment = %deployment, class = %failure.class, rule = %failure.rule, status,
            retry_at = failure.retry_at.map(tracing::field::display), "failed"
        );
        let blame =
            Blame { deployment: Some(deployment.clone()), class: failure.class, evidence: failure.evidence.clone() };
        self.made.remember_invalid(&blame);
        self.made.blame = Some(blame);
        written.findings.extend(self.finding(flight, failure));
        // What the same deployment can take once it is made to fit is no failure of it.
        let event = match self.machine.remedy(&flight.exchange, failure) {
            Some(Remedy::FewerTokens(_)) => Event::Abandoned,
            _ => Event::Failure(failure),
        };
        self.commit(flight, event, written)?;
        let (elapsed, now) = (self.watch.elapsed(), self.router.clock.now());
        let held_until = self.made.attempts.last().and_then(|attempt| attempt.held_until);
        let failed = Failed { failure, status, execution, elapsed, now, held_until, unit: self.rng.unit() };
        let wants = alone && self.machine.wants_retry(&flight.exchange, &failed);
        let may_retry = wants && self.take_retry(&flight.step)?;
        self.machine.on_failure(&flight.exchange, &failed, may_retry);
        Ok(())
    }

    /// What the refusal teaches of the model, for all who ask it after.
    fn finding(&self, flight: &Flight, failure: &Failure) -> Option<Finding> {
        let about = match failure.class {
            // Where no shape was asked for, it is about a tool's arguments.
            Class::Unsupported if failure.lacks == Some(Feature::JsonSchema) && self.job.request.schema.is_none() => {
                return None;
            }
            Class::Unsupported => About::Lacks(failure.lacks?.as_str().to_owned()),
            Class::ContextOverflow => About::Window(failure.window?),
            _ => return None,
        };
        let now = self.router.clock.now();
        let Deployment { provider, model, .. } = flight.step.target.deployment.clone();
        let (evidence, request_id) = (failure.evidence.clone(), Some(self.job.id.clone()));
        Some(Finding { provider, model, about, since: now, until: now + BELIEVED, evidence, request_id })
    }

    /// Commits the attempt and what it changes in one transaction, with the request's own row when this is its end.
    pub(super) fn commit(&mut self, flight: &Flight, event: Event<'_>, written: Written) -> Result<(), StoreError> {
        let Written { attempt, kept, metered, findings, .. } = written;
        let made = u32::try_from(self.made.attempts.len()).unwrap_or(u32::MAX);
        let index = self.job.first_attempt.saturating_add(made);
        self.made.attempts.push(attempt.clone());
        let request = match (event, self.machine.end()) {
            (Event::Success, Some(end)) => Some(self.record(end)),
            _ => None,
        };
        self.made.recorded = request.is_some();
        let answer = request.as_ref().filter(|_| self.job.keeps_answer).map(|_| self.kept_answer());
        let lands = (flight.exchange.kind == AttemptKind::Hedge).then(|| Flight::id(&flight.exchange, &self.job.id));
        let ladder_end = self.machine.end().filter(|_| request.is_some()).and_then(|end| self.ladder_end(end, None));
        let prefixes = if matches!(event, Event::Success) { self.job.served(&attempt) } else { Vec::new() };
        let attempt = Some((index, attempt));
        let entry = Entry { attempt, kept, metered, prefixes, request, ladder_end, lands, findings, answer };
        let booked = self.book(&flight.step, event, flight.started_at, &entry)?;
        if let Some(attempt) = self.made.attempts.last_mut() {
            attempt.held_until = booked.held_until;
            self.observer.asked(attempt);
        }
        Ok(())
    }

    /// The answer as it may be kept.
    pub(super) fn kept_answer(&self) -> KeptAnswer {
        let answer = self.made.answer.as_ref();
        let clean = |text: &str| self.router.redactor.redact(text).into_owned();
        let mut parsed = self.made.parsed.clone();
        parsed.iter_mut().for_each(|value| self.router.redactor.redact_json(value));
        KeptAnswer {
            text: answer.map(|answer| clean(&answer.text)).unwrap_or_default(),
            parsed,
            finish: answer.and_then(|answer| answer.finish.as_ref()).map(|finish| clean(finish.as_str())),
            reasoning: answer.map(|answer| clean(&answer.reasoning)).unwrap_or_default(),
            tool_calls: answer.filter(|answer| !answer.tool_calls.is_empty()).map(|answer| {
                let mut calls = serde_json::to_value(&answer.tool_calls).unwrap_or_default();
                self.router.redactor.redact_json(&mut calls);
                calls
            }),
        }
    }

    /// The exchange was given up before its end: the deployment is not blamed, but leases are freed, and what it is
    /// expected to have cost is counted.
    pub(super) fn abandon(&mut self, flight: &Flight, why: GivenUp) -> Result<(), StoreError> {
        let latency = self.router.clock.now().duration_since(flight.started_at);
        let measured = Measured {
            came: Came::GaveUp,
            status: None,
            headers: Vec::new(),
            ttft: None,
            latency: Duration::try_from(latency).unwrap_or_default(),
        };
        if why == GivenUp::Interrupted {
            self.made.unanswered = Some(flight.step.target.deployment.clone());
        }
        self.write_off(flight, blank(flight, &measured), why)
    }

    fn write_off(&mut self, flight: &Flight, mut attempt: AttemptRecord, why: GivenUp) -> Result<(), StoreError> {
        let used = self.job.shape.demand(&flight.step, &UsageState::default());
        attempt.given_up = Some(why);
        attempt.execution = Execution::MayHaveRun;
        attempt.cost_usd = flight.step.price.map(|_| used.usd);
        self.machine.on_cost(used.usd);
        let metered = Metered { used, ..Metered::default() };
        self.commit(flight, Event::Abandoned, Written::of(attempt, metered))
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
        let metered = Metered { stated, ..Metered::default() };
        (failure, Written { attempt, kept, metered, unsent, findings: Vec::new() })
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

/// By which the provider sees that the very same is sent again: a retry has the id of the first try, a changed request
/// one of its own.
fn idempotency(id: &RequestId, exchange: &Exchange) -> String {
    let mut key = format!("{id}-{}", exchange.step);
    if let Some(tokens) = exchange.max_tokens {
        key.push_str(&format!("-{tokens}"));
    }
    if exchange.without_thinking {
        key.push_str("-plain");
    }
    if exchange.in_words {
        key.push_str("-words");
    }
    if matches!(exchange.remedy, Some(Remedy::Shape(_))) {
        key.push_str("-repair");
    }
    key
}

/// What is written down of an exchange.
pub(super) struct Written {
    pub(super) attempt: AttemptRecord,
    kept: Option<KeptEvidence>,
    metered: Metered,
    /// Whether nothing was sent.
    unsent: bool,
    findings: Vec<Finding>,
}

impl Written {
    fn of(attempt: AttemptRecord, metered: Metered) -> Self {
        Self { attempt, kept: None, metered, unsent: false, findings: Vec::new() }
    }
}

/// The record of an exchange before it is judged.
fn blank(flight: &Flight, measured: &Measured) -> AttemptRecord {
    AttemptRecord {
        deployment: flight.step.target.deployment.clone(),
        account: flight.step.target.account.clone(),
        step: u32::try_from(flight.exchange.step).unwrap_or(u32::MAX),
        kind: flight.exchange.kind,
        class: None,
        scope: None,
        dimension: None,
        status: measured.status,
        rule: None,
        evidence: None,
        started_at: flight.started_at,
        ttft: measured.ttft,
        latency: measured.latency,
        held_until: None,
        usage: Usage::default(),
        cost_usd: None,
        execution: Execution::Ran,
        given_up: None,
        extracted: None,
        judged: false,
    }
}
