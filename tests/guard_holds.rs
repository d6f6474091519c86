//! Which deployments a hold covers, as programs that make their own calls see it, and what is under way.
#![cfg(test)]

use llmr::rehearsal::{Provider, Reply};
use serde_json::json;

use crate::stage::{Stage, config, declared, keys, openai};

/// Two models and two keys of one account at one provider.
fn account(lab: &Provider) -> Stage {
    let places = [("k1", "{ env = \"K1\" }\naccount = \"acct\""), ("k2", "{ env = \"K2\" }\naccount = \"acct\"")];
    let text =
        format!("[ladders.main]\nsteps = [\"lab/m\", \"lab/n\"]\n{}{}", declared("lab", lab), keys("lab", &places));
    let mut stage = Stage::with(&text);
    stage.set("K1", "not-a-real-key-number-one");
    stage.set("K2", "not-a-real-key-number-two");
    stage
}

#[test]
fn a_hold_of_many_deployments_holds_all_of_them() {
    let lab = openai(Reply::answer("yes"));
    let no_money = json!({"error": {"message": "Insufficient balance"}}).to_string();
    let stage = account(&lab);
    stage.run(&["record", "lab/m@k1", "--status", "402", "--body", &no_money]).exits(0);
    for held in ["lab/m@k1", "lab/m@k2", "lab/n@k1", "lab/n@k2"] {
        stage.run(&["guard", held]).exits(4);
    }
    let stage = account(&lab);
    stage.run(&["record", "lab/m@k1", "--status", "401"]).exits(0);
    for (deployment, code) in [("lab/m@k1", 4), ("lab/n@k1", 4), ("lab/m@k2", 0)] {
        stage.run(&["guard", deployment]).exits(code);
    }
}

#[test]
fn another_config_entry_lets_one_probe_pass_and_its_other_trouble_changes_nothing_for_the_rest() {
    let (lab, moved) = (openai(Reply::answer("yes")), openai(Reply::answer("yes")));
    let stage = account(&lab);
    stage.run(&["record", "lab/m@k1", "--status", "401"]).exits(0);
    let before = stage.hold();
    let text = std::fs::read_to_string(stage.path("llmr.toml")).expect("a config");
    stage.file("llmr.toml", text.replace(&lab.base_url(), &moved.base_url()));
    let passed = stage.run(&["guard", "lab/n@k1", "--json"]).exits(0).json();
    assert_eq!(passed["probe"], json!(true), "the provider is reached in another way");
    stage.run(&["guard", "lab/m@k1"]).exits(4);
    stage.run(&["record", "lab/n@k1", "--status", "503"]).exits(0);
    // By the old entry it is still what failed.
    stage.file("llmr.toml", text);
    stage.run(&["guard", "lab/m@k1"]).exits(4);
    assert_eq!(stage.json(&["status", "--json"])["holds"][0]["until"], before["until"]);
}

#[test]
fn a_call_that_is_reported_under_an_id_of_its_own_is_not_under_way_any_more() {
    let lab = openai(Reply::answer("yes"));
    let cap = "\n[[caps]]\nprovider = \"lab\"\ndimension = \"concurrency\"\nlimit = 1\n";
    let stage = Stage::with(&format!("{}{cap}", config(&[("lab", &lab)])));
    stage.run(&["guard", "lab/m"]).exits(0);
    stage.run(&["guard", "lab/m"]).exits(4);
    stage.run(&["record", "lab/m", "--ok", "--request-id", "mine"]).exits(0);
    stage.run(&["guard", "lab/m"]).exits(0);
    // What nobody reported can be cleared.
    let cleared = stage.run(&["reset", "lab"]).exits(0).out;
    assert!(cleared.contains("counts 1 call no longer as under way"), "{cleared}");
    stage.run(&["guard", "lab/m"]).exits(0);
}
