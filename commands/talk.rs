//! `llmr chat` where a conversation is kept or the model may have tools run.

use std::process::ExitCode;

use llmr::clock::Rng;
use llmr::config::{Config, ToolConfig};
use llmr::domain::{
    ChatRequest, Effect, JournalEntry, LadderName, Message, Part, Role, SessionName, TalkSettings, excerpt, printable,
};
use llmr::report::{call_name, hidden_bytes, order_lines, question_lines, tool_line};
use llmr::route::{FallbackStore, Report};
use llmr::session::{
    Consent, Desk, Ended, Order, Outcome as Came, Resume, Rounds, Settlement, Stage, ToolRun, Wish, go_on,
    may_still_run, note_told, opening, outcome, rounds_in, run_tool,
};
use llmr::store::{MemoryStore, Seat, SessionStore, SqliteStore, StoreError, Talk};
use llmr::transport::Transport;

use crate::ask;
use crate::context::Context;
use crate::error::CliError;
use crate::job::{Input, RequestArgs};
use crate::retold::last_answer;
use crate::screen::Screen;
use crate::told::Told;
use crate::walk::{is_interrupted, listen_for_interrupt, stroll, transport};

/// How much of a result is told that could not be written, in characters.
const LOST: usize = 1000;

/// Goes on with the conversation.
pub fn run(args: &RequestArgs, mut input: Input, context: &mut Context) -> Result<ExitCode, CliError> {
    let config = context.config()?;
    let store = context.lenient_store(&config);
    let memory = MemoryStore::new();
    let named = args.talk.session()?;
    let (place, _seat) = place(named.as_ref(), &store, &memory)?;
    let name = named.clone().unwrap_or_else(|| SessionName::new(context.request_id().as_str()));
    let there = place.talk(&name)?;
    let (turns, resume) = opening(there.as_ref(), input.question.as_ref(), context.redactor())?;
    let mut args = match &there {
        Some(talk) => args.going_on_with(&talk.session.settings),
        None => args.clone(),
    };
    if let Some(talk) = there.as_ref().filter(|_| resume.is_of_before()) {
        args = args.asking_again(&talk.session.settings.asked, &mut input)?;
    }
    let (config, choice) = args.settle(context)?;
    context.show_warnings(&config);
    let wish = Wish { before: input.before.clone(), says: input.question.clone(), settings: TalkSettings::default() };
    let opened = (there.as_ref(), turns.as_slice(), &resume);
    if let Some(shown) =
        settled_before(&name, opened, &wish, (&args, &input, &config, choice.ladder()), (&store, context))?
    {
        return Ok(shown);
    }
    let offered = args.talk.tools(&config, &choice.ladder)?;
    refuse_id(&args)?;
    if there.is_none() && named.is_some() {
        refuse_forgotten(&name, &offered, &config, &store)?;
    }
    let (tools, asked) = (args.talk.remembered(&offered), args.asked(&input));
    let settings = TalkSettings { ladder: Some(choice.ladder.clone()), system: args.system_text(&input), tools, asked };
    let messages = turns.iter().chain(&wish.before).chain(&wish.says).cloned().collect();
    let request = ChatRequest { messages, ..args.request(input, args.streams(context))? };
    let rounds = rounds_in(&config, &choice.ladder);
    let mut job = args.job(request, choice, &config, &store, context)?;
    job.wants_text = true;
    let transport = transport(&job, &config, context)?;
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

/// A request of several rounds cannot be told again from one row of the log.
fn refuse_id(args: &RequestArgs) -> Result<(), CliError> {
    if args.chosen_id()?.is_none() {
        return Ok(());
    }
    let error = CliError::usage("--request-id cannot be used with tools");
    Err(error.hint("--session NAME goes on from where it was, and runs nothing twice; or offer none: --no-tools"))
}

/// A conversation that is not known may be one that was lost with a damaged state, and its effects would be repeated.
fn refuse_forgotten(
    name: &SessionName,
    offered: &[String],
    config: &Config,
    store: &FallbackStore<SqliteStore>,
) -> Result<(), CliError> {
    let has_effect = |tool: &String| config.tools.get(tool).is_some_and(|tool| tool.effect == Effect::SideEffecting);
    let Some(lost) = store.file().filter(|_| offered.iter().any(has_effect)).and_then(SqliteStore::set_aside) else {
        return Ok(());
    };
    let error = CliError::trouble(format!(
        "there is no session `{name}`, and the state was damaged once: it may have been lost"
    ));
    let error = error.cause("begun anew, it could repeat what its tools have done already");
    let error = error.cause(format!("the damaged state is kept as {}", lost.display()));
    let error = error.hint(format!("if it is new: `llmr session new {name}`, then run this again"));
    Err(error.hint("once that file is moved elsewhere, nothing is asked any more"))
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
    (args, input, config, ladder): (&RequestArgs, &Input, &Config, &LadderName),
    (store, context): (&FallbackStore<SqliteStore>, &Context),
) -> Result<Option<ExitCode>, CliError> {
    if !turns.is_empty() && !wish.before.is_empty() {
        let error = CliError::usage(format!("--messages: the session `{name}` has begun already"));
        return Err(error.hint("a file of messages begins a session; go on with a prompt, or take another name"));
    }
    let is_said = |last: &Message| last.role == Role::Assistant && calls_of(last) == 0;
    if turns.is_empty() && wish.says.is_none() && wish.before.last().is_some_and(is_said) {
        let error =
            CliError::usage("--messages: the conversation ends with the model's words, and nothing is said to it");
        return Err(error.hint(format!("llmr chat --messages FILE --session {name} \"and when it rains?\"")));
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
            let error = error.hint(format!("`llmr session show {name}` shows how far it is"));
            Err(error.hint(format!("`llmr session rm {name}` gives it up; another name begins another one")))
        }
        Resume::Nothing if !wish.before.is_empty() => Ok(None),
        Resume::Nothing | Resume::Tell => match there.filter(|_| !turns.is_empty()) {
            Some(talk) => last_answer(talk, turns, (args, input, config, ladder), (store, context)).map(Some),
            None => {
                let error = CliError::usage("there is nothing to ask: no PROMPT, and nothing on stdin");
                Err(error.hint(format!("llmr chat --session {name} \"why is the sky blue?\"")))
            }
        },
    }
}

