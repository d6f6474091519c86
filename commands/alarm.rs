//! `llmr alarm`

use std::process::ExitCode;

use llmr::domain::printable;
use llmr::policy::Sink;
use llmr::report::{AlarmList, alarms_json, alarms_text, test_body};
use llmr::store::AlarmStore;
use serde_json::json;

use crate::context::Context;
use crate::error::{CliError, Code};

/// What the alarm has told, and whether anybody hears it
///
/// The alarm rings when a ladder is exhausted, a hold lasts, the budget of retries is spent, or a limit runs out before it
/// is back; once for all processes, and once more when it is over. `[alarm]` in the config says who is told.
#[derive(Debug, clap::Args)]
pub struct AlarmArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    Test(TestArgs),
    List(ListArgs),
}

/// Send a test message to each sink now and say what came of it: exit 1 if one failed, 3 if there is none
#[derive(Debug, clap::Args)]
struct TestArgs {
    /// One JSON object
    #[arg(long)]
    json: bool,
}

/// Show what is raised, since when, who was told and what waits
#[derive(Debug, clap::Args)]
struct ListArgs {
    /// Also what is over for more than a day
    #[arg(long)]
    all: bool,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

/// Runs one of the two.
pub fn run(args: &AlarmArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    match &args.action {
        Action::Test(args) => test(args, context),
        Action::List(args) => list(args, context),
    }
}

fn test(args: &TestArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let config = context.config_file()?;
    let alarm = config.as_ref().and_then(|config| config.alarm.as_ref());
    let alarm = alarm.map(|alarm| (alarm.sinks(), alarm.settings.timeout));
    let Some((config, (sinks, timeout))) = config.zip(alarm).filter(|(_, (sinks, _))| !sinks.is_empty()) else {
        let error = CliError::new(Code::Config, "nobody is told: the config names no `command` and no `webhook`");
        return Err(error.hint("write an [alarm] section; `llmr init --print` shows one"));
    };
    context.show_warnings(&config);
    let now = context.clock.now();
    let id = crate::ring::new_id(now);
    let body = test_body(&id, now).to_string();
    let sent: Vec<(Sink, Result<(), String>)> =
        sinks.into_iter().map(|sink| (sink, crate::sinks::send(sink, &id, &body, timeout, &config, context))).collect();
    let text = match args.json {
        true => format!("{}\n", outcome_json(&id, &sent)),
        false => sent.iter().map(|(sink, sent)| format!("{}\n", outcome(*sink, sent))).collect(),
    };
    context.output.out(&printable(&context.redactor().redact(&text)))?;
    let failed = sent.iter().any(|(_, sent)| sent.is_err());
    Ok(if failed { Code::Trouble.into() } else { ExitCode::SUCCESS })
}

fn outcome(sink: Sink, sent: &Result<(), String>) -> String {
    match sent {
        Ok(()) => format!("{sink}: delivered"),
        Err(error) => format!("{sink}: FAILED: {error}"),
    }
}

fn outcome_json(id: &str, sent: &[(Sink, Result<(), String>)]) -> serde_json::Value {
    let one = |(sink, sent): &(Sink, Result<(), String>)| json!({"sink": sink.as_str(), "delivered": sent.is_ok(), "error": sent.as_ref().err()});
    json!({"id": id, "sinks": sent.iter().map(one).collect::<Vec<_>>()})
}

fn list(args: &ListArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let config = context.config_file()?;
    let store = context.store_to_read(config.as_ref())?;
    let (alarms, letters) = match &store {
        Some(store) => (store.alarms()?, store.letters()?),
        None => (Vec::new(), Vec::new()),
    };
    if let Some(store) = &store {
        context.show_state_warning(store);
    }
    let alarm = config.as_ref().and_then(|config| config.alarm.as_ref());
    let (settings, sinks) =
        (alarm.map(|alarm| &alarm.settings), alarm.map(llmr::config::Alarm::sinks).unwrap_or_default());
    let now = context.clock.now();
    let list = AlarmList { now, alarms: &alarms, letters: &letters, settings, sinks: &sinks, all: args.all };
    let text = if args.json { format!("{}\n", alarms_json(&list)) } else { alarms_text(&list) };
    context.output.out(&printable(&context.redactor().redact(&text)))?;
    Ok(ExitCode::SUCCESS)
}
