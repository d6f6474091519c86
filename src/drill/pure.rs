//! A stage without sockets, threads and waits: the same driver, on invented time.
//!
//! Nothing of what decides is different. The providers say the same bytes, without a wire between; the state is in
//! memory; timers, waits and pauses are jumps of an invented clock, so that an hour takes as long as what is done in it.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

use jiff::Timestamp;

use crate::catalog::Wire;
use crate::classify::Classifier;
use crate::clock::{Clock, Invented};
use crate::domain::{Redactor, Secret};
use crate::rehearsal::{Script, Voices};
use crate::route::FallbackStore;
use crate::store::{SqliteStore, Store, StoreError};

use super::asking::Told;
use super::file::Ask;
use super::process::Process;
use super::stage::{Ground, Stage};

/// Voices instead of providers, and the state in memory.
pub(super) struct Pure {
    time: &'static Invented,
    voices: Voices,
    store: FallbackStore<SqliteStore>,
    classifier: OnceCell<Classifier>,
}

impl Pure {
    pub(super) fn new() -> Self {
        let time = Invented::begin(Timestamp::UNIX_EPOCH);
        Self { time, voices: Voices::new(time), store: FallbackStore::empty(), classifier: OnceCell::new() }
    }
}

impl Ground for Pure {
    fn add(&mut self, name: &str, wire: Wire, script: Script) -> Result<String, String> {
        self.voices.add(name, wire, script);
        Ok(Voices::base_url(name, wire))
    }

    fn clock(&self, stands_at: Option<Timestamp>) -> Clock {
        Clock::of(self.time, stands_at)
    }

    /// Each goes on as far as it gets before the next one does.
    fn at_once(stage: &Stage<Self>, ask: &Ask) -> Result<Vec<Told>, String> {
        let Self { time, voices, store, classifier } = &stage.ground;
        stage.now.into_iter().for_each(|now| time.set(now));
        let process = &Process {
            config: &stage.config,
            store,
            transport: voices,
            classifier: classifier.get_or_init(|| Classifier::new(stage.config.rules.clone())),
            redactor: &Redactor::new(stage.keys.values().map(|key| Secret::new(key))),
            key: &|credential| stage.key(credential),
        };
        let send = |n| async move { stage.send(process, ask, &format!("request-{}-{n}", stage.asked)).await };
        let told = time.run(all((0..ask.together.unwrap_or(1)).map(send)));
        told.ok_or("it waits for something that time does not bring")?.into_iter().collect()
    }

    fn hits(&self) -> BTreeMap<String, usize> {
        self.voices.hits()
    }

    fn last_bodies(&self) -> BTreeMap<String, String> {
        self.voices.last().into_iter().map(|(name, seen)| (name, seen.body.to_string())).collect()
    }

    fn with_store<T>(&self, act: impl FnOnce(&dyn Store) -> Result<T, StoreError>) -> Result<T, String> {
        act(&self.store).map_err(|error| error.to_string())
    }
}

/// Where a future is, or what came of it.
enum Seat<F: Future> {
    Going(Pin<Box<F>>),
    Done(F::Output),
}

/// What comes of all of them, in order.
pub(super) async fn all<F: Future>(futures: impl Iterator<Item = F>) -> Vec<F::Output>
where
    F::Output: Unpin,
{
    let mut seats: Vec<Seat<F>> = futures.map(|future| Seat::Going(Box::pin(future))).collect();
    poll_fn(|context| {
        let mut is_over = true;
        for seat in &mut seats {
            if let Seat::Going(future) = seat {
                match future.as_mut().poll(context) {
                    Poll::Ready(output) => *seat = Seat::Done(output),
                    Poll::Pending => is_over = false,
                }
            }
        }
        if is_over { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    let done = |seat| match seat {
        Seat::Done(output) => Some(output),
        Seat::Going(_) => None,
    };
    seats.into_iter().filter_map(done).collect()
}
