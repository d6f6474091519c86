//! What every backend must tell the same of alarms and the messages that wait.

use super::contract::{at, change, changes, cooldown, on_both};
use super::{AlarmBatch, Pulse, Store};
use crate::policy::{Alarm, AlarmEvent, AlarmKind, Lease, Letter, LetterEnd, Sink, Words};

pub(super) fn alarm(kind: AlarmKind, subject: &str, count: u32) -> Alarm {
    Alarm {
        kind,
        subject: subject.to_owned(),
        raised_at: at(0),
        seen_at: at(i64::from(count)),
        count,
        calm_since: (count > 1).then(|| at(5)),
        healed_at: (count > 2).then(|| at(6)),
        flaps: count / 2,
        told_at: Some(at(1)),
        told_over_at: (count > 3).then(|| at(7)),
        part_of: (count > 1).then(|| "main".to_owned()),
        until: (count == 1).then(|| at(99)),
        words: Words {
            summary: format!("ladder {subject}: 余额不足"),
            text: "two\nlines".to_owned(),
            details: "{\"a\":1}".to_owned(),
        },
    }
}

pub(super) fn letter(id: &str, sink: Sink, subject: &str) -> Letter {
    Letter {
        id: id.to_owned(),
        sink,
        event: AlarmEvent::Raised,
        kind: AlarmKind::Exhausted,
        subject: subject.to_owned(),
        at: at(0),
        body: "{\"id\":1}".to_owned(),
        tries: 0,
        due_at: at(0),
        lease: None,
        end: None,
        error: None,
    }
}

fn write(store: &dyn Store, batch: &AlarmBatch) {
    assert_eq!(&store.look_at_alarms(&mut |_| batch.clone()).expect("written"), batch);
}

fn post(store: &dyn Store, letters: impl IntoIterator<Item = Letter>) {
    write(store, &AlarmBatch { letters: letters.into_iter().collect(), ..AlarmBatch::default() });
}

fn lease(holder: &str, seconds: i64) -> Lease {
    Lease { holder: holder.into(), until: at(seconds) }
}

const BOTH: &[Sink] = &[Sink::Command, Sink::Webhook];

#[test]
fn alarms_are_written_over_what_was_known_and_read_back() {
    on_both(|store| {
        let pulse = |ladder| store.alarm_pulse(ladder, at(0)).expect("a pulse");
        assert_eq!((store.alarms().expect("alarms"), pulse("main")), (vec![], Pulse::default()));
        let (main, hold) = (alarm(AlarmKind::Exhausted, "main", 1), alarm(AlarmKind::Hold, "cooldown groq", 3));
        let batch =
            AlarmBatch { alarms: vec![hold.clone(), main.clone()], looked_at: Some(at(3)), ..AlarmBatch::default() };
        write(store, &batch);
        assert_eq!(store.alarms().expect("alarms"), [main, hold.clone()], "by kind and subject");
        let open = Pulse { here: true, open: true, due: false, looked_at: Some(at(3)) };
        assert_eq!((pulse("main"), pulse("fast")), (open, Pulse { here: false, ..open }));
        let untold = Alarm { healed_at: Some(at(9)), ..alarm(AlarmKind::Exhausted, "main", 1) };
        write(store, &AlarmBatch { alarms: vec![untold], ..AlarmBatch::default() });
        assert_eq!(pulse("main"), Pulse { here: false, ..open });
        let over = alarm(AlarmKind::Exhausted, "main", 4);
        write(store, &AlarmBatch { alarms: vec![over.clone()], ..AlarmBatch::default() });
        assert_eq!(store.alarms().expect("alarms"), [over, hold]);
        assert_eq!(pulse("main"), Pulse { here: false, ..open }, "the end of the hold is still to be told");
        let told = alarm(AlarmKind::Hold, "cooldown groq", 4);
        write(store, &AlarmBatch { alarms: vec![told], ..AlarmBatch::default() });
        assert!(!pulse("main").open);
    });
}

#[test]
fn a_look_sees_the_state_as_it_is_and_a_decision_to_do_nothing_writes_nothing() {
    on_both(|store| {
        store.commit(&changes([change(None, cooldown("llama", 1))])).expect("written");
        for (second, budget) in [(0, 1), (5, 1), (9, 1)] {
            store.take_retry(&"r-1".into(), at(second), at(second - 60), budget).expect("taken");
        }
        let token = store.change_token().expect("a token");
        let mut seen = None;
        let decided = store.look_at_alarms(&mut |view| {
            seen = Some((view.snapshot.holds.len(), view.denied_at, view.alarms.len()));
            AlarmBatch::default()
        });
        assert_eq!((decided.expect("decided"), seen), (AlarmBatch::default(), Some((1, Some(at(9)), 0))));
        assert_eq!(store.change_token().expect("a token"), token);
        post(store, [letter("a", Sink::Command, "main")]);
        assert_ne!(store.change_token().expect("a token"), token);
    });
}

