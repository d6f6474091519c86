//! Evidence made comparable: layers of errors, headers, statuses and figures, whatever the shape they came in.

use serde_json::Value;

use crate::catalog::Catalog;
use crate::domain::{Evidence, LimitFacts};

use super::answer::{self, Answered};
use super::layers::{self, Layer};
use super::{facts, lenient, provider, text};

/// How much of the start and of the end of a text is looked at.
const HEAD: usize = 64 * 1024;
const TAIL: usize = 16 * 1024;

/// A layer with its words in the form in which phrases are looked for.
#[derive(Debug, Clone)]
pub(crate) struct Read {
    /// The layer.
    pub(crate) layer: Layer,
    /// Its words, normalised.
    pub(crate) words: String,
}

/// What the evidence says, in comparable form.
#[derive(Debug, Clone, Default)]
pub(crate) struct Signals {
    /// Who was asked.
    pub(crate) provider: Option<String>,
    /// The errors, innermost first.
    pub(crate) layers: Vec<Read>,
    /// The status of the exchange itself.
    pub(crate) status: Option<u16>,
    /// Headers of the exchange and of dumps within the text, names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    /// The values found, for fields that say when.
    pub(crate) values: Vec<Value>,
    /// The text that was looked at.
    pub(crate) raw: String,
    /// Figures of the limit.
    pub(crate) limits: LimitFacts,
    /// Names of the quotas that Google says were violated.
    pub(crate) quotas: facts::Quotas,
    /// For a 2xx: what its answer is, where it is one.
    pub(crate) answered: Option<Answered>,
}

impl Signals {
    /// Reads the evidence.
    pub(crate) fn read(evidence: &Evidence, catalog: &Catalog) -> Self {
        let from_wire = !evidence.body.trim().is_empty();
        let raw = bounded(if from_wire { &evidence.body } else { &evidence.log });
        let mut signals = Self {
            provider: provider::recognise(evidence, &raw, catalog),
            status: evidence.status,
            headers: evidence.headers.iter().map(|(k, v)| (k.to_ascii_lowercase(), v.clone())).collect(),
            ..Self::default()
        };
        let mut layers = Vec::new();
        if from_wire {
            signals.read_body(&raw, &mut layers);
        } else {
            signals.read_log(&raw, &mut layers);
        }
        signals.headers_of_values();
        signals.error_type_header(&mut layers);
        signals.finish_layers(layers);
        signals.quotas = facts::quotas(&signals.values, &raw);
        signals.limits = signals.layers.iter().find_map(|read| facts::limits(&read.words)).unwrap_or_default();
        let is_success = evidence.status.is_some_and(|status| (200..300).contains(&status));
        if is_success || (evidence.status.is_none() && from_wire) {
            signals.answered = answer::read(&signals.values, &raw, from_wire, is_success);
        }
        signals.raw = raw;
        signals
    }

    /// The first header of that name.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The status that lies innermost: what the provider said to the gateway, not what the gateway says to us.
    pub(crate) fn innermost_status(&self) -> Option<u16> {
        let inner = self.layers.iter().filter(|read| !read.layer.free);
        let of_layer = |read: &Read| read.layer.statuses.iter().copied().find(|status| *status >= 400);
        inner
            .filter_map(of_layer)
            .next()
            .or(self.status.filter(|status| *status >= 400))
            .or_else(|| self.layers.iter().find_map(of_layer))
            .or(self.status)
    }

    fn read_body(&mut self, raw: &str, layers: &mut Vec<Layer>) {
        if is_html(raw) {
            layers.push(free_layer(&text::html_words(raw)));
            return;
        }
        if is_event_stream(raw) {
            self.values = events(raw);
        } else if let Some(value) = lenient::parse_whole(raw) {
            self.values.push(value);
        } else {
            self.values = lenient::find_values(raw).into_iter().map(|found| found.value).collect();
            layers.push(free_layer(raw));
        }
        let mut found = Vec::new();
        for value in &self.values {
            if let Value::String(inner) = value {
                layers.push(free_layer(inner));
            }
            layers::collect(value, 1, &mut found);
        }
        let silent = found.iter().all(|layer| layer.text.is_empty()) && layers.is_empty();
        if silent && !answer::is_answer(&self.values) {
            layers.push(free_layer(raw));
        }
        found.append(layers);
        *layers = found;
    }

