//! What a request is sent to, and the patterns by which a person names such things.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::names::{AccountName, CredentialName, ModelName, ProviderName};

/// What a request is sent to. Written `provider/model@credential`, or `provider/model` without a credential.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Deployment {
    /// The service.
    pub provider: ProviderName,
    /// The provider's own id of the model.
    pub model: ModelName,
    /// The key's alias; none for a server that takes requests without a key.
    pub credential: Option<CredentialName>,
}

/// A deployment with the parts that only config knows, so that scopes can be matched against it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Target {
    /// What is asked.
    pub deployment: Deployment,
    /// Whose quota is counted. One account per credential unless config says otherwise.
    pub account: AccountName,
    /// The region that serves it, where config names one.
    pub region: Option<String>,
}

/// A name that does not have the form that it should have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no {wanted}")]
pub struct ParseNameError {
    /// What was given.
    pub text: String,
    /// The form that was expected.
    pub wanted: &'static str,
}

impl Deployment {
    /// Reads `provider/model[@credential]`, asking `is_credential` whether the text after the last `@` is an alias of
    /// that provider. Model ids may hold `/` and `@` themselves (`@cf/meta/llama`, `claude-3@20241022`).
    ///
    /// # Errors
    /// When there is no provider or no model.
    pub fn parse_with(
        text: &str,
        is_credential: impl Fn(&ProviderName, &CredentialName) -> bool,
    ) -> Result<Self, ParseNameError> {
        let bad = || ParseNameError { text: text.to_owned(), wanted: "deployment (provider/model@credential)" };
        let (provider, rest) = text.split_once('/').ok_or_else(bad)?;
        if provider.is_empty() || rest.is_empty() {
            return Err(bad());
        }
        let provider = ProviderName::new(provider);
        if let Some((model, alias)) = rest.rsplit_once('@') {
            let alias = CredentialName::new(alias);
            if !model.is_empty() && !alias.as_str().is_empty() && is_credential(&provider, &alias) {
                return Ok(Self { provider, model: ModelName::new(model), credential: Some(alias) });
            }
        }
        Ok(Self { provider, model: ModelName::new(rest), credential: None })
    }
}

impl FromStr for Deployment {
    type Err = ParseNameError;

    /// Reads `provider/model[@credential]`, taking any text without a `/` after the last `@` as the credential.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse_with(text, |_, alias| !alias.as_str().contains('/'))
    }
}

impl fmt::Display for Deployment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match &self.credential {
            Some(credential) => format!("{}/{}@{credential}", self.provider, self.model),
            None => format!("{}/{}", self.provider, self.model),
        };
        f.pad(&text)
    }
}

impl Serialize for Deployment {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Deployment {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// A person's pattern over deployments: `provider`, `provider/model`, `provider/model@credential`, `@credential` or
/// `provider@credential`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selector {
    /// Matches this provider only.
    pub provider: Option<ProviderName>,
    /// Matches this model only.
    pub model: Option<ModelName>,
    /// Matches this credential only.
    pub credential: Option<CredentialName>,
}

impl Selector {
    /// Whether the deployment has all the parts that are set.
    pub fn matches(&self, deployment: &Deployment) -> bool {
        self.provider.as_ref().is_none_or(|p| *p == deployment.provider)
            && self.model.as_ref().is_none_or(|m| *m == deployment.model)
            && self.credential.is_none_or_eq(deployment.credential.as_ref())
    }
}

/// "Not asked for, or the same."
trait NoneOrEq<T> {
    fn is_none_or_eq(&self, other: Option<&T>) -> bool;
}

impl<T: PartialEq> NoneOrEq<T> for Option<T> {
    fn is_none_or_eq(&self, other: Option<&T>) -> bool {
        self.as_ref().is_none_or(|mine| Some(mine) == other)
    }
}

impl FromStr for Selector {
    type Err = ParseNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad = || ParseNameError {
            text: text.to_owned(),
            wanted: "selector (provider, provider/model, provider/model@credential, @credential or provider@credential)",
        };
        if text.is_empty() || text.ends_with(['@', '/']) {
            return Err(bad());
        }
        if text.contains('/') && !text.starts_with('@') {
            let Deployment { provider, model, credential } = text.parse().map_err(|_| bad())?;
            return Ok(Self { provider: Some(provider), model: Some(model), credential });
        }
        if text.matches('@').count() > 1 {
            return Err(bad());
        }
        let (provider, credential) = match text.split_once('@') {
            Some((provider, alias)) => (provider, Some(CredentialName::new(alias))),
            None => (text, None),
        };
        let provider = (!provider.is_empty()).then(|| ProviderName::new(provider));
        Ok(Self { provider, model: None, credential })
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(provider) = &self.provider {
            write!(f, "{provider}")?;
        }
        if let Some(model) = &self.model {
            write!(f, "/{model}")?;
        }
        if let Some(credential) = &self.credential {
            write!(f, "@{credential}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deployments_read_back_as_they_are_written() {
        for text in
            ["groq/llama-3.3-70b@team", "lab/qwen3-8b", "openrouter/meta/llama:free@own", "cloudflare/@cf/meta/llama"]
        {
            assert_eq!(text.parse::<Deployment>().map(|d| d.to_string()), Ok(text.to_owned()));
        }
    }

    #[test]
    fn an_at_sign_of_a_model_is_no_credential_when_none_has_that_name() {
        let parsed = Deployment::parse_with("vertex/claude-3@20241022", |_, alias| *alias == "team");
        assert_eq!(parsed.map(|d| (d.model, d.credential)), Ok((ModelName::new("claude-3@20241022"), None)));
    }

    #[test]
    fn names_without_a_model_are_refused() {
        for text in ["groq", "groq/", "/x", ""] {
            assert!(text.parse::<Deployment>().is_err(), "{text}");
        }
    }

    #[test]
    fn selectors_match_what_they_name() {
        let deployment: Deployment = "groq/llama@team".parse().expect("a deployment");
        for text in ["groq", "groq/llama", "groq/llama@team", "@team", "groq@team"] {
            let selector: Selector = text.parse().expect("a selector");
            assert!(selector.matches(&deployment), "{text}");
            assert_eq!(selector.to_string(), text);
        }
        for text in ["grok", "groq/other", "groq/llama@own", "@own", "groq@own"] {
            assert!(!text.parse::<Selector>().expect("a selector").matches(&deployment), "{text}");
        }
        for text in ["", "groq@", "groq/", "a@b@c", "@a@b"] {
            assert!(text.parse::<Selector>().is_err(), "{text}");
        }
    }
}
