//! Drills on small configs: what is replaced, what is told, and what is advised.

use super::*;
use crate::catalog::Catalog;
use crate::config::{self, KeySource};
use std::time::Duration;

/// Three providers that nobody must reach, one of them with two models.
const PROVIDERS: &str = r#"
[providers.a]
base_url = "https://one.invalid/v1"
wire = "openai"
[[providers.a.credentials]]
name = "own"
key = { command = ["false"] }
account = "acme"
[providers.b]
base_url = "https://two.invalid/v1"
wire = "anthropic"
[[providers.b.models]]
id = "dear"
price = { input = 10.0, output = 100.0 }
[[providers.b.models]]
id = "m"
[providers.c]
base_url = "https://two.invalid/v1beta"
wire = "gemini"
"#;

fn config(rest: &str) -> Config {
    let text = format!("{rest}\n{PROVIDERS}");
    config::parse(&text, Path::new("llmr.toml"), Catalog::builtin().expect("the catalogue")).expect("a good config")
}

fn terms(requests: u32) -> Terms {
    let start = "2026-08-23T03:00:00Z".parse().expect("a time");
    Terms { requests, over: Duration::from_secs(3600), start, seed: 7 }
}

fn played(config: &Config, kinds: &[Kind], requests: u32) -> Vec<Played> {
    drill(config, &config.default_ladder, kinds, &terms(requests)).expect("ports on loopback")
}

fn advised(config: &Config, kind: Kind) -> Vec<String> {
    let requests = if kind == Kind::SlowDeath { 7 } else { 4 };
    played(config, &[kind], requests).iter().flat_map(|played| advice(config, played)).collect()
}

#[test]
fn nothing_on_stage_has_an_address_elsewhere_or_a_real_key() {
    let config = config(
        r#"
        default_ladder = "main"
        [ladders]
        main = { steps = ["a/m", "b/m"], context_window = "wide" }
        wide = { steps = ["c/m"] }
        other = { steps = ["groq/x"] }
        "#,
    );
    let cast = cast::Cast::set(&config, &config.default_ladder).expect("ports on loopback");
    let urls: Vec<_> = cast.config.catalog.providers.values().filter_map(|info| info.base_url.clone()).collect();
    assert_eq!(urls.len(), 3, "{urls:?}");
    assert!(urls.iter().all(|url| url.starts_with("http://127.0.0.1:")), "{urls:?}");
    let keys: Vec<_> = config.credentials.iter().filter(|credential| credential.key != KeySource::None).collect();
    assert!(!keys.is_empty());
    for credential in keys {
        assert!(cast::dummy_key(credential).expose().starts_with("drill-key-of-"));
    }
}

#[test]
fn every_scenario_ends_as_the_ladder_promises() {
    let config = config("[ladders.main]\nsteps = [\"a/m\", \"b/m\"]\n");
    let plays = played(&config, &Kind::ALL, 8);
    let of = |kind: Kind| plays.iter().filter(move |played| played.kind == kind);
    assert_eq!(of(Kind::Worst).count(), 2 * Way::ALL.len());
    for good in of(Kind::Healthy).chain(of(Kind::Worst)) {
        assert_eq!(good.answered(), 8, "{:?} {:?}", good.down, good.way);
    }
    let domains: Vec<_> =
        of(Kind::Domain).map(|played| (played.down.as_deref().unwrap_or_default(), played.answered())).collect();
    assert_eq!(domains, [("account acme at a", 8), ("provider b", 8)]);
    for all in of(Kind::All) {
        assert_eq!((all.answered(), all.asked.len()), (0, 8));
        assert!(all.back.flatten().is_some(), "it never came back");
    }
    // The first answers are slow, but they come.
    assert!(of(Kind::SlowDeath).all(|played| (1..8).contains(&played.answered())));
}

/// A held account is asked once in the whole hour, whichever step of it comes first, and so is what falls with it.
#[test]
fn what_is_known_to_be_spent_is_not_paid_for_twice() {
    let config = config("[ladders.main]\nsteps = [\"a/m\", \"a/n\", \"b/m\"]\n");
    let plays = played(&config, &[Kind::Domain], 20);
    let account = plays.iter().find(|played| played.down.as_deref() == Some("account acme at a")).expect("the account");
    assert_eq!(account.calls.get("a"), Some(&1), "{:?}", account.calls);
    assert_eq!(account.calls.get("b"), Some(&20), "{:?}", account.calls);
}

/// What waits in real time is told in the units of the config.
#[test]
fn a_hang_takes_the_time_that_the_config_gives_it() {
    let config = config(
        "[limits]\ntimeout = { total = \"40s\" }\n[ladders.main]\nsteps = [{ deployment = \"a/m@own\", attempts = 1 }, \"b/m\"]\n",
    );
    let plays = played(&config, &[Kind::Worst], 3);
    let hung =
        plays.iter().find(|played| played.way == Some("hang") && played.down.as_deref() == Some("a")).expect("a hang");
    let took: Vec<_> = hung.asked.iter().map(|asked| asked.took.as_secs()).collect();
    assert_eq!(took, [40, 40, 40]);
}

