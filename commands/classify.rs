//! `llmr classify`.

use std::fs;
use std::io::{self, Read, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use jiff::Timestamp;
use llmr::catalog::Catalog;
use llmr::classify::capture::{self, Format};
use llmr::classify::{Classifier, CustomRule};
use llmr::domain::{Class, ProviderName, printable};
use llmr::report::classify::{
    Entry, broken_json, explained_json, explained_text, failure_json, summary_json, summary_text, table,
};

use crate::error::CliError;

/// Say what captured failures are.
///
/// Reads JSONL records, HAR files or free log text, and says for each failure what it is, what to do, which scope it
/// touches and when it heals.
#[derive(Debug, Args)]
pub(crate) struct ClassifyArgs {
    /// Files to read; `-` or none reads standard input
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// What the input is
    #[arg(long, value_enum, default_value = "auto")]
    format: FormatName,
    /// One JSON object per failure
    #[arg(long)]
    json: bool,
    /// Only the counts per class and provider
    #[arg(long)]
    summary: bool,
    /// Show every rule that matched and why the winner won
    #[arg(long)]
    explain: bool,
    /// Exit with 1 when a failure of one of these classes occurs
    #[arg(long, value_name = "CLASS", value_delimiter = ',', value_parser = parse_class)]
    fail_on: Vec<Class>,
    /// The provider of records that name none
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum FormatName {
    Jsonl,
    Text,
    Har,
    Auto,
}

impl From<FormatName> for Format {
    fn from(name: FormatName) -> Self {
        match name {
            FormatName::Jsonl => Self::Jsonl,
            FormatName::Text => Self::Text,
            FormatName::Har => Self::Har,
            FormatName::Auto => Self::Auto,
        }
    }
}

pub(crate) fn parse_class(text: &str) -> Result<Class, String> {
    let classes = || Class::ALL.iter().map(|class| class.as_str()).collect::<Vec<_>>().join(", ");
    text.trim().parse().map_err(|_| format!("no such class; there are {}", classes()))
}

/// What the command needs from outside.
pub(crate) struct Surroundings<'a> {
    /// The catalogue.
    pub(crate) catalog: &'a Catalog,
    /// The operator's own rules.
    pub(crate) rules: Vec<CustomRule>,
    /// The wall clock's time.
    pub(crate) now: Timestamp,
    /// Columns of the terminal.
    pub(crate) width: u16,
    /// Where input comes from.
    pub(crate) stdin: &'a mut dyn Read,
    /// Where results go.
    pub(crate) out: &'a mut dyn Write,
    /// Where complaints go.
    pub(crate) err: &'a mut dyn Write,
}

/// Runs the command and says the exit code.
///
/// # Errors
/// When a file cannot be read, which is named, or the output cannot be written.
pub(crate) fn run(args: &ClassifyArgs, around: Surroundings<'_>) -> Result<u8, CliError> {
    let Surroundings { catalog, rules, now, width, stdin, out, err } = around;
    let classifier = Classifier::new(rules);
    let mut entries = Vec::new();
    let mut broken = Vec::new();
    for (name, text) in inputs(args, stdin)? {
        for one in capture::read(&text, args.format.into()) {
            match one {
                Ok(capture) => entries.push(classified(args, &classifier, catalog, now, &name, capture)),
                Err(error) => {
                    writeln!(err, "error: {name}{}", printable(&error.to_string()))?;
                    broken.push((entries.len(), error));
                }
            }
        }
    }
    write!(out, "{}", rendered(args, &entries, &broken, width))?;
    out.flush()?;
    let hit = entries.iter().any(|entry| args.fail_on.contains(&entry.explanation.failure.class));
    Ok(u8::from(hit))
}

/// The texts with the prefix that tells them apart, if there are several.
fn inputs(args: &ClassifyArgs, stdin: &mut dyn Read) -> Result<Vec<(String, Vec<u8>)>, CliError> {
    let unreadable = |what: &str, error: io::Error| CliError::trouble(format!("cannot read {what}: {error}"));
    let dash = [PathBuf::from("-")];
    let files = if args.files.is_empty() { &dash[..] } else { &args.files };
    let mut texts = Vec::new();
    for path in files {
        let mut text = Vec::new();
        if path.as_os_str() == "-" {
            stdin.read_to_end(&mut text).map_err(|error| unreadable("standard input", error))?;
        } else {
            text = fs::read(path).map_err(|error| unreadable(&path.display().to_string(), error))?;
        }
        let name =
            if files.len() > 1 { format!("{}: ", printable(&path.display().to_string())) } else { String::new() };
        texts.push((name, text));
    }
    Ok(texts)
}

/// One line of output for each line of input, in order: who zips them must not get out of step.
fn lines(entries: &[Entry], broken: &BrokenLines, json: impl Fn(&Entry) -> serde_json::Value) -> String {
    let mut broken = broken.iter().peekable();
    let mut out = String::new();
    for count in 0..=entries.len() {
        while let Some((_, line)) = broken.next_if(|(before, _)| *before == count) {
            out.push_str(&format!("{}\n", broken_json(line.line, &line.message)));
        }
        if let Some(entry) = entries.get(count) {
            out.push_str(&format!("{}\n", json(entry)));
        }
    }
    out
}

fn classified(
    args: &ClassifyArgs,
    classifier: &Classifier,
    catalog: &Catalog,
    now: Timestamp,
    name: &str,
    mut capture: capture::Capture,
) -> Entry {
    if capture.evidence.provider.is_none() {
        capture.evidence.provider = args.provider.clone().map(ProviderName::new);
    }
    let explanation = classifier.explain(&capture.evidence, catalog, now);
    Entry { id: capture.id, place: format!("{name}line {}", capture.line), line: capture.line, explanation }
}

/// Lines that could not be read, each with the number of entries before it.
type BrokenLines = [(usize, capture::Broken)];

fn rendered(args: &ClassifyArgs, entries: &[Entry], broken: &BrokenLines, width: u16) -> String {
    match (args.json, args.summary, args.explain) {
        (true, true, _) => format!("{}\n", summary_json(entries, broken.len())),
        (true, false, true) => lines(entries, broken, explained_json),
        (true, false, false) => lines(entries, broken, failure_json),
        (false, true, _) => summary_text(entries, broken.len()),
        (false, false, true) => entries.iter().map(|entry| explained_text(entry) + "\n").collect(),
        (false, false, false) => table(entries, width),
    }
}
