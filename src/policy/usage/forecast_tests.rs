//! What is foretold, and what is not dared.

use jiff::Timestamp;
use proptest::prelude::*;

use super::{Gauge, Learned, Limit, LimitSource, Meter, Pace, UsageState, VersionedMeter, forecasts};
use crate::domain::{Dimension, Scope, Target};

fn at(minute: i64) -> Timestamp {
    Timestamp::from_second(1_787_450_400 + minute * 60).expect("a time")
}

fn day(used: f64) -> Pace {
    Pace::of_window(used, 1000.0, at(0), at(1440))
}

#[test]
fn it_runs_out_where_the_line_meets_the_limit() {
    for (used, minute, out) in [
        // Half of it in six hours: gone in six more.
        (500.0, 360, Some(720)),
        (250.0, 360, None),
        (260.0, 360, Some(1384)),
        (1000.0, 360, Some(360)),
        (1200.0, 360, Some(360)),
        // Not enough was seen: little of it, or a short time.
        (90.0, 60, None),
        (110.0, 59, None),
        (110.0, 60, Some(545)),
        (499.0, 30, None),
        (500.0, 30, Some(60)),
        (999.0, 9, None),
        // The window is over.
        (999.0, 1440, None),
        (999.0, 2000, None),
        // Counted by a clock that ran ahead.
        (999.0, -60, None),
    ] {
        let told = day(used).runs_out(at(minute));
        let minutes = told.map(|told| (told.as_second() - at(0).as_second()) / 60);
        assert_eq!(minutes, out, "{used} used after {minute} minutes");
    }
    for limit in [0.0, -1.0, f64::INFINITY, f64::NAN] {
        assert_eq!(Pace::of_window(500.0, limit, at(0), at(1440)).runs_out(at(360)), None, "{limit}");
    }
}

#[test]
fn what_was_used_before_fades_and_makes_room() {
    let pace = Pace { used: 800.0, counted: 200.0, limit: 1000.0, since: at(0), resets_at: at(300) };
    assert_eq!(pace.runs_out(at(100)), None, "200 come and 600 go");
    let fresh = Pace { counted: 800.0, ..pace };
    assert_eq!(fresh.runs_out(at(100)), Some(at(125)));
}

fn target() -> Target {
    Target { deployment: "lab/m@own".parse().expect("a deployment"), account: "own".into(), region: None }
}

fn gauge(dimension: Dimension, clock: &str, limit: Option<f64>) -> Gauge {
    let limit = limit.map(|value| Limit { value, source: LimitSource::Config });
    let scope = Scope::account_model(&target());
    Gauge { scope, dimension, unit: dimension.unit(), clock: clock.parse().expect("a clock"), limit }
}

fn counted(gauge: &Gauge, used: f64) -> Meter {
    let new = Meter::new(gauge.scope.clone(), gauge.dimension, gauge.unit, gauge.clock.clone(), at(0));
    Meter { used, counted: at(350), ..new }
}

/// When it runs out, in minutes.
fn told(gauge: Gauge, meter: Meter, minute: i64) -> Option<i64> {
    let usage = UsageState { meters: vec![VersionedMeter { version: 1, meter }], ..UsageState::default() };
    let told = forecasts(&target(), &[gauge], &usage, at(minute));
    told.first()?.runs_out.map(|out| (out.as_second() - at(0).as_second()) / 60)
}

#[test]
fn meters_are_foretold_by_their_clocks() {
    for (clock, dimension, out) in [
        // 1787450400 is 02:00 UTC.
        ("midnight UTC", Dimension::Rpd, Some(720)),
        ("rolling 1d", Dimension::Rpd, Some(720)),
        ("stated", Dimension::Rpd, Some(720)),
        ("month UTC", Dimension::Monthly, Some(720)),
        ("refill 1d", Dimension::Rpd, None),
        ("never", Dimension::Other, None),
        ("rolling 30m", Dimension::Other, None),
        ("stated", Dimension::Rpm, None),
    ] {
        let gauge = gauge(dimension, clock, Some(1000.0));
        assert_eq!(told(gauge.clone(), counted(&gauge, 500.0), 360), out, "{clock} {dimension}");
    }
}

#[test]
fn what_the_provider_said_is_the_use_of_its_whole_window() {
    let gauge = gauge(Dimension::Rpd, "stated", None);
    let learned = Some(Learned { value: 1000.0, at: at(0), source: "header x".to_owned() });
    let meter = Meter { learned, resets_at: Some(at(720)), ..counted(&gauge, 700.0) };
    // 700 in the 12 hours before and the 6 minutes since.
    assert_eq!(told(gauge.clone(), meter.clone(), 6), Some(317));
    let no_reset = Meter { resets_at: None, ..meter };
    assert_eq!(told(gauge, no_reset, 60), None, "nobody knows when that window began");
}

#[test]
fn an_allowance_without_a_limit_has_no_end_and_one_without_use_is_well() {
    let open = gauge(Dimension::Rpd, "midnight UTC", None);
    let usage = UsageState::default();
    assert_eq!(forecasts(&target(), &[open], &usage, at(5)), []);
    let unused = gauge(Dimension::Rpd, "midnight UTC", Some(10.0));
    let told = forecasts(&target(), &[unused], &usage, at(5));
    assert_eq!((told[0].used, told[0].runs_out, told[0].share_at_reset), (0.0, None, 0.0));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_foretold_lies_between_now_and_the_reset_and_more_use_never_puts_it_off(
        used in 0.0..2000.0_f64,
        more in 0.0..500.0_f64,
        limit in 0.1..2000.0_f64,
        passed in -10..3000_i64,
        length in 1..3000_i64,
    ) {
        let now = at(passed);
        let of = |used| Pace::of_window(used, limit, at(0), at(length)).runs_out(now);
        if let Some(out) = of(used) {
            prop_assert!(now <= out && out <= at(length), "{out}");
            let sooner = of(used + more);
            prop_assert!(sooner.is_some_and(|sooner| sooner <= out), "{sooner:?} after {out}");
            let pace = Pace::of_window(used, limit, at(0), at(length));
            prop_assert!(pace.at_reset(now) >= limit * 0.999);
        }
    }
}
