//! Keys, and keeping them out of every sink.
//!
//! A secret is known by its value, so the redactor looks for the value itself and for any run of twelve of its
//! characters: providers like to echo a key with its middle cut out. On top of that it knows the shapes of common
//! keys, because a log that a person pastes holds keys that this process never had.

use std::borrow::Cow;
use std::fmt;
use std::sync::LazyLock;

use regex::Regex;
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

/// The number of consecutive characters of a secret that must not appear anywhere.
const RUN: usize = 12;

/// What stands in the place of a secret.
pub const MASK: &str = "[redacted]";

/// The value of a key. It is never printed, stored or logged.
#[derive(Clone)]
pub struct Secret(SecretString);

impl Secret {
    /// Takes the value, without the white space around it that files and commands leave.
    pub fn new(value: &str) -> Self {
        Self(SecretString::from(value.trim().to_owned()))
    }

    /// The value, for the one place that puts it into a request header.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }

    /// Whether nothing is there.
    pub fn is_empty(&self) -> bool {
        self.expose().is_empty()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Shapes of keys that are known by their prefix, of authorisation headers, and of keys in a URL.
static SHAPES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?:sk-(?:ant-|proj-|or-v1-|svcacct-)?|gsk_|nvapi-|xai-|pplx-|csk-|hf_|ghp_|gho_|github_pat_|fw_|r8_|tgp_v1_)[A-Za-z0-9_\-]{16,}",
        r"|AIza[A-Za-z0-9_\-]{20,}",
        r"|(?i:bearer )[A-Za-z0-9._~+/\-]{16,}=*",
        r"|eyJ[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]*",
    ))
    .ok()
});

/// What every key of a known shape holds: without any of these the expression need not even be built.
const MARKS: [&str; 17] = [
    "sk-",
    "gsk_",
    "nvapi-",
    "xai-",
    "pplx-",
    "csk-",
    "hf_",
    "ghp_",
    "gho_",
    "github_pat_",
    "fw_",
    "r8_",
    "tgp_v1_",
    "AIza",
    "earer ",
    "EARER ",
    "eyJ",
];

/// Replaces secrets in text that is about to leave the process.
#[derive(Clone, Default)]
pub struct Redactor {
    secrets: Vec<Secret>,
}

impl Redactor {
    /// Knows these secrets by value; those shorter than eight characters would match ordinary words and are left out.
    pub fn new(secrets: impl IntoIterator<Item = Secret>) -> Self {
        Self { secrets: secrets.into_iter().filter(|secret| secret.expose().len() >= 8).collect() }
    }

