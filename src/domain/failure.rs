//! What `classify` makes of one failed attempt.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::deployment::ParseNameError;

/// An enum of words: each variant with the word that stands in JSON, the store and the terminal.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident ($wanted:literal) { $($(#[$vdoc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum $name {
            $($(#[$vdoc])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// All of them, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The word that stands in JSON, the store and the terminal.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl FromStr for $name {
            type Err = ParseNameError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                match text {
                    $($word => Ok(Self::$variant),)+
                    _ => Err(ParseNameError { text: text.to_owned(), wanted: $wanted }),
                }
            }
        }
    };
}
pub(crate) use words;

words! {
    /// The true cause of one failed attempt. Each class has its own right response.
    #[non_exhaustive]
    Class("failure class") {
        /// A short window's limit: heals in seconds to an hour.
        RateLimit = "rate_limit",
        /// The allowance of a long period is used up: heals at a known reset.
        QuotaExhausted = "quota_exhausted",
        /// No money or no allowance at all: a person must act.
        Billing = "billing",
        /// The credential is missing, wrong, expired or revoked.
        Auth = "auth",
        /// The credential is good but not allowed this model, region or feature.
        Permission = "permission",
        /// The model is unknown, retired or has no endpoint.
        ModelUnavailable = "model_unavailable",
        /// The provider is short of capacity.
        Overloaded = "overloaded",
        /// Another fault on the provider's side.
        ServerError = "server_error",
        /// No complete answer in time.
        Timeout = "timeout",
        /// No answer from the service: DNS, TLS, refused, reset, proxy.
        Network = "network",
        /// The request can never fit this deployment.
        ContextOverflow = "context_overflow",
        /// Refused by a safety or policy filter.
        ContentPolicy = "content_policy",
        /// This deployment lacks a feature that the request uses.
        Unsupported = "unsupported",
        /// The request is malformed and would fail everywhere.
        InvalidRequest = "invalid_request",
        /// Answered, but cut off, empty or not in the asked shape.
        InvalidOutput = "invalid_output",
        /// The evidence is not enough to say.
        Unknown = "unknown",
    }
}

impl Class {
    /// What the class makes the router do, in one word.
    pub const fn action(self) -> Action {
        match self {
            Self::RateLimit => Action::Cooldown,
            Self::QuotaExhausted => Action::Quarantine,
            Self::Billing | Self::Auth | Self::Permission | Self::ModelUnavailable => Action::OpenCircuit,
            Self::Overloaded | Self::ServerError | Self::Timeout | Self::Network => Action::Count,
            Self::ContextOverflow => Action::LargerContext,
            Self::ContentPolicy => Action::OtherPolicy,
            Self::Unsupported => Action::Next,
            Self::InvalidOutput => Action::Repair,
            Self::InvalidRequest | Self::Unknown => Action::Stop,
        }
    }

    /// Whether a person must act before the deployment can work again.
    pub const fn needs_a_person(self) -> bool {
        matches!(self, Self::Billing | Self::Auth | Self::Permission | Self::ModelUnavailable)
    }

    /// Whether time alone may heal it.
    pub const fn passes_by_itself(self) -> bool {
        matches!(
            self,
            Self::RateLimit
                | Self::QuotaExhausted
                | Self::Overloaded
                | Self::ServerError
                | Self::Timeout
                | Self::Network
                | Self::Unknown
        )
    }

    /// Whether the fault is the request's own: the same request fails again, the deployment is healthy.
    pub const fn is_the_requests_fault(self) -> bool {
        matches!(self, Self::ContextOverflow | Self::ContentPolicy | Self::Unsupported | Self::InvalidRequest)
    }
}

words! {
    /// What a class makes the router do.
    #[non_exhaustive]
    Action("action") {
        /// A short hold on the scope.
        Cooldown = "cooldown",
        /// A long hold until the quota returns.
        Quarantine = "quarantine",
        /// A hold until a person acts or a rare probe succeeds.
        OpenCircuit = "open_circuit",
        /// One failure towards the breaker.
        Count = "count",
        /// The chain of larger context windows.
        LargerContext = "larger_context",
        /// The chain of other content policies.
        OtherPolicy = "other_policy",
        /// The next step, nothing held.
        Next = "next",
        /// One repair attempt on the same deployment.
        Repair = "repair",
        /// Stop: no other deployment would do better.
        Stop = "stop",
    }
}

words! {
    /// What to hold back.
    #[non_exhaustive]
    ScopeLevel("scope") {
        /// Only this request.
        Request = "request",
        /// This model on this account or credential.
        Model = "model",
        /// All models of this key.
        Credential = "credential",
        /// All keys of this account.
        Account = "account",
        /// All accounts at this provider.
        Provider = "provider",
        /// What this region serves.
        Region = "region",
    }
}

