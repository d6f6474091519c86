//! By what the deployments are sorted.

use std::cmp::Ordering;

use jiff::Timestamp;

use super::board::DeploymentLine;

/// A column of the deployments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    State,
    Name,
    Until,
    Failures,
    Ttft,
    Latency,
    Valid,
    Tokens,
    Cost,
}

impl Column {
    pub(super) const ALL: [Self; 9] = [
        Self::State,
        Self::Name,
        Self::Until,
        Self::Failures,
        Self::Ttft,
        Self::Latency,
        Self::Valid,
        Self::Tokens,
        Self::Cost,
    ];

    /// The letter that, with shift, sorts by it.
    pub(super) const fn letter(self) -> char {
        match self {
            Self::State => 'S',
            Self::Name => 'N',
            Self::Until => 'U',
            Self::Failures => 'F',
            Self::Ttft => 'T',
            Self::Latency => 'L',
            Self::Valid => 'V',
            Self::Tokens => 'K',
            Self::Cost => 'C',
        }
    }

    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::State => "State",
            Self::Name => "Name",
            Self::Until => "Until",
            Self::Failures => "Fails",
            Self::Ttft => "Ttft p50/p95",
            Self::Latency => "Latency p95",
            Self::Valid => "Valid",
            Self::Tokens => "toKens",
            Self::Cost => "Cost",
        }
    }
}

/// An order of deployments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sort {
    pub(super) by: Column,
    pub(super) is_reversed: bool,
}

impl Default for Sort {
    /// What needs a person first.
    fn default() -> Self {
        Self { by: Column::State, is_reversed: false }
    }
}

impl Sort {
    /// The same column again turns the order around.
    #[must_use]
    pub(super) fn chosen(self, by: Column) -> Self {
        Self { by, is_reversed: self.by == by && !self.is_reversed }
    }

    pub(super) fn compare(self, one: &DeploymentLine, other: &DeploymentLine) -> Ordering {
        let order = match self.by {
            Column::State => one.state.cmp(&other.state),
            Column::Name => Ordering::Equal,
            Column::Until => latest(one.until, other.until),
            Column::Failures => other.failures.cmp(&one.failures),
            Column::Ttft => slowest(one, other, |line| line.figures.ttft.map(|times| times.p95)),
            Column::Latency => slowest(one, other, |line| line.figures.attempt_latency.map(|times| times.p95)),
            Column::Valid => {
                let part = |line: &DeploymentLine| line.figures.valid.unwrap_or(1.0);
                part(one).total_cmp(&part(other))
            }
            Column::Tokens => tokens(other).cmp(&tokens(one)),
            Column::Cost => other.figures.money.total.total_cmp(&one.figures.money.total),
        };
        let order = if self.is_reversed { order.reverse() } else { order };
        order.then_with(|| one.name.cmp(&other.name))
    }
}

const fn tokens(line: &DeploymentLine) -> u64 {
    line.figures.tokens.input.saturating_add(line.figures.tokens.output)
}

/// What has a value comes before what has none, the highest first.
fn slowest<T: Ord>(
    one: &DeploymentLine,
    other: &DeploymentLine,
    of: impl Fn(&DeploymentLine) -> Option<T>,
) -> Ordering {
    of(other).cmp(&of(one))
}

/// The soonest first; what has no end comes last.
fn latest(one: Option<Timestamp>, other: Option<Timestamp>) -> Ordering {
    one.unwrap_or(Timestamp::MAX).cmp(&other.unwrap_or(Timestamp::MAX))
}
