//! Every limit that an answer states, whether it succeeded or not.
//!
//! A failure says which limit was hit; what is left of the others, and of all of them after a success, stands in headers
//! whose names differ by provider and do not always say what they count. So a name is read as words (what is stated, of
//! which unit, in which window), and what it leaves open is filled from what is known: the window that the answer states,
//! the catalogue's word for the provider, or the reset, which lies within its window. Where none of them tells a minute
//! from a day the limit is left out: a wrong figure would bench a healthy deployment or hammer a spent one.
//!
//! Of several statements of one limit the one with the least left counts, because the tightest stops the next request.

mod google;
mod headers;
mod names;
mod plans;
mod structured;
#[cfg(test)]
mod tests;
mod unit;
mod words;

use std::time::Duration;

use jiff::Timestamp;

use crate::catalog::{Catalog, HeaderWindows, ResetClock};
use crate::domain::{Dimension, Evidence, ModelName, ProviderName, StatedLimit};

use super::answer::Answered;
use super::signals::Signals;
use super::times::{Times, zone_of};
use super::{extent, provider};
use unit::Unit;

/// The largest figure that is believed; what is larger stands for no limit at all.
const LARGEST: f64 = 1e12;

/// How far at the start and at the end of a success one looks for the word for an error, in bytes.
const EDGE: usize = 2048;

/// A limit with what it counts, which [`Dimension::Other`] does not tell.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    unit: Unit,
    stated: StatedLimit,
}

/// What headers are read against.
struct Context<'a> {
    times: Times,
    /// In which time the provider's headers count.
    windows: HeaderWindows,
    /// Whether the request was answered: then no limit can be zero.
    answered: bool,
    /// The limit that the words of the failure name.
    named: Option<Dimension>,
    catalog: &'a Catalog,
    provider: Option<ProviderName>,
    model: Option<&'a ModelName>,
}

/// Every limit that the answer states: by its headers, and if it is a failure also by its fields and words. `now` is the
/// time of the answer where the evidence does not say it. Each dimension occurs once, [`Dimension::Other`] once for each
/// window; the order is that of the answer. Empty when nothing is stated, for any bytes.
pub fn stated_limits(evidence: &Evidence, catalog: &Catalog, now: Timestamp) -> Vec<StatedLimit> {
    let answered = evidence.status.is_some_and(|status| (200..300).contains(&status));
    if answered && !tells_of_an_error(&evidence.body) {
        return in_headers(evidence, catalog, now);
    }
    let signals = Signals::read(evidence, catalog);
    // What stands in an answer are the model's words.
    if answered && matches!(signals.answered, Some(Answered::Words(_) | Answered::Length)) {
        return in_headers(evidence, catalog, now);
    }
    let zone = zone_of(signals.provider.as_deref(), &signals.raw);
    let times = Times::of(evidence, signals.header("date"), zone, now);
    let mut context = Context::new(evidence, signals.provider.as_deref(), catalog, times);
    context.answered = false;
    context.named = signals.layers.iter().find_map(|read| extent::named(&read.words));
    let mut found =
        headers::read(signals.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())), &context);
    google::read(&signals.values, &mut found);
    words::read(&signals, &context.times, &mut found);
    tightest(found)
}

fn in_headers(evidence: &Evidence, catalog: &Catalog, now: Timestamp) -> Vec<StatedLimit> {
    if !evidence.headers.iter().any(|(name, _)| names::may_state(name)) {
        return Vec::new();
    }
    let recognised = if evidence.provider.is_none() { provider::recognise(evidence, "", catalog) } else { None };
    let name = evidence.provider.as_ref().map(ProviderName::as_str).or(recognised.as_deref());
    let times = Times::of(evidence, evidence.header("date"), zone_of(name, ""), now);
    let context = Context::new(evidence, name, catalog, times);
    let pairs = evidence.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    tightest(headers::read(pairs, &context))
}

impl<'a> Context<'a> {
    fn new(evidence: &'a Evidence, provider: Option<&str>, catalog: &'a Catalog, times: Times) -> Self {
        let provider = provider.map(ProviderName::new);
        let windows = provider.as_ref().and_then(|name| catalog.provider(name)).map(|info| info.windows);
        let (windows, model) = (windows.unwrap_or_default(), evidence.model.as_ref());
        Self { times, windows, answered: true, named: None, catalog, provider, model }
    }

    /// Whether the limit is a bucket that fills all the time.
    fn is_bucket(&self, dimension: Dimension) -> bool {
        let clock = self.provider.as_ref().and_then(|name| self.catalog.reset_clock(name, self.model, dimension));
        clock.is_some_and(|cap| matches!(cap.reset, ResetClock::Refill { .. }))
    }
}

