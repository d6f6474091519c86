//! Each strategy by tables, and what holds for all of them.

use std::time::Duration;

use jiff::Timestamp;
use proptest::prelude::*;
use proptest::strategy::Strategy as _;

use super::play::{START, step};
use super::rank::Strategy;
use super::*;
use crate::catalog::Price;
use crate::domain::{AttemptKind, Class, Dimension, RequestId, Scope};
use crate::policy::{
    Demand, Estimate, Flight, Gauge, Limit, LimitSource, Meter, Sample, TrackRecord, UsageState, VersionedMeter,
};

const NAMES: [&str; 4] = ["a/m@k", "b/n@k", "c/o@k", "d/p@k"];

fn now() -> Timestamp {
    Timestamp::from_second(START).expect("a time")
}

fn sample(class: Option<Class>, milliseconds: u64) -> Sample {
    let latency = Duration::from_millis(milliseconds);
    Sample {
        kind: AttemptKind::First,
        class,
        judged: false,
        ttft: Some(latency / 10),
        latency,
        output_tokens: None,
        cost_usd: None,
    }
}

/// So many attempts for each of the classes, those that were answered taking so long.
fn record(counts: &[(Option<Class>, usize)], milliseconds: u64) -> Option<TrackRecord> {
    let samples: Vec<Sample> =
        counts.iter().flat_map(|(class, number)| vec![sample(*class, milliseconds); *number]).collect();
    TrackRecord::of(NAMES[0].parse().expect("a deployment"), &samples)
}

fn answered(number: usize, milliseconds: u64) -> Option<TrackRecord> {
    record(&[(None, number)], milliseconds)
}

/// What is on the scene.
#[derive(Debug)]
struct Cast {
    steps: Vec<StepSpec>,
    weights: Vec<u32>,
    records: Vec<Option<TrackRecord>>,
    usage: UsageState,
    draws: Vec<f64>,
}

impl Cast {
    fn of(number: usize) -> Self {
        Self {
            steps: NAMES.iter().take(number).map(|name| step(name)).collect(),
            weights: vec![1; number],
            records: vec![None; number],
            usage: UsageState::default(),
            draws: Vec::new(),
        }
    }

    fn recorded(records: Vec<Option<TrackRecord>>) -> Self {
        Self { records, ..Self::of(NAMES.len()) }
    }

    fn priced(prices: &[Option<f64>]) -> Self {
        let mut cast = Self::of(prices.len());
        for (step, price) in cast.steps.iter_mut().zip(prices) {
            step.price = price.map(|usd| Price { input: usd, output: usd, cached: None });
        }
        cast
    }

    /// So much of a limit of 100 calls a day is used.
    fn used(uses: &[Option<(f64, LimitSource)>]) -> Self {
        let mut cast = Self::of(uses.len());
        for (step, used) in cast.steps.iter_mut().zip(uses) {
            let Some((used, source)) = used.clone() else { continue };
            let gauge = Gauge {
                scope: Scope::account_model(&step.target),
                dimension: Dimension::Rpd,
                unit: Dimension::Rpd.unit(),
                clock: "midnight UTC".parse().expect("a clock"),
                limit: Some(Limit { value: 100.0, source }),
            };
            step.gauges = vec![gauge.clone()];
            let meter = Meter { used, ..Meter::new(gauge.scope, gauge.dimension, gauge.unit, gauge.clock, now()) };
            cast.usage.meters.push(VersionedMeter { version: 1, meter });
        }
        cast
    }

    fn busy(flights: &[usize]) -> Self {
        let mut cast = Self::of(flights.len());
        for (step, number) in cast.steps.iter().zip(flights) {
            for at in 0..*number {
                let id = RequestId::new(format!("{} {at}", step.target.deployment));
                let until = now() + Duration::from_secs(60);
                cast.usage.flights.push(Flight { id, target: step.target.clone(), demand: Demand::default(), until });
            }
        }
        cast
    }

