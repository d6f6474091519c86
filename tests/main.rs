//! The integration tests, in one binary: most of them run the real program against scripted providers on loopback.

#![expect(unreachable_pub, reason = "nothing of a test can be reached from outside; `pub` says: for the other files")]

mod aimock;
mod alarm;
mod alarm_sinks;
mod api;
mod api_talk;
mod by_hand;
mod captured;
mod cascade;
mod checks;
mod completions;
#[cfg(unix)]
mod consent;
mod damaged_files;
mod demo;
mod discipline;
mod drill;
mod exits;
mod exports;
mod exposition;
mod figures;
mod floors;
mod generated;
mod guard;
mod guard_holds;
mod hold;
mod hostile;
mod kills;
mod log;
mod many;
mod members;
mod mistakes;
mod month;
mod night;
mod orders;
mod otlp;
mod probe;
mod quality;
mod quota;
mod readme;
mod repeat;
mod reset;
mod scenarios;
mod scraper;
mod secrets;
#[cfg(unix)]
mod sessions;
mod sessions_held;
mod shapes;
mod sharing;
mod stage;
mod start;
mod state_files;
mod store_processes;
mod streams;
#[cfg(unix)]
mod talk;
mod terminal;
mod tools;
mod top;
mod usage;
mod walk;
