//! Meters, limits and estimates on invented time, as tables and properties.

use std::time::Duration;

use proptest::prelude::*;

use super::super::world::{at, failure, stated as failed, target};
use super::*;
use crate::catalog::ResetClock;
use crate::domain::{Class, Failure, LimitFacts, Provenance, ResetSource, StatedLimit, Unit, Usage};
use crate::policy::{Change, Key, UsageSettings};

fn clock(text: &str) -> ResetClock {
    text.parse().expect("a clock")
}

fn gauge(dimension: Dimension, text: &str, limit: Option<(f64, LimitSource)>) -> Gauge {
    let scope = Scope::account_model(&target("groq/llama@team"));
    let limit = limit.map(|(value, source)| Limit { value, source });
    Gauge { scope, dimension, unit: dimension.unit(), clock: clock(text), limit }
}

fn own(dimension: Dimension, text: &str, limit: f64) -> Gauge {
    gauge(dimension, text, Some((limit, LimitSource::Config)))
}

fn says(dimension: Dimension, limit: f64, remaining: f64, reset: Option<i64>) -> StatedLimit {
    StatedLimit {
        dimension,
        limit: Some(limit),
        remaining: Some(remaining),
        resets_at: reset.map(at),
        window: None,
        source: ResetSource::Header("x-ratelimit-limit-requests".to_owned()),
    }
}

/// A store of its own kind for one deployment.
#[derive(Default)]
struct Books {
    usage: UsageState,
    gauges: Vec<Gauge>,
}

impl Books {
    fn of(gauges: &[Gauge]) -> Self {
        Self { gauges: gauges.to_vec(), ..Self::default() }
    }

    fn write(&mut self, changes: Vec<MeterChange>) {
        for change in changes {
            let (scope, dimension) = &change.key;
            assert_eq!(
                change.expected,
                self.usage.meter(scope, *dimension).map(|held| held.version),
                "decided on what is"
            );
            self.usage.meters.retain(|held| (held.meter.scope.clone(), held.meter.dimension) != change.key);
            let version = change.expected.unwrap_or(0) + 1;
            self.usage.meters.extend(change.meter.map(|meter| VersionedMeter { version, meter }));
        }
    }

    fn books(&mut self, used: Demand, stated: &[StatedLimit], failure: Option<&Failure>, changes: &[Change], now: i64) {
        let step = target("groq/llama@team");
        let spent = Spent { target: &step, gauges: &self.gauges, used, stated, failure, changes };
        let changes = count(&self.usage, &spent, at(now));
        self.write(changes);
    }

    fn answers(&mut self, tokens: f64, stated: &[StatedLimit], now: i64) {
        self.books(Demand { requests: 1.0, input: tokens, ..Demand::default() }, stated, None, &[], now);
    }

    fn room(&self, tokens: f64, now: i64) -> Room {
        let demand = Demand { requests: 1.0, input: tokens, ..Demand::default() };
        room(&target("groq/llama@team"), &self.gauges, &self.usage, &demand, &UsageSettings::default(), at(now))
    }

    fn used(&self, dimension: Dimension, now: i64) -> f64 {
        let all = readings(&target("groq/llama@team"), &self.gauges, &self.usage, at(now));
        all.iter().find(|reading| reading.dimension == dimension).map_or(0.0, |reading| reading.used)
    }

    fn limit(&self, dimension: Dimension) -> Option<f64> {
        let all = readings(&target("groq/llama@team"), &self.gauges, &self.usage, at(0));
        all.into_iter().find(|reading| reading.dimension == dimension)?.limit.map(|limit| limit.value)
    }
}

fn word(room: &Room) -> &'static str {
    match room {
        Room::Enough => "enough",
        Room::Little(_) => "little",
        Room::None(_) => "none",
    }
}

#[test]
fn a_step_goes_last_at_80_percent_and_is_skipped_at_97() {
    let mut books = Books::of(&[own(Dimension::Rpd, "midnight UTC", 100.0)]);
    let mut seen = Vec::new();
    for n in 0..100 {
        let found = word(&books.room(10.0, n));
        if seen.last().is_none_or(|(_, last)| *last != found) {
            seen.push((n, found));
        }
        books.answers(10.0, &[], n);
    }
    assert_eq!(seen, [(0, "enough"), (80, "little"), (97, "none")]);
}

