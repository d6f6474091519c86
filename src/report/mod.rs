//! Results as text, tables and JSON: data in, text out.

mod caps;
mod check;
mod span;

pub use caps::{caps_json, caps_table};
pub use check::{check_json, check_text};
pub use span::short_span;
pub mod classify;
