//! Sends one HTTP request and yields one reply or one fault; no retry, no redirect, no judgement.
//!
//! One TLS set-up serves the process: *ring* and compiled-in roots, because other choices cost milliseconds at every
//! start, and HTTP/1.1 alone, because one request at a time gains nothing from HTTP/2. Bodies are not compressed: a
//! compressed stream arrives in lumps, and a compressed body can be a bomb.
//!
//! Who calls decides what counts as content, so the timers after the head of a reply are handed in piece by piece
//! ([`Limit`]). Nothing here sleeps; `tokio::time::timeout` only bounds a wait for the network. Dropping a reply or its
//! body closes the connection, which is how a provider learns that nobody wants the rest.

mod body;
mod fault;

use std::fmt;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

pub use body::{Body, ERROR_BODY, PLAIN_BODY, Pieces};
pub use fault::{Fault, Limit};

use crate::domain::Timeouts;
use crate::wire::{HeaderText, HttpRequest};

/// The most headers that a reply may have.
const MAX_HEADERS: usize = 200;

/// The most bytes of headers that are kept of a reply; hyper refuses heads beyond about 400 KB.
const HEADER_BYTES: usize = 64 * 1024;

/// What differs from one installation to another.
#[derive(Clone, Default)]
pub struct TransportOptions {
    /// The contents of PEM files with further root certificates.
    pub ca_pems: Vec<Vec<u8>>,
    /// The proxy for all but this machine's own servers; no environment variable is looked at.
    pub proxy: Option<String>,
}

impl fmt::Debug for TransportOptions {
    /// A proxy's URL may hold a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (roots, proxy) = (self.ca_pems.len(), self.proxy.is_some());
        f.debug_struct("TransportOptions").field("ca_pems", &roots).field("proxy", &proxy).finish()
    }
}

/// Why nothing can be sent at all.
#[derive(Debug, thiserror::Error)]
pub enum TransportError {
    /// A PEM file of root certificates is unusable.
    #[error("root certificate {at}: {why}")]
    Certificate {
        /// Which one of the options' list, from 0.
        at: usize,
        /// What is wrong with it.
        why: String,
    },
    /// The proxy is no usable URL. It is not shown: it may hold a password.
    #[error("the proxy's URL is not usable")]
    Proxy,
    /// TLS or the client could not be set up.
    #[error("the HTTP client could not be set up: {0}")]
    Setup(String),
}

/// Sends requests. One per process; building it costs some 0.1 ms, so it is built by who is about to send.
pub struct Transport {
    tls: rustls::ClientConfig,
    proxy: Option<reqwest::Proxy>,
    /// The connect timer belongs to a client, so there is one client for each of the few settings of it.
    clients: Mutex<Vec<(Duration, reqwest::Client)>>,
}

impl fmt::Debug for Transport {
    /// A proxy's URL may hold a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transport").field("proxy", &self.proxy.is_some()).finish_non_exhaustive()
    }
}

/// The head of a reply, and its body to come.
#[derive(Debug)]
pub struct Reply {
    /// The HTTP status.
    pub status: u16,
    /// Names in lower case; bytes that are no text are replaced.
    pub headers: Vec<(String, String)>,
    /// What follows.
    pub body: Body,
}

/// What carries a request to its provider and the reply back: sockets, or a rehearsal that needs none.
pub trait Carrier {
    /// Sends the request and waits for the head of the reply, no longer than `first` and `total` allow.
    fn carry<'a>(&'a self, request: &'a HttpRequest, timeouts: &'a Timeouts) -> Carried<'a>;
}

/// The head of a reply to come, or the fault that keeps it from beginning.
pub type Carried<'a> = Pin<Box<dyn Future<Output = Result<Reply, Fault>> + 'a>>;

impl Carrier for Transport {
    fn carry<'a>(&'a self, request: &'a HttpRequest, timeouts: &'a Timeouts) -> Carried<'a> {
        Box::pin(self.send(request, timeouts))
    }
}

