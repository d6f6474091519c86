//! Classified failures as JSON, as a table for people, and as totals.

use std::collections::BTreeMap;
use std::time::Duration;

use comfy_table::{ColumnConstraint, ContentArrangement, Table, presets};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::classify::Explanation;
use crate::domain::{Class, Dimension, Provenance, ProviderName, excerpt, printable};

/// One classified failure with what came along.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The id of the record, as it was given.
    pub id: Option<Value>,
    /// Where it stood: the file's name if there are several, and the line.
    pub place: String,
    /// The line, from 1.
    pub line: usize,
    /// What it is and why.
    pub explanation: Explanation,
}

/// The failure as one JSON object with the fields of the documentation, in their order.
pub fn failure_json(entry: &Entry) -> Value {
    let Explanation { failure, provider, status, .. } = &entry.explanation;
    json!({
        "id": entry.id,
        "provider": provider.as_ref().map(ProviderName::as_str),
        "status": status,
        "class": failure.class.as_str(),
        "action": failure.class.action().as_str(),
        "scope": failure.scope.as_str(),
        "dimension": failure.dimension.map(Dimension::as_str),
        "retry_after_s": failure.retry_after.map(seconds),
        "retry_at": failure.retry_at.map(|at| at.to_string()),
        "reset_source": failure.reset_source.as_ref().map(ToString::to_string),
        "provenance": failure.provenance.as_str(),
        "rule": failure.rule,
        "evidence": failure.evidence,
        "line": entry.line,
    })
}

/// What stands in the place of a line that could not be read: the keys of a failure without values, and why.
pub fn broken_json(line: usize, why: &str) -> Value {
    json!({
        "id": null, "provider": null, "status": null, "class": null, "action": null, "scope": null, "dimension": null,
        "retry_after_s": null, "retry_at": null, "reset_source": null, "provenance": null, "rule": null,
        "evidence": null, "line": line, "error": why,
    })
}

/// The same object with `explanation`: every rule that matched, and why the winner won.
pub fn explained_json(entry: &Entry) -> Value {
    let mut value = failure_json(entry);
    let matches: Vec<Value> = entry
        .explanation
        .matches
        .iter()
        .map(|one| json!({"rule": one.rule, "class": one.class.as_str(), "tier": one.tier, "depth": one.depth, "by": one.by}))
        .collect();
    if let Some(fields) = value.as_object_mut() {
        fields.insert("explanation".to_owned(), json!({"reason": entry.explanation.reason, "matches": matches}));
    }
    value
}

/// Whole seconds as an integer, others with their fraction.
fn seconds(duration: Duration) -> Value {
    if duration.subsec_nanos() == 0 { json!(duration.as_secs()) } else { json!(duration.as_secs_f64()) }
}

/// From this width on the table has all its columns.
const WIDE: u16 = 140;

/// Which columns a narrow table keeps; `--explain` and `--json` tell the others.
const NARROW: [bool; 8] = [true, true, true, true, false, true, false, true];

/// A table for people, at most `width` columns wide, with the totals under it. Holds no control sequences of the input.
pub fn table(entries: &[Entry], width: u16) -> String {
    if entries.is_empty() {
        return "no failures found\n".to_owned();
    }
    let wide = width >= WIDE;
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    let chosen =
        |cells: Vec<String>| cells.into_iter().zip(NARROW).filter(move |(_, kept)| wide || *kept).map(|(c, _)| c);
    let header = ["where", "provider", "status", "class", "scope", "retry", "rule", "evidence"];
    table.set_header(chosen(header.map(str::to_owned).to_vec()));
    for entry in entries {
        table.add_row(chosen(row(entry)));
    }
    // Words that are looked up or typed again are not broken; the evidence takes what is left.
    let last = table.column_count().saturating_sub(1);
    for (at, column) in table.column_iter_mut().enumerate() {
        column.set_constraint(match at == last {
            true => ColumnConstraint::LowerBoundary(comfy_table::Width::Fixed(20)),
            false => ColumnConstraint::ContentWidth,
        });
    }
    let mut out: String = table.to_string().lines().map(|line| format!("{}\n", line.trim_end())).collect();
    out.push('\n');
    out.push_str(&summary_text(entries, 0));
    out
}

fn row(entry: &Entry) -> Vec<String> {
    let Explanation { failure, provider, status, .. } = &entry.explanation;
    let scope = match failure.dimension {
        Some(dimension) => format!("{} {dimension}", failure.scope),
        None => failure.scope.to_string(),
    };
    vec![
        excerpt(&place(entry), 40),
        provider.as_ref().map_or_else(|| "-".to_owned(), |provider| excerpt(provider.as_str(), 24)),
        status.map_or_else(|| "-".to_owned(), |status| status.to_string()),
        failure.class.to_string(),
        scope,
        retry(entry),
        excerpt(&failure.rule, 28),
        excerpt(&failure.evidence, 160),
    ]
}

fn place(entry: &Entry) -> String {
    match &entry.id {
        Some(Value::String(id)) => id.clone(),
        Some(id) if !id.is_null() => id.to_string(),
        _ => entry.place.clone(),
    }
}

/// When it heals, with a sign where the catalogue's clock says so.
fn retry(entry: &Entry) -> String {
    let failure = &entry.explanation.failure;
    let known = match failure.provenance {
        Provenance::Fact => "",
        Provenance::Documented => "*",
        Provenance::Guess | Provenance::Operator => "",
    };
    match (failure.retry_after, failure.retry_at) {
        (Some(after), _) => format!("in {}{known}", words(after)),
        (None, Some(at)) => format!("{}{known}", minute(at)),
        (None, None) => "-".to_owned(),
    }
}

