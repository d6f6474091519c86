//! Reads and writes all that was said with a failure which no rule knows.

use rusqlite::{Connection, params};

use super::row::{Fields, Trouble};
use crate::domain::{KeptEvidence, RequestId};

/// How many are kept at most, each of some 10 kB: a provider that fails in an unknown way for a month must not fill a
/// disk, and the newest say as much as all of them.
const MOST: i64 = 2000;

const PUT: &str =
    "INSERT OR REPLACE INTO evidence (request_id, position, headers, body, log) VALUES (?1, ?2, ?3, ?4, ?5)";

/// Places are handed out in order, so counting back from the newest needs no counting.
const BOUND: &str = "DELETE FROM evidence WHERE place <= (SELECT max(place) FROM evidence) - ?1";

/// Writes what was said with one attempt, and drops the oldest beyond the bound.
pub(super) fn put(conn: &Connection, id: &RequestId, position: u32, kept: &KeptEvidence) -> Result<(), Trouble> {
    let headers: String = kept.headers.iter().map(|(name, value)| format!("{name}: {value}\n")).collect();
    conn.prepare_cached(PUT)?.execute(params![id.as_str(), position, headers, kept.body, kept.log])?;
    conn.prepare_cached(BOUND)?.execute([MOST])?;
    Ok(())
}

/// What is kept of a request's attempts, by their index in its record: the first ones may have been pruned.
pub(super) fn of_request(conn: &Connection, id: &RequestId) -> Result<Vec<(u32, KeptEvidence)>, Trouble> {
    let sql = "SELECT e.place, (SELECT count(*) FROM attempts AS a WHERE a.request_id = e.request_id \
               AND a.position < e.position), e.headers, e.body, e.log FROM evidence AS e WHERE e.request_id = ?1 \
               ORDER BY e.position";
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query([id.as_str()])?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        let mut f = Fields::new(row, "evidence");
        f.get::<i64>()?;
        let index = f.get()?;
        let headers: String = f.get()?;
        let headers = headers.lines().filter_map(|line| line.split_once(": "));
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        all.push((index, KeptEvidence { headers, body: f.get()?, log: f.get()? }));
    }
    Ok(all)
}
