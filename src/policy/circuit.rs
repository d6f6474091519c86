//! Circuits: breakers of a scope.
//!
//! Transient faults are counted and open the circuit at a threshold, either many in a short window or a few in a row,
//! so that it is sane at five requests an hour as well as at a hundred a second. Faults that a person must mend open it
//! at once. An open circuit ends in one way only: one leased probe passes, and its success closes the circuit, its
//! failure opens it again for longer. Late failures of calls that were under way when it opened change nothing, and a
//! prober that vanishes frees its lease by expiry.

use std::time::Duration;

use jiff::Timestamp;

use crate::domain::{Failure, Provenance, Scope};

use super::backoff::doubled;
use super::call::{Caller, Moment, Report};
use super::gate::was_ahead;
use super::record::{Circuit, CircuitState, Family};
use super::settings::BreakerSettings;
use super::until::later;

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(24 * 3600);
/// How many keys and config entries that failed are remembered of one circuit.
const MOST_PRINTS: usize = 64;
/// What marks the fingerprint of a config entry among those of keys.
const ENTRY: &str = "entry:";

/// The circuit after a failure of its family; none when nothing changes.
pub(super) fn after_failure(
    existing: Option<&Circuit>,
    failure: &Failure,
    scope: Scope,
    family: Family,
    report: &Report<'_>,
    moment: &Moment<'_>,
) -> Option<Circuit> {
    let now = moment.now;
    let mut circuit = existing.cloned().unwrap_or_else(|| Circuit::closed(scope, family, failure, now));
    match circuit.state {
        CircuitState::Closed => {
            circuit.note(failure, report, now);
            if family != Family::Transient || circuit.count(now, &moment.settings.breaker) {
                circuit.open(failure, report, moment);
            }
            Some(circuit)
        }
        // Only the probe's own failure says something new.
        CircuitState::HalfOpen if report.holds(circuit.lease.as_ref()) => {
            circuit.note(failure, report, now);
            circuit.open(failure, report, moment);
            Some(circuit)
        }
        CircuitState::Open | CircuitState::HalfOpen => None,
    }
}

impl Circuit {
    /// A circuit that has seen nothing yet.
    fn closed(scope: Scope, family: Family, failure: &Failure, now: Timestamp) -> Self {
        Self {
            scope,
            family,
            state: CircuitState::Closed,
            class: failure.class,
            consecutive: 0,
            recent: Vec::new(),
            opened_at: None,
            retry_at: None,
            opens: 0,
            lease: None,
            provenance: Provenance::Guess,
            fingerprint: None,
            last_failure: now,
            evidence: String::new(),
            request_id: None,
        }
    }

    /// Keeps what the failure said.
    fn note(&mut self, failure: &Failure, report: &Report<'_>, now: Timestamp) {
        self.class = failure.class;
        self.last_failure = now;
        self.evidence.clone_from(&failure.evidence);
        self.request_id = Some(report.request_id.clone());
    }

    /// Counts one failure and says whether the threshold is met.
    fn count(&mut self, now: Timestamp, breaker: &BreakerSettings) -> bool {
        self.consecutive = self.consecutive.saturating_add(1);
        self.recent.push(now);
        let keep = breaker.failures.max(breaker.consecutive) as usize;
        let surplus = self.recent.len().saturating_sub(keep);
        self.recent.drain(..surplus);
        let many = self.nth_last(breaker.failures).is_some_and(|first| within(first, now, breaker.window));
        let in_a_row = self.consecutive >= breaker.consecutive
            && self.nth_last(breaker.consecutive).is_some_and(|first| within(first, now, breaker.consecutive_window));
        many || in_a_row
    }

    /// The time of the failure that began the last `n`.
    fn nth_last(&self, n: u32) -> Option<Timestamp> {
        let at = self.recent.len().checked_sub(n.max(1) as usize)?;
        self.recent.get(at).copied()
    }

