use std::path::Path;

use super::*;
use crate::catalog::Catalog;

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
    account = "acme"
    [[providers.groq.credentials]]
    name = "spare"
    key = { env = "D" }
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
    region = "us"
    [providers.lab-c]
    base_url = "http://127.0.0.1:8081/v1"
    wire = "openai"
"#;

fn domains(steps: &[&str]) -> Domains {
    let text = format!("{PROVIDERS}\n[ladders.main]\nsteps = {steps:?}\n");
    let builtin = Catalog::builtin().expect("the catalogue");
    crate::config::parse(&text, Path::new("llmr.toml"), builtin).expect("a config").domains(&"main".into())
}

/// Ladders, and what is said of them.
const TOLD: &[(&[&str], &str)] = &[
    (&["groq/x@team"], ""),
    (
        &["groq/x@team", "groq/x@own", "groq/x@night"],
        "
  1 provider, 1 account, 1 model, 1 network; backend and region not declared
  single failure: all steps fall with account acme at groq; one of another
    account or provider would not",
    ),
    (
        &["groq/x@team", "groq/x@own", "groq/x@night", "mistral/y", "lab/z"],
        "
  3 providers, 3 accounts, 3 models, 1 backend, 1 region, 2 networks; backend of
    steps 0, 1, 2, 3 not declared; region of steps 0, 1, 2 not declared
  shared: account acme holds steps 0, 1, 2 (groq@team, groq@own, groq@night)
  shared: region eu holds steps 3, 4 (mistral@env, lab)
  no single account, provider, model or network takes all steps",
    ),
    (
        &["groq/x@team", "groq/y@own", "groq/y@spare", "cerebras/z"],
        "
  2 providers, 3 accounts, 3 models, 1 network; backend and region not declared
  shared: account acme holds steps 0, 1 (groq@team, groq@own)
  shared: provider groq holds steps 0, 1, 2 (groq@team, groq@own, groq@spare)
  shared: model y answers steps 1, 2 (groq)
  single failure: all steps fall with the internet connection; a local step
    would not
  no single account, provider or model takes all steps",
    ),
    (
        &["groq/x@own", "groq/y@spare"],
        "
  1 provider, 2 accounts, 2 models, 1 network; backend and region not declared
  single failure: all steps fall with provider groq; one of another provider
    would not",
    ),
    (
        &["groq/x@own", "mistral/y", "cerebras/z"],
        "
  3 providers, 3 accounts, 3 models, 1 region, 1 network; backend not declared;
    region of steps 0, 2 not declared
  single failure: all steps fall with the internet connection; a local step
    would not
  no single account, provider or model takes all steps",
    ),
    (
        &["groq/x@own", "mistral/y", "lab/z"],
        "
  3 providers, 3 accounts, 3 models, 1 backend, 1 region, 2 networks; backend of
    steps 0, 1 not declared; region of step 0 not declared
  shared: region eu holds steps 1, 2 (mistral@env, lab)
  no single account, provider, model or network takes all steps",
    ),
    (
        &["lab/x", "lab-b/y"],
        "
  2 providers, 2 accounts, 2 models, 1 backend, 2 regions, 2 networks
  single failure: all steps fall with backend rack-1; one on another backend
    would not",
    ),
    (
        &["lab/x", "lab/y"],
        "
  1 provider, 1 account, 2 models, 1 backend, 1 region, 1 network
  single failure: all steps fall with backend rack-1; one on another backend
    would not",
    ),
    (
        &["lab/x", "mistral/y"],
        "
  2 providers, 2 accounts, 2 models, 1 backend, 1 region, 2 networks; backend of
    step 1 not declared
  single failure: all steps fall with region eu; one in another region would not",
    ),
    (
        &["lab/x", "lab-c/y"],
        "
  2 providers, 2 accounts, 2 models, 1 backend, 1 region, 1 network; backend and
    region of step 1 not declared
  single failure: all steps fall with this machine; one elsewhere would not
  no single account, provider or model takes all steps",
    ),
    (
        &["lab/x", "lab-c/y", "groq/z@own"],
        "
  3 providers, 3 accounts, 3 models, 1 backend, 1 region, 2 networks; backend
    and region of steps 1, 2 not declared
  shared: this machine holds steps 0, 1 (lab, lab-c)
  no single account, provider, model or network takes all steps",
    ),
    (
        &["groq/llama-3.3-70b-versatile@own", "cerebras/llama-3.3-70b"],
        "
  2 providers, 2 accounts, 1 model, 1 network; backend and region not declared
  single failure: all steps fall with the internet connection; a local step
    would not
  single failure: all steps ask one model, llama-3-3-70b; what it refuses, all
    refuse
  no single account or provider takes all steps",
    ),
    (
        &["groq/llama-3.3-70b-versatile@own", "cerebras/llama-3.3-70b", "lab/x"],
        "
  3 providers, 3 accounts, 2 models, 1 backend, 1 region, 2 networks; backend
    and region of steps 0, 1 not declared
  shared: model llama-3-3-70b answers steps 0, 1 (groq, cerebras)
  no single account, provider, model or network takes all steps",
    ),
    (
        &["anthropic/claude-sonnet-4-5", "openrouter/anthropic/claude-sonnet-4.5", "lab/x"],
        "
  3 providers, 3 accounts, 2 models, 1 backend, 1 region, 2 networks; backend
    and region of steps 0, 1 not declared
  shared: model claude-sonnet-4-5 is asked at anthropic (step 0) and through
    openrouter (step 1): when the maker's service fails, they may fail together
  no single account, provider, model or network takes all steps",
    ),
    (
        &["anthropic/claude-sonnet-4-5", "openrouter/anthropic/claude-sonnet-4.5"],
        "
  2 providers, 2 accounts, 1 model, 1 network; backend and region not declared
  single failure: all steps fall with the internet connection; a local step
    would not
  single failure: model claude-sonnet-4-5 is asked at anthropic (step 0) and
    through openrouter (step 1): when the maker's service fails, they may fail
    together
  no single account or provider takes all steps",
    ),
    (
        &["openrouter/meta-llama/llama-3.3-70b-instruct:free", "groq/llama-3.3-70b-versatile@own", "lab/x"],
        "
  3 providers, 3 accounts, 2 models, 1 backend, 1 region, 2 networks; backend
    and region of steps 0, 1 not declared
  shared: model llama-3-3-70b is asked at groq (step 1) and through openrouter
    (step 0): these may be one service
  no single account, provider, model or network takes all steps",
    ),
    (
        &["openrouter/z-ai/glm-4.6", "huggingface/zai-org/GLM-4.6", "lab/x"],
        "
  3 providers, 3 accounts, 2 models, 1 backend, 1 region, 2 networks; backend
    and region of steps 0, 1 not declared
  shared: model glm-4-6 is asked through openrouter, huggingface (steps 0, 1):
    these may be one service
  no single account, provider, model or network takes all steps",
    ),
    (
        &["lab/x", "llamacpp/default", "azure/y"],
        "
  3 providers, 3 accounts, 2 models, 1 backend, 1 region, 1 network; model of
    step 1 not known; backend and region of steps 1, 2 not declared; network of
    step 2 not known
  shared: this machine holds steps 0, 1 (lab, llamacpp)
  no single account, provider or model takes all steps",
    ),
];

