//! Playing one scenario the way the program itself goes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use llmr::catalog::{Catalog, Wire, parse_duration};
use llmr::classify::Classifier;
use llmr::clock::{Clock, Rng};
use llmr::config::{self, Config, CredentialConfig, KeyError};
use llmr::domain::{ChatRequest, LadderName, Message, ProviderName, Redactor, RequestId, Role, Secret, Selector};
use llmr::ladder::{Directives, RequestShape};
use llmr::policy::{Change, Versioned};
use llmr::rehearsal::{Provider, Script};
use llmr::report::trail;
use llmr::route::{ConsumerGone, FallbackStore, Job, Observer, Outside, Report, Router, assemble, run};
use llmr::store::{Batch, LogFilter, OpenOptions, SqliteStore, Store, update};
use llmr::transport::{Transport, TransportOptions};
use tokio::sync::watch;

use super::compare::differences;
use super::file::{Act, Ask, Expect, Scenario, Then};

/// What is asked unless the scenario wants a longer prompt.
const PROMPT: &str = "What time is it?";

/// Retries come at once: how long they wait is a number of its own, tested where it is made.
const BACKOFF: Duration = Duration::from_millis(1);

/// A scenario on stage.
pub(super) struct Stage {
    providers: BTreeMap<String, Provider>,
    keys: BTreeMap<String, String>,
    config: Config,
    folder: tempfile::TempDir,
    now: Option<Timestamp>,
    asked: usize,
}

/// What came of one act.
pub(super) struct Came {
    /// One per request that lived to tell.
    pub(super) reports: Vec<Report>,
    /// Whether they were asked at the same moment.
    pub(super) at_once: bool,
    /// Requests that reached each provider.
    pub(super) hits: BTreeMap<String, usize>,
    /// The holds afterwards.
    pub(super) holds: Vec<Versioned>,
    /// What was shown piece by piece.
    pub(super) shown: Vec<String>,
    /// The body of the last request that each provider got.
    pub(super) last_bodies: BTreeMap<String, String>,
}

impl Stage {
    /// Starts the providers and reads the config.
    pub(super) fn set(scenario: &Scenario) -> Result<Self, String> {
        let mut table = scenario.config.clone();
        let (mut providers, mut keys) = (BTreeMap::new(), BTreeMap::new());
        for (name, part) in &scenario.providers {
            let wire = Wire::ALL.iter().copied().find(|wire| wire.as_str() == part.wire);
            let wire = wire.ok_or_else(|| format!("{name}: no wire `{}`", part.wire))?;
            let script = Script { replies: part.replies.clone(), cases: part.cases.clone() };
            let provider = Provider::start(wire, script).map_err(|error| error.to_string())?;
            let all = table.entry("providers").or_insert_with(|| toml::Table::new().into());
            let all = all.as_table_mut().ok_or("providers is no table")?;
            let own = all.entry(name).or_insert_with(|| toml::Table::new().into());
            let own = own.as_table_mut().ok_or("a provider is no table")?;
            own.insert("base_url".into(), provider.base_url().into());
            own.insert("wire".into(), part.wire.clone().into());
            let mut credentials = Vec::new();
            for (alias, value) in &part.keys {
                let variable = variable(name, alias);
                let mut credential = toml::Table::new();
                credential.insert("name".into(), alias.clone().into());
                credential
                    .insert("key".into(), toml::Table::from_iter([("env".into(), variable.as_str().into())]).into());
                credential.extend(part.account.iter().map(|account| ("account".into(), account.clone().into())));
                credentials.push(toml::Value::Table(credential));
                keys.insert(variable, value.clone());
            }
            if !credentials.is_empty() {
                own.insert("credentials".into(), credentials.into());
            }
            providers.insert(name.clone(), provider);
        }
        let catalog = Catalog::builtin().map_err(|error| error.to_string())?;
        let config = config::parse(&table.to_string(), Path::new("scenario.toml"), catalog)
            .map_err(|problems| problems.iter().map(|problem| format!("{problem}\n")).collect::<String>())?;
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        Ok(Self { providers, keys, config, folder, now: None, asked: 0 })
    }

