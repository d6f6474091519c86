//! Runs the rules over the signals: one pass of an automaton per layer finds all phrases of all rules.
//!
//! Everything is built when the first failure is classified: a chat that succeeds pays nothing.

use std::collections::HashMap;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::facts;
use super::rules::{self, Fact, Rule, Tier};
use super::signals::{Read, Signals};

/// A rule whose phrases are numbers in the automaton.
struct Compiled {
    rule: &'static Rule,
    groups: Vec<Vec<usize>>,
    without: Vec<usize>,
}

/// The automaton with the rules that refer to it.
struct Machine {
    phrases: Vec<&'static str>,
    automaton: Option<AhoCorasick>,
    rules: Vec<Compiled>,
}

static MACHINE: LazyLock<Machine> = LazyLock::new(|| {
    let mut numbers: HashMap<&'static str, usize> = HashMap::new();
    let mut phrases = Vec::new();
    let mut number = |phrase: &'static str| {
        *numbers.entry(phrase).or_insert_with(|| {
            phrases.push(phrase);
            phrases.len() - 1
        })
    };
    let compiled = rules::all()
        .map(|rule| Compiled {
            rule,
            groups: rule.words.iter().map(|group| group.iter().map(|phrase| number(phrase)).collect()).collect(),
            without: rule.without.iter().map(|phrase| number(phrase)).collect(),
        })
        .collect();
    let automaton = AhoCorasick::new(&phrases).ok();
    Machine { phrases, automaton, rules: compiled }
});

/// A rule that matched, where, and by what.
#[derive(Debug, Clone)]
pub(crate) struct Matched {
    /// The rule.
    pub(crate) rule: &'static Rule,
    /// The layer, by its place in the signals; none for rules that look at no layer.
    pub(crate) layer: Option<usize>,
    /// The phrase, code or type that made it match.
    pub(crate) by: String,
}

/// All rules that match, the deciding one first.
pub(crate) fn matches(signals: &Signals) -> Vec<Matched> {
    let mut found = Vec::new();
    let hits: Vec<Vec<bool>> = signals.layers.iter().map(|read| MACHINE.hits(&read.words)).collect();
    let status = signals.innermost_status();
    for compiled in &MACHINE.rules {
        let rule = compiled.rule;
        if !provider_fits(rule, signals) || !status_fits(rule, status) {
            continue;
        }
        if rule.fact.is_some_and(|fact| !holds(fact, signals, rule)) {
            continue;
        }
        if rule.tier == Tier::Status || (rule.fact.is_some() && rule.words.is_empty()) {
            if compiled.without.iter().any(|id| hits.iter().any(|layer| layer.get(*id) == Some(&true))) {
                continue;
            }
            let by =
                status.filter(|_| rule.fact.is_none()).map(|status| format!("status {status}")).unwrap_or_default();
            found.push(Matched { rule, layer: None, by });
            continue;
        }
        for (index, read) in signals.layers.iter().enumerate() {
            let hit = hits.get(index).map_or(&[][..], Vec::as_slice);
            if let Some(by) = compiled.matches(read, hit) {
                found.push(Matched { rule, layer: Some(index), by });
            }
        }
    }
    // Facts lie in the whole; words and codes count from the innermost layer outwards, words before codes within one
    // layer; vague words and types likewise among themselves.
    found.sort_by_key(|matched| {
        let (group, inner) = match matched.rule.tier {
            Tier::Operator | Tier::Fact => (0, 0),
            Tier::Words | Tier::Code => (1, u8::from(matched.rule.tier == Tier::Code)),
            Tier::Answer => (2, 0),
            Tier::Vague => (3, 0),
            Tier::Status => (4, 0),
        };
        (group, if group == 0 { 0 } else { matched.layer.unwrap_or(0) }, inner)
    });
    found
}

/// The words rules alone, on one text: for error text within the words of an answer.
pub(crate) fn sentence(words: &str) -> Option<&'static Rule> {
    let hits = MACHINE.hits(words);
    let read = Read { layer: super::layers::Layer::default(), words: words.to_owned() };
    let rules = MACHINE.rules.iter().filter(|compiled| {
        compiled.rule.tier == Tier::Words && compiled.rule.providers.is_empty() && compiled.rule.codes.is_empty()
    });
    rules.filter(|compiled| compiled.matches(&read, &hits).is_some()).map(|compiled| compiled.rule).next()
}

