//! `llmr reset`

use std::io::{BufRead, IsTerminal};
use std::process::ExitCode;

use llmr::policy::{Change, HoldKind, Versioned};
use llmr::report::{distance, hold_id};
use llmr::store::{Batch, Store, update};

use crate::context::Context;
use crate::error::CliError;
use crate::status::{known, selectors, touches};

/// Clear holds, at once for all processes
#[derive(Debug, clap::Args)]
pub struct ResetArgs {
    /// What to clear: provider, provider/model, provider/model@credential, @credential or provider@credential
    #[arg(value_name = "SELECTOR", required_unless_present = "all", conflicts_with = "all")]
    selectors: Vec<String>,
    /// Clear everything
    #[arg(long)]
    all: bool,
    /// Clear cooldowns; with none of the three, all are meant
    #[arg(long)]
    cooldown: bool,
    /// Clear quarantines
    #[arg(long)]
    quarantine: bool,
    /// Close circuits and forget their failures
    #[arg(long)]
    circuit: bool,
    /// Show what would be cleared and clear nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

impl ResetArgs {
    fn means(&self, kind: HoldKind) -> bool {
        let none = !self.cooldown && !self.quarantine && !self.circuit;
        none || match kind {
            HoldKind::Cooldown => self.cooldown,
            HoldKind::Quarantine => self.quarantine,
            HoldKind::Circuit => self.circuit,
        }
    }
}

/// Clears the holds.
pub fn run(args: &ResetArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let selectors = selectors(&args.selectors)?;
    let config = context.config_file()?;
    if context.store_to_read(config.as_ref())?.is_none() {
        context.output.out("nothing is held: there is no state file yet\n")?;
        return Ok(ExitCode::SUCCESS);
    }
    let store = context.store(config.as_ref())?;
    let health = store.health()?;
    let wanted = |holds: &[Versioned]| -> Vec<Versioned> {
        let mut chosen = known(config.as_ref(), &health);
        chosen.retain(|known| selectors.iter().any(|selector| selector.matches(&known.target.deployment)));
        let meant =
            |held: &&Versioned| args.means(held.record.kind()) && (args.all || touches(&selectors, &chosen, held));
        holds.iter().filter(meant).cloned().collect()
    };
    let found = wanted(&store.holds()?);
    if found.is_empty() {
        context.output.out("nothing to clear\n")?;
        return Ok(ExitCode::SUCCESS);
    }
    if args.dry_run {
        print(&found, "would clear", context)?;
        return Ok(ExitCode::SUCCESS);
    }
    if !args.yes && std::io::stdin().is_terminal() && context.output.stderr_is_terminal() && !confirm(&found, context)?
    {
        context.output.note("nothing was cleared");
        return Ok(ExitCode::SUCCESS);
    }
    let cleared = update(&store, |holds| {
        let cleared = wanted(holds);
        let delete = |held: &Versioned| Change { key: held.record.key(), expected: Some(held.version), record: None };
        (Batch { changes: cleared.iter().map(delete).collect(), ..Batch::default() }, cleared)
    })?;
    print(&cleared, "cleared", context)?;
    Ok(ExitCode::SUCCESS)
}

fn print(holds: &[Versioned], verb: &str, context: &Context) -> Result<(), CliError> {
    let text: String = holds.iter().map(|held| format!("{verb} {}\n", line(held, context))).collect();
    context.output.out(&llmr::domain::printable(&text))?;
    Ok(())
}

fn line(held: &Versioned, context: &Context) -> String {
    let record = &held.record;
    let until = llmr::policy::returns_at(record).map(|at| distance(at, context.clock.now()));
    let ends = until.map_or(String::new(), |text| format!(", ends {text}"));
    format!("{} {} {}: {}{ends}", record.kind(), hold_id(held), record.scope(), record.class())
}

/// Asks on the terminal.
fn confirm(holds: &[Versioned], context: &Context) -> Result<bool, CliError> {
    for held in holds {
        context.output.note(&format!("  {}", llmr::domain::printable(&line(held, context))));
    }
    context.output.note(&format!("clear {} for all processes? [y/N]", count(holds.len())));
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

fn count(holds: usize) -> String {
    if holds == 1 { "this hold".to_owned() } else { format!("these {holds} holds") }
}
