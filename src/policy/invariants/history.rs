//! Histories: several processes whose views are out of date, several providers, accounts, keys, models and limits, and
//! a clock that jumps.

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use crate::domain::{Class, Dimension, Failure, Provenance, RequestId, ScopeLevel, Target};
use crate::policy::rivals::{decide, says};
use crate::policy::world::{Call, World, at, failure, target};
use crate::policy::{Change, Event, Gate, Versioned, claim, hastened};

const PROCESSES: usize = 3;

/// What a process says of a call.
#[derive(Debug, Clone)]
pub(super) enum Says {
    Answer,
    Failure(Box<Failure>, Option<i64>),
    Abandoned,
}

/// One thing that happens.
#[derive(Debug, Clone)]
pub(super) enum Does {
    /// A process reads the holds; what it decides next, it decides on these.
    Looks(usize),
    /// A process reports on a call to this deployment, sent so many seconds ago; or on its probe, if it has one.
    Reports { who: usize, whom: usize, says: Says, age: i64, of_probe: bool },
    /// A process claims what the gate lets it claim.
    Probes { who: usize, whom: usize },
    /// A person wants the probe of the first hold now that it saw.
    Hurries(usize),
    /// Time passes, or the clock is set ahead or back.
    Passes(i64),
}

/// Everybody who can be asked: two providers; at the first, two keys share an account.
pub(super) fn everybody() -> Vec<Target> {
    let with = |text: &str, account: &str, region: Option<&str>| Target {
        account: account.into(),
        region: region.map(str::to_owned),
        ..target(text)
    };
    vec![
        with("groq/a@k1", "acme", None),
        with("groq/b@k1", "acme", None),
        with("groq/a@k2", "acme", None),
        with("groq/b@k3", "other", None),
        with("gemini/a@k1", "acme", Some("eu")),
        with("gemini/b@k2", "own", Some("us")),
    ]
}

/// Any failure of these classes at these scopes.
pub(super) fn failures(classes: &[Class], scopes: &[ScopeLevel]) -> impl Strategy<Value = Says> + use<> {
    let dimensions = vec![None, Some(Dimension::Rpm), Some(Dimension::Tpm), Some(Dimension::Rpd)];
    (
        prop::sample::select(classes.to_vec()),
        prop::sample::select(scopes.to_vec()),
        prop::sample::select(dimensions),
        prop::sample::select(Provenance::ALL),
        prop::option::of(-5_i64..400_000),
    )
        .prop_map(|(class, scope, dimension, provenance, hint)| {
            let provenance = if hint.is_some() { provenance } else { Provenance::Guess };
            Says::Failure(Box::new(Failure { scope, dimension, provenance, ..failure(class) }), hint)
        })
}

/// Any history in which the failures are these and only the first so many can be asked.
pub(super) fn histories(says: impl Strategy<Value = Says>, asked: usize) -> impl Strategy<Value = Vec<Does>> {
    let says = prop_oneof![5 => says, 1 => Just(Says::Answer), 1 => Just(Says::Abandoned)];
    let report = (0..PROCESSES, 0..asked, says, 0_i64..60, any::<bool>())
        .prop_map(|(who, whom, says, age, of_probe)| Does::Reports { who, whom, says, age, of_probe });
    let does = prop_oneof![
        6 => report,
        2 => (0..PROCESSES).prop_map(Does::Looks),
        1 => (0..PROCESSES).prop_map(Does::Hurries),
        3 => (0..PROCESSES, 0..asked).prop_map(|(who, whom)| Does::Probes { who, whom }),
        3 => prop_oneof![0_i64..90, 0_i64..40_000, -200_i64..0, -90_000_i64..0].prop_map(Does::Passes),
    ];
    prop::collection::vec(does, 1..80)
}

/// A report that was committed, and the world around it.
pub(super) struct Told<'a> {
    /// What the process had read when it decided.
    pub(super) seen: &'a [Versioned],
    pub(super) before: &'a [Versioned],
    pub(super) after: &'a [Versioned],
    pub(super) now: i64,
    pub(super) target: &'a Target,
    pub(super) id: &'a RequestId,
    pub(super) sent: i64,
    pub(super) event: Event<'a>,
}

impl Told<'_> {
    /// The records that were there before, each with what became of it.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (&Versioned, Option<&Versioned>)> {
        let same = |old: &Versioned| self.after.iter().find(|new| new.record.key() == old.record.key());
        self.before.iter().map(move |old| (old, same(old)))
    }

    /// The records that were not there before.
    pub(super) fn added(&self) -> impl Iterator<Item = &Versioned> {
        let known = |new: &&Versioned| self.before.iter().any(|old| old.record.key() == new.record.key());
        self.after.iter().filter(move |new| !known(new))
    }
}

