//! `llmr record`

use std::process::ExitCode;
use std::time::Duration;

use jiff::Timestamp;
use llmr::config::Config;
use llmr::domain::{Deployment, Evidence, RequestId, RequestRecord, Target, printable};
use llmr::policy::Caller;
use llmr::report::Recorded;
use llmr::route::{Asked, Ledger, OutsideCall, Told, entry, flight_of, gauges, issued_at, may_join, probe_of, told};
use llmr::store::{Accounts, LogFilter, Snapshot, SqliteStore, Store};

use crate::context::Context;
use crate::error::CliError;
use crate::given::{Came, GivenArgs};

/// Say what came of a call that another program made
///
/// It counts like a call of `chat`: the failure is classified, holds are set or lifted for all processes, and `llmr log`
/// shows it. An answer or an error that is given with --body is judged as such: a 200 with an error in it is a failure.
#[derive(Debug, clap::Args)]
pub struct RecordArgs {
    /// Who was called: provider/model or provider/model@credential
    #[arg(value_name = "DEPLOYMENT")]
    deployment: String,
    #[command(flatten)]
    given: GivenArgs,
    /// The id that `guard` gave, or one of your own; several calls under one id are one request in the log
    ///
    /// Without it the call is taken for the probe that `guard` let pass last, if one is under way.
    #[arg(long, value_name = "ID", value_parser = id)]
    request_id: Option<RequestId>,
    /// When the call was sent: a time like 2026-08-23T03:00:00Z, or how long ago like 3s
    #[arg(long, value_name = "TIME|DUR")]
    started_at: Option<String>,
    /// How long the call took
    #[arg(long, value_name = "DUR", value_parser = crate::job::duration)]
    latency: Option<Duration>,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

/// How far ahead of now a call may have been sent: clocks differ.
const AHEAD: Duration = Duration::from_secs(60);

fn id(text: &str) -> Result<RequestId, String> {
    if text.is_empty() || text.len() > 128 || !text.chars().all(|c| c.is_ascii_graphic()) {
        return Err("up to 128 printable characters without spaces".to_owned());
    }
    Ok(RequestId::new(text))
}

/// Writes it down.
pub fn run(args: &RecordArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let now = context.clock.now();
    let came = args.given.read()?;
    let sent_at = args.started_at.as_deref().map(|text| sent_at(text, now)).transpose()?;
    let config = context.config_file()?;
    let target = target(&args.deployment, config.as_ref(), context)?;
    let store = context.store(config.as_ref()).map_err(nothing_written)?;
    let call = Call::new(args, &target, sent_at, &store, context)?;
    let written = write(call, came, config.as_ref(), &store, context)?;
    context.forget_the_old(&store, config.as_ref());
    let (request_id, written) = &written;
    let recorded = Recorded { now, request_id, written };
    let text = if args.json { format!("{}\n", recorded.json()) } else { recorded.text() };
    context.output.out(&printable(&context.redactor().redact(&text)))?;
    if let Some(config) = &config {
        crate::ring::after_report(!written.booked.changes.is_empty(), config, &store, context);
    }
    Ok(ExitCode::SUCCESS)
}

fn nothing_written(error: impl Into<CliError>) -> CliError {
    error.into().cause("nothing was recorded")
}

fn sent_at(text: &str, now: Timestamp) -> Result<Timestamp, CliError> {
    let at = crate::log::moment("--started-at", text, now)?;
    if at > now + AHEAD {
        return Err(CliError::usage(format!("--started-at {text}: that is still to come")));
    }
    Ok(at.min(now))
}

/// The one deployment that was called.
fn target(text: &str, config: Option<&Config>, context: &Context) -> Result<Target, CliError> {
    let health = || {
        let store = context.store_to_read(config).ok().flatten();
        store.and_then(|store| store.health().ok()).unwrap_or_default()
    };
    let mut targets = crate::named::targets(text, config, health, context)?;
    if targets.len() > 1 {
        let names: Vec<String> = targets.iter().map(|target| target.deployment.to_string()).collect();
        let error = CliError::usage(format!("DEPLOYMENT: `{text}` could be any of {}", names.join(", ")));
        return Err(error.hint("say with which key it was called; `llmr guard` says which one to take"));
    }
    targets.pop().ok_or_else(|| CliError::usage(format!("DEPLOYMENT: nothing is known as `{text}`")))
}

/// Which call it was.
struct Call<'a> {
    target: &'a Target,
    id: RequestId,
    started_at: Timestamp,
    latency: Duration,
    probe: bool,
    /// The call that a guard let pass under another id.
    lands: Option<RequestId>,
    before: Option<RequestRecord>,
}

