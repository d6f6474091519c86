//! Whether a text is the message of an error and nothing else.
//!
//! An answer about errors says the same words: `502 Bad Gateway` begins the message and the lesson about it. What tells
//! them apart is the rest. A message is made of few words, of machines: those of its kind, codes, names of types, what was
//! sent along as JSON. A lesson has a verb that explains, and nouns of its own. So every word that is no code, path or
//! quotation must be one that messages are made of, all of them where nothing but the words speaks for an error, and
//! three of four where the text begins as messages do (`Error code: 429 -`, `openai.RateLimitError:`, `HTTP 503:`). A
//! message in words that nobody foresaw is missed; a good answer is not thrown away.

mod words;

use words::{EXPLAINS, FAILING, FOREIGN, FUNCTION, MESSAGE, WHOLE, has};

use super::text::normalise;

/// A heading may be a translation; a sentence of so many words is none.
const WORDS: usize = 6;

/// How many words may stand before the colon of a head.
const HEAD: usize = 5;

/// What the words of a text are.
#[derive(Default)]
struct Counts {
    /// Those that mean something by themselves.
    content: usize,
    /// Those among them that messages are not made of.
    foreign: usize,
    /// All, with numbers and names.
    all: usize,
    /// Whether one says that something fails.
    is_failing: bool,
    /// Whether one explains.
    explains: bool,
}

/// Whether it is a bare message.
pub(super) fn is_bare(text: &str) -> bool {
    let text = text.trim();
    // What stands in quotes is quoted.
    if text.starts_with(['`', '"', '\'', '“', '„', '«']) {
        return false;
    }
    let last = text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
    if text.starts_with("Traceback (") {
        return text.lines().count() > 1 && head(last).is_some() && is_bare(last);
    }
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    let plain = normalise(text);
    is_said_abroad(&plain) || is_message(text, &plain)
}

/// Whether a value of JSON says what messages say; one that is called an error need not say that something failed.
pub(super) fn is_failure(text: &str, is_called_so: bool) -> bool {
    let counts = count(text);
    let fails = counts.is_failing || (is_called_so && counts.content > 1);
    counts.content > 0 && counts.foreign == 0 && fails && !counts.explains
}

fn is_message(text: &str, plain: &str) -> bool {
    let whole = plain.trim_end_matches(|c: char| c.is_ascii_digit() || c.is_ascii_punctuation() || c == ' ');
    if WHOLE.contains(&whole) {
        return true;
    }
    let (rest, payload) = without_payload(text);
    let counts = count(&rest);
    if counts.explains {
        return false;
    }
    match head(&rest) {
        Some(head) => {
            let says = counts.content > head.own || head.has_code || payload;
            let fails = head.names_error || counts.is_failing || payload;
            says && fails && counts.foreign * 4 <= counts.content
        }
        None => counts.all >= WORDS && counts.foreign == 0 && counts.is_failing,
    }
}

/// The text without the object that it carries, and whether that speaks of an error.
fn without_payload(text: &str) -> (String, bool) {
    let parts = text.split_once('{').and_then(|(before, after)| Some((before, after.rsplit_once('}')?)));
    match parts {
        Some((before, (inside, after))) => {
            let speaks = ["error", "message", "code"].iter().any(|word| inside.contains(word));
            (format!("{before} {after}"), speaks)
        }
        None => (text.to_owned(), false),
    }
}

/// How a message begins.
struct Head {
    names_error: bool,
    /// How many words of its own are counted.
    own: usize,
    /// A status, or the number of an error.
    has_code: bool,
}

