//! Pure state machines: what a failure or a success changes, and how long a hold lasts.
//!
//! Nothing here reads a clock, draws a random number or touches a file. A machine gets the records that exist, what
//! happened, the time and one drawn number, and answers with changes. The store compares and writes them; when another
//! process was faster, the same pure decision is made again on what that process wrote. So every rule exists once.

mod alarm;
mod apply;
mod backoff;
mod by_hand;
mod call;
mod cascade;
mod circuit;
mod consistency;
mod cooldown;
mod finding;
mod gate;
mod history;
mod quality;
mod quarantine;
mod record;
mod settings;
mod track;
mod until;
mod usage;

#[cfg(test)]
mod by_hand_tests;
#[cfg(test)]
mod cascade_tests;
#[cfg(test)]
mod consistency_tests;
#[cfg(test)]
mod history_tests;
#[cfg(test)]
mod invariants;
#[cfg(test)]
mod rivals;
#[cfg(test)]
mod small_world;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod world;

pub use alarm::{
    Alarm, AlarmEvent, AlarmKind, AlarmSettings, Letter, LetterEnd, Quiet, Reconciled, Sighting, Sink, Standing,
    Telling, Words, budget_standing, forecast_standing, hold_standing, hold_subject, reconcile,
};
pub use apply::{apply, hold_scope};
pub use backoff::full_jitter;
pub use by_hand::{bar, hastened};
pub use call::{Caller, Event, Moment, Report};
pub use cascade::{
    Cascade, CascadeChange, CascadeState, Ending, Fall, Passage, Tally, VersionedCascade, after as after_request,
};
pub use consistency::{Bands, Breach, Drift, Field, Lies, breaches, drifts, fields, fields_among, representative};
pub use finding::{About, BELIEVED, Finding};
pub use gate::{Gate, claim, depends_on_caller, gate, holds_now, is_transient, returns_at};
pub use quality::{ENOUGH_JUDGED, Grade, Quality, Role};
pub use record::{
    Change, Circuit, CircuitState, Cooldown, Family, HoldKind, HoldRecord, Key, Lease, Quarantine, Versioned,
};
pub use settings::{BreakerSettings, CascadeSettings, PolicySettings, RateLimitSettings, UsageSettings};
pub use track::{ENOUGH_TIMES, Sample, Times, TrackRecord};
pub use usage::{
    Demand, Estimate, Flight, Forecast, Gauge, Learned, Limit, LimitSource, Meter, MeterChange, MeterKey, Pace,
    Reading, Room, Spent, Tightness, UsageState, VersionedMeter, count, forecasts, full, is_limited, readings, room,
    tokens_left,
};