words! {
    /// Which limit was hit.
    #[non_exhaustive]
    Dimension("limit dimension") {
        /// Requests per minute.
        Rpm = "rpm",
        /// Tokens per minute.
        Tpm = "tpm",
        /// Input tokens per minute.
        InputTpm = "input_tpm",
        /// Output tokens per minute.
        OutputTpm = "output_tpm",
        /// Requests per day.
        Rpd = "rpd",
        /// Tokens per day.
        Tpd = "tpd",
        /// A plan window of some hours, five as a rule.
        Requests5h = "requests_5h",
        /// A week's allowance.
        Weekly = "weekly",
        /// A month's allowance.
        Monthly = "monthly",
        /// Requests at the same time.
        Concurrency = "concurrency",
        /// Money or prepaid credits.
        Credits = "credits",
        /// Images.
        Images = "images",
        /// Seconds of audio.
        AudioSeconds = "audio_seconds",
        /// Another limit.
        Other = "other",
    }
}

words! {
    /// How a time is known, the more trusted the later in this list.
    #[non_exhaustive]
    Provenance("provenance") {
        /// We assumed it.
        Guess = "guess",
        /// The catalogue's reset clock says so.
        Documented = "documented",
        /// The payload said so.
        Fact = "fact",
        /// A person set it.
        Operator = "operator",
    }
}

/// Where a time was read.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ResetSource {
    /// A response header, by its name in lower case.
    Header(String),
    /// A field of the body, by its path.
    Body(String),
    /// The words of the message.
    Message,
    /// The catalogue's reset clock.
    Catalogue,
}

impl fmt::Display for ResetSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header(name) => write!(f, "header {name}"),
            Self::Body(path) => write!(f, "body {path}"),
            Self::Message => f.write_str("message"),
            Self::Catalogue => f.write_str("catalogue"),
        }
    }
}

/// Figures that the payload states about the limit, in the limit's own unit (requests, tokens, dollars).
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct LimitFacts {
    /// The limit itself.
    pub limit: Option<f64>,
    /// How much was used.
    pub used: Option<f64>,
    /// How much this request asked for.
    pub requested: Option<f64>,
    /// How much is left.
    pub remaining: Option<f64>,
}

/// The longest answer with which a refused request would pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OutputFit {
    /// So many tokens.
    Tokens(u64),
    /// So many tokens fewer than were allowed.
    Less(u64),
}

words! {
    /// What a model may lack.
    #[non_exhaustive]
    Feature("feature") {
        /// Pictures in the prompt.
        Images = "images",
        /// Tool calls.
        Tools = "tools",
        /// Answers in the shape of a JSON Schema.
        JsonSchema = "json_schema",
    }
}

/// What `classify` makes of one failed attempt: a provider's failure is data, not an error of ours.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// The true cause.
    pub class: Class,
    /// What to hold back.
    pub scope: ScopeLevel,
    /// Which limit, for limits.
    pub dimension: Option<Dimension>,
    /// How long until it heals as the payload states it, or else a rule of the operator; none when neither does.
    pub retry_after: Option<Duration>,
    /// When it heals, as far as anyone can say.
    pub retry_at: Option<Timestamp>,
    /// Where the time was read.
    pub reset_source: Option<ResetSource>,
    /// How the time is known.
    pub provenance: Provenance,
    /// Which rule decided.
    pub rule: String,
    /// What the rule saw: redacted, bounded, printable.
    pub evidence: String,
    /// Figures of the limit where the payload gives them.
    pub limits: LimitFacts,
    /// Whether the payload says that it is so for good, like a model that reached its end of life.
    pub lasting: bool,
    /// The longest answer with which the same request would pass, where the payload gives the figures.
    pub fits: Option<OutputFit>,
    /// The model's context window in tokens, where the payload says it.
    pub window: Option<u64>,
    /// What the model lacks, where the payload says so of the model and not of this one request.
    pub lacks: Option<Feature>,
}

impl Failure {
    /// A failure of the class with the class's usual scope, no limit and no time.
    pub fn new(class: Class, scope: ScopeLevel, rule: impl Into<String>, evidence: impl Into<String>) -> Self {
        Self {
            class,
            scope,
            dimension: None,
            retry_after: None,
            retry_at: None,
            reset_source: None,
            provenance: Provenance::Guess,
            rule: rule.into(),
            evidence: evidence.into(),
            limits: LimitFacts::default(),
            lasting: false,
            fits: None,
            window: None,
            lacks: None,
        }
    }
}
