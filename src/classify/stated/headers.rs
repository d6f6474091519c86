//! Headers of limits: those that belong together make one limit.

use std::time::Duration;

use jiff::Timestamp;

use crate::classify::duration::{self, Hint};
use crate::domain::{Dimension, ResetSource, StatedLimit};

use super::names::{self, Field, Name};
use super::structured::{self, Item};
use super::unit::{MINUTE, Unit, length};
use super::{Context, Found, amount, plans, window_by_reset};

/// How many limits are kept of one answer; more are an attack on our time.
const MOST: usize = 24;

/// The longest value that is read.
const LONGEST: usize = 256;

/// Headers that state parts of one limit.
struct Group {
    unit: Option<Unit>,
    window: Option<u64>,
    usual: Option<u64>,
    which: String,
    limit: Option<f64>,
    remaining: Option<f64>,
    used: Option<f64>,
    reset: Option<Hint>,
    /// The window as a header of its own states it.
    stated_window: Option<Duration>,
    source: String,
}

/// What stands in the headers beside the groups.
#[derive(Default)]
struct Beside<'h> {
    /// Policies that hold, by `ratelimit-policy` and by values that list them.
    policies: Vec<(String, Item<'h>)>,
    /// What is left of the policies, by `ratelimit`.
    states: Vec<Item<'h>>,
    /// Which limit the unnamed headers mean, as GitHub names it.
    kind: Option<&'h str>,
}

/// All limits of the headers, whose names may be in any case.
pub(super) fn read<'h>(headers: impl Iterator<Item = (&'h str, &'h str)>, context: &Context<'_>) -> Vec<Found> {
    let lower: Vec<(String, &str)> = headers
        .filter(|(name, value)| names::may_state(name) && value.len() <= LONGEST)
        .map(|(name, value)| (name.to_ascii_lowercase(), value))
        .collect();
    let mut groups: Vec<Group> = Vec::new();
    let mut beside = Beside::default();
    for (name, value) in &lower {
        match name.as_str() {
            "ratelimit" | "x-ratelimit" => beside.states.extend(structured::items(value)),
            "ratelimit-policy" | "x-ratelimit-policy" => {
                beside.policies.extend(structured::items(value).into_iter().map(|item| (name.clone(), item)));
            }
            "x-ratelimit-type" => beside.kind = Some(value),
            _ => {
                if let Some(read) = names::read(name) {
                    add(&mut groups, &mut beside, &read, name, value, context);
                }
            }
        }
    }
    let mut found = Vec::new();
    plans::read(&lower, context, &mut found);
    found.extend(groups.iter().filter_map(|group| group.finish(&beside, context)));
    found.extend(policies(&beside, &groups, context));
    found
}

fn add<'h>(
    groups: &mut Vec<Group>,
    beside: &mut Beside<'h>,
    read: &Name,
    name: &str,
    value: &'h str,
    context: &Context<'_>,
) {
    let same = |group: &Group| group.unit == read.unit && group.window == read.window && group.which == read.which;
    let at = groups.iter().position(same).or_else(|| {
        (groups.len() < MOST).then(|| {
            groups.push(Group::new(read, name));
            groups.len() - 1
        })
    });
    let Some(group) = at.and_then(|at| groups.get_mut(at)) else { return };
    let number = || number(value);
    match read.field {
        Field::Limit if value.contains(';') => {
            let items = structured::items(value);
            group.limit = group.limit.or_else(|| items.first()?.quota).and_then(amount);
            beside
                .policies
                .extend(items.into_iter().filter(|item| item.window.is_some()).map(|item| (name.to_owned(), item)));
        }
        Field::Limit => group.limit = group.limit.or_else(number),
        // Of two that contradict each other the smaller.
        Field::Remaining => group.remaining = smaller(group.remaining, number()),
        Field::Used => group.used = group.used.or_else(number),
        Field::Reset => group.reset = group.reset.or_else(|| context.times.parse(value.trim())),
        Field::Window => {
            let window = duration::parse_duration(value).filter(|window| !window.is_zero());
            group.stated_window = group.stated_window.or(window);
        }
    }
    if group.limit.is_none() && group.remaining.is_none() {
        name.clone_into(&mut group.source);
    }
}

