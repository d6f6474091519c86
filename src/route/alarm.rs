//! What somebody sees who looks at all ladders, holds and allowances at once, for the alarm.
//!
//! A ladder is dead when no step of it may be asked, whoever asks, and nobody can be expected back within a minute; then
//! it need not be called to be known as exhausted. It is free again when a step may be asked without being a probe. What
//! lies between says nothing either way. A request that just ended tells more than any table: that it fell through, of
//! what each step failed it, or that it was answered. But one that fell says nothing of the ladder while a step could
//! have answered another request: its user, or what it asked for, kept it from that step.

use std::time::Duration;

use jiff::Timestamp;

use crate::config::Config;
use crate::domain::{AttemptRecord, Class, Deployment, LadderName, Provenance, RequestId, Target};
use crate::ladder::{Eligibility, Skip, SkipReason, eligibility};
use crate::policy::{
    AlarmKind, Caller, Demand, Forecast, Gauge, HoldRecord, Room, Standing, Tightness, Versioned, forecasts, holds_now,
    is_transient, returns_at, room,
};
use crate::store::AlarmView;

use super::entry::gauges;
use super::fell::Ended;

/// A ladder of which a step is back sooner than this is not dead.
const SOON: Duration = Duration::from_secs(60);

/// Why a step cannot answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Died {
    /// A hold is in the way.
    Held(HoldRecord),
    /// A limit is too near.
    Full(Tightness),
    /// It was asked just now and failed, and nothing is held for it.
    Failed(AttemptRecord),
    /// It was not asked, for this reason.
    Skipped(Skip),
    /// It may be looked at by one request.
    Probe(HoldRecord),
    /// Nothing is in its way.
    Free,
}

impl Died {
    /// For what it died, where a class says it; what a person holds died of nothing.
    pub fn class(&self) -> Option<Class> {
        match self {
            Self::Held(record) if record.is_by_hand() => None,
            Self::Held(record) | Self::Probe(record) => Some(record.class()),
            Self::Failed(attempt) => attempt.class,
            Self::Skipped(Skip { reason: SkipReason::Held { class, .. }, .. }) => Some(*class),
            Self::Skipped(Skip { reason: SkipReason::RefusedAlready(class), .. }) => Some(*class),
            Self::Full(_) | Self::Skipped(_) | Self::Free => None,
        }
    }

    /// When it is back, and how that is known; none when nobody knows or a person must act.
    pub fn back(&self) -> Option<(Timestamp, Provenance)> {
        match self {
            Self::Held(record) => returns_at(record).map(|at| (at, record.provenance())),
            Self::Full(tight) => tight.until.map(|at| (at, tight.provenance)),
            Self::Skipped(skip) => skip.until.zip(skip.provenance),
            Self::Failed(_) | Self::Probe(_) | Self::Free => None,
        }
    }

    /// Whether only a person can mend it.
    pub fn needs_a_person(&self) -> bool {
        match self {
            Self::Held(record) => record.needs_a_person(),
            Self::Skipped(Skip { reason: SkipReason::NoKey(_), .. }) => true,
            other => other.class().is_some_and(Class::needs_a_person),
        }
    }

    /// Whether it cannot answer whoever asks. What the request asked for, what its user allowed, and a bound on its
    /// attempts keep only that request from it.
    pub fn is_down(&self) -> bool {
        match self {
            Self::Held(_) | Self::Full(_) => true,
            Self::Failed(attempt) => {
                attempt.class.is_some_and(|class| class.passes_by_itself() || class.needs_a_person())
            }
            Self::Skipped(skip) => match &skip.reason {
                SkipReason::Held { .. } | SkipReason::HeldByHand(_) | SkipReason::NoKey(_) => true,
                SkipReason::BelowBar(_) => true,
                // A request that wants more than all the others have used is too large for it.
                SkipReason::NearLimit(tight) => tight.used * 2.0 >= tight.limit * tight.share,
                _ => false,
            },
            Self::Probe(_) | Self::Free => false,
        }
    }

    /// Whether a person holds it.
    pub fn is_by_hand(&self) -> bool {
        matches!(self, Self::Held(record) if record.is_by_hand())
    }
}

