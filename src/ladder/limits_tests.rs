//! The machine with limits that are near, on invented time.

use std::time::Duration;

use jiff::Timestamp;

use super::play::{Play, START, Says, spec};
use super::*;
use crate::domain::{AttemptKind, Class, Dimension, Scope};
use crate::policy::{Gauge, Learned, Limit, LimitSource, Meter, UsageState, VersionedMeter};

/// A ladder of two steps, the first of which may use so many requests and tokens a day.
fn capped(requests: f64, tokens: f64) -> Spec {
    let mut ladder = spec(&["a/m@k", "b/n@k"]);
    let gauge = |dimension: Dimension, value| Gauge {
        scope: Scope::account_model(&ladder.steps[0].target),
        dimension,
        unit: dimension.unit(),
        clock: "midnight UTC".parse().expect("a clock"),
        limit: Some(Limit { value, source: LimitSource::Config }),
    };
    ladder.steps[0].gauges = vec![gauge(Dimension::Rpd, requests), gauge(Dimension::Tpd, tokens)];
    ladder
}

/// So many requests of the first step were answered.
fn used(ladder: &Spec, requests: f64) -> UsageState {
    let gauge = ladder.steps[0].gauges[0].clone();
    let now = Timestamp::from_second(START).expect("a time");
    let meter = Meter::new(gauge.scope, gauge.dimension, gauge.unit, gauge.clock, now);
    let meter = Meter { used: requests, ..meter };
    UsageState { meters: vec![VersionedMeter { version: 1, meter }], ..UsageState::default() }
}

#[test]
fn a_step_with_little_left_goes_last_and_one_with_nothing_left_is_skipped() {
    for (requests, asked) in [(79.0, "a/m@k"), (80.0, "b/n@k"), (96.0, "b/n@k"), (97.0, "b/n@k")] {
        let ladder = capped(100.0, 1e6);
        let mut world = Play::new(&[]);
        world.usage = used(&ladder, requests);
        world.run(ladder, RequestShape::default(), Directives::default());
        assert_eq!(world.names(), [asked], "{requests}");
    }
    let both_fail = [("b/n@k", &[Says::Fail(Class::Billing)][..])];
    for (requests, asked) in [(96.0, &["b/n@k", "a/m@k"][..]), (97.0, &["b/n@k"])] {
        let ladder = capped(100.0, 1e6);
        let mut world = Play::new(&both_fail);
        world.usage = used(&ladder, requests);
        let (end, _) = world.run(ladder, RequestShape::default(), Directives::default());
        assert_eq!(world.names(), asked, "{requests}");
        let exhausted = matches!(end, End::Exhausted { retry_at: Some(_) });
        assert_eq!(exhausted, requests > 96.0, "{end:?}: it comes back at midnight");
    }
}

#[test]
fn an_estimate_alone_bars_nobody() {
    let mut ladder = capped(100.0, 1000.0);
    ladder.steps.truncate(1);
    let shape = RequestShape { input_tokens: 2000, ..RequestShape::default() };
    let mut world = Play::new(&[]);
    world.run(ladder, shape, Directives::default());
    assert_eq!(world.names(), ["a/m@k"], "nothing is used: only the provider knows whether it fits");
}

#[test]
fn the_last_resort_is_asked_although_a_limit_is_near_if_that_is_soon_back() {
    let day = Dimension::Rpd;
    for (resets_after, is_own, asked) in
        [(60, false, &["b/n@k", "a/m@k"][..]), (7200, false, &["b/n@k"]), (60, true, &["b/n@k"])]
    {
        let mut ladder = capped(100.0, 1e6);
        let mut world = Play::new(&[("b/n@k", &[Says::Fail(Class::Billing)][..])]);
        world.usage = used(&ladder, 100.0);
        let now = world.now();
        for held in &mut world.usage.meters {
            held.meter.resets_at = Some(now + Duration::from_secs(resets_after));
            held.meter.learned = Some(Learned { value: 100.0, at: now, source: "header".to_owned() });
        }
        ladder.steps[0].gauges.retain(|gauge| is_own && gauge.dimension == day);
        ladder.last_resort = Some(ladder.steps[0].clone());
        world.run(ladder, RequestShape::default(), Directives::default());
        assert_eq!(world.names(), asked, "{resets_after} {is_own}");
    }
}

#[test]
fn a_probe_goes_whatever_is_counted() {
    let mut ladder = capped(100.0, 1e6);
    ladder.limits.deadline = Duration::from_secs(24 * 3600);
    let mut world = Play::new(&[("a/m@k", &[Says::Fail(Class::Billing), Says::Answer][..])]);
    world.run(ladder.clone(), RequestShape::default(), Directives::default());
    world.usage = used(&ladder, 100.0);
    world.sent.clear();
    world.elapsed += Duration::from_secs(6 * 3600 + 100);
    world.run(ladder, RequestShape::default(), Directives::default());
    assert_eq!(world.sent[0], ("a/m@k".to_owned(), AttemptKind::Probe), "its time has come");
}
