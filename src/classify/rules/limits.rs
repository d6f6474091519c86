//! Limits: allowances of long periods, which come back at a known time, and short windows.

use super::{Rule, words};
use crate::domain::Class::{Overloaded, QuotaExhausted, RateLimit};
use crate::domain::{Dimension, ScopeLevel};

/// Allowances of hours, days, weeks and months.
pub(super) const QUOTAS: &[Rule] = &[
    // LiteLLM's own limits per key are of a minute or of calls at once; the moment at which they reset says no more.
    words("litellm.limit_of_calls", RateLimit, &[&["max_parallel_requests"], &["limit", "exceeded"]])
        .unless(&["per day"])
        .scope(ScopeLevel::Credential)
        .dimension(Dimension::Concurrency),
    words("litellm.limit_of_tokens", RateLimit, &[&["limit type: tokens"], &["current limit:"]])
        .scope(ScopeLevel::Credential)
        .dimension(Dimension::Tpm),
    words("litellm.limit_of_requests", RateLimit, &[&["limit type: requests"], &["current limit:"]])
        .scope(ScopeLevel::Credential)
        .dimension(Dimension::Rpm),
    words(
        "words.weekly",
        QuotaExhausted,
        &[
            &["weekly", "per week", "7-day", "this week", "每周", "本周", "一周", "week limit"],
            &["limit", "quota", "usage", "allowance", "exhausted", "上限", "额度", "限额"],
        ],
    )
    .unless(&["every 5h and every week"])
    .dimension(Dimension::Weekly),
    words(
        "words.monthly",
        QuotaExhausted,
        &[
            &["monthly", "per month", "/ month", "billing cycle", "this month", "每月", "本月", "calls/month"],
            &["limit", "quota", "usage", "allowance", "exceeded", "exhausted", "refreshed", "额度", "限额"],
        ],
    )
    .dimension(Dimension::Monthly),
    words(
        "words.window_of_hours",
        QuotaExhausted,
        &[
            &[
                "5-hour",
                "5 hour",
                "five-hour",
                "five hour",
                "5小时",
                "5 小时",
                "每5小时",
                "session usage limit",
                "session limit",
                "5h limit",
                "5h and",
            ],
            &["limit", "quota", "usage", "上限", "额度", "限额"],
        ],
    )
    .unless(&["every 5h and every week"])
    .dimension(Dimension::Requests5h),
    words(
        "words.tokens_per_day",
        QuotaExhausted,
        &[&[
            "tokens per day",
            "(tpd)",
            "tpd rate limit",
            "organization tpd",
            "max tpd",
            "tokens per 24 hours",
            "daily token",
            "request tokens has exceeded your daily",
        ]],
    )
    .dimension(Dimension::Tpd),
    words(
        "words.requests_per_day",
        QuotaExhausted,
        &[&[
            "requests per day",
            "(rpd)",
            "per-day",
            "per_day",
            "request per day",
            "rpd limit",
            "max rpd",
            "daily request",
            "requests today",
            "per 86400s",
            "userbymodelbyday",
            "calls per day",
            "messages per day",
        ]],
    )
    .dimension(Dimension::Rpd),
    words(
        "words.daily_neurons",
        QuotaExhausted,
        &[&["daily free allocation", "neurons"], &["used up", "exceeded", "exhausted", "limit"]],
    )
    .scope(ScopeLevel::Account)
    .dimension(Dimension::Other),
    words(
        "words.daily",
        QuotaExhausted,
        &[
            &[
                "daily",
                "per day",
                "/day",
                "/ day",
                "a day",
                "for today",
                "today's",
                "24 hours",
                "24-hour",
                "24h",
                "每日",
                "每天",
                "今日",
                "当日",
                "当天",
            ],
            &[
                "limit",
                "quota",
                "allocation",
                "allowance",
                "usage",
                "exhausted",
                "exceeded",
                "上限",
                "额度",
                "限额",
                "次数",
                "配额",
            ],
        ],
    )
    .unless(&["open api daily request limit reached", "per minute"]),
    words("copilot.no_quota", QuotaExhausted, &[&["you have no quota", "premium request", "premium interactions"]])
        .scope(ScopeLevel::Account)
        .dimension(Dimension::Monthly),
    words(
        "words.usage_limit_reached",
        QuotaExhausted,
        &[&[
            "usage limit has been reached",
            "usage limit reached",
            "usage limit exceeded",
            "hit your usage limit",
            "hit the usage limit",
            "reached your usage limit",
            "exceeded your usage limit",
            "hit your limit",
            "hit your session limit",
            "reached your limit for",
            "your limit will reset",
            "limit resets",
            "your quota will reset",
            "quota will reset",
            "quota resets",
            "limits to reset",
            "quota will be replenished",
            "quota will be refreshed",
            "out of call volume quota",
            "exhausted your capacity",
            "exhausted your premium",
            "premium request allowance",
            "no more premium requests",
            "you have no quota",
            "you have exceeded your copilot token usage",
            "out of extra usage",
            "limit exhausted",
            "allowance has been used",
            "usage quota",
            "subscription limit",
            "plan limit",
            "plan's limit",
            "使用上限",
            "限额将在",
            "额度将在",
        ]],
    )
    .unless(&["hourly usage limit", "hourly limit"]),
];

