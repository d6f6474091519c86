//! Conversations on the router's thread: found, gone on with, settled and forgotten.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;
use tokio::sync::Mutex;

use crate::clock::Rng;
use crate::config::Config;
use crate::domain::{Message, SessionName, TalkSettings};
use crate::host::{environment, hidden_variables};
use crate::route::{FallbackStore, Job, Stop};
use crate::session::{
    Ended, NoCall, Resume, Rounds, Settlement, Stage, Wish, go_on, note_told, open_call, opening, settle,
};
use crate::store::{MemoryStore, Seat, SessionStore, SqliteStore, StoreError, Talk};

use super::answered::{Answered, kept, told};
use super::desk::{Counter, Trouble};
use super::engine::Engine;
use super::error::Error;
use super::request::Request;
use super::session::{Turn, turns};
use super::tool::PendingCall;
use super::toolbox::Toolbox;
use super::watcher::{Watched, Watcher};

/// Where a conversation is kept.
#[derive(Debug, Clone)]
pub(super) struct Place {
    name: SessionName,
    /// In this memory; else in the router's state.
    memory: Option<Arc<MemoryStore>>,
    /// What a handle began and gave up still has to be written down before the handle does anything else.
    turn: Arc<Mutex<()>>,
}

/// What came of going on.
pub(super) struct Heard {
    pub(super) result: Result<Option<Answered>, Error>,
    /// All that was said by then.
    pub(super) turns: Vec<Turn>,
    /// The right to note that it was told.
    pub(super) receipt: Option<Receipt>,
}

/// The right to note that an answer was told to who asked.
pub(super) struct Receipt {
    holder: String,
    _seat: Option<Seat>,
}

type State = FallbackStore<SqliteStore>;

impl Place {
    /// A place in the router's state.
    pub(super) fn named(name: SessionName) -> Self {
        Self { name, memory: None, turn: Arc::default() }
    }

    /// A place that nobody else knows.
    pub(super) fn in_memory() -> Self {
        let memory = Some(Arc::new(MemoryStore::new()));
        Self { name: SessionName::new(Rng::new(None).token(16)), memory, turn: Arc::default() }
    }

    /// The store of it.
    fn store<'a>(&'a self, engine: &'a Engine, state: &'a State) -> Result<&'a dyn SessionStore, Error> {
        if let Some(memory) = &self.memory {
            return Ok(&**memory);
        }
        match (state.file(), engine.memory()) {
            (Some(file), _) => Ok(file),
            (None, Some(memory)) => Ok(memory),
            (None, None) => Err(Error::State {
                message: format!(
                    "the session `{}` is kept in the state file, which cannot be used just now",
                    self.name
                ),
            }),
        }
    }

    /// The only seat of it, where there can be others.
    fn sit(&self, state: &State) -> Result<Option<Seat>, Error> {
        match state.file().filter(|_| self.memory.is_none()) {
            None => Ok(None),
            Some(file) => file.seat(&self.name).ok_or_else(|| self.taken()).map(Some),
        }
    }

    fn taken(&self) -> Error {
        Error::SessionTaken { name: self.name.to_string() }
    }

    /// Trouble with the store. That somebody else writes is told as such.
    fn trouble(&self, error: StoreError) -> Error {
        match error {
            StoreError::Conflict => self.taken(),
            other => other.into(),
        }
    }
}

impl Engine {
    /// All that was said.
    pub(super) fn turns(&self, place: &Place) -> Result<Vec<Turn>, Error> {
        let state = self.state();
        let talk = place.store(self, &state)?.talk(&place.name)?;
        Ok(talk.as_ref().map(turns).transpose()?.unwrap_or_default())
    }

    /// Notes that the answer was told.
    pub(super) fn note_told(&self, place: &Place, receipt: &Receipt) -> Result<(), Error> {
        let state = self.state();
        let store = place.store(self, &state)?;
        Ok(note_told(store, &place.name, &receipt.holder, self.clock().now())?)
    }

    /// Removes the conversation.
    pub(super) async fn forget(&self, place: &Place) -> Result<(), Error> {
        let _turn = place.turn.lock().await;
        let state = self.state();
        let _seat = place.sit(&state)?;
        place.store(self, &state)?.remove_session(&place.name)?;
        Ok(())
    }

    /// Says what came of a call.
    pub(super) async fn settle(&self, place: &Place, call: &str, word: Settlement) -> Result<(), Error> {
        let _turn = place.turn.lock().await;
        let state = self.state();
        let _seat = place.sit(&state)?;
        let store = place.store(self, &state)?;
        let talk = store.talk(&place.name)?;
        let found = talk.as_ref().ok_or(NoCall::Unknown).and_then(|talk| open_call(talk, call));
        let open = found.map_err(|why| {
            let what = match why {
                NoCall::Unknown => "no call",
                NoCall::Several => "more than one call",
                NoCall::Settled(_) => "a call whose end is known",
            };
            Error::Unknown { message: format!("`{call}` names {what} of the session") }
        })?;
        let (now, redactor) = (self.clock().now(), self.redactor());
        settle(store, &place.name, open, word, (now, &redactor)).map_err(|error| place.trouble(error))
    }

