//! `llmr check`

use std::process::ExitCode;

use llmr::config::{self, Config, Problem};
use llmr::domain::printable;
use llmr::policy::Alarm;
use llmr::report::{alarm_name, check_json, check_text};
use llmr::store::AlarmStore;

use crate::context::{Context, builtin};
use crate::error::{CliError, Code};
use crate::ring::Sent;

/// Validate the config and the catalogue offline, and count the failure domains of each ladder
#[derive(Debug, clap::Args)]
pub struct CheckArgs {
    /// One JSON object
    #[arg(long)]
    json: bool,
    /// Look at the state for the alarm as well: raise what is so, heal what is over, deliver what waits; for cron
    ///
    /// A ladder that nobody calls rings by it. A line says what is raised and what was delivered; the exit code is that
    /// of the check.
    #[arg(long)]
    alarm: bool,
}

/// Validates everything that can be validated without sending.
pub fn run(args: &CheckArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let (path, _) = context.config_path();
    let result: Result<Config, Vec<Problem>> = match path.filter(|path| path.exists()) {
        Some(path) => {
            let text = std::fs::read_to_string(&path).map_err(|error| {
                CliError::new(Code::Config, format!("cannot read config {}: {error}", path.display()))
            })?;
            config::parse(&text, &path, builtin()?)
        }
        None => Ok(context.config()?),
    };
    let result = result.map(|config| with_environment(config, context));
    let text = if args.json { format!("{}\n", check_json(&result)) } else { check_text(&result) };
    context.output.out(&printable(&text))?;
    if let (true, Ok(config)) = (args.alarm, &result) {
        let line = look(config, context)?.filter(|_| !args.json);
        line.map_or(Ok(()), |line| context.output.out(&printable(&context.redactor().redact(&line))))?;
    }
    Ok(if result.is_ok() { ExitCode::SUCCESS } else { Code::Config.into() })
}

/// The look of the alarm, and a line on what came of it; none where nobody is to be told. Where there is no state yet,
/// there is nothing to see.
fn look(config: &Config, context: &mut Context) -> Result<Option<String>, CliError> {
    if config.alarm.is_none() {
        let output = &context.output;
        output.note(&format!("{} nobody is told: the config has no [alarm] section", output.label("warning")));
        let hint = "write one with a `command` or a `webhook`; `llmr init --print` shows it";
        output.note(&format!("{} {hint}", output.label("hint")));
        return Ok(None);
    }
    if context.store_to_read(Some(config))?.is_none() {
        return Ok(Some("alarm: nothing is raised, for there is no state yet\n".to_owned()));
    }
    let store = context.store(Some(config))?;
    let sent = crate::ring::after_change(config, &store, context);
    Ok(Some(summary(&store.alarms()?, sent)))
}

/// What is raised and what was delivered, in one line.
fn summary(alarms: &[Alarm], sent: Sent) -> String {
    let raised: Vec<String> = alarms.iter().filter(|alarm| alarm.is_raised()).map(alarm_name).collect();
    let raised = if raised.is_empty() { "nothing is raised".to_owned() } else { raised.join("; ") };
    let messages = |count: usize| if count == 1 { "1 message".to_owned() } else { format!("{count} messages") };
    let told = match (sent.delivered, sent.failed) {
        (0, 0) => "no message was due".to_owned(),
        (delivered, 0) => format!("{} delivered", messages(delivered)),
        (0, failed) => format!("{} NOT delivered", messages(failed)),
        (delivered, failed) => format!("{} delivered, {failed} NOT", messages(delivered)),
    };
    format!("alarm: {raised}; {told}\n")
}

/// Adds what the environment lacks as warnings: another machine, cron's for example, may have it.
fn with_environment(mut config: Config, context: &Context) -> Config {
    let missing = config.complete(&|name| context.env(name));
    config.warnings.extend(missing);
    config
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_what_was_delivered() {
        for (delivered, failed, told) in [
            (0, 0, "no message was due"),
            (1, 0, "1 message delivered"),
            (2, 0, "2 messages delivered"),
            (0, 1, "1 message NOT delivered"),
            (1, 2, "1 message delivered, 2 NOT"),
        ] {
            assert_eq!(summary(&[], Sent { delivered, failed }), format!("alarm: nothing is raised; {told}\n"));
        }
    }
}
