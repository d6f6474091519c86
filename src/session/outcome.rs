//! Running a tool's command, and what is made of how it ended.

use std::io;
use std::time::Duration;

use super::fingerprint::canonical;
use super::machine::Order;
use crate::config::ToolConfig;
use crate::domain::{CallEnd, Redactor, printable};
use crate::process::{Bounds, Program, Ran, run_without};

/// The longest result that a model is told, in bytes.
pub const LONGEST_RESULT: usize = 64 * 1024;

/// How much of what a failed command complained of is told, in bytes.
const COMPLAINT: usize = 4 * 1024;

/// Whether it is known what a command did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It is, and this is what the model is told.
    Known {
        /// What it came to.
        end: CallEnd,
        /// In words.
        text: String,
    },
    /// It was stopped on its way: nobody knows how far it was.
    Unknown {
        /// Why it was stopped, as the model is told where that does no harm.
        why: String,
        /// Whether the user stopped it.
        interrupted: bool,
    },
}

/// Runs the command with the arguments on its standard input. It finds the call's key, the tool and the conversation in
/// its environment, and none of the variables that are hidden.
///
/// # Errors
/// When it was not started.
pub fn run_tool(
    tool: &ToolConfig,
    order: &Order,
    session: &str,
    hidden: &[String],
    is_interrupted: &dyn Fn() -> bool,
) -> io::Result<Ran> {
    let input = canonical(&order.arguments);
    let env = [
        ("LLMR_IDEMPOTENCY_KEY", order.idempotency_key.as_str()),
        ("LLMR_TOOL", tool.name.as_str()),
        ("LLMR_SESSION", session),
    ];
    let program = Program { words: &tool.command, input: input.as_bytes(), env: &env };
    run_without(&program, hidden, &Bounds { time: tool.timeout, output: LONGEST_RESULT, is_interrupted })
}

/// What running it came to, without secrets and control sequences.
pub fn outcome(ran: io::Result<Ran>, timeout: Duration, interrupted: bool, redactor: &Redactor) -> Outcome {
    let known = |end, text| Outcome::Known { end, text };
    let ran = match ran {
        Ok(ran) => ran,
        // The only error that there is: nothing was begun.
        Err(error) => return known(CallEnd::Failed, format!("the command could not be started: {error}")),
    };
    let Some(status) = ran.status else {
        let why = if let Some(error) = &ran.lost {
            format!("it was begun, and how it ended is not known: {error}")
        } else if interrupted {
            "the user stopped it".to_owned()
        } else {
            format!("it was stopped after {} s, when its time was over", timeout.as_secs_f64())
        };
        return Outcome::Unknown { why, interrupted };
    };
    let said = bounded(&ran.out, LONGEST_RESULT, ran.is_cut, redactor);
    let Some(code) = status.code() else {
        return Outcome::Unknown { why: "a signal ended it".to_owned(), interrupted };
    };
    if code == 0 {
        return known(CallEnd::Ok, said);
    }
    let complaint = bounded(&ran.err, COMPLAINT, false, redactor);
    let parts = [format!("the command failed with exit code {code}"), complaint, said];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.trim().is_empty()).collect();
    known(CallEnd::Failed, parts.join("\n"))
}

/// What a function of the program came to that was run as a tool: its result, or why it failed.
pub fn reported(said: Result<String, String>, redactor: &Redactor) -> Outcome {
    let bounded = |text: &str| bounded(text, LONGEST_RESULT, false, redactor);
    match said {
        Ok(text) => Outcome::Known { end: CallEnd::Ok, text: bounded(&text) },
        Err(why) => Outcome::Known { end: CallEnd::Failed, text: bounded(&why) },
    }
}

/// The text fit to be stored, shown and sent; says so where it is cut.
fn bounded(text: &str, most: usize, is_cut: bool, redactor: &Redactor) -> String {
    let mut text = redactor.redact(printable(text).trim_end()).into_owned();
    let is_long = text.len() > most;
    text.truncate(text.floor_char_boundary(most));
    if is_cut || is_long {
        text.push_str(&format!("\n[cut: only the first {most} bytes are shown]"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_begun_and_lost_is_not_told_as_never_started() {
        let time = Duration::from_secs(1);
        let lost = Some(io::Error::other("no child processes"));
        let ran = Ran { status: None, out: String::new(), err: String::new(), is_cut: false, lost };
        let came = outcome(Ok(ran), time, false, &Redactor::default());
        let Outcome::Unknown { why, interrupted: false } = came else { panic!("{came:?}") };
        assert_eq!(why, "it was begun, and how it ended is not known: no child processes");
        let came = outcome(Err(io::Error::other("no such file")), time, false, &Redactor::default());
        assert!(matches!(came, Outcome::Known { end: CallEnd::Failed, .. }), "{came:?}");
    }
}
