//! `[ladders.*]`: steps become deployments.
//!
//! A step without a credential stands for one step per credential of its provider, in the order of the file, because
//! that is what a person with two keys wants from it. A deployment that is already in the ladder is not added again: it
//! would never be asked a second time anyway. A model's id may hold an `@` of its own; text after the last one is a
//! credential when the provider has one of that name, part of the id when it looks like a version, and else a slip.

use std::collections::BTreeMap;

use crate::catalog::Catalog;
use crate::domain::{CredentialName, Deployment, LadderName, ProviderName};

use super::answer::answer;
use super::bar::warn_of_chains;
use super::limits::{LIMIT_KEYS, cascade, limits, timeouts};
use super::providers::Providers;
use super::reader::{Node, Section, suggest};
use super::types::{Bar, Config, CredentialConfig, LadderConfig, Limits, StepConfig};
use crate::ladder::{Ranking, Strategy};
use crate::policy::Bands;

const LADDER_KEYS: &[&str] = &[
    "steps",
    "strategy",
    "latency_of",
    "tolerance",
    "failure_penalty_usd",
    "bar",
    "context_window",
    "content_policy",
    "unsupported",
    "last_resort",
    "min_valid",
    "consistency",
    "system",
    "developer",
    "cascade",
    "schema",
    "checks",
    "confidence",
    "reject",
    "tools",
];

/// What a step may name.
pub(super) struct Known<'a> {
    pub(super) catalog: &'a Catalog,
    pub(super) providers: &'a Providers,
    /// The names of all tools, the good and the bad.
    pub(super) tools: &'a [&'a str],
}

/// A deployment for each of the provider's credentials; itself, if it names one or the provider has none.
pub(super) fn expand(deployment: &Deployment, credentials: &[CredentialConfig]) -> Vec<Deployment> {
    let own: Vec<_> = credentials.iter().filter(|c| c.provider == deployment.provider).collect();
    if deployment.credential.is_some() || own.is_empty() {
        return vec![deployment.clone()];
    }
    own.into_iter().map(|c| Deployment { credential: Some(c.name.clone()), ..deployment.clone() }).collect()
}

/// Reads all ladders.
pub(super) fn ladders(
    root: &Section<'_, '_>,
    known: &Known<'_>,
    defaults: Limits,
) -> BTreeMap<LadderName, LadderConfig> {
    let Some(section) = root.need("ladders", "add [ladders.main] with steps = [\"provider/model\"]") else {
        return BTreeMap::new();
    };
    let Some(section) = section.section() else { return BTreeMap::new() };
    let entries = section.entries();
    let names: Vec<&str> = entries.iter().map(|(name, _)| *name).collect();
    if names.is_empty() {
        section.reader.error(&section.place, "there is no ladder", Some("add [ladders.main]".to_owned()));
    }
    let mut ladders = BTreeMap::new();
    for (name, node) in &entries {
        if name.is_empty() || name.contains('/') {
            node.reader.error(&node.place, "a ladder's name is not empty and has no `/`", None);
        } else if !LadderName::has_askers(name) {
            let hint = "choose another name".to_owned();
            node.reader.error(
                &node.place,
                "in the log this name stands for what is no request of a ladder",
                Some(hint),
            );
        } else if let Some(ladder) = node.section().map(|section| ladder(&section, known, defaults, &names)) {
            ladders.insert(LadderName::new(*name), ladder);
        }
    }
    warn_of_chains(&entries, &ladders, known.catalog);
    for key in ["context_window", "content_policy", "unsupported"] {
        cycles(&entries, key);
    }
    ladders
}

