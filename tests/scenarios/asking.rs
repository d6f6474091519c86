//! One request of a scenario, sent as a process of its own would send it.

use std::time::Duration;

use llmr::classify::Classifier;
use llmr::clock::{Clock, Rng};
use llmr::config::{CredentialConfig, KeyError};
use llmr::domain::{ChatRequest, LadderName, Message, ProviderName, Redactor, RequestId, Role, Secret};
use llmr::ladder::Directives;
use llmr::route::{ConsumerGone, Facts, FallbackStore, Job, Observer, Outside, Report, Router, assemble, run};
use llmr::store::{OpenOptions, SqliteStore, Store};
use llmr::transport::{Transport, TransportOptions};
use llmr::wire;
use tokio::sync::watch;

use super::file::{Ask, Then};
use super::stage::Stage;

/// What is asked unless the scenario wants a longer prompt.
const PROMPT: &str = "What time is it?";

/// Retries come at once: how long they wait is a number of its own, tested where it is made.
const BACKOFF: Duration = Duration::from_millis(1);

impl Stage {
    /// One request as a process of its own; no report when it does not live to tell.
    pub(super) fn send(&self, ask: &Ask, id: &str) -> Result<Told, String> {
        let store = FallbackStore::new(SqliteStore::open(&self.state(), OpenOptions::default()));
        let clock = Clock::new(self.now.filter(|_| !ask.real_time));
        let mut rng = Rng::new(Some(7));
        let job = self.job(ask, id, &store, &mut rng)?;
        let transport = Transport::new(&TransportOptions::default()).map_err(|error| error.to_string())?;
        let redactor = Redactor::new(self.keys.values().map(|key| Secret::new(key)));
        let router = Router {
            clock,
            store: &store,
            transport: &transport,
            classifier: &Classifier::new(self.config.rules.clone()),
            catalog: &self.config.catalog,
            settings: &self.config.policy,
            redactor: &redactor,
        };
        let mut eye = Eye { stage: self, ask, shown: Vec::new(), void: true, warnings: Vec::new() };
        let before: usize = self.hits().values().sum();
        let reached = async {
            while self.hits().values().sum::<usize>() <= before {
                tokio::task::yield_now().await;
            }
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let report = runtime.map_err(|error| error.to_string())?.block_on(async {
            let (sender, stop) = watch::channel(false);
            let run = run(&router, &job, &mut rng, stop, &mut eye);
            match ask.then {
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
            }
        });
        let report = report.transpose().map_err(|error| error.to_string())?;
        Ok(Told { report, shown: eye.shown, warnings: eye.warnings })
    }

    fn job(&self, ask: &Ask, id: &str, store: &dyn Store, rng: &mut Rng) -> Result<Job, String> {
        let name =
            ask.ladder.as_ref().map_or(self.config.default_ladder.clone(), |name| LadderName::new(name.as_str()));
        let salt = store.salt().map_err(|error| error.to_string())?;
        let findings = store.findings(self.now.unwrap_or_default()).map_err(|error| error.to_string())?;
        let key = |credential: &CredentialConfig| self.key(credential);
        let prompt = ask.prompt_tokens.map_or(PROMPT.to_owned(), |tokens| "tick".repeat(tokens));
        let conversation = ask.messages.as_deref().map(serde_json::from_str).transpose();
        let conversation = conversation.map_err(|error| error.to_string())?;
        let conversation =
            conversation.as_ref().map(wire::conversation).transpose().map_err(|error| error.to_string())?;
        let schema = ask.schema.as_deref().map(serde_json::from_str).transpose();
        let request = ChatRequest {
            system: self.config.ladders.get(&name).and_then(|ladder| ladder.system.clone()),
            messages: conversation.unwrap_or_else(|| vec![Message::text(Role::User, prompt)]),
            max_tokens: ask.max_tokens,
            schema: schema.map_err(|error| error.to_string())?,
            stream: ask.stream,
            ..ChatRequest::default()
        };
        let now = Clock::new(self.now.filter(|_| !ask.real_time)).now();
        let facts = Facts::of(&self.config, &name, &request, store, now).map_err(|error| error.to_string())?;
        let (env, findings, shapes) = (&|_: &str| None, findings.as_slice(), &[]);
        let outside = Outside { key: &key, env, salt: &salt, findings, shapes, facts: &facts };
        let mut ladder = assemble(&self.config, &name, &outside, rng).ok_or_else(|| format!("no ladder {name}"))?;
        ladder.spec.limits.backoff = BACKOFF;
        ladder.spec.limits.backoff_max = BACKOFF;
        let directives = Directives {
            pin: ask.pin.as_deref().map(ProviderName::new),
            no_fallback: ask.no_fallback,
            ..Directives::default()
        };
        Ok(Job { noted: facts.noted, ..Job::new(RequestId::new(id), ladder, request, directives) })
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
