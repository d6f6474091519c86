//! The machine played on invented time: scripts of replies as tables, and the invariants for any script.

use std::time::Duration;

use jiff::Timestamp;
use proptest::prelude::*;
use proptest::strategy::Strategy;

use super::play::{Play, START, Says, failed, play, spec, step};
use super::*;
use crate::domain::{AttemptKind, Class, Failure, ScopeLevel};
use crate::policy::{HoldRecord, UsageSettings, UsageState};

#[test]
fn what_each_class_makes_the_ladder_do() {
    let steps = ["a/m@k", "b/n@k"];
    let next = || End::Answered { step: 1 };
    for (class, end, asked) in [
        (Class::RateLimit, next(), vec!["a/m@k", "b/n@k"]),
        (Class::QuotaExhausted, next(), vec!["a/m@k", "b/n@k"]),
        (Class::Billing, next(), vec!["a/m@k", "b/n@k"]),
        (Class::Auth, next(), vec!["a/m@k", "b/n@k"]),
        (Class::Permission, next(), vec!["a/m@k", "b/n@k"]),
        (Class::ModelUnavailable, next(), vec!["a/m@k", "b/n@k"]),
        (Class::Overloaded, next(), vec!["a/m@k", "a/m@k", "b/n@k"]),
        (Class::ServerError, next(), vec!["a/m@k", "a/m@k", "b/n@k"]),
        (Class::Timeout, next(), vec!["a/m@k", "a/m@k", "b/n@k"]),
        (Class::Network, next(), vec!["a/m@k", "a/m@k", "b/n@k"]),
        (Class::ContextOverflow, next(), vec!["a/m@k", "b/n@k"]),
        (Class::ContentPolicy, next(), vec!["a/m@k", "b/n@k"]),
        (Class::Unsupported, next(), vec!["a/m@k", "b/n@k"]),
        (Class::InvalidOutput, next(), vec!["a/m@k", "a/m@k", "b/n@k"]),
        (Class::InvalidRequest, End::Refused(Class::InvalidRequest), vec!["a/m@k"]),
        (Class::Unknown, End::Refused(Class::Unknown), vec!["a/m@k"]),
    ] {
        let got = play(&steps, &[("a/m@k", &[Says::Fail(class)])]);
        assert_eq!(got, (end, asked.into_iter().map(str::to_owned).collect()), "{class}");
    }
}

#[test]
fn what_is_not_understood_stops_only_where_the_request_is_blamed() {
    for (status, stops) in [
        (Some(400), true),
        (Some(418), true),
        (Some(429), false),
        (Some(403), false),
        (Some(500), false),
        (None, false),
    ] {
        let mut run = Run::new(spec(&["a/m@k", "b/n@k"]), RequestShape::default(), Directives::default());
        let now = Timestamp::from_second(START).expect("a time");
        let view = View {
            holds: &[],
            usage: &UsageState::default(),
            bounds: &UsageSettings::default(),
            now,
            elapsed: Duration::ZERO,
        };
        let Step::Send(exchange) = run.poll(&view) else { panic!("the first step is asked") };
        run.on_sent(&exchange);
        let failure = Failure::new(Class::Unknown, ScopeLevel::Request, "test", "?");
        run.on_failure(&exchange, &failed(&failure, status), true);
        assert_eq!(matches!(run.poll(&view), Step::End(_)), stops, "{status:?}");
    }
}

#[test]
fn a_retry_that_succeeds_answers_from_the_same_step() {
    let got = play(&["a/m@k", "b/n@k"], &[("a/m@k", &[Says::Fail(Class::Timeout), Says::Answer])]);
    assert_eq!(got, (End::Answered { step: 0 }, vec!["a/m@k".into(), "a/m@k".into()]));
}

#[test]
fn without_retry_budget_the_next_step_is_asked_at_once() {
    let mut play = Play::new(&[("a/m@k", &[Says::Fail(Class::Timeout)])]);
    play.retries_left = 0;
    play.run(spec(&["a/m@k", "b/n@k"]), RequestShape::default(), Directives::default());
    assert_eq!(play.names(), ["a/m@k", "b/n@k"]);
}

