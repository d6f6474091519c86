//! The person's own config with a scripted provider in the place of each real one.
//!
//! Names, wires, models, windows, prices, accounts and limits stay as they are. What is replaced is where a provider is
//! and what its keys are: no key is read, no command is run, and nothing has an address outside this machine.

use std::collections::{BTreeMap, BTreeSet};

use crate::catalog::Wire;
use crate::config::{Config, CredentialConfig, KeySource};
use crate::domain::{CredentialName, Deployment, LadderName, ProviderName, Secret};
use crate::rehearsal::{Case, Provider, Reply, Script};

/// What plays one part: a provider as it is met with one key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Seat {
    pub(super) provider: ProviderName,
    pub(super) credential: Option<CredentialName>,
}

impl Seat {
    pub(super) fn of(deployment: &Deployment) -> Self {
        Self { provider: deployment.provider.clone(), credential: deployment.credential.clone() }
    }
}

/// What each seat says, request by request, the last reply again and again.
pub(super) type Scripts = BTreeMap<Seat, Vec<Reply>>;

/// All providers of a ladder on loopback, as long as this lives.
pub(super) struct Cast {
    /// The config that knows them instead of the real ones.
    pub(super) config: Config,
    providers: BTreeMap<ProviderName, Provider>,
}

impl Cast {
    /// Starts a provider for each that the ladder could ask; all of them answer well.
    pub(super) fn set(config: &Config, ladder: &LadderName) -> Result<Self, String> {
        let names: BTreeSet<ProviderName> = reachable(config, ladder).into_iter().map(|d| d.provider).collect();
        let mut config = config.clone();
        let mut providers = BTreeMap::new();
        // What is not on stage has no address at all.
        config.catalog.providers.values_mut().for_each(|info| info.base_url = None);
        for name in names {
            let Some(info) = config.catalog.providers.get_mut(&name) else { continue };
            let wire = info.wire.unwrap_or(Wire::OpenAi);
            let provider = Provider::start(wire, super::ways::answer()).map_err(|error| error.to_string())?;
            info.base_url = Some(provider.base_url());
            info.vars.clear();
            providers.insert(name, provider);
        }
        Ok(Self { config, providers })
    }

    /// Gives each provider what it says from now on; who is not in the scripts answers well.
    pub(super) fn play(&self, scripts: &Scripts) {
        for (name, provider) in &self.providers {
            let mut script = Script::from(super::ways::answer());
            for (seat, replies) in scripts.iter().filter(|(seat, _)| seat.provider == *name) {
                match &seat.credential {
                    Some(alias) => {
                        let key = Some(dummy(name, alias));
                        script.cases.push(Case { key, replies: replies.clone(), ..Case::default() });
                    }
                    None => script.replies.clone_from(replies),
                }
            }
            provider.play(script);
        }
    }

    /// How many requests have reached each provider so far.
    pub(super) fn calls(&self) -> BTreeMap<ProviderName, usize> {
        self.providers.iter().map(|(name, provider)| (name.clone(), provider.hits())).collect()
    }

    /// The wire of a provider on stage.
    pub(super) fn wire(&self, provider: &ProviderName) -> Wire {
        self.providers.get(provider).map_or(Wire::OpenAi, Provider::wire)
    }
}

/// A key that opens nothing, in the place of the real one, which is not looked at.
pub(super) fn dummy_key(credential: &CredentialConfig) -> Secret {
    match credential.key {
        KeySource::None => Secret::new(""),
        _ => Secret::new(&dummy(&credential.provider, &credential.name)),
    }
}

fn dummy(provider: &ProviderName, alias: &CredentialName) -> String {
    format!("drill-key-of-{provider}-{alias}")
}

/// The steps of the ladder and its last resort, each once and in order.
pub(super) fn own_steps(config: &Config, ladder: &LadderName) -> Vec<Deployment> {
    let Some(ladder) = config.ladders.get(ladder) else { return Vec::new() };
    let mut all = Vec::new();
    for deployment in ladder.steps.iter().map(|step| &step.deployment).chain(&ladder.last_resort) {
        if !all.contains(deployment) {
            all.push(deployment.clone());
        }
    }
    all
}

/// With the steps of its chains.
pub(super) fn reachable(config: &Config, ladder: &LadderName) -> Vec<Deployment> {
    let chains = config.ladders.get(ladder).map(|ladder| [&ladder.context_window, &ladder.content_policy]);
    let chained = chains.into_iter().flatten().flatten().flat_map(|name| own_steps(config, name));
    own_steps(config, ladder).into_iter().chain(chained).collect()
}
