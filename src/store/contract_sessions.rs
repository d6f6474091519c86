//! What every backend must do with conversations and their journal.

use serde_json::json;

use super::contract::at;
use super::{
    CallChange, MemoryStore, OpenOptions, SessionBatch, SessionStore, SqliteStore, StoreError, Talk, TurnChange,
};
use crate::domain::{AskedFor, CallEnd, CallState, Effect, JournalEntry, SessionName, StoredTurn, TalkSettings};

fn on_both(part: impl Fn(&dyn SessionStore)) {
    part(&MemoryStore::new());
    let directory = tempfile::tempdir().expect("a directory");
    let store = SqliteStore::open(&directory.path().join("state.db"), OpenOptions::default()).expect("a store");
    part(&store);
}

fn name() -> SessionName {
    SessionName::from("night")
}

fn turn(words: &str, seconds: i64) -> StoredTurn {
    StoredTurn {
        message: json!({"role": "user", "content": words}),
        author: (seconds > 0).then(|| "groq/meta/llama-3".parse().expect("an author")),
        request_id: (seconds > 0).then(|| "r-1".into()),
        at: at(seconds),
    }
}

fn call(fingerprint: &str, place: u32, state: CallState) -> JournalEntry {
    let is_done = state == CallState::Done;
    JournalEntry {
        fingerprint: fingerprint.to_owned(),
        place,
        position: u32::from(fingerprint == "b"),
        call_id: "call_1".to_owned(),
        tool: "deploy".to_owned(),
        arguments: r#"{"to":"Köln"}"#.to_owned(),
        effect: Effect::SideEffecting,
        idempotency_key: format!("key-{fingerprint}"),
        state,
        end: is_done.then_some(CallEnd::Ok),
        result: is_done.then(|| "it's \"done\"".to_owned()),
        tries: 1,
        started_at: Some(at(5)),
        ended_at: is_done.then(|| at(6)),
    }
}

fn by(holder: &str, seconds: i64) -> SessionBatch {
    SessionBatch { holder: holder.to_owned(), now: at(seconds), ..SessionBatch::default() }
}

fn turns(holder: &str, expected: u32, keep: u32, new: Vec<StoredTurn>) -> SessionBatch {
    SessionBatch { turns: Some(TurnChange { expected, keep, new }), ..by(holder, 9) }
}

fn calls(holder: &str, calls: Vec<(Option<i64>, JournalEntry)>) -> SessionBatch {
    let calls = calls.into_iter().map(|(expected, entry)| CallChange { expected, entry }).collect();
    SessionBatch { calls, ..by(holder, 9) }
}

fn talk(store: &dyn SessionStore) -> Talk {
    store.talk(&name()).expect("readable").expect("there")
}

fn conflicts(store: &dyn SessionStore, batch: &SessionBatch) {
    let before = talk(store);
    assert!(matches!(store.write_session(&name(), batch), Err(StoreError::Conflict)), "{batch:?}");
    assert_eq!(talk(store), before, "a conflict left a trace");
}

#[test]
fn every_field_of_a_conversation_comes_back() {
    on_both(|store| {
        assert_eq!(store.talk(&name()).expect("readable"), None);
        let begun = store.take_session(&name(), "p1", at(0)).expect("taken");
        assert_eq!((begun.session.created_at, begun.session.turns, begun.turns.len()), (at(0), 0, 0));
        let settings = TalkSettings {
            ladder: Some("main".into()),
            system: Some("Be brief, Übersetzer.".to_owned()),
            tools: vec!["deploy".to_owned(), "disk".to_owned()],
            asked: AskedFor { schema: Some(json!({"type": "array"})), checks: vec!["size(answer) > 1".to_owned()] },
        };
        let said = vec![turn("hi", 0), turn("and?", 1)];
        let batch = SessionBatch {
            settings: Some(settings.clone()),
            told: Some(1),
            calls: vec![
                CallChange { expected: None, entry: call("b", 1, CallState::Started) },
                CallChange { expected: None, entry: call("a", 1, CallState::Done) },
            ],
            ..turns("p1", 0, 0, said.clone())
        };
        store.write_session(&name(), &batch).expect("written");
        let talk = talk(store);
        assert_eq!((talk.session.settings, talk.session.turns, talk.session.told, talk.turns), (settings, 2, 1, said));
        let wanted = vec![(1, call("a", 1, CallState::Done)), (1, call("b", 1, CallState::Started))];
        assert_eq!(talk.journal, wanted, "by turn and position");
        assert_eq!((talk.session.created_at, talk.session.updated_at), (at(0), at(9)));
    });
}

#[test]
fn who_took_a_conversation_last_is_the_only_one_who_writes() {
    on_both(|store| {
        store.take_session(&name(), "p1", at(0)).expect("taken");
        store.write_session(&name(), &turns("p1", 0, 0, vec![turn("hi", 0)])).expect("written");
        let taken = store.take_session(&name(), "p2", at(1)).expect("taken over");
        assert_eq!((taken.session.created_at, taken.session.turns), (at(0), 1), "it goes on");
        conflicts(store, &turns("p1", 1, 1, vec![turn("late", 2)]));
        conflicts(store, &by("nobody", 2));
        store.write_session(&name(), &by("p2", 2)).expect("written");
        let other = SessionName::from("other");
        assert!(matches!(store.write_session(&other, &by("p2", 2)), Err(StoreError::Conflict)), "there is none");
    });
}

