//! Does what the machine says, and keeps what came of it before anything follows from it.

use std::collections::BTreeSet;
use std::time::Duration;

use jiff::Timestamp;

use super::desk::{Consent, Desk, Ended, Settlement, Stage, ToolRun, Wish};
use super::form::{as_kept, message};
use super::machine::{Next, Order, Scene, next};
use super::outcome::Outcome;
use super::resume::{Resume, resume_from};
use crate::clock::Rng;
use crate::domain::{
    AskedFor, Author, CallEnd, CallState, Effect, JournalEntry, Message, Redactor, RequestId, Role, SessionName,
    StoredTurn, TalkSettings,
};
use crate::ladder::End;
use crate::route::Report;
use crate::store::{CallChange, SessionBatch, SessionStore, StoreError, Talk, TurnChange};

/// Goes on with the conversation until the user is next, or a person must act. Whoever calls it has taken the conversation
/// under the stage's holder, and has settled by `opening` that the wish fits.
///
/// # Errors
/// When what came of something cannot be kept, or trouble of the desk's. The conversation then stands where it was, and
/// can be gone on with.
pub async fn go_on<D: Desk>(stage: &Stage<'_>, wish: &Wish, desk: &mut D) -> Result<Ended, D::Error> {
    let mut walk = Walk { stage, allowed: BTreeSet::new(), run_now: BTreeSet::new() };
    walk.begin(wish)?;
    loop {
        let talk = walk.talk()?;
        let turns = said(&talk)?;
        let scene = Scene {
            session: &talk.session,
            turns: &turns,
            journal: &talk.journal,
            tools: stage.tools,
            offered: &stage.offered,
            rounds: stage.rounds,
            allowed: &walk.allowed,
            all_allowed: stage.all_allowed,
        };
        let next = next(&scene);
        let begins = matches!(next, Next::Ask | Next::Run(_) | Next::Confirm(_) | Next::Question(_));
        if begins && desk.is_interrupted() {
            return Ok(Ended::Interrupted);
        }
        match next {
            Next::Done => return Ok(Ended::Answered),
            Next::TooManyRounds => return Ok(Ended::TooManyRounds),
            Next::Ask => {
                let report = desk.ask(turns).await?;
                if !walk.heard(&talk, &report)? {
                    return Ok(Ended::Unanswered);
                }
            }
            Next::Collect(results) => walk.collect(&talk, &results, desk)?,
            Next::Refuse(order, why) => {
                let run = walk.done(&order, CallEnd::Refused, why, Duration::ZERO)?;
                desk.told(&run);
            }
            Next::Repeat(order, result) => {
                let run = walk.done(&order, CallEnd::Ok, result, Duration::ZERO)?;
                desk.told(&ToolRun { replayed: true, ..run });
            }
            Next::Confirm(order) => match desk.consent(&order)? {
                Consent::Yes => drop(walk.allowed.insert(order.fingerprint)),
                Consent::Nobody if desk.is_interrupted() => return Ok(Ended::Interrupted),
                Consent::Nobody => return Ok(Ended::NeedsConsent(order)),
                Consent::No => {
                    let why = "the user does not want this to be done".to_owned();
                    desk.told(&walk.done(&order, CallEnd::Declined, why, Duration::ZERO)?);
                }
            },
            Next::Run(order) => {
                if walk.run(order, desk).await? {
                    return Ok(Ended::Interrupted);
                }
            }
            Next::Question(order) => {
                let found = talk.journal.iter().find(|(_, entry)| entry.fingerprint == order.fingerprint);
                let Some((version, entry)) = found else { continue };
                match desk.settlement(&order, entry)? {
                    None if desk.is_interrupted() => return Ok(Ended::Interrupted),
                    None => return Ok(Ended::NeedsWord(order, Box::new(entry.clone()))),
                    Some(word) => {
                        let change = settled(*version, entry, word, (walk.now(), stage.redactor));
                        walk.write(&SessionBatch { calls: vec![change], ..walk.batch() })?;
                    }
                }
            }
        }
    }
}

/// Notes that the user has seen all of it. A process that is ended before prints its answer when it is asked the same
/// again, instead of asking a model a second time.
///
/// # Errors
/// When it cannot be written.
pub fn note_told(store: &dyn SessionStore, name: &SessionName, holder: &str, now: Timestamp) -> Result<(), StoreError> {
    let talk = store.talk(name)?.ok_or(StoreError::Conflict)?;
    let told = Some(talk.session.turns);
    let batch = SessionBatch { holder: holder.to_owned(), now, told, ..SessionBatch::default() };
    store.write_session(name, &batch)
}

