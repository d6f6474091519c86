//! The lines that cannot be overlooked: a ladder is exhausted, or one failure away from it.

use jiff::Timestamp;
use ratatui::layout::Rect;

use crate::dash::board::LadderLine;
use crate::dash::model::Model;
use crate::report::{Tone, distance, rfc3339};

use super::brush::Brush;

/// The lines, the worst first.
pub(super) fn lines(model: &Model) -> Vec<(Tone, String)> {
    let exhausted = model.board.exhausted().map(|line| (Tone::Bad, exhausted(line, model.now)));
    let away = model.board.one_away().map(|line| (Tone::Warning, one_away(line)));
    let trouble = model.reading.trouble.iter().map(|why| (Tone::Warning, format!("the state cannot be read: {why}")));
    exhausted.chain(trouble).chain(away).collect()
}

fn exhausted(line: &LadderLine, now: Timestamp) -> String {
    let returns = match (line.returns, &line.cascade) {
        (_, Some(cascade)) if line.available > 0 => format!("turns requests away until {}", moment(cascade.until, now)),
        (Some(at), _) => format!("first step returns {}", moment(at, now)),
        (None, _) => "a person must act".to_owned(),
    };
    let fell = match line.pace.figures.exhausted {
        0 => String::new(),
        1 => "; 1 request fell through".to_owned(),
        count => format!("; {count} requests fell through"),
    };
    format!("LADDER {} IS EXHAUSTED: {returns}{fell}", line.ladder)
}

fn moment(at: Timestamp, now: Timestamp) -> String {
    format!("{} ({})", distance(at, now), rfc3339(at))
}

fn one_away(line: &LadderLine) -> String {
    let left: Vec<&str> = line.left().map(|step| step.name.as_str()).collect();
    format!("ladder {} is ONE FAILURE AWAY from exhaustion: only {} left", line.ladder, left.join(", "))
}

pub(super) fn banner(model: &Model, place: Rect, brush: &mut Brush<'_>) {
    let lines = lines(model);
    let shown = usize::from(place.height);
    for ((tone, text), y) in lines.iter().take(shown).zip(place.y..) {
        let sign = brush.letters.either("‼", "!!");
        let mut text = format!(" {sign} {text}");
        let more = lines.len() - shown.min(lines.len());
        if more > 0 && y + 1 == place.bottom() {
            text = format!("{text}; and {more} more");
        }
        let style = brush.theme.alarm(*tone);
        let blank = " ".repeat(usize::from(place.width));
        brush.styled((place.x, y), place.width, style, &blank);
        brush.styled((place.x, y), place.width, style, &text);
    }
}
