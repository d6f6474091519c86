//! What can happen next.

use std::rc::Rc;

use super::rules;
use super::state::{Hold, Outcome, Place, Process, Sent, State, Subject, asked, call, second};
use crate::domain::{Class, Failure, RequestId};
use crate::policy::rivals::{after, decide, first_version, says};
use crate::policy::world::{at, failure};
use crate::policy::{Change, Event, Gate, HoldRecord, Versioned, claim, hastened, returns_at};

/// One step of the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Move {
    /// A process reads the hold and asks the gate.
    Reads(usize),
    /// It claims the probe.
    Claims(usize),
    Sends(usize),
    /// It learns what came of its call, and reads the hold again.
    Learns(usize, Outcome),
    /// It decides on what it read and commits, or reads again when that is no longer there.
    Commits(usize),
    /// It is killed and another one begins. To be killed before it sends, or before it commits, leaves the same world.
    Dies(usize),
    /// Time passes up to this second.
    Passes(i64),
    /// The clock is set.
    Jumps(i64),
    /// A person wants the probe now.
    Hurries,
}

/// What the clock may be set by, in seconds: a little back, and so much that what was set looks as from the future.
const JUMPS: [i64; 3] = [-15, -400, 400];

/// All that can happen next.
pub(super) fn possible(state: &State) -> Vec<Move> {
    let mut moves = Vec::new();
    for (who, process) in state.processes.iter().enumerate() {
        match &process.place {
            Place::Idle if process.requests_left > 0 => moves.push(Move::Reads(who)),
            Place::Idle => {}
            Place::MayProbe { .. } => moves.push(Move::Claims(who)),
            Place::MaySend { .. } => moves.push(Move::Sends(who)),
            Place::Asking(_) => {
                moves.extend(Outcome::ALL.map(|outcome| Move::Learns(who, outcome)));
                moves.push(Move::Dies(who));
            }
            Place::Decides { .. } => moves.push(Move::Commits(who)),
        }
    }
    if state.ticks > 0 {
        let own = state.hold.iter().flat_map(Hold::moments).map(second);
        let leases = state.processes.iter().filter_map(Process::lease);
        let mut moments: Vec<i64> = own.chain(leases).chain([state.now + 1]).filter(|at| *at > state.now).collect();
        moments.sort_unstable();
        moments.dedup();
        moves.extend(moments.into_iter().map(Move::Passes));
    }
    let sooner = state.hold.as_ref().and_then(|hold| hastened(&hold.0.record, at(state.now)));
    if state.hurries > 0 && sooner.is_some() {
        moves.push(Move::Hurries);
    }
    if state.jumps > 0 {
        moves.extend(JUMPS.map(|by| Move::Jumps(state.now + by)));
    }
    moves
}

/// The world in which the hold is set already, by calls that were answered at the start.
pub(super) fn with_hold(mut state: State, subject: &Subject) -> State {
    for _ in 0..subject.failures {
        let process = Process { requests_left: 1, place: Place::Idle };
        state.processes.push(process);
        let first = state.processes.len() - 1;
        for step in [Move::Reads(first), Move::Sends(first), Move::Learns(first, Outcome::Same), Move::Commits(first)] {
            state = make(&state, step, subject).expect("no rule is broken");
        }
        state.processes.pop();
    }
    state
}

/// The world after the step, or the rule that it breaks.
pub(super) fn make(state: &State, step: Move, subject: &Subject) -> Result<State, String> {
    let mut next = state.clone();
    match step {
        Move::Passes(to) => (next.now, next.ticks) = (to, next.ticks - 1),
        Move::Jumps(to) => (next.now, next.jumps, next.jumped) = (to, next.jumps - 1, true),
        Move::Dies(who) => next.processes[who].done(),
        Move::Reads(who) => {
            let gate = state.hold.as_ref().map_or(Gate::Open, |hold| says(&hold.0, at(state.now)));
            next.processes[who].place = match (gate, &state.hold) {
                (Gate::Open, _) => Place::MaySend { lease: None },
                (Gate::Probe, Some(hold)) => Place::MayProbe { seen: hold.clone(), at: state.now },
                _ => Place::Idle,
            };
        }
        Move::Claims(who) => claims(state, &mut next, who, subject)?,
        Move::Sends(who) => {
            let lease = state.processes[who].lease();
            next.processes[who].place = Place::Asking(Sent { at: state.now, lease, overtaken: false });
        }
        Move::Learns(who, outcome) => {
            if let Place::Asking(sent) = state.processes[who].place {
                let seen = state.hold.clone();
                next.processes[who].place = Place::Decides { sent, outcome, seen, at: state.now };
            }
        }
        Move::Commits(who) => commits(state, &mut next, who, subject)?,
        Move::Hurries => hurries(state, &mut next)?,
    }
    Ok(next)
}

