//! What a request says of tools, and what comes of that on its ladder.

use std::collections::BTreeMap;
use std::fmt;

use crate::config::{Config, ToolConfig};
use crate::domain::{ChatRequest, LadderName, ToolChoice};
use crate::host::environment;
use crate::session::{declared, offered_names, rounds_in, startable, tools_of};

use super::error::Error;
use super::tool::{Consent, Run, Tool};

/// What a request says of tools.
#[derive(Clone, Default)]
pub(super) struct Tooling {
    pub(super) own: Vec<Tool>,
    pub(super) named: Vec<String>,
    /// What a conversation was begun with.
    pub(super) kept: Vec<String>,
    pub(super) none: bool,
    pub(super) choice: Option<ToolChoice>,
    pub(super) rounds: Option<u32>,
    pub(super) consent: Option<Consent>,
}

impl fmt::Debug for Tooling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tooling").field("own", &self.own).field("named", &self.named).finish_non_exhaustive()
    }
}

/// The tools that there are for one request.
pub(super) struct Toolbox {
    pub(super) tools: BTreeMap<String, ToolConfig>,
    pub(super) offered: Vec<String>,
    pub(super) runs: BTreeMap<String, Run>,
    pub(super) rounds: u32,
    pub(super) consent: Option<Consent>,
}

impl Toolbox {
    /// Puts it together, and declares in the request what the model may use.
    ///
    /// # Errors
    /// When a tool cannot be used as it is, or there is none of a name.
    pub(super) fn open(
        tooling: Tooling,
        config: &Config,
        ladder: &LadderName,
        chat: &mut ChatRequest,
    ) -> Result<Self, Error> {
        let Tooling { own, mut named, kept, none, choice, rounds, consent } = tooling;
        let (mut tools, mut runs) = (config.tools.clone(), BTreeMap::new());
        for tool in own {
            let (tool, run) = tool.settled()?;
            if runs.insert(tool.name.clone(), run).is_some() {
                return Err(Error::Tool { message: format!("there are two tools `{}`", tool.name) });
            }
            named.push(tool.name.clone());
            // It stands for a tool of the config that has the same name.
            tools.insert(tool.name.clone(), tool);
        }
        let of_ladder = tools_of(config, ladder);
        let unknown = |name| {
            let known: Vec<&str> = config.tools.keys().map(String::as_str).collect();
            Error::Tool { message: format!("the config has no tool `{name}`; it has: {}", known.join(", ")) }
        };
        let offered =
            if none { Vec::new() } else { offered_names(&tools, of_ladder, &kept, &named).map_err(unknown)? };
        let commands = offered.iter().filter(|name| !runs.contains_key(*name)).filter_map(|name| tools.get(name));
        let path = environment().remove("PATH").unwrap_or_default();
        startable(commands, &path).map_err(|error| Error::Tool { message: error.to_string() })?;
        chat.tools = declared(&tools, &offered);
        chat.tool_choice = chosen(choice, &offered)?;
        let rounds = rounds.unwrap_or_else(|| rounds_in(config, ladder));
        Ok(Self { tools, offered, runs, rounds, consent })
    }

    /// Whether a command may have to be run.
    pub(super) fn has_commands(&self) -> bool {
        self.offered.iter().any(|name| !self.runs.contains_key(name))
    }
}

fn chosen(choice: Option<ToolChoice>, offered: &[String]) -> Result<Option<ToolChoice>, Error> {
    let missing = match &choice {
        Some(ToolChoice::Named(name)) if !offered.contains(name) => Some(name.as_str()),
        Some(ToolChoice::Required) if offered.is_empty() => Some("any"),
        _ => None,
    };
    match missing {
        Some(name) => {
            Err(Error::Tool { message: format!("the model is to call `{name}`, but is offered no such tool") })
        }
        None => Ok(choice.filter(|_| !offered.is_empty())),
    }
}
