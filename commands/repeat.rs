//! `llmr chat --repeat N` and `--baseline NAME`: whether the answers to one input agree, with one another and with what
//! was said before.

use std::collections::BTreeMap;
use std::process::ExitCode;

use llmr::config::Config;
use llmr::domain::{ChatRequest, Outcome, printable};
use llmr::ladder::End;
use llmr::policy::{Bands, Drift, Field, breaches, drifts, fields_among, representative};
use llmr::report::{KeptVerdict as Kept, Repeated, chat_json};
use llmr::route::{FallbackStore, Report, input_digest};
use llmr::store::{Baseline, LONGEST_VERDICT, SqliteStore, Store};
use serde_json::Value;

use crate::chat::{answer_alone, code_of, cry, explain, print_json, print_text, send};
use crate::context::Context;
use crate::error::{CliError, Code};
use crate::job::{Choice, RequestArgs};
use crate::walk::transport;

/// What is compared.
#[derive(Debug, Default, clap::Args)]
pub struct RepeatArgs {
    /// Send the request so many times, each as a request of its own, and tell how far the answers agree; printed is the
    /// one that agrees with most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=50), conflicts_with = "request_id")]
    repeat: Option<u32>,
    /// What is allowed of a field of the answer, by its JSON pointer, instead of what the ladder says: of numbers the
    /// largest spread (/score=0.1), of all else the least agreement (/verdict=0.8); outside of it the exit code is 7
    /// (repeatable)
    #[arg(long, value_name = "FIELD=BAND", value_parser = band)]
    band: Vec<(String, f64)>,
    /// Compare the fields that have a band with those that were kept under this name for the same input; the first
    /// answer is kept
    #[arg(long, value_name = "NAME")]
    baseline: Option<String>,
}

fn band(text: &str) -> Result<(String, f64), String> {
    let wrong = || format!("`{text}` is no band; write it like /score=0.1");
    let (pointer, band) = text.rsplit_once('=').ok_or_else(wrong)?;
    let band: Option<f64> = band.parse().ok().filter(|band: &f64| band.is_finite() && *band >= 0.0);
    let is_pointer = pointer.is_empty() || pointer.starts_with('/');
    if is_pointer { Ok((pointer.to_owned(), band.ok_or_else(wrong)?)) } else { Err(wrong()) }
}

impl RepeatArgs {
    /// Whether anything is to be compared.
    pub fn is_asked_for(&self) -> Result<bool, CliError> {
        let is_asked = self.repeat.is_some() || self.baseline.is_some();
        if !is_asked && !self.band.is_empty() {
            let error = CliError::usage("--band: there is nothing to compare one answer with");
            return Err(error.hint("--repeat N compares several answers, --baseline NAME with one of before"));
        }
        if let Some(name) = &self.baseline
            && (name.is_empty() || name.len() > 100 || name.chars().any(char::is_control))
        {
            return Err(CliError::usage("--baseline: a name of up to 100 printable characters is wanted"));
        }
        Ok(is_asked)
    }

    /// What goes on from one answer to the next cannot be compared with itself.
    pub fn refuse_beside(&self, what: &str, is_asked: bool) -> Result<(), CliError> {
        if !is_asked {
            return Ok(());
        }
        let own = if self.repeat.is_some() { "--repeat" } else { "--baseline" };
        let error = CliError::usage(format!("{own} cannot be used with {what}"));
        Err(error.hint("compare single answers: without --session, and with --no-tools"))
    }

    /// The ladder's bands, under those of the command line.
    fn bands(&self, choice: &Choice, config: &Config) -> Result<Bands, CliError> {
        let own = config.ladders.get(choice.ladder()).map(|ladder| ladder.consistency.clone());
        let mut bands = own.unwrap_or_default();
        bands.0.extend(self.band.iter().cloned());
        if self.baseline.is_some() && bands.0.is_empty() {
            let error = CliError::usage("--baseline: no field is named whose values are to be kept");
            return Err(error.hint("name them with --band /verdict=1, or in [ladders.NAME.consistency]"));
        }
        Ok(bands)
    }
}

