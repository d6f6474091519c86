//! `llmr probe`

use std::process::ExitCode;
use std::time::Duration;

use jiff::Timestamp;
use llmr::config::Config;
use llmr::domain::{ChatRequest, Deployment, LadderName, Message, Role, printable};
use llmr::host::{Known, assembled};
use llmr::ladder::{Directives, Eligibility, End, eligibility};
use llmr::policy::Versioned;
use llmr::report::{Choice, Kept, Probed, due_json, due_text};
use llmr::route::{Candidate, Due, Facts, FallbackStore, Hastened, Job, Report, Silent, Wanted, direct, due, hasten};
use llmr::store::{Accounts, Batch, SqliteStore, Store, update_locked};

use crate::context::Context;
use crate::error::{CliError, Code};
use crate::status::known;
use crate::walk::{transport, walk};

/// Send the probes that are due, so that no request has to; for cron
///
/// A probe is a chat call of one word that is answered with one token. It is due when an open circuit has reached its
/// time, a quarantine may be looked at early, a guess or a probe's lease has ended, or another key is there; with --now
/// also before that. Each hold is probed once, through the deployment that failed last. Exit 0 whatever comes of it.
#[derive(Debug, clap::Args)]
pub struct ProbeArgs {
    /// Only these: provider, provider/model, provider/model@credential, @credential, provider@credential, or the id of a
    /// hold as `status` shows it
    #[arg(value_name = "SELECTOR")]
    selectors: Vec<String>,
    /// Also what is not due yet, of the SELECTORs: whoever has mended the cause need not wait for the time. What fails
    /// rests on, for no shorter than it was known to
    #[arg(long)]
    now: bool,
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

/// What is asked. Any model has something to say to it.
const PROMPT: &str = "Hi";

/// How much longer the request may take than its one exchange.
const SLACK: Duration = Duration::from_secs(5);

/// Finds the probes that are due and makes them, one after the other.
pub fn run(args: &ProbeArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    if args.now && args.selectors.is_empty() {
        let error = CliError::usage("--now needs to know what to probe");
        return Err(error.hint("name it like `llmr probe --now groq`, or by the id of a hold that `llmr status` shows"));
    }
    let mut config = context.config()?;
    context.show_warnings(&config);
    let store = match context.store_to_read(Some(&config))? {
        Some(_) => Some(context.store(Some(&config))?),
        None => None,
    };
    let holds = store.as_ref().map_or(Ok(Vec::new()), Store::holds)?;
    let (choice, chosen) = chosen(&args.selectors, &config, &holds)?;
    let Some(store) = store else {
        return quiet(args, "nothing is due: there is no state file yet", context);
    };
    let mut round = Round { tried: Vec::new(), candidates: candidates(&chosen, &store, &config, context)? };
    let known = known(Some(&config), &store.health()?);
    let hastened = match args.now {
        true => round.hasten(|held| choice.means_hold(held, &known), args.dry_run, &store, context)?,
        false => Hastened::default(),
    };
    let told = kept_text(args, &hastened, &round.candidates, &choice, &known, context);
    context.output.out(&told)?;
    if args.dry_run {
        let holds = if args.now { hastened.holds } else { store.holds()? };
        return list(args, &mut round, &holds, !told.is_empty(), &store, context);
    }
    let store = FallbackStore::new(Ok(store));
    // The probes go down a ladder of their own, which is none of the config's.
    let ladders = config.ladders.clone();
    let Some(calls) = round.ask_all(args, &mut config, &store, context)? else { return Ok(Code::Interrupted.into()) };
    if let Some(warning) = store.take_warning() {
        return Err(CliError::trouble(warning));
    }
    if let Some(file) = store.file() {
        context.forget_the_old(file, Some(&config));
    }
    if calls == 0 && told.is_empty() {
        quiet(args, nothing_is_due(args), context)?;
    }
    config.ladders = ladders;
    crate::ring::after_change(&config, &store, context);
    Ok(ExitCode::SUCCESS)
}

const fn nothing_is_due(args: &ProbeArgs) -> &'static str {
    if args.now { "nothing to probe: nothing holds what was named" } else { "nothing is due" }
}