/// Seconds, minutes, concurrency, and the speed at which traffic grows.
pub(super) const RATES: &[Rule] = &[
    words(
        "words.concurrency",
        RateLimit,
        &[
            &["concurren", "simultaneous", "parallel requests", "in flight", "in-flight", "并发"],
            &[
                "limit", "exceed", "too many", "high", "maximum", "reduce", "reached", "超限", "超过", "上限", "限制",
                "过高",
            ],
        ],
    )
    .dimension(Dimension::Concurrency),
    words(
        "words.input_tokens_per_minute",
        RateLimit,
        &[&[
            "input tokens per minute",
            "input token per minute",
            "input-tokens per minute",
            "input_token_count",
            "input_tokens_per_minute",
        ]],
    )
    .dimension(Dimension::InputTpm),
    words(
        "words.output_tokens_per_minute",
        RateLimit,
        &[&["output tokens per minute", "output token per minute", "output_tokens_per_minute"]],
    )
    .dimension(Dimension::OutputTpm),
    words(
        "words.tokens_per_minute",
        RateLimit,
        &[&[
            "tokens per min",
            "token per min",
            "(tpm)",
            "tpm limit",
            "max tpm",
            "tpm rate limit",
            "organization tpm",
            "tpmexceeded",
            "token rate limit",
            "token limit per minute",
            "tokens / min",
            "tokens/min",
            "too many tokens, please wait",
            "request tokens has exceeded your per-minute",
            "每分钟token",
            "tpm限",
        ]],
    )
    .dimension(Dimension::Tpm),
    words(
        "words.requests_per_minute",
        RateLimit,
        &[&[
            "requests per min",
            "request per min",
            "calls / minute",
            "calls/minute",
            "calls per minute",
            "requests/min",
            "requests / min",
            "per minute",
            "per-minute",
            "per_minute",
            "(rpm)",
            "rpm limit",
            "max rpm",
            "rpm rate limit",
            "rpm_rate_limit",
            "rpmexceeded",
            "call rate limit",
            "too many requests, please wait",
            "sent too many requests",
            "request rate is too high",
            "request rate increased too quickly",
            "exceeded your current requests",
            "reduce the frequency of requests",
            "per 60s",
            "userbymodelbyminute",
            "requests rate limit exceeded",
            "acceleration limit",
            "slow down",
            "每分钟",
            "请求频率",
            "频率限制",
            "请求数限制",
            "请求次数限制",
            "分钟内最多",
            "次/分钟",
            "频率过高",
            "过于频繁",
            "速率限制",
            "请求速度",
            "请求过多",
            "限流",
        ]],
    )
    .dimension(Dimension::Rpm),
    words(
        "words.requests_per_second",
        RateLimit,
        &[&["requests per second", "request per second", "per second", "(rps)", "qps", "每秒"]],
    )
    .unless(&["tokens per second"])
    .dimension(Dimension::Other),
    words(
        "words.hourly",
        RateLimit,
        &[&["hourly", "per hour", "/hour", "每小时"], &["limit", "quota", "usage", "exceeded", "上限"]],
    )
    .dimension(Dimension::Other),
    // LiteLLM's own cooldown shows what put the deployments there.
    words(
        "litellm.no_deployments_overload",
        Overloaded,
        &[
            &["no deployments available for selected model"],
            &["error '529", "error '503", "error '502", "error '500", "overloaded", "internalservererror"],
        ],
    )
    .scope(ScopeLevel::Model),
    words("words.cooling_down", RateLimit, &[&["cooling down", "in cooldown", "on cooldown"]]).scope(ScopeLevel::Model),
    words("litellm.no_deployments", RateLimit, &[&["no deployments available for selected model"]])
        .scope(ScopeLevel::Model),
];
