//! The files of `fixtures/logs`, as people have them: what is found in them, where, and that nothing is found where
//! nothing failed.

use std::path::Path;

use serde_json::Value;

use super::{Capture, Format, Reading, read};
use crate::catalog::Catalog;
use crate::classify::Classifier;

/// Counts over all files, with what went wrong.
#[derive(Default)]
struct Figures {
    failures: usize,
    found: usize,
    right: usize,
    extra: usize,
    healthy: usize,
    quiet: usize,
    told: Vec<String>,
}

impl Figures {
    fn file(&mut self, name: &str, wanted: &[Value], mut found: Vec<Capture>) {
        if wanted.is_empty() {
            self.healthy += 1;
            self.quiet += usize::from(found.is_empty());
            if !found.is_empty() {
                self.told.push(format!("{name}: {} failures in a file without any", found.len()));
            }
            return;
        }
        for one in wanted {
            self.failures += 1;
            let line = |key: &str| usize::try_from(one[key].as_u64().expect("a line")).expect("small");
            let overlaps = |capture: &Capture| capture.line <= line("end_line") && capture.end_line >= line("line");
            let Some(at) = found.iter().position(overlaps) else {
                self.told.push(format!("{name}: {} in line {} is not found", one["class"], one["line"]));
                continue;
            };
            self.found += 1;
            self.class(name, one, &found.remove(at));
        }
        self.extra += found.len();
        self.told.extend(found.iter().map(|capture| format!("{name}: line {} is told as well", capture.line)));
    }

    fn class(&mut self, name: &str, wanted: &Value, capture: &Capture) {
        let now = "2026-11-15T12:00:00Z".parse().expect("a time");
        let failure = Classifier::default().classify(&capture.evidence, &Catalog::default(), now);
        let class = failure.class.as_str();
        let also = wanted["also"].as_array().into_iter().flatten();
        let right = also.chain([&wanted["class"]]).any(|one| one.as_str() == Some(class));
        self.right += usize::from(right);
        if !right {
            self.told.push(format!("{name}: {} taken for {class} by {}", wanted["class"], failure.rule));
        }
    }
}

#[test]
fn failures_are_found_in_files_as_people_have_them() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/logs");
    let index = std::fs::read_to_string(folder.join("expected.jsonl")).expect("an index");
    let reading = Reading::at("2026-11-15T12:00:00Z".parse().expect("a time"));
    let mut figures = Figures::default();
    for line in index.lines() {
        let entry: Value = serde_json::from_str(line).expect("JSON");
        let name = entry["file"].as_str().expect("a name");
        let text = std::fs::read(folder.join(name)).expect("a file");
        let found = read(&text, Format::Auto, &reading).into_iter().map(|one| one.expect("readable")).collect();
        figures.file(name, entry["failures"].as_array().expect("a list"), found);
    }
    let Figures { failures, found, right, extra, healthy, quiet, told } = figures;
    println!("{found} of {failures} found, {right} right, {extra} too many; {quiet} of {healthy} healthy files quiet");
    println!("{}", told.join("\n"));
    assert_eq!(quiet, healthy, "{told:?}");
    assert!(found * 100 >= failures * 98 && right * 100 >= failures * 97 && extra <= 2, "{told:?}");
}
