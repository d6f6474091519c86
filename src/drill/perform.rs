//! One play of a scenario: requests over an invented hour, with a state of its own.
//!
//! The wall clock stands at an invented moment for each request and moves on between them, so an hour takes no time. What
//! cannot be invented is the wait for a provider that says nothing: it runs on the stopwatch. There all timers of the
//! slow providers, the deadline and the pauses before retries are divided by one number, so that the longest timer is
//! over in a few hundredths of a second, and what is measured is multiplied by it again. A machine that is too busy for
//! so small timers shows in a provider that was late although it answers at once; then the play begins anew, slower.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::Timestamp;

use crate::classify::Classifier;
use crate::clock::{Clock, Rng};
use crate::config::{Config, LadderConfig};
use crate::domain::{
    AttemptKind, AttemptRecord, ChatRequest, Class, Deployment, GivenUp, LadderName, Message, Outcome, ProviderName,
    Redactor, Role, Timeouts,
};
use crate::ladder::{Directives, End};
use crate::route::{FallbackStore, Job, Observer, Report, direct};
use crate::transport::{Transport, TransportOptions};

use super::cast::{Cast, Scripts, Seat, dummy_key, reachable};
use super::plot::{Kind, Plot};
use super::process::{Process, Wish};

/// How long the longest timer of a slow provider takes on the stopwatch at first.
const LONGEST: Duration = Duration::from_millis(40);

/// The same where answers are late but come: they must be told apart from those that do not.
const LONGEST_OF_SLOW: Duration = Duration::from_millis(80);

/// How many seconds of the config one of the stopwatch stands for where only pauses before retries are waited for.
const PACE: f64 = 100.0;

/// How often a play is made slower for a busy machine, each time by three.
const SLOWER: u32 = 3;

/// How long before the night every step answered once: a key that never worked is looked at differently.
const BEFORE: Duration = Duration::from_secs(24 * 3600);

/// How long is waited for the first answer once all are well again, and how often it is asked meanwhile.
const AFTERWARDS: Duration = Duration::from_secs(7 * 24 * 3600);
const ASK_AGAIN: Duration = Duration::from_secs(600);

/// How a drill is played.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Terms {
    /// Requests in each play.
    pub requests: u32,
    /// The invented time over which they come.
    pub over: Duration,
    /// The invented moment of the first one.
    pub start: Timestamp,
    /// The randomness of pauses, so that a drill can be repeated.
    pub seed: u64,
}

/// One play of a scenario with all that came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Played {
    /// The ladder.
    pub ladder: LadderName,
    /// The scenario.
    pub kind: Kind,
    /// What was down, where it was not everything.
    pub down: Option<String>,
    /// How it failed, where it was one way.
    pub way: Option<&'static str>,
    /// The requests, in order.
    pub asked: Vec<Asked>,
    /// The requests that reached each provider.
    pub calls: BTreeMap<ProviderName, usize>,
    /// After all were well again: how long until the first answer; none when none came in a week.
    pub back: Option<Option<Duration>>,
}

/// One request of a play.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// What came of it.
    pub report: Report,
    /// How long it took, in invented time.
    pub took: Duration,
}

impl Asked {
    /// Whether it was answered.
    pub fn is_answered(&self) -> bool {
        matches!(self.report.end, End::Answered { .. })
    }
}

impl Played {
    /// How many requests were answered.
    pub fn answered(&self) -> usize {
        self.asked.iter().filter(|asked| asked.is_answered()).count()
    }

    /// Whether the drill may succeed with it.
    pub fn is_good(&self) -> bool {
        !self.kind.counts() || self.answered() == self.asked.len()
    }
}

/// Plays it, and again more slowly while the machine is too busy.
pub(super) fn perform(config: &Config, ladder: &LadderName, plot: &Plot, terms: &Terms) -> Result<Played, String> {
    let mut longest = if plot.kind == Kind::SlowDeath { LONGEST_OF_SLOW } else { LONGEST };
    for _ in 0..SLOWER {
        let mut night = Night::fall(config, ladder, plot, terms, longest)?;
        let played = night.play()?;
        if !night.is_spoiled {
            return Ok(played);
        }
        longest *= 3;
    }
    Night::fall(config, ladder, plot, terms, longest)?.play()
}

/// A play under way.
struct Night<'a> {
    cast: Cast,
    ladder: &'a LadderName,
    plot: &'a Plot,
    terms: &'a Terms,
    scripts: Scripts,
    slow: BTreeSet<Seat>,
    /// How many seconds of the config one second of the stopwatch stands for.
    pace: f64,
    store: FallbackStore<crate::store::SqliteStore>,
    transport: Transport,
    classifier: Classifier,
    runtime: tokio::runtime::Runtime,
    rng: Rng,
    asked: u32,
    /// How often each seat was asked since the night began.
    called: BTreeMap<Seat, usize>,
    is_spoiled: bool,
}

