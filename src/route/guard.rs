//! Whether a program that makes its own calls may make one now.
//!
//! It gets the same answer as the driver would act on: yes, yes as the one probe of a hold, or no and until when. A
//! probe's lease is taken here, in the same compare-and-set by which the driver takes one, so of any number of programs
//! and requests one passes. The holder's id says that a guard gave it and when: a report that comes without an id is then
//! still known as that probe's outcome, and a call that was sent before is not taken for it.

use jiff::Timestamp;

use crate::domain::{RequestId, Target};
use crate::ladder::{Eligibility, eligibility};
use crate::policy::{
    Caller, Demand, Flight, Gauge, HoldRecord, Lease, Room, Tightness, UsageSettings, UsageState, Versioned, claim,
    is_limited, returns_at, room,
};
use crate::store::{Accounts, Batch, Snapshot, Store, StoreError, update_locked};

/// What the ids begin with.
const PREFIX: &str = "guard_";

/// How many digits of an id are the time.
const DIGITS: usize = 11;

/// A deployment that may be asked, with the salted fingerprint of its key as it is now, where that is known.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// Who would be asked.
    pub target: Target,
    /// The fingerprint.
    pub fingerprint: Option<String>,
    /// That of what the config says of it.
    pub entry: Option<String>,
    /// Its allowances.
    pub gauges: Vec<Gauge>,
}

impl Candidate {
    /// With what it would be asked.
    pub fn caller(&self) -> Caller<'_> {
        Caller { key: self.fingerprint.as_deref(), entry: self.entry.as_deref() }
    }
}

/// Who may be asked, by the place in the list of candidates.
#[derive(Debug, Clone, PartialEq)]
pub enum Admission {
    /// This one, as anybody may. Where a limit of it is known, the call counts among those under way.
    Free {
        /// Who.
        at: usize,
        /// Whether a limit is known.
        limited: bool,
    },
    /// This one, by the one that gets the leases of these holds.
    Probe(usize, Vec<Versioned>),
    /// Nobody; the one that returns first is this one, and this hold is in its way.
    Held(usize, Box<Versioned>),
    /// Nobody; the one that returns first is this one, and this limit is too near.
    Full(usize, Tightness),
}

impl Admission {
    /// Who, by the place in the list of candidates.
    pub const fn at(&self) -> usize {
        match self {
            Self::Free { at, .. } | Self::Probe(at, _) | Self::Held(at, _) | Self::Full(at, _) => *at,
        }
    }

    /// Whether something must be taken before the call is made: the leases of a probe, or a place among those under way.
    pub const fn takes(&self) -> bool {
        matches!(self, Self::Probe(..) | Self::Free { limited: true, .. })
    }
}

/// A call that a program wants to make.
#[derive(Debug, Clone, PartialEq)]
pub struct Pass {
    /// Who takes a probe's leases or is under way.
    pub id: RequestId,
    /// When that ends by itself.
    pub until: Timestamp,
    /// What it is expected to use.
    pub demand: Demand,
}

/// Who of the candidates may be asked: the first that is free and has more than a little left of its limits, else the
/// first that is free, else the first that may be probed. None when there are no candidates.
pub fn look(
    snapshot: &Snapshot,
    candidates: &[Candidate],
    demand: &Demand,
    bounds: &UsageSettings,
    now: Timestamp,
) -> Option<Admission> {
    let (mut last, mut probe) = (None, None);
    let mut barred: Vec<Admission> = Vec::new();
    for (at, candidate) in candidates.iter().enumerate() {
        let Candidate { target, gauges, .. } = candidate;
        match eligibility(&snapshot.holds, target, now, candidate.caller()) {
            Eligibility::Eligible => {
                let free = Admission::Free { at, limited: is_limited(target, gauges, &snapshot.usage, now) };
                match room(target, gauges, &snapshot.usage, demand, bounds, now) {
                    Room::Enough => return Some(free),
                    Room::Little(_) => drop(last.get_or_insert(free)),
                    Room::None(tight) => barred.push(Admission::Full(at, tight)),
                }
            }
            Eligibility::Probe(claims) if probe.is_none() => {
                probe = Some(Admission::Probe(at, claims.into_iter().cloned().collect()));
            }
            Eligibility::Probe(_) => {}
            Eligibility::Held(by) => barred.push(Admission::Held(at, Box::new(by.clone()))),
        }
    }
    // Of several that return at the same time the first is told.
    last.or(probe).or_else(|| barred.into_iter().min_by_key(|admission| rank(admission, now)))
}