    /// Plays all acts; what is wrong, act by act.
    pub(super) fn play(&mut self, acts: &[Act]) -> Vec<String> {
        let mut wrong = Vec::new();
        for (number, act) in acts.iter().enumerate() {
            let found = self.act(act).unwrap_or_else(|error| format!("    {error}\n"));
            if !found.is_empty() {
                let now = self.now.map_or("no time".to_owned(), |now| now.to_string());
                wrong.push(format!("  act {} at {now}\n{found}", number + 1));
            }
        }
        wrong
    }

    fn act(&mut self, act: &Act) -> Result<String, String> {
        match (act.at, &act.after, self.now) {
            (Some(at), None, _) => self.now = Some(at),
            (None, Some(after), Some(now)) => self.now = Some(now + span(after)?),
            (None, None, Some(_)) => {}
            _ => return Err("an act says `at` or, after the first one, `after`".into()),
        }
        if let Some(selector) = &act.reset {
            self.reset(selector)?;
        }
        for (place, value) in &act.new_keys {
            let (provider, alias) = place.split_once('@').ok_or("a key is named provider@alias")?;
            let known = self.keys.get_mut(&variable(provider, alias)).ok_or_else(|| format!("no key {place}"))?;
            known.clone_from(value);
        }
        match &act.expect {
            Some(expect) => self.ask(&act.ask, expect),
            None => Ok(String::new()),
        }
    }

    fn ask(&mut self, ask: &Ask, expect: &Expect) -> Result<String, String> {
        let before = self.hits();
        let mut told = Vec::new();
        let every = ask.every.as_deref().map(span).transpose()?.unwrap_or_default();
        for turn in 0..ask.times.unwrap_or(1) {
            if turn > 0 {
                self.now = self.now.map(|now| now + every);
            }
            told.extend(self.at_once(ask)?);
        }
        let now = self.now.unwrap_or_default();
        let store = self.store()?;
        let body = |provider: &Provider| provider.requests().last().map_or(String::new(), |seen| seen.body.to_string());
        let warnings: Vec<String> = told.iter().flat_map(|told: &Told| told.warnings.clone()).collect();
        let shown = told.last().map(|told| told.shown.clone()).unwrap_or_default();
        let came = Came {
            reports: told.into_iter().filter_map(|told| told.report).collect(),
            at_once: ask.together.is_some(),
            hits: self.hits().into_iter().map(|(name, count)| (name.clone(), count - before[&name])).collect(),
            holds: store.holds().map_err(|error| error.to_string())?,
            shown,
            last_bodies: self.providers.iter().map(|(name, provider)| (name.clone(), body(provider))).collect(),
        };
        let mut wrong = differences(expect, &came, now);
        warnings.iter().for_each(|warning| wrong.push_str(&format!("    warning: {warning}\n")));
        wrong.push_str(&self.promises(&came, &store)?);
        if !wrong.is_empty() {
            wrong.push_str(&explanation(&came, now));
        }
        Ok(wrong)
    }

    /// As many requests as the scenario wants at the same moment, each in a thread with all that a process has.
    fn at_once(&mut self, ask: &Ask) -> Result<Vec<Told>, String> {
        self.asked += 1;
        let stage = &*self;
        std::thread::scope(|scope| {
            let send = |n| scope.spawn(move || stage.send(ask, &format!("request-{}-{n}", stage.asked)));
            let threads: Vec<_> = (0..ask.together.unwrap_or(1)).map(send).collect();
            threads.into_iter().map(|thread| thread.join().map_err(|_| "it panicked".to_owned())?).collect()
        })
    }

