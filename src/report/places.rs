//! Which scopes a person's words name: `hold groq`, `hold @team`.
//!
//! A hold by hand covers what its selector says and nothing else: of `groq/llama@team` one deployment, of `groq/llama` the
//! model with any key, those that a later config adds included. A word must name something that is known, or a slip of
//! the pen would bar nothing and look as if it did. What is known is more than what stands on ladders: a config lets any
//! model of its providers be asked by name.

use std::collections::BTreeSet;

use crate::catalog::nearest_word;
use crate::domain::{CredentialName, Deployment, ModelName, ParseNameError, ProviderName, Scope, Selector};

use super::choice::readings;

/// What can be asked.
#[derive(Debug, Clone, Default)]
pub struct Places {
    /// The deployments of the ladders and of the log.
    pub deployments: Vec<Deployment>,
    /// The models of the config's providers.
    pub models: BTreeSet<(ProviderName, ModelName)>,
    /// The keys of the config's providers.
    pub credentials: BTreeSet<(ProviderName, CredentialName)>,
    /// The config's providers.
    pub providers: BTreeSet<ProviderName>,
}

impl Places {
    /// With the parts of the deployments among those of the config.
    pub fn complete(mut self) -> Self {
        for Deployment { provider, model, credential } in &self.deployments {
            self.providers.insert(provider.clone());
            self.models.insert((provider.clone(), model.clone()));
            self.credentials.extend(credential.iter().map(|key| (provider.clone(), key.clone())));
        }
        self
    }

    /// The scopes that the word names; none when nothing answers to it. Only `@credential` can name several.
    ///
    /// # Errors
    /// When the word is no selector.
    pub fn scopes(&self, word: &str) -> Result<Vec<Scope>, ParseNameError> {
        let readings = readings(word)?;
        // What stands on a ladder or in the log is likelier to be meant than what could be asked besides.
        for known in [Self::asked, Self::could_be_asked] {
            let scopes: BTreeSet<Scope> = readings.iter().flat_map(|selector| known(self, selector)).collect();
            if !scopes.is_empty() {
                return Ok(scopes.into_iter().collect());
            }
        }
        Ok(Vec::new())
    }

    fn asked(&self, selector: &Selector) -> Vec<Scope> {
        let meant = self.deployments.iter().filter(|deployment| selector.matches(deployment));
        meant.map(|deployment| scope(&deployment.provider, selector)).collect()
    }

    fn could_be_asked(&self, selector: &Selector) -> Vec<Scope> {
        let is_known = |provider: &ProviderName| {
            let model = selector.model.as_ref().map(|model| (provider.clone(), model.clone()));
            let key = selector.credential.as_ref().map(|key| (provider.clone(), key.clone()));
            selector.provider.as_ref().is_none_or(|named| named == provider)
                && model.is_none_or(|model| self.models.contains(&model))
                && key.is_none_or(|key| self.credentials.contains(&key))
        };
        self.providers.iter().filter(|provider| is_known(provider)).map(|name| scope(name, selector)).collect()
    }

    /// The word that may have been meant.
    pub fn nearest(&self, word: &str) -> Option<String> {
        let whole = self.deployments.iter().map(ToString::to_string);
        let models = self.models.iter().map(|(provider, model)| format!("{provider}/{model}"));
        let keys = self.credentials.iter().flat_map(|(provider, key)| [format!("@{key}"), format!("{provider}@{key}")]);
        let providers = self.providers.iter().map(ToString::to_string);
        let words: Vec<String> = whole.chain(models).chain(keys).chain(providers).collect();
        nearest_word(word, words.iter().map(String::as_str)).map(str::to_owned)
    }
}

/// Exactly the parts of the selector, at this provider.
fn scope(provider: &ProviderName, selector: &Selector) -> Scope {
    Scope {
        model: selector.model.clone(),
        credential: selector.credential.clone(),
        ..Scope::provider(provider.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places() -> Places {
        let pair = |text: &str| -> (ProviderName, String) {
            let (provider, name) = text.split_once(' ').expect("two words");
            (provider.into(), name.to_owned())
        };
        Places {
            deployments: ["groq/llama@team", "groq/qwen@own", "lab/qwen", "vertex/claude@2024"]
                .map(|text| Deployment::parse_with(text, |_, key| *key != "2024").expect("a deployment"))
                .to_vec(),
            models: BTreeSet::from([pair("spare mixtral")].map(|(p, m)| (p, ModelName::new(m)))),
            credentials: BTreeSet::from(
                [pair("spare team"), pair("spare env"), pair("groq third")].map(|(p, c)| (p, CredentialName::new(c))),
            ),
            providers: BTreeSet::from(["spare".into()]),
        }
        .complete()
    }

    #[test]
    fn a_word_names_the_scope_of_its_parts() {
        for (word, scopes) in [
            ("groq", vec!["groq"]),
            ("groq/llama", vec!["groq/llama"]),
            ("groq/llama@team", vec!["groq/llama@team"]),
            ("groq@own", vec!["groq@own"]),
            // A key that stands on a ladder is meant before one of that name that only could be used.
            ("@team", vec!["groq@team"]),
            ("@env", vec!["spare@env"]),
            ("groq/llama@third", vec!["groq/llama@third"]),
            ("spare", vec!["spare"]),
            ("spare/mixtral", vec!["spare/mixtral"]),
            // An id may hold what looks like a key.
            ("vertex/claude@2024", vec!["vertex/claude@2024"]),
            ("groq/lama", vec![]),
            ("groq/llama@env", vec![]),
            ("spare/llama", vec![]),
            ("main", vec![]),
            ("@nobody", vec![]),
        ] {
            let found = places().scopes(word).expect("a selector");
            assert_eq!(found.iter().map(ToString::to_string).collect::<Vec<_>>(), scopes, "{word}");
        }
        assert_eq!(places().scopes("vertex/claude@2024").expect("a selector")[0].credential, None);
        assert!(places().scopes("a@b@").is_err());
    }

    #[test]
    fn what_nobody_knows_has_a_neighbour() {
        for (word, near) in
            [("groq/lama", "groq/llama"), ("@taem", "@team"), ("grok", "groq"), ("lab/qwen3", "lab/qwen")]
        {
            assert_eq!(places().nearest(word).as_deref(), Some(near));
        }
        assert_eq!(places().nearest("something else"), None);
    }
}