fn smaller(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// A figure of a header: `100`, `99.5`, `10,000`, `100, 5000` (the first counts).
fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    if let Ok(number) = text.parse::<f64>() {
        return amount(number);
    }
    let (head, rest) = text.split_once(',')?;
    let is_thousand = rest.split(',').all(|part| part.len() == 3 && part.bytes().all(|byte| byte.is_ascii_digit()));
    let whole = if is_thousand { text.replace(',', "") } else { head.trim().to_owned() };
    whole.parse().ok().and_then(amount)
}

impl Group {
    fn new(read: &Name, name: &str) -> Self {
        Self {
            unit: read.unit,
            window: read.window,
            usual: read.usual,
            which: read.which.clone(),
            limit: None,
            remaining: None,
            used: None,
            reset: None,
            stated_window: None,
            source: name.to_owned(),
        }
    }

    fn finish(&self, beside: &Beside<'_>, context: &Context<'_>) -> Option<Found> {
        let kind = beside.kind.filter(|_| self.unit.is_none()).and_then(kind);
        let unit = self.unit.or(kind.map(|kind| kind.0)).unwrap_or(Unit::Requests);
        let (limit, remaining) = self.figures(context)?;
        let after = self.reset.and_then(|reset| wait(reset, context.times.base));
        let stated = self.window.or(kind.and_then(|kind| kind.1)).or_else(|| {
            let listed = || {
                beside
                    .policies
                    .iter()
                    .find(|(_, policy)| same_figure(policy.quota, limit))
                    .and_then(|(_, policy)| policy.window)
            };
            self.stated_window.map(|window| window.as_secs()).or_else(|| whole_seconds(listed()))
        });
        let known = || self.usual.map(Duration::from_secs).or_else(|| self.known(context));
        let seconds =
            stated.or_else(|| window_by_reset(known(), after, limit, remaining).map(|window| window.as_secs()));
        let dimension =
            self.named(remaining, seconds.filter(|_| stated.is_some()), context).or_else(|| unit.dimension(seconds))?;
        let window = stated.or(seconds.filter(|_| dimension == Dimension::Other)).and_then(length);
        let drips = || is_next_drop(after, seconds, limit, remaining) && context.is_bucket(dimension);
        let resets_at = self.reset.and_then(|reset| context.times.moment(reset)).filter(|_| !drips());
        let source = ResetSource::Header(self.source.clone());
        Some(Found { unit, stated: StatedLimit { dimension, limit, remaining, resets_at, window, source } })
    }

    /// The limit and what is left of it; none when the figures are nonsense.
    fn figures(&self, context: &Context<'_>) -> Option<(Option<f64>, Option<f64>)> {
        // No answer comes out of a limit of nothing: such a zero stands for none. In a refusal it may be meant.
        let is_zero = self.limit.is_some_and(|limit| limit <= 0.0);
        if is_zero && (context.answered || self.remaining.is_none_or(|left| left > 0.0)) {
            return None;
        }
        let left = self.remaining.or_else(|| Some((self.limit? - self.used?).max(0.0)));
        let too_much = |left: &f64| self.limit.is_some_and(|limit| *left > limit * 2.0);
        Some((self.limit, left.filter(|left| !too_much(left))))
    }

    /// The window in which the provider is known to count.
    fn known(&self, context: &Context<'_>) -> Option<Duration> {
        match self.unit {
            None => context.windows.plain,
            Some(Unit::Requests) => context.windows.requests,
            Some(Unit::Tokens | Unit::Input | Unit::Output) => context.windows.tokens,
            Some(_) => None,
        }
    }

