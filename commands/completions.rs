//! `llmr completions`

use std::process::ExitCode;

use clap_complete::Shell;

use crate::context::Context;
use crate::error::CliError;

/// Print the completions of a shell
#[derive(Debug, clap::Args)]
pub struct CompletionsArgs {
    /// bash, elvish, fish, powershell or zsh
    shell: Shell,
}

/// Prints the completions.
pub fn run(args: &CompletionsArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut crate::cli::command(), "llmr", &mut text);
    context.output.out(&String::from_utf8_lossy(&text))?;
    Ok(ExitCode::SUCCESS)
}
