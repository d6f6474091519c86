//! What every backend must tell the same of ladders that fell through.

use super::contract::{at, change, changes, cooldown, on_both, request};
use super::{Accounts, Batch, LogFilter, Store, StoreError};
use crate::domain::LadderName;
use crate::policy::{Cascade, CascadeChange, CascadeState, Lease, VersionedCascade};

pub(super) fn cascade(ladder: &str, streak: u32) -> Cascade {
    let lease = |holder: &str, seconds| Lease { holder: holder.into(), until: at(seconds) };
    let states = [CascadeState::Closed, CascadeState::Open, CascadeState::Recovering];
    Cascade {
        ladder: ladder.into(),
        state: states[streak as usize % 3],
        streak,
        opens: 2,
        slots: 4,
        leases: if streak > 1 { vec![lease("r-1", 5), lease("r-2", -5)] } else { Vec::new() },
        since: at(-3),
        until: at(30),
        failed: vec!["lab/a model 12ab \"x\"".to_owned(), "lab/b".to_owned()],
        evidence: "lab/b says unknown: 余额不足".to_owned(),
        request_id: (streak > 1).then(|| "r-1".into()),
    }
}

pub(super) fn writes(expected: Option<i64>, cascade: Cascade) -> Batch {
    let change = CascadeChange { ladder: cascade.ladder.clone(), expected, cascade: Some(cascade) };
    Batch { cascades: vec![change], ..Batch::default() }
}

pub(super) fn removes(ladder: &str, expected: Option<i64>) -> Batch {
    let change = CascadeChange { ladder: ladder.into(), expected, cascade: None };
    Batch { cascades: vec![change], ..Batch::default() }
}

fn read(store: &dyn Store) -> Vec<VersionedCascade> {
    store.snapshot(&Accounts::None).expect("a snapshot").cascades
}

fn conflicts(store: &dyn Store, batch: &Batch) {
    assert!(matches!(store.commit(batch), Err(StoreError::Conflict)), "{batch:?}");
}

#[test]
fn a_ladder_is_written_only_over_what_was_seen() {
    on_both(|store| {
        conflicts(store, &writes(Some(1), cascade("main", 1)));
        conflicts(store, &removes("main", Some(1)));
        store.commit(&removes("main", None)).expect("there is none");
        for streak in 1..=4 {
            let expected = Some(i64::from(streak) - 1).filter(|version| *version > 0);
            store.commit(&writes(expected, cascade("main", streak))).expect("written");
            let there = VersionedCascade { version: i64::from(streak), cascade: cascade("main", streak) };
            assert_eq!(read(store), [there]);
            conflicts(store, &writes(expected, cascade("main", 9)));
            conflicts(store, &removes("main", expected));
        }
        store.commit(&writes(None, cascade("fast", 1))).expect("written");
        let names: Vec<LadderName> = read(store).into_iter().map(|there| there.cascade.ladder).collect();
        assert_eq!(names, ["fast", "main"]);
        store.commit(&removes("main", Some(4))).expect("removed");
        store.commit(&writes(None, cascade("main", 1))).expect("new");
        assert_eq!(read(store)[1].version, 5, "above every version that there was");
        conflicts(store, &writes(Some(4), cascade("main", 9)));
    });
}

#[test]
fn a_ladder_and_all_else_are_written_together_or_not_at_all() {
    on_both(|store| {
        let batch = |expected| Batch {
            request: Some(request("r-1", 0, vec![])),
            ..Batch {
                changes: changes([change(None, cooldown("llama", 1))]).changes,
                ..writes(expected, cascade("main", 2))
            }
        };
        conflicts(store, &batch(Some(3)));
        assert_eq!((store.holds().expect("holds"), read(store)), (vec![], vec![]));
        assert_eq!(store.requests(&LogFilter::default()).expect("log"), []);
        store.commit(&batch(None)).expect("written");
        assert_eq!((store.holds().expect("holds").len(), read(store).len()), (1, 1));
    });
}

#[test]
fn a_change_that_carries_another_ladder_is_refused() {
    on_both(|store| {
        let change = CascadeChange { ladder: "fast".into(), expected: None, cascade: Some(cascade("main", 1)) };
        let astray = Batch { cascades: vec![change], ..Batch::default() };
        assert!(matches!(store.commit(&astray), Err(StoreError::MismatchedLadder { .. })));
        assert_eq!(read(store), []);
    });
}