/// Writes what is said of a call as one that has just been seen, under a holder of its own.
///
/// # Errors
/// When it cannot be written.
pub fn settle(
    store: &dyn SessionStore,
    name: &SessionName,
    (version, entry): (i64, &JournalEntry),
    word: Settlement,
    (now, redactor): (Timestamp, &Redactor),
) -> Result<(), StoreError> {
    let holder = Rng::new(None).token(16);
    store.take_session(name, &holder, now)?;
    let change = settled(version, entry, word, (now, redactor));
    store.write_session(name, &SessionBatch { holder, now, calls: vec![change], ..SessionBatch::default() })
}

/// What the model is told of a call that was not done and is not to be.
const NOT_DONE: &str = "it was not done, and the user does not want it to be done";

/// The call after a word about it.
fn settled(
    version: i64,
    entry: &JournalEntry,
    word: Settlement,
    (now, redactor): (Timestamp, &Redactor),
) -> CallChange {
    let done = |end, text: &str| JournalEntry {
        state: CallState::Done,
        end: Some(end),
        result: Some(redactor.redact(text).into_owned()),
        ended_at: Some(now),
        ..entry.clone()
    };
    let entry = match word {
        Settlement::Again => JournalEntry { state: CallState::Again, ..entry.clone() },
        Settlement::Done(text) => done(CallEnd::Told, &text),
        Settlement::Declined => done(CallEnd::Declined, NOT_DONE),
    };
    CallChange { expected: Some(version), entry }
}

/// What was said, as messages.
///
/// # Errors
/// When what is kept is none: a newer program wrote it.
pub fn said(talk: &Talk) -> Result<Vec<Message>, StoreError> {
    let read = |(turn, at): (&StoredTurn, usize)| {
        message(&turn.message).map_err(|problem| StoreError::BadTurn {
            session: talk.session.name.clone(),
            place: at,
            problem,
        })
    };
    talk.turns.iter().zip(0..).map(read).collect()
}

/// What is asked, without secrets. What makes no sense without them is left out.
fn clean_asked(asked: &AskedFor, redactor: &Redactor) -> AskedFor {
    let text = serde_json::json!(asked).to_string();
    serde_json::from_str(&redactor.redact(&text)).unwrap_or_default()
}

struct Walk<'a> {
    stage: &'a Stage<'a>,
    allowed: BTreeSet<String>,
    /// The calls of which this process told already.
    run_now: BTreeSet<String>,
}

