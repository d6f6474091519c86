//! The failure table as tables, and the invariants of the state as properties, on invented time.

use std::time::Duration;

use jiff::Timestamp;
use proptest::prelude::*;

use super::world::{Call, World, at, failure, returns_after, stated, target};
use super::*;
use crate::domain::{Class, Dimension, Failure, Provenance, RequestId, ScopeLevel, Target};

#[test]
fn the_failure_table_holds_for_the_time_it_says() {
    let step = target("groq/llama@team");
    let hour = 3600;
    for (class, until, expected) in [
        (Class::RateLimit, None, Some(5)),
        (Class::RateLimit, Some(20), Some(20)),
        (Class::QuotaExhausted, None, Some(hour)),
        (Class::QuotaExhausted, Some(2 * hour), Some(2 * hour)),
        (Class::Billing, None, Some(6 * hour)),
        (Class::Auth, None, Some(24 * hour)),
        (Class::Permission, None, Some(24 * hour)),
        (Class::ModelUnavailable, None, Some(24 * hour)),
        (Class::Overloaded, None, Some(0)),
        (Class::Overloaded, Some(176), Some(176)),
        (Class::ServerError, None, Some(0)),
        (Class::ContextOverflow, None, Some(0)),
        (Class::ContentPolicy, None, Some(0)),
        (Class::Unsupported, None, Some(0)),
        (Class::InvalidRequest, None, Some(0)),
        (Class::InvalidOutput, None, Some(0)),
        (Class::Unknown, None, Some(0)),
    ] {
        let mut world = World::new();
        let failure = until.map_or_else(|| failure(class), |second| stated(class, at(second)));
        world.fails(&failure, &Call::new(&step, "r1", at(0)), at(0));
        assert_eq!(returns_after(&world, &step, 0), expected, "{class} {until:?}");
    }
}

#[test]
fn holds_cover_what_the_table_says_and_no_more() {
    let step = target("groq/llama@team");
    let same_key = target("groq/qwen@team");
    let same_model = target("groq/llama@own");
    for (class, level, key_held, model_held) in [
        (Class::RateLimit, ScopeLevel::Model, false, true),
        (Class::QuotaExhausted, ScopeLevel::Account, true, true),
        (Class::Billing, ScopeLevel::Account, true, true),
        (Class::Auth, ScopeLevel::Credential, true, false),
        (Class::Permission, ScopeLevel::Model, false, false),
        (Class::ModelUnavailable, ScopeLevel::Model, false, true),
    ] {
        let mut world = World::new();
        world.fails(&Failure { scope: level, ..failure(class) }, &Call::new(&step, "r1", at(0)), at(0));
        let held = |target| world.gate(target, at(1)) == Gate::Held;
        assert!(held(&step), "{class}");
        assert_eq!((held(&same_key), held(&same_model)), (key_held, model_held), "{class}");
    }
}

#[test]
fn two_models_of_a_key_never_add_up_to_the_key() {
    let mut world = World::new();
    for model in ["a", "b"] {
        let step = target(&format!("groq/{model}@team"));
        world.fails(&failure(Class::ModelUnavailable), &Call::new(&step, "r1", at(0)), at(0));
        world.fails(&failure(Class::RateLimit), &Call::new(&step, "r2", at(0)), at(0));
    }
    assert_eq!(world.gate(&target("groq/c@team"), at(1)), Gate::Open);
}

#[test]
fn guesses_double_and_a_success_starts_over() {
    let step = target("groq/llama@team");
    let mut world = World::new();
    let mut now = 0;
    for expected in [5, 10, 20, 40] {
        world.fails(&failure(Class::RateLimit), &Call::new(&step, "r", at(now)), at(now));
        assert_eq!(returns_after(&world, &step, now), Some(expected));
        now += expected;
    }
    world.happens(Event::Success, &Call::new(&step, "r", at(now)), at(now));
    assert!(world.holds.is_empty());
    world.fails(&failure(Class::RateLimit), &Call::new(&step, "r", at(now)), at(now));
    assert_eq!(returns_after(&world, &step, now), Some(5));
}

