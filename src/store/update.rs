//! Read, decide, commit, and decide again on what another process wrote.

use super::{Accounts, Batch, Snapshot, Store, StoreError};
use crate::policy::Versioned;

/// How often [`update`] decides before it takes the lock first: the read is then outside the lock, which is what a
/// quiet store wants.
const QUICK_TRIES: u32 = 3;

/// How often it decides in all. Under the lock of a file nothing can conflict; the rest is for backends without one.
const TRIES: u32 = 32;

/// Reads the holds, makes the pure decision, commits, and decides again when another process was faster.
///
/// `decide` may run several times and must not use the store. A decision to write nothing takes no lock.
///
/// # Errors
/// [`StoreError::Contended`] when every try met a conflict; others when the state cannot be read or written.
pub fn update<T>(store: &dyn Store, decide: impl Fn(&[Versioned]) -> (Batch, T)) -> Result<T, StoreError> {
    for _ in 0..QUICK_TRIES {
        let (batch, value) = decide(&store.holds()?);
        if batch.is_empty() {
            return Ok(value);
        }
        match store.commit(&batch) {
            Ok(()) => return Ok(value),
            Err(StoreError::Conflict) => {}
            Err(error) => return Err(error),
        }
    }
    update_locked(store, &Accounts::None, |snapshot| decide(&snapshot.holds))
}

/// The same under the lock from the start, for decisions that always write: one transaction instead of two, and no
/// other process is ever faster.
///
/// # Errors
/// As [`update`].
pub fn update_locked<T>(
    store: &dyn Store,
    of: &Accounts,
    decide: impl Fn(&Snapshot) -> (Batch, T),
) -> Result<T, StoreError> {
    for _ in QUICK_TRIES..TRIES {
        match update_once(store, of, &decide) {
            Err(StoreError::Conflict) => {}
            done => return done,
        }
    }
    Err(StoreError::Contended { tries: TRIES })
}

/// The same, once: for a decision that was made before and is void when anything that it rests on has changed.
///
/// # Errors
/// [`StoreError::Conflict`] when another process was faster; others when the state cannot be read or written.
pub fn update_once<T>(
    store: &dyn Store,
    of: &Accounts,
    decide: impl Fn(&Snapshot) -> (Batch, T),
) -> Result<T, StoreError> {
    let mut decided = None;
    store.commit_decided(of, &mut |snapshot| {
        let (batch, value) = decide(snapshot);
        decided = Some(value);
        batch
    })?;
    decided.ok_or(StoreError::Conflict)
}
