//! What a rule of the operator asks of a failure: statuses, words, headers, fields and figures.
//!
//! Wherever one thing can be asked, several can: a value and a list of one mean the same.

use std::ops::RangeInclusive;

use crate::classify::{Comparison, ComparisonError, Condition, Figure, Test, check_path};

use super::reader::{Node, Section, suggest};

/// What can be asked of a header or a field.
const TESTS: &[&str] = &["equals", "contains", "below", "above", "present"];

/// One value or a list of them.
pub(super) fn list<T>(section: &Section<'_, '_>, key: &str, read: impl Fn(&Node<'_, '_>) -> Option<T>) -> Vec<T> {
    let nodes = section.get(key).map(|node| node.one_or_more()).unwrap_or_default();
    nodes.iter().filter_map(read).collect()
}

/// One text or a list of them.
pub(super) fn texts(section: &Section<'_, '_>, key: &str) -> Vec<String> {
    let nodes = section.get(key).map(|node| node.one_or_more()).unwrap_or_default();
    nodes.iter().filter_map(Node::text).collect()
}

/// Numbers and classes like "5xx".
pub(super) fn statuses(section: &Section<'_, '_>) -> Vec<RangeInclusive<u16>> {
    list(section, "status", |node| {
        let Some(text) = node.as_text() else {
            let status = node.integer(100..=599).and_then(|status| u16::try_from(status).ok());
            return status.map(|status| status..=status);
        };
        let class = text.to_ascii_lowercase();
        let hundreds = class.strip_suffix("xx").and_then(|digit| digit.parse().ok());
        let Some(hundreds @ 1..=5) = hundreds else {
            let message = format!("{} is no status", node.reader.show(text));
            let hint = "write a number from 100 to 599, or a class like \"5xx\"".to_owned();
            node.reader.error(&node.place, message, Some(hint));
            return None;
        };
        Some(hundreds * 100..=hundreds * 100 + 99)
    })
}

/// Headers, fields and comparisons.
pub(super) fn conditions(section: &Section<'_, '_>) -> Vec<Condition> {
    let mut all = list(section, "header", |node| header(&node.section()?));
    all.extend(list(section, "compare", comparison).into_iter().map(Condition::Compare));
    all.extend(list(section, "path", |node| path(&node.section()?)));
    all
}

fn header(section: &Section<'_, '_>) -> Option<Condition> {
    section.allow(&[&["name", "except"], TESTS].concat());
    let name = section.need("name", "say which header, like name = \"x-ratelimit-type\"");
    let name = name.and_then(|node| header_name(&node));
    let except = section.get("except").and_then(|node| header_name(&node));
    let test = test(section)?;
    Some(Condition::Header { name: name?, except, test })
}

/// A name, or a pattern for several.
fn header_name(node: &Node<'_, '_>) -> Option<String> {
    let name = node.text()?.trim().to_ascii_lowercase();
    if name.chars().any(|c| !c.is_ascii_graphic() || c == ':' && !name.starts_with(':')) {
        let hint = "write its name alone, like \"retry-after\"; `*` stands for any letters".to_owned();
        node.reader.error(&node.place, format!("{} is no name of a header", node.reader.show(&name)), Some(hint));
        return None;
    }
    Some(name)
}

fn path(section: &Section<'_, '_>) -> Option<Condition> {
    section.allow(&[&["at"], TESTS].concat());
    let node = section.need("at", "say which field, like at = \"error.details[0].reason\"");
    let at = node.as_ref().and_then(Node::text);
    let at = at.zip(node).and_then(|(at, node)| match check_path(&at) {
        Ok(()) => Some(at),
        Err(why) => {
            let hint = "write it like \"error.details[0].reason\"; `*` stands for any field or element".to_owned();
            node.reader.error(&node.place, format!("{} is no path: {why}", node.reader.show(&at)), Some(hint));
            None
        }
    });
    let test = test(section)?;
    Some(Condition::Path { at: at?, test })
}

fn test(section: &Section<'_, '_>) -> Option<Test> {
    let test = Test {
        present: section.get("present").and_then(|node| node.truth()),
        equals: section.get("equals").and_then(|node| node.scalar()),
        contains: section.get("contains").and_then(|node| node.text()),
        below: section.get("below").and_then(|node| node.amount()),
        above: section.get("above").and_then(|node| node.amount()),
    };
    let given: Vec<_> = TESTS.iter().filter(|key| section.get(key).is_some()).collect();
    // A slip in the name of a test is told already.
    let has_slip = section.entries().iter().any(|(key, _)| !["name", "except", "at"].contains(key));
    if given.is_empty() && !has_slip {
        let hint = "add `equals`, `contains`, `below`, `above` or `present`".to_owned();
        section.reader.error(&section.place, "nothing is asked of it", Some(hint));
    }
    if given.is_empty() {
        return None;
    }
    if test.present == Some(false) && given.len() > 1 {
        let hint = "leave out either `present = false` or the rest".to_owned();
        section.reader.error(&section.place, "what is absent has no value to look at", Some(hint));
        return None;
    }
    Some(test)
}

fn comparison(node: &Node<'_, '_>) -> Option<Comparison> {
    let text = node.text()?;
    match text.parse() {
        Ok(comparison) => Some(comparison),
        Err(error) => {
            let figures = || Figure::ALL.iter().map(|figure| figure.as_str());
            let hint = match &error {
                ComparisonError::Operand(word) => suggest(word, figures()),
                _ => Some("write it like \"requested > limit\" or \"remaining == 0\"".to_owned()),
            };
            node.reader.error(&node.place, error.to_string(), hint);
            None
        }
    }
}
