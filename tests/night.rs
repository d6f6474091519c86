//! The writers of the pictures in the documentation: what terminals showed goes in, files come out.
#![cfg(test)]

#[path = "../examples/night/recorder/drawing/mod.rs"]
mod drawing;

use drawing::{Frame, Ink, Run, Scene, Screen, animated, cast, page, still};
use serde_json::{Value, json};

const PLAIN: Ink = Ink { letters: (0xd4, 0xd7, 0xdc), ground: None, is_bold: false };
const ALARM: Ink = Ink { letters: (0xff, 0xff, 0xff), ground: Some((0xc4, 0x2b, 0x2b)), is_bold: true };

fn run(column: u16, text: &str, ink: Ink) -> Run {
    Run { column, text: text.to_owned(), ink }
}

fn screen(rows: Vec<Vec<Run>>) -> Screen {
    Screen { rows }
}

fn frame(at: f64, second: &str) -> Frame {
    Frame { at, screen: screen(vec![vec![run(0, "always", PLAIN)], vec![run(0, second, PLAIN)]]) }
}

#[test]
fn a_cast_has_a_head_and_whole_letters() {
    let bytes = "a●b".as_bytes();
    let sent = [(0.5, bytes[..2].to_vec()), (0.75, bytes[2..].to_vec())];
    let text = cast((100, 30), "title", &sent);
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!((&lines[0]["version"], &lines[0]["width"], &lines[0]["height"]), (&json!(2), &json!(100), &json!(30)));
    assert_eq!(lines[1..], [json!([0.5, "o", "a"]), json!([0.75, "o", "●b"])]);
}

#[test]
fn a_picture_keeps_columns_escapes_and_paints_grounds() {
    let row = vec![run(0, "a<b  c&d ", PLAIN), run(9, "IT IS SO", ALARM), run(17, " ", PLAIN)];
    let svg = still((20, 2), "one & only", &screen(vec![vec![], row]));
    for part in [
        "<title>one &amp; only</title>",
        "<text x=\"0\" y=\"38\">a&lt;b</text><text x=\"50\" y=\"38\">c&amp;d</text>",
        "<rect x=\"90\" y=\"22\" width=\"80\" height=\"22\" fill=\"#c42b2b\"/>",
        "<text x=\"90\" y=\"38\" textLength=\"80\" class=\"c0\">IT IS SO</text>",
        "text{fill:#d4d7dc}.c0{fill:#ffffff;font-weight:700}",
        "viewBox=\"0 0 230 74\"",
    ] {
        assert!(svg.contains(part), "{part} in {svg}");
    }
}

#[test]
fn blocks_are_stretched_so_that_they_touch() {
    let svg = still((9, 1), "", &screen(vec![vec![run(0, "██░░", PLAIN)]]));
    assert!(svg.contains("<text x=\"0\" y=\"16\" textLength=\"40\" lengthAdjust=\"spacingAndGlyphs\">██░░<"), "{svg}");
}

#[test]
fn a_row_that_stays_is_drawn_once_and_others_for_their_time() {
    let frames = [frame(0.2, "one"), frame(2.0, "two"), frame(6.0, "one")];
    let svg = animated((20, 2), "", &frames, 8.0, 3.0);
    assert_eq!(svg.matches(">always<").count(), 1, "{svg}");
    // From the beginning, from the second second (six before the end), and from the sixth.
    for part in [
        "<g class=\"k2000\" style=\"animation-delay:-0s\"><text x=\"0\" y=\"38\">one<",
        "<g class=\"k4000 r\" style=\"animation-delay:-6s\"><text x=\"0\" y=\"38\">two<",
        "<g class=\"k2000\" style=\"animation-delay:-2s\"><text x=\"0\" y=\"38\">one<",
        "@keyframes k4000{0%{visibility:visible}50.0000%,to{visibility:hidden}}",
        ".k2000{animation:k2000 8s step-end infinite}",
        "prefers-reduced-motion",
    ] {
        assert!(svg.contains(part), "{part} in {svg}");
    }
    assert_eq!(svg.matches("class=\"k4000 r\"").count(), 1, "one moment is seen where nothing moves");
    assert_eq!(svg.matches(" r\"").count(), 1);
}

#[test]
fn a_page_shows_each_moment_in_its_sizes() {
    let screen = screen(vec![vec![run(0, "  ok   ", PLAIN)], vec![run(0, "   ", PLAIN)]]);
    let scene = Scene { title: "Quiet".to_owned(), says: "All is well.".to_owned(), screens: vec![((80, 24), screen)] };
    let text = page("Intro.", &[scene]);
    assert_eq!(
        text,
        "# The dashboard\n\nIntro.\n\n## Quiet\n\nAll is well.\n\n80 columns, 24 rows:\n\n```text\n  ok\n```\n"
    );
}
