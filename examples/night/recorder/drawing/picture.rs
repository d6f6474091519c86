//! Screens as SVG: letters stay letters, in whatever fixed-width font the reader has.
//!
//! A picture that moves would be large if it held every screen. It holds each row once for as long as it stood: rows that
//! came and went at the same moments are a group, which one CSS animation shows for that part of the whole. A browser
//! that does not animate, and a person who wants nothing to move, sees one chosen moment.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::{Colour, Frame, Ink, Run, Screen};

/// The place of a letter, in the picture's units: whole ones, for there are thousands of places.
const ADVANCE: u32 = 10;
const LINE: u32 = 22;
/// From the upper edge of a row to the foot of its letters.
const FOOT: u32 = 16;
/// Around the screen.
const EDGE: u32 = 15;
/// How wide a column is where nobody says another width, in pixels.
const PIXELS: u32 = 9;

/// A piece of so many letters is fitted to its columns; a shorter one does not go far astray in any font.
const FITTED: u32 = 8;

const GROUND: Colour = (0x14, 0x17, 0x1c);

const FONTS: &str = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace";

/// One screen.
pub(crate) fn still(size: (u16, u16), title: &str, screen: &Screen) -> String {
    let inks = Inks::of([screen]);
    let mut body = String::new();
    for (row, y) in screen.rows.iter().zip(0..) {
        body.push_str(&drawn(row, y, &inks));
    }
    whole(size, title, &inks.styles(), &body)
}

/// All screens in their turn, over so many seconds and then again. Who sees nothing move sees what stood at `rest`.
pub(crate) fn animated(size: (u16, u16), title: &str, frames: &[Frame], length: f64, rest: f64) -> String {
    let inks = Inks::of(frames.iter().map(|frame| &frame.screen));
    let (length, rest) = (millis(length), millis(rest));
    let mut lengths = BTreeSet::new();
    let mut body = String::new();
    for ((from, to), rows) in groups(frames, length) {
        let drawn: String = rows.iter().map(|(y, row)| drawn(row, *y, &inks)).collect();
        if to - from >= length {
            body.push_str(&drawn);
            continue;
        }
        lengths.insert(to - from);
        let rests = if (from..to).contains(&rest) { " r" } else { "" };
        // As if it had begun so long ago that its part comes when it should.
        let ago = seconds((length - from) % length);
        let class = format!("k{}{rests}", to - from);
        writeln!(body, "<g class=\"{class}\" style=\"animation-delay:-{ago}s\">{drawn}</g>").expect("written");
    }
    let styles = inks.styles() + &movement(&lengths, length);
    whole(size, title, &styles, &body)
}

/// One animation for each length of time: seen so long, then not.
fn movement(lengths: &BTreeSet<u32>, whole: u32) -> String {
    let mut styles = "g[class]{visibility:hidden}g.r{visibility:visible}".to_owned();
    for part in lengths {
        let (share, total) = (f64::from(*part) / f64::from(whole) * 100.0, seconds(whole));
        let seen = format!("0%{{visibility:visible}}{share:.4}%,to{{visibility:hidden}}");
        write!(styles, ".k{part}{{animation:k{part} {total}s step-end infinite}}@keyframes k{part}{{{seen}}}")
            .expect("written");
    }
    styles + "@media(prefers-reduced-motion:reduce){g[class]{animation:none}}"
}

/// From when to when, in milliseconds.
type Span = (u32, u32);