fn calls_of(turn: &Message) -> usize {
    turn.parts.iter().filter(|part| matches!(part, Part::ToolCall(_))).count()
}

/// Trouble in the middle of a conversation, with how it goes on.
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

    /// Asks, and waits for an answer that was given after the question.
    fn ask_for(&self, question: &str) -> Option<String> {
        ask::forget_typed();
        self.note(question);
        ask::line()
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
        if !ask::has_person(self.context) {
            return Ok(Consent::Nobody);
        }
        self.note(&format!("the model wants `{}` to be run, which has a side effect", order.call.name));
        let lines = order_lines(order);
        for line in &lines {
            self.note(&format!("  {line}"));
        }
        // What cannot be read to its end, or has a hole in it, is not allowed by a single key.
        let is_masked = lines.iter().any(|line| self.context.redactor().redact(line) != *line);
        let (question, yes): (&str, &[&str]) = match hidden_bytes(order) {
            0 if !is_masked => ("run it? [y/N]", &["y", "Y", "yes"]),
            _ => ("run it, with what is not shown? [yes/N]", &["yes"]),
        };
        Ok(match self.ask_for(question) {
            None => Consent::Nobody,
            Some(word) if yes.contains(&word.as_str()) => Consent::Yes,
            Some(_) => Consent::No,
        })
    }

    fn settlement(&mut self, order: &Order, entry: &JournalEntry) -> Result<Option<Settlement>, CliError> {
        if !ask::has_person(self.context) {
            return Ok(None);
        }
        self.note(&format!("nobody knows whether `{}` did its work", order.call.name));
        for line in question_lines(order, entry, self.context.clock.now()) {
            self.note(&format!("  {line}"));
        }
        match self.ask_for("did it? [y/n, anything else: leave it open]").as_deref() {
            Some("y" | "yes") => {
                let Some(text) = self.ask_for("what came of it, in one line for the model?") else { return Ok(None) };
                let text = if text.is_empty() { "it was done".to_owned() } else { text };
                Ok(Some(Settlement::Done(text)))
            }
            Some("n" | "no") if may_still_run(entry) => {
                let is_over = self.ask_for("is it surely not running any more? then it is run again [y/N]");
                Ok(is_over.filter(|word| ["y", "yes"].contains(&word.as_str())).map(|_| Settlement::Again))
            }
            Some("n" | "no") => Ok(Some(Settlement::Again)),
            _ => Ok(None),
        }
    }

    fn is_interrupted(&self) -> bool {
        is_interrupted()
    }

    fn lost(&mut self, entry: &JournalEntry, error: &StoreError) {
        let call = call_name(&entry.fingerprint);
        let end =
            entry.end.map_or("nobody knows whether it did its work".to_owned(), |end| format!("it came to `{end}`"));
        self.note(&format!("tool {}  was run ({call}), and that could not be written: {error}", entry.tool));
        self.note(&format!("  {end}"));
        if let Some(result) = &entry.result {
            self.note(&format!("  its result: {}", excerpt(result, LOST)));
        }
        let session = &self.session;
        self.note(&format!("  then say so: `llmr session settle {session} {call} --result \"what came of it\"`"));
    }

    fn told(&mut self, run: &ToolRun) {
        self.note(&tool_line(run));
        self.runs.push(run.clone());
    }
}
