//! The handle of a router.

use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use tokio::sync::watch;

use crate::classify::Classify;
use crate::clock::Clock;
use crate::config::Config;
use crate::domain::{Evidence, Failure};

use super::answered::Answered;
use super::builder::RouterBuilder;
use super::calls::{Admission, Call, Outcome, Pass, Recorded};
use super::engine::Engine;
use super::error::Error;
use super::plan::Plan;
use super::request::Request;
use super::session::Session;
use super::watcher::Watcher;
use super::worker::{Work, Worker};

/// Sends requests down ladders of deployments, and remembers who must not be asked now.
///
/// A router is a handle: clones share one state, the keys and the open connections, and it can be sent to other threads.
/// Its work is done on one thread of its own, where requests run side by side; so its futures are `Send` and need no
/// particular executor. A future that is dropped stops its request, and nobody is blamed for that. When the last clone
/// goes, the thread ends.
///
/// Keys are fetched anew for each request, from where the config says that they are, so that one that was rotated is
/// used at once. A command that gives a key runs on the router's thread and should be quick.
#[derive(Clone)]
pub struct Router(Arc<Shared>);

struct Shared {
    worker: Worker,
    config: Arc<Config>,
    classifier: Arc<dyn Classify>,
    clock: Clock,
}

impl fmt::Debug for Router {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Router").field("default_ladder", &self.0.config.default_ladder).finish_non_exhaustive()
    }
}

impl Router {
    /// What a router is made from; with nothing said, from what the program `llmr` would use.
    pub fn builder() -> RouterBuilder {
        RouterBuilder::new()
    }

    pub(super) fn new(worker: Worker, config: Arc<Config>, classifier: Arc<dyn Classify>, clock: Clock) -> Self {
        Self(Arc::new(Shared { worker, config, classifier, clock }))
    }

    /// Sends one request down its ladder.
    ///
    /// # Errors
    /// [`Error::Unanswered`] when no step answered as asked; anything else is trouble on this side, and without tools nothing
    /// was sent. Where the model may have tools run, a word about one may be missing; what was done until then is lost with
    /// the request, so that tools with side effects are better used in a [session](Self::session).
    pub async fn chat(&self, request: impl Into<Request>) -> Result<Answered, Error> {
        self.chat_with(request, ()).await
    }

    /// The same, watched while it is under way; with [`Request::stream`] the watcher gets the words as they come.
    ///
    /// # Errors
    /// As [`chat`](Self::chat).
    pub async fn chat_with(
        &self,
        request: impl Into<Request>,
        watcher: impl Watcher + 'static,
    ) -> Result<Answered, Error> {
        let request = request.into();
        let (stop, stopped) = watch::channel(false);
        // Who drops the future wants the request to end.
        let _stop = StopOnDrop(stop);
        self.run(move |engine| Box::pin(async move { engine.chat(request, (stopped, Box::new(watcher))).await }))
            .await?
    }

    /// Who would be asked for the request now, in which order, and why each other would not. Sends nothing.
    ///
    /// # Errors
    /// Trouble on this side.
    pub async fn plan(&self, request: impl Into<Request>) -> Result<Plan, Error> {
        let request = request.into();
        self.0.worker.run(move |engine| Box::pin(async move { engine.plan(request) })).await?
    }

    /// Whether you may make a call of your own now, by the same state that [`chat`](Self::chat) goes by. Where a hold lets
    /// one probe through, it is yours; where a limit is known, the call counts among those under way.
    ///
    /// # Errors
    /// Trouble on this side. That the deployment is held is no error.
    pub async fn guard(&self, call: impl Into<Call>) -> Result<Admission, Error> {
        let call = call.into();
        self.0.worker.run(move |engine| Box::pin(async move { engine.guard(&call) })).await?
    }

    /// Writes down what came of the call, as if the router had made it: the failure is classified, and holds are set or
    /// lifted for everybody.
    ///
    /// # Errors
    /// Trouble on this side; nothing is written then.
    pub async fn record_outcome(&self, pass: Pass, outcome: Outcome) -> Result<Recorded, Error> {
        self.0.worker.run(move |engine| Box::pin(async move { engine.record(pass, outcome) })).await?
    }

    /// What the evidence of a failed call means. Changes nothing.
    pub fn classify(&self, evidence: &Evidence) -> Failure {
        self.0.classifier.classify(evidence, &self.0.config.catalog, self.0.clock.now())
    }

    /// A new conversation, kept in memory for as long as its handle lives.
    pub fn session(&self) -> Session {
        Session::in_memory(self.clone())
    }

    /// The conversation of this name, kept in the state file and shared with `llmr chat --session NAME`: it goes on where it
    /// was left, also after the process that asked was killed. Begins one where there is none; nothing is written before
    /// something is asked. The name has letters, digits, `.`, `_` and `-`, up to 64, the first a letter or a digit. Of a
    /// router [in memory](RouterBuilder::state_in_memory) it lives as long as the router.
    ///
    /// # Errors
    /// When the name cannot be one, or trouble with the state.
    pub async fn session_named(&self, name: impl Into<String>) -> Result<Session, Error> {
        Session::named(self.clone(), name.into()).await
    }

    pub(super) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(Rc<Engine>) -> Work<T> + Send + 'static,
    ) -> Result<T, Error> {
        self.0.worker.run(work).await
    }

    /// What the config says that is probably not meant.
    pub fn warnings(&self) -> Vec<String> {
        self.0.config.warnings.iter().map(ToString::to_string).collect()
    }
}

/// Stops the request when it is dropped.
pub(super) struct StopOnDrop(pub(super) watch::Sender<bool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        // The request may be over already.
        let _ = self.0.send(true);
    }
}