/// The rows by the time in which they stood.
fn groups(frames: &[Frame], length: u32) -> BTreeMap<Span, Vec<(u32, &[Run])>> {
    let mut groups: BTreeMap<Span, Vec<(u32, &[Run])>> = BTreeMap::new();
    let rows = frames.iter().map(|frame| frame.screen.rows.len()).max().unwrap_or(0);
    for y in 0..rows {
        let mut from = 0;
        while let Some(first) = frames.get(from) {
            let is_same = |frame: &&Frame| frame.screen.rows.get(y) == first.screen.rows.get(y);
            let same = frames.iter().skip(from).take_while(is_same).count();
            let begin = if from == 0 { 0 } else { millis(first.at) };
            let end = frames.get(from + same).map_or(length, |frame| millis(frame.at));
            let runs = first.screen.rows.get(y).map_or(&[][..], Vec::as_slice);
            if runs.iter().any(|run| !run.text.trim().is_empty() || run.ink.ground.is_some()) {
                let y = u32::try_from(y).expect("few rows");
                groups.entry((begin, end)).or_default().push((y, runs));
            }
            from += same;
        }
    }
    groups
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few minutes in milliseconds")]
fn millis(seconds: f64) -> u32 {
    (seconds.max(0.0) * 1000.0).round() as u32
}

fn seconds(millis: u32) -> String {
    (f64::from(millis) / 1000.0).to_string()
}

/// A look: the colour of the letters, and whether they are bold.
type Look = (Colour, bool);

/// The looks that occur, each with a class of its own; the most frequent one needs none.
struct Inks {
    usual: Option<Look>,
    classes: BTreeMap<Look, usize>,
}

impl Inks {
    fn of<'a>(screens: impl IntoIterator<Item = &'a Screen>) -> Self {
        let mut counts: BTreeMap<Look, usize> = BTreeMap::new();
        for run in screens.into_iter().flat_map(|screen| screen.rows.iter().flatten()) {
            *counts.entry(look(&run.ink)).or_default() += 1;
        }
        let usual = counts.iter().max_by_key(|(_, count)| **count).map(|(look, _)| *look);
        let others = counts.into_keys().filter(|look| Some(*look) != usual);
        Self { usual, classes: others.zip(0..).collect() }
    }

    fn class(&self, ink: &Ink) -> String {
        self.classes.get(&look(ink)).map_or(String::new(), |number| format!(" class=\"c{number}\""))
    }

    fn styles(&self) -> String {
        let usual = self.usual.map(|look| format!("text{{{}}}", style(look)));
        let others = self.classes.iter().map(|(look, number)| format!(".c{number}{{{}}}", style(*look)));
        usual.into_iter().chain(others).collect()
    }
}

fn style((colour, is_bold): Look) -> String {
    format!("fill:{}{}", hex(colour), if is_bold { ";font-weight:700" } else { "" })
}

const fn look(ink: &Ink) -> Look {
    (ink.letters, ink.is_bold)
}

fn hex((red, green, blue): Colour) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// A row: the grounds first, then the letters.
fn drawn(row: &[Run], y: u32, inks: &Inks) -> String {
    let mut text = String::new();
    for run in row {
        if let Some(ground) = run.ink.ground {
            let width = ADVANCE * letters(&run.text);
            let (x, y, fill) = (ADVANCE * u32::from(run.column), LINE * y, hex(ground));
            write!(text, "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{LINE}\" fill=\"{fill}\"/>")
                .expect("written");
        }
    }
    for run in row {
        for (column, word) in pieces(run) {
            let (x, y, count) = (ADVANCE * column, LINE * y + FOOT, letters(word));
            // Blocks and lines must touch each other; letters keep their shape.
            let fit = match word.chars().all(is_drawing) {
                true => format!(" textLength=\"{}\" lengthAdjust=\"spacingAndGlyphs\"", ADVANCE * count),
                false if count >= FITTED => format!(" textLength=\"{}\"", ADVANCE * count),
                false => String::new(),
            };
            let (class, word) = (inks.class(&run.ink), escaped(word));
            write!(text, "<text x=\"{x}\" y=\"{y}\"{fit}{class}>{word}</text>").expect("written");
        }
    }
    text
}

/// The words of a run with their columns: where two blanks stand, a new piece begins, so that columns stay columns in any
/// font.
fn pieces(run: &Run) -> Vec<(u32, &str)> {
    let mut out = Vec::new();
    let mut column = u32::from(run.column);
    let mut rest = run.text.as_str();
    while !rest.is_empty() {
        let word = rest.trim_start_matches(' ');
        column += letters(rest) - letters(word);
        let end = word.find("  ").unwrap_or_else(|| word.trim_end().len());
        let (piece, after) = word.split_at(end);
        if !piece.is_empty() {
            out.push((column, piece));
        }
        column += letters(piece);
        rest = if piece.is_empty() { "" } else { after };
    }
    out
}

const fn is_drawing(letter: char) -> bool {
    matches!(letter, '\u{2500}'..='\u{259f}')
}

fn letters(text: &str) -> u32 {
    u32::try_from(text.chars().count()).expect("a short row")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn whole((columns, rows): (u16, u16), title: &str, styles: &str, body: &str) -> String {
    let width = ADVANCE * u32::from(columns) + 2 * EDGE;
    let height = LINE * u32::from(rows) + 2 * EDGE;
    let (wide, high) = (width * PIXELS / ADVANCE, height * PIXELS / ADVANCE);
    let (ground, title) = (hex(GROUND), escaped(title));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{wide}\" \
         height=\"{high}\" role=\"img\">\n<title>{title}</title>\n\
         <style>text{{font:16.6px {FONTS};white-space:pre}}{styles}</style>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"10\" fill=\"{ground}\"/>\n\
         <g transform=\"translate({EDGE} {EDGE})\">\n{body}</g>\n</svg>\n"
    )
}
