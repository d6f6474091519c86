//! The answer on its way to standard output, and what is told on the side.

use std::time::Duration;

use llmr::domain::{AttemptKind, AttemptRecord, Deployment, RedactedStream, Redactor, printable};
use llmr::report::{attempt_line, span};
use llmr::route::{ConsumerGone, Observer};

use crate::output::Output;

/// From this length on a wait is told.
const WORTH_A_WORD: Duration = Duration::from_secs(1);

/// Shows a request as it happens.
pub struct Screen<'a> {
    output: &'a Output,
    stream: RedactedStream<'a>,
    show_text: bool,
    strip: bool,
    verbose: bool,
    ends_line: bool,
    told_wait: bool,
    now: jiff::Timestamp,
    trouble: Option<std::io::Error>,
}

impl<'a> Screen<'a> {
    /// `show_text` prints the pieces of the answer; `verbose` tells each step on standard error.
    pub fn new(
        output: &'a Output,
        redactor: &'a Redactor,
        show_text: bool,
        verbose: bool,
        now: jiff::Timestamp,
    ) -> Self {
        let strip = output.stdout_is_terminal();
        let stream = RedactedStream::new(redactor);
        Self { output, stream, show_text, strip, verbose, ends_line: true, told_wait: false, now, trouble: None }
    }

    /// Fails when the answer could not be printed for another reason than that nobody reads it, such as a full disk.
    ///
    /// # Errors
    /// What the system said.
    pub fn check(&mut self) -> std::io::Result<()> {
        self.trouble.take().map_or(Ok(()), Err)
    }

    /// Prints what is held back and the end of the last line.
    ///
    /// # Errors
    /// When nobody reads any more.
    pub fn finish(&mut self) -> Result<(), ConsumerGone> {
        let rest = self.stream.finish();
        self.print(&rest)?;
        if self.ends_line { Ok(()) } else { self.print("\n") }
    }

    /// Prints a whole answer.
    ///
    /// # Errors
    /// When nobody reads any more.
    pub fn whole(&mut self, text: &str) -> Result<(), ConsumerGone> {
        let clean = self.stream.push(text);
        self.print(&clean)?;
        self.finish()
    }

    fn print(&mut self, text: &str) -> Result<(), ConsumerGone> {
        if text.is_empty() {
            return Ok(());
        }
        self.ends_line = text.ends_with('\n');
        let clean = if self.strip { printable(text) } else { text.to_owned() };
        self.output.out(&clean).map_err(|error| {
            if error.kind() != std::io::ErrorKind::BrokenPipe {
                self.trouble = Some(error);
            }
            ConsumerGone
        })
    }

    fn tell(&self, line: &str) {
        if self.verbose {
            self.output.note(line);
        }
    }
}

impl Observer for Screen<'_> {
    fn asking(&mut self, deployment: &Deployment, step: usize, kind: AttemptKind) {
        self.tell(&format!("asking {deployment} (step {step}, {kind})"));
    }

    fn asked(&mut self, attempt: &AttemptRecord) {
        self.tell(&attempt_line(attempt, self.now));
    }

    fn retry_denied(&mut self, deployment: &Deployment, budget: u32) {
        self.tell(&format!("{deployment} is not tried again: the {budget} retries of this minute are spent"));
    }

    fn text(&mut self, piece: &str) -> Result<(), ConsumerGone> {
        if !self.show_text {
            return Ok(());
        }
        let clean = self.stream.push(piece);
        self.print(&clean)
    }

    fn restart(&mut self) {
        if self.show_text {
            self.stream.reset();
            if !self.ends_line {
                // What was shown must not run into the new answer.
                let _ = self.print("\n");
            }
            self.output.note("restart: the stream broke; discard what was printed so far, the answer starts over");
        }
    }

    fn waiting(&mut self, wait: Duration) {
        // The pause before a retry is not worth a word, and a wait that another process interrupts is still one wait.
        if wait >= WORTH_A_WORD && !self.told_wait {
            self.told_wait = true;
            self.output.note(&format!("waiting {} for the first step to return", span(wait)));
        }
    }

    fn warning(&mut self, message: &str) {
        self.output.note(&format!("{} {message}", self.output.label("warning")));
    }
}
