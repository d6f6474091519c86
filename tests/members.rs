//! Every test file takes part: one that `main.rs` does not name would silently never run.
#![cfg(test)]

use crate::stage::root;

#[test]
fn every_file_is_a_module_of_the_one_binary() {
    let main = std::fs::read_to_string(root().join("tests/main.rs")).expect("main.rs");
    let mut files = 0;
    for entry in std::fs::read_dir(root().join("tests")).expect("a directory") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().and_then(|stem| stem.to_str()).expect("a name").to_owned();
        let is_module = path.extension().is_some_and(|end| end == "rs") || path.join("mod.rs").exists();
        if is_module && name != "main" {
            files += 1;
            assert!(main.lines().any(|line| line == format!("mod {name};")), "tests/main.rs lacks `mod {name};`");
        }
    }
    assert!(files > 5, "the look went to the wrong place");
}
