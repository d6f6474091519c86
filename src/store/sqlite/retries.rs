//! The budget of retries that all processes share.

use jiff::Timestamp;
use rusqlite::{Connection, params};

use super::row::Trouble;
use crate::domain::RequestId;

/// So many are kept, far more than any budget of a minute needs: the rest is for people who look.
const MOST: i64 = 10_000;

/// Grants one more retry if fewer than `budget` were granted since `since`. The caller holds the write
/// transaction, so of many that ask for the last one, one gets it.
pub(super) fn take(
    conn: &Connection,
    id: &RequestId,
    now: Timestamp,
    since: Timestamp,
    budget: u32,
) -> Result<bool, Trouble> {
    // What a clock that ran ahead has counted would else count until that time has come.
    let sql = "SELECT count(*) FROM retries WHERE granted = 1 AND at BETWEEN ?1 AND ?2";
    let latest = now.as_millisecond().saturating_add(now.as_millisecond().saturating_sub(since.as_millisecond()));
    let made: i64 = conn.prepare_cached(sql)?.query_row([since.as_millisecond(), latest], |row| row.get(0))?;
    let granted = made < i64::from(budget);
    let sql = "INSERT INTO retries (at, request_id, granted) VALUES (?1, ?2, ?3)";
    conn.prepare_cached(sql)?.execute(params![now.as_millisecond(), id.as_str(), granted])?;
    forget(conn)?;
    Ok(granted)
}

/// What goes is counted first.
fn forget(conn: &Connection) -> Result<(), Trouble> {
    let sql = "DELETE FROM retries WHERE place <= (SELECT max(place) FROM retries) - ?1 RETURNING granted";
    let mut statement = conn.prepare_cached(sql)?;
    let gone: Vec<i64> = statement.query_map([MOST], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let sql = "INSERT INTO retry_totals (granted, retries) VALUES (?1, 1) \
               ON CONFLICT DO UPDATE SET retries = retries + 1";
    for granted in gone {
        conn.prepare_cached(sql)?.execute([granted])?;
    }
    Ok(())
}
