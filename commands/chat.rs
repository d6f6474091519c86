//! `llmr chat`

use std::borrow::Cow;
use std::io::{IsTerminal, Read};
use std::process::ExitCode;

use llmr::config::Config;
use llmr::domain::{AttemptRecord, Extraction, Outcome, excerpt};
use llmr::ladder::{End, Skip, SkipReason};
use llmr::report::{chat_json, rfc3339, trail};
use llmr::route::{FallbackStore, Job, Report};
use llmr::store::SqliteStore;
use llmr::transport::Transport;
use llmr::validate::as_written;

use crate::context::Context;
use crate::error::{CliError, Code};
use crate::job::RequestArgs;
use crate::repeat::RepeatArgs;
use crate::screen::Screen;
use crate::walk::{transport, walk};

/// How much is told of the names of tools, in characters.
const TOOL_NAMES: usize = 200;

/// The most bytes that are read from stdin.
const MOST_STDIN: u64 = 64 << 20;

/// Send one prompt down the ladder; the answer alone goes to stdout
#[derive(Debug, clap::Args)]
pub struct ChatArgs {
    #[command(flatten)]
    request: RequestArgs,
    #[command(flatten)]
    repeat: RepeatArgs,
    /// Show who would be asked and send nothing, like `llmr plan`
    #[arg(long)]
    dry_run: bool,
}

/// Sends the request.
pub fn run(args: &ChatArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    if args.dry_run {
        return crate::plan::show(&args.request, context);
    }
    let (args, repeat) = (&args.request, &args.repeat);
    let is_compared = repeat.is_asked_for()?;
    let input = args.input(stdin()?.as_deref())?;
    input.tell_left_out(context);
    if args.talk.session()?.is_some() {
        repeat.refuse_beside("--session", is_compared)?;
        return crate::talk::run(args, input, context);
    }
    // What is compared with others is not shown before it was.
    let stream = args.streams(context) && !is_compared;
    if input.before.is_empty() && input.question.is_none() {
        let error = CliError::usage("there is nothing to ask: no PROMPT, and nothing on stdin");
        return Err(error.hint("llmr chat \"why is the sky blue?\", or pipe text into it; --help shows the rest"));
    }
    let (config, choice) = args.settle(context)?;
    if !args.talk.tools(&config, &choice.ladder)?.is_empty() {
        repeat.refuse_beside("tools", is_compared)?;
        return crate::talk::run(args, input, context);
    }
    let request = args.request(input, stream)?;
    context.show_warnings(&config);
    if is_compared {
        return crate::repeat::run((args, repeat), &request, (&config, &choice), context);
    }
    let store = context.lenient_store(&config);
    let mut job = args.job(request, choice, &config, &store, context)?;
    job.wants_text = args.json;
    let transport = transport(&job, &config, context)?;
    if let Some(id) = args.chosen_id()?
        && let Some(known) = crate::stored::claim(&id, &mut job, &config, &store, context)?
    {
        return crate::stored::tell(&known, args.json, &store, context);
    }
    let show_text = job.shows_pieces() && !args.json;
    let report = send(&job, &transport, &config, &store, context, show_text)?;
    let printed = print(&report, args.json, show_text, context);
    crate::ring::after_request(&report, &config, &store, context);
    if let Some(file) = store.file() {
        context.forget_the_old(file, Some(&config));
    }
    printed
}

/// What stands on stdin, unless it is a terminal.
fn stdin() -> Result<Option<String>, CliError> {
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    // A closed stdin, as cron may give it, is as good as an empty one.
    if stdin.lock().take(MOST_STDIN + 1).read_to_end(&mut bytes).is_err() {
        return Ok(None);
    }
    if bytes.len() as u64 > MOST_STDIN {
        return Err(CliError::usage(format!("stdin has more than {} MiB", MOST_STDIN >> 20)));
    }
    String::from_utf8(bytes).map(Some).map_err(|_| CliError::usage("stdin is no UTF-8 text"))
}

