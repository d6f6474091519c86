//! What the log comes to: how often requests were answered, how deep they fell, why attempts failed, how long all of it
//! took and what it cost.
//!
//! Two views of one log must not be mixed up. A *request* is what somebody asked: it was answered as asked, or it was
//! not, whatever happened on the way; success, step depth, exhaustion and cost per answer are figures of requests. An
//! *attempt* is one exchange on the wire: failure classes, retries, times to first content and schema failures are
//! figures of attempts. A ladder can answer each request while half of the attempts fail, which is what it is for; and a
//! provider can answer every attempt with 200 and hardly ever as asked.
//!
//! Probes and calls that another program made and reported are attempts without a request: nobody here waited for an
//! answer, so they neither succeed nor exhaust anything.
//!
//! Percentiles are exact, by nearest rank: a time that was really measured. Rates are of what can succeed or fail: what a
//! person broke off (a request by Ctrl-C, an attempt whose deadline passed) says nothing about either.
//!
//! The rows are kept in memory in a compact form, some 60 bytes each, so that a dashboard can look at another span or
//! ladder without reading the file again, and adds what is new as it comes.

mod figures;
mod group;
mod journal;
mod tally;
#[cfg(test)]
mod tests;

pub use figures::{Depth, Figures, Money, Percentiles, Tokens, TokensPer};
pub use group::{By, Group, Key, Slice};
pub use journal::{Journal, Loaded};
pub use tally::Tally;
