//! `llmr demo`
//!
//! The night of 23 August, played again over real sockets through the real code path: six providers fail, each in its
//! own way, a seventh step on this machine answers; then it is shown what was remembered, and what that is good for.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use llmr::clock::Rng;
use llmr::config::{self, Config};
use llmr::domain::{AttemptKind, AttemptRecord, Deployment, LadderName, printable};
use llmr::ladder::{End, Skip, SkipReason};
use llmr::policy::UsageSettings;
use llmr::rehearsal::night::{self, Night};
use llmr::report::{Choice, Status, distance};
use llmr::route::{FallbackStore, Observer, Report, Router};
use llmr::store::{Accounts, OpenOptions, SqliteStore, Store};
use llmr::transport::{Transport, TransportOptions};

use crate::context::{Context, builtin, wrong_config};
use crate::error::CliError;
use crate::job::RequestArgs;

/// The key that the scripted providers get. It is no secret, but it is treated as one.
const KEY: &str = "demo-key-that-opens-nothing";

/// Show what llmr does on a night when six providers fail: no key, no network, no config
#[derive(Debug, clap::Args)]
pub struct DemoArgs {}

/// Plays the night.
pub fn run(_: &DemoArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let night = night::start().map_err(|error| CliError::trouble(format!("no port on loopback: {error}")))?;
    let state = state_file(context)?;
    let mut stage = Stage::new(&night, &state, context)?;
    let down = ["cerebras", "cloudflare", "groq", "mistral", "openrouter", "gemini"];

    stage.say("Six providers fail tonight, each in its own way; a small model on this machine works.")?;
    stage.say("\n1. A prompt that asks for JSON goes down the ladder:")?;
    let first = stage.ask("night")?;
    stage.say(&format!("\nanswer: {}", first.text))?;

    stage.say("\n2. What is remembered, in a file that every llmr process shares:")?;
    stage.show_holds()?;

    stage.say("\n3. The same prompt again:")?;
    stage.ask("night")?;
    stage.say("   … and once more:")?;
    let before = stage.hits();
    let last = stage.ask("night")?;
    let after = stage.hits();
    let asked_again = before.iter().zip(&after).zip(down).filter(|((a, b), _)| a != b).count();
    let answered = last.record.deployment.as_ref().map_or("nobody".to_owned(), ToString::to_string);
    stage.say(&format!("   answered by {answered}; of the six that failed, {asked_again} were asked again"))?;

    stage.say("   (mistral and openrouter do answer, but in the wrong shape: one slip is no habit, but after two")?;
    stage.say("   `min_valid = 0.5` puts them last)")?;

    stage.say("\n4. The same ladder without its seventh step:")?;
    let third = stage.ask("without-local")?;
    stage.explain(&third)?;

    stage.say("\nLook for yourself:")?;
    stage.say(&format!("   llmr status --state {}", state.display()))?;
    stage.say(&format!("   sqlite3 {} 'select * from holds'", state.display()))?;
    stage.say(&format!("state: {}", state.display()))?;
    let good = matches!(first.end, End::Answered { .. }) && asked_again == 0 && third.end.is_exhaustion();
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The state file that the command line names, or a new one among the temporary files; it stays, so that one can look.
fn state_file(context: &Context) -> Result<PathBuf, CliError> {
    // Not the one of the environment: a demo must not write into anyone's real memory.
    if let Some(path) = context.state_flag() {
        return Ok(path);
    }
    let base = context.env("TMPDIR").filter(|path| !path.is_empty()).unwrap_or_else(|| "/tmp".to_owned());
    // Drawn anew, whatever the seed: a second demo must not go on from the state of the first.
    let folder = Path::new(&base).join(format!("llmr-demo-{}", Rng::new(None).token(8)));
    std::fs::create_dir(&folder)
        .map_err(|error| CliError::trouble(format!("cannot create {}: {error}", folder.display())))?;
    Ok(folder.join("state.db"))
}

struct Stage<'a> {
    night: &'a Night,
    context: &'a mut Context,
    config: Config,
    store: FallbackStore<SqliteStore>,
    transport: Transport,
}

impl<'a> Stage<'a> {
    fn new(night: &'a Night, state: &Path, context: &'a mut Context) -> Result<Self, CliError> {
        let text = config_text(night);
        let config = config::parse(&text, Path::new("demo.toml"), builtin()?).map_err(|p| wrong_config(&p))?;
        let store = FallbackStore::new(Ok(SqliteStore::open(state, OpenOptions::default())?));
        let transport =
            Transport::new(&TransportOptions::default()).map_err(|error| CliError::trouble(error.to_string()))?;
        context.set_env("LLMR_DEMO_KEY", KEY);
        Ok(Self { night, context, config, store, transport })
    }

    fn say(&self, line: &str) -> Result<(), CliError> {
        Ok(self.context.output.out(&format!("{}\n", printable(line)))?)
    }

    /// How many requests each of the providers has seen.
    fn hits(&self) -> Vec<usize> {
        self.night.parts.iter().map(|part| part.provider.hits()).collect()
    }

