//! Puts text into the buffer, in tones, cut to its place.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::dash::sign::Glyphs;
use crate::report::{Tone, columns, cut};

use super::theme::Theme;

/// Draws into a part of a buffer.
pub(super) struct Brush<'a> {
    buffer: &'a mut Buffer,
    area: Rect,
    pub(super) theme: Theme,
    pub(super) letters: Glyphs,
}

impl<'a> Brush<'a> {
    pub(super) const fn new(buffer: &'a mut Buffer, area: Rect, theme: Theme, letters: Glyphs) -> Self {
        Self { buffer, area, theme, letters }
    }

    pub(super) fn clear(&mut self, place: Rect) {
        let place = place.intersection(self.area);
        for y in place.top()..place.bottom() {
            for x in place.left()..place.right() {
                if let Some(cell) = self.buffer.cell_mut((x, y)) {
                    cell.reset();
                }
            }
        }
    }

    /// A text at a place of so many columns; the columns that it took.
    pub(super) fn text(&mut self, (x, y): (u16, u16), width: u16, tone: Tone, text: &str) -> u16 {
        self.styled((x, y), width, self.theme.style(tone), text)
    }

    pub(super) fn styled(&mut self, (x, y): (u16, u16), width: u16, style: Style, text: &str) -> u16 {
        let width = width.min(self.area.right().saturating_sub(x));
        if width == 0 || y < self.area.top() || y >= self.area.bottom() || x < self.area.left() {
            return 0;
        }
        let text = self.letters.plain(&cut(text, usize::from(width)));
        let (end, _) = self.buffer.set_stringn(x, y, &text, usize::from(width), style);
        end.saturating_sub(x)
    }

    /// Runs of text, one behind the other.
    pub(super) fn runs(&mut self, (x, y): (u16, u16), width: u16, runs: &[(Tone, String)]) -> u16 {
        let mut used = 0;
        for (tone, text) in runs {
            used += self.text((x + used, y), width.saturating_sub(used), *tone, text);
        }
        used
    }

    /// Runs of text that end at the right edge; nothing where they do not fit.
    pub(super) fn right(&mut self, place: Rect, runs: &[(Tone, String)]) -> u16 {
        let wanted: usize = runs.iter().map(|(_, text)| columns(text)).sum();
        let Ok(wanted) = u16::try_from(wanted) else { return 0 };
        if wanted > place.width {
            return 0;
        }
        self.runs((place.right() - wanted, place.y), wanted, runs);
        wanted
    }

    /// Gives a whole line the look of the cursor.
    pub(super) fn cursor(&mut self, place: Rect) {
        self.restyle(place, Theme::cursor);
    }

    /// Changes the look of what stands there.
    pub(super) fn restyle(&mut self, place: Rect, style: impl Fn(Style) -> Style) {
        let place = place.intersection(self.area);
        for y in place.top()..place.bottom() {
            for x in place.left()..place.right() {
                if let Some(cell) = self.buffer.cell_mut((x, y)) {
                    let changed = style(cell.style());
                    cell.set_style(changed);
                }
            }
        }
    }

    /// A line across, with a title in it and something at its end.
    pub(super) fn rule(&mut self, place: Rect, is_focused: bool, title: &[(Tone, String)], end: &[(Tone, String)]) {
        let line = self.letters.either("─", "-").repeat(usize::from(place.width));
        let tone = if is_focused { Tone::Plain } else { Tone::Faint };
        self.text((place.x, place.y), place.width, tone, &line);
        let room = place.width.saturating_sub(3);
        let used = self.runs((place.x + 1, place.y), room, title);
        if is_focused {
            self.restyle(Rect { x: place.x + 1, width: used, height: 1, ..place }, Theme::cursor);
        }
        let rest = Rect { x: place.x + 2 + used, width: room.saturating_sub(used), height: 1, ..place };
        self.right(rest, end);
    }
}
