//! `drill`: the own ladder on a bad night, scenarios from files, and what failures cost in calls.
#![cfg(test)]

use std::collections::BTreeMap;

use llmr::rehearsal::Reply;
use serde_json::Value;

use crate::stage::{Done, Stage, config, declared, keys, names, openai, root};

/// Three providers of which two are nowhere; a key command and a key file that would show that they were used.
fn guarded(trap: &llmr::rehearsal::Provider) -> Stage {
    let text = "default_ladder = \"main\"\n[ladders.main]\nsteps = [\"far/m\", \"near/m\", \"trap/m\"]\n\
                [ladders.one]\nsteps = [\"far/m\"]\n[limits]\ntimeout = { total = \"20s\" }\n";
    let far = "[providers.far]\nbase_url = \"https://far.invalid/v1\"\nwire = \"openai\"\n";
    let near = "[providers.near]\nbase_url = \"https://near.invalid/v1\"\nwire = \"anthropic\"\n";
    let key = |provider, place| keys(provider, &[("own", place)]);
    let mut stage = Stage::with("");
    let touched = stage.path("command-was-run").display().to_string();
    let parts = [
        text.to_owned(),
        far.to_owned(),
        key("far", &format!("{{ command = [\"touch\", \"{touched}\"] }}")),
        near.to_owned(),
        key("near", "{ file = \"there-is-no-such-file\" }"),
        declared("trap", trap),
        key("trap", "{ env = \"LAB_KEY\" }"),
    ];
    stage.file("llmr.toml", parts.concat());
    stage.set("LAB_KEY", "Zq7xW2pL9vT4mR8kY3nB6cJ1hF5dS0");
    // Whoever asks a proxy would be seen there.
    let proxy = trap.base_url().trim_end_matches("/v1").to_owned();
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"] {
        stage.set(name, proxy.clone());
    }
    stage
}

fn lines(done: &Done) -> Vec<Value> {
    done.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn a_drill_asks_nobody_reads_no_key_and_leaves_the_state_alone() {
    let trap = openai(Reply::answer("I am real"));
    let stage = guarded(&trap);
    let done = stage.run(&["drill", "--scenario", "worst", "--scenario", "all", "-n", "3"]).exits(0);
    assert!(done.out.contains("passed"), "{}", done.out);
    assert_eq!(done.err, "");
    assert_eq!(trap.hits(), 0, "a real provider was asked");
    assert!(!stage.path("command-was-run").exists(), "a key command was run");
    assert!(!stage.state().exists(), "a state file was made");

    // A real request in between gives the state something to lose.
    stage.run(&["chat", "-m", "trap/m", "?"]).exits(0).prints("I am real\n");
    let before = stage.state_bytes();
    assert!(!before.is_empty());
    stage.run(&["drill", "--scenario", "all", "-n", "3"]).exits(0);
    assert_eq!(stage.state_bytes(), before);
    assert_eq!(trap.hits(), 1);
}

#[test]
fn the_exit_code_is_that_of_the_scenarios_that_count() {
    let trap = openai(Reply::answer("I am real"));
    let stage = guarded(&trap);
    let few = |args: &[&str]| stage.run(&[&["drill", "-n", "4"], args].concat());
    few(&["-m", "one", "--scenario", "healthy"]).exits(0);
    few(&["-m", "one", "--scenario", "all", "--scenario", "domain", "--scenario", "slow-death"]).exits(0);
    let done = few(&["-m", "one", "--scenario", "worst"]).exits(1);
    let told = done.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("ladder one has one provider, far"), "{}", done.out);
    assert!(told.contains("FAILED: worst: far (in every way), 4 not answered"), "{}", done.out);
    let done = few(&["--all-ladders", "--scenario", "healthy"]).exits(0);
    assert!(done.out.contains("ladder main: ") && done.out.contains("ladder one: "), "{}", done.out);
    few(&["--scenario", "helthy"]).exits(2).says(&["slow-death"]);
    few(&["-m", "mian"]).exits(3).says(&["there is no ladder `mian`", "main, one"]);
    few(&["--matrix", "-m", "one"]).exits(2);
    Stage::bare().run(&["drill"]).exits(3).says(&["no config"]);
}

