use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::catalog::Catalog;

fn family(id: &str) -> Option<String> {
    model_family(&id.into())
}

/// Each family with ids of it as they stand in the catalogue, in providers' lists, errors and logs.
const FAMILIES: &[(&str, &[&str])] = &[
    (
        "claude-sonnet-4-5",
        &[
            "claude-sonnet-4-5",
            "claude-sonnet-4-5-20250929",
            "claude-sonnet-4-5@20250929",
            "claude-sonnet-4-5@default",
            "anthropic/claude-sonnet-4.5",
            "anthropic/claude-sonnet-4.5:beta",
            "anthropic.claude-sonnet-4-5-20250929-v1:0",
            "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
            "global.anthropic.claude-sonnet-4-5-20250929-v1:0",
        ],
    ),
    ("claude-sonnet-4", &["claude-sonnet-4@20250514", "us.anthropic.claude-sonnet-4-20250514-v1:0"]),
    ("claude-sonnet-4-6", &["claude-sonnet-4-6", "us.anthropic.claude-sonnet-4-6"]),
    ("claude-haiku-4-5", &["claude-haiku-4-5", "claude-haiku-4-5-20251001"]),
    ("claude-opus-4-5", &["claude-opus-4-5", "claude-opus-4-5-20251101"]),
    ("claude-3-5-haiku", &["claude-3-5-haiku-latest", "anthropic/claude-3.5-haiku"]),
    ("claude-3-5-sonnet", &["anthropic.claude-3-5-sonnet-20241022-v2:0"]),
    (
        "llama-3-3-70b",
        &[
            "llama-3.3-70b-versatile",
            "llama-3.3-70b-specdec",
            "llama-3.3-70b",
            "llama-3.3-70b-instruct",
            "@cf/meta/llama-3.3-70b-instruct-fp8-fast",
            "meta-llama/llama-3.3-70b-instruct:free",
            "meta/llama-3.3-70b-instruct",
            "meta-llama/Llama-3.3-70B-Instruct-Turbo",
            "Meta-Llama-3.3-70B-Instruct",
            "meta-llama/Llama-3.3-70B-Instruct:groq",
            "accounts/fireworks/models/llama-v3p3-70b-instruct",
            "us.meta.llama3-3-70b-instruct-v1:0",
            "meta/llama-3.3-70b-instruct-maas",
            "llama3.3:70b",
            "llama3.3:70b-instruct-q4_K_M",
        ],
    ),
    (
        "llama-3-1-8b",
        &[
            "llama-3.1-8b-instant",
            "llama3.1-8b",
            "llama3.1:8b",
            "@cf/meta/llama-3.1-8b-instruct-fast",
            "meta-llama/Meta-Llama-3.1-8B-Instruct-Turbo",
            "meta-llama/Llama-3.1-8B",
        ],
    ),
    ("llama-3-1-70b", &["llama-3.1-70b-versatile", "llama3.1:70b"]),
    ("llama-3-70b", &["llama3-70b-8192", "llama3-70b", "meta.llama-3-70b-instruct", "meta-llama-3-70b-instruct"]),
    ("llama-3-8b", &["meta.llama3-8b-instruct-v1:0"]),
    ("llama-2-70b", &["meta-llama/llama-2-70b-chat"]),
    ("llama-3-2", &["llama3.2", "llama3.2:latest"]),
    ("gpt-oss-120b", &["openai/gpt-oss-120b", "gpt-oss-120b", "@cf/openai/gpt-oss-120b", "gpt-oss:120b-cloud"]),
    ("gpt-oss-20b", &["openai/gpt-oss-20b", "openai.gpt-oss-20b-1:0"]),
    ("gpt-4o", &["gpt-4o", "gpt-4o-2024-08-06", "openai/gpt-4o"]),
    ("gpt-4o-mini", &["gpt-4o-mini", "gpt-4o-mini-2024-07-18", "openai/gpt-4o-mini"]),
    ("gpt-5", &["gpt-5", "openai/gpt-5", "gpt-5-2025-08-07"]),
    ("gpt-5-mini", &["openai/gpt-5-mini"]),
    ("gpt-5-codex", &["gpt-5-codex"]),
    ("gpt-5-chat", &["gpt-5-chat-latest"]),
    ("gpt-4-1", &["gpt-4.1"]),
    ("gpt-4", &["gpt-4", "gpt-4-0613", "gpt-4-1106-preview"]),
    ("gpt-4-32k", &["gpt-4-32k"]),
    ("gpt-4-turbo", &["gpt-4-turbo", "gpt-4-turbo-2024-04-09", "gpt-4-turbo-preview"]),
    ("gpt-3-5-turbo", &["gpt-3.5-turbo", "gpt-3.5-turbo-0125", "gpt-35-turbo"]),
    ("gpt-3-5-turbo-instruct", &["gpt-3.5-turbo-instruct"]),
    ("gemini-2-5-pro", &["gemini-2.5-pro", "google/gemini-2.5-pro-exp-03-25", "gemini-2.5-pro-preview-05-06"]),
    ("gemini-2-5-flash", &["gemini-2.5-flash", "google/gemini-2.5-flash"]),
    ("gemini-2-5-flash-lite", &["gemini-2.5-flash-lite", "gemini-2.5-flash-lite-preview-09-2025"]),
    ("gemini-2-0-flash", &["gemini-2.0-flash", "gemini-2.0-flash-001"]),
    ("gemini-1-5-flash", &["models/gemini-1.5-flash-002"]),
    ("gemma-3-27b", &["models/gemma-3-27b-it", "google/gemma-3-27b-it:free", "gemma3:27b"]),
    ("gemma-2-9b", &["gemma2-9b-it"]),
    ("deepseek-v3-1", &["deepseek/deepseek-chat-v3.1:free", "deepseek-v3.1-maas", "deepseek-ai/DeepSeek-V3.1"]),
    ("deepseek-v3", &["deepseek-ai/DeepSeek-V3", "deepseek/deepseek-v3", "deepseek/deepseek-chat-v3-0324:free"]),
    ("deepseek-r1", &["deepseek-ai/DeepSeek-R1", "deepseek.r1-v1:0", "deepseek/deepseek-r1-0528:free"]),
    ("deepseek-r1-0528-qwen-3-8b", &["deepseek/deepseek-r1-0528-qwen3-8b"]),
    ("deepseek-chat", &["deepseek-chat"]),
    (
        "kimi-k2",
        &["kimi-k2", "kimi-k2-0905-preview", "moonshotai/kimi-k2-instruct", "moonshotai/Kimi-K2-Instruct-0905"],
    ),
    ("kimi-k2-5", &["kimi-k2.5", "accounts/fireworks/models/kimi-k2p5"]),
    ("kimi-k2-thinking", &["moonshotai/kimi-k2-thinking"]),
    ("glm-4-6", &["glm-4.6", "z-ai/glm-4.6", "zai-org/GLM-4.6-FP8", "accounts/fireworks/models/glm-4p6"]),
    ("glm-4-7", &["zai-glm-4.7", "z-ai/glm-4.7"]),
    ("glm-4-5-air", &["glm-4.5-air", "z-ai/glm-4.5-air:free"]),
    ("qwen-3-8b", &["qwen3-8b", "qwen3:8b", "Qwen/Qwen3-8B-AWQ"]),
    ("qwen-3-235b-a22b", &["qwen-3-235b-a22b-instruct-2507", "Qwen/Qwen3-235B-A22B"]),
    ("qwen-3-235b-a22b-thinking", &["qwen-3-235b-a22b-thinking-2507"]),
    ("qwen-turbo", &["qwen-turbo"]),
    ("qwen-2-5-72b", &["qwen2.5-72b", "accounts/fireworks/models/qwen2p5-72b-instruct"]),
    ("mistral-small", &["mistral-small-latest", "mistral-small-2506"]),
    ("mistral-large", &["mistral-large", "mistral.mistral-large-2402-v1:0"]),
    ("mistral-nemo", &["mistralai-mistral-nemo", "mistralai/mistral-nemo"]),
    ("mixtral-8x7b", &["mixtral-8x7b-32768", "mistralai/Mixtral-8x7B-Instruct"]),
    ("command-a", &["command-a-03-2025"]),
    ("command-r-plus", &["cohere-command-r-plus-08-2024", "command-r-plus"]),
    ("grok-4", &["grok-4", "grok-4-0709", "x-ai/grok-4"]),
    ("grok-4-fast", &["grok-4-fast", "x-ai/grok-4-fast:free"]),
    ("grok-code-fast-1", &["grok-code-fast-1"]),
    ("nova-pro", &["us.amazon.nova-pro-v1:0"]),
    ("minimax-m2", &["MiniMax-M2"]),
    ("ft:gpt-4o-mini-2024-07-18:lab::a1b2", &["ft:gpt-4o-mini-2024-07-18:lab::A1B2"]),
    // Even a name that is nothing but an ending is a name.
    ("m", &["m", "vendor/m:free"]),
    ("instruct", &["instruct"]),
];

