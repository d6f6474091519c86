//! A store that never stops a request: when the file cannot be used, memory takes over for this process, with a warning.
//!
//! A file that cannot be written can often still be read: the disk is full, or the file belongs to somebody else. Memory
//! then begins with the holds that stand there, or a full disk would let every process ask what must not be asked.

use std::cell::{Cell, RefCell};

use jiff::Timestamp;

use crate::domain::{Deployment, KeptAnswer, KeptEvidence, LadderName, Prefix, RequestId};
use crate::policy::{
    Alarm, CascadeChange, Change, Finding, Lease, Letter, MeterChange, Sink, TrackRecord, Versioned, VersionedCascade,
    VersionedMeter,
};
use crate::store::{
    Accounts, AlarmBatch, AlarmStore, AlarmView, Batch, Claim, Claiming, Health, LogFilter, LogPage, MemoryStore,
    Pulse, Snapshot, Store, StoreError,
};

/// The file while it works, memory from its first failure on.
pub struct FallbackStore<S> {
    file: Option<S>,
    memory: MemoryStore,
    /// The file's own, so that keys are still told apart as it does.
    salt: RefCell<Option<Vec<u8>>>,
    failed: Cell<bool>,
    warning: RefCell<Option<String>>,
}

impl<S: Store> FallbackStore<S> {
    /// Uses the file if it could be opened.
    pub fn new(file: Result<S, StoreError>) -> Self {
        let warning = file.as_ref().err().map(warning);
        Self { file: file.ok(), ..Self::on_memory(warning) }
    }

    /// The file, while it works.
    pub fn file(&self) -> Option<&S> {
        self.file.as_ref().filter(|_| !self.failed.get())
    }

    /// Memory alone, because there is nothing to remember yet.
    pub fn empty() -> Self {
        Self::on_memory(None)
    }

    /// Memory alone, for this reason.
    pub fn without_file(why: &str) -> Self {
        Self::on_memory(Some(format!("{why}; {ON_MEMORY}")))
    }

    fn on_memory(warning: Option<String>) -> Self {
        let (failed, warning) = (Cell::new(false), RefCell::new(warning));
        Self { file: None, memory: MemoryStore::new(), salt: RefCell::default(), failed, warning }
    }

    /// Lets memory begin with what can still be read. What cannot be read is forgotten: nothing else is left to do.
    pub fn take_over(&self, readable: &dyn Store) {
        let Ok(Snapshot { holds, usage, cascades }) = readable.snapshot(&Accounts::All) else { return };
        let set = |held: Versioned| Change { key: held.record.key(), expected: None, record: Some(held.record) };
        let count = |held: VersionedMeter| {
            let key = (held.meter.scope.clone(), held.meter.dimension);
            MeterChange { key, expected: None, meter: Some(held.meter) }
        };
        let open = |VersionedCascade { cascade, .. }| CascadeChange {
            ladder: cascade.ladder.clone(),
            expected: None,
            cascade: Some(cascade),
        };
        let _ = self.memory.commit(&Batch {
            changes: holds.into_iter().map(set).collect(),
            cascades: cascades.into_iter().map(open).collect(),
            meters: usage.meters.into_iter().map(count).collect(),
            flights: usage.flights,
            estimates: usage.estimates,
            ..Batch::default()
        });
        // What was told is not told again.
        if let Ok(alarms) = readable.alarms() {
            let _ = self.memory.look_at_alarms(&mut |_| AlarmBatch { alarms: alarms.clone(), ..AlarmBatch::default() });
        }
        self.salt.replace(readable.salt().ok());
    }

    /// What went wrong, once.
    pub fn take_warning(&self) -> Option<String> {
        let of_file = self.file.as_ref().and_then(Store::take_warning);
        let warnings: Vec<_> = of_file.into_iter().chain(self.warning.borrow_mut().take()).collect();
        (!warnings.is_empty()).then(|| warnings.join("; "))
    }

