//! The one driver: asks the ladder what to do, does it, and writes down what came of it.
//!
//! All judgement lives below: the ladder decides whom to ask, `classify` what a failure is, `policy` what it changes.
//! This module owns the sockets, the only sleep, and the order of things: read the holds, ask, classify, and commit the
//! attempt with its consequences in one transaction before anything else is asked.

mod assemble;
mod drive;
mod exchange;
mod fallback;
mod fingerprint;
mod job;
mod judge;
mod keep;
mod observer;
mod record;
mod settle;

pub use assemble::{Assembled, Outside, assemble, direct};
pub use drive::{Router, Stop, pause, run};
pub use fallback::FallbackStore;
pub use fingerprint::fingerprint;
pub use job::{Job, Lane};
pub use observer::{ConsumerGone, Observer, Silent};
pub use record::Report;
