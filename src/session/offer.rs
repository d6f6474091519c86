//! Which tools a model may use, and how often.

use std::collections::BTreeMap;

use crate::config::{Config, ToolConfig};
use crate::domain::{LadderName, Tool};

/// The names of the tools that the model may use: those of the ladder, those that the conversation was begun with, as far
/// as there still are such, and those that are wanted now.
///
/// # Errors
/// The name of which there is no tool.
pub fn offered_names(
    tools: &BTreeMap<String, ToolConfig>,
    of_ladder: &[String],
    kept: &[String],
    wanted: &[String],
) -> Result<Vec<String>, String> {
    let kept = kept.iter().filter(|name| tools.contains_key(*name));
    let mut names: Vec<String> = Vec::new();
    for name in of_ladder.iter().chain(kept).chain(wanted) {
        if !tools.contains_key(name) {
            return Err(name.clone());
        }
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    Ok(names)
}

/// What the model is told of the tools.
pub fn declared(tools: &BTreeMap<String, ToolConfig>, names: &[String]) -> Vec<Tool> {
    let tool = |tool: &ToolConfig| Tool {
        name: tool.name.clone(),
        description: tool.description.clone(),
        schema: tool.schema.clone(),
    };
    names.iter().filter_map(|name| tools.get(name).map(tool)).collect()
}

/// The tools of the ladder.
pub fn tools_of<'a>(config: &'a Config, ladder: &LadderName) -> &'a [String] {
    config.ladders.get(ladder).map(|ladder| ladder.tools.as_slice()).unwrap_or_default()
}

/// How often in a row they may be used.
pub fn rounds_in(config: &Config, ladder: &LadderName) -> u32 {
    config.ladders.get(ladder).map_or(config.limits.tool_rounds, |ladder| ladder.limits.tool_rounds)
}
