//! A store that never stops a request: when the file cannot be used, memory takes over for this process, with a warning.

use std::cell::{Cell, RefCell};

use jiff::Timestamp;

use crate::policy::Versioned;
use crate::store::{Batch, Health, LogFilter, LogPage, MemoryStore, ShapeCount, Store, StoreError};

/// The file while it works, memory from its first failure on.
pub struct FallbackStore<S> {
    file: Option<S>,
    memory: MemoryStore,
    failed: Cell<bool>,
    warning: RefCell<Option<String>>,
}

impl<S: Store> FallbackStore<S> {
    /// Uses the file if it could be opened.
    pub fn new(file: Result<S, StoreError>) -> Self {
        let warning = file.as_ref().err().map(warning);
        Self { file: file.ok(), memory: MemoryStore::new(), failed: Cell::new(false), warning: RefCell::new(warning) }
    }

    /// The file, while it works.
    pub fn file(&self) -> Option<&S> {
        self.file.as_ref().filter(|_| !self.failed.get())
    }

    /// Memory alone, because there is nothing to remember yet.
    pub fn empty() -> Self {
        Self { file: None, memory: MemoryStore::new(), failed: Cell::new(false), warning: RefCell::new(None) }
    }

    /// Memory alone, for this reason.
    pub fn without_file(why: &str) -> Self {
        let warning = Some(format!("{why}; {ON_MEMORY}"));
        Self { file: None, memory: MemoryStore::new(), failed: Cell::new(false), warning: RefCell::new(warning) }
    }

    /// What went wrong, once.
    pub fn take_warning(&self) -> Option<String> {
        self.warning.borrow_mut().take()
    }

    fn on<T>(&self, act: impl Fn(&dyn Store) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let Some(file) = self.file() else { return act(&self.memory) };
        match act(file) {
            // Another process was faster: no trouble of the file.
            Err(StoreError::Conflict) => Err(StoreError::Conflict),
            Err(error) => {
                self.failed.set(true);
                self.warning.replace(Some(warning(&error)));
                act(&self.memory)
            }
            done => done,
        }
    }
}

const ON_MEMORY: &str = "this request runs on memory state, and nothing of it is remembered";

fn warning(error: &StoreError) -> String {
    format!("{error}; {ON_MEMORY}")
}

impl<S: Store> Store for FallbackStore<S> {
    fn holds(&self) -> Result<Vec<Versioned>, StoreError> {
        self.on(|store| store.holds())
    }

    fn commit(&self, batch: &Batch) -> Result<(), StoreError> {
        self.on(|store| store.commit(batch))
    }

    fn health(&self) -> Result<Vec<Health>, StoreError> {
        self.on(|store| store.health())
    }

    fn commit_decided(&self, decide: &mut dyn FnMut(&[Versioned]) -> Batch) -> Result<(), StoreError> {
        let decide = RefCell::new(decide);
        self.on(|store| store.commit_decided(&mut |holds| (decide.borrow_mut())(holds)))
    }

    fn log(&self, filter: &LogFilter) -> Result<LogPage, StoreError> {
        self.on(|store| store.log(filter))
    }

    fn retries_since(&self, since: Timestamp) -> Result<u32, StoreError> {
        self.on(|store| store.retries_since(since))
    }

    fn shapes_since(&self, since: Timestamp) -> Result<Vec<ShapeCount>, StoreError> {
        self.on(|store| store.shapes_since(since))
    }

    fn change_token(&self) -> Result<u64, StoreError> {
        self.on(|store| store.change_token())
    }

    fn salt(&self) -> Result<Vec<u8>, StoreError> {
        self.on(|store| store.salt())
    }
}
