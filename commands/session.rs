//! `llmr session`

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;

use clap::Subcommand;
use llmr::clock::Rng;
use llmr::domain::{SessionName, printable, visible};
use llmr::report::{call_line, call_name, rfc3339, session_json, sessions_text, talk_json, talk_text};
use llmr::session::{LONGEST_RESULT, NoCall, Settlement, may_still_run, open_call, settle};
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
    /// Begin one that has nothing in it yet
    New {
        /// Its name
        name: String,
    },
    /// Remove conversations with all that was said and run
    Rm {
        /// Their names
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
        /// Also those with a call of which nobody knows whether it did its work
        #[arg(long)]
        force: bool,
    },
    /// Say what came of a tool's call of which nobody knows whether it did its work
    Settle {
        /// The conversation
        name: String,
        /// The call, as `chat` or `session show` names it
        call: String,
        /// It did; this is what the model is told (@FILE reads it)
        #[arg(long, value_name = "TEXT|@FILE", required_unless_present_any = ["again", "decline"], conflicts_with_all = ["again", "decline"])]
        result: Option<String>,
        /// It did not; let it run once more
        #[arg(long)]
        again: bool,
        /// It did not, and it is not to be run; the model is told so
        #[arg(long, conflicts_with = "again")]
        decline: bool,
        /// It is not running any more, although the process that began it was killed
        #[arg(long)]
        force: bool,
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
            let text = if *json {
                format!("{}\n", visible(&talk_json(&talk).to_string()))
            } else {
                talk_text(&talk, context.clock.now())
            };
            print(&text, context)
        }
        Command::New { name } => begin(&session_name("NAME", name)?, &context.store(config.as_ref())?, context),
        Command::Rm { names, force } => {
            let names: BTreeSet<SessionName> =
                names.iter().map(|name| session_name("NAME", name)).collect::<Result<_, _>>()?;
            // What is not there is not made to be looked at.
            let is_there = context.store_to_read(config.as_ref())?.is_some();
            let store = if is_there { Some(context.store(config.as_ref())?) } else { None };
            remove(&names, *force, store.as_ref(), context)
        }
        Command::Settle { name, call, result, again, decline: _, force } => {
            let word = match result {
                Some(text) => Settlement::Done(told(text)?),
                None if *again => Settlement::Again,
                None => Settlement::Declined,
            };
            let name = session_name("NAME", name)?;
            let store = context.store(config.as_ref())?;
            settled(&name, call, word, (&store, *force), context)
        }
    }
}

/// What is kept was cleaned when it was written; what only looks like a key would make a hole in a picture.
fn print(text: &str, context: &Context) -> Result<ExitCode, CliError> {
    context.output.out(&printable(&context.redactor().redact_known(text)))?;
    Ok(ExitCode::SUCCESS)
}

fn none(name: &SessionName) -> CliError {
    CliError::usage(format!("there is no session `{name}`")).hint("`llmr session list` shows those that there are")
}

fn list(store: Option<&SqliteStore>, json: bool, context: &Context) -> Result<ExitCode, CliError> {
    let outlines = store.map(SessionStore::outlines).transpose()?.unwrap_or_default();
    if json {
        let line = |outline| format!("{}\n", visible(&session_json(outline).to_string()));
        return print(&outlines.iter().map(line).collect::<String>(), context);
    }
    print(&sessions_text(&outlines, context.clock.now()), context)
}

fn begin(name: &SessionName, store: &SqliteStore, context: &Context) -> Result<ExitCode, CliError> {
    let _seat = sit(name, store)?;
    if store.talk(name)?.is_some() {
        return Err(
            CliError::usage(format!("there is a session `{name}` already")).hint("`chat --session` goes on with it")
        );
    }
    store.take_session(name, &Rng::new(None).token(16), context.clock.now())?;
    context.output.note(&format!("`llmr chat --session {name} PROMPT` begins it"));
    Ok(ExitCode::SUCCESS)
}

fn remove(
    names: &BTreeSet<SessionName>,
    force: bool,
    store: Option<&SqliteStore>,
    context: &Context,
) -> Result<ExitCode, CliError> {
    // All are taken and looked at before anything goes, and nobody goes on with one meanwhile.
    let mut seats = Vec::new();
    for name in names {
        seats.push(store.map(|store| sit(name, store)).transpose()?);
        let Some(talk) = store.map(|store| store.talk(name)).transpose()?.flatten() else {
            return Err(none(name).hint("nothing was removed"));
        };
        let open = talk.journal.iter().map(|(_, entry)| entry).find(|entry| entry.needs_word());
        if let Some(entry) = open.filter(|_| !force) {
            let error = CliError::usage(format!("nobody knows yet what a tool of `{name}` did; nothing was removed"));
            let settle = format!("llmr session settle {name} {}", call_name(&entry.fingerprint));
            let error = error.cause(call_line(entry)).hint(format!("`{settle}` settles it"));
            return Err(error.hint("--force removes it with the only note of that"));
        }
    }
    for name in names {
        let Some(store) = store else { break };
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
    (store, force): (&SqliteStore, bool),
    context: &Context,
) -> Result<ExitCode, CliError> {
    let _seat = sit(name, store)?;
    let talk = store.talk(name)?.ok_or_else(|| none(name))?;
    let (version, entry) = open_call(&talk, call).map_err(|why| no_call(why, call, name))?;
    if may_still_run(entry) && !force && !matches!(word, Settlement::Done(_)) {
        let error = CliError::usage(format!("`{}` may still be running", entry.tool));
        let begun = entry.started_at.map_or(String::new(), |at| format!(" at {}", rfc3339(at)));
        let error = error.cause(format!("the process that began it{begun} is gone, and its command may not be"));
        return Err(error.hint("look whether it runs (`ps`); --force says that it does not"));
    }
    let what = match word {
        Settlement::Again => "may be run once more",
        Settlement::Declined => "is told as not done and will not be run",
        _ => "is settled and will not be run",
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
