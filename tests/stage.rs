//! Where the tests play: scripted providers, a config, a state file and a home of their own, and the real program.
#![cfg(test)]

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use llmr::catalog::Wire;
use llmr::clock::Clock;
use llmr::rehearsal::{Provider, Reply, Script};
use serde_json::{Value, json};
use tempfile::TempDir;

/// What the program's clock shows unless a test moves it.
pub const NOW: &str = "2026-08-23T03:00:00Z";

/// How long anything may take before a test gives up on it.
const PATIENCE: Duration = Duration::from_secs(30);

/// A provider of the OpenAI kind.
pub fn openai(script: impl Into<Script>) -> Provider {
    Provider::start(Wire::OpenAi, script).expect("a provider")
}

/// Looks until it is so, without a fixed pause: the test ends as soon as it can.
pub fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let watch = Clock::new(None).stopwatch();
    while !is_so() {
        assert!(watch.elapsed() < PATIENCE, "still not so: {what}");
        std::thread::park_timeout(Duration::from_millis(2));
    }
}

/// A home directory with a config and a state file. It goes when it is dropped.
pub struct Stage {
    home: TempDir,
    env: Vec<(String, String)>,
}

impl Stage {
    /// A home without a config; nothing of this machine's environment but the path of programs.
    pub fn bare() -> Self {
        let home = tempfile::tempdir().expect("a directory");
        let mut stage = Self { home, env: Vec::new() };
        stage.set("HOME", stage.path("").to_str().expect("a plain path").to_owned());
        stage.set("PATH", "/usr/local/bin:/usr/bin:/bin");
        stage.set("LLMR_NOW", NOW);
        stage.set("LLMR_SEED", "7");
        stage
    }

    /// A home with this config.
    pub fn with(config: &str) -> Self {
        let mut stage = Self::bare();
        std::fs::write(stage.path("llmr.toml"), config).expect("written");
        stage.set("LLMR_CONFIG", stage.path("llmr.toml").to_str().expect("a plain path").to_owned());
        stage.set("LLMR_STATE", stage.state().to_str().expect("a plain path").to_owned());
        stage
    }

    /// A home whose ladder `main` has one step `NAME/m` for each provider, and no retries.
    pub fn of(providers: &[(&str, &Provider)]) -> Self {
        Self::with(&config(providers))
    }

    /// Sets a variable of the environment.
    pub fn set(&mut self, name: &str, value: impl Into<String>) {
        self.env.retain(|(known, _)| known != name);
        self.env.push((name.to_owned(), value.into()));
    }

    /// All of it, for who starts the program in another way.
    pub fn env(&self) -> &[(String, String)] {
        &self.env
    }

    /// A path below the home.
    pub fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// Writes a file below the home and gives its path as text.
    pub fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        std::fs::write(self.path(name), bytes).expect("written");
        self.path(name).to_str().expect("a plain path").to_owned()
    }

    /// The state file.
    pub fn state(&self) -> PathBuf {
        self.path("state.db")
    }

    /// The program, not yet started, with nothing on stdin.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_llmr"));
        command.args(args).env_clear().envs(self.env.iter().cloned()).current_dir(self.home.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs the program to its end.
    pub fn run(&self, args: &[&str]) -> Done {
        finish(self.command(args).spawn().expect("started"))
    }

    /// Runs the program at another moment.
    pub fn run_at(&self, now: &str, args: &[&str]) -> Done {
        finish(self.command(args).env("LLMR_NOW", now).spawn().expect("started"))
    }

    /// Runs the program with something on stdin.
    pub fn run_with(&self, stdin: &[u8], args: &[&str]) -> Done {
        let mut child = self.command(args).stdin(Stdio::piped()).spawn().expect("started");
        // A program that does not read to the end is no trouble of the test.
        let _ = child.stdin.take().expect("a pipe").write_all(stdin);
        finish(child)
    }

    /// Runs the program, which must succeed, and reads its one JSON object.
    pub fn json(&self, args: &[&str]) -> Value {
        let done = self.run(args);
        assert_eq!(done.code, Some(0), "{args:?}: {}", done.err);
        done.json()
    }

    /// The only hold in the state.
    pub fn hold(&self) -> Value {
        let status = self.json(&["status", "--json"]);
        let holds = status["holds"].as_array().expect("a list");
        assert_eq!(holds.len(), 1, "{status:#}");
        holds[0].clone()
    }

    /// The state file for a look past the program.
    pub fn sql(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.state()).expect("a database")
    }

    /// All bytes of the state file and the files beside it.
    pub fn state_bytes(&self) -> Vec<u8> {
        let parts = ["state.db", "state.db-wal", "state.db-shm"];
        parts.iter().filter_map(|name| std::fs::read(self.path(name)).ok()).flatten().collect()
    }
}

