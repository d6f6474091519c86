//! `llmr reset`

use std::io::{BufRead, IsTerminal};
use std::process::ExitCode;

use jiff::Timestamp;
use llmr::domain::{Dimension, LadderName, RequestId, Scope, Target, printable};
use llmr::policy::{
    CascadeState, Change, Demand, Finding, Flight, HoldKind, Meter, MeterChange, UsageSettings, Versioned,
    VersionedCascade, VersionedMeter, full,
};
use llmr::report::{Choice, Known, Reset, cascade_line, finding_line, hold_line, meter_line};
use llmr::store::{Accounts, Batch, Snapshot, SqliteStore, Store, update_locked};

use crate::context::Context;
use crate::error::CliError;
use crate::status::{choice, known, sign};

/// Clear holds, at once for all processes
///
/// What is counted of a limit that leaves no room is forgotten with them, or it would go on keeping the deployment back;
/// and a ladder that rests because its requests fell through is open to all again.
#[derive(Debug, clap::Args)]
pub struct ResetArgs {
    /// What to clear: provider, provider/model, provider/model@credential, @credential, provider@credential, the id of
    /// a hold as `status` shows it, or a ladder that rests
    #[arg(value_name = "SELECTOR", required_unless_present = "all", conflicts_with = "all")]
    selectors: Vec<String>,
    /// Clear everything
    #[arg(long)]
    all: bool,
    /// Clear cooldowns; with none of these flags, all holds are meant
    #[arg(long)]
    cooldown: bool,
    /// Clear quarantines
    #[arg(long)]
    quarantine: bool,
    /// Close circuits and forget their failures
    #[arg(long)]
    circuit: bool,
    /// Forget what is counted of limits and what was learned of them
    #[arg(long)]
    usage: bool,
    /// Show what would be cleared and clear nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
    /// One JSON object: what was cleared, and what can be asked thanks to it
    #[arg(long)]
    json: bool,
}

impl ResetArgs {
    fn names_none(&self) -> bool {
        !self.cooldown && !self.quarantine && !self.circuit && !self.usage
    }

    fn means(&self, kind: HoldKind) -> bool {
        self.names_none()
            || match kind {
                HoldKind::Cooldown => self.cooldown,
                HoldKind::Quarantine => self.quarantine,
                HoldKind::Circuit => self.circuit,
            }
    }
}

