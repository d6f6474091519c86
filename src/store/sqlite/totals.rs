//! Counts rows of the log into the totals, and reads both together.
//!
//! All of it is SQL, so that a piece of the log is counted where it lies. A row is in the totals or it is not, by its
//! place; where one row takes the place of another in the counters, the old one is added and the new one is taken away, so
//! that the sum with what is still to be counted stays what it was. A sum in the totals may thus be less than nothing for
//! a while; together with the rows it never is.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, ToSql};

use super::row::{Fields, Trouble};
use super::{SqliteStore, StoreError};
use crate::domain::{Class, Defect, LadderName, RequestId, came_whole};
use crate::store::totals::{AttemptSum, BOUNDS_US, Came, RetryCount, Totals, Verdict};

/// A table of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Log {
    Attempts,
    Requests,
}

impl Log {
    pub(super) const fn table(self) -> &'static str {
        match self {
            Self::Attempts => "attempts",
            Self::Requests => "requests",
        }
    }
}

/// So many rows of a table may wait before someone counts them: a scrape reads no more than about these.
const WAITING: i64 = 250;

/// Attempts that came to the same. Rows are looked for by place: in the order of an index, which would save a little sorting,
/// the whole table would have to be read for the few that are new. The bounds of what one row adds are far above anything true.
const ATTEMPT_SUMS: &str = "SELECT provider, model, credential, kind, \
     iif(given_up IS NOT NULL, 'given_up', ifnull(class, 'answered')) AS result, \
     {sign}count(*) AS attempts, \
     {sign}sum(min(max(ifnull(input_tokens, 0), 0), 1000000000000)) AS input_tokens, \
     {sign}sum(min(max(ifnull(output_tokens, 0), 0), 1000000000000)) AS output_tokens, \
     {sign}sum(min(max(ifnull(cached_tokens, 0), 0), 1000000000000)) AS cached_tokens, \
     {sign}sum(CAST(round(min(max(ifnull(cost_usd, 0), 0), 1000) * 1000000000) AS INTEGER)) AS nano_usd \
     FROM attempts NOT INDEXED WHERE {rows} GROUP BY provider, model, credential, kind, result";

/// Attempts of which something is said of the answer, by what.
const ANSWER_SUMS: &str = "SELECT provider, model, credential, {what} AS what, {sign}count(*) AS attempts \
     FROM attempts NOT INDEXED WHERE {rows} AND given_up IS NULL AND {came} GROUP BY provider, model, credential, what";

