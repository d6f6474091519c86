//! Walks over the log by place, for figures.

use jiff::Timestamp;
use rusqlite::{Connection, Row};

use super::row::{Fields, Trouble};
use super::{SqliteStore, StoreError};
use crate::domain::Defect;
use crate::store::{AttemptFact, Fact, Places, RequestFact, Spent, Who};

/// The place before all rows that started at the time or later; where there are none, the last place. Rows are written
/// when they end, so the first to start need not be the first in place; but nothing lasts longer than an hour, so the
/// places of the hour after the first one are enough to look at.
const BEFORE: &str = "SELECT ifnull((SELECT min(place) FROM {table} WHERE started_at >= ?1 AND started_at <= 3600000 + \
     (SELECT min(started_at) FROM {table} WHERE started_at >= ?1)) - 1, (SELECT ifnull(max(place), 0) FROM {table}))";

/// The places before the first and of the last row that started in a span, for both tables. A clock that once ran ahead
/// leaves rows of another time between them, and what is outside cannot be in the span.
const BETWEEN: &str = "SELECT a.first, a.last, r.first, r.last FROM \
     (SELECT ifnull(min(place), 1) - 1 AS first, ifnull(max(place), 0) AS last FROM attempts \
     WHERE started_at >= ?1 AND started_at < ?2) AS a, \
     (SELECT ifnull(min(place), 1) - 1 AS first, ifnull(max(place), 0) AS last FROM requests \
     WHERE started_at >= ?1 AND started_at < ?2) AS r";

const ATTEMPTS: &str = "SELECT a.place, a.request_id, ifnull(r.ladder, ''), a.provider, a.model, a.credential, a.step, \
     a.kind, a.class, a.given_up IS NOT NULL, a.extracted, a.judged, a.started_at, a.ttft_us, a.latency_us, a.input_tokens, \
     a.output_tokens, a.cached_tokens, a.cost_usd, a.status, \
     iif(a.class = 'invalid_output' OR a.rule GLOB 'answer.*', a.rule, NULL) \
     FROM attempts AS a LEFT JOIN requests AS r ON r.id = a.request_id \
     WHERE a.place > ?1 ORDER BY a.place LIMIT ?2";

const REQUESTS: &str = "SELECT place, id, ladder, provider, model, credential, started_at, latency_us, outcome, step, \
     input_tokens, output_tokens, cached_tokens, cost_usd, retries_denied FROM requests \
     WHERE place > ?1 ORDER BY place LIMIT ?2";

impl SqliteStore {
    /// Where a walk begins that is to see all that started at or after the time.
    ///
    /// # Errors
    /// When the state cannot be read.
    pub fn places_at(&self, since: Timestamp) -> Result<Places, StoreError> {
        self.read(|conn| {
            let place = |table: &str| -> Result<i64, Trouble> {
                let mut statement = conn.prepare_cached(&BEFORE.replace("{table}", table))?;
                Ok(statement.query_row([since.as_millisecond()], |row| row.get(0))?)
            };
            Ok(Places { attempts: place("attempts")?, requests: place("requests")? })
        })
    }

    /// Where a walk begins and where it may end that is to see all that started in the span, and is there now.
    ///
    /// # Errors
    /// When the state cannot be read.
    pub fn places_between(&self, since: Timestamp, until: Timestamp) -> Result<(Places, Places), StoreError> {
        self.read(|conn| {
            let mut statement = conn.prepare_cached(BETWEEN)?;
            let places = |row: &Row<'_>| {
                let first = Places { attempts: row.get(0)?, requests: row.get(2)? };
                Ok((first, Places { attempts: row.get(1)?, requests: row.get(3)? }))
            };
            Ok(statement.query_row((since.as_millisecond(), until.as_millisecond()), places)?)
        })
    }

    /// Shows at most `most` attempts and as many requests that follow the places, oldest first, and says where to go on.
    /// The same places again: there is no more for now. Attempts come before the requests that they were made for.
    ///
    /// # Errors
    /// When the state cannot be read.
    pub fn facts(&self, after: Places, most: usize, mut each: impl FnMut(Fact<'_>)) -> Result<Places, StoreError> {
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        self.read(|conn| {
            let attempts = walk(conn, ATTEMPTS, after.attempts, most, |row| {
                each(Fact::Attempt(attempt(row)?));
                Ok(())
            })?;
            let requests = walk(conn, REQUESTS, after.requests, most, |row| {
                each(Fact::Request(request(row)?));
                Ok(())
            })?;
            Ok(Places { attempts, requests })
        })
    }
}

fn walk(
    conn: &Connection,
    sql: &str,
    after: i64,
    most: i64,
    mut each: impl FnMut(&Row<'_>) -> Result<(), Trouble>,
) -> Result<i64, Trouble> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query([after, most])?;
    let mut last = after;
    while let Some(row) = rows.next()? {
        last = row.get(0)?;
        each(row)?;
    }
    Ok(last)
}

fn attempt<'r>(row: &'r Row<'_>) -> Result<AttemptFact<'r>, Trouble> {
    let mut f = Fields::new(row, "attempts");
    f.get::<i64>()?;
    let mut fact = AttemptFact {
        request: f.text()?,
        ladder: f.text()?,
        who: Who { provider: f.text()?, model: f.text()?, credential: f.text()? },
        step: f.get()?,
        kind: f.word()?,
        class: f.maybe_word()?,
        is_given_up: f.get()?,
        extracted: f.maybe_word()?,
        judged: f.get()?,
        started_ms: f.get()?,
        ttft_us: f.whole()?,
        latency_us: f.whole()?.unwrap_or(0),
        spent: spent(&mut f)?,
        status: None,
        defect: None,
    };
    fact.status = f.get()?;
    fact.defect = Defect::found(fact.class, f.maybe_text()?);
    Ok(fact)
}

fn request<'r>(row: &'r Row<'_>) -> Result<RequestFact<'r>, Trouble> {
    let mut f = Fields::new(row, "requests");
    f.get::<i64>()?;
    Ok(RequestFact {
        id: f.text()?,
        ladder: f.text()?,
        who: who(&mut f)?,
        started_ms: f.get()?,
        latency_us: f.whole()?.unwrap_or(0),
        outcome: f.word()?,
        step: f.get()?,
        spent: spent(&mut f)?,
        retries_denied: f.whole()?.unwrap_or(0),
    })
}

/// `provider, model, credential`, all of which may be missing.
fn who<'r>(f: &mut Fields<'r, '_>) -> Result<Option<Who<'r>>, Trouble> {
    let (provider, model, credential) = (f.maybe_text()?, f.maybe_text()?, f.maybe_text()?);
    let rest =
        |provider| Who { provider, model: model.unwrap_or_default(), credential: credential.unwrap_or_default() };
    Ok(provider.map(rest))
}

/// Three counts of tokens and a cost.
fn spent(f: &mut Fields<'_, '_>) -> Result<Spent, Trouble> {
    Ok(Spent { input: f.whole()?, output: f.whole()?, cached: f.whole()?, usd: f.get()? })
}