#[test]
fn calls_that_were_under_way_double_nothing() {
    let step = target("groq/llama@team");
    let mut world = World::new();
    for id in ["a", "b", "c", "d"] {
        world.fails(&failure(Class::RateLimit), &Call::new(&step, id, at(-1)), at(0));
    }
    assert_eq!(returns_after(&world, &step, 0), Some(5));
}

#[test]
fn three_in_a_row_open_but_not_when_spread_over_a_day() {
    let step = target("groq/llama@team");
    let mut quick = World::new();
    let mut slow = World::new();
    for n in 0..3 {
        assert_eq!(quick.gate(&step, at(n * 200)), Gate::Open);
        quick.fails(&failure(Class::ServerError), &Call::new(&step, "r", at(n * 200)), at(n * 200));
        slow.fails(&failure(Class::ServerError), &Call::new(&step, "r", at(n * 720)), at(n * 720));
    }
    assert_eq!(quick.gate(&step, at(401)), Gate::Held);
    assert_eq!(returns_after(&quick, &step, 400), Some(30));
    assert_eq!(slow.gate(&step, at(1441)), Gate::Open);
}

#[test]
fn five_within_a_minute_open_although_some_succeed_between() {
    let step = target("groq/llama@team");
    let mut world = World::new();
    for n in 0..5 {
        assert_eq!(world.gate(&step, at(n * 10)), Gate::Open, "{n}");
        world.fails(&failure(Class::Overloaded), &Call::new(&step, "r", at(n * 10)), at(n * 10));
        if n < 4 {
            world.happens(Event::Success, &Call::new(&step, "s", at(n * 10 + 1)), at(n * 10 + 1));
        }
    }
    assert_eq!(world.gate(&step, at(41)), Gate::Held);
}

fn opened() -> (World, Target) {
    let step = target("groq/llama@team");
    let mut world = World::new();
    for n in 0..3 {
        world.fails(&failure(Class::ServerError), &Call::new(&step, "r", at(n)), at(n));
    }
    (world, step)
}

#[test]
fn one_probe_passes_and_decides() {
    let (mut world, step) = opened();
    assert_eq!(world.gate(&step, at(32)), Gate::Probe);
    world.claim_all(&step, "probe", at(32), at(100));
    assert_eq!(world.gate(&step, at(33)), Gate::Held, "a second one waits");
    world.fails(&failure(Class::ServerError), &Call::new(&step, "late", at(1)), at(34));
    assert_eq!(world.gate(&step, at(34)), Gate::Held, "a late failure of another call changes nothing");
    world.fails(&failure(Class::ServerError), &Call::new(&step, "probe", at(32)), at(40));
    assert_eq!(returns_after(&world, &step, 40), Some(60), "its failure opens for twice as long");
    world.claim_all(&step, "probe2", at(100), at(160));
    world.happens(Event::Success, &Call::new(&step, "probe2", at(100)), at(101));
    assert_eq!(world.gate(&step, at(101)), Gate::Open);
    assert!(world.holds.is_empty());
}

#[test]
fn a_prober_that_vanishes_frees_its_lease() {
    let (mut world, step) = opened();
    world.claim_all(&step, "killed", at(40), at(100));
    assert_eq!(world.gate(&step, at(99)), Gate::Held);
    assert_eq!(world.gate(&step, at(100)), Gate::Probe);
    world.claim_all(&step, "cancelled", at(100), at(200));
    world.happens(Event::Abandoned, &Call::new(&step, "cancelled", at(100)), at(105));
    assert_eq!(world.gate(&step, at(105)), Gate::Probe, "giving up frees it at once");
}

#[test]
fn a_success_from_before_the_opening_closes_nothing() {
    let (mut world, step) = opened();
    world.happens(Event::Success, &Call::new(&step, "early", at(0)), at(5));
    assert_eq!(world.gate(&step, at(6)), Gate::Held);
}

