//! Checking a URL of the config.

use std::net::IpAddr;

use super::reader::Node;

/// The network of what runs on this machine.
pub const THIS_MACHINE: &str = "this machine";

/// The network of private addresses.
pub const LOCAL_NETWORK: &str = "local network";

/// The network of all other addresses.
pub const INTERNET: &str = "internet";

/// What people paste at the end of a base URL although the wire format adds it.
const ENDPOINTS: &[&str] = &["/chat/completions", "/completions", "/messages", "/responses", "/models"];

/// A base URL without the slash at its end, if it can be one. `variables` are the names that may stand in braces.
pub(super) fn check_base_url(node: &Node<'_, '_>, variables: &[&str]) -> Option<String> {
    let plain = check_url(node, variables, "write \"https://HOST/v1\"")?;
    let refuse = |message: String, hint: &str| {
        node.reader.error(&node.place, message, Some(hint.to_owned()));
        None
    };
    if plain.contains(['?', '#']) {
        return refuse("a query or fragment in a base URL".to_owned(), "query parameters stand in `query`");
    }
    match ENDPOINTS.iter().find(|end| plain.ends_with(*end)) {
        Some(end) => {
            refuse(format!("ends with {end}, which is added to it"), "write the URL up to its version, like /v1")
        }
        None => Some(plain),
    }
}

/// A URL without the slash at its end, if it can be one; `example` is the hint if not.
pub(super) fn check_url(node: &Node<'_, '_>, variables: &[&str], example: &str) -> Option<String> {
    let text = node.text()?;
    let (plain, reader) = (text.trim().trim_end_matches('/').to_owned(), node.reader);
    let mut filled = plain.clone();
    for name in variables {
        filled = filled.replace(&format!("{{{name}}}"), if plain.starts_with('{') { "https://x" } else { "x" });
    }
    let refuse = |message: String, hint: &str| {
        reader.error(&node.place, message, Some(hint.to_owned()));
        None
    };
    let Ok(url) = reqwest::Url::parse(&filled) else {
        return refuse(format!("{} is no URL", reader.show(&plain)), example);
    };
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
        return refuse(format!("{} is no http or https URL", reader.show(&plain)), example);
    }
    if url.password().is_some() || !url.username().is_empty() {
        return refuse("a user or password in a URL".to_owned(), "a key is named by its place, never written");
    }
    let local = url.host_str().is_some_and(|host| network_of_host(host) != INTERNET);
    if url.scheme() == "http" && !local {
        reader.warn(&node.place, "not encrypted: keys and prompts can be read on the way", None);
    }
    Some(plain)
}

/// Where a base URL leads; none while a variable stands in the place of its host.
pub(super) fn network_of(base_url: &str) -> Option<&'static str> {
    let filled = base_url.replace(['{', '}'], "");
    let url = reqwest::Url::parse(&filled).ok().filter(|_| !base_url.starts_with('{'))?;
    url.host_str().map(network_of_host)
}

/// The network of a host, as far as its name or address tells.
fn network_of_host(host: &str) -> &'static str {
    let host = host.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.');
    let (own, near) = match host.parse::<IpAddr>().map(|address| address.to_canonical()) {
        Ok(IpAddr::V4(address)) => {
            (address.is_loopback() || address.is_unspecified(), address.is_private() || address.is_link_local())
        }
        Ok(IpAddr::V6(address)) => (
            address.is_loopback() || address.is_unspecified(),
            address.is_unique_local() || address.is_unicast_link_local(),
        ),
        Err(_) => {
            (host == "localhost" || host.ends_with(".localhost"), !host.contains('.') || host.ends_with(".local"))
        }
    };
    match (own, near) {
        (true, _) => THIS_MACHINE,
        (_, true) => LOCAL_NETWORK,
        _ => INTERNET,
    }
}
