//! The deployments: how each stands, why, until when, and how it does.

use std::time::Duration;

use ratatui::layout::Rect;

use crate::dash::board::DeploymentLine;
use crate::dash::model::{Model, Pane};
use crate::dash::sort::Column;
use crate::metrics::Percentiles;
use crate::report::{Tone, columns, cut_middle, distance, span};

use super::brush::Brush;
use super::columns::{Wish, places};
use super::layout::{below, first};

/// A column of the pane; those without a column of the sort are told beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shown {
    By(Column),
    Why,
    KnownBy,
}

/// The columns from left to right: width and rank.
const COLUMNS: [(Shown, u16, u8); 11] = [
    (Shown::By(Column::State), 12, 0),
    (Shown::By(Column::Name), 15, 0),
    (Shown::Why, 19, 2),
    (Shown::By(Column::Until), 10, 1),
    (Shown::KnownBy, 10, 5),
    (Shown::By(Column::Failures), 5, 4),
    (Shown::By(Column::Ttft), 13, 6),
    (Shown::By(Column::Latency), 11, 7),
    (Shown::By(Column::Valid), 6, 8),
    (Shown::By(Column::Tokens), 12, 10),
    (Shown::By(Column::Cost), 8, 9),
];

/// When names get the room that they need.
const NAMES: u8 = 3;

/// The widest name for which other columns wait.
const NAME_MOST: usize = 48;

fn layout(model: &Model, row: Rect) -> Vec<(Shown, Rect)> {
    let longest = model.board.deployments.iter().map(|line| columns(&line.name)).max().unwrap_or(0);
    let longest = u16::try_from(longest.min(NAME_MOST)).unwrap_or(0);
    let wish = |(shown, width, rank)| {
        let grows = (shown == Shown::By(Column::Name)).then_some((longest, NAMES));
        Wish { width, rank, grows }
    };
    let wishes = COLUMNS.map(wish);
    COLUMNS.iter().map(|(shown, ..)| *shown).zip(places(&wishes, row)).filter(|(_, place)| place.width > 0).collect()
}

/// The column whose title lies there.
pub(super) fn column_at(model: &Model, place: Rect, x: u16) -> Option<Column> {
    let row = Rect { height: 1, ..place };
    layout(model, row).into_iter().find_map(|(shown, place)| match shown {
        Shown::By(column) if (place.left()..=place.right()).contains(&x) => Some(column),
        _ => None,
    })
}

pub(super) fn deployments(model: &Model, place: Rect, brush: &mut Brush<'_>) {
    if place.height == 0 {
        return;
    }
    let board = &model.board;
    let is_focused = model.pane == Pane::Deployments;
    let count = board.deployments.len();
    let title = format!(" 2 deployments {} ", counted(count, board.all));
    let cursor = model.cursor(Pane::Deployments);
    let rows = usize::from(place.height.saturating_sub(2));
    let from = first(cursor, rows);
    let end = format!("{} figures over {} ", below(count, from, rows), model.reading.measured.span.as_str());
    brush.rule(place, is_focused, &[(Tone::Strong, title)], &[(Tone::Faint, end)]);
    let titles = Rect { y: place.y + 1, height: 1, ..place };
    if place.height < 2 {
        return;
    }
    let columns = layout(model, titles);
    for (shown, at) in &columns {
        heading(*shown, *at, model, brush);
    }
    let rows = Rect { y: place.y + 2, height: place.height - 2, ..place };
    if count == 0 && rows.height > 0 {
        let why = if board.all == 0 { "nothing is known yet" } else { "nothing fits the filter; esc clears it" };
        brush.text((rows.x + 1, rows.y), rows.width, Tone::Faint, why);
    }
    let shown = board.deployments.iter().enumerate().skip(from).take(usize::from(rows.height));
    for ((at, line), y) in shown.zip(rows.y..) {
        for (column, place) in &columns {
            let (tone, text) = cell(*column, line, model, brush, place.width);
            brush.text((place.x, y), place.width, tone, &text);
        }
        if is_focused && at == cursor {
            brush.cursor(Rect { y, height: 1, ..rows });
        }
    }
}