    /// The text without any known secret, any twelve consecutive characters of one, or anything shaped like a key.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut out = self.redact_known(text);
        if MARKS.iter().any(|mark| out.contains(mark))
            && let Some(shapes) = SHAPES.as_ref()
            && shapes.is_match(&out)
        {
            out = Cow::Owned(shapes.replace_all(&out, MASK).into_owned());
        }
        out
    }

    /// The text without any known secret, whatever shapes it has: for what is no prose, and of no use with a hole in it.
    pub fn redact_known<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut out = Cow::Borrowed(text);
        for secret in &self.secrets {
            if let Some(cleaned) = mask_runs(&out, secret.expose()) {
                out = Cow::Owned(cleaned);
            }
        }
        out
    }

    /// The same as [`redact`](Self::redact) for every text within a JSON value, and for the names of its fields.
    pub fn redact_json(&self, value: &mut Value) {
        self.redact_json_around(value, &|_| false);
    }

    /// The same, but texts that are bytes in letters, and look like anything, lose known secrets alone.
    pub fn redact_json_around(&self, value: &mut Value, is_bytes: &dyn Fn(&str) -> bool) {
        match value {
            Value::String(text) => {
                let clean = if is_bytes(text) { self.redact_known(text) } else { self.redact(text) };
                if let Cow::Owned(clean) = clean {
                    *text = clean;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.redact_json_around(item, is_bytes)),
            Value::Object(fields) => {
                let old = std::mem::take(fields);
                fields.extend(old.into_iter().map(|(name, mut field)| {
                    self.redact_json_around(&mut field, is_bytes);
                    (self.redact(&name).into_owned(), field)
                }));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Redactor({} secrets)", self.secrets.len())
    }
}

/// Redacts text that arrives piece by piece: what may be the beginning of a secret is held back until it is known.
pub struct RedactedStream<'a> {
    redactor: &'a Redactor,
    pending: String,
}

impl<'a> RedactedStream<'a> {
    /// An empty stream.
    pub fn new(redactor: &'a Redactor) -> Self {
        Self { redactor, pending: String::new() }
    }

    /// Takes a piece and gives what may be shown now.
    pub fn push(&mut self, piece: &str) -> String {
        self.pending.push_str(piece);
        let held =
            self.redactor.secrets.iter().map(|secret| overlap(&self.pending, secret.expose())).max().unwrap_or(0);
        let rest = self.pending.split_off(self.cut(self.pending.len() - held));
        let ready = std::mem::replace(&mut self.pending, rest);
        self.redactor.redact(&ready).into_owned()
    }

    /// The place to cut at, or the end of the secret that goes across it: both halves could be too short to be known.
    fn cut(&self, mut at: usize) -> usize {
        let covers: Vec<Vec<bool>> =
            self.redactor.secrets.iter().filter_map(|secret| covered(&self.pending, secret.expose())).collect();
        let inside = |at: usize| covers.iter().any(|covered| covered.get(at).copied().unwrap_or(false));
        while at > 0 && (inside(at - 1) && inside(at) || !self.pending.is_char_boundary(at)) {
            at += 1;
        }
        at
    }

    /// What is held back, now that nothing follows.
    pub fn finish(&mut self) -> String {
        let ready = std::mem::take(&mut self.pending);
        self.redactor.redact(&ready).into_owned()
    }

    /// Forgets what is held back.
    pub fn reset(&mut self) {
        self.pending.clear();
    }
}

/// The length in bytes of the longest end of `text` that stands somewhere in `secret`.
fn overlap(text: &str, secret: &str) -> usize {
    let most = text.len().min(secret.len());
    let ends = (1..=most).rev().filter_map(|length| text.get(text.len() - length..));
    ends.filter(|end| secret.contains(end)).map(str::len).next().unwrap_or(0)
}

/// Which bytes of `text` belong to a run of [`RUN`] bytes (or the whole of a shorter secret) that `secret` has too; none
/// when no byte does.
fn covered(text: &str, secret: &str) -> Option<Vec<bool>> {
    let (text_bytes, secret_bytes) = (text.as_bytes(), secret.as_bytes());
    let run = RUN.min(secret_bytes.len());
    if run == 0 || text_bytes.len() < run {
        return None;
    }
    let runs: std::collections::HashSet<&[u8]> = secret_bytes.windows(run).collect();
    let mut covered = vec![false; text_bytes.len()];
    let mut found = false;
    for (start, window) in text_bytes.windows(run).enumerate() {
        if runs.contains(window) {
            found = true;
            covered.iter_mut().skip(start).take(run).for_each(|byte| *byte = true);
        }
    }
    found.then_some(covered)
}

/// Masks every stretch of `text` that belongs to `secret`.
fn mask_runs(text: &str, secret: &str) -> Option<String> {
    let covered = covered(text, secret)?;
    let mut out = String::with_capacity(text.len());
    let mut masked = false;
    for (at, character) in text.char_indices() {
        let inside = covered.get(at).copied().unwrap_or(false);
        match (inside, masked) {
            (true, false) => out.push_str(MASK),
            (true, true) => {}
            (false, _) => out.push(character),
        }
        masked = inside;
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "llmr-test-0123456789abcdef";

    #[test]
    fn a_secret_goes_whole_and_in_any_run_of_twelve() {
        let redactor = Redactor::new([Secret::new(KEY)]);
        assert_eq!(redactor.redact(&format!("key {KEY}!")), "key [redacted]!");
        for start in 0..=KEY.len() - RUN {
            let run = KEY.get(start..start + RUN).expect("a run");
            assert_eq!(redactor.redact(&format!("…{run}…")), "…[redacted]…");
        }
        assert_eq!(redactor.redact("llmr-test-0"), "llmr-test-0", "eleven characters are no run");
    }

    #[test]
    fn keys_that_nobody_told_us_of_go_by_their_shape() {
        let redactor = Redactor::default();
        for key in ["sk-proj-AbCdEfGhIjKlMnOpQrSt", "gsk_0123456789abcdef0123", "AIzaSyA0123456789abcdefghij"] {
            assert_eq!(redactor.redact(&format!("a {key} b")), "a [redacted] b", "{key}");
        }
        assert_eq!(redactor.redact("Authorization: Bearer abcdefghijklmnopqrstuv"), "Authorization: [redacted]");
        assert_eq!(redactor.redact("risk-free models sk-short"), "risk-free models sk-short");
    }

    #[test]
    fn a_secret_in_pieces_goes_as_well() {
        let redactor = Redactor::new([Secret::new(KEY)]);
        let text = format!("the key is {KEY}, said the provider; l or llmr alone is nothing");
        for size in 1..text.len() {
            let mut stream = RedactedStream::new(&redactor);
            let pieces: Vec<char> = text.chars().collect();
            let mut out: String =
                pieces.chunks(size).map(|piece| stream.push(&piece.iter().collect::<String>())).collect();
            out.push_str(&stream.finish());
            assert_eq!(out, "the key is [redacted], said the provider; l or llmr alone is nothing", "pieces of {size}");
        }
    }

    /// What a person sees of the text when it comes in these pieces.
    fn shown<'a>(secret: &str, pieces: impl IntoIterator<Item = &'a str>) -> String {
        let redactor = Redactor::new([Secret::new(secret)]);
        let mut stream = RedactedStream::new(&redactor);
        let mut out: String = pieces.into_iter().map(|piece| stream.push(piece)).collect();
        out.push_str(&stream.finish());
        out
    }

    #[test]
    fn a_secret_that_repeats_itself_does_not_slip_through_the_cut() {
        // After the `Z` the longest end that could go on is `lmZ`, in the middle of a run of twelve.
        let (secret, text) = ("abcdefghijklm--lmZ0123", "abcdefghijklmZ");
        for at in 0..=text.len() {
            let (head, tail) = text.split_at(at);
            assert_eq!(shown(secret, [head, tail]), "[redacted]Z", "{head} {tail}");
        }
        assert_eq!(shown(secret, text.split("").filter(|letter| !letter.is_empty())), "[redacted]Z");
    }

    proptest::proptest! {
        #[test]
        fn no_run_of_any_secret_is_shown_in_any_pieces(secret in "[ab]{12,20}", pieces in "[abß]{0,80}", size in 1_usize..9) {
            let letters: Vec<char> = pieces.chars().collect();
            let pieces: Vec<String> = letters.chunks(size).map(|piece| piece.iter().collect()).collect();
            let out = shown(&secret, pieces.iter().map(String::as_str));
            for run in secret.as_bytes().windows(RUN) {
                proptest::prop_assert!(!out.as_bytes().windows(RUN).any(|window| window == run), "{}", out);
            }
        }
    }

    #[test]
    fn json_is_cleaned_before_it_is_written() {
        let odd = r#"Zq7"xW2\pL9"vT4"#;
        let redactor = Redactor::new([Secret::new(odd)]);
        let mut value = serde_json::json!({"text": format!("key {odd}."), "list": [odd, 1, null], odd: true});
        redactor.redact_json(&mut value);
        assert_eq!(value, serde_json::json!({"text": "key [redacted].", "list": [MASK, 1, null], MASK: true}));
    }

    #[test]
    fn debug_output_shows_nothing() {
        assert_eq!(
            format!("{:?} {:?}", Secret::new(KEY), Redactor::new([Secret::new(KEY)])),
            "Secret(…) Redactor(1 secrets)"
        );
    }
}
