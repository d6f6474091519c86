//! The only place that prints.

use std::io::{self, IsTerminal, Write};

use llmr::report::{Tone, Toned};

/// Whether output may be coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum ColorChoice {
    /// On a terminal.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Standard output and standard error, and what is known of them.
pub struct Output {
    color: bool,
    color_out: bool,
    width: Option<u16>,
}

impl Output {
    /// Decides on colour from the flag and the environment, and on the width.
    pub fn new(choice: ColorChoice, env: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| env(name).is_some_and(|value| !value.is_empty());
        let color = |is_terminal: bool| match choice {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto if set("NO_COLOR") => false,
            ColorChoice::Auto if env("CLICOLOR_FORCE").is_some_and(|value| value != "0") => true,
            ColorChoice::Auto => is_terminal && env("TERM").as_deref() != Some("dumb"),
        };
        Self {
            color: color(io::stderr().is_terminal()),
            color_out: color(io::stdout().is_terminal()),
            width: env("COLUMNS").and_then(|text| text.parse().ok()),
        }
    }

    /// The columns of the terminal: as the environment says, as the terminal says, or 120 for a pipe.
    pub fn width(&self) -> u16 {
        let terminal = || terminal_size::terminal_size().map(|(width, _)| width.0);
        self.width.or_else(terminal).unwrap_or(120).clamp(40, 400)
    }

    /// Whether standard output is a terminal.
    pub fn stdout_is_terminal(&self) -> bool {
        io::stdout().is_terminal()
    }

    /// Whether standard output may be coloured.
    pub const fn stdout_has_color(&self) -> bool {
        self.color_out
    }

    /// Whether standard error is a terminal.
    pub fn stderr_is_terminal(&self) -> bool {
        io::stderr().is_terminal()
    }

    /// Writes to standard output at once.
    ///
    /// # Errors
    /// When nobody reads any more, or the disk is full.
    pub fn out(&self, text: &str) -> io::Result<()> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(text.as_bytes())?;
        stdout.flush()
    }

    /// Writes text to standard output at once, in colour where that is wanted. `clean` makes each run fit to be shown.
    ///
    /// # Errors
    /// As [`out`](Self::out).
    pub fn toned(&self, text: &Toned, clean: impl Fn(&str) -> String) -> io::Result<()> {
        let painted = |(tone, run): &(Tone, String)| {
            let run = clean(run);
            match code(*tone).filter(|_| self.color_out && !run.is_empty()) {
                Some(code) => format!("\u{1b}[{code}m{run}\u{1b}[0m"),
                None => run,
            }
        };
        self.out(&text.runs().iter().map(painted).collect::<String>())
    }

    /// Writes a line to standard error; that nobody reads it is no trouble.
    pub fn note(&self, line: &str) {
        let _ = writeln!(io::stderr().lock(), "{line}");
    }

    /// A word in front of a message on standard error: `error`, `warning`, `hint`.
    pub fn label(&self, word: &str) -> String {
        let code = match word {
            "error" => "1;31",
            "warning" => "1;33",
            _ => "1;36",
        };
        if self.color { format!("\u{1b}[{code}m{word}:\u{1b}[0m") } else { format!("{word}:") }
    }
}

fn code(tone: Tone) -> Option<&'static str> {
    match tone {
        Tone::Plain => None,
        Tone::Strong => Some("1"),
        Tone::Faint => Some("2"),
        Tone::Good => Some("32"),
        Tone::Warning => Some("33"),
        Tone::Bad => Some("31"),
    }
}

/// A line on standard output, from where no [`Output`] is at hand.
pub fn line(text: &str) {
    // That nobody reads it is no trouble.
    let _ = writeln!(io::stdout().lock(), "{text}");
}
