//! What is asked of an answer, asked of it: the programs of checks are run here, and what the model is told of a bad one.
//!
//! Checks are made in a thread of their own, for many requests may share the one that this runs in: a program may take
//! seconds, and a rule a while. Ctrl-C, the deadline, and a caller who gives the request up end the program. Without checks
//! there is no thread.
//!
//! A check that could not be made is no fault of the model: nobody is asked again for it, and the request ends with what
//! went wrong and with the answer, which was paid for. It is not final: under the same id it may be asked again.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;

use crate::clock::Stopwatch;
use crate::domain::{Answer, AttemptKind, GivenUp, Message, Part, Redactor, Role};
use crate::policy::Event;
use crate::process::{self, Bounds, Program, Ran};
use crate::store::{Store, StoreError};
use crate::validate::{CheckCommand, Fault, Flaw, Judged, Trouble, Validation};

use super::drive::{Drive, Stop};
use super::flight::Flight;
use super::job::Wanted;
use super::settle::Written;

/// What asks for JSON where no schema does.
pub(super) const JSON_ALONE: &str = "Answer with one JSON value and nothing else: no prose, no code fence.";

/// How much of a bad answer is shown to the model that gave it, in bytes: a loop can be long, and is paid for again.
const SHOWN: usize = 16 * 1024;

/// All that it takes to check an answer, wherever that is done.
pub(super) struct Checking {
    validation: Arc<Validation>,
    answer: Answer,
    input: String,
    hidden: Vec<String>,
    redactor: Redactor,
    stop: Stop,
    deadline: Duration,
    watch: Stopwatch,
    /// Another time than the system's does not pass for a thread: then it is done at once.
    at_once: bool,
}

impl Checking {
    /// Checks it beside the thread that waits for it.
    pub(super) async fn made(self) -> Result<Judged, Flaw> {
        if self.at_once {
            return self.judge(&|| false);
        }
        let (sender, verdict) = oneshot::channel();
        let work = move || {
            let verdict = self.judge(&|| sender.is_closed());
            // Who waited may have given up.
            let _ = sender.send(verdict);
        };
        let not_run = |why: String| Err(Flaw::Own(Trouble::NotRun(why)));
        match std::thread::Builder::new().name("check".to_owned()).spawn(work) {
            Ok(_) => verdict.await.unwrap_or_else(|_| not_run("a check broke off".to_owned())),
            Err(error) => not_run(format!("no thread can be started for the checks: {error}")),
        }
    }

    fn judge(&self, is_given_up: &dyn Fn() -> bool) -> Result<Judged, Flaw> {
        let is_interrupted = || *self.stop.borrow() || is_given_up();
        self.validation.judge(&self.answer, &self.input, &|command, given| self.run(command, given, &is_interrupted))
    }

    fn run(&self, command: &CheckCommand, given: &str, is_interrupted: &dyn Fn() -> bool) -> Result<(), Fault> {
        let left = self.deadline.saturating_sub(self.watch.elapsed());
        let program = Program { words: &command.words, input: given.as_bytes(), env: &[] };
        let bounds = Bounds { time: command.timeout.min(left), output: process::MOST, is_interrupted };
        let name = command.words.first().map_or("", String::as_str);
        match process::run_without(&program, &self.hidden, &bounds) {
            Err(error) => Err(Fault::NotRun(format!("`{name}` cannot be run: {error}"))),
            Ok(Ran { lost: Some(error), .. }) => {
                Err(Fault::NotRun(format!("how `{name}` ended is not known: {error}")))
            }
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
                Err(Fault::Said(self.redactor.redact(said.trim()).into_owned()))
            }
        }
    }
}

impl<S: Store> Drive<'_, S> {
    /// What is to be done beside this thread; none where nothing takes long.
    pub(super) fn checking(&self, answer: &Answer) -> Option<Checking> {
        if self.job.demands.checks.is_empty() {
            return None;
        }
        Some(Checking {
            validation: Arc::clone(&self.validation),
            answer: answer.clone(),
            input: self.input(),
            hidden: self.job.hidden.clone(),
            redactor: self.router.redactor.clone(),
            stop: self.stop.clone(),
            deadline: self.job.spec.limits.deadline,
            watch: self.watch,
            at_once: self.router.clock.source().is_some(),
        })
    }

    /// Whether the answer is the one that was asked for, where there are no checks.
    pub(super) fn validate(&self, answer: &Answer) -> Result<Judged, Flaw> {
        self.validation.judge(answer, "", &|_, _| Ok(()))
    }

    /// Whether what comes is held against something that was asked, and no earlier answer of the same deployment was.
    pub(super) fn is_trial(&self, flight: &Flight) -> bool {
        let who = &flight.step.target.deployment;
        let is_asked = self.job.wanted == Wanted::Words && self.validation.asks();
        let before = || self.made.attempts.iter().any(|one| one.judged && one.deployment == *who);
        let was_told = || self.job.directives.repaired.contains(who);
        is_asked && (flight.exchange.kind == AttemptKind::Repair || !(before() || was_told()))
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

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::validate::{Check, Demands, Test};

    fn checking(script: &str) -> (tokio::sync::watch::Sender<bool>, Checking) {
        let words = ["sh", "-c", script].map(str::to_owned).to_vec();
        let command = CheckCommand { words, timeout: Duration::from_secs(20) };
        let check = Check { name: "judge".into(), test: Test::Command(command), message: None };
        let demands = Demands { checks: vec![check], ..Demands::default() };
        let (sender, stop) = tokio::sync::watch::channel(false);
        let checking = Checking {
            validation: Arc::new(Validation::new(None, demands).expect("no schema")),
            answer: Answer { text: "yes".into(), ..Answer::default() },
            input: String::new(),
            hidden: Vec::new(),
            redactor: Redactor::default(),
            stop,
            deadline: Duration::from_secs(30),
            watch: Clock::new(None).stopwatch(),
            at_once: false,
        };
        (sender, checking)
    }

    fn block_on<T>(work: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().build().expect("a runtime").block_on(work)
    }

    #[test]
    fn what_else_runs_in_the_thread_goes_on_while_a_check_is_made() {
        let place = tempfile::tempdir().expect("a directory");
        let file = place.path().join("go");
        let (_stop, checking) = checking(&format!("until [ -e '{}' ]; do sleep 0.01; done", file.display()));
        let (verdict, written) = block_on(async { tokio::join!(checking.made(), async { std::fs::write(&file, "") }) });
        assert!(written.is_ok());
        assert_eq!(verdict, Ok(Judged::default()));
    }

    #[test]
    fn a_check_ends_when_the_user_stops_it() {
        let (stop, checking) = checking("sleep 600");
        let verdict = block_on(async { tokio::join!(checking.made(), async { stop.send(true) }) }).0;
        assert_eq!(verdict, Err(Flaw::Own(Trouble::Interrupted)));
    }
}
