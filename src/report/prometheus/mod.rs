//! All counters and the state for a scraper.
//!
//! Counters are over the life of the state file, not over a span: a scraper makes rates of them itself, and a number that
//! falls looks to it like a program that began anew. Every counter is there from the start, with 0: a series that appears
//! with its first failure has no increase that an alert could see.

mod families;
#[cfg(test)]
mod tests;
mod write;

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::domain::{AttemptKind, Class, CredentialName, Defect, Deployment, Extraction, LadderName, Outcome};
use crate::policy::{holds_now, returns_at};
use crate::store::{AttemptSum, BOUNDS_US, Came, Histogram, Totals, Verdict};

use super::status::Status;
use write::{Family, Labels, Writer};

pub use write::Exposition;

/// What the config says of a ladder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LadderLimits {
    /// Its name.
    pub name: LadderName,
    /// How many steps it has.
    pub steps: usize,
    /// Retries within a minute, of all processes.
    pub retry_budget: u32,
}

/// What a scraper is told.
#[derive(Debug)]
pub struct Metrics<'a> {
    /// The version of the program.
    pub version: &'a str,
    /// The state, of all deployments.
    pub status: Status<'a>,
    /// The ladders of the config.
    pub ladders: &'a [LadderLimits],
    /// The counters.
    pub totals: &'a Totals,
    /// Retries that were granted within the last minute.
    pub retries_used: u64,
}

/// What a scraper is told when the state cannot be read.
pub fn unreadable(format: Exposition, version: &str, now: Timestamp) -> String {
    let mut out = Writer::new(format);
    preamble(&mut out, version, now, false);
    out.finish()
}

fn preamble(out: &mut Writer, version: &str, now: Timestamp, is_readable: bool) {
    out.head(&families::BUILD);
    out.sample(&families::BUILD, &vec![("version", version)], 1.0);
    out.head(&families::READABLE);
    out.sample(&families::READABLE, &Labels::new(), f64::from(u8::from(is_readable)));
    out.head(&families::WRITTEN);
    out.sample(&families::WRITTEN, &Labels::new(), epoch(now));
}