/// What is said, and of which attempts.
fn answers() -> [(&'static str, String); 6] {
    let invalid = "(class = 'invalid_output' OR (class IS NOT NULL AND rule GLOB 'answer.*'))";
    [
        ("'whole'", came_whole_sql()),
        ("'json ' || extracted", "class IS NULL AND extracted IS NOT NULL".to_owned()),
        ("'invalid ' || ifnull(rule, '')", invalid.to_owned()),
        ("'judged'", "judged <> 0 AND kind <> 'repair'".to_owned()),
        ("'valid'", "judged <> 0 AND kind <> 'repair' AND class IS NULL".to_owned()),
        ("'helped'", "judged <> 0 AND kind = 'repair' AND class IS NULL".to_owned()),
    ]
}

/// [`came_whole`] as a condition: what it says of each class without a status and with each status that there is.
fn came_whole_sql() -> String {
    let said = |class: Option<Class>| {
        let name = class.map_or("class IS NULL".to_owned(), |class| format!("class = '{class}'"));
        let codes: Vec<u16> = (0..1000).filter(|code| came_whole(class, Some(*code))).collect();
        let status = match (codes.first(), codes.last()) {
            // Codes for which it is true follow one another; a test holds this against each of them.
            (Some(0), Some(999)) => "status IS NOT NULL".to_owned(),
            (Some(first), Some(last)) => format!("status BETWEEN {first} AND {last}"),
            _ => "FALSE".to_owned(),
        };
        let none = if came_whole(class, None) { " OR status IS NULL" } else { "" };
        format!("({name} AND ({status}{none}))")
    };
    let all = std::iter::once(None).chain(Class::ALL.iter().copied().map(Some));
    let some = all.filter(|class| came_whole(*class, None) || came_whole(*class, Some(200)));
    format!("({})", some.map(said).collect::<Vec<_>>().join(" OR "))
}

const ATTEMPT_TIMES: &str = "SELECT '{what}' AS what, provider, model, credential, '' AS ladder, {bound} AS bound_us, \
     {sign}count(*) AS times, {sign}sum({us}) AS sum_us \
     FROM attempts NOT INDEXED WHERE {rows} AND class IS NULL AND given_up IS NULL AND {column} IS NOT NULL \
     GROUP BY provider, model, credential, bound_us";

const REQUEST_SUMS: &str = "SELECT ladder, outcome, iif(outcome = 'answered', ifnull(step, -1), -1) AS reached, \
     {sign}count(*) AS requests FROM requests NOT INDEXED WHERE {rows} AND outcome <> 'unfinished' GROUP BY ladder, outcome, reached";

const REQUEST_TIMES: &str = "SELECT '{what}' AS what, '' AS provider, '' AS model, '' AS credential, ladder, \
     {bound} AS bound_us, {sign}count(*) AS times, {sign}sum({us}) AS sum_us \
     FROM requests NOT INDEXED WHERE {rows} AND outcome = 'answered' GROUP BY ladder, bound_us";

/// Three kinds of time, by the word in the file, the statement and the column.
const TIMES: [(Log, &str, &str, &str); 3] = [
    (Log::Attempts, ATTEMPT_TIMES, "ttft", "ttft_us"),
    (Log::Attempts, ATTEMPT_TIMES, "attempt", "latency_us"),
    (Log::Requests, REQUEST_TIMES, "request", "latency_us"),
];

/// All rows that are not in the totals.
const WAITING_ROWS: &str = "place > (SELECT upto FROM counted WHERE log = '{table}')";

/// Whether rows are added or taken away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    Plus,
    Minus,
}

fn attempt_sums(sign: Sign, rows: &str) -> String {
    filled(ATTEMPT_SUMS, sign, rows)
}

fn request_sums(sign: Sign, rows: &str) -> String {
    filled(REQUEST_SUMS, sign, rows)
}

fn answer_sums((what, came): &(&str, String), sign: Sign, rows: &str) -> String {
    filled(&ANSWER_SUMS.replace("{what}", what).replace("{came}", came), sign, rows)
}

fn filled(sql: &str, sign: Sign, rows: &str) -> String {
    sql.replace("{sign}", if sign == Sign::Plus { "" } else { "-" }).replace("{rows}", rows)
}

fn times(sql: &str, what: &str, column: &str, sign: Sign, rows: &str) -> String {
    // Eleven days, the most that one row may add, is far beyond any timeout.
    let us = format!("min(max({column}, 0), 1000000000000)");
    let bounds: String = BOUNDS_US.iter().map(|bound| format!("WHEN {column} <= {bound} THEN {bound} ")).collect();
    let bound = format!("CASE {bounds}ELSE 0 END");
    let marks = [("{what}", what), ("{bound}", &bound), ("{us}", &us), ("{column}", column)];
    filled(&marks.iter().fold(sql.to_owned(), |sql, (mark, text)| sql.replace(mark, text)), sign, rows)
}

/// Adds the rows of which the condition is true to the totals, or takes them away.
fn add(conn: &Connection, log: Log, sign: Sign, rows: &str, values: &[&dyn ToSql]) -> Result<(), Trouble> {
    let put = |sql: String| conn.prepare_cached(&sql)?.execute(values);
    match log {
        Log::Attempts => put(format!(
            "INSERT INTO attempt_totals {} ON CONFLICT DO UPDATE SET attempts = attempts + excluded.attempts, \
             input_tokens = input_tokens + excluded.input_tokens, \
             output_tokens = output_tokens + excluded.output_tokens, \
             cached_tokens = cached_tokens + excluded.cached_tokens, nano_usd = nano_usd + excluded.nano_usd",
            attempt_sums(sign, rows)
        ))?,
        Log::Requests => put(format!(
            "INSERT INTO request_totals {} ON CONFLICT DO UPDATE SET requests = requests + excluded.requests",
            request_sums(sign, rows)
        ))?,
    };
    for answers in answers().iter().filter(|_| log == Log::Attempts) {
        put(format!(
            "INSERT INTO answer_totals {} ON CONFLICT DO UPDATE SET attempts = attempts + excluded.attempts",
            answer_sums(answers, sign, rows)
        ))?;
    }
    for (_, sql, what, column) in TIMES.iter().filter(|(of, ..)| *of == log) {
        put(format!(
            "INSERT INTO time_totals {} ON CONFLICT DO UPDATE SET times = times + excluded.times, \
             sum_us = sum_us + excluded.sum_us",
            times(sql, what, column, sign, rows)
        ))?;
    }
    Ok(())
}

