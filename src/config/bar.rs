//! What a ladder asks of its deployments, and who is known to fall short of it.

use std::collections::BTreeMap;

use crate::catalog::Catalog;
use crate::domain::{Deployment, LadderName};

use super::reader::Node;
use super::types::{Bar, LadderConfig};

impl Bar {
    /// What a deployment falls short of, as far as it is known; none when it passes.
    pub fn missed_by(
        &self,
        context: Option<u64>,
        max_output: Option<u64>,
        capabilities: Option<&[String]>,
    ) -> Option<String> {
        let short = |has: Option<u64>, least: Option<u64>| has.zip(least).filter(|(has, least)| has < least);
        if let Some((has, least)) = short(context, self.context) {
            return Some(format!("a context of {has} tokens, {least} are wanted"));
        }
        if let Some((has, least)) = short(max_output, self.max_output) {
            return Some(format!("answers of up to {has} tokens, {least} are wanted"));
        }
        let lacking = self.capabilities.iter().find(|wanted| capabilities.is_some_and(|can| !can.contains(wanted)));
        lacking.map(|what| format!("lacks {what}"))
    }

    /// The same by what the catalogue says of the deployment.
    fn missed(&self, deployment: &Deployment, catalog: &Catalog) -> Option<String> {
        let model = catalog.model(&deployment.provider, &deployment.model);
        let own = model.and_then(|model| model.capabilities.as_deref());
        let provider = || catalog.provider(&deployment.provider)?.capabilities.as_deref();
        let (context, max_output) = (model.and_then(|model| model.context), model.and_then(|model| model.max_output));
        self.missed_by(context, max_output, own.or_else(provider))
    }

    /// Warns of a deployment that will never be asked, at the place where it is named.
    pub(super) fn warn(&self, node: &Node<'_, '_>, deployment: &Deployment, catalog: &Catalog) {
        if let Some(what) = self.missed(deployment, catalog) {
            let message = format!("{deployment} is below the ladder's bar and will not be asked: {what}");
            node.reader.warn(&node.place, message, None);
        }
    }
}

/// Warns of steps of chains that a ladder's bar keeps out.
pub(super) fn warn_of_chains(
    entries: &[(&str, Node<'_, '_>)],
    ladders: &BTreeMap<LadderName, LadderConfig>,
    catalog: &Catalog,
) {
    for (name, node) in entries {
        let Some(ladder) = ladders.get(*name).filter(|ladder| ladder.bar != Bar::default()) else { continue };
        let Some(section) = node.section() else { continue };
        let chains = [
            ("context_window", &ladder.context_window),
            ("content_policy", &ladder.content_policy),
            ("unsupported", &ladder.unsupported),
        ];
        for (key, chain) in chains {
            let Some((node, chain)) = section.get(key).zip(chain.as_ref().and_then(|chain| ladders.get(chain))) else {
                continue;
            };
            chain.steps.iter().for_each(|step| ladder.bar.warn(&node, &step.deployment, catalog));
        }
    }
}