#[test]
fn ids_of_the_same_weights_have_one_family() {
    let mut wrong = String::new();
    for (name, ids) in FAMILIES {
        for id in *ids {
            let found = family(id);
            if found.as_deref() != Some(*name) {
                wrong.push_str(&format!("{id}: {found:?}, not {name}\n"));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn an_id_that_only_points_has_none() {
    for id in
        ["", "default", "openrouter/auto", "openrouter/free", "model-router", "ep-20250101123456-abcde", "@", "a/"]
    {
        assert_eq!(family(id), None, "{id}");
    }
}

/// The catalogue's ids that are one model, and no others.
#[test]
fn the_catalogue_has_these_models_twice() {
    let mut families: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (provider, info) in Catalog::builtin().expect("the catalogue").providers {
        for model in info.models {
            let family = model_family(&model.id).unwrap_or_else(|| panic!("{} has a family", model.id));
            families.entry(family).or_default().push(provider.to_string());
        }
    }
    families.retain(|_, providers| providers.len() > 1);
    let told: Vec<String> = families.iter().map(|(family, at)| format!("{family}: {}", at.join(" "))).collect();
    assert_eq!(
        told,
        [
            "gemini-2-5-flash: gemini vertex",
            "gemini-2-5-pro: gemini vertex",
            "glm-4-5-air: zai zhipu",
            "glm-4-6: zai zhipu",
            "gpt-4o: github-models openai",
            "gpt-4o-mini: github-models openai",
            "gpt-oss-120b: cerebras cloudflare fireworks groq",
            "llama-3-1-8b: cerebras cloudflare groq",
            "llama-3-3-70b: cerebras cloudflare groq nvidia openrouter together",
        ]
    );
}

#[test]
fn the_maker_of_a_family_is_known_where_it_serves_it() {
    for (provider, family, expected) in [
        ("anthropic", "claude-sonnet-4-5", true),
        ("openai", "gpt-4o", true),
        ("openai", "gpt-oss-120b", false),
        ("zai", "glm-4-6", true),
        ("zhipu", "glm-4-6", true),
        ("groq", "llama-3-3-70b", false),
        ("openrouter", "claude-sonnet-4-5", false),
    ] {
        assert_eq!(makes(provider, family), expected, "{provider} {family}");
    }
}

/// Makers are named as the catalogue names them, or they would never be found.
#[test]
fn makers_are_providers() {
    let catalog = Catalog::builtin().expect("the catalogue");
    for (_, makers) in MAKERS {
        makers.iter().for_each(|maker| assert!(catalog.providers.contains_key(*maker), "{maker}"));
    }
}

fn any_id() -> impl Strategy<Value = &'static str> {
    let ids: Vec<&str> = FAMILIES.iter().flat_map(|(_, ids)| ids.iter().copied()).collect();
    prop::sample::select(ids.into_iter().filter(|id| !id.starts_with("ft:")).collect::<Vec<_>>())
}

proptest! {
    #[test]
    fn what_a_host_adds_changes_nothing(id in any_id(), vendor in "[a-z][a-z0-9-]{0,9}") {
        let plain = family(id);
        prop_assert_eq!(family(&format!("{vendor}/{id}")), plain.clone(), "a vendor");
        prop_assert_eq!(family(&id.to_uppercase()), plain.clone(), "case");
        if !id.contains(':') {
            prop_assert_eq!(family(&format!("{id}:free")), plain.clone(), "a price");
            prop_assert_eq!(family(&format!("{id}-latest")), plain.clone(), "the newest");
        }
        prop_assert_eq!(family(&plain.clone().expect("a family")), plain, "a family is an id of itself");
    }

    #[test]
    fn any_text_has_a_family_or_none(id in "\\PC{0,30}|[a-z0-9.:@/-]{0,30}") {
        if let Some(family) = family(&id) {
            prop_assert!(!family.is_empty());
        }
    }
}
