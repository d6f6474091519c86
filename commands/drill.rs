//! `llmr drill`
//!
//! Three things can be rehearsed: the ladders of the config, a scenario of a file, and what failures cost in calls. None
//! of them reads a key, touches the state file or sends anything beyond loopback.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use llmr::clock::Rng;
use llmr::config::Config;
use llmr::domain::{LadderName, printable};
use llmr::drill::{Kind, Played, Row, Scenario, Terms, drill, drill_text, matrix, matrix_text, play_file, play_json};
use serde_json::json;

use crate::context::{Context, read_named};
use crate::error::{CliError, Code};
use crate::job::duration;

/// Pauses are drawn alike in every drill: what it says must not change from one run to the next.
const SEED: u64 = 7;

/// What your ladder does when its providers fail: each of them replaced by a scripted one on loopback
///
/// Nothing leaves this machine, no key is read, and the state file is not touched. An hour of requests is played on
/// invented time. The exit code is 1 when a request of `healthy`, `worst` or `brownout` is not answered; the other
/// scenarios are told but do not count.
#[derive(Debug, clap::Args)]
pub struct DrillArgs {
    /// Scenario files to play instead, each with its own providers and config, and what must come of it
    #[arg(value_name = "FILE", conflicts_with_all = ["model", "all_ladders", "scenario", "list", "matrix"])]
    files: Vec<PathBuf>,
    /// The ladder (default: the config's default one)
    #[arg(short, long, value_name = "LADDER", conflicts_with = "all_ladders")]
    model: Option<String>,
    /// Every ladder of the config
    #[arg(long)]
    all_ladders: bool,
    /// Play only this scenario (repeatable); --list shows them
    #[arg(long, value_name = "NAME", value_parser = kind)]
    scenario: Vec<Kind>,
    /// List the scenarios
    #[arg(long)]
    list: bool,
    /// Requests in each play
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000))]
    requests: u32,
    /// The invented time over which they come
    #[arg(long, value_name = "DUR", default_value = "1h", value_parser = duration)]
    over: Duration,
    /// Count what nine kinds of failure cost in calls; needs no config
    #[arg(long, conflicts_with_all = ["model", "all_ladders", "scenario", "list"])]
    matrix: bool,
    /// One JSON object per line: for each play, each file, or each row of the matrix
    #[arg(long)]
    json: bool,
}

fn kind(name: &str) -> Result<Kind, String> {
    let names = || Kind::ALL.map(Kind::name).join(", ");
    Kind::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| format!("there is {}", names()))
}

/// Plays what is asked for.
pub fn run(args: &DrillArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    if args.list {
        return list(context);
    }
    if args.matrix {
        return show_matrix(args, context);
    }
    if !args.files.is_empty() {
        return play_files(args, context);
    }
    play_ladders(args, context)
}

fn list(context: &Context) -> Result<ExitCode, CliError> {
    for kind in Kind::ALL {
        let counts = if kind.counts() { " (counts for the exit code)" } else { "" };
        context.output.out(&format!("{:<11} {}{counts}\n", kind.name(), kind.about()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn play_ladders(args: &DrillArgs, context: &Context) -> Result<ExitCode, CliError> {
    let config = context.config()?;
    context.show_warnings(&config);
    let kinds = if args.scenario.is_empty() { Kind::ALL.to_vec() } else { args.scenario.clone() };
    let terms = Terms { requests: args.requests, over: args.over, start: context.clock.now(), seed: SEED };
    let mut good = true;
    for (place, ladder) in ladders(args, &config)?.iter().enumerate() {
        let plays = drill(&config, ladder, &kinds, &terms).map_err(CliError::trouble)?;
        good &= plays.iter().all(Played::is_good);
        let text = if args.json {
            plays.iter().map(|played| format!("{}\n", play_json(&config, played))).collect()
        } else {
            format!(
                "{}{}",
                if place > 0 { "\n" } else { "" },
                drill_text(&config, ladder, &plays, context.output.width())
            )
        };
        context.output.out(&printable(&text))?;
    }
    Ok(code(good))
}

/// The ladders that are meant.
fn ladders(args: &DrillArgs, config: &Config) -> Result<Vec<LadderName>, CliError> {
    if args.all_ladders {
        return Ok(config.ladders.keys().cloned().collect());
    }
    let name = args.model.as_deref().map_or_else(|| config.default_ladder.clone(), LadderName::new);
    if config.ladders.contains_key(&name) {
        return Ok(vec![name]);
    }
    let names: Vec<&str> = config.ladders.keys().map(LadderName::as_str).collect();
    let error = CliError::new(Code::Config, format!("there is no ladder `{name}`"));
    Err(error.hint(format!("ladders: {}", names.join(", "))))
}

fn show_matrix(args: &DrillArgs, context: &Context) -> Result<ExitCode, CliError> {
    let rows = matrix().map_err(CliError::trouble)?;
    let lines = || rows.iter().map(|row| format!("{}\n", row.json())).collect::<String>();
    context.output.out(&if args.json { lines() } else { matrix_text(&rows) })?;
    Ok(code(rows.iter().all(Row::is_ideal)))
}

/// Plays the files one after the other: some of them measure real time.
fn play_files(args: &DrillArgs, context: &Context) -> Result<ExitCode, CliError> {
    let mut scenarios = Vec::new();
    for path in &args.files {
        let text = read_named("FILE", path)?;
        let scenario = Scenario::read(&text).map_err(|error| {
            CliError::new(Code::Config, format!("{} is no scenario", path.display())).cause(error.trim_end().to_owned())
        })?;
        scenarios.push((path, scenario));
    }
    let mut good = true;
    for (path, scenario) in scenarios {
        let folder = Folder::new(context)?;
        let differences = play_file(&scenario, folder.path());
        good &= differences.is_empty();
        let text = if args.json {
            let file = path.display().to_string();
            let (ok, title) = (differences.is_empty(), &scenario.title);
            format!("{}\n", json!({"file": file, "title": title, "ok": ok, "differences": differences}))
        } else {
            let word = if differences.is_empty() { "ok     " } else { "differs" };
            format!("{word} {}: {}\n{}", path.display(), scenario.title, differences.concat())
        };
        context.output.out(&printable(&text))?;
    }
    Ok(code(good))
}

fn code(good: bool) -> ExitCode {
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// A folder among the temporary files, for the state of one scenario. It goes when it is dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(context: &Context) -> Result<Self, CliError> {
        let base = context.env("TMPDIR").filter(|path| !path.is_empty()).unwrap_or_else(|| "/tmp".to_owned());
        let path = Path::new(&base).join(format!("llmr-drill-{}", Rng::new(None).token(8)));
        std::fs::create_dir(&path)
            .map_err(|error| CliError::trouble(format!("cannot create {}: {error}", path.display())))?;
        Ok(Self(path))
    }

    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left behind among the temporary files harms nobody.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
