//! A config that was read and found good.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use crate::catalog::{Cap, Catalog};
use crate::classify::CustomRule;
use crate::domain::{AccountName, CredentialName, Deployment, LadderName, ProviderName, Timeouts};
use crate::ladder::{OnInvalid, OnMayHaveRun, Ranking, Strategy};
use crate::policy::{AlarmSettings, Bands, CascadeSettings, PolicySettings, Sink};
use crate::validate::Demands;

use super::{Problem, ToolConfig};

/// All that the config says, over the built-in catalogue and the defaults.
#[derive(Debug, Clone)]
pub struct Config {
    /// The file; none for a ladder that was assembled from the environment.
    pub path: Option<PathBuf>,
    /// The ladder that is used unless the person names another.
    pub default_ladder: LadderName,
    /// The built-in catalogue, overlaid by `[providers.*]` and by those `[[caps]]` that name no account.
    pub catalog: Catalog,
    /// What the catalogue does not know of a provider.
    pub providers: BTreeMap<ProviderName, ProviderSettings>,
    /// The keys, by where they are kept; in the order of the file within a provider.
    pub credentials: Vec<CredentialConfig>,
    /// The ladders.
    pub ladders: BTreeMap<LadderName, LadderConfig>,
    /// What holds for every ladder that says nothing else.
    pub limits: Limits,
    /// The numbers of the failure table.
    pub policy: PolicySettings,
    /// Who is told when things go wrong.
    pub alarm: Option<Alarm>,
    /// The operator's own classification rules, in order, before the built-in ones.
    pub rules: Vec<CustomRule>,
    /// Those `[[caps]]` that hold for one account.
    pub account_caps: Vec<AccountCap>,
    /// The state file.
    pub store: Option<PathBuf>,
    /// How long requests and attempts are kept.
    pub retention: Option<Duration>,
    /// How large the state file may grow before the oldest requests and attempts go, in bytes.
    pub max_size: Option<u64>,
    /// Whether answers are kept with their requests.
    pub content: bool,
    /// How long conversations are kept that nobody goes on with.
    pub sessions: Option<Duration>,
    /// How long kept verdicts stay that nothing is compared with.
    pub baselines: Option<Duration>,
    /// What a model may have run, by name.
    pub tools: BTreeMap<String, ToolConfig>,
    /// What is odd but no error.
    pub warnings: Vec<Problem>,
}

/// What only the config knows of a provider.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProviderSettings {
    /// The region that serves it.
    pub region: Option<String>,
    /// The name of the failure domain behind it.
    pub backend: Option<String>,
    /// The name of the network through which it is reached; none: what its address tells.
    pub network: Option<String>,
    /// A file with certificates that are trusted besides the usual ones.
    pub ca_file: Option<PathBuf>,
    /// Whether the models that the file lists are all that it has; the catalogue's lists are never complete.
    pub lists_all_models: bool,
}

/// One key, by its alias.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CredentialConfig {
    /// Whose key it is.
    pub provider: ProviderName,
    /// Its alias.
    pub name: CredentialName,
    /// Whose quota it uses: the credential's own name unless the config says otherwise.
    pub account: AccountName,
    /// Where it is kept.
    pub key: KeySource,
}

/// Where a key is kept. The key itself is never part of the config.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// In this environment variable.
    Env(String),
    /// In the first of these environment variables that is set.
    AnyEnv(Vec<String>),
    /// In this file, alone.
    File(PathBuf),
    /// This command prints it.
    Command(Vec<String>),
    /// There is none.
    None,
}

/// An ordered list of steps.
#[derive(Debug, Clone, PartialEq)]
pub struct LadderConfig {
    /// The steps, a step without a credential being one for each of its provider's credentials.
    pub steps: Vec<StepConfig>,
    /// In which order they are asked.
    pub strategy: Strategy,
    /// What the strategy goes by.
    pub ranking: Ranking,
    /// What a deployment must at least be able to do to be asked for this ladder's work.
    pub bar: Bar,
    /// The ladder for a request that is too large for a step.
    pub context_window: Option<LadderName>,
    /// The ladder for a request that a filter refused.
    pub content_policy: Option<LadderName>,
    /// The ladder for a request that needs what a step lacks.
    pub unsupported: Option<LadderName>,
    /// Asked under a transient hold when nothing else is left.
    pub last_resort: Option<Deployment>,
    /// The share of answers in the asked shape (0 to 1) below which a deployment is put last; none: the order stays.
    pub min_valid: Option<f64>,
    /// How far answers to one input may lie apart.
    pub consistency: Bands,
    /// Standing instructions.
    pub system: Option<String>,
    /// Standing instructions of the program's author, which come before a user's where the model tells them apart.
    pub developer: Option<String>,
    /// When the ladder itself opens; none when it never does.
    pub cascade: Option<CascadeSettings>,
    /// What is asked of its answers.
    pub answer: AnswerConfig,
    /// The names of the tools that are offered to the model.
    pub tools: Vec<String>,
    /// The limits of the file with this ladder's own.
    pub limits: Limits,
}

impl LadderConfig {
    /// A plain ladder: the steps as they stand, and nothing else.
    pub fn of(steps: Vec<StepConfig>, limits: Limits) -> Self {
        Self {
            steps,
            strategy: Strategy::Ordered,
            ranking: Ranking::default(),
            bar: Bar::default(),
            context_window: None,
            content_policy: None,
            unsupported: None,
            last_resort: None,
            min_valid: None,
            consistency: Bands::default(),
            system: None,
            developer: None,
            cascade: Some(CascadeSettings::default()),
            answer: AnswerConfig::default(),
            tools: Vec::new(),
            limits,
        }
    }
}

