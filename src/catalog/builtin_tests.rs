//! The catalogue that is part of the program holds what it promises.

use std::collections::BTreeSet;
use std::time::Duration;

use super::*;
use crate::clock::Clock;

fn catalog() -> Catalog {
    Catalog::builtin().expect("the catalogue")
}

#[test]
fn the_usual_providers_are_there() {
    let catalog = catalog();
    for name in [
        "openai",
        "azure",
        "anthropic",
        "gemini",
        "vertex",
        "bedrock",
        "groq",
        "mistral",
        "cerebras",
        "cloudflare",
        "openrouter",
        "nvidia",
        "cohere",
        "together",
        "fireworks",
        "deepseek",
        "moonshot",
        "zhipu",
        "dashscope",
        "minimax",
        "xai",
        "perplexity",
        "github-models",
        "huggingface",
        "ollama",
        "vllm",
        "llamacpp",
        "lmstudio",
    ] {
        assert!(catalog.provider(&name.into()).is_some(), "{name}");
    }
}

#[test]
fn every_entry_is_whole() {
    for (name, info) in &catalog().providers {
        assert_eq!(info.wire.is_some(), info.base_url.is_some(), "{name}: wire and base URL go together");
        if let Some(url) = &info.base_url {
            let variable = info.vars.keys().any(|variable| url.starts_with(&format!("{{{variable}}}")));
            let local = info.local && url.starts_with("http://127.0.0.1:");
            assert!(url.starts_with("https://") || variable || local, "{name}: {url}");
            assert!(!url.ends_with('/'), "{name}: {url}");
            let filled = info.base_url_from(&|_| Some("x".to_owned())).expect("filled");
            assert!(filled.is_some_and(|url| !url.contains(['{', '}'])), "{name}: a variable without a source");
            assert!(info.local || !info.env.is_empty(), "{name}: no variable for its key");
        }
        assert!(!info.hosts.is_empty(), "{name}: not recognisable");
        assert!(info.hosts.iter().all(|host| host.chars().all(|c| !c.is_ascii_uppercase())), "{name}");
        let words = info.models.iter().filter_map(|model| model.capabilities.as_ref());
        for word in words.chain(&info.capabilities).flatten() {
            assert!(["tools", "json_schema", "json_object", "images"].contains(&word.as_str()), "{name}: {word}");
        }
    }
}

#[test]
fn models_are_unique_and_their_numbers_make_sense() {
    for (name, info) in &catalog().providers {
        let ids: BTreeSet<_> = info.models.iter().map(|model| &model.id).collect();
        assert_eq!(ids.len(), info.models.len(), "{name}");
        for model in &info.models {
            let (context, output) = (model.context.unwrap_or(u64::MAX), model.max_output.unwrap_or(1));
            assert!(output <= context && context >= 4096, "{name}/{}", model.id);
            if let Some(price) = model.price {
                assert!(price.input >= 0.0 && price.output >= price.input, "{name}/{}", model.id);
                assert!(price.cached.is_none_or(|cached| cached <= price.input), "{name}/{}", model.id);
            }
        }
    }
}

#[test]
fn limits_are_dated_and_told_apart() {
    for (name, info) in &catalog().providers {
        let mut seen = BTreeSet::new();
        for cap in &info.caps {
            assert!(cap.as_of.is_some_and(|date| date.year() >= 2025), "{name} {}", cap.dimension);
            assert_ne!(cap.source, SourceKind::Config, "{name} {}", cap.dimension);
            assert!(seen.insert((cap.dimension, &cap.model, &cap.tier)), "{name} {} twice", cap.dimension);
        }
        for cap in &info.caps {
            let twin = info.caps.iter().find(|other| other.dimension == cap.dimension && other.model == cap.model);
            assert_eq!(twin.map(|twin| &twin.reset), Some(&cap.reset), "{name} {}: tiers disagree", cap.dimension);
        }
    }
}

#[test]
fn the_clocks_that_people_get_wrong() {
    let catalog = catalog();
    let clock = |provider: &str, model: &str, dimension: &str| {
        let dimension = dimension.parse().expect("a dimension");
        let cap = catalog.reset_clock(&provider.into(), Some(&model.into()), dimension).expect("a cap");
        format!("{}, per {}", cap.reset, cap.scope)
    };
    for (provider, model, dimension, expected) in [
        ("gemini", "gemini-2.5-pro", "rpd", "midnight America/Los_Angeles, per model"),
        ("openrouter", "x:free", "rpd", "midnight UTC, per account"),
        ("cloudflare", "x", "other", "midnight UTC, per account"),
        ("groq", "x", "tpd", "refill 1d, per model"),
        ("openai", "x", "rpd", "refill 1d, per model"),
        ("anthropic", "x", "monthly", "month UTC, per account"),
        ("anthropic", "x", "requests_5h", "stated, per credential"),
        ("cohere", "x", "monthly", "month UTC, per account"),
        ("mistral", "x", "monthly", "month UTC, per account"),
        ("zhipu", "x", "weekly", "stated, per account"),
        ("openai", "x", "credits", "never, per account"),
    ] {
        assert_eq!(clock(provider, model, dimension), expected, "{provider} {dimension}");
    }
}

#[test]
fn mistakes_say_where_they_are() {
    let cases = [
        (
            "[providers.x]\nwire = \"smtp\"",
            "catalogue, provider x: `smtp` is no wire format (openai, anthropic or gemini)",
        ),
        ("[providers.x]\nwier = \"openai\"", "catalogue, line 2: unknown field `wier`"),
        ("[providers.x", "catalogue, line 1: "),
        (
            "[providers.x]\nmodels = [{ id = \"m\", price = { input = 1.0, output = 2.0 } }]",
            "catalogue, provider x: `` is no date (YYYY-MM-DD)",
        ),
        (
            "[providers.x]\nwindows = { requests = \"day\" }",
            "catalogue, provider x: `day` is no window (a duration such as 1m or 1d)",
        ),
    ];
    for (text, expected) in cases {
        let error = Catalog::parse(text).expect_err("a mistake").to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn a_part_of_it_is_the_same_as_in_the_whole() {
    let all = catalog();
    assert_eq!(Catalog::builtin_of(|_| true), Ok(all.clone()));
    assert_eq!(Catalog::builtin_of(|_| false), Ok(Catalog::default()));
    for (name, info) in &all.providers {
        let one = Catalog::builtin_of(|other| *name == *other).expect("a part");
        assert_eq!((one.providers.len(), one.provider(name)), (1, Some(info)), "{name}");
    }
}

/// Every process reads the catalogue, so it must cost next to nothing. The bound is loose because debug builds and busy
/// machines are slow; run it with `--release --no-capture` for the figure that counts.
#[test]
fn reading_it_is_quick() {
    let clock = Clock::new(None);
    let best = (0..20)
        .map(|_| {
            let watch = clock.stopwatch();
            assert!(!catalog().providers.is_empty());
            watch.elapsed()
        })
        .min()
        .expect("a time");
    println!("catalogue: {best:?}");
    assert!(best < Duration::from_millis(100), "{best:?}");
}
