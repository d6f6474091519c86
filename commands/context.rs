//! What all commands share: the environment as it was at the start, the clock, the config, the state.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use llmr::catalog::{Catalog, CatalogError};
use llmr::classify::Classifier;
use llmr::clock::{Clock, Rng};
use llmr::config::{self, Config, Problem};
use llmr::domain::{Redactor, RequestId, Secret, printable};
use llmr::route::FallbackStore;
use llmr::store::{OpenOptions, Retention, SqliteStore, Store, StoreError};

use crate::cli::Global;
use crate::error::{CliError, Code};
use crate::output::Output;

/// How long an unused local server may take to say so.
const LOCAL_PROBE: Duration = Duration::from_millis(60);

/// What all commands share.
pub struct Context {
    /// Where to print.
    pub output: Output,
    /// The clocks.
    pub clock: Clock,
    /// Jitter and ids.
    pub rng: Rng,
    /// Whether the user wants to see what happens inside.
    pub verbose: bool,
    env: BTreeMap<String, String>,
    words: Vec<String>,
    config_flag: Option<PathBuf>,
    state_flag: Option<PathBuf>,
    secrets: Vec<Secret>,
    redactor: OnceCell<Redactor>,
}

impl Context {
    /// Takes a snapshot of the environment.
    ///
    /// # Errors
    /// When one of the program's own variables makes no sense.
    pub fn new(global: &Global) -> Result<Self, (Output, CliError)> {
        let env = snapshot();
        let output = Output::new(global.color, |name| env.get(name).cloned());
        let variable = |name: &str| env.get(name).map(String::as_str).filter(|value| !value.is_empty());
        let now = variable("LLMR_NOW").map(str::parse::<Timestamp>).transpose();
        let seed = variable("LLMR_SEED").map(str::parse::<u64>).transpose();
        let (now, seed) = match (now, seed) {
            (Ok(now), Ok(seed)) => (now, seed),
            (Err(error), _) => {
                let error = CliError::usage(format!("LLMR_NOW is no RFC 3339 time: {error}"));
                return Err((output, error.hint("write it like 2026-08-23T03:00:00Z")));
            }
            (_, Err(error)) => return Err((output, CliError::usage(format!("LLMR_SEED is no number: {error}")))),
        };
        start_logging(global.verbose, variable("LLMR_LOG"));
        Ok(Self {
            output,
            clock: Clock::new(now),
            rng: Rng::new(seed),
            verbose: global.verbose > 0,
            words: std::env::args().skip(1).collect(),
            config_flag: global.config.clone(),
            state_flag: global.state.clone(),
            env,
            secrets: Vec::new(),
            redactor: OnceCell::new(),
        })
    }

    /// A variable of the environment.
    pub fn env(&self, name: &str) -> Option<String> {
        self.env.get(name).cloned()
    }

    /// All of the environment.
    pub fn variables(&self) -> &BTreeMap<String, String> {
        &self.env
    }

    /// Adds a variable to the snapshot, for a config that was made here.
    pub fn set_env(&mut self, name: &str, value: &str) {
        self.env.insert(name.to_owned(), value.to_owned());
    }

    /// The state file that the command line names.
    pub fn state_flag(&self) -> Option<PathBuf> {
        self.state_flag.clone()
    }

