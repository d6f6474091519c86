//! Asking who sits at the terminal, where a slip would have an effect.
//!
//! What was typed before a question was there is no answer to it, so it is thrown away. The end of the input is no answer
//! either: the question stays open. And who presses Ctrl-C need not press Enter as well, so the line is read by a thread
//! of its own.

use std::io::IsTerminal;
use std::sync::mpsc;
use std::time::Duration;

use ratatui::crossterm::event::{poll, read};
use ratatui::crossterm::terminal::{disable_raw_mode, enable_raw_mode};

use crate::context::Context;
use crate::walk::is_interrupted;

/// How often it is looked whether Ctrl-C was pressed.
const LOOK: Duration = Duration::from_millis(20);

/// Whether there is somebody to be asked.
pub fn has_person(context: &Context) -> bool {
    std::io::stdin().is_terminal() && context.output.stderr_is_terminal()
}

/// Throws away what was typed so far, ended by Enter or not.
pub fn forget_typed() {
    // Only so is what stands in an unfinished line handed out.
    if enable_raw_mode().is_err() {
        return;
    }
    while poll(Duration::ZERO).unwrap_or(false) && read().is_ok() {}
    // A terminal that cannot be set back could not be set before.
    let _ = disable_raw_mode();
}

/// The next line, without white space around it; none when the input has ended or Ctrl-C was pressed.
pub fn line() -> Option<String> {
    let (sender, receiver) = mpsc::channel();
    let read = move || {
        let mut line = String::new();
        let length = std::io::stdin().read_line(&mut line).unwrap_or(0);
        // Nobody waits any more after Ctrl-C.
        let _ = sender.send((length > 0).then(|| line.trim().to_owned()));
    };
    std::thread::Builder::new().spawn(read).ok()?;
    while !is_interrupted() {
        match receiver.recv_timeout(LOOK) {
            Ok(line) => return line.filter(|_| !is_interrupted()),
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            Err(mpsc::RecvTimeoutError::Disconnected) => return None,
        }
    }
    None
}
