//! `llmr man`

use std::process::ExitCode;

use crate::context::Context;
use crate::error::CliError;

/// Print the man page
#[derive(Debug, clap::Args)]
pub struct ManArgs {}

/// Prints the page of the program, then one for each command.
pub fn run(_: &ManArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let mut page = Vec::new();
    let mut command = crate::cli::command();
    command.build();
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
        clap_mangen::Man::new(sub.clone()).render(&mut page)?;
    }
    context.output.out(&String::from_utf8_lossy(&page))?;
    Ok(ExitCode::SUCCESS)
}