/// Clears the holds.
pub fn run(args: &ResetArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let config = context.config_file()?;
    let Some(there) = context.store_to_read(config.as_ref())? else {
        return nothing(args, "nothing is held: there is no state file yet", context);
    };
    context.show_state_warning(&there);
    let store = context.store(config.as_ref())?;
    let snapshot = store.snapshot(&Accounts::All)?;
    context.show_state_warning(&store);
    let holds = &snapshot.holds;
    let mut known = known(config.as_ref(), &store.health()?);
    if let Some(config) = &config {
        sign(&mut known, config, store.salt().ok().as_deref(), context);
    }
    let fallen = snapshot.cascades.iter().map(|there| &there.cascade.ladder);
    let ladders: Vec<LadderName> = known.iter().flat_map(Known::on).chain(fallen).cloned().collect();
    let choice = choice(&args.selectors, &known, holds, &ladders, context)?;
    let now = context.clock.now();
    let bounds = config.as_ref().map(|config| config.policy.usage).unwrap_or_default();
    let learned: Vec<Finding> = store.findings(now)?;
    let wanted = |snapshot: &Snapshot| {
        let spent = if args.names_none() { spent(snapshot, &known, &choice, &bounds, now) } else { Vec::new() };
        let is_spent = |scope: &Scope, dimension: Dimension| {
            spent.iter().any(|(target, full)| *full == dimension && scope.covers(target))
        };
        let meant = |scope: &Scope| args.usage && choice.means_scope(scope, &known);
        let holds: (Vec<Versioned>, Vec<Versioned>) = snapshot
            .holds
            .iter()
            .cloned()
            .partition(|held| args.means(held.record.kind()) && choice.means_hold(held, &known));
        Split {
            ladders: opened(args, snapshot, &known, &choice, &holds.0),
            holds,
            findings: learned
                .iter()
                .filter(|finding| args.names_none() && choice.means_scope(&finding.scope(), &known))
                .cloned()
                .collect(),
            meters: counted(snapshot, |meter| meant(&meter.scope) || is_spent(&meter.scope, meter.dimension)),
            // What is under way leaves no room either.
            flights: flying(snapshot, |flight| {
                let scope = Scope::deployment(&flight.target);
                meant(&scope) || spent.iter().any(|(target, _)| scope.covers(target) || *target == flight.target)
            }),
        }
    };
    let found = wanted(&snapshot);
    if found.is_empty() {
        return nothing(args, "nothing to clear", context);
    }
    let asks = !args.dry_run && !args.yes && std::io::stdin().is_terminal();
    if asks && !context.output.stderr_is_terminal() {
        let error = CliError::usage("the question cannot be seen: standard error is no terminal; nothing was cleared");
        return Err(error.hint("say -y to clear without a question"));
    }
    if asks && !confirm(&found, context)? {
        context.output.note("nothing was cleared");
        return Ok(ExitCode::SUCCESS);
    }
    let split = if args.dry_run { found } else { clear(&store, wanted)? };
    let ladders: Vec<VersionedCascade> = split.resting().cloned().collect();
    let Split { holds: (cleared, left), meters, flights, findings, .. } = split;
    let reset = Reset {
        now,
        dry_run: args.dry_run,
        cleared: &cleared,
        ladders: &ladders,
        findings: &findings,
        meters: &meters,
        flights: flights.len(),
        left: &left,
        known: &known,
    };
    let code = print(args, &reset, context)?;
    if let (Some(config), false) = (&config, args.dry_run) {
        crate::ring::after_change(config, &store, context);
    }
    Ok(code)
}

/// What is cleared, and what stays.
struct Split {
    /// Those that are cleared, and those that stay.
    holds: (Vec<Versioned>, Vec<Versioned>),
    /// The ladders whose requests that fell through are forgotten.
    ladders: Vec<VersionedCascade>,
    /// What models taught that is forgotten.
    findings: Vec<Finding>,
    /// What is forgotten.
    meters: Vec<VersionedMeter>,
    /// The calls that count no longer as under way.
    flights: Vec<RequestId>,
}

impl Split {
    fn is_empty(&self) -> bool {
        let nothing_rests = self.holds.0.is_empty() && self.resting().next().is_none();
        nothing_rests && self.meters.is_empty() && self.flights.is_empty() && self.findings.is_empty()
    }

    /// The ladders that let not all requests go; that others are forgotten changes nothing for anyone.
    fn resting(&self) -> impl Iterator<Item = &VersionedCascade> {
        self.ladders.iter().filter(|there| there.cascade.state != CascadeState::Closed)
    }

    fn batch(&self) -> Batch {
        let delete = |held: &Versioned| Change { key: held.record.key(), expected: Some(held.version), record: None };
        let forget = |held: &VersionedMeter| {
            let key = (held.meter.scope.clone(), held.meter.dimension);
            MeterChange { key, expected: Some(held.version), meter: None }
        };
        Batch {
            changes: self.holds.0.iter().map(delete).collect(),
            meters: self.meters.iter().map(forget).collect(),
            cascades: self.ladders.iter().map(VersionedCascade::removal).collect(),
            landed: self.flights.clone(),
            forgotten: self.findings.iter().map(|found| (found.provider.clone(), found.model.clone())).collect(),
            ..Batch::default()
        }
    }
}

