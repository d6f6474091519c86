//! What may be asked of an answer besides its schema.

use std::str::FromStr;
use std::time::Duration;

use serde_json::Value;

use crate::domain::{ParseNameError, excerpt};

use super::rule::Rule;

/// Something that must be true of an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// By which the log and the model know it.
    pub name: String,
    /// How it is found out.
    pub test: Test,
    /// What the model is told when it does not hold.
    pub message: Option<String>,
}

/// How a check is found out.
#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    /// An expression that must be true.
    Rule(Rule),
    /// A program that must end well.
    Command(CheckCommand),
}

/// A program that reads the answer on its standard input, ends with 0 if it is good, and else says what is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckCommand {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// When it is killed.
    pub timeout: Duration,
}

impl CheckCommand {
    /// How long a program may take unless it is said.
    pub const TIMEOUT: Duration = Duration::from_secs(5);
}

impl Check {
    /// A check by an expression, which is its own name.
    pub fn of(rule: Rule) -> Self {
        Self { name: rule.source().to_owned(), test: Test::Rule(rule), message: None }
    }

    /// Whether it looks at the parsed answer.
    pub(super) fn names_answer(&self) -> bool {
        matches!(&self.test, Test::Rule(rule) if rule.names_answer())
    }

    /// What is said when it was not decided: its program could not be run to its end, its rule takes too long.
    pub(super) fn failed_to_run(&self, why: &str) -> String {
        format!("the check `{}` could not be made: {why}", excerpt(&self.name, 80))
    }
}

/// Why an answer could not be checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// A program could not be run to its end, or a rule was not decided.
    NotRun(String),
    /// The user stopped it, or the time of the request is over.
    Interrupted,
}

/// How sure the model must be by its own word.
#[derive(Debug, Clone, PartialEq)]
pub struct Confidence {
    /// Where it says so: a JSON pointer into the answer.
    pub field: String,
    /// The least that will do.
    pub min: f64,
}

impl Confidence {
    /// Why it is not sure enough; none when it is.
    pub(super) fn missed_by(&self, answer: &Value) -> Option<String> {
        let Self { field, min } = self;
        match answer.pointer(field).map(|value| (value, value.as_f64())) {
            None => Some(format!("there is no confidence at {field}; at least {min} is wanted")),
            Some((_, Some(sure))) if sure >= *min => None,
            Some((value, Some(_))) => Some(format!("the confidence at {field} is {value}; at least {min} is wanted")),
            Some((value, None)) => {
                Some(format!("the confidence at {field} is no number but {}", excerpt(&value.to_string(), 40)))
            }
        }
    }
}

/// A kind of text that is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reject {
    /// The model declines.
    Refusal,
    /// The text of an error stands where the answer should.
    ErrorText,
    /// The same piece again and again to the end.
    Repetition,
    /// The token limit ended it.
    Truncated,
}

impl Reject {
    /// All of them with their words.
    pub const ALL: &'static [(&'static str, Self)] = &[
        ("refusal", Self::Refusal),
        ("error_text", Self::ErrorText),
        ("repetition", Self::Repetition),
        ("truncated", Self::Truncated),
    ];
}

impl FromStr for Reject {
    type Err = ParseNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.iter().find(|(word, _)| *word == text).map(|(_, kind)| *kind);
        found.ok_or_else(|| ParseNameError { text: text.to_owned(), wanted: "kind of answer" })
    }
}
