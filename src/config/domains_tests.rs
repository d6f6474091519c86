use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::catalog::Catalog;
use crate::config::url::network_of;

const PROVIDERS: &str = r#"
    [[providers.groq.credentials]]
    name = "team"
    key = { env = "A" }
    account = "acme"
    [[providers.groq.credentials]]
    name = "own"
    key = { env = "B" }
    account = "acme"
    [[providers.groq.credentials]]
    name = "night"
    key = { env = "C" }
    [[providers.cerebras.credentials]]
    name = "team"
    key = { env = "D" }
    account = "acme"
    [providers.mistral]
    region = "eu"
    [providers.lab]
    base_url = "http://127.0.0.1:8080/v1"
    wire = "openai"
    backend = "rack-1"
    region = "eu"
    [providers.lab-b]
    base_url = "http://192.168.0.7:8080/v1"
    wire = "openai"
    backend = "rack-1"
    [providers.far]
    base_url = "https://far.example/v1"
    wire = "openai"
    network = "vpn"
    aggregator = true
"#;

fn config(steps: &[&str]) -> Config {
    let text = format!("{PROVIDERS}\n[ladders.main]\nsteps = {steps:?}\n");
    crate::config::parse(&text, Path::new("llmr.toml"), Catalog::builtin().expect("the catalogue")).expect("a config")
}

fn domains(steps: &[&str]) -> Domains {
    config(steps).domains(&"main".into())
}

/// `name steps` for each domain of the kind.
fn told(domains: &Domains, kind: DomainKind) -> String {
    let one = |domain: &Domain| {
        let at = domain.provider.as_ref().map(|provider| format!("@{provider}")).unwrap_or_default();
        format!("{}{at} {:?}", domain.name, domain.steps)
    };
    domains.of(kind).map(one).collect::<Vec<_>>().join("; ")
}

#[test]
fn steps_are_grouped_in_each_respect() {
    use DomainKind::*;
    let all = domains(&[
        "groq/llama-3.3-70b-versatile@team",
        "groq/llama-3.1-8b-instant@own",
        "groq/llama-3.1-8b-instant@night",
        "cerebras/llama-3.3-70b@team",
        "lab/qwen3-8b",
        "lab-b/qwen3-8b",
        "far/default",
        "mistral/mistral-small-latest",
        "ollama/gpt-oss:120b-cloud",
        "azure/gpt-4o",
    ]);
    for (kind, expected, unknown) in [
        (
            Provider,
            "groq [0, 1, 2]; cerebras [3]; lab [4]; lab-b [5]; far [6]; mistral [7]; ollama [8]; azure [9]",
            &[][..],
        ),
        (
            Account,
            "acme@groq [0, 1]; night@groq [2]; acme@cerebras [3]; lab@lab [4]; lab-b@lab-b [5]; far@far [6]; \
             env@mistral [7]; ollama@ollama [8]; env@azure [9]",
            &[],
        ),
        (
            ModelFamily,
            "llama-3-3-70b [0, 3]; llama-3-1-8b [1, 2]; qwen-3-8b [4, 5]; mistral-small [7]; gpt-oss-120b [8]; gpt-4o [9]",
            &[6],
        ),
        (Backend, "rack-1 [4, 5]", &[0, 1, 2, 3, 6, 7, 8, 9]),
        (Region, "eu [4, 7]", &[0, 1, 2, 3, 5, 6, 8, 9]),
        // Where Azure is stands in the environment.
        (Network, "internet [0, 1, 2, 3, 7, 8]; this machine [4]; local network [5]; vpn [6]", &[9]),
    ] {
        assert_eq!((told(&all, kind).as_str(), all.unknown(kind).as_slice()), (expected, unknown), "{kind:?}");
    }
    assert_eq!(all.independent, 8, "acme's two keys fall together, and the two servers of the rack");
    assert_eq!(all.single_failures().count(), 0);
}

#[test]
fn what_takes_all_steps_is_known_of_all_steps() {
    use DomainKind::*;
    for (steps, taken) in [
        (&["groq/x@team", "groq/y@own"][..], &[Provider, Account, Network][..]),
        (&["groq/x@team", "groq/y@night"], &[Provider, Network]),
        (&["groq/x@team", "cerebras/x@team"], &[ModelFamily, Network]),
        (&["lab/x", "lab-b/y"], &[Backend]),
        (&["lab/x", "mistral/y"], &[Region]),
        // That the region of the second is not declared does not make it the first one's.
        (&["lab/x", "ollama/y"], &[Network]),
        (&["lab/x", "far/default"], &[]),
    ] {
        let domains = domains(steps);
        assert_eq!(domains.single_failures().map(|domain| domain.kind).collect::<Vec<_>>(), taken, "{steps:?}");
    }
}

