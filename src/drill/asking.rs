//! One request of a scenario, sent as a process of its own would send it.

use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use crate::clock::{Clock, Rng};
use crate::config::{CredentialConfig, KeyError};
use crate::domain::{ChatRequest, LadderName, Message, ProviderName, Role, Secret};
use crate::ladder::Directives;
use crate::route::{ConsumerGone, Job, Observer, Report};
use crate::wire;
use tokio::sync::watch;

use super::file::{Ask, Then};
use super::process::{Process, Wish};
use super::stage::{Ground, Stage};

/// What is asked unless the scenario wants a longer prompt.
const PROMPT: &str = "What time is it?";

/// Retries come at once: how long they wait is a number of its own, tested where it is made.
const BACKOFF: Duration = Duration::from_millis(1);

impl<G: Ground> Stage<G> {
    /// One request as a process of its own; no report when it does not live to tell.
    pub(super) async fn send(&self, process: &Process<'_>, ask: &Ask, id: &str) -> Result<Told, String> {
        let mut rng = Rng::new(Some(7));
        let job = self.job(process, ask, id, &mut rng)?;
        self.live(process, &job, ask, &mut rng).await
    }

    /// Lets the process live as long as the scenario says.
    async fn live(&self, process: &Process<'_>, job: &Job, ask: &Ask, rng: &mut Rng) -> Result<Told, String> {
        let mut eye = Eye { stage: self, ask, shown: Vec::new(), void: true, warnings: Vec::new() };
        let before: usize = self.ground.hits().values().sum();
        let reached = poll_fn(|context| {
            if self.ground.hits().values().sum::<usize>() > before {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        });
        let (sender, stop) = watch::channel(false);
        let run = process.send(job, self.clock(ask), rng, stop, &mut eye);
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

    fn clock(&self, ask: &Ask) -> Clock {
        self.ground.clock(self.now.filter(|_| !ask.real_time))
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
        let clock = self.clock(ask);
        let ladder = named.as_ref().unwrap_or(&self.config.default_ladder);
        let mut job = process.job(Wish { id, ladder, request, directives }, clock, rng)?;
        job.spec.limits.backoff = BACKOFF;
        job.spec.limits.backoff_max = BACKOFF;
        Ok(job)
    }

    /// The key, from an environment that holds what the scenario says.
    pub(super) fn key(&self, credential: &CredentialConfig) -> Result<Secret, KeyError> {
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
struct Eye<'a, G> {
    stage: &'a Stage<G>,
    ask: &'a Ask,
    shown: Vec<String>,
    void: bool,
    warnings: Vec<String>,
}

impl<G: Ground> Observer for Eye<'_, G> {
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
