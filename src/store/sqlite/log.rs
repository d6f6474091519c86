//! Reads and writes the log: attempts and requests.

use rusqlite::types::Value;
use rusqlite::{Connection, params, params_from_iter};

use super::health;
use super::row::{Fields, Trouble, count, ms, us};
use super::totals::{self, Log, Sign};
use crate::domain::{
    AccountName, AttemptRecord, Class, CredentialName, Dimension, Extraction, GivenUp, LadderName, ModelName, Outcome,
    ProviderName, RequestId, RequestRecord, ScopeLevel, Selector,
};
use crate::store::{LogFilter, LogPage, tally_unfinished};

/// The same insert with another answer to an attempt that is there already, and the place that it gets.
macro_rules! insert_attempt {
    ($or:literal, $place:literal) => {
        concat!(
            "INSERT OR ",
            $or,
            " INTO attempts (place, request_id, position, provider, model, credential, account, step, kind, class, scope, \
             dimension, status, rule, evidence, started_at, ttft_us, latency_us, held_until, input_tokens, \
             output_tokens, cached_tokens, cost_usd, execution, given_up, extracted, judged) VALUES (",
            $place,
            ", ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, \
             ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26)"
        )
    };
}

const ADD_ATTEMPT: &str = insert_attempt!(
    "IGNORE",
    "(SELECT max(upto, last, ifnull((SELECT max(place) FROM attempts), 0)) + 1 FROM counted WHERE log = 'attempts')"
);
const REPLACE_ATTEMPT: &str =
    insert_attempt!("REPLACE", "(SELECT place FROM attempts WHERE request_id = ?1 AND position = ?2)");

const BEGIN_REQUEST: &str = "INSERT INTO requests (id, ladder, started_at, latency_us, outcome) \
     VALUES (?1, '', ?2, 0, ?3) ON CONFLICT (id) DO NOTHING";

const PUT_REQUEST: &str = "INSERT INTO requests (id, ladder, started_at, latency_us, outcome, provider, model, \
     credential, step, input_tokens, output_tokens, cached_tokens, cost_usd, retry_at, error, retries_denied, place) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, \
     (SELECT max(upto, last, ifnull((SELECT max(place) FROM requests), 0)) + 1 FROM counted WHERE log = 'requests')) \
     ON CONFLICT (id) DO UPDATE SET ladder = excluded.ladder, \
     started_at = excluded.started_at, latency_us = excluded.latency_us, outcome = excluded.outcome, \
     provider = excluded.provider, model = excluded.model, credential = excluded.credential, step = excluded.step, \
     input_tokens = excluded.input_tokens, output_tokens = excluded.output_tokens, \
     cached_tokens = excluded.cached_tokens, cost_usd = excluded.cost_usd, retry_at = excluded.retry_at, \
     error = excluded.error, retries_denied = excluded.retries_denied, place = excluded.place";

/// Writes one attempt and, with the first, a row for its request: a process that dies now has still asked.
pub(super) fn put_attempt(conn: &Connection, id: &RequestId, place: u32, a: &AttemptRecord) -> Result<(), Trouble> {
    if insert(conn, ADD_ATTEMPT, id, place, a)? == 0 {
        // What was told of it stays counted, and it is not counted again.
        let at = totals::attempt(conn, id, place)?;
        totals::add_row(conn, Log::Attempts, at, Sign::Plus)?;
        insert(conn, REPLACE_ATTEMPT, id, place, a)?;
        totals::add_row(conn, Log::Attempts, at, Sign::Minus)?;
    }
    health::note(conn, a)?;
    let values = params![id.as_str(), a.started_at.as_millisecond(), Outcome::Unfinished.as_str()];
    conn.prepare_cached(BEGIN_REQUEST)?.execute(values)?;
    Ok(())
}

