//! How a run ends, and why a step was not asked.

use std::fmt;
use std::time::Duration;

use jiff::Timestamp;

use crate::domain::{Class, Deployment, Outcome, Provenance};
use crate::policy::{Finding, HoldKind, Tightness};

/// Why a step was not asked.
#[derive(Debug, Clone, PartialEq)]
pub enum SkipReason {
    /// A hold covers it.
    Held {
        /// Which kind.
        kind: HoldKind,
        /// For what.
        class: Class,
        /// What the provider said.
        evidence: String,
    },
    /// A person bars it, for this reason.
    HeldByHand(String),
    /// This request would bring one of its limits too near.
    NearLimit(Tightness),
    /// There is no key for it: what is missing and where it was looked for.
    NoKey(String),
    /// The user pinned another provider.
    NotPinned,
    /// The user excluded its provider.
    Excluded,
    /// It lacks what the request needs.
    Lacks(String),
    /// It refused an earlier request for want of what this one needs.
    FoundLacking(Finding),
    /// The request does not fit its window, in tokens.
    TooLarge(u64),
    /// It could cost more than the ceiling, in USD.
    TooExpensive(f64),
    /// Its tokens cost more than the ceiling, in USD per 1,000.
    TooDear(f64),
    /// It usually takes longer than allowed: so long do 19 of 20 answers not exceed.
    TooSlow(Duration),
    /// It is known to be too weak for the ladder's work: what it lacks.
    BelowBar(String),
    /// Another deployment has the prompt's beginning in its cache, and nobody else is to be asked.
    NotCached,
    /// This model, or one like it, refused this very request.
    RefusedAlready(Class),
    /// The user allowed no further step.
    NoFallback,
    /// The request's attempts are used up.
    AttemptsUsed,
    /// The shared budget of retries is spent.
    RetryDenied,
    /// The ladder itself is open.
    LadderRests,
}

impl SkipReason {
    /// The word that scripts match.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Held { class, .. } => class.as_str(),
            Self::HeldByHand(_) => "operator",
            Self::NearLimit(_) => "near_limit",
            Self::NoKey(_) => "no_key",
            Self::NotPinned => "not_pinned",
            Self::Excluded => "excluded",
            Self::Lacks(_) | Self::FoundLacking(_) => "lacks_capability",
            Self::TooLarge(_) => "too_large",
            Self::TooExpensive(_) | Self::TooDear(_) => "too_expensive",
            Self::TooSlow(_) => "too_slow",
            Self::BelowBar(_) => "below_bar",
            Self::NotCached => "not_cached",
            Self::RefusedAlready(_) => "refused_already",
            Self::NoFallback => "no_fallback",
            Self::AttemptsUsed => "attempts_used",
            Self::RetryDenied => "retry_denied",
            Self::LadderRests => "ladder_open",
        }
    }
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Held { kind, class, .. } => write!(f, "{class} ({kind})"),
            Self::HeldByHand(why) if why.is_empty() => f.write_str("held by hand"),
            Self::HeldByHand(why) => write!(f, "held by hand: {why}"),
            Self::NearLimit(tight) => write!(f, "{tight}"),
            Self::NoKey(why) => f.write_str(why),
            Self::NotPinned => f.write_str("another provider is pinned"),
            Self::Excluded => f.write_str("its provider is excluded"),
            Self::Lacks(what) => write!(f, "lacks {what}"),
            Self::FoundLacking(found) => write!(f, "lacks {}, as it said itself", found.about.word()),
            Self::TooLarge(window) => write!(f, "the request does not fit its {window} tokens"),
            Self::TooExpensive(usd) => write!(f, "could cost ${usd:.4}, above the ceiling"),
            Self::TooDear(usd) => write!(f, "costs ${usd:.4} per 1,000 tokens, above the ceiling"),
            Self::TooSlow(usual) => write!(f, "19 of 20 answers take up to {usual:.1?}, longer than allowed"),
            Self::BelowBar(what) => write!(f, "below the ladder's bar: {what}"),
            Self::NotCached => f.write_str("another one has the prompt's beginning in its cache"),
            Self::RefusedAlready(class) => write!(f, "would refuse this request as well ({class})"),
            Self::NoFallback => f.write_str("no further step is allowed"),
            Self::AttemptsUsed => f.write_str("the request's attempts are used up"),
            Self::RetryDenied => f.write_str("the minute's budget of retries is spent"),
            Self::LadderRests => f.write_str("the ladder rests"),
        }
    }
}

/// A step that was not asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Skip {
    /// Its index.
    pub step: usize,
    /// Who would have been asked.
    pub deployment: Deployment,
    /// Why it was not.
    pub reason: SkipReason,
    /// When that ends by itself.
    pub until: Option<Timestamp>,
    /// How the end is known.
    pub provenance: Option<Provenance>,
}

/// How a run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// A step answered as asked.
    Answered {
        /// Its index.
        step: usize,
    },
    /// The request itself was refused.
    Refused(Class),
    /// No step may be asked for this request: by the user's word, its cost, or what the deployments can do.
    NoneAllowed,
    /// Answers came, but never in the asked shape.
    WrongShape,
    /// An answer came that is not as asked, and it is handed out as it is.
    AsItIs,
    /// An answer came that is not as asked, and nobody else is to be asked.
    Rejected,
    /// The deadline passed.
    Deadline,
    /// Every step is resting or failed just now.
    Exhausted {
        /// When the first returns, as far as anyone knows.
        retry_at: Option<Timestamp>,
    },
    /// A person must act on all that is left.
    NeedsPerson,
    /// A provider may have done the work, and the user wants nobody else to do it again.
    MayHaveRun,
    /// The stream broke after its first content and the policy is to say so.
    Partial,
    /// The user stopped it.
    Interrupted,
}

impl End {
    /// The word for the log.
    pub const fn outcome(self) -> Outcome {
        match self {
            Self::Answered { .. } => Outcome::Answered,
            Self::Refused(_) | Self::NoneAllowed => Outcome::Refused,
            Self::WrongShape | Self::AsItIs | Self::Rejected => Outcome::WrongShape,
            Self::Deadline => Outcome::Deadline,
            Self::Exhausted { .. } | Self::MayHaveRun => Outcome::Exhausted,
            Self::NeedsPerson => Outcome::NeedsPerson,
            Self::Partial => Outcome::Partial,
            Self::Interrupted => Outcome::Interrupted,
        }
    }

    /// Whether no step answered because none could: the event that must ring.
    pub const fn is_exhaustion(self) -> bool {
        matches!(self, Self::Exhausted { .. } | Self::NeedsPerson)
    }
}