type Checks<'a> = &'a mut dyn FnMut(&Told<'_>) -> Result<(), TestCaseError>;

/// Plays the history; each report is shown to the checks.
pub(super) fn play(history: &[Does], checks: Checks<'_>) -> Result<World, TestCaseError> {
    play_in(World::new(), history, checks)
}

/// Plays the history in a world in which something is held already.
pub(super) fn play_in(world: World, history: &[Does], checks: Checks<'_>) -> Result<World, TestCaseError> {
    let mut stage = Stage { world, now: 0, seen: vec![Vec::new(); PROCESSES], probes: vec![None; PROCESSES] };
    let everybody = everybody();
    for (n, does) in history.iter().enumerate() {
        match does {
            Does::Looks(who) => stage.seen[*who].clone_from(&stage.world.holds),
            Does::Hurries(who) => stage.hurries(*who),
            Does::Passes(seconds) => stage.now += seconds,
            Does::Probes { who, whom } => stage.probes(*who, *whom, &everybody[*whom], n)?,
            Does::Reports { who, whom, says, age, of_probe } => {
                let probe = stage.probes[*who].take_if(|_| *of_probe);
                let (whom, id, sent) = probe.unwrap_or_else(|| (*whom, format!("r{n}"), stage.now - age));
                stage.reports(*who, &everybody[whom], &RequestId::new(id), sent, says, checks)?;
            }
        }
    }
    Ok(stage.world)
}

struct Stage {
    world: World,
    now: i64,
    /// What each process saw last.
    seen: Vec<Vec<Versioned>>,
    /// The probe that each process has under way: whom, by which request, since when.
    probes: Vec<Option<(usize, String, i64)>>,
}

impl Stage {
    fn probes(&mut self, who: usize, whom: usize, target: &Target, n: usize) -> Result<(), TestCaseError> {
        let id = format!("probe{n}");
        let covering = self.seen[who].iter().filter(|held| held.record.scope().covers(target));
        let gates: Vec<(Gate, &Versioned)> = covering.map(|held| (says(held, at(self.now)), held)).collect();
        if gates.iter().any(|(gate, _)| *gate == Gate::Held) {
            return Ok(());
        }
        let due = gates.iter().filter(|(gate, _)| *gate == Gate::Probe);
        let until = at(self.now + 120);
        let claims: Vec<Change> = due.filter_map(|(_, held)| claim(held, &RequestId::new(&*id), until)).collect();
        if !claims.is_empty() && self.world.try_write(&claims) {
            prop_assert_ne!(self.world.gate(target, at(self.now)), Gate::Probe, "one probe at a time");
            self.probes[who] = Some((whom, id, self.now));
        }
        self.seen[who].clone_from(&self.world.holds);
        Ok(())
    }

    fn hurries(&mut self, who: usize) {
        let sooner = |held: &Versioned| Some((held.version, hastened(&held.record, at(self.now))?));
        if let Some((version, record)) = self.seen[who].iter().find_map(sooner) {
            self.world.try_write(&[Change { key: record.key(), expected: Some(version), record: Some(record) }]);
        }
        self.seen[who].clone_from(&self.world.holds);
    }

    fn reports(
        &mut self,
        who: usize,
        target: &Target,
        id: &RequestId,
        sent: i64,
        says: &Says,
        checks: Checks<'_>,
    ) -> Result<(), TestCaseError> {
        let failed = match says {
            Says::Failure(failure, hint) => {
                Some(Failure { retry_at: hint.map(|hint| at(self.now + hint)), ..(**failure).clone() })
            }
            _ => None,
        };
        let event = match (&failed, says) {
            (Some(failure), _) => Event::Failure(failure),
            (None, Says::Abandoned) => Event::Abandoned,
            (None, _) => Event::Success,
        };
        let call = Call::new(target, id.as_str(), at(sent));
        let before = self.world.holds.clone();
        let decided = |seen: &[Versioned], world: &World| decide(seen, event, &call, at(self.now), &world.settings);
        let mut seen = std::mem::take(&mut self.seen[who]);
        let changes = decided(&seen, &self.world);
        // A decision to change nothing, made on an old view, was right at that time; the newest word is wanted here.
        if changes.is_empty() || !self.world.try_write(&changes) {
            let again = decided(&before, &self.world);
            prop_assert!(self.world.try_write(&again), "nobody else is at it");
            seen.clone_from(&before);
        }
        let after = self.world.holds.clone();
        self.seen[who].clone_from(&after);
        checks(&Told { seen: &seen, before: &before, after: &after, now: self.now, target, id, sent, event })
    }
}
