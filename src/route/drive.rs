//! The loop of one request.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use crate::catalog::Catalog;
use crate::classify::Classify;
use crate::clock::{Clock, Rng, Stopwatch};
use crate::domain::{Answer, AttemptKind, Author, Class, Outcome, Redactor, RequestRecord, Usage};
use crate::ladder::{End, Exchange, Run, Skip, Step, StepSpec, View};
use crate::policy::{self, Change, PolicySettings, Room, UsageState, claim, is_limited, room};
use crate::store::{Accounts, Batch, Snapshot, Store, StoreError, update_once};
use crate::transport::Carrier;
use crate::validate::Validation;
use crate::wire::HttpRequest;

use super::exchange::Call;
use super::fallback::FallbackStore;
use super::flight::Flight;
use super::job::{Job, Lane};
use super::ledger::Ledger;
use super::made::Made;
use super::observer::Observer;
use super::record::{Blame, Report, reason};

/// Retries are counted over this time.
const BUDGET_WINDOW: Duration = Duration::from_secs(60);

/// How often a waiting request looks whether another process changed the state.
const LOOK: Duration = Duration::from_millis(100);

/// What all requests of a process share.
pub struct Router<'a, S> {
    /// The clocks.
    pub clock: Clock,
    /// The state.
    pub store: &'a FallbackStore<S>,
    /// The sockets, or what stands for them.
    pub transport: &'a dyn Carrier,
    /// What knows failures.
    pub classifier: &'a dyn Classify,
    /// What knows providers.
    pub catalog: &'a Catalog,
    /// The numbers of the failure table.
    pub settings: &'a PolicySettings,
    /// What knows secrets.
    pub redactor: &'a Redactor,
}

impl<S: Store> Router<'_, S> {
    /// Where what came of a call is written down.
    pub fn ledger(&self) -> Ledger<'_> {
        Ledger {
            store: self.store,
            classifier: self.classifier,
            catalog: self.catalog,
            settings: self.settings,
            clock: self.clock,
            redactor: self.redactor,
        }
    }
}

/// Becomes true when the user wants the request to end.
pub type Stop = tokio::sync::watch::Receiver<bool>;

/// Sends one request down its ladder.
///
/// # Errors
/// When not even the memory state can be used; a provider's failure is no error but part of the report.
pub async fn run<S: Store>(
    router: &Router<'_, S>,
    job: &Job,
    rng: &mut Rng,
    stop: Stop,
    observer: &mut dyn Observer,
) -> Result<Report, StoreError> {
    let mut drive = Drive {
        router,
        job,
        validation: Arc::default(),
        machine: Run::new(job.spec.clone(), job.shape, job.directives.clone()),
        rng,
        stop,
        observer,
        accounts: Accounts::None,
        watch: router.clock.stopwatch(),
        started_at: router.clock.now(),
        made: Made::default(),
    };
    drive.accounts = Accounts::of(drive.machine.steps().iter().map(|step| &step.target));
    match Validation::new(job.request.schema.as_ref(), job.demands.clone()) {
        Ok(validation) => drive.validation = Arc::new(validation.with_tools(job.shape.tools)),
        Err(error) => drive.refuse(format!("the schema is no JSON Schema: {error}")),
    }
    drive.go().await
}

/// Waits a moment for what another process may do. The only sleep is here.
#[expect(clippy::disallowed_methods, reason = "this is the one place that sleeps")]
pub async fn pause(length: Duration) {
    tokio::time::sleep(length).await;
}

/// The same by this clock: on invented time nobody sleeps.
pub(super) async fn rest(clock: Clock, length: Duration) {
    match clock.source() {
        Some(time) => time.sleep(length).await,
        None => pause(length).await,
    }
}

pub(super) struct Drive<'a, S> {
    pub(super) router: &'a Router<'a, S>,
    pub(super) job: &'a Job,
    pub(super) validation: Arc<Validation>,
    pub(super) machine: Run,
    pub(super) rng: &'a mut Rng,
    pub(super) stop: Stop,
    pub(super) observer: &'a mut dyn Observer,
    /// Whose usage has a say.
    pub(super) accounts: Accounts,
    pub(super) watch: Stopwatch,
    pub(super) started_at: Timestamp,
    pub(super) made: Made,
}

impl<'a, S: Store> Drive<'a, S> {
    async fn go(mut self) -> Result<Report, StoreError> {
        loop {
            // Taken before the holds are read: what another process commits in between must not be slept through.
            let token = self.router.store.change_token().ok();
            let snapshot = self.router.store.snapshot(&self.accounts)?;
            let view = self.view(&snapshot);
            let step = self.next(&snapshot, &view)?;
            if let Some(warning) = self.router.store.take_warning() {
                self.observer.warning(&warning);
            }
            match step {
                None => {}
                Some(Step::Send(exchange)) => self.ask(&exchange, &snapshot.usage).await?,
                Some(Step::Wait(wait)) => self.wait(wait, token).await,
                Some(Step::End(end)) => {
                    let skipped = self.skipped(&view);
                    self.made.passing.ending = self.ladder_end(end, Some(&view));
                    return self.close(end, skipped);
                }
            }
        }
    }