#[test]
fn a_refusal_is_not_shown_to_the_same_model_under_another_key() {
    for (class, asked) in [
        (Class::ContextOverflow, vec!["a/m@k", "b/v/m@k", "b/other@k"]),
        (Class::ContentPolicy, vec!["a/m@k", "b/other@k"]),
        (Class::Unsupported, vec!["a/m@k", "b/v/m@k", "b/other@k"]),
    ] {
        let steps = ["a/m@k", "a/m@k2", "b/v/m@k", "b/other@k"];
        let refuse = [Says::Fail(class)];
        let (_, got) = play(&steps, &[("a/m@k", &refuse), ("b/v/m@k", &refuse)]);
        assert_eq!(got, asked, "{class}");
    }
}

#[test]
fn a_request_too_large_goes_to_larger_windows_only() {
    let mut ladder = spec(&["a/small@k", "b/small@k", "c/large@k"]);
    for (at, window) in [(0, 8_000), (1, 8_000), (2, 200_000)] {
        ladder.steps[at].window = Some(window);
    }
    ladder.context_window = vec![StepSpec { window: Some(32_000), ..step("d/wide@k") }];
    let overflow = [Says::Fail(Class::ContextOverflow)];
    let mut world = Play::new(&[("a/small@k", &overflow), ("d/wide@k", &overflow)]);
    let (end, run) = world.run(ladder.clone(), RequestShape::default(), Directives::default());
    assert_eq!(world.names(), ["a/small@k", "d/wide@k", "c/large@k"]);
    assert_eq!(end, End::Answered { step: 2 });
    assert_eq!(run.steps().len(), 4);

    let shape = RequestShape { input_tokens: 300_000, ..RequestShape::default() };
    ladder.context_window.clear();
    let mut world = Play::new(&[]);
    let (end, _) = world.run(ladder, shape, Directives::default());
    assert_eq!((end, world.sent.len()), (End::Refused(Class::ContextOverflow), 0), "nothing that cannot fit is sent");
}

#[test]
fn what_a_filter_refused_goes_to_the_other_policy() {
    let mut ladder = spec(&["a/m@k", "b/n@k"]);
    ladder.content_policy = vec![step("c/lenient@k")];
    let mut world = Play::new(&[("a/m@k", &[Says::Fail(Class::ContentPolicy)])]);
    world.run(ladder, RequestShape::default(), Directives::default());
    assert_eq!(world.names(), ["a/m@k", "c/lenient@k"]);
}

#[test]
fn a_spent_ladder_says_what_is_most_useful() {
    for (first, second, end) in [
        (Says::Fail(Class::Billing), Says::Fail(Class::Auth), "needs_person"),
        (Says::Fail(Class::Billing), Says::Rests(Class::RateLimit, 20), "exhausted"),
        (Says::Fail(Class::Billing), Says::Fail(Class::InvalidOutput), "wrong_shape"),
        (Says::Rests(Class::QuotaExhausted, 999), Says::Fail(Class::InvalidOutput), "exhausted"),
        (Says::Fail(Class::Auth), Says::Fail(Class::ContentPolicy), "refused"),
        (Says::Fail(Class::ContextOverflow), Says::Fail(Class::ContextOverflow), "refused"),
        (Says::Fail(Class::Timeout), Says::Fail(Class::ServerError), "exhausted"),
    ] {
        let told = format!("{first:?} {second:?}");
        let (got, _) = play(&["a/m@k", "b/n@k"], &[("a/m@k", &[first]), ("b/n@k", &[second])]);
        assert_eq!(got.outcome().as_str(), end, "{told}");
    }
}

#[test]
fn a_ladder_longer_than_the_attempts_needs_no_person_while_a_step_is_left() {
    let names: Vec<String> = (0..4).map(|n| format!("a/m{n}@k")).collect();
    let mut ladder = spec(&names.iter().map(String::as_str).collect::<Vec<_>>());
    ladder.limits.attempts = 2;
    let gone = [Says::Fail(Class::ModelUnavailable)];
    let mut world = Play::new(&names.iter().map(|name| (name.as_str(), &gone[..])).collect::<Vec<_>>());
    let mut ends = Vec::new();
    for _ in 0..2 {
        world.elapsed = Duration::ZERO;
        ends.push(world.run(ladder.clone(), RequestShape::default(), Directives::default()).0.outcome().as_str());
    }
    assert_eq!(ends, ["exhausted", "needs_person"], "{:?}", world.sent);
}