#[test]
fn a_program_gets_one_object_for_each_play() {
    let trap = openai(Reply::answer("I am real"));
    let stage = guarded(&trap);
    let done = stage.run(&["drill", "--json", "-n", "4"]);
    let all = lines(&done);
    let mut counted: BTreeMap<&str, usize> = BTreeMap::new();
    for one in &all {
        *counted.entry(one["scenario"].as_str().expect("a name")).or_default() += 1;
        assert_eq!(
            names(one),
            "ladder scenario down way counts ok requests answered outcomes by attempts upstream_calls slowest_s \
             cost_usd alarms back_after_s advice"
        );
        let outcomes = one["outcomes"].as_object().expect("an object").values().filter_map(Value::as_u64).sum::<u64>();
        assert_eq!((one["requests"].as_u64(), outcomes), (Some(4), 4), "{one}");
    }
    let expected = [("all", 1), ("brownout", 1), ("domain", 3), ("healthy", 1), ("slow-death", 1), ("worst", 27)];
    assert_eq!(counted.into_iter().collect::<Vec<_>>(), expected);
    let ok = |one: &Value| one["counts"] == false || one["answered"] == one["requests"];
    assert!(all.iter().all(|one| one["ok"] == ok(one)));
    assert_eq!(done.code, Some(i32::from(!all.iter().all(ok))));
}

#[test]
fn scenarios_are_listed() {
    let done = Stage::bare().run(&["drill", "--list"]).exits(0);
    let names: Vec<_> = done.out.lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(names, ["healthy", "worst", "domain", "all", "brownout", "slow-death"]);
}

#[test]
fn the_matrix_is_ideal_and_needs_no_config() {
    let stage = Stage::bare();
    let done = stage.run(&["drill", "--matrix"]).exits(0);
    let readme = std::fs::read_to_string(root().join("README.md")).expect("the README");
    assert!(readme.contains(&done.out), "the README shows another table than: {}", done.out);
    let rows = lines(&stage.run(&["drill", "--matrix", "--json"]).exits(0));
    assert_eq!(rows.len(), 9);
    assert!(rows.iter().all(|row| row["ideal"] == true && row["primary_calls"] == row["ideal_calls"]), "{rows:?}");
}

#[test]
fn a_scenario_of_a_file_goes_as_it_says_or_is_told_where_it_does_not() {
    let mut stage = Stage::bare();
    stage.set("TMPDIR", stage.path("").to_str().expect("a plain path").to_owned());
    let good = root().join("fixtures/ladders/cost-ceiling.toml");
    let text = std::fs::read_to_string(&good).expect("a scenario");
    let wrong = stage.file("wrong.toml", text.replace("by = \"lab/cheap\"", "by = \"lab/dear\""));
    let good = good.to_str().expect("a plain path");

    let done = stage.run(&["drill", good]).exits(0);
    assert_eq!((done.out.lines().count(), done.out.starts_with("ok ")), (1, true), "{}", done.out);
    let done = stage.run(&["drill", good, &wrong]).exits(1);
    for part in ["ok  ", "differs ", "act 1 at 2026-08-23T03:00:00Z", "by:", "+ lab/cheap", "- lab/dear"] {
        assert!(done.out.contains(part), "`{part}` is missing in: {}", done.out);
    }
    let both = lines(&stage.run(&["drill", "--json", good, &wrong]).exits(1));
    assert_eq!((&both[0]["ok"], &both[1]["ok"]), (&Value::Bool(true), &Value::Bool(false)));

    let odd = stage.file("odd.toml", "title = 7");
    stage.run(&["drill", good, &odd]).exits(3).prints("").says(&["odd.toml is no scenario"]);
    stage.run(&["drill", "there-is-none.toml"]).exits(2).says(&["there-is-none.toml"]);
    let left = std::fs::read_dir(stage.path("")).expect("a folder").filter_map(Result::ok);
    let left: Vec<_> = left.filter(|entry| entry.file_name().to_string_lossy().starts_with("llmr-drill")).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// What the own classification rules say counts in a drill as it does at night.
#[test]
fn own_rules_have_their_say() {
    let lab = openai(Reply::answer("I am real"));
    let rule = "[[rules]]\nstatus = 500\nclass = \"invalid_request\"\n";
    let stage = Stage::with(&format!("{}{rule}", config(&[("one", &lab), ("two", &lab)])));
    let done = stage.run(&["drill", "--json", "--scenario", "worst", "-n", "2"]).exits(1);
    let bad: Vec<_> = lines(&done).into_iter().filter(|one| one["ok"] == false).collect();
    assert!(bad.iter().all(|one| one["way"] == "500") && bad.len() == 1, "{}", done.out);
    assert_eq!(bad[0]["outcomes"]["refused"], 2);
    assert_eq!(lab.hits(), 0);
}
