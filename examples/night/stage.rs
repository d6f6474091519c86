//! The stage: providers on loopback, a config that names them, and the program that asks them.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use llmr::rehearsal::Provider;

use crate::providers::{PARTS, Part, says};
use crate::table::Mood;

/// What is asked, in turn.
const PROMPTS: [&str; 4] = [
    "Make a title of this incident: at three the nightly import stopped because the disk was full.",
    "How severe is an import that stopped at night?",
    "Who must be told of a disk that is full?",
    "Summarise the night for the morning shift.",
];

const SCHEMA: &str = r#"{"type": "object", "required": ["title", "severity"], "properties":
{"title": {"type": "string"}, "severity": {"enum": ["low", "medium", "high"]}}}"#;

/// Ladders, limits and what the provider does not state.
const CONFIG: &str = r#"default_ladder = "main"

[ladders.main]
steps = [
  "groq/llama-3.3-70b-versatile", "anthropic/claude-haiku-4-5", "gemini/gemini-2.5-flash", "openai/gpt-5-mini",
  "cerebras/gpt-oss-120b", "local/qwen3-8b",
]

[ladders.tickets]
steps = ["mistral/mistral-small-latest", "groq/llama-3.3-70b-versatile", "local/qwen3-8b"]

[ladders.house]
steps = ["lab/qwen3-32b", "desk/gemma3-12b"]

[limits]
attempts = 12
hedge = "800ms"
deadline = "10s"

[breaker]
open = "10s"

[[caps]]
provider = "lab"
dimension = "rpm"
limit = 30

[[caps]]
provider = "cerebras"
dimension = "rpm"
limit = 60

[[caps]]
provider = "gemini"
dimension = "rpm"
limit = 60

[[caps]]
provider = "gemini"
account = "project-7"
model = "gemini-2.5-flash"
dimension = "rpd"
limit = 20
"#;

/// All that the night needs; the providers live as long as this.
pub(crate) struct Stage {
    program: PathBuf,
    folder: PathBuf,
    providers: BTreeMap<&'static str, Provider>,
    running: Vec<Child>,
    asked: usize,
}

impl Stage {
    /// Starts the providers and writes `llmr.toml`, the keys and a schema into the folder, which must be a new one.
    pub(crate) fn set(program: PathBuf, folder: PathBuf) -> Self {
        fs::create_dir(&folder).expect("a folder that is not there yet");
        fs::create_dir(folder.join("keys")).expect("a folder for the keys");
        let mut providers = BTreeMap::new();
        let mut config = CONFIG.to_owned();
        for part in &PARTS {
            let provider = Provider::start(part.wire, says(part.name, Mood::Well)).expect("a port on loopback");
            config.push_str(&told(part, &provider.base_url(), &folder));
            providers.insert(part.name, provider);
            let stage = key_file(&folder, part.name);
            fs::write(stage, format!("night-{}-old", part.name)).expect("a key");
        }
        fs::write(folder.join("llmr.toml"), config).expect("a config");
        fs::write(folder.join("ticket.json"), SCHEMA).expect("a schema");
        Self { program, folder, providers, running: Vec::new(), asked: 0 }
    }

    /// The program with the night's config and state, and nothing of the caller's.
    pub(crate) fn words(&self) -> Vec<PathBuf> {
        let config = [PathBuf::from("--config"), self.folder.join("llmr.toml")];
        let state = [PathBuf::from("--state"), self.folder.join("state.db")];
        [self.program.clone()].into_iter().chain(config).chain(state).collect()
    }

    pub(crate) fn turn(&self, name: &str, mood: Mood) {
        if let Some(provider) = self.providers.get(name) {
            provider.play(says(name, mood));
        }
    }

    pub(crate) fn replace_key(&self, name: &str) {
        fs::write(key_file(&self.folder, name), format!("night-{name}-new")).expect("a key");
    }

    /// Sends the next prompt down a ladder; nobody waits for the answer.
    pub(crate) fn ask(&mut self, ladder: &str) {
        let prompt = PROMPTS[self.asked % PROMPTS.len()];
        self.asked += 1;
        let schema = self.folder.join("ticket.json");
        let schema = schema.to_str().expect("a folder in UTF-8");
        let mut words = vec!["chat", "--stream", "-m", ladder];
        if ladder == "tickets" {
            words.extend(["--schema", schema]);
        }
        words.push(prompt);
        self.run(&words);
    }

    /// Runs the program with these words.
    pub(crate) fn run(&mut self, words: &[&str]) {
        self.running.retain_mut(|child| child.try_wait().is_ok_and(|ended| ended.is_none()));
        let given = self.words();
        let (program, flags) = given.split_first().expect("the program's name");
        let mut command = Command::new(program);
        command.args(flags).args(words).current_dir(&self.folder);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        self.running.push(command.spawn().expect("llmr runs"));
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        for child in &mut self.running {
            drop(child.wait());
        }
    }
}

fn key_file(folder: &Path, name: &str) -> PathBuf {
    folder.join("keys").join(name)
}

/// The lines of the config about a provider.
fn told(part: &Part, base_url: &str, folder: &Path) -> String {
    let wire = part.wire.as_str();
    let name = part.name;
    let mut text = format!("\n[providers.{name}]\nbase_url = \"{base_url}\"\nwire = \"{wire}\"\n");
    if let Some((alias, account)) = part.key {
        let file = key_file(folder, name);
        let file = file.to_str().expect("a folder in UTF-8");
        writeln!(text, "[[providers.{name}.credentials]]\nname = \"{alias}\"\naccount = \"{account}\"")
            .expect("written");
        writeln!(text, "key = {{ file = '{file}' }}").expect("written");
    }
    text.push_str(&part.more.replace("NAME", name).replace("MODEL", part.model));
    text
}