/// What a ladder asks of its answers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AnswerConfig {
    /// The JSON Schema that they must satisfy, unless a request brings its own.
    pub schema: Option<Value>,
    /// What must be true of them besides.
    pub demands: Demands,
}

/// What a ladder asks of a deployment, so that work of one kind is never done by a model that is too weak for it. What is
/// not known of a deployment bars it from nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Bar {
    /// The smallest context window, in tokens.
    pub context: Option<u64>,
    /// The shortest longest answer, in tokens.
    pub max_output: Option<u64>,
    /// What it must be able to do.
    pub capabilities: Vec<String>,
}

/// One step of a ladder.
#[derive(Debug, Clone, PartialEq)]
pub struct StepConfig {
    /// Who is asked.
    pub deployment: Deployment,
    /// Standing instructions, instead of the ladder's.
    pub system: Option<String>,
    /// How long each part of an attempt may take.
    pub timeout: Timeouts,
    /// How often it may be asked for one request; none: as policy sees fit.
    pub attempts: Option<u32>,
    /// Instructions of the program's author, instead of the ladder's.
    pub developer: Option<String>,
    /// Further fields of the wire's request object, under those that the user types.
    pub options: BTreeMap<String, Value>,
    /// How often it comes first under `shuffle`, against the weights of the others.
    pub weight: u32,
}

impl StepConfig {
    /// A plain step.
    pub fn of(deployment: Deployment, timeout: Timeouts) -> Self {
        Self { deployment, system: None, timeout, attempts: None, developer: None, options: BTreeMap::new(), weight: 1 }
    }
}

/// What to do when a stream breaks after its first byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StreamPolicy {
    /// Stop: what was printed is partial.
    Fail,
    /// Print nothing before the answer is whole.
    Buffer,
    /// Say so and print the next step's whole answer.
    Restart,
}

/// What to do after a 4xx failure that nobody understands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OnUnknown {
    /// Stop and show it.
    Stop,
    /// Ask the next step.
    Next,
}

/// When the next step is started beside one that is slow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Hedge {
    /// Never.
    Off,
    /// When so much time has passed without content.
    After(Duration),
    /// When the deployment has taken longer than 19 of 20 of its requests did.
    P95,
}

/// Whether a deployment that lately served the same beginning of a prompt is preferred, because it may still have it in
/// its cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CachePreference {
    /// The order stays as it is.
    Off,
    /// It goes first while it is eligible.
    Prefer,
    /// Nobody else is asked, where there is one.
    Require,
}

/// What one request may take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Attempts over all steps.
    pub attempts: u32,
    /// Retries over all steps; none: as many as `attempts` leaves room for.
    pub retries: Option<u32>,
    /// Retries per minute of all processes together.
    pub retry_budget: u32,
    /// The whole request.
    pub deadline: Duration,
    /// Each attempt.
    pub timeout: Timeouts,
    /// How long to wait for the soonest step when all are held.
    pub wait: Duration,
    /// USD; a step that could exceed it is skipped. None when there is no ceiling.
    pub max_cost_usd: Option<f64>,
    /// What to do when a stream breaks.
    pub stream: StreamPolicy,
    /// What to do after a failure that nobody understands.
    pub on_unknown: OnUnknown,
    /// What to do when the provider may have done the work.
    pub on_may_have_run: OnMayHaveRun,
    /// What to do with an answer that is not as asked, once it was repaired in vain.
    pub on_invalid: OnInvalid,
    /// Whether a deployment is told once what was wrong with its answer.
    pub repair: bool,
    /// USD per 1,000 tokens of prompt and answer; a step that costs more is skipped.
    pub max_cost_per_1k_usd: Option<f64>,
    /// A step that usually takes longer is skipped.
    pub max_latency: Option<Duration>,
    /// How much of an answer `stream = "buffer"` holds back at most, in bytes.
    pub buffer: u64,
    /// When the next step is started beside one that is slow.
    pub hedge: Hedge,
    /// Whether the deployment that has the prompt's beginning in its cache is preferred.
    pub cache: CachePreference,
    /// How often in a row the model may have tools run before it must answer in words.
    pub tool_rounds: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            attempts: 8,
            retries: None,
            retry_budget: 60,
            deadline: Duration::from_secs(120),
            timeout: Timeouts::default(),
            wait: Duration::ZERO,
            max_cost_usd: Some(0.50),
            stream: StreamPolicy::Restart,
            on_unknown: OnUnknown::Stop,
            on_may_have_run: OnMayHaveRun::Retry,
            on_invalid: OnInvalid::Next,
            repair: true,
            max_cost_per_1k_usd: None,
            max_latency: None,
            buffer: 16_000_000,
            hedge: Hedge::Off,
            cache: CachePreference::Off,
            tool_rounds: 8,
        }
    }
}

/// Who is told when things go wrong, and of what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alarm {
    /// The program and its arguments, `{summary}`, `{text}`, `{kind}` and `{ladder}` standing for what happened; empty when
    /// none is to be run.
    pub command: Vec<String>,
    /// Where it is posted.
    pub webhook: Option<Webhook>,
    /// What rings, when, and how often it is tried.
    pub settings: AlarmSettings,
}

impl Alarm {
    /// Where messages go.
    pub fn sinks(&self) -> Vec<Sink> {
        let command = (!self.command.is_empty()).then_some(Sink::Command);
        command.into_iter().chain(self.webhook.as_ref().map(|_| Sink::Webhook)).collect()
    }
}

/// A URL that is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Webhook {
    /// Where to post.
    pub url: String,
    /// What signs the message.
    pub secret: KeySource,
}

/// A limit of one account.
#[derive(Debug, Clone, PartialEq)]
pub struct AccountCap {
    /// Where the account is.
    pub provider: ProviderName,
    /// Whose limit it is.
    pub account: AccountName,
    /// The limit.
    pub cap: Cap,
}