    /// Unnamed headers that say that nothing is left are of the limit that the words name.
    fn named(&self, remaining: Option<f64>, stated: Option<u64>, context: &Context<'_>) -> Option<Dimension> {
        let is_plain = self.unit.is_none() && stated.is_none() && context.windows.plain.is_none();
        let is_spent = remaining.is_some_and(|left| left < 1.0);
        let window = |named: &Dimension| {
            matches!(
                named,
                Dimension::Rpm
                    | Dimension::Rpd
                    | Dimension::Tpm
                    | Dimension::Tpd
                    | Dimension::Weekly
                    | Dimension::Monthly
            )
        };
        context.named.filter(window).filter(|_| is_plain && is_spent)
    }
}

/// Whether a bucket cannot be full nearly that soon: then the reset is that of the next request alone.
fn is_next_drop(after: Option<Duration>, seconds: Option<u64>, limit: Option<f64>, left: Option<f64>) -> bool {
    let (Some(after), Some(seconds), Some(limit), Some(left)) = (after, seconds, limit, left) else { return false };
    let whole = seconds as f64 * (limit - left) / limit;
    limit > 0.0 && after.as_secs_f64() < whole / 10.0
}

/// What GitHub's `x-ratelimit-type` names: `UserByModelByDay`, `UserConcurrentRequests`.
fn kind(name: &str) -> Option<(Unit, Option<u64>)> {
    const KINDS: &[(&str, Unit, Option<u64>)] = &[
        ("Concurrent", Unit::Concurrency, None),
        ("TokensByDay", Unit::Tokens, Some(super::unit::DAY)),
        ("TokensByMinute", Unit::Tokens, Some(MINUTE)),
        ("ByDay", Unit::Requests, Some(super::unit::DAY)),
        ("ByMinute", Unit::Requests, Some(MINUTE)),
    ];
    KINDS.iter().find(|(part, ..)| name.contains(part)).map(|(_, unit, window)| (*unit, *window))
}

fn wait(reset: Hint, base: Timestamp) -> Option<Duration> {
    match reset {
        Hint::After(after) => Some(after).filter(|after| !after.is_zero()),
        Hint::At(at) => Duration::try_from(at.duration_since(base)).ok().filter(|after| !after.is_zero()),
    }
}

fn same_figure(one: Option<f64>, other: Option<f64>) -> bool {
    one.zip(other).is_some_and(|(one, other)| (one - other).abs() < 0.5)
}

fn whole_seconds(window: Option<f64>) -> Option<u64> {
    duration::from_seconds(window?).map(|window| window.as_secs()).filter(|seconds| *seconds > 0)
}

/// The policies that no group has taken, each with what is said to be left of it.
fn policies<'b>(
    beside: &'b Beside<'_>,
    groups: &'b [Group],
    context: &'b Context<'b>,
) -> impl Iterator<Item = Found> + 'b {
    let taken =
        |policy: &Item<'_>| groups.iter().any(|group| group.unit.is_none() && same_figure(group.limit, policy.quota));
    beside.policies.iter().take(MOST).filter(move |(_, policy)| !taken(policy)).filter_map(|(source, policy)| {
        let shares_a_name = |state: &&Item<'_>| state.names.iter().any(|name| policy.names.contains(name));
        let alone = || beside.states.first().filter(|_| beside.states.len() == 1 && beside.policies.len() == 1);
        let state = beside.states.iter().find(shares_a_name).or_else(alone);
        let unit = match policy.unit {
            None => Unit::Requests,
            Some(unit) => unit.split('-').find_map(Unit::of_word)?,
        };
        let limit = policy.quota.and_then(amount).filter(|limit| *limit > 0.0)?;
        let seconds = whole_seconds(policy.window)?;
        let remaining = state.and_then(|state| state.remaining).and_then(amount).filter(|left| *left <= limit * 2.0);
        let reset = state.and_then(|state| state.reset).and_then(duration::from_seconds);
        let resets_at = reset.and_then(|reset| context.times.moment(Hint::After(reset)));
        let source = ResetSource::Header(source.clone());
        let dimension = unit.dimension(Some(seconds))?;
        let stated =
            StatedLimit { dimension, limit: Some(limit), remaining, resets_at, window: length(seconds), source };
        Some(Found { unit, stated })
    })
}
