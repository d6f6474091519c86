//! `llmr probe`

use std::process::ExitCode;
use std::time::Duration;

use llmr::config::Config;
use llmr::domain::{ChatRequest, Deployment, LadderName, Message, Role, Selector, printable};
use llmr::ladder::{Directives, Eligibility, End, eligibility};
use llmr::policy::Versioned;
use llmr::report::{Probed, due_json, due_text};
use llmr::route::{Candidate, Due, Facts, FallbackStore, Job, Report, Silent, Wanted, direct, due};
use llmr::store::{SqliteStore, Store};

use crate::context::Context;
use crate::error::{CliError, Code};
use crate::keys::{Known, assembled};
use crate::walk::{transport, walk};

/// Send the probes that are due, so that no request has to; for cron
///
/// A probe is a chat call of one word that is answered with one token. It is due when an open circuit has reached its
/// time, a quarantine may be looked at early, a guess or a probe's lease has ended, or another key is there. Each hold is
/// probed once, through the deployment that failed last. Exit 0 whatever comes of it.
#[derive(Debug, clap::Args)]
pub struct ProbeArgs {
    /// Only these: provider, provider/model, provider/model@credential, @credential or provider@credential
    #[arg(value_name = "SELECTOR")]
    selectors: Vec<String>,
    /// At most so many calls
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// How long each call may take; what takes longer has not recovered
    #[arg(long, value_name = "DUR", default_value = "30s", value_parser = crate::job::duration)]
    deadline: Duration,
    /// Show what is due and send nothing
    #[arg(long)]
    dry_run: bool,
    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

/// The ladder's name in the log.
const LADDER: &str = "probe";

/// What is asked. Any model has something to say to it.
const PROMPT: &str = "Hi";

/// How much longer the request may take than its one exchange.
const SLACK: Duration = Duration::from_secs(5);

/// Finds the probes that are due and makes them, one after the other.
pub fn run(args: &ProbeArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let selectors = selectors(&args.selectors)?;
    let mut config = context.config()?;
    context.show_warnings(&config);
    let chosen = chosen(&selectors, &config)?;
    if context.store_to_read(Some(&config))?.is_none() {
        return quiet(args, "nothing is due: there is no state file yet", context);
    }
    let store = context.store(Some(&config))?;
    let mut round = Round { tried: Vec::new(), candidates: candidates(&chosen, &store, &config, context)? };
    if args.dry_run {
        return list(args, &mut round, &store, context);
    }
    let store = FallbackStore::new(Ok(store));
    let mut calls = 0;
    while calls < args.limit {
        let Some(due) = round.next(&store, context.clock.now())? else { break };
        let Some(Candidate { target, .. }) = round.candidates.get(due.at) else { break };
        let found = ask(&target.deployment, args, &mut config, &store, context)?;
        calls += 1;
        show(args, &target.deployment, &due, &found, round.by(due.at, &store, context)?.as_ref(), context)?;
        if found.interrupted() {
            return Ok(Code::Interrupted.into());
        }
    }
    if let Some(warning) = store.take_warning() {
        return Err(CliError::trouble(warning));
    }
    if let Some(file) = store.file() {
        context.forget_the_old(file, Some(&config));
    }
    if calls == 0 {
        return quiet(args, "nothing is due", context);
    }
    Ok(ExitCode::SUCCESS)
}

/// Reads the selectors of the command line.
fn selectors(texts: &[String]) -> Result<Vec<Selector>, CliError> {
    texts.iter().map(|text| text.parse().map_err(|error| CliError::usage(format!("{error}")))).collect()
}

/// There is nothing to do. A program reads it from the lines that are not there.
fn quiet(args: &ProbeArgs, why: &str, context: &Context) -> Result<ExitCode, CliError> {
    if !args.json {
        context.output.out(&format!("{why}\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The deployments of the config that are meant, those of the default ladder first, then by ladder and step.
fn chosen(selectors: &[Selector], config: &Config) -> Result<Vec<Deployment>, CliError> {
    let default = config.ladders.get(&config.default_ladder);
    let steps = default
        .into_iter()
        .chain(config.ladders.values())
        .flat_map(|ladder| ladder.steps.iter().map(|step| &step.deployment).chain(ladder.last_resort.as_ref()));
    let mut all: Vec<Deployment> = Vec::new();
    for deployment in steps {
        if !all.contains(deployment) {
            all.push(deployment.clone());
        }
    }
    if let Some(selector) = selectors.iter().find(|selector| !all.iter().any(|one| selector.matches(one))) {
        let error = CliError::usage(format!("no step of any ladder is meant by `{selector}`"));
        return Err(error.hint("`llmr status` lists the deployments"));
    }
    all.retain(|one| selectors.is_empty() || selectors.iter().any(|selector| selector.matches(one)));
    Ok(all)
}

/// With the fingerprints of those keys of which a hold depends.
fn candidates(
    chosen: &[Deployment],
    store: &SqliteStore,
    config: &Config,
    context: &mut Context,
) -> Result<Vec<Candidate>, CliError> {
    let (holds, salt) = (store.holds()?, store.salt()?);
    let mut candidate = |deployment: &Deployment| {
        let target = config.target(deployment);
        crate::keys::candidate(target, &holds, Some(config), || Some(salt.clone()), context)
    };
    Ok(chosen.iter().map(&mut candidate).collect())
}

/// One run over the holds.
struct Round {
    candidates: Vec<Candidate>,
    /// The ids of the holds that had their probe.
    tried: Vec<i64>,
}

impl Round {
    /// The next probe that is due as things stand now.
    fn next(&mut self, store: &dyn Store, now: jiff::Timestamp) -> Result<Option<Due>, CliError> {
        let (holds, health) = (store.holds()?, store.health()?);
        let found = due(&holds, &self.candidates, &health, &self.tried, now);
        self.tried.extend(found.iter().flat_map(|due| &due.holds).map(|held| held.id));
        Ok(found)
    }

    /// What holds the deployment back now.
    fn by(&self, at: usize, store: &dyn Store, context: &Context) -> Result<Option<Versioned>, CliError> {
        let Some(candidate) = self.candidates.get(at) else { return Ok(None) };
        let holds = store.holds()?;
        Ok(match eligibility(&holds, &candidate.target, context.clock.now(), candidate.caller()) {
            Eligibility::Held(by) => Some(by.clone()),
            Eligibility::Eligible | Eligibility::Probe(_) => None,
        })
    }
}

/// What is due, and no call.
fn list(args: &ProbeArgs, round: &mut Round, store: &SqliteStore, context: &Context) -> Result<ExitCode, CliError> {
    let mut text = String::new();
    let mut left = args.limit;
    while let Some(due) = round.next(store, context.clock.now())?.filter(|_| left > 0) {
        left -= 1;
        let Some(Candidate { target, .. }) = round.candidates.get(due.at) else { break };
        text.push_str(&match args.json {
            true => format!("{}\n", due_json(&target.deployment, &due.holds)),
            false => due_text(&target.deployment, &due.holds),
        });
    }
    if text.is_empty() {
        return quiet(args, "nothing is due", context);
    }
    context.output.out(&printable(&context.redactor().redact(&text)))?;
    Ok(ExitCode::SUCCESS)
}

/// What came of a probe.
enum Found {
    Asked(Box<Report>),
    NoKey(String),
}

impl Found {
    fn interrupted(&self) -> bool {
        matches!(self, Self::Asked(report) if report.end == End::Interrupted)
    }
}

/// Asks one deployment for one token, as a ladder of this step alone.
fn ask(
    deployment: &Deployment,
    args: &ProbeArgs,
    config: &mut Config,
    store: &FallbackStore<SqliteStore>,
    context: &mut Context,
) -> Result<Found, CliError> {
    let job = job(deployment, args, config, store, context)?;
    if let Some(why) = job.spec.steps.first().and_then(|step| step.no_key.clone()) {
        return Ok(Found::NoKey(why));
    }
    let mut rng = context.rng.clone();
    let transport = transport(&job, config, context)?;
    let report = walk(&job, &transport, config, store, context, &mut rng, &mut Silent)?;
    context.rng = rng;
    Ok(Found::Asked(Box::new(report)))
}

fn job(
    deployment: &Deployment,
    args: &ProbeArgs,
    config: &mut Config,
    store: &FallbackStore<SqliteStore>,
    context: &mut Context,
) -> Result<Job, CliError> {
    let name = LadderName::new(LADDER);
    config.ladders.insert(name.clone(), direct(std::slice::from_ref(deployment), config));
    let salt = store.salt()?;
    let facts = Facts::nothing(context.clock.now());
    let known = Known { salt: &salt, shapes: &[], findings: &[], facts: &facts };
    let mut assembled = assembled(config, &name, &known, context)
        .ok_or_else(|| CliError::trouble(format!("there is no ladder `{name}`")))?;
    assembled.spec.steps.iter_mut().for_each(|step| step.attempts = 1);
    assembled.spec.limits.attempts = 1;
    assembled.spec.limits.wait = Duration::ZERO;
    assembled.spec.limits.deadline = args.deadline + SLACK;
    assembled.lanes.values_mut().for_each(|lane| lane.timeouts.total = lane.timeouts.total.min(args.deadline));
    let request = ChatRequest {
        messages: vec![Message::text(Role::User, PROMPT)],
        max_tokens: Some(1),
        ..ChatRequest::default()
    };
    let lease = args.deadline + SLACK + SLACK;
    let job = Job::new(context.request_id(), assembled, request, Directives::default());
    Ok(Job { wanted: Wanted::Sign, retry_budget: 0, lease, cascade: None, ..job })
}

fn show(
    args: &ProbeArgs,
    deployment: &Deployment,
    due: &Due,
    found: &Found,
    by: Option<&Versioned>,
    context: &Context,
) -> Result<(), CliError> {
    let (report, no_key) = match found {
        Found::Asked(report) => (Some(report.as_ref()), None),
        Found::NoKey(why) => (None, Some(why.as_str())),
    };
    let by = by.map(|held| &held.record);
    let probed = Probed { now: context.clock.now(), deployment, holds: &due.holds, report, by, no_key };
    let text = if args.json { format!("{}\n", probed.json()) } else { probed.text() };
    context.output.out(&printable(&context.redactor().redact(&text)))?;
    Ok(())
}
