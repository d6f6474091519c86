//! `llmr classify`.

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use llmr::catalog::Catalog;
use llmr::classify::capture::{Format, Reading, Spare};
use llmr::classify::{Classifier, CustomRule, Standins};
use llmr::clock::Rng;
use llmr::domain::{Class, ProviderName};
use llmr::report::classify::{Output, Shape, Table, Totals, Worker, class_help_lines};

use crate::error::CliError;
use crate::pipeline;
use crate::source::{Part, Source};

/// Say what captured failures are.
///
/// Reads whatever you have at hand, also mixed in one file and packed with gzip: error bodies, dumps of `curl -i` and
/// `curl -v`, event streams, JSONL records, HAR files, structured logs, stack traces and other log text. Says for each
/// failure what it is, what to do, which scope it touches and when it heals.
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
    /// Show what was seen, every rule that matched, why the winner won, and what follows
    #[arg(long)]
    explain: bool,
    /// Write each failure as a capture that can be shared
    ///
    /// One JSONL record a failure, in the form that `--format jsonl` reads. Keys, ids, names and addresses are replaced
    /// by others of the same shape, equal ones by equal ones. What nothing marks as personal stays: read it before you
    /// publish it.
    #[arg(long, conflicts_with_all = ["json", "summary", "explain"])]
    redact: bool,
    /// Exit with 1 when a failure of one of these classes occurs
    #[arg(long, value_name = "CLASS", value_delimiter = ',', value_parser = parse_class)]
    fail_on: Vec<Class>,
    /// The provider of records that name none
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    /// The time zone of log lines that name none
    #[arg(long, value_name = "ZONE", default_value = "UTC", value_parser = parse_zone)]
    tz: TimeZone,
    /// How many blocks to work on at the same time; as many as there are cores when not given
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Explain a class instead of reading anything
    #[arg(long, value_name = "CLASS", value_parser = parse_class, conflicts_with_all = ["files", "json", "summary", "explain", "redact"])]
    class_help: Option<Class>,
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

fn parse_zone(text: &str) -> Result<TimeZone, String> {
    let wrong = "no such time zone; write a name like Europe/Paris, or UTC";
    TimeZone::get(text.trim()).map_err(|_| wrong.to_owned())
}

/// What the command needs from outside.
pub(crate) struct Surroundings<'a> {
    /// The catalogue.
    pub(crate) catalog: &'a Catalog,
    /// The operator's own rules.
    pub(crate) rules: Vec<CustomRule>,
    /// Tells the wall clock's time.
    pub(crate) now: &'a dyn Fn() -> Timestamp,
    /// Columns of the terminal.
    pub(crate) width: u16,
    /// Whether a person would see a progress bar on standard error and not be disturbed by it.
    pub(crate) shows_progress: bool,
    /// Where results go.
    pub(crate) out: &'a mut (dyn Write + Send),
    /// Where complaints go.
    pub(crate) err: &'a mut (dyn Write + Send),
}