/// How many are shown of how many.
pub(super) fn counted(shown: usize, all: usize) -> String {
    if shown == all { all.to_string() } else { format!("{shown} of {all}") }
}

fn heading(shown: Shown, at: Rect, model: &Model, brush: &mut Brush<'_>) {
    let (title, column) = match shown {
        Shown::By(column) => (column.title(), Some(column)),
        Shown::Why => ("why", None),
        Shown::KnownBy => ("known by", None),
    };
    let is_sorted = column == Some(model.sort.by);
    let mark = match (is_sorted, model.sort.is_reversed) {
        (false, _) => "",
        (true, false) => brush.letters.either("▾", "v"),
        (true, true) => brush.letters.either("▴", "^"),
    };
    let tone = if is_sorted { Tone::Strong } else { Tone::Faint };
    brush.text((at.x, at.y), at.width, tone, &format!("{title}{mark}"));
}

fn cell(shown: Shown, line: &DeploymentLine, model: &Model, brush: &Brush<'_>, width: u16) -> (Tone, String) {
    let figures = &line.figures;
    let column = match shown {
        Shown::Why => return (Tone::Plain, line.why.clone()),
        Shown::KnownBy => return (Tone::Faint, line.provenance.map_or(String::new(), |by| by.to_string())),
        Shown::By(column) => column,
    };
    let text = match column {
        Column::State => {
            return (line.state.tone(), format!("{} {}", line.state.sign(brush.letters), line.state.word()));
        }
        Column::Name => cut_middle(&line.name, usize::from(width)),
        Column::Until => until(line, model),
        Column::Failures if line.failures == 0 => String::new(),
        Column::Failures => line.failures.to_string(),
        Column::Ttft => figures.ttft.map_or(String::new(), pair),
        Column::Latency => figures.attempt_latency.map_or(String::new(), |times| took(times.p95)),
        Column::Valid => figures.valid.map_or(String::new(), |part| format!("{:.0} %", part * 100.0)),
        Column::Tokens if figures.attempts == 0 => String::new(),
        Column::Tokens => format!("{}/{}", short(figures.tokens.input), short(figures.tokens.output)),
        Column::Cost if figures.money.total == 0.0 => String::new(),
        Column::Cost => dollars(figures.money.total),
    };
    (Tone::Plain, text)
}

fn until(line: &DeploymentLine, model: &Model) -> String {
    match line.until {
        Some(at) if line.is_probe => format!("?{}", distance(at, model.now).trim_start_matches("in ")),
        Some(at) => distance(at, model.now),
        None if line.state.is_available() => String::new(),
        None if line.hold.is_some() => "a person".to_owned(),
        None => String::new(),
    }
}

fn pair(times: Percentiles) -> String {
    format!("{}/{}", took(times.p50), took(times.p95))
}

/// A count in at most four letters and a unit.
#[expect(clippy::cast_precision_loss, reason = "a rounded figure for the eye")]
pub(super) fn short(count: u64) -> String {
    match count {
        0..10_000 => count.to_string(),
        10_000..1_000_000 => format!("{:.0}k", count as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1}M", count as f64 / 1e6),
        _ => format!("{:.1}G", count as f64 / 1e9),
    }
}

/// A length of time in a few letters: `340ms`, `1.3s`, `45s`.
pub(super) fn took(length: Duration) -> String {
    match length.as_millis() {
        1_000..10_000 => format!("{:.1}s", length.as_secs_f64()),
        _ => span(length),
    }
}

/// Money with as many digits as matter.
pub(super) fn dollars(usd: f64) -> String {
    if usd >= 100.0 {
        format!("${usd:.0}")
    } else if usd >= 0.1 || usd == 0.0 {
        format!("${usd:.2}")
    } else {
        format!("${usd:.4}")
    }
}