/// What passes by itself is better news than what does not, and the sooner the better.
fn rank(admission: &Admission, now: Timestamp) -> (bool, Timestamp) {
    match admission {
        Admission::Held(_, by) => (by.record.needs_a_person(), passes_at(&by.record, now).unwrap_or(Timestamp::MAX)),
        Admission::Full(_, tight) => (false, tight.until.unwrap_or(Timestamp::MAX)),
        Admission::Free { .. } | Admission::Probe(..) => (false, now),
    }
}

/// The same, with what the call needs taken: the leases of a probe, or a place among the calls under way. Of all that ask
/// at once, as many pass as may; the others see a hold or a limit.
///
/// # Errors
/// When the state cannot be read or written.
pub fn admit(
    store: &dyn Store,
    candidates: &[Candidate],
    pass: &Pass,
    bounds: &UsageSettings,
    now: Timestamp,
) -> Result<Option<Admission>, StoreError> {
    let accounts = Accounts::of(candidates.iter().map(|candidate| &candidate.target));
    update_locked(store, &accounts, |snapshot| {
        let admission = look(snapshot, candidates, &pass.demand, bounds, now);
        let mut batch = Batch::default();
        match &admission {
            Some(Admission::Probe(_, claims)) => {
                batch.changes = claims.iter().filter_map(|held| claim(held, &pass.id, pass.until)).collect();
            }
            Some(Admission::Free { at, limited: true }) => {
                let Pass { id, until, demand } = pass.clone();
                let target = candidates.get(*at).map(|candidate| candidate.target.clone());
                batch.flights.extend(target.map(|target| Flight { id, target, demand, until }));
                batch.landed = snapshot.usage.landed(&pass.id, now);
            }
            _ => {}
        }
        (batch, admission)
    })
}

/// When asking again can help: when the probe that is under way must be over, or else when the record lets a call pass.
/// None when only a person knows.
pub fn passes_at(record: &HoldRecord, now: Timestamp) -> Option<Timestamp> {
    match lease(record).filter(|lease| lease.until > now) {
        Some(lease) => Some(lease.until),
        None => returns_at(record),
    }
}

/// Whether a probe of it is under way.
pub fn probing(record: &HoldRecord, now: Timestamp) -> bool {
    lease(record).is_some_and(|lease| lease.until > now)
}

fn lease(record: &HoldRecord) -> Option<&Lease> {
    match record {
        HoldRecord::Cooldown(_) => None,
        HoldRecord::Quarantine(quarantine) => quarantine.lease.as_ref(),
        HoldRecord::Circuit(circuit) => circuit.lease.as_ref(),
    }
}

/// An id under which a guard takes leases at this time. `token` makes it one of its own.
pub fn guard_id(at: Timestamp, token: &str) -> RequestId {
    let at = u64::try_from(at.as_millisecond()).unwrap_or(0);
    RequestId::new(format!("{PREFIX}{at:0DIGITS$x}{token}"))
}

/// When a guard gave the id; none for any other id.
pub fn issued_at(id: &RequestId) -> Option<Timestamp> {
    let digits = id.as_str().strip_prefix(PREFIX)?.get(..DIGITS)?;
    Timestamp::from_millisecond(i64::from_str_radix(digits, 16).ok()?).ok()
}

/// The id under which a guard let a probe of the target pass, of which nothing has been told yet. With `sent_at` only if
/// the call can be the one that it let pass. A lease that has ended meanwhile, and that nobody else took, still counts.
pub fn probe_of(holds: &[Versioned], target: &Target, sent_at: Option<Timestamp>) -> Option<RequestId> {
    let covering = holds.iter().filter(|held| held.record.scope().covers(target));
    let leases = covering.filter_map(|held| lease(&held.record));
    let fits =
        |lease: &&Lease| issued_at(&lease.holder).is_some_and(|issued| sent_at.is_none_or(|sent| sent >= issued));
    leases.filter(fits).max_by_key(|lease| lease.until).map(|lease| lease.holder.clone())
}

/// The id of the call of the target that a guard let pass first and of which nothing has been told yet.
pub fn flight_of(usage: &UsageState, target: &Target, now: Timestamp) -> Option<RequestId> {
    let of_guards = usage.flights.iter().filter(|flight| flight.target == *target && flight.is_up(now));
    let issued = of_guards.filter_map(|flight| Some((issued_at(&flight.id)?, &flight.id)));
    issued.min().map(|(_, id)| id.clone())
}

#[cfg(test)]
mod tests;
