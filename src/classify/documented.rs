//! When the catalogue says that an allowance comes back.

use jiff::Timestamp;

use crate::catalog::Catalog;
use crate::domain::{Dimension, ModelName, ProviderName};

/// The next reset by the catalogue's clock of that limit.
pub(crate) fn documented_reset(
    _catalog: &Catalog,
    _provider: Option<&ProviderName>,
    _model: Option<&ModelName>,
    _dimension: Option<Dimension>,
    _now: Timestamp,
) -> Option<Timestamp> {
    None
}
