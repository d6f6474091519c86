//! `llmr stats`

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use jiff::Timestamp;
use llmr::config::{Config, parse_duration};
use llmr::domain::{Class, LadderName, printable};
use llmr::metrics::{Figures, Journal, Slice};
use llmr::policy::{Versioned, holds_now};
use llmr::report::{
    Budget, Choice, Exposition, Grouping, Known, MARKS, Marks, PutLast, Row, Stats, Toned, ends, equal_ends, readings,
    rows, unreadable, usual_bucket,
};
use llmr::store::{Accounts, Health, RetryCount, Snapshot, SqliteStore, Store, StoreError};

use crate::context::Context;
use crate::error::CliError;
use crate::log::moment;
use crate::status::{choice, grade, known};

/// The span unless the user says another.
const USUAL: &str = "24h";

/// What figures of a span are compared with.
const WEEK: Duration = Duration::from_secs(7 * 24 * 3600);

/// In which time the retry budget counts.
const MINUTE: Duration = Duration::from_secs(60);

/// So many parts of time are worth a look.
const MOST_PARTS: usize = 2_000;

/// A terminal of this width has room for graphs of twice the length.
const WIDE: u16 = 140;

/// Show what the log comes to: success, step depth, retries, breakers, failure classes, times, tokens, cost
///
/// Without --by one page for a person: the figures of the span, how they went, and how deep requests fell against the same
/// span a week before. Figures of requests count the requests that began in the span and ended; figures of attempts count
/// single exchanges.
#[derive(Debug, clap::Args)]
pub struct StatsArgs {
    /// Only these: provider, provider/model, provider/model@credential, @credential or provider@credential; attempts at
    /// them, and requests that they answered
    #[arg(value_name = "SELECTOR")]
    selectors: Vec<String>,
    /// What began then or later: a time like 2026-08-23T03:00:00Z, or how long ago like 7d [default: 24h]
    #[arg(long, value_name = "TIME|DUR")]
    since: Option<String>,
    /// What began before then
    #[arg(long, value_name = "TIME|DUR")]
    until: Option<String>,
    /// Only what went down this ladder
    #[arg(long, value_name = "NAME")]
    ladder: Option<String>,
    /// Only attempts that failed with this class, and no requests; of several, any
    #[arg(long, value_name = "CLASS", value_delimiter = ',', value_parser = crate::classify::parse_class)]
    class: Vec<Class>,
    /// A row for each ladder, deployment, class or bucket of time, the worst first
    #[arg(long, value_enum, value_name = "WHAT")]
    by: Option<By>,
    /// How long a bucket of time is, like 15m; in JSON and CSV every row is divided into them
    #[arg(long, value_name = "DUR")]
    bucket: Option<String>,
    /// How it is written; prometheus and openmetrics: counters over the life of the state file, and the state now
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    format: Format,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Graphs in ASCII, as where the locale is not UTF-8
    #[arg(long)]
    ascii: bool,
    /// Write to this file, in one step, so that a collector never reads a part
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// By what rows are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum By {
    Ladder,
    Deployment,
    Class,
    Time,
}

/// How it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum Format {
    #[default]
    Table,
    Json,
    Csv,
    Prometheus,
    Openmetrics,
}

/// Shows the figures.
pub fn run(args: &StatsArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    match args.format() {
        Format::Prometheus => expose(args, Exposition::Prometheus, context)?,
        Format::Openmetrics => expose(args, Exposition::OpenMetrics, context)?,
        Format::Table | Format::Json | Format::Csv => show(args, context)?,
    }
    Ok(ExitCode::SUCCESS)
}

impl StatsArgs {
    const fn format(&self) -> Format {
        if self.json { Format::Json } else { self.format }
    }

    const fn grouping(&self) -> Grouping {
        match self.by {
            None => Grouping::None,
            Some(By::Ladder) => Grouping::Ladder,
            Some(By::Deployment) => Grouping::Deployment,
            Some(By::Class) => Grouping::Class,
            Some(By::Time) => Grouping::Time,
        }
    }

