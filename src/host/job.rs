//! From a request and a config to a job that can be sent.

use std::time::Duration;

use crate::config::Config;
use crate::domain::{ChatRequest, Deployment, LadderName, RequestId};
use crate::ladder::Directives;
use crate::process::Lack;
use crate::route::{Assembled, Facts, Job, grades};
use crate::store::{Store, StoreError};
use crate::validate::{Check, Rule};

use super::hidden::hidden_variables;
use super::keys::{Known, assembled};
use super::{Host, environment};

/// Bounds of one request, in the place of its ladder's.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Bounds {
    /// The whole request.
    pub deadline: Option<Duration>,
    /// How long it may wait for the first step to return.
    pub wait: Option<Duration>,
    /// USD.
    pub max_cost_usd: Option<f64>,
}

/// What is asked of whom.
#[derive(Debug, Clone)]
pub struct Wish {
    /// What is asked.
    pub request: ChatRequest,
    /// The ladder of the config.
    pub ladder: LadderName,
    /// What the user said about it.
    pub directives: Directives,
    /// Within which bounds.
    pub bounds: Bounds,
    /// What must be true of the answer, beside what its ladder demands.
    pub checks: Vec<Rule>,
    /// The id, where the user chose one.
    pub id: Option<RequestId>,
}

/// Why nothing can be sent.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// The state cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The config has no such ladder.
    #[error("there is no ladder `{0}`")]
    NoLadder(LadderName),
    /// When no step has a key, nothing can be asked: that is the config's fault, not a night of failures.
    #[error("no step of ladder `{ladder}` has its key")]
    NoKey {
        /// The ladder.
        ladder: LadderName,
        /// Why, of each step.
        steps: Vec<(Deployment, String)>,
    },
    /// A check of the ladder cannot be made here.
    #[error("the check `{check}` needs the program `{program}`, which {lack}")]
    NoProgram {
        /// Its name.
        check: String,
        /// What it runs.
        program: String,
        /// What stands against running it.
        lack: Lack,
    },
}

/// Everything that the driver needs.
///
/// # Errors
/// When the state cannot be read, or when there is nobody to ask.
pub fn job(wish: Wish, config: &Config, store: &dyn Store, host: &mut Host) -> Result<Job, JobError> {
    let Wish { mut request, ladder, directives, bounds, checks, id } = wish;
    let now = host.clock.now();
    let salt = store.salt()?;
    let of_config = config.ladders.get(&ladder);
    // Where nothing is asked of an answer, nobody can miss it.
    let of_answers = of_config.map(|ladder| &ladder.answer);
    let is_judged = request.schema.is_some()
        || !checks.is_empty()
        || of_answers.is_some_and(|own| own.schema.is_some() || !own.demands.is_empty());
    let bar = config.ladders.get_key_value(&ladder).filter(|(_, ladder)| is_judged && ladder.min_valid.is_some());
    let shapes = bar.map_or(Ok(Vec::new()), |ladder| grades(store, ladder, now))?;
    let findings = store.findings(now)?;
    // What the user types for this one request counts more than what the config says of a step.
    let is_own = request.system.is_some();
    request.system = request.system.or_else(|| of_config?.system.clone());
    request.developer = of_config.and_then(|ladder| ladder.developer.clone());
    let facts = Facts::of(config, &ladder, &request, (store, &salt), now)?;
    let known = Known { salt: &salt, shapes: &shapes, findings: &findings, facts: &facts };
    let Some(mut assembled) = assembled(config, &ladder, &known, host) else {
        return Err(JobError::NoLadder(ladder));
    };
    refuse_keyless(&assembled)?;
    refuse_uncheckable(&assembled, host)?;
    if is_own {
        assembled.lanes.values_mut().for_each(|lane| lane.system = None);
    }
    let limits = &mut assembled.spec.limits;
    limits.deadline = bounds.deadline.unwrap_or(limits.deadline);
    limits.wait = bounds.wait.unwrap_or(limits.wait);
    limits.max_cost_usd = bounds.max_cost_usd.or(limits.max_cost_usd);
    let id = id.unwrap_or_else(|| host.request_id());
    let mut job = Job::new(id, assembled, request, directives);
    job.demands.checks.extend(checks.into_iter().map(Check::of));
    if job.demands.run_programs() {
        job.hidden = hidden_variables(&environment(), config, host.redactor());
    }
    Ok(Job { keeps_answer: config.content, noted: facts.noted, ..job })
}

fn refuse_keyless(ladder: &Assembled) -> Result<(), JobError> {
    let spec = &ladder.spec;
    if spec.steps.is_empty() || spec.steps.iter().any(|step| step.no_key.is_none()) {
        return Ok(());
    }
    let why = spec.steps.iter().map(|step| (step.target.deployment.clone(), step.no_key.clone().unwrap_or_default()));
    Err(JobError::NoKey { ladder: spec.name.clone(), steps: why.collect() })
}

fn refuse_uncheckable(ladder: &Assembled, host: &Host) -> Result<(), JobError> {
    let missing = ladder.answer.demands.missing_programs(&host.env("PATH").unwrap_or_default());
    match missing.into_iter().next() {
        Some((check, program, lack)) => {
            Err(JobError::NoProgram { check: check.name.clone(), program: program.to_owned(), lack })
        }
        None => Ok(()),
    }
}
