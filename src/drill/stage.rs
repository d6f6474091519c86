//! Playing one scenario the way the program itself goes.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use crate::catalog::{Catalog, Wire, parse_duration};
use crate::clock::Clock;
use crate::config::{self, Config};
use crate::domain::{LadderName, Selector};
use crate::policy::{Change, Versioned, VersionedCascade};
use crate::rehearsal::Script;
use crate::report::trail;
use crate::route::Report;
use crate::store::{Accounts, Batch, LogFilter, Snapshot, Store, StoreError, update_locked};
use jiff::Timestamp;

use super::asking::Told;
use super::compare::differences;
use super::file::{Act, Ask, Expect, Part, Scenario};

/// What a scenario is played on: sockets and a file, or neither.
pub(super) trait Ground: Sized {
    /// Brings a provider on stage; where it is.
    fn add(&mut self, name: &str, wire: Wire, script: Script) -> Result<String, String>;

    /// The time, the wall clock standing at this moment or running.
    fn clock(&self, stands_at: Option<Timestamp>) -> Clock;

    /// Sends as many requests as the scenario wants at the same moment, each as a process of its own.
    fn at_once(stage: &Stage<Self>, ask: &Ask) -> Result<Vec<Told>, String>;

    /// How many requests reached each provider.
    fn hits(&self) -> BTreeMap<String, usize>;

    /// The body of the last request that each provider got.
    fn last_bodies(&self) -> BTreeMap<String, String>;

    /// Lets another process work on the state.
    fn with_store<T>(&self, act: impl FnOnce(&dyn Store) -> Result<T, StoreError>) -> Result<T, String>;
}

/// A scenario on stage.
pub(super) struct Stage<G> {
    pub(super) ground: G,
    pub(super) keys: BTreeMap<String, String>,
    pub(super) config: Config,
    pub(super) now: Option<Timestamp>,
    pub(super) asked: usize,
    /// Requests that were sent, all of those at the same moment counted.
    pub(super) sent: usize,
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
    /// The ladders that fell through.
    pub(super) ladders: Vec<VersionedCascade>,
    /// What was shown piece by piece.
    pub(super) shown: Vec<String>,
    /// The body of the last request that each provider got.
    pub(super) last_bodies: BTreeMap<String, String>,
}

impl<G: Ground> Stage<G> {
    /// Brings the providers on stage and reads the config.
    pub(super) fn set(scenario: &Scenario, mut ground: G) -> Result<Self, String> {
        let mut keys = BTreeMap::new();
        let mut table = scenario.config.clone();
        for (name, part) in &scenario.providers {
            let wire = Wire::ALL.iter().copied().find(|wire| wire.as_str() == part.wire);
            let wire = wire.ok_or_else(|| format!("{name}: no wire `{}`", part.wire))?;
            let script = Script { replies: part.replies.clone(), cases: part.cases.clone() };
            let base_url = ground.add(name, wire, script)?;
            let all = table.entry("providers").or_insert_with(|| toml::Table::new().into());
            let all = all.as_table_mut().ok_or("providers is no table")?;
            let own = all.entry(name).or_insert_with(|| toml::Table::new().into());
            describe(own.as_table_mut().ok_or("a provider is no table")?, name, part, &base_url);
            keys.extend(part.keys.iter().map(|(alias, value)| (variable(name, alias), value.clone())));
        }
        let catalog = Catalog::builtin().map_err(|error| error.to_string())?;
        let config = config::parse(&table.to_string(), Path::new("scenario.toml"), catalog)
            .map_err(|problems| problems.iter().map(|problem| format!("{problem}\n")).collect::<String>())?;
        Ok(Self { ground, keys, config, now: None, asked: 0, sent: 0 })
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
        let before = self.ground.hits();
        let mut told = Vec::new();
        let every = ask.every.as_deref().map(span).transpose()?.unwrap_or_default();
        for turn in 0..ask.times.unwrap_or(1) {
            if turn > 0 {
                self.now = self.now.map(|now| now + every);
            }
            self.asked += 1;
            self.sent += ask.together.unwrap_or(1);
            told.extend(G::at_once(self, ask)?);
        }
        let now = self.now.unwrap_or_default();
        let snapshot = self.ground.with_store(|store| store.snapshot(&Accounts::None))?;
        let warnings: Vec<String> = told.iter().flat_map(|told: &Told| told.warnings.clone()).collect();
        let shown = told.last().map(|told| told.shown.clone()).unwrap_or_default();
        let came = Came {
            reports: told.into_iter().filter_map(|told| told.report).collect(),
            at_once: ask.together.is_some(),
            hits: since(&before, self.ground.hits()),
            holds: snapshot.holds,
            ladders: snapshot.cascades,
            shown,
            last_bodies: self.ground.last_bodies(),
        };
        let mut wrong = differences(expect, &came, now);
        warnings.iter().for_each(|warning| wrong.push_str(&format!("    warning: {warning}\n")));
        wrong.push_str(&self.promises(&came)?);
        if !wrong.is_empty() {
            wrong.push_str(&explanation(&came, now));
        }
        Ok(wrong)
    }

