//! `llmr hold`

use std::io::{BufRead, IsTerminal};
use std::process::ExitCode;
use std::time::Duration;

use jiff::Timestamp;
use llmr::config::Config;
use llmr::domain::{LadderName, Scope, excerpt, printable};
use llmr::policy::{Change, Family, Key, UsageSettings, Versioned, bar};
use llmr::report::{Barred, Known, Places, hold_id, selector_of};
use llmr::store::{Accounts, Batch, Snapshot, SqliteStore, Store, update_locked};

use crate::context::{Context, nearest_provider};
use crate::error::CliError;
use crate::status::{known, sign};

/// How much of the reason is kept, in characters.
const REASON: usize = 300;

/// Bar deployments by hand, at once for all processes
///
/// What is held by hand is not asked and not probed, whatever comes of other calls and whatever key is there. It lasts
/// until `llmr reset`, or until the time that is given here, and is then simply over. Held again, it gets the new time and
/// reason.
#[derive(Debug, clap::Args)]
pub struct HoldArgs {
    /// What to hold: provider, provider/model, provider/model@credential, @credential or provider@credential
    #[arg(value_name = "SELECTOR", required = true)]
    selectors: Vec<String>,
    /// For how long, like 30m, 6h or 7d; without this or --until, until `llmr reset`
    #[arg(long = "for", value_name = "DUR", value_parser = crate::job::duration, conflicts_with = "until")]
    length: Option<Duration>,
    /// Until when, like 2026-08-23T03:00:00Z
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// The reason, which everybody is told whom the hold keeps back
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    why: String,
    /// Show what would be held and hold nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
    /// One JSON object: what is held, whom that keeps back, and who is left on their ladders
    #[arg(long)]
    json: bool,
}

/// Bars the deployments.
pub fn run(args: &HoldArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let until = args.until(context.clock.now())?;
    let config = match context.config_file()? {
        Some(config) => Some(config),
        None => context.config().ok(),
    };
    let there = context.store_to_read(config.as_ref())?;
    let (snapshot, health, salt) = match &there {
        Some(store) => (store.snapshot(&Accounts::All)?, store.health()?, store.salt().ok()),
        None => (Snapshot::default(), Vec::new(), None),
    };
    let mut known = known(config.as_ref(), &health);
    if let Some(config) = &config {
        sign(&mut known, config, salt.as_deref(), context);
    }
    let wanted = Wanted {
        scopes: scopes(&args.selectors, &known, config.as_ref(), &snapshot.holds)?,
        until,
        why: excerpt(&context.redactor().redact(&args.why), REASON),
        now: context.clock.now(),
    };
    let bounds = config.as_ref().map(|config| config.policy.usage).unwrap_or_default();
    let plan = wanted.imagined(&snapshot);
    let asks = !args.dry_run && !args.yes && std::io::stdin().is_terminal();
    if args.dry_run {
        return print(args, &plan.barred(true, &known, &bounds, wanted.now), context);
    }
    if asks && !confirm(&plan.barred(true, &known, &bounds, wanted.now), context)? {
        context.output.note("nothing was held");
        return Ok(ExitCode::SUCCESS);
    }
    let store = context.store(config.as_ref())?;
    let done = wanted.write(&store)?;
    let code = print(args, &done.barred(false, &known, &bounds, wanted.now), context)?;
    if let Some(config) = &config {
        crate::ring::after_change(config, &store, context);
    }
    Ok(code)
}

impl HoldArgs {
    /// When it ends by itself.
    fn until(&self, now: Timestamp) -> Result<Option<Timestamp>, CliError> {
        let example = "write it like `--for 6h` or `--until 2026-08-23T03:00:00Z`";
        let until = match (self.length, &self.until) {
            (Some(length), _) => now.checked_add(length).map_err(|_| "--for reaches too far ahead".to_owned()),
            (None, Some(text)) => text.parse().map_err(|_| format!("--until {text}: this is no time")),
            (None, None) => return Ok(None),
        };
        match until {
            Ok(until) if until > now => Ok(Some(until)),
            Ok(_) => Err(CliError::usage("the hold would be over already").hint(example)),
            Err(error) => Err(CliError::usage(error).hint(example)),
        }
    }
}

/// What is to be held.
struct Wanted {
    scopes: Vec<Scope>,
    until: Option<Timestamp>,
    why: String,
    now: Timestamp,
}

impl Wanted {
    fn changes(&self, holds: &[Versioned]) -> Vec<Change> {
        self.scopes.iter().map(|scope| bar(holds, scope.clone(), self.until, &self.why, self.now)).collect()
    }

    fn is_own(&self, held: &Versioned) -> bool {
        self.scopes.iter().any(|scope| held.record.has_key(&Key::Circuit(scope.clone(), Family::Operator)))
    }

