//! The log by place.

use super::*;
use crate::store::{Fact, Places};

/// The models of the attempts and the ids of the requests that a walk shows.
fn walked(store: &SqliteStore, after: Places, most: usize) -> (Vec<String>, Places) {
    let mut seen = Vec::new();
    let each = |fact: Fact<'_>| {
        seen.push(match fact {
            Fact::Attempt(attempt) => format!("{} of {} on '{}'", attempt.who.model, attempt.request, attempt.ladder),
            Fact::Request(request) => format!("{} {}", request.id, request.outcome),
        });
    };
    let places = store.facts(after, most, each).expect("read");
    (seen, places)
}

#[test]
fn a_walk_goes_on_where_it_stopped_and_sees_each_end_once() {
    let place = place();
    let store = open(&place.path).expect("a store");
    let put = |id: &str, model: &str, seconds| {
        let attempt = attempt(&format!("lab/{model}"), AttemptKind::First, None, seconds);
        store.commit(&Batch { attempts: vec![(id.into(), 0, attempt)], ..Batch::default() }).expect("written");
    };
    put("r1", "a", 0);
    put("r2", "b", 1);
    let (seen, places) = walked(&store, Places::default(), 100);
    assert_eq!(seen, ["a of r1 on ''", "b of r2 on ''", "r1 unfinished", "r2 unfinished"]);
    assert_eq!(walked(&store, places, 100), (Vec::new(), places));
    store.commit(&Batch { request: Some(request("r1", 1, Vec::new())), ..Batch::default() }).expect("written");
    let (seen, places) = walked(&store, places, 100);
    assert_eq!(seen, ["r1 answered"]);
    put("r3", "c", 2);
    put("r4", "d", 3);
    let (seen, places) = walked(&store, places, 1);
    assert_eq!(seen, ["c of r3 on ''", "r3 unfinished"]);
    assert_eq!(walked(&store, places, 1).0, ["d of r4 on ''", "r4 unfinished"]);
}

#[test]
fn a_walk_from_a_time_misses_nothing_that_was_written_late() {
    let place = place();
    let store = open(&place.path).expect("a store");
    let put = |id: &str, seconds| {
        let attempt = attempt(&format!("lab/{id}"), AttemptKind::First, None, seconds);
        store.commit(&Batch { attempts: vec![(id.into(), 0, attempt)], ..Batch::default() }).expect("written");
    };
    // Written when they end: the one that lasted long comes last.
    for (id, seconds) in [("old", -7200), ("quick", 10), ("slow", 0), ("new", 9000)] {
        put(id, seconds);
    }
    let from = |seconds| {
        let places = store.places_at(at(seconds)).expect("read");
        walked(&store, places, 100).0.iter().filter(|line| line.contains(" of ")).count()
    };
    assert_eq!((from(-9999), from(0), from(5), from(11), from(9001)), (4, 3, 3, 1, 0));
}
