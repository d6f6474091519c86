//! Providers and models as the catalogue knows them.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::domain::{ModelName, ProviderName};

use super::cap::Cap;
use super::lookup::matches_pattern;

/// A wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Wire {
    /// OpenAI's chat completions.
    OpenAi,
    /// Anthropic's messages.
    Anthropic,
    /// Gemini's generateContent.
    Gemini,
}

/// How a key is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuthStyle {
    /// `Authorization: Bearer KEY`.
    Bearer,
    /// The key alone in a header of this name.
    Header(String),
    /// Not at all.
    None,
}

impl AuthStyle {
    /// How the makers of a wire format want the key.
    pub fn usual(wire: Wire) -> Self {
        match wire {
            Wire::OpenAi => Self::Bearer,
            Wire::Anthropic => Self::Header("x-api-key".to_owned()),
            Wire::Gemini => Self::Header("x-goog-api-key".to_owned()),
        }
    }
}

/// What the ids of tool calls may be at a provider. Others' ids are written anew where they do not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolIds {
    /// Anything.
    Any,
    /// At most 40 of `a-zA-Z0-9_-`.
    Word40,
    /// Exactly nine of `a-zA-Z0-9`.
    Alnum9,
}

impl ToolIds {
    /// What whoever speaks the wire format takes, as far as is known. Anthropic takes nothing else, and so do those that pass
    /// requests on to it; OpenAI's format is spoken by many, most of whom take anything; Gemini is told no ids.
    pub const fn usual(wire: Option<Wire>) -> Self {
        match wire {
            Some(Wire::Anthropic) => Self::Word40,
            Some(Wire::OpenAi | Wire::Gemini) | None => Self::Any,
        }
    }
}

/// USD per million tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    /// Of the prompt.
    pub input: f64,
    /// Of the answer.
    pub output: f64,
    /// Of prompt tokens from the cache; none when they cost as much as others.
    pub cached: Option<f64>,
}

/// A model of one provider.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelInfo {
    /// The provider's own id.
    pub id: ModelName,
    /// The context window in tokens.
    pub context: Option<u64>,
    /// The longest answer in tokens.
    pub max_output: Option<u64>,
    /// What it can do (`tools`, `json_schema`, `images`); none when it is not declared, which restricts nothing.
    pub capabilities: Option<Vec<String>>,
    /// What it costs.
    pub price: Option<Price>,
}

/// In which time a provider's headers of limits count, where their names do not say it (`x-ratelimit-limit-requests`);
/// none where only the reset can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HeaderWindows {
    /// Those that name requests.
    pub requests: Option<Duration>,
    /// Those that name tokens.
    pub tokens: Option<Duration>,
    /// Those that name nothing (`x-ratelimit-limit`).
    pub plain: Option<Duration>,
}

/// A provider.
#[derive(Debug, Clone, PartialEq)]
pub struct ProviderInfo {
    /// Its name in config and output.
    pub name: ProviderName,
    /// The base URL with the version part of the path; may hold `{account}`-like variables from `vars`.
    pub base_url: Option<String>,
    /// Its wire format; none for providers that are known by their signals alone.
    pub wire: Option<Wire>,
    /// The usual environment variables of its key, the first that is set wins.
    pub env: Vec<String>,
    /// Variables of `base_url`, each with the environment variable that usually holds it.
    pub vars: BTreeMap<String, String>,
    /// How the key is sent.
    pub auth: AuthStyle,
    /// Query parameters that every request carries, such as Azure's `api-version`.
    pub query: BTreeMap<String, String>,
    /// Further headers that every request carries.
    pub headers: BTreeMap<String, String>,
    /// Host names by which it is recognised in logs.
    pub hosts: Vec<String>,
    /// Whether it runs on this machine and needs no key.
    pub local: bool,
    /// Whether it passes requests on to other providers, who make or serve the models.
    pub aggregator: bool,
    /// The model that a ladder without a config asks.
    pub default_model: Option<ModelName>,
    /// What all its models can do unless the model says otherwise.
    pub capabilities: Option<Vec<String>>,
    /// The request field for the answer's length; `max_tokens` unless the provider wants another.
    pub max_tokens_field: String,
    /// Whether a limit is charged with the longest answer that a request allows, before there is any.
    pub precharges: bool,
    /// What the ids of tool calls may be.
    pub tool_ids: ToolIds,
    /// The header by which it knows a request that is sent again; none where it knows no such thing.
    pub idempotency_header: Option<String>,
    /// The header that takes an id of ours, by which its support finds the request.
    pub request_id_header: Option<String>,
    /// Whether it has the role `developer` besides `system`.
    pub developer_role: bool,
    /// Whether `tool_choice` may demand a call; else the demand goes in words.
    pub forces_tools: bool,
    /// Whether it takes the field `parallel_tool_calls`.
    pub parallel_tools: bool,
    /// Whether tools and a shape for the answer go into one request; else the shape goes in words.
    pub tools_with_schema: bool,
    /// Whether it wants its thoughts back as `reasoning_content`.
    pub thoughts_back: bool,
    /// Whether the roles must alternate, so that neighbours of one role are made one.
    pub alternates: bool,
    /// The models that refuse a temperature, as ids or patterns in which `*` stands for anything.
    pub no_temperature: Vec<String>,
    /// In which time its headers of limits count.
    pub windows: HeaderWindows,
    /// Its limits.
    pub caps: Vec<Cap>,
    /// Its models.
    pub models: Vec<ModelInfo>,
}

impl ProviderInfo {
    /// Whether the model takes a temperature.
    pub fn takes_temperature(&self, model: &ModelName) -> bool {
        !self.no_temperature.iter().any(|pattern| matches_pattern(pattern, model.as_str()))
    }

    /// A provider of which nothing is known but its name; its key is sent as a bearer token.
    pub fn blank(name: ProviderName) -> Self {
        Self {
            name,
            base_url: None,
            wire: None,
            env: Vec::new(),
            vars: BTreeMap::new(),
            auth: AuthStyle::Bearer,
            query: BTreeMap::new(),
            headers: BTreeMap::new(),
            hosts: Vec::new(),
            local: false,
            aggregator: false,
            default_model: None,
            capabilities: None,
            max_tokens_field: "max_tokens".to_owned(),
            precharges: false,
            tool_ids: ToolIds::Any,
            idempotency_header: None,
            request_id_header: None,
            developer_role: false,
            forces_tools: true,
            parallel_tools: true,
            tools_with_schema: true,
            thoughts_back: false,
            alternates: false,
            no_temperature: Vec::new(),
            windows: HeaderWindows::default(),
            caps: Vec::new(),
            models: Vec::new(),
        }
    }
}

/// All providers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Catalog {
    /// By name.
    pub providers: BTreeMap<ProviderName, ProviderInfo>,
}

impl Catalog {
    /// The provider of that name.
    pub fn provider(&self, name: &ProviderName) -> Option<&ProviderInfo> {
        self.providers.get(name)
    }

    /// What is known of a model.
    pub fn model(&self, provider: &ProviderName, model: &ModelName) -> Option<&ModelInfo> {
        self.provider(provider)?.models.iter().find(|info| info.id == *model)
    }
}