#[test]
fn a_model_through_an_aggregator_and_directly_is_the_same_model() {
    for (steps, family, at, through) in [
        (
            &["anthropic/claude-sonnet-4-5-20250929", "groq/x@team", "openrouter/anthropic/claude-sonnet-4.5"][..],
            "claude-sonnet-4-5",
            &[0, 2][..],
            &["openrouter"][..],
        ),
        (&["far/openai/gpt-4o", "openai/gpt-4o"], "gpt-4o", &[0, 1], &["far"]),
        (&["far/glm-4.6", "openrouter/z-ai/glm-4.6"], "glm-4-6", &[0, 1], &["far", "openrouter"]),
        (&["openrouter/openai/gpt-4o", "openrouter/openai/gpt-4o:nitro"], "gpt-4o", &[0, 1], &[]),
        (&["groq/openai/gpt-oss-120b@team", "cerebras/gpt-oss-120b"], "gpt-oss-120b", &[0, 1], &[]),
    ] {
        let domains = domains(steps);
        let model = domains.shared().find(|domain| domain.name == family).unwrap_or_else(|| panic!("{family}"));
        let names: Vec<_> = model.through.iter().map(ProviderName::as_str).collect();
        assert_eq!((model.steps.as_slice(), names.as_slice()), (at, through), "{steps:?}");
    }
}

#[test]
fn the_network_is_told_by_the_address() {
    for (url, expected) in [
        ("http://127.0.0.1:8080/v1", Some(crate::config::THIS_MACHINE)),
        ("http://localhost:1234/v1", Some(crate::config::THIS_MACHINE)),
        ("http://llm.localhost/v1", Some(crate::config::THIS_MACHINE)),
        ("http://[::1]:8080/v1", Some(crate::config::THIS_MACHINE)),
        ("http://[::ffff:127.0.0.1]/v1", Some(crate::config::THIS_MACHINE)),
        ("http://0.0.0.0:8000/v1", Some(crate::config::THIS_MACHINE)),
        ("http://10.1.2.3/v1", Some(crate::config::LOCAL_NETWORK)),
        ("http://172.16.0.1/v1", Some(crate::config::LOCAL_NETWORK)),
        ("http://169.254.7.7/v1", Some(crate::config::LOCAL_NETWORK)),
        ("http://[fd00::1]/v1", Some(crate::config::LOCAL_NETWORK)),
        ("http://[fe80::1]/v1", Some(crate::config::LOCAL_NETWORK)),
        ("http://gpu-box:8000/v1", Some(crate::config::LOCAL_NETWORK)),
        ("http://gpu.local/v1", Some(crate::config::LOCAL_NETWORK)),
        ("https://172.32.0.1/v1", Some(INTERNET)),
        ("https://api.groq.com/openai/v1", Some(INTERNET)),
        ("https://localhost.example/v1", Some(INTERNET)),
        ("https://{location}-aiplatform.googleapis.com/v1", Some(INTERNET)),
        ("https://api.cloudflare.com/client/v4/accounts/{account}/ai/v1", Some(INTERNET)),
        ("{endpoint}/openai/v1", None),
    ] {
        assert_eq!(network_of(url), expected, "{url}");
    }
}

#[test]
fn a_ladder_that_is_not_there_shares_nothing() {
    let domains = config(&["groq/x@team"]).domains(&"other".into());
    assert_eq!((domains.independent, domains.shared().count(), domains.single_failures().count()), (0, 0, 0));
}

proptest! {
    /// Every step is in exactly one domain of a kind or in none, and fewer groups than accounts are independent.
    #[test]
    fn every_step_is_somewhere_once(steps in prop::collection::vec(prop::sample::select(vec![
        "groq/x@team", "groq/x@own", "groq/y@night", "cerebras/x@team", "lab/x", "lab-b/x", "lab-b/y", "far/default", "mistral/z",
    ]), 1..9)) {
        let domains = domains(&steps);
        for kind in DomainKind::ALL {
            let mut placed: Vec<usize> = domains.of(*kind).flat_map(|domain| domain.steps.clone()).collect();
            placed.extend(domains.unknown(*kind));
            placed.sort_unstable();
            prop_assert_eq!(placed, (0..domains.steps.len()).collect::<Vec<_>>());
            let taken = domains.of(*kind).filter(|domain| domains.takes_all(domain)).count();
            prop_assert!(taken == 0 || (domains.of(*kind).count() == 1 && domains.unknown(*kind).is_empty()));
        }
        prop_assert!(domains.independent <= domains.of(DomainKind::Account).count());
        if domains.single_failures().any(|one| matches!(one.kind, DomainKind::Account | DomainKind::Backend)) {
            prop_assert_eq!(domains.independent, 1);
        }
    }
}
