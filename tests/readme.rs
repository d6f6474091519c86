//! What the README shows must be true of the program.
#![cfg(test)]

use std::path::Path;

use llmr::catalog::Catalog;
use llmr::config;

fn readme() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    std::fs::read_to_string(path).expect("the README")
}

/// The fenced blocks of that language.
fn blocks(language: &str) -> Vec<String> {
    let start = format!("```{language}\n");
    let text = readme();
    let block = |rest: &str| rest.split_once("\n```").expect("an end of the block").0.to_owned();
    text.split(&start).skip(1).map(block).collect()
}

#[test]
fn its_config_is_good() {
    let blocks = blocks("toml");
    let (whole, parts): (Vec<_>, Vec<_>) =
        blocks.iter().filter(|block| block.contains("[ladders.")).partition(|block| block.contains("default_ladder"));
    assert_eq!(whole.len(), 1, "one whole config");
    let builtin = Catalog::builtin().expect("the catalogue");
    let config = config::parse(whole[0], Path::new("llmr.toml"), builtin).expect("a good config");
    assert_eq!(config.warnings, []);
    assert_eq!(config.limits, config::Limits::default(), "what it calls the defaults");
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("minutes.json"), "{\"type\": \"object\"}").expect("written");
    for part in parts {
        let builtin = Catalog::builtin().expect("the catalogue");
        let joined = config::parse(&format!("{}\n{part}", whole[0]), &folder.path().join("llmr.toml"), builtin);
        assert_eq!(joined.expect("a good config").warnings, []);
    }
}

#[test]
fn its_rule_is_good() {
    let rule = blocks("toml").into_iter().find(|block| block.starts_with("[[rules]]")).expect("a rule");
    let text = format!(
        "{rule}\n[providers.lab]\nbase_url = \"http://127.0.0.1:8080/v1\"\nwire = \"openai\"\n[ladders.main]\nsteps = [\"lab/m\"]\n"
    );
    let builtin = Catalog::builtin().expect("the catalogue");
    let config = config::parse(&text, Path::new("llmr.toml"), builtin).expect("a good config");
    assert_eq!(config.rules.len(), 1);
}

#[test]
fn what_it_prints_fits_the_page() {
    let long: Vec<_> =
        blocks("console").join("\n").lines().filter(|line| line.chars().count() > 100).map(str::to_owned).collect();
    assert_eq!(long, [""; 0]);
}
