//! What must hold in each state and at each step.

use super::state::{Hold, Outcome, Place, State, Subject, asked, call, second};
use crate::domain::RequestId;
use crate::policy::rivals::{after, decide, says};
use crate::policy::world::at;
use crate::policy::{CircuitState, Event, Gate, HoldRecord, Versioned, claim, returns_at};

/// What is written was decided on the very record that it replaces.
pub(super) fn decided_on_what_is_there(state: &State, seen: Option<&Hold>) -> Result<(), String> {
    if state.hold.as_ref() == seen {
        return Ok(());
    }
    Err(format!("decided on what is no longer there\n  seen  {seen:?}\n  there {:?}", state.hold))
}

/// Whoever claims the probe is the only one whose lease has not ended. The time that counts is that of the look: no
/// clock can promise what happens between it and the write, but the version does.
pub(super) fn one_prober(state: &State, who: usize, looked_at: i64) -> Result<(), String> {
    let others = state.processes.iter().enumerate().filter(|(other, _)| *other != who);
    // A probe that was overtaken lost its hold by a success or a reset: its lease is one on a record that is gone.
    let on_the_wire = others.filter(|(other, process)| {
        process.lease().is_some_and(|until| until > looked_at) && holder(state) == Some(state.request(*other))
    });
    match on_the_wire.count() {
        0 => Ok(()),
        _ => Err("two probers whose leases have not ended".to_owned()),
    }
}

/// Who holds the lease of the hold.
fn holder(state: &State) -> Option<String> {
    state.hold.as_ref()?.lease().map(|lease| lease.holder.as_str().to_owned())
}

/// Keeps the bystander's counts after a commit.
pub(super) fn count(before: &State, after: &mut State, outcome: Outcome) {
    let state_of = |state: &State| match &state.hold.as_ref()?.0.record {
        HoldRecord::Circuit(circuit) => Some(circuit.state),
        _ => None,
    };
    let (old, new) = (state_of(before), state_of(after));
    if after.hold.is_none() {
        (after.in_a_row, after.opened, after.known) = (0, 0, None);
    }
    match outcome {
        Outcome::Answer => after.in_a_row = 0,
        Outcome::Same if old.is_none_or(|old| old == CircuitState::Closed) => after.in_a_row += 1,
        _ => {}
    }
    let set_anew = match &after.hold {
        None => false,
        Some(hold) => match &hold.0.record {
            HoldRecord::Circuit(_) => new == Some(CircuitState::Open) && outcome == Outcome::Same,
            _ => before.hold.as_ref().is_none_or(|old| old.0.record.since() != hold.0.record.since()),
        },
    };
    if set_anew {
        after.opened += 1;
        for process in &mut after.processes {
            if let Place::Asking(sent) | Place::Decides { sent, .. } = &mut process.place {
                sent.overtaken = true;
            }
        }
    }
}

/// What a commit may do to the hold of somebody else, and what it must have counted.
pub(super) fn after_commit(before: &State, after: &State, who: usize, outcome: Outcome) -> Result<(), String> {
    let sent = match &before.processes[who].place {
        Place::Decides { sent, .. } => *sent,
        _ => return Ok(()),
    };
    if let Some(old) = &before.hold
        && let Some(lease) = old.lease().filter(|lease| lease.holder.as_str() != before.request(who))
    {
        let kept = after.hold.as_ref().map(|new| new.lease() == Some(lease));
        let closed = after.hold.is_none() && outcome == Outcome::Answer;
        let is_over = matches!(&old.0.record, HoldRecord::Quarantine(q) if q.until <= at(before.now) || before.jumped);
        let set_anew = outcome == Outcome::Same && is_over;
        if kept != Some(true) && !closed && !set_anew {
            return Err(format!("{outcome:?} of {} took the lease of {}", before.request(who), lease.holder));
        }
    }
    let closed = before.hold.is_some() && after.hold.is_none();
    if closed && outcome != Outcome::Answer {
        return Err(format!("{outcome:?} closed it"));
    }
    let is_over = |old: &Hold| old.moments().all(|moment| moment <= at(before.now));
    if closed
        && !before.jumped
        && sent.overtaken
        && before.hold.as_ref().is_some_and(|old| !is_over(old) && old.0.record.since() > at(sent.at))
    {
        return Err("an answer to an older call closed what was set after it".to_owned());
    }
    kept_known(after, outcome)?;
    counted(before, after, outcome)
}

/// Who wants the probe now gets it.
pub(super) fn may_be_probed(state: &State) -> Result<(), String> {
    match &state.hold {
        Some(hold) if says(&hold.0, at(state.now)) == Gate::Probe => Ok(()),
        hold => Err(format!("nobody may probe {hold:?}")),
    }
}

