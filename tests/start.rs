//! The first steps of somebody who has nothing but keys in the environment.
#![cfg(test)]

use llmr::catalog::Catalog;
use llmr::rehearsal::Reply;
use serde_json::{Value, json};

use crate::stage::{Stage, config, openai};

fn order(plan: &Value) -> Vec<String> {
    let steps = plan["order"].as_array().expect("a list").iter();
    steps.map(|step| step["deployment"].as_str().expect("a name").to_owned()).collect()
}

#[test]
fn without_a_config_the_keys_of_the_environment_are_the_ladder() {
    let mut stage = Stage::bare();
    stage.set("GROQ_API_KEY", "gsk_not_a_key_at_all_0123");
    stage.set("GOOGLE_API_KEY", "AIza_not_a_key_at_all_0123");
    stage.set("OPENAI_API_KEY", "sk-not-a-key-at-all-0123");
    stage.set("MISTRAL_API_KEY", "  ");
    let plan = stage.json(&["plan", "--json"]);
    let providers: Vec<String> =
        order(&plan).iter().map(|name| name.split('/').next().expect("a part").to_owned()).collect();
    assert_eq!(providers[..3], ["openai", "gemini", "groq"], "{plan:#}");
    assert!(!providers.contains(&"mistral".to_owned()), "blanks are no key");
    assert!(!stage.run(&["plan"]).exits(0).out.contains("not"), "no key is shown");
}

#[test]
fn half_of_what_cloudflare_needs_is_told() {
    let mut stage = Stage::bare();
    stage.set("GROQ_API_KEY", "gsk_not_a_key_at_all_0123");
    stage.set("CLOUDFLARE_API_TOKEN", "not-a-key-at-all-0123");
    let done = stage.run(&["plan", "--json"]).exits(0).says(&["warning: ", "CLOUDFLARE_ACCOUNT_ID"]);
    assert!(!order(&done.json()).iter().any(|name| name.starts_with("cloudflare/")));
    stage.set("CLOUDFLARE_ACCOUNT_ID", "acc-1");
    assert!(order(&stage.json(&["plan", "--json"])).iter().any(|name| name.starts_with("cloudflare/")));
}

#[test]
fn with_nothing_there_are_two_ways_out() {
    let local = Catalog::builtin().expect("the catalogue").providers.into_values().filter(|provider| provider.local);
    let running = local.filter_map(|provider| provider.base_url).any(|url| {
        let place =
            url.trim_start_matches("http://").split('/').next().unwrap_or_default().replace("localhost", "127.0.0.1");
        std::net::TcpStream::connect(place).is_ok()
    });
    if running {
        // Somebody's own model server is the ladder then.
        return;
    }
    Stage::bare().run(&["chat", "?"]).exits(3).prints("").says(&["error: ", "hint: `llmr init`", "hint: `llmr demo`"]);
}

#[test]
fn init_writes_what_check_accepts_and_never_overwrites() {
    let mut stage = Stage::bare();
    stage.set("GROQ_API_KEY", "gsk_not_a_key_at_all_0123");
    stage.set("XDG_CONFIG_HOME", stage.path("etc").to_str().expect("a plain path"));
    let file = stage.path("etc/llmr/llmr.toml");
    let done = stage.run(&["init"]).exits(0).says(&["llmr check", "llmr plan"]);
    assert_eq!(done.out, format!("wrote {}\n", file.display()));
    let text = std::fs::read_to_string(&file).expect("the config");
    assert!(text.contains("GROQ_API_KEY") && !text.contains("gsk_not"), "{text}");
    assert_eq!(stage.run(&["init", "--print"]).exits(0).out, text);
    let check = stage.run(&["check"]).exits(0);
    assert!(check.out.contains("main"), "{}", check.out);
    assert!(order(&stage.json(&["plan", "--json"]))[0].starts_with("groq/"));

    std::fs::write(&file, "# mine\n").expect("written");
    stage.run(&["init"]).exits(1).prints("").says(&["is there already", "hint: "]);
    assert_eq!(std::fs::read_to_string(&file).expect("the config"), "# mine\n");
}

#[test]
fn init_without_any_key_is_a_config_too() {
    let stage = Stage::bare();
    stage.run(&["init"]).exits(0);
    assert!(stage.path(".config/llmr/llmr.toml").exists());
    stage.run(&["check"]).exits(0);
}

