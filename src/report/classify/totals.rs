//! How many failures there are of each class and provider.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::classify::Explanation;
use crate::domain::{Class, ProviderName, excerpt};

/// Counts of failures, which can be added up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Totals {
    /// How many failures.
    pub failures: usize,
    /// How many records could not be read.
    pub broken: usize,
    classes: BTreeMap<Class, usize>,
    providers: BTreeMap<String, usize>,
}

impl Totals {
    /// Counts a failure.
    pub(super) fn add(&mut self, explanation: &Explanation) {
        let provider = explanation.provider.as_ref().map(ProviderName::as_str);
        self.add_many(explanation.failure.class, provider, 1);
    }

    /// Counts some failures of one kind.
    pub(super) fn add_many(&mut self, class: Class, provider: Option<&str>, count: usize) {
        if count == 0 {
            return;
        }
        self.failures += count;
        *self.classes.entry(class).or_insert(0) += count;
        *self.providers.entry(excerpt(provider.unwrap_or("unknown"), 40)).or_insert(0) += count;
    }

    /// Adds the counts of another part.
    pub fn merge(&mut self, other: &Self) {
        self.failures += other.failures;
        self.broken += other.broken;
        for (class, count) in &other.classes {
            *self.classes.entry(*class).or_insert(0) += count;
        }
        for (provider, count) in &other.providers {
            *self.providers.entry(provider.clone()).or_insert(0) += count;
        }
    }

    /// How many failures there are of the class.
    pub fn of(&self, class: Class) -> usize {
        self.classes.get(&class).copied().unwrap_or(0)
    }

    /// The totals for people.
    pub fn text(&self) -> String {
        let count = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
        let mut out = count(self.failures, "failure");
        if self.failures > 0 {
            let classes = self.classes.iter().map(|(class, count)| (class.to_string(), *count));
            let providers = self.providers.iter().map(|(provider, count)| (provider.clone(), *count));
            out.push_str(&format!("\n  by class: {}\n  by provider: {}", most_first(classes), most_first(providers)));
        }
        if self.broken > 0 {
            out.push_str(&format!("\n  {} could not be read", count(self.broken, "record")));
        }
        out.push('\n');
        out
    }

    /// The totals as one JSON object.
    pub fn json(&self) -> Value {
        let classes: serde_json::Map<String, Value> =
            self.classes.iter().map(|(class, count)| (class.to_string(), json!(count))).collect();
        json!({"failures": self.failures, "classes": classes, "providers": self.providers, "broken": self.broken})
    }
}

fn most_first(pairs: impl Iterator<Item = (String, usize)>) -> String {
    let mut pairs: Vec<_> = pairs.collect();
    pairs.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    pairs.into_iter().map(|(name, count)| format!("{count} {name}")).collect::<Vec<_>>().join(", ")
}
