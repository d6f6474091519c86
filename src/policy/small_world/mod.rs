//! All that can happen to the lease of a probe, tried out.
//!
//! A test of examples shows what its author thought of. Here the world is made so small that everything in it can be
//! visited: a store with one hold, two or three processes, a clock. A process reads, is told what the gate says, claims,
//! sends, learns what came of it or is killed, decides and commits, and decides again when another was faster; between
//! any two steps of one of them another may make a step, time may pass, or the clock may jump. Each state is visited
//! once, and in each one the rules of `rules` are asked. The decisions are the real ones.

mod explore;
mod found;
mod moves;
mod rules;
mod state;

use super::{BreakerSettings, PolicySettings};
use crate::domain::{Class, Failure, Provenance};
use explore::{Visited, explore};
use state::{Bounds, Subject};
use std::time::Duration;

/// Numbers so small that a few failures go a long way.
fn settings() -> PolicySettings {
    let breaker = BreakerSettings {
        failures: 2,
        consecutive: 2,
        open: Duration::from_secs(30),
        open_max: Duration::from_secs(60),
        ..BreakerSettings::default()
    };
    PolicySettings { breaker, lease: Duration::from_secs(20), ..PolicySettings::default() }
}

const HOUR: i64 = 3600;

fn subject(class: Class, provenance: Provenance, every: Option<i64>, returns_within: i64) -> Subject {
    let failure = Failure { provenance, ..super::world::failure(class) };
    let failures = if class == Class::ServerError { 2 } else { 1 };
    Subject { failure, failures, every, settings: settings(), returns_within }
}

/// Visits everything within the bounds and prints how much that was.
fn visit(name: &str, subject: &Subject) {
    let bounds =
        |processes, requests, ticks, jumps, is_set| Bounds { processes, requests, ticks, jumps, is_set, hurries: 0 };
    let mut total = Visited::default();
    for bounds in [
        // How it comes to be set, how it is lifted and set again, the clock that jumps, and one more at the probe.
        bounds(2, 2, 1, 0, false),
        bounds(2, 2, 2, 0, true),
        bounds(2, 1, 2, 1, true),
        bounds(3, 1, 2, 0, true),
        // Somebody who cannot wait for the time of the probe.
        Bounds { hurries: 1, ..bounds(2, 2, 1, 0, true) },
    ] {
        let visited = explore(subject, bounds);
        println!("{name}: {} states, {} steps between them, with {bounds:?}", visited.states, visited.steps);
        total.add(&visited);
    }
    let Visited { states, probes, refused, .. } = total;
    assert!(states > 20_000, "{name}: only {states} states: the world has become too small");
    assert!(probes > 500 && refused > 500, "{name}: {probes} probes, {refused} times too late: nothing is tried");
}

#[test]
fn a_circuit_of_transient_faults() {
    visit("transient", &subject(Class::ServerError, Provenance::Guess, None, 60));
}

#[test]
fn a_circuit_of_a_key() {
    visit("auth", &subject(Class::Auth, Provenance::Guess, None, HOUR / 2));
}

#[test]
fn a_quarantine_whose_end_is_guessed() {
    visit("guess", &subject(Class::QuotaExhausted, Provenance::Guess, None, 8 * HOUR));
}

#[test]
fn a_quarantine_whose_end_is_documented() {
    visit("documented", &subject(Class::QuotaExhausted, Provenance::Documented, Some(3 * HOUR), 3 * HOUR));
}

#[test]
fn a_quarantine_whose_end_is_days_away() {
    visit("fact", &subject(Class::QuotaExhausted, Provenance::Fact, Some(72 * HOUR), 24 * HOUR));
}
