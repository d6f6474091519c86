//! Whether a deployment may be asked, for who looks at it without a request in hand.

use jiff::Timestamp;

use crate::domain::Target;
use crate::policy::{Caller, Demand, Gauge, Room, Tightness, UsageSettings, UsageState, Versioned, room};

use super::eligibility::{Eligibility, eligibility};

/// Whether a deployment may be asked.
#[derive(Debug, Clone, PartialEq)]
pub enum Access<'a> {
    /// It may.
    Free,
    /// By the one that gets the leases of all these holds.
    Probe(Vec<&'a Versioned>),
    /// It may not; this hold is the one that lasts longest.
    Held(&'a Versioned),
    /// A limit leaves no room for even a small request.
    Full(Tightness),
}

impl Access<'_> {
    /// Whether somebody may ask it now.
    pub const fn is_open(&self) -> bool {
        matches!(self, Self::Free | Self::Probe(_))
    }
}

/// Who is looked at.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The deployment.
    pub target: &'a Target,
    /// Its allowances.
    pub gauges: &'a [Gauge],
    /// With what it would be asked.
    pub caller: Caller<'a>,
}

/// Whether it may be asked now, by all that is remembered.
pub fn access<'a>(
    holds: &'a [Versioned],
    usage: &UsageState,
    asked: &Asked<'_>,
    bounds: &UsageSettings,
    now: Timestamp,
) -> Access<'a> {
    let demand = Demand { requests: 1.0, ..Demand::default() };
    match eligibility(holds, asked.target, now, asked.caller) {
        Eligibility::Held(by) => Access::Held(by),
        Eligibility::Probe(claims) => Access::Probe(claims),
        Eligibility::Eligible => match room(asked.target, asked.gauges, usage, &demand, bounds, now) {
            Room::None(tight) => Access::Full(tight),
            Room::Enough | Room::Little(_) => Access::Free,
        },
    }
}
