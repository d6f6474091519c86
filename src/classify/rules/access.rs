//! What a good key may not do: regions, models, clients, networks.

use super::{Rule, words};
use crate::domain::Class::Permission;
use crate::domain::ScopeLevel;

pub(super) const RULES: &[Rule] = &[
    words(
        "words.license_to_accept",
        Permission,
        &[
            &["license", "licence", "terms of use", "terms and conditions"],
            &[
                "must submit",
                "must accept",
                "must agree",
                "please accept",
                "accept the",
                "agree to the",
                "hereby agree",
            ],
        ],
    )
    .scope(ScopeLevel::Model),
    // Refused although the key is good: before the words of bad keys, which some of these use too.
    words(
        "words.region",
        Permission,
        &[&[
            "country, region, or territory",
            "region, or territory not supported",
            "unsupported country",
            "unsupported_country",
            "user location is not supported",
            "location is not supported",
            "not available in your country",
            "not available in your region",
            "not supported in your country",
            "not supported in your region",
            "not available in this region",
            "not available in your location",
            "region is not supported",
            "from your region",
            "from your country",
            "cross-border isolation",
            "unavailable for legal reasons",
            "所在地区",
            "地区不支持",
        ]],
    )
    .scope(ScopeLevel::Region),
    words(
        "openrouter.data_policy",
        Permission,
        &[&["data policy", "guardrail restrictions", "settings/privacy", "privacy settings"]],
    )
    .scope(ScopeLevel::Model),
    words(
        "words.oauth_not_allowed",
        Permission,
        &[
            &["oauth"],
            &[
                "not allowed for this organization",
                "currently not allowed",
                "scope requirement",
                "is currently not supported",
            ],
        ],
    )
    .scope(ScopeLevel::Credential),
    words(
        "words.model_not_allowed",
        Permission,
        &[&[
            "does not have access to model",
            "doesn't have access to model",
            "do not have access to model",
            "don't have access to model",
            "not have access to the model",
            "no access to model",
            "not allowed to access model",
            "not authorized to access model",
            "not authorized to access this model",
            "not authorized to invoke this model",
            "not allowed to use publisher model",
            "not allowed to use this model",
            "not allowed to use model",
            "model access is denied",
            "don't have access to the model with the specified model id",
            "access to model denied",
            "access to this model is denied",
            "access to the model",
            "eligible for using the model",
            "use case details have not been",
            "use-case form",
            "use case form",
            "data retention mode",
            "must be verified to",
            "organization must be verified",
            "not activated the model",
            "has not activated",
            "model agreement",
            "accept the license",
            "accept the terms",
            "agree to the terms",
            "gated repo",
            "access to this repo",
            "terms acceptance",
            "not supported by any provider you have enabled",
            "requires a paid plan",
            "requires an upgraded plan",
            "requires a subscription",
            "not available on your plan",
            "not available for your plan",
            "not included in your plan",
            "does not include access",
            "your plan does not",
            "upgrade your plan to access",
            "未开通",
            "没有权限",
            "无权访问",
            "无权限",
            "无权使用",
            "未授权访问",
        ]],
    )
    .unless(&["does not exist"])
    .scope(ScopeLevel::Model),
    words(
        "words.client_not_allowed",
        Permission,
        &[&[
            "only available for coding agents",
            "only available for",
            "only authorized for use with",
            "not allowed from this client",
            "client is not allowed",
            "access from this client",
        ]],
    )
    .unless(&["image", "certain models"])
    .scope(ScopeLevel::Credential),
    words(
        "words.key_not_allowed",
        Permission,
        &[&[
            "are blocked",
            "noautherror",
            "licc failed",
            "license is over",
            "api_key_service_blocked",
            "api_key_http_referrer_blocked",
            "api_key_ip_address_blocked",
            "you have insufficient permissions",
            "insufficient permissions",
            "missing scopes",
            "does not have the required scope",
            "restricted api key",
            "key is not allowed to",
            "key not allowed to access model",
            "team not allowed to access model",
            "is not authorized to perform",
            "not authorized to perform",
            "explicit deny",
        ]],
    )
    .unless(&["invalid api key"])
    .scope(ScopeLevel::Credential),
    words(
        "words.network_not_allowed",
        Permission,
        &[&[
            "virtual network",
            "firewall rules",
            "not allowed by your ip",
            "ip address is not allowed",
            "ip is not allowed",
            "ip not allowed",
            "not in the ip allow",
            "ip whitelist",
            "ip allowlist",
            "public access is disabled",
            "private endpoint",
            "traffic is not from an approved",
            "不在白名单",
        ]],
    )
    .scope(ScopeLevel::Account),
    // The cloud hides whether the thing exists from who may not ask for it.
    words("words.action_denied", Permission, &[&["permission"], &["denied on resource", "denied for resource"]])
        .unless(&["denied on resource project"])
        .scope(ScopeLevel::Credential),
    words(
        "words.project_not_allowed",
        Permission,
        &[&[
            "permission denied on resource project",
            "consumer_invalid",
            "service_disabled",
            "it is disabled. enable it",
            "has not been used in project",
            "you do not have access to the organization",
            "must be a member of an organization",
            "not a member of",
            "operation not allowed",
            "access to bedrock models is not allowed for this account",
        ]],
    )
    .scope(ScopeLevel::Account),
    words("words.request_not_allowed", Permission, &[&["request not allowed"]]).scope(ScopeLevel::Region),
];