/// Sends the request as often as it is wanted, prints one of the answers, and says how far they agree.
pub fn run(
    (args, wish): (&RequestArgs, &RepeatArgs),
    request: &ChatRequest,
    (config, choice): (&Config, &Choice),
    context: &mut Context,
) -> Result<ExitCode, CliError> {
    let bands = wish.bands(choice, config)?;
    let store = context.lenient_store(config);
    if wish.baseline.is_some() && store.file().is_none() {
        return Err(CliError::trouble("--baseline: the state file cannot be used; nothing was sent"));
    }
    let mut runs = Vec::new();
    for _ in 0..wish.repeat.unwrap_or(1) {
        let mut job = args.job(request.clone(), choice.clone(), config, &store, context)?;
        job.wants_text = true;
        let by = transport(&job, config, context)?;
        let report = send(&job, &by, config, &store, context, false)?;
        crate::ring::after_request(&report, config, &store, context);
        let is_over = report.record.outcome == Outcome::Interrupted;
        runs.push(report);
        if is_over {
            break;
        }
    }
    let question = Question { wish, request, bands: &bands, json: args.json };
    let printed = tell(&runs, &question, &store, context);
    if let Some(file) = store.file() {
        context.forget_the_old(file, Some(config));
    }
    printed
}

/// The answers that can be compared, each with the place of its run, and whether they are plain text.
fn answers(runs: &[Report]) -> (Vec<(usize, Value)>, bool) {
    let good = || runs.iter().enumerate().filter(|(_, run)| matches!(run.end, End::Answered { .. }));
    let parsed = |run: &Report| run.parsed.clone().or_else(|| serde_json::from_str(run.text.trim()).ok());
    let all: Vec<(usize, Value)> = good().filter_map(|(at, run)| Some((at, parsed(run)?))).collect();
    if all.len() == good().count() {
        return (all, false);
    }
    (good().map(|(at, run)| (at, Value::from(run.text.trim()))).collect(), true)
}

/// The request and what is allowed of its answers.
struct Question<'a> {
    wish: &'a RepeatArgs,
    request: &'a ChatRequest,
    bands: &'a Bands,
    json: bool,
}

fn tell(
    runs: &[Report],
    question: &Question<'_>,
    store: &FallbackStore<SqliteStore>,
    context: &Context,
) -> Result<ExitCode, CliError> {
    let Question { wish, bands, .. } = *question;
    let (places, is_text) = answers(runs);
    let values: Vec<Value> = places.iter().map(|(_, value)| value.clone()).collect();
    let shown = representative(&values, bands).and_then(|at| places.get(at)).map(|(at, _)| *at);
    let failed = runs.iter().rev().find(|run| !matches!(run.end, End::Answered { .. }));
    let is_repeated = wish.repeat.is_some();
    // Of one answer alone nothing can be said of others, and who broke it off did not want all that were asked for.
    let is_broken_off = failed.is_some_and(|run| run.record.outcome == Outcome::Interrupted);
    let is_compared = values.len() > usize::from(is_repeated) && !is_broken_off;
    let fields = if is_compared { fields_among(&values, runs.len()) } else { Vec::new() };
    let broken = if is_repeated && is_compared { breaches(&fields, bands) } else { Vec::new() };
    let answered = values.len();
    let repeated = Repeated { runs, shown, answered, is_compared, is_text, fields: &fields, bands, breaches: &broken };
    let repeated = is_repeated.then_some(&repeated);
    let Some(report) = shown.and_then(|at| runs.get(at)).or(failed) else { return Ok(ExitCode::SUCCESS) };
    if let Some(failed) = failed.filter(|_| !is_compared) {
        show(report, repeated, None, question.json, context)?;
        return give_up(failed, context);
    }
    let broken: Vec<String> = broken.iter().map(|breach| breach.pointer.clone()).collect();
    let looked = match &wish.baseline {
        // What does not agree with itself is nothing to go by.
        Some(name) => look((name, bands), (&fields, broken.is_empty()), report, question.request, (store, context)),
        None => Ok(Looked::default()),
    };
    // Whatever is the matter with the baseline: the answers were paid for.
    let kept = looked.as_ref().ok().and_then(Looked::kept);
    show(report, repeated, kept.as_ref(), question.json, context)?;
    let looked = looked?;
    let is_fine = agree(&broken, &looked, (runs.len() - answered, runs.len()), context);
    match looked.too_long.first() {
        _ if !is_fine => Ok(Code::WrongShape.into()),
        Some(pointer) => Err(too_long(pointer)),
        None => Ok(ExitCode::SUCCESS),
    }
}

