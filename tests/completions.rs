//! The files under `completions/` are what the program prints. When one is stale, run the command that it names.
#![cfg(test)]

use crate::stage::{Stage, root};

#[test]
fn completions_and_man_page_are_fresh() {
    for (file, args) in [
        ("llmr.bash", &["completions", "bash"][..]),
        ("_llmr", &["completions", "zsh"]),
        ("llmr.fish", &["completions", "fish"]),
        ("llmr.elv", &["completions", "elvish"]),
        ("_llmr.ps1", &["completions", "powershell"]),
        ("llmr.1", &["man"]),
    ] {
        let printed = Stage::bare().run(args).exits(0).out;
        assert!(printed.len() > 1000, "{args:?} prints {printed}");
        let kept = std::fs::read_to_string(root().join("completions").join(file)).unwrap_or_default();
        assert!(kept == printed, "stale: llmr {} > completions/{file}", args.join(" "));
    }
}
