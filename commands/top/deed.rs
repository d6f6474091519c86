//! Does what was asked for by hand, as the command that a person would type.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc::Sender;

use llmr::dash::{Deed, Input};

use crate::context::Context;
use crate::error::CliError;

/// This very program, with the files that it was told to use.
#[derive(Debug, Clone)]
pub struct Program {
    path: PathBuf,
    files: Vec<(&'static str, PathBuf)>,
}

impl Program {
    /// As it was started.
    ///
    /// # Errors
    /// When the system does not say where the program is.
    pub fn of(context: &Context) -> Result<Self, CliError> {
        let path = std::env::current_exe()
            .map_err(|error| CliError::trouble(format!("cannot find the program itself: {error}")))?;
        let files = [("--config", context.config_flag()), ("--state", context.state_flag())];
        let files = files.into_iter().filter_map(|(flag, file)| Some((flag, file?))).collect();
        Ok(Self { path, files })
    }

    /// Runs the command in a thread of its own and tells what came of it.
    pub fn start(&self, deed: &Deed, tell: Sender<Input>) {
        let mut command = Command::new(&self.path);
        // The words end with `-- SELECTOR`, so what every command takes comes before them.
        for (flag, file) in &self.files {
            command.arg(flag).arg(file);
        }
        command.args(&deed.words).stdin(Stdio::null());
        std::thread::spawn(move || {
            // That nobody is there to be told is no trouble.
            let _ = tell.send(Input::Done(outcome(command)));
        });
    }
}

/// What it said, or why it failed.
fn outcome(mut command: Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("it could not be started: {error}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() {
        return Ok(text(&output.stdout));
    }
    let said = text(&output.stderr);
    Err(if said.is_empty() { format!("it failed: {}", output.status) } else { said })
}