    fn ranked(&self, strategy: Strategy, ranking: &Ranking) -> Vec<(usize, Option<Measure>)> {
        let contenders: Vec<Contender<'_>> = (self.steps.iter().zip(&self.weights).zip(&self.records))
            .map(|((step, weight), record)| Contender { step, weight: *weight, record: record.as_ref() })
            .collect();
        let shape = RequestShape { input_tokens: 600, ..RequestShape::default() };
        let scene = Scene { usage: &self.usage, shape, now: now() };
        let mut draws = self.draws.iter().copied();
        rank(strategy, ranking, &contenders, &scene, &mut || draws.next().unwrap_or(0.0))
    }

    fn order(&self, strategy: Strategy) -> Vec<usize> {
        self.ranked(strategy, &Ranking::default()).into_iter().map(|(at, _)| at).collect()
    }
}

#[test]
fn the_fastest_comes_first_and_what_is_nearly_as_fast_keeps_its_place() {
    for (times, order) in [
        ([4000, 3000, 2000, 1000], [3, 2, 1, 0]),
        ([1200, 1000, 1201, 1100], [0, 1, 3, 2]),
        ([9900, 1000, 8000, 7900], [1, 2, 3, 0]),
        ([1000, 1000, 1000, 1000], [0, 1, 2, 3]),
    ] {
        let cast = Cast::recorded(times.iter().map(|time| answered(5, *time)).collect());
        assert_eq!(cast.order(Strategy::Latency), order, "{times:?}");
    }
}

#[test]
fn what_was_hardly_asked_goes_first_and_what_was_asked_in_vain_last() {
    let few = || answered(4, 9000);
    let failed = || record(&[(None, 4), (Some(Class::Timeout), 1)], 1);
    for (records, order) in [
        ([answered(5, 2000), few(), answered(5, 1000), None], [1, 3, 2, 0]),
        ([failed(), answered(5, 2000), None, few()], [2, 3, 1, 0]),
        ([None, None, None, few()], [0, 1, 2, 3]),
    ] {
        let cast = Cast::recorded(records.to_vec());
        assert_eq!(cast.order(Strategy::Latency), order);
    }
}

#[test]
fn the_time_that_is_compared_is_the_one_that_is_wanted() {
    let slow_start =
        TrackRecord { ttft: answered(9, 9000).and_then(|r| r.ttft), ..answered(9, 1000).expect("a record") };
    let mut cast = Cast::of(2);
    cast.records = vec![Some(slow_start), answered(9, 2000)];
    for (latency_of, order) in [(LatencyOf::Ttft, [1, 0]), (LatencyOf::Total, [0, 1])] {
        let ranking = Ranking { latency_of, ..Ranking::default() };
        let ranked = cast.ranked(Strategy::Latency, &ranking);
        assert_eq!(ranked.iter().map(|(at, _)| *at).collect::<Vec<_>>(), order, "{latency_of:?}");
        let score = ranked[0].1.and_then(|measure| measure.score());
        assert_eq!(score, Some(if latency_of == LatencyOf::Ttft { 0.2 } else { 1.0 }));
    }
}

#[test]
fn the_one_with_most_left_comes_first() {
    let own = |used: f64| Some((used, LimitSource::Config));
    let catalogue = |used: f64| Some((used, LimitSource::Catalogue));
    for (uses, order) in [
        ([own(90.0), own(50.0), own(10.0), None], [2, 3, 1, 0]),
        // Of 100 and 84 that are left, the second is nearly as good; 80 are fewer.
        ([own(16.0), None, own(20.0), own(0.0)], [0, 1, 3, 2]),
        ([own(98.0), own(96.0), own(100.0), own(150.0)], [1, 0, 2, 3]),
        // Whoever used more than the catalogue allows has another plan.
        ([own(50.0), catalogue(150.0), catalogue(60.0), own(10.0)], [1, 3, 0, 2]),
    ] {
        assert_eq!(Cast::used(&uses).order(Strategy::Usage), order, "{uses:?}");
    }
}

#[test]
fn the_one_with_the_fewest_under_way_comes_first() {
    for (flights, order) in
        [([2, 1, 0, 1], [2, 1, 3, 0]), ([1, 1, 1, 1], [0, 1, 2, 3]), ([11, 10, 12, 10], [1, 3, 0, 2])]
    {
        assert_eq!(Cast::busy(&flights).order(Strategy::LeastBusy), order, "{flights:?}");
    }
    let mut over = Cast::busy(&[3, 1]);
    over.usage.flights.iter_mut().take(3).for_each(|flight| flight.until = now());
    assert_eq!(over.order(Strategy::LeastBusy), [0, 1], "their time is over");
}

