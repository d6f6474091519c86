//! Texts that are errors or refusals, and answers that look like them, of `fixtures/answers`: what is thrown away, and
//! what is missed. A good answer that is thrown away is lost, so none may be; a bare error that is missed is only seen
//! later.

use std::path::Path;

use serde_json::Value;

use super::*;

fn texts(name: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/answers").join(name).with_extension("jsonl");
    let file = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let text = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{name}: {line}: {error}"));
        line["text"].as_str().expect("a text").to_owned()
    };
    file.lines().map(text).collect()
}

/// Those that are rejected, and those that are not.
fn sorted(name: &str, kind: Reject) -> (Vec<String>, Vec<String>) {
    let is_rejected = |text: &String| {
        let answer = Answer { text: text.clone(), finish: Some(Finish::Stop), ..Answer::default() };
        kinds::of_text(kind, &answer).is_some()
    };
    texts(name).into_iter().partition(is_rejected)
}

fn measure(name: &str, kind: Reject, least: f64) {
    let (found, missed) = sorted(name, kind);
    let (wrong, _) = sorted(&format!("{name}-not"), kind);
    let (hits, all) = (found.len() as f64, (found.len() + missed.len()) as f64);
    let precision = hits / (hits + wrong.len() as f64);
    println!("{name}: precision {precision:.2}, recall {:.2}", hits / all);
    missed.iter().for_each(|text| println!("  missed: {text}"));
    assert!(wrong.is_empty(), "{} good answers are thrown away: {wrong:#?}", wrong.len());
    assert!(hits / all >= least, "of {all} only {hits} are found; missed: {missed:#?}");
}

#[test]
fn the_texts_of_errors_are_told_from_answers_about_them() {
    measure("error_text", Reject::ErrorText, 0.9);
}

#[test]
fn refusals_are_told_from_answers_that_begin_like_them() {
    measure("refusal", Reject::Refusal, 0.9);
}
