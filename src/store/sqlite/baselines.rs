//! Reads and writes kept verdicts.

use jiff::Timestamp;
use rusqlite::{Connection, params};

use super::row::{Fields, Trouble};
use super::{SqliteStore, StoreError};
use crate::store::Baseline;

const COLUMNS: &str = "SELECT name, input, field, value, runs, at, request_id, deployment, compared_at FROM baselines";

/// What was kept first stays.
const PUT: &str = "INSERT OR IGNORE INTO baselines (name, input, field, value, runs, at, request_id, deployment, \
     compared_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";

/// What is read first by age: whole inputs, so that none is left with half of its fields.
const OLD: &str = "SELECT DISTINCT name, input FROM baselines WHERE compared_at < ?1 LIMIT ?2";

impl SqliteStore {
    /// What is kept of this input under this name.
    ///
    /// # Errors
    /// When the state cannot be read.
    pub fn baseline(&self, name: &str, input: &str) -> Result<Option<Baseline>, StoreError> {
        self.read(|conn| of(conn, name, input))
    }

    /// All that is kept, or what is kept under one name: by name, then by time.
    ///
    /// # Errors
    /// When the state cannot be read.
    pub fn baselines(&self, name: Option<&str>) -> Result<Vec<Baseline>, StoreError> {
        let mut all = self.read(|conn| match name {
            None => all(conn),
            Some(name) => read(conn, &format!("{COLUMNS} WHERE name = ?1 ORDER BY input, field"), &[name]),
        })?;
        all.sort_by(|one, other| (&one.name, one.at).cmp(&(&other.name, other.at)));
        Ok(all)
    }

    /// Keeps what is not kept yet, and says what was kept before: of two processes that come first the faster one is heard,
    /// and the slower one is told what it said. A field that is there stays as it is.
    ///
    /// # Errors
    /// When the state cannot be written.
    pub fn keep_baseline(&self, new: &Baseline) -> Result<Option<Baseline>, StoreError> {
        self.write(|conn| {
            let before = of(conn, &new.name, &new.input)?;
            let mut statement = conn.prepare_cached(PUT)?;
            for (field, value) in &new.values {
                let (at, value) = (new.at.as_millisecond(), value.to_string());
                let compared = new.compared_at.as_millisecond();
                let (who, request) = (&new.deployment, &new.request_id);
                let values = params![new.name, new.input, field, value, new.runs, at, request, who, compared];
                statement.execute(values)?;
            }
            Ok(before)
        })
    }

    /// Notes that something was compared with what is kept of this input, so that it stays.
    ///
    /// # Errors
    /// When the state cannot be written.
    pub fn touch_baseline(&self, name: &str, input: &str, now: Timestamp) -> Result<(), StoreError> {
        self.write(|conn| {
            let sql = "UPDATE baselines SET compared_at = max(compared_at, ?3) WHERE name = ?1 AND input = ?2";
            conn.prepare_cached(sql)?.execute(params![name, input, now.as_millisecond()])?;
            Ok(())
        })
    }

    /// Forgets all that is kept under the name, and says of how many inputs it was.
    ///
    /// # Errors
    /// When the state cannot be written.
    pub fn forget_baseline(&self, name: &str) -> Result<u64, StoreError> {
        self.write(|conn| {
            let sql = "SELECT count(DISTINCT input) FROM baselines WHERE name = ?1";
            let inputs: i64 = conn.prepare_cached(sql)?.query_row([name], |row| row.get(0))?;
            conn.prepare_cached("DELETE FROM baselines WHERE name = ?1")?.execute([name])?;
            Ok(inputs.unsigned_abs())
        })
    }
}

/// What is kept of one input under one name.
fn of(conn: &Connection, name: &str, input: &str) -> Result<Option<Baseline>, Trouble> {
    let sql = format!("{COLUMNS} WHERE name = ?1 AND input = ?2 ORDER BY field");
    Ok(read(conn, &sql, &[name, input])?.into_iter().next())
}

/// All that is kept, by name, input and field.
pub(super) fn all(conn: &Connection) -> Result<Vec<Baseline>, Trouble> {
    read(conn, &format!("{COLUMNS} ORDER BY name, input, field"), &[])
}

/// Whether something is kept that nothing was compared with since then.
pub(super) fn has_old(conn: &Connection, before: i64) -> Result<bool, Trouble> {
    Ok(conn.prepare_cached(OLD)?.exists((before, 1))?)
}

/// Forgets of so many inputs what nothing was compared with since then.
pub(super) fn forget_old(conn: &Connection, before: i64, most: u32) -> Result<usize, Trouble> {
    let mut statement = conn.prepare_cached(OLD)?;
    let inputs = statement.query_map((before, most), |row| Ok((row.get(0)?, row.get(1)?)))?;
    let inputs: Vec<(String, String)> = inputs.collect::<Result<_, _>>()?;
    for input in &inputs {
        conn.prepare_cached("DELETE FROM baselines WHERE name = ?1 AND input = ?2")?
            .execute(params![input.0, input.1])?;
    }
    Ok(inputs.len())
}

/// Rows that follow one another and are of one input make one.
fn read(conn: &Connection, sql: &str, values: &[&str]) -> Result<Vec<Baseline>, Trouble> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query(rusqlite::params_from_iter(values))?;
    let mut all: Vec<Baseline> = Vec::new();
    while let Some(row) = rows.next()? {
        let mut f = Fields::new(row, "baselines");
        let (name, input, field): (String, String, String) = (f.get()?, f.get()?, f.get()?);
        let value = serde_json::from_str(f.text()?).map_err(|error| f.bad(error))?;
        let new = Baseline {
            name,
            input,
            runs: f.get()?,
            at: f.time()?,
            request_id: f.get()?,
            deployment: f.get()?,
            compared_at: f.time()?,
            values: [(field.clone(), value)].into(),
        };
        match all.last_mut() {
            Some(last) if last.name == new.name && last.input == new.input => last.values.extend(new.values),
            _ => all.push(new),
        }
    }
    Ok(all)
}
