//! Walking a TOML document so that every problem is found, each with its line.
//!
//! A typed decoder stops at the first mistake; a person wants all of them at once. So the document is parsed into a tree
//! that knows the place of each value, and sections ask it for what they know. Whatever is asked for and has the wrong
//! form is reported and then treated as absent. No message shows a value that could be a key.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use serde_json::Value;
use toml::de::{DeTable, DeValue};

use crate::catalog::{nearest_word, parse_duration};
use crate::domain::{Redactor, excerpt};

use super::problem::{Lines, Place, Problem, directory, in_order};

/// The longest value that a message shows, in characters.
const SHOWN: usize = 60;

/// Collects what is wrong.
pub(super) struct Reader {
    file: PathBuf,
    lines: Lines,
    redactor: Redactor,
    errors: RefCell<Vec<Problem>>,
    warnings: RefCell<Vec<Problem>>,
}

impl Reader {
    pub(super) fn new(text: &str, file: &Path) -> Self {
        Self {
            file: file.to_path_buf(),
            lines: Lines::of(text),
            redactor: Redactor::default(),
            errors: RefCell::default(),
            warnings: RefCell::default(),
        }
    }

    /// The place of the byte.
    pub(super) fn place(&self, at: usize, key: String) -> Place {
        Place { line: Some(self.lines.place(at).0), key }
    }

    pub(super) fn error(&self, place: &Place, message: impl Into<String>, hint: Option<String>) {
        self.errors.borrow_mut().push(self.problem(place, &message.into(), hint));
    }

    pub(super) fn warn(&self, place: &Place, message: impl Into<String>, hint: Option<String>) {
        self.warnings.borrow_mut().push(self.problem(place, &message.into(), hint));
    }

    /// A mistake in the notation itself.
    pub(super) fn syntax(&self, error: &toml::de::Error) {
        let at = error.span().map_or(0, |span| span.start);
        let (line, column) = self.lines.place(at);
        let place = Place { line: Some(line), key: String::new() };
        self.error(&place, format!("no valid TOML at column {column}: {}", error.message()), None);
    }

    fn problem(&self, place: &Place, message: &str, hint: Option<String>) -> Problem {
        let clean = |text: &str| excerpt(&self.redactor.redact(text), 400);
        Problem {
            file: self.file.clone(),
            line: place.line,
            key: clean(&place.key),
            message: clean(message),
            hint: hint.map(|hint| clean(&hint)),
        }
    }

    /// A value as a message may show it. Keys go before the cut: half a key has no shape by which it is known.
    pub(super) fn show(&self, value: &str) -> String {
        format!("`{}`", excerpt(&self.redactor.redact(value), SHOWN))
    }

    /// Whether the value has the shape of a key.
    pub(super) fn looks_secret(&self, value: &str) -> bool {
        matches!(self.redactor.redact(value), std::borrow::Cow::Owned(_))
    }

    /// A path of the file, which starts from the file's directory unless it is absolute or at home (`~/`).
    pub(super) fn path(&self, text: &str) -> PathBuf {
        if text.starts_with("~/") { PathBuf::from(text) } else { directory(&self.file).join(text) }
    }

    /// All errors, and all warnings.
    pub(super) fn finish(self) -> (Vec<Problem>, Vec<Problem>) {
        (in_order(self.errors.into_inner()), in_order(self.warnings.into_inner()))
    }
}

/// So many words are still a help to who looks for one.
const MOST_NAMED: usize = 32;

/// "did you mean … ?", when a known word is near; else the words that are known, if they are few.
pub(super) fn suggest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let known: Vec<&str> = known.into_iter().collect();
    if let Some(near) = nearest_word(word, known.iter().copied()) {
        return Some(format!("did you mean `{near}`?"));
    }
    (!known.is_empty() && known.len() <= MOST_NAMED).then(|| format!("known are {}", known.join(", ")))
}

/// A value with its place.
#[derive(Clone)]
pub(super) struct Node<'v, 'i> {
    pub(super) place: Place,
    pub(super) reader: &'v Reader,
    value: &'v DeValue<'i>,
}

impl<'v, 'i> Node<'v, 'i> {
    fn wrong<T>(&self, wanted: &str) -> Option<T> {
        let (is, a) = (self.value.type_str(), if wanted.starts_with(['a', 'i']) { "an" } else { "a" });
        self.reader.error(&self.place, format!("{a} {wanted} is wanted, this is of type {is}"), None);
        None
    }

