//! What the config says of a deployment, as far as the state has to do with it.

use crate::config::Config;
use crate::domain::{Deployment, Dimension, ProviderName};
use crate::policy::Gauge;

use super::fingerprint::digest;

/// A salted fingerprint of all that decides how a provider is reached. With another one, what a person had to mend may
/// be mended. It is the same for all deployments of the provider: a hold may cover many of them, and one of the others
/// must not look like news. A key has a fingerprint of its own, and with another account or model no hold covers.
pub fn entry(config: &Config, provider: &ProviderName, salt: &[u8]) -> String {
    let region = config.providers.get(provider).and_then(|settings| settings.region.as_ref());
    let provider = config.provider(provider);
    let reached = provider.map(|provider| {
        let auth = (&provider.auth, &provider.query, &provider.headers);
        (&provider.base_url, &provider.vars, provider.wire, auth, &provider.max_tokens_field)
    });
    // The form that `Debug` gives changes with the program; an update then costs one early look.
    digest(salt, format!("{region:?} {reached:?}").as_bytes())
}

/// What is counted of a deployment's use, with the limits that config and catalogue know.
pub fn gauges(config: &Config, deployment: &Deployment) -> Vec<Gauge> {
    let target = config.target(deployment);
    let caps = Dimension::ALL.iter().filter_map(|dimension| config.cap(&target, *dimension));
    caps.map(|cap| Gauge::new(cap, &target)).collect()
}
