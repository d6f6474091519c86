//! The dashboard: what an operator leaves open all day and reaches for at night.
//!
//! It answers four questions, in this order, from the first line down: is any ladder exhausted, or one failure away from
//! it; who is held, by what, why and until when, and who says so; what happened lately; what will run out next. Whatever
//! the size of the terminal, the answer to the first one is on the screen.
//!
//! It is a pure machine in three parts. A [`Reading`] is what the state said at one moment; the [`Model`] is the reading
//! with what the person chose to look at; `update` makes the next model of an input and says what is to be done outside;
//! `view` draws a model into a buffer. Nothing here reads a clock, a file or a terminal, so each screen and each key can
//! be tested without them.
//!
//! The state is never told by colour alone: each has a sign and a word.

mod advice;
mod board;
mod details;
mod filter;
mod input;
mod json;
mod model;
mod reading;
mod sign;
mod sort;
mod update;
mod view;

pub use input::{Input, Key};
pub use json::snapshot_json;
pub use model::{Model, Options};
pub use reading::{Before, Measured, Pace, Reading, Rung, Rungs, Span};
pub use sign::Glyphs;
pub use update::{Deed, Effect, update};
pub use view::{Theme, draw};

#[cfg(test)]
mod tests;
