//! The operator's own rules, which come before all others.

use std::cell::OnceCell;
use std::ops::RangeInclusive;
use std::time::Duration;

use crate::domain::{Class, Dimension, ProviderName, ScopeLevel};

use super::condition::Condition;
use super::signals::Signals;
use super::text;

/// A rule of the operator. It matches when all the parts that are set match; a rule that asks for nothing but a provider
/// or the absence of words matches nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct CustomRule {
    /// The name that stands in results.
    pub name: String,
    /// Only for this provider.
    pub provider: Option<ProviderName>,
    /// Only for a status in one of these, of the exchange or within the body.
    pub statuses: Vec<RangeInclusive<u16>>,
    /// Only with one of these codes, in any case.
    pub codes: Vec<String>,
    /// Only with one of these types, in any case.
    pub kinds: Vec<String>,
    /// Only when the text holds all of these, in any case.
    pub contains: Vec<String>,
    /// Only when the text holds none of these.
    pub without: Vec<String>,
    /// Only when all of these hold.
    pub conditions: Vec<Condition>,
    /// What it is.
    pub class: Class,
    /// What to hold back; the class's usual scope when not said.
    pub scope: Option<ScopeLevel>,
    /// Which limit.
    pub dimension: Option<Dimension>,
    /// How long it lasts when the payload does not say.
    pub retry_after: Option<Duration>,
}

/// The signals, with what several rules ask of them worked out once.
pub(crate) struct Heard<'s> {
    signals: &'s Signals,
    raw: OnceCell<String>,
}

impl<'s> Heard<'s> {
    pub(crate) fn new(signals: &'s Signals) -> Self {
        Self { signals, raw: OnceCell::new() }
    }

    /// Whether the words of an error, or the text as it came, hold the phrase.
    fn says(&self, phrase: &str) -> bool {
        let phrase = text::normalise(phrase);
        let raw = || self.raw.get_or_init(|| text::normalise(&self.signals.raw));
        !phrase.is_empty()
            && (self.signals.layers.iter().any(|read| read.words.contains(&phrase)) || raw().contains(&phrase))
    }

    fn status(&self, wanted: &[RangeInclusive<u16>]) -> Option<u16> {
        let inner = self.signals.layers.iter().flat_map(|read| &read.layer.statuses);
        let mut all = self.signals.status.iter().chain(inner);
        all.find(|status| wanted.iter().any(|range| range.contains(status))).copied()
    }
}

impl CustomRule {
    /// A rule of that name and class that asks for nothing, and so matches nothing yet.
    pub fn new(name: impl Into<String>, class: Class) -> Self {
        Self {
            name: name.into(),
            provider: None,
            statuses: Vec::new(),
            codes: Vec::new(),
            kinds: Vec::new(),
            contains: Vec::new(),
            without: Vec::new(),
            conditions: Vec::new(),
            class,
            scope: None,
            dimension: None,
            retry_after: None,
        }
    }

    /// Whether it asks for anything that a failure can have.
    fn asks(&self) -> bool {
        let words = [&self.codes, &self.kinds, &self.contains];
        !self.statuses.is_empty() || words.iter().any(|words| !words.is_empty()) || !self.conditions.is_empty()
    }

    /// All that was seen of what it asks for, when it matches.
    pub(crate) fn seen(&self, heard: &Heard<'_>) -> Option<String> {
        let signals = heard.signals;
        let is_asked = |wanted: &ProviderName| {
            signals.provider.as_deref().is_some_and(|provider| provider.eq_ignore_ascii_case(wanted.as_str()))
        };
        if !self.asks() || !self.provider.as_ref().is_none_or(is_asked) {
            return None;
        }
        let mut seen = self.seen_in_places(heard)?;
        if !self.contains.iter().all(|phrase| heard.says(phrase)) {
            return None;
        }
        seen.extend(self.contains.iter().map(|phrase| format!("`{phrase}`")));
        // Conditions before absent words: most rules end here, and those have to look at the whole text.
        for condition in &self.conditions {
            seen.push(condition.seen(signals)?);
        }
        for phrase in &self.without {
            if heard.says(phrase) {
                return None;
            }
            seen.push(format!("no `{phrase}`"));
        }
        Some(seen.join(", "))
    }
    /// What was seen of the statuses, codes and types.
    fn seen_in_places(&self, heard: &Heard<'_>) -> Option<Vec<String>> {
        let layers = || heard.signals.layers.iter().map(|read| &read.layer);
        let mut seen = Vec::new();
        if !self.statuses.is_empty() {
            seen.push(format!("status {}", heard.status(&self.statuses)?));
        }
        for (what, wanted, found) in [
            ("code", &self.codes, layers().flat_map(|layer| &layer.codes).collect::<Vec<_>>()),
            ("type", &self.kinds, layers().flat_map(|layer| &layer.kinds).collect()),
        ] {
            if !wanted.is_empty() {
                let is_wanted = |word: &&String| wanted.iter().any(|wanted| wanted.eq_ignore_ascii_case(word));
                seen.push(format!("{what} {}", found.into_iter().find(is_wanted)?));
            }
        }
        Some(seen)
    }
}
