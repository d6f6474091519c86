//! The fenced blocks of a text in Markdown.

/// A block between two lines of three backticks or more.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fence<'t> {
    /// What stands in it, trimmed.
    pub(super) body: &'t str,
    /// Whether the word behind the fence says that it is JSON.
    pub(super) is_json: bool,
    /// Where it begins.
    pub(super) from: usize,
    /// Where it ends, fence and all.
    pub(super) to: usize,
}

/// All of them that may hold JSON: those without a word for a language, and those with that of JSON. One that is never
/// closed goes to the end.
pub(super) fn all(text: &str) -> Vec<Fence<'_>> {
    let mut fences = Vec::new();
    // Where the open one begins, where its body does, its backticks, and its word.
    let mut open: Option<(usize, usize, usize, &str)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let next = at + line.len();
        let bare = line.trim();
        let ticks = bare.len() - bare.trim_start_matches('`').len();
        let word = bare.trim_start_matches('`').trim();
        match open {
            None if ticks >= 3 && !word.contains('`') => open = Some((at, next, ticks, word)),
            Some((from, body, least, tag)) if ticks >= least && word.is_empty() => {
                fences.extend(fence(text, (from, body), (at, next), tag));
                open = None;
            }
            _ => {}
        }
        at = next;
    }
    if let Some((from, body, _, tag)) = open {
        fences.extend(fence(text, (from, body), (text.len(), text.len()), tag));
    }
    fences
}

fn fence<'t>(text: &'t str, (from, body): (usize, usize), (end, to): (usize, usize), tag: &str) -> Option<Fence<'t>> {
    let is_json = tag.to_ascii_lowercase().starts_with("json");
    let body = text.get(body..end)?.trim();
    (is_json || tag.is_empty()).then_some(Fence { body, is_json, from, to })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_found_with_their_places() {
        let text = "a\n```json\n1\n```\nb ``` c\n````\n```\n2\n````\n```py\n3\n```\n  ```JSON5\n4";
        let bodies: Vec<_> = all(text).iter().map(|fence| (fence.body, fence.is_json)).collect();
        assert_eq!(bodies, [("1", true), ("```\n2", false), ("4", true)]);
        let first = all(text).remove(0);
        assert_eq!(text.get(first.from..first.to), Some("```json\n1\n```\n"));
    }
}
