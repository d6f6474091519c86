//! Reading `caps.toml`, which is part of the program.

use std::collections::BTreeMap;
use std::str::FromStr;

use jiff::civil::Date;
use serde::Deserialize;

use crate::domain::{Dimension, ModelName, ParseNameError, ProviderName, ScopeLevel, Unit};

use super::cap::{Cap, ResetClock, SourceKind};
use super::duration::parse_duration;
use super::provider::{AuthStyle, Catalog, HeaderWindows, ModelInfo, Price, ProviderInfo, ToolIds, Wire};

const BUILTIN: &str = include_str!("../../caps.toml");

/// Why a catalogue cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CatalogError {
    /// It is no TOML, or has a key or a type that it should not have.
    #[error("catalogue, line {line}: {message}")]
    Syntax {
        /// The line, from 1.
        line: usize,
        /// What is wrong there.
        message: String,
    },
    /// A value means nothing.
    #[error("catalogue, provider {provider}: {source}")]
    Value {
        /// Whose entry it is.
        provider: String,
        /// Which value.
        source: ParseNameError,
    },
}

impl Catalog {
    /// The catalogue that is part of the program.
    ///
    /// # Errors
    /// When `caps.toml` was built in although it is wrong, which the tests prevent.
    pub fn builtin() -> Result<Self, CatalogError> {
        Self::parse(BUILTIN)
    }

    /// Those entries of the built-in catalogue whose names are wanted. Most processes need few of them, and reading all
    /// is a good part of what a short process costs; without the others nothing can be recognised by its host, and no
    /// name can be suggested, so whoever has to explain a mistake reads the whole.
    ///
    /// # Errors
    /// As [`Catalog::builtin`].
    pub fn builtin_of(wanted: impl Fn(&str) -> bool) -> Result<Self, CatalogError> {
        let mut text = String::from("[providers]\n");
        for section in BUILTIN.split("\n[providers.").skip(1) {
            if section.split_once(']').is_some_and(|(name, _)| wanted(name)) {
                text.push_str("[providers.");
                text.push_str(section);
                text.push('\n');
            }
        }
        Self::parse(&text)
    }

    /// Reads a catalogue in the form of `caps.toml`.
    ///
    /// # Errors
    /// When the text is no TOML, has unknown keys, or a value means nothing.
    pub fn parse(text: &str) -> Result<Self, CatalogError> {
        let raw: RawCatalog = toml::from_str(text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            let line = 1 + text.bytes().take(start).filter(|byte| *byte == b'\n').count();
            CatalogError::Syntax { line, message: error.message().to_owned() }
        })?;
        let mut catalog = Self::default();
        for (name, raw) in raw.providers {
            let info = raw
                .into_info(ProviderName::new(name.as_str()))
                .map_err(|source| CatalogError::Value { provider: name, source })?;
            catalog.providers.insert(info.name.clone(), info);
        }
        Ok(catalog)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCatalog {
    providers: BTreeMap<String, RawProvider>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawProvider {
    base_url: Option<String>,
    wire: Option<String>,
    #[serde(default)]
    env: Vec<String>,
    #[serde(default)]
    vars: BTreeMap<String, String>,
    auth: Option<String>,
    #[serde(default)]
    query: BTreeMap<String, String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    hosts: Vec<String>,
    #[serde(default)]
    local: bool,
    #[serde(default)]
    aggregator: bool,
    default_model: Option<ModelName>,
    capabilities: Option<Vec<String>>,
    max_tokens_field: Option<String>,
    tool_ids: Option<String>,
    idempotency_header: Option<String>,
    request_id_header: Option<String>,
    #[serde(default)]
    developer_role: bool,
    forces_tools: Option<bool>,
    parallel_tools: Option<bool>,
    tools_with_schema: Option<bool>,
    #[serde(default)]
    thoughts_back: bool,
    #[serde(default)]
    alternates: bool,
    #[serde(default)]
    no_temperature: Vec<String>,
    #[serde(default)]
    precharges: bool,
    #[serde(default)]
    windows: RawWindows,
    #[serde(default)]
    caps: Vec<RawCap>,
    #[serde(default)]
    limits: Vec<RawLimit>,
    #[serde(default)]
    models: Vec<RawModel>,
    prices_as_of: Option<String>,
}

/// Durations of the windows of headers.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawWindows {
    requests: Option<String>,
    tokens: Option<String>,
    plain: Option<String>,
}

/// One clock for some dimensions, which have the same limit if any.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCap {
    dimensions: Vec<Dimension>,
    model: Option<String>,
    tier: Option<String>,
    limit: Option<u64>,
    unit: Option<Unit>,
    scope: ScopeLevel,
    reset: String,
    source: String,
    note: Option<String>,
}