impl<'a> Night<'a> {
    fn fall(
        config: &Config,
        ladder: &'a LadderName,
        plot: &'a Plot,
        terms: &'a Terms,
        longest: Duration,
    ) -> Result<Self, String> {
        let mut cast = Cast::set(config, ladder)?;
        let before: Vec<_> =
            reachable(config, ladder).iter().map(|step| (alone(step), direct_to(step, config))).collect();
        cast.config.ladders.extend(before);
        let steps = config.ladders.get(ladder).into_iter().flat_map(|ladder| &ladder.steps);
        let slow = plot.slow_seats();
        let timer = steps.map(|step| step.timeout.total).max().unwrap_or_default().max(Duration::from_millis(1));
        Ok(Self {
            scripts: plot.scripts(&cast, u64::try_from(longest.as_millis()).unwrap_or(u64::MAX)),
            pace: if slow.is_empty() { PACE } else { timer.as_secs_f64() / longest.as_secs_f64() },
            slow,
            store: FallbackStore::empty(),
            transport: Transport::new(&TransportOptions::default()).map_err(|error| error.to_string())?,
            classifier: Classifier::new(config.rules.clone()),
            runtime: tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|e| e.to_string())?,
            rng: Rng::new(Some(terms.seed)),
            asked: 0,
            called: BTreeMap::new(),
            is_spoiled: false,
            cast,
            ladder,
            plot,
            terms,
        })
    }

    fn play(&mut self) -> Result<Played, String> {
        self.evening()?;
        self.cast.play(&self.scripts);
        self.called.clear();
        let before = self.cast.calls();
        let every = self.terms.over / self.terms.requests.max(1);
        let mut asked = Vec::new();
        for turn in 0..self.terms.requests {
            asked.push(self.ask(self.terms.start + every * turn)?);
        }
        let more = |(name, calls): (ProviderName, usize)| {
            let earlier = before.get(&name).copied().unwrap_or(0);
            (name, calls - earlier)
        };
        let calls = self.cast.calls().into_iter().map(more).filter(|(_, calls)| *calls > 0).collect();
        let back = if self.plot.kind == Kind::All { Some(self.morning()?) } else { None };
        let Plot { kind, down, way, .. } = self.plot.clone();
        Ok(Played { ladder: self.ladder.clone(), kind, down, way, asked, calls, back })
    }

    /// Each step answers once, the day before.
    fn evening(&mut self) -> Result<(), String> {
        for step in reachable(&self.cast.config, self.ladder) {
            let report = self.send(&alone(&step), self.terms.start - BEFORE)?;
            if let Some(error) = report.0.record.error.filter(|_| report.0.record.outcome != Outcome::Answered) {
                tracing::warn!(%step, error, "a step does not even answer alone");
            }
        }
        Ok(())
    }

    /// How long it takes until the first answer, once all are well again.
    fn morning(&mut self) -> Result<Option<Duration>, String> {
        self.cast.play(&Scripts::new());
        let well = self.terms.start + self.terms.over;
        let mut now = well;
        while now <= well + AFTERWARDS {
            let asked = self.ask(now)?;
            if asked.is_answered() {
                return Ok(Some(Duration::try_from(now.duration_since(well)).unwrap_or_default()));
            }
            // Whoever asks only when he was told to would miss the probes in between.
            let told = asked.report.record.retry_at.filter(|at| *at > now);
            now = told.map_or(now + ASK_AGAIN, |at| at.min(now + ASK_AGAIN));
        }
        Ok(None)
    }

    /// One request at this moment; where the ladder allows to wait and a step returns in time, the wait is invented.
    fn ask(&mut self, now: Timestamp) -> Result<Asked, String> {
        let ladder = self.ladder.clone();
        let (report, took) = self.send(&ladder, now)?;
        let limits = self.cast.config.ladders.get(&ladder).map(|ladder| ladder.limits).unwrap_or_default();
        let only_limits = report.record.attempts.iter().all(|attempt| attempt.class == Some(Class::RateLimit));
        let wait = report.record.retry_at.filter(|_| report.end.is_exhaustion() && only_limits);
        let wait = wait.and_then(|at| Duration::try_from(at.duration_since(now)).ok());
        match wait.filter(|wait| *wait <= limits.wait && took + *wait < limits.deadline) {
            Some(wait) => {
                let (report, later) = self.send(&ladder, now + wait)?;
                Ok(Asked { report, took: took + wait + later })
            }
            None => Ok(Asked { report, took }),
        }
    }

    /// Sends one request, and says how long it took in invented time.
    fn send(&mut self, ladder: &LadderName, now: Timestamp) -> Result<(Report, Duration), String> {
        self.asked += 1;
        let process = Process {
            config: &self.cast.config,
            store: &self.store,
            transport: &self.transport,
            classifier: &self.classifier,
            redactor: &Redactor::default(),
            key: &|credential| Ok(dummy_key(credential)),
        };
        let messages = vec![Message::text(Role::User, "What time is it?")];
        let request = ChatRequest { messages, stream: self.plot.streams(), ..ChatRequest::default() };
        let id = format!("drill-{}", self.asked);
        let wish = Wish { id: &id, ladder, request, directives: Directives::default() };
        let mut job = process.job(wish, Clock::new(Some(now)), &mut self.rng)?;
        let plain = job.lanes.iter().map(|(step, lane)| (step.clone(), lane.timeouts)).collect();
        let deadline = job.spec.limits.deadline;
        self.hasten(&mut job);
        let mut eye = Eye {
            slow: &self.slow,
            answers: self.plot.late_answers(),
            called: &mut self.called,
            pace: self.pace,
            plain,
            took: Duration::ZERO,
            asking: None,
            late: false,
        };
        let (_sender, stop) = tokio::sync::watch::channel(false);
        let (clock, rng) = (Clock::new(Some(now)), &mut self.rng);
        let mut report = self.runtime.block_on(process.send(&job, clock, rng, stop, &mut eye))?;
        // A step goes by its place in the config, wherever the strategy put it.
        let written = self.cast.config.ladders.get(ladder).map(|ladder| &ladder.steps);
        let place = written.and_then(|steps| {
            steps.iter().position(|step| Some(&step.deployment) == report.record.deployment.as_ref())
        });
        report.record.step = place.and_then(|place| u32::try_from(place).ok()).or(report.record.step);
        let gave_up = report.record.outcome == Outcome::Deadline;
        // Given up while somebody was asked who answers at once, or between two steps although time was left.
        let in_vain = || eye.asking.as_ref().map_or(eye.took < deadline, |seat| !self.slow.contains(seat));
        self.is_spoiled |= eye.late || (gave_up && in_vain());
        let took = if gave_up { deadline } else { eye.took.min(deadline) };
        Ok((report, took))
    }

    /// Divides what is waited for.
    fn hasten(&self, job: &mut Job) {
        let pace = self.pace;
        let limits = &mut job.spec.limits;
        limits.backoff = quick(limits.backoff, pace);
        limits.backoff_max = quick(limits.backoff_max, pace);
        // Waiting for a step to return is done on the invented clock, which stands during a request.
        limits.wait = Duration::ZERO;
        limits.hint_max = Duration::ZERO;
        for step in job.spec.steps.iter_mut().filter(|step| self.slow.contains(&Seat::of(&step.target.deployment))) {
            step.hedge_after = step.hedge_after.map(|after| quick(after, pace));
        }
        if !self.slow.is_empty() {
            limits.deadline = quick(limits.deadline, pace);
        }
        for (_, lane) in job.lanes.iter_mut().filter(|(step, _)| self.slow.contains(&Seat::of(step))) {
            let Timeouts { connect, first, idle, total, .. } = lane.timeouts;
            lane.timeouts = Timeouts {
                connect,
                first: quick(first, pace),
                idle: quick(idle, pace),
                total: quick(total, pace),
                ..Timeouts::default()
            };
        }
    }
}

