//! What to change, from what happened.
//!
//! A rule speaks only when the play shows the harm: a config that copes is left in peace. It names the number that is
//! in the way, and the one that would not be.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::catalog::format_duration;
use crate::config::{Config, LadderConfig};
use crate::domain::{AttemptKind, Class, Deployment, Outcome, ProviderName};
use crate::ladder::{End, SkipReason};
use crate::report::span;

use super::cast::own_steps;
use super::perform::{Asked, Played};
use super::plot::{Kind, domains};

/// How often a step is tried for one request unless the config says otherwise.
const TRIES: u32 = 2;

/// A wait that a person would rather have than no answer.
const BEARABLE: Duration = Duration::from_secs(60);

/// From when on it takes long until a ladder notices that all are well.
const LONG: Duration = Duration::from_secs(15 * 60);

/// What the play advises, the most important first.
pub fn advice<'a>(config: &'a Config, played: &'a Played) -> Vec<String> {
    let Some(ladder) = config.ladders.get(&played.ladder) else { return Vec::new() };
    let look = Look { config, ladder, steps: own_steps(config, &played.ladder), played };
    let rules: [fn(&Look<'a>) -> Option<String>; 13] = [
        Look::one_provider,
        Look::falls_together,
        Look::expensive,
        Look::attempts_used,
        Look::deadline,
        Look::never_reached,
        Look::retry_budget,
        Look::too_few_tries,
        Look::stream_policy,
        Look::unknown_stops,
        Look::near_limit,
        Look::wait,
        Look::last_resort,
    ];
    let told = rules.iter().filter_map(|rule| rule(&look));
    told.chain(look.slow_return()).chain(look.no_alarm()).collect()
}

/// A play with what it was played on.
struct Look<'a> {
    config: &'a Config,
    ladder: &'a LadderConfig,
    steps: Vec<Deployment>,
    played: &'a Played,
}

