//! A ladder without a config, from the keys that the environment already holds under their usual names.
//!
//! Order decides who pays and who reads the prompt, so it is fixed and known, not an accident of sorting: the providers
//! whose keys people set on purpose come first, servers of this machine last. A provider without a default model in the
//! catalogue is left out; its usual variable is set on many machines for other purposes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::catalog::{Catalog, ProviderInfo};
use crate::domain::{Deployment, LadderName, ProviderName, excerpt};
use crate::policy::PolicySettings;
use crate::process::{Lack, lack};

use super::providers::implied;
use super::types::{Config, CredentialConfig, KeySource, LadderConfig, Limits, StepConfig};
use super::{Problem, problem};

/// The name of the ladder that is assembled, and of the one that is taken when a file does not say.
pub const LADDER: &str = "main";

/// Who comes first; the others follow by name.
const ORDER: &[&str] =
    &["openai", "anthropic", "gemini", "groq", "mistral", "cerebras", "openrouter", "cloudflare", "azure"];

/// Assembles a config from the environment, which `env` reads: one step for each provider whose key is set, with the
/// model that the catalogue names, then the local servers that were found to answer. The ladder has no steps when there
/// is nothing; what could not be used is told in the warnings.
pub fn from_environment(
    env: &dyn Fn(&str) -> Option<String>,
    local_servers: &[ProviderName],
    builtin: Catalog,
) -> Config {
    let mut config = empty(builtin);
    config.credentials = implied(&config.catalog, &[], &BTreeSet::new());
    let missing = config.fill_base_urls(env);
    let mut deployments = Vec::new();
    for info in in_order(&config.catalog).filter(|info| !info.local) {
        let set = |name: &&String| env(name).is_some_and(|value| !value.trim().is_empty());
        let Some(variable) = info.env.iter().find(set) else { continue };
        let Some(model) = info.default_model.clone() else { continue };
        if let Some(lacks) = missing.get(&info.name) {
            let message = format!("{variable} is set but {lacks} is not, so {} is left out", info.name);
            config.warnings.push(warning(variable, message, format!("set {lacks} as well")));
            continue;
        }
        let Some(credential) = config.credentials.iter_mut().find(|c| c.provider == info.name) else { continue };
        credential.key = KeySource::Env(variable.clone());
        let credential = Some(credential.name.clone());
        deployments.push(Deployment { provider: info.name.clone(), model, credential });
    }
    for name in local_servers {
        match config.catalog.provider(name).map(|info| info.default_model.clone()) {
            Some(Some(model)) => deployments.push(Deployment { provider: name.clone(), model, credential: None }),
            _ => {
                let message = format!("{name} answers, but it is not known which model it has");
                let hint = format!("write a config with a step \"{name}/MODEL\"");
                config.warnings.push(warning(name.as_str(), message, hint));
            }
        }
    }
    let timeout = config.limits.timeout;
    let step = |deployment| StepConfig::of(deployment, timeout);
    if let Some(ladder) = config.ladders.get_mut(LADDER) {
        ladder.steps = deployments.into_iter().map(step).collect();
    }
    config
}

/// The hosted providers in the order in which they are asked.
fn in_order(catalog: &Catalog) -> impl Iterator<Item = &ProviderInfo> {
    let first = ORDER.iter().filter_map(|name| catalog.providers.get(*name));
    first.chain(catalog.providers.values().filter(|info| !ORDER.contains(&info.name.as_str())))
}

fn empty(catalog: Catalog) -> Config {
    let limits = Limits::default();
    let ladder = LadderConfig::of(Vec::new(), limits);
    Config {
        path: None,
        default_ladder: LadderName::new(LADDER),
        catalog,
        providers: BTreeMap::new(),
        credentials: Vec::new(),
        ladders: BTreeMap::from([(LadderName::new(LADDER), ladder)]),
        limits,
        policy: PolicySettings::default(),
        alarm: None,
        rules: Vec::new(),
        account_caps: Vec::new(),
        store: None,
        retention: None,
        max_size: None,
        content: false,
        sessions: None,
        baselines: None,
        tools: BTreeMap::new(),
        warnings: Vec::new(),
    }
}

