//! The alarm: who must be told of what, once.
//!
//! Twenty processes that see a ladder die at the same moment see one death, and a person wants one message of it. So an
//! alarm is not an event but a condition with a name (what, and of whom) that holds or does not, and is known to all
//! processes. Whoever looks brings what is known into line with what is so ([`reconcile`]); the store lets one do it at a
//! time, and all others find that it was done. It needs no process that runs for ever, and nothing is lost when the one
//! that looked is killed: what was raised and not told is still not told, and the next one tells it.
//!
//! What is so is level, not edge: a hold that stands, a ladder of which no step can be asked. Only two things come from
//! the process that looks, because no table shows them: that its request fell through, and that it was answered.
//!
//! Flapping is damped where it arises. An alarm is raised by a strong sign and kept by a weak one. Where its end is
//! certain, an answer that came through a ladder, it ends at once; where it only looks over, it must look so for some
//! minutes. One that comes back soon after its end needs a longer calm each time before it is told to be over.
//!
//! During a quiet time nothing is told but what is excepted. Afterwards what still holds is told once, and what came and
//! went meanwhile is told in one message. A hold of a ladder's step is told with the ladder that is exhausted for it: one
//! death, one message. One that comes after that message is told by itself, and one that outlives the ladder's death stands
//! for itself from then on.

mod letter;
mod machine;
mod quiet;
mod sighting;

#[cfg(test)]
mod machine_tests;

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use jiff::Timestamp;

use crate::domain::ParseNameError;

pub use letter::{Letter, LetterEnd, Sink};
pub use machine::{Reconciled, Telling, reconcile};
pub use quiet::Quiet;
pub use sighting::{Sighting, Standing, Words, budget_standing, forecast_standing, hold_standing, hold_subject};

/// A word of a fixed set, as it stands in the store, the config and JSON.
macro_rules! words {
    ($(#[$doc:meta])* $type:ident, $wanted:literal, $($(#[$one:meta])* $name:ident = $word:literal),+ $(,)?) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $type { $($(#[$one])* $name),+ }

        impl $type {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// The word for it.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $word),+ }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl FromStr for $type {
            type Err = ParseNameError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let found = Self::ALL.iter().find(|one| one.as_str() == text).copied();
                found.ok_or_else(|| ParseNameError { text: text.to_owned(), wanted: $wanted })
            }
        }
    };
}
use words;

words! {
    /// What an alarm is about.
    AlarmKind, "kind of alarm (exhausted, hold, budget or forecast)",
    /// No step of a ladder can answer. Its subject is the ladder.
    Exhausted = "exhausted",
    /// A hold that lasts, or that only a person can lift. Its subject is what makes the hold the same hold.
    Hold = "hold",
    /// The budget of retries that all processes share denied one.
    Budget = "budget",
    /// An allowance runs out before it is back, if it goes on so.
    Forecast = "forecast",
}

words! {
    /// What is told of an alarm.
    AlarmEvent, "event of an alarm",
    /// It was raised and still holds.
    Raised = "raised",
    /// It still holds, so long after it was told.
    Reminder = "reminder",
    /// It was told before and is over.
    Healed = "healed",
    /// It came and went while nobody was to be told.
    Passed = "passed",
    /// A message that tries whether anybody hears.
    Test = "test",
}

/// What was raised, and what was told of it. There is one at most of each kind and subject: the latest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alarm {
    /// What it is about.
    pub kind: AlarmKind,
    /// Of whom.
    pub subject: String,
    /// Since when it holds.
    pub raised_at: Timestamp,
    /// When it was last met: by a request that fell through, or when it was raised.
    pub seen_at: Timestamp,
    /// How many requests met it.
    pub count: u32,
    /// Since when it looks over.
    pub calm_since: Option<Timestamp>,
    /// When it ended; none while it holds.
    pub healed_at: Option<Timestamp>,
    /// How often in a row it came back soon after its end.
    pub flaps: u32,
    /// When it was last told that it holds.
    pub told_at: Option<Timestamp>,
    /// When it was told that it is over, or that it came and went.
    pub told_over_at: Option<Timestamp>,
    /// The ladder with whose exhaustion it is told.
    pub part_of: Option<String>,
    /// When it can be taken for over although nobody looks: the end of a window.
    pub until: Option<Timestamp>,
    /// What it says.
    pub words: Words,
}

impl Alarm {
    /// Whether it holds.
    pub fn is_raised(&self) -> bool {
        self.healed_at.is_none()
    }

    /// Whether somebody must look at it again: it holds, or its end was not told.
    pub fn is_open(&self) -> bool {
        self.is_raised() || self.told_over_at.is_none()
    }

    /// Whether it is the alarm of that kind and subject.
    pub fn is(&self, kind: AlarmKind, subject: &str) -> bool {
        self.kind == kind && self.subject == subject
    }
}

/// What rings, when, and how often it is tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlarmSettings {
    /// The kinds that ring.
    pub on: Vec<AlarmKind>,
    /// Holds that last at least so long ring, besides those that a person must lift.
    pub hold_from: Duration,
    /// An allowance that runs out within this time rings.
    pub forecast: Duration,
    /// After so long an alarm that still holds is told again; none: it is told once.
    pub repeat: Option<Duration>,
    /// When nothing is told.
    pub quiet: Vec<Quiet>,
    /// How long one delivery may take.
    pub timeout: Duration,
    /// How often a message is tried at most.
    pub tries: u32,
}

impl Default for AlarmSettings {
    /// All kinds; holds from 10 minutes, forecasts within 24 hours; never again, never quiet; 10 seconds, 8 tries.
    fn default() -> Self {
        Self {
            on: AlarmKind::ALL.to_vec(),
            hold_from: Duration::from_secs(600),
            forecast: Duration::from_secs(24 * 3600),
            repeat: None,
            quiet: Vec::new(),
            timeout: Duration::from_secs(10),
            tries: 8,
        }
    }
}

impl AlarmSettings {
    /// Until when nothing of this kind is told; none when it is told at once.
    pub fn quiet_until(&self, kind: AlarmKind, now: Timestamp) -> Option<Timestamp> {
        quiet::ends(&self.quiet, kind, now)
    }
}
