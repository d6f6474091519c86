//! Figures, named quotas and headers that leave no doubt.

use super::{Fact, Rule, Tier, fact, when};
use crate::classify::condition::{Comparison, Condition, Figure, Operand, Operator};
use crate::domain::{Class, Dimension, ScopeLevel};

/// More was asked than the limit allows in its whole window. A limit of zero is another matter.
const MORE_THAN_THERE_IS: &[Condition<&str>] = &[
    Condition::Compare(Comparison {
        left: Figure::Requested,
        operator: Operator::Above,
        right: Operand::Figure(Figure::Limit),
    }),
    Condition::Compare(Comparison { left: Figure::Limit, operator: Operator::Above, right: Operand::Number(0.0) }),
];

/// One of Anthropic's plan windows is spent. What it says of overage concerns those who pay for it.
const PLAN_REJECTED: &[Condition<&str>] =
    &[Condition::header_is("anthropic-ratelimit-unified*status", "rejected").but_not("*overage*")];

/// The statuses under which a named quota is the cause; with others it is only mentioned.
const OF_LIMITS: &[u16] = &[0, 200, 402, 403, 413, 429, 500, 503];

pub(super) const RULES: &[Rule] = &[
    // Anthropic answers 429 to a long context without the add-on; no time heals it, whatever the limit headers say.
    Rule::new("anthropic.long_context_needs_extra", Tier::Fact, Class::ContextOverflow)
        .says(&[&["required for long context"]]),
    // A page that asks for a browser comes from the network before the provider.
    when("network.challenge", Class::Network, &[Condition::header_holds("cf-mitigated", "challenge")])
        .status(&[403, 429, 503]),
    // Zero is no allowance: waiting brings nothing, a person must pay or ask.
    fact("limits.zero", Class::Billing, Fact::LimitZero).status(OF_LIMITS).unless(&["used 0, requested 0"]),
    // More than the whole window allows can never pass, although the text says when to try again.
    when("limits.requested_over_limit", Class::ContextOverflow, MORE_THAN_THERE_IS),
    // Several windows are named; only their figures say which of them is the cause.
    fact("limits.long_window_full", Class::QuotaExhausted, Fact::LongWindowFull).status(OF_LIMITS),
    fact("limits.short_window_full", Class::RateLimit, Fact::ShortWindowFull).status(OF_LIMITS),
    // Any quota per day wins over the short wait that Google adds to it.
    fact("gemini.quota_per_day", Class::QuotaExhausted, Fact::QuotaPerDay)
        .status(OF_LIMITS)
        .scope(ScopeLevel::Model)
        .dimension(Dimension::Rpd),
    fact("gemini.quota_per_minute", Class::RateLimit, Fact::QuotaPerMinute).status(OF_LIMITS).scope(ScopeLevel::Model),
    when("github_models.per_day", Class::QuotaExhausted, &[Condition::header_holds("x-ratelimit-type", "ByDay")])
        .scope(ScopeLevel::Model)
        .dimension(Dimension::Rpd),
    when("github_models.per_minute", Class::RateLimit, &[Condition::header_holds("x-ratelimit-type", "ByMinute")])
        .scope(ScopeLevel::Model)
        .dimension(Dimension::Rpm),
    // The body says the same for a minute and for a week; only these headers tell.
    when("anthropic.plan_window", Class::QuotaExhausted, PLAN_REJECTED).status(&[0, 200, 402, 403, 429]),
];