    /// Words that are not empty.
    pub(super) fn text(&self) -> Option<String> {
        let Some(text) = self.value.as_str() else { return self.wrong("string") };
        if text.trim().is_empty() {
            self.reader.error(&self.place, "empty", None);
            return None;
        }
        Some(text.to_owned())
    }

    /// The text if it is one, without a complaint if it is not.
    pub(super) fn as_text(&self) -> Option<&'v str> {
        self.value.as_str()
    }

    pub(super) fn integer(&self, range: std::ops::RangeInclusive<u64>) -> Option<u64> {
        let Some(integer) = self.value.as_integer() else { return self.wrong("integer") };
        let number = i128::from_str_radix(integer.as_str(), integer.radix()).ok();
        let found = number.and_then(|number| u64::try_from(number).ok()).filter(|number| range.contains(number));
        if found.is_none() {
            let message = match *range.end() {
                u64::MAX => format!("must be {} or more", range.start()),
                end => format!("must be from {} to {end}", range.start()),
            };
            self.reader.error(&self.place, message, None);
        }
        found
    }

    /// A number that is not negative.
    pub(super) fn amount(&self) -> Option<f64> {
        let number = match self.value {
            DeValue::Integer(integer) => i64::from_str_radix(integer.as_str(), integer.radix()).ok().map(|n| n as f64),
            DeValue::Float(float) => float.as_str().parse().ok(),
            _ => return self.wrong("number"),
        };
        let found = number.filter(|number: &f64| *number >= 0.0);
        if found.is_none() {
            self.reader.error(&self.place, "must be 0 or more", None);
        }
        found
    }

    pub(super) fn duration(&self) -> Option<Duration> {
        let hint = || Some("write \"750ms\", \"30s\", \"5m\", \"6h\" or \"7d\"".to_owned());
        let Some(text) = self.value.as_str() else {
            let message = format!("a duration is wanted, this is of type {}", self.value.type_str());
            self.reader.error(&self.place, message, hint());
            return None;
        };
        let found = parse_duration(text);
        if found.is_none() {
            self.reader.error(&self.place, format!("{} is no duration", self.reader.show(text)), hint());
        }
        found
    }

    /// One of the words that the type knows.
    pub(super) fn word<T: FromStr>(&self, what: &str, known: &[&str]) -> Option<T> {
        let text = self.text()?;
        if let Ok(found) = text.parse() {
            return Some(found);
        }
        self.reader.error(
            &self.place,
            format!("unknown {what} {}", self.reader.show(&text)),
            suggest(&text, known.iter().copied()),
        );
        None
    }

    /// A text, a number or a truth value, as text.
    pub(super) fn scalar(&self) -> Option<String> {
        match self.value {
            DeValue::Integer(integer) if integer.radix() == 10 => Some(integer.as_str().to_owned()),
            DeValue::Integer(_) => self.integer(0..=u64::MAX).map(|number| number.to_string()),
            DeValue::Float(float) => Some(float.as_str().to_owned()),
            DeValue::Boolean(value) => Some(value.to_string()),
            _ => self.text(),
        }
    }

    pub(super) fn truth(&self) -> Option<bool> {
        self.value.as_bool().or_else(|| self.wrong("boolean"))
    }

    /// The items of an array, or the value itself as the only one. An empty array is an error.
    pub(super) fn one_or_more(&self) -> Vec<Self> {
        if !self.is_array() {
            return vec![self.clone()];
        }
        let items = self.items().unwrap_or_default();
        if items.is_empty() {
            self.reader.error(&self.place, "empty", None);
        }
        items
    }

    pub(super) fn items(&self) -> Option<Vec<Self>> {
        let Some(array) = self.value.as_array() else { return self.wrong("array") };
        let item = |(index, item): (usize, &'v toml::Spanned<DeValue<'i>>)| Node {
            place: self.reader.place(item.span().start, format!("{}[{index}]", self.place.key)),
            reader: self.reader,
            value: item.get_ref(),
        };
        Some(array.iter().enumerate().map(item).collect())
    }

    /// Strings that are not empty.
    pub(super) fn texts(&self) -> Option<Vec<String>> {
        self.items()?.iter().map(Self::text).collect()
    }

    pub(super) fn section(&self) -> Option<Section<'v, 'i>> {
        let Some(table) = self.value.as_table() else { return self.wrong("table") };
        Some(Section { place: self.place.clone(), reader: self.reader, table })
    }

    pub(super) fn is_table(&self) -> bool {
        self.value.is_table()
    }

    pub(super) fn is_array(&self) -> bool {
        self.value.is_array()
    }

    pub(super) fn is_integer(&self) -> bool {
        self.value.is_integer()
    }

    /// The value as JSON, for what goes into a request as it stands.
    pub(super) fn json(&self) -> Value {
        json(self.value)
    }

    /// An array of tables.
    pub(super) fn sections(&self) -> Vec<Section<'v, 'i>> {
        self.items().unwrap_or_default().iter().filter_map(Self::section).collect()
    }
}

