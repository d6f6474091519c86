//! The quotas and the attempts.

use ratatui::layout::Rect;

use crate::dash::board::{AttemptLine, Fate, QuotaLine};
use crate::dash::model::{Model, Pane};
use crate::report::{Tone, cut_middle, distance};

use super::brush::Brush;
use super::columns::{Wish, places};
use super::deployments::{short, took};
use super::layout::{below, first};

const fn wish(width: u16, rank: u8) -> Wish {
    Wish { width, rank, grows: None }
}

/// A column that would like to be so wide before the next rank is looked at.
const fn growing(width: u16, rank: u8, wanted: u16, at: u8) -> Wish {
    Wish { width, rank, grows: Some((wanted, at)) }
}

/// A cell: how it looks, and what stands there.
type Cell = (Tone, String);

/// A list with a title, names of columns, and a cursor.
struct List<'a> {
    pane: Pane,
    title: String,
    end: String,
    /// What is said of an empty list.
    empty: &'a str,
    titles: &'a [&'a str],
    wishes: &'a [Wish],
}

impl List<'_> {
    fn draw(
        &self,
        model: &Model,
        place: Rect,
        brush: &mut Brush<'_>,
        row: impl Fn(usize, &[Rect]) -> Option<Vec<Cell>>,
    ) {
        if place.height == 0 {
            return;
        }
        let is_focused = model.pane == self.pane;
        let count = model.rows(self.pane);
        let cursor = model.cursor(self.pane);
        let shown = usize::from(place.height.saturating_sub(2));
        let from = if is_focused { first(cursor, shown) } else { 0 };
        let end = format!("{}{}", below(count, from, shown), self.end);
        brush.rule(place, is_focused, &[(Tone::Strong, self.title.clone())], &[(Tone::Faint, end)]);
        if place.height < 2 {
            return;
        }
        let titles = Rect { y: place.y + 1, height: 1, ..place };
        let columns = places(self.wishes, titles);
        for (title, at) in self.titles.iter().zip(&columns).filter(|(_, at)| at.width > 0) {
            brush.text((at.x, at.y), at.width, Tone::Faint, title);
        }
        let rows = Rect { y: place.y + 2, height: place.height - 2, ..place };
        if count == 0 && rows.height > 0 {
            brush.text((rows.x + 1, rows.y), rows.width, Tone::Faint, self.empty);
        }
        for (at, y) in (from..count).take(usize::from(rows.height)).zip(rows.y..) {
            let Some(cells) = row(at, &columns) else { continue };
            for ((tone, text), at) in cells.iter().zip(&columns).filter(|(_, at)| at.width > 0) {
                brush.text((at.x, y), at.width, *tone, text);
            }
            if is_focused && at == cursor {
                brush.cursor(Rect { y, height: 1, ..rows });
            }
        }
    }
}

pub(super) fn quotas(model: &Model, place: Rect, brush: &mut Brush<'_>) {
    let list = List {
        pane: Pane::Quotas,
        title: format!(" 3 quotas {} ", model.board.quotas.len()),
        end: " at the present pace ".to_owned(),
        empty: "nothing is counted yet",
        titles: &["whose", "limit", "used", "", "all back", "runs out", "said by"],
        wishes: &[
            growing(16, 0, 40, 6),
            wish(9, 0),
            growing(11, 1, 20, 7),
            wish(13, 2),
            wish(10, 3),
            wish(10, 4),
            wish(9, 5),
        ],
    };
    let letters = brush.letters;
    list.draw(model, place, brush, |at, columns| {
        let line = model.board.quotas.get(at)?;
        let bar = columns.get(2).map_or(0, |column| column.width);
        let name = columns.first().map_or(0, |column| column.width);
        Some(quota(line, model, (usize::from(name), usize::from(bar)), letters))
    });
}

