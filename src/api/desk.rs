//! Who asks models and runs tools for a conversation of the router's.

use crate::clock::Rng;
use crate::config::{Config, ToolConfig};
use crate::domain::{JournalEntry, Message, Redactor};
use crate::route::{FallbackStore, Report, Stop};
use crate::session::{Consent, Desk, Order, Outcome as Came, Rounds, Settlement, ToolRun, outcome, reported, run_tool};
use crate::store::{SqliteStore, StoreError};

use super::engine::Engine;
use super::error::Error;
use super::tool::{Invocation, PendingCall, Run};
use super::toolbox::Toolbox;
use super::watcher::Watched;

pub(super) struct Counter<'a> {
    pub(super) engine: &'a Engine,
    pub(super) store: &'a FallbackStore<SqliteStore>,
    pub(super) config: &'a Config,
    pub(super) rounds: Rounds,
    pub(super) toolbox: &'a Toolbox,
    pub(super) redactor: &'a Redactor,
    pub(super) rng: Rng,
    pub(super) stop: Stop,
    pub(super) watched: Watched,
    /// The name under which commands know the conversation.
    pub(super) session: String,
    /// Variables that commands must not find.
    pub(super) hidden: Vec<String>,
    pub(super) runs: Vec<super::tool::ToolRun>,
}

impl Counter<'_> {
    fn is_stopped(&self) -> bool {
        *self.stop.borrow()
    }

    /// Runs a function of the program in a task of its own, so that its panic ends nothing else.
    async fn call(&self, run: &Run, tool: &ToolConfig, order: &Order) -> Came {
        let unknown = |why: &str, interrupted| Came::Unknown { why: why.to_owned(), interrupted };
        let call = Invocation {
            tool: tool.name.clone(),
            arguments: order.arguments.clone(),
            idempotency_key: order.idempotency_key.clone(),
            number: order.tries.saturating_add(1),
        };
        let (run, mut stop) = (run.clone(), self.stop.clone());
        let mut task = tokio::spawn(async move { run(call).await });
        let came = tokio::select! {
            // What has ended by now is known, also when nobody waits for it any more.
            biased;
            done = tokio::time::timeout(tool.timeout, &mut task) => match done {
                Ok(Ok(said)) => reported(said, self.redactor),
                Ok(Err(_)) => unknown("it panicked", false),
                Err(_) => unknown(&format!("its time was over after {} s", tool.timeout.as_secs_f64()), false),
            },
            _ = stop.wait_for(|stop| *stop) => unknown("the request was given up", true),
        };
        task.abort();
        came
    }

    /// Runs a command of the config beside the router's thread.
    async fn command(&self, tool: &ToolConfig, order: &Order) -> Came {
        let (tool, order, stop) = (tool.clone(), order.clone(), self.stop.clone());
        let (session, hidden, timeout) = (self.session.clone(), self.hidden.clone(), tool.timeout);
        let run = move || run_tool(&tool, &order, &session, &hidden, &|| *stop.borrow());
        match tokio::task::spawn_blocking(run).await {
            Ok(ran) => outcome(ran, timeout, self.is_stopped(), self.redactor),
            Err(_) => Came::Unknown { why: "nobody waited for its end".to_owned(), interrupted: self.is_stopped() },
        }
    }
}

/// Why a conversation broke off.
pub(super) enum Trouble {
    /// What came of something could not be kept.
    Store(StoreError),
    /// Anything else.
    Ours(Error),
}

impl From<StoreError> for Trouble {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Desk for Counter<'_> {
    type Error = Trouble;

    async fn ask(&mut self, messages: Vec<Message>) -> Result<Report, Trouble> {
        let job = self.rounds.next(messages);
        let by = (self.store, self.config, self.redactor);
        let sent = self.engine.send(&job, by, &mut self.rng, self.stop.clone(), &mut self.watched).await;
        let report = sent.map_err(Trouble::Ours)?;
        self.rounds.note(report.clone());
        Ok(report)
    }

    async fn run(&mut self, tool: &ToolConfig, order: &Order) -> Came {
        match self.toolbox.runs.get(&tool.name) {
            Some(run) => self.call(run, tool, order).await,
            None => self.command(tool, order).await,
        }
    }

    fn consent(&mut self, order: &Order) -> Result<Consent, Trouble> {
        Ok(match &self.toolbox.consent {
            Some(may) if may(&PendingCall::of(order, None)) => Consent::Yes,
            Some(_) => Consent::No,
            // The program would not have given the function, if it were not to be run.
            None if self.toolbox.runs.contains_key(&order.call.name) => Consent::Yes,
            None => Consent::Nobody,
        })
    }

    fn settlement(&mut self, _: &Order, _: &JournalEntry) -> Result<Option<Settlement>, Trouble> {
        Ok(None)
    }

    fn told(&mut self, run: &ToolRun) {
        let run = run.into();
        self.watched.0.ran(&run);
        self.runs.push(run);
    }
}
