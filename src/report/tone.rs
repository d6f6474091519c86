//! Text with a meaning for the eye. Colour may follow it; nobody needs colour to understand what stands there.

/// What a run of text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Nothing special.
    Plain,
    /// What stands out: a heading, a name.
    Strong,
    /// What is said on the side.
    Faint,
    /// It works.
    Good,
    /// It passes by itself.
    Warning,
    /// A person must act.
    Bad,
}

/// Runs of text in their order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Toned {
    runs: Vec<(Tone, String)>,
}

impl Toned {
    /// Adds a run.
    pub fn push(&mut self, tone: Tone, text: impl Into<String>) {
        self.runs.push((tone, text.into()));
    }

    /// Ends the line.
    pub fn line(&mut self, tone: Tone, text: impl Into<String>) {
        self.push(tone, text);
        self.push(Tone::Plain, "\n");
    }

    /// The runs.
    pub fn runs(&self) -> &[(Tone, String)] {
        &self.runs
    }

    /// The text alone.
    pub fn plain(&self) -> String {
        self.runs.iter().map(|(_, text)| text.as_str()).collect()
    }
}
