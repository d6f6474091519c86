//! What is kept beside holds, usage and the log.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::domain::{Deployment, KeptAnswer, ModelName, Prefix, ProviderName, RequestId};
use crate::policy::Finding;
use crate::store::Batch;

/// Retries, answers, findings and beginnings of prompts.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// When each retry was granted.
    retries: Vec<Timestamp>,
    /// When one was last denied.
    pub(super) denied_at: Option<Timestamp>,
    answers: BTreeMap<RequestId, KeptAnswer>,
    findings: BTreeMap<(ProviderName, ModelName, String), Finding>,
    prefixes: BTreeMap<(String, Deployment), Prefix>,
}

impl Kept {
    pub(super) fn take_retry(&mut self, now: Timestamp, since: Timestamp, budget: u32) -> bool {
        let latest = now.checked_add(now.duration_since(since)).unwrap_or(Timestamp::MAX);
        let made = self.retries.iter().filter(|at| (since..=latest).contains(*at)).count();
        let granted = made < budget as usize;
        self.retries.extend(granted.then_some(now));
        if !granted {
            self.denied_at = self.denied_at.max(Some(now));
        }
        granted
    }

    pub(super) fn write(&mut self, batch: &Batch) {
        let is_forgotten = |finding: &Finding| {
            batch.forgotten.iter().any(|(provider, model)| finding.provider == *provider && finding.model == *model)
        };
        self.findings.retain(|_, finding| !is_forgotten(finding));
        for finding in &batch.findings {
            let key = (finding.provider.clone(), finding.model.clone(), finding.about.word().to_owned());
            self.findings.insert(key, finding.clone());
        }
        for prefix in &batch.prefixes {
            self.prefixes.insert((prefix.digest.clone(), prefix.deployment.clone()), prefix.clone());
        }
        if let Some((id, answer)) = &batch.answer {
            self.answers.insert(id.clone(), answer.clone());
        }
    }

    pub(super) fn answer(&self, id: &RequestId) -> Option<KeptAnswer> {
        self.answers.get(id).cloned()
    }

    pub(super) fn findings(&self, now: Timestamp) -> Vec<Finding> {
        self.findings.values().filter(|finding| finding.until > now).cloned().collect()
    }

    pub(super) fn prefixes(&self, digest: &str, since: Timestamp) -> Vec<Prefix> {
        let is_wanted = |prefix: &&Prefix| prefix.digest == digest && prefix.at >= since;
        let mut found: Vec<Prefix> = self.prefixes.values().filter(is_wanted).cloned().collect();
        found.sort_by_key(|prefix| std::cmp::Reverse(prefix.at));
        found
    }
}
