//! The kinds of bad answers: for each a rule, its evidence, and a sentence for the model.

use serde_json::Value;

use crate::classify::{error_in_words, surely_error_in_words};
use crate::domain::{Answer, Class, Failure, Finish, ScopeLevel, excerpt};

use super::check::{Check, Reject};
use super::extract::{Found, spoken};
use super::refusal::refuses;
use super::repetition::{Again, loops};
use super::rule::Rule;
use super::shape::Shape;
use super::{Flaw, Wrong};

/// How much of an answer stands in the evidence, in characters.
const QUOTE: usize = 120;

/// How much of what a check says is told, in characters.
const SAID: usize = 400;

/// What came of the program of a check that did not end well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// What it says is wrong with the answer.
    Said(String),
    /// Why it could not be started, or did not come to its end.
    NotRun(String),
    /// It was ended because nobody waits any longer.
    Interrupted,
}

/// How the evidence of a refusal begins.
pub const DECLINES: &str = "the model declines";

/// How often a piece is said in a loop that ended by itself.
const MANY: usize = 50;

fn wrong(rule: &str, evidence: String, told: impl Into<String>) -> Flaw {
    of_class(Class::InvalidOutput, rule, evidence, told)
}

fn of_class(class: Class, rule: &str, evidence: String, told: impl Into<String>) -> Flaw {
    let failure = Failure::new(class, ScopeLevel::Request, rule, evidence);
    Flaw::Answer(Box::new(Wrong { failure, told: told.into() }))
}

fn quote(text: &str) -> String {
    excerpt(text, QUOTE)
}

pub(super) fn filtered() -> Flaw {
    of_class(Class::ContentPolicy, "answer.filtered", "the answer was filtered".to_owned(), "It was filtered.")
}

pub(super) fn empty(finish: Option<&Finish>) -> Flaw {
    let why = match finish {
        Some(Finish::Length) => "the answer is empty: the token limit left no room for words",
        _ => "the answer is empty",
    };
    wrong("answer.empty", why.to_owned(), "It is empty.")
}

pub(super) fn unasked_call(answer: &Answer) -> Flaw {
    let name = answer.tool_calls.first().map_or("", |call| call.name.as_str());
    let evidence = format!("a call of `{}`, and no tool was offered", quote(name));
    wrong("answer.tool_call", evidence, "It calls a tool, and there is none. Answer without.")
}

/// Whether the text is of this kind, which is no answer.
pub(super) fn of_text(kind: Reject, answer: &Answer) -> Option<Flaw> {
    of_kind(kind, answer, surely_error_in_words)
}

/// The same of a text in which JSON was looked for in vain: it is no answer anyway, and only needs a name.
pub(super) fn of_wrong_text(kind: Reject, answer: &Answer) -> Option<Flaw> {
    of_kind(kind, answer, error_in_words)
}

/// A song has its refrain, and a table its zeros; a loop ends because the tokens do, or says very often the same words.
fn is_endless(again: &Again, answer: &Answer) -> bool {
    let is_long = again.times > MANY && again.piece.chars().any(char::is_alphabetic);
    is_long || answer.finish == Some(Finish::Length)
}

fn of_kind(kind: Reject, answer: &Answer, error: fn(&str) -> Option<Class>) -> Option<Flaw> {
    let text = spoken(&answer.text);
    match kind {
        Reject::Repetition => loops(text).filter(|again| is_endless(again, answer)).map(|again| {
            let (piece, times) = (quote(&again.piece), again.times);
            let told = format!("It says `{piece}` again and again ({times} times) to its end.");
            wrong("answer.repetition", format!("`{piece}` {times} times, to the end"), told)
        }),
        Reject::ErrorText => error(text).map(|class| {
            let evidence = format!("the text of an error ({class}) instead of an answer: {}", quote(text));
            wrong("answer.error_text", evidence, "It is the text of an error and no answer.")
        }),
        Reject::Refusal => refuses(text).then(|| {
            let evidence = format!("{DECLINES}: {}", quote(text));
            of_class(Class::ContentPolicy, "answer.refusal", evidence, "It declines to answer.")
        }),
        Reject::Truncated => (answer.finish == Some(Finish::Length)).then(|| {
            let end: String = text.chars().rev().take(QUOTE / 2).collect();
            let end: String = end.chars().rev().collect();
            let evidence = format!("the token limit ended it: …{}", quote(&end));
            wrong("answer.truncated", evidence, "It was cut off by the token limit. Be shorter.")
        }),
    }
}

