//! `llmr init`

use std::io::Write;
use std::process::ExitCode;

use llmr::config::template;
use llmr::domain::ProviderName;

use crate::context::{Context, builtin};
use crate::error::{CliError, Code};

/// Write a commented llmr.toml from the keys that the environment holds; never overwrites
#[derive(Debug, clap::Args)]
pub struct InitArgs {
    /// Print it instead
    #[arg(long)]
    print: bool,
}

/// Writes the file.
pub fn run(args: &InitArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let catalog = builtin()?;
    let text = template(&found(context)?, &catalog);
    if args.print {
        context.output.out(&text)?;
        return Ok(ExitCode::SUCCESS);
    }
    let (Some(path), _) = context.config_path() else {
        return Err(CliError::trouble("no place for the config: neither HOME nor XDG_CONFIG_HOME is set"));
    };
    let failed = |error: std::io::Error| CliError::trouble(format!("cannot write {}: {error}", path.display()));
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    match std::fs::File::create_new(&path) {
        Ok(mut file) => file.write_all(text.as_bytes()).map_err(failed)?,
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            let error = CliError::new(Code::Trouble, format!("{} is there already", path.display()));
            return Err(error.hint("it was left as it is; `llmr init --print` shows what would be written"));
        }
        Err(error) => return Err(failed(error)),
    }
    context.output.out(&format!("wrote {}\n", path.display()))?;
    context.output.note(&format!(
        "{} `llmr check` validates it, `llmr plan` shows who would be asked",
        context.output.label("hint")
    ));
    Ok(ExitCode::SUCCESS)
}

/// The providers whose usual key is set, each with the variable.
fn found(context: &Context) -> Result<Vec<(ProviderName, String)>, CliError> {
    let catalog = builtin()?;
    let set = |name: &&String| context.env(name).is_some_and(|value| !value.trim().is_empty());
    let with_key = catalog.providers.values().filter(|provider| provider.wire.is_some());
    Ok(with_key.filter_map(|provider| Some((provider.name.clone(), provider.env.iter().find(set)?.clone()))).collect())
}
