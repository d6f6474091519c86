//! Plays a night in real time for whoever watches: a ladder falls step by step, nobody is left, and it recovers.
//!
//! ```sh
//! cargo build && cargo run --example night                     # then watch with `llmr top`, as it says
//! cargo build && cargo run --example night -- --record docs    # writes the pictures of the documentation anew
//! ```
//!
//! The providers are scripted, everything else is real: `llmr chat` is run about twice a second against them, each a
//! process of its own, with one state file. What happens when stands in `table.rs`. With `--record` some `llmr top` run in
//! terminals of several sizes meanwhile, keys are pressed in them, and what they showed is written down.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a program of its own that may just end"
)]

mod play;
mod providers;
mod recorder;
mod stage;
mod table;

use std::path::{Path, PathBuf};

use recorder::Recorder;
use stage::Stage;

/// What the command line says.
struct Given {
    program: PathBuf,
    folder: PathBuf,
    record: Option<PathBuf>,
}

#[expect(clippy::print_stdout, reason = "it says what to type")]
fn main() {
    let Given { program, folder, record } = given();
    let mut stage = Stage::set(program, folder.clone());
    match record {
        None => {
            let words: Vec<String> = stage.words().iter().map(|word| word.display().to_string()).collect();
            println!("In another terminal:\n\n  {} top\n", words.join(" "));
            play::play(&mut stage, &mut Recorder::nobody());
            println!("\nThe state stays in {}.", folder.display());
        }
        Some(into) => {
            let mut recorder = Recorder::of(stage.words());
            play::play(&mut stage, &mut recorder);
            drop(stage);
            recorder.write(&into, &folder);
            std::fs::remove_dir_all(&folder).expect("the night's own files go");
        }
    }
}

fn given() -> Given {
    let mut words = std::env::args().skip(1);
    let mut given = Given { program: beside(), folder: new_folder(), record: None };
    while let Some(word) = words.next() {
        let mut path = || PathBuf::from(words.next().expect("a path behind the option"));
        match word.as_str() {
            "--llmr" => given.program = path(),
            "--into" => given.folder = path(),
            "--record" => given.record = Some(path()),
            other => panic!("{other}: only --llmr PROGRAM, --into DIR and --record DIR are known"),
        }
    }
    assert!(given.program.is_file(), "{}: build it first (cargo build), or --llmr PROGRAM", given.program.display());
    given
}

/// The program of the same build as this one.
fn beside() -> PathBuf {
    let own = std::env::current_exe().expect("the own path");
    own.ancestors().nth(2).unwrap_or(Path::new(".")).join("llmr")
}

fn new_folder() -> PathBuf {
    std::env::temp_dir().join(format!("llmr-night-{}", std::process::id()))
}
