//! The one door through which what came of a call gets into the state, whoever made the call.
//!
//! The driver makes calls, `probe` has it make them, and other programs make their own and report them with `record`.
//! All of them end here, or a circuit would open on one path and never close on the other. Three things belong together:
//! what the evidence means, what that changes of the holds as they stand at this very moment, and the rows of the log.
//! They are committed in one transaction; when another process was faster, the decision is made anew on what it wrote.

use jiff::Timestamp;

use crate::catalog::Catalog;
use crate::classify::{Classify, stated_limits};
use crate::clock::Clock;
use crate::domain::{
    AttemptRecord, Class, Deployment, Evidence, Failure, KeptAnswer, KeptEvidence, Prefix, Redactor, RequestId,
    RequestRecord, StatedLimit, Target, Usage,
};
use crate::policy::{
    Caller, Change, Demand, Estimate, Event, Finding, Gauge, Moment, PolicySettings, Report, Spent, UsageState, apply,
    count,
};
use crate::store::{Accounts, Batch, Store, StoreError, update_locked};

use super::cascade::LadderEnd;
use super::keep::kept;
use super::record::{held_until, presentable};

/// What is needed to judge calls and to write down what came of them.
pub struct Ledger<'a> {
    /// The state.
    pub store: &'a dyn Store,
    /// What knows failures.
    pub classifier: &'a dyn Classify,
    /// What knows providers.
    pub catalog: &'a Catalog,
    /// The numbers of the failure table.
    pub settings: &'a PolicySettings,
    /// The clock.
    pub clock: Clock,
    /// What knows secrets.
    pub redactor: &'a Redactor,
}

/// A call that was made.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// Who was asked.
    pub target: &'a Target,
    /// For which request; it also holds the leases that were taken for the call.
    pub request_id: &'a RequestId,
    /// When it was sent.
    pub started_at: Timestamp,
    /// With what it was asked.
    pub caller: Caller<'a>,
    /// The fingerprints of the account's other keys.
    pub siblings: &'a [&'a str],
    /// The allowances that the call used.
    pub gauges: &'a [Gauge],
}

/// What the log keeps of a call, before it is known until when a failure holds.
#[derive(Debug, Clone, Default)]
pub struct Entry {
    /// The attempt with its place in the request, counted from 0; none for a call that was given up.
    pub attempt: Option<(u32, AttemptRecord)>,
    /// All that was said, where no rule knows what it means.
    pub kept: Option<KeptEvidence>,
    /// What the call used and taught.
    pub metered: Metered,
    /// Which beginning of a prompt was served with it.
    pub prefixes: Vec<Prefix>,
    /// Under which id the call counted as under way, where that is not the request's own: a request may have two.
    pub lands: Option<RequestId>,
    /// What the failure taught of the model.
    pub findings: Vec<Finding>,
    /// The answer, where answers are kept and this is it.
    pub answer: Option<KeptAnswer>,
    /// The request's own row, when this was its end. If it is exhausted, it says when the deployment returns.
    pub request: Option<RequestRecord>,
    /// What that end means for its ladder.
    pub ladder_end: Option<LadderEnd>,
}

/// What a call used, and what its answer says of limits and tokens.
#[derive(Debug, Clone, Default)]
pub struct Metered {
    /// What it used; nothing for a call that was refused.
    pub used: Demand,
    /// The limits that the answer states.
    pub stated: Vec<StatedLimit>,
    /// How many tokens the prompt was taken for, and what the answer says of them.
    pub tokens: Option<(u64, Usage)>,
}

/// What a call changed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Booked {
    /// Until when its failure holds anything back.
    pub held_until: Option<Timestamp>,
    /// The holds that it set, changed or lifted.
    pub changes: Vec<Change>,
}

