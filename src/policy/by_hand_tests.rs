//! What a person bars and hurries.

use super::world::{Call, World, at, failure, returns_after, stated, target};
use super::*;
use crate::domain::{Class, Failure, Provenance, Scope};

const HOUR: i64 = 3600;
const DAY: i64 = 24 * HOUR;

fn barred(scope: Scope, until: Option<i64>) -> World {
    let mut world = World::new();
    world.write(&[bar(&[], scope, until.map(at), "moving house", at(0))]);
    world
}

#[test]
fn what_is_barred_is_held_until_its_end_and_passes_without_a_probe() {
    let step = target("groq/llama@team");
    for (until, gates) in [
        (None, [(-DAY, Gate::Held), (0, Gate::Held), (400 * DAY, Gate::Held)]),
        (Some(HOUR), [(-DAY, Gate::Held), (HOUR - 1, Gate::Held), (HOUR, Gate::Open)]),
    ] {
        let world = barred(Scope::deployment(&step), until);
        let record = &world.holds[0].record;
        for (now, expected) in gates {
            for key in [None, Some("k1"), Some("k2")] {
                let caller = Caller { key, entry: key };
                assert_eq!(gate(record, at(now), caller), expected, "{now} of {until:?} with {key:?}");
            }
            assert_eq!(holds_now(record, at(now)), expected == Gate::Held);
            assert_eq!(hastened(record, at(now)), None);
        }
        assert_eq!((record.needs_a_person(), returns_at(record)), (until.is_none(), until.map(at)));
        assert_eq!(
            (record.reason(), record.class(), record.provenance()),
            ("operator", Class::Permission, Provenance::Operator)
        );
        assert_eq!((record.probe_at(), record.evidence(), record.request_id()), (None, "moving house", None));
        assert!(!is_transient(record) && !depends_on_caller(record) && record.is_by_hand());
        assert_eq!(claim(&world.holds[0], &"r".into(), at(60)), None);
        assert_eq!(world.gate(&target("groq/qwen@team"), at(1)), Gate::Open, "another model is not meant");
    }
}

#[test]
fn nothing_that_a_call_says_touches_it_and_what_it_says_is_kept_beside_it() {
    let step = target("groq/llama@team");
    for class in [Class::Permission, Class::Auth, Class::RateLimit, Class::QuotaExhausted, Class::ServerError] {
        let mut world = barred(Scope::deployment(&step), Some(HOUR));
        let by_hand = world.holds[0].clone();
        world.fails(&failure(class), &Call::new(&step, "r1", at(10)), at(10));
        assert_eq!((world.holds.len(), &world.holds[0]), (2, &by_hand), "{class}");
        assert_eq!(world.holds[1].record.class(), class);
        // Answers to calls before and after it, and one that comes when it is over.
        for (sent, now) in [(-5, 20), (20, 30), (2 * HOUR, 2 * HOUR)] {
            world.happens(Event::Success, &Call::new(&step, "r2", at(sent)), at(now));
            assert_eq!(world.holds[0], by_hand, "{class}: an answer at {now}");
        }
        assert_eq!(world.holds.len(), 1 + usize::from(class == Class::ServerError), "the other one is lifted");
    }
}

#[test]
fn held_again_it_has_the_new_time_and_reason() {
    let scope = Scope::provider("groq".into());
    let mut world = barred(scope.clone(), Some(HOUR));
    for (now, until, why, since) in [
        (10, None, "for good", 0),
        (20, Some(60), "but a minute", 0),
        // The one before is over: this is another one.
        (90, Some(HOUR), "once more", 90),
    ] {
        let change = bar(&world.holds, scope.clone(), until.map(at), why, at(now));
        world.write(&[change]);
        let [Versioned { id: 1, record, .. }] = &world.holds[..] else { panic!("{:?}", world.holds) };
        assert_eq!((returns_at(record), record.evidence(), record.since()), (until.map(at), why, at(since)));
    }
}

/// The world after a failure of this class.
fn failed(failure: &Failure) -> World {
    let step = target("groq/llama@team");
    let mut world = World::new();
    let times = if failure.class == Class::ServerError { 3 } else { 1 };
    for n in 0..times {
        world.fails(failure, &Call::new(&step, &format!("r{n}"), at(0)), at(0));
    }
    world
}

/// Makes the probe of all that is held due.
fn hurry(world: &mut World, now: i64) -> usize {
    let change = |held: &Versioned| {
        let record = hastened(&held.record, at(now))?;
        Some(Change { key: record.key(), expected: Some(held.version), record: Some(record) })
    };
    let changes: Vec<Change> = world.holds.iter().filter_map(change).collect();
    world.write(&changes);
    changes.len()
}

