//! The text with its escapes made plain, byte for byte in the same places.

/// A text of the same length in bytes in which every escape has become what it stands for: a quote for `\"`, a blank for
/// `\n`, letters for `\u00e9`, a slash for the `\` of a path. However deep it is nested, a span of the shadow is a span
/// of the text that neither begins nor ends within an escape.
pub(super) fn of(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, _)) = rest.split_once('\\') {
        out.push_str(before);
        let tail = rest.get(before.len()..).unwrap_or("");
        let after = tail.trim_start_matches('\\');
        rest = escape(&mut out, tail.len() - after.len(), after);
    }
    out.push_str(rest);
    out
}

/// Writes what a run of backslashes and what follows it stand for; answers with the rest.
fn escape<'a>(out: &mut String, run: usize, after: &'a str) -> &'a str {
    let in_users = ends_with_users(out);
    let mut push = |character: char, count: usize| out.extend(std::iter::repeat_n(character, count));
    let beyond = |count: usize| after.get(count..).unwrap_or("");
    match after.chars().next() {
        Some(quote @ ('"' | '\'' | '`')) => {
            push(quote, run);
            after
        }
        // `C:\Users\nina` holds no line end.
        _ if in_users => {
            push('/', run);
            after
        }
        Some('n' | 'r') => {
            push(' ', run);
            push('\n', 1);
            beyond(1)
        }
        Some('t' | 'b' | 'f') => {
            push(' ', run + 1);
            beyond(1)
        }
        Some('u') if let Some(letter) = after.get(1..5).and_then(|hex| u32::from_str_radix(hex, 16).ok()) => {
            push(plain(letter), run + 5);
            beyond(5)
        }
        _ => {
            push('/', run);
            after
        }
    }
}

fn ends_with_users(out: &str) -> bool {
    let start = out.len().saturating_sub(5);
    out.get(start..).is_some_and(|end| end.eq_ignore_ascii_case("users"))
}

/// One ASCII character of the same kind.
fn plain(code: u32) -> char {
    match char::from_u32(code) {
        Some(letter) if letter.is_alphanumeric() => 'A',
        Some(mark) if mark.is_ascii_punctuation() => mark,
        // Half of a pair is a picture or a rare letter.
        _ => ' ',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_become_plain_in_their_places() {
        for (text, shadow) in [
            (r"a\nb", "a \nb"),
            (r#"{\"user\":\"x\"}"#, r#"{""user"":""x""}"#),
            (r#"{\\\"a\\\":1}"#, r#"{""""a"""":1}"#),
            (r"\u00e9t\u0022\\u4f60", r#"AAAAAAt""""""AAAAAAA"#),
            (r"C:\Users\nina\x", "C:/Users/nina/x"),
            (r"C:\\Users\\tom\\x", "C://Users//tom//x"),
            (r"a\u12\ud83d", "a/u12      "),
            (r"end\", "end/"),
        ] {
            assert_eq!(of(text), shadow, "{text}");
            assert_eq!(text.len(), shadow.len());
        }
    }
}