impl Ledger<'_> {
    /// What the evidence means, with all of it where that is not known. It was seen at `at`, where it does not say so
    /// itself.
    pub fn judge(&self, evidence: Evidence, asked: &Deployment, at: Timestamp) -> (Failure, Option<KeptEvidence>) {
        let Deployment { provider, model, .. } = asked.clone();
        let at = evidence.at.unwrap_or(at);
        let evidence = Evidence { provider: Some(provider), model: Some(model), at: Some(at), ..evidence };
        let failure = self.classifier.classify(&evidence, self.catalog, at);
        let kept = (failure.class == Class::Unknown).then(|| kept(&evidence, self.redactor));
        (presentable(failure, self.redactor), kept)
    }

    /// The limits that a reply states, whether it was an answer or not.
    pub fn stated(&self, evidence: &Evidence, asked: &Deployment, at: Timestamp) -> Vec<StatedLimit> {
        let Deployment { provider, model, .. } = asked.clone();
        // Waits count from when they were heard, whatever the provider's clock shows.
        let at = evidence.at.unwrap_or(at);
        let evidence = Evidence { provider: Some(provider), model: Some(model), at: Some(at), ..evidence.clone() };
        stated_limits(&evidence, self.catalog, at)
    }

    /// Makes the decision on what the store holds and commits it together with the entry. `jitter` is a drawn number in
    /// 0..1.
    ///
    /// # Errors
    /// When the state cannot be read or written; nothing is written then.
    pub fn book(&self, asked: &Asked<'_>, event: Event<'_>, entry: &Entry, jitter: f64) -> Result<Booked, StoreError> {
        let last_success = match event {
            Event::Failure(failure) if failure.class == Class::Auth => self.last_success(&asked.target.deployment)?,
            _ => None,
        };
        let happened = Report {
            target: asked.target,
            request_id: asked.request_id,
            started_at: asked.started_at,
            caller: asked.caller,
            siblings: asked.siblings,
            last_success,
        };
        update_locked(self.store, &Accounts::of([asked.target]), |snapshot| {
            // The time of this look: by that of an earlier one, what another process wrote meanwhile could be from so far
            // in the future, after a machine that slept, that it would not count.
            let now = self.clock.now();
            let moment = Moment { now, settings: self.settings, jitter };
            let changes = apply(&snapshot.holds, event, &happened, &moment);
            let held_until = held_until(&changes, now);
            let spent = entry.metered.spent(asked, event, &changes);
            let batch = Batch {
                meters: count(&snapshot.usage, &spent, now),
                estimates: entry.metered.estimate(asked, &snapshot.usage).into_iter().collect(),
                landed: snapshot.usage.landed(entry.lands.as_ref().unwrap_or(asked.request_id), now),
                cascades: entry
                    .ladder_end
                    .as_ref()
                    .map_or_else(Vec::new, |end| end.changes(&snapshot.cascades, asked.request_id, now)),
                ..entry.batch(asked.request_id, held_until, changes.clone())
            };
            (batch, Booked { held_until, changes })
        })
    }

    /// When this key last got an answer.
    fn last_success(&self, asked: &Deployment) -> Result<Option<Timestamp>, StoreError> {
        let health = self.store.health()?;
        let same_key = |known: &Deployment| known.provider == asked.provider && known.credential == asked.credential;
        Ok(health.iter().filter(|known| same_key(&known.deployment)).filter_map(|known| known.last_success).max())
    }
}

impl Metered {
    fn spent<'a>(&'a self, asked: &Asked<'a>, event: Event<'a>, changes: &'a [Change]) -> Spent<'a> {
        let failure = match event {
            Event::Failure(failure) => Some(failure),
            Event::Success | Event::Abandoned => None,
        };
        let Self { used, stated, .. } = self;
        Spent { target: asked.target, gauges: asked.gauges, used: *used, stated, failure, changes }
    }

    /// What is known of the model's tokens after this answer.
    fn estimate(&self, asked: &Asked<'_>, usage: &UsageState) -> Option<Estimate> {
        let (input, said) = self.tokens?;
        usage.estimate(&asked.target.deployment).after(input, &said)
    }
}

impl Entry {
    fn batch(&self, id: &RequestId, held_until: Option<Timestamp>, changes: Vec<Change>) -> Batch {
        let mut batch = Batch {
            changes,
            request: self.request.clone(),
            findings: self.findings.clone(),
            prefixes: self.prefixes.clone(),
            answer: self.answer.clone().map(|answer| (id.clone(), answer)),
            ..Batch::default()
        };
        if let Some(request) =
            batch.request.as_mut().filter(|request| request.outcome == crate::domain::Outcome::Exhausted)
        {
            request.retry_at = held_until;
        }
        if let Some((place, attempt)) = &self.attempt {
            let attempt = AttemptRecord { held_until, ..attempt.clone() };
            batch.attempts.push((id.clone(), *place, attempt));
            batch.kept.extend(self.kept.clone().map(|kept| (id.clone(), *place, kept)));
        }
        batch
    }
}
