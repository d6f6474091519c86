//! What a router is made from.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::catalog::Catalog;
use crate::classify::{Classifier, Classify};
use crate::clock::{Clock, Rng, TimeSource};
use crate::config::{self, Config};
use crate::domain::Secret;
use crate::host::{Env, Host, LOCAL_PROBE, config_place, environment, local_servers, state_place};

use super::engine::Engine;
use super::error::Error;
use super::router::Router;
use super::state::State;
use super::worker::Worker;

/// What a router is made from. With nothing said it is what the program `llmr` would use: the config file at its usual
/// place or else the keys of the environment, and the state file that all programs of this user share.
#[must_use]
pub struct RouterBuilder {
    config: Source,
    state: Place,
    env: Option<Env>,
    time: Option<&'static dyn TimeSource>,
    classifier: Box<dyn FnOnce(Classifier) -> Arc<dyn Classify>>,
    secrets: Vec<Secret>,
}

enum Source {
    Usual,
    File(PathBuf),
    Text(String),
}

enum Place {
    Usual,
    File(PathBuf),
    Memory,
}

impl fmt::Debug for RouterBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RouterBuilder").finish_non_exhaustive()
    }
}

impl RouterBuilder {
    pub(super) fn new() -> Self {
        Self {
            config: Source::Usual,
            state: Place::Usual,
            env: None,
            time: None,
            classifier: Box::new(|usual| Arc::new(usual)),
            secrets: Vec::new(),
        }
    }

    /// This config file.
    pub fn config_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.config = Source::File(path.into());
        self
    }

    /// This text, in the form of `llmr.toml`.
    pub fn config_text(mut self, text: impl Into<String>) -> Self {
        self.config = Source::Text(text.into());
        self
    }

    /// This state file, which is made if it is not there. All processes that open it know of each other's failures, and
    /// the program `llmr` shows what they know (`llmr --state FILE status`).
    pub fn state_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.state = Place::File(path.into());
        self
    }

    /// State that ends with the router and that nobody else sees.
    pub fn state_in_memory(mut self) -> Self {
        self.state = Place::Memory;
        self
    }

    /// Reads variables, such as keys, in this way instead of from the environment.
    pub fn env(mut self, read: impl Fn(&str) -> Option<String> + Send + 'static) -> Self {
        self.env = Some(Box::new(read));
        self
    }

    /// Another time than the system's. It is kept for as long as the process lives, so a program should have few.
    pub fn clock(mut self, time: impl TimeSource + 'static) -> Self {
        self.time = Some(Box::leak(Box::new(time)));
        self
    }

    /// Another classifier; it is made from the one that is built in, which knows the config's own rules, and can leave to
    /// it what it does not know.
    pub fn classifier<C: Classify + 'static>(mut self, make: impl FnOnce(Classifier) -> C + 'static) -> Self {
        self.classifier = Box::new(|usual| Arc::new(make(usual)));
        self
    }

    /// A secret that must not get into the state or a message, beside the keys, which are known by themselves. Those
    /// shorter than eight characters are not looked for.
    pub fn redact(mut self, secret: &str) -> Self {
        self.secrets.push(Secret::new(secret));
        self
    }

    /// Reads the config, opens the state and starts the router's thread. Sends nothing.
    ///
    /// # Errors
    /// When the config is wrong or missing, or the state file cannot be used. Should the file fail later, requests go on
    /// with what was known by then, in memory, until it can be used again.
    pub fn build(self) -> Result<Router, Error> {
        let clock = self.time.map_or_else(|| Clock::new(None), |time| Clock::of(time, None));
        let mut host = Host::new(self.env.unwrap_or_else(process_env), clock, Rng::new(None));
        self.secrets.iter().for_each(|secret| host.learn_secret(secret));
        let config = Arc::new(self.config.read(&host)?);
        config.warnings.iter().for_each(|warning| tracing::warn!("{warning}"));
        let opened = State::open(self.state.file(&config, &host)?, clock)?;
        let classifier = (self.classifier)(Classifier::new(config.rules.clone()));
        let (known, judge) = (Arc::clone(&config), Arc::clone(&classifier));
        let worker = Worker::start(move || Engine::new(host, known, opened.settle(), judge))?;
        Ok(Router::new(worker, config, classifier, clock))
    }
}

fn process_env() -> Env {
    let all = environment();
    Box::new(move |name| all.get(name).cloned())
}

impl Source {
    fn read(self, host: &Host) -> Result<Config, Error> {
        let (path, is_named) = match self {
            Self::Text(text) => return parse(&text, Path::new("config")),
            Self::File(path) => (Some(path), true),
            Self::Usual => config_place(None, host),
        };
        let Some(path) = path else { return from_environment(host) };
        match std::fs::read_to_string(&path) {
            Ok(text) => parse(&text, &path),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && !is_named => from_environment(host),
            Err(error) => Err(Error::Config { problems: vec![format!("cannot read {}: {error}", path.display())] }),
        }
    }
}

fn parse(text: &str, path: &Path) -> Result<Config, Error> {
    config::parse(text, path, builtin()?).map_err(|problems| Error::wrong(&problems))
}

fn builtin() -> Result<Catalog, Error> {
    Catalog::builtin().map_err(|error| Error::setup(&error))
}

/// A ladder from the keys that the environment holds, and from local servers that answer.
fn from_environment(host: &Host) -> Result<Config, Error> {
    let builtin = builtin()?;
    let local = local_servers(&builtin, LOCAL_PROBE);
    let config = config::from_environment(&|name| host.env(name), &local, builtin);
    let is_empty = config.ladders.values().all(|ladder| ladder.steps.is_empty());
    if is_empty { Err(Error::NoConfig) } else { Ok(config) }
}

impl Place {
    /// The state file; none for memory.
    fn file(self, config: &Config, host: &Host) -> Result<Option<PathBuf>, Error> {
        let place = match self {
            Self::Memory => return Ok(None),
            Self::File(path) => return Ok(Some(path)),
            Self::Usual => state_place(None, Some(config), host),
        };
        let no_place = || Error::State { message: "no place for the state file: HOME is not set".to_owned() };
        place.ok_or_else(no_place).map(Some)
    }
}