    /// How it would be with them. Those that are new have no id of a store yet, but one each.
    fn imagined(&self, snapshot: &Snapshot) -> Held {
        let replaced: Vec<Versioned> = snapshot.holds.iter().filter(|held| self.is_own(held)).cloned().collect();
        let mut then = snapshot.clone();
        then.holds.retain(|held| !self.is_own(held));
        for (change, at) in self.changes(&snapshot.holds).into_iter().zip(1..) {
            let old = replaced.iter().find(|held| held.record.has_key(&change.key));
            let id = old.map_or(-at, |held| held.id);
            then.holds.extend(change.record.map(|record| Versioned { id, version: 0, record }));
        }
        Held { set: then.holds.iter().filter(|held| self.is_own(held)).cloned().collect(), replaced, snapshot: then }
    }

    /// Holds them, beside all that is there at that very moment.
    fn write(&self, store: &SqliteStore) -> Result<Held, CliError> {
        let replaced = update_locked(store, &Accounts::All, |snapshot| {
            let batch = Batch { changes: self.changes(&snapshot.holds), ..Batch::default() };
            (batch, snapshot.holds.iter().filter(|held| self.is_own(held)).cloned().collect())
        })?;
        let snapshot = store.snapshot(&Accounts::All)?;
        Ok(Held { set: snapshot.holds.iter().filter(|held| self.is_own(held)).cloned().collect(), replaced, snapshot })
    }
}

/// What is held, or would be.
struct Held {
    set: Vec<Versioned>,
    replaced: Vec<Versioned>,
    snapshot: Snapshot,
}

impl Held {
    fn barred<'a>(
        &'a self,
        dry_run: bool,
        known: &'a [Known],
        bounds: &'a UsageSettings,
        now: Timestamp,
    ) -> Barred<'a> {
        let Self { set, replaced, snapshot } = self;
        Barred { now, dry_run, set, replaced, snapshot, known, bounds }
    }
}

/// The scopes that the words name, each once.
fn scopes(
    words: &[String],
    known: &[Known],
    config: Option<&Config>,
    holds: &[Versioned],
) -> Result<Vec<Scope>, CliError> {
    let places = places(known, config);
    let mut scopes: Vec<Scope> = Vec::new();
    for word in words {
        let found = places.scopes(word).map_err(|error| CliError::usage(format!("{error}")))?;
        if found.is_empty() {
            return Err(unknown(word, &places, known, config, holds));
        }
        for scope in found {
            if !scopes.contains(&scope) {
                scopes.push(scope);
            }
        }
    }
    Ok(scopes)
}

/// What can be asked, as the config and the log know it.
fn places(known: &[Known], config: Option<&Config>) -> Places {
    let deployments = known.iter().map(|known| known.target.deployment.clone()).collect();
    let mut places = Places { deployments, ..Places::default() };
    if let Some(config) = config {
        let keys = config.credentials.iter().map(|key| (key.provider.clone(), key.name.clone()));
        places.credentials.extend(keys);
        places.providers.extend(config.providers.keys().cloned());
        places.providers.extend(config.credentials.iter().map(|key| key.provider.clone()));
        for provider in &places.providers {
            let models = config.provider(provider).map(|info| info.models.as_slice()).unwrap_or_default();
            places.models.extend(models.iter().map(|model| (provider.clone(), model.id.clone())));
        }
    }
    places.complete()
}

/// A word to which nothing answers.
fn unknown(word: &str, places: &Places, known: &[Known], config: Option<&Config>, holds: &[Versioned]) -> CliError {
    if let Some(held) = holds.iter().find(|held| hold_id(held) == word) {
        let error = CliError::usage(format!("`{word}` is a hold already; hold deployments by their names"));
        return error.hint(format!("it covers `{}`", selector_of(held.record.scope())));
    }
    let ladder = LadderName::new(word);
    if known.iter().flat_map(Known::on).any(|name| *name == ladder) {
        let steps = known.iter().filter(|known| known.on().any(|name| *name == ladder));
        let steps: Vec<String> = steps.map(|known| format!("`{}`", known.target.deployment)).collect();
        let error = CliError::usage(format!("`{word}` is a ladder; hold its deployments by their names"));
        return error.hint(format!("it asks {}", steps.join(", ")));
    }
    let error = CliError::usage(format!("nothing that is known is called `{word}`; nothing was held"));
    let near = places.nearest(word).or_else(|| nearest_provider(word, config?));
    match near {
        Some(near) => error.hint(format!("did you mean `{near}`?")),
        None => error.hint("`llmr status` lists the deployments"),
    }
}

fn print(args: &HoldArgs, barred: &Barred<'_>, context: &Context) -> Result<ExitCode, CliError> {
    let text = if args.json { format!("{}\n", barred.json()) } else { barred.text() };
    context.output.out(&printable(&context.redactor().redact(&text)))?;
    Ok(ExitCode::SUCCESS)
}

/// Asks on the terminal.
fn confirm(barred: &Barred<'_>, context: &Context) -> Result<bool, CliError> {
    if !context.output.stderr_is_terminal() {
        let error = CliError::usage("the question cannot be seen: standard error is no terminal; nothing was held");
        return Err(error.hint("say -y to hold without a question"));
    }
    for line in barred.text().lines() {
        context.output.note(&format!("  {}", printable(&context.redactor().redact(line))));
    }
    context.output.note("hold this back for all processes? [y/N]");
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