fn quick(length: Duration, pace: f64) -> Duration {
    length.div_f64(pace.max(f64::MIN_POSITIVE))
}

/// The ladder of this step alone. The blank keeps it apart from every name that a config can have.
fn alone(step: &Deployment) -> LadderName {
    LadderName::new(format!("alone {step}"))
}

fn direct_to(step: &Deployment, config: &Config) -> LadderConfig {
    direct(std::slice::from_ref(step), config)
}

/// Sums up the invented time of one request.
struct Eye<'a> {
    slow: &'a BTreeSet<Seat>,
    /// How many answers of a slow seat come in time.
    answers: usize,
    called: &'a mut BTreeMap<Seat, usize>,
    pace: f64,
    /// The timers as the config has them.
    plain: BTreeMap<Deployment, Timeouts>,
    took: Duration,
    asking: Option<Seat>,
    /// Whether a provider was late that answers in time.
    late: bool,
}

impl Observer for Eye<'_> {
    fn asking(&mut self, deployment: &Deployment, _: usize, _: AttemptKind) {
        let seat = Seat::of(deployment);
        *self.called.entry(seat.clone()).or_default() += 1;
        self.asking = Some(seat);
    }

    fn asked(&mut self, attempt: &AttemptRecord) {
        // Who was being asked when the deadline passed did not answer.
        if attempt.given_up == Some(GivenUp::Deadline) {
            return;
        }
        let seat = Seat::of(&attempt.deployment);
        let mut answers = true;
        // What the others take is this machine's time, not the invented one.
        if self.slow.contains(&seat) {
            let longest = self.plain.get(&attempt.deployment).map_or(Duration::MAX, |timers| timers.total);
            self.took += attempt.latency.mul_f64(self.pace).min(longest);
            answers = self.called.get(&seat).is_some_and(|calls| *calls <= self.answers);
        }
        self.late |= answers && attempt.class == Some(Class::Timeout);
        self.asking = None;
    }

    fn waiting(&mut self, wait: Duration) {
        self.took += wait.mul_f64(self.pace);
    }
}
