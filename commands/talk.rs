//! `llmr chat` where a conversation is kept or the model may have tools run.

use std::io::{BufRead, IsTerminal};
use std::process::ExitCode;

use llmr::clock::Rng;
use llmr::config::{Config, ToolConfig};
use llmr::domain::{ChatRequest, JournalEntry, Message, SessionName, TalkSettings, printable};
use llmr::report::{order_lines, question_lines, tool_line};
use llmr::route::{FallbackStore, Report};
use llmr::session::{
    Consent, Desk, Ended, Order, Outcome as Came, Resume, Rounds, Settlement, Stage, ToolRun, Wish, go_on, note_told,
    opening, outcome, rounds_in, run_tool,
};
use llmr::store::{MemoryStore, Seat, SessionStore, SqliteStore, Talk};
use llmr::transport::Transport;

use crate::chat::{print_json, print_text};
use crate::context::Context;
use crate::error::CliError;
use crate::job::RequestArgs;
use crate::screen::Screen;
use crate::told::Told;
use crate::walk::{is_interrupted, listen_for_interrupt, stroll, transport};

/// Goes on with the conversation.
pub fn run(args: &RequestArgs, stdin: Option<&str>, context: &mut Context) -> Result<ExitCode, CliError> {
    let config = context.config()?;
    let store = context.lenient_store(&config);
    let memory = MemoryStore::new();
    let named = args.talk.session()?;
    let (place, _seat) = place(named.as_ref(), &store, &memory)?;
    let name = named.clone().unwrap_or_else(|| SessionName::new(context.request_id().as_str()));
    let there = place.talk(&name)?;
    let args = match &there {
        Some(talk) => args.going_on_with(&talk.session.settings),
        None => args.clone(),
    };
    let (config, choice) = args.settle(context)?;
    context.show_warnings(&config);
    let wish = Wish { before: args.before()?, says: args.question(stdin)?, settings: TalkSettings::default() };
    let (turns, resume) = opening(there.as_ref(), wish.says.as_ref(), context.redactor())?;
    if let Some(shown) = settled_before(&name, (there.as_ref(), &turns, &resume), &wish, &args, context)? {
        return Ok(shown);
    }
    let offered = args.talk.tools(&config, &choice.ladder)?;
    let settings =
        TalkSettings { ladder: Some(choice.ladder.clone()), system: args.system_text()?, tools: offered.clone() };
    let messages = turns.iter().chain(&wish.before).chain(&wish.says).cloned().collect();
    let request = ChatRequest { messages, ..args.request(None, args.streams(context))? };
    let rounds = rounds_in(&config, &choice.ladder);
    let mut job = args.job(request, choice, &config, &store, context)?;
    job.wants_text = true;
    let transport = transport(&job, &config, context)?;
    if let Some(id) = args.chosen_id()?
        && let Some(known) = crate::stored::claim(&id, &mut job, &config, &store, context)?
    {
        return crate::stored::tell(&known, args.json, &store, context);
    }
    let holder = Rng::new(None).token(16);
    place.take_session(&name, &holder, context.clock.now())?;
    let stage = Stage {
        store: place,
        name,
        holder,
        clock: context.clock,
        redactor: context.redactor(),
        tools: &config.tools,
        offered,
        rounds: args.talk.max_tool_rounds.unwrap_or(rounds),
        all_allowed: args.talk.yes_tools,
    };
    listen_for_interrupt();
    let mut counter = Counter {
        shows: job.shows_pieces() && !args.json,
        rounds: Rounds::new(job, context.clock.stopwatch()),
        transport: &transport,
        config: &config,
        store: &store,
        context,
        session: stage.name.to_string(),
        hidden: llmr::host::hidden_variables(&llmr::host::environment(), &config, context.redactor()),
        rng: context.rng.clone(),
        runs: Vec::new(),
    };
    let wish = Wish { settings, ..wish };
    let ended = context.block_on(go_on(&stage, &wish, &mut counter))?.map_err(|error| lost(error, named.as_ref()))?;
    let Counter { rounds, runs, shows, .. } = counter;
    let (has_asked, report) = (rounds.has_asked(), rounds.report(context.clock.now()));
    let told = Told { report: &report, runs: &runs, ended: &ended, named: named.as_ref(), shown: shows };
    let printed = told.print(args.json, context);
    if named.is_some() && printed.is_ok() && ended == Ended::Answered {
        note_told(place, &stage.name, &stage.holder, context.clock.now())?;
    }
    if has_asked {
        crate::ring::after_request(&report, &config, &store, context);
    }
    if let Some(file) = store.file() {
        context.forget_the_old(file, Some(&config));
    }
    printed
}

