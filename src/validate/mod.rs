//! Whether what came back is the answer that was asked for.
//!
//! A 200 is no success. Models answer with nothing, with half an object, with prose around it, with an apology, with the
//! text of an error, or with one sentence until the tokens are gone, and each of these wants to be told apart: by the
//! person who reads the log, and by the model that is asked once more. So every kind has a rule of its own, its evidence,
//! and a sentence for the model.
//!
//! There are three layers, and each is only there if somebody asked for it: a JSON Schema; rules on what the answer says,
//! as CEL expressions or programs; and the kinds of text that are no answer even where words are all that was asked for
//! (`reject`). Without any of them only an empty answer is refused.
//!
//! JSON is never mended, because mended JSON is invented data. It is taken out of a fence or of prose by a parser, and
//! only where no other value can be meant (see `extract`); how it was found is kept with the attempt.
//!
//! Our own trouble (a program that cannot be started, a rule that takes too long, a request whose time is over) is not the
//! model's fault and comes back as [`Flaw::Own`]. What was not checked is never called valid.

mod check;
#[cfg(test)]
mod corpus_tests;
mod extract;
mod fences;
mod kinds;
mod reckon;
mod refusal;
mod repetition;
mod rule;
mod schema;
mod shape;
mod strict;
#[cfg(test)]
mod tests;
mod time;

use serde_json::Value;

use crate::domain::{Answer, Extraction, Failure, Finish};
use crate::process::{self, Lack};

pub use check::{Check, CheckCommand, Confidence, Reject, Test, Trouble};
pub use kinds::{DECLINES, Fault};
pub use rule::{LONGEST, Rule};
pub use schema::{compiled, placed};
pub use shape::Shape;

pub use extract::as_written;
use extract::{Found, Taken};
use rule::{About, Unmet};

/// What is asked of an answer besides its schema.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Demands {
    /// What must be true of it, in order.
    pub checks: Vec<Check>,
    /// How sure the model must be by its own word.
    pub confidence: Option<Confidence>,
    /// The kinds of text that are refused although no JSON is asked for.
    pub reject: Vec<Reject>,
}

impl Demands {
    /// Whether the answer must be JSON, with or without a schema.
    pub fn need_json(&self) -> bool {
        self.confidence.is_some() || self.checks.iter().any(Check::names_answer)
    }

    /// Whether a check runs a program.
    pub fn run_programs(&self) -> bool {
        self.checks.iter().any(|check| matches!(check.test, Test::Command(_)))
    }

    /// The checks by a program that cannot be started. `path` is the variable `PATH`.
    pub fn missing_programs(&self, path: &str) -> Vec<(&Check, &str, Lack)> {
        let programs = self.checks.iter().filter_map(|check| match &check.test {
            Test::Command(command) => Some((check, command.words.first()?.as_str())),
            Test::Rule(_) => None,
        });
        programs.filter_map(|(check, name)| Some((check, name, process::lack(name, path)?))).collect()
    }

    /// Whether nothing is asked.
    pub fn is_empty(&self) -> bool {
        self.checks.is_empty() && self.confidence.is_none() && self.reject.is_empty()
    }
}

/// An answer that is as it was asked for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Judged {
    /// The JSON, where some was asked for.
    pub parsed: Option<Value>,
    /// The same as the model wrote it: a number has all its digits here.
    pub written: Option<String>,
    /// Where it stood.
    pub extraction: Option<Extraction>,
}

/// Why an answer cannot be used.
#[derive(Debug, Clone, PartialEq)]
pub enum Flaw {
    /// It is not as it was asked for.
    Answer(Box<Wrong>),
    /// It could not be checked, which is no fault of the model.
    Own(Trouble),
}

/// What is wrong with an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Wrong {
    /// For the log.
    pub failure: Failure,
    /// For the model, when it is asked to answer again: all that is wrong, as precisely as it is known.
    pub told: String,
}

/// Runs the program of a check with this on its standard input.
pub type Runner<'a> = &'a dyn Fn(&CheckCommand, &str) -> Result<(), Fault>;

/// All that is asked of an answer, compiled.
#[derive(Debug, Default)]
pub struct Validation {
    shape: Option<Shape>,
    demands: Demands,
}

