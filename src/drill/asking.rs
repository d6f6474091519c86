//! One request of a scenario, sent as a process of its own would send it.

use std::time::Duration;

use crate::classify::Classifier;
use crate::clock::{Clock, Rng};
use crate::config::{CredentialConfig, KeyError};
use crate::domain::{ChatRequest, LadderName, Message, ProviderName, Redactor, Role, Secret};
use crate::ladder::Directives;
use crate::route::{ConsumerGone, FallbackStore, Job, Observer, Report};
use crate::store::{OpenOptions, SqliteStore};
use crate::transport::{Transport, TransportOptions};
use crate::wire;
use tokio::sync::watch;

use super::file::{Ask, Then};
use super::process::{Process, Wish};
use super::stage::Stage;

/// What is asked unless the scenario wants a longer prompt.
const PROMPT: &str = "What time is it?";

/// Retries come at once: how long they wait is a number of its own, tested where it is made.
const BACKOFF: Duration = Duration::from_millis(1);

impl Stage {
    /// One request as a process of its own; no report when it does not live to tell.
    pub(super) fn send(&self, ask: &Ask, id: &str) -> Result<Told, String> {
        let store = FallbackStore::new(SqliteStore::open(&self.state(), OpenOptions::default()));
        let transport = Transport::new(&TransportOptions::default()).map_err(|error| error.to_string())?;
        let process = Process {
            config: &self.config,
            store: &store,
            transport: &transport,
            classifier: &Classifier::new(self.config.rules.clone()),
            redactor: &Redactor::new(self.keys.values().map(|key| Secret::new(key))),
            key: &|credential| self.key(credential),
        };
        let mut rng = Rng::new(Some(7));
        let job = self.job(&process, ask, id, &mut rng)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.map_err(|error| error.to_string())?.block_on(self.live(&process, &job, ask, &mut rng))
    }

    /// Lets the process live as long as the scenario says.
    async fn live(&self, process: &Process<'_>, job: &Job, ask: &Ask, rng: &mut Rng) -> Result<Told, String> {
        let mut eye = Eye { stage: self, ask, shown: Vec::new(), void: true, warnings: Vec::new() };
        let before: usize = self.hits().values().sum();
        let reached = async {
            while self.hits().values().sum::<usize>() <= before {
                tokio::task::yield_now().await;
            }
        };
        let (sender, stop) = watch::channel(false);
        let clock = Clock::new(self.now.filter(|_| !ask.real_time));
        let run = process.send(job, clock, rng, stop, &mut eye);
        let report = match ask.then {
            Some(Then::Killed) => tokio::select! {
                report = run => Some(report),
                () = reached => None,
            },
            Some(Then::Interrupted) => {
                let interrupt = async {
                    reached.await;
                    sender.send_replace(true);
                };
                Some(tokio::join!(run, interrupt).0)
            }
            Some(Then::PipeCloses) | None => Some(run.await),
        };
        Ok(Told { report: report.transpose()?, shown: eye.shown, warnings: eye.warnings })
    }

    fn job(&self, process: &Process<'_>, ask: &Ask, id: &str, rng: &mut Rng) -> Result<Job, String> {
        let named = ask.ladder.as_deref().map(LadderName::new);
        let prompt = ask.prompt_tokens.map_or(PROMPT.to_owned(), |tokens| "tick".repeat(tokens));
        let conversation = ask.messages.as_deref().map(serde_json::from_str).transpose();
        let conversation = conversation.map_err(|error| error.to_string())?;
        let conversation =
            conversation.as_ref().map(wire::conversation).transpose().map_err(|error| error.to_string())?;
        let schema = ask.schema.as_deref().map(serde_json::from_str).transpose();
        let request = ChatRequest {
            messages: conversation.unwrap_or_else(|| vec![Message::text(Role::User, prompt)]),
            max_tokens: ask.max_tokens,
            schema: schema.map_err(|error| error.to_string())?,
            stream: ask.stream,
            ..ChatRequest::default()
        };
        let directives = Directives {
            pin: ask.pin.as_deref().map(ProviderName::new),
            no_fallback: ask.no_fallback,
            ..Directives::default()
        };
        let clock = Clock::new(self.now.filter(|_| !ask.real_time));
        let ladder = named.as_ref().unwrap_or(&self.config.default_ladder);
        let mut job = process.job(Wish { id, ladder, request, directives }, clock, rng)?;
        job.spec.limits.backoff = BACKOFF;
        job.spec.limits.backoff_max = BACKOFF;
        Ok(job)
    }

    /// The key, from an environment that holds what the scenario says.
    fn key(&self, credential: &CredentialConfig) -> Result<Secret, KeyError> {
        let none = || std::io::Error::other("not on this stage");
        credential.resolve(&|name| self.keys.get(name).cloned(), &|_| Err(none()), &|_| Err(none()))
    }
}

/// What one request has to tell.
pub(super) struct Told {
    pub(super) report: Option<Report>,
    pub(super) shown: Vec<String>,
    pub(super) warnings: Vec<String>,
}

/// Watches one request.
struct Eye<'a> {
    stage: &'a Stage,
    ask: &'a Ask,
    shown: Vec<String>,
    void: bool,
    warnings: Vec<String>,
}

impl Observer for Eye<'_> {
    fn text(&mut self, piece: &str) -> Result<(), ConsumerGone> {
        if self.ask.then == Some(Then::PipeCloses) {
            return Err(ConsumerGone);
        }
        match self.shown.last_mut().filter(|_| !self.void) {
            Some(last) => last.push_str(piece),
            None => self.shown.push(piece.to_owned()),
        }
        self.void = false;
        Ok(())
    }

    fn restart(&mut self) {
        self.void = true;
    }

    fn waiting(&mut self, _: Duration) {
        if let Some(selector) = &self.ask.reset_while_waiting
            && let Err(error) = self.stage.reset(selector)
        {
            self.warnings.push(error);
        }
    }

    fn warning(&mut self, message: &str) {
        self.warnings.push(message.to_owned());
    }
}