fn insert(conn: &Connection, sql: &str, id: &RequestId, place: u32, a: &AttemptRecord) -> Result<usize, Trouble> {
    let values = params![
        id.as_str(),
        place,
        a.deployment.provider.as_str(),
        a.deployment.model.as_str(),
        a.deployment.credential.as_ref().map_or("", CredentialName::as_str),
        a.account.as_str(),
        a.step,
        a.kind.as_str(),
        a.class.map(Class::as_str),
        a.scope.map(ScopeLevel::as_str),
        a.dimension.map(Dimension::as_str),
        a.status,
        a.rule,
        a.evidence,
        a.started_at.as_millisecond(),
        a.ttft.map(us),
        us(a.latency),
        ms(a.held_until),
        count(a.usage.input_tokens),
        count(a.usage.output_tokens),
        count(a.usage.cached_tokens),
        a.cost_usd,
        a.execution.as_str(),
        a.given_up.map(GivenUp::as_str),
        a.extracted.map(Extraction::as_str),
        a.judged,
    ];
    Ok(conn.prepare_cached(sql)?.execute(values)?)
}

/// Writes the request's row at the end of the log, and those of its attempts that are not there yet.
pub(super) fn put_request(conn: &Connection, r: &RequestRecord) -> Result<(), Trouble> {
    for (place, attempt) in (0_u32..).zip(&r.attempts) {
        if insert(conn, ADD_ATTEMPT, &r.id, place, attempt)? > 0 {
            health::note(conn, attempt)?;
        }
    }
    let who = r.deployment.as_ref();
    let values = params![
        r.id.as_str(),
        r.ladder.as_str(),
        r.started_at.as_millisecond(),
        us(r.latency),
        r.outcome.as_str(),
        who.map(|d| d.provider.as_str()),
        who.map(|d| d.model.as_str()),
        who.map(|d| d.credential.as_ref().map_or("", CredentialName::as_str)),
        r.step,
        count(r.usage.input_tokens),
        count(r.usage.output_tokens),
        count(r.usage.cached_tokens),
        r.cost_usd,
        ms(r.retry_at),
        r.error,
        r.retries_denied,
    ];
    let before = totals::ended(conn, &r.id)?;
    if let Some(before) = before {
        totals::add_row(conn, Log::Requests, before, Sign::Plus)?;
    }
    conn.prepare_cached(PUT_REQUEST)?.execute(values)?;
    // The same end told once more: it was counted as it was told first.
    if before.is_some()
        && let Some(after) = totals::ended(conn, &r.id)?
    {
        totals::add_row(conn, Log::Requests, after, Sign::Minus)?;
    }
    Ok(())
}

/// The part of the log that the filter asks for. The caller holds a transaction.
pub(super) fn read(conn: &Connection, filter: &LogFilter) -> Result<LogPage, Trouble> {
    let last = conn
        .prepare_cached("SELECT ifnull(max(place), 0) FROM requests")?
        .query_row([], |row| row.get(0))
        .map_err(Trouble::from)?;
    let mut found = requests(conn, filter)?;
    let full = found.len() >= filter.limit;
    let last = match filter.after {
        Some(after) if full => found.last().map_or(after, |(place, _)| *place),
        Some(_) => last,
        None => {
            found.reverse();
            last
        }
    };
    let mut requests = Vec::with_capacity(found.len());
    for (_, mut request) in found {
        request.attempts = attempts(conn, &request.id)?;
        tally_unfinished(&mut request);
        requests.push(request);
    }
    Ok(LogPage { requests, last })
}

/// Up to so many attempts of a class are looked up before the requests are; with more of them it is better to go through
/// the requests from the newest on, of which enough will have it soon.
const FEW: i64 = 1_000;

/// So many of the newest places are looked at one by one, before the index of times is asked.
const NEAR: usize = 5_000;

