//! Durable state behind one small trait with compare-and-set: holds, the log of requests and attempts, and when each
//! deployment last worked.
//!
//! A backend knows no rule. It hands out the records with their versions, and it writes a [`Batch`] all or nothing, if
//! no record moved in between. `update` joins the two: read, make the pure decision, commit, and decide again on what
//! another process wrote. So every rule exists once, in `policy`, and any number of processes that fail at the same
//! moment leave exactly the streak that happened.
//!
//! An attempt is committed as soon as it happened, in the same transaction as the holds that follow from it: a process
//! that is killed leaves either both or neither. The request's own row comes last. Until then the log shows the request
//! as `unfinished`, which is all that can be known about a process that died.

mod alarms;
mod baselines;
mod error;
mod facts;
mod memory;
mod sessions;
mod sqlite;
mod totals;
mod unfinished;
mod update;

use jiff::Timestamp;

use crate::domain::{
    AccountName, AttemptRecord, Class, Deployment, KeptAnswer, KeptEvidence, LadderName, ModelName, Outcome, Prefix,
    ProviderName, RequestId, RequestRecord, Selector, Target,
};
use crate::policy::{
    CascadeChange, Change, Estimate, Finding, Flight, MeterChange, TrackRecord, UsageState, Versioned, VersionedCascade,
};

pub use alarms::{AlarmBatch, AlarmStore, AlarmView, Pulse};
pub use baselines::{Baseline, LONGEST_VERDICT};
pub use error::StoreError;
pub use facts::{AttemptFact, Fact, Places, RequestFact, Spent, Who};
pub use memory::MemoryStore;
pub use sessions::{CallChange, Outline, SessionBatch, SessionStore, Talk, TurnChange};
pub use sqlite::{OpenOptions, Pruned, Retention, Seat, SqliteStore};
pub use totals::{AttemptSum, BOUNDS_US, Came, Histogram, RetryCount, Totals, Verdict};
use unfinished::{tally_unfinished, unfinished};
pub use update::{update, update_locked, update_once};

/// What is written in one transaction.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Batch {
    /// Holds that are set, changed or lifted, each if it is still at the version that the decision saw.
    pub changes: Vec<Change>,
    /// Meters that moved, each if it is still at the version that the decision saw.
    pub meters: Vec<MeterChange>,
    /// Ladders that open or close, each if its record is still at the version that the decision saw.
    pub cascades: Vec<CascadeChange>,
    /// Requests that take off. One of the same request is replaced.
    pub flights: Vec<Flight>,
    /// Requests that are over, if they were under way.
    pub landed: Vec<RequestId>,
    /// What was learned of models' tokens, in place of what was known.
    pub estimates: Vec<Estimate>,
    /// Attempts by their request and their place in it, counted from 0. One that is already there is replaced.
    pub attempts: Vec<(RequestId, u32, AttemptRecord)>,
    /// All that was said with some of the attempts, by their request and place. What is already there is replaced.
    pub kept: Vec<(RequestId, u32, KeptEvidence)>,
    /// What was learned of models, in place of what was known under the same word.
    pub findings: Vec<Finding>,
    /// Models of which all findings are forgotten, before new ones are written.
    pub forgotten: Vec<(ProviderName, ModelName)>,
    /// Who served which beginning of a prompt.
    pub prefixes: Vec<Prefix>,
    /// The answer of a request.
    pub answer: Option<(RequestId, KeptAnswer)>,
    /// The request's own row, new or in place of the one that is there. Its `attempts` are written only where none
    /// stands at their place yet.
    pub request: Option<RequestRecord>,
}

impl Batch {
    /// Whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Refuses a change that names one record and carries another: it would compare one and write the other.
    fn check(&self) -> Result<(), StoreError> {
        let of_another =
            |change: &&CascadeChange| change.cascade.as_ref().is_some_and(|cascade| cascade.ladder != change.ladder);
        if let Some(change) = self.cascades.iter().find(of_another) {
            return Err(StoreError::MismatchedLadder { ladder: change.ladder.clone() });
        }
        let astray = |change: &&Change| change.record.as_ref().is_some_and(|record| record.key() != change.key);
        match self.changes.iter().find(astray) {
            Some(change) => Err(StoreError::Mismatch { key: Box::new(change.key.clone()) }),
            None => Ok(()),
        }
    }
}

/// Of which accounts the usage is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Accounts {
    /// Of none: holds alone.
    None,
    /// Of these, with what is counted for their providers as a whole.
    Of(Vec<(ProviderName, AccountName)>),
    /// Of all.
    All,
}

