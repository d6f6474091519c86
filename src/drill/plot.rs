//! What happens on the stage: which providers fail, how, and whether the ladder should still answer.

use std::collections::BTreeSet;

use crate::config::Config;
use crate::domain::{Deployment, LadderName};
use crate::rehearsal::Reply;

use super::cast::{Cast, Scripts, Seat, own_steps, reachable};
use super::ways::{Way, answer};

/// A built-in scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Everybody answers.
    Healthy,
    /// One provider after the other fails, in each of its ways; the others answer.
    Worst,
    /// What shares an account, a provider, a backend or a network fails together.
    Domain,
    /// All fail at once, each differently, and an hour later all are well.
    All,
    /// Every provider fails two of three calls.
    Brownout,
    /// All answers get slower until none comes.
    SlowDeath,
}

impl Kind {
    /// All of them, in the order in which they are told.
    pub const ALL: [Self; 6] = [Self::Healthy, Self::Worst, Self::Domain, Self::All, Self::Brownout, Self::SlowDeath];

    /// The name that the command line knows.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::Worst => "worst",
            Self::Domain => "domain",
            Self::All => "all",
            Self::Brownout => "brownout",
            Self::SlowDeath => "slow-death",
        }
    }

    /// What happens in it.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Healthy => "everybody answers",
            Self::Worst => "one provider after the other fails, in each of its nine ways; the others answer",
            Self::Domain => "what shares an account, a provider, a backend or a network fails together",
            Self::All => "all fail at once, each differently; an hour later all are well again",
            Self::Brownout => "every provider fails two of three calls",
            Self::SlowDeath => "all answers get slower until none comes",
        }
    }

    /// Whether every request should be answered, so that one that is not makes the drill fail.
    pub const fn counts(self) -> bool {
        matches!(self, Self::Healthy | Self::Worst | Self::Brownout)
    }
}

/// One play of a scenario.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Plot {
    pub(super) kind: Kind,
    /// What is down, where it is not everything.
    pub(super) down: Option<String>,
    /// How it fails, where it is one way.
    pub(super) way: Option<&'static str>,
    parts: Vec<(Deployment, Part)>,
}

/// What a deployment's provider does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Fails(Way),
    /// Fails two of three, from this place of the three on.
    Flickers(usize),
    Dies,
}

/// How many replies of a flickering provider are written down; it is asked less often than that.
const FLICKERS: usize = 3_000;

/// The parts of its time that a dying provider takes for its answers, in percent.
const SLOWER: [u64; 3] = [5, 15, 40];

impl Plot {
    /// All plays of the scenario on this ladder.
    pub(super) fn all_of(kind: Kind, config: &Config, ladder: &LadderName) -> Vec<Self> {
        let steps = own_steps(config, ladder);
        let plot = |parts| vec![Self { kind, down: None, way: None, parts }];
        let numbered = || steps.iter().cloned().map(|step| (place(&steps, &step), step));
        match kind {
            Kind::Healthy => plot(Vec::new()),
            Kind::Worst => worst(&steps, &reachable(config, ladder)),
            Kind::Domain => domains(config, ladder).into_iter().map(Domain::plot).collect(),
            Kind::All => plot(numbered().map(|(at, step)| (step, Part::Fails(night(at)))).collect()),
            Kind::Brownout => plot(numbered().map(|(at, step)| (step, Part::Flickers(at))).collect()),
            Kind::SlowDeath => plot(steps.iter().map(|step| (step.clone(), Part::Dies)).collect()),
        }
    }

    /// What the providers say. `longest` is how long a silent one is waited for, in milliseconds of the stopwatch.
    pub(super) fn scripts(&self, cast: &Cast, longest: u64) -> Scripts {
        let script = |(deployment, part): &(Deployment, Part)| {
            let wire = cast.wire(&deployment.provider);
            let replies = match part {
                Part::Fails(way) => vec![way.reply(wire)],
                Part::Flickers(at) => {
                    let three = [Way::ServerError.reply(wire), Way::Overloaded.reply(wire), answer()];
                    three.iter().cycle().skip(at % 3).take(FLICKERS).cloned().collect()
                }
                // One piece, and a pause before the end.
                Part::Dies => {
                    let slow =
                        SLOWER.map(|part| Reply::SlowDrip { text: "Noon.".to_owned(), every_ms: longest * part / 100 });
                    slow.into_iter().chain([Reply::Hang]).collect()
                }
            };
            (Seat::of(deployment), replies)
        };
        self.parts.iter().map(script).collect()
    }

