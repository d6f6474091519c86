//! `llmr.toml`: what a person wants, checked as a whole before anything is sent or written.
//!
//! A config is read once, completely, and every mistake in it is told at once with its line, its key and a way out; a
//! person who has to run a program five times to learn of five slips has been wronged four times. What is good becomes
//! plain data: ladders whose steps are deployments, limits with defaults filled in, a catalogue that already holds what
//! the file changes. Keys are not part of it, only where they are kept. Without a file the same data is assembled from
//! the keys that the environment already holds.

mod alarm;
mod answer;
mod bar;
mod conditions;
mod domains;
mod environment;
mod headers;
mod key;
mod limits;
mod lookup;
mod problem;
mod providers;
mod reader;
mod rules;
mod steps;
mod store;
mod template;
mod tools;
mod types;
mod url;

use std::path::Path;
use std::time::Duration;

use toml::de::DeTable;

use crate::catalog::Catalog;
use crate::domain::LadderName;
use crate::policy::PolicySettings;

pub use crate::catalog::parse_duration;
pub use crate::ladder::{LatencyOf, OnInvalid, Ranking, Strategy};
pub use domains::{Domain, DomainKind, Domains};
pub use environment::{LADDER, from_environment};
pub use key::{KeyError, at_home, resolve_key};
pub use problem::Problem;
pub use template::template;
pub use tools::{KeyTemplate, TOOL_TIMEOUT, ToolConfig, arguments_schema, is_tool_name};
pub use types::{
    AccountCap, Alarm, AnswerConfig, Bar, CachePreference, Config, CredentialConfig, Hedge, KeySource, LadderConfig,
    Limits, OnUnknown, ProviderSettings, StepConfig, StreamPolicy, Webhook,
};
pub use url::{INTERNET, LOCAL_NETWORK, THIS_MACHINE};

use reader::{Reader, Section};

/// The largest file that is read, in bytes.
const LARGEST: usize = 4 << 20;

const ROOT_KEYS: &[&str] = &[
    "default_ladder",
    "providers",
    "ladders",
    "limits",
    "breaker",
    "cooldown",
    "alarm",
    "rules",
    "caps",
    "store",
    "usage",
    "tools",
];

/// Reads the text of the file over the built-in catalogue.
///
/// # Errors
/// All that is wrong with it, in the order of the lines.
pub fn parse(text: &str, file: &Path, builtin: Catalog) -> Result<Config, Vec<Problem>> {
    let reader = Reader::new(text, file);
    if text.len() > LARGEST {
        let place = problem::Place { line: None, key: String::new() };
        reader.error(&place, format!("larger than {} MiB", LARGEST >> 20), None);
        return Err(reader.finish().0);
    }
    let (document, mistakes) = DeTable::parse_recoverable(text);
    if !mistakes.is_empty() {
        mistakes.iter().for_each(|mistake| reader.syntax(mistake));
        return Err(reader.finish().0);
    }
    let mut config = read(&Section::root(&reader, document.get_ref()), &reader, builtin);
    let (errors, warnings) = reader.finish();
    if !errors.is_empty() {
        return Err(errors);
    }
    config.path = Some(file.to_path_buf());
    config.warnings = warnings;
    Ok(config)
}

fn read(root: &Section<'_, '_>, reader: &Reader, mut catalog: Catalog) -> Config {
    root.allow(ROOT_KEYS);
    let providers = providers::providers(root, &mut catalog);
    let account_caps = rules::caps(root, &mut catalog);
    let limits = match root.section("limits") {
        Some(section) => {
            section.allow(limits::LIMIT_KEYS);
            limits::limits(&section, Limits::default())
        }
        None => Limits::default(),
    };
    let tools = tools::tools(root);
    let named = root.section("tools").map(|section| section.entries()).unwrap_or_default();
    let named: Vec<&str> = named.iter().map(|(name, _)| *name).collect();
    let known = steps::Known { catalog: &catalog, providers: &providers, tools: &named };
    let ladders = steps::ladders(root, &known, limits);
    let mut policy = limits::policy(root);
    policy.lease = lease(&policy, ladders.values());
    let store = store::store(root, reader);
    Config {
        path: None,
        default_ladder: default_ladder(root),
        rules: rules::rules(root, &catalog),
        catalog,
        providers: providers.settings,
        credentials: providers.credentials,
        ladders,
        limits,
        policy,
        alarm: alarm::alarm(root),
        account_caps,
        store: store.path,
        retention: store.retention,
        max_size: store.max_size,
        content: store.content,
        sessions: store.sessions,
        baselines: store.baselines,
        tools,
        warnings: Vec::new(),
    }
}

/// A probe's lease must outlive the longest attempt, or a slow probe would let a second one pass.
fn lease<'a>(policy: &PolicySettings, ladders: impl Iterator<Item = &'a LadderConfig>) -> Duration {
    let steps = ladders.flat_map(|ladder| &ladder.steps);
    let longest = steps.map(|step| step.timeout.connect + step.timeout.total).max().unwrap_or_default();
    policy.lease.max(longest + Duration::from_secs(25))
}

/// The ladder that is named; else the only one, else `main`.
fn default_ladder(root: &Section<'_, '_>) -> LadderName {
    let section = root.get("ladders").filter(reader::Node::is_table).and_then(|node| node.section());
    let entries = section.map(|section| section.entries()).unwrap_or_default();
    let names: Vec<&str> = entries.iter().map(|(name, _)| *name).collect();
    if let Some(node) = root.get("default_ladder") {
        return steps::named_ladder(&node, &names).unwrap_or_else(|| LadderName::new(LADDER));
    }
    match names.as_slice() {
        [only] => LadderName::new(*only),
        several if several.is_empty() || several.contains(&LADDER) => LadderName::new(LADDER),
        several => {
            root.need("default_ladder", &format!("name one of {}", several.join(", ")));
            LadderName::new(LADDER)
        }
    }
}

#[cfg(test)]
mod tests;
