//! A month on invented time: how often each router asks again what it has been told is spent, full or down. The numbers
//! of `cargo run --release --example month` are those of one seed; what is asserted here holds for any.
#![cfg(test)]

#[path = "../examples/month/simulation/mod.rs"]
mod simulation;

use std::time::Duration;

use simulation::{Knows, Llmr, Naive, STEPS, Tally, play};

const SEED: u64 = 20;

/// Wasted calls a day at the most, by step.
fn wastes_at_most(tally: &Tally, most: [(&str, f64); 4]) {
    for (step, most) in most {
        let wasted = tally.of(step).wasted_a_day();
        assert!(wasted <= most, "{step}: {wasted} calls a day");
    }
    assert_eq!(tally.unanswered, 0);
    for step in STEPS {
        let counted = tally.of(step);
        assert!(counted.calls > 100 && counted.failed < counted.calls, "{step} had its turn: {counted:?}");
    }
}

/// A quota that is back is used by the next request.
fn misses_no_quota(tally: &Tally) {
    assert_eq!((tally.of("monthly").missed, tally.of("daily").missed), (0, 0));
}

#[test]
fn with_stated_resets_a_spent_quota_is_asked_once_a_day() {
    let tally = play(&mut Llmr::new(Knows::Stated, SEED), SEED);
    wastes_at_most(&tally, [("monthly", 1.0), ("daily", 0.1), ("flaky", 40.0), ("minute", 0.1)]);
    misses_no_quota(&tally);
}

#[test]
fn with_the_clocks_of_the_catalogue_a_spent_quota_is_asked_once_before_its_end() {
    let tally = play(&mut Llmr::new(Knows::Documented, SEED), SEED);
    wastes_at_most(&tally, [("monthly", 0.2), ("daily", 1.1), ("flaky", 40.0), ("minute", 12.0)]);
    misses_no_quota(&tally);
}

#[test]
fn when_nobody_says_anything_a_spent_quota_is_asked_a_handful_of_times_a_day() {
    let tally = play(&mut Llmr::new(Knows::Nothing, SEED), SEED);
    wastes_at_most(&tally, [("monthly", 2.0), ("daily", 5.0), ("flaky", 40.0), ("minute", 12.0)]);
}

#[test]
fn a_fixed_bench_asks_hundreds_of_times_a_day() {
    let ours = play(&mut Llmr::new(Knows::Stated, SEED), SEED);
    for (bench, least) in [(60, 500.0), (5, 1000.0)] {
        let naive = play(&mut Naive::new(Duration::from_secs(bench)), SEED);
        for step in ["monthly", "daily"] {
            let wasted = naive.of(step).wasted_a_day();
            assert!(wasted > least, "{bench} s, {step}: {wasted} calls a day");
        }
        assert!(naive.of("flaky").wasted > 2 * ours.of("flaky").wasted, "{bench} s");
        assert!(naive.late > ours.late && naive.requests == ours.requests, "{bench} s");
    }
}