    /// Whose answers may take their time, or never come.
    pub(super) fn slow_seats(&self) -> BTreeSet<Seat> {
        let slow = self.parts.iter().filter(|(_, part)| matches!(part, Part::Dies | Part::Fails(Way::Hang)));
        slow.map(|(deployment, _)| Seat::of(deployment)).collect()
    }

    /// How many answers come, however late, before none comes.
    pub(super) fn late_answers(&self) -> usize {
        if self.parts.iter().any(|(_, part)| *part == Part::Dies) { SLOWER.len() } else { 0 }
    }

    /// Whether the answers are asked for piece by piece: what is cut in the middle must have a middle.
    pub(super) fn streams(&self) -> bool {
        self.parts.iter().any(|(_, part)| *part == Part::Fails(Way::CutStream))
    }
}

/// The provider's place among those of the ladder.
fn place(steps: &[Deployment], step: &Deployment) -> usize {
    let mut names: Vec<_> = Vec::new();
    for other in steps {
        if !names.contains(&&other.provider) {
            names.push(&other.provider);
        }
    }
    names.iter().position(|name| **name == step.provider).unwrap_or(0)
}

/// How the provider at this place fails on the night when all fail.
fn night(place: usize) -> Way {
    const NIGHT: [Way; 8] = [
        Way::DailyQuota,
        Way::EmptyWallet,
        Way::DeadKey,
        Way::Overloaded,
        Way::Reset,
        Way::ErrorIn200,
        Way::ServerError,
        Way::Hang,
    ];
    NIGHT.get(place % NIGHT.len()).copied().unwrap_or(Way::ServerError)
}

fn worst(steps: &[Deployment], all: &[Deployment]) -> Vec<Plot> {
    let mut plots: Vec<Plot> = Vec::new();
    for step in steps {
        let name = step.provider.to_string();
        if plots.iter().any(|plot| plot.down.as_ref() == Some(&name)) {
            continue;
        }
        for way in Way::ALL {
            let own = all.iter().filter(|other| other.provider == step.provider);
            let parts = own.map(|step| (step.clone(), Part::Fails(way))).collect();
            plots.push(Plot { kind: Kind::Worst, down: Some(name.clone()), way: Some(way.name()), parts });
        }
    }
    plots
}

/// Steps that fall together.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Domain {
    pub(super) name: String,
    pub(super) steps: Vec<Deployment>,
    way: Way,
}

impl Domain {
    fn plot(self) -> Plot {
        let parts = self.steps.into_iter().map(|step| (step, Part::Fails(self.way))).collect();
        Plot { kind: Kind::Domain, down: Some(self.name), way: Some(self.way.name()), parts }
    }
}

/// What falls together on this ladder: accounts, backends, providers, networks. Of those with the same steps the first.
pub(super) fn domains(config: &Config, ladder: &LadderName) -> Vec<Domain> {
    let steps = own_steps(config, ladder);
    let mut all: Vec<Domain> = Vec::new();
    for (name_of, way) in DOMAINS {
        let names: BTreeSet<String> = steps.iter().filter_map(|step| name_of(config, step)).collect();
        for name in names {
            let is_in = |step: &&Deployment| name_of(config, step).as_ref() == Some(&name);
            let own: Vec<_> = steps.iter().filter(is_in).cloned().collect();
            if !all.iter().any(|known| known.steps == own) {
                all.push(Domain { name, steps: own, way });
            }
        }
    }
    all
}

/// Gives the name of what a step falls with.
type NameOf = fn(&Config, &Deployment) -> Option<String>;

/// The kinds of what falls together, each with how it usually falls.
const DOMAINS: [(NameOf, Way); 4] =
    [(account, Way::DailyQuota), (backend, Way::Overloaded), (provider, Way::ServerError), (network, Way::Reset)];

fn account(config: &Config, step: &Deployment) -> Option<String> {
    step.credential.as_ref()?;
    Some(format!("account {} at {}", config.target(step).account, step.provider))
}

fn backend(config: &Config, step: &Deployment) -> Option<String> {
    let backend = config.providers.get(&step.provider)?.backend.as_ref()?;
    Some(format!("backend {backend}"))
}

fn provider(_: &Config, step: &Deployment) -> Option<String> {
    Some(format!("provider {}", step.provider))
}

fn network(config: &Config, step: &Deployment) -> Option<String> {
    Some(format!("network {}", host(config.provider(&step.provider)?.base_url.as_ref()?)?))
}

/// The host of a base URL, where it is written out.
fn host(url: &str) -> Option<&str> {
    let authority = url.split_once("://")?.1.split(['/', '?']).next()?;
    let bare = authority.rsplit_once(':').map_or(authority, |(host, _)| host);
    (!bare.is_empty() && !bare.contains('{')).then_some(bare)
}