    /// The world at this moment.
    pub(super) fn view<'v>(&self, snapshot: &'v Snapshot) -> View<'v>
    where
        'a: 'v,
    {
        let router: &'a Router<'a, S> = self.router;
        View {
            holds: &snapshot.holds,
            usage: &snapshot.usage,
            bounds: &router.settings.usage,
            now: router.clock.now(),
            elapsed: self.watch.elapsed(),
        }
    }

    /// The request is at fault before anyone was asked.
    pub(super) fn refuse(&mut self, why: String) {
        self.made.blame = Some(Blame { deployment: None, class: Class::InvalidRequest, evidence: why });
        self.machine.refuse(Class::InvalidRequest);
    }

    /// Makes one exchange and writes down what came of it.
    async fn ask(&mut self, exchange: &Exchange, usage: &UsageState) -> Result<(), StoreError> {
        match self.depart(exchange, usage)? {
            Some((flight, call)) => self.fly(flight, call).await,
            None => Ok(()),
        }
    }

    /// Gets the exchange ready and notes that it goes; none when it may not go after all.
    pub(super) fn depart(
        &mut self,
        exchange: &Exchange,
        usage: &UsageState,
    ) -> Result<Option<(Flight, Call<'a>)>, StoreError> {
        let step = self.machine.steps().get(exchange.step).cloned();
        let lane = step.as_ref().and_then(|step| self.job.lanes.get(&step.target.deployment));
        let Some((step, lane)) = step.zip(lane) else {
            self.refuse(format!("step {} is not configured", exchange.step));
            return Ok(None);
        };
        let http = match self.write(exchange, &step, lane) {
            Ok(http) => http,
            // Our own fault never leaves the house, and no other step would do better.
            Err(error) => {
                self.refuse(error.to_string());
                return Ok(None);
            }
        };
        let needs_grant = exchange.kind == AttemptKind::Retry && !exchange.is_granted;
        if needs_grant && !self.take_retry(&step)? {
            self.machine.on_retry_denied(exchange.step);
            return Ok(None);
        }
        if !self.take_off(exchange, &step, usage)? {
            return Ok(None);
        }
        self.machine.on_sent(exchange);
        self.observer.asking(&step.target.deployment, exchange.step, exchange.kind);
        tracing::debug!(request = %self.job.id, url = %http.url, bytes = http.body.len(), "sending");
        let call = self.call(exchange, http, lane);
        Ok(Some((Flight { exchange: exchange.clone(), step, started_at: self.router.clock.now() }, call)))
    }

    fn call(&self, exchange: &Exchange, http: HttpRequest, lane: &'a Lane) -> Call<'a> {
        let shape = &self.job.shape;
        let output = exchange.max_tokens.or(shape.max_tokens).unwrap_or(0);
        Call {
            transport: self.router.transport,
            http,
            lane,
            timeouts: lane.timeouts.for_size(shape.input_tokens, output),
            wanted: self.job.wanted,
            stream: self.job.streams(),
            buffer: self.job.buffer,
            keeps_all: self.job.keeps_all(),
            time_left: exchange.time_left,
            watch: self.router.clock.stopwatch(),
        }
    }

    /// Asks the budget that all processes share for one retry.
    pub(super) fn take_retry(&mut self, step: &StepSpec) -> Result<bool, StoreError> {
        let granted = self.grant()?;
        if !granted {
            self.observer.retry_denied(&step.target.deployment, self.job.retry_budget);
        }
        Ok(granted)
    }

    /// One call beyond the first at a step, if the budget allows it.
    pub(super) fn grant(&mut self) -> Result<bool, StoreError> {
        let now = self.router.clock.now();
        let granted = self.router.store.take_retry(&self.job.id, now, now - BUDGET_WINDOW, self.job.retry_budget)?;
        self.made.retries_denied += u32::from(!granted);
        Ok(granted)
    }

    /// Takes the leases of a probe, and counts the request among those under way where a limit is known. False when
    /// another process was faster. It is decided under the lock: of many that see the last place left, one gets it.
    fn take_off(&self, exchange: &Exchange, step: &StepSpec, usage: &UsageState) -> Result<bool, StoreError> {
        let StepSpec { target, gauges, .. } = step;
        let is_limited = step.standing.counted || is_limited(target, gauges, usage, self.router.clock.now());
        if exchange.claims.is_empty() && !is_limited {
            return Ok(true);
        }
        let id = Flight::id(exchange, &self.job.id);
        let taken = update_once(self.router.store, &Accounts::of([target]), |snapshot| {
            let now = self.router.clock.now();
            let until = now + self.job.lease;
            let claims = exchange.claims.iter().filter_map(|held| claim(held, &self.job.id, until));
            let changes: Vec<Change> = claims.collect();
            let demand = self.job.shape.demand(step, &snapshot.usage);
            let room = || room(target, gauges, &snapshot.usage, &demand, &self.router.settings.usage, now);
            // A probe goes whatever is counted, and the last resort was chosen although little was left.
            if changes.is_empty() && !exchange.is_resort && matches!(room(), Room::None(_)) {
                return (Batch::default(), false);
            }
            let flight = policy::Flight { id: id.clone(), target: target.clone(), demand, until };
            let flights = if is_limited { vec![flight] } else { Vec::new() };
            let landed = snapshot.usage.landed(&id, now);
            (Batch { changes, flights, landed, ..Batch::default() }, true)
        });
        match taken {
            Err(StoreError::Conflict) => Ok(false),
            other => other,
        }
    }

    /// Waits in short pieces, so that a hold that another process lifts wakes it. `before` is the store's change token
    /// from before the holds were read.
    async fn wait(&mut self, wait: Duration, before: Option<u64>) {
        self.observer.waiting(wait);
        let watch = self.router.clock.stopwatch();
        while watch.elapsed() < wait {
            if self.router.store.change_token().ok() != before {
                return;
            }
            let piece = LOOK.min(wait.saturating_sub(watch.elapsed()));
            let mut stop = self.stop.clone();
            tokio::select! {
                () = rest(self.router.clock, piece) => {}
                Ok(_) = stop.wait_for(|stopped| *stopped) => {
                    self.machine.on_interrupt();
                    return;
                }
            }
        }
    }

    /// The request's own row, as things stand.
    pub(super) fn record(&self, end: End) -> RequestRecord {
        let attempts = &self.made.attempts;
        let answered = match end {
            End::Answered { step } => self.machine.steps().get(step).map(|spec| (step, spec)),
            _ => None,
        };
        let usage = attempts.iter().fold(Usage::default(), |sum, attempt| sum.plus(attempt.usage));
        let known_costs = || attempts.iter().filter_map(|attempt| attempt.cost_usd);
        RequestRecord {
            id: self.job.id.clone(),
            ladder: self.job.spec.name.clone(),
            started_at: self.started_at,
            latency: self.watch.elapsed(),
            // What could not be checked may be asked again under the same id.
            outcome: if self.made.trouble.is_some() { Outcome::Interrupted } else { end.outcome() },
            deployment: answered.map(|(_, spec)| spec.target.deployment.clone()),
            step: answered.and_then(|(step, _)| u32::try_from(step).ok()),
            usage,
            cost_usd: known_costs().next().is_some().then(|| known_costs().sum()),
            retry_at: match end {
                End::Exhausted { retry_at } => retry_at,
                _ => None,
            },
            error: self
                .made
                .trouble
                .as_ref()
                .or_else(|| self.made.passing.turned_away(end))
                .cloned()
                .or_else(|| reason(end, self.made.to_blame(end), self.made.unanswered.as_ref())),
            retries_denied: self.made.retries_denied,
            attempts: attempts.clone(),
        }
    }

    /// Writes the request's own row, unless it went with the last attempt, and hands out the report.
    fn close(mut self, end: End, skipped: Vec<Skip>) -> Result<Report, StoreError> {
        let record = self.record(end);
        // An answer that nobody is told to use is nobody's.
        let by = self.made.hand_out_invalid(end).filter(|_| end == End::AsItIs);
        let by = by.or_else(|| record.deployment.clone());
        if !self.made.recorded {
            let answer = (end == End::AsItIs && self.job.keeps_answer).then(|| self.kept_answer());
            self.write_end(&record, answer)?;
        }
        if let Some(warning) = self.router.store.take_warning() {
            self.observer.warning(&warning);
        }
        let turned_away = self.made.passing.turned_away(end).is_some();
        let Made { answer, parsed, ttft, trouble, consumer_gone, .. } = self.made;
        let keep = matches!(end, End::Answered { .. } | End::Partial | End::WrongShape | End::AsItIs);
        // It was paid for, and whoever asked may look at it.
        let answer = answer.filter(|_| keep || trouble.is_some()).unwrap_or_default();
        let author = by.as_ref().map(|by| Author { provider: by.provider.clone(), model: by.model.clone() });
        let message = author.map(|author| answer.message(&author)).filter(|message| !message.parts.is_empty());
        let Answer { text, reasoning, tool_calls, finish, .. } = answer;
        Ok(Report {
            record,
            end,
            by,
            text,
            parsed,
            reasoning,
            tool_calls,
            message,
            finish,
            ttft,
            skipped,
            turned_away,
            trouble,
            consumer_gone,
        })
    }
}
