//! What is asked of an answer, asked of it: the programs of checks are run here, and what the model is told of a bad one.
//!
//! A check that could not be made is no fault of the model: nobody is asked again for it, and the request ends with what
//! went wrong. While a program runs nothing else of the request goes on, but Ctrl-C and the deadline end it.

use crate::domain::{Answer, GivenUp, Message, Part, Role};
use crate::policy::Event;
use crate::process::{self, Bounds, Program, Ran};
use crate::store::{Store, StoreError};
use crate::validate::{CheckCommand, Fault, Flaw, Judged, Trouble};

use super::drive::Drive;
use super::flight::Flight;
use super::settle::Written;

/// What asks for JSON where no schema does.
pub(super) const JSON_ALONE: &str = "Answer with one JSON value and nothing else: no prose, no code fence.";

/// How much of a bad answer is shown to the model that gave it, in bytes: a loop can be long, and is paid for again.
const SHOWN: usize = 16 * 1024;

impl<S: Store> Drive<'_, S> {
    /// Whether the answer is the one that was asked for.
    pub(super) fn validate(&self, answer: &Answer) -> Result<Judged, Flaw> {
        let input = if self.job.demands.checks.is_empty() { String::new() } else { self.input() };
        self.validation.judge(answer, &input, &|command, given| self.run(command, given))
    }

    /// What the user said.
    fn input(&self) -> String {
        let own = self.job.request.messages.iter().filter(|message| message.role == Role::User);
        let words = own.flat_map(|message| &message.parts).filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            _ => None,
        });
        words.collect::<Vec<_>>().join("\n\n")
    }

    fn run(&self, command: &CheckCommand, given: &str) -> Result<(), Fault> {
        let left = self.job.spec.limits.deadline.saturating_sub(self.watch.elapsed());
        let is_interrupted = || *self.stop.borrow();
        let program = Program { words: &command.words, input: given.as_bytes(), env: &[] };
        let bounds = Bounds { time: command.timeout.min(left), output: process::MOST, is_interrupted: &is_interrupted };
        let name = command.words.first().map_or("", String::as_str);
        match process::run(&program, &bounds) {
            Err(error) => Err(Fault::NotRun(format!("`{name}` cannot be run: {error}"))),
            Ok(Ran { status: None, .. }) if is_interrupted() || left < command.timeout => Err(Fault::Interrupted),
            Ok(Ran { status: None, .. }) => {
                let timeout = command.timeout;
                Err(Fault::NotRun(format!("`{name}` was killed, for it took longer than {timeout:?}")))
            }
            Ok(Ran { status: Some(status), .. }) if status.success() => Ok(()),
            Ok(Ran { status: Some(status), .. }) if status.code().is_none() => {
                Err(Fault::NotRun(format!("`{name}` was ended: {status}")))
            }
            Ok(Ran { out, err, .. }) => {
                let said = if out.trim().is_empty() { err } else { out };
                Err(Fault::Said(self.router.redactor.redact(said.trim()).into_owned()))
            }
        }
    }

    /// It was answered, and nobody can say whether well.
    pub(super) fn unchecked(
        &mut self,
        flight: &Flight,
        trouble: Trouble,
        mut written: Written,
    ) -> Result<(), StoreError> {
        match trouble {
            Trouble::NotRun(why) => {
                let why = self.router.redactor.redact(&why).into_owned();
                self.refuse(why.clone());
                self.made.trouble = Some(why);
                // The deployment did what it was asked for.
                self.commit(flight, Event::Success, written)
            }
            Trouble::Interrupted => {
                let by_user = *self.stop.borrow();
                written.attempt.given_up = Some(if by_user { GivenUp::Interrupted } else { GivenUp::Deadline });
                self.made.unanswered = Some(flight.step.target.deployment.clone());
                if by_user {
                    self.machine.on_interrupt();
                }
                self.commit(flight, Event::Abandoned, written)
            }
        }
    }
}

/// What follows an answer that is to be repaired: the answer itself, and what is wrong with it.
pub(super) fn repair(said: &str, told: &str) -> Vec<Message> {
    let shown: String = said.char_indices().take_while(|(at, _)| *at < SHOWN).map(|(_, sign)| sign).collect();
    let answer = (!shown.trim().is_empty()).then(|| Message::text(Role::Assistant, shown));
    let ask = format!("That answer cannot be used. {told}\n\nAnswer again, with the corrected answer alone.");
    answer.into_iter().chain([Message::text(Role::User, ask)]).collect()
}
