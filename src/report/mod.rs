//! Results and metrics as text, tables and JSON: data in, text out.

mod caps;
mod chat;
mod check;
pub mod classify;
mod log;
mod moment;
mod plan;
mod status;

pub use caps::{caps_json, caps_table};
pub use chat::{attempt_line, chat_json, skip_line, trail};
pub use check::{check_json, check_text};
pub use log::{capture_json, request_json, request_text, requests_text};
pub use moment::{distance, rfc3339, span};
pub use plan::Plan;
pub use status::{Known, Status, hold_id, hold_json};
