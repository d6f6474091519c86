//! What the steps of a ladder share, in words and as JSON.
//!
//! Of all that steps have in common only the narrowest is said: who reads that three keys are of one account need not
//! read that they are of one provider. What nobody declared is said too, but in half a line.

use serde_json::{Map, Value, json};

use crate::catalog::makes;
use crate::config::{Domain, DomainKind, Domains, INTERNET, LOCAL_NETWORK, THIS_MACHINE};
use crate::domain::ProviderName;

use super::layout::wrapped;

/// The columns of the page that all lines fit.
const WIDTH: usize = 80;

/// From the narrowest to the widest.
const NARROWEST_FIRST: [DomainKind; 6] = [
    DomainKind::Account,
    DomainKind::Backend,
    DomainKind::Provider,
    DomainKind::ModelFamily,
    DomainKind::Region,
    DomainKind::Network,
];

/// The fields of the ladder's object.
pub(super) fn domains_json(domains: &Domains) -> Map<String, Value> {
    let counts = DomainKind::ALL.iter().map(|kind| (kind.as_str().to_owned(), json!(domains.of(*kind).count())));
    let unknown = DomainKind::ALL.iter().map(|kind| (kind, domains.unknown(*kind)));
    let unknown = unknown.filter(|(_, steps)| !steps.is_empty());
    let unknown = unknown.map(|(kind, steps)| json!({ "dimension": kind.as_str(), "steps": steps }));
    let fields = [
        ("domains", json!(domains.independent)),
        ("domains_by", Value::Object(counts.collect())),
        ("shared", domains.shared().map(object).collect()),
        ("single_failures", domains.single_failures().map(object).collect()),
        ("unknown", unknown.collect()),
    ];
    fields.map(|(name, value)| (name.to_owned(), value)).into_iter().collect()
}

fn object(domain: &Domain) -> Value {
    json!({
        "dimension": domain.kind.as_str(),
        "name": domain.name,
        "provider": domain.provider,
        "steps": domain.steps,
        "through": domain.through,
    })
}

/// All that is worth saying of a ladder, in lines with two blanks in front; nothing of one that has a single step.
pub(super) fn domains_text(domains: &Domains) -> String {
    if domains.steps.len() < 2 {
        return String::new();
    }
    let shared = shared(domains).into_iter().map(|line| format!("shared: {line}"));
    let single = single(domains).into_iter().map(|(_, line)| format!("single failure: {line}"));
    let lines = [counts(domains)].into_iter().chain(shared).chain(single).chain(otherwise(domains));
    lines.map(|line| wrapped(&format!("  {line}"), 4, WIDTH)).collect()
}

/// As [`domains_text`], but only if all steps fall together, and not merely with the network.
pub(super) fn single_failures_text(domains: &Domains) -> String {
    let mut single = if domains.steps.len() < 2 { Vec::new() } else { single(domains) };
    single.retain(|(kind, _)| *kind != DomainKind::Network);
    if single.is_empty() {
        return String::new();
    }
    let shared = shared(domains).into_iter().map(|line| format!("shared: {line}"));
    let lines = shared.chain(single.into_iter().map(|(_, line)| format!("single failure: {line}")));
    lines.map(|line| wrapped(&line, 2, WIDTH)).collect()
}

/// What some steps have in common, but not all.
fn shared(domains: &Domains) -> Vec<String> {
    let mut told: Vec<&Domain> = Vec::new();
    for kind in NARROWEST_FIRST {
        for domain in domains.of(kind).filter(|domain| domain.steps.len() > 1 && !domains.takes_all(domain)) {
            let known = told.iter().any(|other| other.steps == domain.steps);
            if !known && !is_keyless(domain, domains) && domain.name != INTERNET {
                told.push(domain);
            }
        }
    }
    let line = |domain: &&Domain| {
        passed_on(domain, domains).unwrap_or_else(|| {
            let verb = if domain.kind == DomainKind::ModelFamily { "answers" } else { "holds" };
            let (name, steps) = (named(domain), counted(&domain.steps));
            format!("{name} {verb} {steps} ({})", members(domain, domains))
        })
    };
    told.iter().map(line).collect()
}

/// What takes all steps: the narrowest that does, and the model besides, which fails in another way.
fn single(domains: &Domains) -> Vec<(DomainKind, String)> {
    let takes_all = |kind| domains.of(kind).find(|domain| domains.takes_all(domain) && !is_keyless(domain, domains));
    let mut kinds = NARROWEST_FIRST.into_iter().filter(|kind| *kind != DomainKind::ModelFamily);
    let place = kinds.find_map(takes_all);
    let narrow = |domain: &Domain| !matches!(domain.kind, DomainKind::Region | DomainKind::Network);
    let model = takes_all(DomainKind::ModelFamily).filter(|_| !place.is_some_and(narrow));
    let line = |domain: &Domain| {
        let of_model = || format!("all steps ask one model, {}; what it refuses, all refuse", domain.name);
        match domain.kind {
            DomainKind::ModelFamily => passed_on(domain, domains).unwrap_or_else(of_model),
            _ => format!("all steps fall with {}; {} would not", whole(domain), way_out(domain)),
        }
    };
    place.into_iter().chain(model).map(|domain| (domain.kind, line(domain))).collect()
}

/// What does not take all steps; nothing where they all fall together anyway.
fn otherwise(domains: &Domains) -> Option<String> {
    let mut taken = domains.single_failures().map(|domain| domain.kind);
    if taken.any(|kind| !matches!(kind, DomainKind::Network | DomainKind::ModelFamily)) {
        return None;
    }
    let safe = NARROWEST_FIRST.into_iter().filter(|kind| domains.of(*kind).count() > 1).map(word);
    Some(format!("no single {} takes all steps", listed(&safe.collect::<Vec<_>>(), "or")))
}

