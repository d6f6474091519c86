//! The page of screens as text.

use std::fmt::Write;

use super::Screen;

/// A moment, as terminals of several sizes showed it.
pub(crate) struct Scene {
    pub(crate) title: String,
    pub(crate) says: String,
    pub(crate) screens: Vec<((u16, u16), Screen)>,
}

/// The whole page.
pub(crate) fn page(intro: &str, scenes: &[Scene]) -> String {
    let mut text = format!("# The dashboard\n\n{intro}\n");
    for scene in scenes {
        write!(text, "\n## {}\n\n{}\n", scene.title, scene.says).expect("written");
        for ((columns, rows), screen) in &scene.screens {
            write!(text, "\n{columns} columns, {rows} rows:\n\n```text\n{}\n```\n", screen.text()).expect("written");
        }
    }
    text
}
