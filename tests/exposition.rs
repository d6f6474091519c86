//! A strict reader of the exposition formats: what Prometheus lets pass with a shrug is an error here.
#![cfg(test)]

use std::collections::{BTreeMap, BTreeSet};

/// One line.
#[derive(Debug, Clone)]
pub struct Sample {
    /// With its suffix.
    pub name: String,
    /// Without escapes.
    pub labels: BTreeMap<String, String>,
    /// The value.
    pub value: f64,
}

/// A family, with its samples.
#[derive(Debug, Clone, Default)]
pub struct Family {
    /// The word after TYPE.
    pub kind: String,
    /// In their order.
    pub samples: Vec<Sample>,
}

/// Reads the text, as OpenMetrics or as the text format of Prometheus.
pub fn read(text: &str, is_open: bool) -> BTreeMap<String, Family> {
    assert!(text.ends_with('\n'), "the last line has no end");
    assert_eq!(text.ends_with("# EOF\n"), is_open, "the last line");
    let mut families: BTreeMap<String, Family> = BTreeMap::new();
    let mut current = String::new();
    let mut helps = BTreeSet::new();
    let mut seen = BTreeSet::new();
    for line in text.lines().filter(|line| *line != "# EOF") {
        if let Some(help) = line.strip_prefix("# HELP ") {
            let (name, words) = help.split_once(' ').expect("a text of help");
            assert!(!words.is_empty() && helps.insert(name.to_owned()), "{line}");
        } else if let Some(kind) = line.strip_prefix("# TYPE ") {
            let (name, kind) = kind.split_once(' ').expect("a kind");
            assert!(helps.contains(name), "{line}: without help");
            current = name.to_owned();
            check_name(name, kind, is_open);
            let family = Family { kind: kind.to_owned(), samples: Vec::new() };
            assert!(families.insert(current.clone(), family).is_none(), "{line}: twice");
        } else if let Some(unit) = line.strip_prefix("# UNIT ") {
            let (name, unit) = unit.split_once(' ').expect("a unit");
            assert!(is_open && name == current && name.ends_with(&format!("_{unit}")), "{line}");
        } else {
            let sample = sample(line);
            let family = families.get_mut(&current).unwrap_or_else(|| panic!("{line}: of no family"));
            let suffixes: &[&str] = match (family.kind.as_str(), is_open) {
                ("counter", true) => &["_total"],
                ("info", true) => &["_info"],
                ("histogram", _) => &["_bucket", "_sum", "_count"],
                _ => &[""],
            };
            let is_ours = suffixes.iter().any(|suffix| sample.name == format!("{current}{suffix}"));
            assert!(is_ours, "{line}: in the family {current}");
            assert!(seen.insert((sample.name.clone(), sample.labels.clone())), "{line}: twice");
            family.samples.push(sample);
        }
    }
    families.iter().filter(|(_, family)| family.kind == "histogram").for_each(|(name, family)| check(name, family));
    families
}

fn check_name(name: &str, kind: &str, is_open: bool) {
    assert!(name.starts_with("llmr_") && name.chars().all(|c| c.is_ascii_lowercase() || c == '_'), "{name}");
    assert_eq!(name.ends_with("_total"), kind == "counter" && !is_open, "{name} is a {kind}");
    assert!(kind != "histogram" || name.ends_with("_seconds"), "{name}");
    assert!(["counter", "gauge", "histogram"].contains(&kind) || (is_open && kind == "info"), "{kind}");
}

fn sample(line: &str) -> Sample {
    let (head, value) = line.rsplit_once(' ').expect("a value");
    let value = match value {
        "+Inf" => f64::INFINITY,
        value => {
            assert!(!value.contains(['i', 'n', 'e', 'E']), "{line}");
            value.parse().unwrap_or_else(|_| panic!("{line}: no number"))
        }
    };
    let (name, labels) = match head.split_once('{') {
        Some((name, labels)) => (name, self::labels(labels.strip_suffix('}').expect("a brace"))),
        None => (head, BTreeMap::new()),
    };
    assert!(value >= 0.0, "{line}");
    Sample { name: name.to_owned(), labels, value }
}

fn labels(text: &str) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let mut rest = text.chars().peekable();
    while rest.peek().is_some() {
        let name: String = rest.by_ref().take_while(|c| *c != '=').collect();
        assert!(name.chars().all(|c| c.is_ascii_lowercase() || c == '_') && !name.is_empty(), "{text}: {name}");
        assert_eq!(rest.next(), Some('"'), "{text}");
        let mut value = String::new();
        loop {
            match rest.next().expect("a quote at the end") {
                '"' => break,
                '\\' => value.push(match rest.next() {
                    Some('n') => '\n',
                    Some(escaped @ ('\\' | '"')) => escaped,
                    other => panic!("{text}: \\{other:?}"),
                }),
                plain => {
                    assert!(!plain.is_control(), "{text}: {plain:?}");
                    value.push(plain);
                }
            }
        }
        assert!(all.insert(name, value).is_none(), "{text}: a label twice");
        assert!(matches!(rest.next(), Some(',') | None), "{text}");
    }
    all
}

/// The buckets of each series grow, the last one holds all, and count and sum are there.
fn check(name: &str, family: &Family) {
    let mut series: BTreeMap<BTreeMap<String, String>, Vec<&Sample>> = BTreeMap::new();
    for sample in &family.samples {
        let mut labels = sample.labels.clone();
        labels.remove("le");
        series.entry(labels).or_default().push(sample);
    }
    for (labels, samples) in series {
        let of = |suffix: &str| {
            let wanted = format!("{name}{suffix}");
            samples.iter().filter(move |sample| sample.name == wanted).collect::<Vec<_>>()
        };
        let (buckets, counts, sums) = (of("_bucket"), of("_count"), of("_sum"));
        assert_eq!((counts.len(), sums.len()), (1, 1), "{name} {labels:?}");
        let bounds: Vec<f64> = buckets
            .iter()
            .map(|b| if b.labels["le"] == "+Inf" { f64::INFINITY } else { b.labels["le"].parse().expect("a bound") })
            .collect();
        assert!(
            bounds.is_sorted_by(|one, next| one < next) && bounds.last() == Some(&f64::INFINITY),
            "{name}: {bounds:?}"
        );
        assert!(buckets.is_sorted_by(|one, next| one.value <= next.value), "{name} {labels:?}");
        assert_eq!(buckets.last().map(|last| last.value), Some(counts[0].value), "{name} {labels:?}");
    }
}
