//! What is wrong in a config file, and where.

use std::fmt;
use std::path::{Path, PathBuf};

/// One thing that is wrong, with the place and, where one is known, the way out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1; none for what the file as a whole lacks.
    pub line: Option<usize>,
    /// The path of the key: `ladders.main.steps[0]`.
    pub key: String,
    /// What is wrong with it.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}

impl fmt::Display for Problem {
    /// `llmr.toml:12: ladders.main.stratgy: unknown key; did you mean `strategy`?`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if !self.key.is_empty() {
            write!(f, ": {}", self.key)?;
        }
        write!(f, ": {}", self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "; {hint}"),
            None => Ok(()),
        }
    }
}

/// Where a value stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// The line, from 1.
    pub(super) line: Option<usize>,
    /// The path of the key.
    pub(super) key: String,
}

impl Place {
    /// The place of a key below this one.
    pub(super) fn below(&self, key: &str) -> String {
        let plain = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
        let key = if plain { key.to_owned() } else { format!("{key:?}") };
        if self.key.is_empty() { key } else { format!("{}.{key}", self.key) }
    }
}

/// Finds the line and column of a byte.
#[derive(Debug)]
pub(super) struct Lines(Vec<usize>);

impl Lines {
    pub(super) fn of(text: &str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Self(std::iter::once(0).chain(ends).collect())
    }

    /// The line and column, from 1, of the byte at that index.
    pub(super) fn place(&self, at: usize) -> (usize, usize) {
        let line = self.0.partition_point(|start| *start <= at).max(1);
        let start = self.0.get(line - 1).copied().unwrap_or(0);
        (line, at - start + 1)
    }
}

/// The file's problems in the order of its lines, each key once: what follows from a mistake is not a second one.
pub(super) fn in_order(mut problems: Vec<Problem>) -> Vec<Problem> {
    let mut seen = std::collections::BTreeSet::new();
    problems.retain(|problem| seen.insert((problem.key.clone(), problem.key.is_empty().then_some(problem.line))));
    problems.sort_by_key(|problem| problem.line.unwrap_or(usize::MAX));
    problems
}

/// The directory that relative paths of a config file start from.
pub(super) fn directory(file: &Path) -> PathBuf {
    file.parent().map(Path::to_path_buf).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_lines_and_columns() {
        let lines = Lines::of("ab\n\ncd");
        for (at, place) in [(0, (1, 1)), (1, (1, 2)), (2, (1, 3)), (3, (2, 1)), (4, (3, 1)), (5, (3, 2)), (99, (3, 96))]
        {
            assert_eq!(lines.place(at), place, "{at}");
        }
    }

    #[test]
    fn keys_that_are_no_bare_words_are_quoted() {
        let root = Place { line: None, key: "ladders".to_owned() };
        assert_eq!(root.below("main"), "ladders.main");
        assert_eq!(root.below("a b"), "ladders.\"a b\"");
    }
}
