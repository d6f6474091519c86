//! The provider catalogue: endpoints, wire formats, limits with their reset clocks, context windows and prices.
//!
//! A new provider that speaks a known wire format is an entry in `caps.toml`, no Rust.

mod cap;
mod provider;

pub use cap::{Cap, ResetClock, SourceKind};
pub use provider::{AuthStyle, Catalog, ModelInfo, Price, ProviderInfo, Wire};
