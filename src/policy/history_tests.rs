//! What came before as evidence, and what lets another caller try: as tables on invented time.

use super::world::{Call, World, at, failure, returns_after, stated, target};
use super::*;
use crate::domain::{Class, Dimension, Failure, Provenance, RequestId, ScopeLevel, Target};

#[test]
fn another_config_entry_may_try_where_a_person_must_act_and_nowhere_else() {
    let step = target("groq/llama@team");
    for (class, may) in [
        (Class::Auth, true),
        (Class::Billing, true),
        (Class::Permission, true),
        (Class::ModelUnavailable, true),
        (Class::ServerError, false),
        (Class::QuotaExhausted, false),
        (Class::RateLimit, false),
    ] {
        let mut world = World::new();
        for n in 0..3 {
            let call = Call { entry: Some("old"), ..Call::new(&step, "r", at(n)) };
            world.fails(&failure(class), &call, at(n));
        }
        let gate_of = |world: &World, entry, now| {
            let caller = Caller { key: Some("k1"), entry };
            world.holds.iter().map(|held| gate(&held.record, at(now), caller)).next()
        };
        assert_eq!(gate_of(&world, Some("old"), 4), Some(Gate::Held), "{class}");
        assert_eq!(gate_of(&world, None, 4), Some(Gate::Held), "{class}: not known is not another");
        let expected = if may { Gate::Probe } else { Gate::Held };
        assert_eq!(gate_of(&world, Some("new"), 4), Some(expected), "{class}");
        if may {
            let claims: Vec<Change> =
                world.holds.iter().filter_map(|held| claim(held, &RequestId::new("p"), at(60))).collect();
            world.write(&claims);
            world.fails(&failure(class), &Call { entry: Some("new"), ..Call::new(&step, "p", at(4)) }, at(5));
            for entry in ["old", "new"] {
                assert_eq!(gate_of(&world, Some(entry), 6), Some(Gate::Held), "{class}: {entry} failed already");
            }
            assert_eq!(gate_of(&world, Some("third"), 6), Some(Gate::Probe), "{class}");
        }
    }
}

#[test]
fn what_is_gone_for_good_is_looked_at_ever_more_rarely() {
    let step = target("groq/llama@team");
    let day = 86_400;
    for (lasting, provenance, waits) in
        [(true, Provenance::Fact, [1, 2, 4, 7, 7]), (false, Provenance::Guess, [1, 1, 1, 1, 1])]
    {
        let gone = Failure { lasting, ..failure(Class::ModelUnavailable) };
        let mut world = World::new();
        let mut now = 0;
        for days in waits {
            world.claim_all(&step, "r", at(now), at(now + 10));
            world.fails(&gone, &Call::new(&step, "r", at(now)), at(now));
            assert_eq!(returns_after(&world, &step, now), Some(days * day), "{lasting}");
            assert_eq!(world.holds[0].record.provenance(), provenance);
            now += days * day;
        }
    }
}

/// Meets a limit with a stated wait of 10 seconds at each of the times.
fn limited_at(step: &Target, times: &[i64]) -> World {
    let mut world = World::new();
    for time in times {
        let limit = stated(Class::RateLimit, at(time + 10));
        world.fails(&limit, &Call::new(step, "r", at(*time)), at(*time));
    }
    world
}

fn quarantines(world: &World) -> Vec<&Quarantine> {
    world.holds.iter().filter_map(|held| held.record.as_quarantine()).collect()
}

