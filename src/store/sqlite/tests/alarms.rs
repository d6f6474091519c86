//! Alarms over several processes, and what is forgotten of them.

use super::{open, place, raw};
use crate::policy::{Alarm, AlarmKind, LetterEnd, Sink};
use crate::store::contract::at;
use crate::store::contract_alarms::{alarm, letter};
use crate::store::{AlarmBatch, AlarmStore, Retention};

/// What somebody writes who sees an alarm that nobody has told.
fn raised(id: &str) -> AlarmBatch {
    let alarms = vec![alarm(AlarmKind::Exhausted, "main", 1)];
    AlarmBatch { alarms, letters: vec![letter(id, Sink::Command, "main")], ..AlarmBatch::default() }
}

#[test]
fn of_two_that_see_the_same_at_the_same_moment_one_tells_it() {
    let place = place();
    let (one, two) = (open(&place.path).expect("made"), open(&place.path).expect("opened"));
    let mut looks = 0;
    let done = one.look_at_alarms(&mut |view| {
        looks += 1;
        if looks == 1 {
            // In between, another process is faster.
            two.look_at_alarms(&mut |_| raised("two")).expect("written");
        }
        if view.alarms.is_empty() { raised("one") } else { AlarmBatch::default() }
    });
    assert_eq!((done.expect("looked"), looks), (AlarmBatch::default(), 2));
    let letters = one.letters().expect("letters");
    assert_eq!(letters.iter().map(|letter| letter.id.as_str()).collect::<Vec<_>>(), ["two"]);
}

#[test]
fn what_is_over_for_long_is_forgotten_and_what_waits_is_not() {
    let place = place();
    let store = open(&place.path).expect("made");
    let over = |subject: &str, seconds| Alarm {
        healed_at: Some(at(seconds)),
        told_over_at: Some(at(seconds)),
        ..alarm(AlarmKind::Hold, subject, 1)
    };
    let (old, late, open_one) = (over("old", 0), over("late", 9_000), alarm(AlarmKind::Exhausted, "main", 1));
    let names = ["gone", "stays", "waits"];
    let batch = AlarmBatch {
        alarms: vec![old, late.clone(), open_one.clone()],
        letters: names.map(|id| letter(id, Sink::Command, id)).to_vec(),
        ..AlarmBatch::default()
    };
    store.look_at_alarms(&mut |_| batch.clone()).expect("written");
    let end = |id: &str, seconds: i64| {
        let sql = "UPDATE letters SET end = ?1, ended_at = ?2 WHERE id = ?3";
        let values = (LetterEnd::Delivered.as_str(), at(seconds).as_millisecond(), id);
        raw(&place.path).execute(sql, values).expect("written");
    };
    end("gone", 0);
    end("stays", 9_000);
    let keep = Retention { age: std::time::Duration::from_secs(3600), ..Retention::default() };
    store.prune(&keep, at(9_000)).expect("pruned");
    assert_eq!(store.alarms().expect("alarms"), [open_one, late]);
    let left = store.letters().expect("letters");
    assert_eq!(left.iter().map(|letter| letter.id.as_str()).collect::<Vec<_>>(), ["stays", "waits"]);
}

#[test]
fn an_operator_can_read_it() {
    let place = place();
    let store = open(&place.path).expect("made");
    store.look_at_alarms(&mut |_| raised("one")).expect("written");
    let sql = "SELECT a.state || ' ' || a.raised_at || ' ' || a.waiting || ' ' || o.state || ' ' || o.due_at \
               FROM alarm AS a JOIN outbox AS o USING (kind, subject)";
    let told: String = raw(&place.path).query_row(sql, [], |row| row.get(0)).expect("a row");
    assert_eq!(told, "raised 2026-08-17T20:53:20.123Z 1 waiting 2026-08-17T20:53:20.123Z");
}
