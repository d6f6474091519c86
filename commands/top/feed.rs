//! Reads the state for the dashboard, and only what is new of it.
//!
//! SQLite says by a counter whether any process has committed. While it stands still, only time has passed: the records
//! are those that were read before. The log is never read twice: the journal in memory grows by what is new and forgets
//! what is older than the span. A long log is read in pieces, and the screen shows what is there meanwhile.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use llmr::clock::{Clock, Stopwatch};
use llmr::config::{Config, KeySource};
use llmr::dash::{Before, Measured, Reading, Rung, Rungs, Span};
use llmr::domain::{Deployment, LadderName, Redactor};
use llmr::metrics::{Journal, Loaded};
use llmr::policy::HoldRecord;
use llmr::report::Known;
use llmr::store::{Accounts, LogFilter, OpenOptions, Places, SqliteStore, Store, StoreError};

use crate::context::Context;
use crate::error::CliError;
use crate::stats::retries_used;
use crate::status::{grade, known, sign};

/// So many of the latest requests are shown.
const RECENT: usize = 200;

/// A count over the whole journal is made again only after so many times as long as it took: it never takes more than a
/// small part of a core.
const REST: u32 = 40;

/// Keys that may have changed are looked up so often.
const KEYS: Duration = Duration::from_secs(5);

/// The mean depth of a week before is looked up again after this part of the span.
const BEFORE_PART: u32 = 60;

/// What the dashboard is told.
pub struct Feed {
    config: Option<Config>,
    only: Option<LadderName>,
    path: PathBuf,
    clock: Clock,
    store: Option<SqliteStore>,
    salt: Option<Vec<u8>>,
    /// When the keys were looked up.
    signed: Stopwatch,
    token: Option<u64>,
    span: Span,
    journal: Journal,
    places: Option<Places>,
    before: (Option<Timestamp>, Before),
    /// When the figures were counted, and how long that took.
    counted: Option<(Stopwatch, Duration)>,
    reading: Reading,
    stop: Arc<AtomicBool>,
}

impl Feed {
    /// Finds the config and the state; there may be neither yet.
    ///
    /// # Errors
    /// When the config is wrong, the ladder is not there, or the state cannot be used.
    pub fn new(only: Option<LadderName>, context: &mut Context) -> Result<Self, CliError> {
        let config = context.config_file()?;
        if let Some(name) = &only {
            has_ladder(name, config.as_ref())?;
        }
        let store = context.store_to_read(config.as_ref())?;
        let mut reading = Reading::nothing(context.clock.now());
        if let Some(config) = &config {
            reading.bounds = config.policy.usage;
            reading.retries.1 = u64::from(config.limits.retry_budget);
        }
        let mut feed = Self {
            path: context.state_path(config.as_ref())?,
            clock: context.clock,
            signed: context.clock.stopwatch(),
            salt: None,
            config,
            only,
            store,
            token: None,
            span: Span::default(),
            journal: Journal::default(),
            places: None,
            before: (None, Before::default()),
            counted: None,
            reading,
            stop: Arc::default(),
        };
        feed.meet(context);
        Ok(feed)
    }

    /// All of it, however long the log is.
    ///
    /// # Errors
    /// When the state cannot be read.
    pub fn whole(&mut self, context: &mut Context) -> Result<Reading, CliError> {
        let mut reading = self.read(context);
        while reading.measured.is_loading && reading.trouble.is_none() {
            reading = self.read(context);
        }
        self.counted = None;
        reading = self.read(context);
        match reading.trouble.take() {
            Some(why) => Err(CliError::trouble(why)),
            None => Ok(reading),
        }
    }

