//! The ladders: each step as a sign with a word, and what is left.

use jiff::Timestamp;
use ratatui::layout::Rect;

use crate::dash::board::{LadderLine, RungLine};
use crate::dash::model::{Model, Pane};
use crate::dash::sign::{Glyphs, State};
use crate::report::{Tone, columns, cut_middle, distance};

use super::brush::Brush;
use super::layout::first;

pub(super) fn ladders(model: &Model, place: Rect, is_low: bool, brush: &mut Brush<'_>) {
    if place.height == 0 {
        return;
    }
    let is_focused = model.pane == Pane::Ladders;
    let mut rows = place;
    if !is_low {
        let title = [(Tone::Strong, " 1 ladders ".to_owned())];
        brush.rule(place, is_focused, &title, &[]);
        rows = Rect { y: place.y + 1, height: place.height - 1, ..place };
    }
    if model.board.ladders.is_empty() && rows.height > 0 {
        brush.text((rows.x + 1, rows.y), rows.width, Tone::Faint, "no config: no ladders are known");
        return;
    }
    let each = if is_low { 1 } else { 2 };
    let shown = usize::from(rows.height.div_ceil(each));
    let cursor = model.cursor(Pane::Ladders);
    // They stand in the order of what is worst, and that must be seen while the cursor is elsewhere.
    let from = if is_focused { first(cursor, usize::from(rows.height / each)) } else { 0 };
    let lines = model.board.ladders.iter().enumerate().skip(from).take(shown);
    for ((at, line), y) in lines.zip((rows.y..).step_by(usize::from(each))) {
        if is_low {
            low(line, (rows.x, y), rows.width, model, brush);
        } else {
            let head = heading(line, usize::from(rows.width.saturating_sub(1)), model.now);
            brush.runs((rows.x + 1, y), rows.width.saturating_sub(1), &head);
            if y + 1 < rows.bottom() {
                let room = usize::from(rows.width.saturating_sub(3));
                brush.runs(
                    (rows.x + 3, y + 1),
                    rows.width.saturating_sub(3),
                    &steps(line, room, model.now, brush.letters),
                );
            }
        }
        if is_focused && cursor == at {
            brush.cursor(Rect { y, height: 1, ..rows });
        }
    }
}

/// Name, what is left, and how deep requests fall; what finds no room is left out whole.
fn heading(line: &LadderLine, room: usize, now: Timestamp) -> Vec<(Tone, String)> {
    let (tone, word) = verdict(line);
    let name = cut_middle(line.ladder.as_str(), room / 2);
    let mut out = vec![(Tone::Strong, name), (tone, format!("  {word}"))];
    let figures = &line.pace.figures;
    let mut more = vec![(Tone::Plain, format!("  {} of {} steps", line.available, line.steps.len()))];
    if let Some(at) = line.returns.filter(|_| line.available == 0) {
        more.push((Tone::Bad, format!(", back {}", distance(at, now))));
    }
    if figures.exhausted > 0 {
        let tone = if line.is_exhausted() { Tone::Bad } else { Tone::Warning };
        more.push((tone, format!(", {} fell through", figures.exhausted)));
    }
    let tone = if line.domains_left <= 1 && line.domains > 1 { Tone::Warning } else { Tone::Plain };
    more.push((tone, format!(", {} of {} domains", line.domains_left, line.domains)));
    if let Some(mean) = figures.depth.mean {
        let drift = line.drift().map_or(String::new(), |drift| format!(" ({drift:+.1})"));
        more.push((Tone::Plain, format!(", depth {mean:.1}{drift}")));
    }
    let mut used: usize = out.iter().map(|(_, text)| columns(text)).sum();
    more.retain(|(_, text)| {
        let fits = used + columns(text) <= room;
        used += if fits { columns(text) } else { 0 };
        fits
    });
    out.extend(more);
    out
}

fn verdict(line: &LadderLine) -> (Tone, &'static str) {
    match () {
        () if line.is_exhausted() => (Tone::Bad, "EXHAUSTED"),
        () if line.is_one_away() => (Tone::Warning, "ONE AWAY"),
        () if line.cascade.is_some() => (Tone::Warning, "recovering"),
        () if line.available < line.steps.len() => (Tone::Warning, "answers"),
        () => (Tone::Good, "well"),
    }
}

/// One line: the name, the verdict, and the signs of the steps.
fn low(line: &LadderLine, at: (u16, u16), width: u16, model: &Model, brush: &mut Brush<'_>) {
    let (tone, word) = verdict(line);
    let name = cut_middle(line.ladder.as_str(), usize::from(width) / 3);
    let mut runs = vec![(Tone::Strong, format!("{name} ")), (tone, format!("{word} "))];
    let used: usize = runs.iter().map(|(_, text)| columns(text)).sum();
    runs.extend(steps(line, usize::from(width).saturating_sub(used), model.now, brush.letters));
    brush.runs(at, width, &runs);
}

/// How much is said of each step.
#[derive(Clone, Copy)]
enum Words {
    /// The model, the word and the time.
    All,
    /// The provider, the word and the time.
    Provider,
    /// The word and the time.
    Time,
    /// The word.
    Word,
    /// The shortest word, with less between the steps.
    Short,
    /// The sign alone: for more steps than a line can tell.
    Sign,
}

/// The steps in order, with as many words as there is room for.
fn steps(line: &LadderLine, room: usize, now: Timestamp, letters: Glyphs) -> Vec<(Tone, String)> {
    let with = |words| -> Vec<(Tone, String)> {
        let mut out = Vec::new();
        for (step, at) in line.steps.iter().zip(0..) {
            if at > 0 {
                out.push((
                    Tone::Faint,
                    if matches!(words, Words::Sign | Words::Short) { " " } else { " › " }.to_owned(),
                ));
            }
            out.push((step.state.tone(), said(step, words, now, letters)));
        }
        if let Some(last) = &line.last_resort {
            out.push((Tone::Faint, " | last: ".to_owned()));
            out.push((last.state.tone(), said(last, words, now, letters)));
        }
        out
    };
    let fits = |runs: &Vec<(Tone, String)>| runs.iter().map(|(_, text)| columns(text)).sum::<usize>() <= room;
    let ways = [Words::All, Words::Provider, Words::Time, Words::Word, Words::Short].map(with);
    ways.into_iter().find(fits).unwrap_or_else(|| with(Words::Sign))
}

fn said(step: &RungLine, words: Words, now: Timestamp, letters: Glyphs) -> String {
    let sign = step.state.sign(letters);
    let until = step.until.filter(|_| step.state != State::Free);
    let until = until.map_or(String::new(), |at| format!(" {}", distance(at, now).trim_start_matches("in ")));
    match words {
        Words::All => format!("{sign} {} {}{until}", step.name, step.word),
        Words::Provider => format!("{sign} {} {}{until}", step.name.split('/').next().unwrap_or_default(), step.word),
        Words::Time => format!("{sign} {}{until}", step.word),
        Words::Word => format!("{sign} {}", step.word),
        Words::Short => format!("{sign}{}", short_word(&step.word)),
        Words::Sign => sign.to_owned(),
    }
}

/// A class in a few letters.
fn short_word(word: &str) -> &str {
    match word {
        "rate_limit" => "rate",
        "quota_exhausted" => "quota",
        "permission" => "perm",
        "model_unavailable" => "model",
        "overloaded" => "load",
        "server_error" => "5xx",
        "network" => "net",
        "probe due" => "probe",
        "no key" => "nokey",
        word => word,
    }
}
