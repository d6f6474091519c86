//! `llmr status`

use std::collections::BTreeMap;
use std::process::ExitCode;

use llmr::config::Config;
use llmr::domain::{AccountName, Deployment, LadderName, Selector, Target, printable};
use llmr::policy::Versioned;
use llmr::report::{Known, Status};
use llmr::route::fingerprint;
use llmr::store::{Health, Store};

use crate::context::Context;
use crate::error::CliError;

/// Show every deployment: eligible, or held by what, why, until when and who said so
#[derive(Debug, clap::Args)]
pub struct StatusArgs {
    /// Only these: provider, provider/model, provider/model@credential, @credential or provider@credential
    #[arg(value_name = "SELECTOR")]
    selectors: Vec<String>,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

/// Shows the state.
pub fn run(args: &StatusArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let selectors = selectors(&args.selectors)?;
    let config = context.config_file()?;
    let store = context.store_to_read(config.as_ref())?;
    let (holds, health, salt) = match &store {
        Some(store) => (store.holds()?, store.health()?, store.salt().ok()),
        None => (Vec::new(), Vec::new(), None),
    };
    let mut known = known(config.as_ref(), &health);
    if let (Some(config), Some(salt)) = (&config, &salt) {
        sign(&mut known, config, salt, context);
    }
    let chosen: Vec<Known> = known.into_iter().filter(|known| chosen(&selectors, &known.target.deployment)).collect();
    let holds: Vec<Versioned> = holds.into_iter().filter(|held| touches(&selectors, &chosen, held)).collect();
    let status = Status { now: context.clock.now(), known: &chosen, holds: &holds, health: &health };
    let text = if args.json { format!("{}\n", status.json()) } else { status.text(context.output.width()) };
    context.output.out(&printable(&context.redactor().redact(&text)))?;
    Ok(ExitCode::SUCCESS)
}

/// Reads the selectors of the command line.
pub fn selectors(texts: &[String]) -> Result<Vec<Selector>, CliError> {
    texts.iter().map(|text| text.parse().map_err(|error| CliError::usage(format!("{error}")))).collect()
}

fn chosen(selectors: &[Selector], deployment: &Deployment) -> bool {
    selectors.is_empty() || selectors.iter().any(|selector| selector.matches(deployment))
}

/// Whether the selectors mean this hold: it covers a deployment that they choose, or they name its scope.
pub fn touches(selectors: &[Selector], chosen: &[Known], held: &Versioned) -> bool {
    let scope = held.record.scope();
    selectors.is_empty()
        || chosen.iter().any(|known| scope.covers(&known.target))
        || selectors.iter().any(|selector| scope.named_by(selector))
}

/// Every deployment that the config or the state knows.
pub fn known(config: Option<&Config>, health: &[Health]) -> Vec<Known> {
    let mut places: BTreeMap<Deployment, Vec<(LadderName, usize)>> = BTreeMap::new();
    for (name, ladder) in config.into_iter().flat_map(|config| &config.ladders) {
        for (step, at) in ladder.steps.iter().zip(0..) {
            places.entry(step.deployment.clone()).or_default().push((name.clone(), at));
        }
    }
    let resorts = config.into_iter().flat_map(Config::all_deployments);
    let logged = health.iter().map(|health| health.deployment.clone());
    for deployment in resorts.chain(logged) {
        places.entry(deployment).or_default();
    }
    let target = |deployment: &Deployment| match config {
        Some(config) => config.target(deployment),
        // Without a config the log knows whose quota was used.
        None => Target {
            deployment: deployment.clone(),
            account: health
                .iter()
                .find(|health| health.deployment == *deployment)
                .map_or_else(|| AccountName::new(deployment.provider.as_str()), |health| health.account.clone()),
            region: None,
        },
    };
    let known = |(deployment, ladders)| Known { target: target(&deployment), ladders, fingerprint: None };
    places.into_iter().map(known).collect()
}

/// Fills in the fingerprints of the keys as they are now, so that a key that was replaced shows as one that may be
/// tried. A key that cannot be had changes nothing here.
fn sign(known: &mut [Known], config: &Config, salt: &[u8], context: &mut Context) {
    for known in known {
        let key = config
            .credential(&known.target.deployment)
            // Commands may ask for a password: not for a look at the state.
            .filter(|credential| !matches!(credential.key, llmr::config::KeySource::Command(_)))
            .and_then(|credential| crate::keys::fetch(credential, context).ok())
            .filter(|key| !key.is_empty());
        if let Some(key) = key {
            known.fingerprint = Some(fingerprint(salt, &key));
            context.learn_secret(&key);
        }
    }
}