/// The ladders that open to all again: those that are meant themselves, and those that could ask somebody thanks to the
/// holds that go. One of which nobody here knows the steps goes with any hold.
fn opened(
    args: &ResetArgs,
    snapshot: &Snapshot,
    known: &[Known],
    choice: &Choice,
    cleared: &[Versioned],
) -> Vec<VersionedCascade> {
    let is_opened = |ladder: &LadderName| {
        let mut steps = known.iter().filter(|known| known.on().any(|name| name == ladder)).peekable();
        let is_strange = steps.peek().is_none();
        let is_free = |known: &Known| {
            let is_meant = args.names_none() && choice.means(&known.target, &snapshot.holds);
            is_meant || cleared.iter().any(|held| held.record.scope().covers(&known.target))
        };
        let is_named = args.names_none() && (choice.is_everything() || choice.names_ladder(ladder));
        is_named || steps.any(is_free) || (is_strange && !cleared.is_empty())
    };
    snapshot.cascades.iter().filter(|there| is_opened(&there.cascade.ladder)).cloned().collect()
}

fn counted(snapshot: &Snapshot, wanted: impl Fn(&Meter) -> bool) -> Vec<VersionedMeter> {
    snapshot.usage.meters.iter().filter(|held| wanted(&held.meter)).cloned().collect()
}

fn flying(snapshot: &Snapshot, wanted: impl Fn(&Flight) -> bool) -> Vec<RequestId> {
    let meant = snapshot.usage.flights.iter().filter(|flight| wanted(flight));
    meant.map(|flight| flight.id.clone()).collect()
}

/// The limits that leave no room for even a small request of a deployment that is meant.
fn spent(
    snapshot: &Snapshot,
    known: &[Known],
    choice: &Choice,
    bounds: &UsageSettings,
    now: Timestamp,
) -> Vec<(Target, Dimension)> {
    let demand = Demand { requests: 1.0, ..Demand::default() };
    let meant = known.iter().filter(|known| choice.means(&known.target, &snapshot.holds));
    let spent = meant.flat_map(|known| {
        let tight = full(&known.target, &known.gauges, &snapshot.usage, &demand, bounds, now);
        tight.into_iter().map(|tight| (known.target.clone(), tight.dimension))
    });
    spent.collect()
}

/// Clears what is wanted, of what is there at that very moment.
fn clear(store: &SqliteStore, wanted: impl Fn(&Snapshot) -> Split) -> Result<Split, CliError> {
    Ok(update_locked(store, &Accounts::All, |snapshot| {
        let split = wanted(snapshot);
        (split.batch(), split)
    })?)
}

fn nothing(args: &ResetArgs, why: &str, context: &Context) -> Result<ExitCode, CliError> {
    if args.json {
        let now = context.clock.now();
        return print(
            args,
            &Reset {
                now,
                dry_run: args.dry_run,
                cleared: &[],
                findings: &[],
                meters: &[],
                ladders: &[],
                flights: 0,
                left: &[],
                known: &[],
            },
            context,
        );
    }
    context.output.out(&format!("{why}\n"))?;
    Ok(ExitCode::SUCCESS)
}

fn print(args: &ResetArgs, reset: &Reset<'_>, context: &Context) -> Result<ExitCode, CliError> {
    let text = if args.json { format!("{}\n", reset.json()) } else { reset.text() };
    context.output.out(&printable(&context.redactor().redact(&text)))?;
    Ok(ExitCode::SUCCESS)
}

/// Asks on the terminal.
fn confirm(found: &Split, context: &Context) -> Result<bool, CliError> {
    let now = context.clock.now();
    let holds = found.holds.0.iter().map(|held| hold_line(held, now));
    let meters = found.meters.iter().map(|held| meter_line(&held.meter, now));
    let findings = found.findings.iter().map(|found| finding_line(found, now));
    let ladders = found.resting().map(|there| cascade_line(&there.cascade, now));
    for line in holds.chain(ladders).chain(meters).chain(findings) {
        context.output.note(&format!("  {}", printable(&line)));
    }
    let all =
        found.holds.0.len() + found.resting().count() + found.meters.len() + found.flights.len() + found.findings.len();
    context.output.note(&format!("clear {} for all processes? [y/N]", count(all)));
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

fn count(all: usize) -> String {
    if all == 1 { "this".to_owned() } else { format!("these {all}") }
}
