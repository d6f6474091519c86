//! The deployments that a person or a program names.

use llmr::config::Config;
use llmr::domain::{AccountName, Deployment, Target};
use llmr::store::Health;

use crate::context::{Context, builtin, builtin_of, nearest_provider};
use crate::error::{CliError, Code};

/// Reads `provider/model[@credential]` by what the config says: without a credential, one deployment for each that the
/// provider has. `what` is the flag or the argument that holds the text.
///
/// # Errors
/// When the text has another form, or names what there is not; with the nearest name that there is.
pub fn deployments(config: &Config, what: &str, text: &str) -> Result<Vec<Deployment>, CliError> {
    let deployments = config.deployments(text).map_err(|error| CliError::usage(format!("{what}: {error}")))?;
    let Some((message, hint)) = config.slip(text) else { return Ok(deployments) };
    let error = CliError::new(Code::Config, message);
    let unknown = deployments.first().map(|deployment| &deployment.provider);
    let unknown = unknown.filter(|provider| config.provider(provider).is_none());
    let near = || Some(format!("did you mean `{}`?", nearest_provider(unknown?.as_str(), config)?));
    let otherwise = || "add it to the config; `llmr check` shows what stands there".to_owned();
    Err(error.hint(hint.or_else(near).unwrap_or_else(otherwise)))
}

/// The targets of the argument DEPLOYMENT. Without a config they are what the state knows of that name, or else what the
/// name says.
///
/// # Errors
/// As [`deployments`]; without a config also when nobody ever heard of the provider.
pub fn targets(
    text: &str,
    config: Option<&Config>,
    health: impl FnOnce() -> Vec<Health>,
    context: &Context,
) -> Result<Vec<Target>, CliError> {
    if text.chars().any(char::is_control) {
        return Err(CliError::usage(format!("{ARGUMENT}: a control character is part of no name")));
    }
    let Some(config) = config else { return by_state(text, &health()) };
    let found = match deployments(config, ARGUMENT, text) {
        Ok(found) => found,
        // A slip is told with the names of the whole catalogue.
        Err(error) => match context.whole_config_file()? {
            Some(whole) => deployments(&whole, ARGUMENT, text)?,
            None => return Err(error),
        },
    };
    Ok(found.iter().map(|deployment| config.target(deployment)).collect())
}

const ARGUMENT: &str = "DEPLOYMENT";

fn by_state(text: &str, health: &[Health]) -> Result<Vec<Target>, CliError> {
    let named: Deployment = text.parse().map_err(|error| CliError::usage(format!("{ARGUMENT}: {error}")))?;
    let is_meant = |known: &&Health| {
        let Deployment { provider, model, credential } = &known.deployment;
        *provider == named.provider
            && *model == named.model
            && (named.credential.is_none() || *credential == named.credential)
    };
    let of =
        |known: &Health| Target { deployment: known.deployment.clone(), account: known.account.clone(), region: None };
    let found: Vec<Target> = health.iter().filter(is_meant).map(of).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    if !health.iter().any(|known| known.deployment.provider == named.provider) {
        known_to_catalogue(&named)?;
    }
    let account = named.credential.as_ref().map_or(named.provider.as_str(), |credential| credential.as_str());
    Ok(vec![Target { account: AccountName::new(account), deployment: named, region: None }])
}

fn known_to_catalogue(named: &Deployment) -> Result<(), CliError> {
    let provider = named.provider.as_str();
    if builtin_of(provider)?.provider(&named.provider).is_some() {
        return Ok(());
    }
    let error = CliError::new(Code::Config, format!("there is no provider `{provider}`, and there is no config"));
    Err(match builtin()?.nearest(provider) {
        Some(near) => error.hint(format!("did you mean `{near}`?")),
        None => error.hint("`llmr caps` lists the known ones; another one needs a [providers.NAME] in the config"),
    })
}