#[test]
fn calls_come_in_whole_ones_and_tokens_do_not() {
    let mut few = Books::of(&[own(Dimension::Rpd, "midnight UTC", 5.0)]);
    for n in 0..5 {
        assert_ne!(word(&few.room(1.0, n)), "none", "call {n} of 5");
        few.answers(1.0, &[], n);
    }
    assert_eq!(word(&few.room(1.0, 5)), "none");
    let mut tokens = Books::of(&[own(Dimension::Tpd, "midnight UTC", 1000.0)]);
    tokens.answers(900.0, &[], 0);
    for (more, expected) in [(60.0, "little"), (70.0, "little"), (71.0, "none")] {
        assert_eq!(word(&tokens.room(more, 1)), expected, "{more}");
    }
    let Room::None(tight) = tokens.room(2000.0, 1) else { panic!("it does not fit beside what is used") };
    assert_eq!(
        (tight.until, tight.provenance),
        (Some(at(35_200)), Provenance::Operator),
        "an estimate bars nobody alone"
    );
    assert_eq!(tight.to_string(), "900 of 1000 tpd used, too little left for this request");
}

#[test]
fn it_fits_again_when_the_window_says() {
    // The world's time zero is 2026-09-21T14:13:20Z.
    for (text, dimension, limit, expected) in [
        ("midnight UTC", Dimension::Rpd, 10.0, Some(35_200)),
        ("midnight America/Los_Angeles", Dimension::Rpd, 10.0, Some(35_200 + 7 * 3600)),
        ("rolling 1m", Dimension::Rpm, 10.0, Some(60)),
        ("refill 1m", Dimension::Rpm, 10.0, Some(6)),
        ("never", Dimension::Rpd, 10.0, None),
    ] {
        let mut books = Books::of(&[own(dimension, text, limit)]);
        for _ in 0..10 {
            books.answers(1.0, &[], 0);
        }
        let Room::None(tight) = books.room(1.0, 0) else { panic!("{text}: full") };
        let until = tight.until.map(|until| until.duration_since(at(0)).as_secs());
        assert_eq!(until, expected, "{text}");
        if let Some(second) = expected {
            assert_eq!(word(&books.room(1.0, second - 1)), "none", "{text}: not a second before");
            assert_ne!(word(&books.room(1.0, second + 1)), "none", "{text}");
        }
    }
}

#[test]
fn limits_are_believed_by_where_they_come_from() {
    use LimitSource::{Catalogue, Config};
    for (known, learned, counts) in [
        (None, None, None),
        (Some((100.0, Config)), None, Some(100.0)),
        (Some((100.0, Config)), Some(80.0), Some(80.0)),
        (Some((100.0, Config)), Some(200.0), Some(100.0)),
        (Some((100.0, Catalogue)), Some(80.0), Some(80.0)),
        (Some((100.0, Catalogue)), Some(200.0), Some(200.0)),
        (None, Some(80.0), Some(80.0)),
    ] {
        let mut books = Books::of(&[gauge(Dimension::Rpd, "midnight UTC", known.clone())]);
        let stated: Vec<StatedLimit> = learned.iter().map(|limit| says(Dimension::Rpd, *limit, *limit, None)).collect();
        books.answers(1.0, &stated, 0);
        assert_eq!(books.limit(Dimension::Rpd), counts, "{known:?} {learned:?}");
    }
}

#[test]
fn a_learned_limit_tightens_at_once_and_loosens_by_the_provider_s_word_alone() {
    let mut books = Books::of(&[gauge(Dimension::Tpd, "refill 1d", None)]);
    books.answers(1.0, &[says(Dimension::Tpd, 500_000.0, 499_000.0, None)], 0);
    let text = Failure {
        dimension: Some(Dimension::Tpd),
        limits: LimitFacts { limit: Some(100_000.0), used: Some(99_800.0), ..LimitFacts::default() },
        ..failure(Class::RateLimit)
    };
    books.books(Demand::default(), &[], Some(&text), &[], 1);
    assert_eq!((books.limit(Dimension::Tpd), books.used(Dimension::Tpd, 1)), (Some(100_000.0), 99_800.0));
    books.answers(100.0, &[], 2);
    assert_eq!(books.limit(Dimension::Tpd), Some(100_000.0), "what was used says nothing of the limit");
    books.answers(1.0, &[says(Dimension::Tpd, 300_000.0, 1000.0, None)], 60);
    assert_eq!(books.limit(Dimension::Tpd), Some(300_000.0));
    books.answers(5000.0, &[], 61);
    assert_eq!(books.limit(Dimension::Tpd), None, "it was answered beyond it: that is another limit now");
}