    /// Opens it, or opens it again for longer.
    fn open(&mut self, failure: &Failure, report: &Report<'_>, moment: &Moment<'_>) {
        let Moment { now, settings, jitter } = *moment;
        // Another key or config entry was tried before the time: it says nothing about how long the first ones have to
        // wait.
        let early = self.state == CircuitState::HalfOpen
            && self.retry_at.is_some_and(|at| at > now)
            && !self.opened_at.is_some_and(|at| was_ahead(at, now));
        let before = self.opened_at.filter(|at| !was_ahead(*at, now));
        self.fingerprint = self.failed_with(report);
        self.state = CircuitState::Open;
        self.opened_at = Some(now);
        self.lease = None;
        if early {
            return;
        }
        let wait = |times: u32, lasting: bool| match self.family {
            Family::Transient => doubled(settings.breaker.open, settings.breaker.open_max, times),
            family => until_looked_at(family, times, report.last_success.is_some(), lasting),
        };
        // A person may have had it looked at before its time; what was known to last longer is not forgotten for that.
        let known = before
            .zip(self.opens.checked_sub(1))
            .map(|(opened, times)| later(opened, wait(times, self.provenance == Provenance::Fact)));
        let next = wait(self.opens, failure.lasting);
        // Spread, so that not all circuits come back in the same second; never sooner than said, and not by hours.
        let spread = (next / 5).min(MINUTE).mul_f64(jitter.clamp(0.0, 1.0));
        self.retry_at = Some(later(now, next + spread)).max(known);
        self.opens = self.opens.saturating_add(1);
        self.provenance = if failure.lasting { Provenance::Fact } else { Provenance::Guess };
    }

    /// With what it is known to fail: the keys that did since it first opened, this one, the others that the account had
    /// at that time, and the config entries. Were only the latest remembered, keys of one account would take turns at
    /// being another key, and its hold would hold nobody.
    fn failed_with(&self, report: &Report<'_>) -> Option<String> {
        let known = self.fingerprint.as_deref().filter(|_| self.state != CircuitState::Closed).unwrap_or_default();
        let mut prints: Vec<String> = known.split_ascii_whitespace().map(str::to_owned).collect();
        let entry = report.caller.entry.map(|entry| format!("{ENTRY}{entry}"));
        let keys = report.siblings.iter().copied().chain(report.caller.key).map(str::to_owned);
        for print in keys.chain(entry) {
            prints.retain(|known| *known != print);
            prints.push(print);
        }
        let surplus = prints.len().saturating_sub(MOST_PRINTS);
        prints.drain(..surplus);
        (!prints.is_empty()).then(|| prints.join(" "))
    }

    /// Whether the caller comes with something that did not fail yet and can be what was wrong: another key where the
    /// circuit is about keys, another config entry of the provider where a person must act. A network that is down is so
    /// for everybody, and a model that is gone is so for every key.
    pub(super) fn is_news(&self, caller: Caller<'_>) -> bool {
        let (about_keys, about_entries) = match self.family {
            // What a person bars is barred whoever asks.
            Family::Transient | Family::Operator => (false, false),
            Family::Model => (false, true),
            Family::Auth | Family::Billing | Family::Permission => (true, true),
        };
        let failed = self.fingerprint.as_deref().unwrap_or_default();
        let (entries, keys): (Vec<&str>, Vec<&str>) =
            failed.split_ascii_whitespace().partition(|print| print.starts_with(ENTRY));
        let is_new = |known: &[&str], mine: Option<&str>| {
            !known.is_empty()
                && mine.is_some_and(|mine| !known.iter().any(|known| known.trim_start_matches(ENTRY) == mine))
        };
        (about_keys && is_new(&keys, caller.key)) || (about_entries && is_new(&entries, caller.entry))
    }

    /// What a success leaves: none when the record can go.
    pub(super) fn after_success(&self, report: &Report<'_>) -> Option<Self> {
        match self.state {
            CircuitState::Closed if self.recent.is_empty() => None,
            CircuitState::Closed => Some(Self { consecutive: 0, ..self.clone() }),
            // The probe was let through after it opened, whatever the clocks say; another call that was sent before it
            // opened proves nothing about now.
            _ if report.holds(self.lease.as_ref()) => None,
            _ if self.opened_at.is_some_and(|opened| report.started_at < opened) => Some(self.clone()),
            _ => None,
        }
    }
}

fn within(first: Timestamp, now: Timestamp, window: Duration) -> bool {
    later(first, window) >= now
}

/// How long until somebody may look whether a person has acted, after `times` looks that found that nobody had.
fn until_looked_at(family: Family, times: u32, ever_worked: bool, lasting: bool) -> Duration {
    match family {
        Family::Billing => doubled(6 * HOUR, DAY, times),
        // A key that worked is rotated, or the provider has an incident: look soon, then rarely.
        Family::Auth if ever_worked => {
            [MINUTE, 5 * MINUTE, 30 * MINUTE].get(times as usize).copied().unwrap_or(6 * HOUR)
        }
        // What the provider itself calls gone does not come back; a model that it only does not find may be a slip.
        Family::Model if lasting => doubled(DAY, 7 * DAY, times),
        Family::Transient | Family::Auth | Family::Permission | Family::Model | Family::Operator => DAY,
    }
}