    fn slice(&self, now: Timestamp) -> Result<Slice, CliError> {
        let since = moment("--since", self.since.as_deref().unwrap_or(USUAL), now)?;
        let until = self.until.as_deref().map(|text| moment("--until", text, now)).transpose()?;
        // What begins at this very moment is part of it.
        let until = until.unwrap_or_else(|| now.saturating_add(Duration::from_millis(1)).unwrap_or(now));
        if until <= since {
            let error = CliError::usage(format!("--until: the span ends at {until}, before it begins at {since}"));
            return Err(error.hint("--since is the earlier of the two"));
        }
        let mut asked = Vec::new();
        for word in &self.selectors {
            asked.extend(readings(word).map_err(|error| CliError::usage(format!("{error}")))?);
        }
        let ladder = self.ladder.as_deref().map(LadderName::new);
        Ok(Slice { ladder, asked, classes: self.class.clone(), ..Slice::of(since, until) })
    }

    /// How long the parts are that the user wants.
    fn bucket(&self, slice: &Slice) -> Result<Option<Duration>, CliError> {
        let wrong = || {
            let error =
                CliError::usage(format!("--bucket {}: no length of time", self.bucket.as_deref().unwrap_or("")));
            error.hint("write it like 15m or 1h")
        };
        match &self.bucket {
            Some(text) => parse_duration(text).filter(|length| !length.is_zero()).map(Some).ok_or_else(wrong),
            None if self.by == Some(By::Time) => {
                Ok(Some(usual_bucket(slice.until.duration_since(slice.since).unsigned_abs())))
            }
            None => Ok(None),
        }
    }

    /// Where the parts end into which the span is divided; for a graph, if nobody wants others.
    fn ends(&self, slice: &Slice, bucket: Option<Duration>, width: u16) -> Result<Vec<Timestamp>, CliError> {
        let marks = if width >= WIDE { 2 * MARKS } else { MARKS };
        let graph = self.format() == Format::Table && self.by != Some(By::Time);
        let Some(length) = bucket else {
            return Ok(if graph { equal_ends(slice.since, slice.until, marks) } else { Vec::new() });
        };
        let Some(ends) = ends(slice.since, slice.until, length, MOST_PARTS) else {
            let error = CliError::usage(format!("--bucket: the span would have more than {MOST_PARTS} parts"));
            return Err(error.hint("take longer buckets, or a shorter span by --since"));
        };
        // A span that begins within a bucket touches one more: 24 hours are 25 parts of an hour.
        if graph && ends.len() == marks + 1 {
            return Ok(equal_ends(slice.since, slice.until, marks));
        }
        if graph && ends.len() > marks {
            let error =
                CliError::usage(format!("--bucket: a graph has room for {marks} parts, not for {}", ends.len()));
            return Err(error.hint("take longer buckets, or --by time, --json or --format csv, which show each"));
        }
        Ok(ends)
    }

    /// Counters over the life of a file have no span and no parts.
    fn refuse_narrowing(&self) -> Result<(), CliError> {
        let flags = [
            ("--since", self.since.is_some()),
            ("--until", self.until.is_some()),
            ("--ladder", self.ladder.is_some()),
            ("--class", !self.class.is_empty()),
            ("--by", self.by.is_some()),
            ("--bucket", self.bucket.is_some()),
            ("a selector", !self.selectors.is_empty()),
        ];
        let Some((flag, _)) = flags.iter().find(|(_, is_given)| *is_given) else { return Ok(()) };
        let error = CliError::usage(format!("{flag}: a scraper gets all counters over the life of the state file"));
        Err(error.hint("leave it out; the scraper's queries narrow by label and by time"))
    }

    fn marks(&self, context: &Context) -> Marks {
        if self.ascii || !context.has_utf8() { Marks::Ascii } else { Marks::Blocks }
    }

    /// Writes to the file that was named, or to standard output.
    fn write(&self, text: &str, context: &Context) -> Result<(), CliError> {
        match &self.output {
            Some(path) => crate::replace::replace(path, text),
            None => Ok(context.output.out(text)?),
        }
    }

