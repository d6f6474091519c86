//! `llmr log`

use std::process::ExitCode;
use std::time::Duration;

use llmr::classify::Standins;
use llmr::clock::Rng;
use llmr::config::{Config, parse_duration};
use llmr::domain::{Class, RequestId, RequestRecord, printable};
use llmr::report::{capture_json, request_json, request_text, requests_text};
use llmr::store::{LogFilter, SqliteStore, Store};

use crate::context::Context;
use crate::error::{CliError, Code};

/// How often a follower looks.
const LOOK: Duration = Duration::from_millis(200);

/// How many requests are shown unless the user says more.
const USUAL: usize = 50;

/// Show requests and their attempts; with one id its whole trail
#[derive(Debug, clap::Args)]
pub struct LogArgs {
    /// The id of one request
    request: Option<String>,
    /// Only requests with a failure of this class
    #[arg(long, value_name = "CLASS", value_parser = crate::classify::parse_class)]
    class: Option<Class>,
    /// Only requests since then: a time like 2026-08-23T03:00:00Z, or how long ago like 6h
    #[arg(long, value_name = "TIME|DUR")]
    since: Option<String>,
    /// Go on showing requests as they end, until Ctrl-C
    #[arg(short, long, conflicts_with = "request")]
    follow: bool,
    /// At most so many, the newest
    #[arg(short = 'n', long, value_name = "N", default_value_t = USUAL)]
    limit: usize,
    /// One JSON object a line
    #[arg(long)]
    json: bool,
    /// One capture a line for each failed attempt, with stand-ins for what is personal
    ///
    /// The form is that of `classify --format jsonl`. Keys, ids, names and addresses are replaced by others of the same
    /// shape. What nothing marks as personal stays: read it before you publish it.
    #[arg(long, conflicts_with_all = ["json", "follow"])]
    redact: bool,
}

/// Shows the log.
pub fn run(args: &LogArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let now = context.clock.now();
    let since = args.since.as_deref().map(|text| moment(text, now)).transpose()?;
    let config = context.config_file()?;
    let store = context.store_to_read(config.as_ref())?;
    let id = args.request.as_deref().map(RequestId::new);
    let filter = LogFilter { id, class: args.class, since, limit: args.limit, after: None };
    let records = match &store {
        Some(store) => store.requests(&filter)?,
        None => Vec::new(),
    };
    if let (Some(id), true) = (&args.request, records.is_empty()) {
        let error = CliError::new(Code::Trouble, format!("there is no request `{id}` in the log"));
        return Err(error.hint("`llmr log` lists the requests that are kept"));
    }
    if args.redact {
        let text = store.as_ref().map(|store| captures(&records, store, args.class)).transpose()?;
        context.output.out(&printable(&text.unwrap_or_default()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let text = match (&args.request, args.json) {
        (_, true) => records.iter().map(|record| format!("{}\n", request_json(record))).collect(),
        (Some(_), false) => records.iter().map(|record| request_text(record, now)).collect(),
        (None, false) => requests_text(&records, context.output.width()),
    };
    context.output.out(&printable(&text))?;
    if args.follow { follow(args, config.as_ref(), context) } else { Ok(ExitCode::SUCCESS) }
}

/// A capture of each failed attempt of the class, if one is asked for. Every run draws its own stand-ins, whatever the
/// seed: with a known seed they could be traced back.
fn captures(records: &[RequestRecord], store: &SqliteStore, class: Option<Class>) -> Result<String, CliError> {
    let mut standins = Standins::new(&mut Rng::new(None));
    let mut text = String::new();
    for record in records {
        let kept = store.kept(&record.id)?;
        for (index, attempt) in (0_u32..).zip(&record.attempts) {
            let wanted = attempt.class.is_some_and(|found| class.is_none_or(|class| class == found));
            if wanted {
                let kept = kept.iter().find(|(at, _)| *at == index).map(|(_, kept)| kept);
                text.push_str(&format!("{}\n", capture_json(&record.id, index, attempt, kept, &mut standins)));
            }
        }
    }
    Ok(text)
}

/// Shows each request once it has ended. The reader that leaves ends it.
fn follow(args: &LogArgs, config: Option<&Config>, context: &Context) -> Result<ExitCode, CliError> {
    let store = context.store(config)?;
    let newest = LogFilter { limit: 1, ..LogFilter::default() };
    let mut after = store.log(&newest)?.last;
    loop {
        context.block_on(llmr::route::pause(LOOK))?;
        let filter = LogFilter { class: args.class, after: Some(after), limit: USUAL, ..LogFilter::default() };
        let page = store.log(&filter)?;
        after = page.last;
        let now = context.clock.now();
        let text: String = match args.json {
            true => page.requests.iter().map(|record| format!("{}\n", request_json(record))).collect(),
            false => page.requests.iter().map(|record| request_text(record, now)).collect(),
        };
        if !text.is_empty() && context.output.out(&printable(&text)).is_err() {
            return Ok(ExitCode::SUCCESS);
        }
    }
}

fn moment(text: &str, now: jiff::Timestamp) -> Result<jiff::Timestamp, CliError> {
    let ago = |length: Duration| now.checked_sub(length).ok();
    parse_duration(text).and_then(ago).or_else(|| text.parse().ok()).ok_or_else(|| {
        let error = CliError::usage(format!("--since {text}: neither a time nor a duration"));
        error.hint("write it like 2026-08-23T03:00:00Z or 6h")
    })
}
