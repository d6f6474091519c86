//! The captured failures of `fixtures/captures`, against the whole classifier.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use serde_json::Value;

use super::capture::{self, Format, Reading};
use super::{Classifier, rules};
use crate::catalog::Catalog;
use crate::domain::{Class, Evidence, Failure};

/// One labelled capture.
struct Labelled {
    name: String,
    evidence: Evidence,
    /// The class, and those that could be defended from the same evidence.
    classes: Vec<Class>,
    scope: Option<String>,
    dimension: Option<String>,
    retry_after: Option<f64>,
    misleading: bool,
}

fn now() -> jiff::Timestamp {
    "2026-11-15T12:00:00Z".parse().expect("a time")
}

fn labelled() -> Vec<Labelled> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/captures");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).expect("fixtures").map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    files
        .iter()
        .flat_map(|path| std::fs::read(path).expect("a file"))
        .collect::<Vec<u8>>()
        .split(|b| *b == b'\n')
        .filter(|line| !line.is_empty())
        .map(one)
        .collect()
}

fn one(line: &[u8]) -> Labelled {
    let capture = capture::read(line, Format::Jsonl, &Reading::at(now())).pop().expect("a record").expect("readable");
    let value: Value = serde_json::from_slice(line).expect("JSON");
    let expect = &value["expect"];
    let class = |value: &Value| value.as_str().expect("a class").parse::<Class>().expect("a class");
    let mut classes = vec![class(&expect["class"])];
    classes.extend(expect["also"].as_array().into_iter().flatten().map(class));
    let word = |key: &str| expect[key].as_str().map(str::to_owned);
    Labelled {
        name: value["name"].as_str().expect("a name").to_owned(),
        evidence: capture.evidence,
        classes,
        scope: word("scope"),
        dimension: word("dimension"),
        retry_after: expect["retry_after_s"].as_f64(),
        misleading: expect["misleading"].as_bool().unwrap_or(false),
    }
}

/// Counts of right answers, with what went wrong.
#[derive(Default)]
struct Figures {
    cases: usize,
    right: usize,
    strict: usize,
    hints: usize,
    hints_right: usize,
    scopes: usize,
    scopes_right: usize,
    dimensions: usize,
    dimensions_right: usize,
    confusion: BTreeMap<(Class, Class), usize>,
    misses: String,
    costly: Vec<String>,
}

impl Figures {
    fn add(&mut self, case: &Labelled, failure: &Failure) {
        let class = failure.class;
        self.cases += 1;
        let right = case.classes.contains(&class);
        self.right += usize::from(right);
        self.strict += usize::from(case.classes[0] == class);
        *self.confusion.entry((case.classes[0], class)).or_default() += 1;
        if !right {
            let _ = writeln!(self.misses, "{}: {} taken for {class} by {}", case.name, case.classes[0], failure.rule);
            if is_costly(case.classes[0], class) {
                self.costly.push(case.name.clone());
            }
        }
        self.add_details(case, failure);
    }

    fn add_details(&mut self, case: &Labelled, failure: &Failure) {
        if let Some(scope) = &case.scope {
            self.scopes += 1;
            let right = failure.scope.as_str() == scope;
            self.scopes_right += usize::from(right);
            if !right {
                let _ = writeln!(
                    self.misses,
                    "{}: scope {scope} taken for {} by {}",
                    case.name, failure.scope, failure.rule
                );
            }
        }
        if let Some(dimension) = case.dimension.as_deref().filter(|dimension| *dimension != "other") {
            self.dimensions += 1;
            let got = failure.dimension.map_or("none", |dimension| dimension.as_str());
            self.dimensions_right += usize::from(got == dimension);
            if got != dimension {
                let _ =
                    writeln!(self.misses, "{}: dimension {dimension} taken for {got} by {}", case.name, failure.rule);
            }
        }
        let got = failure.retry_after.map(|after| after.as_secs_f64());
        let wanted = if case.misleading { None } else { case.retry_after };
        if wanted.is_some() || got.is_some() {
            self.hints += 1;
            let close = |wanted: f64, got: f64| (wanted - got).abs() <= (wanted * 0.1).max(2.0);
            let right = matches!((wanted, got), (Some(wanted), Some(got)) if close(wanted, got));
            self.hints_right += usize::from(right);
            if !right {
                let _ = writeln!(self.misses, "{}: hint {wanted:?} taken for {got:?}", case.name);
            }
        }
    }

