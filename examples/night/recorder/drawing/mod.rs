//! What terminals showed, as files: a cast, pictures and a page. Pure: screens in, text out.

mod cast;
mod page;
mod picture;

pub(crate) use cast::cast;
pub(crate) use page::{Scene, page};
pub(crate) use picture::{animated, still};

/// A colour: red, green, blue.
pub(crate) type Colour = (u8, u8, u8);

/// How letters look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ink {
    pub(crate) letters: Colour,
    /// None where it is the ground of the screen.
    pub(crate) ground: Option<Colour>,
    pub(crate) is_bold: bool,
}

/// Letters of one look that stand side by side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Run {
    /// The first column, from 0.
    pub(crate) column: u16,
    /// Each letter takes one column.
    pub(crate) text: String,
    pub(crate) ink: Ink,
}

/// The rows of a screen, each with what stands in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Screen {
    pub(crate) rows: Vec<Vec<Run>>,
}

impl Screen {
    /// The letters alone, without blanks at the ends of lines and empty lines at the end.
    pub(crate) fn text(&self) -> String {
        let line = |row: &Vec<Run>| row.iter().map(|run| run.text.as_str()).collect::<String>().trim_end().to_owned();
        let lines: Vec<String> = self.rows.iter().map(line).collect();
        lines.join("\n").trim_end().to_owned()
    }
}

/// What a screen showed from a moment on, in seconds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Frame {
    pub(crate) at: f64,
    pub(crate) screen: Screen,
}