fn upto(conn: &Connection, log: Log) -> Result<i64, Trouble> {
    let sql = "SELECT upto FROM counted WHERE log = ?1";
    Ok(conn.prepare_cached(sql)?.query_row([log.table()], |row| row.get(0)).optional()?.unwrap_or(0))
}

/// Adds one row to the totals, or takes it away, unless it is in them already.
pub(super) fn add_row(conn: &Connection, log: Log, place: i64, sign: Sign) -> Result<(), Trouble> {
    if place > upto(conn, log)? { add(conn, log, sign, "place = ?1", &[&place]) } else { Ok(()) }
}

/// Adds rows that are about to be deleted, those with one of the places that the query gives, unless they are in the
/// totals already.
pub(super) fn add_leaving(conn: &Connection, log: Log, places: &str, values: (i64, u32)) -> Result<(), Trouble> {
    let rows = format!("{} AND place IN ({places})", waiting_rows(log));
    add(conn, log, Sign::Plus, &rows, &[&values.0, &values.1])?;
    let table = log.table();
    let sql = format!(
        "UPDATE counted SET last = max(last, ifnull((SELECT max(place) FROM {table}), 0)) WHERE log = '{table}'"
    );
    conn.prepare_cached(&sql)?.execute([])?;
    Ok(())
}

/// Where the request stands, if it has ended.
pub(super) fn ended(conn: &Connection, id: &RequestId) -> Result<Option<i64>, Trouble> {
    let sql = "SELECT place FROM requests WHERE id = ?1 AND outcome <> 'unfinished'";
    Ok(conn.prepare_cached(sql)?.query_row([id.as_str()], |row| row.get(0)).optional()?)
}

/// Where the attempt stands, if it is there.
pub(super) fn attempt(conn: &Connection, id: &RequestId, position: u32) -> Result<i64, Trouble> {
    let sql = "SELECT place FROM attempts WHERE request_id = ?1 AND position = ?2";
    Ok(conn.prepare_cached(sql)?.query_row((id.as_str(), position), |row| row.get(0))?)
}

/// How many places, about, are waiting to be counted.
fn waiting(conn: &Connection, log: Log) -> Result<i64, Trouble> {
    let sql = format!("SELECT ifnull(max(place), 0) FROM {}", log.table());
    let newest: i64 = conn.prepare_cached(&sql)?.query_row([], |row| row.get(0))?;
    Ok(newest.saturating_sub(upto(conn, log)?))
}

/// Counts the next rows of both tables, at most so many of each.
pub(super) fn count_ahead(conn: &Connection, most: u32) -> Result<(), Trouble> {
    for log in [Log::Attempts, Log::Requests] {
        let (table, from) = (log.table(), upto(conn, log)?);
        let sql =
            format!("SELECT max(place) FROM (SELECT place FROM {table} WHERE place > ?1 ORDER BY place LIMIT ?2)");
        let to: Option<i64> = conn.prepare_cached(&sql)?.query_row((from, most), |row| row.get(0))?;
        let Some(to) = to else { continue };
        add(conn, log, Sign::Plus, "place > ?1 AND place <= ?2", &[&from, &to])?;
        conn.prepare_cached("UPDATE counted SET upto = ?2 WHERE log = ?1")?.execute((table, to))?;
    }
    Ok(())
}

