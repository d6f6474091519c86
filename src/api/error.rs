//! Why there is no answer, and why there is not even a router.

use crate::config::Problem;
use crate::domain::Deployment;
use crate::host::{JobError, ReportError, RootsError};
use crate::store::StoreError;
use crate::transport::TransportError;

use super::answered::Unanswered;
use super::tool::PendingCall;

/// What went wrong. Only the first one says anything about providers; all others are trouble on this side or
/// wait for a word of yours.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No step answered as asked: who was asked, what they said, and when asking again can help.
    #[error("{0}")]
    Unanswered(Box<Unanswered>),
    /// The config is wrong: all that is wrong with it, each with its line.
    #[error("the config is wrong: {}", .problems.join("; "))]
    Config {
        /// One message for each mistake.
        problems: Vec<String>,
    },
    /// There is nobody to ask: no config, no key in the environment, and no local server that answers.
    #[error("no config, no key in the environment, and no local server answers")]
    NoConfig,
    /// Nothing of that name is known.
    #[error("{message}")]
    Unknown {
        /// What is not known, and where one is near, what may have been meant.
        message: String,
    },
    /// No step of the ladder has its key.
    #[error("no step of ladder `{ladder}` has its key: {}", list(.steps))]
    NoKey {
        /// The ladder.
        ladder: String,
        /// Each step with the reason.
        steps: Vec<(Deployment, String)>,
    },
    /// The answer cannot be checked as it is wanted: the expression is wrong, or its program is not here.
    #[error("{message}")]
    Check {
        /// What is wrong with it.
        message: String,
    },
    /// A tool cannot be used as it is.
    #[error("{message}")]
    Tool {
        /// Which one, and why.
        message: String,
    },
    /// The model wants a command of the config to be run that has a side effect, and nobody has allowed it: it was not
    /// run. [`Request::allow_tools`](super::Request::allow_tools) does, and a conversation then
    /// [goes on](super::Session::go_on).
    #[error("`{}` has a side effect, and nobody has allowed it; it was not run", .0.tool)]
    NeedsConsent(Box<PendingCall>),
    /// A call that has a side effect was begun, and nobody knows whether it did its work: the process died meanwhile, the
    /// tool panicked, or its time was over. It is not run again before [`Session::settle`](super::Session::settle) says
    /// what is true.
    #[error("nobody knows whether `{}` did its work, and it must not run twice (call {})", .0.tool, .0.call)]
    NeedsWord(Box<PendingCall>),
    /// The model still wants tools after so many rounds of them.
    #[error("the model has not answered in words: after {rounds} rounds it still wants tools")]
    TooManyRounds {
        /// How many it had.
        rounds: u32,
    },
    /// Somebody else, in this process or another, is going on with the conversation just now.
    #[error("somebody else is going on with the session `{name}` just now")]
    SessionTaken {
        /// Its name.
        name: String,
    },
    /// The conversation is in the middle of another answer, for which tools may have been run:
    /// [`Session::go_on`](super::Session::go_on) comes first.
    #[error("the session `{name}` is in the middle of an answer, which comes first")]
    SessionUnderWay {
        /// Its name.
        name: String,
    },
    /// The state cannot be used.
    #[error("{message}")]
    State {
        /// What is wrong with it, and what can be done.
        message: String,
    },
    /// Nothing can be sent: a certificate, the proxy, or the system has no thread to spare.
    #[error("{message}")]
    Setup {
        /// Why.
        message: String,
    },
    /// The router broke off, because something of its owner's (a classifier, a clock, a watcher, a callback) panicked.
    #[error("the router broke off before the end")]
    BrokenOff,
}

impl Error {
    /// What is to be told of a request that nobody answered.
    pub fn unanswered(&self) -> Option<&Unanswered> {
        match self {
            Self::Unanswered(unanswered) => Some(unanswered),
            _ => None,
        }
    }

    /// When asking again can help, as far as anyone knows.
    pub fn retry_at(&self) -> Option<jiff::Timestamp> {
        self.unanswered()?.retry_at
    }

    pub(super) fn setup(error: &impl ToString) -> Self {
        Self::Setup { message: error.to_string() }
    }

    pub(super) fn wrong(problems: &[Problem]) -> Self {
        Self::Config { problems: problems.iter().map(ToString::to_string).collect() }
    }
}

fn list(steps: &[(Deployment, String)]) -> String {
    let lines: Vec<String> = steps.iter().map(|(deployment, why)| format!("{deployment}: {why}")).collect();
    lines.join("; ")
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        let cause = std::error::Error::source(&error).map(|source| format!(" ({source})")).unwrap_or_default();
        let hint = error.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
        Self::State { message: format!("{error}{cause}{hint}") }
    }
}

impl From<JobError> for Error {
    fn from(error: JobError) -> Self {
        match error {
            JobError::Store(error) => error.into(),
            JobError::NoLadder(_) => Self::Unknown { message: error.to_string() },
            JobError::NoProgram { .. } => Self::Check { message: error.to_string() },
            JobError::NoKey { ladder, steps } => Self::NoKey { ladder: ladder.to_string(), steps },
        }
    }
}

impl From<ReportError> for Error {
    fn from(error: ReportError) -> Self {
        match error {
            ReportError::Store(error) => error.into(),
            ReportError::Taken { .. } => Self::Unknown { message: error.to_string() },
        }
    }
}

impl From<RootsError> for Error {
    fn from(error: RootsError) -> Self {
        Self::setup(&error)
    }
}

impl From<TransportError> for Error {
    fn from(error: TransportError) -> Self {
        Self::setup(&error)
    }
}
