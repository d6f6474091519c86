//! Google's quotas: each violation names its quota (`GenerateRequestsPerDayPerProjectPerModel-FreeTier`) and its value.

use serde_json::{Map, Value};

use crate::classify::lenient;
use crate::domain::{ResetSource, StatedLimit};

use super::unit::{DAY, HOUR, MINUTE, Unit, length};
use super::{Found, amount};

/// How deep fields are followed, and how many quotas are kept.
const DEEPEST: usize = 16;
const MOST: usize = 32;

/// The pairs of fields that name a quota, its metric and its value.
const FIELDS: &[(&str, &str, &str)] =
    &[("quotaId", "quotaMetric", "quotaValue"), ("quota_limit", "quota_metric", "quota_limit_value")];

/// Reads the quotas that stand anywhere in the values.
pub(super) fn read(values: &[Value], found: &mut Vec<Found>) {
    for value in values {
        walk(value, 0, found);
    }
}

fn walk(value: &Value, depth: usize, found: &mut Vec<Found>) {
    if depth > DEEPEST || found.len() > MOST {
        return;
    }
    match value {
        Value::Array(items) => items.iter().take(64).for_each(|item| walk(item, depth + 1, found)),
        Value::Object(map) => {
            found.extend(FIELDS.iter().filter_map(|fields| quota(map, fields)));
            map.values().take(128).for_each(|value| walk(value, depth + 1, found));
        }
        // Gateways and libraries put the body into a string of their own.
        Value::String(text) if text.len() < 20_000 && FIELDS.iter().any(|(name, ..)| text.contains(name)) => {
            for inner in lenient::find_values(text) {
                walk(&inner.value, depth + 4, found);
            }
        }
        _ => {}
    }
}

fn quota(map: &Map<String, Value>, (name, metric, value): &(&str, &str, &str)) -> Option<Found> {
    let named = map.get(*name)?.as_str()?;
    let metric = map.get(*metric).and_then(Value::as_str).unwrap_or("");
    // A zero is meant: the plan allows nothing of it.
    let limit = match map.get(*value)? {
        Value::String(text) => text.parse().ok().and_then(amount)?,
        number => number.as_f64().and_then(amount)?,
    };
    let window = window(named)?;
    let unit = unit(named, metric);
    let stated = StatedLimit {
        dimension: unit.dimension(Some(window))?,
        limit: Some(limit),
        remaining: None,
        resets_at: None,
        window: length(window),
        source: ResetSource::Body((*value).to_owned()),
    };
    Some(Found { unit, stated })
}

fn window(name: &str) -> Option<u64> {
    const WINDOWS: &[(&str, u64)] = &[("PerDay", DAY), ("PerHour", HOUR), ("PerMinute", MINUTE)];
    WINDOWS.iter().find(|(part, _)| name.contains(part)).map(|(_, window)| *window)
}

fn unit(name: &str, metric: &str) -> Unit {
    const UNITS: &[(&str, Unit)] = &[
        ("InputToken", Unit::Input),
        ("input_token", Unit::Input),
        ("OutputToken", Unit::Output),
        ("output_token", Unit::Output),
        ("Token", Unit::Tokens),
        ("ImagesPer", Unit::Images),
        ("Requests", Unit::Requests),
        ("token", Unit::Tokens),
    ];
    let of = |text: &str| UNITS.iter().find(|(part, _)| text.contains(part)).map(|(_, unit)| *unit);
    of(name).or_else(|| of(metric)).unwrap_or(Unit::Requests)
}