/// A config whose ladder `main` has one step `NAME/m` for each provider, and no retries.
pub fn config(providers: &[(&str, &Provider)]) -> String {
    let steps: Vec<String> = providers.iter().map(|(name, _)| format!("\"{name}/m\"")).collect();
    let mut text = format!(
        "default_ladder = \"main\"\n[limits]\nretry_budget = 0\n[ladders.main]\nsteps = [{}]\n",
        steps.join(", ")
    );
    for (name, provider) in providers {
        text.push_str(&declared(name, provider));
    }
    text
}

/// A stage where `bad` has refused its key; behind it stands `good`, if there is one.
pub fn refused(good: Option<&Provider>) -> (Stage, Provider) {
    let bad = openai(Reply::status(401, json!({"error": {"message": "Incorrect API key provided"}})));
    let providers: Vec<(&str, &Provider)> =
        std::iter::once(("bad", &bad)).chain(good.map(|good| ("good", good))).collect();
    let text = format!("{}{}", config(&providers), keys("bad", &[("own", "{ env = \"LAB_KEY\" }")]));
    let mut stage = Stage::with(&text);
    stage.set("LAB_KEY", "not-a-real-key-number-one");
    stage.run(&["chat", "?"]).exits(if good.is_some() { 0 } else { 5 });
    (stage, bad)
}

/// The part of a config that declares a provider, without a key.
pub fn declared(name: &str, provider: &Provider) -> String {
    let wire = provider.wire().as_str();
    format!("\n[providers.{name}]\nbase_url = \"{}\"\nwire = \"{wire}\"\n", provider.base_url())
}

/// The part of a config that gives a provider keys, each with its alias and the place of its value.
pub fn keys(name: &str, keys: &[(&str, &str)]) -> String {
    let mut text = String::new();
    for (alias, place) in keys {
        let _ = writeln!(text, "[[providers.{name}.credentials]]\nname = \"{alias}\"\nkey = {place}\n");
    }
    text
}

/// Waits for the end of a child, which gets killed when it takes too long.
pub fn finish(child: Child) -> Done {
    let id = child.id();
    let (sender, receiver) = mpsc::channel();
    let waiting = std::thread::spawn(move || {
        let output = child.wait_with_output();
        // The receiver may have given up.
        let _ = sender.send(());
        output
    });
    let in_time = receiver.recv_timeout(PATIENCE).is_ok();
    if !in_time {
        signal(id, "KILL");
    }
    let output = waiting.join().expect("no panic").expect("an end");
    let done = Done::from(output);
    assert!(in_time, "it hung; stdout: {}; stderr: {}", done.out, done.err);
    done
}

/// A `log --follow` that ends with its test, however that ends: left alone it would run for ever.
pub struct Follower {
    child: Option<Child>,
    out: BufReader<ChildStdout>,
}

impl Follower {
    /// Starts one with these further arguments.
    pub fn of(stage: &Stage, args: &[&str]) -> Self {
        let mut child = stage.command(&[&["log", "--follow"], args].concat()).spawn().expect("started");
        let out = BufReader::new(child.stdout.take().expect("a pipe"));
        Self { child: Some(child), out }
    }

    /// The next line, once it is there; nothing at the end.
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        self.out.read_line(&mut line).expect("a line");
        line
    }

    /// Stops it with Ctrl-C; says what it came to.
    pub fn stop(&mut self) -> Done {
        let child = self.child.take().expect("still there");
        signal(child.id(), "INT");
        finish(child)
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Sends a signal to a process that a test started.
pub fn signal(id: u32, name: &str) {
    let status = Command::new("kill").args([&format!("-{name}"), &id.to_string()]).status().expect("kill");
    assert!(status.success(), "kill -{name} {id}");
}

/// What a run came to.
#[derive(Debug)]
pub struct Done {
    /// The exit code; none when a signal ended it.
    pub code: Option<i32>,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl From<Output> for Done {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

impl Done {
    /// The one JSON object on stdout.
    pub fn json(&self) -> Value {
        assert_eq!(self.out.lines().count(), 1, "not one line: {}", self.out);
        serde_json::from_str(&self.out).expect("JSON")
    }

    /// Fails unless it ended with this code.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "stdout: {}\nstderr: {}", self.out, self.err);
        self
    }

    /// Fails unless standard error says all of this.
    #[track_caller]
    pub fn says(self, parts: &[&str]) -> Self {
        for part in parts {
            assert!(self.err.contains(part), "`{part}` is missing in: {}", self.err);
        }
        self
    }

    /// Fails unless standard output is exactly this.
    #[track_caller]
    pub fn prints(self, text: &str) -> Self {
        assert_eq!(self.out, text, "stderr: {}", self.err);
        self
    }
}

/// The keys of a JSON object in their order.
pub fn names(value: &Value) -> String {
    let fields = value.as_object().unwrap_or_else(|| panic!("no object: {value}"));
    fields.keys().map(String::as_str).collect::<Vec<_>>().join(" ")
}

/// The root of the repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
