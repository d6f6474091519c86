//! The provider catalogue: endpoints, wire formats, limits with their reset clocks, context windows and prices.
//!
//! A new provider that speaks a known wire format is an entry in `caps.toml`, no Rust.

mod builtin;
mod cap;
mod duration;
mod family;
mod lookup;
mod nearest;
mod provider;
mod reset;

pub use builtin::CatalogError;
pub use cap::{Cap, ResetClock, SourceKind};
pub use duration::{format_duration, parse_duration};
pub use family::{makes, model_family};
pub use lookup::matches_pattern;
pub use nearest::nearest_word;
pub use provider::{AuthStyle, Catalog, HeaderWindows, ModelInfo, Price, ProviderInfo, ToolIds, Wire};
pub use reset::zone;