    /// What holds in every scenario: the log has what happened, and no key is told.
    fn promises(&self, came: &Came, store: &SqliteStore) -> Result<String, String> {
        let mut wrong = String::new();
        for report in &came.reports {
            let filter = LogFilter { id: Some(report.record.id.clone()), ..LogFilter::default() };
            let logged = store.requests(&filter).map_err(|error| error.to_string())?;
            let same = logged.iter().map(|row| row.attempts.len()).eq([report.record.attempts.len()]);
            if !same {
                wrong.push_str(&format!("    log: {} differs from its report\n", report.record.id));
            }
        }
        let everything = format!("{:?}{:?}", came.reports, came.holds);
        if self.keys.values().any(|key| !key.is_empty() && everything.contains(key.as_str())) {
            wrong.push_str("    secrets: a key is told\n");
        }
        Ok(wrong)
    }

    fn hits(&self) -> BTreeMap<String, usize> {
        self.providers.iter().map(|(name, provider)| (name.clone(), provider.hits())).collect()
    }

    fn state(&self) -> PathBuf {
        self.folder.path().join("state.db")
    }

    fn store(&self) -> Result<SqliteStore, String> {
        SqliteStore::open(&self.state(), OpenOptions::default()).map_err(|error| error.to_string())
    }

    /// Clears all holds that cover a deployment which the selector means.
    fn reset(&self, selector: &str) -> Result<(), String> {
        let selector: Selector = selector.parse().map_err(|error| format!("{error}"))?;
        let meant = self.config.all_deployments().into_iter().filter(|deployment| selector.matches(deployment));
        let targets: Vec<_> = meant.map(|deployment| self.config.target(&deployment)).collect();
        let clear = |holds: &[Versioned]| {
            let covered = holds.iter().filter(|held| targets.iter().any(|target| held.record.scope().covers(target)));
            let delete =
                |held: &Versioned| Change { key: held.record.key(), expected: Some(held.version), record: None };
            (Batch { changes: covered.map(delete).collect(), ..Batch::default() }, ())
        };
        update(&self.store()?, clear).map_err(|error| error.to_string())
    }

