//! The flags of conversations and tools, and what they choose.

use llmr::config::Config;
use llmr::domain::{LadderName, SessionName, ToolChoice};
use llmr::session::{offered_names, tools_of};

use crate::error::CliError;

/// How a conversation goes on, and what the model may have run.
#[derive(Debug, Default, Clone, clap::Args)]
#[command(next_help_heading = "Conversations and tools")]
pub struct TalkArgs {
    /// Go on with a conversation that the state keeps, or begin one; without a prompt, with what is under way
    #[arg(long, value_name = "NAME", conflicts_with = "request_id")]
    session: Option<String>,
    /// Let the model have this tool of the config run, besides those of its ladder (repeatable)
    #[arg(long = "tool", value_name = "NAME", conflicts_with = "no_tools")]
    tool: Vec<String>,
    /// Let the model have no tools run
    #[arg(long)]
    no_tools: bool,
    /// Whether the model begins with a tool: auto, none, required, or the name of one
    #[arg(long, value_name = "CHOICE")]
    tool_choice: Option<String>,
    /// How often in a row the model may have tools run before it must answer in words
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub max_tool_rounds: Option<u32>,
    /// Run tools with side effects without asking
    #[arg(long)]
    pub yes_tools: bool,
    /// What the conversation was begun with.
    #[arg(skip)]
    kept: Vec<String>,
}

impl TalkArgs {
    /// The conversation that the user names.
    pub fn session(&self) -> Result<Option<SessionName>, CliError> {
        self.session.as_deref().map(|name| session_name("--session", name)).transpose()
    }

    /// The tools that the conversation was begun with are offered again.
    pub fn go_on_with(&mut self, tools: &[String]) {
        self.kept = tools.to_vec();
    }

    /// The tools that the conversation remembers: that none were offered once is not for ever.
    pub fn remembered(&self, offered: &[String]) -> Vec<String> {
        if self.no_tools { self.kept.clone() } else { offered.to_vec() }
    }

    /// The names of the tools that the model may use: those of the ladder and those that the user names.
    pub fn tools(&self, config: &Config, ladder: &LadderName) -> Result<Vec<String>, CliError> {
        if self.no_tools {
            return Ok(Vec::new());
        }
        let of_ladder = tools_of(config, ladder);
        offered_names(&config.tools, of_ladder, &self.kept, &self.tool).map_err(|name| {
            let error = CliError::usage(format!("--tool: there is no tool `{name}`"));
            let known: Vec<&str> = config.tools.keys().map(String::as_str).collect();
            match known.is_empty() {
                true => error.hint(format!("describe it in the config: [tools.{name}]")),
                false => error.hint(format!("tools of the config: {}", known.join(", "))),
            }
        })
    }

    /// Whether the model begins with a tool.
    pub fn choice(&self, offered: &[String]) -> Result<Option<ToolChoice>, CliError> {
        let Some(word) = self.tool_choice.as_deref() else { return Ok(None) };
        let choice = match word {
            "auto" => ToolChoice::Auto,
            "none" => ToolChoice::None,
            "required" => ToolChoice::Required,
            name if offered.iter().any(|known| known == name) => ToolChoice::Named(name.to_owned()),
            name => {
                let error = CliError::usage(format!("--tool-choice: the model is offered no tool `{name}`"));
                return Err(error.hint("write auto, none, required, or the name of a tool that --tool names"));
            }
        };
        if offered.is_empty() && !matches!(choice, ToolChoice::None | ToolChoice::Auto) {
            let error = CliError::usage("--tool-choice: the model is offered no tools");
            return Err(error.hint("name one with --tool, or give the ladder some: tools = [\"NAME\"]"));
        }
        Ok(Some(choice).filter(|_| !offered.is_empty()))
    }
}

/// A name that a conversation can have.
pub fn session_name(flag: &str, name: &str) -> Result<SessionName, CliError> {
    if SessionName::is_good(name) {
        return Ok(SessionName::new(name));
    }
    let error = CliError::usage(format!("{flag}: `{name}` is no name of a session"));
    Err(error.hint("use letters, digits, `.`, `_` and `-`, up to 64, the first a letter or a digit"))
}
