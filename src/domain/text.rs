//! Text from outside, made fit to be shown.
//!
//! What is only read loses what a terminal would obey. Where a person decides by what is shown, nothing may be lost: the
//! decision is about all of it, so what nobody would see is written in letters.

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

/// The text on one line, all of it: what a reader would not see, or would take for something else, stands as `\uXXXX`.
///
/// These are control characters and line ends, white space other than the common one, marks without a width or of another
/// direction, and characters without a shape of their own. JSON writes them so as well: of a JSON text it is the same JSON.
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if is_unseen(character) {
            let units = &mut [0; 2];
            out.extend(character.encode_utf16(units).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            out.push(character);
        }
    }
    out
}

/// Whether nothing of it is seen, or nothing that tells it from others.
fn is_unseen(character: char) -> bool {
    (character != ' ' && character.is_whitespace())
        || character.is_control()
        || is_bidi_control(character)
        || is_ignorable(character)
        || is_shapeless(character)
}

/// What Unicode lets a font leave out (`Default_Ignorable_Code_Point`), and the marks around annotations.
const fn is_ignorable(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// What has no shape of its own: an empty cell of braille, an empty note, private use, and what is no character.
const fn is_shapeless(character: char) -> bool {
    matches!(character,
        '\u{2800}' | '\u{1d159}' | '\u{e000}'..='\u{f8ff}' | '\u{fdd0}'..='\u{fdef}' | '\u{f0000}'..='\u{10ffff}')
        || (character as u32) & 0xfffe == 0xfffe
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
    fn what_would_not_be_seen_is_written_in_letters_and_all_else_stays() {
        assert_eq!(visible("a\u{202e}b\u{9b}2Jc\u{1b}[1m\u{7f}"), r"a\u202eb\u009b2Jc\u001b[1m\u007f");
        assert_eq!(visible("rm\u{200b} -r\u{a0}x\u{feff}\u{2028}y\n"), r"rm\u200b -r\u00a0x\ufeff\u2028y\u000a");
        assert_eq!(visible("\u{e0041}\u{2800}\u{e000}\u{ffff}"), r"\udb40\udc41\u2800\ue000\uffff");
        let plain = "余额不足 e\u{301} שלום 🤔 \"\\n\"\u{fffd}";
        assert_eq!(visible(plain), plain);
    }

    #[test]
    fn of_json_it_is_the_same_json() {
        let all: String = (0..=0x10_ffff).filter_map(char::from_u32).collect();
        let shown = visible(&serde_json::Value::from(all.as_str()).to_string());
        assert_eq!(serde_json::from_str::<String>(&shown).ok(), Some(all));
        assert_eq!(shown, printable(&shown), "nothing that a terminal obeys is left");
    }

    #[test]
    fn excerpts_are_one_bounded_line() {
        assert_eq!(excerpt("  a\n b   c ", 80), "a b c");
        assert_eq!(excerpt("abcdef", 4), "abc…");
        assert_eq!(excerpt("", 4), "");
    }
}