    /// One request as a process of its own; no report when it does not live to tell.
    fn send(&self, ask: &Ask, id: &str) -> Result<Told, String> {
        let store = FallbackStore::new(SqliteStore::open(&self.state(), OpenOptions::default()));
        let clock = Clock::new(self.now.filter(|_| !ask.real_time));
        let mut rng = Rng::new(Some(7));
        let job = self.job(ask, id, &store, &mut rng)?;
        let transport = Transport::new(&TransportOptions::default()).map_err(|error| error.to_string())?;
        let redactor = Redactor::new(self.keys.values().map(|key| Secret::new(key)));
        let router = Router {
            clock,
            store: &store,
            transport: &transport,
            classifier: &Classifier::new(self.config.rules.clone()),
            catalog: &self.config.catalog,
            settings: &self.config.policy,
            redactor: &redactor,
        };
        let mut eye = Eye { stage: self, ask, shown: Vec::new(), void: true, warnings: Vec::new() };
        let before: usize = self.hits().values().sum();
        let reached = async {
            while self.hits().values().sum::<usize>() <= before {
                tokio::task::yield_now().await;
            }
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let report = runtime.map_err(|error| error.to_string())?.block_on(async {
            let (sender, stop) = watch::channel(false);
            let run = run(&router, &job, &mut rng, stop, &mut eye);
            match ask.then {
                Some(Then::Killed) => tokio::select! {
                    report = run => Some(report),
                    () = reached => None,
                },
                Some(Then::Interrupted) => {
                    let interrupt = async {
                        reached.await;
                        sender.send_replace(true);
                    };
                    Some(tokio::join!(run, interrupt).0)
                }
                Some(Then::PipeCloses) | None => Some(run.await),
            }
        });
        let report = report.transpose().map_err(|error| error.to_string())?;
        Ok(Told { report, shown: eye.shown, warnings: eye.warnings })
    }

    fn job(&self, ask: &Ask, id: &str, store: &dyn Store, rng: &mut Rng) -> Result<Job, String> {
        let name =
            ask.ladder.as_ref().map_or(self.config.default_ladder.clone(), |name| LadderName::new(name.as_str()));
        let salt = store.salt().map_err(|error| error.to_string())?;
        let key = |credential: &CredentialConfig| self.key(credential);
        let outside = Outside { key: &key, env: &|_| None, salt: &salt, shapes: &[] };
        let mut ladder = assemble(&self.config, &name, &outside, rng).ok_or_else(|| format!("no ladder {name}"))?;
        ladder.spec.limits.backoff = BACKOFF;
        ladder.spec.limits.backoff_max = BACKOFF;
        let prompt = ask.prompt_tokens.map_or(PROMPT.to_owned(), |tokens| "tick".repeat(tokens));
        let shape = RequestShape {
            input_tokens: prompt.len() as u64 / 4,
            max_tokens: ask.max_tokens.map(u64::from),
            images: false,
        };
        let schema = ask.schema.as_deref().map(serde_json::from_str).transpose();
        let request = ChatRequest {
            system: ladder.system,
            messages: vec![Message::text(Role::User, prompt)],
            max_tokens: ask.max_tokens,
            schema: schema.map_err(|error| error.to_string())?,
            stream: ask.stream,
            ..ChatRequest::default()
        };
        let directives = Directives {
            pin: ask.pin.as_deref().map(ProviderName::new),
            no_fallback: ask.no_fallback,
            ..Directives::default()
        };
        Ok(Job {
            id: RequestId::new(id),
            lease: ladder.limits.timeout.total.min(ladder.limits.deadline) + Duration::from_secs(10),
            spec: ladder.spec,
            lanes: ladder.lanes,
            request,
            shape,
            directives,
            stream: ladder.limits.stream,
            retry_budget: ladder.limits.retry_budget,
        })
    }

    /// The key, from an environment that holds what the scenario says.
    fn key(&self, credential: &CredentialConfig) -> Result<Secret, KeyError> {
        let none = || std::io::Error::other("not on this stage");
        credential.resolve(&|name| self.keys.get(name).cloned(), &|_| Err(none()), &|_| Err(none()))
    }
}

fn variable(provider: &str, alias: &str) -> String {
    format!("{provider}_{alias}").to_uppercase().replace('-', "_")
}

fn span(text: &str) -> Result<Duration, String> {
    parse_duration(text).ok_or_else(|| format!("`{text}` is no duration"))
}

/// Each exchange with the rule that decided, and what the providers said.
fn explanation(came: &Came, now: Timestamp) -> String {
    let trails = came.reports.iter().flat_map(|report| trail(report, now));
    let attempts = came.reports.iter().flat_map(|report| &report.record.attempts);
    let evidence = attempts.filter_map(|attempt| attempt.evidence.clone());
    trails.chain(evidence).take(12).map(|line| format!("      | {line}\n")).collect()
}

/// What one request has to tell.
struct Told {
    report: Option<Report>,
    shown: Vec<String>,
    warnings: Vec<String>,
}

/// Watches one request.
struct Eye<'a> {
    stage: &'a Stage,
    ask: &'a Ask,
    shown: Vec<String>,
    void: bool,
    warnings: Vec<String>,
}

impl Observer for Eye<'_> {
    fn text(&mut self, piece: &str) -> Result<(), ConsumerGone> {
        if self.ask.then == Some(Then::PipeCloses) {
            return Err(ConsumerGone);
        }
        match self.shown.last_mut().filter(|_| !self.void) {
            Some(last) => last.push_str(piece),
            None => self.shown.push(piece.to_owned()),
        }
        self.void = false;
        Ok(())
    }

    fn restart(&mut self) {
        self.void = true;
    }

    fn waiting(&mut self, _: Duration) {
        if let Some(selector) = &self.ask.reset_while_waiting
            && let Err(error) = self.stage.reset(selector)
        {
            self.warnings.push(error);
        }
    }

    fn warning(&mut self, message: &str) {
        self.warnings.push(message.to_owned());
    }
}