    /// What ends a long look before its time.
    pub fn stop(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// Lets the figures go back so far.
    pub fn set_span(&mut self, span: Span) {
        self.span = span;
        self.journal = Journal::default();
        self.places = None;
        self.before = (None, Before::default());
        self.counted = None;
    }

    /// Whether there is more of the log to read at once.
    pub const fn is_behind(&self) -> bool {
        self.reading.measured.is_loading
    }

    /// What the state says now. When it cannot be read, what it said before, and why.
    pub fn read(&mut self, context: &mut Context) -> Reading {
        let now = self.clock.now();
        self.reading.now = now;
        self.reading.trouble = self.renew(now, context).err().map(|error| error.to_string());
        self.reading.clone()
    }

    fn renew(&mut self, now: Timestamp, context: &mut Context) -> Result<(), StoreError> {
        if self.store.is_none() && !self.open()? {
            return Ok(());
        }
        let Some(store) = &self.store else { return Ok(()) };
        let token = store.change_token()?;
        let is_new = self.token != Some(token);
        if is_new {
            self.reading.snapshot = store.snapshot(&Accounts::All)?;
            self.reading.health = store.health()?;
            self.reading.recent = store.requests(&LogFilter { limit: RECENT, ..LogFilter::default() })?;
            self.token = Some(token);
            self.clean(context.redactor());
            let mut known = std::mem::take(&mut self.reading.known);
            self.grade(&mut known);
            self.reading.known = known;
        }
        if (is_new && self.is_met_first()) || self.keys_may_have_changed() {
            self.meet(context);
        }
        if let Some(store) = &self.store {
            self.reading.retries.0 = retries_used(store, now)?;
        }
        self.count(is_new, now)
    }

    /// There was no file when the dashboard started; it waits for one.
    fn open(&mut self) -> Result<bool, StoreError> {
        // With the salt of the file the fingerprints are told.
        self.salt = None;
        match SqliteStore::open_read_only(&self.path, OpenOptions::default()) {
            Ok(store) => self.store = Some(store),
            Err(StoreError::Missing { .. }) => return Ok(false),
            Err(error) => return Err(error),
        }
        Ok(true)
    }

    /// What was written before a secret was known to be one is cleaned here.
    fn clean(&mut self, redactor: &Redactor) {
        let clean = |text: &mut String| *text = redactor.redact(text).into_owned();
        for held in &mut self.reading.snapshot.holds {
            match &mut held.record {
                HoldRecord::Cooldown(cooldown) => clean(&mut cooldown.evidence),
                HoldRecord::Quarantine(quarantine) => clean(&mut quarantine.evidence),
                HoldRecord::Circuit(circuit) => clean(&mut circuit.evidence),
            }
        }
        for request in &mut self.reading.recent {
            request.error.iter_mut().for_each(clean);
            request.attempts.iter_mut().filter_map(|attempt| attempt.evidence.as_mut()).for_each(clean);
        }
    }

    /// Whether the log names a deployment for the first time.
    fn is_met_first(&self) -> bool {
        let there: BTreeSet<&Deployment> = self.reading.known.iter().map(|known| &known.target.deployment).collect();
        self.reading.health.iter().any(|health| !there.contains(&health.deployment))
    }

    /// Keys of files can be replaced while the dashboard runs, and then a hold may be looked at.
    fn keys_may_have_changed(&self) -> bool {
        let mut keys = self.config.iter().flat_map(|config| &config.credentials);
        self.signed.elapsed() >= KEYS && keys.any(|key| matches!(key.key, KeySource::File(_)))
    }

    /// All deployments that config or log know, with the fingerprints of their keys as they are now.
    fn meet(&mut self, context: &mut Context) {
        self.signed = self.clock.stopwatch();
        if self.salt.is_none() {
            self.salt = self.store.as_ref().and_then(|store| store.salt().ok());
        }
        let mut all = known(self.config.as_ref(), &self.reading.health);
        if let Some(config) = &self.config {
            sign(&mut all, config, self.salt.as_deref(), context);
        }
        self.grade(&mut all);
        self.reading.ladders = rungs(self.config.as_ref(), self.only.as_ref(), &all);
        self.reading.known = all;
    }

    /// Who goes last for the answers that it gives: only of ladders that ask for it.
    fn grade(&self, known: &mut [Known]) {
        if let (Some(config), Some(store)) = (&self.config, &self.store) {
            // Who cannot be read is told by what is read next.
            let _ = grade(known, config, store, self.clock.now(), |ladder| ladder.min_valid.is_some());
        }
    }

    /// Adds what is new of the log, and counts when that is due.
    fn count(&mut self, is_new: bool, now: Timestamp) -> Result<(), StoreError> {
        let Some(store) = &self.store else { return Ok(()) };
        let since = now.checked_sub(self.span.length()).unwrap_or(Timestamp::MIN);
        let is_behind = self.places.is_none() || self.reading.measured.is_loading;
        if is_new || is_behind {
            let places = match self.places {
                Some(places) => places,
                None => store.places_at(since)?,
            };
            let Loaded { places, is_all } = self.journal.load(store, places)?;
            self.places = Some(places);
            self.reading.measured.is_loading = !is_all;
            self.journal.forget_before(since);
        }
        self.look_back(now)?;
        if self.is_due() {
            let watch = self.clock.stopwatch();
            let is_loading = self.reading.measured.is_loading;
            self.reading.measured = Measured::of(&self.journal, &self.before.1, self.span, self.only.as_ref(), now);
            self.reading.measured.is_loading = is_loading;
            self.counted = Some((watch, watch.elapsed()));
        }
        Ok(())
    }

    /// The figures move with the time even when nothing is written.
    fn is_due(&self) -> bool {
        self.counted.is_none_or(|(at, took)| at.elapsed() >= took * REST)
    }

    /// The mean depths of a week before, now and then.
    fn look_back(&mut self, now: Timestamp) -> Result<(), StoreError> {
        let Some(store) = &self.store else { return Ok(()) };
        let next = self.before.0.and_then(|at| at.checked_add(self.span.length() / BEFORE_PART).ok());
        if self.reading.measured.is_loading || next.is_some_and(|next| now < next) {
            return Ok(());
        }
        let (since, until) = Before::span(self.span, now);
        let (mut places, last) = store.places_between(since, until)?;
        let mut journal = Journal::default();
        while places.attempts < last.attempts || places.requests < last.requests {
            let Loaded { places: next, is_all } = journal.load(store, places)?;
            // Who leaves does not wait for a figure.
            if is_all || self.stop.load(Ordering::Relaxed) {
                break;
            }
            places = next;
        }
        self.before = (Some(now), Before::of(&journal, self.span, self.only.as_ref(), now));
        self.counted = None;
        Ok(())
    }
}

/// The ladders of the config, by the places of their steps among those that are known.
fn rungs(config: Option<&Config>, only: Option<&LadderName>, known: &[Known]) -> Vec<Rungs> {
    let Some(config) = config else { return Vec::new() };
    let place: BTreeMap<&Deployment, usize> =
        known.iter().zip(0..).map(|(known, at)| (&known.target.deployment, at)).collect();
    let rung = |deployment: &Deployment| {
        let known = *place.get(deployment)?;
        Some(Rung { known, domain: config.failure_domain(deployment) })
    };
    let wanted = config.ladders.iter().filter(|(name, _)| only.is_none_or(|only| *name == only));
    let rungs = wanted.map(|(name, ladder)| Rungs {
        ladder: name.clone(),
        steps: ladder.steps.iter().filter_map(|step| rung(&step.deployment)).collect(),
        last_resort: ladder.last_resort.as_ref().and_then(rung),
    });
    rungs.collect()
}

fn has_ladder(name: &LadderName, config: Option<&Config>) -> Result<(), CliError> {
    let Some(config) = config else {
        let error = CliError::usage(format!("--ladder {name}: there is no config, and so no ladder"));
        return Err(error.hint("`llmr init` writes one"));
    };
    if config.ladders.contains_key(name) {
        return Ok(());
    }
    let names: Vec<&str> = config.ladders.keys().map(LadderName::as_str).collect();
    Err(CliError::usage(format!("--ladder: there is no ladder `{name}`"))
        .hint(format!("there are: {}", names.join(", "))))
}