impl Transport {
    /// Sets up TLS.
    ///
    /// # Errors
    /// When a certificate or the proxy is unusable.
    pub fn new(options: &TransportOptions) -> Result<Self, TransportError> {
        let mut roots = rustls::RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        for (at, pem) in options.ca_pems.iter().enumerate() {
            add_roots(&mut roots, pem).map_err(|why| TransportError::Certificate { at, why })?;
        }
        let provider = rustls::crypto::ring::default_provider().into();
        let tls = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| TransportError::Setup(error.to_string()))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let own = || reqwest::NoProxy::from_string("localhost,127.0.0.1,::1");
        let proxy = match &options.proxy {
            Some(url) => Some(reqwest::Proxy::all(url).map_err(|_| TransportError::Proxy)?.no_proxy(own())),
            None => None,
        };
        Ok(Self { tls, proxy, clients: Mutex::new(Vec::new()) })
    }

    /// Sends the request and waits for the head of the reply, no longer than `first` and `total` allow.
    ///
    /// # Errors
    /// The fault that kept a reply from beginning.
    pub async fn send(&self, request: &HttpRequest, timeouts: &Timeouts) -> Result<Reply, Fault> {
        let client = self.client(timeouts.connect).map_err(|error| Fault::unsent(&error))?;
        let request = build(&client, request).map_err(|error| Fault::unsent(&error))?;
        let limit = Limit::first(timeouts.first).or(Limit::total(timeouts.total));
        match tokio::time::timeout(limit.time, client.execute(request)).await {
            Err(_) => Err(limit.passed()),
            Ok(Err(error)) => Err(Fault::of_send(error)),
            Ok(Ok(response)) => Ok(Reply {
                status: response.status().as_u16(),
                headers: headers(response.headers()),
                body: Body::new(response),
            }),
        }
    }

    fn client(&self, connect: Duration) -> Result<reqwest::Client, reqwest::Error> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, client)) = clients.iter().find(|(known, _)| *known == connect) {
            return Ok(client.clone());
        }
        let builder = reqwest::Client::builder()
            .tls_backend_preconfigured(self.tls.clone())
            .http1_only()
            .http1_max_headers(MAX_HEADERS)
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .referer(false)
            .connect_timeout(connect)
            // Also keeps the client from looking at the environment.
            .no_proxy();
        let builder = match &self.proxy {
            Some(proxy) => builder.proxy(proxy.clone()),
            None => builder,
        };
        let client = builder.build()?;
        // Settings are few; should they ever not be, the oldest client goes.
        if clients.len() >= 8 {
            clients.remove(0);
        }
        clients.push((connect, client.clone()));
        Ok(client)
    }
}

fn add_roots(roots: &mut rustls::RootCertStore, pem: &[u8]) -> Result<(), String> {
    let mut count = 0;
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let certificate = certificate.map_err(|error| error.to_string())?;
        roots.add(certificate).map_err(|error| error.to_string())?;
        count += 1;
    }
    if count == 0 { Err("there is no certificate in it".to_owned()) } else { Ok(()) }
}

fn build(client: &reqwest::Client, request: &HttpRequest) -> Result<reqwest::Request, reqwest::Error> {
    let method = reqwest::Method::from_bytes(request.method.as_bytes()).unwrap_or(reqwest::Method::POST);
    let mut map = HeaderMap::new();
    map.insert(reqwest::header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    for (name, text) in &request.headers {
        // What cannot be a header was refused when the request was written.
        let Ok(name) = HeaderName::from_bytes(name.as_bytes()) else { continue };
        let Ok(mut value) = HeaderValue::from_str(text.expose()) else { continue };
        value.set_sensitive(matches!(text, HeaderText::Secret(_)));
        map.insert(name, value);
    }
    client.request(method, &request.url).headers(map).body(request.body.clone()).build()
}

fn headers(map: &HeaderMap) -> Vec<(String, String)> {
    let mut left = HEADER_BYTES;
    map.iter()
        .map(|(name, value)| (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned()))
        .take_while(|(name, value)| {
            let size = name.len() + value.len();
            let fits = size <= left;
            left = left.saturating_sub(size);
            fits
        })
        .collect()
}

#[cfg(test)]
mod tests;
