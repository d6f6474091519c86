//! The state of a router: a file, or memory.
//!
//! The driver goes on in memory when the file fails, for the rest of its process. That is right for a program that asks
//! once. A router lives long: a disk that was full has room again, and then it must not stay apart from all other
//! processes. So it tries the file again from time to time, and takes along what it learned meanwhile for the case that the
//! file fails once more.

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use crate::clock::Clock;
use crate::route::FallbackStore;
use crate::store::{OpenOptions, SqliteStore, StoreError};

/// The file that a router's state is in.
type Kept = FallbackStore<SqliteStore>;

/// A file that failed is tried again so long after.
const AGAIN: Duration = Duration::from_secs(60);

pub(super) struct State {
    file: Option<PathBuf>,
    clock: Clock,
    kept: RefCell<Rc<Kept>>,
    /// When the file was last opened, by the stopwatch.
    opened_at: Cell<Duration>,
}

impl State {
    /// The file, or memory alone where none is named.
    ///
    /// # Errors
    /// When the file cannot be used.
    pub(super) fn open(file: Option<PathBuf>, clock: Clock) -> Result<Opened, StoreError> {
        let store = file.as_ref().map(|path| SqliteStore::open(path, options(clock))).transpose()?;
        Ok(Opened { file, clock, store })
    }

    /// Whether there never was a file.
    pub(super) fn is_in_memory(&self) -> bool {
        self.file.is_none()
    }

    /// The state as it is now.
    pub(super) fn store(&self) -> Rc<Kept> {
        let current = Rc::clone(&self.kept.borrow());
        warn(&current);
        let now = self.clock.elapsed();
        let is_due = current.file().is_none() && now.saturating_sub(self.opened_at.get()) >= AGAIN;
        let Some(path) = self.file.as_ref().filter(|_| is_due) else { return current };
        self.opened_at.set(now);
        let Ok(file) = SqliteStore::open(path, options(self.clock)) else { return current };
        let fresh = FallbackStore::new(Ok(file));
        fresh.take_over(&*current);
        tracing::info!(path = %path.display(), "the state file is tried again");
        let fresh = Rc::new(fresh);
        self.kept.replace(Rc::clone(&fresh));
        fresh
    }
}

/// What was opened, on its way to the router's thread.
pub(super) struct Opened {
    file: Option<PathBuf>,
    clock: Clock,
    store: Option<SqliteStore>,
}

impl Opened {
    /// The state, on the thread that will use it.
    pub(super) fn settle(self) -> State {
        let Self { file, clock, store } = self;
        let kept = store.map_or_else(FallbackStore::empty, |store| FallbackStore::new(Ok(store)));
        warn(&kept);
        State { file, clock, kept: RefCell::new(Rc::new(kept)), opened_at: Cell::new(clock.elapsed()) }
    }
}

/// A damaged file makes room for a new one.
fn options(clock: Clock) -> OpenOptions {
    OpenOptions { set_aside: Some(clock), ..OpenOptions::default() }
}

fn warn(store: &Kept) {
    if let Some(warning) = store.take_warning() {
        tracing::warn!("{warning}");
    }
}
