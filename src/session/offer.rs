//! Which tools a model may use, and how often.

use std::collections::BTreeMap;

use crate::config::{Config, ToolConfig};
use crate::domain::{LadderName, Tool, excerpt};
use crate::process::{Lack, lack};

/// How much of the name of a program is told, in characters.
const PROGRAM: usize = 400;

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

/// A tool cannot be offered: it could only fail.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the tool `{tool}` needs the program `{program}`, which {lack}")]
pub struct NoProgram {
    /// The tool.
    pub tool: String,
    /// What it runs.
    pub program: String,
    /// What stands against running it.
    pub lack: Lack,
}

/// Whether the commands of these tools can be started, as far as that is seen beforehand. `path` is the variable `PATH`.
///
/// # Errors
/// The first that cannot.
pub fn startable<'a>(tools: impl Iterator<Item = &'a ToolConfig>, path: &str) -> Result<(), NoProgram> {
    let lacking = |tool: &'a ToolConfig| {
        let program = tool.command.first()?;
        let lack = lack(program, path)?;
        Some(NoProgram { tool: tool.name.clone(), program: excerpt(program, PROGRAM), lack })
    };
    tools.filter_map(lacking).next().map_or(Ok(()), Err)
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