fn ladder(section: &Section<'_, '_>, known: &Known<'_>, defaults: Limits, names: &[&str]) -> LadderConfig {
    let keys: Vec<&str> = LADDER_KEYS.iter().chain(LIMIT_KEYS.iter().skip(1)).copied().collect();
    section.allow(&keys);
    let limits = limits(section, defaults);
    let bar = section.section("bar").map(|section| bar(&section)).unwrap_or_default();
    let last_resort = |node: Node<'_, '_>| {
        let deployment = deployments(&node, known).into_iter().next()?;
        bar.warn(&node, &deployment, known.catalog);
        Some(deployment)
    };
    let chain = |key: &str| section.get(key).and_then(|node| named_ladder(&node, names));
    LadderConfig {
        steps: steps(section, known, &limits, &bar),
        strategy: section.get("strategy").and_then(|node| strategy(&node)).unwrap_or(Strategy::Ordered),
        ranking: ranking(section),
        context_window: chain("context_window"),
        content_policy: chain("content_policy"),
        unsupported: chain("unsupported"),
        min_valid: section.get("min_valid").and_then(|node| share(&node)),
        consistency: consistency(section),
        last_resort: section.get("last_resort").and_then(last_resort),
        system: section.get("system").and_then(|node| node.text()),
        developer: section.get("developer").and_then(|node| node.text()),
        cascade: cascade(section),
        answer: answer(section),
        tools: super::tools::of_ladder(section, known.tools),
        bar,
        limits,
    }
}

/// The steps, each deployment once.
fn steps(section: &Section<'_, '_>, known: &Known<'_>, limits: &Limits, bar: &Bar) -> Vec<StepConfig> {
    let mut steps: Vec<StepConfig> = Vec::new();
    let Some(node) = section.need("steps", "write steps = [\"provider/model\"]") else { return steps };
    let items = node.items().unwrap_or_default();
    if items.is_empty() && node.is_array() {
        let hint = "name at least one \"provider/model\"".to_owned();
        node.reader.error(&node.place, "a ladder without steps answers nothing", Some(hint));
    }
    let mut seen = std::collections::BTreeSet::new();
    for item in &items {
        for step in step(item, known, limits).into_iter().filter(|step| seen.insert(step.deployment.clone())) {
            bar.warn(item, &step.deployment, known.catalog);
            steps.push(step);
        }
    }
    steps
}

/// What the strategy goes by.
fn ranking(section: &Section<'_, '_>) -> Ranking {
    let usual = Ranking::default();
    let amount = |key: &str| section.get(key).and_then(|node| node.amount()).filter(|amount| amount.is_finite());
    Ranking {
        latency_of: section
            .get("latency_of")
            .and_then(|node| node.word("time", &["ttft", "total"]))
            .unwrap_or(usual.latency_of),
        tolerance: amount("tolerance").unwrap_or(usual.tolerance),
        failure_penalty_usd: amount("failure_penalty_usd").unwrap_or(usual.failure_penalty_usd),
        repair: usual.repair,
    }
}

/// What a deployment must at least be able to do.
fn bar(section: &Section<'_, '_>) -> Bar {
    section.allow(&["context", "max_output", "capabilities"]);
    let tokens = |key: &str| section.get(key).and_then(|node| node.integer(1..=1_000_000_000));
    Bar {
        context: tokens("context"),
        max_output: tokens("max_output"),
        capabilities: section.get("capabilities").and_then(|node| node.texts()).unwrap_or_default(),
    }
}

/// `[ladders.*.consistency]`: how far answers to one input may lie apart, field by field.
fn consistency(section: &Section<'_, '_>) -> Bands {
    let Some(table) = section.section("consistency") else { return Bands::default() };
    table.allow(&["fields"]);
    let mut bands = Bands::default();
    for (pointer, node) in table.section("fields").iter().flat_map(Section::entries) {
        if !pointer.is_empty() && !pointer.starts_with('/') {
            let hint = format!("did you mean \"/{pointer}\"?");
            node.reader.error(&node.place, "a field is named by its JSON pointer", Some(hint));
        } else if let Some(band) = node.amount().filter(|band| band.is_finite()) {
            bands.0.insert(pointer.to_owned(), band);
        }
    }
    bands
}

/// A number from 0 to 1.
fn share(node: &Node<'_, '_>) -> Option<f64> {
    let share = node.amount()?;
    if share > 1.0 {
        node.reader.error(&node.place, "must be between 0 and 1", Some("0.5 is one half".to_owned()));
        return None;
    }
    Some(share)
}

