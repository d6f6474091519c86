//! The first line and the last.

use ratatui::layout::Rect;

use crate::dash::model::Model;
use crate::report::{Tone, columns, cut_middle, distance, span};

use super::brush::Brush;

/// What the keys do, the most wanted first.
const KEYS: [&str; 11] = [
    "? help",
    "q quit",
    "tab pane",
    "enter details",
    "/ filter",
    "r reset",
    "p probe",
    "o open",
    "space freeze",
    "[ ] span",
    "t theme",
];

pub(super) fn header(model: &Model, place: Rect, brush: &mut Brush<'_>) {
    if place.height == 0 {
        return;
    }
    let mut left = vec![(Tone::Strong, " llmr top".to_owned())];
    let mut flag = |tone, word: &str| left.push((tone, format!("  {word}")));
    if model.is_frozen {
        flag(Tone::Warning, "FROZEN");
    }
    if model.options.is_read_only {
        flag(Tone::Faint, "read-only");
    }
    if model.reading.measured.is_loading {
        flag(Tone::Faint, "counting…");
    }
    let used: usize = left.iter().map(|(_, text)| columns(text)).sum();
    let every = if place.width < WIDE { String::new() } else { format!("  every {}", span(model.options.interval)) };
    let clock = format!("{}Z{every} ", model.now.strftime("%H:%M:%S"));
    let mut room = usize::from(place.width).saturating_sub(used + columns(&clock) + 1);
    for (tone, text) in summary(model, room) {
        let text = format!("  {text}");
        if columns(&text) <= room {
            room -= columns(&text);
            left.push((tone, text));
        }
    }
    brush.runs((place.x, place.y), place.width, &left);
    let used: usize = left.iter().map(|(_, text)| columns(text)).sum();
    let used = u16::try_from(used).unwrap_or(u16::MAX).min(place.width);
    brush.right(Rect { x: place.x + used, width: place.width - used, ..place }, &[(Tone::Faint, clock)]);
}

/// From this width on it is told how often the state is read.
const WIDE: u16 = 100;

const NEXT: &str = "next out: ";

/// A name that is cut further is none.
const NAME_LEAST: usize = 10;

/// What is worth a word, the most important first.
fn summary(model: &Model, room: usize) -> Vec<(Tone, String)> {
    let board = &model.board;
    let tone = if board.available == board.all { Tone::Good } else { Tone::Warning };
    let mut all = vec![(tone, format!("{} of {} can be asked", board.available, board.all))];
    if let Some((line, at)) = &board.next_out {
        let rest = format!("{} {}", line.dimension, distance(*at, model.now));
        let taken: usize = all.iter().map(|(_, text)| columns(text) + 2).sum();
        let name = cut_middle(&line.name, room.saturating_sub(taken + columns(&rest) + NEXT.len() + 3).max(NAME_LEAST));
        all.push((Tone::Warning, format!("{NEXT}{name} {rest}")));
    }
    let (made, budget) = model.reading.retries;
    let tone = if budget > 0 && made >= budget { Tone::Bad } else { Tone::Faint };
    all.push((tone, format!("retries {made}/{budget} a minute")));
    all
}

pub(super) fn footer(model: &Model, place: Rect, brush: &mut Brush<'_>) {
    if place.height == 0 {
        return;
    }
    let at = (place.x, place.y);
    if let Some(text) = &model.typing {
        let cursor = brush.letters.either("▏", "_");
        let hint = "   class: provider: state: or any text; enter keeps it, esc drops it";
        let runs = [(Tone::Strong, format!("/{text}{cursor}")), (Tone::Faint, hint.to_owned())];
        brush.runs(at, place.width, &runs);
        return;
    }
    if let Some((tone, text)) = &model.note {
        brush.text(at, place.width, *tone, text);
        return;
    }
    if model.filter_text.is_empty() {
        brush.text(at, place.width, Tone::Faint, &keys(usize::from(place.width)));
    } else {
        let runs =
            [(Tone::Warning, format!("filter: {}", model.filter_text)), (Tone::Faint, "   esc clears it".to_owned())];
        brush.runs(at, place.width, &runs);
    }
}

/// As many of the keys as there is room for, none of them cut.
fn keys(room: usize) -> String {
    let mut line = String::new();
    for key in KEYS {
        let gap = if line.is_empty() { 0 } else { 2 };
        if columns(&line) + gap + columns(key) > room {
            break;
        }
        line.push_str(&" ".repeat(gap));
        line.push_str(key);
    }
    line
}
