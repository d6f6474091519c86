//! The providers' own codes. A code counts wherever codes stand; the few that mean different things to different
//! providers name theirs.

use super::{Rule, code};
use crate::domain::Class::{
    Billing, ContentPolicy, ContextOverflow, InvalidOutput, InvalidRequest, Overloaded, QuotaExhausted, RateLimit,
    ServerError,
};
use crate::domain::{Dimension, ScopeLevel};

pub(super) const RULES: &[Rule] = &[
    // The request.
    code(
        "code.context_length",
        ContextOverflow,
        &[
            "context_length_exceeded",
            "context_window_exceeded",
            "contextwindowexceedederror",
            "context_window_exceeded_error",
            "model_max_prompt_tokens_exceeded",
            "tokens_limit_reached",
            "exceed_context_size_error",
            "request_too_large",
            "string_above_max_length",
            "max_tokens_exceeded",
            "prompt_too_long",
            "input_too_long",
            "model_context_window_exceeded",
            "stopreason=model_context_window_exceeded",
        ],
    ),
    code(
        "code.content",
        ContentPolicy,
        &[
            "content_filter",
            "content_policy_violation",
            "contentpolicyviolationerror",
            "responsibleaipolicyviolation",
            "data_inspection_failed",
            "datainspectionfailed",
            "internalerror.algo.datainspectionfailed",
            "invalid_prompt",
            "moderation_blocked",
            "content_moderation",
            "contentfilter",
            "cyber_policy_violation",
            "safety_block",
            "sensitivecontentdetected",
            "sensitivecontentdetected.severeviolation",
            "inputtextsensitivecontentdetected",
            "inputimagesensitivecontentdetected",
            "outputtextsensitivecontentdetected",
            "finishreason=content_filter",
            "finishreason=safety",
            "finishreason=recitation",
            "finishreason=prohibited_content",
            "finishreason=blocklist",
            "finishreason=spii",
            "finishreason=sensitive",
            "stopreason=refusal",
            "stopreason=content_filtered",
            "stopreason=guardrail_intervened",
            "blockreason=safety",
            "blockreason=other",
            "blockreason=prohibited_content",
            "blockreason=blocklist",
            "sensitive_word_detected",
            "sensitive_words_detected",
            "censorship_blocked",
            "censored",
            "content_blocked",
            "prompt_blocked",
            "security_violation",
            "unsafe_content",
            "moderation_failed",
        ],
    ),
    code("zhipu.content", ContentPolicy, &["1301"]).only(&["zhipu", "zai", "z-ai", "bigmodel"]),
    code("minimax.content", ContentPolicy, &["1026", "1027"]).only(&["minimax"]),
    code(
        "code.invalid_output",
        InvalidOutput,
        &["json_validate_failed", "tool_use_failed", "output_parse_failed", "finishreason=malformed_function_call"],
    ),
    // Money.
    code("anthropic.spend_limit_code", QuotaExhausted, &["enforced_spend_limit_reached"]).dimension(Dimension::Monthly),
    code("openrouter.in_flight", RateLimit, &["openrouter_in_flight_budget"])
        .scope(ScopeLevel::Account)
        .dimension(Dimension::Concurrency),
    code("openrouter.free_daily", QuotaExhausted, &["openrouter_free_tier_daily"])
        .scope(ScopeLevel::Account)
        .dimension(Dimension::Rpd),
    code("openrouter.shared_pool", Overloaded, &["upstream_provider_shared_pool"]).scope(ScopeLevel::Model),
    code("openrouter.key_limit_code", Billing, &["openrouter_key_limit"]).scope(ScopeLevel::Credential),
    code(
        "code.billing",
        Billing,
        &[
            "billing_not_active",
            "billing_hard_limit_reached",
            "credit_balance_exhausted",
            "insufficient_balance",
            "insufficient_balance_error",
            "insufficientbalance",
            "insufficient_credits",
            "insufficient_funds",
            "insufficient_user_quota",
            "pre_consume_token_quota_failed",
            "openrouter_credits",
            "payment_required",
            "billing_error",
            "credit_limit",
            "credits_exhausted",
            "arrearage",
            "accountoverdueerror",
            "accountoverdue",
            "invalidsubscription",
            "setlimitexceeded",
            "allocationquota.freetieronly",
            "freetieronly",
            "modelarts.81005",
            "exceeded_current_quota_error",
            "1113",
            "1008",
        ],
    ),
    code("dashscope.insufficient_quota", RateLimit, &["insufficient_quota"])
        .only(&["dashscope", "qwen", "bailian", "aliyun"])
        .scope(ScopeLevel::Model)
        .dimension(Dimension::Tpm),
    code("openai.insufficient_quota_code", Billing, &["insufficient_quota"]).scope(ScopeLevel::Account),
    code("zhipu.money", Billing, &["1309"]).only(&["zhipu", "zai", "z-ai", "bigmodel"]),
    // Long windows.
    code(
        "code.usage_limit",
        QuotaExhausted,
        &[
            "usage_limit_reached",
            "quota_exhausted",
            "accountquotaexceeded",
            "usage_limit_exceeded",
            "free_usage_limit",
            "freeusagelimiterror",
            "userbymodelbyday",
            "token_quota_reached",
            "quota_reached",
            "quota_limit_reached",
            "daily_cost_limit_exceeded",
            "daily_limit_exceeded",
            "monthly_limit_exceeded",
            "weekly_limit_exceeded",
        ],
    )
    .unless(&["exceeded your current quota"]),
    code("copilot.weekly", QuotaExhausted, &["user_weekly_rate_limited", "weekly_rate_limited"])
        .dimension(Dimension::Weekly),
    code("copilot.monthly", QuotaExhausted, &["quota_exceeded"]).dimension(Dimension::Monthly),
    code("zhipu.window", QuotaExhausted, &["1308", "1316"])
        .only(&["zhipu", "zai", "z-ai", "bigmodel"])
        .dimension(Dimension::Requests5h),
    code("zhipu.week", QuotaExhausted, &["1310", "1317"])
        .only(&["zhipu", "zai", "z-ai", "bigmodel"])
        .dimension(Dimension::Weekly),
    code("zhipu.day", QuotaExhausted, &["1304"]).only(&["zhipu", "zai", "z-ai", "bigmodel"]),
    code("minimax.rate", RateLimit, &["1002", "1039", "1041"]).only(&["minimax"]),
    code("minimax.invalid_request", InvalidRequest, &["2013"]).only(&["minimax"]),
    code("minimax.server", ServerError, &["1000", "1001", "1013", "1024", "1033"]).only(&["minimax"]),
    code("minimax.window", QuotaExhausted, &["2056"]).only(&["minimax"]).dimension(Dimension::Requests5h),
    code("cloudflare.neurons", QuotaExhausted, &["3036", "4006"])
        .only(&["cloudflare"])
        .scope(ScopeLevel::Account)
        .dimension(Dimension::Other),
];
