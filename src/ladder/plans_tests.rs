//! What waits for its moment after a failure: retries, hints and remedies, on invented time.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::json;

use super::play::{Play, START, Says, failed, play, spec, step};
use super::*;
use crate::domain::{
    AttemptKind, ChatRequest, Class, Execution, Failure, Feature, Message, OutputFit, Provenance, Role, ScopeLevel,
    Tool,
};
use crate::policy::{About, Finding, UsageSettings, UsageState};

const NOTHING: &UsageState = &UsageState { meters: Vec::new(), flights: Vec::new(), estimates: Vec::new() };

fn now() -> Timestamp {
    Timestamp::from_second(START).expect("a time")
}

fn view(bounds: &UsageSettings, elapsed: Duration) -> View<'_> {
    View { holds: &[], usage: NOTHING, bounds, now: now(), elapsed }
}

fn failure(class: Class) -> Failure {
    Failure::new(class, ScopeLevel::Model, "test", "it failed")
}

/// A run whose first step was asked.
fn asked(ladder: Spec, shape: RequestShape) -> (Run, Exchange) {
    let mut run = Run::new(ladder, shape, Directives::default());
    let Step::Send(first) = run.poll(&view(&UsageSettings::default(), Duration::ZERO)) else { panic!("it is asked") };
    run.on_sent(&first);
    (run, first)
}

#[test]
fn a_short_hint_is_waited_for_when_nobody_else_is_left() {
    for (seconds, asked, waited) in [(2, 2, 2), (8, 2, 8), (9, 1, 0)] {
        let mut world = Play::new(&[("a/m@k", &[Says::Rests(Class::Overloaded, seconds), Says::Answer])]);
        world.run(spec(&["a/m@k"]), RequestShape::default(), Directives::default());
        assert_eq!((world.sent.len(), world.waited.as_secs()), (asked, waited), "{seconds}");
    }
}

#[test]
fn a_hint_is_no_reason_to_wait_while_another_step_can_be_asked() {
    let hints = [Says::Rests(Class::Overloaded, 2), Says::Answer];
    let mut world = Play::new(&[("a/m@k", &hints)]);
    world.run(spec(&["a/m@k", "b/n@k"]), RequestShape::default(), Directives::default());
    assert_eq!((world.names(), world.waited), (vec!["a/m@k", "b/n@k"], Duration::ZERO));
    // The other one fails too: then the first is worth the wait.
    let mut world = Play::new(&[("a/m@k", &hints), ("b/n@k", &[Says::Fail(Class::Billing)])]);
    let (end, _) = world.run(spec(&["a/m@k", "b/n@k"]), RequestShape::default(), Directives::default());
    assert_eq!((world.names(), end), (vec!["a/m@k", "b/n@k", "a/m@k"], End::Answered { step: 0 }));
    assert_eq!(world.sent[2].1, AttemptKind::Retry);
    // Unless nobody else may be asked.
    let mut world = Play::new(&[("a/m@k", &hints)]);
    let alone = Directives { no_fallback: true, ..Directives::default() };
    world.run(spec(&["a/m@k", "b/n@k"]), RequestShape::default(), alone);
    assert_eq!((world.names(), world.waited.as_secs()), (vec!["a/m@k", "a/m@k"], 2));
}

#[test]
fn a_request_makes_no_more_retries_than_it_may() {
    for (retries, asked) in [(None, 6), (Some(2), 5), (Some(0), 3)] {
        let fails = [Says::Fail(Class::ServerError)];
        let mut world = Play::new(&[("a/m@k", &fails), ("b/m@k", &fails), ("c/m@k", &fails)]);
        let mut ladder = spec(&["a/m@k", "b/m@k", "c/m@k"]);
        ladder.limits.retries = retries;
        world.run(ladder, RequestShape::default(), Directives::default());
        assert_eq!(world.sent.len(), asked, "{retries:?}");
    }
}

#[test]
fn a_second_try_after_a_wait_is_a_retry_as_well() {
    for (retries, asked) in [(None, 2), (Some(1), 2), (Some(0), 1)] {
        let mut world = Play::new(&[("a/m@k", &[Says::Rests(Class::RateLimit, 20), Says::Answer])]);
        let mut ladder = spec(&["a/m@k"]);
        (ladder.limits.retries, ladder.limits.wait) = (retries, Duration::from_secs(60));
        world.run(ladder, RequestShape::default(), Directives::default());
        assert_eq!(world.sent.len(), asked, "{retries:?}");
    }
}

