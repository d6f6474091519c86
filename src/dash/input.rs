//! What comes from the person and from outside.

use jiff::Timestamp;

use super::reading::Reading;

/// A key, as far as the dashboard knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// A letter.
    Char(char),
    /// An arrow.
    Up,
    /// An arrow.
    Down,
    /// An arrow.
    Left,
    /// An arrow.
    Right,
    /// A screen up.
    PageUp,
    /// A screen down.
    PageDown,
    /// To the first line.
    Home,
    /// To the last line.
    End,
    /// The next pane.
    Tab,
    /// The pane before.
    BackTab,
    /// Into what is under the cursor.
    Enter,
    /// Out of it.
    Esc,
    /// Takes a letter back.
    Backspace,
    /// Ctrl-C.
    Interrupt,
}

/// What comes.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// A key was pressed.
    Key(Key),
    /// A click, in columns and rows from 0.
    Click(u16, u16),
    /// The wheel: up or down.
    Wheel {
        /// Towards the first line.
        up: bool,
    },
    /// The terminal has another size, in columns and rows.
    Size(u16, u16),
    /// The state was read.
    Reading(Box<Reading>),
    /// Time went by.
    Tick(Timestamp),
    /// What came of a deed: what was said, or why it failed.
    Done(Result<String, String>),
}