    /// Goes on with the conversation until the user is next, or somebody must decide something.
    pub(super) async fn go_on(
        &self,
        place: &Place,
        says: Option<Message>,
        mut manner: Request,
        (stop, watcher): (Stop, Box<dyn Watcher>),
    ) -> Result<Heard, Error> {
        let _turn = place.turn.lock().await;
        let state = self.state();
        let seat = place.sit(&state)?;
        let store = place.store(self, &state)?;
        let there = store.talk(&place.name)?;
        let before = std::mem::take(&mut manner.chat.messages);
        let (said, resume) = opening(there.as_ref(), says.as_ref(), &self.redactor())?;
        let before = if said.is_empty() { before } else { Vec::new() };
        if let Some(talk) = there.as_ref().filter(|_| resume.is_of_before()) {
            manner = manner.asking_again(&talk.session.settings.asked);
        }
        let stage = (&*state, manner.chat.schema.as_ref());
        if let Some(result) = settled_before(place, there.as_ref(), &resume, before.is_empty(), stage) {
            let turns = there.as_ref().map(turns).transpose()?.unwrap_or_default();
            let receipt = match resume {
                Resume::Tell => Some(take(place, store, seat, self)?),
                _ => None,
            };
            return Ok(Heard { result, turns, receipt });
        }
        if let Some(talk) = &there {
            manner = manner.going_on_with(&talk.session.settings);
        }
        manner.chat.messages = said.iter().chain(&before).chain(&says).cloned().collect();
        let (system, asked) = (manner.chat.system.clone(), manner.asked());
        let (config, job, toolbox) = self.job(manner, &*state)?;
        let ladder = Some(job.spec.name.clone());
        let settings = TalkSettings { ladder, system, tools: toolbox.offered.clone(), asked };
        let wish = Wish { before, says, settings };
        let receipt = take(place, store, seat, self)?;
        let (is_over, result) = {
            let kept = Kept { place, state: &state, store, holder: receipt.holder.clone() };
            self.walk(&kept, &wish, (&config, job, &toolbox), (stop, watcher)).await
        };
        self.forget_the_old(&state);
        let turns = store.talk(&place.name)?.as_ref().map(turns).transpose()?.unwrap_or_default();
        Ok(Heard { result, turns, receipt: is_over.then_some(receipt) })
    }

    /// Asks and runs until the user is next; says whether that is so, and what there is to be told.
    async fn walk(
        &self,
        kept: &Kept<'_>,
        wish: &Wish,
        (config, mut job, toolbox): (&Config, Job, &Toolbox),
        (stop, watcher): (Stop, Box<dyn Watcher>),
    ) -> (bool, Result<Option<Answered>, Error>) {
        let (redactor, clock) = (self.redactor(), self.clock());
        job.wants_text = true;
        let stage = Stage {
            store: kept.store,
            name: kept.place.name.clone(),
            holder: kept.holder.clone(),
            clock,
            redactor: &redactor,
            tools: &toolbox.tools,
            offered: toolbox.offered.clone(),
            rounds: toolbox.rounds,
            all_allowed: false,
        };
        let hidden = toolbox.has_commands().then(|| hidden_variables(&environment(), config, &redactor));
        let mut counter = Counter {
            engine: self,
            store: kept.state,
            config,
            rounds: Rounds::new(job, clock.stopwatch()),
            toolbox,
            redactor: &redactor,
            rng: Rng::new(Some(self.seed())),
            stop,
            watched: Watched(watcher),
            session: kept.place.name.to_string(),
            hidden: hidden.unwrap_or_default(),
            runs: Vec::new(),
        };
        match go_on(&stage, wish, &mut counter).await {
            Err(Trouble::Store(error)) => (false, Err(kept.place.trouble(error))),
            Err(Trouble::Ours(error)) => (false, Err(error)),
            Ok(ended) => (ended == Ended::Answered, come_to(ended, counter, clock.now())),
        }
    }
}

/// Where the conversation is that is gone on with, and by whom.
struct Kept<'a> {
    place: &'a Place,
    state: &'a State,
    store: &'a dyn SessionStore,
    holder: String,
}

/// What there is to be told at the end.
fn come_to(ended: Ended, counter: Counter<'_>, now: Timestamp) -> Result<Option<Answered>, Error> {
    let Counter { rounds, runs, toolbox, .. } = counter;
    match ended {
        Ended::Answered if !rounds.has_asked() => Ok(None),
        Ended::Answered | Ended::Unanswered => told(rounds.report(now), runs).map(Some),
        Ended::NeedsConsent(order) => Err(Error::NeedsConsent(Box::new(PendingCall::of(&order, None)))),
        Ended::NeedsWord(order, entry) => Err(Error::NeedsWord(Box::new(PendingCall::of(&order, Some(&entry))))),
        Ended::TooManyRounds => Err(Error::TooManyRounds { rounds: toolbox.rounds }),
        // Nobody waits for it any more.
        Ended::Interrupted => Err(Error::BrokenOff),
    }
}

/// From now on nobody else writes the conversation.
fn take(place: &Place, store: &dyn SessionStore, seat: Option<Seat>, engine: &Engine) -> Result<Receipt, Error> {
    let holder = Rng::new(None).token(16);
    store.take_session(&place.name, &holder, engine.clock().now())?;
    Ok(Receipt { holder, _seat: seat })
}

/// What can be said without asking anybody.
fn settled_before(
    place: &Place,
    there: Option<&Talk>,
    resume: &Resume,
    is_bare: bool,
    (store, schema): (&State, Option<&Value>),
) -> Option<Result<Option<Answered>, Error>> {
    match resume {
        Resume::Append | Resume::GoOn | Resume::Replace(_) => None,
        Resume::Busy => Some(Err(Error::SessionUnderWay { name: place.name.to_string() })),
        Resume::Nothing if is_bare => Some(Ok(None)),
        Resume::Nothing => None,
        Resume::Tell => Some(there.map(|talk| kept(talk, store, schema)).transpose().map(Option::flatten)),
    }
}