impl Validation {
    /// Compiles the schema.
    ///
    /// # Errors
    /// When it is no valid JSON Schema.
    pub fn new(schema: Option<&Value>, demands: Demands) -> Result<Self, String> {
        let shape = match schema {
            Some(schema) => Some(Shape::new(schema)?),
            None => demands.need_json().then(Shape::any),
        };
        Ok(Self { shape, demands })
    }

    /// Whether the answer is to be JSON although there is no schema that says so to the provider.
    pub fn needs_words_for_json(&self) -> bool {
        self.shape.as_ref().is_some_and(Shape::is_any)
    }

    /// Whether the answer is the one that was asked for. `input` are the words of the prompt.
    ///
    /// # Errors
    /// What is wrong with it, or why that cannot be said.
    pub fn judge(&self, answer: &Answer, input: &str, run: Runner<'_>) -> Result<Judged, Flaw> {
        // The shape is due when the tools have been run.
        if answer.finish == Some(Finish::ToolCalls) && !answer.tool_calls.is_empty() {
            return Ok(Judged::default());
        }
        // Before anything else: what a filter cut off would read as broken JSON, and be asked for again in vain.
        if answer.finish == Some(Finish::ContentFilter) {
            return Err(kinds::filtered());
        }
        if answer.text.trim().is_empty() {
            return Err(kinds::empty(answer.finish.as_ref()));
        }
        let judged = match &self.shape {
            Some(shape) => self.json(shape, answer)?,
            None => {
                self.plain(answer)?;
                Judged::default()
            }
        };
        self.confident(judged.parsed.as_ref())?;
        self.hold(answer, input, &judged, run)?;
        Ok(judged)
    }

    /// The one value of the asked shape.
    fn json(&self, shape: &Shape, answer: &Answer) -> Result<Judged, Flaw> {
        let found = match extract::find(&answer.text, shape) {
            Found::One(Taken { value, written, place }) => {
                return Ok(Judged { parsed: Some(value), written: Some(written), extraction: Some(place) });
            }
            found => found,
        };
        let told_apart = [Reject::Repetition, Reject::ErrorText, Reject::Refusal];
        let known = told_apart.into_iter().find_map(|kind| kinds::of_wrong_text(kind, answer));
        Err(known.unwrap_or_else(|| kinds::without_value(found, shape, answer)))
    }

    /// Words that are no answer. A loop usually runs until the tokens are gone, so it is looked for first.
    fn plain(&self, answer: &Answer) -> Result<(), Flaw> {
        let order = [Reject::Repetition, Reject::ErrorText, Reject::Refusal, Reject::Truncated];
        let mut wanted = order.into_iter().filter(|kind| self.demands.reject.contains(kind));
        wanted.find_map(|kind| kinds::of_text(kind, answer)).map_or(Ok(()), Err)
    }

    fn confident(&self, parsed: Option<&Value>) -> Result<(), Flaw> {
        let Some((wanted, parsed)) = self.demands.confidence.as_ref().zip(parsed) else { return Ok(()) };
        wanted.missed_by(parsed).map_or(Ok(()), |why| Err(kinds::unsure(&why)))
    }

    /// The checks, in order, up to the first that fails; those that cost nothing before those that start a program.
    fn hold(&self, answer: &Answer, input: &str, judged: &Judged, run: Runner<'_>) -> Result<(), Flaw> {
        if self.demands.checks.is_empty() {
            return Ok(());
        }
        let about = About::new(judged.parsed.as_ref(), &answer.text, input);
        for check in &self.demands.checks {
            if let Test::Rule(rule) = &check.test
                && let Err(unmet) = rule.holds(&about)
            {
                return Err(match unmet {
                    Unmet::Untrue(why) => kinds::unmet(check, rule, &why),
                    Unmet::Undecided(why) => Flaw::Own(Trouble::NotRun(check.failed_to_run(&why))),
                });
            }
        }
        for check in &self.demands.checks {
            let Test::Command(command) = &check.test else { continue };
            match run(command, judged.written.as_deref().unwrap_or(&answer.text)) {
                Ok(()) => {}
                Err(Fault::Said(words)) => return Err(kinds::objected(check, &words)),
                Err(Fault::NotRun(why)) => return Err(Flaw::Own(Trouble::NotRun(check.failed_to_run(&why)))),
                Err(Fault::Interrupted) => return Err(Flaw::Own(Trouble::Interrupted)),
            }
        }
        Ok(())
    }
}