fn documented(until: i64) -> Failure {
    Failure { provenance: Provenance::Documented, ..stated(Class::QuotaExhausted, at(until)) }
}

#[test]
fn a_probe_that_a_person_wants_is_due_now() {
    let step = target("groq/llama@team");
    for (failure, due) in [
        (failure(Class::Auth), true),
        (failure(Class::Billing), true),
        (failure(Class::ServerError), true),
        (failure(Class::QuotaExhausted), true),
        (documented(8 * HOUR), true),
        (stated(Class::QuotaExhausted, at(5 * DAY)), true),
        // It has none.
        (stated(Class::RateLimit, at(600)), false),
    ] {
        let mut world = failed(&failure);
        assert_eq!(world.gate(&step, at(10)), Gate::Held);
        let (kept, provenance) = (world.holds[0].record.since(), world.holds[0].record.provenance());
        assert_eq!(hurry(&mut world, 10), usize::from(due), "{}", failure.class);
        assert_eq!(world.gate(&step, at(10)) == Gate::Probe, due, "{}", failure.class);
        assert_eq!((world.holds[0].record.since(), world.holds[0].record.provenance()), (kept, provenance));
        assert_eq!(hurry(&mut world, 10), 0, "it is due already");
        if due {
            world.claim_all(&step, "probe", at(10), at(70));
            assert_eq!(hurry(&mut world, 20), 0, "it is under way");
            assert_eq!(world.gate(&step, at(20)), Gate::Held, "the lease stays");
            assert_eq!(hurry(&mut world, 80), 0, "its lease has ended: it is due");
            world.happens(Event::Success, &Call::new(&step, "probe", at(10)), at(30));
            assert_eq!((world.holds.len(), hurry(&mut world, 31)), (0, 0), "{}", failure.class);
        }
    }
}

#[test]
fn a_probe_before_the_time_that_fails_loses_nothing_that_was_known() {
    let step = target("groq/llama@team");
    let gone = Failure { lasting: true, ..failure(Class::ModelUnavailable) };
    let missing = failure(Class::ModelUnavailable);
    for (first, again, ends, next) in [
        // A stated reset stands, and one probe a day looks.
        (stated(Class::QuotaExhausted, at(5 * DAY)), failure(Class::QuotaExhausted), 5 * DAY, 10 + DAY),
        (stated(Class::QuotaExhausted, at(5 * DAY)), stated(Class::QuotaExhausted, at(2 * DAY)), 5 * DAY, 10 + DAY),
        // That of a clock as well, with the look at half the time that there was to be.
        (documented(8 * HOUR), failure(Class::QuotaExhausted), 8 * HOUR, 4 * HOUR),
        // A guess grows.
        (failure(Class::QuotaExhausted), failure(Class::QuotaExhausted), 10 + 2 * HOUR, 10 + 2 * HOUR),
        (failure(Class::Auth), failure(Class::Auth), 10 + DAY, 10 + DAY),
        (failure(Class::Billing), failure(Class::Billing), 10 + 12 * HOUR, 10 + 12 * HOUR),
        (failure(Class::ServerError), failure(Class::ServerError), 10 + 60, 10 + 60),
        (gone.clone(), missing.clone(), 10 + DAY, 10 + DAY),
    ] {
        let mut world = failed(&first);
        hurry(&mut world, 10);
        world.claim_all(&step, "probe", at(10), at(70));
        world.fails(&again, &Call::new(&step, "probe", at(10)), at(10));
        let record = &world.holds[0].record;
        assert_eq!(returns_at(record), Some(at(ends)), "{}", first.class);
        assert_eq!(returns_after(&world, &step, 10), Some(next - 10), "{}", first.class);
    }
    // The longest time that a circuit can have: what was called gone for a week is not back tomorrow.
    let mut world = failed(&gone);
    for (now, says, until) in [(DAY, &gone, 3 * DAY), (3 * DAY, &gone, 7 * DAY), (7 * DAY, &gone, 14 * DAY)] {
        world.claim_all(&step, "probe", at(now), at(now + 60));
        world.fails(says, &Call::new(&step, "probe", at(now)), at(now));
        assert_eq!(returns_at(&world.holds[0].record), Some(at(until)));
    }
    assert_eq!(hurry(&mut world, 8 * DAY), 1);
    world.claim_all(&step, "probe", at(8 * DAY), at(8 * DAY + 60));
    world.fails(&missing, &Call::new(&step, "probe", at(8 * DAY)), at(8 * DAY));
    assert_eq!(returns_at(&world.holds[0].record), Some(at(14 * DAY)));
}
