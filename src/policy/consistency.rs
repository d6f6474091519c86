//! Whether answers to one and the same input agree.
//!
//! A verdict that changes from run to run is no verdict, and neither is one that drifted since it was looked at last. Only
//! what can be compared is compared: the plain values of an answer, each by its JSON pointer. Of numbers the spread counts,
//! which is the largest less the smallest; of everything else the agreement, which is the share of runs that said what most
//! said. A band says how much of either is allowed. Whatever cannot be held against its band is outside of it: a field that
//! a run left out, or a number that once was a word. A run that failed is an answer that agrees with no other: it counts
//! among the runs, says nothing, and so lowers each agreement and leaves every spread unknown.
//!
//! The answer that is handed out is one that was really given, never a mixture: the one that is nearest to what most said,
//! number by number to the median.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// So many values of an answer are compared at most; an answer with more is no verdict.
const MOST_FIELDS: usize = 1000;

/// So deep they are looked for.
const DEEPEST: usize = 32;

/// A limit such as 0.1 has no exact form, and neither has 0.8 - 0.7.
const ROUNDING: f64 = 1e-9;

/// What is allowed of each field, by its JSON pointer; the pointer of the whole answer is empty. For numbers the largest
/// spread, for all else the least agreement from 0 to 1.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Bands(pub BTreeMap<String, f64>);

/// How the values of one field lie.
#[derive(Debug, Clone, PartialEq)]
pub enum Lies {
    /// All that there are are numbers.
    Numbers {
        /// The smallest.
        min: f64,
        /// The one in the middle, or the mean of the two.
        median: f64,
        /// The largest.
        max: f64,
    },
    /// They are words, truth values, nothing, or of several kinds.
    Values {
        /// Each value with how many runs said it, the most frequent first.
        said: Vec<(Value, u32)>,
    },
}

/// One field of all runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Its JSON pointer.
    pub pointer: String,
    /// How many runs have it.
    pub seen: u32,
    /// How many runs there are.
    pub runs: u32,
    /// How its values lie.
    pub lies: Lies,
}

impl Field {
    /// Of numbers the largest less the smallest.
    pub fn spread(&self) -> Option<f64> {
        match &self.lies {
            Lies::Numbers { min, max, .. } => Some(max - min),
            Lies::Values { .. } => None,
        }
    }

    /// The share of all runs that said what most said, 0 to 1; of numbers none.
    pub fn agreement(&self) -> Option<f64> {
        match &self.lies {
            Lies::Numbers { .. } => None,
            Lies::Values { said } => {
                let most = said.first().map_or(0, |(_, count)| *count);
                Some(f64::from(most) / f64::from(self.runs.max(1)))
            }
        }
    }

    /// Whether it stays within the band.
    pub fn is_within(&self, band: f64) -> bool {
        match (&self.lies, self.spread(), self.agreement()) {
            (Lies::Numbers { .. }, Some(spread), _) => self.seen == self.runs && at_most(spread, band),
            // A band for the spread of numbers is none for words.
            (Lies::Values { said }, _, Some(agreement)) => {
                !said.iter().any(|(value, _)| value.is_number()) && at_most(band, agreement)
            }
            _ => false,
        }
    }

    /// What is said of it in the middle: the median, or what most said.
    pub fn middle(&self) -> Option<Value> {
        match &self.lies {
            Lies::Numbers { median, .. } => serde_json::Number::from_f64(*median).map(Value::Number),
            Lies::Values { said } => said.first().map(|(value, _)| value.clone()),
        }
    }
}

/// A field that is outside of its band.
#[derive(Debug, Clone, PartialEq)]
pub struct Breach {
    /// Its JSON pointer.
    pub pointer: String,
    /// What is allowed.
    pub band: f64,
    /// What there is: a spread, a distance or an agreement; none where it cannot be said.
    pub found: Option<f64>,
}

/// Every plain value that one of the answers has, by pointer: first those at the top. Of all runs these answered; those
/// that did not agree with nobody.
pub fn fields_among(answers: &[Value], runs: usize) -> Vec<Field> {
    let all: Vec<BTreeMap<String, Value>> = answers.iter().map(plain).collect();
    let pointers: BTreeSet<&String> = all.iter().flat_map(BTreeMap::keys).collect();
    let runs = u32::try_from(runs.max(answers.len())).unwrap_or(u32::MAX);
    pointers.into_iter().map(|pointer| field(pointer, &all, runs)).collect()
}

/// The same, where each run answered.
pub fn fields(answers: &[Value]) -> Vec<Field> {
    fields_among(answers, answers.len())
}

fn field(pointer: &str, all: &[BTreeMap<String, Value>], runs: u32) -> Field {
    let values: Vec<&Value> = all.iter().filter_map(|answer| answer.get(pointer)).collect();
    let numbers: Vec<f64> = values.iter().filter_map(|value| value.as_f64()).collect();
    let seen = u32::try_from(values.len()).unwrap_or(u32::MAX);
    let is_number = !numbers.is_empty() && numbers.len() == values.len();
    let lies = if is_number { of_numbers(numbers) } else { of_values(&values) };
    Field { pointer: pointer.to_owned(), seen, runs, lies }
}

fn of_numbers(mut all: Vec<f64>) -> Lies {
    all.sort_by(f64::total_cmp);
    let at = |place: usize| all.get(place).copied().unwrap_or(0.0);
    let last = all.len().saturating_sub(1);
    let (low, high) = (at(last / 2), at(all.len() / 2));
    Lies::Numbers { min: at(0), median: low + (high - low) / 2.0, max: at(last) }
}

