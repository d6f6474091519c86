//! What a person may have meant by a word that is not known.

/// The known word that is nearest to `word`: at most a third of its letters (and one at least) may be wrong. Case,
/// `-` and `_` make no difference.
pub fn nearest_word<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |text: &str| -> Vec<char> {
        let letters = text.chars().take(64).flat_map(char::to_lowercase);
        letters.map(|c| if c == '-' { '_' } else { c }).collect()
    };
    let wanted = plain(word);
    let allowed = (wanted.len() / 3).max(1);
    known
        .into_iter()
        .filter_map(|candidate| {
            let letters = plain(candidate);
            let away = distance(&wanted, &letters);
            // A word that shares no letter is no suggestion, however short.
            (away <= allowed && away < letters.len().max(wanted.len())).then_some((away, candidate))
        })
        .min_by_key(|(away, _)| *away)
        .map(|(_, candidate)| candidate)
}

/// Edits from one text to the other: letters put in, taken out, replaced, or two neighbours swapped.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let at = |row: &[usize], index: usize| row.get(index).copied().unwrap_or(usize::MAX / 2);
            let mut best = (at(&last, j) + usize::from(x != y)).min(at(&last, j + 1) + 1).min(at(&row, j) + 1);
            let swapped = i > 0 && j > 0 && a.get(i - 1) == Some(y) && b.get(j - 1) == Some(x);
            if swapped {
                best = best.min(at(&before, j - 1) + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_understood() {
        let known = ["strategy", "steps", "system", "context_window", "content_policy", "last_resort"];
        for (word, meant) in [
            ("stratgy", Some("strategy")),
            ("startegy", Some("strategy")),
            ("Steps", Some("steps")),
            ("context-window", Some("context_window")),
            ("contet_policy", Some("content_policy")),
            ("zzz", None),
            ("", None),
        ] {
            assert_eq!(nearest_word(word, known), meant, "{word}");
        }
        assert_eq!(nearest_word("qroq", ["groq", "xai"]), Some("groq"));
        assert_eq!(nearest_word("z", ["a"]), None);
    }

    #[test]
    fn edits_are_counted() {
        for (a, b, edits) in [("abc", "abc", 0), ("abc", "acb", 1), ("abc", "", 3), ("kitten", "sitting", 3)] {
            let letters = |text: &str| text.chars().collect::<Vec<_>>();
            assert_eq!(distance(&letters(a), &letters(b)), edits, "{a} {b}");
        }
    }
}