/// Sends the job and shows it as it happens.
pub fn send(
    job: &Job,
    by: &Transport,
    config: &Config,
    store: &FallbackStore<SqliteStore>,
    context: &Context,
    show_text: bool,
) -> Result<Report, CliError> {
    let mut rng = context.rng.clone();
    let mut screen = Screen::new(&context.output, context.redactor(), show_text, context.verbose, context.clock.now());
    let report = walk(job, by, config, store, context, &mut rng, &mut screen)?;
    if show_text && !report.consumer_gone {
        // A reader that left before the last line is no trouble.
        let _ = screen.finish();
    }
    screen.check()?;
    Ok(report)
}

/// Prints the answer, or why there is none, and gives the exit code.
fn print(report: &Report, json: bool, shown: bool, context: &Context) -> Result<ExitCode, CliError> {
    if json {
        print_json(chat_json(report), context)?;
    } else if !shown && matches!(report.end, End::Answered { .. } | End::AsItIs) {
        print_text(&answer_alone(&report.text, report.parsed.as_ref(), &report.record.attempts), context)?;
    }
    if !json && !report.tool_calls.is_empty() {
        tell_tools(report.tool_calls.iter().map(|call| call.name.as_str()), context);
    }
    if !matches!(report.end, End::Answered { .. }) {
        explain(report, context);
    }
    // That the ladder is open was told when it opened.
    if report.end.is_exhaustion() && !report.turned_away {
        cry(report, context);
    }
    Ok(code_of(report))
}

/// The exit code of a request.
pub fn code_of(report: &Report) -> ExitCode {
    // That a check could not be made is nobody's fault but ours.
    if report.trouble.is_some() { Code::Trouble.into() } else { exit_code(report.record.outcome) }
}

/// The words of the answer; of JSON that stood in prose or in a fence, the JSON.
///
/// It is printed as the model wrote it: a number that is read and written anew loses what does not fit into 64 bits.
pub fn answer_alone<'a>(text: &'a str, parsed: Option<&serde_json::Value>, attempts: &[AttemptRecord]) -> Cow<'a, str> {
    let place = attempts.iter().rev().find_map(|attempt| attempt.extracted);
    match (parsed, place) {
        (Some(parsed), Some(Extraction::Fenced | Extraction::Surrounded)) => {
            as_written(text, parsed).map_or_else(|| Cow::Owned(parsed.to_string()), Cow::Borrowed)
        }
        _ => Cow::Borrowed(text.trim_start_matches('\u{feff}')),
    }
}

/// One object, without secrets.
pub fn print_json(mut value: serde_json::Value, context: &Context) -> Result<(), CliError> {
    // Before JSON writes some of a key's characters differently.
    context.redactor().redact_json(&mut value);
    let text = value.to_string();
    // JSON writes control characters as escapes, except the second set of them; and who reads it here may decide by it.
    let text = if context.output.stdout_is_terminal() { llmr::domain::visible(&text) } else { text };
    pass_broken_pipe(context.output.out(&format!("{text}\n")))
}

/// The words of a whole answer.
pub fn print_text(text: &str, context: &Context) -> Result<(), CliError> {
    let mut screen = Screen::new(&context.output, context.redactor(), true, false, context.clock.now());
    // The reader may have left; that is no failure.
    let _ = screen.whole(text);
    Ok(screen.check()?)
}

/// That the answer is not in its words alone.
pub fn tell_tools<'a>(names: impl Iterator<Item = &'a str>, context: &Context) {
    let names = names.collect::<Vec<_>>().join(", ");
    let names = excerpt(&context.redactor().redact(&names), TOOL_NAMES);
    let hint = context.output.label("hint");
    context.output.note(&format!("{hint} the model wants tools to be run: {names}; --json shows with what"));
}