impl Accounts {
    /// Of the accounts of these targets, each once.
    pub fn of<'a>(targets: impl IntoIterator<Item = &'a Target>) -> Self {
        let pair = |target: &Target| (target.deployment.provider.clone(), target.account.clone());
        let accounts: std::collections::BTreeSet<_> = targets.into_iter().map(pair).collect();
        Self::Of(accounts.into_iter().collect())
    }
}

/// What a decision is made on, as of one moment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Snapshot {
    /// All holds.
    pub holds: Vec<Versioned>,
    /// The usage of the accounts that were wanted.
    pub usage: UsageState,
    /// All ladders that fell through lately, by name.
    pub cascades: Vec<VersionedCascade>,
}

/// When a deployment last worked and last failed, by the start of the attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// Who was asked.
    pub deployment: Deployment,
    /// Whose quota it used, by the latest attempt.
    pub account: AccountName,
    /// The start of the latest attempt that was answered.
    pub last_success: Option<Timestamp>,
    /// The start of the latest attempt that failed, whatever its class.
    pub last_failure: Option<Timestamp>,
}

/// Which requests of the log are wanted; all conditions must hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogFilter {
    /// This one only.
    pub id: Option<RequestId>,
    /// At least one attempt failed with one of these classes; empty: any.
    pub classes: Vec<Class>,
    /// Started at or after this time.
    pub since: Option<Timestamp>,
    /// Started before this time.
    pub until: Option<Timestamp>,
    /// At least one attempt was made at a deployment that one of these matches; empty: any.
    pub asked: Vec<Selector>,
    /// Went down this ladder.
    pub ladder: Option<LadderName>,
    /// Ended in one of these ways; empty: any.
    pub outcomes: Vec<Outcome>,
    /// At most this many: the newest, or with `after` the oldest ones that follow it.
    pub limit: usize,
    /// Only requests that ended after this place of the log, a [`LogPage::last`]. Unfinished ones are left out: they
    /// come once they end.
    pub after: Option<i64>,
}

impl Default for LogFilter {
    /// Everything.
    fn default() -> Self {
        Self {
            id: None,
            classes: Vec::new(),
            since: None,
            until: None,
            asked: Vec::new(),
            ladder: None,
            outcomes: Vec::new(),
            limit: usize::MAX,
            after: None,
        }
    }
}

impl LogFilter {
    /// Whether the request with its attempts fulfils all conditions that do not depend on its place in the log. For
    /// backends that cannot search.
    fn fits(&self, request: &RequestRecord) -> bool {
        let any = |found: &dyn Fn(&AttemptRecord) -> bool| request.attempts.iter().any(found);
        let failed = |attempt: &AttemptRecord| attempt.class.is_some_and(|class| self.classes.contains(&class));
        let asked = |attempt: &AttemptRecord| self.asked.iter().any(|selector| selector.matches(&attempt.deployment));
        self.id.as_ref().is_none_or(|id| *id == request.id)
            && self.ladder.as_ref().is_none_or(|ladder| *ladder == request.ladder)
            && (self.outcomes.is_empty() || self.outcomes.contains(&request.outcome))
            && (self.classes.is_empty() || any(&failed))
            && (self.asked.is_empty() || any(&asked))
    }
}

/// A part of the log, with the place to go on from.
#[derive(Debug, Clone, PartialEq)]
pub struct LogPage {
    /// The requests with their attempts, newest last.
    pub requests: Vec<RequestRecord>,
    /// The place in the log up to which everything was looked at: the next [`LogFilter::after`].
    pub last: i64,
}

/// An id that the user chose, for a request that begins now.
#[derive(Debug, Clone, Copy)]
pub struct Claiming<'a> {
    /// The id.
    pub id: &'a RequestId,
    /// The ladder that the request goes down.
    pub ladder: &'a LadderName,
    /// A salted digest of what is asked: two requests of one id must be the same.
    pub asked: &'a str,
    /// The wall clock.
    pub now: Timestamp,
    /// When its process must be dead, if it has not ended.
    pub until: Timestamp,
}

/// Whether an id that the user chose could be taken.
#[derive(Debug, Clone, PartialEq)]
pub enum Claim {
    /// The id belongs to a request that asked something else.
    Another,
    /// It could.
    Taken {
        /// The place of the next attempt: a process that died under the same id may have made some.
        attempts: u32,
    },
    /// The request of that id has ended or is under way.
    Known(Box<RequestRecord>),
}

/// State that may be shared by processes.
pub trait Store: AlarmStore {
    /// All holds, as of one moment.
    ///
    /// # Errors
    /// When the state cannot be read.
    fn holds(&self) -> Result<Vec<Versioned>, StoreError>;