    /// Whether letters beyond ASCII can be shown: the first variable that is set says so, as POSIX has it. Where none is
    /// set, nothing speaks against it.
    pub fn has_utf8(&self) -> bool {
        let set = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| self.env(name).filter(|set| !set.is_empty()));
        set.is_none_or(|locale| {
            let locale = locale.to_ascii_lowercase();
            locale.contains("utf-8") || locale.contains("utf8")
        })
    }

    /// The config file that the command line names.
    pub fn config_flag(&self) -> Option<PathBuf> {
        self.config_flag.clone()
    }

    /// The state file that the user named, on the command line or in the environment.
    fn named_state(&self) -> Option<PathBuf> {
        self.state_flag.clone().or_else(|| self.env_path("LLMR_STATE"))
    }

    fn env_path(&self, name: &str) -> Option<PathBuf> {
        self.env.get(name).filter(|value| !value.is_empty()).map(PathBuf::from)
    }

    /// What knows the secrets that were fetched so far.
    pub fn redactor(&self) -> &Redactor {
        self.redactor.get_or_init(|| Redactor::new(self.secrets.iter().cloned()))
    }

    /// Remembers a secret, so that it is found in whatever leaves the process.
    pub fn learn_secret(&mut self, secret: &Secret) {
        // One key often serves many deployments, and each new secret costs a new search for all of them.
        if self.secrets.iter().any(|known| known.expose() == secret.expose()) {
            return;
        }
        self.secrets.push(secret.clone());
        self.redactor = OnceCell::new();
    }

    /// A new id for a request.
    pub fn request_id(&mut self) -> RequestId {
        let at = u64::try_from(self.clock.now().as_millisecond()).unwrap_or(0);
        // Ids that begin with the time stand side by side in the store's index. The rest is drawn anew in each process,
        // whatever the seed: two runs with one seed are still two requests.
        RequestId::new(format!("req_{at:011x}{}", Rng::new(None).token(6)))
    }

    /// Where the config is looked for: the path, and whether the user named it.
    pub fn config_path(&self) -> (Option<PathBuf>, bool) {
        if let Some(path) = self.config_flag.clone().or_else(|| self.env_path("LLMR_CONFIG")) {
            return (Some(path), true);
        }
        let home = || self.env_path("HOME").map(|home| home.join(".config"));
        let base = self.env_path("XDG_CONFIG_HOME").or_else(home);
        (base.map(|base| base.join("llmr").join("llmr.toml")), false)
    }

    /// The config file, if there is one, over those entries of the catalogue that it or the command line names.
    ///
    /// # Errors
    /// When it cannot be read or says something wrong.
    pub fn config_file(&self) -> Result<Option<Config>, CliError> {
        self.read_config(|text, name| text.contains(name) || self.words.iter().any(|word| word.contains(name)))
    }

    /// The config file, if there is one, over the whole catalogue.
    ///
    /// # Errors
    /// As [`config_file`](Self::config_file).
    pub fn whole_config_file(&self) -> Result<Option<Config>, CliError> {
        self.read_config(|_, _| true)
    }

    fn read_config(&self, wanted: impl Fn(&str, &str) -> bool) -> Result<Option<Config>, CliError> {
        let (path, named) = self.config_path();
        let Some(path) = path else { return Ok(None) };
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && !named => return Ok(None),
            Err(error) => {
                let error = CliError::new(Code::Config, format!("cannot read config {}: {error}", path.display()));
                return Err(error.hint("check the path, or write one with `llmr init`"));
            }
        };
        // Most files name few providers; only who has to explain a mistake needs all names for suggestions.
        let few = Catalog::builtin_of(|name| wanted(&text, name)).map_err(|error| broken_catalogue(&error))?;
        if let Ok(config) = config::parse(&text, &path, few) {
            return Ok(Some(config));
        }
        config::parse(&text, &path, builtin()?).map(Some).map_err(|problems| wrong_config(&problems))
    }

    /// The config file, or a ladder from the keys that the environment holds.
    ///
    /// # Errors
    /// When the file is wrong, or there is neither.
    pub fn config(&self) -> Result<Config, CliError> {
        match self.config_file()? {
            Some(config) => Ok(config),
            None => self.zero_config(),
        }
    }

    /// A ladder from the keys that the environment holds, and from local servers that answer.
    fn zero_config(&self) -> Result<Config, CliError> {
        let builtin = builtin()?;
        let local = crate::keys::local_servers(&builtin, LOCAL_PROBE);
        let config = config::from_environment(&|name| self.env(name), &local, builtin);
        if config.ladders.values().all(|ladder| ladder.steps.is_empty()) {
            let error =
                CliError::new(Code::Config, "no config, no key in the environment, and no local server answers");
            return Err(error
                .hint("`llmr init` writes a config to start from; or set a key such as GROQ_API_KEY")
                .hint("`llmr demo` shows what llmr does, without any key"));
        }
        Ok(config)
    }

    /// The state file: as the flag, the environment or the config says, or at its usual place.
    ///
    /// # Errors
    /// When there is no usual place.
    pub fn state_path(&self, config: Option<&Config>) -> Result<PathBuf, CliError> {
        let named = self.named_state();
        let configured = || config.and_then(|config| config.store.clone());
        if let Some(path) = named.or_else(configured) {
            return Ok(config::at_home(&path, &|name| self.env(name)));
        }
        let home = || self.env_path("HOME").map(|home| home.join(".local").join("state"));
        let base = self.env_path("XDG_STATE_HOME").or_else(home);
        base.map(|base| base.join("llmr").join("state.db"))
            .ok_or_else(|| CliError::trouble("no place for the state file: neither HOME nor XDG_STATE_HOME is set"))
    }

    /// The state for a request, which runs on memory if the file cannot be used.
    pub fn lenient_store(&self, config: &Config) -> FallbackStore<SqliteStore> {
        match self.state_path(Some(config)) {
            Ok(path) => {
                let store = FallbackStore::new(SqliteStore::open(&path, self.store_options()));
                if store.file().is_none()
                    && let Ok(readable) = SqliteStore::open_read_only(&path, OpenOptions::default())
                {
                    store.take_over(&readable);
                }
                store
            }
            Err(error) => FallbackStore::without_file(error.message()),
        }
    }

    /// The state for a look ahead, which leaves no file behind where there is none.
    pub fn store_to_plan(&self, config: &Config) -> FallbackStore<SqliteStore> {
        match self.state_path(Some(config)) {
            Ok(path) if !path.exists() => FallbackStore::empty(),
            _ => self.lenient_store(config),
        }
    }

    /// The state for a command that is about the state.
    ///
    /// # Errors
    /// When the file cannot be used.
    pub fn store(&self, config: Option<&Config>) -> Result<SqliteStore, CliError> {
        let path = self.state_path(config)?;
        let store = SqliteStore::open(&path, self.store_options())?;
        self.show_state_warning(&store);
        Ok(store)
    }

    /// How every command opens the state: a damaged file makes room for a new one.
    fn store_options(&self) -> OpenOptions {
        OpenOptions { set_aside: Some(self.clock), ..OpenOptions::default() }
    }

    /// The state for a command that only looks; none when there is no file yet.
    ///
    /// # Errors
    /// When the file cannot be used.
    pub fn store_to_read(&self, config: Option<&Config>) -> Result<Option<SqliteStore>, CliError> {
        let path = self.state_path(config)?;
        match SqliteStore::open_read_only(&path, self.store_options()) {
            Ok(store) => {
                self.show_state_warning(&store);
                Ok(Some(store))
            }
            Err(StoreError::Missing { .. }) => Ok(None),
            // A look is as good a time as any to bring the file of an older program up to date.
            Err(StoreError::Older { .. }) => self.store(config).map(Some),
            Err(error) => Err(error.into()),
        }
    }

    /// Shows what happened to the state that a person must know.
    pub fn show_state_warning(&self, store: &dyn Store) {
        if let Some(warning) = store.take_warning() {
            self.output.note(&printable(&format!("{} {warning}", self.output.label("warning"))));
        }
    }

    /// Removes a little of what the log keeps no longer: for commands that write it, once they are done, so that a
    /// failure would only be noise.
    pub fn forget_the_old(&self, store: &SqliteStore, config: Option<&Config>) {
        let usual = Retention::default();
        let age = config.and_then(|config| config.retention).unwrap_or(usual.age);
        let size = config.and_then(|config| config.max_size).unwrap_or(usual.size);
        let sessions = config.and_then(|config| config.sessions).unwrap_or(usual.sessions);
        let retention = Retention { age, size, sessions, ..usual };
        if let Err(error) = store.prune(&retention, self.clock.now()) {
            tracing::warn!(%error, "the log could not be pruned");
        }
        self.show_state_warning(store);
    }

    /// What knows failures, with the operator's own rules first.
    pub fn classifier(&self, config: Option<&Config>) -> Classifier {
        Classifier::new(config.map(|config| config.rules.clone()).unwrap_or_default())
    }

    /// Shows the config's warnings.
    pub fn show_warnings(&self, config: &Config) {
        for warning in &config.warnings {
            self.output.note(&format!("{} {warning}", self.output.label("warning")));
        }
    }

    /// Runs a future on a runtime of this thread.
    ///
    /// # Errors
    /// When the system gives no runtime.
    pub fn block_on<T>(&self, future: impl Future<Output = T>) -> Result<T, CliError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| CliError::trouble(format!("cannot start the network runtime: {error}")))?;
        let value = runtime.block_on(future);
        // A look-up of a name that hangs in the system must not keep what is done.
        runtime.shutdown_background();
        Ok(value)
    }
}

