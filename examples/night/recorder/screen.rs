//! What a terminal shows after the bytes that it was sent.

use std::num::NonZeroU16;

use vt100::{Cell, Color, Parser};

use super::drawing::{Colour, Frame, Ink, Run, Screen};
use super::terminal::Sent;

/// Output that comes within so many seconds is one drawing.
const ONE_DRAWING: f64 = 0.03;

const LETTERS: Colour = (0xd4, 0xd7, 0xdc);
const GROUND: Colour = (0x14, 0x17, 0x1c);

/// The sixteen colours that have a number.
const PALETTE: [Colour; 16] = [
    (0x1d, 0x20, 0x26),
    (0xc4, 0x2b, 0x2b),
    (0x4c, 0x9a, 0x4c),
    (0xd9, 0xa5, 0x2b),
    (0x4a, 0x7d, 0xc4),
    (0xa3, 0x5c, 0xb5),
    (0x3f, 0xa0, 0xa8),
    (0xb8, 0xbc, 0xc4),
    (0x7d, 0x84, 0x90),
    (0xff, 0x6b, 0x62),
    (0x7e, 0xd3, 0x7a),
    (0xff, 0xd1, 0x66),
    (0x7a, 0xb0, 0xff),
    (0xd8, 0x9b, 0xee),
    (0x6f, 0xd6, 0xdc),
    (0xff, 0xff, 0xff),
];

/// What was sent, with what came almost at once put together.
pub(crate) fn drawings(sent: &[(f64, Vec<u8>)]) -> Sent {
    let mut all = Sent::new();
    for (at, bytes) in sent {
        match all.last_mut() {
            Some((last, before)) if at - *last < ONE_DRAWING => {
                before.extend_from_slice(bytes);
                *last = *at;
            }
            _ => all.push((*at, bytes.clone())),
        }
    }
    all
}

/// The screen after each drawing, at most one for each slot of so many seconds: the last of it. All where that is 0.
pub(crate) fn frames((columns, rows): (u16, u16), drawings: &[(f64, Vec<u8>)], slot: f64, until: f64) -> Vec<Frame> {
    let size = |number| NonZeroU16::new(number).expect("a terminal has room");
    let mut parser = Parser::new(size(rows), size(columns), 0);
    let mut all: Vec<Frame> = Vec::new();
    for (at, bytes) in drawings.iter().take_while(|(at, _)| *at <= until) {
        parser.process(bytes);
        let at = if slot > 0.0 { (at / slot).floor() * slot } else { *at };
        all.pop_if(|last| slot > 0.0 && last.at >= at);
        let screen = seen(parser.screen());
        if all.last().is_none_or(|last| last.screen != screen) {
            all.push(Frame { at, screen });
        }
    }
    all
}

fn seen(screen: &vt100::Screen) -> Screen {
    let (rows, columns) = screen.size();
    let row = |y| {
        let mut runs: Vec<Run> = Vec::new();
        for x in 0..columns.get() {
            let Some(cell) = screen.cell(y, x).filter(|cell| !cell.is_wide_continuation()) else { continue };
            let letter = if cell.has_contents() { cell.contents() } else { " " };
            let ink = ink(cell);
            match runs.last_mut() {
                Some(run) if run.ink == ink => run.text.push_str(letter),
                _ => runs.push(Run { column: x, text: letter.to_owned(), ink }),
            }
        }
        runs
    };
    Screen { rows: (0..rows.get()).map(row).collect() }
}

fn ink(cell: &Cell) -> Ink {
    let letters = colour(cell.fgcolor());
    let ground = colour(cell.bgcolor());
    if cell.inverse() {
        let ground = Some(letters.unwrap_or(LETTERS));
        return Ink { letters: GROUND, ground, is_bold: cell.bold() };
    }
    Ink { letters: letters.unwrap_or(LETTERS), ground, is_bold: cell.bold() }
}

fn colour(colour: Color) -> Option<Colour> {
    match colour {
        Color::Default => None,
        Color::Idx(number) => PALETTE.get(usize::from(number)).copied(),
        Color::Rgb(red, green, blue) => Some((red, green, blue)),
    }
}
