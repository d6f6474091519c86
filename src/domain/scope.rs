//! Patterns over deployments: what a hold covers.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::deployment::{Deployment, Selector, Target};
use super::failure::ScopeLevel;
use super::names::{AccountName, CredentialName, ModelName, ProviderName};

/// A pattern over deployments. It covers every target that matches all the parts that are set; a part that is not set
/// matches anything.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Scope {
    /// Always set: nothing is held for all providers at once.
    pub provider: ProviderName,
    /// Whose quota is meant.
    pub account: Option<AccountName>,
    /// Which key is meant.
    pub credential: Option<CredentialName>,
    /// Which model is meant.
    pub model: Option<ModelName>,
    /// Which region is meant.
    pub region: Option<String>,
}

impl Scope {
    /// Everything of one provider.
    pub fn provider(provider: ProviderName) -> Self {
        Self { provider, account: None, credential: None, model: None, region: None }
    }

    /// All keys and models of the target's account.
    pub fn account(target: &Target) -> Self {
        Self { account: Some(target.account.clone()), ..Self::provider(target.deployment.provider.clone()) }
    }

    /// One model on all keys of the target's account.
    pub fn account_model(target: &Target) -> Self {
        Self { model: Some(target.deployment.model.clone()), ..Self::account(target) }
    }

    /// All models of the target's key. Without a key that is the whole account.
    pub fn credential(target: &Target) -> Self {
        match &target.deployment.credential {
            Some(credential) => {
                Self { credential: Some(credential.clone()), ..Self::provider(target.deployment.provider.clone()) }
            }
            None => Self::account(target),
        }
    }

    /// Exactly the target's deployment.
    pub fn deployment(target: &Target) -> Self {
        Self { model: Some(target.deployment.model.clone()), ..Self::credential(target) }
    }

    /// One model of the provider, whatever the key.
    pub fn provider_model(target: &Target) -> Self {
        Self { model: Some(target.deployment.model.clone()), ..Self::provider(target.deployment.provider.clone()) }
    }

    /// Everything that the target's region serves; without a region the whole provider.
    pub fn region(target: &Target) -> Self {
        Self { region: target.region.clone(), ..Self::provider(target.deployment.provider.clone()) }
    }

    /// Whether the target matches all the parts that are set.
    pub fn covers(&self, target: &Target) -> bool {
        let Deployment { provider, model, credential } = &target.deployment;
        self.provider == *provider
            && self.account.as_ref().is_none_or(|a| *a == target.account)
            && self.credential.as_ref().is_none_or(|c| Some(c) == credential.as_ref())
            && self.model.as_ref().is_none_or(|m| m == model)
            && self.region.as_ref().is_none_or(|r| Some(r) == target.region.as_ref())
    }

    /// Whether a person's selector means this scope, as far as the scope itself can tell: the parts that both name are
    /// the same, and the selector names none that the scope leaves open.
    pub fn named_by(&self, selector: &Selector) -> bool {
        selector.provider.as_ref().is_none_or(|p| *p == self.provider)
            && selector.model.as_ref().is_none_or(|m| Some(m) == self.model.as_ref())
            && selector.credential.as_ref().is_none_or(|c| Some(c) == self.credential.as_ref())
    }

    /// The word for how much is covered.
    pub fn level(&self) -> ScopeLevel {
        match self {
            Self { model: Some(_), .. } => ScopeLevel::Model,
            Self { credential: Some(_), .. } => ScopeLevel::Credential,
            Self { account: Some(_), .. } => ScopeLevel::Account,
            Self { region: Some(_), .. } => ScopeLevel::Region,
            _ => ScopeLevel::Provider,
        }
    }
}

impl fmt::Display for Scope {
    /// `provider/model@credential`, with ` account=NAME` and ` region=NAME` where they are set.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = self.provider.to_string();
        if let Some(model) = &self.model {
            text.push_str(&format!("/{model}"));
        }
        if let Some(credential) = &self.credential {
            text.push_str(&format!("@{credential}"));
        }
        if let Some(account) = &self.account {
            text.push_str(&format!(" account={account}"));
        }
        if let Some(region) = &self.region {
            text.push_str(&format!(" region={region}"));
        }
        f.pad(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(text: &str, account: &str) -> Target {
        Target { deployment: text.parse().expect("a deployment"), account: account.into(), region: None }
    }

    #[test]
    fn a_scope_covers_what_matches_all_its_parts() {
        let team = target("groq/llama@team", "acme");
        let own = target("groq/qwen@own", "acme");
        assert!(Scope::provider("groq".into()).covers(&own));
        assert!(Scope::account(&team).covers(&own));
        assert!(!Scope::account_model(&team).covers(&own));
        assert!(!Scope::credential(&team).covers(&own));
        assert!(!Scope::deployment(&team).covers(&own));
        assert!(Scope::deployment(&team).covers(&team));
        assert!(!Scope::account(&team).covers(&target("groq/llama@team", "other")));
    }

    #[test]
    fn a_model_of_one_key_is_not_the_key() {
        let team = target("groq/llama@team", "acme");
        let selector: Selector = "@team".parse().expect("a selector");
        assert!(Scope::credential(&team).named_by(&selector));
        assert!(Scope::deployment(&team).named_by(&selector));
        assert!(!Scope::account(&team).named_by(&selector));
    }
}
