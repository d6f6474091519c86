//! A stage of sockets and a file: everything but the providers is real.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::catalog::Wire;
use crate::classify::Classifier;
use crate::clock::Clock;
use crate::domain::{Redactor, Secret};
use crate::rehearsal::{Provider, Script};
use crate::route::FallbackStore;
use crate::store::{OpenOptions, SqliteStore, Store, StoreError};
use crate::transport::{Transport, TransportOptions};

use super::asking::Told;
use super::file::Ask;
use super::process::Process;
use super::stage::{Ground, Stage};

/// Providers on ports of this machine, and the state in a folder.
pub(super) struct Loopback {
    providers: BTreeMap<String, Provider>,
    folder: PathBuf,
}

impl Loopback {
    pub(super) fn new(folder: &Path) -> Self {
        Self { providers: BTreeMap::new(), folder: folder.to_owned() }
    }

    /// Each request opens the file anew, as a process of its own does.
    fn store(&self) -> Result<SqliteStore, StoreError> {
        SqliteStore::open(&self.folder.join("state.db"), OpenOptions::default())
    }
}

impl Ground for Loopback {
    fn add(&mut self, name: &str, wire: Wire, script: Script) -> Result<String, String> {
        let provider = Provider::start(wire, script).map_err(|error| error.to_string())?;
        let base_url = provider.base_url();
        self.providers.insert(name.to_owned(), provider);
        Ok(base_url)
    }

    fn clock(&self, stands_at: Option<Timestamp>) -> Clock {
        Clock::new(stands_at)
    }

    /// Each in a thread with all that a process has.
    fn at_once(stage: &Stage<Self>, ask: &Ask) -> Result<Vec<Told>, String> {
        std::thread::scope(|scope| {
            let send = |n| scope.spawn(move || send(stage, ask, &format!("request-{}-{n}", stage.asked)));
            let threads: Vec<_> = (0..ask.together.unwrap_or(1)).map(send).collect();
            threads.into_iter().map(|thread| thread.join().map_err(|_| "it panicked".to_owned())?).collect()
        })
    }

    fn hits(&self) -> BTreeMap<String, usize> {
        self.providers.iter().map(|(name, provider)| (name.clone(), provider.hits())).collect()
    }

    fn last_bodies(&self) -> BTreeMap<String, String> {
        let last = |provider: &Provider| provider.requests().last().map(|seen| seen.body.to_string());
        self.providers.iter().map(|(name, provider)| (name.clone(), last(provider).unwrap_or_default())).collect()
    }

    fn with_store<T>(&self, act: impl FnOnce(&dyn Store) -> Result<T, StoreError>) -> Result<T, String> {
        self.store().and_then(|store| act(&store)).map_err(|error| error.to_string())
    }
}

fn send(stage: &Stage<Loopback>, ask: &Ask, id: &str) -> Result<Told, String> {
    let store = FallbackStore::new(stage.ground.store());
    let transport = Transport::new(&TransportOptions::default()).map_err(|error| error.to_string())?;
    let process = Process {
        config: &stage.config,
        store: &store,
        transport: &transport,
        classifier: &Classifier::new(stage.config.rules.clone()),
        redactor: &Redactor::new(stage.keys.values().map(|key| Secret::new(key))),
        key: &|credential| stage.key(credential),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| error.to_string())?.block_on(stage.send(&process, ask, id))
}