fn quota(line: &QuotaLine, model: &Model, (name, bar): (usize, usize), letters: crate::dash::Glyphs) -> Vec<Cell> {
    let share = line.share();
    let tone = match share {
        Some(share) if share >= 0.97 => Tone::Bad,
        Some(share) if share >= 0.8 => Tone::Warning,
        Some(_) => Tone::Good,
        None => Tone::Faint,
    };
    let used = match line.limit {
        Some(limit) => format!("{}/{}", whole(line.used), whole(limit)),
        None => format!("{} of ?", whole(line.used)),
    };
    let back = line.resets_at.map_or(String::new(), |at| distance(at, model.now));
    let out = line.runs_out.map(|at| distance(at, model.now));
    vec![
        (Tone::Plain, cut_middle(&line.name, name)),
        (Tone::Plain, line.dimension.to_string()),
        (tone, filled(share, bar, letters)),
        (Tone::Plain, used),
        (Tone::Plain, back),
        (Tone::Warning, out.unwrap_or_default()),
        (Tone::Faint, line.source.clone()),
    ]
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rounded figure for the eye")]
fn whole(number: f64) -> String {
    if number > 0.0 && number < 10.0 && number.fract() > 0.0 {
        format!("{number:.2}")
    } else {
        short(number.max(0.0) as u64)
    }
}

/// A bar with its share in per cent; nobody needs the bar to know it.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "columns of a terminal"
)]
fn filled(share: Option<f64>, width: usize, letters: crate::dash::Glyphs) -> String {
    let Some(share) = share else { return "no limit".to_owned() };
    let number = format!("{:>4.0} %", (share * 100.0).min(9999.0));
    let room = width.saturating_sub(number.len() + 1);
    let full = ((share.clamp(0.0, 1.0) * room as f64).round() as usize).min(room);
    let (on, off) = (letters.either("█", "#"), letters.either("░", "."));
    format!("{}{}{number}", on.repeat(full), off.repeat(room - full))
}

pub(super) fn attempts(model: &Model, place: Rect, brush: &mut Brush<'_>) {
    let running = model.board.attempts.iter().filter(|line| line.fate == Fate::Running).count();
    let list = List {
        pane: Pane::Attempts,
        title: " 4 attempts ".to_owned(),
        end: format!(" {running} under way "),
        empty: "nobody was asked lately",
        titles: &["when", "came of it", "deployment", "step", "kind", "took", "first", "tokens", "it said"],
        wishes: &[
            wish(8, 0),
            wish(17, 0),
            growing(13, 0, 40, 3),
            wish(4, 5),
            wish(6, 4),
            wish(6, 1),
            wish(6, 7),
            wish(11, 6),
            growing(18, 2, 60, 8),
        ],
    };
    let letters = brush.letters;
    list.draw(model, place, brush, |at, columns| {
        let line = model.board.attempts.get(at)?;
        let name = columns.get(2).map_or(0, |column| column.width);
        Some(attempt(line, usize::from(name), letters))
    });
}

fn attempt(line: &AttemptLine, name: usize, letters: crate::dash::Glyphs) -> Vec<Cell> {
    let (tone, sign, word) = match line.fate {
        Fate::Running => (Tone::Strong, letters.either("▸", ">"), "under way"),
        Fate::Answered => (Tone::Good, letters.either("●", "+"), "answered"),
        Fate::Failed(class) => {
            let tone = if class.needs_a_person() { Tone::Bad } else { Tone::Warning };
            (tone, letters.either("✖", "x"), class.as_str())
        }
        Fate::GivenUp => (Tone::Faint, letters.either("○", "o"), "given up"),
        Fate::Nobody => (Tone::Bad, letters.either("‼", "!"), "nobody asked"),
    };
    let when = line.started.map_or("now".to_owned(), |at| at.strftime("%H:%M:%S").to_string());
    let count = |count: Option<u64>| count.map_or("-".to_owned(), short);
    let tokens = match line.tokens {
        (None, None) => String::new(),
        (input, output) => format!("{}/{}", count(input), count(output)),
    };
    let has_step = line.at.is_some() && line.fate != Fate::Nobody;
    let only = |text: String| if has_step { text } else { String::new() };
    vec![
        (Tone::Faint, when),
        (tone, format!("{sign} {word}")),
        (Tone::Plain, cut_middle(&line.name, name)),
        (Tone::Plain, only(line.step.to_string())),
        (Tone::Plain, only(line.kind.to_string())),
        (Tone::Plain, line.latency.map_or(String::new(), took)),
        (Tone::Plain, line.ttft.map_or(String::new(), took)),
        (Tone::Plain, tokens),
        (Tone::Faint, line.said.clone()),
    ]
}
