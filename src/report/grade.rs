//! How good answers are, for people and as JSON.

use serde_json::{Map, Value, json};

use crate::policy::{Grade, Role};

use super::rank::percent;

/// `valid 92 % of 40, 3 of 4 repaired`
pub(super) fn grade_text(grade: &Grade) -> String {
    let quality = grade.quality;
    let rate = quality.rate().map_or("-".to_owned(), |rate| format!("{} %", percent(rate)));
    let of = if grade.of == Role::All { " in all ladders" } else { "" };
    let repaired = match quality.repairs {
        0 => String::new(),
        tried => format!(", {} of {tried} repaired", quality.repaired),
    };
    format!("valid {rate} of {}{of}{repaired}", quality.judged)
}

/// The fields of the same.
pub(super) fn grade_json(grade: &Grade) -> Map<String, Value> {
    let quality = grade.quality;
    let fields = [
        ("of", json!(grade.of.as_str())),
        ("judged", json!(quality.judged)),
        ("valid", json!(quality.valid)),
        ("rate", json!(quality.rate())),
        ("at_most", json!(quality.at_most())),
        ("passes", json!(quality.passes)),
        ("repairs", json!(quality.repairs)),
        ("repaired", json!(quality.repaired)),
    ];
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
