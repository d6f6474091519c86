//! Sends a prompt down a ladder of LLM deployments, understands why an attempt failed, remembers it where every other
//! process can see it, and does not ask again before asking can help.
//!
//! The modules are floors of one house; imports run downward only (a test reads the sources and fails on an upward
//! one). From the lowest floor up: `domain`, `clock`, `process`, `catalog`, `classify`, `policy`, `ladder`, `config`,
//! `store`, `metrics`, `wire`, `transport`, `route`, `session`, `report` and `rehearsal`, and on top `drill`, which plays all of it against
//! scripted providers, and `dash`, which draws it.

pub mod catalog;
pub mod classify;
pub mod clock;
pub mod config;
pub mod dash;
pub mod domain;
pub mod drill;
pub mod ladder;
pub mod metrics;
pub mod policy;
pub mod process;
pub mod rehearsal;
pub mod report;
pub mod route;
pub mod session;
pub mod store;
pub mod transport;
pub mod wire;