impl SqliteStore {
    /// Counts rows into the totals once enough of them wait, at most `most` of each table in one transaction, and says
    /// whether there was anything to do.
    pub(super) fn count_some(&self, most: u32) -> Result<bool, StoreError> {
        let many = |conn: &Connection, log| Ok::<bool, Trouble>(waiting(conn, log)? > WAITING);
        let is_due = self.read(|conn| Ok(many(conn, Log::Attempts)? || many(conn, Log::Requests)?))?;
        if is_due {
            self.write(|conn| count_ahead(conn, most))?;
        }
        Ok(is_due)
    }

    /// What all attempts and requests since the file was made come to, those that the log has forgotten too.
    ///
    /// # Errors
    /// When the state cannot be read.
    pub fn totals(&self) -> Result<Totals, StoreError> {
        self.read(|conn| {
            let mut totals = Totals::default();
            read_attempts(conn, &mut totals)?;
            read_answers(conn, &mut totals)?;
            read_requests(conn, &mut totals)?;
            for (log, sql, what, column) in TIMES {
                read_times(conn, &mut totals, log, what, &times(sql, what, column, Sign::Plus, &waiting_rows(log)))?;
            }
            (totals.retries_granted, totals.retries_denied) = retries(conn)?;
            Ok(totals)
        })
    }

    /// The retries that were asked for in the span, of the latest ten thousand.
    ///
    /// # Errors
    /// When the state cannot be read.
    pub fn retries_between(&self, since: Timestamp, until: Timestamp) -> Result<RetryCount, StoreError> {
        self.read(|conn| {
            let sql = "SELECT count(*) FILTER (WHERE granted <> 0), count(*) FILTER (WHERE granted = 0) FROM retries \
                       WHERE at >= ?1 AND at < ?2";
            let span = (since.as_millisecond(), until.as_millisecond());
            let (granted, denied): (i64, i64) =
                conn.prepare_cached(sql)?.query_row(span, |row| Ok((row.get(0)?, row.get(1)?)))?;
            // As long as none was forgotten, all are known.
            let sql = "SELECT iif((SELECT count(*) FROM retry_totals) > 0, min(at), NULL) FROM retries";
            let known: Option<i64> = conn.prepare_cached(sql)?.query_row([], |row| row.get(0))?;
            let known_since = known.and_then(|ms| Timestamp::from_millisecond(ms).ok());
            Ok(RetryCount { granted: granted.unsigned_abs(), denied: denied.unsigned_abs(), known_since })
        })
    }
}

/// What reads the rows that are not in the totals.
#[cfg(test)]
pub(super) fn readers_of_waiting_rows() -> Vec<String> {
    let sums = [
        attempt_sums(Sign::Plus, &waiting_rows(Log::Attempts)),
        request_sums(Sign::Plus, &waiting_rows(Log::Requests)),
    ];
    let times = TIMES.map(|(log, sql, what, column)| times(sql, what, column, Sign::Plus, &waiting_rows(log)));
    let answers = answers().map(|answers| answer_sums(&answers, Sign::Plus, &waiting_rows(Log::Attempts)));
    sums.into_iter().chain(answers).chain(times).collect()
}

fn waiting_rows(log: Log) -> String {
    WAITING_ROWS.replace("{table}", log.table())
}

fn read_attempts(conn: &Connection, totals: &mut Totals) -> Result<(), Trouble> {
    let sql = format!(
        "SELECT provider, model, credential, kind, result, max(sum(attempts), 0), max(sum(input_tokens), 0), \
         max(sum(output_tokens), 0), max(sum(cached_tokens), 0), max(sum(nano_usd), 0) \
         FROM (SELECT * FROM attempt_totals UNION ALL {}) GROUP BY provider, model, credential, kind, result",
        attempt_sums(Sign::Plus, &waiting_rows(Log::Attempts))
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let mut f = Fields::new(row, "attempt_totals");
        let (deployment, kind) = (f.deployment()?, f.word()?);
        let came = match f.text()? {
            "answered" => Came::Answered,
            "given_up" => Came::GivenUp,
            class => Came::Failed(class.parse().map_err(|error| f.bad(error))?),
        };
        let mut count = || Ok::<u64, Trouble>(f.whole()?.unwrap_or(0));
        let sum =
            AttemptSum { attempts: count()?, input: count()?, output: count()?, cached: count()?, nano_usd: count()? };
        totals.attempts.insert((deployment, kind, came), sum);
    }
    Ok(())
}