fn is_code(word: &str) -> bool {
    (3..=5).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_status(word: &str) -> bool {
    word.len() == 3 && is_code(word) && word.starts_with(['4', '5'])
}

fn head(text: &str) -> Option<Head> {
    let first = text.split_whitespace().next().unwrap_or_default();
    let bare = first.trim_end_matches([':', '.', ',', '-']);
    if is_type(first) {
        return Some(Head { names_error: true, own: 0, has_code: false });
    }
    if is_status(bare) {
        return Some(Head { names_error: false, own: 0, has_code: true });
    }
    if text.get(..17).is_some_and(|begin| begin.eq_ignore_ascii_case("an error occurred")) {
        return Some(Head { names_error: true, own: 2, has_code: false });
    }
    let before = text.split([':', '(', '-', '{']).next().filter(|before| before.len() < text.len()).unwrap_or(text);
    let words: Vec<String> = before
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .take(HEAD + 1)
        .map(str::to_lowercase)
        .collect();
    let has_code = words.iter().any(|word| is_code(word)) || coded(text, &words);
    let mut named = words.iter().rev().filter(|word| !is_code(word) && !matches!(word.as_str(), "code" | "status"));
    let name = named.next().map(String::as_str).unwrap_or_default();
    let is_short = words.len() <= HEAD && (before.len() < text.len() || words.len() <= 2);
    match name {
        "error" | "exception" | "fatal" | "err" if is_short => Some(Head { names_error: true, own: 1, has_code }),
        "http" if is_short && has_code => Some(Head { names_error: false, own: 0, has_code: true }),
        _ if words.first().is_some_and(|word| word == "error") && is_short => {
            Some(Head { names_error: true, own: 1, has_code })
        }
        _ if words.first().is_some_and(|word| word == "http") && words.get(1).is_some_and(|word| is_status(word)) => {
            Some(Head { names_error: false, own: 0, has_code: true })
        }
        _ => None,
    }
}

/// `error code: 1015`: the number stands behind the colon.
fn coded(text: &str, words: &[String]) -> bool {
    let after = text.split_once(':').map(|(_, after)| after.trim_start()).unwrap_or_default();
    let number: String = after.chars().take_while(char::is_ascii_digit).collect();
    words.last().is_some_and(|word| word == "code" || word == "error") && is_code(&number)
}

/// The name of an exception, with or without where it is from.
fn is_type(word: &str) -> bool {
    let Some(name) = word.strip_suffix(':') else { return false };
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_'));
    let last = name.rsplit('.').next().unwrap_or_default();
    let is_of_class = last.starts_with(|c: char| c.is_ascii_uppercase());
    let says = ["Error", "Exception"].iter().any(|end| last.len() > end.len() && last.ends_with(end));
    is_name && is_of_class && (says || name.contains('.'))
}

fn count(text: &str) -> Counts {
    let mut counts = Counts::default();
    for token in text.split_whitespace() {
        counts.all += 1;
        if is_name(token) {
            // `ECONNREFUSED` and its like.
            counts.is_failing |=
                token.len() > 5 && token.starts_with('E') && token.bytes().all(|b| b.is_ascii_uppercase());
            continue;
        }
        let plain = normalise(token);
        for word in plain.split(|c: char| !c.is_alphabetic() && c != '\'').map(|word| word.trim_matches('\'')) {
            let word = word.strip_suffix("'s").unwrap_or(word);
            counts.explains |= has(EXPLAINS, word);
            if word.is_empty() || has(FUNCTION, word) {
                continue;
            }
            counts.content += 1;
            let is_failing = has(FAILING, word);
            counts.is_failing |= is_failing;
            counts.foreign += usize::from(!is_failing && !has(MESSAGE, word));
        }
    }
    counts
}

/// Whether it is a name, path, number or quotation of a machine, which says nothing by being unknown.
fn is_name(token: &str) -> bool {
    let inside = token.trim_matches(|c: char| c.is_ascii_punctuation());
    let is_quoted = token.starts_with(['\'', '`']) && token.trim_end_matches(['.', ',', ':']).ends_with(['\'', '`']);
    let (mut letters, mut upper, mut inner) = (0, 0, false);
    for (at, sign) in inside.chars().enumerate() {
        letters += usize::from(sign.is_alphabetic());
        upper += usize::from(sign.is_uppercase());
        inner |= at > 0 && sign.is_uppercase();
    }
    let has_digit = inside.contains(|c: char| c.is_ascii_digit());
    let is_camel = inner && inside.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '_'));
    is_quoted
        || has_digit
        || letters == 0
        || (upper == letters && letters > 1 || is_camel)
        || inside.contains("://")
        || (inside.contains('.') && letters > 3)
}

/// In other languages: the word for an error with a number or a colon, something that is known, and nothing that explains.
fn is_said_abroad(plain: &str) -> bool {
    let sign = |rest: &str| {
        let rest = rest.trim_start();
        rest.starts_with([':', '：']) || rest.split(|c: char| !c.is_ascii_digit()).next().is_some_and(is_status)
    };
    let begun = FOREIGN.iter().find(|tongue| plain.strip_prefix(tongue.error).is_some_and(sign));
    begun.is_some_and(|tongue| {
        tongue.says.iter().any(|words| plain.contains(words))
            && !tongue.explains.iter().any(|words| plain.contains(words))
    })
}
