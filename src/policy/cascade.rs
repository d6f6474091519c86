//! When a ladder itself opens: after so many requests in a row that fell through, it answers at once for a while.
//!
//! A hold keeps a request from a deployment that is known to rest. But there are failures that leave none (nobody knows
//! what they mean, or a breaker still counts), and with every step failing so, each request pays for all of them before
//! it may say that nobody answers. So requests that fell through are counted per ladder, over all processes. At the
//! threshold the ladder opens: requests are turned away at once, nothing is sent, and the reason is told.
//!
//! A ladder must never be closed to a request that could be answered, so the rule is a timid one. An open ladder turns a
//! request away only while every step that it could ask is one of those that failed in the request that opened it and
//! left no hold; with nobody to ask it would be turned away by the holds. A hold that ends or is reset, a key or an entry
//! of the config that is new, a step that is new: each makes a step that could be asked and is none of those, and the
//! ladder is looked at before its time. It is looked at in any case when its time has come, which is never later than the
//! return of the first step.
//!
//! To look means that one request passes, with a lease that ends by itself, while the others are still turned away. Its
//! failure opens the ladder again, for longer. Every answer doubles how many may pass at the same time, so that those who
//! waited do not all fall on a provider that has just come back; once that are enough, the record goes. Neither counts
//! what says nothing of the ladder: a request that was at fault itself, was given up, or came down only a part of it.
//!
//! What was written by a clock that ran ahead, or a day ago, says nothing any more.

use std::time::Duration;

use jiff::Timestamp;

use crate::domain::{LadderName, ParseNameError, RequestId};

use super::backoff::doubled;
use super::gate::{LONGEST_LEASE, was_ahead};
use super::record::Lease;
use super::settings::CascadeSettings;
use super::until::later;

/// With so many slots a ladder is as good as closed.
const ENOUGH_SLOTS: u32 = 32;

/// What is older says nothing of now.
const FORGOTTEN: Duration = Duration::from_secs(24 * 3600);

/// How many steps that failed are remembered.
const MOST_PRINTS: usize = 64;

/// Where a ladder stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CascadeState {
    /// Requests go; some fell through.
    Closed,
    /// Requests are turned away.
    Open,
    /// Some requests look whether it is back; the others are turned away.
    Recovering,
}

impl CascadeState {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open => "open",
            Self::Recovering => "recovering",
        }
    }
}

impl std::str::FromStr for CascadeState {
    type Err = ParseNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        [Self::Closed, Self::Open, Self::Recovering]
            .into_iter()
            .find(|state| state.as_str() == text)
            .ok_or_else(|| ParseNameError { text: text.to_owned(), wanted: "state of a ladder" })
    }
}

/// What is remembered of a ladder that fell through. One that did not has no record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cascade {
    /// Which ladder.
    pub ladder: LadderName,
    /// Where it stands.
    pub state: CascadeState,
    /// Requests in a row that fell through.
    pub streak: u32,
    /// How often in a row it opened, for times that double.
    pub opens: u32,
    /// How many requests may pass at the same time while it recovers.
    pub slots: u32,
    /// Those that do.
    pub leases: Vec<Lease>,
    /// Since when it stands so; of a closed one the first request of the row.
    pub since: Timestamp,
    /// When one request may look; of a closed one the latest request of the row.
    pub until: Timestamp,
    /// The prints of the steps that the latest request asked in vain and that could be asked again at once.
    pub failed: Vec<String>,
    /// What the latest failure was.
    pub evidence: String,
    /// The latest request that fell through.
    pub request_id: Option<RequestId>,
}

/// A record as the store has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionedCascade {
    /// Grows by one with every write.
    pub version: i64,
    /// The record itself.
    pub cascade: Cascade,
}

impl VersionedCascade {
    /// Forgets it.
    pub fn removal(&self) -> CascadeChange {
        CascadeChange { ladder: self.cascade.ladder.clone(), expected: Some(self.version), cascade: None }
    }
}

/// A write that happens only if the record is still at the version that the decision saw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CascadeChange {
    /// Which ladder.
    pub ladder: LadderName,
    /// The version that the decision saw; none when there was no record.
    pub expected: Option<i64>,
    /// The new record; none deletes it.
    pub cascade: Option<Cascade>,
}

