//! Watches the night in terminals of several sizes and writes down what they showed.

pub(crate) mod drawing;
mod screen;
mod terminal;

use std::fs;
use std::path::{Path, PathBuf};

use drawing::{Scene, Screen, animated, cast, page, still};
use llmr::clock::Stopwatch;
use screen::{drawings, frames};
use terminal::{Sent, Terminal};

use crate::table::{LENGTH, Moment, PAGE, RECORDING, STILL, Who};

/// The picture changes at most so often, in seconds: twice as often would take twice the bytes.
const SLOT: f64 = 1.0;

/// The last screen stays for so long before the picture begins anew, in seconds.
const STAYS: f64 = 3.0;

const TITLE: &str = "llmr top: a ladder falls step by step, is exhausted, and recovers";

const INTRO: &str = "What `llmr top` shows during one night, as text. The night is played by `cargo run --example night`:\n\
                     scripted providers fail one after the other, each in its own way, and `llmr chat` asks them twice\n\
                     a second. With `--record docs` it writes this page and the pictures beside it.";

/// The terminals of a recording; none when nobody records.
pub(crate) struct Recorder {
    words: Vec<PathBuf>,
    terminals: Vec<Terminal>,
    watch: Option<Stopwatch>,
    moments: Vec<(f64, &'static Moment)>,
}

impl Recorder {
    /// Records nothing.
    pub(crate) const fn nobody() -> Self {
        Self { words: Vec::new(), terminals: Vec::new(), watch: None, moments: Vec::new() }
    }

    /// Records what the program shows that these words start.
    pub(crate) fn of(words: Vec<PathBuf>) -> Self {
        Self { words, ..Self::nobody() }
    }

    /// Starts the terminals, where there are to be some.
    pub(crate) fn begin(&mut self, watch: Stopwatch) {
        self.watch = Some(watch);
        if !self.words.is_empty() {
            let sizes = std::iter::once(RECORDING).chain(PAGE);
            self.terminals = sizes.map(|size| Terminal::start(&self.words, size, watch)).collect();
        }
    }

    pub(crate) fn press(&mut self, who: Who, keys: &str) {
        for terminal in &mut self.terminals {
            let is_recording = terminal.size == RECORDING;
            if who == Who::Everybody || is_recording == (who == Who::Recording) {
                terminal.press(keys);
            }
        }
    }

    /// This is a moment for the page.
    pub(crate) fn note(&mut self, moment: &'static Moment) {
        let at = self.watch.map_or(0.0, |watch| watch.elapsed().as_secs_f64());
        self.moments.push((at, moment));
    }

    /// Ends the terminals and writes the files.
    pub(crate) fn write(self, into: &Path, folder: &Path) {
        let end = |terminal: Terminal| (terminal.size, drawings(&terminal.end()));
        let all: Vec<((u16, u16), Sent)> = self.terminals.into_iter().map(end).collect();
        let sent = |size| all.iter().find(|(one, _)| *one == size).map(|(_, sent)| sent).expect("such a terminal");
        let at = |size, at| frames(size, sent(size), 0.0, at).pop().map_or(Screen::default(), |last| last.screen);
        let scenes: Vec<Scene> =
            self.moments.iter().map(|(time, moment)| scene(moment, |size| at(size, *time))).collect();
        let moving = frames(RECORDING, sent(RECORDING), SLOT, LENGTH);
        let (whole, rest) = (LENGTH + STAYS, STILL);
        write(into, "top.cast", &cast(RECORDING, TITLE, sent(RECORDING)), folder);
        write(into, "top.svg", &animated(RECORDING, TITLE, &moving, whole, rest), folder);
        write(into, "top-exhausted.svg", &still(RECORDING, TITLE, &at(RECORDING, STILL)), folder);
        write(into, "top.md", &page(INTRO, &scenes), folder);
    }
}

fn scene(moment: &Moment, screen: impl Fn((u16, u16)) -> Screen) -> Scene {
    let screens = moment.sizes.iter().map(|size| (*size, screen(*size))).collect();
    Scene { title: moment.title.to_owned(), says: moment.says.to_owned(), screens }
}

/// Writes a file, unless it would tell of this machine.
#[expect(clippy::print_stdout, reason = "it says what it made")]
fn write(into: &Path, name: &str, text: &str, folder: &Path) {
    let own = [folder.to_path_buf(), std::env::temp_dir(), std::env::current_dir().expect("a directory")];
    for path in own.iter().filter_map(|path| path.to_str()).filter(|path| path.len() > 1) {
        assert!(!text.contains(path), "{name} would name {path}");
    }
    fs::create_dir_all(into).expect("a folder");
    let path = into.join(name);
    fs::write(&path, text).expect("written");
    println!("{}: {} kB", path.display(), text.len().div_ceil(1000));
}