#[test]
fn another_key_may_try_at_once() {
    let step = target("groq/llama@team");
    let mut world = World::new();
    let auth = Failure { scope: ScopeLevel::Credential, ..failure(Class::Auth) };
    world.fails(&auth, &Call::new(&step, "r", at(0)), at(0));
    assert_eq!(world.gate_with(&step, at(1), Some("k1")), Gate::Held);
    assert_eq!(world.gate_with(&step, at(1), Some("k2")), Gate::Probe);
}

#[test]
fn an_empty_wallet_is_not_asked_again_with_each_key_of_the_account() {
    let step = target("groq/llama@team");
    let mut world = World::new();
    let empty = Failure { scope: ScopeLevel::Account, ..failure(Class::Billing) };
    world.fails(&empty, &Call { siblings: &["k2", "k3"], ..Call::new(&step, "r", at(0)) }, at(0));
    for (key, gate) in [("k1", Gate::Held), ("k2", Gate::Held), ("k3", Gate::Held), ("new", Gate::Probe)] {
        assert_eq!(world.gate_with(&step, at(1), Some(key)), gate, "{key}");
    }
}

#[test]
fn keys_that_share_a_hold_take_no_turns_at_being_another_key() {
    let step = target("groq/llama@team");
    let cases = [
        (Class::Billing, ScopeLevel::Account, true),
        (Class::Permission, ScopeLevel::Region, true),
        (Class::ModelUnavailable, ScopeLevel::Model, false),
        (Class::Network, ScopeLevel::Provider, false),
    ];
    for (class, scope, is_about_keys) in cases {
        let mut world = World::new();
        let down = Failure { scope, ..failure(class) };
        for n in 0..3 {
            world.fails(&down, &Call::new(&step, "r", at(n)), at(n));
        }
        assert_eq!(world.gate_with(&step, at(4), Some("k1")), Gate::Held, "{class}");
        let of_second = world.gate_with(&step, at(4), Some("k2"));
        assert_eq!(of_second == Gate::Probe, is_about_keys, "{class}: {of_second:?}");
        assert_eq!(world.gate_with(&step, at(4), None), Gate::Held, "{class}: no key is no other key");
        if !is_about_keys {
            continue;
        }
        let claims: Vec<Change> =
            world.holds.iter().filter_map(|held| claim(held, &RequestId::new("second"), at(60))).collect();
        world.write(&claims);
        world.fails(&down, &Call { key: Some("k2"), ..Call::new(&step, "second", at(4)) }, at(5));
        let holds_for = returns_after(&world, &step, 6);
        let first = if class == Class::Billing { 6 * 3600 } else { 86_400 };
        assert_eq!(holds_for, Some(first - 6), "{class}: a second bad key is no second night");
        for key in ["k1", "k2"] {
            assert_eq!(world.gate_with(&step, at(6), Some(key)), Gate::Held, "{class}: {key} failed already");
        }
        assert_eq!(world.gate_with(&step, at(6), Some("k3")), Gate::Probe, "{class}");
    }
}

#[test]
fn a_key_that_worked_is_looked_at_soon() {
    let step = target("groq/llama@team");
    let mut world = World::new();
    let auth = Failure { scope: ScopeLevel::Credential, ..failure(Class::Auth) };
    let mut now = 0;
    for expected in [60, 300, 1800, 21_600, 21_600] {
        world.claim_all(&step, "r", at(now), at(now + 10));
        world.fails(&auth, &Call { last_success: Some(at(-60)), ..Call::new(&step, "r", at(now)) }, at(now));
        assert_eq!(returns_after(&world, &step, now), Some(expected));
        now += expected;
    }
}

