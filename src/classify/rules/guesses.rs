//! The last words, before types and the status: a thing in the one group, what is wrong with it in the other. Each alone
//! says nothing, and they decide only when nothing clearer is said anywhere.

use super::{Rule, vague};
use crate::domain::Class::{
    Auth, Billing, ContentPolicy, ContextOverflow, InvalidRequest, ModelUnavailable, QuotaExhausted, RateLimit,
    Unsupported,
};
use crate::domain::ScopeLevel;

pub(super) const RULES: &[Rule] = &[
    vague(
        "guess.too_large",
        ContextOverflow,
        &[
            &[
                "prompt",
                "input",
                "context",
                "conversation",
                "completion",
                "message",
                "text",
                "document",
                "file",
                "image",
                "audio",
                "video",
                "payload",
                "upload",
                "attachment",
            ],
            &[
                "surpass",
                "oversize",
                "not fit",
                "won't fit",
                "over the limit",
                "exceeds",
                "too long",
                "too large",
                "too big",
                "longer than",
                "larger than",
                "bigger than",
                "goes beyond",
            ],
        ],
    )
    .status(&[0, 400, 413, 422])
    .unless(&[
        "per minute",
        "rate",
        "quota",
        "credits",
        "balance",
        "timeout",
        "timed out",
        "retries",
        "concurren",
        "budget has",
        "spend",
    ]),
    vague(
        "guess.content",
        ContentPolicy,
        &[
            &["the request was", "content", "text", "prompt", "response", "output", "generation", "image"],
            &[
                "our rules",
                "censor",
                "withheld",
                "content checker",
                "safety check",
                "safety rule",
                "redacted",
                "abusive",
                "nsfw",
                "adult",
                "unsafe",
                "classified as",
                "拦截",
                "合规",
            ],
        ],
    )
    .unless(&["quota", "account", "api key"]),
    vague(
        "guess.billing",
        Billing,
        &[
            &["wallet", "balance", "funds", "prepaid", "deposit", "credit"],
            &[
                "empty",
                "insufficient",
                "depleted",
                "exhausted",
                "ran out",
                "run out",
                "none left",
                "negative",
                "not enough",
                "too low",
                "add funds",
            ],
        ],
    )
    .unless(&["load balanc", "per day", "daily", "capacity"]),
    vague(
        "guess.quota",
        QuotaExhausted,
        &[
            &["allotment", "allowance", "quota", "entitlement", "limit", "message cap", "usage cap"],
            &[
                "this period",
                "current period",
                "next period",
                "tomorrow",
                "next week",
                "next month",
                "weekly",
                "monthly",
                "is spent",
                "used 100%",
                "all used",
                "this cycle",
            ],
        ],
    )
    .status(&[0, 402, 403, 429])
    .unless(&["per minute", "per second", "rate limit"]),
    vague(
        "guess.rate",
        RateLimit,
        &[
            &["request", "call", "message", "token"],
            &[
                "/min",
                "/sec",
                "/s ",
                "faster than",
                "at a time",
                "too fast",
                "too quickly",
                "at once",
                "every 10 seconds",
                "every second",
            ],
        ],
    )
    .status(&[429]),
    vague(
        "guess.key",
        Auth,
        &[
            &["key", "token", "credential", "password", "secret"],
            &[
                "deactivated",
                "disabled",
                "revoked",
                "expired",
                "inactive",
                "not active",
                "deleted",
                "not recognized",
                "rejected",
                "wrong",
                "incorrect",
                "no longer valid",
                "not valid",
                "suspended",
                "malformed",
                "cannot be verified",
            ],
        ],
    )
    .status(&[401, 403])
    .unless(&["quota", "token limit"]),
    vague(
        "guess.model",
        ModelUnavailable,
        &[
            &[
                "model",
                "deployment",
                "engine",
                "gpt",
                "claude",
                "gemini",
                "qwen",
                "llama",
                "deepseek",
                "mistral",
                "模型",
            ],
            &[
                "anymore",
                "no longer",
                "not among",
                "not one of",
                "was deleted",
                "been deleted",
                "not serve",
                "don't serve",
                "doesn't serve",
                "not hosted",
                "not deployed",
                "sunset",
                "discontinued",
                "withdrawn",
                "phased out",
                "not recognized",
                "not part of",
                "not in the list",
                "been removed",
                "停止服务",
            ],
        ],
    )
    .status(&[0, 400, 403, 404, 410, 422, 500, 503])
    .unless(&[
        "with this model",
        "by this model",
        "for this model",
        "parameter",
        "tool",
        "image",
        "field",
        "role",
        "key",
        "header",
    ])
    .scope(ScopeLevel::Model),
    vague(
        "guess.route",
        Unsupported,
        &[
            &["route", "endpoint", "path", "url", "api version", "operation", "method"],
            &[
                "not a valid",
                "invalid",
                "unknown",
                "not found",
                "not exist",
                "no such",
                "not recognized",
                "unrecognized",
                "not defined",
            ],
        ],
    )
    .status(&[400, 404, 405, 501])
    .unless(&["model", "deployment", "image", "field", "base64", "parameter", "download"])
    .scope(ScopeLevel::Provider),
    vague(
        "guess.feature",
        Unsupported,
        &[
            &[
                "parameter",
                "field",
                "option",
                "feature",
                "tool",
                "function",
                "image",
                "audio",
                "video",
                "vision",
                "stream",
                "json",
                "schema",
                "logprobs",
                "reasoning",
                "thinking",
                "modality",
            ],
            &[
                "not offered",
                "isn't offered",
                "cannot be used",
                "can't be used",
                "not recognised",
                "not recognized",
                "not understood",
                "not accepted",
                "is disabled",
                "turned off",
                "not enabled",
                "by this model",
                "with this model",
            ],
        ],
    )
    .status(&[0, 400, 404, 422, 500, 501])
    .unless(&["api key", "rate", "quota", "credits"]),
    vague(
        "guess.malformed",
        InvalidRequest,
        &[
            &["json", "request body", "messages", "payload"],
            &[
                "expected a",
                "expected an",
                "expected ,",
                "expected '",
                "non-empty",
                "malformed",
                "at position",
                "unexpected token",
                "syntax error",
                "cannot parse",
                "could not be parsed",
            ],
        ],
    )
    .status(&[400, 422])
    .unless(&["response", "output", "model returned"]),
];