#[test]
fn a_message_is_taken_by_one_until_its_lease_ends() {
    on_both(|store| {
        post(store, [letter("a", Sink::Webhook, "main"), letter("a", Sink::Command, "main")]);
        // The same id for the same sink is the same message.
        post(store, [letter("a", Sink::Command, "main")]);
        let due = |seconds| store.alarm_pulse("main", at(seconds)).expect("a pulse").due;
        assert!(due(0) && !due(-1));
        let claim =
            |sinks, holder, until, now| store.claim_letter(sinks, &lease(holder, until), at(now)).expect("claimed");
        assert_eq!(claim(&[], "p0", 60, 0), None);
        assert_eq!(claim(BOTH, "p0", 60, -1), None, "not due yet");
        let first = claim(BOTH, "p1", 60, 0).expect("the oldest");
        let taken = Letter { tries: 1, lease: Some(lease("p1", 60)), ..letter("a", Sink::Webhook, "main") };
        assert_eq!(first, taken);
        assert_eq!(claim(BOTH, "p2", 60, 0).map(|letter| letter.sink), Some(Sink::Command));
        assert_eq!((claim(BOTH, "p3", 60, 59), due(59)), (None, false));
        // The first one was killed.
        assert!(due(60));
        let again = claim(&[Sink::Webhook], "p4", 99, 60).expect("free again");
        assert_eq!(again.tries, 2);
        assert!(!store.settle_letter(&first.delivered(at(61)), &lease("p1", 60)).expect("settled"), "it came too late");
        assert!(store.settle_letter(&again.clone().delivered(at(61)), &lease("p4", 99)).expect("settled"));
        assert!(!store.settle_letter(&again.delivered(at(62)), &lease("p4", 99)).expect("settled"), "it is over");
        let letters = store.letters().expect("letters");
        assert_eq!(letters.len(), 2);
        assert_eq!((letters[0].end, letters[0].lease.clone()), (Some((LetterEnd::Delivered, at(61))), None));
    });
}

#[test]
fn a_message_that_failed_waits_and_those_after_it_wait_for_it() {
    on_both(|store| {
        post(store, [letter("a", Sink::Webhook, "main"), letter("b", Sink::Webhook, "fast")]);
        let healed = Letter { event: AlarmEvent::Healed, ..letter("c", Sink::Webhook, "main") };
        post(store, [healed, letter("c", Sink::Command, "main")]);
        let claim = |sinks, now| store.claim_letter(sinks, &lease("p1", now + 9), at(now)).expect("claimed");
        let first = claim(BOTH, 0).expect("the oldest");
        let failed = Letter { due_at: at(30), lease: None, error: Some("500 余".to_owned()), ..first };
        assert!(store.settle_letter(&failed, &lease("p1", 9)).expect("settled"));
        assert_eq!(store.letters().expect("letters")[0], failed);
        assert_eq!(claim(&[Sink::Webhook], 1).map(|letter| letter.id), Some("b".to_owned()));
        assert_eq!(claim(&[Sink::Webhook], 2), None, "the end is not told before the beginning");
        assert_eq!(claim(BOTH, 2).map(|letter| letter.sink), Some(Sink::Command), "the other sink does not wait");
        let second = claim(&[Sink::Webhook], 30).expect("due again");
        assert_eq!((second.id.as_str(), second.tries, second.error.as_deref()), ("a", 2, Some("500 余")));
        let end = Some((LetterEnd::GivenUp, at(31)));
        assert!(store.settle_letter(&Letter { end, ..second }, &lease("p1", 39)).expect("settled"));
        let claimed: Vec<_> = [31, 31].into_iter().filter_map(|now| claim(&[Sink::Webhook], now)).collect();
        let ids: Vec<&str> = claimed.iter().map(|letter| letter.id.as_str()).collect();
        assert_eq!(ids, ["b", "c"]);
    });
}

#[test]
fn what_a_clock_that_ran_ahead_has_written_is_due_now() {
    on_both(|store| {
        post(store, [Letter { due_at: at(9_999_999), ..letter("a", Sink::Webhook, "main") }]);
        assert!(store.alarm_pulse("main", at(0)).expect("a pulse").due);
        assert!(store.claim_letter(BOTH, &lease("p1", 9_999_999), at(0)).expect("claimed").is_some());
        assert!(store.claim_letter(BOTH, &lease("p2", 60), at(0)).expect("claimed").is_some());
        assert!(store.claim_letter(BOTH, &lease("p3", 60), at(0)).expect("claimed").is_none());
    });
}
