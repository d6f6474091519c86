//! `llmr record`

use std::process::ExitCode;
use std::time::Duration;

use jiff::Timestamp;
use llmr::config::Config;
use llmr::domain::{RequestId, Target, printable};
use llmr::host::{Desk, ReportError, Reported, report};
use llmr::report::Recorded;
use llmr::store::{SqliteStore, Store};

use crate::context::Context;
use crate::error::CliError;
use crate::given::GivenArgs;

/// Say what came of a call that another program made
///
/// It counts like a call of `chat`: the failure is classified, holds are set or lifted for all processes, and `llmr log`
/// shows it. An answer or an error that is given with --body is judged as such: a 200 with an error in it is a failure.
#[derive(Debug, clap::Args)]
pub struct RecordArgs {
    /// Who was called: provider/model or provider/model@credential
    #[arg(value_name = "DEPLOYMENT")]
    deployment: String,
    #[command(flatten)]
    given: GivenArgs,
    /// The id that `guard` gave, or one of your own; several calls under one id are one request in the log
    ///
    /// Without it the call is taken for the probe that `guard` let pass last, if one is under way.
    #[arg(long, value_name = "ID", value_parser = id)]
    request_id: Option<RequestId>,
    /// When the call was sent: a time like 2026-08-23T03:00:00Z, or how long ago like 3s
    #[arg(long, value_name = "TIME|DUR")]
    started_at: Option<String>,
    /// How long the call took
    #[arg(long, value_name = "DUR", value_parser = crate::job::duration)]
    latency: Option<Duration>,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

/// How far ahead of now a call may have been sent: clocks differ.
const AHEAD: Duration = Duration::from_secs(60);

fn id(text: &str) -> Result<RequestId, String> {
    if text.is_empty() || text.len() > 128 || !text.chars().all(|c| c.is_ascii_graphic()) {
        return Err("up to 128 printable characters without spaces".to_owned());
    }
    Ok(RequestId::new(text))
}

/// Writes it down.
pub fn run(args: &RecordArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let now = context.clock.now();
    let came = args.given.read()?;
    let sent_at = args.started_at.as_deref().map(|text| sent_at(text, now)).transpose()?;
    let config = context.config_file()?;
    let target = target(&args.deployment, config.as_ref(), context)?;
    let store = context.store(config.as_ref()).map_err(nothing_written)?;
    let reported = Reported { id: args.request_id.clone(), sent_at, latency: args.latency, ..came };
    let written = write(&target, reported, config.as_ref(), &store, context)?;
    context.forget_the_old(&store, config.as_ref());
    let (request_id, written) = &written;
    let recorded = Recorded { now, request_id, written };
    let text = if args.json { format!("{}\n", recorded.json()) } else { recorded.text() };
    context.output.out(&printable(&context.redactor().redact(&text)))?;
    if let Some(config) = &config {
        crate::ring::after_report(!written.booked.changes.is_empty(), config, &store, context);
    }
    Ok(ExitCode::SUCCESS)
}

fn nothing_written(error: impl Into<CliError>) -> CliError {
    error.into().cause("nothing was recorded")
}

fn sent_at(text: &str, now: Timestamp) -> Result<Timestamp, CliError> {
    let at = crate::log::moment("--started-at", text, now)?;
    if at > now + AHEAD {
        return Err(CliError::usage(format!("--started-at {text}: that is still to come")));
    }
    Ok(at.min(now))
}

/// The one deployment that was called.
fn target(text: &str, config: Option<&Config>, context: &Context) -> Result<Target, CliError> {
    let health = || {
        let store = context.store_to_read(config).ok().flatten();
        store.and_then(|store| store.health().ok()).unwrap_or_default()
    };
    let mut targets = crate::named::targets(text, config, health, context)?;
    if targets.len() > 1 {
        let names: Vec<String> = targets.iter().map(|target| target.deployment.to_string()).collect();
        let error = CliError::usage(format!("DEPLOYMENT: `{text}` could be any of {}", names.join(", ")));
        return Err(error.hint("say with which key it was called; `llmr guard` says which one to take"));
    }
    targets.pop().ok_or_else(|| CliError::usage(format!("DEPLOYMENT: nothing is known as `{text}`")))
}

type Entered = (RequestId, llmr::route::Written);

fn write(
    target: &Target,
    reported: Reported,
    config: Option<&Config>,
    store: &SqliteStore,
    context: &mut Context,
) -> Result<Entered, CliError> {
    let builtin = match config {
        Some(_) => None,
        None => Some(crate::context::builtin_of(target.deployment.provider.as_str())?),
    };
    let Some(catalog) = config.map(|config| &config.catalog).or(builtin.as_ref()) else {
        return Err(CliError::trouble("there is no catalogue"));
    };
    let classifier = context.classifier(config);
    let desk = Desk { catalog, config, classifier: &classifier, store };
    report(target, reported, &desk, context).map_err(|error| match error {
        ReportError::Store(error) => nothing_written(error),
        ReportError::Taken { ref id, .. } => {
            let hint = format!("`llmr log {id}` shows it; take another id");
            CliError::usage(format!("--request-id: {error}")).hint(hint)
        }
    })
}
