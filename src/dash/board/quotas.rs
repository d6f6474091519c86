//! Each allowance: how much of it is used, when it comes back, and when it runs out at the present pace.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::domain::{Dimension, Scope, printable};
use crate::policy::{LimitSource, forecasts, readings};
use crate::report::selector_of;

use super::DeploymentLine;
use crate::dash::reading::Reading;

/// An allowance.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::dash) struct QuotaLine {
    pub(in crate::dash) scope: Scope,
    /// Whose it is, fit for a terminal.
    pub(in crate::dash) name: String,
    pub(in crate::dash) dimension: Dimension,
    pub(in crate::dash) used: f64,
    pub(in crate::dash) limit: Option<f64>,
    pub(in crate::dash) resets_at: Option<Timestamp>,
    /// Who says how high the limit is.
    pub(in crate::dash) source: String,
    /// When it is used up at the present pace, if that is before it comes back.
    pub(in crate::dash) runs_out: Option<Timestamp>,
}

impl QuotaLine {
    /// What of it is used; 1 is all.
    pub(in crate::dash) fn share(&self) -> Option<f64> {
        self.limit.filter(|limit| *limit > 0.0).map(|limit| self.used / limit)
    }
}

/// All allowances of which something is used, the fullest first; those without a limit come last.
pub(super) fn lines(reading: &Reading, deployments: &[DeploymentLine]) -> Vec<QuotaLine> {
    let mut seen = BTreeSet::new();
    let mut all = Vec::new();
    for line in deployments {
        let Some(known) = reading.known.get(line.known) else { continue };
        let ahead = forecasts(&known.target, &known.gauges, &reading.snapshot.usage, reading.now);
        for quota in readings(&known.target, &known.gauges, &reading.snapshot.usage, reading.now) {
            if quota.used <= 0.0 || !seen.insert((quota.scope.to_string(), account(&quota.scope), quota.dimension)) {
                continue;
            }
            let limit = quota.limit.as_ref();
            let source = limit.map(|limit| match &limit.source {
                LimitSource::Config => "config".to_owned(),
                LimitSource::Stated(_) => "provider".to_owned(),
                LimitSource::Catalogue => "catalogue".to_owned(),
            });
            all.push(QuotaLine {
                name: printable(&named(&quota.scope)),
                dimension: quota.dimension,
                used: quota.used,
                limit: limit.map(|limit| limit.value),
                resets_at: quota.resets_at,
                source: source.unwrap_or_default(),
                runs_out: ahead
                    .iter()
                    .find(|one| one.scope == quota.scope && one.dimension == quota.dimension)
                    .and_then(|one| one.runs_out),
                scope: quota.scope,
            });
        }
    }
    let share = |line: &QuotaLine| line.share().unwrap_or(-1.0);
    all.sort_by(|one, other| share(other).total_cmp(&share(one)).then_with(|| one.name.cmp(&other.name)));
    all
}

fn account(scope: &Scope) -> Option<String> {
    scope.account.as_ref().map(ToString::to_string)
}

/// As one would name it to a command, with the account where that is not a key's own.
fn named(scope: &Scope) -> String {
    let selector = selector_of(scope);
    match &scope.account {
        Some(account) if scope.credential.is_none() => format!("{selector} ({account})"),
        _ => selector.to_string(),
    }
}
