//! The integration tests, in one binary.

mod store_processes;