#[test]
fn quarantines_are_probed_as_rarely_as_their_provenance_asks() {
    let (hour, day) = (3600, 86_400);
    let step = target("gemini/flash@a");
    for (provenance, until, probes) in [
        (Provenance::Fact, 3 * day, vec![day, 2 * day, 3 * day]),
        (Provenance::Fact, 20 * hour, vec![20 * hour]),
        (Provenance::Documented, 10 * hour, vec![5 * hour, 10 * hour]),
        (Provenance::Documented, 20 * 60, vec![20 * 60]),
        (Provenance::Documented, 50 * 60, vec![30 * 60, 50 * 60]),
    ] {
        let spent = Failure { provenance, ..stated(Class::QuotaExhausted, at(until)) };
        let mut world = World::new();
        world.fails(&spent, &Call::new(&step, "r0", at(0)), at(0));
        let mut now = 0;
        for (n, expected) in probes.iter().enumerate() {
            now += returns_after(&world, &step, now).expect("it returns");
            assert_eq!(now, *expected, "{provenance} {until} probe {n}");
            if now < until {
                world.claim_all(&step, "probe", at(now), at(now + 60));
                world.fails(&spent, &Call::new(&step, "probe", at(now)), at(now));
            }
        }
        assert_eq!(world.gate(&step, at(until)), Gate::Open);
    }
}

#[test]
fn a_guessed_quota_is_probed_by_one_when_it_ends() {
    let step = target("x/y@k");
    let mut world = World::new();
    let spent = failure(Class::QuotaExhausted);
    world.fails(&spent, &Call::new(&step, "r0", at(0)), at(0));
    assert_eq!(world.gate(&step, at(3600)), Gate::Probe);
    world.claim_all(&step, "p", at(3600), at(3660));
    assert_eq!(world.gate(&step, at(3601)), Gate::Held);
    world.fails(&spent, &Call::new(&step, "p", at(3600)), at(3602));
    assert_eq!(returns_after(&world, &step, 3602), Some(7200));
}

#[test]
fn a_probe_that_fails_for_another_reason_frees_its_lease() {
    let step = target("x/y@k");
    let mut world = World::new();
    world.fails(&failure(Class::Billing), &Call::new(&step, "r0", at(0)), at(0));
    world.claim_all(&step, "p", at(21_600), at(21_700));
    world.fails(&failure(Class::ContentPolicy), &Call::new(&step, "p", at(21_600)), at(21_601));
    assert_eq!(world.gate(&step, at(21_602)), Gate::Held, "the very next request is no better prober");
    assert_eq!(world.gate(&step, at(21_631)), Gate::Probe);
    // A limit that it met has a hold of its own, which says when to look.
    world.claim_all(&step, "q", at(21_631), at(21_700));
    world.fails(&stated(Class::RateLimit, at(21_640)), &Call::new(&step, "q", at(21_631)), at(21_632));
    assert_eq!((world.gate(&step, at(21_639)), world.gate(&step, at(21_640))), (Gate::Held, Gate::Probe));
}

#[derive(Debug, Clone)]
enum Does {
    Fail(usize, Option<i64>, i64),
    Succeed(i64),
    Probe,
    Pass(i64),
}

fn does() -> impl Strategy<Value = Does> {
    prop_oneof![
        4 => (0..Class::ALL.len(), proptest::option::of(-5_i64..200_000), 0_i64..40).prop_map(|(c, h, a)| Does::Fail(c, h, a)),
        1 => (0_i64..40).prop_map(Does::Succeed),
        2 => Just(Does::Probe),
        3 => (0_i64..50_000).prop_map(Does::Pass),
    ]
}