#[test]
fn the_catalogue_s_number_of_a_plan_stops_nothing_and_is_silent_once_disproved() {
    let mut books = Books::of(&[gauge(Dimension::Rpd, "midnight UTC", Some((20.0, LimitSource::Catalogue)))]);
    let mut seen = Vec::new();
    for n in 0..40 {
        seen.push(word(&books.room(1.0, n)));
        books.answers(1.0, &[], n);
    }
    assert_eq!((seen[15], seen[16], seen[20]), ("enough", "little", "little"));
    assert!(seen[21..].iter().all(|found| *found == "enough"), "more was used than the plan allows: {seen:?}");
}

#[test]
fn what_the_provider_counts_replaces_what_we_did() {
    let mut books = Books::of(&[gauge(Dimension::Rpd, "midnight UTC", None)]);
    for n in 0..3 {
        books.answers(1.0, &[], n);
    }
    // Others use the account as well.
    books.answers(1.0, &[says(Dimension::Rpd, 1000.0, 15.0, Some(600))], 3);
    assert_eq!(books.used(Dimension::Rpd, 4), 985.0);
    assert_eq!(word(&books.room(1.0, 4)), "none");
    assert_eq!(word(&books.room(1.0, 601)), "enough", "all is back at the stated time, not at midnight");
}

#[test]
fn a_full_window_that_an_answer_states_beside_another_is_known_before_it_is_met() {
    let mut books = Books::of(&[]);
    let stated =
        [says(Dimension::Requests5h, 100.0, 40.0, Some(3600)), says(Dimension::Weekly, 100.0, 0.0, Some(500_000))];
    books.answers(1.0, &stated, 0);
    let Room::None(tight) = books.room(1.0, 1) else { panic!("the week is spent") };
    assert_eq!((tight.dimension, tight.until), (Dimension::Weekly, Some(at(500_000))));
}

#[test]
fn a_spent_quota_comes_back_when_it_was_said_or_when_an_answer_proves_it() {
    let key = Scope::account_model(&target("groq/llama@team"));
    let spent = Failure { dimension: Some(Dimension::Rpd), ..failed(Class::QuotaExhausted, at(900)) };
    let full = || {
        let mut books = Books::of(&[own(Dimension::Rpd, "midnight UTC", 10.0)]);
        (0..10).for_each(|_| books.answers(1.0, &[], 0));
        books.books(Demand::default(), &[], Some(&spent), &[], 1);
        assert_eq!(word(&books.room(1.0, 2)), "none");
        books
    };
    assert_eq!(word(&full().room(1.0, 900)), "enough", "the stated reset, not midnight");
    let mut early = full();
    let lifted = Change { key: Key::Quarantine(key, Dimension::Rpd), expected: Some(1), record: None };
    early.books(Demand { requests: 1.0, ..Demand::default() }, &[], None, &[lifted], 60);
    assert_eq!(word(&early.room(1.0, 61)), "enough", "the probe was answered");
}

#[test]
fn a_wait_that_was_stated_for_a_failure_is_long_enough() {
    let limit = Failure {
        dimension: Some(Dimension::Tpm),
        limits: LimitFacts {
            limit: Some(12_000.0),
            used: Some(11_690.0),
            requested: Some(1264.0),
            ..LimitFacts::default()
        },
        ..failed(Class::RateLimit, at(5))
    };
    for clock in ["refill 1m", "rolling 1m", "stated"] {
        let mut books = Books::of(&[gauge(Dimension::Tpm, clock, None)]);
        let beside = [says(Dimension::Tpm, 12_000.0, 310.0, Some(58)), says(Dimension::Rpm, 30.0, 0.0, Some(58))];
        books.books(Demand::default(), &beside, Some(&limit), &[], 0);
        assert_eq!(word(&books.room(1264.0, 1)), "none", "{clock}");
        assert_eq!(
            word(&books.room(1264.0, 5)),
            "enough",
            "{clock}: what it says of itself, not what stands beside it"
        );
    }
}

#[test]
fn the_wait_of_a_bucket_is_for_the_request_and_not_for_all_of_it() {
    let spent = Failure {
        dimension: Some(Dimension::Tpd),
        limits: LimitFacts {
            limit: Some(100_000.0),
            used: Some(99_500.0),
            requested: Some(1000.0),
            ..LimitFacts::default()
        },
        ..failed(Class::QuotaExhausted, at(432))
    };
    let mut books = Books::of(&[gauge(Dimension::Tpd, "refill 1d", None)]);
    books.books(Demand::default(), &[], Some(&spent), &[], 0);
    assert_eq!(word(&books.room(1000.0, 432)), "enough", "as it was said");
    assert_eq!(word(&books.room(30_000.0, 432)), "none");
}

