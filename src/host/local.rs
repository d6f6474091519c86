//! Servers of this machine.

use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

use crate::catalog::Catalog;
use crate::domain::ProviderName;

/// How long an unused local server may take to say so.
pub const LOCAL_PROBE: Duration = Duration::from_millis(60);

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