#[test]
fn the_soonest_return_is_told() {
    let (end, _) = play(
        &["a/m@k", "b/n@k"],
        &[("a/m@k", &[Says::Rests(Class::RateLimit, 50)]), ("b/n@k", &[Says::Rests(Class::RateLimit, 20)])],
    );
    let End::Exhausted { retry_at: Some(at) } = end else { panic!("{end:?}") };
    assert!((20..22).contains(&(at.as_second() - START)), "{at}");
}

#[test]
fn it_waits_only_when_allowed_and_only_within_the_budget() {
    for (budget, end, waited) in [(0, "exhausted", 0), (10, "exhausted", 0), (30, "answered", 20)] {
        let mut world = Play::new(&[("a/m@k", &[Says::Rests(Class::RateLimit, 20), Says::Answer])]);
        let mut ladder = spec(&["a/m@k"]);
        ladder.limits.wait = Duration::from_secs(budget);
        let (got, _) = world.run(ladder, RequestShape::default(), Directives::default());
        assert_eq!((got.outcome().as_str(), world.waited.as_secs()), (end, waited), "budget {budget}");
    }
}

#[test]
fn the_last_resort_is_asked_under_a_transient_hold_only() {
    let classes = [
        (Class::RateLimit, 1),
        (Class::Overloaded, 1),
        (Class::QuotaExhausted, 0),
        (Class::Billing, 0),
        (Class::Auth, 0),
    ];
    for (class, asked) in classes {
        let mut world = Play::new(&[("a/m@k", &[Says::Rests(class, 500)])]);
        let ladder = spec(&["a/m@k"]);
        for _ in 0..2 {
            world.run(ladder.clone(), RequestShape::default(), Directives::default());
        }
        world.sent.clear();
        let resort = Spec { last_resort: Some(step("a/m@k")), ..ladder };
        world.run(resort, RequestShape::default(), Directives::default());
        assert_eq!(world.sent.len(), asked, "{class}");
    }
}

#[test]
fn a_last_resort_outside_the_ladder_is_asked_once_its_quota_is_back() {
    let resort = |ladder: Spec| Spec { last_resort: Some(step("z/m@k")), ..ladder };
    let mut world = Play::new(&[
        ("a/m@k", &[Says::Rests(Class::RateLimit, 3000)]),
        ("z/m@k", &[Says::Rests(Class::QuotaExhausted, 300), Says::Answer]),
    ]);
    let ladder = resort(spec(&["a/m@k"]));
    for (pass, asked) in [(0, &["a/m@k", "z/m@k"][..]), (100, &[]), (300, &["z/m@k"])] {
        world.sent.clear();
        world.elapsed = Duration::ZERO;
        for held in &mut world.holds {
            match &mut held.record {
                HoldRecord::Cooldown(c) => c.until -= Duration::from_secs(pass),
                HoldRecord::Quarantine(q) => q.until -= Duration::from_secs(pass),
                HoldRecord::Circuit(_) => {}
            }
        }
        let run = Run::new(ladder.clone(), RequestShape::default(), Directives::default());
        let view = View {
            holds: &world.holds.clone(),
            usage: &UsageState::default(),
            bounds: &UsageSettings::default(),
            now: world.now(),
            elapsed: Duration::ZERO,
        };
        let planned: Vec<String> =
            run.plan(&view).iter().map(|planned| run.steps()[planned.step].target.deployment.to_string()).collect();
        assert_eq!(planned.first().map(String::as_str), asked.first().copied(), "what is planned is done");
        world.run(ladder.clone(), RequestShape::default(), Directives::default());
        assert_eq!(world.names(), asked);
    }
    world.sent.clear();
    world.holds.retain(|held| matches!(held.record, HoldRecord::Cooldown(_)));
    let one = Directives { max_steps: Some(0), ..Directives::default() };
    world.run(ladder, RequestShape::default(), one);
    assert!(world.sent.is_empty(), "no more deployments than allowed");
}