#[test]
fn waits_that_were_obeyed_in_vain_are_suspected_to_be_a_spent_quota() {
    let step = target("groq/llama@team");
    for (times, suspected) in [
        (&[0, 30, 60][..], false),
        (&[0, 30, 60, 90], true),
        // A burst of seconds is a neighbour's.
        (&[0, 10, 20, 30, 40, 50, 59], false),
        (&[0, 600, 7200, 90_000], true),
        // Nobody waited.
        (&[0, 5, 9, 9, 9, 9], false),
        // Days apart: another story.
        (&[0, 200_000, 400_000, 600_000, 800_000], false),
    ] {
        let world = limited_at(&step, times);
        let now = *times.last().expect("a time");
        assert_eq!(quarantines(&world).len(), usize::from(suspected), "{times:?}");
        if suspected {
            let held = quarantines(&world)[0];
            assert_eq!((held.provenance, held.until), (Provenance::Guess, at(now + 3600)));
            assert_eq!(held.probe_at, Some(at(now + 1800)), "one looks early");
            assert!(held.evidence.starts_with("suspected quota: the limit came again after each of 3 waits"));
            assert!(held.evidence.ends_with("evidence"), "{}", held.evidence);
        }
    }
    let mut interrupted = limited_at(&step, &[0, 30, 60]);
    interrupted.happens(Event::Success, &Call::new(&step, "s", at(81)), at(81));
    interrupted.fails(&stated(Class::RateLimit, at(110)), &Call::new(&step, "r", at(90)), at(90));
    assert_eq!(quarantines(&interrupted), [] as [&Quarantine; 0], "an answer between ends the suspicion");
    let mut probed = limited_at(&step, &[0, 30, 60, 90]);
    for n in 0..5 {
        probed.fails(&stated(Class::RateLimit, at(200 + n)), &Call::new(&step, "other", at(195 + n)), at(195 + n));
    }
    assert_eq!(quarantines(&probed)[0].until, at(90 + 3600), "whoever does not heed it makes it no longer");
    probed.claim_all(&step, "p", at(1890), at(1950));
    probed.happens(Event::Success, &Call::new(&step, "p", at(1890)), at(1891));
    assert!(probed.holds.is_empty(), "the probe clears it");
}

#[test]
fn a_limit_that_is_said_to_be_a_minute_s_is_believed_for_longer() {
    let step = target("groq/llama@team");
    let mut world = World::new();
    for n in 0..7 {
        assert_eq!(quarantines(&world).len(), 0, "{n}");
        let limit = Failure { dimension: Some(Dimension::Tpm), ..stated(Class::RateLimit, at(n * 60 + 60)) };
        world.fails(&limit, &Call::new(&step, "r", at(n * 60)), at(n * 60));
    }
    assert_eq!(quarantines(&world).len(), 1);
}

#[test]
fn guesses_that_were_wrong_are_no_hints_that_were_obeyed() {
    let step = target("groq/llama@team");
    let mut world = World::new();
    let mut now = 0;
    for _ in 0..6 {
        world.fails(&failure(Class::RateLimit), &Call::new(&step, "r", at(now)), at(now));
        now += returns_after(&world, &step, now).expect("it returns");
    }
    assert_eq!(quarantines(&world).len(), 0);
}

#[test]
fn what_history_says_of_a_refused_key_stands_in_the_evidence() {
    let step = target("groq/llama@team");
    let auth = Failure { scope: ScopeLevel::Credential, ..failure(Class::Auth) };
    let cases = [
        (None, None, "evidence", 86_400),
        (Some(at(-3600)), None, "suspected rotation: the key worked 60m ago; evidence", 60),
        (
            Some(at(-3600)),
            Some(-30),
            "suspected throttling: the key worked 60m ago and met a limit 30s ago; evidence",
            60,
        ),
        (Some(at(-3600)), Some(-3000), "suspected rotation: the key worked 60m ago; evidence", 60),
        (None, Some(-30), "evidence", 86_400),
    ];
    for (last_success, limited, evidence, after) in cases {
        let mut world = limited.map_or_else(World::new, |time| limited_at(&step, &[time]));
        world.fails(&auth, &Call { last_success, ..Call::new(&step, "r", at(0)) }, at(0));
        let circuit = world.holds.iter().find_map(|held| held.record.as_circuit()).expect("a circuit");
        assert_eq!(circuit.evidence, evidence);
        assert_eq!(circuit.retry_at, Some(at(after)), "{evidence}");
    }
}