/// Where the conversation is kept: in the state, if it has a name, and then by nobody else at the same time.
fn place<'a>(
    named: Option<&SessionName>,
    store: &'a FallbackStore<SqliteStore>,
    memory: &'a MemoryStore,
) -> Result<(&'a dyn SessionStore, Option<Seat>), CliError> {
    let Some(name) = named else { return Ok((memory, None)) };
    let Some(file) = store.file() else {
        let why = store.take_warning().unwrap_or_else(|| "the state file cannot be used".to_owned());
        let why = why.split("; ").next().unwrap_or_default().to_owned();
        let error = CliError::trouble(format!("--session: a conversation is kept in the state file: {why}"));
        return Err(error.hint("name a file that can be written with `--state FILE`, or ask without --session"));
    };
    match file.seat(name) {
        Some(seat) => Ok((file, Some(seat))),
        None => {
            let error = CliError::trouble(format!("--session: another process is going on with `{name}` just now"));
            Err(error.hint(format!("wait for its end, then run this again; `llmr session show {name}` shows it")))
        }
    }
}

/// What can be said without asking anybody: that there is nothing to say, or that something else comes first.
fn settled_before(
    name: &SessionName,
    (there, turns, resume): (Option<&Talk>, &[Message], &Resume),
    wish: &Wish,
    args: &RequestArgs,
    context: &Context,
) -> Result<Option<ExitCode>, CliError> {
    if !turns.is_empty() && !wish.before.is_empty() {
        let error = CliError::usage(format!("--messages: the session `{name}` has begun already"));
        return Err(error.hint("a file of messages begins a session; go on with a prompt, or take another name"));
    }
    match resume {
        Resume::Append | Resume::GoOn => Ok(None),
        Resume::Replace(_) => {
            context.output.note("session: what was said last was never answered; this takes its place");
            Ok(None)
        }
        Resume::Busy => {
            let error = CliError::usage(format!("the session `{name}` is in the middle of an answer"));
            let error = error.hint(format!("`llmr chat --session {name}` without a prompt goes on with it"));
            Err(error.hint(format!("`llmr session show {name}` shows how far it is")))
        }
        Resume::Nothing if !wish.before.is_empty() => Ok(None),
        Resume::Nothing | Resume::Tell => match there.filter(|_| !turns.is_empty()) {
            Some(talk) => last_answer(talk, turns, args, context).map(Some),
            None => {
                let error = CliError::usage("there is nothing to ask: no PROMPT, and nothing on stdin");
                Err(error.hint(format!("llmr chat --session {name} \"why is the sky blue?\"")))
            }
        },
    }
}

