//! Names that were marked once, wherever they stand.

use std::collections::HashMap;

use super::{Span, shadow, words};

/// How many names are remembered at most.
const MOST: usize = 10_000;

/// How many of them may begin with the same word, so that looking one up takes bounded time.
const ALIKE: usize = 16;

/// How long one may be, in bytes.
const LONGEST: usize = 200;

/// The names that were found so far, by their first words.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// In lower case, like the words.
    by_word: HashMap<String, Vec<String>>,
    count: usize,
}

impl Known {
    /// Remembers a name, unless it is so short or plain that it could mean anything elsewhere.
    pub(super) fn learn(&mut self, name: &str) {
        let name = name.trim().to_lowercase();
        let letters = name.chars().filter(|c| c.is_alphanumeric()).count();
        let is_number = name.chars().all(|c| !c.is_alphabetic());
        let least = if is_number {
            6
        } else if name.is_ascii() {
            4
        } else {
            2
        };
        if letters < least
            || name.len() > LONGEST
            || self.count >= MOST
            || words::are_common(&name)
            || words::is_model(&name)
        {
            return;
        }
        let Some(first) = spans_of_words(&name).next().and_then(|(from, to)| name.get(from..to)) else { return };
        let alike = self.by_word.entry(first.to_owned()).or_default();
        if alike.len() < ALIKE && !alike.contains(&name) {
            // The longest first: `acme labs` before `acme`.
            let place = alike.iter().position(|other| other.len() < name.len()).unwrap_or(alike.len());
            alike.insert(place, name);
            self.count += 1;
        }
    }

    /// Adds the places at which a known name stands as whole words.
    pub(super) fn find(&self, text: &str, spans: &mut Vec<Span>) {
        if self.count == 0 {
            return;
        }
        let shadow = shadow::of(text);
        for (from, to) in spans_of_words(&shadow) {
            let Some(word) = text.get(from..to) else { continue };
            let Some(alike) = self.by_word.get(&word.to_lowercase()) else { continue };
            spans.extend(alike.iter().find_map(|name| ends_at(text, from, name)).map(|end| (from, end)));
        }
    }
}

/// Where the name ends, if it stands there in any case and no word goes on after it.
fn ends_at(text: &str, from: usize, name: &str) -> Option<usize> {
    let mut letters = text.get(from..)?.char_indices();
    let mut wanted = name.chars();
    let mut end = from;
    while let Some(letter) = wanted.next() {
        let (at, found) = letters.next()?;
        let mut lower = found.to_lowercase();
        if lower.next() != Some(letter) || lower.any(|more| wanted.next() != Some(more)) {
            return None;
        }
        end = from + at + found.len_utf8();
    }
    let goes_on = letters.next().is_some_and(|(_, next)| next.is_alphanumeric());
    (!goes_on).then_some(end)
}

/// The words of the text: letters and digits without anything between them.
fn spans_of_words(text: &str) -> impl Iterator<Item = Span> + '_ {
    let mut letters = text.char_indices().peekable();
    std::iter::from_fn(move || {
        let (from, _) = letters.find(|(_, letter)| letter.is_alphanumeric())?;
        let mut to = from;
        while let Some((at, letter)) = letters.next_if(|(_, letter)| letter.is_alphanumeric()) {
            to = at + letter.len_utf8();
        }
        let first = text.get(from..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        Some((from, to.max(from + first)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(names: &[&str], text: &str) -> Vec<String> {
        let mut known = Known::default();
        names.iter().for_each(|name| known.learn(name));
        let mut spans = Vec::new();
        known.find(text, &mut spans);
        spans.into_iter().map(|(from, to)| text.get(from..to).expect("a span").to_owned()).collect()
    }

    #[test]
    fn names_are_found_as_whole_words_in_any_case() {
        let names = ["Acme Labs", "acme", "zoe-9", "某公司"];
        assert_eq!(
            found(&names, "ACME LABS, acme-x, acmes; zoe-9.\\nacme, 某公司"),
            ["ACME LABS", "acme", "zoe-9", "acme", "某公司"]
        );
        assert_eq!(
            found(&["limit", "quota exceeded", "gpt-4o", "429", "abc"], "limit quota exceeded gpt-4o 429 abc"),
            [""; 0]
        );
    }
}