/// That the reader closed the pipe is no failure.
fn pass_broken_pipe(result: std::io::Result<()>) -> Result<(), CliError> {
    match result {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}

/// Why there is no answer: the error, the trail, and what to do.
pub fn explain(report: &Report, context: &Context) {
    let output = &context.output;
    let redactor = context.redactor();
    let clean = |text: &str| llmr::domain::printable(&redactor.redact(text));
    let error = report.record.error.as_deref().unwrap_or("there is no answer");
    output.note(&format!("{} {}", output.label("error"), clean(error)));
    for line in trail(report, context.clock.now()) {
        output.note(&format!("  {}", clean(&line)));
    }
    for hint in hints(report) {
        output.note(&format!("{} {hint}", output.label("hint")));
    }
}

/// What helps where a person bars the way.
const HELD_BY_HAND: &str = "`llmr status --held` shows what is held by hand, and `llmr reset ID` lifts it";

fn hints(report: &Report) -> Vec<String> {
    let by_hand = |skip: &Skip| matches!(skip.reason, SkipReason::HeldByHand(_));
    let some_by_hand = report.skipped.iter().any(by_hand);
    let only_by_hand = report.record.attempts.is_empty() && some_by_hand && report.skipped.iter().all(by_hand);
    let hint = match report.end {
        End::Exhausted { retry_at: Some(at) } if report.turned_away => {
            let ladder = &report.record.ladder;
            let soon = "or give the request time with --wait";
            format!(
                "one request may look {}; ask again then, {soon}; `llmr reset {ladder}` opens it at once",
                rfc3339(at)
            )
        }
        End::Exhausted { retry_at: Some(at) } => {
            let soon = "or give the request time with --wait";
            format!("the first step returns {}; ask again then, {soon}", rfc3339(at))
        }
        End::Exhausted { retry_at: None } if some_by_hand => "nothing else is held yet: ask again at any time".into(),
        End::Exhausted { retry_at: None } => "nothing is held for it yet: ask again at any time".into(),
        End::NeedsPerson if only_by_hand => HELD_BY_HAND.into(),
        End::NeedsPerson => "mend the cause, then `llmr reset PROVIDER` lets it be asked again at once".into(),
        _ if report.trouble.is_some() => "mend the check, or leave it out; nothing is held for it".into(),
        End::Refused(_) => "nothing is held for it; change the request".into(),
        End::NoneAllowed => "loosen what rules the steps out: --pin, --exclude, --require, --max-cost".into(),
        End::WrongShape => "try a stronger model first, or ask for less: a simpler schema, fewer checks".into(),
        End::AsItIs => "`on_invalid = \"next\"` would ask the next step instead".into(),
        End::Rejected => "`on_invalid = \"next\"` would ask the next step, \"return\" hands out what came".into(),
        End::Deadline => "give it more time with --deadline".into(),
        End::MayHaveRun => "`llmr log` shows who was asked last; ask again if paying twice is no worry".into(),
        End::Partial => "what was printed is partial; `stream = \"restart\"` or \"buffer\" starts over instead".into(),
        End::Answered { .. } | End::Interrupted => return Vec::new(),
    };
    let also = (some_by_hand && hint != HELD_BY_HAND && report.end.is_exhaustion()).then(|| HELD_BY_HAND.to_owned());
    let log = format!("`llmr log {}` shows what each provider said", report.record.id);
    [hint].into_iter().chain(also).chain([log]).collect()
}

/// Nobody may miss that a ladder is empty: it stands on stderr of every request that met it.
pub fn cry(report: &Report, context: &Context) {
    let record = &report.record;
    let when = record
        .retry_at
        .map(|at| format!("the first step returns {}", rfc3339(at)))
        .unwrap_or_else(|| returns_unknown(&report.end).to_owned());
    let output = &context.output;
    output.note(&format!("{} llmr: ladder {} is exhausted; {when}", output.label("alarm"), record.ladder));
}

/// What is known where no time is.
const fn returns_unknown(end: &End) -> &'static str {
    match end {
        End::NeedsPerson => "a person must act",
        _ => "nothing is held for it, ask again at any time",
    }
}

/// The exit code of the contract.
pub fn exit_code(outcome: Outcome) -> ExitCode {
    match outcome {
        Outcome::Answered => return ExitCode::SUCCESS,
        Outcome::Refused => Code::Refused,
        Outcome::WrongShape => Code::WrongShape,
        Outcome::Deadline => Code::Deadline,
        Outcome::Exhausted | Outcome::Unfinished => Code::Exhausted,
        Outcome::NeedsPerson => Code::NeedsPerson,
        Outcome::Partial => Code::Partial,
        Outcome::Interrupted => Code::Interrupted,
    }
    .into()
}
