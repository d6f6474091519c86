//! What the config says of a deployment, a key or a ladder.

use crate::catalog::{Cap, ProviderInfo, SourceKind};
use crate::domain::{AccountName, CredentialName, Deployment, Dimension, LadderName, ProviderName, Target};

use super::types::{AccountCap, Config, CredentialConfig};

impl Config {
    /// The credentials of one provider, in the order of the file.
    pub fn credentials_of(&self, provider: &ProviderName) -> impl Iterator<Item = &CredentialConfig> {
        let provider = provider.clone();
        self.credentials.iter().filter(move |credential| credential.provider == provider)
    }

    /// The credential of a deployment; none for one that is sent without a key.
    pub fn credential(&self, deployment: &Deployment) -> Option<&CredentialConfig> {
        let name = deployment.credential.as_ref()?;
        self.credentials.iter().find(|c| c.provider == deployment.provider && c.name == *name)
    }

    /// The deployment with the parts that only the config knows. Without a credential the account is the provider's
    /// own name.
    pub fn target(&self, deployment: &Deployment) -> Target {
        let account = self.credential(deployment).map(|credential| credential.account.clone());
        Target {
            deployment: deployment.clone(),
            account: account.unwrap_or_else(|| AccountName::new(deployment.provider.as_str())),
            region: self.providers.get(&deployment.provider).and_then(|settings| settings.region.clone()),
        }
    }

    /// The limit that holds for a target: one of its account, else the catalogue's.
    pub fn cap(&self, target: &Target, dimension: Dimension) -> Option<&Cap> {
        let Deployment { provider, model, .. } = &target.deployment;
        let fits = |cap: &&AccountCap| {
            let pattern = cap.cap.model.as_deref();
            cap.provider == *provider
                && cap.account == target.account
                && cap.cap.dimension == dimension
                && pattern.is_none_or(|pattern| crate::catalog::matches_pattern(pattern, model.as_str()))
        };
        // A limit of exactly this model says more than one of all models of the account.
        let own = self.account_caps.iter().filter(fits).max_by_key(|cap| cap.cap.model.is_some());
        own.map(|own| &own.cap).or_else(|| self.catalog.reset_clock(provider, Some(model), dimension))
    }

    /// Whether the file itself limits the calls of the provider.
    pub fn limits_calls_of(&self, provider: &ProviderName) -> bool {
        let is_own = |cap: &Cap| cap.source == SourceKind::Config && cap.limit.is_some();
        let of_account = self.account_caps.iter().any(|cap| cap.provider == *provider && is_own(&cap.cap));
        of_account || self.provider(provider).is_some_and(|info| info.caps.iter().any(is_own))
    }

    /// Reads `provider/model[@credential]` as this config knows credentials; without one, a deployment for each of the
    /// provider's credentials in order, or one without a key if it has none.
    ///
    /// # Errors
    /// When the text has another form.
    pub fn deployments(&self, text: &str) -> Result<Vec<Deployment>, crate::domain::ParseNameError> {
        let known = |provider: &ProviderName, name: &CredentialName| {
            self.credentials.iter().any(|c| c.provider == *provider && c.name == *name)
        };
        let deployment = Deployment::parse_with(text, known)?;
        Ok(super::steps::expand(&deployment, &self.credentials))
    }

    /// What the catalogue knows of the provider.
    pub fn provider(&self, name: &ProviderName) -> Option<&ProviderInfo> {
        self.catalog.provider(name)
    }

    /// Every deployment of every ladder, each once.
    pub fn all_deployments(&self) -> Vec<Deployment> {
        let steps = self.ladders.values().flat_map(|ladder| &ladder.steps);
        let resorts = self.ladders.values().filter_map(|ladder| ladder.last_resort.as_ref());
        let all: std::collections::BTreeSet<_> = steps.map(|step| &step.deployment).chain(resorts).collect();
        all.into_iter().cloned().collect()
    }

    /// How many ways a ladder can fail on its own: steps that share a backend, or else the account at a provider, fall
    /// together.
    pub fn failure_domains(&self, ladder: &LadderName) -> usize {
        let Some(ladder) = self.ladders.get(ladder) else { return 0 };
        let domains: std::collections::BTreeSet<_> =
            ladder.steps.iter().map(|step| self.failure_domain(&step.deployment)).collect();
        domains.len()
    }

    /// The name of what falls together with the deployment.
    pub fn failure_domain(&self, deployment: &Deployment) -> String {
        let backend = self.providers.get(&deployment.provider).and_then(|settings| settings.backend.as_ref());
        match backend {
            Some(backend) => format!("backend {backend}"),
            None => format!("{} account {}", deployment.provider, self.target(deployment).account),
        }
    }
}