/// Numbers of one model or tier.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawLimit {
    model: Option<String>,
    tier: Option<String>,
    limit: BTreeMap<Dimension, u64>,
    source: String,
    note: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawModel {
    id: ModelName,
    context: Option<u64>,
    max_output: Option<u64>,
    capabilities: Option<Vec<String>>,
    price: Option<RawPrice>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPrice {
    input: f64,
    output: f64,
    cached: Option<f64>,
}

impl RawProvider {
    fn into_info(self, name: ProviderName) -> Result<ProviderInfo, ParseNameError> {
        let priced = self.models.iter().any(|model| model.price.is_some());
        if priced || self.prices_as_of.is_some() {
            date(self.prices_as_of.as_deref().unwrap_or_default())?;
        }
        let mut caps = Vec::new();
        for cap in self.caps {
            cap.expand(&mut caps)?;
        }
        for limit in self.limits {
            limit.expand(&mut caps)?;
        }
        let wire = self.wire.as_deref().map(Wire::from_str).transpose()?;
        let tool_ids = self.tool_ids.as_deref().map(ToolIds::from_str).transpose()?;
        Ok(ProviderInfo {
            name,
            base_url: self.base_url,
            wire,
            env: self.env,
            vars: self.vars,
            auth: self.auth.as_deref().map_or(AuthStyle::Bearer, AuthStyle::from_word),
            query: self.query,
            headers: self.headers,
            hosts: self.hosts,
            local: self.local,
            aggregator: self.aggregator,
            default_model: self.default_model,
            capabilities: self.capabilities,
            max_tokens_field: self.max_tokens_field.unwrap_or_else(|| "max_tokens".to_owned()),
            precharges: self.precharges,
            tool_ids: tool_ids.unwrap_or(ToolIds::usual(wire)),
            idempotency_header: self.idempotency_header,
            request_id_header: self.request_id_header,
            developer_role: self.developer_role,
            forces_tools: self.forces_tools.unwrap_or(true),
            parallel_tools: self.parallel_tools.unwrap_or(true),
            tools_with_schema: self.tools_with_schema.unwrap_or(true),
            thoughts_back: self.thoughts_back,
            alternates: self.alternates,
            no_temperature: self.no_temperature,
            windows: self.windows.read()?,
            caps,
            models: self.models.into_iter().map(RawModel::into_info).collect(),
        })
    }
}

impl RawWindows {
    fn read(self) -> Result<HeaderWindows, ParseNameError> {
        let duration = |text: Option<String>| {
            let read = |text: String| {
                parse_duration(&text)
                    .filter(|duration| !duration.is_zero())
                    .ok_or(ParseNameError { text, wanted: "window (a duration such as 1m or 1d)" })
            };
            text.map(read).transpose()
        };
        Ok(HeaderWindows {
            requests: duration(self.requests)?,
            tokens: duration(self.tokens)?,
            plain: duration(self.plain)?,
        })
    }
}

impl RawCap {
    fn expand(self, caps: &mut Vec<Cap>) -> Result<(), ParseNameError> {
        let (source, as_of) = dated(&self.source)?;
        let reset: ResetClock = self.reset.parse()?;
        caps.extend(self.dimensions.into_iter().map(|dimension| Cap {
            dimension,
            model: self.model.clone(),
            tier: self.tier.clone(),
            limit: self.limit,
            unit: self.unit,
            scope: self.scope,
            reset: reset.clone(),
            source,
            as_of,
            note: self.note.clone(),
        }));
        Ok(())
    }
}

impl RawLimit {
    /// Scope and reset clock are those of the dimension, so that no two tiers can disagree.
    fn expand(self, caps: &mut Vec<Cap>) -> Result<(), ParseNameError> {
        let (source, as_of) = dated(&self.source)?;
        for (dimension, limit) in self.limit {
            let base = caps.iter().find(|cap| cap.dimension == dimension && cap.model.is_none()).cloned();
            let wanted = "dimension that has an entry in caps";
            let base = base.ok_or_else(|| ParseNameError { text: dimension.to_string(), wanted })?;
            caps.push(Cap {
                model: self.model.clone(),
                tier: self.tier.clone(),
                limit: Some(limit),
                source,
                as_of,
                note: self.note.clone(),
                ..base
            });
        }
        Ok(())
    }
}

/// Reads a source with the day it was read: `docs 2026-09-01`.
fn dated(text: &str) -> Result<(SourceKind, Option<Date>), ParseNameError> {
    let (kind, day) = text.split_once(' ').unwrap_or((text, ""));
    Ok((kind.parse()?, Some(date(day)?)))
}

impl RawModel {
    fn into_info(self) -> ModelInfo {
        let price = |raw: RawPrice| Price { input: raw.input, output: raw.output, cached: raw.cached };
        ModelInfo {
            id: self.id,
            context: self.context,
            max_output: self.max_output,
            capabilities: self.capabilities,
            price: self.price.map(price),
        }
    }
}

fn date(text: &str) -> Result<Date, ParseNameError> {
    text.parse().map_err(|_| ParseNameError { text: text.to_owned(), wanted: "date (YYYY-MM-DD)" })
}

impl AuthStyle {
    /// Reads `bearer`, `none`, or the name of a header.
    pub fn from_word(word: &str) -> Self {
        match word {
            "bearer" => Self::Bearer,
            "none" => Self::None,
            header => Self::Header(header.to_ascii_lowercase()),
        }
    }
}

impl Wire {
    /// All of them.
    pub const ALL: &'static [Self] = &[Self::OpenAi, Self::Anthropic, Self::Gemini];

    /// The word that stands in the config.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
        }
    }
}

