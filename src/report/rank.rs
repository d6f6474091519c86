//! What gave a step its place, for people.

use std::time::Duration;

use jiff::Timestamp;

use crate::ladder::{Cost, LatencyOf, Measure, Served, Standing};
use crate::policy::Times;

use super::moment::{distance, span};

/// What gave the step its place: what its strategy measured, and whether it served the prompt's beginning. None when it
/// stands where it was written.
pub(super) fn why(standing: &Standing, now: Timestamp) -> Option<String> {
    let measure = standing.measure.as_ref().map(measure);
    let served = standing.served.as_ref().map(|served| self::served(served, now));
    let parts: Vec<String> = measure.into_iter().chain(served).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn measure(measure: &Measure) -> String {
    match measure {
        Measure::Weight(weight, of) => format!("weight {weight} of {of}"),
        Measure::Latency(of, times, attempts) => latency(measure, *of, *times, *attempts),
        Measure::Usage(None) => "no limit known".to_owned(),
        Measure::Usage(Some((dimension, share))) => format!("{} % of {dimension} used", percent(*share)),
        Measure::Busy(flights) => format!("{flights} under way"),
        Measure::Cost(None) => "price not known, so last".to_owned(),
        Measure::Cost(Some(cost)) => self::cost(cost),
    }
}

/// `p95 ttft 420ms of 57`
fn latency(measure: &Measure, of: LatencyOf, times: Option<Times>, attempts: u32) -> String {
    let what = match of {
        LatencyOf::Ttft => "ttft",
        LatencyOf::Total => "total",
    };
    let answers = times.map_or(0, |times| times.samples);
    match times.and_then(|times| times.usual()) {
        Some(usual) => format!("p95 {what} {} of {answers}", short(usual)),
        None if measure.is_new() => format!("{what} not known yet, so first"),
        None => format!("{answers} of {attempts} attempts answered, so last"),
    }
}

/// `$0.0016 a good answer: $0.0010 x 1.10 + 2 % repaired + 4 % x $0.0110 elsewhere, of 57`
fn cost(cost: &Cost) -> String {
    let Cost { price, attempts, repairs, fails, otherwise, samples } = cost;
    let (repairs, fails) = (percent(*repairs), percent(*fails));
    let of = if *samples == 0 { "not asked yet".to_owned() } else { format!("of {samples}") };
    format!(
        "${} a good answer: ${} x {attempts:.2} + {repairs} % repaired + {fails} % x ${} elsewhere, {of}",
        usd(cost.usd()),
        usd(*price),
        usd(*otherwise)
    )
}

/// `served this beginning 2m ago, 83 % from the cache`
fn served(served: &Served, now: Timestamp) -> String {
    let cached = served.cached.map_or(String::new(), |share| format!(", {} % from the cache", percent(share)));
    format!("served this beginning {}{cached}", distance(served.at, now))
}

/// Whole ones, but never none where there is something, nor all where something is missing.
pub(super) fn percent(share: f64) -> u64 {
    let whole = (share * 100.0).round();
    if share > 0.0 && whole < 1.0 {
        1
    } else if share < 1.0 && whole >= 100.0 {
        99
    } else {
        whole as u64
    }
}

/// At least two digits that say something, down to a millionth.
fn usd(usd: f64) -> String {
    let digits = if usd == 0.0 { 0 } else { usize::try_from((1.0 - usd.abs().log10().floor()) as i64).unwrap_or(0) };
    format!("{usd:.*}", digits.clamp(if usd == 0.0 { 0 } else { 4 }, 8))
}

/// Milliseconds below a second, tenths below ten.
fn short(length: Duration) -> String {
    match length.as_millis() {
        1_000..10_000 => format!("{:.1}s", length.as_secs_f64()),
        _ => span(length),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Dimension;

    fn now() -> Timestamp {
        "2026-08-23T03:00:00Z".parse().expect("a time")
    }

    #[test]
    fn every_measure_is_told_in_words() {
        let times = |milliseconds, samples| Times {
            median: Duration::from_millis(1),
            p95: Duration::from_millis(milliseconds),
            samples,
        };
        let cost = Cost { price: 0.001, attempts: 1.1, repairs: 0.02, fails: 0.04, otherwise: 0.011, samples: 57 };
        for (measure, told) in [
            (Measure::Weight(3, 4), "weight 3 of 4"),
            (Measure::Latency(LatencyOf::Ttft, Some(times(420, 57)), 60), "p95 ttft 420ms of 57"),
            (Measure::Latency(LatencyOf::Total, Some(times(2_350, 5)), 5), "p95 total 2.4s of 5"),
            (Measure::Latency(LatencyOf::Ttft, Some(times(420, 4)), 4), "ttft not known yet, so first"),
            (Measure::Latency(LatencyOf::Ttft, None, 0), "ttft not known yet, so first"),
            (Measure::Latency(LatencyOf::Total, Some(times(420, 2)), 50), "2 of 50 attempts answered, so last"),
            (Measure::Usage(Some((Dimension::Rpd, 0.372))), "37 % of rpd used"),
            (Measure::Usage(Some((Dimension::Rpd, 0.001))), "1 % of rpd used"),
            (Measure::Usage(None), "no limit known"),
            (Measure::Busy(2), "2 under way"),
            (Measure::Cost(None), "price not known, so last"),
            (
                Measure::Cost(Some(cost)),
                "$0.0016 a good answer: $0.0010 x 1.10 + 2 % repaired + 4 % x $0.0110 elsewhere, of 57",
            ),
        ] {
            let standing = Standing { measure: Some(measure), ..Standing::default() };
            assert_eq!(why(&standing, now()).as_deref(), Some(told));
        }
        assert_eq!(why(&Standing::default(), now()), None);
    }

    #[test]
    fn who_served_the_beginning_is_told_with_what_its_cache_gave() {
        let at = now() - Duration::from_secs(120);
        let measure = Some(Measure::Busy(0));
        for (cached, told) in [
            (Some(0.83), "0 under way; served this beginning 2m ago, 83 % from the cache"),
            (None, "0 under way; served this beginning 2m ago"),
        ] {
            let standing = Standing { measure, served: Some(Served { at, cached }), ..Standing::default() };
            assert_eq!(why(&standing, now()).as_deref(), Some(told));
        }
    }

    #[test]
    fn small_sums_keep_two_digits() {
        for (sum, told) in
            [(0.0, "0"), (0.0012, "0.0012"), (0.5, "0.5000"), (12.0, "12.0000"), (0.000_012_3, "0.000012")]
        {
            assert_eq!(usd(sum), told);
        }
    }
}