impl Metrics<'_> {
    /// The text.
    pub fn text(&self, format: Exposition) -> String {
        let mut out = Writer::new(format);
        preamble(&mut out, self.version, self.status.now, true);
        self.requests(&mut out);
        self.attempts(&mut out);
        self.answers(&mut out);
        self.times(&mut out);
        self.usage(&mut out);
        self.retries(&mut out);
        self.state(&mut out);
        self.holds(&mut out);
        self.quotas(&mut out);
        self.health(&mut out);
        out.finish()
    }

    /// The ladders of the config, and those that requests went down.
    fn ladders(&self) -> BTreeSet<&LadderName> {
        // Probes and reported calls are nobody's requests.
        let asked = self.totals.requests.keys().map(|(ladder, ..)| ladder);
        let asked = asked.filter(|ladder| LadderName::has_askers(ladder.as_str()));
        self.ladders.iter().map(|ladder| &ladder.name).chain(asked).collect()
    }

    /// The deployments that config or state know, each with what came of asking it.
    fn deployments(&self) -> BTreeMap<&Deployment, Asked> {
        let known = self.status.known.iter().map(|known| &known.target.deployment);
        let asked = |deployment: &Deployment| Asked { name: deployment.to_string(), rows: Vec::new() };
        let mut all: BTreeMap<&Deployment, Asked> = known.map(|deployment| (deployment, asked(deployment))).collect();
        for ((deployment, kind, came), sum) in &self.totals.attempts {
            all.entry(deployment).or_insert_with(|| asked(deployment)).rows.push((*kind, *came, *sum));
        }
        all
    }

    fn requests(&self, out: &mut Writer) {
        let sum = |ladder: &LadderName, fits: &dyn Fn(Outcome, Option<u32>) -> bool| -> u64 {
            let of = |((name, outcome, step), _): &(&(LadderName, Outcome, Option<u32>), &u64)| {
                name == ladder && fits(*outcome, *step)
            };
            self.totals.requests.iter().filter(of).map(|(_, count)| count).sum()
        };
        let ladders = self.ladders();
        out.head(&families::REQUESTS);
        for ladder in &ladders {
            for outcome in Outcome::ALL.iter().filter(|outcome| **outcome != Outcome::Unfinished) {
                let labels = vec![("ladder", ladder.as_str()), ("outcome", outcome.as_str())];
                out.sample(&families::REQUESTS, &labels, sum(ladder, &|of, _| of == *outcome) as f64);
            }
        }
        out.head(&families::STEP_ANSWERS);
        for ladder in &ladders {
            for step in self.steps(ladder) {
                let text = step.to_string();
                let labels = vec![("ladder", ladder.as_str()), ("step", text.as_str())];
                let by = |outcome, at| outcome == Outcome::Answered && at == Some(step);
                out.sample(&families::STEP_ANSWERS, &labels, sum(ladder, &by) as f64);
            }
        }
        out.head(&families::EXHAUSTIONS);
        for ladder in &ladders {
            let exhausted = |outcome, _| matches!(outcome, Outcome::Exhausted | Outcome::NeedsPerson);
            out.sample(&families::EXHAUSTIONS, &vec![("ladder", ladder.as_str())], sum(ladder, &exhausted) as f64);
        }
    }

    /// The steps that the config has, and those that answered.
    fn steps(&self, ladder: &LadderName) -> BTreeSet<u32> {
        let configured = self.ladders.iter().find(|known| known.name == *ladder).map_or(0, |known| known.steps);
        let answered =
            self.totals.requests.keys().filter(|(name, outcome, _)| name == ladder && *outcome == Outcome::Answered);
        (0..u32::try_from(configured).unwrap_or(0)).chain(answered.filter_map(|(_, _, step)| *step)).collect()
    }

    fn attempts(&self, out: &mut Writer) {
        let all = self.deployments();
        out.head(&families::ATTEMPTS);
        for (deployment, asked) in &all {
            for kind in AttemptKind::ALL {
                let labels = with(deployment, &asked.name, "kind", kind.as_str());
                out.sample(&families::ATTEMPTS, &labels, asked.sum(|of, _| of == *kind).attempts as f64);
            }
        }
        out.head(&families::FAILURES);
        for (deployment, asked) in &all {
            for class in Class::ALL {
                let labels = with(deployment, &asked.name, "class", class.as_str());
                let failed = asked.sum(|_, came| came == Came::Failed(*class));
                out.sample(&families::FAILURES, &labels, failed.attempts as f64);
            }
        }
        for (family, which) in [
            (&families::ANSWERS, Came::Answered),
            (&families::GIVEN_UP, Came::GivenUp),
            (&families::SCHEMA, Came::Failed(Class::InvalidOutput)),
        ] {
            out.head(family);
            for (deployment, asked) in &all {
                let sum = asked.sum(|_, came| came == which);
                out.sample(family, &labels(deployment, &asked.name), sum.attempts as f64);
            }
        }
    }

    /// Whether exchanges came back, and whether what came was as asked.
    fn answers(&self, out: &mut Writer) {
        let all = self.deployments();
        out.head(&families::WHOLE);
        for (deployment, asked) in &all {
            let whole = self.totals.whole.get(*deployment).copied().unwrap_or(0);
            out.sample(&families::WHOLE, &labels(deployment, &asked.name), whole as f64);
        }
        out.head(&families::INVALID);
        for (deployment, asked) in &all {
            for defect in Defect::ALL {
                let count = self.totals.defects.get(&((*deployment).clone(), *defect)).copied().unwrap_or(0);
                let rule = defect.rule();
                out.sample(&families::INVALID, &with(deployment, &asked.name, "rule", &rule), count as f64);
            }
        }
        out.head(&families::EXTRACTED);
        for (deployment, asked) in &all {
            for place in Extraction::ALL {
                let count = self.totals.extracted.get(&((*deployment).clone(), *place)).copied().unwrap_or(0);
                out.sample(&families::EXTRACTED, &with(deployment, &asked.name, "place", place.as_str()), count as f64);
            }
        }
        for (family, verdict) in [
            (&families::JUDGED, Verdict::Judged),
            (&families::VALID, Verdict::Valid),
            (&families::REPAIRED, Verdict::Helped),
        ] {
            out.head(family);
            for (deployment, asked) in &all {
                let count = self.totals.judged.get(&((*deployment).clone(), verdict)).copied().unwrap_or(0);
                out.sample(family, &labels(deployment, &asked.name), count as f64);
            }
        }
        out.head(&families::REPAIR_COST);
        for (deployment, asked) in &all {
            let usd = asked.sum(|kind, _| kind == AttemptKind::Repair).nano_usd as f64 / 1e9;
            out.sample(&families::REPAIR_COST, &labels(deployment, &asked.name), usd);
        }
    }

    fn times(&self, out: &mut Writer) {
        out.head(&families::REQUEST_TIMES);
        for ladder in self.ladders() {
            let histogram = self.totals.request_times.get(ladder).copied().unwrap_or_default();
            put(out, &families::REQUEST_TIMES, &vec![("ladder", ladder.as_str())], &histogram);
        }
        let all = self.deployments();
        for (family, times) in
            [(&families::TTFT, &self.totals.ttft), (&families::ATTEMPT_TIMES, &self.totals.attempt_times)]
        {
            out.head(family);
            for (deployment, asked) in &all {
                let histogram = times.get(deployment).copied().unwrap_or_default();
                put(out, family, &labels(deployment, &asked.name), &histogram);
            }
        }
    }

    fn usage(&self, out: &mut Writer) {
        let all = self.deployments();
        out.head(&families::TOKENS);
        for (deployment, asked) in &all {
            let sum = asked.sum(|_, _| true);
            for (direction, count) in [("input", sum.input), ("output", sum.output), ("cached", sum.cached)] {
                out.sample(&families::TOKENS, &with(deployment, &asked.name, "direction", direction), count as f64);
            }
        }
        out.head(&families::COST);
        for (deployment, asked) in &all {
            let usd = asked.sum(|_, _| true).nano_usd as f64 / 1e9;
            out.sample(&families::COST, &labels(deployment, &asked.name), usd);
        }
    }

    fn retries(&self, out: &mut Writer) {
        let none = Labels::new();
        for (family, count) in [
            (&families::GRANTED, self.totals.retries_granted),
            (&families::DENIED, self.totals.retries_denied),
            (&families::BUDGET_USED, self.retries_used),
        ] {
            out.head(family);
            out.sample(family, &none, count as f64);
        }
        out.head(&families::BUDGET_LIMIT);
        for ladder in self.ladders {
            let labels = vec![("ladder", ladder.name.as_str())];
            out.sample(&families::BUDGET_LIMIT, &labels, f64::from(ladder.retry_budget));
        }
    }

    fn state(&self, out: &mut Writer) {
        let status = &self.status;
        out.head(&families::ELIGIBLE);
        for known in status.known {
            let name = known.target.deployment.to_string();
            let eligible = f64::from(u8::from(status.is_eligible(known)));
            out.sample(&families::ELIGIBLE, &labels(&known.target.deployment, &name), eligible);
        }
        out.head(&families::STEPS);
        for ladder in self.ladders {
            out.sample(&families::STEPS, &vec![("ladder", ladder.name.as_str())], ladder.steps as f64);
        }
        out.head(&families::AVAILABLE);
        for ladder in self.ladders {
            // Whether the keys can be had here says nothing of where requests are made.
            let on = |known: &&super::Known| status.is_eligible(known);
            // Who is asked when nobody else is left counts as well.
            let places = |known: &super::Known| known.on().filter(|name| **name == ladder.name).count();
            let available: usize = status.known.iter().filter(on).map(places).sum();
            out.sample(&families::AVAILABLE, &vec![("ladder", ladder.name.as_str())], available as f64);
        }
    }

    /// The holds by the deployments that they cover. Of several that are alike in all labels the last end counts.
    fn holds(&self, out: &mut Writer) {
        let mut ends: BTreeMap<Covered<'_>, Option<Timestamp>> = BTreeMap::new();
        let now = self.status.now;
        for held in self.status.snapshot.holds.iter().filter(|held| holds_now(&held.record, now)) {
            let record = &held.record;
            for known in self.status.known.iter().filter(|known| record.scope().covers(&known.target)) {
                let key = (&known.target.deployment, record.kind().as_str(), record.class().as_str());
                let end = returns_at(record);
                // None is no end at all, which is later than any.
                let later = |old: &mut Option<Timestamp>| *old = (*old).zip(end).map(|(old, end)| old.max(end));
                ends.entry(key).and_modify(later).or_insert(end);
            }
        }
        let rows: Vec<_> = ends.into_iter().map(|(key, end)| (key.0.to_string(), key, end)).collect();
        out.head(&families::HOLD);
        for (name, key, _) in &rows {
            out.sample(&families::HOLD, &covered(name, *key), 1.0);
        }
        out.head(&families::HOLD_UNTIL);
        for (name, key, end) in &rows {
            if let Some(end) = end {
                out.sample(&families::HOLD_UNTIL, &covered(name, *key), epoch(*end));
            }
        }
    }

    /// The allowances, each once: several deployments may share one.
    fn quotas(&self, out: &mut Writer) {
        let mut all: BTreeMap<(String, String), (f64, Option<f64>)> = BTreeMap::new();
        for reading in self.status.known.iter().flat_map(|known| self.status.readings(known)) {
            // Accounts of one provider are told apart by their name; a scope's text may leave it out.
            let account = reading.scope.account.as_ref().map_or("", |account| account.as_str());
            let scope = format!("{}\u{0}{account}", reading.scope);
            let limit = reading.limit.map(|limit| limit.value);
            all.entry((scope, reading.dimension.to_string())).or_insert((reading.used, limit));
        }
        for family in [&families::QUOTA_USED, &families::QUOTA_LIMIT] {
            out.head(family);
            for ((scope, dimension), (used, limit)) in &all {
                let (scope, account) = scope.split_once('\u{0}').unwrap_or((scope, ""));
                let labels = vec![("scope", scope), ("account", account), ("dimension", dimension.as_str())];
                let value = if family.name == families::QUOTA_USED.name { Some(*used) } else { *limit };
                if let Some(value) = value {
                    out.sample(family, &labels, value);
                }
            }
        }
    }

    fn health(&self, out: &mut Writer) {
        for family in [&families::LAST_SUCCESS, &families::LAST_FAILURE] {
            out.head(family);
            for health in self.status.health {
                let is_success = family.name == families::LAST_SUCCESS.name;
                let name = health.deployment.to_string();
                if let Some(at) = if is_success { health.last_success } else { health.last_failure } {
                    out.sample(family, &labels(&health.deployment, &name), epoch(at));
                }
            }
        }
    }
}