/// The built-in catalogue.
///
/// # Errors
/// Never, unless the program was built with a broken catalogue.
pub fn builtin() -> Result<Catalog, CliError> {
    Catalog::builtin().map_err(|error| broken_catalogue(&error))
}

/// What the built-in catalogue says of one provider.
///
/// # Errors
/// Never, unless the program was built with a broken catalogue.
pub fn builtin_of(provider: &str) -> Result<Catalog, CliError> {
    Catalog::builtin_of(|name| name == provider).map_err(|error| broken_catalogue(&error))
}

fn broken_catalogue(error: &CatalogError) -> CliError {
    CliError::new(Code::Config, format!("the built-in catalogue: {error}"))
}

/// The provider that a person may have meant, of all that the config or the whole catalogue knows.
pub fn nearest_provider(name: &str, config: &Config) -> Option<String> {
    let of = |catalog: &Catalog| catalog.nearest(name).map(ToString::to_string);
    of(&config.catalog).or_else(|| of(&builtin().ok()?))
}

/// All problems of a config in one error.
pub fn wrong_config(problems: &[Problem]) -> CliError {
    let plural = if problems.len() == 1 { "one error" } else { "errors" };
    let count = if problems.len() == 1 { String::new() } else { format!("{} ", problems.len()) };
    let mut error = CliError::new(Code::Config, format!("the config has {count}{plural}; nothing was sent"));
    for problem in problems {
        error = error.cause(problem.to_string());
    }
    error
}

/// Reads a file that the user named.
///
/// # Errors
/// Names the flag and the file.
pub fn read_named(flag: &str, path: &Path) -> Result<String, CliError> {
    std::fs::read_to_string(path)
        .map_err(|error| CliError::usage(format!("{flag}: cannot read {}: {error}", path.display())))
}

#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]
fn snapshot() -> BTreeMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

/// Starts the debug output, if it is asked for; it costs time that an ordinary run does not pay.
fn start_logging(verbose: u8, level: Option<&str>) {
    let level = match (verbose, level) {
        (0, None) => return,
        (0, Some(level)) => level.to_owned(),
        (1, _) => "llmr=info".to_owned(),
        (2, _) => "llmr=debug".to_owned(),
        _ => "llmr=trace".to_owned(),
    };
    let filter = tracing_subscriber::EnvFilter::try_new(level).unwrap_or_else(|_| "llmr=debug".into());
    let subscriber = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_target(false);
    // A second start in one process keeps the first.
    let _ = subscriber.try_init();
}
