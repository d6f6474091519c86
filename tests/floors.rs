//! The modules of the library are floors of one house, and imports run downward only.
#![cfg(test)]

use std::path::{Path, PathBuf};

use crate::stage::root;

/// The floors, lowest first; modules of one floor do not know each other.
const FLOORS: &[&[&str]] = &[
    &["domain"],
    &["clock"],
    &["process"],
    &["catalog"],
    &["classify"],
    &["validate"],
    &["policy"],
    &["ladder"],
    &["config"],
    &["store"],
    &["metrics"],
    &["wire"],
    &["transport"],
    &["route"],
    &["session"],
    &["report", "rehearsal"],
    &["drill", "dash"],
];

fn floor(module: &str) -> Option<usize> {
    FLOORS.iter().position(|floor| floor.contains(&module))
}

/// The modules that a line names with `crate::`, and with `llmr::` as examples in comments do.
fn named(line: &str) -> Vec<String> {
    let word = |rest: &str| rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect::<String>();
    let mut found = Vec::new();
    for rest in line.split("crate::").skip(1) {
        match rest.strip_prefix('{') {
            // use crate::{a::X, b::{Y, Z}};
            Some(list) => {
                let mut depth = 0;
                for part in list.split_inclusive([',', '{', '}']) {
                    if depth == 0 {
                        found.push(word(part.trim()));
                    }
                    depth += part.matches('{').count();
                    depth = depth.saturating_sub(part.matches('}').count());
                }
            }
            None => found.push(word(rest)),
        }
    }
    found.retain(|name| !name.is_empty());
    found
}

/// What is wrong with the imports of a source text.
fn upward(file: &str, text: &str) -> Vec<String> {
    let module = file.trim_start_matches("src/").split(['/', '.']).next().unwrap_or_default();
    let Some(own) = floor(module) else { return vec![format!("{file}: no floor is known for `{module}`")] };
    let mut wrong = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")) {
        for name in named(line) {
            let place = format!("{file}:{}", number + 1);
            match floor(&name) {
                None => wrong.push(format!("{place}: no floor is known for `{name}`")),
                Some(_) if name == module => {}
                Some(other) if other >= own => wrong.push(format!("{place}: {module} uses {name}")),
                Some(_) => {}
            }
        }
    }
    wrong
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn nothing_is_imported_from_a_higher_floor() {
    let mut files = Vec::new();
    sources(&root().join("src"), &mut files);
    assert!(files.len() > 50, "the look went to the wrong place");
    let mut wrong = Vec::new();
    for path in files {
        let file = path.strip_prefix(root()).expect("below the root").display().to_string();
        if file != "src/lib.rs" {
            wrong.extend(upward(&file, &std::fs::read_to_string(&path).expect("text")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_upward_import_is_found_wherever_it_stands() {
    let text = "use crate::domain::X;\nuse crate::route::Y;\n    let a = crate::store::Z(crate::clock::W);\n";
    assert_eq!(
        upward("src/policy/apply.rs", text),
        ["src/policy/apply.rs:2: policy uses route", "src/policy/apply.rs:3: policy uses store"]
    );
    assert_eq!(
        upward("src/ladder/run.rs", "use crate::{domain::{A, B}, wire::C, policy};\n"),
        ["src/ladder/run.rs:1: ladder uses wire"]
    );
    assert_eq!(
        upward("src/report/chat.rs", "use crate::rehearsal::X;"),
        ["src/report/chat.rs:1: report uses rehearsal"]
    );
    assert_eq!(upward("src/attic.rs", ""), ["src/attic.rs: no floor is known for `attic`"]);
}
