//! Which steps are out for this one request: by the user's word, or because the request itself is at fault with them.
//!
//! A request that is too large, filtered or in need of a feature says nothing about the deployment, so nothing is
//! remembered of it. But within the request it says much: what refused it once refuses it again, under another key as
//! well, so these steps are not asked, and the ladder that was made for such requests goes first.

use crate::catalog::model_family;
use crate::domain::{Class, Failure};

use super::end::SkipReason;
use super::run::Run;
use super::spec::{Directives, RequestShape, RunLimits, StepSpec};

impl Run {
    /// The request is too large for this step: everything not larger is out, and the chain for it comes first.
    pub(super) fn enter_larger(&mut self, step: usize, failure: &Failure) {
        // A limit per minute is no window; it only says that this very model cannot take it.
        let stated = failure.limits.limit.filter(|_| failure.dimension.is_none()).map(|limit| limit as u64);
        let window = failure.window.or(stated).or_else(|| self.steps.get(step).and_then(|spec| spec.window));
        self.bar_model(step, Class::ContextOverflow);
        for (spec, progress) in self.steps.iter().zip(&mut self.progress) {
            if let (Some(refused), Some(other)) = (window, spec.window)
                && other <= refused
                && progress.asked == 0
            {
                progress.barred.get_or_insert(SkipReason::TooLarge(other));
            }
        }
        let chain = self.indexes(&self.spec.context_window);
        self.prefer(chain);
    }

    pub(super) fn enter_lenient(&mut self, step: usize) {
        self.bar_model(step, Class::ContentPolicy);
        let chain = self.indexes(&self.spec.content_policy);
        self.prefer(chain);
    }

    /// The model lacks what the request needs, whatever the key.
    pub(super) fn enter_capable(&mut self, step: usize) {
        self.bar_model(step, Class::Unsupported);
        let chain = self.indexes(&self.spec.unsupported);
        self.prefer(chain);
    }

    /// Puts the chain's steps before what is left.
    pub(super) fn prefer(&mut self, chain: Vec<usize>) {
        let rest: Vec<usize> = self.queue.iter().copied().filter(|step| !chain.contains(step)).collect();
        self.queue = chain.into_iter().chain(rest).collect();
    }

    /// What refused this request for its content or its needs refuses it under another key as well.
    pub(super) fn bar_model(&mut self, step: usize, class: Class) {
        let Some(refused) = self.steps.get(step).map(|spec| spec.target.deployment.clone()) else { return };
        let same_anywhere = class == Class::ContentPolicy;
        let family = model_family(&refused.model).filter(|_| same_anywhere);
        for (spec, progress) in self.steps.iter().zip(&mut self.progress) {
            let other = &spec.target.deployment;
            let same_id = other.provider == refused.provider && other.model == refused.model;
            let same_model = same_id || (family.is_some() && model_family(&other.model) == family);
            if same_model && progress.asked == 0 {
                progress.barred.get_or_insert(SkipReason::RefusedAlready(class));
            }
        }
    }

    pub(super) fn bar_rest(&mut self, step: usize) {
        for (index, progress) in self.progress.iter_mut().enumerate() {
            if index != step && progress.asked == 0 {
                progress.barred.get_or_insert(SkipReason::NoFallback);
            }
        }
    }

    /// The request has cost so much more; what it could still cost must fit under the ceiling together with that.
    pub fn on_cost(&mut self, usd: f64) {
        self.spent_usd += usd;
        let Some(max) = self.spec.limits.max_cost_usd else { return };
        for (spec, progress) in self.steps.iter().zip(&mut self.progress) {
            let total = self.shape.ceiling_usd(spec).map(|ceiling| self.spent_usd + ceiling);
            if let Some(total) = total.filter(|total| *total > max) {
                progress.barred.get_or_insert(SkipReason::TooExpensive(total));
            }
        }
    }

    pub(super) fn bar_by_directives(&mut self) {
        for (spec, progress) in self.steps.iter().zip(&mut self.progress) {
            progress.barred = refusal(spec, &self.shape, &self.directives, &self.spec.limits);
        }
    }
}

/// Why a step is out before anything is sent.
fn refusal(step: &StepSpec, shape: &RequestShape, directives: &Directives, limits: &RunLimits) -> Option<SkipReason> {
    let provider = &step.target.deployment.provider;
    if let Some(why) = &step.no_key {
        return Some(SkipReason::NoKey(why.clone()));
    }
    if directives.pin.as_ref().is_some_and(|pinned| pinned != provider) {
        return Some(SkipReason::NotPinned);
    }
    if directives.exclude.contains(provider) {
        return Some(SkipReason::Excluded);
    }
    let needed = shape.needs().map(|feature| feature.as_str().to_owned());
    let can_not = |wanted: &String| step.capabilities.as_ref().is_some_and(|can| !can.contains(wanted));
    if let Some(what) = directives.require.iter().cloned().chain(needed).find(can_not) {
        return Some(SkipReason::Lacks(what));
    }
    if let Some(found) = step.findings.iter().find(|found| shape.needs().any(|feature| found.about.lacks(feature))) {
        return Some(SkipReason::FoundLacking(found.clone()));
    }
    if let Some(window) = step.window.filter(|window| shape.overflows(*window)) {
        return Some(SkipReason::TooLarge(window));
    }
    if let Some(why) = &step.standing.barred {
        return Some(why.clone());
    }
    let usual = step.standing.record.as_ref().and_then(|record| record.latency?.usual());
    if let Some(usual) = usual.filter(|usual| limits.max_latency.is_some_and(|max| *usual > max)) {
        return Some(SkipReason::TooSlow(usual));
    }
    let dear = step.standing.usd_per_1k.filter(|usd| limits.max_cost_per_1k_usd.is_some_and(|max| *usd > max));
    let dear = dear.map(SkipReason::TooDear);
    let ceiling = shape.ceiling_usd(step).filter(|usd| limits.max_cost_usd.is_some_and(|max| *usd > max));
    dear.or(ceiling.map(SkipReason::TooExpensive))
}