    /// Sends the prompt down the ladder and shows the trail as it happens.
    fn ask(&mut self, ladder: &str) -> Result<Report, CliError> {
        let asked = RequestArgs::prompt(night::PROMPT);
        let mut request = asked.request(asked.input(None)?, false)?;
        request.schema = Some(night::schema());
        let name = LadderName::new(ladder);
        let args = RequestArgs::on_ladder(&name);
        let choice = args.choice(&mut self.config)?;
        let job = args.job(request, choice, &self.config, &self.store, self.context)?;
        let classifier = self.context.classifier(None);
        let mut rng = self.context.rng.clone();
        let router = Router {
            clock: self.context.clock,
            store: &self.store,
            transport: &self.transport,
            classifier: &classifier,
            catalog: &self.config.catalog,
            settings: &self.config.policy,
            redactor: self.context.redactor(),
        };
        let mut trail = Trail::new(self.context);
        let (_sender, stop) = tokio::sync::watch::channel(false);
        let report = self.context.block_on(llmr::route::run(&router, &job, &mut rng, stop, &mut trail))??;
        trail.finish(&report.skipped);
        self.context.rng = rng;
        Ok(report)
    }

    fn show_holds(&self) -> Result<(), CliError> {
        let snapshot = self.store.snapshot(&Accounts::All)?;
        let (now, choice) = (self.context.clock.now(), Choice::default());
        let bounds = UsageSettings::default();
        let status = Status {
            now,
            known: &[],
            snapshot: &snapshot,
            bounds: &bounds,
            health: &[],
            choice: &choice,
            only_held: false,
        };
        let output = &self.context.output;
        Ok(output.toned(&status.text(output.width()), printable)?)
    }

    fn explain(&self, report: &Report) -> Result<(), CliError> {
        let record = &report.record;
        let when = record
            .retry_at
            .map_or(String::new(), |at| format!("; the first step returns {}", distance(at, self.context.clock.now())));
        self.say(&format!("   ALARM: ladder {} is exhausted{when}", record.ladder))?;
        self.say("   `llmr chat` would exit with 4: it passes by itself, so a script may try again then")?;
        self.say("   (5 would mean that a person must act on all that is left, 7 that only broken answers came)")
    }
}

/// The config of the night: three keys of one project at gemini are one quota, and answers of the wrong shape put a
/// deployment last.
fn config_text(night: &Night) -> String {
    let mut text = String::from("default_ladder = \"night\"\n");
    let mut steps = Vec::new();
    for part in &night.parts {
        let wire = part.wire.as_str();
        text.push_str(&format!("\n[providers.{}]\nbase_url = \"{}\"\nwire = \"{wire}\"\n", part.name, part.base_url));
        for alias in &part.credentials {
            text.push_str(&format!(
                "[[providers.{}.credentials]]\nname = \"{alias}\"\nkey = {{ env = \"LLMR_DEMO_KEY\" }}\naccount = \"{}-account\"\n",
                part.name, part.name
            ));
        }
        steps.push(format!("\"{}/{}\"", part.name, part.model));
    }
    let six = steps.get(..steps.len().saturating_sub(1)).unwrap_or_default().join(", ");
    let all = steps.join(", ");
    text.push_str(&format!("\n[ladders.night]\nsteps = [{all}]\nattempts = 20\nmin_valid = 0.5\n"));
    text.push_str(&format!("\n[ladders.without-local]\nsteps = [{six}]\nattempts = 20\nmin_valid = 0.5\n"));
    text
}

/// Shows each exchange as a line on standard output, and the one under way as a spinner on standard error.
struct Trail {
    spinner: ProgressBar,
    lines: Vec<String>,
    now: jiff::Timestamp,
}

impl Trail {
    fn new(context: &Context) -> Self {
        let target = if context.output.stderr_is_terminal() {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let spinner = ProgressBar::with_draw_target(None, target);
        if let Ok(style) = ProgressStyle::with_template("   {spinner} {msg}") {
            spinner.set_style(style);
        }
        spinner.enable_steady_tick(Duration::from_millis(80));
        Self { spinner, lines: Vec::new(), now: context.clock.now() }
    }

    fn line(&mut self, text: &str) {
        let line = format!("   {}", printable(text));
        self.spinner.suspend(|| crate::output::line(&line));
        self.lines.push(line);
    }

    fn finish(mut self, skipped: &[Skip]) {
        for skip in skipped {
            if let SkipReason::Held { class, .. } = &skip.reason {
                let back = skip.until.map_or(String::new(), |until| format!(", back {}", distance(until, self.now)));
                self.line(&format!("- {}  not asked: {class}{back}", skip.deployment));
            }
        }
        self.spinner.finish_and_clear();
    }
}

impl Observer for Trail {
    fn asking(&mut self, deployment: &Deployment, _: usize, kind: AttemptKind) {
        self.spinner.set_message(format!("asking {deployment} ({kind})"));
    }

    fn asked(&mut self, attempt: &AttemptRecord) {
        let again = if attempt.kind == AttemptKind::First { String::new() } else { format!(", {}", attempt.kind) };
        let held = attempt.held_until.map_or(String::new(), |at| format!(", back {}", distance(at, self.now)));
        let (sign, came) = match (attempt.class, attempt.status) {
            (None, _) => ("+", "answered".to_owned()),
            (Some(class), Some(status)) => ("x", format!("{class} ({status}{again}){held}")),
            (Some(class), None) => ("x", format!("{class}{again}{held}")),
        };
        self.line(&format!("{sign} {}  {came}", attempt.deployment));
    }
}
