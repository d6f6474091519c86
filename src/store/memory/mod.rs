//! State of one process, behind one mutex: for tests, and for a request that must run although the file cannot be used.

mod alarms;
mod kept;
mod log;
mod talks;

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;

use super::{Accounts, Batch, Claim, Claiming, Health, LogFilter, LogPage, Snapshot, Store, StoreError};
use crate::clock::Rng;
use crate::domain::{
    AccountName, AttemptRecord, Deployment, KeptAnswer, KeptEvidence, LadderName, ModelName, Prefix, ProviderName,
    RequestId, RequestRecord,
};
use crate::policy::{
    CascadeChange, Change, Estimate, Finding, Flight, Key, MeterChange, MeterKey, TrackRecord, UsageState, Versioned,
    VersionedCascade, VersionedMeter,
};

use alarms::Alarms;
use kept::Kept;
use talks::Talks;

/// State that ends with the process and behaves as the file does.
#[derive(Debug)]
pub struct MemoryStore {
    state: Mutex<State>,
    salt: [u8; 16],
}

#[derive(Debug, Default)]
struct State {
    holds: BTreeMap<Key, Versioned>,
    last_hold_id: i64,
    /// The highest version of any record that was removed; new ones begin above it.
    last_version: i64,
    meters: BTreeMap<MeterKey, VersionedMeter>,
    cascades: BTreeMap<LadderName, VersionedCascade>,
    flights: BTreeMap<RequestId, Flight>,
    estimates: BTreeMap<(ProviderName, ModelName), Estimate>,
    attempts: BTreeMap<(RequestId, u32), AttemptRecord>,
    kept: BTreeMap<(RequestId, u32), KeptEvidence>,
    /// By place in the log.
    requests: BTreeMap<i64, RequestRecord>,
    last_place: i64,
    /// Until when the requests under chosen ids may be under way.
    claims: BTreeMap<RequestId, (String, Timestamp)>,
    health: BTreeMap<Deployment, Health>,
    beside: Kept,
    alarms: Alarms,
    talks: Talks,
    commits: u64,
}

impl MemoryStore {
    /// An empty store with a salt of its own.
    pub fn new() -> Self {
        let mut rng = Rng::new(None);
        let mut salt = [0; 16];
        for part in salt.chunks_exact_mut(8) {
            part.copy_from_slice(&rng.next_u64().to_le_bytes());
        }
        Self { state: Mutex::default(), salt }
    }

    /// A panic elsewhere cannot leave the state half written: it is changed by whole assignments only.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl Store for MemoryStore {
    fn holds(&self) -> Result<Vec<Versioned>, StoreError> {
        Ok(self.state().holds())
    }

    fn commit(&self, batch: &Batch) -> Result<(), StoreError> {
        self.state().commit(batch)
    }

    fn snapshot(&self, of: &Accounts) -> Result<Snapshot, StoreError> {
        Ok(self.state().snapshot(of))
    }

    fn commit_decided(&self, of: &Accounts, decide: &mut dyn FnMut(&Snapshot) -> Batch) -> Result<(), StoreError> {
        let mut state = self.state();
        let batch = decide(&state.snapshot(of));
        state.commit(&batch)
    }

    fn health(&self) -> Result<Vec<Health>, StoreError> {
        Ok(self.state().health.values().cloned().collect())
    }

    fn log(&self, filter: &LogFilter) -> Result<LogPage, StoreError> {
        Ok(self.state().log(filter))
    }

    fn kept(&self, id: &RequestId) -> Result<Vec<(u32, KeptEvidence)>, StoreError> {
        let all = (id.clone(), 0)..=(id.clone(), u32::MAX);
        let state = self.state();
        let index = |key: &(RequestId, u32)| state.attempts.range((id.clone(), 0)..key.clone()).count();
        let with_index =
            |(key, kept): (_, &KeptEvidence)| (u32::try_from(index(key)).unwrap_or(u32::MAX), kept.clone());
        Ok(state.kept.range(all).map(with_index).collect())
    }

    fn take_retry(&self, _: &RequestId, now: Timestamp, since: Timestamp, budget: u32) -> Result<bool, StoreError> {
        Ok(self.state().beside.take_retry(now, since, budget))
    }

    fn claim_request(&self, wish: &Claiming<'_>) -> Result<Claim, StoreError> {
        Ok(self.state().claim(wish))
    }

    fn answer(&self, id: &RequestId) -> Result<Option<KeptAnswer>, StoreError> {
        Ok(self.state().beside.answer(id))
    }

    fn findings(&self, now: Timestamp) -> Result<Vec<Finding>, StoreError> {
        Ok(self.state().beside.findings(now))
    }

    fn prefixes(&self, digest: &str, since: Timestamp) -> Result<Vec<Prefix>, StoreError> {
        Ok(self.state().beside.prefixes(digest, since))
    }

    fn track_records(
        &self,
        of: &[Deployment],
        ladder: Option<&LadderName>,
        since: Timestamp,
        most: u32,
    ) -> Result<Vec<TrackRecord>, StoreError> {
        let state = self.state();
        Ok(of.iter().filter_map(|deployment| state.track_record(deployment, ladder, since, most)).collect())
    }

