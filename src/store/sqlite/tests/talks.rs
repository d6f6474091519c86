//! Conversations in the file: how long they stay, and what an operator reads.

use std::time::Duration;

use serde_json::json;

use crate::domain::{CallState, Effect, JournalEntry, SessionName, StoredTurn};
use crate::store::contract::at;
use crate::store::{CallChange, OpenOptions, Retention, SessionBatch, SessionStore, SqliteStore, TurnChange};

fn said(store: &SqliteStore, name: &str, seconds: i64) {
    let name = SessionName::from(name);
    let turn = |words: &str| StoredTurn {
        message: json!({"role": "user", "content": words}),
        author: None,
        request_id: None,
        at: at(seconds),
    };
    let entry = JournalEntry {
        fingerprint: "f".to_owned(),
        place: 1,
        position: 0,
        call_id: "c".to_owned(),
        tool: "deploy".to_owned(),
        arguments: "{}".to_owned(),
        effect: Effect::SideEffecting,
        idempotency_key: "k".to_owned(),
        state: CallState::Started,
        end: None,
        result: None,
        tries: 1,
        started_at: Some(at(seconds)),
        ended_at: None,
    };
    store.take_session(&name, "p", at(seconds)).expect("taken");
    let batch = SessionBatch {
        holder: "p".to_owned(),
        now: at(seconds),
        settings: None,
        turns: Some(TurnChange { expected: 0, keep: 0, new: vec![turn("one"), turn("two")] }),
        calls: vec![CallChange { expected: None, entry }],
        told: None,
    };
    store.write_session(&name, &batch).expect("written");
}

fn count(store: &SqliteStore, table: &str) -> u32 {
    let sql = format!("SELECT count(*) FROM {table}");
    store.live().conn.query_row(&sql, [], |row| row.get(0)).expect("a count")
}

#[test]
fn conversations_age_as_a_whole_and_one_that_is_in_use_or_in_doubt_stays() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("state.db");
    let store = SqliteStore::open(&path, OpenOptions::default()).expect("a store");
    for (name, seconds) in [("doubted", 0), ("old", 0), ("sat-on", 1), ("young", 500)] {
        said(&store, name, seconds);
    }
    store.live().conn.execute("UPDATE journal SET state = 'done' WHERE session <> 'doubted'", []).expect("set");
    let keep = Retention { sessions: Duration::from_secs(100), ..Retention::default() };
    assert_eq!(store.prune(&keep, at(100)).expect("pruned").sessions, 0, "not older than that");
    let other = SqliteStore::open(&path, OpenOptions::default()).expect("a store");
    let seat = other.seat(&"sat-on".into()).expect("a seat");
    assert_eq!(store.prune(&keep, at(550)).expect("pruned").sessions, 1);
    assert_eq!((count(&store, "sessions"), count(&store, "turns"), count(&store, "journal")), (3, 6, 3));
    drop(seat);
    assert_eq!(store.prune(&keep, at(550)).expect("pruned").sessions, 1);
    let left: Vec<_> = store.sessions().expect("readable").into_iter().map(|s| (s.name.to_string(), s.turns)).collect();
    assert_eq!(left, [("young".to_owned(), 2), ("doubted".to_owned(), 2)]);
}

#[test]
fn an_operator_reads_conversations_and_calls() {
    let directory = tempfile::tempdir().expect("a directory");
    let store = SqliteStore::open(&directory.path().join("state.db"), OpenOptions::default()).expect("a store");
    said(&store, "night", 0);
    let live = store.live();
    let row = |sql: &str| live.conn.query_row(sql, [], |row| row.get::<_, String>(0)).expect("a row");
    assert_eq!(
        row("SELECT session || ' ' || place || ' ' || role || ' ' || at FROM conversation WHERE place = 1"),
        "night 1 user 2026-08-17T20:53:20.123Z"
    );
    let calls = "SELECT tool || ' ' || effect || ' ' || state || ' ' || started_at FROM calls";
    assert_eq!(row(calls), "deploy side_effecting started 2026-08-17T20:53:20.123Z");
}

#[test]
fn too_many_conversations_go_by_their_use_but_none_that_is_in_doubt() {
    let directory = tempfile::tempdir().expect("a directory");
    let store = SqliteStore::open(&directory.path().join("state.db"), OpenOptions::default()).expect("a store");
    for (name, seconds) in [("first", 0), ("second", 1), ("last", 2)] {
        said(&store, name, seconds);
    }
    let keep = Retention { sessions_size: 300, ..Retention::default() };
    assert_eq!(store.prune(&keep, at(3)).expect("pruned").sessions, 0, "their calls are not settled");
    let execute = |sql: &str| store.live().conn.execute(sql, []).expect("set");
    // What is pure is simply run again, and nobody is asked.
    execute("UPDATE journal SET effect = 'pure' WHERE session <> 'first'");
    assert_eq!(store.prune(&keep, at(3)).expect("pruned").sessions, 1);
    let left: Vec<_> = store.sessions().expect("readable").into_iter().map(|s| s.name.to_string()).collect();
    assert_eq!(left, ["last", "first"]);
}

#[test]
fn a_damaged_message_takes_no_other_conversation_from_the_list() {
    let directory = tempfile::tempdir().expect("a directory");
    let store = SqliteStore::open(&directory.path().join("state.db"), OpenOptions::default()).expect("a store");
    for (name, seconds) in [("bad", 1), ("good", 0)] {
        said(&store, name, seconds);
    }
    let execute = |sql: &str| store.live().conn.execute(sql, []).expect("set");
    execute("UPDATE turns SET message = '{' WHERE session = 'bad' AND place = 1");
    execute("UPDATE journal SET state = 'else' WHERE session = 'bad'");
    assert!(store.talk(&"bad".into()).is_err());
    let found: Vec<_> = store.outlines().expect("readable").into_iter().map(|o| (o.session.turns, o.last)).collect();
    assert_eq!(found, [(2, Some(json!(null))), (2, Some(json!({"role": "user", "content": "two"})))]);
}
