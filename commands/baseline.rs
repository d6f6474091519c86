//! `llmr baseline`

use std::process::ExitCode;

use llmr::domain::printable;
use llmr::report::{baselines_json, baselines_text};
use llmr::store::{Baseline, OpenOptions, SqliteStore};

use crate::context::Context;
use crate::error::CliError;

/// Show or forget the verdicts that `llmr chat --baseline` compares with
#[derive(Debug, clap::Args)]
pub struct BaselineArgs {
    #[command(subcommand)]
    deed: Deed,
}

#[derive(Debug, clap::Subcommand)]
enum Deed {
    /// Every name, with how many inputs are kept under it
    List(ListArgs),
    /// What is kept under a name: the values, when they were said, and by whom
    Show(ShowArgs),
    /// Forget all that is kept under a name
    Rm(RmArgs),
}

#[derive(Debug, clap::Args)]
struct ListArgs {
    /// One JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct ShowArgs {
    /// The name
    name: String,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct RmArgs {
    /// The name
    name: String,
}

/// Shows or forgets.
pub fn run(args: &BaselineArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    match &args.deed {
        Deed::List(args) => show(None, args.json, context),
        Deed::Show(args) => show(Some(&args.name), args.json, context),
        Deed::Rm(args) => forget(&args.name, context),
    }
}

fn show(name: Option<&str>, json: bool, context: &mut Context) -> Result<ExitCode, CliError> {
    let config = context.config_file()?;
    let store = context.store_to_read(config.as_ref())?;
    let all: Vec<Baseline> = store.as_ref().map_or(Ok(Vec::new()), |store| store.baselines(name))?;
    if let Some(name) = name.filter(|_| all.is_empty()) {
        return Err(none_of(name));
    }
    let text = match json {
        true => format!("{}\n", baselines_json(&all)),
        false => baselines_text(&all, name.is_some()),
    };
    context.output.out(&printable(&context.redactor().redact(&text)))?;
    Ok(ExitCode::SUCCESS)
}

fn forget(name: &str, context: &mut Context) -> Result<ExitCode, CliError> {
    let config = context.config_file()?;
    let path = context.state_path(config.as_ref())?;
    if !path.exists() {
        return Err(none_of(name));
    }
    let store = SqliteStore::open(&path, OpenOptions::default())?;
    match store.forget_baseline(name)? {
        0 => Err(none_of(name)),
        inputs => {
            let inputs = if inputs == 1 { "1 input".to_owned() } else { format!("{inputs} inputs") };
            context.output.out(&printable(&format!("forgot baseline {name}: {inputs}\n")))?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn none_of(name: &str) -> CliError {
    let error = CliError::usage(format!("there is no baseline `{}`", printable(name)));
    error.hint("`llmr baseline list` shows them; `llmr chat --baseline NAME` makes one")
}
