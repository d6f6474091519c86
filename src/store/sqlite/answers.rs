//! Requests under an id that their user chose, and the answers that are kept of them.

use jiff::Timestamp;
use rusqlite::{Connection, params};
use serde_json::Value;

use super::log;
use super::row::{Fields, Trouble};
use crate::domain::{KeptAnswer, LadderName, Outcome, RequestId};
use crate::store::{Claim, LogFilter};

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

/// Takes the id until `until` for a request that begins now, unless one of that id has ended or may still be under way.
/// The caller holds the write transaction.
pub(super) fn claim(
    conn: &Connection,
    id: &RequestId,
    ladder: &LadderName,
    now: Timestamp,
    until: Timestamp,
) -> Result<Claim, Trouble> {
    // By the time that was taken then: what this one is given says nothing of the other.
    let sql = "SELECT 1 FROM requests WHERE id = ?1 AND (outcome <> ?2 OR claimed_until > ?3)";
    let values = params![id.as_str(), Outcome::Unfinished.as_str(), now.as_millisecond()];
    if conn.prepare_cached(sql)?.exists(values)? {
        let filter = LogFilter { id: Some(id.clone()), ..LogFilter::default() };
        let known = log::read(conn, &filter)?.requests.pop();
        return Ok(known.map_or(Claim::Taken { attempts: 0 }, |known| Claim::Known(Box::new(known))));
    }
    let sql = "INSERT INTO requests (id, ladder, started_at, latency_us, outcome, claimed_until) \
               VALUES (?1, ?2, ?3, 0, ?4, ?5) ON CONFLICT (id) DO UPDATE SET ladder = excluded.ladder, \
               started_at = excluded.started_at, claimed_until = excluded.claimed_until";
    let unfinished = Outcome::Unfinished.as_str();
    let values = params![id.as_str(), ladder.as_str(), now.as_millisecond(), unfinished, until.as_millisecond()];
    conn.prepare_cached(sql)?.execute(values)?;
    // The first attempts may have been pruned, and a place must not be used twice.
    let sql = "SELECT ifnull(max(position) + 1, 0) FROM attempts WHERE request_id = ?1";
    let attempts = conn.prepare_cached(sql)?.query_row([id.as_str()], |row| row.get(0))?;
    Ok(Claim::Taken { attempts })
}