/// A table with its place.
#[derive(Clone)]
pub(super) struct Section<'v, 'i> {
    pub(super) place: Place,
    pub(super) reader: &'v Reader,
    table: &'v DeTable<'i>,
}

impl<'v, 'i> Section<'v, 'i> {
    /// The document itself.
    pub(super) fn root(reader: &'v Reader, table: &'v DeTable<'i>) -> Self {
        Self { place: Place { line: None, key: String::new() }, reader, table }
    }

    /// Reports each key that is not known.
    pub(super) fn allow(&self, known: &[&str]) {
        for (key, node) in self.entries() {
            if !known.contains(&key) {
                let hint = hint_for_key(key).or_else(|| suggest(key, known.iter().copied()));
                self.reader.error(&node.place, "unknown key", hint);
            }
        }
    }

    /// Every key with its value, in the order of the keys; the place is that of the key.
    pub(super) fn entries(&self) -> Vec<(&'v str, Node<'v, 'i>)> {
        let node = |(key, value): (&'v toml::Spanned<toml::de::DeString<'i>>, &'v toml::Spanned<DeValue<'i>>)| {
            let name: &'v str = key.get_ref();
            let place = self.reader.place(key.span().start, self.place.below(name));
            (name, Node { place, reader: self.reader, value: value.get_ref() })
        };
        self.table.iter().map(node).collect()
    }

    pub(super) fn get(&self, key: &str) -> Option<Node<'v, 'i>> {
        self.entries().into_iter().find(|(name, _)| *name == key).map(|(_, node)| node)
    }

    /// What must be there.
    pub(super) fn need(&self, key: &str, hint: &str) -> Option<Node<'v, 'i>> {
        let found = self.get(key);
        if found.is_none() {
            let place = Place { line: self.place.line, key: self.place.below(key) };
            self.reader.error(&place, "missing", Some(hint.to_owned()));
        }
        found
    }

    pub(super) fn section(&self, key: &str) -> Option<Self> {
        self.get(key)?.section()
    }

    pub(super) fn sections(&self, key: &str) -> Vec<Self> {
        self.get(key).map(|node| node.sections()).unwrap_or_default()
    }

    /// A table of strings.
    pub(super) fn strings(&self) -> Vec<(String, String)> {
        self.entries().into_iter().filter_map(|(key, node)| Some((key.to_owned(), node.text()?))).collect()
    }
}

/// JSON has no dates; they go as text.
fn json(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Integer(integer) => {
            i64::from_str_radix(integer.as_str(), integer.radix()).map_or(Value::Null, Value::from)
        }
        DeValue::Float(float) => float.as_str().parse::<f64>().map_or(Value::Null, Value::from),
        DeValue::Boolean(value) => Value::Bool(*value),
        DeValue::Datetime(at) => Value::String(at.to_string()),
        DeValue::Array(items) => items.iter().map(|item| json(item.get_ref())).collect(),
        DeValue::Table(table) => {
            let entry = |(key, value): (&toml::Spanned<toml::de::DeString<'_>>, &toml::Spanned<DeValue<'_>>)| {
                (key.get_ref().to_string(), json(value.get_ref()))
            };
            Value::Object(table.iter().map(entry).collect())
        }
    }
}

/// What to write instead of a key that people expect from elsewhere.
fn hint_for_key(key: &str) -> Option<String> {
    match key.to_ascii_lowercase().as_str() {
        "api_key" | "apikey" | "token" | "api_token" | "secret_key" | "password" => Some(
            "a key is named in [[providers.NAME.credentials]] as key = { env = \"VARIABLE\" }, { file = \"…\" } or \
             { command = […] }"
                .to_owned(),
        ),
        "url" | "endpoint" | "api_base" => Some("did you mean `base_url`?".to_owned()),
        "fallback" | "fallbacks" | "models_order" => Some("did you mean `steps`?".to_owned()),
        _ => None,
    }
}