/// There is nothing to do. A program reads it from the lines that are not there.
fn quiet(args: &ProbeArgs, why: &str, context: &Context) -> Result<ExitCode, CliError> {
    if !args.json {
        context.output.out(&format!("{why}\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The deployments of the config that are meant, those of the default ladder first, then by ladder and step; and what the
/// words mean.
fn chosen(words: &[String], config: &Config, holds: &[Versioned]) -> Result<(Choice, Vec<Deployment>), CliError> {
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
    let is_provider = |name: &str| all.iter().any(|one| one.provider == *name);
    let read = |words: &[String]| Choice::read(words, is_provider).map_err(|error| CliError::usage(format!("{error}")));
    for word in words {
        let choice = read(std::slice::from_ref(word))?;
        if !all.iter().any(|one| choice.means(&config.target(one), holds)) {
            let error = match choice.misses(holds, &[], &[]).first() {
                Some(miss) if miss.is_hold => CliError::usage(format!("there is no hold `{word}`; it may have ended")),
                _ => CliError::usage(format!("no step of any ladder is meant by `{word}`")),
            };
            return Err(error.hint("`llmr status` lists the deployments and holds"));
        }
    }
    let choice = read(words)?;
    all.retain(|one| choice.means(&config.target(one), holds));
    Ok((choice, all))
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
        llmr::host::candidate(target, &holds, Some(config), || Some(salt.clone()), context)
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
    /// The next probe that is due with these holds.
    fn next(&mut self, holds: &[Versioned], store: &dyn Store, now: Timestamp) -> Result<Option<Due>, CliError> {
        let found = due(holds, &self.candidates, &store.health()?, &self.tried, now);
        self.tried.extend(found.iter().flat_map(|due| &due.holds).map(|held| held.id));
        Ok(found)
    }

    /// Makes the probes of the holds due that are wanted, and looks at no others.
    fn hasten(
        &mut self,
        wanted: impl Fn(&Versioned) -> bool,
        dry_run: bool,
        store: &dyn Store,
        context: &Context,
    ) -> Result<Hastened, CliError> {
        let now = context.clock.now();
        let made = |holds: &[Versioned]| hasten(holds, &self.candidates, &wanted, now);
        let hastened = match dry_run {
            true => made(&store.holds()?),
            false => update_locked(store, &Accounts::None, |snapshot| {
                let hastened = made(&snapshot.holds);
                (Batch { changes: hastened.changes.clone(), ..Batch::default() }, hastened)
            })?,
        };
        let others = hastened.holds.iter().filter(|held| !wanted(held));
        self.tried.extend(others.map(|held| held.id));
        Ok(hastened)
    }

    /// Makes the probes that are due, and says how many; none when the user stopped it.
    fn ask_all(
        &mut self,
        args: &ProbeArgs,
        config: &mut Config,
        store: &FallbackStore<SqliteStore>,
        context: &mut Context,
    ) -> Result<Option<u32>, CliError> {
        let mut calls = 0;
        while calls < args.limit {
            let Some(due) = self.next(&store.holds()?, store, context.clock.now())? else { break };
            let Some(Candidate { target, .. }) = self.candidates.get(due.at) else { break };
            let found = ask(&target.deployment, args, config, store, context)?;
            calls += 1;
            show(args, &target.deployment, &due, &found, self.by(due.at, store, context)?.as_ref(), context)?;
            if found.interrupted() {
                return Ok(None);
            }
        }
        Ok(Some(calls))
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
fn list(
    args: &ProbeArgs,
    round: &mut Round,
    holds: &[Versioned],
    has_told: bool,
    store: &SqliteStore,
    context: &Context,
) -> Result<ExitCode, CliError> {
    let mut text = String::new();
    let mut left = args.limit;
    while let Some(due) = round.next(holds, store, context.clock.now())?.filter(|_| left > 0) {
        left -= 1;
        let Some(Candidate { target, .. }) = round.candidates.get(due.at) else { break };
        text.push_str(&match args.json {
            true => format!("{}\n", due_json(&target.deployment, &due.holds)),
            false => due_text(&target.deployment, &due.holds),
        });
    }
    if text.is_empty() && !has_told {
        return quiet(args, nothing_is_due(args), context);
    }
    context.output.out(&printable(&context.redactor().redact(&text)))?;
    Ok(ExitCode::SUCCESS)
}

/// Who cannot be probed although the person wants it, a line for each hold that is in the way.
fn kept_text(
    args: &ProbeArgs,
    hastened: &Hastened,
    candidates: &[Candidate],
    choice: &Choice,
    known: &[llmr::report::Known],
    context: &Context,
) -> String {
    let line = |(places, by): &(Vec<usize>, Versioned)| {
        let named = places.iter().filter_map(|at| candidates.get(*at));
        let deployments: Vec<&Deployment> = named.map(|candidate| &candidate.target.deployment).collect();
        let kept = Kept { now: context.clock.now(), deployments, by, is_named: choice.means_hold(by, known) };
        if args.json { format!("{}\n", kept.json()) } else { kept.text() }
    };
    let text: String = hastened.kept.iter().map(line).collect();
    printable(&context.redactor().redact(&text))
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
    let name = LadderName::new(LadderName::PROBES);
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
