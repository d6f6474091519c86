//! The command line.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use crate::context::Context;
use crate::error::CliError;
use crate::output::ColorChoice;

/// Send a prompt down a ladder of LLM providers, understand why an attempt failed, and remember it
#[derive(Debug, Parser)]
#[command(name = "llmr", version, about, max_term_width = 100, propagate_version = true)]
#[command(
    after_help = "Exit codes: 0 answered, 1 trouble of our own, 2 usage, 3 config, 4 exhausted (it passes by itself), \
5 exhausted (a person must act), 6 the request was refused, 7 never as asked, 8 deadline, 9 partial stream, \
130 interrupted (143 by SIGTERM)."
)]
pub struct Cli {
    /// What applies to every command.
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    command: Command,
}

/// The heading in the help for what applies to every command.
const EVERYWHERE: &str = "Options of every command";

/// What applies to every command.
#[derive(Debug, clap::Args)]
pub struct Global {
    /// Config file [env: LLMR_CONFIG]
    #[arg(long, global = true, value_name = "FILE", help_heading = EVERYWHERE)]
    pub config: Option<PathBuf>,
    /// State file [env: LLMR_STATE]
    #[arg(long, global = true, value_name = "FILE", help_heading = EVERYWHERE)]
    pub state: Option<PathBuf>,
    /// Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]
    #[arg(short, long, global = true, action = clap::ArgAction::Count, help_heading = EVERYWHERE)]
    pub verbose: u8,
    /// When to use colour
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN", help_heading = EVERYWHERE)]
    pub color: ColorChoice,
}

#[derive(Debug, Subcommand)]
enum Command {
    Chat(crate::chat::ChatArgs),
    Session(crate::session::SessionArgs),
    Classify(crate::classify::ClassifyArgs),
    Status(crate::status::StatusArgs),
    Reset(crate::reset::ResetArgs),
    Hold(crate::hold::HoldArgs),
    Top(crate::top::TopArgs),
    Plan(crate::plan::PlanArgs),
    Log(crate::log::LogArgs),
    Stats(crate::stats::StatsArgs),
    Guard(crate::guard::GuardArgs),
    Record(crate::record::RecordArgs),
    Probe(crate::probe::ProbeArgs),
    Check(crate::check::CheckArgs),
    Alarm(crate::alarm::AlarmArgs),
    Baseline(crate::baseline::BaselineArgs),
    Caps(crate::caps::CapsArgs),
    Init(crate::init::InitArgs),
    Demo(crate::demo::DemoArgs),
    Drill(crate::drill::DrillArgs),
    Completions(crate::completions::CompletionsArgs),
    Man(crate::man::ManArgs),
}

impl Cli {
    /// Runs the command.
    ///
    /// # Errors
    /// What the command could not do.
    pub fn run(self, context: &mut Context) -> Result<ExitCode, CliError> {
        match self.command {
            Command::Chat(args) => crate::chat::run(&args, context),
            Command::Session(args) => crate::session::run(&args, context),
            Command::Classify(args) => classify(&args, context),
            Command::Status(args) => crate::status::run(&args, context),
            Command::Reset(args) => crate::reset::run(&args, context),
            Command::Top(args) => crate::top::run(&args, context),
            Command::Hold(args) => crate::hold::run(&args, context),
            Command::Plan(args) => crate::plan::run(&args, context),
            Command::Log(args) => crate::log::run(&args, context),
            Command::Stats(args) => crate::stats::run(&args, context),
            Command::Guard(args) => crate::guard::run(&args, context),
            Command::Record(args) => crate::record::run(&args, context),
            Command::Probe(args) => crate::probe::run(&args, context),
            Command::Check(args) => crate::check::run(&args, context),
            Command::Alarm(args) => crate::alarm::run(&args, context),
            Command::Baseline(args) => crate::baseline::run(&args, context),
            Command::Caps(args) => crate::caps::run(&args, context),
            Command::Init(args) => crate::init::run(&args, context),
            Command::Demo(args) => crate::demo::run(&args, context),
            Command::Drill(args) => crate::drill::run(&args, context),
            Command::Completions(args) => crate::completions::run(&args, context),
            Command::Man(args) => crate::man::run(&args, context),
        }
    }
}

fn classify(args: &crate::classify::ClassifyArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let config = context.whole_config_file()?;
    let catalog = match &config {
        Some(config) => config.catalog.clone(),
        None => crate::context::builtin()?,
    };
    let around = crate::classify::Surroundings {
        catalog: &catalog,
        rules: config.map(|config| config.rules).unwrap_or_default(),
        now: &|| context.clock.now(),
        width: context.output.width(),
        shows_progress: context.output.stderr_is_terminal() && !context.output.stdout_is_terminal(),
        out: &mut std::io::stdout(),
        err: &mut std::io::stderr(),
    };
    Ok(crate::classify::run(args, around)?.into())
}

/// Parses the command line; help, version and mistakes end the program with clap's own words.
pub fn parse() -> Result<Cli, ExitCode> {
    Cli::try_parse().map_err(|error| {
        let code = u8::try_from(error.exit_code()).unwrap_or(2);
        // That nobody reads it is no trouble.
        let _ = error.print();
        ExitCode::from(code)
    })
}

/// The definition of the command line, for completions and the man page.
pub fn command() -> clap::Command {
    Cli::command()
}
