//! What the visit has found, as examples.

use crate::domain::Class;
use crate::policy::world::{Call, World, at, failure, stated, target};
use crate::policy::{Event, Gate, HoldRecord, returns_at};

#[test]
fn the_answer_to_a_probe_counts_although_the_clock_was_set_back() {
    let step = target("groq/llama@team");
    for (class, due) in [(Class::Auth, 60), (Class::QuotaExhausted, 3600)] {
        let mut world = World::new();
        let call = Call { last_success: Some(at(-60)), ..Call::new(&step, "r", at(0)) };
        world.fails(&failure(class), &call, at(0));
        world.claim_all(&step, "probe", at(due), at(due + 120));
        // By the new clock it is sent before the hold was set.
        world.happens(Event::Success, &Call::new(&step, "probe", at(-100)), at(-99));
        assert_eq!(world.gate(&step, at(-99)), Gate::Open, "{class}");
    }
}

#[test]
fn a_quota_that_is_spent_again_is_not_held_by_who_looked_at_the_one_before() {
    let step = target("groq/llama@team");
    let day = 86_400;
    let mut world = World::new();
    world.fails(&stated(Class::QuotaExhausted, at(3 * day)), &Call::new(&step, "r1", at(0)), at(0));
    world.claim_all(&step, "slow", at(day), at(3 * day + 60));
    let again = stated(Class::QuotaExhausted, at(9 * day));
    world.fails(&again, &Call::new(&step, "r2", at(3 * day)), at(3 * day));
    world.fails(&again, &Call::new(&step, "slow", at(day)), at(3 * day + 1));
    let probe_at = world.holds[0].record.probe_at();
    assert_eq!(probe_at, Some(at(4 * day)), "a day after it was spent, not a day later than that");
    world.happens(Event::Success, &Call::new(&step, "slow", at(day)), at(3 * day + 2));
    assert_eq!(world.gate(&step, at(3 * day + 2)), Gate::Held, "what is older says nothing of it");
}

#[test]
fn while_somebody_looks_at_a_guess_that_has_ended_the_others_are_told_to_wait_for_him() {
    let step = target("groq/llama@team");
    let mut world = World::new();
    world.fails(&failure(Class::QuotaExhausted), &Call::new(&step, "r", at(0)), at(0));
    world.claim_all(&step, "probe", at(3700), at(3820));
    assert_eq!(world.gate(&step, at(3701)), Gate::Held);
    let HoldRecord::Quarantine(quarantine) = &world.holds[0].record else { panic!("a quarantine") };
    assert_eq!((quarantine.until, returns_at(&world.holds[0].record)), (at(3600), Some(at(3820))));
}
