//! What becomes of answers that are not as asked, on invented time.

use std::collections::BTreeMap;
use std::time::Duration;

use proptest::prelude::*;
use proptest::strategy::Strategy;

use super::play::{Play, Says, failed, spec};
use super::*;
use crate::catalog::Price;
use crate::domain::{AttemptKind, Class, Outcome};

const INVALID: Says = Says::Fail(Class::InvalidOutput);

fn ladder(steps: &[&str], on_invalid: OnInvalid, repair: bool) -> Spec {
    let mut ladder = spec(steps);
    ladder.limits = RunLimits { on_invalid, repair, ..RunLimits::default() };
    ladder
}

/// How it ended, and who was asked why.
fn played(ladder: Spec, replies: &[(&str, &[Says])]) -> (End, Vec<String>) {
    let mut world = Play::new(replies);
    let (end, _) = world.run(ladder, RequestShape::default(), Directives::default());
    (end, world.sent.iter().map(|(name, kind)| format!("{name} {kind}")).collect())
}

#[test]
fn each_policy_goes_its_way_once_the_repair_was_in_vain() {
    use OnInvalid::{Fail, Next, Return};
    let (a, fixed, b) = ("a/m@k first", "a/m@k repair", "b/n@k first");
    for (policy, repair, first, end, asked) in [
        (Next, true, &[INVALID][..], End::Answered { step: 1 }, &[a, fixed, b][..]),
        (Next, false, &[INVALID], End::Answered { step: 1 }, &[a, b]),
        (Return, true, &[INVALID], End::AsItIs, &[a, fixed]),
        (Return, false, &[INVALID], End::AsItIs, &[a]),
        (Fail, true, &[INVALID], End::Rejected, &[a, fixed]),
        (Fail, false, &[INVALID], End::Rejected, &[a]),
        (Return, true, &[INVALID, Says::Answer], End::Answered { step: 0 }, &[a, fixed]),
        (Fail, true, &[INVALID, Says::Answer], End::Answered { step: 0 }, &[a, fixed]),
        // What befalls the repair on its way does not mend the answer, and is no reason to ask for it once more.
        (Return, true, &[INVALID, Says::Fail(Class::Overloaded), Says::Answer], End::AsItIs, &[a, fixed]),
        (Fail, true, &[INVALID, Says::Rests(Class::RateLimit, 5)], End::Rejected, &[a, fixed]),
        // What is no answer at all is none of the policy's business.
        (Return, true, &[Says::Fail(Class::Billing)], End::Answered { step: 1 }, &[a, b]),
        (Fail, true, &[Says::Fail(Class::ContentPolicy)], End::Answered { step: 1 }, &[a, b]),
    ] {
        let found = played(ladder(&["a/m@k", "b/n@k"], policy, repair), &[("a/m@k", first)]);
        let asked = asked.iter().map(|text| (*text).to_owned()).collect();
        assert_eq!(found, (end, asked), "{policy:?} {repair} {first:?}");
    }
}

#[test]
fn a_repair_counts_against_the_attempts_and_what_it_could_cost() {
    for (policy, end) in [(OnInvalid::Return, End::AsItIs), (OnInvalid::Fail, End::Rejected)] {
        let mut one = ladder(&["a/m@k", "b/n@k"], policy, true);
        one.limits.attempts = 1;
        assert_eq!(played(one, &[("a/m@k", &[INVALID])]), (end, vec!["a/m@k first".to_owned()]));
    }
    // One call is under the ceiling, two are not.
    let mut dear = ladder(&["a/m@k"], OnInvalid::Return, true);
    dear.steps[0].price = Some(Price { input: 0.0, output: 60.0, cached: None });
    dear.limits.max_cost_usd = Some(1.0);
    let shape = RequestShape { max_tokens: Some(10_000), ..RequestShape::default() };
    let mut run = Run::new(dear, shape, Directives::default());
    let world = Play::new(&[]);
    let view = View {
        holds: &world.holds,
        usage: &world.usage,
        bounds: &crate::policy::UsageSettings::default(),
        now: world.now(),
        elapsed: Duration::ZERO,
    };
    let Step::Send(first) = run.poll(&view) else { panic!("0.60 is under the ceiling") };
    run.on_sent(&first);
    run.on_cost(0.6);
    let failure = crate::domain::Failure::new(Class::InvalidOutput, crate::domain::ScopeLevel::Request, "test", "no");
    run.on_failure(&first, &failed(&failure, Some(200)), false);
    assert_eq!(run.poll(&view), Step::End(End::AsItIs));
}

