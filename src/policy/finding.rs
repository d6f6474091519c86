//! What a refusal teaches of a model.
//!
//! A model that lacks what a request needs lacks it for the next request too, whoever sends it and with whichever key.
//! So it is remembered per model, for a day: models learn to do more, and a refusal may have had a cause of its own.

use std::time::Duration;

use jiff::Timestamp;

use crate::domain::{Feature, ModelName, ProviderName, RequestId, Scope};

/// How long a finding is believed.
pub const BELIEVED: Duration = Duration::from_secs(24 * 3600);

/// What is known of a model by its own refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Who serves it.
    pub provider: ProviderName,
    /// The model.
    pub model: ModelName,
    /// What about it.
    pub about: About,
    /// When it was refused.
    pub since: Timestamp,
    /// Until when that is believed.
    pub until: Timestamp,
    /// What the provider said.
    pub evidence: String,
    /// The request that was refused.
    pub request_id: Option<RequestId>,
}

/// What a finding is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum About {
    /// It cannot do this.
    Lacks(String),
    /// Its context window has so many tokens.
    Window(u64),
}

impl About {
    /// The word under which it is kept: one finding for each word and model.
    pub fn word(&self) -> &str {
        match self {
            Self::Lacks(what) => what,
            Self::Window(_) => WINDOW,
        }
    }

    /// What was kept.
    pub fn of(word: String, tokens: Option<u64>) -> Self {
        match tokens {
            Some(tokens) => Self::Window(tokens),
            None => Self::Lacks(word),
        }
    }

    /// Whether it says that the model lacks this.
    pub fn lacks(&self, feature: Feature) -> bool {
        matches!(self, Self::Lacks(what) if what == feature.as_str())
    }

    /// The figure that belongs to it.
    pub fn tokens(&self) -> Option<u64> {
        match self {
            Self::Lacks(_) => None,
            Self::Window(tokens) => Some(*tokens),
        }
    }
}

/// The word for a context window.
const WINDOW: &str = "window";

impl Finding {
    /// What it is about, as a scope: the model at its provider, whatever the key.
    pub fn scope(&self) -> Scope {
        Scope { model: Some(self.model.clone()), ..Scope::provider(self.provider.clone()) }
    }

    /// Whether it is about this model and still believed.
    pub fn holds_of(&self, provider: &ProviderName, model: &ModelName, now: Timestamp) -> bool {
        self.provider == *provider && self.model == *model && self.until > now
    }
}
