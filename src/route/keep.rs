//! What is kept of a failure that no rule knows.
//!
//! An excerpt is enough to recognise what is known, and too little to make a rule of what is not. So of an unknown
//! failure all is kept that a classifier reads, with the secrets of this process taken out and within bounds.

use serde_json::Value;

use crate::domain::{Evidence, KeptEvidence, Redactor, printable};

/// How much of a body is kept, in bytes.
const BODY: usize = 8 * 1024;

/// How much of the headers is kept, in bytes.
const HEADERS: usize = 4 * 1024;

/// Headers whose values open something.
const SECRET_HEADERS: [&str; 4] = ["set-cookie", "cookie", "authorization", "proxy-authorization"];

/// All that was said, as far as it may be stored.
pub(super) fn kept(evidence: &Evidence, redactor: &Redactor) -> KeptEvidence {
    KeptEvidence {
        headers: headers(&evidence.headers, redactor),
        body: bounded(clean(&evidence.body, redactor), BODY),
        log: bounded(clean(&evidence.log, redactor), BODY),
    }
}

/// As many headers as fit; one that is too long does not keep the following ones out.
fn headers(headers: &[(String, String)], redactor: &Redactor) -> Vec<(String, String)> {
    let mut left = HEADERS;
    let one_line = |text: &str| redactor.redact(&printable(text)).replace('\n', " ");
    let mut kept = Vec::new();
    for (name, value) in headers {
        let is_secret = SECRET_HEADERS.iter().any(|secret| name.eq_ignore_ascii_case(secret));
        let value = if is_secret { "[redacted]".to_owned() } else { one_line(value) };
        let name = one_line(name);
        if let Some(rest) = left.checked_sub(name.len() + value.len()) {
            left = rest;
            kept.push((name, value));
        }
    }
    kept
}

/// Without control sequences and secrets. JSON is read first: it may write a secret's characters in another way, and a
/// mask that begins within an escape would break it.
fn clean(text: &str, redactor: &Redactor) -> String {
    let text = printable(text);
    let value = serde_json::from_str::<Value>(&text).ok().and_then(|value| {
        let mut redacted = value.clone();
        redactor.redact_json(&mut redacted);
        (redacted != value).then(|| redacted.to_string())
    });
    redactor.redact(&value.unwrap_or(text)).into_owned()
}

fn bounded(mut text: String, limit: usize) -> String {
    text.truncate(text.floor_char_boundary(limit));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Secret;

    const KEY: &str = r#"Zq7"xW2\pL9"vT4-Mr8Ky3"#;

    #[test]
    fn all_is_kept_but_secrets_control_sequences_and_what_is_too_long() {
        let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let evidence = Evidence {
            headers: vec![
                header("Retry-After", "7"),
                header("x-long", &"h".repeat(5000)),
                header("Set-Cookie", "sid=1234"),
                header("x-key", &format!("\u{1b}[1m{KEY}")),
            ],
            body: serde_json::json!({"error": format!("no {KEY}"), "n": 1}).to_string(),
            log: format!("{KEY}\u{7}\nso"),
            ..Evidence::default()
        };
        let redactor = Redactor::new([Secret::new(KEY)]);
        let found = kept(&evidence, &redactor);
        let wanted = [("Retry-After", "7"), ("Set-Cookie", "[redacted]"), ("x-key", "[redacted]")];
        assert_eq!(found.headers, wanted.map(|(name, value)| header(name, value)));
        assert_eq!((found.body.as_str(), found.log.as_str()), (r#"{"error":"no [redacted]","n":1}"#, "[redacted]\nso"));
        let long = Evidence { body: "é".repeat(9000), ..Evidence::default() };
        assert_eq!(kept(&long, &redactor).body.len(), BODY);
        let plain = Evidence { body: "{ \"a\" :1.50 }".into(), ..Evidence::default() };
        assert_eq!(kept(&plain, &redactor).body, plain.body, "as it came");
    }
}
