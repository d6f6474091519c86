//! What stands on the screen, and how it looks.

use std::fmt::Write as _;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::night::{Left, model};
use crate::dash::{Glyphs, Input, Key, Model, Options, Theme, draw, update};

pub(super) fn drawn(model: &Model) -> Buffer {
    let area = Rect { x: 0, y: 0, width: model.size.0, height: model.size.1 };
    let mut buffer = Buffer::empty(area);
    draw(model, area, &mut buffer);
    buffer
}

/// The letters, with a mark at the right edge.
pub(super) fn text(buffer: &Buffer) -> String {
    let mut out = String::new();
    for y in 0..buffer.area.height {
        let mut skip = 0;
        for x in 0..buffer.area.width {
            let symbol = buffer[(x, y)].symbol();
            if skip == 0 {
                out.push_str(symbol);
            }
            skip = if skip > 0 { skip - 1 } else { crate::report::columns(symbol).saturating_sub(1) };
        }
        out.push_str("|\n");
    }
    out
}

/// The runs of each line that do not look plain.
fn looks(buffer: &Buffer) -> String {
    let mut out = String::new();
    for y in 0..buffer.area.height {
        let mut x = 0;
        while x < buffer.area.width {
            let style = buffer[(x, y)].style();
            let mut run = String::new();
            while x < buffer.area.width && buffer[(x, y)].style() == style {
                run.push_str(buffer[(x, y)].symbol());
                x += 1;
            }
            let (fg, bg, how) = (style.fg, style.bg, style.add_modifier);
            let is_plain = (fg, bg) == (Some(ratatui::style::Color::Reset), Some(ratatui::style::Color::Reset));
            let has_look = !is_plain || !how.is_empty();
            if has_look && !run.trim().is_empty() {
                let color =
                    |color: Option<ratatui::style::Color>| color.map_or("-".to_owned(), |color| color.to_string());
                let _ = writeln!(out, "{y:>2} {:<12} on {:<8} {how:?} {:?}", color(fg), color(bg), run.trim());
            }
        }
    }
    out
}

fn screen(left: Left, size: (u16, u16), keys: &str) -> String {
    text(&drawn(&pressed(left, size, keys, Options::default())))
}

/// The screen after some keys; `\n` is enter.
pub(super) fn pressed(left: Left, size: (u16, u16), keys: &str, options: Options) -> Model {
    let mut model = model(left, size, options);
    for key in keys.chars() {
        let key = if key == '\n' { Key::Enter } else { Key::Char(key) };
        update(&mut model, Input::Key(key));
    }
    model
}

const SMALL: (u16, u16) = (80, 24);

#[test]
fn each_pane_at_three_sizes() {
    for (width, height) in [SMALL, (200, 60), (40, 12)] {
        for (pane, keys) in
            [("ladders", "1"), ("deployments", "2"), ("quotas", "3"), ("attempts", "4"), ("metrics", "5")]
        {
            insta::assert_snapshot!(format!("{pane}_{width}x{height}"), screen(Left::One, (width, height), keys));
        }
    }
}

#[test]
fn the_whole_at_three_sizes() {
    insta::assert_snapshot!("exhausted_80x24", screen(Left::Nobody, SMALL, ""));
    insta::assert_snapshot!("exhausted_200x60", screen(Left::Nobody, (200, 60), ""));
    insta::assert_snapshot!("exhausted_40x12", screen(Left::Nobody, (40, 12), ""));
}

#[test]
fn what_lies_over_the_panes() {
    insta::assert_snapshot!("help_80x24", screen(Left::Nobody, SMALL, "?"));
    insta::assert_snapshot!("details_deployment_80x24", screen(Left::Nobody, SMALL, "2jj\n"));
    insta::assert_snapshot!("details_ladder_80x24", screen(Left::Nobody, SMALL, "1\n"));
    insta::assert_snapshot!("details_request_80x24", screen(Left::Nobody, SMALL, "4jj\n"));
    insta::assert_snapshot!("details_quota_80x24", screen(Left::Nobody, SMALL, "3\n"));
    insta::assert_snapshot!("sure_reset_80x24", screen(Left::Nobody, SMALL, "2r"));
    insta::assert_snapshot!("sure_open_80x24", screen(Left::One, SMALL, "2jjjjjo"));
}

#[test]
fn dark_light_and_mono_say_the_same_in_other_looks() {
    let with = |theme| drawn(&pressed(Left::Nobody, SMALL, "", Options { theme, ..Options::default() }));
    let (dark, light, mono) = (with(Theme::Dark), with(Theme::Light), with(Theme::Mono));
    assert_eq!(text(&dark), text(&light));
    assert_eq!(text(&dark), text(&mono));
    insta::assert_snapshot!("looks_dark", looks(&dark));
    insta::assert_snapshot!("looks_light", looks(&light));
    insta::assert_snapshot!("looks_mono", looks(&mono));
}

#[test]
fn ascii_alone_is_enough() {
    let options = Options { letters: Glyphs::Ascii, ..Options::default() };
    for keys in ["", "1", "3", "4", "5", "?", "2\n", "2r", "/abc"] {
        let shown = text(&drawn(&pressed(Left::Nobody, (120, 40), keys, options.clone())));
        assert!(shown.is_ascii(), "{keys:?}: {shown}");
    }
    insta::assert_snapshot!("ascii_80x24", text(&drawn(&pressed(Left::Nobody, SMALL, "", options))));
}
