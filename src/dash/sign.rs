//! Signs and words of states, and the letters that the terminal can show.

use crate::report::Tone;

/// Which letters may be drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Glyphs {
    /// Boxes, blocks and signs.
    #[default]
    Unicode,
    /// Nothing beyond ASCII.
    Ascii,
}

impl Glyphs {
    /// One of two texts.
    pub const fn either<'a>(self, unicode: &'a str, ascii: &'a str) -> &'a str {
        match self {
            Self::Unicode => unicode,
            Self::Ascii => ascii,
        }
    }

    /// The text without letters that the terminal does not have.
    pub fn plain(self, text: &str) -> String {
        match self {
            Self::Unicode => text.to_owned(),
            Self::Ascii => text.chars().map(ascii).collect(),
        }
    }
}

/// The nearest letter of ASCII.
const fn ascii(letter: char) -> char {
    match letter {
        letter if letter.is_ascii() => letter,
        '…' => '~',
        '›' => '>',
        '·' => '.',
        _ => '?',
    }
}

/// How a deployment stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum State {
    /// A person must act.
    Barred,
    /// A breaker that passes by itself.
    Open,
    /// A spent quota.
    Quarantined,
    /// A rate limit.
    Cooling,
    /// A limit leaves no room.
    Full,
    /// It has no key here.
    NoKey,
    /// One probe may pass.
    Probe,
    /// It may be asked.
    Free,
}

impl State {
    /// The word for it.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Barred => "barred",
            Self::Open => "open",
            Self::Quarantined => "quarantine",
            Self::Cooling => "cooldown",
            Self::Full => "full",
            Self::NoKey => "no key",
            Self::Probe => "probe due",
            Self::Free => "ok",
        }
    }

    /// The sign for it: each has its own shape.
    pub(super) const fn sign(self, letters: Glyphs) -> &'static str {
        match self {
            Self::Barred => letters.either("✖", "X"),
            Self::Open => letters.either("◆", "#"),
            Self::Quarantined => letters.either("■", "Q"),
            Self::Cooling => letters.either("◌", "~"),
            Self::Full => letters.either("▲", "^"),
            Self::NoKey => letters.either("□", "-"),
            Self::Probe => letters.either("◇", "?"),
            Self::Free => letters.either("●", "+"),
        }
    }

    /// What it is for the eye.
    pub(super) const fn tone(self) -> Tone {
        match self {
            Self::Barred => Tone::Bad,
            Self::Open | Self::Quarantined | Self::Cooling | Self::Full | Self::Probe => Tone::Warning,
            Self::NoKey => Tone::Faint,
            Self::Free => Tone::Good,
        }
    }

    /// Whether it can be asked from here.
    pub(super) const fn is_available(self) -> bool {
        matches!(self, Self::Free | Self::Probe)
    }

    /// Whether a request may be answered by it. A key that cannot be had here may well be there where requests are made.
    pub(super) const fn may_answer(self) -> bool {
        matches!(self, Self::Free | Self::Probe | Self::NoKey)
    }

    /// Whether it may be asked when nobody else is left: also under a hold that passes soon.
    pub(super) const fn may_be_the_last_resort(self) -> bool {
        matches!(self, Self::Free | Self::Probe | Self::NoKey | Self::Cooling | Self::Open)
    }
}