#[test]
fn a_limit_of_nothing_and_one_of_long_ago_stop_nobody() {
    let mut books = Books::of(&[]);
    books.answers(1.0, &[says(Dimension::Rpm, 0.0, 0.0, None)], 0);
    assert_eq!(word(&books.room(1.0, 1)), "enough");
    books.answers(1.0, &[says(Dimension::Tpd, 1000.0, 0.0, None)], 0);
    assert_eq!(word(&books.room(1.0, 1)), "none");
    let mut later = Books { usage: books.usage.clone(), ..Books::default() };
    later.usage.meters.iter_mut().for_each(|held| held.meter.clock = clock("never"));
    assert_eq!(word(&later.room(1.0, 80_000)), "none");
    assert_eq!(word(&later.room(1.0, 86_400)), "little", "once a day one looks");
    assert_eq!(word(&later.room(1.0, 4 * 86_400)), "enough", "nobody said so since");
}

#[test]
fn shares_of_a_plan_are_not_counted_in_calls() {
    let mut books = Books::of(&[]);
    books.answers(1.0, &[says(Dimension::Requests5h, 100.0, 98.0, Some(9000))], 0);
    for n in 1..120 {
        books.answers(1.0, &[], n);
    }
    assert_eq!((word(&books.room(1.0, 200)), books.used(Dimension::Requests5h, 200)), ("enough", 2.0));
}

#[test]
fn a_clock_that_is_mended_in_the_config_counts_at_once() {
    let mut books = Books::of(&[own(Dimension::Rpd, "never", 5.0)]);
    (0..5).for_each(|_| books.answers(1.0, &[], 0));
    assert_eq!(word(&books.room(1.0, 90_000)), "none");
    books.gauges = vec![own(Dimension::Rpd, "rolling 1d", 5.0)];
    assert_eq!(word(&books.room(1.0, 90_000)), "enough");
}

#[test]
fn what_others_have_under_way_counts_until_it_lands_or_its_time_is_over() {
    let concurrency = Gauge { unit: None, ..own(Dimension::Concurrency, "stated", 2.0) };
    let mut books = Books::of(&[own(Dimension::Rpd, "midnight UTC", 3.0), concurrency]);
    let demand = Demand { requests: 1.0, ..Demand::default() };
    let flight =
        |id: &str, until| Flight { id: id.into(), target: target("groq/llama@team"), demand, until: at(until) };
    books.usage.flights = vec![flight("a", 60)];
    assert_eq!(word(&books.room(1.0, 0)), "enough");
    books.usage.flights.push(flight("b", 90));
    let Room::None(tight) = books.room(1.0, 0) else { panic!("two are the most") };
    assert_eq!((tight.dimension, tight.until), (Dimension::Concurrency, Some(at(60))));
    books.usage.flights.push(flight("c", 120));
    let Room::None(tight) = books.room(1.0, 0) else { panic!("three are the day's all") };
    assert_eq!(tight.until, Some(at(90)), "concurrency has room when the second has landed");
    assert_eq!(word(&books.room(1.0, 121)), "enough");
}

#[test]
fn scopes_are_counted_apart_and_accounts_together() {
    let step = target("groq/llama@team");
    let (same_account, other_model) = (target("groq/llama@own"), target("groq/qwen@team"));
    let account = Gauge { scope: Scope::account(&step), ..own(Dimension::Rpm, "rolling 1m", 2.0) };
    let mut books = Books::of(&[own(Dimension::Rpd, "midnight UTC", 2.0), account]);
    books.answers(1.0, &[], 0);
    books.answers(1.0, &[], 0);
    let used = |target| {
        let all = readings(target, &[], &books.usage, at(1));
        all.into_iter().map(|reading| (reading.dimension, reading.used.round())).collect::<Vec<_>>()
    };
    assert!(used(&same_account).contains(&(Dimension::Rpd, 2.0)), "one key's use is the other's");
    assert!(!used(&other_model).iter().any(|(dimension, _)| *dimension == Dimension::Rpd));
    assert!(used(&other_model).contains(&(Dimension::Rpm, 2.0)), "all models of the account");
}

#[test]
fn the_day_is_counted_without_any_limit_and_a_refused_call_is_not() {
    let mut books = Books::of(&[]);
    books.answers(120.0, &[], 0);
    books.books(Demand::default(), &[], Some(&failure(Class::ServerError)), &[], 1);
    assert_eq!((books.used(Dimension::Rpd, 1).round(), books.used(Dimension::Tpd, 1).round()), (1.0, 120.0));
    assert_eq!(word(&books.room(1e9, 2)), "enough");
}

