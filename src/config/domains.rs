//! What the steps of a ladder share, and so what falls together.
//!
//! A ladder is as good as its least related steps. Two keys of one account are spent at once, two servers in one rack
//! lose power at once, and a model that is asked directly and through an aggregator may be the same service twice. So
//! each step is placed in six dimensions, and steps of the same place are named. What the config does not declare (who
//! knows a hosted provider's region?) is not known to be shared and not known to be separate; it is counted as neither,
//! and listed, so that nobody takes silence for independence.

use std::collections::BTreeSet;

use crate::catalog::{ProviderInfo, model_family};
use crate::domain::{Deployment, LadderName, ProviderName};

use super::types::Config;
use super::url::{INTERNET, network_of};

/// In what respect steps can be the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DomainKind {
    /// The service.
    Provider,
    /// Whose quota is used; a provider that wants no key counts as one account.
    Account,
    /// The weights, whatever their host calls them.
    ModelFamily,
    /// What the config names as being behind the provider.
    Backend,
    /// Where the config says that it is served.
    Region,
    /// What lies between here and there.
    Network,
}

impl DomainKind {
    /// All of them.
    pub const ALL: &'static [Self] =
        &[Self::Provider, Self::Account, Self::ModelFamily, Self::Backend, Self::Region, Self::Network];

    /// The word in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Provider => "provider",
            Self::Account => "account",
            Self::ModelFamily => "model_family",
            Self::Backend => "backend",
            Self::Region => "region",
            Self::Network => "network",
        }
    }
}

/// The steps that are the same in one respect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Domain {
    /// In which respect.
    pub kind: DomainKind,
    /// What they have in common.
    pub name: String,
    /// Whose account it is; accounts of the same name elsewhere are others. None for the other kinds.
    pub provider: Option<ProviderName>,
    /// The steps by index, in order.
    pub steps: Vec<usize>,
    /// Those of a model's providers that pass requests on, where the ladder asks the model at another one as well.
    pub through: Vec<ProviderName>,
}

/// What the steps of one ladder share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Domains {
    /// How many groups of steps are left when those of one account or of one backend count as one.
    pub independent: usize,
    /// The steps.
    pub steps: Vec<Deployment>,
    known: Vec<Domain>,
}

impl Domains {
    /// What is known in this respect, in the order of the first steps.
    pub fn of(&self, kind: DomainKind) -> impl Iterator<Item = &Domain> {
        self.known.iter().filter(move |domain| domain.kind == kind)
    }

    /// What more than one step has in common.
    pub fn shared(&self) -> impl Iterator<Item = &Domain> {
        self.known.iter().filter(|domain| domain.steps.len() > 1)
    }

    /// What all steps have in common: when it fails, nobody is left to answer.
    pub fn single_failures(&self) -> impl Iterator<Item = &Domain> {
        self.known.iter().filter(|domain| self.takes_all(domain))
    }

    /// Whether all steps fall with it.
    pub fn takes_all(&self, domain: &Domain) -> bool {
        domain.steps.len() == self.steps.len()
    }

    /// The steps of which nothing is known in this respect.
    pub fn unknown(&self, kind: DomainKind) -> Vec<usize> {
        let known: BTreeSet<usize> = self.of(kind).flat_map(|domain| &domain.steps).copied().collect();
        (0..self.steps.len()).filter(|step| !known.contains(step)).collect()
    }

    fn add(&mut self, kind: DomainKind, name: String, provider: Option<ProviderName>, step: usize) {
        let same = |domain: &&mut Domain| domain.kind == kind && domain.name == name && domain.provider == provider;
        match self.known.iter_mut().find(same) {
            Some(domain) => domain.steps.push(step),
            None => self.known.push(Domain { kind, name, provider, steps: vec![step], through: Vec::new() }),
        }
    }
}

impl Config {
    /// What the steps of the ladder share; nothing for a ladder that is not there.
    pub fn domains(&self, ladder: &LadderName) -> Domains {
        let steps = self.ladders.get(ladder).map(|ladder| ladder.steps.as_slice()).unwrap_or_default();
        let steps: Vec<Deployment> = steps.iter().map(|step| step.deployment.clone()).collect();
        let mut domains =
            Domains { independent: self.failure_domains(ladder), steps: steps.clone(), known: Vec::new() };
        for kind in DomainKind::ALL {
            for (step, deployment) in steps.iter().enumerate() {
                if let Some(name) = self.domain_name(*kind, deployment) {
                    let provider = (*kind == DomainKind::Account).then(|| deployment.provider.clone());
                    domains.add(*kind, name, provider, step);
                }
            }
        }
        let models = domains.known.iter_mut().filter(|domain| domain.kind == DomainKind::ModelFamily);
        models.for_each(|model| model.through = self.aggregators(&model.steps, &steps));
        domains
    }

    fn domain_name(&self, kind: DomainKind, deployment: &Deployment) -> Option<String> {
        let settings = self.providers.get(&deployment.provider);
        match kind {
            DomainKind::Provider => Some(deployment.provider.to_string()),
            DomainKind::Account => Some(self.target(deployment).account.to_string()),
            DomainKind::ModelFamily => model_family(&deployment.model),
            DomainKind::Backend => settings?.backend.clone(),
            DomainKind::Region => settings?.region.clone(),
            DomainKind::Network => settings
                .and_then(|settings| settings.network.clone())
                .or_else(|| network(self.provider(&deployment.provider)?, deployment)),
        }
    }

    /// Who of the providers of these steps passes requests on, if they have more than one provider.
    fn aggregators(&self, of: &[usize], steps: &[Deployment]) -> Vec<ProviderName> {
        let providers: BTreeSet<_> = of.iter().filter_map(|step| steps.get(*step)).map(|step| &step.provider).collect();
        let passes_on = |name: &&&ProviderName| self.provider(name).is_some_and(|info| info.aggregator);
        let several = providers.len() > 1;
        providers.iter().filter(|_| several).filter(passes_on).copied().cloned().collect()
    }
}

/// The network by the address.
fn network(info: &ProviderInfo, deployment: &Deployment) -> Option<String> {
    // A server on this machine may pass on what it calls a cloud model.
    if info.local && deployment.model.as_str().ends_with("cloud") {
        return Some(INTERNET.to_owned());
    }
    network_of(info.base_url.as_deref()?).map(str::to_owned)
}

#[cfg(test)]
#[path = "domains_tests.rs"]
mod tests;
