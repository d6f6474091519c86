//! The steps of a ladder in their order for one request.

use std::cmp::Reverse;

use crate::clock::Rng;
use crate::config::{Bar, CachePreference, LadderConfig, Ranking};
use crate::domain::{Deployment, Prefix};
use crate::ladder::{Contender, Served, SkipReason, Spec, StepSpec, rank};

use super::facts::Facts;

/// Orders the ladder's own steps by its strategy, and puts those first that may have the prompt's beginning in their
/// cache, if that is wanted.
pub(super) fn ranked(steps: &[StepSpec], ladder: &LadderConfig, facts: &Facts, rng: &mut Rng) -> Vec<StepSpec> {
    let weight = |step: &StepSpec| {
        let configured = ladder.steps.iter().find(|configured| configured.deployment == step.target.deployment);
        configured.map_or(1, |configured| configured.weight)
    };
    let contenders: Vec<Contender<'_>> = steps
        .iter()
        .map(|step| Contender { step, weight: weight(step), record: step.standing.record.as_ref() })
        .collect();
    let ranking = Ranking { repair: ladder.limits.repair, ..ladder.ranking };
    let order = rank(ladder.strategy, &ranking, &contenders, &facts.scene(), &mut || rng.unit());
    let placed = |(at, measure): (usize, _)| {
        let mut step = steps.get(at)?.clone();
        step.standing.measure = measure;
        Some(step)
    };
    let mut steps: Vec<StepSpec> = order.into_iter().filter_map(placed).collect();
    if ladder.limits.cache != CachePreference::Off {
        steps.sort_by_key(|step| Reverse(step.standing.served.map(|served| served.at)));
    }
    steps
}

/// When the deployment last served the beginning of the prompt.
pub(super) fn served(deployment: &Deployment, served: &[Prefix]) -> Option<Served> {
    let latest = served.iter().find(|prefix| prefix.deployment == *deployment)?;
    let share = |(cached, all): (u64, u64)| (all > 0).then(|| (cached as f64 / all as f64).min(1.0));
    Some(Served { at: latest.at, cached: latest.cached_tokens.zip(latest.input_tokens).and_then(share) })
}

/// Bars what is too weak for the ladder's work, and, where the cache is required, all but those that may have it.
pub(super) fn bar(spec: &mut Spec, bar: &Bar, cache: CachePreference) {
    let is_cached = |step: &StepSpec| step.standing.served.is_some();
    let cached_only = cache == CachePreference::Require && spec.steps.iter().any(is_cached);
    let chains = spec.context_window.iter_mut().chain(&mut spec.content_policy).chain(&mut spec.unsupported);
    let chains = chains.chain(&mut spec.last_resort);
    for step in spec.steps.iter_mut().chain(chains) {
        let missed = bar.missed_by(step.window, step.max_output, step.capabilities.as_deref());
        let uncached = (cached_only && !is_cached(step)).then_some(SkipReason::NotCached);
        step.standing.barred = missed.map(SkipReason::BelowBar).or(uncached);
    }
}

/// What 1,000 tokens of prompt and answer are expected to cost, in USD.
pub(super) fn usd_per_1k(step: &StepSpec, facts: &Facts) -> Option<f64> {
    step.price?;
    let demand = facts.shape.demand(step, &facts.usage);
    Some(demand.usd / (demand.input + demand.output) * 1000.0).filter(|usd| usd.is_finite())
}
