//! Visits each state once.

use std::collections::HashSet;

use super::moves::{Move, make, possible, with_hold};
use super::rules::somebody_gets_through;
use super::state::{Bounds, Place, State, Subject};

/// How much was visited.
#[derive(Debug, Default)]
pub(super) struct Visited {
    pub(super) states: usize,
    pub(super) steps: usize,
    /// Steps by which somebody became the prober.
    pub(super) probes: usize,
    /// Steps at which somebody found that another was faster.
    pub(super) refused: usize,
}

impl Visited {
    pub(super) fn add(&mut self, other: &Self) {
        self.states += other.states;
        self.steps += other.steps;
        self.probes += other.probes;
        self.refused += other.refused;
    }
}

/// Visits all states, deepest first; panics with the way to the first one that breaks a rule.
pub(super) fn explore(subject: &Subject, bounds: Bounds) -> Visited {
    let start = State::new(bounds);
    let start = if bounds.is_set { with_hold(start, subject) } else { start };
    let mut visited = Visited::default();
    let mut seen = HashSet::from([start.clone()]);
    let mut path: Vec<(State, Vec<Move>)> = vec![(start.clone(), possible(&start))];
    let mut taken: Vec<Move> = Vec::new();
    while let Some((state, moves)) = path.last_mut() {
        let Some(step) = moves.pop() else {
            path.pop();
            taken.pop();
            continue;
        };
        taken.push(step);
        visited.steps += 1;
        let next = make(state, step, subject).unwrap_or_else(|rule| panic!("{rule}\nafter {taken:?}"));
        note(&mut visited, &next, step);
        if seen.insert(next.clone()) {
            somebody_gets_through(&next, subject).unwrap_or_else(|rule| panic!("{rule}\nafter {taken:?}"));
            let moves = possible(&next);
            path.push((next, moves));
        } else {
            taken.pop();
        }
    }
    visited.states = seen.len();
    visited
}

fn note(visited: &mut Visited, next: &State, step: Move) {
    match step {
        Move::Claims(who) if next.processes[who].lease().is_some() => visited.probes += 1,
        Move::Claims(_) => visited.refused += 1,
        Move::Commits(who) if matches!(next.processes[who].place, Place::Decides { .. }) => visited.refused += 1,
        _ => {}
    }
}