/// Rows without their attempts: newest first, or with `after` oldest first.
///
/// A log can be long, and no one way through it is short for every question: what is common is found soon by walking
/// back from the newest, what is rare or recent by an index, and each takes seconds where the other is right. So the
/// newest places are walked first, and only when they do not hold enough is the index asked for the whole log: what it
/// finds then is not much more than what is wanted, unless it is old.
fn requests(conn: &Connection, filter: &LogFilter) -> Result<Vec<(i64, RequestRecord)>, Trouble> {
    let mut wanted = Conditions::of(filter);
    wanted.have_a_class(conn, filter)?;
    match filter.after {
        Some(after) => {
            wanted.and("place > ?", [after.into()]);
            wanted.and("outcome <> ?", [Outcome::Unfinished.as_str().to_owned().into()]);
            select(conn, wanted, "place", filter.limit)
        }
        None if filter.since.is_some() && filter.limit <= NEAR => {
            let mut near = wanted.clone();
            let places = i64::try_from(NEAR).unwrap_or(i64::MAX);
            near.and("place > (SELECT max(place) FROM requests) - ?", [places.into()]);
            let near = select(conn, near, "place DESC", filter.limit)?;
            if near.len() >= filter.limit { Ok(near) } else { select(conn, wanted, "+place DESC", filter.limit) }
        }
        // The sign keeps the planner from walking all places.
        None if filter.since.is_some() => select(conn, wanted, "+place DESC", filter.limit),
        None => select(conn, wanted, "place DESC", filter.limit),
    }
}

fn select(
    conn: &Connection,
    wanted: Conditions,
    order: &str,
    limit: usize,
) -> Result<Vec<(i64, RequestRecord)>, Trouble> {
    let Conditions { sql, mut values } = wanted;
    values.push(i64::try_from(limit).unwrap_or(i64::MAX).into());
    let sql = format!(
        "SELECT place, id, ladder, started_at, latency_us, outcome, provider, model, credential, step, input_tokens, \
         output_tokens, cached_tokens, cost_usd, retry_at, error, retries_denied FROM requests WHERE TRUE{sql} ORDER BY {order} LIMIT ?"
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query(params_from_iter(values))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let mut f = Fields::new(row, "requests");
        found.push((f.get()?, request(&mut f)?));
    }
    Ok(found)
}

/// Conditions on requests, joined by AND, with the values of their parameters in order.
#[derive(Clone, Default)]
struct Conditions {
    sql: String,
    values: Vec<Value>,
}

impl Conditions {
    /// Those that need no look at how common something is.
    fn of(filter: &LogFilter) -> Self {
        let mut wanted = Self::default();
        if let Some(id) = &filter.id {
            wanted.and("id = ?", [id.as_str().to_owned().into()]);
        }
        if let Some(ladder) = &filter.ladder {
            wanted.and("ladder = ?", [ladder.as_str().to_owned().into()]);
        }
        if !filter.outcomes.is_empty() {
            let words = filter.outcomes.iter().map(|outcome| outcome.as_str().to_owned().into());
            wanted.and(&one_of("outcome", filter.outcomes.len()), words);
        }
        if let Some(since) = filter.since {
            wanted.and("started_at >= ?", [since.as_millisecond().into()]);
        }
        if let Some(until) = filter.until {
            wanted.and("started_at < ?", [until.as_millisecond().into()]);
        }
        if !filter.asked.is_empty() {
            let (alternatives, values): (Vec<_>, Vec<_>) = filter.asked.iter().map(selected).unzip();
            let any = alternatives.join(" OR ");
            let sql = format!("EXISTS (SELECT 1 FROM attempts AS a WHERE a.request_id = requests.id AND ({any}))");
            wanted.and(&sql, values.into_iter().flatten());
        }
        wanted
    }