/// A deployment, and what came of asking it.
struct Asked {
    name: String,
    rows: Vec<(AttemptKind, Came, AttemptSum)>,
}

impl Asked {
    fn sum(&self, fits: impl Fn(AttemptKind, Came) -> bool) -> AttemptSum {
        let mut all = AttemptSum::default();
        self.rows.iter().filter(|(kind, came, _)| fits(*kind, *came)).for_each(|(.., sum)| all.add(sum));
        all
    }
}

fn put(out: &mut Writer, family: &Family, labels: &Labels<'_>, histogram: &Histogram) {
    let mut below = 0;
    let bounds = BOUNDS_US.iter().zip(histogram.within).map(|(bound, within)| {
        below += within;
        (*bound as f64 / 1e6, below)
    });
    let bounds: Vec<(f64, u64)> = bounds.collect();
    out.histogram(family, labels, &bounds, histogram.count, histogram.sum_us as f64 / 1e6);
}

/// Who failed or answered: as one name, and in its parts.
fn labels<'a>(deployment: &'a Deployment, name: &'a str) -> Labels<'a> {
    vec![
        ("deployment", name),
        ("provider", deployment.provider.as_str()),
        ("model", deployment.model.as_str()),
        ("credential", deployment.credential.as_ref().map_or("", CredentialName::as_str)),
    ]
}

fn with<'a>(deployment: &'a Deployment, name: &'a str, label: &'static str, value: &'a str) -> Labels<'a> {
    let mut all = labels(deployment, name);
    all.push((label, value));
    all
}

/// A deployment with the kind and the class of what holds it.
type Covered<'a> = (&'a Deployment, &'static str, &'static str);

fn covered<'a>(name: &'a str, (deployment, kind, class): Covered<'a>) -> Labels<'a> {
    let mut all = with(deployment, name, "kind", kind);
    all.push(("class", class));
    all
}

fn epoch(at: Timestamp) -> f64 {
    at.as_millisecond() as f64 / 1000.0
}
