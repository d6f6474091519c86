//! The library as its users see it: few words, each with one meaning, and nothing of how it is done.
//!
//! All that is decided is decided on the floors below, for the program and for this door alike. What stands here only
//! puts them together for a process that lives long ([`worker`] says how) and translates what comes out into types that can
//! grow: structs and enums that are read, not built, and builders for what goes in. An enum that a newer version could not
//! give one more case without breaking its users stands in the list of `tests/exports.rs`, with the reason.

mod answered;
mod builder;
mod calls;
mod desk;
mod engine;
mod error;
mod plan;
mod request;
mod router;
mod session;
mod state;
mod talks;
mod tool;
mod toolbox;
mod watcher;
mod worker;

pub use answered::{Answered, Attempt, Ending, Skipped, Unanswered};
pub use builder::RouterBuilder;
pub use calls::{Admission, Call, Held, Outcome, Pass, Recorded};
pub use error::Error;
pub use plan::{Plan, Planned};
pub use request::Request;
pub use router::Router;
pub use session::{Session, Turn};
pub use tool::{Invocation, PendingCall, Tool, ToolRun};
pub use watcher::{NobodyReads, Watcher};