#[test]
fn what_may_have_run_is_repeated_only_as_the_user_allows() {
    for (choice, execution, retries, ends) in [
        (OnMayHaveRun::Retry, Execution::MayHaveRun, true, false),
        (OnMayHaveRun::Next, Execution::MayHaveRun, false, false),
        (OnMayHaveRun::Stop, Execution::MayHaveRun, false, true),
        (OnMayHaveRun::Next, Execution::NotRun, true, false),
        (OnMayHaveRun::Stop, Execution::NotRun, true, false),
    ] {
        let mut ladder = spec(&["a/m@k", "b/m@k"]);
        ladder.limits.on_may_have_run = choice;
        let (mut run, first) = asked(ladder, RequestShape::default());
        let timeout = failure(Class::Timeout);
        let told = Failed { execution, ..failed(&timeout, None) };
        assert_eq!(run.wants_retry(&first, &told), retries, "{choice:?} {execution}");
        run.on_failure(&first, &told, retries);
        assert_eq!(run.end() == Some(End::MayHaveRun), ends, "{choice:?} {execution}");
    }
}

#[test]
fn a_request_that_was_too_long_by_its_answer_alone_is_made_to_fit_once() {
    let shape = |max_tokens| RequestShape { max_tokens, input_tokens: 100, ..RequestShape::default() };
    for (class, fits, max_tokens, lowered) in [
        (Class::ContextOverflow, Some(OutputFit::Less(3000)), Some(4000), Some(1000)),
        (Class::ContextOverflow, Some(OutputFit::Less(3600)), Some(4000), None),
        (Class::ContextOverflow, Some(OutputFit::Less(5000)), Some(4000), None),
        (Class::ContextOverflow, Some(OutputFit::Less(3000)), None, None),
        (Class::ContextOverflow, Some(OutputFit::Tokens(3192)), Some(4000), Some(3192)),
        (Class::ContextOverflow, Some(OutputFit::Tokens(8000)), Some(4000), None),
        (Class::Billing, Some(OutputFit::Tokens(2000)), None, Some(2000)),
        (Class::Billing, Some(OutputFit::Tokens(20)), None, None),
        (Class::Billing, None, Some(4000), None),
        (Class::RateLimit, Some(OutputFit::Tokens(2000)), Some(4000), None),
    ] {
        let (mut run, first) = asked(spec(&["a/m@k", "b/n@k"]), shape(max_tokens));
        let refused = Failure { fits, ..failure(class) };
        run.on_failure(&first, &failed(&refused, Some(400)), false);
        let bounds = UsageSettings::default();
        let Step::Send(next) = run.poll(&view(&bounds, Duration::ZERO)) else { panic!("somebody is asked") };
        assert_eq!((next.step == 0).then_some(next.max_tokens).flatten(), lowered, "{class} {fits:?} {max_tokens:?}");
        if lowered.is_none() {
            continue;
        }
        assert_eq!(next.kind, AttemptKind::Adjusted, "no answer is repaired");
        run.on_sent(&next);
        run.on_failure(&next, &failed(&refused, Some(400)), false);
        let Step::Send(other) = run.poll(&view(&bounds, Duration::ZERO)) else { panic!("the next step is asked") };
        assert_eq!((other.step, other.max_tokens), (1, None), "once is enough, and it is nobody else's bound");
    }
}

#[test]
fn a_probe_that_is_refused_for_its_length_is_a_failed_probe() {
    let refused = Failure { fits: Some(OutputFit::Tokens(2000)), ..failure(Class::Billing) };
    let (run, first) = asked(spec(&["a/m@k", "b/n@k"]), RequestShape::default());
    assert_eq!(run.remedy(&first, &refused), Some(Remedy::FewerTokens(2000)));
    let probe = Exchange { kind: AttemptKind::Probe, ..first };
    assert_eq!(run.remedy(&probe, &refused), None, "or the next request would look again at once");
}

#[test]
fn a_request_that_offers_tools_needs_a_model_that_can_call_them() {
    let tool = Tool { name: "find".to_owned(), description: "d".repeat(40), schema: json!({"type": "object"}) };
    let plain = ChatRequest { messages: vec![Message::text(Role::User, "hi")], ..ChatRequest::default() };
    let offering = ChatRequest { tools: vec![tool.clone(), tool], ..plain.clone() };
    let shape = RequestShape::of(&offering);
    assert!(shape.tools && !RequestShape::of(&plain).tools);
    assert!(shape.input_tokens > RequestShape::of(&plain).input_tokens + 20, "they are read as well");
    let able = |can: &[&str]| Some(can.iter().map(|word| (*word).to_owned()).collect());
    let mut ladder = spec(&["a/m@k", "b/n@k", "c/o@k"]);
    ladder.steps[0].capabilities = able(&["images"]);
    ladder.steps[1].capabilities = able(&["tools"]);
    let (_, first) = asked(ladder.clone(), shape);
    assert_eq!(first.step, 1);
    assert_eq!(asked(ladder, RequestShape::of(&plain)).1.step, 0);
}

