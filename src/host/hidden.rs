//! What the programs that we start must not find in their environment.
//!
//! That is our own keys: what a provider echoes or a tool prints goes to other providers, and none of them may get them. It is
//! not every secret of the user's. A tool is a program of the operator's own, and one that deploys to a cloud needs the
//! cloud's key; which variables it is to have is the operator's to say, with `env -u NAME` in its `command`. To guess by names
//! would break such tools and would still miss `DATABASE_URL`.

use std::collections::{BTreeMap, BTreeSet};

use crate::config::{Config, KeySource};
use crate::domain::Redactor;

/// The variables that a command must not find: those that the config takes keys from, and whatever else holds a key.
pub fn hidden_variables(env: &BTreeMap<String, String>, config: &Config, redactor: &Redactor) -> Vec<String> {
    let webhook = config.alarm.as_ref().and_then(|alarm| alarm.webhook.as_ref()).map(|webhook| &webhook.secret);
    let sources = config.credentials.iter().map(|credential| &credential.key).chain(webhook);
    // Also where a config says nothing of them: they are the usual names of keys.
    let usual = config.catalog.providers.values().flat_map(|provider| &provider.env);
    let named: BTreeSet<&String> = sources
        .flat_map(|source| match source {
            KeySource::Env(name) => std::slice::from_ref(name),
            KeySource::AnyEnv(names) => names.as_slice(),
            KeySource::File(_) | KeySource::Command(_) | KeySource::None => &[],
        })
        .chain(usual)
        .collect();
    let holds_key = |value: &str| matches!(redactor.redact(value), std::borrow::Cow::Owned(_));
    let hidden = |(name, value): &(&String, &String)| named.contains(name) || holds_key(value);
    env.iter().filter(hidden).map(|(name, _)| name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Secret;

    #[test]
    fn what_holds_a_key_is_hidden_and_nothing_else() {
        let text = "[providers.p]\nwire = \"openai\"\nbase_url = \"http://localhost:1\"\n\
                    [[providers.p.credentials]]\nname = \"own\"\nkey = { env = \"OWN_KEY\" }\n\
                    [ladders.l]\nsteps = [\"p/m\"]\n";
        let catalog = crate::catalog::Catalog::builtin().expect("the catalogue");
        let config = crate::config::parse(text, "llmr.toml".as_ref(), catalog).expect("a config");
        let redactor = Redactor::new([Secret::new("abcdefgh12345678")]);
        let env = [
            ("OWN_KEY", "x"),
            ("OTHER", "is abcdefgh12345678"),
            ("PATH", "/bin"),
            ("GROQ_API_KEY", "y"),
            ("AWS_SECRET_ACCESS_KEY", "z"),
        ];
        let env = env.map(|(name, value)| (name.to_owned(), value.to_owned())).into_iter().collect();
        let hidden = hidden_variables(&env, &config, &redactor);
        assert_eq!(hidden, ["GROQ_API_KEY", "OTHER", "OWN_KEY"], "a tool's own keys stay");
    }
}
