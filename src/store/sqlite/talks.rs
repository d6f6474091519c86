//! Reads and writes conversations and their journal.

use jiff::Timestamp;
use rusqlite::{Connection, params};

use super::row::{Fields, Trouble, ms};
use super::{SqliteStore, StoreError};
use crate::domain::{
    AskedFor, CallEnd, JournalEntry, LadderName, RequestId, Session, SessionName, StoredTurn, TalkSettings,
};
use crate::store::{CallChange, Outline, SessionBatch, SessionStore, Talk, TurnChange};

const SESSIONS: &str = "SELECT id, name, created_at, updated_at, holder, ladder, system, tools, asked, \
     (SELECT count(*) FROM turns AS t WHERE t.session = s.name), told FROM sessions AS s";

const TURNS: &str = "SELECT id, message, author, request_id, at FROM turns WHERE session = ?1 ORDER BY place";

/// Of which calls only a person can say what is next: `JournalEntry::needs_word`, as a test sees to.
const NEEDS_WORD: &str = "effect = 'side_effecting' AND state IN ('started', 'unknown')";

const JOURNAL: &str = "SELECT id, version, fingerprint, place, position, call_id, tool, arguments, effect, \
     idempotency_key, state, ending, result, tries, started_at, ended_at FROM journal WHERE session = ?1 \
     ORDER BY place, position";

const TAKE: &str = "INSERT INTO sessions (name, created_at, updated_at, holder, tools) VALUES (?1, ?2, ?2, ?3, '[]') \
     ON CONFLICT (name) DO UPDATE SET holder = excluded.holder";

const TOUCH: &str = "UPDATE sessions SET updated_at = ?1 WHERE name = ?2 AND holder = ?3";

const SET: &str = "UPDATE sessions SET ladder = ?1, system = ?2, tools = ?3, asked = ?4 WHERE name = ?5";

const PUT_TURN: &str = "INSERT INTO turns (session, place, message, author, request_id, at) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6)";

const ADD_CALL: &str = "INSERT INTO journal (version, place, position, call_id, tool, arguments, effect, \
     idempotency_key, state, ending, result, tries, started_at, ended_at, session, fingerprint) \
     VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15) ON CONFLICT DO NOTHING";

const CHANGE_CALL: &str = "UPDATE journal SET version = version + 1, place = ?1, position = ?2, call_id = ?3, tool = ?4, \
     arguments = ?5, effect = ?6, idempotency_key = ?7, state = ?8, ending = ?9, result = ?10, tries = ?11, \
     started_at = ?12, ended_at = ?13 WHERE session = ?14 AND fingerprint = ?15 AND version = ?16";

impl SessionStore for SqliteStore {
    fn sessions(&self) -> Result<Vec<Session>, StoreError> {
        self.read(|conn| {
            let mut statement = conn.prepare_cached(&format!("{SESSIONS} ORDER BY updated_at DESC, name"))?;
            let mut rows = statement.query([])?;
            let mut all = Vec::new();
            while let Some(row) = rows.next()? {
                all.push(session(&mut Fields::new(row, "sessions"))?);
            }
            Ok(all)
        })
    }

    fn outlines(&self) -> Result<Vec<Outline>, StoreError> {
        self.read(outlines)
    }

    fn talk(&self, name: &SessionName) -> Result<Option<Talk>, StoreError> {
        self.read(|conn| talk(conn, name))
    }

    fn take_session(&self, name: &SessionName, holder: &str, now: Timestamp) -> Result<Talk, StoreError> {
        self.write(|conn| {
            conn.prepare_cached(TAKE)?.execute(params![name.as_str(), now.as_millisecond(), holder])?;
            talk(conn, name)?.ok_or(Trouble::Conflict)
        })
    }

    fn write_session(&self, name: &SessionName, batch: &SessionBatch) -> Result<(), StoreError> {
        // What is done in the world cannot be taken back when the power fails, so neither may the note of it.
        self.for_good(|store| store.write(|conn| write(conn, name, batch)))
    }

    fn remove_session(&self, name: &SessionName) -> Result<bool, StoreError> {
        self.write(|conn| remove(conn, name).map(|removed| removed > 0))
    }
}

impl SqliteStore {
    /// Runs writes that are on the disk, and not only with the system, once they are done.
    fn for_good<T>(&self, writes: impl FnOnce(&Self) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let set = |mode: &str| self.live().conn.pragma_update(None, "synchronous", mode);
        // Where the file cannot be used the writes say so.
        let _ = set("FULL");
        let done = writes(self);
        let _ = set("NORMAL");
        done
    }
}

fn session(f: &mut Fields<'_, '_>) -> Result<Session, Trouble> {
    f.get::<i64>()?;
    Ok(Session {
        name: SessionName::new(f.get::<String>()?),
        created_at: f.time()?,
        updated_at: f.time()?,
        holder: f.get()?,
        settings: TalkSettings {
            ladder: f.get::<Option<String>>()?.map(LadderName::new),
            system: f.get()?,
            tools: f.words()?,
            asked: asked(f)?,
        },
        turns: f.get()?,
        told: f.get()?,
    })
}

