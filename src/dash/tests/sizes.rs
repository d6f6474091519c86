//! Whatever the size of the terminal and whatever is pressed: nothing panics, and nobody can miss that a ladder is
//! exhausted.

use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::night::{Left, model};
use super::screens::{drawn, pressed, text};
use crate::dash::{Input, Key, Options, draw, update};

const KEYS: &str = "12345hjklgGrpoyt+-[] SNUFTLVKC?/ab:q\n";

proptest! {
    #[test]
    fn any_keys_at_any_size(
        width in 0_u16..230, height in 0_u16..70, keys in "[1-5hjklgGrpoyt+\\[\\] SNUFTLVKC?/ab:qX\n-]{0,24}",
        clicks in prop::collection::vec((0_u16..240, 0_u16..80), 0..4),
    ) {
        let mut model = pressed(Left::Nobody, (width, height), &keys, Options::default());
        for (x, y) in clicks {
            update(&mut model, Input::Click(x, y));
            update(&mut model, Input::Key(Key::Esc));
            update(&mut model, Input::Wheel { up: x > y });
        }
        for key in [Key::Up, Key::End, Key::PageDown, Key::Left, Key::Tab, Key::BackTab, Key::Home, Key::Backspace] {
            update(&mut model, Input::Key(key));
        }
        drawn(&model);
    }

    #[test]
    fn nobody_can_miss_that_a_ladder_is_exhausted(
        width in 24_u16..230, height in 1_u16..70, keys in "[1-5hjklgGt\\[\\]SNUFTLVKC?/ab:\n-]{0,12}",
    ) {
        let shown = text(&drawn(&pressed(Left::Nobody, (width, height), &keys, Options::default())));
        prop_assert!(shown.contains("LADDER main IS EXH"), "{width}x{height} {keys:?}\n{shown}");
    }
}

#[test]
fn the_keys_of_the_property_are_those_that_do_something() {
    // A key that is new must be tried there as well.
    for letter in ('!'..='~').filter(|letter| !KEYS.contains(*letter) && *letter != 'q') {
        let before = model(Left::One, (80, 24), Options::default());
        let mut after = before.clone();
        let effects = update(&mut after, Input::Key(Key::Char(letter)));
        let is_known = "=X".contains(letter);
        assert!(is_known || (effects.is_empty() && after == before), "{letter:?} does something");
    }
}

#[test]
fn each_ladder_is_drawn_where_a_click_finds_it() {
    for height in 8..40 {
        let mut model = pressed(Left::Nobody, (80, height), "1", Options::default());
        let shown = text(&drawn(&model));
        let at = shown.lines().position(|line| line.trim_start().starts_with("small ")).expect("the second ladder");
        let y = u16::try_from(at).expect("a line");
        update(&mut model, Input::Click(5, y));
        assert_eq!(model.cursors[0], 1, "{height}: {shown}");
    }
}

#[test]
fn a_part_of_a_buffer_is_not_left() {
    let model = pressed(Left::Nobody, (60, 20), "?", Options::default());
    let whole = Rect { x: 0, y: 0, width: 80, height: 30 };
    let mut buffer = Buffer::filled(whole, ratatui::buffer::Cell::new("~"));
    draw(&model, Rect { x: 10, y: 5, width: 60, height: 20 }, &mut buffer);
    for y in 0..30 {
        for x in 0..80 {
            let is_inside = (10..70).contains(&x) && (5..25).contains(&y);
            assert!(is_inside || buffer[(x, y)].symbol() == "~", "{x},{y}");
        }
    }
}
