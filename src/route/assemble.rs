//! From the config to a ladder that can be walked.

use std::collections::BTreeMap;

use crate::catalog::ProviderInfo;
use crate::clock::Rng;
use crate::config::{Config, CredentialConfig, KeyError, LadderConfig, Limits, OnUnknown, StepConfig, Strategy};
use crate::domain::{Deployment, LadderName, Secret};
use crate::ladder::{RunLimits, Spec, StepSpec};
use crate::policy::CascadeSettings;
use crate::store::ShapeCount;

use super::entry::{entry, gauges};
use super::fingerprint::fingerprint;
use super::job::Lane;

/// Exchanges at one step unless the config says otherwise: the first and one retry.
const ATTEMPTS_PER_STEP: u32 = 2;

/// With fewer answers nothing is said about a deployment's shape: one slip is no habit.
const ENOUGH_ANSWERS: u32 = 2;

/// How the library gets at what only the process has.
pub struct Outside<'a> {
    /// Fetches a key.
    pub key: &'a dyn Fn(&CredentialConfig) -> Result<Secret, KeyError>,
    /// Reads an environment variable.
    pub env: &'a dyn Fn(&str) -> Option<String>,
    /// The store's salt for fingerprints.
    pub salt: &'a [u8],
    /// How often each deployment lately answered in the asked shape; empty when no shape is asked for.
    pub shapes: &'a [ShapeCount],
}

/// A ladder that can be walked, and how each of its deployments is reached.
#[derive(Debug, Clone)]
pub struct Assembled {
    /// For the machine.
    pub spec: Spec,
    /// For the driver.
    pub lanes: BTreeMap<Deployment, Lane>,
    /// The ladder's limits, with what the driver needs of them.
    pub limits: Limits,
    /// The ladder's standing instructions.
    pub system: Option<String>,
    /// When the ladder itself opens.
    pub cascade: Option<CascadeSettings>,
}

/// Assembles the ladder of that name with its chains; none when there is no such ladder.
pub fn assemble(config: &Config, name: &LadderName, outside: &Outside<'_>, rng: &mut Rng) -> Option<Assembled> {
    let ladder = config.ladders.get(name)?;
    let mut builder = Builder { config, outside, lanes: BTreeMap::new() };
    let mut steps = builder.steps(ladder);
    if let Some(bar) = ladder.min_valid {
        steps.iter_mut().for_each(|step| step.put_last = below(bar, &step.target.deployment, outside.shapes));
    }
    if ladder.strategy == Strategy::Shuffle {
        shuffle(&mut steps, rng);
    }
    let mut chain = |name: &Option<LadderName>| {
        let ladder = name.as_ref().and_then(|name| config.ladders.get(name));
        ladder.map(|ladder| builder.steps(ladder)).unwrap_or_default()
    };
    let context_window = chain(&ladder.context_window);
    let content_policy = chain(&ladder.content_policy);
    let last_resort = ladder.last_resort.as_ref().map(|deployment| {
        let step = StepConfig::of(deployment.clone(), ladder.limits.timeout);
        builder.step(&StepConfig { system: ladder.system.clone(), ..step })
    });
    let limits = run_limits(&ladder.limits);
    let spec = Spec { name: name.clone(), steps, context_window, content_policy, last_resort, limits };
    let (limits, system, cascade) = (ladder.limits, ladder.system.clone(), ladder.cascade);
    Some(Assembled { spec, lanes: builder.lanes, limits, system, cascade })
}

/// A ladder of these deployments alone, in this order, for a person who names what to ask.
pub fn direct(deployments: &[Deployment], config: &Config) -> LadderConfig {
    let step = |deployment: &Deployment| StepConfig::of(deployment.clone(), config.limits.timeout);
    // Who names deployments is not turned away because of a ladder.
    LadderConfig { cascade: None, ..LadderConfig::of(deployments.iter().map(step).collect(), config.limits) }
}

fn run_limits(limits: &Limits) -> RunLimits {
    RunLimits {
        attempts: limits.attempts,
        deadline: limits.deadline,
        wait: limits.wait,
        unknown_moves_on: limits.on_unknown == OnUnknown::Next,
        max_cost_usd: limits.max_cost_usd,
        ..RunLimits::default()
    }
}

/// What is wrong with a deployment whose answers lately had the asked shape too rarely.
fn below(bar: f64, deployment: &Deployment, shapes: &[ShapeCount]) -> Option<String> {
    let ShapeCount { valid, invalid, .. } = shapes.iter().find(|count| count.deployment == *deployment)?;
    let all = valid + invalid;
    let too_rare = all >= ENOUGH_ANSWERS && f64::from(*valid) < bar * f64::from(all);
    too_rare.then(|| format!("{invalid} of its last {all} answers had the wrong shape"))
}

/// Fisher and Yates.
fn shuffle(steps: &mut [StepSpec], rng: &mut Rng) {
    for last in (1..steps.len()).rev() {
        let other = usize::try_from(rng.next_u64() % (last as u64 + 1)).unwrap_or(0);
        steps.swap(last, other);
    }
}

struct Builder<'a> {
    config: &'a Config,
    outside: &'a Outside<'a>,
    lanes: BTreeMap<Deployment, Lane>,
}

impl Builder<'_> {
    fn steps(&mut self, ladder: &LadderConfig) -> Vec<StepSpec> {
        ladder.steps.iter().map(|step| self.step(step)).collect()
    }

    fn step(&mut self, step: &StepConfig) -> StepSpec {
        let deployment = &step.deployment;
        let provider = self.config.provider(&deployment.provider);
        let model = self.config.catalog.model(&deployment.provider, &deployment.model);
        let (key, mut no_key) = self.key(deployment);
        if let Some(provider) = provider
            && !self.lanes.contains_key(deployment)
        {
            match self.base_url(provider) {
                Ok(base_url) => {
                    let lane = Lane {
                        provider: provider.clone(),
                        base_url,
                        key: key.clone(),
                        system: step.system.clone(),
                        timeouts: step.timeout,
                    };
                    self.lanes.insert(deployment.clone(), lane);
                }
                Err(why) => no_key = Some(why),
            }
        }
        let own = model.and_then(|model| model.capabilities.clone());
        StepSpec {
            target: self.config.target(deployment),
            window: model.and_then(|model| model.context),
            max_output: model.and_then(|model| model.max_output),
            capabilities: own.or_else(|| provider.and_then(|provider| provider.capabilities.clone())),
            price: model.and_then(|model| model.price),
            attempts: step.attempts.unwrap_or(ATTEMPTS_PER_STEP),
            fingerprint: key.map(|key| fingerprint(self.outside.salt, &key)),
            entry: Some(entry(self.config, &deployment.provider, self.outside.salt)),
            gauges: gauges(self.config, deployment),
            no_key,
            put_last: None,
        }
    }

    /// The key, or why there is none although one is needed.
    fn key(&self, deployment: &Deployment) -> (Option<Secret>, Option<String>) {
        let Some(credential) = self.config.credential(deployment) else { return (None, None) };
        match (self.outside.key)(credential) {
            Ok(key) if key.is_empty() => (None, None),
            Ok(key) => (Some(key), None),
            Err(error) => (None, Some(error.to_string())),
        }
    }

    /// The base URL with its variables filled in from the environment, or which of them is missing.
    fn base_url(&self, provider: &ProviderInfo) -> Result<String, String> {
        let url = provider.base_url_from(self.outside.env).map_err(|variable| {
            format!("environment variable {variable} is not set; set it, or give {} a base_url", provider.name)
        })?;
        url.ok_or_else(|| format!("{} has no base_url", provider.name))
    }
}