fn asked(f: &mut Fields<'_, '_>) -> Result<AskedFor, Trouble> {
    let Some(text) = f.get::<Option<String>>()? else { return Ok(AskedFor::default()) };
    serde_json::from_str(&text).map_err(|error| f.bad(error))
}

/// The end of each conversation, by the index of its turns.
fn outlines(conn: &Connection) -> Result<Vec<Outline>, Trouble> {
    // Places are counted from 0 without a gap, so the last of them says how many there are.
    let sql = format!(
        "SELECT id, name, created_at, updated_at, holder, ladder, system, tools, asked, \
         (SELECT ifnull(max(place) + 1, 0) FROM turns WHERE session = s.name), told, \
         EXISTS (SELECT 1 FROM journal WHERE session = s.name AND {NEEDS_WORD}), \
         (SELECT message FROM turns WHERE session = s.name ORDER BY place DESC LIMIT 1) \
         FROM sessions AS s ORDER BY updated_at DESC, name"
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query([])?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        let mut f = Fields::new(row, "sessions");
        let (session, needs_word, last) = (session(&mut f)?, f.get()?, f.maybe_text()?);
        let last = last.map(|message| serde_json::from_str(message).unwrap_or_default());
        all.push(Outline { session, last, needs_word });
    }
    Ok(all)
}

/// All of the conversation. The caller holds a transaction.
fn talk(conn: &Connection, name: &SessionName) -> Result<Option<Talk>, Trouble> {
    let mut statement = conn.prepare_cached(&format!("{SESSIONS} WHERE name = ?1"))?;
    let mut rows = statement.query([name.as_str()])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let session = session(&mut Fields::new(row, "sessions"))?;
    Ok(Some(Talk { session, turns: turns(conn, name)?, journal: journal(conn, name)? }))
}

fn turns(conn: &Connection, name: &SessionName) -> Result<Vec<StoredTurn>, Trouble> {
    let mut statement = conn.prepare_cached(TURNS)?;
    let mut rows = statement.query([name.as_str()])?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        let mut f = Fields::new(row, "turns");
        f.get::<i64>()?;
        let message = serde_json::from_str(f.text()?).map_err(|error| f.bad(error))?;
        let (author, request_id, at) = (f.maybe_word()?, f.request_id()?, f.time()?);
        all.push(StoredTurn { message, author, request_id, at });
    }
    Ok(all)
}

fn journal(conn: &Connection, name: &SessionName) -> Result<Vec<(i64, JournalEntry)>, Trouble> {
    let mut statement = conn.prepare_cached(JOURNAL)?;
    let mut rows = statement.query([name.as_str()])?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        let mut f = Fields::new(row, "journal");
        f.get::<i64>()?;
        let version = f.get()?;
        all.push((version, entry(&mut f)?));
    }
    Ok(all)
}

fn entry(f: &mut Fields<'_, '_>) -> Result<JournalEntry, Trouble> {
    Ok(JournalEntry {
        fingerprint: f.get()?,
        place: f.get()?,
        position: f.get()?,
        call_id: f.get()?,
        tool: f.get()?,
        arguments: f.get()?,
        effect: f.word()?,
        idempotency_key: f.get()?,
        state: f.word()?,
        end: f.maybe_word()?,
        result: f.get()?,
        tries: f.get()?,
        started_at: f.maybe_time()?,
        ended_at: f.maybe_time()?,
    })
}

/// The caller holds the write transaction and rolls it back when this fails.
fn write(conn: &Connection, name: &SessionName, batch: &SessionBatch) -> Result<(), Trouble> {
    let held = params![batch.now.as_millisecond(), name.as_str(), batch.holder];
    one(conn.prepare_cached(TOUCH)?.execute(held)?)?;
    if let Some(settings) = &batch.settings {
        let tools = serde_json::Value::from(settings.tools.clone()).to_string();
        let ladder = settings.ladder.as_ref().map(LadderName::as_str);
        let asked = (!settings.asked.is_empty()).then(|| serde_json::json!(settings.asked).to_string());
        conn.prepare_cached(SET)?.execute(params![ladder, settings.system, tools, asked, name.as_str()])?;
    }
    if let Some(change) = &batch.turns {
        write_turns(conn, name, change)?;
    }
    if let Some(told) = batch.told {
        let sql = "UPDATE sessions SET told = ?1 WHERE name = ?2";
        conn.prepare_cached(sql)?.execute(params![told, name.as_str()])?;
    }
    batch.calls.iter().try_for_each(|change| write_call(conn, name, change))
}