#[test]
fn no_repair_is_made_after_the_deadline() {
    let mut slow = ladder(&["a/m@k"], OnInvalid::Return, true);
    slow.limits.deadline = Duration::from_millis(50);
    assert_eq!(played(slow, &[("a/m@k", &[INVALID])]), (End::Deadline, vec!["a/m@k first".to_owned()]));
}

#[test]
fn all_of_these_ends_are_told_as_a_wrong_shape() {
    for end in [End::WrongShape, End::AsItIs, End::Rejected] {
        assert_eq!((end.outcome(), end.is_exhaustion()), (Outcome::WrongShape, false));
    }
}

fn says() -> impl Strategy<Value = Says> {
    prop_oneof![
        1 => Just(Says::Answer),
        4 => Just(INVALID),
        2 => (0..Class::ALL.len()).prop_map(|at| Says::Fail(Class::ALL[at])),
    ]
}

proptest! {
    /// Whatever is said: no answer is repaired twice, nor without need, nor against the ladder's word; a policy that ends
    /// the request asks nobody else after such an answer, and only such an answer ends it so.
    #[test]
    fn any_script_keeps_the_policy(
        scripts in proptest::collection::vec(proptest::collection::vec(says(), 1..4), 1..5),
        policy in prop_oneof![Just(OnInvalid::Next), Just(OnInvalid::Return), Just(OnInvalid::Fail)],
        repair in any::<bool>(),
        cap in 1_u32..8,
    ) {
        let names: Vec<String> = (0..scripts.len()).map(|n| format!("p{n}/m{n}@k")).collect();
        let mut spec = ladder(&names.iter().map(String::as_str).collect::<Vec<_>>(), policy, repair);
        spec.limits.attempts = cap;
        let mut world = Play::new(&[]);
        world.replies = names.iter().cloned().zip(scripts.iter().cloned()).collect();
        let (end, run) = world.run(spec, RequestShape::default(), Directives::default());
        prop_assert!(world.sent.len() <= cap as usize && run.attempts() as usize == world.sent.len());
        // What each exchange came to, by replaying the scripts.
        let mut at: BTreeMap<&str, usize> = BTreeMap::new();
        let mut invalid_by: Option<&str> = None;
        let mut repaired: BTreeMap<&str, u32> = BTreeMap::new();
        for (name, kind) in &world.sent {
            if *kind == AttemptKind::Repair {
                prop_assert!(repair);
                prop_assert_eq!(invalid_by, Some(name.as_str()), "a repair of nothing");
                *repaired.entry(name).or_default() += 1;
            } else if policy != OnInvalid::Next {
                prop_assert_eq!(invalid_by, None, "somebody was asked after an answer that ends it");
            }
            let nth = at.entry(name).or_default();
            let script = &scripts[names.iter().position(|known| known == name).expect("a step")];
            let said = script.get(*nth).or(script.last()).expect("a reply");
            *nth += 1;
            match said {
                Says::Fail(Class::InvalidOutput) => invalid_by = Some(name),
                Says::Answer => invalid_by = None,
                _ if policy == OnInvalid::Next => invalid_by = None,
                _ => {}
            }
        }
        prop_assert!(repaired.values().all(|count| *count == 1));
        match end {
            End::AsItIs => prop_assert!(policy == OnInvalid::Return && invalid_by.is_some()),
            End::Rejected => prop_assert!(policy == OnInvalid::Fail && invalid_by.is_some()),
            _ => prop_assert!(policy == OnInvalid::Next || invalid_by.is_none()),
        }
    }
}