    /// What holds in every scenario: the log has what happened, and no key is told.
    fn promises(&self, came: &Came) -> Result<String, String> {
        let mut wrong = String::new();
        for report in &came.reports {
            let filter = LogFilter { id: Some(report.record.id.clone()), ..LogFilter::default() };
            let logged = self.ground.with_store(|store| store.requests(&filter))?;
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

    /// Clears all holds that cover a deployment which the selector means, and what is remembered of its ladders.
    pub(super) fn reset(&self, selector: &str) -> Result<(), String> {
        let selector: Selector = selector.parse().map_err(|error| format!("{error}"))?;
        let meant = self.config.all_deployments().into_iter().filter(|deployment| selector.matches(deployment));
        let targets: Vec<_> = meant.map(|deployment| self.config.target(&deployment)).collect();
        let of_ladder = |name: &LadderName| {
            let ladder = self.config.ladders.get(name);
            let steps = ladder.into_iter().flat_map(|ladder| &ladder.steps);
            steps.map(|step| &step.deployment).any(|deployment| selector.matches(deployment))
        };
        let clear = |snapshot: &Snapshot| {
            let covered =
                snapshot.holds.iter().filter(|held| targets.iter().any(|target| held.record.scope().covers(target)));
            let delete =
                |held: &Versioned| Change { key: held.record.key(), expected: Some(held.version), record: None };
            let ladders = snapshot.cascades.iter().filter(|there| of_ladder(&there.cascade.ladder));
            let cascades = ladders.map(VersionedCascade::removal).collect();
            (Batch { changes: covered.map(delete).collect(), cascades, ..Batch::default() }, ())
        };
        self.ground.with_store(|store| update_locked(store, &Accounts::None, clear))
    }
}

/// Writes into the provider's section where it is and where its keys are.
fn describe(own: &mut toml::Table, name: &str, part: &Part, base_url: &str) {
    own.insert("base_url".into(), base_url.into());
    own.insert("wire".into(), part.wire.as_str().into());
    let credential = |alias: &String| {
        let key = toml::Table::from_iter([("env".to_owned(), variable(name, alias).into())]);
        let mut credential = toml::Table::new();
        credential.insert("name".into(), alias.as_str().into());
        credential.insert("key".into(), key.into());
        credential.extend(part.account.iter().map(|account| ("account".to_owned(), account.as_str().into())));
        toml::Value::Table(credential)
    };
    if !part.keys.is_empty() {
        own.insert("credentials".into(), part.keys.keys().map(credential).collect::<Vec<_>>().into());
    }
}

/// The variable of the stage's environment that holds a key.
fn variable(provider: &str, alias: &str) -> String {
    format!("{provider}_{alias}").to_uppercase().replace('-', "_")
}

fn span(text: &str) -> Result<Duration, String> {
    parse_duration(text).ok_or_else(|| format!("`{text}` is no duration"))
}

/// How many more there are by now.
fn since(before: &BTreeMap<String, usize>, now: BTreeMap<String, usize>) -> BTreeMap<String, usize> {
    let more = |name: &String, count| before.get(name).map_or(count, |before| count - before);
    now.into_iter().map(|(name, count)| (name.clone(), more(&name, count))).collect()
}

/// Each exchange with the rule that decided, and what the providers said.
fn explanation(came: &Came, now: Timestamp) -> String {
    let trails = came.reports.iter().flat_map(|report| trail(report, now));
    let attempts = came.reports.iter().flat_map(|report| &report.record.attempts);
    let evidence = attempts.filter_map(|attempt| attempt.evidence.clone());
    trails.chain(evidence).take(12).map(|line| format!("      | {line}\n")).collect()
}
