//! `llmr guard`

use std::process::ExitCode;
use std::time::Duration;

use llmr::clock::Rng;
use llmr::config::Config;
use llmr::domain::{ProviderName, printable};
use llmr::policy::{Demand, UsageSettings};
use llmr::report::{Guarded, Says};
use llmr::route::{Admission, Candidate, Pass, admit, guard_id, look};
use llmr::store::{Accounts, Snapshot, SqliteStore, Store};

use crate::context::Context;
use crate::error::{CliError, Code};

/// Say whether a program that makes its own calls may call now: exit 0, or 4 and until when
///
/// The line begins with `ok` or `held`, then comes the deployment: without @CREDENTIAL the first one of the provider that
/// may be asked. A hold that lets one probe pass lets it pass here: the line then has the id under which `llmr record`
/// takes what came of the call, and whoever asks before that is told to wait. Where a limit is known, the call counts
/// among those under way until it is recorded or its time is over; that line has an id as well.
#[derive(Debug, clap::Args)]
pub struct GuardArgs {
    /// Who is to be called: provider/model or provider/model@credential
    #[arg(value_name = "DEPLOYMENT")]
    deployment: String,
    /// How long the call may take: then the next probe passes, and it counts no longer as under way; at most 24h
    #[arg(long, value_name = "DUR", default_value = "2m", value_parser = lease)]
    lease: Duration,
    /// How many tokens the call will use, prompt and answer together; for limits that count tokens
    #[arg(long, value_name = "N", default_value_t = 0)]
    tokens: u32,
    /// Take nothing, only look
    #[arg(long)]
    dry_run: bool,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

/// A lease that ends later would be taken for one of a clock that was wrong.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

fn lease(text: &str) -> Result<Duration, String> {
    let length = crate::job::duration(text)?;
    if length.is_zero() || length > LONGEST { Err("more than nothing and at most 24h".to_owned()) } else { Ok(length) }
}

/// Looks, and takes the lease of a probe.
pub fn run(args: &GuardArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let config = context.config_file()?;
    let (opened, may_write) = open(args, config.as_ref(), context);
    let store = opened.as_ref();
    let health = || store.and_then(|store| store.health().ok()).unwrap_or_default();
    let targets = crate::named::targets(&args.deployment, config.as_ref(), health, context)?;
    let accounts = Accounts::of(&targets);
    let seen = store.map(|store| store.snapshot(&accounts)).unwrap_or_else(|| Ok(Snapshot::default()));
    let snapshot = seen.unwrap_or_else(|error| {
        warn(&format!("{error}; {UNKNOWN}"), context);
        Snapshot::default()
    });
    let salt = || store.and_then(|store| store.salt().ok());
    let mut candidate = |target| llmr::host::candidate(target, &snapshot.holds, config.as_ref(), salt, context);
    let candidates: Vec<Candidate> = targets.into_iter().map(&mut candidate).collect();
    let now = context.clock.now();
    let bounds = config.as_ref().map(|config| config.policy.usage).unwrap_or_default();
    let demand = Demand { requests: 1.0, input: f64::from(args.tokens), ..Demand::default() };
    let looked = look(&snapshot, &candidates, &demand, &bounds, now);
    let pass = Pass { id: guard_id(now, &Rng::new(None).token(6)), until: now + args.lease, demand };
    let takes = looked.as_ref().is_some_and(Admission::takes);
    let open_already = store.filter(|_| may_write);
    let taken = (takes && !args.dry_run).then(|| match open_already {
        Some(store) => Ok(admit(store, &candidates, &pass, &bounds, context.clock.now())?),
        None => take(&candidates, &pass, &bounds, config.as_ref(), context),
    });
    let (admission, taken) = match taken {
        Some(Ok(admission)) => (admission, true),
        Some(Err(error)) => {
            warn(&format!("{}; other processes do not know of this call", error.message()), context);
            (looked, false)
        }
        None => (looked, false),
    };
    let Some(admission) = admission else {
        return Err(CliError::trouble(format!("nothing is known as `{}`", args.deployment)));
    };
    show(args, &admission, &candidates, taken.then_some(&pass), context)
}

/// The state, and whether it may be written. It is opened for writing only where the call will count, because a limit is
/// known for the provider: then one opening is enough for both.
fn open(args: &GuardArgs, config: Option<&Config>, context: &Context) -> (Option<SqliteStore>, bool) {
    let provider = ProviderName::new(args.deployment.split('/').next().unwrap_or_default());
    let counts = config.is_some_and(|config| config.limits_calls_of(&provider)) && !args.dry_run;
    if counts && let Ok(store) = context.store(config) {
        return (Some(store), true);
    }
    // Our trouble must not keep others from working: what cannot be read holds nothing.
    let store = context.store_to_read(config).unwrap_or_else(|error| {
        warn(&format!("{}; {UNKNOWN}", error.message()), context);
        None
    });
    (store, false)
}

/// What a state means that cannot be read.
const UNKNOWN: &str = "it is not known what is held";

fn warn(what: &str, context: &Context) {
    let what = printable(&context.redactor().redact(what));
    context.output.note(&format!("{} {what}", context.output.label("warning")));
}

/// Takes what the call needs, if it may still be made when nobody else writes.
fn take(
    candidates: &[Candidate],
    pass: &Pass,
    bounds: &UsageSettings,
    config: Option<&Config>,
    context: &Context,
) -> Result<Option<Admission>, CliError> {
    let store = context.store(config)?;
    Ok(admit(&store, candidates, pass, bounds, context.clock.now())?)
}

fn show(
    args: &GuardArgs,
    admission: &Admission,
    candidates: &[Candidate],
    pass: Option<&Pass>,
    context: &Context,
) -> Result<ExitCode, CliError> {
    let (at, says) = match admission {
        Admission::Free { at, limited } => (*at, Says::Free(pass.filter(|_| *limited))),
        Admission::Probe(at, claims) => match claims.first() {
            Some(held) => (*at, Says::Probe(&held.record, pass)),
            None => (*at, Says::Free(None)),
        },
        Admission::Held(at, by) => (*at, Says::Held(&by.record)),
        Admission::Full(at, tight) => (*at, Says::Full(tight)),
    };
    let Some(Candidate { target, .. }) = candidates.get(at) else { return Ok(ExitCode::SUCCESS) };
    let guarded = Guarded { now: context.clock.now(), deployment: &target.deployment, says };
    let text = if args.json { format!("{}\n", guarded.json()) } else { guarded.text() };
    context.output.out(&printable(&context.redactor().redact(&text)))?;
    if let Some(hint) = guarded.hint().filter(|_| !args.json) {
        context.output.note(&format!("{} {}", context.output.label("hint"), printable(&hint)));
    }
    Ok(match guarded.says {
        Says::Held(_) | Says::Full(_) => Code::Exhausted.into(),
        _ => ExitCode::SUCCESS,
    })
}