    fn print(&self, title: &str) {
        println!(
            "{title}: {} of {} ({} strictly), hints {}/{}, scopes {}/{}, dimensions {}/{}",
            self.right,
            self.cases,
            self.strict,
            self.hints_right,
            self.hints,
            self.scopes_right,
            self.scopes,
            self.dimensions_right,
            self.dimensions
        );
        for wanted in Class::ALL {
            let row: Vec<String> = Class::ALL
                .iter()
                .filter_map(|got| self.confusion.get(&(*wanted, *got)).map(|count| format!("{got} {count}")))
                .collect();
            println!("  {wanted:<18} {}", row.join(", "));
        }
        println!("{}", self.misses);
    }
}

/// The mistakes that hurt: hammering what is dead, benching what is healthy, stopping when another could serve.
fn is_costly(wanted: Class, got: Class) -> bool {
    let is_long = |class: Class| class.needs_a_person() || class == Class::QuotaExhausted;
    let is_short = |class: Class| {
        matches!(class, Class::RateLimit | Class::Overloaded | Class::ServerError | Class::Timeout | Class::Network)
    };
    (is_long(wanted) && is_short(got)) || (wanted.is_the_requests_fault() && is_long(got))
}

#[test]
fn captures_from_the_wire_are_classified() {
    let classifier = Classifier::default();
    let mut figures = Figures::default();
    for case in labelled() {
        let mut evidence = case.evidence.clone();
        if !evidence.body.is_empty() {
            evidence.log.clear();
        }
        figures.add(&case, &classifier.classify(&evidence, &Catalog::default(), now()));
    }
    figures.print("wire");
    assert_eq!(figures.costly, [""; 0], "costly mistakes");
    assert!(figures.right * 1000 >= figures.cases * 998, "{} of {}", figures.right, figures.cases);
    assert!(figures.hints_right * 100 >= figures.hints * 98);
    assert!(figures.scopes_right * 100 >= figures.scopes * 94);
    assert!(figures.dimensions_right * 100 >= figures.dimensions * 93);
}

#[test]
fn captures_in_log_text_are_found_and_classified() {
    let classifier = Classifier::default();
    let mut figures = Figures::default();
    let mut counts = Vec::new();
    for case in labelled().into_iter().filter(|case| !case.evidence.log.is_empty()) {
        let found = capture::read(format!("{}\n", case.evidence.log).as_bytes(), Format::Text, &Reading::at(now()));
        if found.len() != 1 {
            counts.push(format!("{}: {} failures", case.name, found.len()));
        }
        let Some(Ok(last)) = found.last() else { continue };
        figures.add(&case, &classifier.classify(&last.evidence, &Catalog::default(), now()));
    }
    figures.print("log");
    println!("{}", counts.join("\n"));
    assert_eq!(figures.costly, [""; 0], "costly mistakes");
    assert!(counts.len() <= 1, "one failure each: {counts:?}");
    assert!(figures.right * 1000 >= figures.cases * 995, "{} of {}", figures.right, figures.cases);
}

#[test]
fn rule_names_are_unique_and_phrases_can_match() {
    let mut names = BTreeSet::new();
    for rule in rules::all() {
        assert!(names.insert(rule.name), "{} twice", rule.name);
        for phrase in rule.words.iter().copied().flatten().chain(rule.without) {
            let normal = super::text::normalise(phrase);
            assert_eq!(normal.trim(), phrase.trim(), "{}: the phrase is not in normal form", rule.name);
        }
        for code in rule.codes.iter().chain(rule.kinds) {
            assert_eq!(code.to_lowercase(), **code, "{}: codes are in lower case", rule.name);
        }
    }
}

#[test]
fn every_rule_is_reached_by_a_capture() {
    let classifier = Classifier::default();
    let (mut reached, mut won) = (BTreeSet::new(), BTreeSet::new());
    for case in labelled() {
        // As the wire had it, and as a log tells it.
        let wire = Evidence { log: String::new(), ..case.evidence.clone() };
        let log = Evidence { body: String::new(), ..case.evidence };
        let only_told = wire.body.is_empty() && !log.log.is_empty();
        let told = (!log.log.is_empty()).then_some(log);
        for evidence in [wire].into_iter().filter(|_| !only_told).chain(told) {
            let explanation = classifier.explain(&evidence, &Catalog::default(), now());
            won.insert(explanation.failure.rule);
            reached.extend(explanation.matches.into_iter().map(|one| one.rule));
        }
    }
    let without = |names: &BTreeSet<String>| -> Vec<_> {
        rules::all().map(|rule| rule.name).filter(|name| !names.contains(*name)).collect()
    };
    // Of these, other rules know the words of every capture so far. Few may become fewer.
    let undecided = without(&won);
    println!("these decide no capture: {undecided:?}");
    assert!(undecided.len() <= 38, "{} rules decide no capture: {undecided:?}", undecided.len());
    assert_eq!(without(&reached), [""; 0], "no capture reaches these");
}