/// Runs the command and says the exit code.
///
/// # Errors
/// When a file cannot be read, which is named, or the output cannot be written.
pub(crate) fn run(args: &ClassifyArgs, around: Surroundings<'_>) -> Result<u8, CliError> {
    let Surroundings { catalog, rules, now, width, shows_progress, out, err } = around;
    if let Some(class) = args.class_help {
        write!(out, "{}", class_help_lines(class, usize::from(width.min(100))))?;
        return Ok(0);
    }
    let shape = shape(args);
    let classifier = Classifier::new(rules);
    let mut source = Source::open(&args.files)?;
    let (blocks, texts) = (source.spare(), Spare::default());
    let mut clock = Reading { now: now(), zone: args.tz.clone() };
    let mut progress = shows_progress.then(|| Progress::new(clock.now));
    let mut totals = Totals::default();
    let mut table = Table::new(width);
    // One worker knows all the stand-ins.
    let jobs = if args.redact { NonZeroUsize::new(1) } else { args.jobs };
    let jobs = jobs.or_else(|| std::thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let next = || {
        // A wait that is read at the end of a long stream counts from then.
        let time = now();
        if time.duration_since(clock.now).unsigned_abs() >= Duration::from_secs(1) {
            clock.now = time;
        }
        if let Some(progress) = &mut progress {
            progress.show(source.progress(), time);
        }
        Ok(source.next_part()?.map(|part| (part, clock.clone())))
    };
    let provider = args.provider.clone().map(ProviderName::new);
    let worker = || {
        let mut worker = Worker::new(&classifier, catalog, provider.clone(), shape);
        if args.redact {
            // Drawn anew in each run, whatever the seed: with a known one the originals could be computed.
            worker = worker.with_standins(Standins::new(&mut Rng::new(None)));
        }
        let (blocks, texts) = (&blocks, &texts);
        move |(part, reading): (Part, Reading)| {
            let output = worker.read(&part.block, args.format.into(), &reading, &part.name, texts.take());
            blocks.give(part.block.bytes);
            (output, part.last)
        }
    };
    let take = |(output, last): (Output, bool)| {
        for line in output.complaints.lines() {
            writeln!(err, "error: {line}")?;
        }
        totals.merge(&output.totals);
        let text = output.rendered(&mut table, last);
        out.write_all(text.as_bytes())?;
        out.flush()?;
        texts.give(text.into_bytes());
        Ok(())
    };
    pipeline::in_order(jobs, |(part, _)| part.last, next, worker, take)?;
    end(args, shape, &totals, &source, out, err)?;
    Ok(u8::from(args.fail_on.iter().any(|class| totals.of(*class) > 0)))
}

fn shape(args: &ClassifyArgs) -> Shape {
    if args.redact {
        return Shape::Redacted;
    }
    match (args.json, args.summary, args.explain) {
        (_, true, _) => Shape::Totals,
        (true, false, true) => Shape::ExplainedJson,
        (true, false, false) => Shape::Json,
        (false, false, true) => Shape::ExplainedText,
        (false, false, false) => Shape::Table,
    }
}

/// What is said when all is read.
fn end(
    args: &ClassifyArgs,
    shape: Shape,
    totals: &Totals,
    source: &Source,
    out: &mut (dyn Write + Send),
    err: &mut (dyn Write + Send),
) -> Result<(), CliError> {
    match shape {
        Shape::Totals if args.json => writeln!(out, "{}", totals.json())?,
        Shape::Totals => write!(out, "{}", totals.text())?,
        Shape::Table if totals.failures > 0 => write!(out, "\n{}", totals.text())?,
        _ => {}
    }
    if totals.failures == 0 && totals.broken == 0 {
        let lines = source.lines();
        let said = format!("no failures found in {lines} line{}", if lines == 1 { "" } else { "s" });
        // A person reads it where the table would be; a program gets nothing but results.
        match shape {
            Shape::Table => writeln!(out, "{said}")?,
            _ => writeln!(err, "{said}")?,
        }
    }
    out.flush()?;
    Ok(())
}

/// A bar on standard error, for what takes more than a second.
struct Progress {
    begun: Timestamp,
    bar: Option<ProgressBar>,
}

impl Progress {
    fn new(begun: Timestamp) -> Self {
        Self { begun, bar: None }
    }

    fn show(&mut self, (read, total): (u64, Option<u64>), now: Timestamp) {
        if self.bar.is_none() && now.duration_since(self.begun).as_secs() >= 1 {
            let (bar, template) = match total {
                Some(total) => (ProgressBar::new(total), "{bar:40} {bytes} of {total_bytes}"),
                None => (ProgressBar::new_spinner(), "{spinner} {bytes} read"),
            };
            bar.set_draw_target(ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style);
            }
            self.bar = Some(bar);
        }
        if let Some(bar) = &self.bar {
            bar.set_position(read);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