fn claims(state: &State, next: &mut State, who: usize, subject: &Subject) -> Result<(), String> {
    let Place::MayProbe { seen, at: looked_at } = &state.processes[who].place else { return Ok(()) };
    let until = after(at(state.now), subject.settings.lease.as_secs());
    let change = claim(&seen.0, &RequestId::new(state.request(who)), until).ok_or("there is no probe to claim")?;
    if !write(state, next, &change) {
        next.processes[who].place = Place::Idle;
        return Ok(());
    }
    rules::decided_on_what_is_there(state, Some(seen))?;
    rules::one_prober(state, who, *looked_at)?;
    next.processes[who].place = Place::MaySend { lease: Some(second(until)) };
    Ok(())
}

fn commits(state: &State, next: &mut State, who: usize, subject: &Subject) -> Result<(), String> {
    let Place::Decides { sent, outcome, seen, at: decided_at } = &state.processes[who].place else { return Ok(()) };
    let (target, id) = (asked(), state.request(who));
    let resets = subject.every.map(|every| at((decided_at.div_euclid(every) + 1) * every));
    let stated = Failure { retry_at: resets, ..subject.failure.clone() };
    let other = failure(Class::ContentPolicy);
    let event = match outcome {
        Outcome::Answer => Event::Success,
        Outcome::Same => Event::Failure(&stated),
        Outcome::Other => Event::Failure(&other),
        Outcome::Abandoned => Event::Abandoned,
    };
    let holds: Vec<Versioned> = seen.iter().map(|hold| (*hold.0).clone()).collect();
    let changes = decide(&holds, event, &call(&target, &id, sent.at), at(*decided_at), &subject.settings);
    match &changes[..] {
        [] => rules::nothing_was_to_be_done(state, who, *outcome)?,
        [change] if write(state, next, change) => {
            rules::decided_on_what_is_there(state, seen.as_ref())?;
            rules::count(state, next, *outcome);
            rules::after_commit(state, next, who, *outcome)?;
        }
        [_] => {
            // With the time of the new look: by the old one, what the other wrote would be from the future.
            let again = Place::Decides { sent: *sent, outcome: *outcome, seen: state.hold.clone(), at: state.now };
            next.processes[who].place = again;
            return Ok(());
        }
        more => return Err(format!("one hold and {} changes", more.len())),
    }
    next.processes[who].done();
    Ok(())
}

fn hurries(state: &State, next: &mut State) -> Result<(), String> {
    let Some(held) = state.hold.as_ref().map(|hold| &hold.0) else { return Ok(()) };
    let record = hastened(&held.record, at(state.now)).ok_or("there is nothing to hasten")?;
    let change = Change { key: record.key(), expected: Some(held.version), record: Some(record) };
    write(state, next, &change);
    (next.hurries, next.known) = (state.hurries - 1, returns_at(&held.record).map(second));
    rules::may_be_probed(next)
}

/// Writes as the store does; false when the record is not at the version that the decision saw.
fn write(state: &State, next: &mut State, change: &Change) -> bool {
    if state.hold.as_ref().map(|hold| hold.0.version) != change.expected {
        return false;
    }
    next.hold = change.record.clone().map(|record| {
        let (id, version) = match &state.hold {
            Some(hold) => (hold.0.id, hold.0.version + 1),
            None => (state.next_id, first_version(state.next_id)),
        };
        next.next_id = next.next_id.max(id + 1);
        Hold(Rc::new(Versioned { id, version, record: without_cause(record) }))
    });
    true
}

/// Who caused a hold is for people and decides nothing; without it more states are the same.
fn without_cause(mut record: HoldRecord) -> HoldRecord {
    match &mut record {
        HoldRecord::Cooldown(c) => c.request_id = None,
        HoldRecord::Quarantine(q) => q.request_id = None,
        HoldRecord::Circuit(c) => c.request_id = None,
    }
    record
}
