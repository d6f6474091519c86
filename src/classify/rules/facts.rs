//! Figures, named quotas and headers that leave no doubt.

use super::{Fact, Rule, fact};
use crate::domain::{Class, Dimension, ScopeLevel};

pub(super) const RULES: &[Rule] = &[
    // Anthropic answers 429 to a long context without the add-on; no time heals it, whatever the limit headers say.
    fact("anthropic.long_context_needs_extra", Class::ContextOverflow, Fact::PlanRejected)
        .says(&[&["required for long context"]]),
    // A page that asks for a browser comes from the network before the provider.
    fact("network.challenge", Class::Network, Fact::Challenge).status(&[403, 429, 503]),
    // Zero is no allowance: waiting brings nothing, a person must pay or ask.
    fact("limits.zero", Class::Billing, Fact::LimitZero).unless(&["used 0, requested 0"]),
    // More than the whole window allows can never pass, although the text says when to try again.
    fact("limits.requested_over_limit", Class::ContextOverflow, Fact::AsksForMoreThanThereIs),
    // Any quota per day wins over the short wait that Google adds to it.
    fact("gemini.quota_per_day", Class::QuotaExhausted, Fact::QuotaPerDay)
        .scope(ScopeLevel::Model)
        .dimension(Dimension::Rpd),
    fact("gemini.quota_per_minute", Class::RateLimit, Fact::QuotaPerMinute).scope(ScopeLevel::Model),
    fact("github_models.per_day", Class::QuotaExhausted, Fact::HeaderPerDay)
        .scope(ScopeLevel::Model)
        .dimension(Dimension::Rpd),
    fact("github_models.per_minute", Class::RateLimit, Fact::HeaderPerMinute).scope(ScopeLevel::Model),
    // The body says the same for a minute and for a week; only these headers tell.
    fact("anthropic.plan_window", Class::QuotaExhausted, Fact::PlanRejected).status(&[0, 200, 402, 403, 429]),
];
