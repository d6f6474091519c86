//! What is true of the state after any history: the invariants of `DESIGN.md`, each by its name.

mod history;

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use super::gate::was_ahead;
use super::rivals::says;
use super::world::{Call, World, at, failure, target};
use super::*;
use crate::domain::{Class, Provenance, Scope, ScopeLevel};
use history::{Told, everybody, failures, histories, play, play_in};

/// The same record as far as it can hold anything back: all but the lease, and what only the lease decides.
fn without_lease(record: &HoldRecord) -> HoldRecord {
    match record.clone() {
        HoldRecord::Quarantine(q) => HoldRecord::Quarantine(Quarantine { lease: None, ..q }),
        HoldRecord::Circuit(c) if c.state == CircuitState::HalfOpen => {
            HoldRecord::Circuit(Circuit { lease: None, state: CircuitState::Open, retry_at: None, ..c })
        }
        HoldRecord::Circuit(c) => HoldRecord::Circuit(Circuit { retry_at: None, ..c }),
        record => record,
    }
}

fn lease(record: &HoldRecord) -> Option<&Lease> {
    match record {
        HoldRecord::Cooldown(_) => None,
        HoldRecord::Quarantine(q) => q.lease.as_ref(),
        HoldRecord::Circuit(c) => c.lease.as_ref(),
    }
}

/// Nothing has changed but that this request's leases are free.
fn only_freed(told: &Told<'_>) -> Result<(), TestCaseError> {
    prop_assert_eq!(told.added().count(), 0);
    for (old, new) in told.pairs() {
        let Some(new) = new else { return Err(TestCaseError::fail(format!("{:?} is gone", old.record))) };
        let own = lease(&old.record).is_some_and(|lease| lease.holder == *told.id);
        if own && old.record.scope().covers(told.target) {
            prop_assert_eq!(without_lease(&old.record), without_lease(&new.record));
            prop_assert_eq!(lease(&new.record), None);
        } else {
            prop_assert_eq!(&old.record, &new.record);
        }
    }
    Ok(())
}

fn any_failure() -> impl Strategy<Value = history::Says> {
    failures(Class::ALL, ScopeLevel::ALL)
}

/// An end and how it is known; of holds that have an end.
fn known(held: &Versioned) -> Option<(Provenance, jiff::Timestamp)> {
    match &held.record {
        HoldRecord::Cooldown(c) => Some((c.provenance, c.until)),
        HoldRecord::Quarantine(q) => Some((q.provenance, q.until)),
        HoldRecord::Circuit(_) => None,
    }
}