impl Look<'_> {
    fn lost(&self) -> impl Iterator<Item = &Asked> {
        self.played.asked.iter().filter(|asked| !asked.is_answered())
    }

    fn lost_by(&self, outcome: Outcome) -> bool {
        self.lost().any(|asked| asked.report.record.outcome == outcome)
    }

    fn is(&self, kinds: &[Kind]) -> bool {
        kinds.contains(&self.played.kind)
    }

    fn providers(&self) -> BTreeSet<&ProviderName> {
        self.steps.iter().map(|step| &step.provider).collect()
    }

    /// Whether everything hangs on one provider: then one word on that says all.
    fn is_alone(&self) -> bool {
        self.providers().len() == 1
    }

    fn skip(&self, wanted: impl Fn(&SkipReason) -> bool) -> Option<(&Deployment, &SkipReason)> {
        let skips = self.played.asked.iter().flat_map(|asked| &asked.report.skipped);
        skips.map(|skip| (&skip.deployment, &skip.reason)).find(|(_, reason)| wanted(reason))
    }

    fn number(&self, step: &Deployment) -> usize {
        self.steps.iter().position(|other| other == step).unwrap_or(0)
    }

    fn one_provider(&self) -> Option<String> {
        let providers = self.providers();
        let alone = providers.first().filter(|_| providers.len() == 1)?;
        let name = &self.played.ladder;
        (self.is(&[Kind::Worst]) && self.lost().next().is_some()).then(|| {
            format!(
                "ladder {name} has one provider, {alone}: when it fails nobody is left, and `worst` cannot be passed; \
                 add a step of another provider"
            )
        })
    }

    fn falls_together(&self) -> Option<String> {
        let down = self.played.down.as_ref().filter(|_| self.is(&[Kind::Domain]) && self.lost().next().is_some())?;
        let all = domains(self.config, &self.played.ladder).into_iter().find(|domain| domain.name == *down)?;
        let is_all = all.steps.len() == self.steps.len();
        is_all.then(|| format!("all steps fall with {down}: add a step outside of it"))
    }

    fn expensive(&self) -> Option<String> {
        let (step, reason) = self.skip(|reason| matches!(reason, SkipReason::TooExpensive(_)))?;
        let (SkipReason::TooExpensive(usd), Some(max)) = (reason, self.ladder.limits.max_cost_usd) else { return None };
        let number = self.number(step);
        Some(format!(
            "max_cost_usd = {max} keeps step {number} ({step}) out: a request could cost ${usd:.4} there; raise it above \
             that, or ask for shorter answers (--max-tokens)"
        ))
    }

    fn attempts_used(&self) -> Option<String> {
        let mut skips = self.lost().flat_map(|asked| &asked.report.skipped);
        let skip = skips.find(|skip| skip.reason == SkipReason::AttemptsUsed)?;
        let number = self.number(&skip.deployment);
        let needed: u32 = self.ladder.steps.iter().map(|step| step.attempts.unwrap_or(TRIES)).sum();
        Some(format!(
            "attempts = {} are used up before step {number} ({}) is asked: set `attempts = {needed}`, or `attempts = 1` \
             at the steps before it",
            self.ladder.limits.attempts, skip.deployment
        ))
    }

    /// A provider hangs and takes the time of those that would answer.
    fn deadline(&self) -> Option<String> {
        if self.is_alone() || !self.is(&[Kind::Worst, Kind::Domain]) || !self.lost_by(Outcome::Deadline) {
            return None;
        }
        let down = self.played.down.as_ref()?;
        let slow = self.ladder.steps.iter().filter(|step| step.deployment.provider.as_str() == down);
        let (count, total) = (slow.clone().count(), slow.map(|step| step.timeout.total).max()?);
        let deadline = self.ladder.limits.deadline;
        let share = whole(deadline / (u32::try_from(count).ok()? + 1));
        Some(format!(
            "when {down} hangs, its timers (total = {} a try, {count} step{}) take the deadline of {}, and nobody else is \
             asked in time: set timeout.total = \"{}\" or less, or a longer deadline",
            format_duration(total),
            if count == 1 { "" } else { "s" },
            format_duration(deadline),
            format_duration(share),
        ))
    }

    /// The timers of the first steps together are longer than the deadline.
    fn never_reached(&self) -> Option<String> {
        if !self.is(&[Kind::SlowDeath]) || !self.lost_by(Outcome::Deadline) {
            return None;
        }
        let deadline = self.ladder.limits.deadline;
        let mut sum = Duration::ZERO;
        let fits = |step: &&crate::config::StepConfig| {
            sum += step.timeout.total;
            sum < deadline
        };
        let reached = self.ladder.steps.iter().take_while(fits).count() + 1;
        let never = self.ladder.steps.get(reached)?;
        let share = whole(deadline / u32::try_from(self.ladder.steps.len()).ok()?.max(1));
        Some(format!(
            "deadline {} is not longer than the timers of the first {reached} step{} together: step {reached} ({}) is \
             never reached when they hang; timeout.total = \"{}\" leaves time for every step",
            format_duration(deadline),
            if reached == 1 { "" } else { "s" },
            never.deployment,
            format_duration(share),
        ))
    }

    fn retry_budget(&self) -> Option<String> {
        let budget = self.ladder.limits.retry_budget;
        let spent = |asked: &Asked| {
            let attempts = &asked.report.record.attempts;
            let retries = attempts.iter().filter(|attempt| attempt.kind == AttemptKind::Retry).count();
            let may_pass = attempts.last().and_then(|attempt| attempt.class).is_some_and(is_transient);
            may_pass && u32::try_from(retries).is_ok_and(|retries| retries >= budget)
        };
        (self.is(&[Kind::Brownout]) && self.lost().any(spent)).then(|| {
            format!(
                "retry_budget = {budget} is spent within a request: failures that would have passed were not tried again; \
                 set it to {} or more",
                self.steps.len() * TRIES as usize
            )
        })
    }

    fn too_few_tries(&self) -> Option<String> {
        if !self.is(&[Kind::Brownout]) || self.lost().next().is_none() || self.retry_budget().is_some() {
            return None;
        }
        let step = self.ladder.steps.iter().find(|step| step.attempts.unwrap_or(TRIES) < 3)?;
        let lost = requests(self.lost().count());
        Some(format!(
            "{lost} met two failures in a row at every step: a step with a third try outlasts that, \
             {{ deployment = \"{}\", attempts = 3 }}",
            step.deployment
        ))
    }

    fn stream_policy(&self) -> Option<String> {
        self.lost_by(Outcome::Partial).then(|| {
            "stream = \"fail\" ends a request whose stream breaks: `restart` or `buffer` asks the next step".to_owned()
        })
    }

    fn unknown_stops(&self) -> Option<String> {
        let mut lost = self.lost();
        lost.any(|asked| asked.report.end == End::Refused(Class::Unknown)).then(|| {
            "on_unknown = \"stop\" ends a request at a failure that no rule knows: `next` asks the next step".to_owned()
        })
    }

    fn near_limit(&self) -> Option<String> {
        let (step, reason) = self.skip(|reason| matches!(reason, SkipReason::NearLimit(_)))?;
        let number = self.number(step);
        self.is(&[Kind::Healthy]).then(|| {
            let requests = self.played.asked.len();
            format!("even when all are well, {requests} requests bring step {number} ({step}) to its limit: {reason}")
        })
    }

    /// Requests that a short wait would have saved.
    fn wait(&self) -> Option<String> {
        let wait = |asked: &Asked| {
            let record = &asked.report.record;
            let at = record.retry_at.filter(|_| asked.report.end.is_exhaustion())?;
            Duration::try_from(at.duration_since(record.started_at)).ok()
        };
        let limits = &self.ladder.limits;
        if self.is_alone() {
            return None;
        }
        let waits = || self.lost().filter_map(wait).filter(|wait| *wait > limits.wait && *wait <= BEARABLE);
        let longest = waits().max()?;
        let up = Duration::from_secs(longest.as_secs() + u64::from(longest.subsec_nanos() > 0));
        (self.is(&[Kind::Domain, Kind::Worst]) && up < limits.deadline).then(|| {
            let (up, now) = (format_duration(up), format_duration(limits.wait));
            let lost = requests(waits().count());
            format!("{lost} ended although a step was soon back: wait = \"{up}\" waits for it (it is {now})")
        })
    }

    fn last_resort(&self) -> Option<String> {
        let rests = |asked: &Asked| {
            let mut skips = asked.report.skipped.iter();
            skips.any(|skip| matches!(&skip.reason, SkipReason::Held { class, .. } if is_transient(*class)))
        };
        let missing =
            self.ladder.last_resort.is_none() && !self.is_alone() && self.is(&[Kind::All, Kind::Worst, Kind::Domain]);
        (missing && self.lost().any(rests)).then(|| {
            "no last_resort: name a step, best one on your own machine, that is asked although it rests when nothing else \
             is left"
                .to_owned()
        })
    }

    fn slow_return(&self) -> Option<String> {
        let back = self.played.back?;
        if back.is_some_and(|after| after < LONG) {
            return None;
        }
        let after = back.map_or("more than a week".to_owned(), span);
        Some(format!(
            "once all are well it takes {after} until the first answer: `llmr reset --all` when you know that they are, \
             and `llmr probe` in cron when you do not"
        ))
    }

    fn no_alarm(&self) -> Option<String> {
        let rings = self.lost().any(|asked| asked.report.end.is_exhaustion());
        (self.is(&[Kind::All]) && rings && self.config.alarm.is_none())
            .then(|| "no alarm: nobody is told of such a night; set `command` in [alarm]".to_owned())
    }
}

fn requests(count: usize) -> String {
    format!("{count} request{}", if count == 1 { "" } else { "s" })
}

fn is_transient(class: Class) -> bool {
    matches!(class, Class::Overloaded | Class::ServerError | Class::Timeout | Class::Network)
}

/// Whole seconds where it is longer than one.
fn whole(length: Duration) -> Duration {
    if length.as_secs() > 0 { Duration::from_secs(length.as_secs()) } else { length }
}