/// How many there are of each kind, and of which steps it is not known.
fn counts(domains: &Domains) -> String {
    let known = DomainKind::ALL.iter().map(|kind| (word(*kind), domains.of(*kind).count()));
    let known = known.filter(|(_, number)| *number > 0);
    let known = known.map(|(word, number)| format!("{number} {word}{}", if number == 1 { "" } else { "s" }));
    let mut line = known.collect::<Vec<_>>().join(", ");
    // What is unknown of the same steps is said at once.
    let mut gaps: Vec<(Vec<usize>, &str, Vec<&str>)> = Vec::new();
    for kind in DomainKind::ALL {
        let (steps, how) = (domains.unknown(*kind), how_known(*kind));
        match gaps.iter_mut().find(|gap| gap.0 == steps && gap.1 == how) {
            _ if steps.is_empty() => {}
            Some((.., words)) => words.push(word(*kind)),
            None => gaps.push((steps, how, vec![word(*kind)])),
        }
    }
    for (steps, how, words) in gaps {
        let of = if steps.len() < domains.steps.len() { format!(" of {}", counted(&steps)) } else { String::new() };
        line.push_str(&format!("; {}{of} not {how}", listed(&words, "and")));
    }
    line
}

/// Only the config can tell of some things; others have a name or an address.
fn how_known(kind: DomainKind) -> &'static str {
    if matches!(kind, DomainKind::Backend | DomainKind::Region) { "declared" } else { "known" }
}

fn word(kind: DomainKind) -> &'static str {
    match kind {
        DomainKind::ModelFamily => "model",
        other => other.as_str(),
    }
}

/// What to say of a model that is asked through an aggregator and elsewhere.
fn passed_on(domain: &Domain, domains: &Domains) -> Option<String> {
    let provider = |step: &usize| domains.steps.get(*step).map(|deployment| &deployment.provider);
    let is_through = |step: &&usize| provider(step).is_some_and(|name| domain.through.contains(name));
    let (through, direct): (Vec<usize>, Vec<usize>) = domain.steps.iter().partition(|step| is_through(step));
    let by = |steps: &[usize]| {
        let mut names: Vec<&str> = steps.iter().filter_map(provider).map(ProviderName::as_str).collect();
        names.dedup();
        format!("{} ({})", names.join(", "), counted(steps))
    };
    let made = direct.iter().filter_map(provider).any(|name| makes(name.as_str(), &domain.name));
    let how =
        if made { ": when the maker's service fails, they may fail together" } else { ": these may be one service" };
    match (through.is_empty(), direct.is_empty()) {
        (true, _) => None,
        (_, true) => Some(format!("model {} is asked through {}{how}", domain.name, by(&through))),
        _ => Some(format!("model {} is asked at {} and through {}{how}", domain.name, by(&direct), by(&through))),
    }
}

/// Whether it is the account of a provider that wants no key, which is but the provider.
fn is_keyless(domain: &Domain, domains: &Domains) -> bool {
    let first = domain.steps.first().and_then(|step| domains.steps.get(*step));
    domain.kind == DomainKind::Account && first.is_some_and(|deployment| deployment.credential.is_none())
}

fn named(domain: &Domain) -> String {
    let name = &domain.name;
    match domain.kind {
        DomainKind::Provider => format!("provider {name}"),
        DomainKind::Account => format!("account {name}"),
        DomainKind::ModelFamily => format!("model {name}"),
        DomainKind::Backend => format!("backend {name}"),
        DomainKind::Region => format!("region {name}"),
        DomainKind::Network => match name.as_str() {
            THIS_MACHINE => name.clone(),
            LOCAL_NETWORK => format!("the {name}"),
            INTERNET => format!("the {name} connection"),
            _ => format!("network {name}"),
        },
    }
}

fn whole(domain: &Domain) -> String {
    let at = domain.provider.as_ref().map(|provider| format!(" at {provider}")).unwrap_or_default();
    format!("{}{at}", named(domain))
}

/// Which further step would be left.
fn way_out(domain: &Domain) -> &'static str {
    match domain.kind {
        DomainKind::Account => "one of another account or provider",
        DomainKind::Provider => "one of another provider",
        DomainKind::ModelFamily => "one of another model",
        DomainKind::Backend => "one on another backend",
        DomainKind::Region => "one in another region",
        DomainKind::Network if domain.name == INTERNET => "a local step",
        DomainKind::Network if domain.name == THIS_MACHINE => "one elsewhere",
        DomainKind::Network => "one on another network",
    }
}

/// The steps by provider and key, each once; a model's by provider alone.
fn members(domain: &Domain, domains: &Domains) -> String {
    let mut names: Vec<String> = Vec::new();
    for deployment in domain.steps.iter().filter_map(|step| domains.steps.get(*step)) {
        let key = deployment.credential.as_ref().filter(|_| domain.kind != DomainKind::ModelFamily);
        let key = key.map(|key| format!("@{key}")).unwrap_or_default();
        let name = format!("{}{key}", deployment.provider);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.join(", ")
}

/// `step 3`, `steps 1, 2`.
fn counted(steps: &[usize]) -> String {
    let plural = if steps.len() == 1 { "" } else { "s" };
    format!("step{plural} {}", steps.iter().map(usize::to_string).collect::<Vec<_>>().join(", "))
}

/// `a, b or c`.
fn listed(words: &[&str], last: &str) -> String {
    match words {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [before @ .., end] => format!("{} {last} {end}", before.join(", ")),
    }
}

#[cfg(test)]
#[path = "domains_tests.rs"]
mod tests;