impl Walk<'_> {
    fn now(&self) -> Timestamp {
        self.stage.clock.now()
    }

    fn batch(&self) -> SessionBatch {
        SessionBatch { holder: self.stage.holder.clone(), now: self.now(), ..SessionBatch::default() }
    }

    fn write(&self, batch: &SessionBatch) -> Result<(), StoreError> {
        self.stage.store.write_session(&self.stage.name, batch)
    }

    fn talk(&self) -> Result<Talk, StoreError> {
        self.stage.store.talk(&self.stage.name)?.ok_or(StoreError::Conflict)
    }

    /// The message without secrets, in the form that belongs to no provider.
    fn turn(&self, message: &Message, author: Option<Author>, request_id: Option<RequestId>) -> StoredTurn {
        StoredTurn { message: as_kept(message, self.stage.redactor), author, request_id, at: self.now() }
    }

    /// Keeps what the user says, unless it is kept already.
    fn begin(&self, wish: &Wish) -> Result<(), StoreError> {
        let talk = self.talk()?;
        let said = said(&talk)?;
        let says = wish.says.as_ref().map(|says| self.turn(says, None, None));
        // As it would be kept: a secret that was taken out must not make it look like something else.
        let as_kept = says.as_ref().and_then(|turn| message(&turn.message).ok());
        let expected = talk.session.turns;
        let keep = match resume_from(&said, talk.session.told, as_kept.as_ref()) {
            Resume::Append => Some(expected),
            Resume::Replace(place) => Some(place),
            Resume::GoOn | Resume::Tell | Resume::Nothing | Resume::Busy => None,
        };
        let clean = |text: &String| self.stage.redactor.redact(text).into_owned();
        let system = wish.settings.system.as_ref().map(clean);
        let asked = clean_asked(&wish.settings.asked, self.stage.redactor);
        let settings = Some(TalkSettings { system, asked, ..wish.settings.clone() });
        let mut batch = SessionBatch { settings, ..self.batch() };
        let before = if expected == 0 { wish.before.as_slice() } else { &[] };
        if keep.is_some() || !before.is_empty() {
            let new = before.iter().map(|message| self.turn(message, None, None)).chain(says).collect();
            batch.turns = Some(TurnChange { expected, keep: keep.unwrap_or(expected), new });
        }
        self.write(&batch)
    }

    /// Keeps what a model said; false when none did. What is handed out as it is was said, but nothing is run for it.
    fn heard(&self, talk: &Talk, report: &Report) -> Result<bool, StoreError> {
        let is_heard = match report.end {
            // Half of an answer, after which nobody waited for the rest, is none.
            End::Answered { .. } => !report.consumer_gone,
            End::AsItIs => report.tool_calls.is_empty(),
            _ => false,
        };
        let words = || (!report.text.is_empty()).then(|| Message::text(Role::Assistant, report.text.as_str()));
        let Some(message) = report.message.clone().or_else(words).filter(|_| is_heard) else { return Ok(false) };
        let author = report.by.as_ref().map(|d| Author { provider: d.provider.clone(), model: d.model.clone() });
        let turn = self.turn(&message, author, Some(report.record.id.clone()));
        self.append(talk, turn)?;
        Ok(true)
    }

    fn append(&self, talk: &Talk, turn: StoredTurn) -> Result<(), StoreError> {
        let there = talk.session.turns;
        let turns = Some(TurnChange { expected: there, keep: there, new: vec![turn] });
        self.write(&SessionBatch { turns, ..self.batch() })
    }

    /// The results become a turn of the user's side. Those that were there before are told as such.
    fn collect<D: Desk>(&self, talk: &Talk, results: &Message, desk: &mut D) -> Result<(), D::Error> {
        let place = talk.session.turns.saturating_sub(1);
        let old = talk.journal.iter().map(|(_, entry)| entry);
        for entry in old.filter(|entry| entry.place == place && !self.run_now.contains(&entry.fingerprint)) {
            desk.told(&ToolRun::of(entry, true, Duration::ZERO));
        }
        self.append(talk, self.turn(results, None, None))?;
        Ok(())
    }

    /// Begins the call, waits for its end and keeps that; true when the user stopped it.
    async fn run<D: Desk>(&mut self, order: Order, desk: &mut D) -> Result<bool, D::Error> {
        let Some(tool) = self.stage.tools.get(&order.call.name) else { return Ok(false) };
        let started = JournalEntry { started_at: Some(self.now()), tries: order.tries + 1, ..self.entry(&order) };
        self.put(order.expected, started.clone())?;
        let expected = order.expected.unwrap_or(0) + 1;
        let watch = self.stage.clock.stopwatch();
        let came = desk.run(tool, &order).await;
        let latency = watch.elapsed();
        let (is_interrupted, entry) = match came {
            Outcome::Known { end, text } => (false, self.ended(started, CallState::Done, Some(end), Some(text))),
            Outcome::Unknown { why, interrupted } if interrupted || order.effect == Effect::SideEffecting => {
                (interrupted, self.ended(started, CallState::Unknown, None, Some(why)))
            }
            Outcome::Unknown { why, .. } => {
                let end = if latency >= tool.timeout { CallEnd::TimedOut } else { CallEnd::Failed };
                (false, self.ended(started, CallState::Done, Some(end), Some(why)))
            }
        };
        self.keep(expected, &entry, desk).await?;
        desk.told(&ToolRun::of(&entry, false, latency));
        self.run_now.insert(order.fingerprint);
        Ok(is_interrupted)
    }

    fn ended(
        &self,
        entry: JournalEntry,
        state: CallState,
        end: Option<CallEnd>,
        result: Option<String>,
    ) -> JournalEntry {
        JournalEntry { state, end, result, ended_at: Some(self.now()), ..entry }
    }

    /// Keeps what became of a call that was not run.
    fn done(&mut self, order: &Order, end: CallEnd, why: String, latency: Duration) -> Result<ToolRun, StoreError> {
        let entry = self.ended(self.entry(order), CallState::Done, Some(end), Some(why));
        self.put(order.expected, entry.clone())?;
        self.run_now.insert(order.fingerprint.clone());
        Ok(ToolRun::of(&entry, false, latency))
    }

    fn put(&self, expected: Option<i64>, entry: JournalEntry) -> Result<(), StoreError> {
        self.write(&SessionBatch { calls: vec![CallChange { expected, entry }], ..self.batch() })
    }

    /// Writes what came of a call that was run. It is known nowhere else, so a disk that is full and a lock of another
    /// program are waited for.
    async fn keep<D: Desk>(&self, expected: i64, entry: &JournalEntry, desk: &mut D) -> Result<(), StoreError> {
        let watch = self.stage.clock.stopwatch();
        loop {
            let Err(error) = self.put(Some(expected), entry.clone()) else { return Ok(()) };
            if !error.may_pass() || !desk.bide(watch.elapsed()).await {
                desk.lost(entry, &error);
                return Err(error);
            }
        }
    }

    /// The call as it is begun.
    fn entry(&self, order: &Order) -> JournalEntry {
        JournalEntry {
            fingerprint: order.fingerprint.clone(),
            place: order.place,
            position: order.position,
            call_id: order.call.id.clone(),
            tool: order.call.name.clone(),
            arguments: order.call.arguments.clone(),
            effect: order.effect,
            idempotency_key: order.idempotency_key.clone(),
            state: CallState::Started,
            end: None,
            result: None,
            tries: order.tries,
            started_at: None,
            ended_at: None,
        }
    }
}

#[cfg(test)]
#[path = "drive_tests.rs"]
mod tests;