/// What is wrong with a text in which the one value was not found.
pub(super) fn without_value(found: Found, shape: &Shape, answer: &Answer) -> Flaw {
    let (text, by_length) = (quote(&answer.text), answer.finish == Some(Finish::Length));
    match found {
        Found::Several(count) => {
            let evidence = format!("{count} values of the asked shape, not one: {text}");
            let told = format!("There are {count} JSON values of the asked shape in it, and exactly one is wanted.");
            wrong("answer.several", evidence, told)
        }
        Found::Broken(why, is_short) if is_short || by_length => {
            let told = match by_length {
                true => "Its JSON was cut off by the token limit. Be shorter.",
                false => "Its JSON ends before it is complete.",
            };
            wrong("answer.truncated", format!("JSON is cut off ({why}): {text}"), told)
        }
        Found::Broken(why, _) => {
            wrong("answer.not_json", format!("not JSON ({why}): {text}"), format!("It is not valid JSON: {why}."))
        }
        Found::Amid => {
            let told =
                format!("It says more than the JSON (`{text}`). Write the JSON alone, without any words around it.");
            wrong("answer.prose", format!("the JSON is amid prose: {text}"), told)
        }
        Found::Other(value, is_whole) if is_whole || !shape.is_of_another_type(&value) => unshaped(shape, &value),
        Found::Other(..) | Found::None | Found::One(..) if by_length => {
            let told = "It was cut off by the token limit before any JSON. Write the JSON alone.";
            wrong("answer.truncated", format!("cut off before any JSON: {text}"), told)
        }
        Found::Other(..) | Found::None | Found::One(..) => {
            let told = format!("It is prose (`{text}`), and JSON is wanted. Write the JSON alone.");
            wrong("answer.prose", format!("prose where JSON is wanted: {text}"), told)
        }
    }
}

/// All that is wrong by the schema, as far as it can be told in a few lines.
fn unshaped(shape: &Shape, value: &Value) -> Flaw {
    let (errors, more) = shape.errors(value);
    let rest = match more {
        0 => String::new(),
        more => format!("\n- and {more} more"),
    };
    let told = format!("It does not satisfy the JSON Schema:\n- {}{rest}", errors.join("\n- "));
    let more = if errors.len() + more > 1 { format!(" (and {} more)", errors.len() + more - 1) } else { String::new() };
    wrong("answer.schema", format!("{}{more}", errors.first().map_or("", String::as_str)), told)
}

pub(super) fn unsure(why: &str) -> Flaw {
    wrong("answer.confidence", why.to_owned(), format!("It is not sure enough: {why}. Look again."))
}

/// A rule that does not hold. The operator's own words, where there are some, say it best.
pub(super) fn unmet(check: &Check, rule: &Rule, why: &str) -> Flaw {
    let source = excerpt(rule.source(), SAID);
    let is_named = check.name != rule.source();
    let name = if is_named { format!("{}: ", excerpt(&check.name, 80)) } else { String::new() };
    let evidence = format!("{name}`{}` {why}", excerpt(rule.source(), QUOTE));
    let told = match &check.message {
        Some(message) => format!("{message} (`{source}` {why})"),
        None => format!("A rule on it is not met: {name}`{source}` {why}."),
    };
    wrong("answer.check", evidence, told)
}

/// What a program says against the answer.
pub(super) fn objected(check: &Check, words: &str) -> Flaw {
    let (name, said) = (excerpt(&check.name, 80), excerpt(words, SAID));
    let said = if said.is_empty() { "no reason is given".to_owned() } else { said };
    let told = match &check.message {
        Some(message) => format!("{message} ({said})"),
        None => format!("The check `{name}` rejects it: {said}"),
    };
    wrong("answer.check_command", format!("{name}: {said}"), told)
}
