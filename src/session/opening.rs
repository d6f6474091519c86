//! How a conversation stands before anybody is asked, and which call is meant that must be settled.

use super::drive::said;
use super::form::{as_kept, message};
use super::resume::{Resume, resume_from};
use crate::domain::{CallState, JournalEntry, Message, Outcome, Redactor, RequestId};
use crate::store::{LogFilter, Store, StoreError, Talk};

/// What was said so far, and how what the user says now belongs to it.
///
/// # Errors
/// When what is kept cannot be read: a newer program wrote it.
pub fn opening(
    there: Option<&Talk>,
    says: Option<&Message>,
    redactor: &Redactor,
) -> Result<(Vec<Message>, Resume), StoreError> {
    let turns = there.map(said).transpose()?.unwrap_or_default();
    // As it would be kept: a secret that was taken out must not make it look like something else.
    let says = says.map(|says| message(&as_kept(says, redactor)).unwrap_or_else(|_| says.clone()));
    let resume = resume_from(&turns, there.map_or(0, |talk| talk.session.told), says.as_ref());
    Ok((turns, resume))
}

/// Whether the command of a call may still be at work: the process that began it is gone, and with it who would have ended
/// it in time. Where that process saw an end, or made one, there is a word of that.
pub fn may_still_run(entry: &JournalEntry) -> bool {
    entry.state == CallState::Started
}

/// Whether what was said under this id is no answer as asked, and was kept because it was handed out all the same. The log
/// knows it, as long as it goes back.
///
/// # Errors
/// When the log cannot be read.
pub fn was_as_it_is(store: &dyn Store, id: Option<&RequestId>) -> Result<bool, StoreError> {
    let Some(id) = id else { return Ok(false) };
    let found = store.requests(&LogFilter { id: Some(id.clone()), limit: 1, ..LogFilter::default() })?;
    Ok(found.iter().any(|request| request.outcome == Outcome::WrongShape))
}

/// Why there is no call to be settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoCall<'a> {
    /// No call has this name.
    Unknown,
    /// More than one call has.
    Several,
    /// What came of it is known.
    Settled(&'a JournalEntry),
}

/// The call of which nobody knows whether it did its work, with its version. It is named by the beginning of its
/// fingerprint, four characters or more, or by the id that the provider gave it.
///
/// # Errors
/// Why there is none.
pub fn open_call<'a>(talk: &'a Talk, call: &str) -> Result<(i64, &'a JournalEntry), NoCall<'a>> {
    let is_it =
        |entry: &JournalEntry| entry.call_id == call || (call.len() >= 4 && entry.fingerprint.starts_with(call));
    let mut found = talk.journal.iter().filter(|(_, entry)| is_it(entry));
    match (found.next(), found.next()) {
        (None, _) => Err(NoCall::Unknown),
        (Some(_), Some(_)) => Err(NoCall::Several),
        (Some((version, entry)), None) => match entry.state {
            CallState::Started | CallState::Unknown => Ok((*version, entry)),
            CallState::Done | CallState::Again => Err(NoCall::Settled(entry)),
        },
    }
}
