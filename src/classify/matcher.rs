//! Runs the rules over the signals: one pass of an automaton per layer finds all phrases of all rules.
//!
//! Everything is built when the first failure is classified: a chat that succeeds pays nothing.

use std::collections::HashMap;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use aho_corasick::AhoCorasick;
use memchr::memmem;

use super::facts::Window;
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
    rules: Vec<Compiled>,
    /// The rules whose first group has the phrase, by the phrase's number.
    by_phrase: Vec<Vec<usize>>,
    /// The rules without words that ask for the code or type.
    by_code: HashMap<&'static str, Vec<usize>>,
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
    let compiled: Vec<Compiled> = rules::all()
        .map(|rule| Compiled {
            rule,
            groups: rule.words.iter().map(|group| group.iter().map(|phrase| number(phrase)).collect()).collect(),
            without: rule.without.iter().map(|phrase| number(phrase)).collect(),
        })
        .collect();
    let mut by_phrase = vec![Vec::<usize>::new(); phrases.len()];
    let mut by_code: HashMap<&'static str, Vec<usize>> = HashMap::new();
    for (number, compiled) in compiled.iter().enumerate() {
        let rule = compiled.rule;
        match compiled.groups.first() {
            Some(group) => group.iter().for_each(|id| {
                if let Some(rules) = by_phrase.get_mut(*id) {
                    rules.push(number);
                }
            }),
            None => rule.codes.iter().chain(rule.kinds).for_each(|code| by_code.entry(code).or_default().push(number)),
        }
    }
    Machine { phrases, rules: compiled, by_phrase, by_code }
});

/// Finds all phrases in one pass. To build it takes longer than to look for each phrase in a few texts, and most
/// processes see no more than that.
static AUTOMATON: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| AhoCorasick::new(&MACHINE.phrases).ok());

/// How many texts are looked through without the automaton.
const FEW: usize = 40;

/// How long a text may be for that, in bytes.
const SHORT: usize = 4096;

/// How many texts were looked through.
static TEXTS: AtomicUsize = AtomicUsize::new(0);

/// A rule that matched, where, and by what.
#[derive(Debug, Clone)]
pub(crate) struct Matched {
    /// The rule.
    pub(crate) rule: &'static Rule,
    /// The layer, by its place in the signals; none for rules that look at no layer.
    pub(crate) layer: Option<usize>,
    /// The phrase, code, type, header or figures that made it match.
    pub(crate) by: String,
}

/// All rules that match, the deciding one first.
pub(crate) fn matches(signals: &Signals) -> Vec<Matched> {
    let mut found = Vec::new();
    let hits: Vec<Vec<bool>> = signals.layers.iter().map(|read| MACHINE.hits(&read.words)).collect();
    // Most rules ask for something that is not there at all.
    let may: Vec<Vec<bool>> =
        signals.layers.iter().zip(&hits).map(|(read, hits)| MACHINE.may_match(read, hits)).collect();
    let status = signals.innermost_status();
    for (number, compiled) in MACHINE.rules.iter().enumerate() {
        let rule = compiled.rule;
        if !provider_fits(rule, signals) || !status_fits(rule, status) {
            continue;
        }
        let Some(seen) = seen_in_whole(rule, signals) else { continue };
        if !rule.looks_at_layers() {
            if compiled.without.iter().any(|id| hits.iter().any(|layer| layer.get(*id) == Some(&true))) {
                continue;
            }
            let by_status = || status.map(|status| format!("status {status}"));
            let by = Some(seen).filter(|seen| !seen.is_empty()).or_else(by_status).unwrap_or_default();
            found.push(Matched { rule, layer: None, by });
            continue;
        }
        for (index, read) in signals.layers.iter().enumerate() {
            if may.get(index).and_then(|rules| rules.get(number)) != Some(&true) {
                continue;
            }
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
    /// Which phrases are in the words.
    fn hits(&self, words: &str) -> Vec<bool> {
        if words.len() <= SHORT && TEXTS.fetch_add(1, Ordering::Relaxed) < FEW {
            return self.hits_one_by_one(words);
        }
        self.hits_at_once(words)
    }

    fn hits_one_by_one(&self, words: &str) -> Vec<bool> {
        let stands = |phrase: &&str| {
            memmem::find_iter(words.as_bytes(), phrase.as_bytes()).any(|at| !within_a_word(words.as_bytes(), at))
        };
        self.phrases.iter().map(stands).collect()
    }

    fn hits_at_once(&self, words: &str) -> Vec<bool> {
        let mut hits = vec![false; self.phrases.len()];
        for found in AUTOMATON.iter().flat_map(|automaton| automaton.find_overlapping_iter(words)) {
            if within_a_word(words.as_bytes(), found.start()) {
                continue;
            }
            if let Some(hit) = hits.get_mut(found.pattern().as_usize()) {
                *hit = true;
            }
        }
        hits
    }
}

impl Machine {
    /// Which rules have something of what they ask for in a layer.
    fn may_match(&self, read: &Read, hits: &[bool]) -> Vec<bool> {
        let mut may = vec![false; self.rules.len()];
        let phrases = self.by_phrase.iter().zip(hits).filter(|(_, hit)| **hit).map(|(rules, _)| rules);
        let codes = read.layer.codes.iter().chain(&read.layer.kinds).filter_map(|code| self.by_code.get(code.as_str()));
        for number in phrases.chain(codes).flatten() {
            if let Some(may) = may.get_mut(*number) {
                *may = true;
            }
        }
        may
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

/// What the whole evidence has of what the rule asks of it; nothing is asked by most rules.
fn seen_in_whole(rule: &Rule, signals: &Signals) -> Option<String> {
    let quotas = &signals.quotas;
    let fact = rule.fact.map(|fact| match fact {
        Fact::LimitZero => (quotas.zero, "a limit of 0"),
        Fact::QuotaPerDay => (quotas.per_day, "a quota per day"),
        Fact::ShortWindowFull => (quotas.full == Some(Window::Short), "a short window that is full"),
        Fact::LongWindowFull => (quotas.full == Some(Window::Long), "a long window that is full"),
        Fact::QuotaPerMinute => (quotas.per_minute && !quotas.per_day, "a quota per minute"),
    });
    let mut seen = match fact {
        Some((false, _)) => return None,
        Some((true, what)) => what.to_owned(),
        None => String::new(),
    };
    for condition in rule.when {
        if !seen.is_empty() {
            seen.push_str(", ");
        }
        seen.push_str(&condition.seen(signals)?);
    }
    Some(seen)
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn phrases_are_the_same_one_by_one_and_at_once(
            parts in proptest::collection::vec((0_usize..4000, "[ a-z.]{0,3}"), 0..12),
        ) {
            let phrase = |at: usize| MACHINE.phrases.get(at % MACHINE.phrases.len()).copied().unwrap_or("");
            let words: String = parts.iter().map(|(at, between)| format!("{}{between}", phrase(*at))).collect();
            assert_eq!(MACHINE.hits_one_by_one(&words), MACHINE.hits_at_once(&words), "{words}");
        }
    }
}
