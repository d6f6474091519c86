//! What is on the screen: a reading, and what the person chose to look at.

use std::time::Duration;

use jiff::Timestamp;

use crate::domain::LadderName;
use crate::report::Tone;

use super::board::Board;
use super::details::Subject;
use super::filter::Filter;
use super::reading::{Reading, Span};
use super::sign::Glyphs;
use super::sort::Sort;
use super::update::Deed;
use super::view::Theme;

/// One part of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Pane {
    Ladders,
    Deployments,
    Quotas,
    Attempts,
    Metrics,
}

impl Pane {
    pub(super) const ALL: [Self; 5] = [Self::Ladders, Self::Deployments, Self::Quotas, Self::Attempts, Self::Metrics];

    pub(super) fn place(self) -> usize {
        Self::ALL.iter().position(|pane| *pane == self).unwrap_or(0)
    }

    pub(super) fn at(place: usize) -> Self {
        Self::ALL.get(place % Self::ALL.len()).copied().unwrap_or(Self::Ladders)
    }
}

/// What lies over the panes.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Overlay {
    /// What the keys do; scrolled down so far.
    Help(usize),
    /// All of one thing; scrolled down so far.
    Details(Subject, usize),
    /// A question before a deed.
    Confirm(Deed),
}

/// What the person wants from the start.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// How often the state is read.
    pub interval: Duration,
    /// Whether nothing may be changed from here.
    pub is_read_only: bool,
    /// Only this ladder.
    pub ladder: Option<LadderName>,
    /// How far back the figures go.
    pub span: Span,
    /// The colours.
    pub theme: Theme,
    /// Whether the terminal takes colour at all.
    pub has_color: bool,
    /// The letters that the terminal has.
    pub letters: Glyphs,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            interval: Duration::from_secs(1),
            is_read_only: false,
            ladder: None,
            span: Span::default(),
            theme: Theme::Dark,
            has_color: true,
            letters: Glyphs::Unicode,
        }
    }
}

/// All that is drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    pub(super) options: Options,
    pub(super) reading: Reading,
    pub(super) board: Board,
    /// The reading that came while the screen stood still.
    pub(super) pending: Option<Box<Reading>>,
    pub(super) is_frozen: bool,
    pub(super) pane: Pane,
    /// The cursor of each pane.
    pub(super) cursors: [usize; Pane::ALL.len()],
    pub(super) overlay: Option<Overlay>,
    /// What is being typed behind `/`.
    pub(super) typing: Option<String>,
    pub(super) filter_text: String,
    pub(super) sort: Sort,
    pub(super) span: Span,
    pub(super) note: Option<(Tone, String)>,
    pub(super) now: Timestamp,
    pub(super) size: (u16, u16),
}

impl Model {
    /// An empty screen of so many columns and rows.
    pub fn new(options: Options, now: Timestamp, size: (u16, u16)) -> Self {
        Self {
            span: options.span,
            options,
            reading: Reading::nothing(now),
            board: Board::default(),
            pending: None,
            is_frozen: false,
            pane: Pane::Deployments,
            cursors: [0; Pane::ALL.len()],
            overlay: None,
            typing: None,
            filter_text: String::new(),
            sort: Sort::default(),
            note: None,
            now,
            size,
        }
    }

    /// How often the state is to be read.
    pub const fn interval(&self) -> Duration {
        self.options.interval
    }

    /// How far back the figures are to go.
    pub const fn span(&self) -> Span {
        self.span
    }

    /// Makes the rows anew. A cursor that was moved stays on what it stands on, wherever that goes; at the top it stays
    /// at the top.
    pub(super) fn lay_out(&mut self) {
        let stood_on =
            Pane::ALL.map(|pane| Some(self.cursor(pane)).filter(|at| *at > 0).and_then(|at| self.name(pane, at)));
        let filter = Filter::read(self.typing.as_deref().unwrap_or(&self.filter_text));
        self.board = Board::of(&self.reading, &filter, self.sort, self.options.ladder.as_ref());
        for (pane, name) in Pane::ALL.into_iter().zip(stood_on) {
            let rows = self.rows(pane);
            let moved = name.and_then(|name| (0..rows).find(|at| self.name(pane, *at).as_ref() == Some(&name)));
            if let Some(cursor) = self.cursors.get_mut(pane.place()) {
                *cursor = moved.unwrap_or(*cursor).min(rows.saturating_sub(1));
            }
        }
    }

    /// What a row is of, in one word that no other row of the pane has.
    fn name(&self, pane: Pane, at: usize) -> Option<String> {
        let board = &self.board;
        match pane {
            Pane::Ladders => board.ladders.get(at).map(|line| line.ladder.to_string()),
            Pane::Deployments => board.deployments.get(at).map(|line| line.name.clone()),
            Pane::Quotas => board.quotas.get(at).map(|line| format!("{} {}", line.name, line.dimension)),
            Pane::Attempts => {
                board.attempts.get(at).map(|line| format!("{} {} {:?}", line.request, line.name, line.started))
            }
            Pane::Metrics => None,
        }
    }

    /// How many rows the cursor of a pane can stand on.
    pub(super) fn rows(&self, pane: Pane) -> usize {
        match pane {
            Pane::Ladders => self.board.ladders.len(),
            Pane::Deployments => self.board.deployments.len(),
            Pane::Quotas => self.board.quotas.len(),
            Pane::Attempts => self.board.attempts.len(),
            Pane::Metrics => super::view::charts(self).len(),
        }
    }

    pub(super) fn cursor(&self, pane: Pane) -> usize {
        self.cursors.get(pane.place()).copied().unwrap_or(0)
    }
}
