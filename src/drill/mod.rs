//! Playing what may go wrong, over real HTTP on loopback and on invented time.
//!
//! A ladder is a promise about a bad night, and the time to find out whether it holds is before that night. Everything
//! but the providers is real here: the config, the ladder, the wire, the sockets, the classification, the state.

mod advice;
mod asking;
mod cast;
mod compare;
mod file;
mod loopback;
mod matrix;
mod perform;
mod plot;
mod process;
mod pure;
mod stage;
mod told;
mod ways;

use std::path::Path;
use std::sync::Mutex;
use std::sync::PoisonError;

use crate::config::Config;
use crate::domain::LadderName;

pub use advice::advice;
pub use file::{Act, Ask, Expect, Part, Scenario, Then};
pub use matrix::{BURST, Row, matrix, matrix_text};
pub use perform::{Asked, Played, Terms};
pub use plot::Kind;
pub use told::{drill_text, play_json};
pub use ways::Way;

use loopback::Loopback;
use plot::Plot;
use pure::Pure;
use stage::{Ground, Stage};

impl Scenario {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn read(text: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|error| error.to_string())
    }
}

/// Plays a scenario's file with its state in `folder`: what differs from what it expects, act by act; nothing when it
/// goes as it says.
pub fn play_file(scenario: &Scenario, folder: &Path) -> Vec<String> {
    play_on(scenario, Loopback::new(folder)).0
}

/// The same without a socket, a thread or a wait, on invented time; and how many requests that were.
pub fn play_pure(scenario: &Scenario) -> (Vec<String>, usize) {
    play_on(scenario, Pure::new())
}

fn play_on(scenario: &Scenario, ground: impl Ground) -> (Vec<String>, usize) {
    match Stage::set(scenario, ground) {
        Ok(mut stage) => (stage.play(&scenario.acts), stage.sent),
        Err(error) => (vec![format!("  {error}\n")], 0),
    }
}

/// How many plays go on at the same time: most of them wait most of the time.
const AT_ONCE: usize = 4;

/// Plays these scenarios on a ladder of the config, with scripted providers in the place of all real ones.
///
/// # Errors
/// When there is no such ladder, or no port or thread can be had.
pub fn drill(config: &Config, ladder: &LadderName, kinds: &[Kind], terms: &Terms) -> Result<Vec<Played>, String> {
    let plots: Vec<Plot> = kinds.iter().flat_map(|kind| Plot::all_of(*kind, config, ladder)).collect();
    let waiting = Mutex::new(plots.iter().enumerate());
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || {
        let mut done = Vec::new();
        while let Some((at, plot)) = next() {
            done.push((at, perform::perform(config, ladder, plot, terms)));
        }
        done
    };
    let mut done = Vec::new();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(work)).collect();
        threads.into_iter().for_each(|thread| done.extend(thread.join().unwrap_or_default()));
    });
    done.sort_by_key(|(at, _)| *at);
    if done.len() < plots.len() {
        return Err("a play ended without a result".to_owned());
    }
    done.into_iter().map(|(_, played)| played).collect()
}

#[cfg(test)]
mod nights;
#[cfg(test)]
mod tests;