    /// All holds with the usage of some accounts, as of one moment.
    ///
    /// # Errors
    /// When the state cannot be read.
    fn snapshot(&self, of: &Accounts) -> Result<Snapshot, StoreError>;

    /// Writes all of the batch or nothing.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] when a record is not at the version that a change expects; others when the state
    /// cannot be written.
    fn commit(&self, batch: &Batch) -> Result<(), StoreError>;

    /// Reads, decides and commits with no other writer in between, where the backend can; `decide` must not use the
    /// store.
    ///
    /// # Errors
    /// As [`commit`](Self::commit).
    fn commit_decided(&self, of: &Accounts, decide: &mut dyn FnMut(&Snapshot) -> Batch) -> Result<(), StoreError> {
        let batch = decide(&self.snapshot(of)?);
        self.commit(&batch)
    }

    /// When each deployment last worked and last failed, sorted by deployment.
    ///
    /// # Errors
    /// When the state cannot be read.
    fn health(&self) -> Result<Vec<Health>, StoreError>;

    /// The log, with the place to go on from.
    ///
    /// # Errors
    /// When the state cannot be read.
    fn log(&self, filter: &LogFilter) -> Result<LogPage, StoreError>;

    /// The requests of the log with their attempts, newest last. Newest means: ended last, or, while unfinished, begun
    /// last.
    ///
    /// # Errors
    /// When the state cannot be read.
    fn requests(&self, filter: &LogFilter) -> Result<Vec<RequestRecord>, StoreError> {
        Ok(self.log(filter)?.requests)
    }

    /// All that was said with those attempts of the request of which it is kept, by their index in its record.
    ///
    /// # Errors
    /// When the state cannot be read.
    fn kept(&self, id: &RequestId) -> Result<Vec<(u32, KeptEvidence)>, StoreError>;

    /// Grants the request one more retry if all processes together were granted fewer than `budget` at or after
    /// `since`; it is counted as of `now`. What is denied is noted as well. What lies further ahead of `now` than `since`
    /// lies behind it was counted by a wrong clock and does not count.
    ///
    /// # Errors
    /// When the state cannot be read or written.
    fn take_retry(&self, id: &RequestId, now: Timestamp, since: Timestamp, budget: u32) -> Result<bool, StoreError>;

    /// Takes the id until its time is over, unless a request of that id has ended for good or may still be under way.
    ///
    /// # Errors
    /// When the state cannot be read or written.
    fn claim_request(&self, wish: &Claiming<'_>) -> Result<Claim, StoreError>;

    /// The answer of a request, if it is kept.
    ///
    /// # Errors
    /// When the state cannot be read.
    fn answer(&self, id: &RequestId) -> Result<Option<KeptAnswer>, StoreError>;

    /// What is believed of models at this time, sorted by model.
    ///
    /// # Errors
    /// When the state cannot be read.
    fn findings(&self, now: Timestamp) -> Result<Vec<Finding>, StoreError>;

    /// Who served the beginning of a prompt at or after the time, the latest first.
    ///
    /// # Errors
    /// When the state cannot be read.
    fn prefixes(&self, digest: &str, since: Timestamp) -> Result<Vec<Prefix>, StoreError>;

    /// What the latest attempts at each of these deployments come to: at most `most` each, started at or after the time.
    /// With a ladder only those for its requests; they are looked for among the latest `most` times
    /// [`OTHER_LADDERS`], so that much traffic of other ladders does not make it slow. One without any is left out.
    ///
    /// # Errors
    /// When the state cannot be read.
    fn track_records(
        &self,
        of: &[Deployment],
        ladder: Option<&LadderName>,
        since: Timestamp,
        most: u32,
    ) -> Result<Vec<TrackRecord>, StoreError>;

    /// A number that is another one once any process has committed; it says nothing else.
    ///
    /// # Errors
    /// When the state cannot be read.
    fn change_token(&self) -> Result<u64, StoreError>;

    /// What happened to the state that a person must know, once.
    fn take_warning(&self) -> Option<String> {
        None
    }

    /// 16 random bytes, made once per store, which go into the fingerprints of keys.
    ///
    /// # Errors
    /// When the state cannot be read.
    fn salt(&self) -> Result<Vec<u8>, StoreError>;
}

/// Of the latest attempts at a deployment, how many times as many are looked at as are wanted of one ladder.
pub const OTHER_LADDERS: u32 = 2;

#[cfg(test)]
mod alike;
#[cfg(test)]
mod contract;
#[cfg(test)]
mod contract_alarms;
#[cfg(test)]
mod contract_cascades;
#[cfg(test)]
mod contract_kept;
#[cfg(test)]
mod contract_sessions;
#[cfg(test)]
mod contract_usage;
