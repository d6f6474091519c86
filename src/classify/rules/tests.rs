//! What must hold of the tables as a whole.

use super::*;

/// The place of the tier in the order of trial: words and codes are tried layer by layer, words first within one.
fn place(rule: &Rule) -> (u8, u8) {
    match rule.tier {
        Tier::Operator | Tier::Fact => (0, 0),
        Tier::Words => (1, 0),
        Tier::Code => (1, 1),
        Tier::Answer => (2, 0),
        Tier::Vague => (3, 0),
        Tier::Status => (4, 0),
    }
}

/// Whether a text that holds `whole`, from the start of a word on, holds `part` so as well.
fn holds(whole: &str, part: &str) -> bool {
    let is_letter = |at: Option<&u8>| at.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = whole.as_bytes();
    whole.match_indices(part).any(|(at, _)| at == 0 || !(is_letter(bytes.get(at)) && is_letter(bytes.get(at - 1))))
}

/// Whether `first` asks for nothing beyond `later` but codes and types.
fn asks_no_more(first: &Rule, later: &Rule) -> bool {
    let within =
        |of: &[&str], all: &[&str]| of.is_empty() || (!all.is_empty() && all.iter().all(|one| of.contains(one)));
    let words = first.words.iter().all(|group| {
        later.words.iter().any(|given| given.iter().all(|whole| group.iter().any(|part| holds(whole, part))))
    });
    let absent = first.without.iter().all(|absent| later.without.iter().any(|given| holds(absent, given)));
    let statuses = first.statuses.is_empty()
        || (!later.statuses.is_empty() && later.statuses.iter().all(|status| first.statuses.contains(status)));
    words
        && absent
        && statuses
        && within(first.providers, later.providers)
        && first.fact.is_none()
        && first.when.is_empty()
}

/// The codes and types of the later rule with which the first one fits as well. A type in the place of a code counts for
/// both, a code in the place of a type only for rules of codes.
fn taken(first: &Rule, later: &Rule) -> Vec<&'static str> {
    let all = later.codes.iter().chain(later.kinds).copied();
    all.filter(|word| {
        let by_code = first.codes.is_empty() || first.codes.contains(word);
        let by_kind = first.kinds.is_empty() || (first.kinds.contains(word) && !later.kinds.is_empty());
        by_code && by_kind
    })
    .collect()
}

#[test]
fn no_rule_is_wholly_taken_by_surer_ones() {
    let rules: Vec<&Rule> = all().collect();
    let mut idle = Vec::new();
    for (at, later) in rules.iter().enumerate() {
        let before = rules.iter().enumerate().filter(|(other, first)| {
            (place(first), *other) < (place(later), at) && place(first).0 > 0 && asks_no_more(first, later)
        });
        let words: Vec<&str> = later.codes.iter().chain(later.kinds).copied().collect();
        let mut left = words.clone();
        for (_, first) in before {
            if words.is_empty() && first.codes.is_empty() && first.kinds.is_empty() {
                idle.push(format!("{} by {}", later.name, first.name));
            }
            let taken = taken(first, later);
            left.retain(|word| !taken.contains(word));
        }
        if left.len() < words.len() {
            let taken: Vec<_> = words.iter().filter(|word| !left.contains(word)).collect();
            idle.push(format!("{} never decides by {taken:?}", later.name));
        }
    }
    assert_eq!(idle, [""; 0]);
}
