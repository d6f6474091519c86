//! The log in memory, in a compact form.

use std::collections::HashMap;

use jiff::Timestamp;

use crate::domain::{
    AttemptKind, Class, CredentialName, Defect, Deployment, Extraction, LadderName, Outcome, came_whole,
};
use crate::store::{AttemptFact, Fact, Places, RequestFact, Spent, SqliteStore, StoreError, Who};

/// So many rows of each kind are read in one transaction at most: a long read keeps the WAL from being written back.
const PIECE: usize = 20_000;

/// A count of at most 2³² − 2 that may be missing, in four bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Small(u32);

impl Small {
    fn new(count: Option<u64>) -> Self {
        let fits = |count: u64| u32::try_from(count).unwrap_or(u32::MAX).min(u32::MAX - 1);
        Self(count.map_or(u32::MAX, fits))
    }

    pub(super) fn get(self) -> Option<u32> {
        (self.0 != u32::MAX).then_some(self.0)
    }
}

/// What was used, where it is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Used {
    pub(super) input: Small,
    pub(super) output: Small,
    pub(super) cached: Small,
    /// In USD; not a number where the price is not known.
    usd: f64,
}

impl Used {
    fn of(spent: &Spent) -> Self {
        Self {
            input: Small::new(spent.input),
            output: Small::new(spent.output),
            cached: Small::new(spent.cached),
            usd: spent.usd.unwrap_or(f64::NAN),
        }
    }

    pub(super) fn usd(&self) -> Option<f64> {
        Some(self.usd).filter(|usd| !usd.is_nan())
    }
}

/// An exchange on the wire. Times of more than 71 minutes count as 71 minutes.
#[derive(Debug, Clone, Copy)]
pub(super) struct AttemptRow {
    pub(super) started_ms: i64,
    pub(super) used: Used,
    pub(super) who: u32,
    pub(super) ladder: u32,
    pub(super) ttft_us: Small,
    pub(super) latency_us: u32,
    pub(super) kind: AttemptKind,
    pub(super) class: Option<Class>,
    pub(super) is_given_up: bool,
    /// Whether it came back whole, whatever was in it.
    pub(super) is_whole: bool,
    pub(super) defect: Option<Defect>,
    pub(super) extracted: Option<Extraction>,
    pub(super) is_judged: bool,
}

/// A request that has ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct RequestRow {
    pub(super) started_ms: i64,
    pub(super) used: Used,
    pub(super) ladder: u32,
    pub(super) who: Option<u32>,
    pub(super) step: Small,
    pub(super) latency_us: u32,
    pub(super) denied: u32,
    pub(super) outcome: Outcome,
}

/// Names by number, so that a row needs not carry them.
#[derive(Debug, Clone, Default)]
struct Names {
    deployments: Vec<Deployment>,
    ladders: Vec<LadderName>,
    by_who: HashMap<Deployment, u32>,
    by_ladder: HashMap<String, u32>,
    /// The one that was looked up last: neighbours are often alike.
    last_who: Option<u32>,
}

impl Names {
    fn who(&mut self, who: Who<'_>) -> u32 {
        let is = |known: &Deployment| {
            known.provider == *who.provider
                && known.model == *who.model
                && known.credential.as_ref().map_or("", CredentialName::as_str) == who.credential
        };
        let last = self.last_who.filter(|at| self.deployments.get(*at as usize).is_some_and(is));
        let at = last.unwrap_or_else(|| self.number(who));
        self.last_who = Some(at);
        at
    }

    fn number(&mut self, who: Who<'_>) -> u32 {
        let deployment = Deployment {
            provider: who.provider.into(),
            model: who.model.into(),
            credential: Some(who.credential).filter(|name| !name.is_empty()).map(CredentialName::new),
        };
        if let Some(at) = self.by_who.get(&deployment) {
            return *at;
        }
        let at = u32::try_from(self.deployments.len()).unwrap_or(u32::MAX);
        self.deployments.push(deployment.clone());
        self.by_who.insert(deployment, at);
        at
    }

    fn ladder(&mut self, name: &str) -> u32 {
        if let Some(at) = self.by_ladder.get(name) {
            return *at;
        }
        let at = u32::try_from(self.ladders.len()).unwrap_or(u32::MAX);
        self.ladders.push(LadderName::new(name));
        self.by_ladder.insert(name.to_owned(), at);
        at
    }
}

/// How far a walk over the log has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loaded {
    /// Where to go on.
    pub places: Places,
    /// Whether there was no more when it stopped.
    pub is_all: bool,
}

/// Attempts and requests of some time, in the order in which they were written.
#[derive(Debug, Clone, Default)]
pub struct Journal {
    names: Names,
    pub(super) attempts: Vec<AttemptRow>,
    pub(super) requests: Vec<RequestRow>,
    /// Attempts whose request has not ended yet: nobody knows their ladder.
    orphans: HashMap<String, Vec<usize>>,
}