#[test]
fn the_cheapest_good_answer_comes_first() {
    let cheap = [Some(1.0), Some(2.0), Some(4.0), None];
    assert_eq!(Cast::priced(&cheap).order(Strategy::Cost), [0, 1, 2, 3]);
    assert_eq!(Cast::priced(&[None, Some(4.0), Some(2.0), Some(0.0)]).order(Strategy::Cost), [3, 2, 1, 0]);
    for (class, failed, order) in [
        (Class::Timeout, 0, [0, 1]),
        (Class::Timeout, 60, [1, 0]),
        (Class::RateLimit, 60, [1, 0]),
        (Class::InvalidOutput, 5, [0, 1]),
        (Class::InvalidOutput, 95, [1, 0]),
        // What the request itself is to blame for makes nobody dear.
        (Class::ContextOverflow, 95, [0, 1]),
    ] {
        let mut cast = Cast::priced(&[Some(1.0), Some(2.0)]);
        cast.records = vec![record(&[(None, 100 - failed), (Some(class), failed)], 1), answered(100, 1)];
        assert_eq!(cast.order(Strategy::Cost), order, "{failed} of 100 {class}");
    }
}

#[test]
fn few_samples_and_a_small_difference_turn_nothing_over() {
    let mut cast = Cast::priced(&[Some(1.0), Some(2.0)]);
    cast.records = vec![record(&[(Some(Class::ServerError), 1)], 1), answered(100, 1)];
    assert_eq!(cast.order(Strategy::Cost), [0, 1], "one slip");
    assert_eq!(Cast::priced(&[Some(1.1), Some(1.0)]).order(Strategy::Cost), [0, 1]);
    assert_eq!(Cast::priced(&[Some(1.5), Some(1.0)]).order(Strategy::Cost), [1, 0]);
}

#[test]
fn a_free_model_costs_its_failures() {
    let mut cast = Cast::priced(&[Some(0.0), Some(1.0)]);
    let cost = |cast: &Cast, ranking: &Ranking| {
        let ranked = cast.ranked(Strategy::Cost, ranking);
        let free = ranked.iter().find(|(at, _)| *at == 0).and_then(|(_, measure)| measure.as_ref()?.score());
        free.expect("a price")
    };
    cast.records = vec![record(&[(None, 45), (Some(Class::RateLimit), 55)], 1), answered(95, 1)];
    // 5 usual samples and 100 more: p = (4.8 + 45) / 105, i = 0.05 / 105, τ = 0.1 / 105, two tries; nothing was repaired.
    let (p, i, t): (f64, f64, f64) = (49.8 / 105.0, 0.05 / 105.0, 0.1 / 105.0);
    let fails = 1.0 - (1.0 + t) * (p + i * 0.96);
    // 600 tokens of prompt and 400 of answer at $1 a million; the other one answers 99.8 of 100.
    let other = 0.001 * (1.0 / (99.8 / 100.0) + 0.05 / 100.0);
    cast.records[1] = answered(95, 1);
    let expected = fails * (other + 0.01);
    assert!(
        (cost(&cast, &Ranking::default()) - expected).abs() < 1e-12,
        "{} {expected}",
        cost(&cast, &Ranking::default())
    );
    assert_eq!(cast.order(Strategy::Cost), [1, 0], "what fails every other time is not for nothing");
    let careless = Ranking { failure_penalty_usd: 0.0, ..Ranking::default() };
    assert!(cost(&cast, &careless) < 0.001);
}

#[test]
fn the_models_own_answers_decide_what_it_costs() {
    let mut cast = Cast::priced(&[Some(1.0), Some(2.0)]);
    let model = cast.steps[0].target.deployment.clone();
    let wordy = Estimate { output: 9000.0, samples: 20, ..Estimate::new(model.provider, model.model) };
    cast.usage.estimates.push(wordy);
    assert_eq!(cast.order(Strategy::Cost), [1, 0], "the cheap one talks");
}

