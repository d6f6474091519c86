//! When the catalogue says that an allowance comes back.

use jiff::Timestamp;

use crate::catalog::Catalog;
use crate::domain::{Dimension, ModelName, ProviderName};

/// The next reset by the catalogue's clock of that limit.
pub(crate) fn documented_reset(
    catalog: &Catalog,
    provider: Option<&ProviderName>,
    model: Option<&ModelName>,
    dimension: Option<Dimension>,
    now: Timestamp,
) -> Option<Timestamp> {
    catalog.next_reset(provider?, model, dimension?, now)
}