proptest! {
    /// Whatever happens: a fact is never shortened by a shorter fact or by a guess, no more than one lease is out, and
    /// each circuit that is open has a moment at which asking may help.
    #[test]
    fn any_history_keeps_the_invariants(history in proptest::collection::vec(does(), 1..60)) {
        let step = target("groq/llama@team");
        let mut world = World::new();
        let mut now = 0;
        for (n, what) in history.iter().enumerate() {
            let id = format!("r{n}");
            let facts: Vec<(Key, Timestamp)> = world.holds.iter().filter(|held| {
                held.record.provenance() == Provenance::Fact && holds_now(&held.record, at(now))
                    && held.record.kind() != HoldKind::Circuit
            }).filter_map(|held| returns_at(&held.record).map(|until| (held.record.key(), until))).collect();
            match what {
                Does::Fail(class, hint, age) => {
                    let class = Class::ALL[*class];
                    let failure = hint.map_or_else(|| failure(class), |h| stated(class, at(now + h)));
                    world.fails(&failure, &Call::new(&step, &id, at(now - age)), at(now));
                    for (key, until) in facts {
                        let kept = world.holds.iter().find(|held| held.record.key() == key).and_then(|held| returns_at(&held.record));
                        prop_assert!(kept >= Some(until), "{key:?} shortened from {until} to {kept:?}");
                    }
                }
                Does::Succeed(age) => world.happens(Event::Success, &Call::new(&step, &id, at(now - age)), at(now)),
                Does::Probe => {
                    if world.gate(&step, at(now)) == Gate::Probe {
                        world.claim_all(&step, &id, at(now), at(now + 120));
                        prop_assert_eq!(world.gate(&step, at(now)), Gate::Held);
                    }
                }
                Does::Pass(seconds) => now += seconds,
            }
            for held in &world.holds {
                if let HoldRecord::Circuit(circuit) = &held.record && circuit.state == CircuitState::Open {
                    prop_assert!(circuit.retry_at.is_some());
                    prop_assert!(circuit.retry_at <= Some(at(now) + Duration::from_secs(30 * 3600)));
                }
            }
        }
    }
}

#[test]
fn what_a_clock_set_that_ran_ahead_holds_nobody_for_years() {
    const YEARS: i64 = 10 * 366 * 86_400;
    let step = target("groq/llama@team");
    for (class, passes) in
        [(Class::RateLimit, Gate::Open), (Class::QuotaExhausted, Gate::Probe), (Class::ServerError, Gate::Probe)]
    {
        for (ends_well, probe_was_out) in [(true, false), (false, false), (false, true)] {
            let mut world = World::new();
            for n in 0..3 {
                let failed = stated(class, at(YEARS + 100));
                let failed = if class == Class::ServerError { failure(class) } else { failed };
                world.fails(&failed, &Call::new(&step, "r", at(YEARS + n)), at(YEARS + n));
            }
            if probe_was_out {
                world.claim_all(&step, "lost", at(YEARS + 101), at(YEARS + 200));
            }
            assert_eq!(world.gate(&step, at(0)), passes, "{class}");
            world.claim_all(&step, "p", at(0), at(60));
            assert_ne!(world.gate(&step, at(1)), Gate::Probe, "{class}: the probe is one all the same");
            let call = Call::new(&step, "p", at(0));
            if ends_well {
                world.happens(Event::Success, &call, at(1));
                assert!(world.holds.is_empty(), "{class}");
            } else {
                world.fails(&failure(class), &call, at(1));
                assert_eq!(world.gate(&step, at(2)), Gate::Held, "{class}: set anew");
                assert!(returns_after(&world, &step, 2).is_some_and(|after| after <= 86_400), "{class}");
            }
        }
    }
    let mut world = World::new();
    world.fails(&failure(Class::RateLimit), &Call::new(&step, "r", at(30)), at(30));
    assert_eq!(world.gate(&step, at(0)), Gate::Held, "a clock that is put right a little forgets nothing");
}

#[test]
fn a_dimension_of_its_own_is_a_hold_of_its_own() {
    let step = target("groq/llama@team");
    let mut world = World::new();
    for (dimension, until) in [(Dimension::Rpm, 10), (Dimension::Tpm, 50)] {
        let failure = Failure { dimension: Some(dimension), ..stated(Class::RateLimit, at(until)) };
        world.fails(&failure, &Call::new(&step, "r", at(0)), at(0));
    }
    assert_eq!(world.holds.len(), 2);
    assert_eq!(returns_after(&world, &step, 0), Some(50));
}
