//! What goes, what stays, and that a classifier says the same of both.

use std::path::Path;

use super::Standins;
use crate::catalog::Catalog;
use crate::classify::Classifier;
use crate::classify::capture::{self, Format};
use crate::clock::Rng;
use crate::domain::{Evidence, Failure};

fn standins(seed: u64) -> Standins {
    Standins::new(&mut Rng::new(Some(seed)))
}

fn captures() -> Vec<Evidence> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/captures");
    let mut files: Vec<_> = std::fs::read_dir(folder).expect("fixtures").map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    let text: Vec<u8> = files.iter().flat_map(|path| std::fs::read(path).expect("a file")).collect();
    capture::read(&text, Format::Jsonl).into_iter().map(|one| one.expect("a record").evidence).collect()
}

/// What a verdict comes to, without its quote.
fn verdict(failure: &Failure) -> String {
    let Failure { class, scope, dimension, retry_after, retry_at, limits, rule, .. } = failure;
    format!("{class} {scope} {dimension:?} {retry_after:?} {retry_at:?} {limits:?} {rule}")
}

#[test]
fn every_capture_is_classified_as_before() {
    let (classifier, catalog) = (Classifier::default(), Catalog::builtin().expect("a catalogue"));
    let now = "2026-11-15T12:00:00Z".parse().expect("a time");
    let mut wrong = Vec::new();
    for seed in 0..3 {
        let mut standins = standins(seed);
        for original in captures() {
            let body = Evidence { log: String::new(), ..original.clone() };
            let log = Evidence { body: String::new(), ..original.clone() };
            let found = capture::read(original.log.as_bytes(), Format::Text).into_iter().flatten().map(|one| one.evidence);
            for form in [body, log].into_iter().chain(found) {
                let before = verdict(&classifier.classify(&form, &catalog, now));
                let shared = standins.evidence(&form);
                let after = verdict(&classifier.classify(&shared, &catalog, now));
                if before != after {
                    wrong.push(format!("{before}\n{after}\n{form:?}\n{shared:?}\n"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn print_what_changes() {
    let mut standins = standins(0);
    for original in captures() {
        let shared = standins.evidence(&original);
        if shared != original {
            let diff = |a: &str, b: &str| {
                let (mut one, mut two, mut out) = (String::new(), String::new(), Vec::new());
                for (x, y) in a.chars().zip(b.chars()).chain([(' ', ' ')]) {
                    if x.is_whitespace() || ",\"'`<>()".contains(x) {
                        if one != two { out.push(format!("{one} -> {two}")); }
                        one.clear(); two.clear();
                    } else { one.push(x); two.push(y); }
                }
                out
            };
            println!("{:?} {:?} {:?} {:?}", diff(&original.body, &shared.body), diff(&original.log, &shared.log), shared.headers.iter().zip(&original.headers).filter(|(a,b)| a!=b).collect::<Vec<_>>(), shared.model.filter(|m| Some(m) != original.model.as_ref()));
        }
    }
}
