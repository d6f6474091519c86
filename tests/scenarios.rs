//! Ladders as data, played over real HTTP on loopback.
//!
//! Each file of `fixtures/ladders/` tells how a night goes: what the providers say, what the ladder is, which requests
//! come when, and what must come of them: who answers, how many requests reach each provider, what is held until when,
//! who is passed over and why. The player takes the path of the program itself, from the config's text to the state
//! file, with the wall clock at the moment that the scenario names. Each request opens the state file anew, as a process
//! of its own does.
#![cfg(test)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use llmr::clock::Clock;
use llmr::drill::{Scenario, play_file, play_pure};

/// Every file of the folder, by name.
fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/ladders");
    let entries = fs::read_dir(&folder).expect("the scenarios");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn read(path: &Path) -> Result<Scenario, String> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    Scenario::read(&text)
}

/// What is wrong with the scenario as played; empty when it goes as it says.
fn play(path: &Path) -> Vec<String> {
    match read(path) {
        Ok(scenario) => play_file(&scenario, tempfile::tempdir().expect("a folder").path()),
        Err(error) => vec![format!("  {error}\n")],
    }
}

#[test]
fn every_ladder_goes_as_its_scenario_says() {
    // One at a time: some scenarios measure real time.
    let mut failed = String::new();
    let files = files();
    for path in &files {
        let wrong = play(path);
        if !wrong.is_empty() {
            let title = read(path).map(|scenario| scenario.title).unwrap_or_default();
            failed.push_str(&format!("\n{}: {title}\n{}", name(path), wrong.concat()));
        }
    }
    assert!(failed.is_empty(), "{failed}");
    assert!(files.len() > 50, "only {} scenarios were found", files.len());
}

/// The very same files, without a socket, a thread or a wait.
#[test]
fn every_ladder_goes_the_same_on_the_pure_machine() {
    let (mut failed, mut played, mut requests) = (String::new(), 0, 0);
    let files = files();
    let watch = Clock::new(None).stopwatch();
    for path in &files {
        let scenario = read(path).unwrap_or_else(|error| panic!("{}: {error}", name(path)));
        let (wrong, sent) = play_pure(&scenario);
        (played, requests) = (played + 1, requests + sent);
        if !wrong.is_empty() {
            failed.push_str(&format!("\n{}: {}\n{}", name(path), scenario.title, wrong.concat()));
        }
    }
    let each_second = requests as f64 / watch.elapsed().as_secs_f64();
    println!("{played} of {} scenarios, {requests} requests, {each_second:.0} each second", files.len());
    assert!(failed.is_empty(), "{failed}");
}

#[test]
fn every_scenario_says_what_it_is_for_and_uses_what_it_has() {
    let mut titles: BTreeMap<String, String> = BTreeMap::new();
    for path in files() {
        let name = name(&path);
        assert_eq!(path.extension().and_then(|ending| ending.to_str()), Some("toml"), "{name} is no scenario");
        let scenario = read(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(scenario.why.ends_with('.'), "{name}: `why` is a sentence");
        let earlier = titles.insert(scenario.title.clone(), name.clone());
        assert_eq!(earlier, None, "{name} has the title of another one");
        assert!(scenario.acts.iter().any(|act| act.expect.is_some()), "{name} expects nothing");
        let steps = scenario.config.get("ladders").map(ToString::to_string).unwrap_or_default();
        for provider in scenario.providers.keys() {
            assert!(steps.contains(&format!("\"{provider}/")), "{name}: no ladder asks {provider}");
        }
    }
}

/// A scenario that expects the wrong thing must fail in each part that can be expected.
#[test]
fn a_wrong_expectation_is_noticed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("wrong.toml");
    let good = GOOD.replace("BOTH", "alpha = 1, beta = 1");
    fs::write(&path, &good).expect("written");
    assert_eq!(play(&path), Vec::<String>::new());
    for (right, wrong, told) in [
        ("alpha = 1, beta = 1", "alpha = 1", "hits"),
        ("\"answered\"", "\"exhausted\"", "outcome"),
        ("by = \"beta/n\"", "by = \"alpha/m\"", "by"),
        ("429 rate_limit", "429 billing", "attempts"),
        ("\"beta/n first 200 answered\"", "", "attempts"),
        ("\ntext = \"Noon.\"", "\ntext = \"Night.\"", "text"),
        ("03:00:20Z fact", "03:00:21Z fact", "holds"),
        ("03:00:20Z fact", "03:00:20Z guess", "holds"),
        ("skipped = []", "skipped = [\"alpha/m billing\"]", "skipped"),
        ("# more", "retry_at = \"2026-08-23T03:00:20Z\"", "retry_at"),
        ("# more", "within = \"0s\"", "within"),
        ("# more", "error = \"a reason\"", "error"),
        ("# more", "ladders = [\"main closed x1\"]", "ladders"),
        ("# more", "shown = [\"Noon.\"]", "shown"),
        ("# more", "sent = { beta = \"a word that nobody said\" }", "sent"),
        ("# more", "never_sent = { beta = \"What time is it\" }", "never_sent"),
        ("# more", "calls = [\"f({})\"]", "calls"),
    ] {
        assert!(good.contains(right), "{right}");
        fs::write(&path, good.replace(right, wrong)).expect("written");
        let pure = play_pure(&read(&path).expect("a scenario")).0;
        for found in [play(&path).concat(), pure.concat()] {
            assert!(found.contains(&format!("{told}:")), "{right} -> {wrong}: {found}");
        }
    }
}

const GOOD: &str = r#"
title = "one"
why = "A test."

[providers.alpha]
wire = "openai"
[[providers.alpha.replies]]
status = { status = 429, headers = { retry-after = "20" }, body = "Rate limit reached on requests per minute (RPM)" }

[providers.beta]
wire = "openai"
[[providers.beta.replies]]
answer = { text = "Noon." }

[config.ladders.main]
steps = ["alpha/m", "beta/n"]

[[acts]]
at = "2026-08-23T03:00:00Z"
[acts.expect]
outcome = "answered"
by = "beta/n"
text = "Noon."
hits = { BOTH }
attempts = ["alpha/m first 429 rate_limit", "beta/n first 200 answered"]
skipped = []
holds = ["cooldown alpha/m account=alpha rpm rate_limit until 2026-08-23T03:00:20Z fact"]
# more
"#;
