//! `llmr check`

use std::process::ExitCode;

use llmr::config::{self, Config, Problem};
use llmr::report::{check_json, check_text};

use crate::context::{Context, builtin};
use crate::error::{CliError, Code};

/// Validate the config and the catalogue offline, and count the failure domains of each ladder
#[derive(Debug, clap::Args)]
pub struct CheckArgs {
    /// One JSON object
    #[arg(long)]
    json: bool,
    /// Look at the state for the alarm as well: raise what is so, heal what is over, deliver what waits; for cron
    ///
    /// A ladder that nobody calls rings by it. The exit code is that of the check.
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
    context.output.out(&llmr::domain::printable(&text))?;
    if let (true, Ok(config)) = (args.alarm, &result) {
        look(config, context)?;
    }
    Ok(if result.is_ok() { ExitCode::SUCCESS } else { Code::Config.into() })
}

/// The look of the alarm; where there is no state yet, there is nothing to see.
fn look(config: &Config, context: &mut Context) -> Result<(), CliError> {
    if config.alarm.is_none() || context.store_to_read(Some(config))?.is_none() {
        return Ok(());
    }
    let store = context.store(Some(config))?;
    crate::ring::after_change(config, &store, context);
    Ok(())
}

/// Adds what the environment lacks as warnings: another machine, cron's for example, may have it.
fn with_environment(mut config: Config, context: &Context) -> Config {
    let missing = config.complete(&|name| context.env(name));
    config.warnings.extend(missing);
    config
}