/// The name of a ladder that exists.
pub(super) fn named_ladder(node: &Node<'_, '_>, names: &[&str]) -> Option<LadderName> {
    let name = node.text()?;
    if !names.contains(&name.as_str()) {
        let message = format!("unknown ladder {}", node.reader.show(&name));
        node.reader.error(&node.place, message, suggest(&name, names.iter().copied()));
        return None;
    }
    Some(LadderName::new(name))
}

fn strategy(node: &Node<'_, '_>) -> Option<Strategy> {
    let word = node.text()?;
    let found = Strategy::ALL.iter().find(|(known, _)| *known == word).map(|(_, strategy)| *strategy);
    if found.is_none() {
        let message = format!("unknown strategy {}", node.reader.show(&word));
        node.reader.error(&node.place, message, suggest(&word, Strategy::ALL.iter().map(|(known, _)| *known)));
    }
    found
}

/// A step: a deployment, or a table with one.
fn step(node: &Node<'_, '_>, known: &Known<'_>, limits: &Limits) -> Vec<StepConfig> {
    if !node.is_table() {
        let plain = |deployment| StepConfig::of(deployment, limits.timeout);
        return deployments(node, known).into_iter().map(plain).collect();
    }
    let Some(section) = node.section() else { return Vec::new() };
    section.allow(&["deployment", "system", "developer", "timeout", "attempts", "options", "weight"]);
    let text = |key: &str| section.get(key).and_then(|node| node.text());
    let count = |key: &str, most: u64| {
        let number = section.get(key)?.integer(1..=most)?;
        u32::try_from(number).ok()
    };
    let named = section.need("deployment", "write deployment = \"provider/model\"");
    let options = section.section("options").map(|section| section.entries()).unwrap_or_default();
    let (system, developer, attempts) = (text("system"), text("developer"), count("attempts", 100));
    let (timeout, weight) = (timeouts(&section, limits.timeout), count("weight", 1_000_000).unwrap_or(1));
    let options: BTreeMap<_, _> = options.into_iter().map(|(key, node)| (key.to_owned(), node.json())).collect();
    let build = |deployment| StepConfig {
        deployment,
        system: system.clone(),
        developer: developer.clone(),
        timeout,
        attempts,
        options: options.clone(),
        weight,
    };
    let found = named.map(|node| deployments(&node, known)).unwrap_or_default();
    found.into_iter().map(build).collect()
}

/// Reads `provider/model[@credential]`, checking each part.
fn deployments(node: &Node<'_, '_>, known: &Known<'_>) -> Vec<Deployment> {
    let Some(text) = node.text() else { return Vec::new() };
    match checked(node, &text, known) {
        Ok(deployment) => expand(&deployment, &known.providers.credentials),
        Err((message, hint)) => {
            let told = text.split_once('/').is_some_and(|(name, _)| known.providers.broken.contains(name));
            if !told {
                node.reader.error(&node.place, message, hint);
            }
            Vec::new()
        }
    }
}