/// The answer, or what there is of one, with what is to be said of all.
fn show(
    report: &Report,
    repeated: Option<&Repeated<'_>>,
    kept: Option<&Kept<'_>>,
    json: bool,
    context: &Context,
) -> Result<(), CliError> {
    if json {
        let mut object = chat_json(report);
        if let Some(object) = object.as_object_mut() {
            object.extend(repeated.map(|repeated| ("repeat".to_owned(), repeated.json())));
            object.extend(kept.map(|kept| ("baseline".to_owned(), kept.json())));
        }
        return print_json(object, context);
    }
    if matches!(report.end, End::Answered { .. } | End::AsItIs) {
        print_text(&answer_alone(&report.text, report.parsed.as_ref(), &report.record.attempts), context)?;
    }
    let lines = repeated.map(Repeated::lines).unwrap_or_default();
    let lines = lines.into_iter().chain(kept.map(Kept::lines).unwrap_or_default());
    lines.for_each(|line| context.output.note(&clean(&line, context)));
    Ok(())
}

fn clean(text: &str, context: &Context) -> String {
    printable(&context.redactor().redact(text))
}

/// There are not enough answers: the run that gave none says why.
fn give_up(failed: &Report, context: &Context) -> Result<ExitCode, CliError> {
    explain(failed, context);
    if failed.end.is_exhaustion() && !failed.turned_away {
        cry(failed, context);
    }
    Ok(code_of(failed))
}

/// What a baseline says of the answers.
#[derive(Default)]
struct Looked {
    /// What was kept, with how it compares; or what is kept now, without.
    kept: Option<(Baseline, Option<Vec<Drift>>)>,
    /// The fields of which no answer has a value, and nothing was kept.
    missing: Vec<String>,
    /// The fields whose values are no verdicts, and of which nothing was kept.
    too_long: Vec<String>,
}

impl Looked {
    fn kept(&self) -> Option<Kept<'_>> {
        self.kept.as_ref().map(|(baseline, drifts)| match drifts {
            None => Kept::New(baseline),
            Some(drifts) => Kept::Compared(baseline, drifts),
        })
    }

    /// The fields that are not what they were.
    fn drifted(&self) -> Vec<String> {
        let drifts = self.kept.iter().flat_map(|(_, drifts)| drifts.iter().flatten());
        drifts.filter(|drift| !drift.is_within()).map(|drift| drift.pointer.clone()).collect()
    }
}

