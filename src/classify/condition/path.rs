//! Paths to fields: `error.details[0].reason`, `*.code`, `details[*].reason`.
//!
//! Gateways wrap what a provider says, some of them as JSON within a text, so a path counts from every value that lies
//! anywhere in the evidence: `error.code` also finds the inner error of an outer one.

use serde_json::Value;

use crate::classify::lenient;

/// How deep values within values are looked at.
const MAX_DEPTH: usize = 24;

/// How many values are looked at for one path: a bound for hostile bodies, far above any error.
const MAX_VALUES: usize = 10_000;

/// One step of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step<'p> {
    /// The field of that name.
    Key(&'p str),
    /// The element at that place, from 0.
    Index(usize),
    /// Every field or element.
    Any,
}

impl Step<'_> {
    /// Whether this step goes wherever the other one goes.
    pub(crate) fn includes(self, other: Self) -> bool {
        self == other || self == Self::Any
    }
}

/// Whether a text is a path: names with dots between them, `[0]` for an element, `*` or `[*]` for any field or element.
///
/// # Errors
/// What is wrong with it.
pub fn check_path(path: &str) -> Result<(), String> {
    steps(path).map(drop)
}

/// The steps of a path.
pub(crate) fn steps(path: &str) -> Result<Vec<Step<'_>>, String> {
    let mut found = Vec::new();
    for part in path.strip_prefix("$.").unwrap_or(path).split('.') {
        let (name, mut rest) = part.split_at_checked(part.find('[').unwrap_or(part.len())).unwrap_or((part, ""));
        match name {
            "" if rest.is_empty() => return Err("a name is missing".to_owned()),
            "" => {}
            "*" => found.push(Step::Any),
            name => found.push(Step::Key(name)),
        }
        while !rest.is_empty() {
            let Some((place, after)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) else {
                return Err(format!("`{rest}` has no closing bracket"));
            };
            found.push(match place.parse() {
                _ if place == "*" => Step::Any,
                Ok(place) => Step::Index(place),
                Err(_) => return Err(format!("`[{place}]` is neither a place, counted from 0, nor `[*]`")),
            });
            rest = after;
        }
    }
    Ok(found)
}

/// Whether the path leads to a value that is wanted, from any value in these.
pub(crate) fn leads_to(values: &[Value], steps: &[Step<'_>], wanted: &mut dyn FnMut(&Value) -> bool) -> bool {
    let mut left = MAX_VALUES;
    values.iter().any(|value| from_within(value, steps, 0, &mut left, wanted))
}

fn from_within(
    value: &Value,
    steps: &[Step<'_>],
    depth: usize,
    left: &mut usize,
    wanted: &mut dyn FnMut(&Value) -> bool,
) -> bool {
    if depth > MAX_DEPTH || *left == 0 {
        return false;
    }
    *left -= 1;
    if along(value, steps, wanted) {
        return true;
    }
    match value {
        Value::Array(items) => items.iter().any(|item| from_within(item, steps, depth + 1, left, wanted)),
        Value::Object(map) => map.values().any(|value| from_within(value, steps, depth + 1, left, wanted)),
        Value::String(text) if text.contains(['{', '[']) => {
            let found = lenient::find_values(text);
            found.iter().any(|found| from_within(&found.value, steps, depth + 1, left, wanted))
        }
        _ => false,
    }
}

fn along(value: &Value, steps: &[Step<'_>], wanted: &mut dyn FnMut(&Value) -> bool) -> bool {
    let Some((step, rest)) = steps.split_first() else { return wanted(value) };
    match (step, value) {
        (Step::Key(name), Value::Object(map)) => map.get(*name).is_some_and(|value| along(value, rest, wanted)),
        (Step::Index(place), Value::Array(items)) => items.get(*place).is_some_and(|value| along(value, rest, wanted)),
        (Step::Any, Value::Array(items)) => items.iter().any(|value| along(value, rest, wanted)),
        (Step::Any, Value::Object(map)) => map.values().any(|value| along(value, rest, wanted)),
        _ => false,
    }
}
