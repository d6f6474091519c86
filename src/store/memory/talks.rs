//! Conversations of one process.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::MemoryStore;
use crate::domain::{JournalEntry, Session, SessionName, TalkSettings};
use crate::store::{SessionBatch, SessionStore, StoreError, Talk};

/// Conversations by their names.
pub(super) type Talks = BTreeMap<SessionName, Talk>;

impl SessionStore for MemoryStore {
    fn sessions(&self) -> Result<Vec<Session>, StoreError> {
        let mut all: Vec<Session> = self.state().talks.values().map(|talk| talk.session.clone()).collect();
        all.sort_by_key(|session| std::cmp::Reverse(session.updated_at));
        Ok(all)
    }

    fn talk(&self, name: &SessionName) -> Result<Option<Talk>, StoreError> {
        Ok(self.state().talks.get(name).cloned())
    }

    fn take_session(&self, name: &SessionName, holder: &str, now: Timestamp) -> Result<Talk, StoreError> {
        let mut state = self.state();
        let new = || Talk {
            session: Session {
                name: name.clone(),
                created_at: now,
                updated_at: now,
                holder: String::new(),
                settings: TalkSettings::default(),
                turns: 0,
                told: 0,
            },
            turns: Vec::new(),
            journal: Vec::new(),
        };
        let talk = state.talks.entry(name.clone()).or_insert_with(new);
        holder.clone_into(&mut talk.session.holder);
        let talk = talk.clone();
        state.commits += 1;
        Ok(talk)
    }

    fn write_session(&self, name: &SessionName, batch: &SessionBatch) -> Result<(), StoreError> {
        let mut state = self.state();
        let talk = state.talks.get_mut(name).filter(|talk| talk.session.holder == batch.holder);
        let talk = talk.ok_or(StoreError::Conflict)?;
        // On a copy, so that a conflict in the last part leaves no trace of the first.
        let mut next = talk.clone();
        write(&mut next, batch)?;
        *talk = next;
        state.commits += 1;
        Ok(())
    }

    fn remove_session(&self, name: &SessionName) -> Result<bool, StoreError> {
        let mut state = self.state();
        let removed = state.talks.remove(name).is_some();
        state.commits += u64::from(removed);
        Ok(removed)
    }
}

fn write(talk: &mut Talk, batch: &SessionBatch) -> Result<(), StoreError> {
    if let Some(settings) = &batch.settings {
        talk.session.settings = settings.clone();
    }
    if let Some(change) = &batch.turns {
        if talk.session.turns != change.expected || change.keep > change.expected {
            return Err(StoreError::Conflict);
        }
        talk.turns.truncate(change.keep as usize);
        talk.turns.extend(change.new.iter().cloned());
        talk.session.turns = u32::try_from(talk.turns.len()).unwrap_or(u32::MAX);
        talk.journal.retain(|(_, entry)| entry.place < change.keep);
    }
    if let Some(told) = batch.told {
        talk.session.told = told;
    }
    for change in &batch.calls {
        let is_it = |(_, entry): &&mut (i64, JournalEntry)| entry.fingerprint == change.entry.fingerprint;
        let found = talk.journal.iter_mut().find(is_it);
        match (found, change.expected) {
            (Some((version, entry)), Some(expected)) if *version == expected => {
                *version += 1;
                *entry = change.entry.clone();
            }
            (None, None) => talk.journal.push((1, change.entry.clone())),
            _ => return Err(StoreError::Conflict),
        }
    }
    talk.journal.sort_by_key(|(_, entry)| (entry.place, entry.position));
    talk.session.updated_at = batch.now;
    Ok(())
}