fn read_answers(conn: &Connection, totals: &mut Totals) -> Result<(), Trouble> {
    let waiting = answers().map(|answers| answer_sums(&answers, Sign::Plus, &waiting_rows(Log::Attempts)));
    let sql = format!(
        "SELECT provider, model, credential, what, max(sum(attempts), 0) FROM (SELECT * FROM answer_totals UNION ALL {}) \
         GROUP BY provider, model, credential, what",
        waiting.join(" UNION ALL ")
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let mut f = Fields::new(row, "answer_totals");
        let deployment = f.deployment()?;
        let what = f.text()?;
        let (defect, place) = (what.strip_prefix("invalid ").map(Defect::of_rule), what.strip_prefix("json "));
        let place = place.map(str::parse).transpose().map_err(|error| f.bad(error))?;
        let verdict = Verdict::ALL.iter().find(|verdict| verdict.as_str() == what);
        let count = f.whole()?.unwrap_or(0);
        // Rules that figures do not tell apart are one.
        let sum = match (defect, place, verdict) {
            (Some(defect), ..) => totals.defects.entry((deployment, defect)).or_default(),
            (None, Some(place), _) => totals.extracted.entry((deployment, place)).or_default(),
            (None, None, Some(verdict)) => totals.judged.entry((deployment, *verdict)).or_default(),
            (None, None, None) => totals.whole.entry(deployment).or_default(),
        };
        *sum = sum.saturating_add(count);
    }
    Ok(())
}

fn read_requests(conn: &Connection, totals: &mut Totals) -> Result<(), Trouble> {
    let sql = format!(
        "SELECT ladder, outcome, step, max(sum(requests), 0) FROM (SELECT * FROM request_totals UNION ALL {}) \
         GROUP BY ladder, outcome, step",
        request_sums(Sign::Plus, &waiting_rows(Log::Requests))
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let mut f = Fields::new(row, "request_totals");
        let (ladder, outcome, step) = (LadderName::new(f.get::<String>()?), f.word()?, f.get::<i64>()?);
        totals.requests.insert((ladder, outcome, u32::try_from(step).ok()), f.whole()?.unwrap_or(0));
    }
    Ok(())
}

fn read_times(conn: &Connection, totals: &mut Totals, log: Log, what: &str, waiting: &str) -> Result<(), Trouble> {
    let sql = format!(
        "SELECT provider, model, credential, ladder, bound_us, max(sum(times), 0), max(sum(sum_us), 0) \
         FROM (SELECT * FROM time_totals WHERE what = '{what}' UNION ALL {waiting}) \
         GROUP BY provider, model, credential, ladder, bound_us"
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let mut f = Fields::new(row, "time_totals");
        let (deployment, ladder) = (f.deployment()?, LadderName::new(f.get::<String>()?));
        let histogram = match (log, what) {
            (Log::Requests, _) => totals.request_times.entry(ladder).or_default(),
            (Log::Attempts, "ttft") => totals.ttft.entry(deployment).or_default(),
            (Log::Attempts, _) => totals.attempt_times.entry(deployment).or_default(),
        };
        let bound = f.whole()?.filter(|bound| *bound > 0);
        histogram.add(bound, f.whole()?.unwrap_or(0), f.whole()?.unwrap_or(0));
    }
    Ok(())
}

/// Granted and denied.
fn retries(conn: &Connection) -> Result<(u64, u64), Trouble> {
    let sql = "SELECT granted, sum(retries) FROM (SELECT granted, retries FROM retry_totals UNION ALL \
               SELECT granted, count(*) FROM retries GROUP BY granted) GROUP BY granted";
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query([])?;
    let (mut granted, mut denied) = (0, 0);
    while let Some(row) = rows.next()? {
        let mut f = Fields::new(row, "retries");
        let which: i64 = f.get()?;
        let count = f.whole()?.unwrap_or(0);
        if which == 0 { denied += count } else { granted += count }
    }
    Ok((granted, denied))
}