impl Machine {
    fn hits(&self, words: &str) -> Vec<bool> {
        let mut hits = vec![false; self.phrases.len()];
        if let Some(automaton) = &self.automaton {
            for found in automaton.find_overlapping_iter(words) {
                if within_a_word(words.as_bytes(), found.start()) {
                    continue;
                }
                if let Some(hit) = hits.get_mut(found.pattern().as_usize()) {
                    *hit = true;
                }
            }
        }
        hits
    }
}

/// Whether the byte at `start` continues a word: "stream error" is not in "upstream error".
fn within_a_word(words: &[u8], start: usize) -> bool {
    let is_letter = |at: usize| words.get(at).is_some_and(u8::is_ascii_alphanumeric);
    start > 0 && is_letter(start) && is_letter(start - 1)
}

impl Compiled {
    /// What made the rule match this layer.
    fn matches(&self, read: &Read, hits: &[bool]) -> Option<String> {
        let hit = |id: &usize| hits.get(*id) == Some(&true);
        if self.without.iter().any(hit) {
            return None;
        }
        let mut by = None;
        for group in &self.groups {
            let id = group.iter().find(|id| hit(id))?;
            by = by.or_else(|| MACHINE.phrases.get(*id).map(|phrase| (*phrase).to_owned()));
        }
        let rule = self.rule;
        if !rule.codes.is_empty() {
            let layer = &read.layer;
            let code = layer.codes.iter().chain(&layer.kinds).find(|code| rule.codes.contains(&code.as_str()))?;
            by = by.or_else(|| Some(format!("code {code}")));
        }
        if !rule.kinds.is_empty() {
            let layer = &read.layer;
            let codes = if layer.free { layer.codes.as_slice() } else { &[] };
            let kind = layer.kinds.iter().chain(codes).find(|kind| rule.kinds.contains(&kind.as_str()))?;
            by = by.or_else(|| Some(format!("type {kind}")));
        }
        by
    }
}

fn provider_fits(rule: &Rule, signals: &Signals) -> bool {
    rule.providers.is_empty() || signals.provider.as_deref().is_some_and(|provider| rule.providers.contains(&provider))
}

/// In a table the status 0 stands for "not known".
fn status_fits(rule: &Rule, status: Option<u16>) -> bool {
    rule.statuses.is_empty() || rule.statuses.contains(&status.unwrap_or(0))
}

fn holds(fact: Fact, signals: &Signals, rule: &Rule) -> bool {
    let limited =
        signals.innermost_status().is_none_or(|status| matches!(status, 200 | 402 | 403 | 413 | 429 | 500 | 503));
    match fact {
        Fact::AsksForMoreThanThereIs => facts::asks_for_more_than_there_is(&signals.limits),
        Fact::LimitZero => signals.quotas.zero && limited,
        Fact::QuotaPerDay => signals.quotas.per_day && limited,
        Fact::QuotaPerMinute => signals.quotas.per_minute && !signals.quotas.per_day && limited,
        Fact::PlanRejected => rule.words.len() == 1 || plan_rejected(signals),
        Fact::HeaderPerDay => signals.header("x-ratelimit-type").is_some_and(|kind| kind.contains("ByDay")),
        Fact::HeaderPerMinute => signals.header("x-ratelimit-type").is_some_and(|kind| kind.contains("ByMinute")),
        Fact::Challenge => signals.header("cf-mitigated").is_some_and(|value| value.contains("challenge")),
        Fact::DayEmpty => day_empty(signals).is_some(),
        Fact::BucketEmpty => signals.headers.iter().any(|(name, value)| {
            name.starts_with("anthropic-ratelimit-") && name.ends_with("-remaining") && value.trim() == "0"
        }),
    }
}

/// The header of a day's limit of which nothing is left. Groq counts requests by the day only.
pub(crate) fn day_empty(signals: &Signals) -> Option<&str> {
    let groq = signals.provider.as_deref() == Some("groq");
    let counts_a_day = |name: &str| name.ends_with("-day") || (groq && name.ends_with("remaining-requests"));
    let empty = signals
        .headers
        .iter()
        .find(|(name, value)| name.starts_with("x-ratelimit-remaining") && counts_a_day(name) && value.trim() == "0");
    empty.map(|(name, _)| name.as_str())
}

/// Whether one of Anthropic's plan windows is spent.
pub(crate) fn plan_rejected(signals: &Signals) -> bool {
    signals.headers.iter().any(|(name, value)| {
        name.starts_with("anthropic-ratelimit-unified")
            && name.ends_with("status")
            && !name.contains("overage")
            && value.eq_ignore_ascii_case("rejected")
    })
}