fn warning(key: &str, message: String, hint: String) -> Problem {
    Problem { file: PathBuf::from("environment"), line: None, key: key.to_owned(), message, hint: Some(hint) }
}

impl Config {
    /// Fills the variables of base URLs from the environment and gives, for each provider that lacks one, the name of
    /// the environment variable. To be called once, before anything is sent.
    pub fn fill_base_urls(&mut self, env: &dyn Fn(&str) -> Option<String>) -> BTreeMap<ProviderName, String> {
        let mut missing = BTreeMap::new();
        for info in self.catalog.providers.values_mut() {
            match info.base_url_from(env) {
                Ok(url) => info.base_url = url,
                Err(variable) => {
                    missing.insert(info.name.clone(), variable);
                }
            }
        }
        missing
    }

    /// Fills base URLs and reports those that a ladder needs but the environment does not complete.
    pub fn complete(&mut self, env: &dyn Fn(&str) -> Option<String>) -> Vec<Problem> {
        let missing = self.fill_base_urls(env);
        let used: BTreeSet<_> = self.all_deployments().into_iter().map(|deployment| deployment.provider).collect();
        let file = self.path.clone().unwrap_or_else(|| PathBuf::from("environment"));
        let lacking = missing.into_iter().filter(|(provider, _)| used.contains(provider));
        let problem = |(provider, variable): (ProviderName, String)| Problem {
            file: file.clone(),
            line: None,
            key: problem::Place { line: None, key: "providers".to_owned() }.below(provider.as_str()),
            message: format!("its base URL needs the environment variable {variable}, which is not set"),
            hint: Some(format!("set {variable}, or write the whole `base_url`")),
        };
        lacking.map(problem).chain(self.missing_checks(&file, env)).chain(self.missing_tools(&file, env)).collect()
    }

    /// Tools whose program cannot be started.
    fn missing_tools(&self, file: &Path, env: &dyn Fn(&str) -> Option<String>) -> Vec<Problem> {
        let path = env("PATH").unwrap_or_default();
        let missing = self.tools.values().filter_map(|tool| Some((tool, tool.command.first()?)));
        let missing = missing.filter_map(|(tool, program)| Some((tool, program, lack(program, &path)?)));
        let problem = |(tool, program, lack): (&super::ToolConfig, &String, Lack)| Problem {
            file: file.to_path_buf(),
            line: None,
            key: problem::Place { line: None, key: "tools".to_owned() }.below(&tool.name),
            message: excerpt(&format!("it needs the program `{program}`, which {lack}"), 400),
            hint: Some(lack.hint().to_owned()),
        };
        missing.map(problem).collect()
    }

    /// Checks whose program cannot be started.
    fn missing_checks(&self, file: &Path, env: &dyn Fn(&str) -> Option<String>) -> Vec<Problem> {
        let path = env("PATH").unwrap_or_default();
        let below = |name: &LadderName| {
            let ladders = problem::Place { line: None, key: "ladders".to_owned() }.below(name.as_str());
            problem::Place { line: None, key: ladders }.below("checks")
        };
        let missing = self.ladders.iter().flat_map(|(name, ladder)| {
            let missing = ladder.answer.demands.missing_programs(&path).into_iter();
            missing.map(|(check, program, lack)| (below(name), check.name.clone(), program.to_owned(), lack))
        });
        let problem = |(key, check, program, lack): (String, String, String, Lack)| Problem {
            file: file.to_path_buf(),
            line: None,
            key,
            message: excerpt(&format!("the check `{check}` needs the program `{program}`, which {lack}"), 400),
            hint: Some(lack.hint().to_owned()),
        };
        missing.map(problem).collect()
    }

    /// Where the deployment's key is kept.
    pub fn key_source(&self, deployment: &Deployment) -> &KeySource {
        self.credential(deployment).map_or(&KeySource::None, |credential: &CredentialConfig| &credential.key)
    }
}
