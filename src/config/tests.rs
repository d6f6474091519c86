//! Whole files: what a good one means, and what a bad one is told.

use std::path::{Path, PathBuf};

use super::*;
use crate::domain::{Deployment, Dimension, Effect, ProviderName};
use crate::policy::{AlarmKind, CascadeSettings, Sink};

fn builtin() -> Catalog {
    Catalog::builtin().expect("the catalogue")
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/configs")
}

fn fixture(name: &str) -> String {
    std::fs::read_to_string(directory().join(name)).expect("a fixture")
}

fn good(name: &str) -> Config {
    parse(&fixture(name), Path::new("/etc/llmr/llmr.toml"), builtin())
        .unwrap_or_else(|problems| panic!("{problems:#?}"))
}

fn steps(config: &Config, ladder: &str) -> Vec<String> {
    config.ladders.get(ladder).expect("a ladder").steps.iter().map(|step| step.deployment.to_string()).collect()
}

/// Every file says in its own first lines (`#! …`) what it is told, word for word; a good one says nothing but warnings.
#[test]
fn files_are_told_all_that_is_wrong_with_them() {
    let mut names: Vec<_> =
        std::fs::read_dir(directory()).expect("fixtures").map(|e| e.expect("a file").path()).collect();
    names.sort();
    assert!(names.len() > 10, "{names:?}");
    let mut wrong = String::new();
    for path in names {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let text = fixture(&name);
        let told = match parse(&text, Path::new("llmr.toml"), builtin()) {
            Ok(config) => config.warnings.iter().map(|warning| format!("warning: {warning}")).collect::<Vec<_>>(),
            Err(problems) => problems.iter().map(ToString::to_string).collect(),
        };
        let expected: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("#! ")).collect();
        let good = !told.iter().any(|line| !line.starts_with("warning: "));
        if told != expected || good != name.starts_with("good-") {
            wrong.push_str(&format!("== {name}\n{}\n", told.join("\n")));
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn the_full_example_means_what_it_says() {
    let config = good("good-full.toml");
    assert_eq!(config.default_ladder, *"main");
    assert_eq!(
        steps(&config, "main"),
        ["groq/llama-3.3-70b-versatile@team", "lab/qwen3-8b", "gemini/gemini-2.5-flash@env"]
    );
    let ladder = config.ladders.get("main").expect("main");
    let timeout =
        crate::domain::Timeouts { per_1k_tokens: Duration::from_millis(100), ..crate::domain::Timeouts::default() };
    let own = Limits {
        timeout,
        retries: Some(4),
        max_cost_per_1k_usd: Some(0.05),
        max_latency: Some(Duration::from_secs(60)),
        cache: CachePreference::Prefer,
        ..Limits::default()
    };
    assert_eq!(ladder.limits, own);
    assert_eq!((ladder.bar.context, ladder.bar.capabilities.as_slice()), (Some(8000), &["json_schema".to_owned()][..]));
    assert_eq!((ladder.unsupported.as_ref(), ladder.cascade), (Some(&"wide".into()), Some(CascadeSettings::default())));
    let fast = config.ladders.get("fast").expect("fast");
    let options = serde_json::json!({"deep": {"at": 0.5, "on": true}, "seed": 7, "stop": ["."]});
    assert_eq!((fast.steps[0].weight, serde_json::json!(fast.steps[0].options)), (3, options));
    assert_eq!((fast.cascade, fast.limits.hedge), (None, Hedge::P95));
    let ranking =
        Ranking { latency_of: LatencyOf::Total, tolerance: 0.1, failure_penalty_usd: 0.02, ..Ranking::default() };
    assert_eq!((fast.strategy, fast.ranking), (Strategy::Latency, ranking));
    assert_eq!(ladder.last_resort.as_ref().map(ToString::to_string).as_deref(), Some("lab/qwen3-8b"));
    assert_eq!((ladder.context_window.as_ref(), ladder.strategy), (Some(&"wide".into()), Strategy::Ordered));
    assert_eq!(config.policy, PolicySettings::default());
    let lab = config.provider(&"lab".into()).expect("lab");
    assert_eq!((lab.base_url.as_deref(), lab.models.len()), (Some("http://127.0.0.1:8080/v1"), 1));
    let settings = config.providers.get("lab").expect("settings");
    assert_eq!((settings.backend.as_deref(), settings.network.as_deref()), (Some("vllm-a"), Some("cellar")));
    assert_eq!(settings.ca_file.as_deref(), Some(Path::new("/etc/llmr/lab-ca.pem")));
    let team: Deployment = "groq/llama-3.3-70b-versatile@team".parse().expect("a deployment");
    assert_eq!(config.key_source(&team), &KeySource::Env("GROQ_API_KEY".to_owned()));
    let target = config.target(&team);
    assert_eq!(target.account, *"acme");
    let cap = config.cap(&target, Dimension::Tpd).expect("a cap");
    assert_eq!((cap.limit, cap.reset.to_string().as_str()), (Some(100_000), "refill 1d"));
    assert_eq!(cap.source, crate::catalog::SourceKind::Config);
    assert_eq!(
        config.rules.first().map(|rule| (rule.class, rule.statuses.clone())),
        Some((crate::domain::Class::Overloaded, vec![500..=500]))
    );
    assert_eq!(config.failure_domains(&"main".into()), 3);
    assert_eq!((config.retention, config.max_size), (Some(Duration::from_secs(14 * 86_400)), Some(2_000_000_000)));
    assert!(config.content);
    let alarm = config.alarm.as_ref().expect("an alarm");
    let settings = &alarm.settings;
    assert_eq!(settings.on, [AlarmKind::Exhausted, AlarmKind::Hold, AlarmKind::Forecast]);
    assert_eq!((settings.hold_from, settings.forecast), (Duration::from_secs(1800), Duration::from_secs(43_200)));
    assert_eq!((settings.repeat, settings.timeout), (Some(Duration::from_secs(21_600)), Duration::from_secs(5)));
    assert_eq!((settings.tries, settings.quiet.len(), alarm.sinks()), (5, 2, vec![Sink::Command, Sink::Webhook]));
    assert_eq!(alarm.webhook.as_ref().map(|hook| hook.url.as_str()), Some("https://hooks.example/llmr/"));
    let saturday = "2026-08-22T12:00:00Z".parse().expect("a time");
    let until = settings.quiet_until(AlarmKind::Exhausted, saturday);
    assert_eq!(until, "2026-08-24T00:00:00Z".parse().ok());
}

#[test]
fn what_a_section_does_not_say_is_as_its_wire_has_it() {
    let section = |name: &str, more: &str| format!("[providers.{name}]\nbase_url = \"http://localhost:1\"\n{more}\n");
    let text = [
        section("a", "wire = \"anthropic\""),
        section("b", "wire = \"anthropic\"\ntool_ids = \"any\"\nno_temperature = []"),
        section("c", "wire = \"openai\""),
        section("d", "wire = \"gemini\""),
        section("groq", "wire = \"anthropic\""),
        section("anthropic", ""),
        "[ladders.main]\nsteps = [\"a/m\"]\n".to_owned(),
    ];
    let config = parse(&text.concat(), Path::new("llmr.toml"), builtin()).expect("a config");
    let told = |name: &str| {
        let info = config.provider(&name.into()).expect("a provider");
        (info.tool_ids.as_str(), info.takes_temperature(&"claude-opus-4-7".into()))
    };
    assert_eq!(told("a"), ("word40", false), "a proxy has the models of who made its wire");
    assert_eq!(told("b"), ("any", true), "what is said counts");
    assert_eq!((told("c"), told("d")), (("any", true), ("any", true)));
    assert_eq!((told("groq").0, told("anthropic").0), ("word40", "word40"));
}

#[test]
fn a_section_says_what_a_provider_wants_of_its_wire() {
    let text = r#"
        [providers.openai]
        request_id_header = "off"
        [providers.lab]
        base_url = "http://127.0.0.1:8080/v1"
        wire = "openai"
        tool_ids = "alnum9"
        idempotency_header = "Idempotency-Key"
        request_id_header = "X-Request-Id"
        developer_role = true
        forces_tools = false
        thoughts_back = true
        no_temperature = ["r-*"]
        [ladders.main]
        steps = ["lab/m"]
    "#;
    let config = parse(text, Path::new("llmr.toml"), builtin()).expect("a config");
    let header = |header: &Option<String>| header.clone().unwrap_or_default();
    let told = |name: &str| {
        let info = config.provider(&name.into()).expect("a provider");
        let headers = [header(&info.idempotency_header), header(&info.request_id_header)];
        (info.tool_ids.as_str(), headers, info.developer_role)
    };
    assert_eq!(told("lab"), ("alnum9", ["idempotency-key", "x-request-id"].map(str::to_owned), true));
    let habits = |name: &str| {
        let info = config.provider(&name.into()).expect("a provider");
        (info.forces_tools, info.parallel_tools, info.tools_with_schema, info.thoughts_back, info.alternates)
    };
    let takes =
        |name: &str, model: &str| config.provider(&name.into()).expect("a provider").takes_temperature(&model.into());
    assert_eq!((takes("lab", "r-1"), takes("lab", "m"), takes("openai", "o3-mini")), (false, true, false));
    assert_eq!((takes("anthropic", "claude-sonnet-5-5"), takes("anthropic", "claude-sonnet-4-5")), (false, true));
    assert_eq!(habits("lab"), (false, true, true, true, false));
    assert_eq!(habits("deepseek"), (false, true, true, true, false));
    assert_eq!(habits("openai"), (true, true, true, false, false));
    assert_eq!(told("openai"), ("word40", ["Idempotency-Key", ""].map(str::to_owned), true));
    assert_eq!(told("mistral"), ("alnum9", ["", ""].map(str::to_owned), false));
}

#[test]
fn a_step_without_a_credential_is_one_for_each() {
    let config = good("good-two-keys.toml");
    assert_eq!(
        steps(&config, "fast"),
        [
            "groq/llama-3.1-8b-instant@own",
            "groq/llama-3.1-8b-instant@team",
            "groq/llama-3.1-8b-instant@spare",
            "lab/qwen3-8b",
            "lab-b/qwen3-8b",
            "vertex/claude-sonnet-4@20250514@env",
            "cloudflare/@cf/meta/llama-3.1-8b-instruct-fast@env",
        ]
    );
    let ladder = config.ladders.get("fast").expect("fast");
    let seconds = |step: usize| {
        let timeout = ladder.steps[step].timeout;
        (timeout.connect.as_secs(), timeout.first.as_secs(), timeout.total.as_secs())
    };
    assert_eq!((seconds(0), seconds(1)), ((5, 30, 20), (5, 3, 20)));
    assert_eq!((ladder.steps[1].attempts, ladder.steps[1].system.as_deref()), (Some(2), Some("Be brief.")));
    assert_eq!((ladder.limits.attempts, config.limits.attempts), (3, 8));
    // acme's two keys fall together, as do the two servers of one rack.
    assert_eq!(config.failure_domains(&"fast".into()), 5);
    let own: Deployment = "groq/x@own".parse().expect("a deployment");
    assert_eq!(config.key_source(&own), &KeySource::File("/etc/llmr/secrets/groq".into()));
    let all = config.deployments("groq/x").expect("deployments");
    assert_eq!(all.len(), 3);
    assert_eq!(
        config.provider(&"lab".into()).and_then(|lab| lab.base_url.as_deref()),
        Some("http://127.0.0.1:8080/v1")
    );
    assert!(config.catalog.by_host("127.0.0.1:8080").is_some_and(|info| info.name == *"lab"));
    assert!(config.catalog.by_host("127.0.0.1:8081").is_some_and(|info| info.name == *"lab-b"));
}

#[test]
fn a_known_provider_at_another_address_gets_no_key_by_itself() {
    let text = "[providers.groq]\nbase_url = \"http://127.0.0.1:9/v1\"\n[ladders.main]\nsteps = [\"groq/x\"]";
    let config = parse(text, Path::new("llmr.toml"), builtin()).expect("a config");
    assert_eq!(steps(&config, "main"), ["groq/x"]);
    assert_eq!(config.key_source(&config.all_deployments()[0]), &KeySource::None);
    assert_eq!(config.target(&config.all_deployments()[0]).account, *"groq");
}

#[test]
fn limits_of_all_accounts_go_into_the_catalogue() {
    let text = "[ladders.main]\nsteps = [\"groq/x\"]\n[[caps]]\nprovider = \"groq\"\ndimension = \"rpd\"\nlimit = 7\n\
                [[caps]]\nprovider = \"ollama\"\nmodel = \"llama*\"\ndimension = \"rpm\"\nlimit = 3";
    let config = parse(text, Path::new("llmr.toml"), builtin()).expect("a config");
    let cap = |provider: &str, model: &str, dimension| {
        let cap = config.catalog.reset_clock(&provider.into(), Some(&model.into()), dimension);
        cap.map(|cap| (cap.limit, cap.reset.to_string(), cap.scope.as_str()))
    };
    assert_eq!(cap("groq", "x", Dimension::Rpd), Some((Some(7), "refill 1d".to_owned(), "model")));
    assert_eq!(cap("ollama", "llama3.2", Dimension::Rpm), Some((Some(3), "rolling 1m".to_owned(), "model")));
    assert!(config.account_caps.is_empty());
}

#[test]
fn notation_does_not_matter() {
    let text = "\u{feff}[limits]\r\nmax_cost_usd = inf\r\nattempts = 0x10\r\ndeadline = '5m'\r\n[ladders]\r\nmain.steps = ['groq/x',]\r\n";
    let config = parse(text, Path::new("llmr.toml"), builtin()).expect("a config");
    let Limits { attempts, deadline, max_cost_usd, .. } = config.limits;
    assert_eq!((attempts, deadline.as_secs(), max_cost_usd), (16, 300, None));
    assert_eq!(steps(&config, "main"), ["groq/x@env"]);
}

#[test]
fn a_probe_s_lease_outlives_the_longest_attempt() {
    let text = "[ladders.main]\nsteps = ['groq/x']\ntimeout = { total = '10m' }";
    let config = parse(text, Path::new("llmr.toml"), builtin()).expect("a config");
    assert!(config.policy.lease > Duration::from_secs(605), "{:?}", config.policy.lease);
}

#[test]
fn base_urls_are_completed_or_missed() {
    let text = "[ladders.main]\nsteps = [\"cloudflare/@cf/x\", \"azure/x\"]";
    let mut config = parse(text, Path::new("llmr.toml"), builtin()).expect("a config");
    let told = config.complete(&|name| (name == "CLOUDFLARE_ACCOUNT_ID").then(|| "abc".to_owned()));
    assert_eq!(
        told.iter().map(ToString::to_string).collect::<Vec<_>>(),
        [
            "llmr.toml: providers.azure: its base URL needs the environment variable AZURE_OPENAI_ENDPOINT, which is not \
          set; set AZURE_OPENAI_ENDPOINT, or write the whole `base_url`"
        ]
    );
    let url = config.provider(&"cloudflare".into()).and_then(|info| info.base_url.as_deref());
    assert_eq!(url, Some("https://api.cloudflare.com/client/v4/accounts/abc/ai/v1"));
}

#[test]
fn without_a_file_the_environment_makes_the_ladder() {
    let env = |name: &str| match name {
        "GOOGLE_API_KEY" | "GROQ_API_KEY" | "CLOUDFLARE_API_TOKEN" | "HF_TOKEN" | "XAI_API_KEY" => {
            Some("a key".to_owned())
        }
        "OPENAI_API_KEY" => Some(" ".to_owned()),
        _ => None,
    };
    let local: [ProviderName; 2] = ["ollama".into(), "vllm".into()];
    let config = from_environment(&env, &local, builtin());
    assert_eq!(
        steps(&config, "main"),
        ["gemini/gemini-2.5-flash@env", "groq/llama-3.3-70b-versatile@env", "xai/grok-4@env", "ollama/llama3.2",]
    );
    let first = &config.ladders.get("main").expect("main").steps[0].deployment;
    assert_eq!(config.key_source(first), &KeySource::Env("GOOGLE_API_KEY".to_owned()));
    assert_eq!(
        config.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
        [
            "environment: CLOUDFLARE_API_TOKEN: CLOUDFLARE_API_TOKEN is set but CLOUDFLARE_ACCOUNT_ID is not, so \
             cloudflare is left out; set CLOUDFLARE_ACCOUNT_ID as well",
            "environment: vllm: vllm answers, but it is not known which model it has; write a config with a step \
             \"vllm/MODEL\"",
        ]
    );
    assert!(from_environment(&|_| None, &[], builtin()).ladders.get("main").is_some_and(|main| main.steps.is_empty()));
}

#[test]
fn the_template_is_a_good_config() {
    let found: Vec<(ProviderName, String)> = [
        ("gemini", "GEMINI_API_KEY"),
        ("groq", "GROQ_API_KEY"),
        ("groq", "GROQ_API_KEY_2"),
        ("huggingface", "HF_TOKEN"),
    ]
    .map(|(provider, variable)| (provider.into(), variable.to_owned()))
    .to_vec();
    for (found, expected) in [
        (
            &found[..],
            &["gemini/gemini-2.5-flash@own", "groq/llama-3.3-70b-versatile@own", "groq/llama-3.3-70b-versatile@own2"][..],
        ),
        (&found[3..], &["ollama/llama3.2"][..]),
        (&[][..], &["ollama/llama3.2"][..]),
    ] {
        let text = template(found, &builtin());
        let config = parse(&text, Path::new("llmr.toml"), builtin()).unwrap_or_else(|problems| panic!("{problems:#?}"));
        assert_eq!((steps(&config, "main").as_slice(), config.warnings.len()), (expected.map_owned().as_slice(), 0));
        assert_eq!(config.limits, Limits::default());
    }
}

/// The commented parts of the template are good too, once the comment signs are taken away.
#[test]
fn the_template_s_comments_are_good_toml() {
    let text = template(&[], &builtin());
    let open: String = text
        .lines()
        .map(|line| match line.strip_prefix("# ") {
            Some(rest)
                if rest.starts_with('[') || rest.split_once(" = ").is_some_and(|(key, _)| !key.contains(' ')) =>
            {
                rest
            }
            _ => line,
        })
        .filter(|line| !line.contains("\"wide\"") && !line.contains("\"lenient\""))
        .map(|line| format!("{line}\n"))
        .collect();
    let config =
        parse(&open, Path::new("llmr.toml"), builtin()).unwrap_or_else(|problems| panic!("{problems:#?}\n{open}"));
    assert_eq!(
        (config.limits, config.rules.len(), config.credentials_of(&"groq".into()).count()),
        (Limits::default(), 2, 1)
    );
}

trait MapOwned {
    fn map_owned(&self) -> Vec<String>;
}

impl MapOwned for &[&str] {
    fn map_owned(&self) -> Vec<String> {
        self.iter().map(|text| (*text).to_owned()).collect()
    }
}

mod hostile {
    use proptest::prelude::*;

    use super::*;

    const KEYS: &[&str] = &["gsk_0123456789abcdefghijABCDEFGHIJ", "sk-proj-0123456789abcdefghijABCDEFGHIJ"];

    /// A value of any type in the place of every value of the example: it is told, or it is good, but nothing breaks.
    fn mutated(at: usize, value: &str) -> String {
        let text = fixture("good-full.toml");
        let mut count = 0;
        let lines = text.lines().map(|line| match line.split_once(" = ") {
            Some((key, _)) if !line.starts_with('#') => {
                count += 1;
                if count - 1 == at { format!("{key} = {value}") } else { line.to_owned() }
            }
            _ => line.to_owned(),
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn no_text_breaks_the_reader(text in "(\\[{0,2}[a-z.]{0,9}\\]{0,2}|[a-z_]{1,9} = (\"[^\"\n]*\"|-?[0-9]{1,25}|\\[\\]|\\{\\}|inf))(\n.*){0,6}") {
            let problems = parse(&text, Path::new("llmr.toml"), Catalog::default());
            let lines = text.lines().count().max(1) + 1;
            for problem in problems.err().into_iter().flatten() {
                prop_assert!(problem.line.is_none_or(|line| (1..=lines).contains(&line)), "{problem}");
            }
        }

        #[test]
        fn a_slip_in_any_value_is_told_at_its_line(at in 0_usize..40, value in prop::sample::select(vec![
            "7", "-7", "1.5", "true", "\"\"", "\"nonsense\"", "[]", "[1]", "{}", "{ a = 1 }", "2026-01-01", "[\"a\"]", "nan",
        ])) {
            let text = mutated(at, value);
            for problem in parse(&text, Path::new("llmr.toml"), builtin()).err().into_iter().flatten() {
                prop_assert!(!problem.key.is_empty() && problem.line.is_some(), "{problem}");
            }
        }

        #[test]
        fn a_key_in_any_place_is_never_shown(at in 0_usize..40, key in prop::sample::select(KEYS.to_vec())) {
            for value in [format!("\"{key}\""), format!("[\"{key}\"]"), format!("{{ env = \"{key}\" }}")] {
                let text = mutated(at, &value);
                for problem in parse(&text, Path::new("llmr.toml"), builtin()).err().into_iter().flatten() {
                    let shown = problem.to_string();
                    prop_assert!(!key.as_bytes().windows(12).any(|run| {
                        std::str::from_utf8(run).is_ok_and(|run| shown.contains(run))
                    }), "{shown}");
                }
            }
        }
    }
}

#[test]
fn tools_mean_what_they_say() {
    let config = good("good-tools.toml");
    let ladder = config.ladders.get("main").expect("main");
    assert_eq!(
        (ladder.tools.as_slice(), ladder.limits.tool_rounds),
        (&["deploy".to_owned(), "disk_usage".into()][..], 3)
    );
    let (deploy, disk) = (&config.tools["deploy"], &config.tools["disk_usage"]);
    assert_eq!((deploy.effect, deploy.timeout), (Effect::SideEffecting, Duration::from_secs(300)));
    assert_eq!(deploy.schema["required"], serde_json::json!(["version"]));
    let arguments = serde_json::json!({"version": "7"});
    assert_eq!(deploy.idempotency_key.fill("s", "deploy", "f", &arguments).as_deref(), Some("deploy-7"));
    assert_eq!((disk.effect, disk.timeout), (Effect::Pure, Duration::from_secs(30)));
    assert_eq!(disk.schema, serde_json::json!({"type": "object", "properties": {}}));
    assert_eq!(
        (config.tools["once"].effect, config.sessions, config.baselines),
        (Effect::SideEffecting, Some(Duration::from_secs(7 * 86_400)), Some(Duration::from_secs(86_400)))
    );
}
