//! What can still be read of a damaged file: the holds, the ladders that are open, the alarms that were told, when each
//! deployment last worked, what was used of limits, and the salt of the keys' fingerprints. The log stays where it is:
//! nothing depends on it, and it is long.
//!
//! Of conversations and baselines nothing is taken, or all: a journal with gaps would have tools run a second time.

use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, params_from_iter};

use super::row::Trouble;
use super::{alarms, baselines, cascades, health, holds, talks, usage};
use crate::domain::SessionName;
use crate::store::Accounts;

/// How much was saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Saved {
    pub holds: usize,
    pub sessions: usize,
}

/// The tables, and the first column of the key by which each is stored.
const TABLES: [(&str, &str); 9] = [
    ("cooldowns", "id"),
    ("quarantines", "id"),
    ("circuits", "id"),
    ("deployments", "provider"),
    ("meters", "provider"),
    ("estimates", "provider"),
    ("cascades", "ladder"),
    ("alarms", "kind"),
    ("letters", "place"),
];

/// Tables that are worth something only without a gap, in groups that belong together.
const WHOLE: [&[&str]; 2] = [&["sessions", "turns", "journal"], &["baselines"]];

const SALT: &str = "SELECT value FROM meta WHERE key = 'salt' AND length(unhex(value)) = 16";

/// Ids are never used twice, also when the count of them was lost.
const LAST_ID: &str = "UPDATE meta SET value = max(?1, (SELECT ifnull(max(id), 0) FROM cooldowns), \
     (SELECT ifnull(max(id), 0) FROM quarantines), (SELECT ifnull(max(id), 0) FROM circuits)) WHERE key = 'last_hold_id'";

/// Copies into the new file what the old one still gives, and says how much it was. What cannot be read, or makes no
/// sense, is left out.
///
/// # Errors
/// When the new file cannot be written.
pub(super) fn salvage(old: &Path, fresh: &Connection) -> rusqlite::Result<Saved> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let Ok(old) = Connection::open_with_flags(old, flags) else {
        return Ok(Saved { holds: 0, sessions: 0 });
    };
    let _ = old.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
    let transaction = fresh.unchecked_transaction()?;
    for (table, key) in TABLES {
        // From both ends up to the damage in between.
        for order in ["ASC", "DESC"] {
            // It stops where reading does.
            let _ = copy(&old, fresh, table, &format!("ORDER BY {key} {order}"));
        }
    }
    let holds = drop_nonsense(fresh)?;
    for tables in WHOLE {
        if !copy_whole(&old, fresh, tables) {
            tables.iter().try_for_each(|table| fresh.execute(&format!("DELETE FROM {table}"), []).map(drop))?;
        }
    }
    let sessions = drop_unreadable(fresh)?;
    let last_id = old.query_row("SELECT value FROM meta WHERE key = 'last_hold_id'", [], |row| row.get(0));
    fresh.execute(LAST_ID, [last_id.unwrap_or(0_i64)])?;
    let last_version =
        old.query_row("SELECT value FROM meta WHERE key = 'last_version'", [], |row| row.get::<_, i64>(0));
    if let Ok(version) = last_version {
        fresh.execute("INSERT OR REPLACE INTO meta (key, value) VALUES ('last_version', ?1)", [version])?;
    }
    match old.query_row(SALT, [], |row| row.get::<_, String>(0)) {
        Ok(salt) => fresh.execute("UPDATE meta SET value = ?1 WHERE key = 'salt'", [salt])?,
        // With another salt every key would look like a new one, and a dead key be asked again.
        Err(_) => fresh.execute("UPDATE circuits SET fingerprint = NULL", [])?,
    };
    transaction.commit()?;
    Ok(Saved { holds, sessions })
}

/// Copies the tables where each of them is sound, to the last of its rows and indexes.
fn copy_whole(old: &Connection, fresh: &Connection, tables: &[&str]) -> bool {
    tables.iter().all(|table| {
        let check = format!("PRAGMA integrity_check({table})");
        let found = old.query_row(&check, [], |row| row.get::<_, String>(0));
        found.is_ok_and(|found| found == "ok") && copy(old, fresh, table, "").is_ok()
    })
}

fn copy(old: &Connection, fresh: &Connection, table: &str, order: &str) -> rusqlite::Result<()> {
    let mut read = old.prepare(&format!("SELECT * FROM {table} {order}"))?;
    let names = read.column_names().collect::<Vec<_>>().join(", ");
    let count = read.column_count();
    let places = vec!["?"; count].join(", ");
    // The tables are strict: most of what damage makes of a row does not fit.
    let mut write = fresh.prepare(&format!("INSERT OR IGNORE INTO {table} ({names}) VALUES ({places})"))?;
    let mut rows = read.query([])?;
    while let Some(row) = rows.next()? {
        let values: rusqlite::Result<Vec<Value>> = (0..count).map(|column| row.get(column)).collect();
        let _ = values.and_then(|values| write.execute(params_from_iter(values)));
    }
    Ok(())
}

/// Removes what cannot be read as a hold, or the new file would be as useless as the old one.
fn drop_nonsense(fresh: &Connection) -> rusqlite::Result<usize> {
    if health::all(fresh).is_err() {
        fresh.execute("DELETE FROM deployments", [])?;
    }
    if usage::read(fresh, &Accounts::All).is_err() {
        fresh.execute_batch("DELETE FROM meters; DELETE FROM estimates")?;
    }
    if alarms::alarms(fresh).is_err() || alarms::letters(fresh).is_err() {
        fresh.execute_batch("DELETE FROM alarms; DELETE FROM letters")?;
    }
    if cascades::read(fresh).is_err() {
        fresh.execute("DELETE FROM cascades", [])?;
    }
    loop {
        match holds::read(fresh) {
            Ok(holds) => return Ok(holds.len()),
            Err(Trouble::BadRow { table, row, .. })
                if fresh.execute(&format!("DELETE FROM {table} WHERE id = ?1"), [row])? > 0 => {}
            Err(Trouble::Sqlite(error)) => return Err(error),
            Err(_) => {
                fresh.execute_batch("DELETE FROM cooldowns; DELETE FROM quarantines; DELETE FROM circuits")?;
                return Ok(0);
            }
        }
    }
}

/// Removes what cannot be read as a conversation or a baseline. Says how many conversations are left.
fn drop_unreadable(fresh: &Connection) -> rusqlite::Result<usize> {
    if baselines::all(fresh).is_err() {
        fresh.execute("DELETE FROM baselines", [])?;
    }
    let names = talks::names(fresh)?;
    let mut left = 0;
    for name in names.into_iter().map(SessionName::new) {
        if talks::is_whole(fresh, &name) {
            left += 1;
        } else if let Err(Trouble::Sqlite(error)) = talks::remove(fresh, &name) {
            return Err(error);
        }
    }
    Ok(left)
}
