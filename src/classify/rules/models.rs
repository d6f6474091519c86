//! Whether the model is there.

use super::{Rule, words};
use crate::domain::Class::{ModelUnavailable, Unsupported};
use crate::domain::ScopeLevel;

/// The rules whose words say that a model is gone for good.
pub(crate) const OF_GONE_MODELS: &[&str] = &["words.model_gone", "words.model_end_of_life", "code.model_gone"];

pub(super) const RULES: &[Rule] = &[
    // What runs models stopped running this one.
    words(
        "words.model_stopped",
        ModelUnavailable,
        &[&[
            "endpoint is stopped",
            "deployment is stopped",
            "endpoint is paused",
            "endpoint has been paused",
            "specified version does not exist",
            "version does not exist",
        ]],
    ),
    words(
        "words.model_wrong_operation",
        Unsupported,
        &[&[
            "is not supported by the generate api",
            "does not work with the specified model",
            "not a chat model",
            "only supported in v1/responses",
            "not supported in the v1/",
        ]],
    ),
    words(
        "words.on_demand",
        ModelUnavailable,
        &[
            &["on-demand throughput"],
            &["isn't supported", "is not supported", "not supported", "doesn't support", "does not support"],
        ],
    ),
    words(
        "words.model_gone",
        ModelUnavailable,
        &[&[
            "has been decommissioned",
            "has been deprecated",
            "is deprecated",
            "model is no longer",
            "no longer available",
            "no longer supported",
            "was removed on",
            "has been removed",
            "has been retired",
            "was retired",
            "is retired",
            "has been shut down",
            "has been discontinued",
            "end of life",
            "end-of-life",
            "marked by provider as legacy",
            "已下线",
            "已废弃",
        ]],
    )
    .unless(&["parameter", "field ", "api version", "endpoint", "header", "max_tokens"]),
    words(
        "words.model_unknown",
        ModelUnavailable,
        &[&[
            "unknown model",
            "no such model",
            "no model called",
            "no model named",
            "的可用渠道",
            "invalid model",
            "invalid_model",
            "model not found",
            "model not exist",
            "model does not exist",
            "model doesn't exist",
            "not a valid model id",
            "is not a valid model",
            "not a valid model",
            "not a supported model",
            "model identifier is invalid",
            "model id is invalid",
            "requested model is not supported",
            "model is not supported",
            "model_not_supported",
            "unsupported model",
            "unrecognized model",
            "could not find model",
            "cannot find model",
            "couldn't find model",
            "model is unavailable",
            "model unavailable",
            "model is not available",
            "model not available",
            "try pulling it first",
            "pull model manifest",
            "ollama pull",
            "not found for account",
            "not found for api version",
            "no endpoints found",
            "no allowed providers are available",
            "no providers available",
            "no available channel",
            "no available channels",
            "no available provider",
            "no models loaded",
            "no healthy upstream deployment",
            "unable to access non-serverless model",
            "unable to access model",
            "api deployment for this resource does not exist",
            "deployment does not exist",
            "deployment not found",
            "deploymentnotfound",
            "specified deployment could not be found",
            "model is not deployed",
            "无可用渠道",
            "模型不存在",
            "模型不可用",
            "找不到模型",
            "不存在该模型",
            "不支持该模型",
            "未找到模型",
            "模型未找到",
        ]],
    )
    .unless(&[
        "no endpoints found that support",
        "no endpoints found that can handle",
        "that support",
        "can handle the requested",
        "is not supported by the",
    ])
    .scope(ScopeLevel::Model),
    words(
        "words.model_end_of_life",
        ModelUnavailable,
        &[&["model", "deployment", "模型"], &["end of its life", "end of life", "end-of-life", "已下线", "已停用"]],
    )
    .scope(ScopeLevel::Model),
    words(
        "words.model_missing",
        ModelUnavailable,
        &[
            &["model", "deployment", "publisher model", "endpoint"],
            &[
                "does not exist",
                "doesn't exist",
                "not found, make sure",
                "' not found",
                "not found.",
                "not found,",
                "could not be found",
                "was not found",
                "cannot be found",
                "not found in",
                "not exist",
                "isn't available",
                "不存在",
            ],
        ],
    )
    .unless(&[
        "resource not found: ",
        "tool",
        "no endpoints",
        "file ",
        "page not found",
        "route",
        "项目",
        "maximum context",
        "organization does not exist",
        "account does not exist",
    ])
    .scope(ScopeLevel::Model),
    // Vaguer words, which the status makes sure: a 404 that speaks of a model does not speak of the route.
    words(
        "words.model_missing_404",
        ModelUnavailable,
        &[&["model", "deployment", "engine"], &["not found", "no such", "unknown", "not available", "unavailable"]],
    )
    .status(&[404])
    .unless(&[
        "resource not found: ",
        "tool",
        "file ",
        "page not found",
        "route",
        "url",
        "that support",
        "endpoint",
        "path",
    ])
    .scope(ScopeLevel::Model),
];
