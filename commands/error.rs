//! Our own trouble, as the person reads it, and its exit code.

use std::process::ExitCode;

use llmr::domain::{Deployment, Redactor, printable};
use llmr::host::{JobError, RootsError};

use crate::output::Output;

/// The exit codes of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// Nobody reads any more, which is no failure.
    ReaderGone = 0,
    /// Our own or the system's trouble.
    Trouble = 1,
    /// The command line is wrong.
    Usage = 2,
    /// The config or the catalogue is wrong.
    Config = 3,
    /// Every step is resting or failed just now.
    Exhausted = 4,
    /// A person must act on all that is left.
    NeedsPerson = 5,
    /// The request itself was refused.
    Refused = 6,
    /// Answered, but never in the asked shape.
    WrongShape = 7,
    /// The deadline passed.
    Deadline = 8,
    /// The stream broke after its first byte.
    Partial = 9,
    /// The user stopped it.
    Interrupted = 130,
    /// SIGTERM stopped it.
    Terminated = 143,
}

impl From<Code> for ExitCode {
    fn from(code: Code) -> Self {
        Self::from(code as u8)
    }
}

/// What went wrong, why, and what to do.
#[derive(Debug)]
pub struct CliError {
    code: Code,
    message: String,
    causes: Vec<String>,
    hints: Vec<String>,
}

impl CliError {
    /// An error of this kind.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), causes: Vec::new(), hints: Vec::new() }
    }

    /// The system's trouble.
    pub fn trouble(message: impl Into<String>) -> Self {
        Self::new(Code::Trouble, message)
    }

    /// A wrong command line.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Code::Usage, message)
    }

    /// What went wrong, in one line.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// With a further line below the message.
    pub fn cause(mut self, line: impl Into<String>) -> Self {
        self.causes.push(line.into());
        self
    }

    /// With something to do.
    pub fn hint(mut self, line: impl Into<String>) -> Self {
        self.hints.push(line.into());
        self
    }

    /// Prints it and gives its exit code.
    pub fn report(&self, output: &Output, redactor: &Redactor) -> ExitCode {
        if self.code == Code::ReaderGone {
            return self.code.into();
        }
        let clean = |text: &str| printable(&redactor.redact(text));
        output.note(&format!("{} {}", output.label("error"), clean(&self.message)));
        for cause in &self.causes {
            output.note(&format!("  {}", clean(cause)));
        }
        for hint in &self.hints {
            output.note(&format!("{} {}", output.label("hint"), clean(hint)));
        }
        self.code.into()
    }
}

impl From<std::io::Error> for CliError {
    /// Of writing to standard output.
    fn from(error: std::io::Error) -> Self {
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            return Self::new(Code::ReaderGone, "nobody reads");
        }
        Self::trouble(format!("cannot write: {error}"))
    }
}

impl From<llmr::store::StoreError> for CliError {
    fn from(error: llmr::store::StoreError) -> Self {
        let hint = error.hint();
        let mut told = Self::trouble(error.to_string());
        if let Some(source) = std::error::Error::source(&error) {
            told = told.cause(source.to_string());
        }
        match hint {
            Some(hint) => told.hint(hint),
            None => told,
        }
    }
}

impl From<RootsError> for CliError {
    fn from(error: RootsError) -> Self {
        Self::new(Code::Config, error.to_string())
    }
}

impl From<llmr::session::NoProgram> for CliError {
    fn from(error: llmr::session::NoProgram) -> Self {
        let told = Self::new(Code::Config, error.to_string());
        told.hint(format!("{}; nothing was sent", error.lack.hint())).hint("--no-tools goes on without tools")
    }
}

impl From<JobError> for CliError {
    fn from(error: JobError) -> Self {
        match error {
            JobError::Store(error) => error.into(),
            JobError::NoLadder(_) => Self::new(Code::Config, error.to_string()),
            JobError::NoProgram { lack, .. } => {
                let told = Self::new(Code::Config, error.to_string());
                told.hint(format!("{}; nothing was sent", lack.hint()))
            }
            JobError::NoKey { ref steps, .. } => {
                let told = Self::new(Code::Config, error.to_string());
                let line =
                    |told: Self, (deployment, why): &(Deployment, String)| told.cause(format!("{deployment}: {why}"));
                let told = steps.iter().fold(told, line);
                told.hint("set the variable, or change `key` of that credential in the config")
            }
        }
    }
}
