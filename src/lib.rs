//! Sends a prompt down a ladder of LLM deployments, understands why an attempt failed, remembers it where every other
//! process can see it, and does not ask again before asking can help.
//!
//! A *deployment* is a model at a provider with a key of yours, written `provider/model@credential`. A *ladder* is an
//! ordered list of them, in a config file. A [`Router`] walks it: whoever rests because of a spent quota, a bad key or an
//! outage is passed over, in this process and in all others that share the state file, until it can help to ask again.
//!
//! ```
//! use llmr::rehearsal::{Provider, Reply};
//! use llmr::{Router, Wire};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Two providers on this machine stand for real ones: the first has no quota left.
//! let spent = r#"{"error": {"message": "Quota exceeded. Please try again in 3h."}}"#;
//! let first = Provider::start(Wire::OpenAi, Reply::status(429, spent))?;
//! let second = Provider::start(Wire::OpenAi, Reply::answer("Because of Rayleigh scattering."))?;
//! let config = format!(
//!     "[providers]
//!      first = {{ base_url = {:?}, wire = \"openai\" }}
//!      second = {{ base_url = {:?}, wire = \"openai\" }}
//!      [ladders]
//!      main = {{ steps = [\"first/large\", \"second/small\"] }}",
//!     first.base_url(),
//!     second.base_url(),
//! );
//!
//! let router = Router::builder().config_text(config).state_in_memory().build()?;
//! let answered = router.chat("Why is the sky blue?").await?;
//! assert_eq!(answered.text, "Because of Rayleigh scattering.");
//! assert_eq!(answered.deployment.to_string(), "second/small");
//! assert_eq!(answered.attempts[0].class, Some(llmr::Class::QuotaExhausted));
//!
//! // The next request knows, and does not ask the first one at all.
//! let answered = router.chat("And at dusk?").await?;
//! assert_eq!((answered.attempts.len(), first.hits()), (1, 1));
//! # Ok(())
//! # }
//! ```
//!
//! # What is here
//!
//! - [`Router`]: [`chat`](Router::chat) asks, [`plan`](Router::plan) tells who would be asked,
//!   [`classify`](Router::classify) says what a failure is. It is made by [`Router::builder`], from a config file or text
//!   and with its state in a file or in memory.
//! - [`Error::Unanswered`] has the whole trail: who was asked, what each said, who was passed over and until when, and when
//!   it can help to ask again ([`Error::retry_at`]).
//! - [`Router::guard`] and [`Router::record_outcome`] are for programs that make their own calls: they obey the same holds,
//!   and what they meet counts for everybody.
//! - [`Session`] is a conversation that goes on when the provider changes; one of a [name](Router::session_named) outlives
//!   its process as well.
//! - [`Tool`] is a function of yours that a model may have called: its results are kept, and a side effect happens once,
//!   whoever dies meanwhile. Of one of which nobody can say whether it happened, [`Error::NeedsWord`] asks.
//! - [`TimeSource`] and [`Classify`] are traits, for a clock and a classifier of your own.
//! - [`rehearsal`] has providers on loopback that speak the real wire formats and misbehave on cue, for your tests.
//!
//! Futures are `Send` and run on any executor; see [`Router`]. The state can be looked at with the program of the same
//! name: `llmr status`, `llmr log`, `llmr top`. The config is described in the project's README.
//!
//! # What is promised
//!
//! The names at the root of the crate and in [`words`] follow semantic versioning, with two reservations. Enums may grow;
//! only [`Admission`] has its two answers for good. Structs of
//! [`words`] and the traits' arguments may get further fields: make them with their functions and change what differs, or
//! end them with `..Default::default()`. And which class, scope or time a failure gets may become better with any version:
//! that is what the crate is for. [`rehearsal`] may change with any version, and so may all that the documentation does
//! not show; it is public for the program alone. The forms of the config and of the state file are promised with the
//! program: a newer version reads the file of an older one.

// The modules are floors of one house; imports run downward only, and a test reads the sources and fails on an upward
// one. CONTRIBUTING.md lists them from the lowest up.

mod api;

#[doc(hidden)]
pub mod catalog;
#[doc(hidden)]
pub mod classify;
#[doc(hidden)]
pub mod clock;
#[doc(hidden)]
pub mod config;
#[doc(hidden)]
pub mod dash;
#[doc(hidden)]
pub mod domain;
#[doc(hidden)]
pub mod drill;
#[doc(hidden)]
pub mod host;
#[doc(hidden)]
pub mod ladder;
#[doc(hidden)]
pub mod metrics;
#[doc(hidden)]
pub mod policy;
#[doc(hidden)]
pub mod process;
pub mod rehearsal;
#[doc(hidden)]
pub mod report;
#[doc(hidden)]
pub mod route;
#[doc(hidden)]
pub mod session;
#[doc(hidden)]
pub mod store;
#[doc(hidden)]
pub mod transport;
#[doc(hidden)]
pub mod validate;
#[doc(hidden)]
pub mod wire;

pub use api::{
    Admission, Answered, Attempt, Call, Ending, Error, Held, Invocation, NobodyReads, Outcome, Pass, PendingCall, Plan,
    Planned, Recorded, Request, Router, RouterBuilder, Session, Skipped, Tool, ToolRun, Turn, Unanswered, Watcher,
};
#[doc(inline)]
pub use catalog::{Catalog, Wire};
#[doc(inline)]
pub use classify::{Classifier, Classify};
#[doc(inline)]
pub use clock::{Sleep, TimeSource};
#[doc(inline)]
pub use domain::{Class, Deployment, Evidence, Failure, Message, Role, ScopeLevel, TransportFault};
pub use jiff::Timestamp;
#[doc(inline)]
pub use session::Settlement;

/// The words of requests, answers and failures, all as types.
pub mod words {
    #[doc(inline)]
    pub use crate::domain::{
        AccountName, Action, AttemptKind, Author, CallEnd, Class, CredentialName, Deployment, Dimension, Effect,
        Evidence, Failure, Feature, Finish, LadderName, LimitFacts, Message, ModelName, OutputFit, ParseNameError,
        Part, Provenance, ProviderName, RequestId, ResetSource, Role, ScopeLevel, Thinking, ToolCall, ToolChoice,
        TransportFault, Usage,
    };
}

/// The README's examples are compiled with the documentation's.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