/// Whether a success may carry an error. Errors are short or end a stream, so the middle of a long answer is not read.
fn tells_of_an_error(body: &str) -> bool {
    let boundary = |at: usize| (0..=at).rev().find(|at| body.is_char_boundary(*at)).unwrap_or(0);
    let (head, rest) = body.split_at_checked(boundary(EDGE.min(body.len()))).unwrap_or_default();
    let tail = rest.get(boundary(body.len().saturating_sub(EDGE)).saturating_sub(head.len())..).unwrap_or_default();
    let says = |part: &str| {
        part.match_indices("\"error").take(8).any(|(at, word)| {
            let value = part.get(at + word.len()..).unwrap_or_default();
            !["\":null", "\": null"].iter().any(|none| value.starts_with(none))
        })
    };
    says(head) || says(tail)
}

/// One entry for each limit: the tightest statement, completed from others that agree with it.
fn tightest(found: Vec<Found>) -> Vec<StatedLimit> {
    let mut kept: Vec<Found> = Vec::new();
    for new in found.into_iter().take(256) {
        match kept.iter_mut().find(|old| old.is_the_same(&new)) {
            Some(old) if new.is_tighter_than(old) => {
                let old = std::mem::replace(old, new);
                if let Some(kept) = kept.iter_mut().find(|kept| kept.is_the_same(&old)) {
                    kept.complete(&old.stated);
                }
            }
            Some(old) => old.complete(&new.stated),
            None => kept.push(new),
        }
    }
    kept.retain(|found| found.stated.limit.is_some() || found.stated.remaining.is_some());
    kept.into_iter().map(|found| found.stated).collect()
}

impl Found {
    fn is_the_same(&self, other: &Self) -> bool {
        let is_other = self.stated.dimension == Dimension::Other;
        self.stated.dimension == other.stated.dimension
            && (!is_other || (self.unit == other.unit && self.stated.window == other.stated.window))
    }

    /// Whether less is left; what is left says more than how much there is.
    fn is_tighter_than(&self, other: &Self) -> bool {
        match (self.stated.remaining, other.stated.remaining) {
            (Some(new), Some(old)) => new < old,
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (None, None) => match (self.stated.limit, other.stated.limit) {
                (Some(new), Some(old)) => new < old,
                (new, old) => new.is_some() && old.is_none(),
            },
        }
    }

    /// Takes what is missing from another statement of the same limit, unless that one has another size.
    fn complete(&mut self, other: &StatedLimit) {
        let stated = &mut self.stated;
        let agree = match (stated.limit, other.limit) {
            (Some(own), Some(other)) => (own - other).abs() < 0.5,
            _ => true,
        };
        if agree {
            stated.limit = stated.limit.or(other.limit);
            stated.remaining = stated.remaining.or(other.remaining);
            stated.resets_at = stated.resets_at.or(other.resets_at);
            stated.window = stated.window.or(other.window);
        }
    }
}

/// A figure that can be meant; none when it is negative, no number, or so large that it stands for no limit.
fn amount(number: f64) -> Option<f64> {
    (number.is_finite() && (0.0..=LARGEST).contains(&number)).then_some(number)
}

/// How long the window is when its name does not say it: as the provider is known to count, unless the reset lies too
/// far ahead for that, or as the reset says.
fn window_by_reset(
    known: Option<Duration>,
    after: Option<Duration>,
    limit: Option<f64>,
    left: Option<f64>,
) -> Option<Duration> {
    const MINUTE: f64 = 60.0;
    const DAY: f64 = 86_400.0;
    let day = Duration::from_secs(86_400);
    let Some(after) = after.map(|after| after.as_secs_f64()) else { return known };
    if known.is_some_and(|known| after <= known.as_secs_f64() * 1.1) {
        return known;
    }
    // A bucket that is full after `after` holds as much as flows in meanwhile: so long would it take when empty.
    let whole = match (limit, left) {
        (Some(limit), Some(left)) if limit > left && limit > 0.0 => Some(after * limit / (limit - left)),
        _ => None,
    };
    let fills_in_a_day = whole.is_some_and(|whole| (whole - DAY).abs() < DAY * 0.1);
    match after {
        _ if after > DAY * 1.05 => None,
        _ if after > 600.0 || (after > MINUTE * 1.5 && fills_in_a_day) => Some(day),
        _ if known.is_some() => known,
        _ if after <= MINUTE + 1.0 && !fills_in_a_day => Some(Duration::from_secs(60)),
        _ => None,
    }
}
