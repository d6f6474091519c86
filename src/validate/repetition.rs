//! Whether a text runs in a circle: the same piece again and again, to its end.
//!
//! The end is read backwards: if the last n signs repeat with a period p, then n - p of them are the same as those p
//! places further. The table of borders (of Knuth, Morris and Pratt) gives the shortest period of every such end in one
//! pass, so the work is linear, and it is bounded because only so much of the end is looked at.

/// How much of the end is looked at, in bytes.
const END: usize = 16 * 1024;

/// How often a piece must stand there.
const TIMES: usize = 8;

/// How long the repetition must be, in bytes: a short one is a figure of speech.
const LENGTH: usize = 200;

/// What is said again and again.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Again {
    /// The piece.
    pub(super) piece: String,
    /// How often it was seen; the beginning of a long text is not looked at.
    pub(super) times: usize,
}

/// The piece that is repeated to the end.
pub(super) fn loops(text: &str) -> Option<Again> {
    let backwards: Vec<u8> = text.trim_end().bytes().rev().take(END).collect();
    let borders = borders(&backwards);
    let mut ends = borders.iter().enumerate().map(|(at, border)| (at + 1, at + 1 - border));
    // The longest end that is made of the same piece.
    let (length, period) = ends.rfind(|(length, period)| *length >= LENGTH && length / period >= TIMES)?;
    let mut piece: Vec<u8> = backwards.iter().take(period).copied().collect();
    piece.reverse();
    // Rules of tables and blank lines are long and mean nothing.
    let piece = String::from_utf8_lossy(&piece).into_owned();
    let says_something = piece.chars().any(char::is_alphanumeric);
    says_something.then_some(Again { piece: piece.trim().to_owned(), times: length / period })
}

/// For each beginning of the text, the length of its longest border: what it both begins and ends with.
fn borders(text: &[u8]) -> Vec<usize> {
    let mut borders: Vec<usize> = Vec::with_capacity(text.len());
    for (at, byte) in text.iter().enumerate() {
        let mut border = if at == 0 { None } else { borders.last().copied() };
        while let Some(length) = border {
            if text.get(length) == Some(byte) {
                break;
            }
            border = length.checked_sub(1).and_then(|before| borders.get(before).copied());
        }
        borders.push(border.map_or(0, |length| length + 1));
    }
    borders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_runs_in_a_circle_is_told_with_its_piece() {
        let again = loops(&format!("It is so: {}", "the bird sings. ".repeat(40))).expect("a loop");
        assert_eq!((again.piece.as_str(), again.times), ("the bird sings.", 40));
        // The last round need not be whole.
        let again = loops(&format!("{}the bi", "the bird sings. ".repeat(40))).expect("a loop");
        assert_eq!((again.piece.len(), again.times), (16, 40));
        assert!(loops(&format!("{{\"list\": [{}", "\"ä\", ".repeat(4000))).is_some());
    }

    #[test]
    fn what_only_repeats_a_little_is_no_loop() {
        let numbers: String = (0..2000).map(|n| format!("{n}, ")).collect();
        let ended = format!("{}That is all.", "the bird sings. ".repeat(40));
        let ruler = format!("| a | b |\n{}", "-".repeat(400));
        for text in ["", "ha ha ha ha ha ha ha ha ha ha", &numbers, &ended, &ruler] {
            assert_eq!(loops(text), None, "{text}");
        }
    }
}
