use super::*;
use crate::domain::{AccountName, Class, Dimension, Provenance, Scope, Target};
use crate::policy::{Circuit, CircuitState, Cooldown, Family, HoldRecord, Lease, bar, returns_at};

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_790_000_000 + second).expect("a time")
}

fn candidate(text: &str) -> Candidate {
    let target =
        Target { deployment: text.parse().expect("a deployment"), account: AccountName::new("acme"), region: None };
    Candidate { target, fingerprint: None, entry: None, gauges: Vec::new() }
}

fn open(id: i64, scope: Scope) -> Versioned {
    let record = HoldRecord::Circuit(Circuit {
        scope,
        family: Family::Transient,
        state: CircuitState::Open,
        class: Class::Network,
        consecutive: 3,
        recent: Vec::new(),
        opened_at: Some(at(0)),
        retry_at: Some(at(30)),
        opens: 1,
        lease: None,
        provenance: Provenance::Guess,
        fingerprint: None,
        last_failure: at(0),
        evidence: String::new(),
        request_id: None,
    });
    Versioned { id, version: 1, record }
}

fn cooling(id: i64, scope: Scope) -> Versioned {
    let record = HoldRecord::Cooldown(Cooldown {
        scope,
        dimension: Dimension::Rpm,
        class: Class::RateLimit,
        since: at(0),
        until: at(600),
        provenance: Provenance::Fact,
        streak: 1,
        obeyed: 0,
        obeyed_since: None,
        evidence: String::new(),
        request_id: None,
    });
    Versioned { id, version: 1, record }
}

fn by_hand(id: i64, scope: Scope) -> Versioned {
    let record = bar(&[], scope, None, "moving house", at(0)).record.expect("a record");
    Versioned { id, version: 1, record }
}

fn leased(held: Versioned) -> Versioned {
    let Versioned { id, version, record: HoldRecord::Circuit(circuit) } = held else { panic!("a circuit") };
    let lease = Some(Lease { holder: "r".into(), until: at(60) });
    Versioned { id, version, record: HoldRecord::Circuit(Circuit { state: CircuitState::HalfOpen, lease, ..circuit }) }
}

#[test]
fn what_can_be_probed_is_due_and_what_cannot_is_told_and_left_alone() {
    let known = ["lab/a", "lab/b"].map(candidate);
    let (lab, a) = (Scope::provider("lab".into()), Scope::deployment(&known[0].target));
    // The holds, the ids of those that are wanted, those that are made due, and those that are told with whom they keep.
    for (holds, wanted, due, kept) in [
        (vec![open(1, lab.clone())], vec![1], vec![1], vec![]),
        (vec![open(1, lab.clone()), open(2, a.clone())], vec![1, 2], vec![1, 2], vec![]),
        (vec![open(1, lab.clone()), open(2, a.clone())], vec![1], vec![1], vec![]),
        (vec![open(1, lab.clone()), open(2, a.clone())], vec![2], vec![], vec![(1, vec![0])]),
        (vec![open(1, lab.clone()), open(2, a.clone())], vec![], vec![], vec![]),
        (vec![cooling(1, lab.clone())], vec![1], vec![], vec![(1, vec![0, 1])]),
        // Through b it can be probed, but the cooldown is meant as well.
        (vec![open(1, lab.clone()), cooling(2, a.clone())], vec![1, 2], vec![1], vec![(2, vec![0])]),
        (vec![open(1, lab.clone()), cooling(2, a.clone())], vec![1], vec![1], vec![]),
        (vec![open(1, a.clone()), cooling(2, a.clone())], vec![1, 2], vec![], vec![(2, vec![0])]),
        (vec![open(1, a.clone()), by_hand(2, lab.clone())], vec![1, 2], vec![], vec![(2, vec![0, 1])]),
        (vec![leased(open(1, lab.clone()))], vec![1], vec![], vec![(1, vec![0, 1])]),
    ] {
        let found = hasten(&holds, &known, |held| wanted.contains(&held.id), at(10));
        let told: Vec<(i64, Vec<usize>)> = found.kept.iter().map(|(at, by)| (by.id, at.clone())).collect();
        assert_eq!(told, kept, "{holds:?}");
        let changed = holds.iter().zip(&found.holds).filter(|(old, new)| old != new);
        assert_eq!(changed.map(|(old, _)| old.id).collect::<Vec<_>>(), due, "{holds:?}");
        assert_eq!(found.changes.len(), due.len());
        for change in &found.changes {
            assert_eq!(change.expected, Some(1));
            assert_eq!(change.record.as_ref().and_then(returns_at), Some(at(10)));
        }
    }
}
