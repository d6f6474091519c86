//! What the state said at one moment.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;

use crate::domain::{Deployment, LadderName, RequestRecord};
use crate::metrics::{By, Figures, Group, Journal, Key, Slice};
use crate::policy::UsageSettings;
use crate::report::Known;
use crate::store::{Health, Snapshot};

/// A step of a ladder.
#[derive(Debug, Clone, PartialEq)]
pub struct Rung {
    /// Which deployment, by its place among those that are known.
    pub known: usize,
    /// What falls together with it.
    pub domain: String,
}

/// A ladder as the config has it.
#[derive(Debug, Clone, PartialEq)]
pub struct Rungs {
    /// Its name.
    pub ladder: LadderName,
    /// Its steps.
    pub steps: Vec<Rung>,
    /// Who is asked when nobody else is left.
    pub last_resort: Option<Rung>,
}

/// How far back the figures go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Span {
    /// An hour, by the minute.
    #[default]
    Hour,
    /// Six hours.
    SixHours,
    /// A day.
    Day,
    /// A week.
    Week,
}

impl Span {
    /// All of them, from the shortest.
    pub const ALL: [Self; 4] = [Self::Hour, Self::SixHours, Self::Day, Self::Week];

    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hour => "1h",
            Self::SixHours => "6h",
            Self::Day => "24h",
            Self::Week => "7d",
        }
    }

    /// The one of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|span| span.as_str() == name)
    }

    /// Its length.
    pub const fn length(self) -> Duration {
        let hours = match self {
            Self::Hour => 1,
            Self::SixHours => 6,
            Self::Day => 24,
            Self::Week => 7 * 24,
        };
        Duration::from_secs(hours * 3600)
    }

    /// The next longer one; after the longest comes the shortest.
    #[must_use]
    pub const fn next(self) -> Self {
        match self {
            Self::Hour => Self::SixHours,
            Self::SixHours => Self::Day,
            Self::Day => Self::Week,
            Self::Week => Self::Hour,
        }
    }

    /// The next shorter one; before the shortest comes the longest.
    #[must_use]
    pub const fn previous(self) -> Self {
        match self {
            Self::Hour => Self::Week,
            Self::SixHours => Self::Hour,
            Self::Day => Self::SixHours,
            Self::Week => Self::Day,
        }
    }
}

/// What the log comes to over a span.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Measured {
    /// How far back it goes.
    pub span: Span,
    /// All of it.
    pub total: Figures,
    /// Mean step depth of the same span a week before; none when nothing was answered then.
    pub depth_before: Option<f64>,
    /// The same in parts of equal length, the oldest first.
    pub parts: Vec<Figures>,
    /// By who was asked.
    pub deployments: BTreeMap<Deployment, Figures>,
    /// By ladder.
    pub ladders: BTreeMap<LadderName, Pace>,
    /// Rows of the log that are still to be read; none when all are there.
    pub is_loading: bool,
}

/// How a ladder did over the span.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Pace {
    /// All of it.
    pub figures: Figures,
    /// Mean step depth of the same span a week before.
    pub depth_before: Option<f64>,
}

/// Into so many parts a span is divided.
const PARTS: usize = 60;

/// What the mean depths were a week before.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Before {
    /// Of all requests.
    pub depth: Option<f64>,
    /// By ladder.
    pub ladders: BTreeMap<LadderName, f64>,
}

impl Before {
    /// Of what the journal holds of the span that ended a week ago.
    pub fn of(journal: &Journal, span: Span, only: Option<&LadderName>, now: Timestamp) -> Self {
        let slice = slice(span, only, now, Span::Week.length());
        let named = |group: Group| match group.key {
            Key::Ladder(name) => Some((name, Figures::of(&group.total).depth.mean?)),
            _ => None,
        };
        Self {
            depth: Figures::of(&journal.total(&slice)).depth.mean,
            ladders: journal.groups(&slice, By::Ladder, 0).into_iter().filter_map(named).collect(),
        }
    }

    /// From when to when that span went.
    pub fn span(span: Span, now: Timestamp) -> (Timestamp, Timestamp) {
        let Slice { since, until, .. } = slice(span, None, now, Span::Week.length());
        (since, until)
    }
}

impl Measured {
    /// Counts what the journal holds of the span that ends now.
    pub fn of(journal: &Journal, before: &Before, span: Span, only: Option<&LadderName>, now: Timestamp) -> Self {
        let slice = slice(span, only, now, Duration::ZERO);
        let all = journal.groups(&slice, By::All, PARTS).into_iter().next();
        let (total, parts) = all.map(|group| (group.total, group.parts)).unwrap_or_default();
        let of_ladder = |group: Group| match group.key {
            Key::Ladder(name) => {
                let depth_before = before.ladders.get(&name).copied();
                Some((name, Pace { figures: Figures::of(&group.total), depth_before }))
            }
            _ => None,
        };
        let of_deployment = |group: Group| match group.key {
            Key::Deployment(deployment) => Some((deployment, Figures::of(&group.total))),
            _ => None,
        };
        Self {
            span,
            total: Figures::of(&total),
            depth_before: before.depth,
            parts: parts.iter().map(Figures::of).collect(),
            deployments: journal.groups(&slice, By::Deployment, 0).into_iter().filter_map(of_deployment).collect(),
            ladders: journal.groups(&slice, By::Ladder, 0).into_iter().filter_map(of_ladder).collect(),
            is_loading: false,
        }
    }
}

/// The span that ends so long ago.
fn slice(span: Span, only: Option<&LadderName>, now: Timestamp, ago: Duration) -> Slice {
    let until = now.checked_sub(ago).unwrap_or(Timestamp::MIN);
    // What starts at this very moment counts.
    let until = until.checked_add(Duration::from_millis(1)).unwrap_or(until);
    let since = until.checked_sub(span.length()).unwrap_or(Timestamp::MIN);
    Slice { ladder: only.cloned(), ..Slice::of(since, until) }
}

/// What the state said at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// The moment.
    pub now: Timestamp,
    /// All deployments that config or state know.
    pub known: Vec<Known>,
    /// All ladders of the config, or the one that was asked for.
    pub ladders: Vec<Rungs>,
    /// How near limits may come.
    pub bounds: UsageSettings,
    /// All records, and what was used of each allowance.
    pub snapshot: Snapshot,
    /// When each deployment last worked and last failed.
    pub health: Vec<Health>,
    /// The latest requests, newest last.
    pub recent: Vec<RequestRecord>,
    /// Retries that were granted to all processes in the last minute, and how many may be.
    pub retries: (u64, u64),
    /// What the log comes to.
    pub measured: Measured,
    /// Why the state could not be read this time; all else is then as it was before.
    pub trouble: Option<String>,
}

impl Reading {
    /// Nothing at all.
    pub fn nothing(now: Timestamp) -> Self {
        Self {
            now,
            known: Vec::new(),
            ladders: Vec::new(),
            bounds: UsageSettings::default(),
            snapshot: Snapshot::default(),
            health: Vec::new(),
            recent: Vec::new(),
            retries: (0, 0),
            measured: Measured::default(),
            trouble: None,
        }
    }
}
