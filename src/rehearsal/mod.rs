//! Scripted providers on loopback that speak the real wire formats and misbehave on cue.
//!
//! A rehearsal is only worth something if everything but the provider is real: sockets, HTTP, the wire format, SSE,
//! the error bodies. So a scripted provider is a small HTTP server of its own, and what it says is data. Threads of the
//! standard library are enough and start in microseconds; nobody here sleeps, a pause between two pieces is a read
//! with a timeout, which also notices at once when the client goes away or the provider is dropped.
//!
//! Where a thousand nights are to be tried out, the same words are said without a socket, on invented time.

mod http;
#[doc(hidden)]
pub mod night;
mod play;
mod render;
mod script;
mod server;
mod speech;
mod voices;

pub use http::Seen;
pub use script::{Case, Reply, Script};
pub use server::Provider;
#[doc(hidden)]
pub use voices::Voices;

#[cfg(test)]
mod tests;