impl FromStr for Wire {
    type Err = ParseNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wanted = "wire format (openai, anthropic or gemini)";
        let found = Self::ALL.iter().find(|wire| wire.as_str() == text);
        found.copied().ok_or_else(|| ParseNameError { text: text.to_owned(), wanted })
    }
}

impl ToolIds {
    /// All of them.
    pub const ALL: &'static [Self] = &[Self::Any, Self::Word40, Self::Alnum9];

    /// The word that stands in the config.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::Word40 => "word40",
            Self::Alnum9 => "alnum9",
        }
    }
}

impl FromStr for ToolIds {
    type Err = ParseNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wanted = "form of tool-call ids (any, word40 or alnum9)";
        let found = Self::ALL.iter().find(|ids| ids.as_str() == text);
        found.copied().ok_or_else(|| ParseNameError { text: text.to_owned(), wanted })
    }
}

impl SourceKind {
    /// All of them.
    pub const ALL: &'static [Self] = &[Self::Docs, Self::Observed, Self::Report, Self::Config];

    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Docs => "docs",
            Self::Observed => "observed",
            Self::Report => "report",
            Self::Config => "config",
        }
    }
}

impl FromStr for SourceKind {
    type Err = ParseNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wanted = "kind of source (docs, observed or report)";
        let found = Self::ALL.iter().find(|kind| kind.as_str() == text);
        found.copied().ok_or_else(|| ParseNameError { text: text.to_owned(), wanted })
    }
}

#[cfg(test)]
#[path = "builtin_tests.rs"]
mod tests;
