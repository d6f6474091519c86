//! What the small world is made of.

use std::hash::{Hash, Hasher};
use std::rc::Rc;

use jiff::Timestamp;

use crate::domain::{Failure, Target};
use crate::policy::world::{Call, at, target};
use crate::policy::{CircuitState, HoldRecord, Lease, PolicySettings, Versioned};

/// What kind of hold is looked at.
pub(super) struct Subject {
    /// The failure that sets it.
    pub(super) failure: Failure,
    /// How many of them it takes.
    pub(super) failures: u32,
    /// At which multiples of seconds from the start it ends, where the failure says so.
    pub(super) every: Option<i64>,
    pub(super) settings: PolicySettings,
    /// Within how many seconds somebody may probe it at the latest, whatever happened.
    pub(super) returns_within: i64,
}

/// How much of the world is visited.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) processes: usize,
    /// Requests of each process, one after the other.
    pub(super) requests: u8,
    /// How often time passes.
    pub(super) ticks: u8,
    /// How often the clock jumps.
    pub(super) jumps: u8,
    /// Whether the hold is set when it begins.
    pub(super) is_set: bool,
    /// How often a person wants the probe now.
    pub(super) hurries: u8,
}

/// The hold as the store has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hold(pub(super) Rc<Versioned>);

impl Hold {
    pub(super) fn lease(&self) -> Option<&Lease> {
        match &self.0.record {
            HoldRecord::Cooldown(_) => None,
            HoldRecord::Quarantine(q) => q.lease.as_ref(),
            HoldRecord::Circuit(c) => c.lease.as_ref(),
        }
    }

    /// The moments that the record names: between them nothing changes by itself.
    pub(super) fn moments(&self) -> impl Iterator<Item = Timestamp> {
        let (first, second) = match &self.0.record {
            HoldRecord::Cooldown(c) => (Some(c.until), None),
            HoldRecord::Quarantine(q) => (Some(q.until), q.probe_at),
            HoldRecord::Circuit(c) => (c.retry_at.filter(|_| c.state == CircuitState::Open), None),
        };
        let lease = self.lease().map(|lease| lease.until);
        [first, second, lease].into_iter().flatten()
    }
}

impl Hash for Hold {
    /// By what differs most; the comparison has the last word.
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        (self.0.id, self.0.version).hash(hasher);
        self.lease().hash(hasher);
        match &self.0.record {
            HoldRecord::Cooldown(c) => (c.since, c.until).hash(hasher),
            HoldRecord::Quarantine(q) => (q.since, q.until, q.probe_at, q.streak).hash(hasher),
            HoldRecord::Circuit(c) => (c.state, c.consecutive, c.opens, c.opened_at, c.retry_at).hash(hasher),
        }
    }
}

/// What came of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Outcome {
    Answer,
    /// The failure that the hold is about.
    Same,
    /// A failure that says nothing about the hold.
    Other,
    Abandoned,
}

impl Outcome {
    pub(super) const ALL: [Self; 4] = [Self::Answer, Self::Same, Self::Other, Self::Abandoned];
}

/// A call on the wire, or just back from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Sent {
    pub(super) at: i64,
    /// When its lease ends, if it is a probe.
    pub(super) lease: Option<i64>,
    /// Whether the hold was set anew since it was sent.
    pub(super) overtaken: bool,
}

/// Where a process stands.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Place {
    /// Between requests.
    Idle,
    /// It read the hold, and the gate said at that time that it may claim the probe.
    MayProbe { seen: Hold, at: i64 },
    /// It may send; with the end of its lease, if it is the prober.
    MaySend { lease: Option<i64> },
    /// It waits for an answer.
    Asking(Sent),
    /// It knows what came of it, and decides on what it read then.
    Decides { sent: Sent, outcome: Outcome, seen: Option<Hold>, at: i64 },
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Process {
    pub(super) requests_left: u8,
    pub(super) place: Place,
}

impl Process {
    /// The lease that it believes to hold.
    pub(super) fn lease(&self) -> Option<i64> {
        match &self.place {
            Place::MaySend { lease } => *lease,
            Place::Asking(sent) | Place::Decides { sent, .. } => sent.lease,
            Place::Idle | Place::MayProbe { .. } => None,
        }
    }

    pub(super) fn done(&mut self) {
        self.requests_left -= 1;
        self.place = Place::Idle;
    }
}

/// The whole small world, and what an all-knowing bystander has counted.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct State {
    pub(super) now: i64,
    pub(super) hold: Option<Hold>,
    pub(super) next_id: i64,
    pub(super) processes: Vec<Process>,
    pub(super) ticks: u8,
    pub(super) jumps: u8,
    pub(super) jumped: bool,
    /// Failures in a row that were committed.
    pub(super) in_a_row: u32,
    /// How often a circuit opened since it last closed.
    pub(super) opened: u32,
    pub(super) hurries: u8,
    /// Up to when the hold was known to last before a person wanted the probe now.
    pub(super) known: Option<i64>,
}

impl State {
    pub(super) fn new(bounds: Bounds) -> Self {
        let process = Process { requests_left: bounds.requests, place: Place::Idle };
        Self {
            now: 0,
            hold: None,
            next_id: 1,
            processes: vec![process; bounds.processes],
            ticks: bounds.ticks,
            jumps: bounds.jumps,
            jumped: false,
            in_a_row: 0,
            opened: 0,
            hurries: bounds.hurries,
            known: None,
        }
    }

    /// The id of the request that the process is at.
    pub(super) fn request(&self, process: usize) -> String {
        format!("p{process}.{}", self.processes[process].requests_left)
    }
}

/// Who is asked, in all of this.
pub(super) fn asked() -> Target {
    target("groq/llama@team")
}

/// The call of a request that was sent at that second.
pub(super) fn call<'a>(target: &'a Target, id: &'a str, sent: i64) -> Call<'a> {
    Call { last_success: Some(at(-60)), ..Call::new(target, id, at(sent)) }
}

/// The second of a time.
pub(super) fn second(time: Timestamp) -> i64 {
    time.as_second() - at(0).as_second()
}
