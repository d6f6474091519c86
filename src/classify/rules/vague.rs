//! Words and types that say the kind of trouble but not its cause. They decide only when nothing clearer is said
//! anywhere in the evidence.

use super::{Rule, Tier, kind, vague};
use crate::classify::condition::Condition;
use crate::domain::Class::{
    Auth, Billing, ContentPolicy, ContextOverflow, ModelUnavailable, Network, Overloaded, Permission, QuotaExhausted,
    RateLimit, ServerError, Timeout, Unsupported,
};
use crate::domain::ScopeLevel;

/// A header that says that nothing is left of the day.
pub(crate) const EMPTY_OF_A_DAY: Condition<&str> = Condition::header_is("x-ratelimit-remaining*-day", "0");

/// The same of Groq, which counts requests by the day only.
pub(crate) const EMPTY_OF_GROQS_DAY: Condition<&str> = Condition::header_is("x-ratelimit-remaining-requests", "0");

pub(super) const RULES: &[Rule] = &[
    // Google and xAI put one status over many causes; alone it means this.
    vague("gemini.resource_exhausted", RateLimit, &[&["resource has been exhausted"]]).scope(ScopeLevel::Account),
    // Headers that say what is empty; words say more, where there are any.
    Rule::new("anthropic.bucket_empty", Tier::Vague, RateLimit)
        .when(&[Condition::header_is("anthropic-ratelimit-*-remaining", "0")])
        .status(&[0, 429]),
    Rule::new("headers.day_empty", Tier::Vague, QuotaExhausted).when(&[EMPTY_OF_A_DAY]).status(&[0, 429]),
    Rule::new("groq.day_empty", Tier::Vague, QuotaExhausted)
        .only(&["groq"])
        .when(&[EMPTY_OF_GROQS_DAY])
        .status(&[0, 429]),
    // Anthropic says "Rate limited", without a limit, when it throttles everybody.
    vague("anthropic.rate_limited", Overloaded, &[&["rate limited"]]).only(&["anthropic"]).unless(&[
        "exceed",
        "your account",
        "have been rate limited",
    ]),
    vague("anthropic.rate_limited_shape", Overloaded, &[&["rate limited"]]).kind(&["rate_limit_error"]).unless(&[
        "exceed",
        "your account",
        "you have been",
        "you are",
    ]),
    vague("vague.model", ModelUnavailable, &[&["model:", "models/", "modelid"]])
        .kind(&["not_found_error", "not_found"]),
    kind("anthropic.not_found", ModelUnavailable, &["not_found_error"]).unless(&["url", "route", "path", "not found"]),
    vague("vague.path_not_found", Unsupported, &[&["not found"]]).code(&["names_a_path"]).scope(ScopeLevel::Provider),
    vague(
        "vague.usage_policy",
        ContentPolicy,
        &[&[
            "usage policy",
            "usage policies",
            "flagged",
            "moderation",
            "moderator",
            "politically",
            "sensitive text",
            "sensitive topic",
            "sensitive material",
            "offensive",
            "harmful",
            "policy violation",
            "违规",
            "敏感",
        ]],
    )
    .unless(&["rate limit"]),
    // A model, not what is asked of it.
    vague(
        "vague.model_not_supported",
        ModelUnavailable,
        &[&["model "], &["is not supported", "not supported by this provider", "isn't supported here"]],
    )
    .unless(&[
        "with this model",
        "by this model",
        "for this model",
        "by the model",
        "with the model",
        "for the model",
        "parameter",
        "tool",
        "image",
        "json",
        "stream",
        "system",
        "role",
        "content",
        "format",
        "temperature",
        "field",
        "option",
        "feature",
        "input",
        "request",
        "function",
        "for model",
        "by model",
        "with model",
        "when using",
        "not supported in",
        "not supported on",
        "api",
        "endpoint",
        "effort",
        "reasoning",
        "prefill",
        "type",
    ]),
    vague(
        "vague.unsupported",
        Unsupported,
        &[&[
            "not supported",
            "unsupported",
            "does not support",
            "doesn't support",
            "not support",
            "isn't supported",
            "not permitted",
            "not available with",
            "does not accept",
            "doesn't accept",
            "cannot accept",
            "cannot handle",
            "can't handle",
            "no support for",
            "lacks support",
            "not capable of",
            "only accept",
            "not available for this",
            "is not enabled;",
            "not allowed here",
            "not implemented",
            "is not available for",
            "is not enabled",
            "unexpected value",
            "unexpected keyword",
            "unrecognized",
            "unknown argument",
            "incompatible",
            "only supports",
            "only allowed when",
            "enabled only for",
            "only available in api version",
            "不支持",
        ]],
    ),
    // A size and what it may be at most; time does not heal it.
    vague(
        "vague.size",
        ContextOverflow,
        &[
            &[
                "limit is",
                "limit of",
                "maximum of",
                "maximum is",
                "at most",
                "max is",
                "only up to",
                "超出",
                "超过",
                "最大",
            ],
            &[
                "pages",
                " mb",
                "mib",
                "bytes",
                "characters",
                "tokens",
                "seconds of",
                "images",
                "token 数",
                "字符",
                "长度",
                "tokens数",
            ],
        ],
    )
    .status(&[400, 413, 422])
    .unless(&["per minute", "per second", "per day", "rate limit", "quota", "batch", "timeout", "timed out"]),
    vague("vague.spend", Billing, &[&["billing", "payment", "credits", "subscription", "余额", "充值", "invoice"]])
        .status(&[402, 403, 412])
        .unless(&["subscription key"]),
    vague("vague.quota", QuotaExhausted, &[&["usage limit", "your quota", "quota has been", "quota is exhausted"]])
        .unless(&[
            "gemini-api",
            "generativelanguage",
            "increase",
            "hourly",
            "current quota",
            "wait before",
            "access_terminated",
        ]),
    vague(
        "vague.rate_limit",
        RateLimit,
        &[&[
            "rate limit",
            "rate-limit",
            "rate limited",
            "rate_limit",
            "ratelimit",
            "throttl",
            "too many requests",
            "too frequent",
            "quota exceeded",
            "quota limit exceed",
            "请求过快",
            "レート制限",
            "リクエスト制限",
            "속도 제한",
            "너무 많은 요청",
            "ratenlimit",
            "limite de débit",
            "limite de taxa",
            "límite de velocidad",
            "превышено количество",
            "слишком часто",
            "请求太多",
            "請求過多",
            "操作过快",
            "レートリミット",
            "リクエストが多すぎ",
            "リクエスト数が多すぎ",
            "요청이 너무 많",
            "요청 한도",
            "превышен лимит",
            "слишком много запросов",
            "demasiadas solicitudes",
            "demasiadas peticiones",
            "límite de solicitudes",
            "límite de peticiones",
            "trop de requêtes",
            "limite de requêtes",
            "limite de requisições",
            "muitas solicitações",
            "zu viele anfragen",
            "anfragelimit",
            "troppe richieste",
            "频繁",
        ]],
    )
    .unless(&["error code: 429 too many requests", "litellm.ratelimiterror: too many requests"]),
    vague(
        "vague.scope_lacking",
        Permission,
        &[
            &["api key", "token", "credential", "service account", "user", "caller", "principal"],
            &["lacks", "lack ", "missing", "does not have", "doesn't have", "without", "requires"],
            &["scope", "permission", "privilege", "role"],
        ],
    )
    .unless(&["role:", "roles", "message"])
    .scope(ScopeLevel::Credential),
    vague(
        "vague.access",
        Permission,
        &[&[
            "does not have permission",
            "do not have permission",
            "don't have permission",
            "permission denied",
            "access denied",
            "not authorized",
            "forbidden",
            "you do not have access",
            "not allowed",
            "restricted",
            "无权",
        ]],
    ),
    vague(
        "vague.key",
        Auth,
        &[&["unauthorized", "unauthorised", "api key", "apikey", "invalid credentials", "your credentials", "未授权"]],
    ),
    vague(
        "vague.busy",
        Overloaded,
        &[&["unavailable", "try again in a moment", "capacity", "at the moment", "稍后再试", "稍后重试"]],
    ),
    vague("vague.timeout", Timeout, &[&["timeout"]]).unless(&["error_type", "connect"]),
    vague("vague.connection", Network, &[&["connection", "proxy", "socket", "dns", "certificate", "tls"]])
        .unless(&["please check your connection settings"])
        .status(&[0]),
    vague(
        "vague.upstream_failed",
        ServerError,
        &[&["upstream request failed", "upstream error", "provider returned error"]],
    )
    .unless(&["429", "rate", "too many"])
    .status(&[0, 200, 500, 502, 503]),
];