fn minute(at: Timestamp) -> String {
    at.strftime("%m-%d %H:%MZ").to_string()
}

/// A duration in its two largest units.
fn words(duration: Duration) -> String {
    let total = duration.as_secs();
    let (days, hours, minutes, rest) = (total / 86400, total / 3600 % 24, total / 60 % 60, total % 60);
    match (days, hours, minutes) {
        (0, 0, 0) if total < 10 && duration.subsec_millis() > 0 => format!("{:.1}s", duration.as_secs_f64()),
        (0, 0, 0) => format!("{rest}s"),
        (0, 0, _) => format!("{minutes}m{rest}s"),
        (0, ..) => format!("{hours}h{minutes}m"),
        _ => format!("{days}d{hours}h"),
    }
}

/// The entry's rules and the reason, for people.
pub fn explained_text(entry: &Entry) -> String {
    let Explanation { failure, matches, reason, .. } = &entry.explanation;
    let mut out = format!("{}: {} ({})\n", place(entry), failure.class, failure.rule);
    out.push_str(&format!("  evidence: {}\n  because: {reason}\n", failure.evidence));
    for one in matches {
        out.push_str(&format!(
            "  {:<9} depth {} {:<18} {:<34} by {}\n",
            one.tier,
            one.depth,
            one.class.as_str(),
            one.rule,
            one.by
        ));
    }
    printable(&out)
}

/// How many failures of each class and provider there are.
fn counts(entries: &[Entry]) -> (BTreeMap<Class, usize>, BTreeMap<String, usize>) {
    let mut classes = BTreeMap::new();
    let mut providers = BTreeMap::new();
    for entry in entries {
        *classes.entry(entry.explanation.failure.class).or_insert(0) += 1;
        let provider = entry.explanation.provider.as_ref().map_or("unknown", |provider| provider.as_str());
        *providers.entry(excerpt(provider, 40)).or_insert(0) += 1;
    }
    (classes, providers)
}

/// The totals for people.
pub fn summary_text(entries: &[Entry], broken: usize) -> String {
    let (classes, providers) = counts(entries);
    let join = |pairs: Vec<(String, usize)>| {
        pairs.into_iter().map(|(name, count)| format!("{count} {name}")).collect::<Vec<_>>().join(", ")
    };
    let mut classes: Vec<_> = classes.into_iter().map(|(class, count)| (class.to_string(), count)).collect();
    let mut providers: Vec<_> = providers.into_iter().collect();
    classes.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    providers.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let count = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let mut out = count(entries.len(), "failure");
    if !entries.is_empty() {
        out.push_str(&format!("\n  by class: {}\n  by provider: {}", join(classes), join(providers)));
    }
    if broken > 0 {
        out.push_str(&format!("\n  {} could not be read", count(broken, "record")));
    }
    out.push('\n');
    out
}

/// The totals as one JSON object.
pub fn summary_json(entries: &[Entry], broken: usize) -> Value {
    let (classes, providers) = counts(entries);
    let classes: serde_json::Map<String, Value> =
        classes.into_iter().map(|(class, count)| (class.to_string(), json!(count))).collect();
    json!({"failures": entries.len(), "classes": classes, "providers": providers, "broken": broken})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;
    use crate::classify::Classifier;
    use crate::domain::Evidence;

    fn entry(log: &str) -> Entry {
        let evidence = Evidence { log: log.into(), ..Evidence::default() };
        let now = "2026-01-01T00:00:00Z".parse().expect("a time");
        let explanation = Classifier::default().explain(&evidence, &Catalog::default(), now);
        Entry { id: Some(json!("a\u{1b}[31mb")), place: "1".into(), line: 1, explanation }
    }

    #[test]
    fn json_has_the_documented_fields_in_order() {
        let value = failure_json(&entry("Error code: 429 - tokens per min (TPM): please try again in 7m12s"));
        let keys: Vec<_> = value.as_object().expect("an object").keys().map(String::as_str).collect();
        let wanted = "id provider status class action scope dimension retry_after_s retry_at reset_source provenance rule evidence line";
        assert_eq!(keys.join(" "), wanted);
        assert_eq!(value["retry_after_s"], json!(432));
        assert_eq!(value["retry_at"], json!("2026-01-01T00:07:12Z"));
        assert_eq!(value["provenance"], json!("fact"));
    }

    #[test]
    fn nothing_of_the_input_controls_the_terminal() {
        let hostile = entry("Error 500: \u{1b}]0;title\u{7} internal server error \u{1b}[2J");
        let shown = format!("{}{}", table(std::slice::from_ref(&hostile), 100), explained_text(&hostile));
        assert!(!shown.contains('\u{1b}') && !shown.contains('\u{7}'), "{shown:?}");
    }

    #[test]
    fn totals_count_classes_and_providers() {
        let entries =
            [entry("https://api.groq.com 500 internal server error"), entry("https://api.groq.com read timed out")];
        assert_eq!(
            summary_json(&entries, 1),
            json!({"failures":2,"classes":{"server_error":1,"timeout":1},"providers":{"groq":2},"broken":1})
        );
        assert!(summary_text(&entries, 1).contains("2 groq"));
        assert!(summary_text(&entries, 1).starts_with("2 failures\n"));
        assert!(summary_text(&entries[..1], 1).starts_with("1 failure\n"));
        assert!(summary_text(&entries, 1).contains("1 record could not be read"));
        assert!(summary_text(&[], 0).starts_with("0 failures"));
    }
}