impl Journal {
    /// Reads one piece of what follows the places.
    ///
    /// # Errors
    /// When the state cannot be read.
    pub fn load(&mut self, store: &SqliteStore, after: Places) -> Result<Loaded, StoreError> {
        let places = store.facts(after, PIECE, |fact| self.push(fact))?;
        Ok(Loaded { places, is_all: places == after })
    }

    /// Reads all that started at or after the time, as far as it is there now.
    ///
    /// # Errors
    /// When the state cannot be read.
    pub fn load_since(&mut self, store: &SqliteStore, since: Timestamp) -> Result<Places, StoreError> {
        let mut places = store.places_at(since)?;
        loop {
            let Loaded { places: next, is_all } = self.load(store, places)?;
            if is_all {
                return Ok(places);
            }
            places = next;
        }
    }

    /// Reads what started in a span, as far as it is there now, without all that was written after it.
    ///
    /// # Errors
    /// When the state cannot be read.
    pub fn load_span(&mut self, store: &SqliteStore, since: Timestamp, until: Timestamp) -> Result<(), StoreError> {
        let (mut places, last) = store.places_between(since, until)?;
        while places.attempts < last.attempts || places.requests < last.requests {
            let Loaded { places: next, is_all } = self.load(store, places)?;
            if is_all {
                break;
            }
            places = next;
        }
        Ok(())
    }

    /// Adds a row. Requests are added when they have ended.
    pub fn push(&mut self, fact: Fact<'_>) {
        match fact {
            Fact::Attempt(attempt) => self.push_attempt(&attempt),
            Fact::Request(request) if request.outcome == Outcome::Unfinished => {}
            Fact::Request(request) => self.push_request(&request),
        }
    }

    fn push_attempt(&mut self, fact: &AttemptFact<'_>) {
        if fact.ladder.is_empty() {
            self.orphans.entry(fact.request.to_owned()).or_default().push(self.attempts.len());
        }
        self.attempts.push(AttemptRow {
            started_ms: fact.started_ms,
            used: Used::of(&fact.spent),
            who: self.names.who(fact.who),
            ladder: self.names.ladder(fact.ladder),
            ttft_us: Small::new(fact.ttft_us),
            latency_us: u32::try_from(fact.latency_us).unwrap_or(u32::MAX),
            kind: fact.kind,
            class: fact.class,
            is_given_up: fact.is_given_up,
            is_whole: came_whole(fact.class, fact.status),
            defect: fact.defect,
            extracted: fact.extracted,
            is_judged: fact.judged,
        });
    }

    fn push_request(&mut self, fact: &RequestFact<'_>) {
        let ladder = self.names.ladder(fact.ladder);
        for at in self.orphans.remove(fact.id).unwrap_or_default() {
            if let Some(row) = self.attempts.get_mut(at) {
                row.ladder = ladder;
            }
        }
        if !LadderName::has_askers(fact.ladder) {
            return;
        }
        self.requests.push(RequestRow {
            started_ms: fact.started_ms,
            used: Used::of(&fact.spent),
            ladder,
            who: fact.who.map(|who| self.names.who(who)),
            step: Small::new(fact.step.map(u64::from)),
            latency_us: u32::try_from(fact.latency_us).unwrap_or(u32::MAX),
            denied: u32::try_from(fact.retries_denied).unwrap_or(u32::MAX),
            outcome: fact.outcome,
        });
    }

    /// Forgets what started before the time, once that is worth the work. Rows are written about in the order of their
    /// start, so what is forgotten stands in front.
    pub fn forget_before(&mut self, before: Timestamp) {
        let before = before.as_millisecond();
        let old = self.attempts.partition_point(|row| row.started_ms < before);
        if old > self.attempts.len() / 4 {
            self.attempts.drain(..old);
            let shift = |at: &usize| at.checked_sub(old);
            self.orphans.retain(|_, places| {
                *places = places.iter().filter_map(shift).collect();
                !places.is_empty()
            });
        }
        let old = self.requests.partition_point(|row| row.started_ms < before);
        if old > self.requests.len() / 4 {
            self.requests.drain(..old);
        }
    }

    /// How many attempts and requests there are.
    pub fn len(&self) -> (usize, usize) {
        (self.attempts.len(), self.requests.len())
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == (0, 0)
    }

    /// The deployments by number.
    pub(super) fn deployments(&self) -> &[Deployment] {
        &self.names.deployments
    }

    /// The ladders by number; the one without a name is that of attempts whose request has not ended.
    pub(super) fn ladders(&self) -> &[LadderName] {
        &self.names.ladders
    }
}