    fn write_toned(&self, text: &Toned, context: &Context) -> Result<(), CliError> {
        let clean = |text: &str| printable(&context.redactor().redact(text));
        match &self.output {
            Some(_) => self.write(&clean(&text.plain()), context),
            None => Ok(context.output.toned(text, clean)?),
        }
    }
}

/// The figures of the log, and what is held now.
fn show(args: &StatsArgs, context: &mut Context) -> Result<(), CliError> {
    let now = context.clock.now();
    let slice = args.slice(now)?;
    let bucket = args.bucket(&slice)?;
    let ends = args.ends(&slice, bucket, context.output.width())?;
    let config = context.config_file()?;
    let store = context.store_to_read(config.as_ref())?;
    let read = store.as_ref().map(|store| Read::of(store, &slice, now)).transpose()?.unwrap_or_default();
    if let Some(store) = &store {
        context.show_state_warning(store);
    }
    let mut known = known(config.as_ref(), &read.health);
    if let (Some(config), Some(store)) = (&config, &store) {
        grade(&mut known, config, store, now, |ladder| ladder.min_valid.is_some())?;
    }
    let choice = choice(&args.selectors, &known, &read.snapshot.holds, &[], context)?;
    let (all, rows) = rows(&read.journal, &slice, args.grouping(), &ends);
    warn_of_ladder(&slice, &all, config.as_ref(), context);
    let stats = Stats {
        now,
        slice: &slice,
        grouping: args.grouping(),
        bucket,
        all: &all,
        rows: &rows,
        week_before: read.week_before.as_ref(),
        holds: holds(&read.snapshot, &known, &choice, slice.ladder.as_ref(), now),
        retries: is_whole(&slice).then_some(read.retries),
        budgets: budgets(config.as_ref(), slice.ladder.as_ref()),
        retries_used: read.retries_used,
        put_last: put_last(&known, &choice, &read.snapshot, slice.ladder.as_ref()),
        has_state: store.is_some(),
    };
    let clean = |text: &str| context.redactor().redact(text).into_owned();
    let (width, marks) = (context.output.width(), args.marks(context));
    match (args.format(), args.grouping()) {
        (Format::Json, _) => args.write(&printable(&clean(&format!("{}\n", stats.json()))), context),
        (Format::Csv, _) => args.write(&clean(&stats.csv()), context),
        (_, Grouping::None) => args.write_toned(&stats.text(width, marks), context),
        _ => args.write_toned(&stats.table(width, marks), context),
    }
}

/// Who goes last for the answers that it gives, of what is shown.
fn put_last(known: &[Known], choice: &Choice, snapshot: &Snapshot, ladder: Option<&LadderName>) -> Vec<PutLast> {
    let shown = known.iter().filter(|known| choice.means(&known.target, &snapshot.holds));
    let all = shown.flat_map(|known| known.put_last().map(move |(name, why)| (known, name, why)));
    let wanted = all.filter(|(_, name, _)| ladder.is_none_or(|ladder| ladder == *name));
    let of = |(known, ladder, why): (&Known, &LadderName, &str)| PutLast {
        deployment: known.target.deployment.clone(),
        ladder: ladder.clone(),
        why: why.to_owned(),
    };
    wanted.map(of).collect()
}

/// A ladder that nobody knows is most likely a slip.
fn warn_of_ladder(slice: &Slice, all: &Row, config: Option<&Config>, context: &Context) {
    let Some(name) = &slice.ladder else { return };
    let is_known = config.is_some_and(|config| config.ladders.contains_key(name));
    if !is_known && all.whole.figures.requests == 0 {
        let text = format!("there is no ladder `{name}` in the config, and none in the log of this time");
        context.output.note(&format!("{} {}", context.output.label("warning"), printable(&text)));
    }
}

/// What is read of the state.
#[derive(Default)]
struct Read {
    journal: Journal,
    week_before: Option<Figures>,
    snapshot: Snapshot,
    health: Vec<Health>,
    retries: RetryCount,
    retries_used: u64,
}