impl<'a> Call<'a> {
    fn new(
        args: &RecordArgs,
        target: &'a Target,
        sent_at: Option<Timestamp>,
        store: &SqliteStore,
        context: &mut Context,
    ) -> Result<Self, CliError> {
        let now = context.clock.now();
        let Snapshot { holds, usage, .. } = store.snapshot(&Accounts::of([target])).map_err(nothing_written)?;
        let probe = probe_of(&holds, target, sent_at);
        let passed = flight_of(&usage, target, now).filter(|id| sent_at >= issued_at(id) || sent_at.is_none());
        let id = args.request_id.clone().or_else(|| probe.clone()).or_else(|| passed.clone());
        let id = id.unwrap_or_else(|| context.request_id());
        let before = args.request_id.as_ref().map(|id| joined(id, store)).transpose()?.flatten();
        let sent_at = sent_at.or_else(|| args.latency.and_then(|took| now.checked_sub(took).ok()));
        // The second of two calls under one id was not sent when the first was let through.
        let started_at = sent_at.or_else(|| issued_at(&id).filter(|_| before.is_none())).unwrap_or(now).min(now);
        let took = Duration::try_from(now.duration_since(started_at)).unwrap_or_default();
        let latency = args.latency.unwrap_or(took);
        // Under an id of its own it is still the call that a guard let pass.
        let is_up = usage.flights.iter().any(|flight| flight.id == id);
        let lands = passed.filter(|_| !is_up && before.is_none());
        Ok(Self { target, probe: probe.as_ref() == Some(&id), id, started_at, latency, lands, before })
    }
}

/// The request of the log that the call joins, if there is one.
fn joined(id: &RequestId, store: &SqliteStore) -> Result<Option<RequestRecord>, CliError> {
    let filter = LogFilter { id: Some(id.clone()), limit: 1, ..LogFilter::default() };
    let before = store.requests(&filter).map_err(nothing_written)?.pop();
    if let Some(other) = before.as_ref().filter(|request| !may_join(request)) {
        let error = CliError::usage(format!("--request-id: `{id}` is a request of ladder `{}` already", other.ladder));
        return Err(error.hint(format!("`llmr log {id}` shows it; take another id")));
    }
    Ok(before)
}

type Entered = (RequestId, llmr::route::Written);

fn write(
    call: Call<'_>,
    came: Came,
    config: Option<&Config>,
    store: &SqliteStore,
    context: &mut Context,
) -> Result<Entered, CliError> {
    let Call { target, id, started_at, latency, probe, lands, before } = call;
    let builtin = match config {
        Some(_) => None,
        None => Some(crate::context::builtin_of(target.deployment.provider.as_str())?),
    };
    let Some(catalog) = config.map(|config| &config.catalog).or(builtin.as_ref()) else {
        return Err(CliError::trouble("there is no catalogue"));
    };
    let wire = catalog.provider(&target.deployment.provider).and_then(|provider| provider.wire);
    let (usage, status) = (came.usage, came.status);
    let head = Evidence { status, headers: came.headers, ..Evidence::default() };
    // What is to be judged may tell more of limits than its head.
    let said = came.evidence.clone().unwrap_or(head);
    let told = match came.evidence {
        Some(evidence) => told(evidence, wire),
        None => Told::Answer(llmr::domain::Answer::default()),
    };
    let deployment = &target.deployment;
    // Of an answer nothing is stored that could hold a key.
    let keys = match (&told, config) {
        (Told::Wrong(_) | Told::Failed(_), Some(config)) => keys(&target.deployment, config, store, context),
        _ => Keys::default(),
    };
    let siblings: Vec<&str> = keys.siblings.iter().map(String::as_str).collect();
    let classifier = context.classifier(config);
    let settings = config.map(|config| config.policy).unwrap_or_default();
    let jitter = context.rng.unit();
    let ledger = Ledger {
        store,
        classifier: &classifier,
        catalog,
        settings: &settings,
        clock: context.clock,
        redactor: context.redactor(),
    };
    let own_entry = config.and_then(|config| Some(entry(config, &deployment.provider, &store.salt().ok()?)));
    let caller = Caller { key: keys.own.as_deref(), entry: own_entry.as_deref() };
    let gauges = config.map(|config| gauges(config, deployment)).unwrap_or_default();
    let stated = ledger.stated(&said, deployment, context.clock.now());
    let price = catalog.model(&target.deployment.provider, &target.deployment.model).and_then(|model| model.price);
    let call = OutsideCall {
        asked: Asked { target, request_id: &id, started_at, caller, siblings: &siblings, gauges: &gauges },
        latency,
        status,
        told,
        usage,
        price,
        stated,
        probe,
        lands,
        before,
    };
    let written = call.write(&ledger, jitter).map_err(nothing_written)?;
    Ok((id, written))
}

/// Fingerprints of the keys that may have failed.
#[derive(Default)]
struct Keys {
    own: Option<String>,
    siblings: Vec<String>,
}

/// The key of the deployment and the others of its account, which all become known as secrets with the rest of the
/// config's.
fn keys(deployment: &Deployment, config: &Config, store: &SqliteStore, context: &mut Context) -> Keys {
    crate::keys::learn_all(config, context);
    let Ok(salt) = store.salt() else { return Keys::default() };
    let own = crate::keys::fingerprint_of(deployment, config, &salt, context);
    let account = config.target(deployment).account;
    let same = config.credentials_of(&deployment.provider).filter(|credential| {
        let is_command = matches!(credential.key, llmr::config::KeySource::Command(_));
        credential.account == account && Some(&credential.name) != deployment.credential.as_ref() && !is_command
    });
    let others = same.map(|other| Deployment { credential: Some(other.name.clone()), ..deployment.clone() });
    let siblings = others.filter_map(|other| crate::keys::fingerprint_of(&other, config, &salt, context));
    Keys { own, siblings: siblings.collect() }
}
