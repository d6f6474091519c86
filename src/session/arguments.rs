//! Whether a call can be run as the model wrote it.

use serde_json::Value;

use crate::config::ToolConfig;
use crate::domain::{MASK, ToolCall, excerpt};
use crate::validate::{compiled, placed};

/// How much of a complaint is told, in characters.
const COMPLAINT: usize = 300;

/// How many complaints are told.
const COMPLAINTS: usize = 5;

/// What is wrong with the arguments, for the model to mend; nothing when they are as the tool wants them.
pub(super) fn trouble(tool: &ToolConfig, call: &ToolCall) -> Option<String> {
    if let Some(why) = call.trouble() {
        return Some(format!("the arguments cannot be used: {}", excerpt(&why, COMPLAINT)));
    }
    // What is kept holds no keys, and what is kept is what would be run.
    if call.arguments.contains(MASK) {
        return Some("the arguments hold a key, and keys are not passed on; a tool has its own".to_owned());
    }
    let arguments: Value = serde_json::from_str(&call.arguments).ok()?;
    let schema = match compiled(&tool.schema) {
        Ok(schema) => schema,
        Err(error) => return Some(format!("the tool's schema is none: {error}")),
    };
    let errors = schema.iter_errors(&arguments).take(COMPLAINTS);
    let found: Vec<String> = errors.map(|error| placed(&error, "the arguments")).collect();
    (!found.is_empty()).then(|| format!("the arguments are not as the tool wants them: {}", found.join("; ")))
}