#[test]
fn directives_are_obeyed_and_told() {
    let steps = ["a/m@k", "b/n@k", "c/o@k"];
    let fail = [Says::Fail(Class::Billing)];
    let told = |directives: Directives| {
        let mut world = Play::new(&[("a/m@k", &fail), ("b/n@k", &fail), ("c/o@k", &fail)]);
        let (_, run) = world.run(spec(&steps), RequestShape::default(), directives);
        let names: Vec<String> = world.names().into_iter().map(str::to_owned).collect();
        let view = View {
            holds: &world.holds,
            usage: &UsageState::default(),
            bounds: &UsageSettings::default(),
            now: world.now(),
            elapsed: world.elapsed,
        };
        let skipped: Vec<&str> = run.skipped(&view).iter().map(|skip| skip.reason.word()).collect();
        (names, skipped)
    };
    let pin = Directives { pin: Some("b".into()), ..Directives::default() };
    assert_eq!(told(pin), (vec!["b/n@k".into()], vec!["not_pinned", "not_pinned"]));
    let exclude = Directives { exclude: vec!["a".into(), "b".into()], ..Directives::default() };
    assert_eq!(told(exclude), (vec!["c/o@k".into()], vec!["excluded", "excluded"]));
    let alone = Directives { no_fallback: true, ..Directives::default() };
    assert_eq!(told(alone), (vec!["a/m@k".into()], vec!["no_fallback", "no_fallback"]));
    let nobody = Directives { pin: Some("x".into()), ..Directives::default() };
    let (end, _) = Play::new(&[]).run(spec(&steps), RequestShape::default(), nobody);
    assert_eq!(end, End::NoneAllowed);
    let two = Directives { max_steps: Some(2), ..Directives::default() };
    assert_eq!(told(two).0, ["a/m@k", "b/n@k"]);
}

#[test]
fn a_step_that_could_cost_too_much_is_not_asked() {
    let mut ladder = spec(&["a/dear@k", "b/cheap@k"]);
    ladder.steps[0].max_output = Some(128_000);
    ladder.limits.max_cost_usd = Some(0.5);
    for (max_tokens, price, step) in
        [(Some(1000), 1000.0, 1), (Some(400), 1000.0, 0), (None, 100.0, 1), (None, 10.0, 0)]
    {
        ladder.steps[0].price = Some(crate::catalog::Price { input: 100.0, output: price, cached: None });
        let shape = RequestShape { input_tokens: 10, max_tokens, ..RequestShape::default() };
        let (end, _) = Play::new(&[]).run(ladder.clone(), shape, Directives::default());
        assert_eq!(end, End::Answered { step }, "{max_tokens:?} at {price}");
    }
}

#[test]
fn without_fallback_a_retry_that_a_hold_forbids_is_no_leave_to_go_on() {
    let mut world = Play::new(&[("a/m@k", &[Says::Rests(Class::Overloaded, 30)])]);
    let alone = Directives { no_fallback: true, ..Directives::default() };
    let (end, _) = world.run(spec(&["a/m@k", "b/m@k"]), RequestShape::default(), alone);
    assert!(end.is_exhaustion(), "{end:?}");
    assert_eq!(world.names(), ["a/m@k"]);
    assert_eq!(world.waited, Duration::ZERO, "nobody waits for a retry that will not be made");
}

#[test]
fn a_retry_that_would_come_after_the_deadline_is_not_waited_for() {
    let mut world = Play::new(&[("a/m@k", &[Says::Fail(Class::ServerError)])]);
    let mut ladder = spec(&["a/m@k", "b/m@k"]);
    ladder.limits.deadline = Duration::from_millis(300);
    let (end, _) = world.run(ladder, RequestShape::default(), Directives::default());
    assert_eq!((end.outcome().as_str(), world.waited), ("answered", Duration::ZERO));
    assert_eq!(world.names(), ["a/m@k", "b/m@k"], "what is left of the time is the next step's");
}

#[test]
fn a_step_that_hangs_leaves_the_rest_of_the_deadline_to_the_next() {
    let mut world = Play::new(&[("a/m@k", &[Says::Fail(Class::Timeout)])]);
    world.takes = Duration::from_secs(90);
    world.run(spec(&["a/m@k", "b/m@k"]), RequestShape::default(), Directives::default());
    assert_eq!(world.names(), ["a/m@k", "b/m@k"], "a retry would hang until the deadline");
    assert_eq!(world.waited, Duration::ZERO);
}

