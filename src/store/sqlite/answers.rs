//! Requests under an id that their user chose, and the answers that are kept of them.

use rusqlite::{Connection, params};
use serde_json::Value;

use super::log;
use super::row::{Fields, Trouble};
use super::totals::{self, Log, Sign};
use crate::domain::{KeptAnswer, Outcome, RequestId};
use crate::store::{Claim, Claiming, LogFilter};

/// Writes the answer of a request.
pub(super) fn put(conn: &Connection, id: &RequestId, answer: &KeptAnswer) -> Result<(), Trouble> {
    let json = |value: &Option<Value>| value.as_ref().map(Value::to_string);
    conn.prepare_cached(
        "INSERT OR REPLACE INTO answers (request_id, text, reasoning, tool_calls, parsed, finish) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?
    .execute(params![
        id.as_str(),
        answer.text,
        answer.reasoning,
        json(&answer.tool_calls),
        json(&answer.parsed),
        answer.finish
    ])?;
    Ok(())
}

/// The answer of a request, if it is kept.
pub(super) fn of_request(conn: &Connection, id: &RequestId) -> Result<Option<KeptAnswer>, Trouble> {
    let sql = "SELECT text, reasoning, tool_calls, parsed, finish FROM answers WHERE request_id = ?1";
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query([id.as_str()])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let mut f = Fields::new(row, "answers");
    let (text, reasoning) = (f.get()?, f.get()?);
    let mut json = || -> Result<Option<Value>, Trouble> {
        Ok(f.get::<Option<String>>()?.and_then(|text| serde_json::from_str(&text).ok()))
    };
    let (tool_calls, parsed) = (json()?, json()?);
    Ok(Some(KeptAnswer { text, reasoning, tool_calls, parsed, finish: f.get()? }))
}

/// Takes the id, unless a request of that id has ended for good or may still be under way. The caller holds the write
/// transaction.
pub(super) fn claim(conn: &Connection, wish: &Claiming<'_>) -> Result<Claim, Trouble> {
    let Claiming { id, ladder, asked, now, until } = *wish;
    let sql = "SELECT asked, outcome, claimed_until FROM requests WHERE id = ?1";
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query([id.as_str()])?;
    if let Some(row) = rows.next()? {
        let mut f = Fields::new(row, "requests");
        let (before, outcome, claimed): (Option<String>, Outcome, _) = (f.get()?, f.word()?, f.maybe_time()?);
        if before.is_some_and(|before| before != asked) {
            return Ok(Claim::Another);
        }
        // By the time that was taken then: what this one is given says nothing of the other.
        let is_under_way = outcome == Outcome::Unfinished && claimed.is_some_and(|claimed| claimed > now);
        if outcome.is_final() || is_under_way {
            let filter = LogFilter { id: Some(id.clone()), ..LogFilter::default() };
            let known = log::read(conn, &filter)?.requests.pop();
            return Ok(known.map_or(Claim::Another, |known| Claim::Known(Box::new(known))));
        }
    }
    // Its end is counted while it stands there: the request will end once more.
    if let Some(place) = totals::ended(conn, id)? {
        totals::add_row(conn, Log::Requests, place, Sign::Plus)?;
    }
    let sql = "INSERT INTO requests (id, ladder, started_at, latency_us, outcome, claimed_until, asked) \
               VALUES (?1, ?2, ?3, 0, ?4, ?5, ?6) ON CONFLICT (id) DO UPDATE SET ladder = excluded.ladder, \
               started_at = excluded.started_at, outcome = excluded.outcome, claimed_until = excluded.claimed_until, \
               asked = excluded.asked";
    let unfinished = Outcome::Unfinished.as_str();
    let (now, until) = (now.as_millisecond(), until.as_millisecond());
    let values = params![id.as_str(), ladder.as_str(), now, unfinished, until, asked];
    conn.prepare_cached(sql)?.execute(values)?;
    // The first attempts may have been pruned, and a place must not be used twice.
    let sql = "SELECT ifnull(max(position) + 1, 0) FROM attempts WHERE request_id = ?1";
    let attempts = conn.prepare_cached(sql)?.query_row([id.as_str()], |row| row.get(0))?;
    Ok(Claim::Taken { attempts })
}
