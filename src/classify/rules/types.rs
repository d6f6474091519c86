//! Types and codes that say the kind of trouble alone, when no words say more.

use super::{Rule, Tier, kind, vague};
use crate::domain::Class::{
    Auth, InvalidRequest, ModelUnavailable, Network, Overloaded, Permission, RateLimit, ServerError, Timeout,
    Unsupported,
};
use crate::domain::ScopeLevel;

pub(super) const RULES: &[Rule] = &[
    vague("vague.not_found", Unsupported, &[&["not found"]])
        .status(&[404])
        .unless(&["model", "deployment"])
        .scope(ScopeLevel::Provider),
    kind("type.overloaded", Overloaded, &["unavailable", "service_unavailable_error"]),
    kind("type.auth", Auth, &["unauthorized"]),
    kind("type.permission", Permission, &["permission_denied", "permission_denied_error"]),
    kind(
        "type.rate_limit",
        RateLimit,
        &[
            "rate_limit_error",
            "rate_limit_reached_error",
            "rate_limit_exceeded",
            "too_many_requests_error",
            "throttlingexception",
            "ratelimitreached",
            "rate_limited",
            "toomanyrequests",
            "ratelimitexceeded",
            "rate_limit",
            "requests",
            "tokens",
        ],
    ),
    kind("type.timeout", Timeout, &["timeout", "timeout_error"]),
    kind("type.server_error", ServerError, &["internal"]),
    kind("type.model", ModelUnavailable, &["model_not_found_error", "resourcenotfoundexception"]),
    Rule::new("codes.rate_limit_exceeded", Tier::Vague, RateLimit)
        .code(&[
            "rate_limit_exceeded",
            "ratelimitexceeded",
            "rate_limited",
            "ratelimitreached",
            "rate_limit_error",
            "rate_limit_reached_error",
            "throttlingexception",
            "too_many_requests",
            "toomanyrequests",
            "throttling",
            "limitexceeded",
            "requestlimitexceeded",
            "requests_limit_exceeded",
            "limit_requests",
            "limit_burst_rate",
            "model_cooldown",
            "user_global_rate_limited",
            "rate_limit",
            "resourceexhausted",
        ])
        .unless(&["exceeded your current quota"]),
    Rule::new("codes.not_found", Tier::Vague, ModelUnavailable).code(&["resourcenotfoundexception"]),
    Rule::new("codes.validation", Tier::Vague, InvalidRequest).code(&[
        "validationexception",
        "invalidparameter",
        "invalid_parameter_error",
        "invalidrequestexception",
    ]),
    Rule::new("sdk.timeout", Tier::Vague, Timeout).code(&[
        "apitimeouterror",
        "litellm.timeout",
        "readtimeout",
        "timeouterror",
        "timeoutexception",
    ]),
    Rule::new("sdk.connection", Tier::Vague, Network)
        .code(&[
            "apiconnectionerror",
            "connectionerror",
            "connecterror",
            "newconnectionerror",
            "clientconnectorerror",
            "protocolerror",
            "sslerror",
            "maxretryerror",
        ])
        .unless(&["litellm.apiconnectionerror"]),
    kind("type.server_error_api", ServerError, &["api_error"]).unless(&["status code"]).status(&[0, 500, 502, 520]),
    kind(
        "type.invalid_request",
        InvalidRequest,
        &[
            "invalid_request_error",
            "invalid_argument",
            "badrequesterror",
            "bad_request_error",
            "bad_request",
            "invalid_request",
            "validation_error",
            "unprocessable_entity",
        ],
    )
    .status(&[0, 400, 422]),
];
