//! Fields, bands, drift and the answer that stands for all, by hand and by chance.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::consistency::*;

fn bands(all: &[(&str, f64)]) -> Bands {
    Bands(all.iter().map(|(pointer, band)| ((*pointer).to_owned(), *band)).collect())
}

fn broken(answers: &[Value], all: &[(&str, f64)]) -> Vec<String> {
    breaches(&fields(answers), &bands(all)).into_iter().map(|breach| breach.pointer).collect()
}

#[test]
fn every_kind_of_field_is_held_against_its_band() {
    let same = json!({"score": 0.7, "verdict": "pass", "ok": true});
    let other = json!({"score": 0.8, "verdict": "fail", "ok": true});
    let answers = [same.clone(), other, same];
    for (band, within) in [
        (("/score", 0.1), true),
        (("/score", 0.09), false),
        (("/verdict", 0.66), true),
        (("/verdict", 0.67), false),
        (("/ok", 1.0), true),
        (("/nowhere", 0.0), false),
    ] {
        assert_eq!(broken(&answers, &[band]).is_empty(), within, "{band:?}");
    }
    for (what, answers, band) in [
        ("a field that one left out", vec![json!({"s": 1}), json!({})], ("/s", 9.0)),
        ("a number that once is a word", vec![json!({"s": 1}), json!({"s": "1"})], ("/s", 0.5)),
    ] {
        assert_eq!(broken(&answers, &[band]), ["/s"], "{what}");
    }
    assert!(broken(&[json!({"a": "x"}), json!({})], &[("/a", 0.5)]).is_empty());
    assert_eq!(broken(&[json!(4), json!(9)], &[("", 5.0)]), Vec::<String>::new());
}

#[test]
fn numbers_have_a_median_and_words_a_majority() {
    let answers = [json!({"n": 1, "w": "a"}), json!({"n": 10, "w": "b"}), json!({"n": 2, "w": "b"}), json!({"n": 3})];
    let found = fields(&answers);
    assert_eq!(found[0].lies, Lies::Numbers { min: 1.0, median: 2.5, max: 10.0 });
    assert_eq!((found[1].agreement(), found[1].seen, found[1].runs), (Some(0.5), 3, 4));
    assert_eq!(found[1].middle(), Some(json!("b")));
    let none = Bands::default();
    assert_eq!(representative(&answers, &none), Some(2), "the one that says b and is near the middle");
    let wordy =
        [json!({"n": 1, "w": "b", "x": "b"}), json!({"n": 5, "w": "a", "x": "a"}), json!({"n": 9, "w": "b", "x": "b"})];
    assert_eq!((representative(&wordy, &none), representative(&wordy, &bands(&[("/n", 1.0)]))), (Some(0), Some(1)));
    let deep = fields(&[json!({"a/b": [{"~": null}], "e": [], "o": {}})]);
    let names: Vec<&str> = deep.iter().map(|field| field.pointer.as_str()).collect();
    assert_eq!(names, ["/a~1b/0/~0", "/e", "/o"]);
}

#[test]
fn what_was_kept_is_compared_with_what_is_said_now() {
    let before: BTreeMap<String, Value> =
        [("/score".to_owned(), json!(0.7)), ("/verdict".to_owned(), json!("pass"))].into();
    let all = bands(&[("/score", 0.1), ("/verdict", 1.0), ("/new", 0.0)]);
    let drifted = |answers: &[Value]| -> Vec<String> {
        let found = drifts(&fields(answers), &before, &all);
        assert_eq!(found.len(), 2, "what was not kept is left out");
        found.into_iter().filter(|drift| !drift.is_within()).map(|drift| drift.pointer).collect()
    };
    assert!(drifted(&[json!({"score": 0.8, "verdict": "pass"})]).is_empty());
    assert_eq!(drifted(&[json!({"score": 0.81, "verdict": "fail"})]), ["/score", "/verdict"]);
    assert_eq!(drifted(&[json!({"verdict": "pass"})]), ["/score"]);
    assert_eq!(drifted(&[json!({"score": "0.7", "verdict": "pass"})]), ["/score"]);
    let pair = [json!({"score": 0.5, "verdict": "pass"}), json!({"score": 0.9, "verdict": "fail"})];
    assert_eq!(drifted(&pair), ["/verdict"], "the median is where it was");
}

fn answer() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-50_i64..50).prop_map(Value::from),
        (-1.0..1.0_f64).prop_map(Value::from),
        "[a-c]{0,2}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[a-c/~]{1,2}", inner, 0..3)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    /// What is the same in each run agrees wholly, whatever the bands; every pointer leads to the value; the middle lies
    /// between the ends; and the order of the runs changes nothing that is told.
    #[test]
    fn any_answers_are_compared_soundly(answers in prop::collection::vec(answer(), 1..6), times in 1_usize..5) {
        let same = vec![answers[0].clone(); times];
        for field in fields(&same) {
            prop_assert!(field.spread().is_none_or(|spread| spread == 0.0), "{field:?}");
            prop_assert!(field.agreement().is_none_or(|agreement| (agreement - 1.0).abs() < 1e-12), "{field:?}");
            let band = if field.spread().is_some() { 0.0 } else { 1.0 };
            prop_assert!(field.is_within(band), "{field:?}");
        }
        let found = fields(&answers);
        for field in &found {
            let seen = answers.iter().filter(|answer| {
                answer.pointer(&field.pointer).is_some_and(|value| {
                    !value.is_object() && !value.is_array() || value.as_array().is_some_and(Vec::is_empty)
                        || value.as_object().is_some_and(serde_json::Map::is_empty)
                })
            });
            prop_assert_eq!(seen.count(), field.seen as usize, "{}", field.pointer);
            if let Lies::Numbers { min, median, max } = field.lies {
                prop_assert!(min <= median && median <= max);
            }
            if let Lies::Values { said } = &field.lies {
                prop_assert_eq!(said.iter().map(|(_, count)| count).sum::<u32>(), field.seen);
            }
            prop_assert!(field.agreement().is_none_or(|share| (0.0..=1.0).contains(&share)));
        }
        let backwards: Vec<Value> = answers.iter().rev().cloned().collect();
        for (one, other) in found.iter().zip(fields(&backwards)) {
            prop_assert_eq!((&one.pointer, one.seen, one.spread(), one.agreement()),
                (&other.pointer, other.seen, other.spread(), other.agreement()));
        }
        let bands = bands(&[("/a", 1.0), ("", 0.0)]);
        prop_assert!(representative(&answers, &bands).is_some_and(|at| at < answers.len()));
    }

    /// A wider band never breaks what a narrower one keeps.
    #[test]
    fn wider_bands_keep_more(answers in prop::collection::vec(answer(), 1..5), band in 0.0..1.0_f64, more in 0.0..1.0_f64) {
        for field in fields(&answers) {
            let (narrow, wide) = match field.lies {
                Lies::Numbers { .. } => (band, band + more),
                Lies::Values { .. } => (band, (band - more).max(0.0)),
            };
            prop_assert!(!field.is_within(narrow) || field.is_within(wide), "{field:?}");
        }
    }
}