    fn read_log(&mut self, raw: &str, layers: &mut Vec<Layer>) {
        self.values = lenient::find_values(raw).into_iter().map(|found| found.value).collect();
        for value in &self.values {
            layers::collect(value, 1, layers);
        }
        layers.push(if is_html(raw) { free_layer(&text::html_words(raw)) } else { free_layer(raw) });
        self.headers.extend(text::headers(raw));
    }

    /// Headers that a dump or an envelope carries within itself (`headers`, OpenRouter's `metadata.headers`).
    fn headers_of_values(&mut self) {
        let mut found = Vec::new();
        for value in &self.values {
            headers_within(value, 0, &mut found);
        }
        self.headers.append(&mut found);
    }

    /// AWS names the error in a header, and in one of the event.
    fn error_type_header(&self, layers: &mut Vec<Layer>) {
        for name in ["x-amzn-errortype", ":exception-type"] {
            if let Some(value) = self.header(name) {
                let word = value.split(':').next().unwrap_or(value).trim().to_ascii_lowercase();
                layers.push(Layer { depth: 1, codes: vec![word], ..Layer::default() });
            }
        }
    }

    fn finish_layers(&mut self, mut layers: Vec<Layer>) {
        // Stable: of two errors at the same depth the first one counts.
        layers.sort_by_key(|layer| std::cmp::Reverse(layer.depth));
        self.layers = layers
            .into_iter()
            .map(|mut layer| {
                let words = text::normalise(&layer.text);
                let words = if layer.free { text::without_client_words(words) } else { words };
                let lower = layer.text.to_lowercase();
                layer.codes.extend(text::codes(&layer.text, &lower));
                // A status within the words is the upstream's, the one beside them the gateway's.
                let mut statuses = text::statuses(&lower);
                statuses.append(&mut layer.statuses);
                layer.statuses = statuses;
                Read { layer, words }
            })
            .collect();
    }
}

/// The first and the last part of a text that is too long, cut between characters.
fn bounded(text: &str) -> String {
    if text.len() <= HEAD + TAIL {
        return text.to_owned();
    }
    let cut = |mut at: usize| {
        while at > 0 && !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let (head, tail) = text.split_at(cut(HEAD));
    let tail_start = cut(text.len() - TAIL) - head.len();
    format!("{head}\n{}", tail.get(tail_start..).unwrap_or(""))
}

fn free_layer(text: &str) -> Layer {
    Layer { depth: 0, text: text.to_owned(), free: true, ..Layer::default() }
}

fn is_html(text: &str) -> bool {
    let head: String = text.chars().take(4000).collect::<String>().to_ascii_lowercase();
    head.trim_start().starts_with('<') && !head.trim_start().starts_with("<400>") && head.contains('>')
        || head.contains("<!doctype html")
        || head.contains("<html")
}

/// Whether the text is server-sent events.
pub(crate) fn is_event_stream(text: &str) -> bool {
    text.lines().take(20).any(|line| line.starts_with("data:") || line.starts_with("event:"))
}

/// The data of each event, as values; an event named as an error marks its data as one.
fn events(text: &str) -> Vec<Value> {
    text.lines()
        .filter_map(|line| line.strip_prefix("data:"))
        .filter_map(|data| lenient::parse_whole(data.trim()))
        .take(4000)
        .collect()
}

fn headers_within(value: &Value, depth: usize, out: &mut Vec<(String, String)>) {
    if depth > 12 || out.len() > 200 {
        return;
    }
    match value {
        Value::Array(items) => items.iter().take(64).for_each(|item| headers_within(item, depth + 1, out)),
        Value::Object(map) => {
            for (key, value) in map {
                let key = key.to_ascii_lowercase();
                match value {
                    Value::String(text) if looks_like_limit_header(&key) => out.push((key, text.clone())),
                    Value::Number(number) if looks_like_limit_header(&key) => out.push((key, number.to_string())),
                    Value::Array(items) if looks_like_limit_header(&key) => {
                        out.extend(items.first().and_then(Value::as_str).map(|text| (key, text.to_owned())));
                    }
                    _ => headers_within(value, depth + 1, out),
                }
            }
        }
        Value::String(text) if text.contains("atelimit") || text.contains("ateLimit") => {
            for found in lenient::find_values(text) {
                headers_within(&found.value, depth + 4, out);
            }
        }
        _ => {}
    }
}

fn looks_like_limit_header(key: &str) -> bool {
    key.contains("ratelimit-")
        || key.starts_with("x-codex-")
        || matches!(
            key,
            "retry-after" | "retry-after-ms" | ":exception-type" | "x-amzn-errortype" | "cf-mitigated" | "date"
        )
}
