//! Gateways that tried several upstreams and report all of their errors at once.
//!
//! The gateway will try them again, so the error that heals soonest says when asking again can help: one upstream that is
//! merely busy makes the whole answer a transient one, however many of the others have empty wallets.

use serde_json::Value;

use crate::catalog::Catalog;
use crate::domain::{Class, Evidence};

use super::matcher::{self, Matched};
use super::rules::Tier;
use super::signals::Signals;
use super::text;

/// Keys under which gateways list what each upstream said.
const LISTS: &[&str] = &[
    "errors",
    "previous_errors",
    "previousErrors",
    "attempts",
    "failures",
    "upstream_errors",
    "provider_errors",
    "causes",
    "variant_errors",
    "fallback_errors",
];

/// How a gateway opens such a report in words.
const OPENINGS: &[&str] = &[
    "all variants failed",
    "all providers failed",
    "all models failed",
    "all attempts failed",
    "all upstreams failed",
    "all fallbacks failed",
    "all providers/models failed",
    "all targets failed",
    "all candidates failed",
    "all keys failed",
];

/// The upstream error that heals soonest, when there are several and they differ.
pub(crate) struct Soonest {
    /// What it is.
    pub(crate) class: Class,
    /// The rule that says so.
    pub(crate) matched: Matched,
    /// Its words.
    pub(crate) quote: String,
}

/// Looks for several upstream errors; none when there are not at least two of different classes.
pub(crate) fn soonest(signals: &Signals) -> Option<Soonest> {
    let mut parts = Vec::new();
    for value in &signals.values {
        listed(value, 0, &mut parts);
    }
    if parts.is_empty() {
        parts = told(signals);
    }
    let found: Vec<Soonest> = parts.iter().take(16).filter_map(|part| judge(part)).collect();
    let differ = found.iter().any(|one| found.first().is_some_and(|first| first.class != one.class));
    if !differ {
        return None;
    }
    // Of equals the first: the gateway's own order.
    found.into_iter().min_by_key(|one| rank(one.class))
}

/// The sooner it heals the lower.
fn rank(class: Class) -> u8 {
    match class {
        Class::Network | Class::Timeout | Class::ServerError | Class::Overloaded => 0,
        Class::RateLimit => 1,
        Class::QuotaExhausted => 2,
        Class::InvalidOutput | Class::Unknown => 3,
        Class::Billing | Class::Auth | Class::Permission | Class::ModelUnavailable => 4,
        Class::ContextOverflow | Class::ContentPolicy | Class::Unsupported | Class::InvalidRequest => 5,
    }
}

fn listed(value: &Value, depth: usize, out: &mut Vec<String>) {
    if depth > 10 || out.len() > 16 {
        return;
    }
    match value {
        Value::Array(items) => items.iter().take(32).for_each(|item| listed(item, depth + 1, out)),
        Value::Object(map) => {
            for (key, value) in map {
                match value {
                    Value::Array(items) if LISTS.contains(&key.as_str()) && items.len() > 1 => {
                        out.extend(items.iter().take(16).map(ToString::to_string));
                    }
                    _ => listed(value, depth + 1, out),
                }
            }
        }
        _ => {}
    }
}

/// The parts of a report in words, one upstream a line.
fn told(signals: &Signals) -> Vec<String> {
    let Some(read) = signals.layers.iter().find(|read| OPENINGS.iter().any(|opening| read.words.contains(opening)))
    else {
        return Vec::new();
    };
    let parts = read.layer.text.split(['\n', ';']).map(str::trim).filter(|part| part.len() > 12);
    parts.take(16).map(str::to_owned).collect()
}

fn judge(part: &str) -> Option<Soonest> {
    let is_json = part.starts_with(['{', '"']);
    let evidence = if is_json {
        Evidence { body: part.to_owned(), ..Evidence::default() }
    } else {
        Evidence { log: part.to_owned(), ..Evidence::default() }
    };
    let signals = Signals::read(&evidence, &Catalog::default());
    let matched = matcher::matches(&signals).into_iter().next()?;
    let is_clear = matched.rule.tier < Tier::Answer || (matched.rule.tier == Tier::Vague && is_json);
    let quote = text::normalise(part);
    let matched = Matched { layer: None, ..matched };
    is_clear.then_some(Soonest { class: matched.rule.class, matched, quote })
}
