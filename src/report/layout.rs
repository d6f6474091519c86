//! Fits text into columns of a terminal. What counts is how wide letters are, not how many.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// How many columns the text takes.
pub(crate) fn columns(text: &str) -> usize {
    text.width()
}

/// The text with blanks to its right up to this width.
pub(super) fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(columns(text))))
}

/// The beginning of the text, with `…` where it was cut.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    format!("{}…", beginning(text.chars(), width.saturating_sub(1)))
}

/// The text without its middle: of a name, the beginning and the end tell the most.
pub(crate) fn cut_middle(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let room = width.saturating_sub(1);
    let tail: String = beginning(text.chars().rev(), room / 2).chars().rev().collect();
    let head = beginning(text.chars(), room - columns(&tail));
    format!("{head}…{tail}")
}

fn beginning(letters: impl Iterator<Item = char>, width: usize) -> String {
    let mut taken = 0;
    letters
        .take_while(|letter| {
            taken += letter.width().unwrap_or(0);
            taken <= width
        })
        .collect()
}

/// The pieces in lines of at most this width where a piece is not longer itself, with a mark between them. A piece is
/// never broken: a time or an id that can be copied is worth more than an even edge.
pub(super) fn flowed(pieces: &[String], mark: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (at, piece) in pieces.iter().enumerate() {
        let piece = if at + 1 < pieces.len() { format!("{piece}{mark}") } else { piece.clone() };
        match lines.last_mut() {
            Some(line) if columns(line) + 1 + columns(&piece) <= width => {
                line.push(' ');
                line.push_str(&piece);
            }
            _ => lines.push(piece),
        }
    }
    lines
}

/// The words of the text in lines of this width, each with its end; all but the first begin with `indent` blanks. What
/// the text has in front of its first word stays.
pub(crate) fn wrapped(text: &str, indent: usize, width: usize) -> String {
    let start = text.len() - text.trim_start().len();
    let (mut out, mut line) = (String::new(), text.get(..start).unwrap_or_default().to_owned());
    let mut is_new = true;
    for word in text.split_whitespace() {
        if !is_new && columns(&line) + 1 + columns(word) > width {
            out.push_str(&line);
            out.push('\n');
            line = " ".repeat(indent);
            is_new = true;
        }
        if !is_new {
            line.push(' ');
        }
        line.push_str(word);
        is_new = false;
    }
    out.push_str(&line);
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_letters_count_twice() {
        assert_eq!((columns("余额"), columns("abc")), (4, 3));
        assert_eq!(padded("余", 4), "余  ");
        assert_eq!(cut("余额不足", 5), "余额…");
        assert_eq!(cut("余额不足", 8), "余额不足");
    }

    #[test]
    fn names_keep_both_ends() {
        assert_eq!(cut_middle("groq/llama-3.3-70b-versatile@team", 20), "groq/llama…tile@team");
        assert_eq!(cut_middle("groq/llama", 10), "groq/llama");
        assert_eq!(cut_middle("groq/llama", 1), "…");
        assert_eq!(cut_middle("groq/llama", 0), "…");
    }

    #[test]
    fn words_are_wrapped_below_the_first_line() {
        assert_eq!(wrapped("  1. a bb ccc", 4, 8), "  1. a\n    bb\n    ccc\n");
        assert_eq!(wrapped("  averylongword x", 1, 5), "  averylongword\n x\n");
        assert_eq!(wrapped("", 1, 5), "\n");
    }

    #[test]
    fn pieces_are_not_broken() {
        let pieces = ["until noon".to_owned(), "since dawn".to_owned(), "by a very long request".to_owned()];
        assert_eq!(flowed(&pieces, ";", 24), ["until noon; since dawn;", "by a very long request"]);
        assert_eq!(flowed(&pieces, ";", 5), ["until noon;", "since dawn;", "by a very long request"]);
        assert_eq!(flowed(&[], ";", 5), [""; 0]);
    }
}
