//! Playing what may go wrong, over real HTTP on loopback and on invented time.
//!
//! A ladder is a promise about a bad night, and the time to find out whether it holds is before that night. Everything
//! but the providers is real here: the config, the ladder, the wire, the sockets, the classification, the state.

mod asking;
mod compare;
mod file;
mod matrix;
mod process;
mod stage;
mod ways;

use std::path::Path;

pub use file::{Act, Ask, Expect, Part, Scenario, Then};
pub use matrix::{BURST, Row, matrix, matrix_text};
pub use ways::Way;

use stage::Stage;

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
    match Stage::set(scenario, folder) {
        Ok(mut stage) => stage.play(&scenario.acts),
        Err(error) => vec![format!("  {error}\n")],
    }
}