/// The answer that was given last: who was killed before it was printed finds it here.
fn last_answer(talk: &Talk, turns: &[Message], args: &RequestArgs, context: &Context) -> Result<ExitCode, CliError> {
    let text = turns.last().map(Message::words).unwrap_or_default();
    context.output.note("session: nothing is under way; this is its last answer, and nothing was sent");
    let last = talk.turns.last();
    if args.json {
        let from = last.and_then(|turn| turn.author.as_ref()).map(ToString::to_string);
        let id = last.and_then(|turn| turn.request_id.clone());
        let value = serde_json::json!({
            "request_id": id, "session": talk.session.name, "text": text, "from": from, "stored": true, "tools": [],
        });
        print_json(value, context)?;
    } else {
        print_text(&text, context)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// That somebody else goes on with the conversation.
fn lost(error: CliError, named: Option<&SessionName>) -> CliError {
    match named {
        Some(name) => error.hint(format!("`llmr chat --session {name}` goes on from where it was kept")),
        None => error,
    }
}

/// Asks models, runs commands and talks to the user.
struct Counter<'a> {
    rounds: Rounds,
    transport: &'a Transport,
    config: &'a Config,
    store: &'a FallbackStore<SqliteStore>,
    context: &'a Context,
    session: String,
    hidden: Vec<String>,
    rng: Rng,
    runs: Vec<ToolRun>,
    shows: bool,
}

impl Counter<'_> {
    fn note(&self, line: &str) {
        self.context.output.note(&printable(&self.context.redactor().redact(line)));
    }

    fn has_person(&self) -> bool {
        std::io::stdin().is_terminal() && self.context.output.stderr_is_terminal()
    }

    fn answer(&self) -> Result<String, CliError> {
        let mut answer = String::new();
        std::io::stdin().lock().read_line(&mut answer)?;
        Ok(answer.trim().to_owned())
    }
}

impl Desk for Counter<'_> {
    type Error = CliError;

    async fn ask(&mut self, messages: Vec<Message>) -> Result<Report, CliError> {
        let job = self.rounds.next(messages);
        let context = self.context;
        let mut screen =
            Screen::new(&context.output, context.redactor(), self.shows, context.verbose, context.clock.now());
        let walked = stroll(&job, self.transport, self.config, self.store, context, &mut self.rng, &mut screen).await;
        let report = walked?;
        if self.shows && !report.consumer_gone {
            // A reader that left before the last line is no trouble.
            let _ = screen.finish();
        }
        screen.check()?;
        self.rounds.note(report.clone());
        Ok(report)
    }

    async fn run(&mut self, tool: &ToolConfig, order: &Order) -> Came {
        let ran = run_tool(tool, order, &self.session, &self.hidden, &is_interrupted);
        outcome(ran, tool.timeout, is_interrupted(), self.context.redactor())
    }

    fn consent(&mut self, order: &Order) -> Result<Consent, CliError> {
        if !self.has_person() {
            return Ok(Consent::Nobody);
        }
        self.note(&format!("the model wants `{}` to be run, which has a side effect", order.call.name));
        for line in order_lines(order) {
            self.note(&format!("  {line}"));
        }
        self.note("run it? [y/N]");
        let is_yes = matches!(self.answer()?.as_str(), "y" | "Y" | "yes");
        Ok(if is_interrupted() {
            Consent::Nobody
        } else if is_yes {
            Consent::Yes
        } else {
            Consent::No
        })
    }

    fn settlement(&mut self, order: &Order, entry: &JournalEntry) -> Result<Option<Settlement>, CliError> {
        if !self.has_person() || is_interrupted() {
            return Ok(None);
        }
        self.note(&format!("nobody knows whether `{}` did its work", order.call.name));
        for line in question_lines(order, entry, self.context.clock.now()) {
            self.note(&format!("  {line}"));
        }
        self.note("did it? [y/n, anything else: leave it open]");
        match self.answer()?.as_str() {
            "y" | "yes" => {
                self.note("what came of it, in one line for the model?");
                let text = self.answer()?;
                let text = if text.is_empty() { "it was done".to_owned() } else { text };
                Ok(Some(Settlement::Done(text)))
            }
            "n" | "no" => Ok(Some(Settlement::Again)),
            _ => Ok(None),
        }
    }

    fn told(&mut self, run: &ToolRun) {
        self.note(&tool_line(run));
        self.runs.push(run.clone());
    }
}