/// A step of a ladder.
#[derive(Debug, Clone, PartialEq)]
pub struct StepLook {
    /// Who is asked.
    pub target: Target,
    /// Why it cannot answer.
    pub died: Died,
}

/// A ladder.
#[derive(Debug, Clone, PartialEq)]
pub struct LadderLook {
    /// Which one.
    pub ladder: LadderName,
    /// Its steps, in the order of the config.
    pub steps: Vec<StepLook>,
    /// How it stands.
    pub standing: Standing,
    /// When a step of it last answered.
    pub answered_at: Option<Timestamp>,
    /// The ladders that have all its steps: its death is part of theirs. Of those with the same steps the one that was
    /// asked counts, else the default one, else the first by name.
    pub within: Vec<LadderName>,
    /// The request that fell through.
    pub request_id: Option<RequestId>,
}

/// A hold that holds now.
#[derive(Debug, Clone, PartialEq)]
pub struct HoldLook {
    /// The hold.
    pub held: Versioned,
    /// The ladders that have a step under it.
    pub ladders: Vec<LadderName>,
}

/// All that was seen.
#[derive(Debug, Clone, PartialEq)]
pub struct AlarmLook {
    /// The ladders of the config, and what rang as one.
    pub ladders: Vec<LadderLook>,
    /// The holds.
    pub holds: Vec<HoldLook>,
    /// What becomes of allowances, each once.
    pub forecasts: Vec<Forecast>,
    /// When the budget last denied a retry, where there is a budget.
    pub denied_at: Option<Timestamp>,
}

/// Looks at everything as of one moment.
pub fn look_around(config: &Config, view: &AlarmView, ended: Option<&Ended>, now: Timestamp) -> AlarmLook {
    let all: Vec<Ladder> = ladders(config, view);
    let holds = view.snapshot.holds.iter().filter(|held| holds_now(&held.record, now)).map(|held| {
        let touches = |known: &Known| held.record.scope().covers(&known.target);
        let on = all.iter().filter(|(_, steps, _)| steps.iter().any(touches));
        HoldLook { held: held.clone(), ladders: on.map(|(ladder, ..)| ladder.clone()).collect() }
    });
    let mut foretold: Vec<Forecast> = Vec::new();
    for known in all.iter().flat_map(|(_, steps, _)| steps) {
        for forecast in forecasts(&known.target, &known.gauges, &view.snapshot.usage, now) {
            let is_same = |one: &Forecast| one.scope == forecast.scope && one.dimension == forecast.dimension;
            if !foretold.iter().any(is_same) {
                foretold.push(forecast);
            }
        }
    }
    AlarmLook {
        ladders: all
            .iter()
            .map(|(ladder, steps, resort)| {
                let within = within((ladder, steps), &all, config, ended);
                let ended = ended.filter(|ended| ended.ladder == *ladder);
                LadderLook { within, ..at_ladder((ladder, steps, *resort), (config, view), ended, now) }
            })
            .collect(),
        holds: holds.collect(),
        forecasts: foretold,
        denied_at: view.denied_at.filter(|_| config.limits.retry_budget > 0),
    }
}

/// A ladder, its steps, and whether the last of them is its last resort.
type Ladder = (LadderName, Vec<Known>, bool);

/// A step with its allowances.
struct Known {
    target: Target,
    gauges: Vec<Gauge>,
}

/// The ladders that have all steps of this one.
fn within(
    (ladder, steps): (&LadderName, &[Known]),
    all: &[Ladder],
    config: &Config,
    ended: Option<&Ended>,
) -> Vec<LadderName> {
    let has_all = |own: &[Known], other: &[Known]| {
        own.iter().all(|step| other.iter().any(|known| known.target.deployment == step.target.deployment))
    };
    let rank = |name: &LadderName| {
        (ended.is_none_or(|ended| ended.ladder != *name), config.default_ladder != *name, name.clone())
    };
    let holds_it = |(name, other, _): &&Ladder| {
        let is_same = has_all(other, steps);
        name != ladder && has_all(steps, other) && (!is_same || rank(name) < rank(ladder))
    };
    all.iter().filter(holds_it).map(|(name, ..)| name.clone()).collect()
}

