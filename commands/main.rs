//! The `llmr` program.

fn main() {}
