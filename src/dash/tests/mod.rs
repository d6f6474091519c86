//! The screens, the keys and the sizes, without a terminal.

mod keys;
mod night;
mod screens;
mod sizes;