    fn change_token(&self) -> Result<u64, StoreError> {
        Ok(self.state().commits)
    }

    fn salt(&self) -> Result<Vec<u8>, StoreError> {
        Ok(self.salt.to_vec())
    }
}

impl State {
    /// By kind, then in the order of their making.
    fn holds(&self) -> Vec<Versioned> {
        let mut holds: Vec<_> = self.holds.values().cloned().collect();
        holds.sort_by_key(|hold| (hold.record.kind(), hold.id));
        holds
    }

    fn snapshot(&self, of: &Accounts) -> Snapshot {
        let is_wanted = |provider: &ProviderName, account: Option<&AccountName>| match of {
            Accounts::None => false,
            Accounts::All => true,
            Accounts::Of(accounts) => {
                accounts.iter().any(|(p, a)| p == provider && account.is_none_or(|account| a == account))
            }
        };
        let meters = self.meters.values().filter(|held| {
            let scope = &held.meter.scope;
            is_wanted(&scope.provider, scope.account.as_ref())
        });
        let flights = self.flights.values();
        let flights =
            flights.filter(|flight| is_wanted(&flight.target.deployment.provider, Some(&flight.target.account)));
        let estimates = self.estimates.values().filter(|estimate| is_wanted(&estimate.provider, None));
        let usage = UsageState {
            meters: meters.cloned().collect(),
            flights: flights.cloned().collect(),
            estimates: estimates.cloned().collect(),
        };
        Snapshot { holds: self.holds(), usage, cascades: self.cascades.values().cloned().collect() }
    }

    fn commit(&mut self, batch: &Batch) -> Result<(), StoreError> {
        batch.check()?;
        // All changes are tried on a copy, so that a conflict in the last one leaves no trace of the first.
        let (mut holds, mut last_hold_id, mut last_version) =
            (self.holds.clone(), self.last_hold_id, self.last_version);
        for change in &batch.changes {
            apply(&mut holds, &mut last_hold_id, &mut last_version, change)?;
        }
        let mut meters = self.meters.clone();
        for change in &batch.meters {
            apply_to_meters(&mut meters, change)?;
        }
        let mut cascades = self.cascades.clone();
        for change in &batch.cascades {
            apply_to_cascades(&mut cascades, &mut last_version, change)?;
        }
        (self.holds, self.meters, self.cascades) = (holds, meters, cascades);
        (self.last_hold_id, self.last_version) = (last_hold_id, last_version);
        self.flights.retain(|id, _| !batch.landed.contains(id));
        self.flights.extend(batch.flights.iter().map(|flight| (flight.id.clone(), flight.clone())));
        let named = |estimate: &Estimate| ((estimate.provider.clone(), estimate.model.clone()), estimate.clone());
        self.estimates.extend(batch.estimates.iter().map(named));
        for (id, place, attempt) in &batch.attempts {
            self.write_attempt(id, *place, attempt);
        }
        self.kept.extend(batch.kept.iter().map(|(id, place, kept)| ((id.clone(), *place), kept.clone())));
        self.beside.write(batch);
        if let Some(request) = &batch.request {
            self.write_request(request);
        }
        self.commits += 1;
        Ok(())
    }
}

fn apply_to_meters(meters: &mut BTreeMap<MeterKey, VersionedMeter>, change: &MeterChange) -> Result<(), StoreError> {
    let found = meters.get(&change.key).map(|held| held.version);
    if found != change.expected {
        return Err(StoreError::Conflict);
    }
    match &change.meter {
        Some(meter) => {
            let held = VersionedMeter { version: found.unwrap_or(0) + 1, meter: meter.clone() };
            meters.insert(change.key.clone(), held);
        }
        None => drop(meters.remove(&change.key)),
    }
    Ok(())
}

fn apply_to_cascades(
    cascades: &mut BTreeMap<LadderName, VersionedCascade>,
    last_version: &mut i64,
    change: &CascadeChange,
) -> Result<(), StoreError> {
    let found = cascades.get(&change.ladder).map(|there| there.version);
    if found != change.expected {
        return Err(StoreError::Conflict);
    }
    match &change.cascade {
        Some(cascade) => {
            let version = found.unwrap_or(*last_version) + 1;
            cascades.insert(change.ladder.clone(), VersionedCascade { version, cascade: cascade.clone() });
        }
        None => {
            cascades.remove(&change.ladder);
            *last_version = found.unwrap_or(0).max(*last_version);
        }
    }
    Ok(())
}

fn apply(
    holds: &mut BTreeMap<Key, Versioned>,
    last_id: &mut i64,
    last_version: &mut i64,
    change: &Change,
) -> Result<(), StoreError> {
    let found = holds.get(&change.key);
    if found.map(|hold| hold.version) != change.expected {
        return Err(StoreError::Conflict);
    }
    let (id, version) = found.map_or((*last_id + 1, *last_version + 1), |hold| (hold.id, hold.version + 1));
    match &change.record {
        Some(record) => {
            *last_id = id.max(*last_id);
            holds.insert(change.key.clone(), Versioned { id, version, record: record.clone() });
        }
        None => {
            let removed = holds.remove(&change.key);
            *last_version = removed.map_or(*last_version, |hold| hold.version.max(*last_version));
        }
    }
    Ok(())
}