proptest! {
    /// 5: a later, shorter hint never shortens a longer known hold of the same scope; a less trusted time never replaces
    /// a more trusted one.
    #[test]
    fn i05_what_is_known_better_or_for_longer_stays(history in histories(any_failure(), 6)) {
        play(&history, &mut |told| {
            for (old, new) in told.pairs() {
                let (Some(before), false) = (known(old), was_ahead(old.record.since(), at(told.now))) else { continue };
                if before.1 > at(told.now) && !matches!(told.event, Event::Success) {
                    let after = new.and_then(known);
                    prop_assert!(after >= Some(before), "{before:?} became {after:?}");
                }
            }
            Ok(())
        })?;
    }

    /// 5: a precise reset replaces a guess, also when it is sooner.
    #[test]
    fn i05_a_stated_reset_replaces_a_guess(history in histories(any_failure(), 6)) {
        play(&history, &mut |told| {
            let Event::Failure(failed) = told.event else { return Ok(()) };
            let Some(stated) = failed.retry_at.filter(|stated| *stated > at(told.now)) else { return Ok(()) };
            let limit = matches!(failed.class, Class::RateLimit | Class::QuotaExhausted);
            for new in told.after.iter().filter(|new| limit && new.record.request_id() == Some(told.id)) {
                let (provenance, until) = known(new).expect("a limit has an end");
                prop_assert!(provenance >= failed.provenance);
                let guessed = told.before.iter().filter(|old| old.record.key() == new.record.key());
                let guessed = guessed.filter_map(known).all(|(provenance, _)| provenance < failed.provenance);
                prop_assert!(!guessed || until == stated, "{until} instead of {stated}");
            }
            Ok(())
        })?;
    }

    /// 6: facts of models never add up to a fact of their key: a model that nobody asked stays free, whatever the others
    /// of its key, account and provider said.
    #[test]
    fn i06_what_models_said_never_widens(history in histories(failures(
        &[Class::RateLimit, Class::QuotaExhausted, Class::Permission, Class::ModelUnavailable, Class::Overloaded,
          Class::ServerError, Class::Timeout, Class::Billing],
        &[ScopeLevel::Model],
    ), 6)) {
        let mut last = 0;
        let world = play(&history, &mut |told| { last = told.now; Ok(()) })?;
        for asked in everybody() {
            let mut other = asked.clone();
            other.deployment.model = "never-asked".into();
            prop_assert_eq!(world.gate(&other, at(last)), Gate::Open, "{:?}", other.deployment);
        }
    }

    /// 6: a failure changes the record of its own scope, and the deployment's when it says when that is back.
    #[test]
    fn i06_a_failure_touches_its_own_scope(history in histories(any_failure(), 6)) {
        play(&history, &mut |told| {
            let Event::Failure(failed) = told.event else { return Ok(()) };
            let own = hold_scope(failed, told.target);
            let resting = Scope::deployment(told.target);
            for new in told.added() {
                let scope = new.record.scope();
                let may = Some(scope) == own.as_ref() || (new.record.kind() == HoldKind::Cooldown && *scope == resting);
                prop_assert!(may, "{scope} by a failure of {own:?}");
                prop_assert!(scope.covers(told.target));
            }
            Ok(())
        })?;
    }

    /// 7: however many processes fail at once, on views however old, the streak is the one that happened.
    #[test]
    fn i07_the_streak_is_exact(history in prop::collection::vec((0_usize..4, 0_u8..8), 1..60)) {
        let step = target("groq/llama@team");
        let mut world = World::new();
        world.settings.breaker = BreakerSettings { failures: 1000, consecutive: 1000, ..world.settings.breaker };
        let failed = failure(Class::ServerError);
        let mut seen: Vec<Vec<Versioned>> = vec![Vec::new(); 4];
        let (mut streak, mut since_empty) = (0, 0);
        for (n, (who, what)) in history.iter().enumerate() {
            let (id, now) = (format!("r{n}"), at(n as i64));
            let event = match what { 0 => Event::Success, 1 => Event::Abandoned, _ => Event::Failure(&failed) };
            if *what == 2 {
                // It looks and does nothing yet.
                seen[*who].clone_from(&world.holds);
                continue;
            }
            let mut changes = rivals::decide(&seen[*who], event, &Call::new(&step, &id, now), now, &world.settings);
            if changes.is_empty() || !world.try_write(&changes) {
                changes = rivals::decide(&world.holds, event, &Call::new(&step, &id, now), now, &world.settings);
                prop_assert!(world.try_write(&changes));
            }
            match event {
                Event::Success => streak = 0,
                Event::Failure(_) => (streak, since_empty) = (streak + 1, since_empty + 1),
                Event::Abandoned => {}
            }
            let counted = world.holds.first().map(|held| &held.record);
            let counted = counted.map_or((0, 0), |record| match record {
                HoldRecord::Circuit(c) => (c.consecutive, c.recent.len()),
                _ => (u32::MAX, 0),
            });
            prop_assert_eq!(counted, (streak, since_empty));
        }
    }

    /// 8: only the failure of the probe opens again, and late failures change nothing while it is open.
    #[test]
    fn i08_an_open_circuit_changes_by_its_probe_only(history in histories(any_failure(), 6)) {
        play(&history, &mut |told| {
            for (old, new) in told.pairs() {
                let HoldRecord::Circuit(before) = &old.record else { continue };
                let probe = before.lease.as_ref().is_some_and(|lease| lease.holder == *told.id);
                let set = old.record.since();
                let newer = matches!(told.event, Event::Success) && (at(told.sent) >= set || was_ahead(set, at(told.now)));
                if before.state == CircuitState::Closed || probe || newer {
                    continue;
                }
                prop_assert_eq!(Some(&old.record), new.map(|new| &new.record));
            }
            Ok(())
        })?;
    }

    /// 8: a circuit that is open is half open as soon as it is claimed, with one lease, and says when to look again.
    #[test]
    fn i08_half_open_is_one_lease(history in histories(any_failure(), 6)) {
        play(&history, &mut |told| {
            for held in told.after {
                let HoldRecord::Circuit(circuit) = &held.record else { continue };
                prop_assert_eq!(circuit.state == CircuitState::HalfOpen, circuit.lease.is_some());
                prop_assert!(circuit.state != CircuitState::Open || circuit.retry_at.is_some());
                prop_assert_eq!(circuit.state == CircuitState::Closed, circuit.opened_at.is_none());
            }
            Ok(())
        })?;
    }

    /// 9: an answer to a call that was sent after all that covers it was set frees the deployment, whoever made the call.
    /// What another process set meanwhile came after it.
    #[test]
    fn i09_an_answer_closes_what_it_disproves(history in histories(any_failure(), 6)) {
        play(&history, &mut |told| {
            let Event::Success = told.event else { return Ok(()) };
            let covering = || told.before.iter().filter(|held| held.record.scope().covers(told.target));
            if covering().all(|held| held.record.since() <= at(told.sent)) {
                let seen = |held: &&Versioned| told.seen.iter().any(|seen| seen.id == held.id);
                for held in told.after.iter().filter(seen).filter(|held| held.record.scope().covers(told.target)) {
                    prop_assert_eq!(says(held, at(told.now)), Gate::Open, "{:?}", held.record);
                }
            }
            for (old, new) in told.pairs().filter(|(old, _)| !old.record.scope().covers(told.target)) {
                prop_assert_eq!(Some(old), new, "what does not cover it is left alone");
            }
            Ok(())
        })?;
    }

    /// 9: an answer in the wrong shape, or another failure of the request's own, neither ends nor extends anything.
    #[test]
    fn i09_the_request_s_own_failures_are_no_evidence(history in histories(any_failure(), 6)) {
        play(&history, &mut |told| match told.event {
            Event::Failure(failed) if matches!(failed.class, Class::InvalidOutput | Class::Unknown)
                || failed.class.is_the_requests_fault() => only_freed(told),
            _ => Ok(()),
        })?;
    }

    /// 10: giving up is no evidence against anybody; it only gives the lease back.
    #[test]
    fn i10_giving_up_is_no_evidence(history in histories(any_failure(), 6)) {
        play(&history, &mut |told| match told.event {
            Event::Abandoned => only_freed(told),
            _ => Ok(()),
        })?;
    }

    /// A person's word stands above all: what is barred by hand is held until its end, whatever is said of it, by
    /// whomever, with whatever clock.
    #[test]
    fn what_a_person_bars_stays_barred(history in histories(any_failure(), 6), ends in 0_i64..100_000) {
        let barred = [(Scope::provider("gemini".into()), None), (Scope::deployment(&everybody()[0]), Some(at(ends)))];
        let mut world = World::new();
        for (scope, until) in barred {
            let change = bar(&world.holds, scope, until, "moving house", at(0));
            world.write(&[change]);
        }
        let before = world.holds.clone();
        play_in(world, &history, &mut |told| {
            prop_assert!(told.after.starts_with(&before), "{:?}", told.after);
            let [provider, deployment, ..] = told.after else { return Err(TestCaseError::fail("both are there")) };
            prop_assert_eq!(says(provider, at(told.now)), Gate::Held);
            prop_assert_eq!(says(deployment, at(told.now)) == Gate::Held, told.now < ends);
            prop_assert_eq!(says(deployment, at(told.now)) == Gate::Open, told.now >= ends);
            prop_assert_eq!(holds_now(&deployment.record, at(told.now)), told.now < ends);
            Ok(())
        })?;
    }

    /// 12: every hold covers somebody who failed, says what, why and since when, and until when or that a person must
    /// act.
    #[test]
    fn i12_every_hold_can_be_explained(history in histories(any_failure(), 6)) {
        let everybody = everybody();
        play(&history, &mut |told| {
            for held in told.after {
                let record = &held.record;
                prop_assert!(everybody.iter().any(|target| record.scope().covers(target)));
                prop_assert!(!record.evidence().is_empty() && record.request_id().is_some());
                let holds = everybody.iter().any(|target| {
                    record.scope().covers(target) && says(held, at(told.now)) == Gate::Held
                });
                if holds {
                    prop_assert!(holds_now(record, at(told.now)), "held by what is not shown as a hold: {record:?}");
                    let end = returns_at(record);
                    prop_assert!(end.is_some_and(|end| end > at(told.now)) || record.class().needs_a_person());
                    // What a clock set that ran ahead holds nobody; only a probe that looks at it does.
                    prop_assert!(!was_ahead(record.since(), at(told.now)) || lease(record).is_some());
                }
            }
            Ok(())
        })?;
    }

    /// 12: a deployment that is not free is held by records that a person can see, and without these it is free at once.
    #[test]
    fn i12_clearing_what_covers_it_frees_it(history in histories(any_failure(), 6)) {
        let mut last = 0;
        let mut world = play(&history, &mut |told| { last = told.now; Ok(()) })?;
        for target in everybody() {
            let shown = |held: &Versioned| held.record.scope().covers(&target) && holds_now(&held.record, at(last));
            if world.gate(&target, at(last)) != Gate::Open {
                prop_assert!(world.holds.iter().any(shown), "it is held by what nobody sees");
            }
            world.holds.retain(|held| !shown(held));
            prop_assert_eq!(world.gate(&target, at(last)), Gate::Open);
        }
    }
}
