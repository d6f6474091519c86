//! Results as text, tables and JSON: data in, text out.

mod caps;
mod span;

pub use caps::{caps_json, caps_table};
pub use span::short_span;