#[test]
fn the_config_is_found_by_flag_then_variable_then_home() {
    let providers: Vec<_> =
        ["flag", "variable", "xdg", "home"].iter().map(|name| (*name, openai(Reply::answer(*name)))).collect();
    let mut stage = Stage::bare();
    let text = |at: usize| config(&[(providers[at].0, &providers[at].1)]);
    for folder in ["xdg/llmr", ".config/llmr"] {
        std::fs::create_dir_all(stage.path(folder)).expect("a directory");
    }
    let flag = stage.file("flag.toml", text(0));
    let variable = stage.file("variable.toml", text(1));
    stage.file("xdg/llmr/llmr.toml", text(2));
    stage.file(".config/llmr/llmr.toml", text(3));
    stage.run(&["chat", "?"]).exits(0).prints("home\n");
    stage.set("XDG_CONFIG_HOME", stage.path("xdg").to_str().expect("a plain path"));
    stage.run(&["chat", "?"]).exits(0).prints("xdg\n");
    stage.set("LLMR_CONFIG", variable);
    stage.run(&["chat", "?"]).exits(0).prints("variable\n");
    stage.run(&["chat", "--config", &flag, "?"]).exits(0).prints("flag\n");
    stage
        .run(&["chat", "--config", "/nowhere/llmr.toml", "?"])
        .exits(3)
        .says(&["error: cannot read config /nowhere", "hint: "]);
}

#[test]
fn the_state_is_found_by_flag_then_variable_then_config_then_home() {
    let good = openai(Reply::answer("yes"));
    let mut stage = Stage::bare();
    let text = config(&[("good", &good)]);
    let path = |name: &str| stage.path(name).to_str().expect("a plain path").to_owned();
    let (flag, variable, xdg) = (path("flag.db"), path("variable.db"), path("xdg"));
    let config = stage.file("llmr.toml", &text);
    stage.set("LLMR_CONFIG", config);
    let grows = |stage: &Stage, file: &str, args: &[&str]| {
        assert!(!stage.path(file).exists());
        stage.run(args).exits(0);
        assert!(stage.path(file).exists(), "{file}");
    };
    grows(&stage, ".local/state/llmr/state.db", &["chat", "?"]);
    stage.set("XDG_STATE_HOME", xdg);
    grows(&stage, "xdg/llmr/state.db", &["chat", "?"]);
    stage.file("llmr.toml", format!("{text}[store]\npath = \"configured.db\"\n"));
    grows(&stage, "configured.db", &["chat", "?"]);
    stage.set("LLMR_STATE", variable);
    grows(&stage, "variable.db", &["chat", "?"]);
    grows(&stage, "flag.db", &["chat", "--state", &flag, "?"]);
    assert_eq!(stage.json(&["log", "--json", "--state", &flag])["outcome"], json!("answered"));
}

#[test]
fn check_without_a_config_speaks_of_the_environment() {
    let mut stage = Stage::bare();
    stage.set("GROQ_API_KEY", "gsk_not_a_key_at_all_0123");
    assert!(stage.run(&["check"]).exits(0).out.contains("main"));
}

#[test]
fn without_a_config_status_and_reset_know_what_the_state_holds() {
    let barred = openai(Reply::status(401, json!({"error": {"message": "Incorrect API key provided"}})));
    let stage = Stage::of(&[("barred", &barred)]);
    stage.run(&["chat", "?"]).exits(5);
    std::fs::remove_file(stage.path("llmr.toml")).expect("removed");
    let bare = |args: &[&str]| {
        let child = stage.command(args).env_remove("LLMR_CONFIG").spawn().expect("started");
        crate::stage::finish(child).exits(0)
    };
    let status = bare(&["status", "--json"]).json();
    assert_eq!(
        (&status["holds"][0]["class"], &status["deployments"][0]["deployment"]),
        (&json!("auth"), &json!("barred/m"))
    );
    assert_eq!(status["deployments"][0]["eligible"], json!(false), "{status:#}");
    bare(&["reset", "barred"]);
    assert_eq!(bare(&["status", "--json"]).json()["holds"], json!([]));
}
