//! What somebody saw who looked, and how much it says.

use std::time::Duration;

use jiff::Timestamp;

use super::super::gate::{holds_now, returns_at, was_ahead};
use super::super::record::{CircuitState, HoldRecord};
use super::super::until::later;
use super::super::usage::{Forecast, LimitSource};
use super::{AlarmKind, AlarmSettings};

/// For so long after a denial the budget is taken for spent.
const DENIED: Duration = Duration::from_secs(300);

/// An allowance of which so much will be used keeps an alarm that is raised.
const NEARLY: f64 = 0.9;

/// What was seen of one kind and subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sighting {
    /// What it is about.
    pub kind: AlarmKind,
    /// Of whom.
    pub subject: String,
    /// How it stands.
    pub standing: Standing,
    /// When a step of the ladder last answered.
    pub answered_at: Option<Timestamp>,
    /// The ladders with whose exhaustion it is told: those that the hold touches, or that have all steps of the ladder.
    pub ladders: Vec<String>,
    /// When it is over at the latest, also if nobody looks.
    pub until: Option<Timestamp>,
    /// What there is to say.
    pub words: Words,
}

/// How it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It is so.
    Bad {
        /// How many requests met it just now.
        met: u32,
    },
    /// Not enough to raise an alarm, enough to keep one.
    Doubtful,
    /// It looks over.
    Better,
    /// It is over.
    Well,
}

/// What an alarm says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Words {
    /// In one line.
    pub summary: String,
    /// In full, several lines.
    pub text: String,
    /// The facts as one JSON object.
    pub details: String,
}

/// What a hold says now; none when it holds nothing.
pub fn hold_standing(record: &HoldRecord, settings: &AlarmSettings, now: Timestamp) -> Option<Standing> {
    if !holds_now(record, now) || was_ahead(record.since(), now) {
        return None;
    }
    let is_being_probed = record.as_circuit().is_some_and(|circuit| circuit.state == CircuitState::HalfOpen);
    let lasts = returns_at(record).is_none_or(|at| at >= later(record.since(), settings.hold_from));
    let is_bad = record.needs_a_person() || (lasts && !is_being_probed);
    Some(if is_bad { Standing::Bad { met: 0 } } else { Standing::Doubtful })
}

/// What makes a hold the same hold, in words.
pub fn hold_subject(record: &HoldRecord) -> String {
    let scope = record.scope();
    match record {
        HoldRecord::Cooldown(cooldown) => format!("cooldown {scope} {}", cooldown.dimension),
        HoldRecord::Quarantine(quarantine) => format!("quarantine {scope} {}", quarantine.dimension),
        HoldRecord::Circuit(circuit) => format!("circuit {scope} {}", circuit.family.as_str()),
    }
}

/// What the latest denial of a retry says. One by a clock that ran ahead says nothing.
pub fn budget_standing(denied_at: Option<Timestamp>, now: Timestamp) -> Standing {
    match denied_at.filter(|at| !was_ahead(*at, now) && later(*at, DENIED) > now) {
        Some(_) => Standing::Bad { met: 0 },
        None => Standing::Well,
    }
}

/// What a forecast says. A limit of the catalogue is that of another plan as likely as not, and rings nobody out of bed.
pub fn forecast_standing(forecast: &Forecast, settings: &AlarmSettings, now: Timestamp) -> Option<Standing> {
    if forecast.limit.source == LimitSource::Catalogue {
        return None;
    }
    let soon = later(now, settings.forecast);
    // What is spent already is told by its hold.
    Some(match forecast.runs_out {
        Some(at) if at > now && at <= soon => Standing::Bad { met: 0 },
        Some(_) => Standing::Doubtful,
        None if forecast.share_at_reset >= NEARLY => Standing::Doubtful,
        None => Standing::Well,
    })
}
