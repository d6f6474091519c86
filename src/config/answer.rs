//! What a ladder asks of its answers: `schema`, `[[ladders.NAME.checks]]`, `confidence` and `reject`.
//!
//! Whatever can be wrong with them is told before anything is sent: a schema that is none, an expression that cannot be
//! read, a word that is not known. That a program is not there is a warning, since the config may be read on a machine
//! that never asks.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use crate::validate::{Check, CheckCommand, Confidence, Demands, Reject, Rule, Shape, Test};

use super::limits::{own_program, positive};
use super::reader::{Node, Section};
use super::types::AnswerConfig;

/// The largest schema that is read, in bytes.
const LARGEST: u64 = 4 << 20;

/// The longest check: the request waits for it.
const SLOWEST: Duration = Duration::from_secs(300);

/// Reads what the ladder asks of its answers.
pub(super) fn answer(section: &Section<'_, '_>) -> AnswerConfig {
    let checks = section.sections("checks").iter().filter_map(check).collect();
    let confidence = section.get("confidence").and_then(|node| confidence(&node));
    let reject = section.get("reject").map(|node| reject(&node)).unwrap_or_default();
    let schema = section.get("schema").and_then(|node| schema(&node));
    AnswerConfig { schema, demands: Demands { checks, confidence, reject } }
}

/// The JSON Schema in a file.
fn schema(node: &Node<'_, '_>) -> Option<Value> {
    let path = node.reader.path(&node.text()?);
    let read = read(&path).and_then(|value| match Shape::new(&value) {
        Ok(_) => Ok(value),
        Err(error) => Err(format!("{} is no JSON Schema: {error}", path.display())),
    });
    read.map_err(|error| node.reader.error(&node.place, error, None)).ok()
}

fn read(path: &Path) -> Result<Value, String> {
    let failed = |error: &dyn std::fmt::Display| format!("cannot read {}: {error}", path.display());
    let length = std::fs::metadata(path).map_err(|error| failed(&error))?.len();
    if length > LARGEST {
        return Err(format!("{} is larger than {} MiB", path.display(), LARGEST >> 20));
    }
    let text = std::fs::read_to_string(path).map_err(|error| failed(&error))?;
    serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|error| format!("{} is not JSON: {error}", path.display()))
}

fn check(section: &Section<'_, '_>) -> Option<Check> {
    section.allow(&["name", "expr", "command", "timeout", "message"]);
    let text = |key: &str| section.get(key).and_then(|node| node.text());
    let (name, message) = (text("name"), text("message"));
    let (expr, command) = (section.get("expr"), section.get("command"));
    let test = match (&expr, &command) {
        (Some(node), None) => Test::Rule(rule(node)?),
        (None, Some(node)) => Test::Command(CheckCommand { words: own_program(node)?, timeout: timeout(section) }),
        (None, None) => {
            let hint = "give an `expr`, for example \"answer.score >= 1\", or a `command`".to_owned();
            section.reader.error(&section.place, "this check checks nothing", Some(hint));
            return None;
        }
        (Some(_), Some(node)) => {
            let hint = "make two checks of them".to_owned();
            node.reader.error(&node.place, "a check has either `expr` or `command`", Some(hint));
            return None;
        }
    };
    if let (Test::Rule(_), Some(node)) = (&test, section.get("timeout")) {
        node.reader.error(&node.place, "only a `command` has a timeout", Some("leave it out".to_owned()));
    }
    let own = match &test {
        Test::Rule(rule) => rule.source().to_owned(),
        // As it stands in the config, which is how the log should call it.
        Test::Command(_) => command.and_then(|node| node.texts()?.into_iter().next()).unwrap_or_default(),
    };
    Some(Check { name: name.unwrap_or(own), test, message })
}

fn rule(node: &Node<'_, '_>) -> Option<Rule> {
    let read = Rule::new(&node.text()?);
    read.map_err(|error| node.reader.error(&node.place, format!("no good expression: {error}"), None)).ok()
}

fn timeout(section: &Section<'_, '_>) -> Duration {
    let Some(node) = section.get("timeout") else { return CheckCommand::TIMEOUT };
    let timeout = positive(&node).unwrap_or(CheckCommand::TIMEOUT);
    if timeout > SLOWEST {
        node.reader.error(&node.place, "must be at most 5m: the request waits for it", None);
    }
    timeout
}

fn confidence(node: &Node<'_, '_>) -> Option<Confidence> {
    let hint = "write { field = \"/confidence\", min = 0.7 }";
    if !node.is_table() {
        node.reader.error(&node.place, "a table is wanted", Some(hint.to_owned()));
        return None;
    }
    let section = node.section()?;
    section.allow(&["field", "min"]);
    let field = section.need("field", hint).and_then(|node| {
        let field = node.text()?;
        if !field.starts_with('/') {
            let hint = format!("a JSON Pointer begins with a slash: \"/{}\"", field.replace('.', "/"));
            node.reader.error(&node.place, format!("{} is no JSON Pointer", node.reader.show(&field)), Some(hint));
            return None;
        }
        Some(field)
    });
    let min = section.need("min", hint).and_then(|node| node.amount());
    Some(Confidence { field: field?, min: min? })
}

fn reject(node: &Node<'_, '_>) -> Vec<Reject> {
    let known: Vec<&str> = Reject::ALL.iter().map(|(word, _)| *word).collect();
    node.one_or_more().iter().filter_map(|item| item.word("kind of answer", &known)).collect()
}