/// Looks for what was kept of the input, or keeps what is said now. What has not all of its fields is not kept.
fn look(
    (name, bands): (&str, &Bands),
    (fields, is_sound): (&[Field], bool),
    report: &Report,
    request: &ChatRequest,
    (store, context): (&FallbackStore<SqliteStore>, &Context),
) -> Result<Looked, CliError> {
    let input = input_digest(&store.salt()?, request);
    let lost = || CliError::trouble("--baseline: the state file can no longer be used");
    let file = store.file().ok_or_else(lost)?;
    let (values, mut looked) = verdicts(fields, bands, context);
    let record = &report.record;
    let new = Baseline {
        name: name.to_owned(),
        input,
        runs: fields.first().map_or(1, |field| field.runs),
        at: record.started_at,
        compared_at: record.started_at,
        request_id: record.id.to_string(),
        deployment: record.deployment.as_ref().map(ToString::to_string).unwrap_or_default(),
        values,
    };
    let is_whole = looked.missing.is_empty() && looked.too_long.is_empty();
    let is_kept = is_sound && is_whole;
    // Fields that are new to a baseline that is there are added to it.
    let before = if is_kept { file.keep_baseline(&new)? } else { file.baseline(name, &new.input)? };
    if let Some(before) = before {
        file.touch_baseline(name, &new.input, record.started_at)?;
        looked.missing.retain(|pointer| !before.values.contains_key(pointer));
        looked.too_long.retain(|pointer| !before.values.contains_key(pointer));
        let drifts = drifts(fields, &before.values, bands);
        looked.kept = Some((before, Some(drifts)));
    } else if is_kept {
        looked.kept = Some((new, None));
    }
    Ok(looked)
}

/// The values that may be kept: those of the fields that are named, and nothing else; and the fields that have none.
fn verdicts(fields: &[Field], bands: &Bands, context: &Context) -> (BTreeMap<String, Value>, Looked) {
    let (mut values, mut looked) = (BTreeMap::new(), Looked::default());
    for pointer in bands.0.keys() {
        let field = fields.iter().find(|field| field.pointer == *pointer);
        let Some(mut value) = field.and_then(Field::middle) else {
            looked.missing.push(pointer.clone());
            continue;
        };
        context.redactor().redact_json(&mut value);
        if value.to_string().len() > LONGEST_VERDICT {
            looked.too_long.push(pointer.clone());
        } else {
            values.insert(pointer.clone(), value);
        }
    }
    (values, looked)
}

fn too_long(pointer: &str) -> CliError {
    let text = format!("--baseline: the value of `{pointer}` is too long for a verdict, and nothing new was kept");
    CliError::usage(text).hint(format!("up to {LONGEST_VERDICT} bytes are kept; name a shorter field"))
}

/// Says which fields do not agree, and of how many runs there was nothing that could. Whether there is nothing to say.
fn agree(broken: &[String], looked: &Looked, (failed, runs): (usize, usize), context: &Context) -> bool {
    let name = |pointer: &String| if pointer.is_empty() { "the answer".to_owned() } else { pointer.clone() };
    let names = |all: &[String]| all.iter().map(name).collect::<Vec<_>>().join(", ");
    let output = &context.output;
    let silent = match failed {
        0 => String::new(),
        failed => format!(" ({failed} of {runs} runs failed, and agree with none)"),
    };
    let drifted = looked.drifted();
    let told = [("the answers do not agree", broken), ("drifted away from the baseline", drifted.as_slice())];
    for (what, fields) in told.iter().filter(|(_, fields)| !fields.is_empty()) {
        output.note(&clean(&format!("{} {what}: {}{silent}", output.label("error"), names(fields)), context));
    }
    if !drifted.is_empty() && failed == 0 {
        let hint = output.label("hint");
        output.note(&format!("{hint} `llmr baseline rm NAME` forgets what was kept, and the next answer is kept anew"));
    }
    // Several answers without it do not agree either, and that is said.
    let missing: Vec<&String> = looked.missing.iter().filter(|pointer| !broken.contains(pointer)).collect();
    for pointer in &missing {
        let text = format!("--baseline: the answer has no field `{pointer}`, and nothing new was kept");
        output.note(&clean(&format!("{} {text}", output.label("error")), context));
    }
    if !missing.is_empty() {
        output.note(&format!("{} name a field that holds a plain value, such as /verdict", output.label("hint")));
    }
    broken.is_empty() && drifted.is_empty() && missing.is_empty()
}