fn checked(node: &Node<'_, '_>, text: &str, known: &Known<'_>) -> Result<Deployment, (String, Option<String>)> {
    let shown = |word: &str| node.reader.show(word);
    let own = |provider: &ProviderName| {
        let provider = provider.clone();
        known.providers.credentials.iter().filter(move |credential| credential.provider == provider)
    };
    let has = |provider: &ProviderName, name: &CredentialName| own(provider).any(|c| c.name == *name);
    let form = || {
        let model = known.catalog.providers.get(text.trim()).map(|info| info.default_model.as_ref());
        let hint = match model {
            Some(Some(model)) => format!("name a model too, like \"{}/{model}\"", text.trim()),
            Some(None) => format!("name a model too: \"{}/MODEL\"", text.trim()),
            None => "write \"provider/model@credential\"".to_owned(),
        };
        (format!("{} is no deployment", shown(text)), Some(hint))
    };
    let deployment = Deployment::parse_with(text.trim(), has).map_err(|_| form())?;
    let Deployment { provider, model, credential } = &deployment;
    let Some(info) = known.catalog.provider(provider) else {
        let near = known.catalog.nearest(provider.as_str()).map(|near| format!("did you mean `{near}`?"));
        let hint = near.or_else(|| Some(format!("add [providers.{provider}] with `base_url` and `wire`")));
        return Err((format!("unknown provider {}", shown(provider.as_str())), hint));
    };
    if info.wire.is_none() || info.base_url.is_none() {
        let hint = format!("give [providers.{provider}] a `base_url` and a `wire`");
        return Err((format!("{provider} is known by its failures alone; it cannot be asked"), Some(hint)));
    }
    if let Some((id, alias)) = model.as_str().rsplit_once('@').filter(|_| credential.is_none())
        && !id.is_empty()
        && is_slip(alias)
    {
        let hint = suggest(alias, own(provider).map(|c| c.name.as_str()));
        let hint = hint.or_else(|| Some(format!("add it to [[providers.{provider}.credentials]]")));
        return Err((format!("{provider} has no credential {}", shown(alias)), hint));
    }
    if known.providers.listed.contains(provider) && !info.models.iter().any(|listed| listed.id == *model) {
        let hint = suggest(model.as_str(), info.models.iter().map(|listed| listed.id.as_str()));
        return Err((format!("{provider} lists no model {}", shown(model.as_str())), hint));
    }
    Ok(deployment)
}

/// Whether the text after an `@` was meant as a credential: versions of models begin with a digit or are a word for one.
fn is_slip(alias: &str) -> bool {
    let version = alias.starts_with(|c: char| c.is_ascii_digit()) || matches!(alias, "latest" | "default");
    !version && !alias.contains('/')
}

impl Config {
    /// What is probably mistyped in `provider/model[@credential]` as a person named it, with what may have been meant;
    /// none when it may be asked. The same slips as in a step of the file.
    pub fn slip(&self, text: &str) -> Option<(String, Option<String>)> {
        let named = |provider: &ProviderName, name: &CredentialName| {
            self.credentials.iter().any(|known| known.provider == *provider && known.name == *name)
        };
        let Deployment { provider, model, credential } = &Deployment::parse_with(text, named).ok()?;
        let Some(info) = self.provider(provider) else {
            let near = self.catalog.nearest(provider.as_str()).map(|near| format!("did you mean `{near}`?"));
            return Some((format!("there is no provider `{provider}`"), near));
        };
        let own = self.credentials.iter().filter(|known| known.provider == *provider).map(|known| known.name.as_str());
        if let Some((_, alias)) = model.as_str().rsplit_once('@').filter(|_| credential.is_none())
            && is_slip(alias)
        {
            return Some((format!("{provider} has no credential `{alias}`"), suggest(alias, own)));
        }
        let lists_all = self.providers.get(provider).is_some_and(|settings| settings.lists_all_models);
        if lists_all && !info.models.iter().any(|listed| listed.id == *model) {
            let hint = suggest(model.as_str(), info.models.iter().map(|listed| listed.id.as_str()));
            return Some((format!("{provider} lists no model `{model}`"), hint));
        }
        None
    }
}

/// Reports each chain of ladders that comes back to where it began, at its first ladder.
fn cycles(entries: &[(&str, Node<'_, '_>)], key: &str) {
    let next: BTreeMap<&str, (&str, Node<'_, '_>)> = entries
        .iter()
        .filter_map(|(name, node)| {
            let node = node.is_table().then(|| node.section()).flatten()?.get(key)?;
            Some((*name, (node.as_text()?, node)))
        })
        .collect();
    let mut told: Vec<&str> = Vec::new();
    for (name, (_, node)) in &next {
        let mut path = vec![*name];
        while let Some((target, _)) = path.last().and_then(|last| next.get(last)) {
            if target == name && !told.contains(name) {
                told.extend(&path);
                let trail = format!("{} -> {name}", path.join(" -> "));
                let hint = Some("one ladder of the chain must end it".to_owned());
                node.reader.error(&node.place, format!("the chain of `{key}` goes in a circle: {trail}"), hint);
            }
            if path.contains(target) {
                break;
            }
            path.push(target);
        }
    }
}
