//! `llmr session`

use std::path::Path;
use std::process::ExitCode;

use clap::Subcommand;
use llmr::domain::{SessionName, printable};
use llmr::report::{call_line, call_name, session_json, sessions_text, talk_json, talk_text};
use llmr::session::{LONGEST_RESULT, NoCall, Settlement, open_call, settle};
use llmr::store::{Seat, SessionStore, SqliteStore};

use crate::context::{Context, read_named};
use crate::error::CliError;
use crate::tools::session_name;

/// The conversations that `chat --session` keeps
#[derive(Debug, clap::Args)]
pub struct SessionArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// All of them, the one that was used last first
    List {
        /// One JSON object for each
        #[arg(long)]
        json: bool,
    },
    /// One of them: what was said, and which tools were run
    Show {
        /// Its name
        name: String,
        /// One JSON object, which `chat --messages` reads
        #[arg(long)]
        json: bool,
    },
    /// Remove conversations with all that was said and run
    Rm {
        /// Their names
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
    },
    /// Say what came of a tool's call of which nobody knows whether it did its work
    Settle {
        /// The conversation
        name: String,
        /// The call, as `chat` or `session show` names it
        call: String,
        /// It did; this is what the model is told (@FILE reads it)
        #[arg(long, value_name = "TEXT|@FILE", required_unless_present = "again", conflicts_with = "again")]
        result: Option<String>,
        /// It did not; let it run once more
        #[arg(long)]
        again: bool,
    },
}

/// Does it.
pub fn run(args: &SessionArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let config = context.config_file()?;
    match &args.command {
        Command::List { json } => {
            let store = context.store_to_read(config.as_ref())?;
            list(store.as_ref(), *json, context)
        }
        Command::Show { name, json } => {
            let name = session_name("NAME", name)?;
            let store = context.store_to_read(config.as_ref())?.ok_or_else(|| none(&name))?;
            let talk = store.talk(&name)?.ok_or_else(|| none(&name))?;
            let text = if *json { format!("{}\n", talk_json(&talk)) } else { talk_text(&talk, context.clock.now()) };
            print(&text, context)
        }
        Command::Rm { names } => {
            let names: Vec<SessionName> =
                names.iter().map(|name| session_name("NAME", name)).collect::<Result<_, _>>()?;
            let store = context.store_to_read(config.as_ref())?;
            remove(&names, store, config.as_ref(), context)
        }
        Command::Settle { name, call, result, again } => {
            let word = match (result, again) {
                (Some(text), false) => Settlement::Done(told(text)?),
                _ => Settlement::Again,
            };
            let name = session_name("NAME", name)?;
            let store = context.store(config.as_ref())?;
            settled(&name, call, word, &store, context)
        }
    }
}

fn print(text: &str, context: &Context) -> Result<ExitCode, CliError> {
    context.output.out(&printable(&context.redactor().redact(text)))?;
    Ok(ExitCode::SUCCESS)
}

fn none(name: &SessionName) -> CliError {
    CliError::usage(format!("there is no session `{name}`")).hint("`llmr session list` shows those that there are")
}

fn list(store: Option<&SqliteStore>, json: bool, context: &Context) -> Result<ExitCode, CliError> {
    let sessions = store.map(SessionStore::sessions).transpose()?.unwrap_or_default();
    let lines = || sessions.iter().map(|session| format!("{}\n", session_json(session))).collect();
    print(&if json { lines() } else { sessions_text(&sessions, context.clock.now()) }, context)
}

fn remove(
    names: &[SessionName],
    there: Option<SqliteStore>,
    config: Option<&llmr::config::Config>,
    context: &Context,
) -> Result<ExitCode, CliError> {
    // All names are looked at before anything goes.
    for name in names {
        let is_there = there.as_ref().map(|store| store.talk(name)).transpose()?.flatten().is_some();
        if !is_there {
            return Err(none(name).hint("nothing was removed"));
        }
    }
    drop(there);
    let store = context.store(config)?;
    for name in names {
        let _seat = sit(name, &store)?;
        store.remove_session(name)?;
        context.output.note(&format!("removed {name}"));
    }
    Ok(ExitCode::SUCCESS)
}

fn sit(name: &SessionName, store: &SqliteStore) -> Result<Seat, CliError> {
    store.seat(name).ok_or_else(|| {
        let error = CliError::trouble(format!("another process is going on with `{name}` just now"));
        error.hint("wait for its end, then run this again")
    })
}

/// What the model is to be told.
fn told(text: &str) -> Result<String, CliError> {
    let mut text = match text.strip_prefix('@') {
        Some(path) => read_named("--result", Path::new(path))?,
        None => text.to_owned(),
    };
    text.truncate(text.floor_char_boundary(LONGEST_RESULT));
    Ok(printable(&text))
}

fn settled(
    name: &SessionName,
    call: &str,
    word: Settlement,
    store: &SqliteStore,
    context: &Context,
) -> Result<ExitCode, CliError> {
    let _seat = sit(name, store)?;
    let talk = store.talk(name)?.ok_or_else(|| none(name))?;
    let (version, entry) = open_call(&talk, call).map_err(|why| no_call(why, call, name))?;
    let what = match word {
        Settlement::Done(_) => "is settled and will not be run",
        Settlement::Again => "may be run once more",
    };
    settle(store, name, (version, entry), word, (context.clock.now(), context.redactor()))?;
    context.output.note(&format!("{} {what}; `llmr chat --session {name}` goes on", entry.tool));
    Ok(ExitCode::SUCCESS)
}

/// That no such call is to be settled.
fn no_call(why: NoCall<'_>, call: &str, name: &SessionName) -> CliError {
    let error = match why {
        NoCall::Settled(entry) => {
            let error = CliError::usage(format!("there is nothing to settle of `{}`", call_name(&entry.fingerprint)));
            error.cause(call_line(entry))
        }
        NoCall::Unknown => CliError::usage(format!("`{call}` names no call of the session `{name}`")),
        NoCall::Several => CliError::usage(format!("`{call}` names more than one call of the session `{name}`")),
    };
    error.hint(format!("`llmr session show {name}` shows all calls"))
}