#[test]
fn a_ladder_is_told_what_its_steps_share() {
    for (steps, expected) in TOLD {
        let told = domains_text(&domains(steps));
        assert_eq!(told.trim_end(), expected.trim_start_matches('\n'), "{steps:?}");
        assert!(told.lines().all(|line| line.len() <= WIDTH), "{told}");
    }
}

/// The lines of a text, whatever their width was.
fn lines(text: &str, start: &str) -> Vec<String> {
    let flat = format!("\n{text}").replace(&format!("\n{start}  "), " ");
    flat.lines().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect()
}

#[test]
fn a_plan_says_so_only_where_more_than_the_network_takes_all() {
    let mut loud = 0;
    for (steps, _) in TOLD {
        let domains = domains(steps);
        let falls = domains.single_failures().any(|domain| domain.kind != DomainKind::Network);
        let plan = lines(&single_failures_text(&domains), "");
        assert_eq!(!plan.is_empty(), falls && steps.len() > 1, "{steps:?}: {plan:?}");
        let check = lines(&domains_text(&domains), "  ");
        assert!(plan.iter().all(|line| check.contains(line)), "{plan:?} of {check:?}");
        assert!(!plan.iter().any(|line| line.contains("internet") || line.contains("no single")), "{plan:?}");
        loud += usize::from(!plan.is_empty());
    }
    assert!(loud > 3 && loud < TOLD.len() - 3, "{loud}");
}

#[test]
fn programs_read_the_same() {
    let json = Value::Object(domains_json(&domains(&[
        "groq/x@team",
        "groq/y@own",
        "anthropic/claude-sonnet-4-5",
        "openrouter/anthropic/claude-sonnet-4.5",
    ])));
    let by = |dimension: &str, name: &str, provider: Value, steps: &[usize], through: &[&str]| json!({"dimension": dimension, "name": name, "provider": provider, "steps": steps, "through": through});
    let internet = by("network", "internet", Value::Null, &[0, 1, 2, 3], &[]);
    let expected = json!({
        "domains": 3,
        "domains_by": {"provider": 3, "account": 3, "model_family": 3, "backend": 0, "region": 0, "network": 1},
        "shared": [
            by("provider", "groq", Value::Null, &[0, 1], &[]),
            by("account", "acme", json!("groq"), &[0, 1], &[]),
            by("model_family", "claude-sonnet-4-5", Value::Null, &[2, 3], &["openrouter"]),
            internet,
        ],
        "single_failures": [internet],
        "unknown": [
            {"dimension": "backend", "steps": [0, 1, 2, 3]},
            {"dimension": "region", "steps": [0, 1, 2, 3]},
        ],
    });
    assert_eq!(json, expected, "{json:#}");
    let names = |value: &Value| value.as_object().expect("an object").keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&json), names(&expected), "scripts may read them in this order");
}
