//! The lines that cannot be overlooked: a ladder is exhausted, or one failure away from it.

use jiff::Timestamp;
use ratatui::layout::Rect;

use crate::dash::board::LadderLine;
use crate::dash::model::Model;
use crate::report::{Tone, columns, distance};

use super::brush::Brush;

/// A line in pieces; the later ones are left out where there is no room.
pub(super) type Pieces = Vec<String>;

/// The lines, the worst first.
pub(super) fn lines(model: &Model) -> Vec<(Tone, Pieces)> {
    let exhausted = model.board.exhausted().map(|line| (Tone::Bad, exhausted(line, model.now)));
    let away = model.board.one_away().map(|line| (Tone::Warning, one_away(line)));
    let trouble =
        model.reading.trouble.iter().map(|why| (Tone::Warning, vec![format!("the state cannot be read: {why}")]));
    exhausted.chain(trouble).chain(away).collect()
}

fn exhausted(line: &LadderLine, now: Timestamp) -> Pieces {
    let mut pieces = vec![format!("LADDER {} IS EXHAUSTED", line.ladder)];
    match (line.returns, &line.cascade) {
        (_, Some(cascade)) if line.turns_away && line.available > 0 => {
            pieces.push(", turns requests away".to_owned());
            pieces.push(format!(", looks {}", moment(cascade.until, now)));
        }
        (Some(at), _) => {
            pieces.push(format!(", back {}", distance(at, now)));
            pieces.push(format!(" ({})", clock(at, now)));
        }
        (None, _) => pieces.push(", a person must act".to_owned()),
    }
    match line.pace.figures.exhausted {
        0 => {}
        1 => pieces.push("; 1 request fell through".to_owned()),
        count => pieces.push(format!("; {count} requests fell through")),
    }
    pieces
}

fn moment(at: Timestamp, now: Timestamp) -> String {
    format!("{} ({})", distance(at, now), clock(at, now))
}

/// The day is told where it is another one.
fn clock(at: Timestamp, now: Timestamp) -> String {
    let day = |at: Timestamp| at.strftime("%F").to_string();
    let form = if day(at) == day(now) { "%H:%M:%SZ" } else { "%F %H:%MZ" };
    at.strftime(form).to_string()
}

fn one_away(line: &LadderLine) -> Pieces {
    let left: Vec<&str> = line.left().map(|step| step.name.as_str()).collect();
    let start = format!("ladder {} is ONE FAILURE AWAY", line.ladder);
    vec![start, " from exhaustion".to_owned(), format!(": only {} left", left.join(", "))]
}

pub(super) fn banner(model: &Model, place: Rect, brush: &mut Brush<'_>) {
    let lines = lines(model);
    let shown = usize::from(place.height);
    let sign = brush.letters.either("‼", "!!");
    for ((tone, pieces), y) in lines.iter().take(shown).zip(place.y..) {
        let hidden = lines.len().saturating_sub(shown);
        let more = (hidden > 0 && y + 1 == place.bottom()).then(|| format!("; and {hidden} more"));
        let text = fitting(&format!(" {sign} "), pieces, &more.unwrap_or_default(), usize::from(place.width));
        let style = brush.theme.alarm(*tone);
        let blank = " ".repeat(usize::from(place.width));
        brush.styled((place.x, y), place.width, style, &blank);
        brush.styled((place.x, y), place.width, style, &text);
    }
}

/// As many pieces as there is room for, the first always.
fn fitting(start: &str, pieces: &[String], end: &str, room: usize) -> String {
    let mut text = start.to_owned();
    for (piece, at) in pieces.iter().zip(0..) {
        if at > 0 && columns(&text) + columns(piece) + columns(end) > room {
            break;
        }
        text.push_str(piece);
    }
    text + end
}