#[test]
fn what_was_spent_counts_against_the_ceiling() {
    let mut ladder = spec(&["a/m@k", "b/n@k", "c/free@k"]);
    ladder.limits.max_cost_usd = Some(1.0);
    for at in [0, 1] {
        ladder.steps[at].price = Some(crate::catalog::Price { input: 0.0, output: 600.0, cached: None });
    }
    let shape = RequestShape { input_tokens: 10, max_tokens: Some(1000), ..RequestShape::default() };
    let mut run = Run::new(ladder, shape, Directives::default());
    let view = View {
        holds: &[],
        usage: &UsageState::default(),
        bounds: &UsageSettings::default(),
        now: Timestamp::from_second(START).expect("a time"),
        elapsed: Duration::ZERO,
    };
    let Step::Send(first) = run.poll(&view) else { panic!("0.60 is under the ceiling") };
    run.on_sent(&first);
    run.on_cost(0.6);
    let failure = Failure::new(Class::InvalidOutput, ScopeLevel::Request, "test", "cut off");
    run.on_failure(&first, &failed(&failure, Some(200)), true);
    let Step::Send(next) = run.poll(&view) else { panic!("the free step is left") };
    assert_eq!((next.step, next.kind), (2, AttemptKind::First), "neither the repair nor the next fits under 1.00");
}

fn says() -> impl Strategy<Value = Says> {
    prop_oneof![
        1 => Just(Says::Answer),
        6 => (0..Class::ALL.len()).prop_map(|at| Says::Fail(Class::ALL[at])),
        2 => (0..Class::ALL.len(), 0_i64..600).prop_map(|(at, wait)| Says::Rests(Class::ALL[at], wait)),
    ]
}

proptest! {
    /// For any ladder and any script of replies: it ends, no deployment is asked more often than it may be, the cap on
    /// attempts and the wait budget hold, and nothing is sent to a deployment under a hold except its one probe.
    #[test]
    fn any_script_ends_within_its_bounds(
        scripts in proptest::collection::vec(proptest::collection::vec(says(), 1..4), 1..6),
        requests in 1_usize..5,
        wait in 0_u64..400,
        cap in 1_u32..10,
        chains in any::<bool>(),
    ) {
        let names: Vec<String> = (0..scripts.len()).map(|n| format!("p{n}/m{n}@k")).collect();
        let mut ladder = spec(&names.iter().map(String::as_str).collect::<Vec<_>>());
        ladder.limits = RunLimits { attempts: cap, wait: Duration::from_secs(wait), ..RunLimits::default() };
        if chains {
            ladder.context_window = ladder.steps.iter().rev().cloned().collect();
            ladder.content_policy = vec![step("extra/e@k")];
            ladder.last_resort = ladder.steps.first().cloned();
        }
        let mut world = Play::new(&[]);
        world.replies = names.iter().cloned().zip(scripts).collect();
        for _ in 0..requests {
            world.sent.clear();
            let (begun, waited) = (world.elapsed, world.waited);
            world.elapsed = Duration::ZERO;
            let (_, run) = world.run(ladder.clone(), RequestShape::default(), Directives::default());
            prop_assert!(world.sent.len() <= cap as usize);
            prop_assert!(run.attempts() as usize == world.sent.len());
            for name in &names {
                let asked = world.sent.iter().filter(|(sent, kind)| sent == name && !kind.is_remedy()).count();
                let repairs = world.sent.iter().filter(|(sent, kind)| sent == name && kind.is_remedy()).count();
                prop_assert!(asked <= 2 && repairs <= 1, "{name}: {asked} + {repairs}");
            }
            // The wait for a step, and the back-off of at most one retry a step, which a stated wait may draw out.
            let slack = Duration::from_secs(wait) + RunLimits::default().backoff_max * (names.len() as u32 + 1);
            prop_assert!(world.waited - waited <= slack, "{:?}", world.waited - waited);
            prop_assert!(world.elapsed < Duration::from_secs(121));
            world.elapsed += begun;
        }
    }
}