#[test]
fn weights_decide_how_often_a_step_is_drawn_first() {
    let mut cast = Cast::of(3);
    cast.weights = vec![1, 2, 1];
    for (draws, order) in [
        ([0.0, 0.0], [0, 1, 2]),
        ([0.24, 0.99], [0, 2, 1]),
        ([0.25, 0.0], [1, 0, 2]),
        ([0.74, 0.5], [1, 2, 0]),
        ([0.75, 0.34], [2, 1, 0]),
    ] {
        cast.draws = draws.to_vec();
        assert_eq!(cast.order(Strategy::Shuffle), order, "{draws:?}");
    }
    let scores: Vec<_> = cast.ranked(Strategy::Shuffle, &Ranking::default());
    let scores: Vec<_> = scores.into_iter().map(|(at, measure)| (at, measure.and_then(|one| one.score()))).collect();
    assert_eq!(scores, [(2, Some(0.25)), (1, Some(0.5)), (0, Some(0.25))]);
    assert_eq!(Cast::of(3).ranked(Strategy::Shuffle, &Ranking::default())[0].1, None, "no weights, no number");
}

/// Anything that could be known of four steps.
fn cast() -> impl proptest::strategy::Strategy<Value = Cast> {
    let class = prop::sample::select(&[None, Some(Class::Timeout), Some(Class::RateLimit), Some(Class::InvalidOutput)]);
    let record = prop::collection::vec((class, 0..30_usize), 0..3).prop_flat_map(|counts| {
        (Just(counts), 0..10_000_u64).prop_map(|(counts, milliseconds)| record(&counts, milliseconds))
    });
    let price = prop::option::of(prop_oneof![Just(0.0), 0.0..20.0_f64]);
    let one = (record, price, 0..6_usize, prop::option::of(0.0..200.0_f64), 0..9_u32);
    (prop::collection::vec(one, 4), prop::collection::vec(0.0..1.0_f64, 4)).prop_map(|(all, draws)| {
        let uses: Vec<_> = all.iter().map(|one| Some((one.3?, LimitSource::Config))).collect();
        let mut cast = Cast::used(&uses);
        cast.usage.flights = Cast::busy(&all.iter().map(|one| one.2).collect::<Vec<_>>()).usage.flights;
        for (step, one) in cast.steps.iter_mut().zip(&all) {
            step.price = one.1.map(|usd| Price { input: usd, output: usd, cached: None });
        }
        cast.weights = all.iter().map(|one| one.4).collect();
        cast.records = all.into_iter().map(|one| one.0).collect();
        cast.draws = draws;
        cast
    })
}

fn strategy() -> impl proptest::strategy::Strategy<Value = Strategy> {
    prop::sample::select(Strategy::ALL.map(|(_, strategy)| strategy).to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_order_has_each_step_once(cast in cast(), strategy in strategy(), tolerance in 0.0..3.0_f64) {
        let mut order: Vec<usize> =
            cast.ranked(strategy, &Ranking { tolerance, ..Ranking::default() }).into_iter().map(|(at, _)| at).collect();
        order.sort_unstable();
        prop_assert_eq!(order, [0, 1, 2, 3]);
    }

    #[test]
    fn equals_keep_the_order_of_the_ladder(cast in cast(), strategy in strategy(), at in 0..4_usize) {
        // Of the four one is taken four times, and chance does not play.
        let mut same = Cast::of(4);
        same.records = vec![cast.records[at].clone(); 4];
        same.steps.iter_mut().for_each(|step| step.price = cast.steps[at].price);
        same.usage.flights = Cast::busy(&[at; 4]).usage.flights;
        prop_assert_eq!(same.order(strategy), [0, 1, 2, 3]);
    }

    #[test]
    fn without_tolerance_nobody_stands_before_a_better_one(cast in cast()) {
        for strategy in [Strategy::Latency, Strategy::Usage, Strategy::LeastBusy, Strategy::Cost] {
            let ranked = cast.ranked(strategy, &Ranking { tolerance: 0.0, ..Ranking::default() });
            let scores: Vec<f64> = ranked.iter().filter_map(|(_, measure)| measure.as_ref()?.score()).collect();
            // Nothing is left of either: they are equals.
            let scores = scores.into_iter().map(|score| if strategy == Strategy::Usage { score.min(1.0) } else { score });
            prop_assert!(scores.is_sorted(), "{strategy:?}: {ranked:?}");
        }
    }
}
