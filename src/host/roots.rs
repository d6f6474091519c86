//! Whom TLS trusts beside the compiled-in roots, and through which proxy.

use std::io;
use std::path::PathBuf;

use crate::config::Config;
use crate::transport::TransportOptions;

use super::Host;

/// Further root certificates cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read the certificates in {path}: {source}", path = .path.display())]
pub struct RootsError {
    /// The file.
    pub path: PathBuf,
    /// What the system says.
    pub source: io::Error,
}

/// Further root certificates from the config and the environment, and the proxy. Without TLS none is read: a bundle of
/// a system's roots costs as much as the rest of a short request.
///
/// # Errors
/// When a file of certificates cannot be read.
pub fn transport_options<'a>(
    mut urls: impl Iterator<Item = &'a str>,
    config: &Config,
    host: &Host,
) -> Result<TransportOptions, RootsError> {
    if !urls.any(|url| url.starts_with("https:")) {
        return Ok(TransportOptions::default());
    }
    let files = config.providers.values().filter_map(|settings| settings.ca_file.clone());
    let usual = host.env_path("SSL_CERT_FILE");
    let read = |path: PathBuf| std::fs::read(&path).map_err(|source| RootsError { path, source });
    let proxy = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"].iter().find_map(|name| host.env(name));
    Ok(TransportOptions {
        ca_pems: files.chain(usual).map(read).collect::<Result<_, _>>()?,
        proxy: proxy.filter(|proxy| !proxy.is_empty()),
    })
}
