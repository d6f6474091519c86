//! What a tone looks like. No tone is told by colour alone: the words say the same.

use ratatui::style::{Color, Modifier, Style};

use crate::report::Tone;

/// A set of colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Theme {
    /// For light letters on a dark ground.
    #[default]
    Dark,
    /// For dark letters on a light ground.
    Light,
    /// Without colours.
    Mono,
}

impl Theme {
    /// The next one; a terminal without colour has but one.
    #[must_use]
    pub const fn next(self, has_color: bool) -> Self {
        match self {
            _ if !has_color => Self::Mono,
            Self::Dark => Self::Light,
            Self::Light => Self::Mono,
            Self::Mono => Self::Dark,
        }
    }

    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Dark => "dark",
            Self::Light => "light",
            Self::Mono => "mono",
        }
    }

    pub(super) const fn style(self, tone: Tone) -> Style {
        let plain = Style::new();
        match (self, tone) {
            (_, Tone::Plain) => plain,
            (_, Tone::Strong) => plain.add_modifier(Modifier::BOLD),
            (Self::Mono, Tone::Faint) => plain.add_modifier(Modifier::DIM),
            (Self::Mono, Tone::Good) => plain,
            (Self::Mono, Tone::Warning) => plain.add_modifier(Modifier::UNDERLINED),
            (Self::Mono, Tone::Bad) => plain.add_modifier(Modifier::BOLD).add_modifier(Modifier::UNDERLINED),
            (Self::Dark, Tone::Faint) => plain.fg(Color::DarkGray),
            (Self::Dark, Tone::Good) => plain.fg(Color::LightGreen),
            (Self::Dark, Tone::Warning) => plain.fg(Color::LightYellow),
            (Self::Dark, Tone::Bad) => plain.fg(Color::LightRed).add_modifier(Modifier::BOLD),
            (Self::Light, Tone::Faint) => plain.fg(Color::Gray),
            (Self::Light, Tone::Good) => plain.fg(Color::Green),
            (Self::Light, Tone::Warning) => plain.fg(Color::Magenta),
            (Self::Light, Tone::Bad) => plain.fg(Color::Red).add_modifier(Modifier::BOLD),
        }
    }

    /// What cannot be overlooked.
    pub(super) const fn alarm(self, tone: Tone) -> Style {
        let loud = Style::new().add_modifier(Modifier::BOLD);
        match (self, tone) {
            (Self::Mono, _) => loud.add_modifier(Modifier::REVERSED),
            (_, Tone::Bad) => loud.fg(Color::White).bg(Color::Red),
            (_, _) => loud.fg(Color::Black).bg(Color::Yellow),
        }
    }

    /// The line under the cursor: one look for all of it, so that it is one line.
    pub(super) const fn cursor(_: Style) -> Style {
        Style::new().fg(Color::Reset).bg(Color::Reset).add_modifier(Modifier::REVERSED)
    }
}
