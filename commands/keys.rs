//! Fetching keys, and looking for servers on this machine.

use std::io;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::process::{Command, Stdio};
use std::time::Duration;

use llmr::catalog::Catalog;
use llmr::config::{CredentialConfig, KeyError};
use llmr::domain::{ProviderName, Secret};

use crate::context::Context;

/// Fetches the key of a credential from where the config says that it is.
///
/// # Errors
/// Names the place, the credential and what to do.
pub fn fetch(credential: &CredentialConfig, context: &Context) -> Result<Secret, KeyError> {
    credential.resolve(&|name| context.env(name), &|path| std::fs::read_to_string(path), &output_of)
}

/// What a command prints. Its standard error is the user's, so that a password prompt is seen.
fn output_of(words: &[String]) -> io::Result<String> {
    let (program, arguments) = words.split_first().ok_or_else(|| io::Error::other("the command is empty"))?;
    let output = Command::new(program).args(arguments).stdin(Stdio::inherit()).stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(io::Error::other(output.status.to_string()));
    }
    String::from_utf8(output.stdout).map_err(|_| io::Error::other("it printed bytes that are no text"))
}

/// The providers of this machine whose port is open.
pub fn local_servers(catalog: &Catalog, limit: Duration) -> Vec<ProviderName> {
    let local = catalog.providers.values().filter(|provider| provider.local);
    let open = local.filter(|provider| {
        let address = provider.base_url.as_deref().and_then(address);
        address.is_some_and(|address| TcpStream::connect_timeout(&address, limit).is_ok())
    });
    open.map(|provider| provider.name.clone()).collect()
}

/// The address in a base URL.
fn address(url: &str) -> Option<SocketAddr> {
    let authority = url.split_once("://")?.1.split('/').next()?;
    authority.to_socket_addrs().ok()?.next()
}
