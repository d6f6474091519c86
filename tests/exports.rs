//! What users of the crate can name may grow: its enums are `#[non_exhaustive]`, or stand here with a reason.
#![cfg(test)]

use std::path::Path;

use crate::stage::root;

/// A call may be made or not; who asks must be made to think of both, and there is no third.
const FOR_GOOD: &[&str] = &["Admission"];

/// The names that the root of the crate and its `words` have.
fn exported(lib: &str) -> Vec<String> {
    let uses = lib.split("pub use ").skip(1).filter_map(|rest| rest.split(';').next());
    let names = uses.flat_map(|list| {
        let list = list.split_once('{').map_or_else(|| list.rsplit("::").next().unwrap_or(list), |(_, names)| names);
        list.trim_end_matches('}').split(',').map(|name| name.trim().to_owned()).collect::<Vec<_>>()
    });
    names.filter(|name| !name.is_empty()).collect()
}

fn sources(directory: &Path, all: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, all);
        } else if path.extension().is_some_and(|end| end == "rs") {
            all.push((path.display().to_string(), std::fs::read_to_string(&path).expect("a source")));
        }
    }
}

/// The name of an enum that a line declares, by itself or by the macro for enums of words.
fn declares(line: &str) -> Option<&str> {
    let by_macro = line.strip_prefix("    ").and_then(|line| line.split_once("(\"")).map(|(name, _)| name);
    let name = line.strip_prefix("pub enum ").and_then(|rest| rest.split([' ', '<']).next()).or(by_macro)?;
    (name.starts_with(|c: char| c.is_ascii_uppercase()) && name.chars().all(|c| c.is_ascii_alphanumeric()))
        .then_some(name)
}

#[test]
fn enums_that_users_can_name_may_grow() {
    let names = exported(&std::fs::read_to_string(root().join("src/lib.rs")).expect("lib.rs"));
    let mut all = Vec::new();
    for module in ["api", "catalog", "classify", "clock", "domain", "session"] {
        sources(&root().join("src").join(module), &mut all);
    }
    let (mut may_grow, mut closed) = (Vec::new(), Vec::new());
    for (file, text) in &all {
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let Some(name) = declares(line).filter(|name| names.iter().any(|known| known == name)) else { continue };
            // Another enum of the same name on a floor below is not the one that the root has.
            if (name == "Outcome" || name == "Session") && !file.contains("/api/") {
                continue;
            }
            let above = lines[..at].iter().rev().take_while(|line| line.trim_start().starts_with(['#', '/']));
            let is_open = above.into_iter().any(|line| line.trim() == "#[non_exhaustive]");
            if is_open { may_grow.push(name) } else { closed.push(name) }
        }
    }
    assert!(may_grow.len() > 15, "the look went to the wrong place: {may_grow:?}");
    assert_eq!(closed, FOR_GOOD, "all of these may grow: {may_grow:?}");
}
