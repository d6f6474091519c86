//! A limit as config and catalogue know it.

use crate::catalog::{Cap, ResetClock, SourceKind};
use crate::domain::{Dimension, Provenance, Scope, ScopeLevel, Target, Unit};

use super::meter::Learned;

/// Who says how high a limit is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LimitSource {
    /// The operator's config.
    Config,
    /// The provider: where it stood.
    Stated(String),
    /// The catalogue.
    Catalogue,
}

impl LimitSource {
    /// How much it is trusted.
    pub const fn provenance(&self) -> Provenance {
        match self {
            Self::Config => Provenance::Operator,
            Self::Stated(_) => Provenance::Fact,
            Self::Catalogue => Provenance::Documented,
        }
    }
}

/// How high a limit is.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    /// In the unit of its dimension.
    pub value: f64,
    /// Who says so.
    pub source: LimitSource,
}

/// One allowance of a deployment: what is counted for it, and how high the limit is if config or catalogue say so.
#[derive(Debug, Clone, PartialEq)]
pub struct Gauge {
    /// Whose allowance.
    pub scope: Scope,
    /// Which one.
    pub dimension: Dimension,
    /// In what it is counted; none for what only answers can tell.
    pub unit: Option<Unit>,
    /// When it comes back.
    pub clock: ResetClock,
    /// The limit.
    pub limit: Option<Limit>,
}

impl Gauge {
    /// The gauge of a cap for one target.
    pub fn new(cap: &Cap, target: &Target) -> Self {
        let scope = match cap.scope {
            ScopeLevel::Provider => Scope::provider(target.deployment.provider.clone()),
            ScopeLevel::Region => Scope::region(target),
            ScopeLevel::Credential => Scope::credential(target),
            ScopeLevel::Account => Scope::account(target),
            ScopeLevel::Model | ScopeLevel::Request => Scope::account_model(target),
        };
        // The operator who says nothing else counts calls.
        let is_open = matches!(cap.dimension, Dimension::Weekly | Dimension::Monthly | Dimension::Other);
        let calls = (cap.source == SourceKind::Config && is_open).then_some(Unit::Requests);
        let source = if cap.source == SourceKind::Config { LimitSource::Config } else { LimitSource::Catalogue };
        Self {
            scope,
            dimension: cap.dimension,
            unit: cap.unit.or(cap.dimension.unit()).or(calls),
            clock: cap.reset.clone(),
            limit: cap.limit.map(|value| Limit { value: value as f64, source }),
        }
    }

    /// What is counted of every deployment, so that a person sees what was used where nobody knows a limit.
    pub fn usual(dimension: Dimension, target: &Target) -> Self {
        // By its name, unless an answer says better.
        let (scope, clock) = (Scope::account_model(target), ResetClock::Stated);
        Self { scope, dimension, unit: dimension.unit(), clock, limit: None }
    }
}

/// The limit that counts. The smaller of what the operator and the provider say: one that is lower than thought is
/// believed at once. The catalogue's only where neither says any.
pub(super) fn effective(known: Option<&Limit>, learned: Option<&Learned>) -> Option<Limit> {
    let learned =
        learned.map(|learned| Limit { value: learned.value, source: LimitSource::Stated(learned.source.clone()) });
    match (known, learned) {
        (Some(known), Some(learned)) if known.source == LimitSource::Config => {
            Some(if learned.value < known.value { learned } else { known.clone() })
        }
        (known, learned) => learned.or_else(|| known.cloned()),
    }
}
