//! The `llmr` program.

mod classify;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use llmr::catalog::Catalog;
use llmr::clock::Clock;

/// Sends a prompt down a ladder of LLM providers.
#[derive(Parser)]
#[command(name = "llmr", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Classify(classify::ClassifyArgs),
}

fn main() -> ExitCode {
    let Command::Classify(args) = Cli::parse().command;
    let around = classify::Surroundings {
        catalog: &Catalog::default(),
        rules: Vec::new(),
        now: Clock::new(None).now(),
        width: 160,
        stdin: &mut io::stdin().lock(),
        out: &mut io::stdout().lock(),
        err: &mut io::stderr(),
    };
    match classify::run(&args, around) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}
