//! Conversations that go over several requests, with the journal of the tools that were run for them.
//!
//! One process at a time writes a conversation: it takes it under a name of its own, and whoever took it before can write
//! no more. What it writes says what it believes to be there, turns by their number and calls by their version, so that a
//! call is begun by one process or by none. The journal is the proof that a side effect happened once: it outlives the
//! process at every instruction, so what is written to it is on the disk before anything follows from it.

use jiff::Timestamp;
use serde_json::Value;

use super::StoreError;
use crate::domain::{JournalEntry, Session, SessionName, StoredTurn, TalkSettings};

/// All of one conversation, as of one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Talk {
    /// What is known of it.
    pub session: Session,
    /// What was said, in order.
    pub turns: Vec<StoredTurn>,
    /// The calls with their versions, by turn and position.
    pub journal: Vec<(i64, JournalEntry)>,
}

/// What a list shows of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Outline {
    /// What is known of it.
    pub session: Session,
    /// The message that was said last; null where it cannot be read, none where nothing was said yet.
    pub last: Option<Value>,
    /// Whether a person must say what a tool did.
    pub needs_word: bool,
}

impl From<&Talk> for Outline {
    fn from(talk: &Talk) -> Self {
        Self {
            session: talk.session.clone(),
            last: talk.turns.last().map(|turn| turn.message.clone()),
            needs_word: talk.journal.iter().any(|(_, entry)| entry.needs_word()),
        }
    }
}

/// A change of the turns.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnChange {
    /// How many there must be.
    pub expected: u32,
    /// How many of them stay.
    pub keep: u32,
    /// What follows them.
    pub new: Vec<StoredTurn>,
}

/// A call that is noted, or of which more is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallChange {
    /// The version that it must have; none where it must not be there.
    pub expected: Option<i64>,
    /// In its place.
    pub entry: JournalEntry,
}

/// What is written of a conversation in one transaction.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SessionBatch {
    /// Who must hold it.
    pub holder: String,
    /// The wall clock.
    pub now: Timestamp,
    /// With what it goes on from now.
    pub settings: Option<TalkSettings>,
    /// What was said.
    pub turns: Option<TurnChange>,
    /// How many turns the user was told.
    pub told: Option<u32>,
    /// What was run.
    pub calls: Vec<CallChange>,
}

/// A store that keeps conversations.
pub trait SessionStore {
    /// All of them, the one that was used last first.
    ///
    /// # Errors
    /// When the state cannot be read.
    fn sessions(&self) -> Result<Vec<Session>, StoreError>;

    /// The same with how each of them ends. A store that can do without reads nothing of what was said before.
    ///
    /// # Errors
    /// When the state cannot be read.
    fn outlines(&self) -> Result<Vec<Outline>, StoreError> {
        let talk = |session: &Session| self.talk(&session.name).transpose();
        self.sessions()?.iter().filter_map(talk).map(|talk| talk.map(|talk| Outline::from(&talk))).collect()
    }

    /// One of them with all that was said and run; none where there is none of that name.
    ///
    /// # Errors
    /// When the state cannot be read.
    fn talk(&self, name: &SessionName) -> Result<Option<Talk>, StoreError>;

    /// Begins it, or goes on with it: from now on this holder alone can write.
    ///
    /// # Errors
    /// When the state cannot be read or written.
    fn take_session(&self, name: &SessionName, holder: &str, now: Timestamp) -> Result<Talk, StoreError>;

    /// Writes all of the batch or nothing, for good.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] when somebody else holds it, or what is there is not what the batch expects; others when
    /// the state cannot be written.
    fn write_session(&self, name: &SessionName, batch: &SessionBatch) -> Result<(), StoreError>;

    /// Removes it with all that was said and run; false where there is none of that name.
    ///
    /// # Errors
    /// When the state cannot be written.
    fn remove_session(&self, name: &SessionName) -> Result<bool, StoreError>;
}
