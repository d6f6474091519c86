//! What lies over the panes: help, details, and the question before a deed.

use ratatui::layout::Rect;

use crate::dash::details;
use crate::dash::model::{Model, Overlay};
use crate::dash::update::Deed;
use crate::report::{Tone, Toned, columns};

use super::brush::Brush;

/// The widest overlay: longer lines are hard to read.
const WIDEST: u16 = 110;

const HELP: &[(&str, &str)] = &[
    ("1 - 5, tab", "ladders, deployments, quotas, attempts, metrics"),
    ("arrows, h j k l", "the line above or below, the pane before or after"),
    ("g, home, end", "the first line, the last"),
    ("enter", "all that is known of the line: evidence, rule, history, what would free it"),
    ("/", "narrow: class:auth provider:groq state:quarantine or any text; esc clears it"),
    ("shift + letter", "sort: S state, N name, U until, F fails, T ttft, L latency, V valid, K tokens, C cost"),
    ("[ ]", "figures over 1h, 6h, 24h, 7d"),
    ("space", "freeze the screen, and go on"),
    ("+ -", "read the state more or less often"),
    ("t", "colours for dark or light ground, or none"),
    ("r", "reset: clear what holds the deployment, or open the ladder; asks first"),
    ("p", "probe: ask the deployment once, now; asks first"),
    ("o", "open: bar the deployment by hand; asks first"),
    ("q, ctrl-c", "leave"),
];

const SIGNS: &str = "States, each with its sign: ok, probe due (one request may look), cooldown (a rate limit), quarantine (a \
spent quota), open (a breaker, passes by itself), barred (a person must act), full (a limit leaves no room), no key. \
Until `?3h` a probe is planned, and nobody knows whether it will be answered. \
Depth 1.9 (+1.5): requests were answered by step 1.9 on the mean, 1.5 deeper than in the same span a week before.";

/// Draws what lies over the panes, if anything does.
pub(super) fn overlay(model: &Model, body: Rect, brush: &mut Brush<'_>) {
    match &model.overlay {
        None => {}
        Some(Overlay::Help(at)) => boxed(" keys ", &help(), *at, body, brush),
        Some(Overlay::Details(subject, at)) => {
            let width = inner(body);
            let told = details::told(subject, &model.reading, &model.board, width);
            let gone = || {
                let mut gone = Toned::default();
                gone.line(Tone::Faint, "it is not in the list any more");
                (String::new(), gone)
            };
            let (title, lines) = told.unwrap_or_else(gone);
            boxed(&format!(" {title} "), &lines, *at, body, brush);
        }
        Some(Overlay::Confirm(deed)) => boxed(" sure? ", &question(deed), 0, body, brush),
    }
}

fn help() -> Toned {
    let mut out = Toned::default();
    for (keys, does) in HELP {
        out.push(Tone::Strong, format!("{keys:<16}"));
        out.line(Tone::Plain, *does);
    }
    out.line(Tone::Plain, "");
    out.line(Tone::Faint, SIGNS);
    out
}

fn question(deed: &Deed) -> Toned {
    let mut out = Toned::default();
    for line in &deed.does {
        out.line(Tone::Plain, line.clone());
    }
    out.line(Tone::Plain, "");
    out.push(Tone::Faint, "runs  ");
    out.line(Tone::Strong, deed.command());
    out.line(Tone::Plain, "");
    out.push(Tone::Warning, "y");
    out.push(Tone::Plain, " does it; any other key leaves it");
    out
}

/// The columns within the box.
fn inner(body: Rect) -> u16 {
    body.width.min(WIDEST).saturating_sub(4)
}

fn boxed(title: &str, lines: &Toned, at: usize, body: Rect, brush: &mut Brush<'_>) {
    let width = inner(body);
    if width < 4 || body.height < 3 {
        return;
    }
    let lines = flowed(lines, usize::from(width));
    let most = usize::from(body.height - 2);
    let shown = lines.len().min(most);
    let at = at.min(lines.len() - shown);
    let height = u16::try_from(shown).unwrap_or(most.try_into().unwrap_or(1)) + 2;
    let x = body.x + (body.width - width - 4) / 2;
    let place = Rect { x, y: body.y + (body.height - height) / 2, width: width + 4, height };
    brush.clear(place);
    frame(title, place, lines.len() - shown - at, brush);
    for (line, y) in lines.iter().skip(at).take(shown).zip(place.y + 1..) {
        brush.runs((place.x + 2, y), width, line);
    }
}

fn frame(title: &str, place: Rect, below: usize, brush: &mut Brush<'_>) {
    let line = brush.letters.either("─", "-");
    let side = brush.letters.either("│", "|");
    let [top_left, top_right, bottom_left, bottom_right] =
        if brush.letters == crate::dash::Glyphs::Ascii { ["+"; 4] } else { ["┌", "┐", "└", "┘"] };
    let inner = usize::from(place.width.saturating_sub(2));
    let (left, right, bottom) = (place.x, place.right() - 1, place.bottom() - 1);
    brush.text((left, place.y), place.width, Tone::Plain, &format!("{top_left}{}{top_right}", line.repeat(inner)));
    brush.text((left, bottom), place.width, Tone::Plain, &format!("{bottom_left}{}{bottom_right}", line.repeat(inner)));
    for y in place.y + 1..bottom {
        brush.text((left, y), 1, Tone::Plain, side);
        brush.text((right, y), 1, Tone::Plain, side);
    }
    brush.text((left + 2, place.y), place.width.saturating_sub(4), Tone::Strong, title);
    let hint = if below > 0 { format!(" {below} more lines below, esc leaves ") } else { " esc leaves ".to_owned() };
    brush.right(Rect { x: left, y: bottom, width: place.width.saturating_sub(2), height: 1 }, &[(Tone::Faint, hint)]);
}

/// The lines of a text, each at most so wide; what follows a break stands in by two.
fn flowed(text: &Toned, width: usize) -> Vec<Vec<(Tone, String)>> {
    let mut lines: Vec<Vec<(Tone, String)>> = vec![Vec::new()];
    let mut used = 0;
    for (tone, run) in text.runs() {
        for (nth, part) in run.split('\n').enumerate() {
            if nth > 0 {
                lines.push(Vec::new());
                used = 0;
            }
            for word in part.split_inclusive(' ') {
                let wide = columns(word);
                if used > 0 && used + columns(word.trim_end()) > width {
                    lines.push(vec![(Tone::Plain, "  ".to_owned())]);
                    used = 2;
                }
                // The blank behind the last word of a line has no room.
                let word = if used + wide > width { word.trim_end() } else { word };
                used += wide;
                if let Some(line) = lines.last_mut() {
                    line.push((*tone, word.to_owned()));
                }
            }
        }
    }
    while lines.last().is_some_and(Vec::is_empty) {
        lines.pop();
    }
    lines
}
