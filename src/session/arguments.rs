//! Whether a call can be run as the model wrote it.

use serde_json::Value;

use crate::config::ToolConfig;
use crate::domain::{MASK, ToolCall, excerpt};

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
    let schema = match jsonschema::validator_for(&tool.schema) {
        Ok(schema) => schema,
        Err(error) => return Some(format!("the tool's schema is none: {}", excerpt(&error.to_string(), COMPLAINT))),
    };
    let complaint = |error: jsonschema::ValidationError<'_>| {
        let at = error.instance_path().to_string();
        let place = if at.is_empty() { "the arguments".to_owned() } else { at };
        excerpt(&format!("{place}: {error}"), COMPLAINT)
    };
    let found: Vec<String> = schema.iter_errors(&arguments).take(COMPLAINTS).map(complaint).collect();
    (!found.is_empty()).then(|| format!("the arguments are not as the tool wants them: {}", found.join("; ")))
}