/// A probe before the time that finds that it is still so takes nothing away from what was known.
fn kept_known(after: &State, outcome: Outcome) -> Result<(), String> {
    let is_resting = |hold: &&Hold| says(&hold.0, at(after.now)) == Gate::Held && hold.lease().is_none();
    let resting = after.hold.as_ref().filter(is_resting);
    let until = resting.and_then(|hold| returns_at(&hold.0.record)).map(second);
    match (until, after.known) {
        (Some(until), Some(known)) if outcome == Outcome::Same && until < known && !after.jumped => {
            Err(format!("known to last until {known}, and now only until {until}"))
        }
        _ => Ok(()),
    }
}

/// The record's own counts are those of the bystander.
fn counted(before: &State, after: &State, outcome: Outcome) -> Result<(), String> {
    let Some(hold) = &after.hold else { return Ok(()) };
    match &hold.0.record {
        HoldRecord::Cooldown(_) => Ok(()),
        HoldRecord::Circuit(c) => {
            let streak = c.state != CircuitState::Closed || c.consecutive == after.in_a_row;
            // A clock that was set back makes an opening look early, and that one is not counted.
            let opens = c.opens == after.opened || (after.jumped && c.opens < after.opened);
            if streak && opens {
                return Ok(());
            }
            Err(format!("{} in a row, {} openings, but {c:?}", after.in_a_row, after.opened))
        }
        HoldRecord::Quarantine(q) => {
            let old = before.hold.as_ref().and_then(|old| match &old.0.record {
                HoldRecord::Quarantine(q) => Some(q.streak),
                _ => None,
            });
            let by_one = outcome == Outcome::Same;
            let grown = q.streak.checked_sub(old.unwrap_or(0));
            match (old, grown) {
                (None, Some(0)) | (Some(_), Some(0)) => Ok(()),
                (Some(_), Some(1)) if by_one => Ok(()),
                _ => Err(format!("a streak of {old:?} became {}", q.streak)),
            }
        }
    }
}

/// A decision to write nothing leaves no lease behind that nobody will give back.
pub(super) fn nothing_was_to_be_done(state: &State, who: usize, outcome: Outcome) -> Result<(), String> {
    let own = holder(state) == Some(state.request(who));
    let Place::Decides { sent, seen, .. } = &state.processes[who].place else { return Ok(()) };
    let fresh = *seen == state.hold;
    // An answer sent before the hold was set lifts nothing; the lease that it took ends by itself.
    let proves_nothing = outcome == Outcome::Answer && (sent.overtaken || state.jumped);
    if own && fresh && !proves_nothing {
        return Err(format!("{outcome:?} of the prober left its lease"));
    }
    Ok(())
}

/// Whatever happened: if everybody who is under way dies now, the next one gets through in time.
pub(super) fn somebody_gets_through(state: &State, subject: &Subject) -> Result<(), String> {
    let target = asked();
    let mut hold: Option<Versioned> = state.hold.as_ref().map(|hold| (*hold.0).clone());
    let mut now = state.now;
    for _ in 0..6 {
        let Some(held) = hold.clone() else { break };
        match says(&held, at(now)) {
            Gate::Open => break,
            Gate::Held => {
                let moments = Hold(std::rc::Rc::new(held.clone()));
                let next = moments.moments().map(second).filter(|moment| *moment > now).min();
                now = next.ok_or_else(|| format!("held for ever: {held:?}"))?;
            }
            Gate::Probe => {
                let id = RequestId::new("rescue");
                let claimed = claim(&held, &id, after(at(now), 20)).and_then(|change| change.record);
                let claimed = Versioned { version: held.version + 1, record: claimed.ok_or("no claim")?, ..held };
                let call = call(&target, "rescue", now);
                let seen = [claimed];
                match &decide(&seen, Event::Success, &call, at(now), &subject.settings)[..] {
                    [change] => hold = change.record.clone().map(|record| Versioned { record, ..seen[0].clone() }),
                    _ => return Err("the answer to a probe changed nothing".to_owned()),
                }
            }
        }
    }
    let through = hold.as_ref().is_none_or(|held| says(held, at(now)) == Gate::Open);
    let lease = second(after(at(0), subject.settings.lease.as_secs()));
    let late = if state.jumped { 800 } else { 0 };
    let within = subject.returns_within.max(lease) + late;
    if through && now - state.now <= within {
        return Ok(());
    }
    Err(format!("nobody gets through within {within} s: {:?}", state.hold))
}