#[test]
fn thoughts_that_only_another_can_check_are_left_out_once() {
    let shape = RequestShape { thinking: true, ..RequestShape::default() };
    let refused =
        Failure { evidence: "Invalid `signature` in `thinking` block".to_owned(), ..failure(Class::Unsupported) };
    let bounds = UsageSettings::default();
    let (mut run, first) = asked(spec(&["a/m@k", "b/n@k"]), shape);
    run.on_failure(&first, &failed(&refused, Some(400)), false);
    let Step::Send(again) = run.poll(&view(&bounds, Duration::ZERO)) else { panic!("it is asked again") };
    assert_eq!((again.step, again.without_thinking), (0, true));
    run.on_sent(&again);
    run.on_failure(&again, &failed(&refused, Some(400)), false);
    let Step::Send(next) = run.poll(&view(&bounds, Duration::ZERO)) else { panic!("the next is asked") };
    assert_eq!((next.step, next.without_thinking), (1, false));
    let (mut run, first) = asked(spec(&["a/m@k", "b/n@k"]), RequestShape::default());
    run.on_failure(&first, &failed(&refused, Some(400)), false);
    let Step::Send(next) = run.poll(&view(&bounds, Duration::ZERO)) else { panic!("the next is asked") };
    assert_eq!(next.step, 1, "there are none to leave out");
}

#[test]
fn a_shape_that_is_refused_is_asked_for_in_words_once() {
    let refused = Failure { lacks: Some(Feature::JsonSchema), ..failure(Class::Unsupported) };
    let bounds = UsageSettings::default();
    let shape = RequestShape { schema: true, ..RequestShape::default() };
    let able = || Some(vec!["json_schema".to_owned()]);
    let ladder = || {
        let mut ladder = spec(&["a/m@k", "b/n@k"]);
        ladder.steps[0].capabilities = able();
        ladder
    };
    let (mut run, first) = asked(ladder(), shape);
    assert!(!first.in_words);
    assert_eq!(run.remedy(&first, &refused), Some(Remedy::InWords));
    run.on_failure(&first, &failed(&refused, Some(400)), false);
    let Step::Send(again) = run.poll(&view(&bounds, Duration::ZERO)) else { panic!("it is asked again") };
    assert_eq!((again.step, again.kind, again.in_words), (0, AttemptKind::Adjusted, true));
    run.on_sent(&again);
    run.on_failure(&again, &failed(&refused, Some(400)), false);
    let Step::Send(next) = run.poll(&view(&bounds, Duration::ZERO)) else { panic!("the next is asked") };
    assert_eq!((next.step, next.in_words), (1, false));

    // What blames the request may mean its schema, and says so in words, or in none.
    for (evidence, remedy) in [
        ("Request contains an invalid argument.", Some(Remedy::InWords)),
        ("'response_format.json_schema.schema' must be an object", Some(Remedy::InWords)),
        ("messages: at least one message is required", None),
    ] {
        let blamed = Failure { evidence: evidence.to_owned(), ..failure(Class::InvalidRequest) };
        let (mut run, first) = asked(ladder(), shape);
        assert_eq!(run.remedy(&first, &blamed), remedy, "{evidence}");
        run.on_failure(&first, &failed(&blamed, Some(400)), false);
        let step = run.poll(&view(&bounds, Duration::ZERO));
        assert_eq!(matches!(step, Step::Send(_)), remedy.is_some(), "{evidence}");
    }

    // Nothing is left to be said otherwise: no shape is wanted, no means are declared, or the refusal is about something else.
    let other = failure(Class::Unsupported);
    for (ladder, shape, refused) in [
        (ladder(), RequestShape::default(), &refused),
        (spec(&["a/m@k", "b/n@k"]), shape, &refused),
        (ladder(), shape, &other),
    ] {
        let (run, first) = asked(ladder, shape);
        assert_eq!(run.remedy(&first, refused), None);
    }
}

#[test]
fn a_model_that_takes_no_schema_is_asked_in_words_at_once() {
    let finding = Finding {
        provider: "a".into(),
        model: "m".into(),
        about: About::Lacks(Feature::JsonSchema.as_str().to_owned()),
        since: now(),
        until: now() + Duration::from_secs(60),
        evidence: "the compiled grammar is too large".to_owned(),
        request_id: None,
    };
    for schema in [true, false] {
        let mut ladder = spec(&["a/m@k", "b/n@k"]);
        ladder.steps[0].findings = vec![finding.clone()];
        let (_, first) = asked(ladder, RequestShape { schema, ..RequestShape::default() });
        assert_eq!((first.step, first.in_words), (0, schema), "it is not skipped");
    }
}

