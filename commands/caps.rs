//! `llmr caps`

use std::process::ExitCode;

use llmr::domain::ProviderName;
use llmr::report::{caps_json, caps_table};

use crate::context::{Context, builtin};
use crate::error::CliError;

/// Show the catalogue: limits, reset clocks, the next reset, and where each number comes from
#[derive(Debug, clap::Args)]
pub struct CapsArgs {
    /// Only this provider
    provider: Option<String>,
    /// JSON
    #[arg(long)]
    json: bool,
}

/// Shows the catalogue, overlaid by the config if there is one.
pub fn run(args: &CapsArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let catalog = match context.whole_config_file()? {
        Some(config) => config.catalog,
        None => builtin()?,
    };
    let provider = args.provider.as_deref().map(ProviderName::new);
    if let Some(name) = provider.as_ref().filter(|name| catalog.provider(name).is_none()) {
        let error = CliError::usage(format!("there is no provider `{name}`"));
        return Err(match catalog.nearest(name.as_str()) {
            Some(near) => error.hint(format!("did you mean `{near}`?")),
            None => error.hint("`llmr caps` lists all"),
        });
    }
    let now = context.clock.now();
    let text = if args.json {
        caps_json(&catalog, provider.as_ref(), now)
    } else {
        caps_table(&catalog, provider.as_ref(), now, usize::from(context.output.width()))
    };
    context.output.out(&text)?;
    Ok(ExitCode::SUCCESS)
}