    /// At least one attempt failed with one of the classes, if any is asked for.
    fn have_a_class(&mut self, conn: &Connection, filter: &LogFilter) -> Result<(), Trouble> {
        if filter.classes.is_empty() {
            return Ok(());
        }
        let classes = filter.classes.iter().map(|class| class.as_str());
        let known = one_of("class", filter.classes.len());
        let sql = format!("SELECT count(*) FROM (SELECT 1 FROM attempts WHERE {known} LIMIT {FEW} + 1)");
        let found: i64 = conn.prepare_cached(&sql)?.query_row(params_from_iter(classes.clone()), |row| row.get(0))?;
        let sql = match found <= FEW {
            true => format!("id IN (SELECT request_id FROM attempts WHERE {known})"),
            // The sign keeps the planner from the index of classes, which would have to be read to its end.
            false => format!("EXISTS (SELECT 1 FROM attempts AS a WHERE a.request_id = requests.id AND +{known})"),
        };
        self.and(&sql, classes.map(str::to_owned).map(Value::from));
        Ok(())
    }

    fn and(&mut self, sql: &str, values: impl IntoIterator<Item = Value>) {
        self.sql.push_str(" AND ");
        self.sql.push_str(sql);
        self.values.extend(values);
    }
}

/// What a selector asks of an attempt `a`.
fn selected(selector: &Selector) -> (String, Vec<Value>) {
    let parts = [
        ("a.provider = ?", selector.provider.as_ref().map(ProviderName::as_str)),
        ("a.model = ?", selector.model.as_ref().map(ModelName::as_str)),
        ("a.credential = ?", selector.credential.as_ref().map(CredentialName::as_str)),
    ];
    let set = || parts.iter().filter_map(|(sql, part)| Some((*sql, (*part)?)));
    let sql: Vec<&str> = std::iter::once("TRUE").chain(set().map(|(sql, _)| sql)).collect();
    (format!("({})", sql.join(" AND ")), set().map(|(_, part)| part.to_owned().into()).collect())
}

/// `column IN (?, ?)` for so many values.
fn one_of(column: &str, values: usize) -> String {
    format!("{column} IN ({})", vec!["?"; values].join(", "))
}

fn request(f: &mut Fields<'_, '_>) -> Result<RequestRecord, Trouble> {
    Ok(RequestRecord {
        id: RequestId::new(f.get::<String>()?),
        ladder: LadderName::new(f.get::<String>()?),
        started_at: f.time()?,
        latency: f.length()?,
        outcome: f.word()?,
        deployment: f.maybe_deployment()?,
        step: f.get()?,
        usage: f.usage()?,
        cost_usd: f.get()?,
        retry_at: f.maybe_time()?,
        error: f.get()?,
        retries_denied: f.get()?,
        attempts: Vec::new(),
    })
}

fn attempts(conn: &Connection, id: &RequestId) -> Result<Vec<AttemptRecord>, Trouble> {
    let sql = "SELECT place, provider, model, credential, account, step, kind, class, scope, dimension, status, rule, \
               evidence, started_at, ttft_us, latency_us, held_until, input_tokens, output_tokens, cached_tokens, cost_usd, \
               execution, given_up, extracted, judged FROM attempts WHERE request_id = ?1 ORDER BY position";
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query([id.as_str()])?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        let mut f = Fields::new(row, "attempts");
        f.get::<i64>()?;
        all.push(attempt(&mut f)?);
    }
    Ok(all)
}

fn attempt(f: &mut Fields<'_, '_>) -> Result<AttemptRecord, Trouble> {
    Ok(AttemptRecord {
        deployment: f.deployment()?,
        account: AccountName::new(f.get::<String>()?),
        step: f.get()?,
        kind: f.word()?,
        class: f.maybe_word()?,
        scope: f.maybe_word()?,
        dimension: f.maybe_word()?,
        status: f.get()?,
        rule: f.get()?,
        evidence: f.get()?,
        started_at: f.time()?,
        ttft: f.maybe_length()?,
        latency: f.length()?,
        held_until: f.maybe_time()?,
        usage: f.usage()?,
        cost_usd: f.get()?,
        execution: f.word()?,
        given_up: f.maybe_word()?,
        extracted: f.maybe_word()?,
        judged: f.get()?,
    })
}