#[test]
fn what_a_model_lacks_goes_to_its_own_chain_and_is_not_asked_again_for_it() {
    let mut ladder = spec(&["a/m@k", "b/n@k"]);
    ladder.unsupported = vec![step("c/able@k")];
    let mut world = Play::new(&[("a/m@k", &[Says::Fail(Class::Unsupported)])]);
    world.run(ladder, RequestShape::default(), Directives::default());
    assert_eq!(world.names(), ["a/m@k", "c/able@k"]);

    let finding = Finding {
        provider: "a".into(),
        model: "m".into(),
        about: About::Lacks(Feature::Images.as_str().to_owned()),
        since: now(),
        until: now() + Duration::from_secs(60),
        evidence: "no images".to_owned(),
        request_id: None,
    };
    for (images, first) in [(true, "b/n@k"), (false, "a/m@k")] {
        let mut ladder = spec(&["a/m@k", "b/n@k"]);
        ladder.steps[0].findings = vec![finding.clone()];
        let mut world = Play::new(&[]);
        world.run(ladder, RequestShape { images, ..RequestShape::default() }, Directives::default());
        assert_eq!(world.names(), [first], "images: {images}");
    }
}

#[test]
fn a_provider_that_charges_the_longest_answer_is_asked_for_no_endless_one() {
    for (precharges, max_tokens, max_output, asked_for) in [
        (false, None, Some(32_768), None),
        (true, None, Some(32_768), Some(8192)),
        (true, None, Some(4096), Some(4096)),
        (true, Some(100), Some(4096), Some(100)),
    ] {
        let mut ladder = spec(&["a/m@k"]);
        (ladder.steps[0].precharges, ladder.steps[0].max_output) = (precharges, max_output);
        let (_, first) = asked(ladder, RequestShape { max_tokens, ..RequestShape::default() });
        assert_eq!(first.max_tokens, asked_for);
    }
}

#[test]
fn a_step_is_started_beside_a_slow_one_once_and_never_beside_a_retry() {
    let bounds = UsageSettings::default();
    let (mut run, first) = asked(spec(&["a/m@k", "b/n@k", "c/o@k"]), RequestShape::default());
    let beside = run.hedge(&first, &view(&bounds, Duration::ZERO)).expect("a second step");
    assert_eq!((beside.step, beside.kind), (1, AttemptKind::Hedge));
    run.on_sent(&beside);
    assert_eq!(run.hedge(&first, &view(&bounds, Duration::ZERO)), None, "two are enough");
    for kind in [AttemptKind::Retry, AttemptKind::Repair, AttemptKind::Adjusted] {
        let (run, first) = asked(spec(&["a/m@k", "b/n@k"]), RequestShape::default());
        assert_eq!(run.hedge(&Exchange { kind, ..first }, &view(&bounds, Duration::ZERO)), None, "{kind}");
    }
    let (run, first) = asked(spec(&["a/m@k"]), RequestShape::default());
    assert_eq!(run.hedge(&first, &view(&bounds, Duration::ZERO)), None, "nobody else is there");
    let mut once = spec(&["a/m@k", "b/n@k"]);
    once.limits.on_may_have_run = OnMayHaveRun::Stop;
    let (run, first) = asked(once, RequestShape::default());
    assert_eq!(run.hedge(&first, &view(&bounds, Duration::ZERO)), None, "the first may be doing the work");
    let mut dear = spec(&["a/m@k", "b/n@k"]);
    dear.limits.max_cost_usd = Some(1.0);
    for step in &mut dear.steps {
        step.price = Some(crate::catalog::Price { input: 0.0, output: 600.0, cached: None });
    }
    let (run, first) = asked(dear, RequestShape { max_tokens: Some(1000), ..RequestShape::default() });
    assert_eq!(run.hedge(&first, &view(&bounds, Duration::ZERO)), None, "both together could cost 1.20");
}

#[test]
fn a_rest_that_is_stated_by_fact_is_a_cooldown_the_retry_waits_out() {
    let (end, names) = play(&["a/m@k"], &[("a/m@k", &[Says::Rests(Class::ServerError, 1), Says::Answer])]);
    assert_eq!((end, names.len()), (End::Answered { step: 0 }, 2));
    let refused = Failure {
        retry_at: Some(now() + Duration::from_secs(1)),
        provenance: Provenance::Fact,
        ..failure(Class::ServerError)
    };
    let (run, first) = asked(spec(&["a/m@k"]), RequestShape::default());
    let late = Failed { elapsed: Duration::from_millis(119_500), ..failed(&refused, Some(500)) };
    assert!(!run.wants_retry(&first, &late), "the deadline passes before it is back");
}