/// Each ladder with its steps, and the deployments that a request named instead of one, if it rang for them.
fn ladders(config: &Config, view: &AlarmView) -> Vec<Ladder> {
    let known =
        |deployment: &Deployment| Known { target: config.target(deployment), gauges: gauges(config, deployment) };
    let mut all: Vec<_> = config
        .ladders
        .iter()
        .map(|(name, ladder)| {
            let steps = ladder.steps.iter().map(|step| &step.deployment).chain(&ladder.last_resort);
            (name.clone(), steps.map(known).collect::<Vec<_>>(), ladder.last_resort.is_some())
        })
        .collect();
    for alarm in view.alarms.iter().filter(|alarm| alarm.kind == AlarmKind::Exhausted && alarm.is_raised()) {
        let name = LadderName::new(alarm.subject.as_str());
        let named = config.deployments(&alarm.subject).unwrap_or_default();
        let is_known = named.iter().any(|deployment| config.provider(&deployment.provider).is_some());
        if is_known && !config.ladders.contains_key(&name) {
            all.push((name, named.iter().map(known).collect(), false));
        }
    }
    all
}

fn at_ladder(
    (ladder, known, has_resort): (&LadderName, &[Known], bool),
    (config, view): (&Config, &AlarmView),
    ended: Option<&Ended>,
    now: Timestamp,
) -> LadderLook {
    let state: Vec<Died> = known.iter().map(|known| died(known, config, view, now)).collect();
    let met = |ended: &Ended| {
        let state = known.iter().zip(&state);
        let met: Vec<Died> = state.map(|(known, state)| ended.met(&known.target.deployment, state)).collect();
        met.iter().all(Died::is_down).then_some(met)
    };
    let fell = ended.filter(|ended| ended.fell).and_then(|ended| Some((ended, met(ended)?)));
    let standing = match (&fell, ended) {
        (Some(_), _) => Standing::Bad { met: 1 },
        (None, Some(ended)) if !ended.fell => Standing::Well,
        (None, _) => standing(&state, has_resort, now),
    };
    let (request_id, state) = fell.map_or((None, state), |(ended, met)| (Some(ended.request_id.clone()), met));
    let step = |(known, died): (&Known, Died)| StepLook { target: known.target.clone(), died };
    let answered = |known: &Known| {
        let health = view.health.iter().find(|health| health.deployment == known.target.deployment)?;
        health.last_success
    };
    LadderLook {
        ladder: ladder.clone(),
        steps: known.iter().zip(state).map(step).collect(),
        standing,
        answered_at: known.iter().filter_map(answered).max(),
        within: Vec::new(),
        request_id,
    }
}

/// How a ladder stands by the state alone.
fn standing(steps: &[Died], has_resort: bool, now: Timestamp) -> Standing {
    let is_dead = |died: &Died| matches!(died, Died::Held(_) | Died::Full(_));
    let soon = now.checked_add(SOON).unwrap_or(Timestamp::MAX);
    let is_soon = |died: &Died| !died.needs_a_person() && died.back().is_some_and(|(at, _)| at < soon);
    let resort = steps.last().filter(|_| has_resort);
    let helps = resort.is_some_and(|died| matches!(died, Died::Held(record) if is_transient(record)));
    if steps.contains(&Died::Free) {
        Standing::Better
    } else if steps.is_empty() || !steps.iter().all(is_dead) || steps.iter().any(is_soon) || helps {
        Standing::Doubtful
    } else {
        Standing::Bad { met: 0 }
    }
}

/// What is in the way of a step by the state alone.
fn died(known: &Known, config: &Config, view: &AlarmView, now: Timestamp) -> Died {
    let Known { target, gauges } = known;
    match eligibility(&view.snapshot.holds, target, now, Caller::default()) {
        Eligibility::Held(by) => Died::Held(by.record.clone()),
        Eligibility::Probe(holds) => holds.first().map_or(Died::Free, |by| Died::Probe(by.record.clone())),
        Eligibility::Eligible => {
            let demand = Demand { requests: 1.0, ..Demand::default() };
            match room(target, gauges, &view.snapshot.usage, &demand, &config.policy.usage, now) {
                Room::None(tight) => Died::Full(tight),
                Room::Enough | Room::Little(_) => Died::Free,
            }
        }
    }
}
