//! `llmr log`

use std::process::ExitCode;
use std::time::Duration;

use clap::ValueEnum;
use jiff::Timestamp;
use llmr::classify::Standins;
use llmr::clock::Rng;
use llmr::config::{Config, parse_duration};
use llmr::domain::{Class, LadderName, Outcome, RequestId, RequestRecord, Selector, printable};
use llmr::report::{capture_json, otlp_json, readings, request_json, request_text, requests_text};
use llmr::store::{LogFilter, LogPage, SqliteStore, Store};
use serde_json::Value;

use crate::context::Context;
use crate::error::{CliError, Code};

/// How often a follower looks.
const LOOK: Duration = Duration::from_millis(200);

/// How many a follower takes at a time.
const PAGE: usize = 50;

/// How many requests are shown unless the user says more.
const USUAL: usize = 50;

/// Show requests and their attempts; with one id its whole trail
#[derive(Debug, clap::Args)]
pub struct LogArgs {
    /// The id of one request
    #[arg(conflicts_with_all = ["class", "since", "until", "provider", "deployment", "ladder", "outcome", "failed"])]
    request: Option<String>,
    /// Only requests with a failure of this class; of several, any
    #[arg(long, value_name = "CLASS", value_delimiter = ',', value_parser = crate::classify::parse_class)]
    class: Vec<Class>,
    /// Only requests that began then or later: a time like 2026-08-23T03:00:00Z, or how long ago like 6h
    #[arg(long, value_name = "TIME|DUR")]
    since: Option<String>,
    /// Only requests that began before then
    #[arg(long, value_name = "TIME|DUR", conflicts_with = "follow")]
    until: Option<String>,
    /// Only requests that asked this provider; of several, any
    #[arg(long, value_name = "NAME", value_delimiter = ',', conflicts_with = "deployment")]
    provider: Vec<String>,
    /// Only requests that asked this: provider/model, provider/model@credential, @credential or provider@credential; of
    /// several, any
    #[arg(long, value_name = "SELECTOR")]
    deployment: Vec<String>,
    /// Only requests on this ladder
    #[arg(long, value_name = "NAME")]
    ladder: Option<String>,
    /// Only requests that ended so; of several, any
    #[arg(long, value_name = "OUTCOME", value_delimiter = ',', value_parser = parse_outcome)]
    outcome: Vec<Outcome>,
    /// Only requests that ended without the answer that was asked for
    #[arg(long, conflicts_with = "outcome")]
    failed: bool,
    /// Go on showing requests as they end, until Ctrl-C
    #[arg(short, long, conflicts_with = "request")]
    follow: bool,
    /// At most so many, the newest
    #[arg(short = 'n', long, value_name = "N", default_value_t = USUAL)]
    limit: usize,
    /// How to write what is found
    #[arg(long, value_enum, default_value = "text")]
    format: FormatName,
    /// Short for `--format json`
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// One capture a line for each failed attempt, with stand-ins for what is personal
    ///
    /// The form is that of `classify --format jsonl`. Keys, ids, names and addresses are replaced by others of the same
    /// shape. What nothing marks as personal stays: read it before you publish it.
    #[arg(long, conflicts_with_all = ["json", "format", "follow"])]
    redact: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FormatName {
    /// For people
    Text,
    /// One JSON object a line
    Json,
    /// One OpenTelemetry trace a line, in OTLP/JSON: a span for the request and one for each attempt, without any content
    OtlpJson,
}

/// Shows the log.
pub fn run(args: &LogArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let filter = args.filter(context.clock.now())?;
    let config = context.config_file()?;
    let store = context.store_to_read(config.as_ref())?;
    let page = match &store {
        Some(store) => {
            let page = store.log(&filter)?;
            context.show_state_warning(store);
            page
        }
        None => LogPage { requests: Vec::new(), last: 0 },
    };
    if let (Some(id), true) = (&args.request, page.requests.is_empty()) {
        let error = CliError::new(Code::Trouble, format!("there is no request `{id}` in the log"));
        return Err(error.hint("`llmr log` lists the requests that are kept"));
    }
    if args.redact {
        let text = store.as_ref().map(|store| captures(&page.requests, store, &args.class)).transpose()?;
        context.output.out(&printable(&text.unwrap_or_default()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let text = match (&args.request, &store) {
        (Some(_), Some(store)) if args.format() == FormatName::Text => {
            let (holds, now, width) = (store.holds()?, context.clock.now(), context.output.width());
            page.requests.iter().map(|record| request_text(record, &holds, now, width)).collect()
        }
        _ if page.requests.is_empty() && args.format() == FormatName::Text && !args.follow => args.nothing(),
        _ => args.lines(&page.requests, context),
    };
    context.output.out(&printable(&text))?;
    if args.follow { follow(args, &filter, page.last, config.as_ref(), context) } else { Ok(ExitCode::SUCCESS) }
}

impl LogArgs {
    fn filter(&self, now: Timestamp) -> Result<LogFilter, CliError> {
        let time = |flag: &str, text: &Option<String>| text.as_deref().map(|text| moment(flag, text, now)).transpose();
        Ok(LogFilter {
            id: self.request.as_deref().map(RequestId::new),
            classes: self.class.clone(),
            since: time("--since", &self.since)?,
            until: time("--until", &self.until)?,
            asked: self.asked()?,
            ladder: self.ladder.as_deref().map(LadderName::new),
            outcomes: self.outcomes()?,
            limit: self.limit,
            after: None,
        })
    }

    fn asked(&self) -> Result<Vec<Selector>, CliError> {
        let provider = |name: &String| Selector { provider: Some(name.as_str().into()), model: None, credential: None };
        let mut asked: Vec<Selector> = self.provider.iter().map(provider).collect();
        for text in &self.deployment {
            asked.extend(readings(text).map_err(|error| CliError::usage(format!("--deployment: {error}")))?);
        }
        Ok(asked)
    }

    /// A follower is told of ends only, of each once, so what has not ended is not shown before either.
    fn outcomes(&self) -> Result<Vec<Outcome>, CliError> {
        let ended = |outcome: &Outcome| *outcome != Outcome::Unfinished;
        if self.failed {
            return Ok(Outcome::ALL.iter().copied().filter(|o| ended(o) && *o != Outcome::Answered).collect());
        }
        if !self.follow {
            return Ok(self.outcome.clone());
        }
        if self.outcome.contains(&Outcome::Unfinished) {
            let error = CliError::usage("--outcome unfinished: with --follow requests are shown as they end");
            return Err(error.hint("leave one of the two out"));
        }
        let all: Vec<Outcome> = Outcome::ALL.iter().copied().filter(ended).collect();
        Ok(if self.outcome.is_empty() { all } else { self.outcome.clone() })
    }

    fn format(&self) -> FormatName {
        if self.json { FormatName::Json } else { self.format }
    }

    fn lines(&self, records: &[RequestRecord], context: &Context) -> String {
        let lines = |form: fn(&RequestRecord) -> Value| records.iter().map(|r| format!("{}\n", form(r))).collect();
        match self.format() {
            FormatName::Text => requests_text(records, context.output.width()),
            FormatName::Json => lines(request_json),
            FormatName::OtlpJson => lines(otlp_json),
        }
    }

    fn nothing(&self) -> String {
        let any = LogFilter { limit: self.limit, ..LogFilter::default() };
        match self.filter(Timestamp::UNIX_EPOCH) {
            Ok(filter) if filter == any => "no request is logged\n".to_owned(),
            _ => "no request in the log is like that\n".to_owned(),
        }
    }
}

/// A capture of each failed attempt of the classes, if some are asked for. Every run draws its own stand-ins, whatever the
/// seed: with a known seed they could be traced back.
fn captures(records: &[RequestRecord], store: &SqliteStore, classes: &[Class]) -> Result<String, CliError> {
    let mut standins = Standins::new(&mut Rng::new(None));
    let mut text = String::new();
    for record in records {
        let kept = store.kept(&record.id)?;
        for (index, attempt) in (0_u32..).zip(&record.attempts) {
            let wanted = attempt.class.is_some_and(|found| classes.is_empty() || classes.contains(&found));
            if wanted {
                let kept = kept.iter().find(|(at, _)| *at == index).map(|(_, kept)| kept);
                text.push_str(&format!("{}\n", capture_json(&record.id, index, attempt, kept, &mut standins)));
            }
        }
    }
    Ok(text)
}

/// Shows each request once it has ended, until Ctrl-C. The reader that leaves ends it too.
fn follow(
    args: &LogArgs,
    filter: &LogFilter,
    mut after: i64,
    config: Option<&Config>,
    context: &Context,
) -> Result<ExitCode, CliError> {
    let store = context.store(config)?;
    context.block_on(async {
        let mut interrupted = std::pin::pin!(interrupt());
        loop {
            // Listens first, so that whoever sees a line can stop it.
            tokio::select! {
                () = &mut interrupted => return Ok(Code::Interrupted.into()),
                () = llmr::route::pause(LOOK) => {}
            }
            loop {
                let page = store.log(&LogFilter { after: Some(after), limit: PAGE, ..filter.clone() })?;
                context.show_state_warning(&store);
                after = page.last;
                let text = args.lines(&page.requests, context);
                if !text.is_empty() && context.output.out(&printable(&text)).is_err() {
                    return Ok(ExitCode::SUCCESS);
                }
                if page.requests.len() < PAGE {
                    break;
                }
            }
        }
    })?
}

/// Ends at the first Ctrl-C.
async fn interrupt() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

fn parse_outcome(text: &str) -> Result<Outcome, String> {
    let outcomes = || Outcome::ALL.iter().map(|outcome| outcome.as_str()).collect::<Vec<_>>().join(", ");
    text.trim().parse().map_err(|_| format!("no such outcome; there are {}", outcomes()))
}

/// Reads a time, or how long ago it was.
///
/// # Errors
/// When it is neither; names the flag.
pub fn moment(flag: &str, text: &str, now: Timestamp) -> Result<Timestamp, CliError> {
    let ago = |length: Duration| now.checked_sub(length).ok();
    parse_duration(text).and_then(ago).or_else(|| text.parse().ok()).ok_or_else(|| {
        let error = CliError::usage(format!("{flag} {text}: neither a time nor a duration"));
        error.hint("write it like 2026-08-23T03:00:00Z or 6h")
    })
}