    fn on<T>(&self, act: impl Fn(&dyn Store) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let Some(file) = self.file() else { return act(&self.memory) };
        match act(file) {
            // Another process was faster: no trouble of the file.
            Err(StoreError::Conflict) => Err(StoreError::Conflict),
            Err(error) => {
                self.failed.set(true);
                self.warning.replace(Some(warning(&error)));
                self.take_over(file);
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

    fn snapshot(&self, of: &Accounts) -> Result<Snapshot, StoreError> {
        self.on(|store| store.snapshot(of))
    }

    fn commit_decided(&self, of: &Accounts, decide: &mut dyn FnMut(&Snapshot) -> Batch) -> Result<(), StoreError> {
        let decide = RefCell::new(decide);
        self.on(|store| store.commit_decided(of, &mut |snapshot| (decide.borrow_mut())(snapshot)))
    }

    fn log(&self, filter: &LogFilter) -> Result<LogPage, StoreError> {
        self.on(|store| store.log(filter))
    }

    fn kept(&self, id: &RequestId) -> Result<Vec<(u32, KeptEvidence)>, StoreError> {
        self.on(|store| store.kept(id))
    }

    fn take_retry(&self, id: &RequestId, now: Timestamp, since: Timestamp, budget: u32) -> Result<bool, StoreError> {
        self.on(|store| store.take_retry(id, now, since, budget))
    }

    fn claim_request(&self, wish: &Claiming<'_>) -> Result<Claim, StoreError> {
        self.on(|store| store.claim_request(wish))
    }

    fn answer(&self, id: &RequestId) -> Result<Option<KeptAnswer>, StoreError> {
        self.on(|store| store.answer(id))
    }

    fn findings(&self, now: Timestamp) -> Result<Vec<Finding>, StoreError> {
        self.on(|store| store.findings(now))
    }

    fn prefixes(&self, digest: &str, since: Timestamp) -> Result<Vec<Prefix>, StoreError> {
        self.on(|store| store.prefixes(digest, since))
    }

    fn track_records(
        &self,
        of: &[Deployment],
        ladder: Option<&LadderName>,
        since: Timestamp,
        most: u32,
    ) -> Result<Vec<TrackRecord>, StoreError> {
        self.on(|store| store.track_records(of, ladder, since, most))
    }

    fn change_token(&self) -> Result<u64, StoreError> {
        self.on(|store| store.change_token())
    }

    fn take_warning(&self) -> Option<String> {
        FallbackStore::take_warning(self)
    }

    fn salt(&self) -> Result<Vec<u8>, StoreError> {
        let taken_over = self.salt.borrow().clone();
        taken_over.map_or_else(|| self.on(|store| store.salt()), Ok)
    }
}

impl<S: Store> AlarmStore for FallbackStore<S> {
    fn alarm_pulse(&self, ladder: &str, now: Timestamp) -> Result<Pulse, StoreError> {
        self.on(|store| store.alarm_pulse(ladder, now))
    }

    fn alarms(&self) -> Result<Vec<Alarm>, StoreError> {
        self.on(|store| store.alarms())
    }

    fn letters(&self) -> Result<Vec<Letter>, StoreError> {
        self.on(|store| store.letters())
    }

    fn look_at_alarms(&self, decide: &mut dyn FnMut(&AlarmView) -> AlarmBatch) -> Result<AlarmBatch, StoreError> {
        let decide = RefCell::new(decide);
        self.on(|store| store.look_at_alarms(&mut |view| (decide.borrow_mut())(view)))
    }

    fn claim_letter(&self, sinks: &[Sink], lease: &Lease, now: Timestamp) -> Result<Option<Letter>, StoreError> {
        self.on(|store| store.claim_letter(sinks, lease, now))
    }

    fn settle_letter(&self, letter: &Letter, lease: &Lease) -> Result<bool, StoreError> {
        self.on(|store| store.settle_letter(letter, lease))
    }
}