fn write_turns(conn: &Connection, name: &SessionName, change: &TurnChange) -> Result<(), Trouble> {
    let sql = "SELECT count(*) FROM turns WHERE session = ?1";
    let there: u32 = conn.prepare_cached(sql)?.query_row([name.as_str()], |row| row.get(0))?;
    if there != change.expected || change.keep > there {
        return Err(Trouble::Conflict);
    }
    for table in ["turns", "journal"] {
        let sql = format!("DELETE FROM {table} WHERE session = ?1 AND place >= ?2");
        conn.prepare_cached(&sql)?.execute(params![name.as_str(), change.keep])?;
    }
    for (turn, place) in change.new.iter().zip(change.keep..) {
        conn.prepare_cached(PUT_TURN)?.execute(params![
            name.as_str(),
            place,
            turn.message.to_string(),
            turn.author.as_ref().map(ToString::to_string),
            turn.request_id.as_ref().map(RequestId::as_str),
            turn.at.as_millisecond(),
        ])?;
    }
    Ok(())
}

fn write_call(conn: &Connection, name: &SessionName, change: &CallChange) -> Result<(), Trouble> {
    let entry = &change.entry;
    let values = params![
        entry.place,
        entry.position,
        entry.call_id,
        entry.tool,
        entry.arguments,
        entry.effect.as_str(),
        entry.idempotency_key,
        entry.state.as_str(),
        entry.end.map(CallEnd::as_str),
        entry.result,
        entry.tries,
        ms(entry.started_at),
        ms(entry.ended_at),
        name.as_str(),
        entry.fingerprint,
    ];
    let written = match change.expected {
        None => conn.prepare_cached(ADD_CALL)?.execute(values)?,
        Some(version) => {
            let values: Vec<&dyn rusqlite::ToSql> = values.iter().copied().chain([&version as _]).collect();
            conn.prepare_cached(CHANGE_CALL)?.execute(&values[..])?
        }
    };
    one(written)
}

/// The names of all conversations.
pub(super) fn names(conn: &Connection) -> rusqlite::Result<Vec<String>> {
    conn.prepare("SELECT name FROM sessions")?.query_map([], |row| row.get(0))?.collect()
}

/// Whether all of the conversation can be read, and none of its turns is missing.
pub(super) fn is_whole(conn: &Connection, name: &SessionName) -> bool {
    let sql = "SELECT count(*) = ifnull(max(place) + 1, 0) FROM turns WHERE session = ?1";
    let has_all = conn.query_row(sql, [name.as_str()], |row| row.get::<_, bool>(0));
    has_all.is_ok_and(|has_all| has_all) && matches!(talk(conn, name), Ok(Some(_)))
}

/// Removes the conversation as a whole; says how many there were.
pub(super) fn remove(conn: &Connection, name: &SessionName) -> Result<usize, Trouble> {
    for table in ["turns", "journal"] {
        conn.prepare_cached(&format!("DELETE FROM {table} WHERE session = ?1"))?.execute([name.as_str()])?;
    }
    Ok(conn.prepare_cached("DELETE FROM sessions WHERE name = ?1")?.execute([name.as_str()])?)
}

/// One conversation that nobody has used since the time, unless a person must still say what came of a call: this is the
/// only note of it.
pub(super) fn old(conn: &Connection, before: i64) -> Result<Option<SessionName>, Trouble> {
    let sql = format!(
        "SELECT name FROM sessions AS s WHERE updated_at < ?1 AND NOT EXISTS \
         (SELECT 1 FROM journal WHERE session = s.name AND {NEEDS_WORD}) ORDER BY updated_at LIMIT 1"
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query([before])?;
    Ok(rows.next()?.map(|row| row.get::<_, String>(0)).transpose()?.map(SessionName::new))
}

/// How many bytes all conversations take, about.
pub(super) fn bytes(conn: &Connection) -> Result<u64, Trouble> {
    let sql = "SELECT (SELECT coalesce(sum(octet_length(message) + 100), 0) FROM turns) + (SELECT coalesce(sum( \
         octet_length(arguments) + coalesce(octet_length(result), 0) + 200), 0) FROM journal)";
    let bytes: i64 = conn.prepare_cached(sql)?.query_row([], |row| row.get(0))?;
    Ok(bytes.unsigned_abs())
}

/// The conversation that goes first where all of them take more than so many bytes.
pub(super) fn too_much(conn: &Connection, most: u64) -> Result<Option<SessionName>, Trouble> {
    // A look at the header of the file answers it nearly always.
    let (used, _) = super::prune::pages(conn)?;
    if used.saturating_mul(super::prune::page_size(conn)?) <= most || bytes(conn)? <= most {
        return Ok(None);
    }
    let sql = format!(
        "SELECT name FROM sessions AS s WHERE updated_at < (SELECT max(updated_at) FROM sessions) AND NOT EXISTS \
         (SELECT 1 FROM journal WHERE session = s.name AND {NEEDS_WORD}) ORDER BY updated_at LIMIT 1"
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query([])?;
    Ok(rows.next()?.map(|row| row.get::<_, String>(0)).transpose()?.map(SessionName::new))
}

fn one(written: usize) -> Result<(), Trouble> {
    if written == 1 { Ok(()) } else { Err(Trouble::Conflict) }
}
