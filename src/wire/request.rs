//! One HTTP request, and what can keep us from writing it.

use std::fmt;

use serde_json::{Map, Value};

use crate::catalog::{AuthStyle, ModelInfo, ProviderInfo, Wire};
use crate::domain::{ChatRequest, ModelName, ProviderName, Secret};

use super::url;

/// The longest id that goes into a header: beyond it the request would be refused.
const LONGEST_ID: usize = 512;

/// Where a request goes.
#[derive(Debug, Clone, Copy)]
pub struct Endpoint<'a> {
    /// The service, which says the wire format and how the key is sent.
    pub provider: &'a ProviderInfo,
    /// The provider's own id of the model.
    pub model: &'a ModelName,
    /// The base URL, all variables but `{model}` filled in.
    pub base_url: &'a str,
    /// The key; none for a server that takes requests without one.
    pub key: Option<&'a Secret>,
    /// By which the provider may know the request; they go in headers where it has some for them.
    pub ids: Option<Ids<'a>>,
}

/// Ids of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ids<'a> {
    /// By which people find it in logs.
    pub request: &'a str,
    /// By which the provider sees that it is sent again.
    pub idempotency: &'a str,
}

impl Endpoint<'_> {
    /// What the catalogue knows of the model.
    pub(super) fn model_info(&self) -> Option<&ModelInfo> {
        self.provider.models.iter().find(|info| info.id == *self.model)
    }

    /// The length to ask for: what the user wants, but no more than the model is known to give. A ladder sends one
    /// request to many models, and the smallest of them must not refuse it for a number.
    pub(super) fn max_tokens(&self, request: &ChatRequest) -> Option<u64> {
        let ceiling = self.model_info().and_then(|info| info.max_output).unwrap_or(u64::MAX);
        request.max_tokens.map(|wanted| u64::from(wanted).min(ceiling))
    }
}

/// The value of a header.
#[derive(Clone)]
pub enum HeaderText {
    /// Anybody may see it.
    Plain(String),
    /// Holds a key.
    Secret(Secret),
}

impl HeaderText {
    /// The value, for the one place that puts it on the wire.
    pub fn expose(&self) -> &str {
        match self {
            Self::Plain(text) => text,
            Self::Secret(secret) => secret.expose(),
        }
    }
}

impl fmt::Debug for HeaderText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(text) => text.fmt(f),
            Self::Secret(secret) => secret.fmt(f),
        }
    }
}

/// One HTTP request, ready to be sent. The key, if there is one, stands in a header and nowhere else.
#[derive(Clone)]
pub struct HttpRequest {
    /// Always `POST` so far.
    pub method: &'static str,
    /// Where to.
    pub url: String,
    /// Names in lower case, each once.
    pub headers: Vec<(String, HeaderText)>,
    /// JSON.
    pub body: Vec<u8>,
}

impl fmt::Debug for HttpRequest {
    /// Leaves the body out: it holds the user's words and may be megabytes of pictures.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpRequest")
            .field("method", &self.method)
            .field("url", &self.url)
            .field("headers", &self.headers)
            .field("body", &format_args!("{} bytes", self.body.len()))
            .finish()
    }
}

/// Why a request could not be written. None of these is a failure of the provider.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// The provider is known by its signals alone.
    #[error("no wire format is known for provider `{0}`")]
    NoWire(ProviderName),
    /// There is nothing to ask.
    #[error("the conversation has no message")]
    NoMessages,
    /// A tool call of the conversation cannot be one.
    #[error("message {message}: the arguments of the tool call `{name}` cannot be used: {why}")]
    BadArguments {
        /// Which message, from 0.
        message: usize,
        /// The tool.
        name: String,
        /// What is wrong with them.
        why: String,
    },
    /// A tool's result belongs to no call.
    #[error("message {message}: there is no tool call `{id}` before this result of it")]
    NoSuchCall {
        /// Which message, from 0.
        message: usize,
        /// The id that it names.
        id: String,
    },
    /// A tool call of the conversation has no result, or not before somebody speaks again: no provider takes that.
    #[error("message {message}: the tool call `{id}` has no result; one must follow before the assistant speaks again")]
    Unanswered {
        /// Which message holds the call, from 0.
        message: usize,
        /// The call's id.
        id: String,
    },
    /// A tool that is offered cannot be one.
    #[error("the tool `{name}`: {why}")]
    BadTool {
        /// Its name.
        name: String,
        /// What is wrong with it.
        why: String,
    },
    /// Tools are offered twice, and only one of both could be sent.
    #[error("the request offers tools, and the option `{0}` does too; leave one of them out")]
    ToolsTwice(String),
    /// An option would change what the program itself decides.
    #[error("the option `{0}` is set by the program and cannot be overridden")]
    Reserved(String),
    /// The base URL is none.
    #[error("the base URL is not usable: {0}")]
    BadUrl(&'static str),
    /// The base URL holds a variable that nobody filled.
    #[error("the base URL holds the variable `{{{0}}}`, which has no value")]
    Unfilled(String),
    /// The model id cannot stand in a URL.
    #[error("the model id `{0}` cannot stand in a URL")]
    BadModel(String),
    /// A header's name or value cannot be sent. The value is not shown: it may be a key.
    #[error("the header `{0}` cannot be sent: it holds characters that no header may hold")]
    BadHeader(String),
}

