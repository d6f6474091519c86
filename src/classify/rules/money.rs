//! Money: an empty balance, an unpaid bill, or no allowance at all. No time heals it.

use super::{Rule, words};
use crate::domain::Class::{Billing, QuotaExhausted, RateLimit};
use crate::domain::{Dimension, ScopeLevel};

pub(super) const RULES: &[Rule] = &[
    // DashScope says OpenAI's sentence for money when the tokens of a minute are used; the link tells.
    words("dashscope.token_limit", RateLimit, &[&["#token-limit", "allocated quota exceeded"]])
        .scope(ScopeLevel::Model)
        .dimension(Dimension::Tpm),
    // These codes decide against their own sentence: a month ends, and a project's limit leaves other projects working.
    Rule::new("openai.organization_limit_code", super::Tier::Words, QuotaExhausted)
        .code(&["organization_spend_limit_exceeded", "organization_usage_limit_exceeded"])
        .scope(ScopeLevel::Account)
        .dimension(Dimension::Monthly),
    Rule::new("openai.project_limit_code", super::Tier::Words, QuotaExhausted)
        .code(&["project_spend_limit_exceeded"])
        .scope(ScopeLevel::Credential)
        .dimension(Dimension::Monthly),
    // Limits of money that come back with the month.
    words("openrouter.key_of_a_month", QuotaExhausted, &[&["tokens limit exceeded:"], &["higher monthly limit"]])
        .scope(ScopeLevel::Credential)
        .dimension(Dimension::Monthly),
    words(
        "words.monthly_spend",
        QuotaExhausted,
        &[
            &["monthly", "this month", "per month", "billing cycle", "每月", "本月"],
            &[
                "spend limit",
                "spending limit",
                "spending cap",
                "spend cap",
                "included credits",
                "budget",
                "higher monthly limit",
                "usage limit",
            ],
        ],
    )
    .unless(&["suspended", "failure to pay", "used all available credits", "either used"])
    .dimension(Dimension::Monthly)
    .scope(ScopeLevel::Account),
    words("words.regain_access", QuotaExhausted, &[&["regain access on", "regain access at"]])
        .dimension(Dimension::Monthly),
    words(
        "words.free_usage_of_a_day",
        QuotaExhausted,
        &[&["free-models-per-day", "free usage exceeded", "free model requests per day"]],
    )
    .scope(ScopeLevel::Account)
    .dimension(Dimension::Rpd),
    words(
        "openrouter.key_limit_of_a_window",
        QuotaExhausted,
        &[&["key limit exceeded"], &["daily", "weekly", "monthly"]],
    )
    .scope(ScopeLevel::Credential),
    words("openrouter.key_limit", Billing, &[&["key limit exceeded", "key's limit"]]).scope(ScopeLevel::Credential),
    words(
        "litellm.budget_window",
        QuotaExhausted,
        &[&["crossed budget", "exceeded budget for deployment", "exceeded budget for provider"]],
    )
    .scope(ScopeLevel::Model)
    .dimension(Dimension::Credits),
    words(
        "words.balance",
        Billing,
        &[&[
            "credit balance is too low",
            "credit balance too low",
            "balance is too low",
            "low balance",
            "insufficient balance",
            "insufficient account balance",
            "insufficient_balance",
            "insufficient credit",
            "insufficient fund",
            "insufficient quota",
            "insufficient user quota",
            "insufficient_user_quota",
            "balance is insufficient",
            "balance not enough",
            "not enough credit",
            "not enough balance",
            "not enough funds",
            "negative balance",
            "no credits",
            "out of credits",
            "run out of credits",
            "ran out of credits",
            "used up your credits",
            "used all of your credits",
            "used all available credits",
            "exhausted your credits",
            "credits are depleted",
            "credits have been depleted",
            "credits depleted",
            "credits exhausted",
            "credits have been exhausted",
            "credit limit exceeded",
            "exceeded your credit",
            "credits to complete",
            "requires more credits",
            "can only afford",
            "cannot afford",
            "doesn't have any credits",
            "does not have any credits",
            "don't have any credits",
            "do not have enough credits",
            "don't have enough credits",
            "never purchased credits",
            "prepayment credits",
            "prepaid credits",
            "no resource package",
            "token quota is not enough",
            "user quota is not enough",
            "quota is not enough",
            "余额不足",
            "残高不足",
            "残高が不足",
            "クレジットが不足",
            "잔액이 부족",
            "잔액 부족",
            "недостаточно средств",
            "solde insuffisant",
            "crédits insuffisants",
            "saldo insuficiente",
            "guthaben reicht nicht",
            "nicht genügend guthaben",
            "资源包余量",
            "资源包余额",
            "资源包不足",
            "余额已用",
            "额度不足",
            "额度已用尽",
            "额度已用完",
            "欠费",
            "请充值",
            "预扣费",
            "无可用资源包",
            "免费额度已",
            "资源包已",
        ]],
    )
    .unless(&["per day", "daily", "per minute", "本月", "每月", "今日", "每日", "每天", "本周", "每周"]),
    words("dashscope.free_tier_only", Billing, &[&["use free tier only", "freetieronly", "free tier only"]])
        .scope(ScopeLevel::Model),
    words("ark.own_limit", Billing, &[&["set inference limit"]]).scope(ScopeLevel::Model),
    words(
        "words.balance_gone",
        Billing,
        &[
            &["balance", "wallet"],
            &[
                "$0",
                "is 0",
                "zero",
                "negative",
                "exhausted",
                "depleted",
                "check your balance",
                "please pay",
                "used up",
                "not sufficient",
            ],
        ],
    )
    .unless(&["load balanc"]),
    words(
        "words.payment",
        Billing,
        &[&[
            "payment required",
            "payment method required",
            "past due",
            "payment is overdue",
            "account is overdue",
            "overdue payment",
            "overdue-payment",
            "overdue balance",
            "overdueerror",
            "unpaid",
            "failure to pay",
            "payment failed",
            "billing is not active",
            "billing not active",
            "billing_not_active",
            "not active, please check your billing",
            "billing hard limit",
            "hard limit has been reached",
            "billing account is not",
            "billing is disabled",
            "billing to be enabled",
            "enable billing",
            "requires billing",
            "billing has not been",
            "billing details. please",
            "complete your payment information",
            "add a payment method to",
            "please recharge",
            "please top up",
            "top up your",
            "purchase credits",
            "purchase more credits",
            "buy credits",
            "buy more credits",
            "good standing",
            "arrearage",
            "trials have been temporarily paused",
            "subscription has expired",
            "subscription expired",
            "subscription is not active",
            "subscription is inactive",
            "no active subscription",
        ]],
    )
    .unless(&["rate limit reached", "per min", "daily", "per day", "(rpd)", "weekly"]),
    words(
        "words.no_allowance",
        Billing,
        &[&[
            "free quota has been",
            "free quota is",
            "free quota exhausted",
            "free tier only",
            "freetieronly",
            "free quota tier",
            "free tier is not available",
            "not available on the free",
            "not available in the free",
            "free trial has ended",
            "free trial has expired",
            "trial has expired",
            "trial expired",
            "free credits have",
            "(0/0 used)",
            "0/0 used",
        ]],
    )
    .unless(&["free quota has been reset", "daily"])
    .scope(ScopeLevel::Model),
    words(
        "words.suspended_for_money",
        Billing,
        &[
            &["suspended", "disabled", "blocked", "paused"],
            &["spending limit", "invoice", "billing", "payment", "unpaid", "balance", "inference limit"],
        ],
    )
    .unless(&["violation", "terms of service"]),
    words(
        "litellm.budget",
        Billing,
        &[&["budget has been exceeded", "exceeded budget", "budget exceeded", "over budget"]],
    ),
    words(
        "openrouter.prompt_tokens_affordable",
        Billing,
        &[&["tokens limit exceeded:"], &["settings/credits", "paid account", "add more credits"]],
    ),
    words("words.gateway_credits", Billing, &[&["add credits", "add more credits"]]).unless(&[
        "per day",
        "per-day",
        "daily",
        "free usage",
    ]),
    // A code that renews with the month tells it from the empty wallet, whose words are the same.
    // Gemini opens with this sentence for a minute, a day and no allowance alike, so alone it says nothing there.
    words(
        "openai.insufficient_quota",
        Billing,
        &[&[
            "exceeded your current quota",
            "exceeded current quota",
            "exceeded quota. please check your plan and billing",
        ]],
    )
    .unless(&[
        "gemini-api",
        "generativelanguage",
        "generate_content",
        "ai.google.dev",
        "token-limit",
        "reset at",
        "resets at",
    ])
    .scope(ScopeLevel::Account),
    words("openai.check_plan_and_billing", Billing, &[&["check your plan and billing details"]]).unless(&[
        "gemini-api",
        "generativelanguage",
        "generate_content",
        "ai.google.dev",
        "token-limit",
        "current quota",
    ]),
];
