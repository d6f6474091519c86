//! Who watches a request while it is under way.

use crate::domain::{AttemptKind, AttemptRecord, Deployment};
use crate::route::{ConsumerGone, Observer};

use super::answered::Attempt;
use super::tool::ToolRun;

/// Told what happens as it happens, on the router's own thread: a method that blocks holds up all its requests. All
/// methods do nothing by default.
pub trait Watcher: Send {
    /// A deployment is about to be asked; `step` is its place in the ladder.
    fn asking(&mut self, deployment: &Deployment, step: usize) {
        let _ = (deployment, step);
    }

    /// An exchange is over, whether it was answered or not.
    fn asked(&mut self, attempt: &Attempt) {
        let _ = attempt;
    }

    /// More words, where the request [streams](super::Request::stream). What the model says before it calls a tool comes
    /// here too, although it is no part of the answer; [`ran`](Self::ran) comes between.
    ///
    /// # Errors
    /// When nobody reads any more: the provider's work is stopped then.
    fn text(&mut self, piece: &str) -> Result<(), NobodyReads> {
        let _ = piece;
        Ok(())
    }

    /// A call of a tool is over: it was run, or its result was there, or it was not to be run.
    fn ran(&mut self, run: &ToolRun) {
        let _ = run;
    }

    /// The words so far are void: the stream broke, and the next step starts over.
    fn restart(&mut self) {}
}

/// Nobody reads the words any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NobodyReads;

/// Nobody watches.
impl Watcher for () {}

/// The driver's observer for it.
pub(super) struct Watched(pub(super) Box<dyn Watcher>);

impl Observer for Watched {
    fn asking(&mut self, deployment: &Deployment, step: usize, _: AttemptKind) {
        self.0.asking(deployment, step);
    }

    fn asked(&mut self, attempt: &AttemptRecord) {
        self.0.asked(&attempt.into());
    }

    fn text(&mut self, piece: &str) -> Result<(), ConsumerGone> {
        self.0.text(piece).map_err(|NobodyReads| ConsumerGone)
    }

    fn restart(&mut self) {
        self.0.restart();
    }

    fn warning(&mut self, message: &str) {
        tracing::warn!("{message}");
    }
}