/// Lays the user's options over the request object; objects are merged, null takes a field away.
pub(super) fn merge_options(
    body: &mut Map<String, Value>,
    request: &ChatRequest,
    reserved: &[&str],
) -> Result<(), EncodeError> {
    for (name, value) in &request.options {
        if reserved.contains(&name.as_str()) {
            return Err(EncodeError::Reserved(name.clone()));
        }
        merge(body, name, value);
    }
    Ok(())
}

fn merge(into: &mut Map<String, Value>, name: &str, value: &Value) {
    match (into.get_mut(name), value) {
        (_, Value::Null) => {
            into.remove(name);
        }
        (Some(Value::Object(old)), Value::Object(new)) => {
            for (name, value) in new {
                merge(old, name, value);
            }
        }
        _ => {
            into.insert(name.to_owned(), value.clone());
        }
    }
}

/// Puts the pieces together: URL, headers in the provider's style, body.
pub(super) fn assemble(
    endpoint: &Endpoint<'_>,
    wire: Wire,
    stream: bool,
    path: &str,
    body: &Map<String, Value>,
) -> Result<HttpRequest, EncodeError> {
    let url = url::build(endpoint.base_url, endpoint.model.as_str(), path, &endpoint.provider.query)?;
    let accept = if stream { "text/event-stream" } else { "application/json" };
    let mut headers: Vec<(String, HeaderText)> = Vec::new();
    let mut set = |name: &str, value: HeaderText| {
        let name = name.to_ascii_lowercase();
        headers.retain(|(known, _)| *known != name);
        headers.push((name, value));
    };
    let plain = |text: &str| HeaderText::Plain(text.to_owned());
    set("content-type", plain("application/json"));
    set("accept", plain(accept));
    set("user-agent", plain(concat!("llmr/", env!("CARGO_PKG_VERSION"))));
    if wire == Wire::Anthropic {
        set("anthropic-version", plain("2023-06-01"));
    }
    for (name, value) in id_headers(endpoint) {
        set(name, plain(value));
    }
    for (name, value) in &endpoint.provider.headers {
        set(name, plain(value));
    }
    if let Some((name, value)) = endpoint.key.and_then(|key| key_header(&endpoint.provider.auth, key)) {
        set(name, HeaderText::Secret(value));
    }
    if let Some((name, _)) = headers.iter().find(|(name, value)| !is_sendable(name, value.expose())) {
        return Err(EncodeError::BadHeader(name.chars().filter(|c| !c.is_control()).take(64).collect()));
    }
    let body = serde_json::to_vec(body).unwrap_or_default();
    Ok(HttpRequest { method: "POST", url, headers, body })
}

/// The ids that the provider has headers for. An id that no header may hold stays here: the request is good without.
fn id_headers<'a>(endpoint: &'a Endpoint<'_>) -> impl Iterator<Item = (&'a str, &'a str)> {
    let provider = endpoint.provider;
    let pairs = endpoint
        .ids
        .into_iter()
        .flat_map(|ids| [(&provider.request_id_header, ids.request), (&provider.idempotency_header, ids.idempotency)]);
    let named = pairs.filter_map(|(name, value)| Some((name.as_deref()?, value)));
    named.filter(|(name, value)| (1..=LONGEST_ID).contains(&value.len()) && is_sendable(name, value))
}

/// The header that shows the key.
fn key_header<'a>(auth: &'a AuthStyle, key: &Secret) -> Option<(&'a str, Secret)> {
    match auth {
        _ if key.is_empty() => None,
        AuthStyle::Bearer => Some(("authorization", Secret::new(&format!("Bearer {}", key.expose())))),
        AuthStyle::Header(name) => Some((name, key.clone())),
        AuthStyle::None => None,
    }
}

/// Whether a name is a token and a value is visible ASCII with spaces, as HTTP wants it.
fn is_sendable(name: &str, value: &str) -> bool {
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(token) && value.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}
