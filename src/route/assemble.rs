//! From the config to a ladder that can be walked.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::catalog::ProviderInfo;
use crate::clock::Rng;
use crate::config::{
    AnswerConfig, Config, CredentialConfig, Hedge, KeyError, LadderConfig, Limits, OnUnknown, StepConfig, Strategy,
};
use crate::domain::{Deployment, LadderName, Secret};
use crate::ladder::{ATTEMPTS, RunLimits, Spec, Standing, StepSpec};
use crate::policy::{About, CascadeSettings, Finding, Grade};

use super::entry::{entry, gauges};
use super::facts::Facts;
use super::fingerprint::fingerprint;
use super::grades::put_last;
use super::job::Lane;
use super::rank::{bar, ranked, served, usd_per_1k};

/// How the library gets at what only the process has.
pub struct Outside<'a> {
    /// Fetches a key.
    pub key: &'a dyn Fn(&CredentialConfig) -> Result<Secret, KeyError>,
    /// Reads an environment variable.
    pub env: &'a dyn Fn(&str) -> Option<String>,
    /// The store's salt for fingerprints.
    pub salt: &'a [u8],
    /// What is believed of models at this time.
    pub findings: &'a [Finding],
    /// How good each deployment lately was at this ladder's work; empty where that is not to change the order.
    pub shapes: &'a [Grade],
    /// What the order is made of.
    pub facts: &'a Facts,
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
    /// Those of its author.
    pub developer: Option<String>,
    /// What is asked of its answers.
    pub answer: AnswerConfig,
    /// When the ladder itself opens.
    pub cascade: Option<CascadeSettings>,
}

/// Assembles the ladder of that name with its chains; none when there is no such ladder.
pub fn assemble(config: &Config, name: &LadderName, outside: &Outside<'_>, rng: &mut Rng) -> Option<Assembled> {
    let ladder = config.ladders.get(name)?;
    let mut builder = Builder { config, outside, lanes: BTreeMap::new() };
    let mut steps = builder.steps(ladder);
    if let Some(bar) = ladder.min_valid {
        steps.iter_mut().for_each(|step| step.put_last = put_last(bar, &step.target.deployment, outside.shapes));
    }
    let mut steps = ranked(&steps, ladder, outside.facts, rng);
    let mut chain = |name: &Option<LadderName>| {
        let ladder = name.as_ref().and_then(|name| config.ladders.get(name));
        ladder.map(|ladder| builder.steps(ladder)).unwrap_or_default()
    };
    let context_window = chain(&ladder.context_window);
    let content_policy = chain(&ladder.content_policy);
    let unsupported = chain(&ladder.unsupported);
    let last_resort = ladder.last_resort.as_ref().map(|deployment| {
        let step = StepConfig::of(deployment.clone(), ladder.limits.timeout);
        builder.step(&StepConfig { system: ladder.system.clone(), ..step })
    });
    for step in &mut steps {
        step.hedge_after = hedge_after(step, ladder.limits.hedge);
    }
    let limits = run_limits(&ladder.limits);
    let mut spec = Spec { name: name.clone(), steps, context_window, content_policy, unsupported, last_resort, limits };
    bar(&mut spec, &ladder.bar, ladder.limits.cache);
    Some(Assembled {
        spec,
        lanes: builder.lanes,
        limits: ladder.limits,
        system: ladder.system.clone(),
        developer: ladder.developer.clone(),
        answer: ladder.answer.clone(),
        cascade: ladder.cascade,
    })
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
        retries: limits.retries,
        on_may_have_run: limits.on_may_have_run,
        deadline: limits.deadline,
        wait: limits.wait,
        unknown_moves_on: limits.on_unknown == OnUnknown::Next,
        on_invalid: limits.on_invalid,
        repair: limits.repair,
        max_cost_usd: limits.max_cost_usd,
        max_cost_per_1k_usd: limits.max_cost_per_1k_usd,
        max_latency: limits.max_latency,
        ..RunLimits::default()
    }
}

/// When the next step is started beside this one.
fn hedge_after(step: &StepSpec, hedge: Hedge) -> Option<Duration> {
    match hedge {
        Hedge::Off => None,
        Hedge::After(delay) => Some(delay),
        // Of a step that is hardly known nobody can say that it is slow today.
        Hedge::P95 => step.standing.record.as_ref()?.ttft?.usual(),
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
                        developer: step.developer.clone(),
                        options: step.options.clone(),
                        timeouts: step.timeout,
                    };
                    self.lanes.insert(deployment.clone(), lane);
                }
                Err(why) => no_key = Some(why),
            }
        }
        let own = model.and_then(|model| model.capabilities.clone());
        let mut spec = StepSpec {
            target: self.config.target(deployment),
            window: self.window(deployment, model.and_then(|model| model.context)),
            max_output: model.and_then(|model| model.max_output),
            capabilities: own.or_else(|| provider.and_then(|provider| provider.capabilities.clone())),
            price: model.and_then(|model| model.price),
            attempts: step.attempts.unwrap_or(ATTEMPTS),
            fingerprint: key.map(|key| fingerprint(self.outside.salt, &key)),
            entry: Some(entry(self.config, &deployment.provider, self.outside.salt)),
            gauges: gauges(self.config, deployment),
            no_key,
            put_last: None,
            findings: self.findings(deployment),
            precharges: provider.is_some_and(|provider| provider.precharges),
            hedge_after: None,
            standing: self.standing(deployment),
        };
        spec.standing.usd_per_1k = usd_per_1k(&spec, self.outside.facts);
        spec
    }

    /// Where it stands, apart from its place.
    fn standing(&self, deployment: &Deployment) -> Standing {
        let known = self.outside.facts;
        let is_balanced = |ladder: &LadderConfig| {
            ladder.strategy == Strategy::LeastBusy && ladder.steps.iter().any(|step| step.deployment == *deployment)
        };
        Standing {
            record: known.record(deployment).cloned(),
            served: served(deployment, &known.served),
            // A request of any ladder keeps it busy.
            counted: self.config.ladders.values().any(is_balanced),
            ..Standing::default()
        }
    }

    /// The window that is known, or else the one that the model itself spoke of: it may have spoken of one account's.
    fn window(&self, deployment: &Deployment, known: Option<u64>) -> Option<u64> {
        let said = self.findings(deployment).into_iter().find_map(|finding| match finding.about {
            About::Window(tokens) => Some(tokens),
            About::Lacks(_) => None,
        });
        known.or(said)
    }

    /// What is believed of the model.
    fn findings(&self, deployment: &Deployment) -> Vec<Finding> {
        let Deployment { provider, model, .. } = deployment;
        let its = |finding: &&Finding| finding.provider == *provider && finding.model == *model;
        self.outside.findings.iter().filter(its).cloned().collect()
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