/// Each rule speaks when its harm is there, and is silent when the config has what it asks for.
#[test]
fn advice_names_what_is_in_the_way() {
    for (kind, bad, told, good) in [
        (Kind::Worst, "steps = [\"a/m\"]", "has one provider, a", "steps = [\"a/m\", \"b/m\"]"),
        (
            Kind::Domain,
            "steps = [\"b/m\", \"c/m\"]",
            "all steps fall with network two.invalid",
            "steps = [\"b/m\", \"a/m\"]",
        ),
        (
            Kind::Healthy,
            "steps = [\"b/dear\", \"a/m\"]\nmax_cost_usd = 0.05",
            "max_cost_usd = 0.05 keeps step 0 (b/dear) out",
            "steps = [\"b/dear\", \"a/m\"]\nmax_cost_usd = 5.0",
        ),
        (
            Kind::Worst,
            "steps = [\"a/m\", \"a/n\", \"b/m\"]\nattempts = 3",
            "set `attempts = 6`",
            "steps = [\"a/m\", \"a/n\", \"b/m\"]\nattempts = 6",
        ),
        (
            Kind::Worst,
            "steps = [\"a/m\", \"b/m\"]\ndeadline = \"60s\"",
            "timeout.total = \"30s\" or less",
            "steps = [\"a/m\", \"b/m\"]\ndeadline = \"60s\"\ntimeout = { total = \"20s\" }",
        ),
        (
            Kind::SlowDeath,
            "steps = [\"a/m\", \"b/m\", \"c/m\"]",
            "deadline 2m is not longer than the timers of the first 2 steps together: step 2 (c/m) is never reached",
            "steps = [\"a/m\", \"b/m\", \"c/m\"]\ntimeout = { total = \"20s\" }",
        ),
        (
            Kind::Brownout,
            "steps = [\"a/m\", \"b/m\"]",
            "attempts = 3 }",
            "steps = [{ deployment = \"a/m@own\", attempts = 3 }, \"b/m\"]",
        ),
        (
            Kind::Worst,
            "steps = [\"a/m\", \"b/m\"]\nstream = \"fail\"",
            "stream = \"fail\" ends a request",
            "steps = [\"a/m\", \"b/m\"]\nstream = \"buffer\"",
        ),
        (
            Kind::All,
            "steps = [\"a/m\", \"b/m\"]",
            "set `command` in [alarm]",
            "steps = [\"a/m\", \"b/m\"]\n[alarm]\ncommand = [\"true\"]",
        ),
    ] {
        let advised_on = |ladder: &str| advised(&config(&format!("[ladders.main]\n{ladder}\n")), kind);
        let found = advised_on(bad);
        assert!(found.iter().any(|line| line.contains(told)), "{bad}\n{found:#?}");
        let found = advised_on(good);
        assert!(!found.iter().any(|line| line.contains(told)), "{good}\n{found:#?}");
    }
}

#[test]
fn a_spent_retry_budget_is_told() {
    let tight = config("[limits]\nretry_budget = 1\n[ladders.main]\nsteps = [\"a/m\", \"b/m\"]\n");
    assert!(advised(&tight, Kind::Brownout).iter().any(|line| line.starts_with("retry_budget = 1 is spent")));
}

#[test]
fn the_table_tells_what_failed_and_where() {
    let config = config("[ladders.main]\nsteps = [\"a/m\"]\n");
    let plays = played(&config, &[Kind::Healthy, Kind::Brownout], 6);
    let text = drill_text(&config, &config.default_ladder, &plays, 100);
    insta::with_settings!({ filters => vec![(r"\d\d\dms", "[pause]")] }, {
        insta::assert_snapshot!(text, @r#"
    ladder main: 1 step, 1 failure domain; 6 requests in each play

    scenario  answered  by step  attempts  calls  slowest  cost  alarms
    healthy   6/6       0 x6     6         6      at once  -     0
    brownout  3/6       0 x3     9         9      [pause]    -     3

    what to change:
      - 3 requests met two failures in a row at every step: a step with a third try outlasts that, {
        deployment = "a/m@own", attempts = 3 }

    FAILED: brownout, 3 not answered
    "#);
    });
    let worst = played(&config, &[Kind::Worst], 2);
    let text = drill_text(&config, &config.default_ladder, &worst, 100);
    assert!(text.contains("FAILED: worst: a (in every way), 2 not answered"), "{text}");
    assert_eq!(text.matches("\nworst: a").count(), 1, "{text}");
}