fn of_values(all: &[&Value]) -> Lies {
    let mut said: Vec<(Value, u32)> = Vec::new();
    for value in all {
        match said.iter_mut().find(|(known, _)| known == *value) {
            Some((_, count)) => *count += 1,
            None => said.push(((*value).clone(), 1)),
        }
    }
    // Of equally many the one that was said first stays first.
    said.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    Lies::Values { said }
}

/// The plain values of an answer by their pointers.
fn plain(answer: &Value) -> BTreeMap<String, Value> {
    let mut all = BTreeMap::new();
    walk(answer, String::new(), 0, &mut all);
    all
}

fn walk(value: &Value, pointer: String, depth: usize, all: &mut BTreeMap<String, Value>) {
    if all.len() >= MOST_FIELDS {
        return;
    }
    match value {
        Value::Object(map) if depth < DEEPEST && !map.is_empty() => {
            for (key, value) in map {
                walk(value, format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1")), depth + 1, all);
            }
        }
        Value::Array(items) if depth < DEEPEST && !items.is_empty() => {
            for (at, value) in items.iter().enumerate() {
                walk(value, format!("{pointer}/{at}"), depth + 1, all);
            }
        }
        other => drop(all.insert(pointer, other.clone())),
    }
}

/// The fields that are outside of their bands; a band for what no answer has is broken.
pub fn breaches(fields: &[Field], bands: &Bands) -> Vec<Breach> {
    let of = |(pointer, band): (&String, &f64)| {
        let field = fields.iter().find(|field| field.pointer == *pointer);
        let found = field.and_then(|field| field.spread().or(field.agreement()));
        let is_within = field.is_some_and(|field| field.is_within(*band));
        (!is_within).then(|| Breach { pointer: pointer.clone(), band: *band, found })
    };
    bands.0.iter().filter_map(of).collect()
}

/// The place of the answer that is nearest to what most said; none of none. The fields that have a band come first, or
/// many words about a verdict would outvote it; of equally near ones the first.
pub fn representative(answers: &[Value], bands: &Bands) -> Option<usize> {
    let fields = fields(answers);
    let distance = |answer: &Value, banded: bool| -> f64 {
        let values = plain(answer);
        let wanted = fields.iter().filter(|field| !banded || bands.0.contains_key(&field.pointer));
        wanted.map(|field| apart(field, values.get(&field.pointer))).sum()
    };
    let distances: Vec<(f64, f64)> =
        answers.iter().map(|answer| (distance(answer, true), distance(answer, false))).collect();
    (0..answers.len()).min_by(|one, other| {
        let of = |at: &usize| distances.get(*at).copied().unwrap_or((f64::INFINITY, f64::INFINITY));
        let ((one, all), (other, others)) = (of(one), of(other));
        one.total_cmp(&other).then(all.total_cmp(&others))
    })
}

/// How far a value is from the middle of its field: 0 to 1.
fn apart(field: &Field, value: Option<&Value>) -> f64 {
    match (&field.lies, value) {
        (_, None) => 1.0,
        (Lies::Numbers { min, median, max }, Some(value)) if max > min => {
            value.as_f64().map_or(1.0, |number| ((number - median).abs() / (max - min)).min(1.0))
        }
        (Lies::Numbers { .. }, Some(_)) => 0.0,
        (Lies::Values { .. }, Some(value)) => f64::from(u8::from(field.middle().as_ref() != Some(value))),
    }
}

/// How a field compares with what was kept of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Drift {
    /// Its JSON pointer.
    pub pointer: String,
    /// What was kept.
    pub before: Value,
    /// What is said now: of several runs the median, or what most said; none when no run says anything.
    pub now: Option<Value>,
    /// Of numbers how far that is from before.
    pub moved: Option<f64>,
    /// Of everything else the share of runs that say the same as before, 0 to 1.
    pub same: Option<f64>,
    /// What is allowed.
    pub band: f64,
}

impl Drift {
    /// Whether it stays within the band.
    pub fn is_within(&self) -> bool {
        match (self.moved, self.same) {
            (Some(moved), _) => at_most(moved, self.band),
            (None, Some(same)) => at_most(self.band, same),
            (None, None) => false,
        }
    }
}

/// Compares the fields with what was kept of those that have a band. What was not kept cannot be compared and is left out.
pub fn drifts(fields: &[Field], before: &BTreeMap<String, Value>, bands: &Bands) -> Vec<Drift> {
    let of = |(pointer, band): (&String, &f64)| {
        let before = before.get(pointer)?.clone();
        let field = fields.iter().find(|field| field.pointer == *pointer);
        Some(drift(pointer, before, field, *band))
    };
    bands.0.iter().filter_map(of).collect()
}

fn drift(pointer: &str, before: Value, field: Option<&Field>, band: f64) -> Drift {
    let now = field.and_then(Field::middle);
    let is_whole = field.is_some_and(|field| field.seen == field.runs);
    let (moved, same) = match (before.as_f64(), field.map(|field| (&field.lies, field.runs))) {
        (Some(before), Some((Lies::Numbers { median, .. }, _))) if is_whole => (Some((median - before).abs()), None),
        (None, Some((Lies::Values { said }, runs))) => {
            let same = said.iter().find(|(value, _)| *value == before).map_or(0, |(_, count)| *count);
            (None, Some(f64::from(same) / f64::from(runs.max(1))))
        }
        _ => (None, None),
    };
    Drift { pointer: pointer.to_owned(), before, now, moved, same, band }
}

fn at_most(found: f64, band: f64) -> bool {
    found <= band + ROUNDING * band.abs().max(1.0)
}
