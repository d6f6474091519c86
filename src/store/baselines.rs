//! Verdicts that are kept, so that later ones on the same input can be compared with them.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;

/// The longest value that is a verdict, in bytes of JSON: what is longer is content.
pub const LONGEST_VERDICT: usize = 1000;

/// What was said of one input, under a name that its user gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Baseline {
    /// The name.
    pub name: String,
    /// A salted digest of what was asked.
    pub input: String,
    /// Of how many runs it was made.
    pub runs: u32,
    /// When.
    pub at: Timestamp,
    /// The request that stands for it in the log.
    pub request_id: String,
    /// Who said so.
    pub deployment: String,
    /// When something was last compared with it; at first, when it was kept.
    pub compared_at: Timestamp,
    /// The values by their JSON pointers.
    pub values: BTreeMap<String, Value>,
}
