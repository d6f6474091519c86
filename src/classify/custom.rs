//! The operator's own rules, which come before all others.

use crate::domain::{Class, Dimension, Evidence, ProviderName, ScopeLevel};

use super::signals::Signals;

/// A rule of the operator. It matches when all the parts that are set match; a rule without any part matches nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomRule {
    /// The name that stands in results.
    pub name: String,
    /// Only for this provider.
    pub provider: Option<ProviderName>,
    /// Only for this status, of the exchange or within the body.
    pub status: Option<u16>,
    /// Only with this code, in any case.
    pub code: Option<String>,
    /// Only with this type, in any case.
    pub kind: Option<String>,
    /// Only when the text holds this, in any case.
    pub contains: Option<String>,
    /// What it is.
    pub class: Class,
    /// What to hold back; the class's usual scope when not said.
    pub scope: Option<ScopeLevel>,
    /// Which limit.
    pub dimension: Option<Dimension>,
}

impl CustomRule {
    /// Whether all the parts that are set match.
    pub(crate) fn matches(&self, evidence: &Evidence, signals: &Signals) -> bool {
        let layers = || signals.layers.iter().map(|read| &read.layer);
        let same = |wanted: &str, words: &[String]| words.iter().any(|word| word.eq_ignore_ascii_case(wanted));
        let nothing_set =
            self.status.is_none() && self.code.is_none() && self.kind.is_none() && self.contains.is_none();
        if nothing_set {
            return false;
        }
        let provider = |wanted: &ProviderName| {
            signals.provider.as_deref().is_some_and(|p| p.eq_ignore_ascii_case(wanted.as_str()))
        };
        let status =
            |wanted: u16| evidence.status == Some(wanted) || layers().any(|layer| layer.statuses.contains(&wanted));
        let contains = |wanted: &str| {
            let wanted = super::text::normalise(wanted);
            !wanted.is_empty()
                && (signals.layers.iter().any(|read| read.words.contains(&wanted))
                    || super::text::normalise(&signals.raw).contains(&wanted))
        };
        self.provider.as_ref().is_none_or(provider)
            && self.status.is_none_or(status)
            && self.code.as_ref().is_none_or(|wanted| layers().any(|layer| same(wanted, &layer.codes)))
            && self.kind.as_ref().is_none_or(|wanted| layers().any(|layer| same(wanted, &layer.kinds)))
            && self.contains.as_ref().is_none_or(|wanted| contains(wanted))
    }
}