impl Read {
    fn of(store: &SqliteStore, slice: &Slice, now: Timestamp) -> Result<Self, StoreError> {
        let (journal, week_before) = journals(store, slice)?;
        Ok(Self {
            journal,
            week_before,
            snapshot: store.snapshot(&Accounts::None)?,
            health: store.health()?,
            retries: store.retries_between(slice.since, slice.until)?,
            retries_used: retries_used(store, now)?,
        })
    }
}

/// What is asked for, and the figures of the same a week before; none when nothing was asked then. Spans that overlap are
/// read once.
fn journals(store: &SqliteStore, slice: &Slice) -> Result<(Journal, Option<Figures>), StoreError> {
    let earlier = |at: Timestamp| at.checked_sub(WEEK).ok();
    let before = earlier(slice.since).zip(earlier(slice.until));
    let before = before.map(|(since, until)| Slice { since, until, ..slice.clone() });
    let figures = |journal: &Journal, before: &Slice| {
        let figures = Figures::of(&journal.total(before));
        (figures.requests > 0 || figures.attempts > 0).then_some(figures)
    };
    let mut journal = Journal::default();
    match before {
        None => journal.load_span(store, slice.since, slice.until)?,
        Some(before) if before.until > slice.since => {
            journal.load_span(store, before.since, slice.until)?;
            let figures = figures(&journal, &before);
            return Ok((journal, figures));
        }
        Some(before) => {
            journal.load_span(store, slice.since, slice.until)?;
            let mut earlier = Journal::default();
            earlier.load_span(store, before.since, before.until)?;
            return Ok((journal, figures(&earlier, &before)));
        }
    }
    Ok((journal, None))
}

/// The retries that count against the budget now: what a clock that ran a little ahead wrote counts too.
///
/// # Errors
/// When the state cannot be read.
pub fn retries_used(store: &SqliteStore, now: Timestamp) -> Result<u64, StoreError> {
    let around = now.checked_sub(MINUTE).ok().zip(now.checked_add(MINUTE).ok());
    around.map_or(Ok(0), |(since, until)| Ok(store.retries_between(since, until)?.granted))
}

/// Whether nothing of the log is left out but what lies at other times.
fn is_whole(slice: &Slice) -> bool {
    slice.ladder.is_none() && slice.asked.is_empty() && slice.classes.is_empty()
}

fn holds<'a>(
    snapshot: &'a Snapshot,
    known: &[Known],
    choice: &Choice,
    ladder: Option<&LadderName>,
    now: Timestamp,
) -> Vec<&'a Versioned> {
    let on_ladder = |held: &Versioned| {
        let covers = |known: &&Known| held.record.scope().covers(&known.target);
        ladder.is_none_or(|ladder| known.iter().filter(covers).flat_map(Known::on).any(|name| name == ladder))
    };
    let active = snapshot.holds.iter().filter(|held| holds_now(&held.record, now));
    active.filter(|held| choice.means_hold(held, known) && on_ladder(held)).collect()
}

fn budgets(config: Option<&Config>, ladder: Option<&LadderName>) -> Vec<Budget> {
    let ladders = config.into_iter().flat_map(|config| &config.ladders);
    let wanted = ladders.filter(|(name, _)| ladder.is_none_or(|ladder| ladder == *name));
    wanted.map(|(name, of)| Budget { ladder: name.clone(), limit: of.limits.retry_budget }).collect()
}

/// All counters and the state for a scraper. One that cannot be read is told too, and is an error here.
fn expose(args: &StatsArgs, format: Exposition, context: &mut Context) -> Result<(), CliError> {
    args.refuse_narrowing()?;
    let config = context.config_file()?;
    match crate::exposition::text(config.as_ref(), format, context) {
        Ok(text) => args.write(&context.redactor().redact(&text), context),
        Err(error) => {
            args.write(&unreadable(format, env!("CARGO_PKG_VERSION"), context.clock.now()), context)?;
            Err(error)
        }
    }
}
