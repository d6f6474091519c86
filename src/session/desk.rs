//! Where a conversation goes on, who does what it needs, and where it stops.

use std::collections::BTreeMap;
use std::time::Duration;

use super::machine::Order;
use super::outcome::Outcome;
use crate::clock::Clock;
use crate::config::ToolConfig;
use crate::domain::{CallEnd, CallState, Effect, JournalEntry, Message, Redactor, SessionName, TalkSettings};
use crate::route::Report;
use crate::store::{SessionStore, StoreError};

/// Where a conversation goes on, and by which rules.
pub struct Stage<'a> {
    /// Where it is kept.
    pub store: &'a dyn SessionStore,
    /// Its name.
    pub name: SessionName,
    /// By which the store knows who writes: another one in each process.
    pub holder: String,
    /// The clocks.
    pub clock: Clock,
    /// What knows secrets.
    pub redactor: &'a Redactor,
    /// The tools that there are.
    pub tools: &'a BTreeMap<String, ToolConfig>,
    /// The names of those that the model may use.
    pub offered: Vec<String>,
    /// How often in a row it may use them.
    pub rounds: u32,
    /// Whether all side effects are allowed.
    pub all_allowed: bool,
}

/// What the user wants said.
#[derive(Debug, Clone, Default)]
pub struct Wish {
    /// What was said before, for a conversation that begins.
    pub before: Vec<Message>,
    /// What the user says now; none: what is under way goes on.
    pub says: Option<Message>,
    /// With what it goes on from now.
    pub settings: TalkSettings,
}

/// Whether the user wants a call to be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consent {
    /// Yes.
    Yes,
    /// No; the model is told so.
    No,
    /// There is nobody to be asked.
    Nobody,
}

/// What a person says of a call of which nobody knows whether it did its work.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Settlement {
    /// It did; this is what the model is told.
    Done(String),
    /// It did not; it may be run once more.
    Again,
    /// It did not, and it is not to be run; the model is told so.
    Declined,
}

/// A call as it is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolRun {
    /// The tool.
    pub tool: String,
    /// Which call it is.
    pub fingerprint: String,
    /// What running it does.
    pub effect: Effect,
    /// How far it has come.
    pub state: CallState,
    /// What it came to, once that is known.
    pub end: Option<CallEnd>,
    /// Whether nothing was run for it now: its result was there.
    pub replayed: bool,
    /// What the model is told of it.
    pub said: Option<String>,
    /// How long the command took.
    pub latency: Duration,
}

impl ToolRun {
    /// What the journal says of a call.
    pub(super) fn of(entry: &JournalEntry, replayed: bool, latency: Duration) -> Self {
        Self {
            tool: entry.tool.clone(),
            fingerprint: entry.fingerprint.clone(),
            effect: entry.effect,
            state: entry.state,
            end: entry.end,
            replayed,
            said: entry.result.clone(),
            latency,
        }
    }
}

/// How long a result is kept in memory that cannot be written.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long is waited between two tries to write one.
const PAUSE: Duration = Duration::from_secs(1);

/// Who asks models, runs commands and talks to the user.
pub trait Desk {
    /// Trouble of our own.
    type Error: From<StoreError>;

    /// Asks a model to go on.
    ///
    /// # Errors
    /// When not even the state in memory can be used; that nobody answers is none.
    fn ask(&mut self, messages: Vec<Message>) -> impl Future<Output = Result<Report, Self::Error>>;

    /// Runs a tool; returns when it has ended.
    fn run(&mut self, tool: &ToolConfig, order: &Order) -> impl Future<Output = Outcome>;

    /// Asks the user whether the call may have its effect.
    ///
    /// # Errors
    /// When the user cannot be asked although there is one.
    fn consent(&mut self, order: &Order) -> Result<Consent, Self::Error>;

    /// Asks the user what a call did; none when there is nobody to be asked, or the user does not know.
    ///
    /// # Errors
    /// When the user cannot be asked although there is one.
    fn settlement(&mut self, order: &Order, entry: &JournalEntry) -> Result<Option<Settlement>, Self::Error>;

    /// A call has come so far.
    fn told(&mut self, run: &ToolRun);

    /// Whether the user wants nothing more to be begun.
    fn is_interrupted(&self) -> bool {
        false
    }

    /// Waits a little before a result is written once more that could not be written for so long; false: not any more.
    fn bide(&mut self, so_long: Duration) -> impl Future<Output = bool> {
        let goes_on = so_long < PATIENCE && !self.is_interrupted();
        async move {
            if goes_on {
                crate::route::pause(PAUSE).await;
            }
            goes_on
        }
    }

    /// What came of a call could not be written; this is the last that anybody hears of it.
    fn lost(&mut self, _entry: &JournalEntry, _error: &StoreError) {}
}

/// Where a conversation stopped.
#[derive(Debug, Clone, PartialEq)]
pub enum Ended {
    /// The model has spoken, and the user is next.
    Answered,
    /// Nobody answered; what was said is kept, and the same may be tried again.
    Unanswered,
    /// A call has a side effect that nobody allowed.
    NeedsConsent(Order),
    /// A call was begun and nobody knows whether it did its work.
    NeedsWord(Order, Box<JournalEntry>),
    /// The model still wants tools after so many rounds.
    TooManyRounds,
    /// The user stopped it.
    Interrupted,
}
