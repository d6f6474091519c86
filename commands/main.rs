//! The `llmr` program: parses, calls the library, prints.

#![expect(
    unreachable_pub,
    reason = "nothing of a program can be reached from outside; `pub` says: for the other files"
)]

mod alarm;
mod ask;
mod baseline;
mod caps;
mod chat;
mod check;
mod classify;
mod cli;
mod completions;
mod content;
mod context;
mod demo;
mod drill;
mod error;
mod exposition;
mod given;
mod guard;
mod hold;
mod init;
mod job;
mod log;
mod man;
mod named;
mod output;
mod pipeline;
mod plan;
mod probe;
mod record;
mod repeat;
mod replace;
mod reset;
mod retold;
mod ring;
mod screen;
mod session;
mod sinks;
mod source;
mod stats;
mod status;
mod stored;
mod talk;
mod told;
mod tools;
mod top;
mod walk;

use std::process::ExitCode;

use llmr::domain::Redactor;

fn main() -> ExitCode {
    let cli = match cli::parse() {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    let mut context = match context::Context::new(&cli.global) {
        Ok(context) => context,
        Err((output, error)) => return error.report(&output, &Redactor::default()),
    };
    let code = match cli.run(&mut context) {
        Ok(code) => code,
        Err(error) => error.report(&context.output, context.redactor()),
    };
    walk::told_by_signal(code)
}