#[test]
fn estimates_learn_how_a_model_counts() {
    let mut estimate = Estimate::new("groq".into(), "llama".into());
    let said = |input, output| Usage { input_tokens: Some(input), output_tokens: Some(output), ..Usage::default() };
    for _ in 0..60 {
        estimate = estimate.after(100, &said(150, 50)).expect("news");
    }
    let demand = estimate.demand(1000, None);
    let is_near = |seen: f64, said: f64| (seen - said).abs() < said / 20.0;
    assert!(is_near(demand.input, 1500.0) && is_near(demand.output, 50.0), "{demand:?}");
    let first = Estimate::new("groq".into(), "llama".into()).after(100, &said(100, 9000)).expect("news");
    assert!(first.output < 5000.0, "not even the first answer is all that is known: {}", first.output);
    assert_eq!(estimate.demand(1000, Some(20)).output, 20.0, "no answer is longer than allowed");
    assert_eq!(estimate.after(100, &Usage::default()), None);
    let odd = estimate.after(100, &said(90_000, 50)).expect("news");
    assert!(odd.factor < 2.0, "one odd request: {}", odd.factor);
}

fn any_clock() -> impl Strategy<Value = ResetClock> {
    prop::sample::select(vec![
        "rolling 1m",
        "rolling 1d",
        "refill 1m",
        "refill 1d",
        "midnight UTC",
        "month UTC",
        "stated",
    ])
    .prop_map(clock)
}

proptest! {
    /// Whatever is counted, and whatever the clock does: nothing is negative, nothing grows by waiting, all is back
    /// once the window has ended, and in a window of its own nothing that was counted is lost.
    #[test]
    fn a_meter_only_empties_by_waiting(
        clock in any_clock(),
        counts in prop::collection::vec((0.0..50.0_f64, -400_i64..4000), 1..40),
        limit in prop::option::of(1.0..500.0_f64),
        waits in prop::collection::vec(0..100_000_i64, 1..10),
    ) {
        let scope = Scope::account_model(&target("groq/llama@team"));
        let mut now = 0;
        let mut meter = Meter::new(scope, Dimension::Rpd, Some(Unit::Requests), clock, at(0));
        let mut total = 0.0;
        for (amount, passed) in counts {
            now += passed;
            meter = meter.add(amount, at(now), limit);
            total += amount;
            let level = meter.level(at(now), limit);
            prop_assert!(level >= 0.0 && level <= total + 1e-6, "{level} of {total}");
            let most = limit.filter(|_| matches!(meter.clock, ResetClock::Refill { .. })).map_or(f64::MAX, |l| l * 2.0);
            prop_assert!(level + 1e-6 >= amount.min(most), "what was just counted is there");
        }
        let mut last = meter.level(at(now), limit);
        for wait in waits {
            now += wait;
            let level = meter.level(at(now), limit);
            prop_assert!(level <= last + 1e-6, "it grew from {last} to {level}");
            last = level;
        }
        let end = meter.ends().unwrap_or(at(0)).max(at(now)) + Duration::from_secs(400);
        prop_assert_eq!(meter.level(end, limit), 0.0);
    }

    /// A step is never told to come back before it fits, nor to wait although it fits.
    #[test]
    fn the_time_that_is_told_is_the_first_at_which_it_fits(
        clock in any_clock(),
        counts in prop::collection::vec((1.0..30.0_f64, 0_i64..300), 1..30),
        limit in 20.0..300.0_f64,
        more in 1.0..40.0_f64,
    ) {
        let gauge = Gauge { clock, ..own(Dimension::Tpd, "never", limit) };
        let mut books = Books::of(&[gauge]);
        let mut now = 0;
        for (amount, passed) in counts {
            now += passed;
            books.answers(amount, &[], now);
        }
        if let Room::None(Tightness { until: Some(until), .. }) = books.room(more, now) {
            let second: i64 = until.duration_since(at(0)).as_secs();
            prop_assert!(until >= at(now));
            prop_assert!(!matches!(books.room(more, second + 1), Room::None(_)));
            if second - 1 > now {
                prop_assert!(matches!(books.room(more, second - 1), Room::None(_)));
            }
        }
    }
}

#[test]
fn a_meter_of_a_clock_that_ran_ahead_holds_nobody_for_years() {
    const YEARS: i64 = 10 * 366 * 86_400;
    let mut books = Books::of(&[own(Dimension::Rpd, "midnight UTC", 10.0)]);
    (0..10).for_each(|_| books.answers(1.0, &[], YEARS));
    assert_eq!(word(&books.room(1.0, 0)), "enough");
    books.answers(1.0, &[], 0);
    assert_eq!(books.used(Dimension::Rpd, 1), 1.0);
}