/// What a ladder says to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passage {
    /// It may go.
    Free,
    /// It may go if it gets a slot before it asks anyone.
    Slot,
    /// It is turned away.
    Refused {
        /// When asking again can help.
        until: Timestamp,
        /// Whether others look whether the ladder is back, so that it may be so sooner.
        is_looked_at: bool,
    },
}

/// How a request ended, as far as its ladder counts it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// A step answered.
    Answered,
    /// No step could.
    FellThrough(Fall),
    /// It says nothing of the ladder.
    Neither,
}

/// A request that fell through.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fall {
    /// Whether anyone was asked.
    pub asked: bool,
    /// When the first step returns, as far as anyone knows.
    pub retry_at: Option<Timestamp>,
    /// The prints of the steps that were asked in vain and could be asked again at once.
    pub failed: Vec<String>,
    /// What the latest failure was; none when nobody was asked.
    pub evidence: Option<String>,
}

/// Whose end it is, and when and by which numbers it is counted.
#[derive(Debug, Clone, Copy)]
pub struct Tally<'a> {
    /// The ladder.
    pub ladder: &'a LadderName,
    /// The request.
    pub request_id: &'a RequestId,
    /// When the ladder opens.
    pub settings: &'a CascadeSettings,
    /// The wall-clock time.
    pub now: Timestamp,
}

impl Cascade {
    /// Whether it says nothing any more.
    pub fn is_void(&self, now: Timestamp) -> bool {
        let latest = if self.state == CascadeState::Closed { self.until } else { self.since };
        was_ahead(latest, now) || later(self.since.max(self.until), FORGOTTEN) < now
    }

    /// What it says to the request. `is_news` says that the request could ask a step that is not known to fail.
    pub fn may_pass(&self, holder: &RequestId, is_news: bool, now: Timestamp) -> Passage {
        if self.is_void(now) {
            return Passage::Free;
        }
        match self.state {
            CascadeState::Closed => Passage::Free,
            CascadeState::Open if is_news || self.until <= now => Passage::Slot,
            CascadeState::Open => Passage::Refused { until: self.until, is_looked_at: false },
            CascadeState::Recovering if self.has_lease(holder) => Passage::Free,
            CascadeState::Recovering => {
                let ends: Vec<Timestamp> = self.live(now).map(|lease| lease.until).collect();
                match ends.iter().min() {
                    Some(first) if ends.len() >= self.slots.max(1) as usize => {
                        Passage::Refused { until: *first, is_looked_at: true }
                    }
                    _ => Passage::Slot,
                }
            }
        }
    }

    /// The ladder once the request has got a slot, which it holds until `until` at most.
    pub fn entered(&self, holder: &RequestId, until: Timestamp, now: Timestamp) -> Self {
        let (slots, since) = match self.state {
            CascadeState::Recovering => (self.slots, self.since),
            CascadeState::Closed | CascadeState::Open => (1, now),
        };
        let mut leases: Vec<Lease> = self.live(now).filter(|lease| lease.holder != *holder).cloned().collect();
        leases.push(Lease { holder: holder.clone(), until });
        Self { state: CascadeState::Recovering, slots, since, leases, ..self.clone() }
    }

    /// The leases that have not ended.
    fn live(&self, now: Timestamp) -> impl Iterator<Item = &Lease> {
        self.leases.iter().filter(move |lease| lease.until > now && lease.until <= later(now, LONGEST_LEASE))
    }

    /// Whether the request has a slot. A lease that has ended meanwhile still says that it had one.
    fn has_lease(&self, holder: &RequestId) -> bool {
        self.leases.iter().any(|lease| lease.holder == *holder)
    }

    fn without(&self, holder: &RequestId) -> Vec<Lease> {
        self.leases.iter().filter(|lease| lease.holder != *holder).cloned().collect()
    }

    /// The record without the request's lease; none when it has none.
    fn freed(&self, holder: &RequestId) -> Option<Self> {
        self.has_lease(holder).then(|| Self { leases: self.without(holder), ..self.clone() })
    }

