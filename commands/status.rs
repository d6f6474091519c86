//! `llmr status`

use std::collections::BTreeMap;
use std::process::ExitCode;

use jiff::Timestamp;
use llmr::config::{Config, LadderConfig};
use llmr::domain::{AccountName, Deployment, LadderName, Target, printable};
use llmr::policy::Versioned;
use llmr::report::{Choice, Graded, Known, Miss, Status, hold_id, selector_of};
use llmr::route::{entry, fingerprint, gauges, grades, put_last};
use llmr::store::{Accounts, Health, Snapshot, Store, StoreError};

use crate::context::Context;
use crate::error::CliError;

/// Show every deployment: eligible, or held by what, why, until when and who said so
#[derive(Debug, clap::Args)]
pub struct StatusArgs {
    /// Only these: provider, provider/model, provider/model@credential, @credential, provider@credential, or the id of
    /// a hold
    #[arg(value_name = "SELECTOR")]
    selectors: Vec<String>,
    /// Only what is held
    #[arg(long)]
    held: bool,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

/// Shows the state.
pub fn run(args: &StatusArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let config = context.config_file()?;
    let store = context.store_to_read(config.as_ref())?;
    let (snapshot, health, salt) = match &store {
        Some(store) => {
            let read = (store.snapshot(&Accounts::All)?, store.health()?, store.salt().ok());
            context.show_state_warning(store);
            read
        }
        None => (Snapshot::default(), Vec::new(), None),
    };
    let mut known = known(config.as_ref(), &health);
    if let Some(config) = &config {
        sign(&mut known, config, salt.as_deref(), context);
    }
    let choice = choice(&args.selectors, &known, &snapshot.holds, &[], context)?;
    let now = context.clock.now();
    if let (Some(config), Some(store)) = (&config, &store) {
        grade(&mut known, config, store, now, |_| true)?;
    }
    let bounds = config.as_ref().map(|config| config.policy.usage).unwrap_or_default();
    let status = Status {
        now,
        known: &known,
        snapshot: &snapshot,
        bounds: &bounds,
        health: &health,
        choice: &choice,
        only_held: args.held,
    };
    let redactor = context.redactor();
    let clean = |text: &str| printable(&redactor.redact(text));
    match args.json {
        true => context.output.out(&clean(&format!("{}\n", status.json())))?,
        false => context.output.toned(&status.text(context.output.width()), clean)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Reads what the command line chooses, and says which of its words nothing answers to. Where ladders can be named, these
/// are they.
///
/// # Errors
/// When a word is neither a selector nor the id of a hold.
pub fn choice(
    words: &[String],
    known: &[Known],
    holds: &[Versioned],
    ladders: &[LadderName],
    context: &Context,
) -> Result<Choice, CliError> {
    let is_provider = |name: &str| {
        known.iter().any(|known| known.target.deployment.provider == *name)
            || holds.iter().any(|held| held.record.scope().provider == *name)
    };
    let choice = Choice::read(words, is_provider).map_err(|error| CliError::usage(format!("{error}")))?;
    let output = &context.output;
    let clean = |text: &str| printable(&context.redactor().redact(text));
    let say = |word: &str, text: &str| output.note(&format!("{} {}", output.label(word), clean(text)));
    for miss in choice.misses(holds, known, ladders) {
        let Miss { word, is_hold, near } = miss;
        match is_hold {
            true => say("warning", &format!("there is no hold `{word}`; it may have ended")),
            false => say("warning", &format!("nothing that is known is called `{word}`")),
        }
        if let Some(near) = near {
            say("hint", &format!("did you mean `{near}`?"));
        }
    }
    for held in choice.shadowed(holds) {
        let (id, selector) = (hold_id(held), selector_of(held.record.scope()));
        say(
            "warning",
            &format!("`{id}` is taken for the provider of that name, not for the hold; name that by `{selector}`"),
        );
    }
    Ok(choice)
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
    let resorts_of = |deployment: &Deployment| {
        let ladders = config.into_iter().flat_map(|config| &config.ladders);
        ladders.filter(|(_, l)| l.last_resort.as_ref() == Some(deployment)).map(|(name, _)| name.clone()).collect()
    };
    let known = |(deployment, ladders)| Known {
        target: target(&deployment),
        ladders,
        last_resort_of: resorts_of(&deployment),
        fingerprint: None,
        entry: None,
        no_key: false,
        gauges: config.map(|config| gauges(config, &deployment)).unwrap_or_default(),
        graded: Vec::new(),
    };
    places.into_iter().map(known).collect()
}

/// Fills in how good the deployments lately were at the work of those ladders that are wanted.
///
/// # Errors
/// When the state cannot be read.
pub fn grade(
    known: &mut [Known],
    config: &Config,
    store: &dyn Store,
    now: Timestamp,
    wanted: impl Fn(&LadderConfig) -> bool,
) -> Result<(), StoreError> {
    known.iter_mut().for_each(|known| known.graded.clear());
    for (name, ladder) in config.ladders.iter().filter(|(_, ladder)| wanted(ladder)) {
        let grades = grades(store, (name, ladder), now)?;
        for grade in &grades {
            let why = ladder.min_valid.and_then(|bar| put_last(bar, &grade.deployment, &grades));
            let graded = Graded { ladder: name.clone(), grade: grade.clone(), put_last: why };
            let its = known.iter_mut().filter(|known| known.target.deployment == grade.deployment);
            its.for_each(|known| known.graded.push(graded.clone()));
        }
    }
    Ok(())
}

/// Fills in the fingerprints of the keys as they are now, so that a key that was replaced shows as one that may be
/// tried. A key that cannot be had lifts nothing; it is told. Without a salt
/// there is no state yet that knows any.
pub fn sign(known: &mut [Known], config: &Config, salt: Option<&[u8]>, context: &mut Context) {
    for known in known {
        known.entry = salt.map(|salt| entry(config, &known.target.deployment.provider, salt));
        let key = config
            .credential(&known.target.deployment)
            // Commands may ask for a password: not for a look at the state.
            .filter(|credential| !matches!(credential.key, llmr::config::KeySource::Command(_)))
            .map(|credential| llmr::host::fetch(credential, context));
        known.no_key = matches!(key, Some(Err(_)));
        if let Some(key) = key.and_then(Result::ok).filter(|key| !key.is_empty()) {
            known.fingerprint = salt.map(|salt| fingerprint(salt, &key));
            context.learn_secret(&key);
        }
    }
}
