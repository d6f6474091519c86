//! The rows of each pane, made once for each reading: what is drawn many times a second is then only cut to its place.

mod attempts;
mod deployments;
mod ladders;
mod quotas;

use jiff::Timestamp;

pub(super) use attempts::{AttemptLine, Fate};
pub(super) use deployments::DeploymentLine;
pub(super) use ladders::{LadderLine, RungLine};
pub(super) use quotas::QuotaLine;

use super::filter::Filter;
use super::reading::Reading;
use super::sort::Sort;
use crate::domain::LadderName;

/// All rows.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Board {
    /// Every ladder, whatever the filter says: nothing may hide that one is exhausted.
    pub(super) ladders: Vec<LadderLine>,
    pub(super) deployments: Vec<DeploymentLine>,
    pub(super) quotas: Vec<QuotaLine>,
    pub(super) attempts: Vec<AttemptLine>,
    /// How many deployments there are in all, and how many of them can be asked.
    pub(super) all: usize,
    pub(super) available: usize,
    /// What runs out next, whatever the filter says.
    pub(super) next_out: Option<(QuotaLine, Timestamp)>,
}

impl Board {
    pub(super) fn of(reading: &Reading, filter: &Filter, sort: Sort, only: Option<&LadderName>) -> Self {
        let mut deployments = deployments::lines(reading);
        let ladders = ladders::lines(reading, &deployments);
        if let Some(only) = only {
            deployments.retain(|line| line.ladders.contains(only));
        }
        let (all, available) = (deployments.len(), deployments.iter().filter(|line| line.state.is_available()).count());
        let mut quotas = quotas::lines(reading, &deployments);
        let next_out = next_out(&quotas);
        quotas.retain(|line| filter.takes_quota(line));
        let mut attempts = attempts::lines(reading, only);
        attempts.retain(|line| filter.takes_attempt(line));
        deployments.retain(|line| filter.takes_deployment(line));
        deployments.sort_by(|one, other| sort.compare(one, other));
        Self { ladders, deployments, quotas, attempts, all, available, next_out }
    }

    /// The ladders that nobody of would answer now.
    pub(super) fn exhausted(&self) -> impl Iterator<Item = &LadderLine> {
        self.ladders.iter().filter(|line| line.is_exhausted())
    }

    /// The ladders that one more failure would exhaust although they are built to stand more.
    pub(super) fn one_away(&self) -> impl Iterator<Item = &LadderLine> {
        self.ladders.iter().filter(|line| line.is_one_away())
    }
}

fn next_out(quotas: &[QuotaLine]) -> Option<(QuotaLine, Timestamp)> {
    let out = quotas.iter().filter_map(|line| Some((line.clone(), line.runs_out?)));
    out.min_by_key(|(_, at)| *at)
}