    /// A ladder of which nothing is remembered yet.
    fn new(tally: &Tally<'_>) -> Self {
        Self {
            ladder: tally.ladder.clone(),
            state: CascadeState::Closed,
            streak: 0,
            opens: 0,
            slots: 1,
            leases: Vec::new(),
            since: tally.now,
            until: tally.now,
            failed: Vec::new(),
            evidence: String::new(),
            request_id: None,
        }
    }

    /// After an answer; none when the record can go. An answer of a request that had begun before the ladder opened is
    /// still an answer that came through it now.
    fn after_answer(&self, holder: &RequestId, now: Timestamp) -> Option<Self> {
        let slots = match self.state {
            CascadeState::Closed => return None,
            CascadeState::Open => 2,
            CascadeState::Recovering => self.slots.max(1).saturating_mul(2),
        };
        let since = if self.state == CascadeState::Open { now } else { self.since };
        let leases = self.without(holder);
        (slots < ENOUGH_SLOTS).then(|| Self { state: CascadeState::Recovering, slots, since, leases, ..self.clone() })
    }

    /// After a request that fell through; none when that says nothing new. Late falls of requests that had passed before
    /// the ladder opened are such.
    fn after_fall(&self, fall: &Fall, tally: &Tally<'_>) -> Option<Self> {
        let now = tally.now;
        // With nobody to ask it is over at once, without a slot.
        let looked = !fall.asked && self.live(now).next().is_none();
        let counts = match self.state {
            CascadeState::Closed => true,
            CascadeState::Open => looked && self.until <= now,
            CascadeState::Recovering => looked || self.has_lease(tally.request_id),
        };
        if !counts {
            return None;
        }
        let mut next = self.clone();
        next.streak = self.streak.saturating_add(1);
        next.evidence = fall.evidence.clone().unwrap_or_else(|| self.evidence.clone());
        next.request_id = Some(tally.request_id.clone());
        if self.state != CascadeState::Closed || next.streak >= tally.settings.after {
            next.open(fall, tally);
        } else {
            next.until = now;
        }
        Some(next)
    }

    /// Opens it, or opens it again for longer.
    fn open(&mut self, fall: &Fall, tally: &Tally<'_>) {
        let Tally { settings, now, .. } = *tally;
        // Who looked before the time says nothing about how long the others have to wait.
        let is_early = self.state == CascadeState::Recovering && self.until > now;
        // Nor does it make those good that failed before: who comes with other keys would take turns at being news.
        let known = if is_early { std::mem::take(&mut self.failed) } else { Vec::new() };
        let known = known.into_iter().filter(|print| !fall.failed.contains(print));
        self.failed = fall.failed.iter().cloned().chain(known).take(MOST_PRINTS).collect();
        if !is_early {
            self.until = later(now, doubled(settings.open, settings.open_max, self.opens));
            self.opens = self.opens.saturating_add(1);
        }
        // A time that was set before the clock was put back can be too far away.
        let latest = self.until.min(later(now, settings.open_max));
        self.until = fall.retry_at.map_or(latest, |at| latest.min(at.max(now)));
        self.state = CascadeState::Open;
        self.since = now;
        self.slots = 1;
        self.leases.clear();
    }
}

/// What the end of a request changes of its ladder's record; none when nothing changes, as after every ordinary answer.
pub fn after(there: Option<&VersionedCascade>, ending: &Ending, tally: &Tally<'_>) -> Option<CascadeChange> {
    let old = there.map(|there| &there.cascade).filter(|old| !old.is_void(tally.now));
    let new = match (ending, old) {
        (Ending::Answered, old) => old.and_then(|old| old.after_answer(tally.request_id, tally.now)),
        (Ending::FellThrough(fall), old) => {
            let fresh = || Cascade::new(tally);
            let old = old.cloned().unwrap_or_else(fresh);
            old.after_fall(fall, tally).or_else(|| old.freed(tally.request_id)).or(Some(old))
        }
        (Ending::Neither, old) => match old {
            Some(old) => old.freed(tally.request_id).or_else(|| Some(old.clone())),
            None => return None,
        },
    };
    let is_new = there.map(|there| &there.cascade) != new.as_ref();
    is_new.then(|| CascadeChange {
        ladder: tally.ladder.clone(),
        expected: there.map(|there| there.version),
        cascade: new,
    })
}
