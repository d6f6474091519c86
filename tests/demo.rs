//! The demo: no key, no network, no config.
#![cfg(test)]

use std::collections::BTreeSet;

use serde_json::Value;

use crate::stage::Stage;

/// Who fails that night, and how.
const NIGHT: [(&str, &str); 6] = [
    ("cerebras/", "billing"),
    ("cloudflare/", "auth"),
    ("groq/", "rate_limit"),
    ("mistral/", "invalid_output"),
    ("openrouter/", "invalid_output"),
    ("gemini/", "quota_exhausted"),
];

#[test]
fn the_night_is_told_and_its_state_can_be_opened() {
    let mut stage = Stage::bare();
    let folder = stage.path("").to_str().expect("a plain path").to_owned();
    stage.set("TMPDIR", folder.clone());
    let done = stage.run(&["demo"]).exits(0);
    assert_eq!(done.err, "");
    let lines: Vec<&str> = done.out.lines().collect();
    let at = |what: &dyn Fn(&&str) -> bool| lines.iter().position(what).unwrap_or_else(|| panic!("{}", done.out));
    let mut last = 0;
    for (provider, class) in NIGHT {
        let found = at(&|line| line.contains(provider) && line.contains(class));
        assert!(found > last, "{provider} is out of order: {}", done.out);
        last = found;
    }
    let answer = at(&|line| line.starts_with("answer: {"));
    let state = at(&|line| line.starts_with("state: "));
    assert!(last < answer && answer < state, "{}", done.out);
    serde_json::from_str::<Value>(lines[answer].trim_start_matches("answer: ")).expect("the answer is JSON");

    let file = lines[state].trim_start_matches("state: ");
    assert!(file.starts_with(&folder), "{file}");
    let status = stage.json(&["status", "--json", "--state", file]);
    // Without a config too: the state knows whose quota each deployment used, and that no other key was tried.
    let deployments = status["deployments"].as_array().expect("a list");
    let held: BTreeSet<&str> = deployments.iter().filter_map(|one| one["reason"].as_str()).collect();
    assert!(["auth", "billing", "quota_exhausted"].iter().all(|class| held.contains(class)), "{status}");
    let holds = status["holds"].as_array().expect("a list");
    let classes: BTreeSet<&str> = holds.iter().filter_map(|hold| hold["class"].as_str()).collect();
    assert_eq!(classes.into_iter().collect::<Vec<_>>(), ["auth", "billing", "quota_exhausted", "rate_limit"]);
}

#[test]
fn a_second_demo_with_the_same_seed_starts_anew() {
    let mut stage = Stage::bare();
    let folder = stage.path("").to_str().expect("a plain path").to_owned();
    stage.set("TMPDIR", folder);
    stage.set("LLMR_SEED", "7".to_owned());
    for _ in 0..2 {
        let done = stage.run(&["demo"]).exits(0);
        let first = done.out.split("answer: ").next().unwrap_or_default();
        assert!(first.contains("billing (402)"), "{first}");
    }
}

#[test]
fn the_demo_leaves_the_own_state_alone() {
    let mut stage = Stage::bare();
    let folder = stage.path("").to_str().expect("a plain path").to_owned();
    stage.set("TMPDIR", folder);
    stage.run(&["demo"]).exits(0);
    assert!(!stage.path(".local").exists() && !stage.path(".config").exists());
}
