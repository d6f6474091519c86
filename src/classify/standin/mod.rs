//! Evidence made fit to be shared: what tells whose failure it was is replaced, what tells which failure it was stays.
//!
//! Ids, keys, addresses and names give way to stand-ins of the same shape: as many characters, a digit for a digit, a
//! small letter for a small one, separators and known prefixes (`req_`, `sk-proj-`) as they were. Statuses, codes,
//! limits, times, models and the structure of JSON are not touched, so a classifier says the same of both, and a reader
//! still sees what kind of thing stood where. A blank or a mask would lose that, and would change lengths and shapes on
//! which rules depend.
//!
//! What is replaced is found in three ways, none of which needs to be told of the user:
//!
//! - by its form: keys and ids with a known prefix, UUIDs, long tokens of mixed letters and digits, addresses (`shapes`,
//!   `tokens`);
//! - by what stands before it: `organization …`, `"user": …`, `/home/…`, `x-request-id: …` (`places`);
//! - by having been found before: a name that was marked once is known wherever it stands later, in this capture and in
//!   the following ones.
//!
//! Everything is found on a shadow of the text in which escapes (`\n`, `\"`, `\u00e9`) are blanks, quotes and letters of
//! the same length, so that an `n` of a line end never becomes part of a word and a replaced text is still valid JSON.
//!
//! Equal originals get equal stand-ins, whatever their case, which shows that two captures speak of one organisation.
//! The letters come from an HMAC of the original under a salt of the run. Without a salt anybody could try a list of
//! company names and compare; with one that is drawn anew in each run and never written anywhere, they cannot, and
//! captures of different runs cannot be joined.
//!
//! It is a help and no proof: a prompt that a provider echoes, or a name that nothing marks, stays. A person should read
//! what is to be published.

mod hosts;
mod known;
mod places;
mod shadow;
mod shape;
mod shapes;
mod tokens;
mod words;

#[cfg(test)]
mod tests;

use crate::clock::Rng;
use crate::domain::{Evidence, ModelName};

use known::Known;
use shape::Shaper;

/// A part of a text that gives way: bytes from, up to but not including.
pub(super) type Span = (usize, usize);

/// What was found in one text.
#[derive(Debug, Default)]
struct Found {
    spans: Vec<Span>,
    /// Those of them that are names, to be looked for elsewhere.
    names: Vec<Span>,
}

impl Found {
    fn add(&mut self, span: Span) {
        self.spans.push(span);
    }

    fn add_name(&mut self, span: Span) {
        self.spans.push(span);
        self.names.push(span);
    }

    /// What a search finds in a text, each place once and in order.
    #[cfg(test)]
    fn texts(find: impl Fn(&str, &mut Self), text: &str) -> Vec<String> {
        let mut found = Self::default();
        find(text, &mut found);
        found.spans.sort_unstable();
        found.spans.dedup();
        found.spans.into_iter().map(|(from, to)| text.get(from..to).expect("a span").to_owned()).collect()
    }
}

/// Replaces what is personal by stand-ins of the same shape; one of these for all captures that are shared together.
#[derive(Debug)]
pub struct Standins {
    shaper: Shaper,
    known: Known,
}

impl Standins {
    /// Draws the salt of the run. From a generator that is seeded by the system nobody can compute the originals; one
    /// with a fixed seed is for tests.
    pub fn new(rng: &mut Rng) -> Self {
        Self { shaper: Shaper::new(rng), known: Known::default() }
    }

    /// The evidence with stand-ins in headers, body, log and the private parts of the model's name. The provider's name,
    /// status and time stay, and so does every length in characters.
    pub fn evidence(&mut self, evidence: &Evidence) -> Evidence {
        let model = evidence.model.as_ref().map_or("", ModelName::as_str);
        let in_model = places::in_models(&shadow::of(model));
        in_model.iter().filter_map(|&(from, to)| model.get(from..to)).for_each(|part| self.known.learn(part));
        let public = without(model, &in_model);
        let headers: Vec<String> = evidence.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        // All is searched before anything is written: the log may say in passing what the body marks as a name.
        let found_headers: Vec<Vec<Span>> = headers.iter().map(|line| self.find(line, &public)).collect();
        let found_body = self.find(&evidence.body, &public);
        let found_log = self.find(&evidence.log, &public);
        Evidence {
            provider: evidence.provider.clone(),
            model: evidence.model.as_ref().map(|name| ModelName::new(self.write(name.as_str(), in_model))),
            status: evidence.status,
            headers: (headers.iter().zip(found_headers).zip(&evidence.headers))
                .map(|((line, found), (name, _))| parted(&self.write(line, found), name.chars().count()))
                .collect(),
            body: self.write(&evidence.body, found_body),
            log: self.write(&evidence.log, found_log),
            transport: evidence.transport,
            at: evidence.at,
        }
    }

    /// The text with stand-ins.
    pub fn text(&mut self, text: &str) -> String {
        let found = self.find(text, "");
        self.write(text, found)
    }

    /// A stand-in for the whole of an id, whatever it looks like; a known prefix stays.
    pub fn id(&mut self, id: &str) -> String {
        self.shaper.stand_in(id)
    }

    /// What is to be replaced by form and by place, but no part of what the model is called; learns the names among it.
    fn find(&mut self, text: &str, model: &str) -> Vec<Span> {
        let shadow = shadow::of(text);
        let mut found = Found::default();
        places::find(&shadow, &mut found);
        shapes::find(&shadow, &mut found);
        hosts::find(&shadow, &mut found);
        tokens::find(&shadow, &mut found);
        let is_private = |&(from, to): &Span| text.get(from..to).is_some_and(|part| !model.contains(part));
        // A word of several known ones is a code, whatever stands before it: `organization_spend_limit_exceeded`.
        let is_code = |&(from, to): &Span| {
            // Three digits behind a mark are a status: `refresh token: 401`.
            if to - from == 3 && text.get(from..to).is_some_and(|part| part.bytes().all(|byte| byte.is_ascii_digit())) {
                return true;
            }
            let before = text.get(..from).unwrap_or("");
            let start = before.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_').len();
            text.get(start..to).is_some_and(|word| word.contains('_') && words::are_common(word))
        };
        found.spans.retain(|span| is_private(span) && !is_code(span));
        found.names.retain(|span| is_private(span) && !is_code(span));
        found.names.iter().filter_map(|&(from, to)| text.get(from..to)).for_each(|name| self.known.learn(name));
        found.spans
    }

    fn write(&self, text: &str, mut spans: Vec<Span>) -> String {
        self.known.find(text, &mut spans);
        spans.sort_unstable_by_key(|&(from, to)| (from, std::cmp::Reverse(to)));
        let mut out = String::with_capacity(text.len());
        let mut done = 0;
        for (from, to) in spans {
            let from = from.max(done);
            if let (Some(before), Some(original)) = (text.get(done..from), text.get(from..to)) {
                out.push_str(before);
                out.push_str(&self.shaper.stand_in(original));
                done = to;
            }
        }
        out.push_str(text.get(done..).unwrap_or(""));
        out
    }
}

/// The text without these parts of it.
fn without(text: &str, spans: &[Span]) -> String {
    let is_kept = |at: usize| !spans.iter().any(|&(from, to)| (from..to).contains(&at));
    text.char_indices().map(|(at, letter)| if is_kept(at) { letter } else { '\n' }).collect()
}

/// A header line parted after its name.
fn parted(line: &str, name: usize) -> (String, String) {
    let mut letters = line.chars();
    let name = letters.by_ref().take(name).collect();
    (name, letters.skip(2).collect())
}
