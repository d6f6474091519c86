//! Text from outside, made fit to be shown.

/// The text on one line, without control sequences, and cut to `limit` characters (with `…` at the cut).
pub fn excerpt(text: &str, limit: usize) -> String {
    let mut out = String::new();
    let mut length = 0;
    for word in printable(text).split_whitespace() {
        for character in (if length > 0 { " " } else { "" }).chars().chain(word.chars()) {
            if length + 1 >= limit.max(1) {
                out.push('…');
                return out;
            }
            out.push(character);
            length += 1;
        }
    }
    out
}

/// The text without terminal escapes and control characters; line ends and tabs stay, so do all letters of any script.
pub fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '\u{1b}' => skip_escape(&mut rest),
            '\u{9b}' => skip_parameters(&mut rest),
            '\n' | '\t' => out.push(character),
            _ if character.is_control() || is_bidi_control(character) => {}
            _ => out.push(character),
        }
    }
    out
}

/// Characters that turn the direction of what stands after them: they can make a line say what it does not.
fn is_bidi_control(character: char) -> bool {
    matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
}

/// Drops what follows an ESC: a CSI sequence to its final byte, an OSC or DCS string to its end, or one character.
fn skip_escape(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match rest.next() {
        Some('[') => skip_parameters(rest),
        Some(']' | 'P' | '_' | '^' | 'X') => {
            while let Some(character) = rest.next() {
                if character == '\u{7}' || character == '\u{9c}' {
                    return;
                }
                if character == '\u{1b}' {
                    rest.next_if_eq(&'\\');
                    return;
                }
            }
        }
        _ => {}
    }
}

/// Drops the parameters of a CSI sequence and its final byte.
fn skip_parameters(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    while let Some(character) = rest.next_if(|c| (' '..='~').contains(c)) {
        if ('@'..='~').contains(&character) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_and_controls_go_letters_stay() {
        assert_eq!(printable("a\u{1b}[31mred\u{1b}[0m\u{7}b"), "aredb");
        assert_eq!(printable("\u{1b}]0;title\u{7}x\u{1b}]8;;http://e\u{1b}\\y"), "xy");
        assert_eq!(printable("余额不足\tok\r\n"), "余额不足\tok\n");
        assert_eq!(printable("a\u{202e}b\u{9b}2Jc"), "abc");
    }

    #[test]
    fn excerpts_are_one_bounded_line() {
        assert_eq!(excerpt("  a\n b   c ", 80), "a b c");
        assert_eq!(excerpt("abcdef", 4), "abc…");
        assert_eq!(excerpt("", 4), "");
    }
}