#[test]
fn turns_are_written_where_they_are_expected_and_replaced_from_a_place_on() {
    on_both(|store| {
        store.take_session(&name(), "p", at(0)).expect("taken");
        store.write_session(&name(), &turns("p", 0, 0, vec![turn("one", 0), turn("two", 1)])).expect("written");
        conflicts(store, &turns("p", 1, 1, vec![turn("x", 2)]));
        conflicts(store, &turns("p", 3, 2, vec![]));
        conflicts(store, &turns("p", 2, 3, vec![]));
        store.write_session(&name(), &calls("p", vec![(None, call("a", 1, CallState::Done))])).expect("written");
        store.write_session(&name(), &turns("p", 2, 1, vec![turn("other", 2)])).expect("written");
        let talk = talk(store);
        assert_eq!((talk.turns, talk.session.turns), (vec![turn("one", 0), turn("other", 2)], 2));
        assert_eq!(talk.journal, [], "what was run for a turn that is gone is gone");
    });
}

#[test]
fn a_call_is_begun_by_one_or_by_none() {
    on_both(|store| {
        store.take_session(&name(), "p", at(0)).expect("taken");
        let begin = |expected| calls("p", vec![(expected, call("a", 1, CallState::Started))]);
        store.write_session(&name(), &begin(None)).expect("begun");
        conflicts(store, &begin(None));
        conflicts(store, &begin(Some(2)));
        // All or nothing: the first of these two is good.
        let two = vec![(Some(1), call("a", 1, CallState::Done)), (Some(1), call("b", 1, CallState::Done))];
        conflicts(store, &calls("p", two));
        store.write_session(&name(), &calls("p", vec![(Some(1), call("a", 1, CallState::Done))])).expect("done");
        assert_eq!(talk(store).journal, [(2, call("a", 1, CallState::Done))]);
        conflicts(store, &calls("p", vec![(Some(1), call("a", 1, CallState::Again))]));
    });
}

#[test]
fn conversations_are_listed_by_use_and_removed_as_a_whole() {
    on_both(|store| {
        for (seconds, other) in [(1, "a"), (2, "b"), (3, "c")] {
            let name = SessionName::from(other);
            store.take_session(&name, "p", at(seconds)).expect("taken");
            let batch = SessionBatch {
                calls: calls("p", vec![(None, call("a", 0, CallState::Done))]).calls,
                ..turns("p", 0, 0, vec![turn(other, 0)])
            };
            store.write_session(&name, &SessionBatch { now: at(10 - seconds), ..batch }).expect("written");
        }
        let names = || -> Vec<String> {
            store.sessions().expect("readable").iter().map(|session| session.name.to_string()).collect()
        };
        assert_eq!(names(), ["a", "b", "c"]);
        assert!(store.remove_session(&"b".into()).expect("removed"));
        assert!(!store.remove_session(&"b".into()).expect("gone"));
        assert_eq!((names(), store.talk(&"b".into()).expect("readable")), (vec!["a".to_owned(), "c".to_owned()], None));
        let again = store.take_session(&"b".into(), "p", at(20)).expect("anew");
        assert_eq!((again.session.created_at, again.turns.len(), again.journal.len()), (at(20), 0, 0));
    });
}

#[test]
fn an_outline_has_the_end_of_a_conversation_and_whether_a_person_is_needed() {
    on_both(|store| {
        let outline = || store.outlines().expect("readable").into_iter().map(|o| (o.last, o.needs_word, o.session));
        assert_eq!(outline().count(), 0);
        store.take_session(&name(), "p", at(0)).expect("taken");
        assert_eq!(outline().next(), Some((None, false, talk(store).session)));
        store.write_session(&name(), &turns("p", 0, 0, vec![turn("one", 0), turn("two", 1)])).expect("written");
        let last = Some(json!({"role": "user", "content": "two"}));
        assert_eq!(outline().next(), Some((last.clone(), false, talk(store).session)));
        let mut version = None;
        // The rule of the domain is the one that the store asks by.
        for effect in Effect::ALL {
            for state in CallState::ALL {
                let entry = JournalEntry { effect: *effect, ..call("a", 1, *state) };
                store.write_session(&name(), &calls("p", vec![(version, entry.clone())])).expect("written");
                version = Some(version.unwrap_or(0) + 1);
                let wanted = (last.clone(), entry.needs_word(), talk(store).session);
                assert_eq!(outline().next(), Some(wanted), "{effect} {state}");
            }
        }
        store.take_session(&"later".into(), "p", at(20)).expect("taken");
        let names = outline().map(|(_, _, session)| session.name.to_string());
        assert_eq!(names.collect::<Vec<_>>(), ["later", "night"], "the one that was used last first");
    });
}
