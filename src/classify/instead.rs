//! The text of an error where an answer should stand.
//!
//! Gateways and agents put what went wrong into the words of the assistant, with a 200 around it. Such a text is short,
//! begins like an error and says something that the rules know; an answer about errors is longer, or begins otherwise.
//! That is enough where JSON was wanted and these words came: they only need a name. Where words were wanted they must be
//! a bare message (see `bare`).

use serde_json::Value;

use super::bare::{is_bare, is_failure};
use super::matcher;
use super::text::normalise;
use crate::domain::Class;

/// The longest text that may be one, in bytes.
const LONGEST: usize = 600;

/// How errors begin that say more than that.
const OPENINGS: &[&str] = &[
    "error",
    "[error",
    "an error",
    "api error",
    "[api error",
    "fatal",
    "exception",
    "traceback (",
    "⚠",
    "❌",
    "🚫",
    "http 4",
    "http 5",
    "429",
    "500",
    "502",
    "503",
    "504",
    "request failed",
    "failed to",
    "upstream",
    "litellm",
    "openai",
    "anthropic",
    "rate limit",
    "too many requests",
    "quota exceeded",
    "insufficient",
    "you exceeded",
    "you have exceeded",
    "you've exceeded",
    "you have reached",
    "you've reached",
    "invalid api key",
    "incorrect api key",
    "the model is overloaded",
    "the server",
];

/// Texts that say it all.
const ALONE: &[&str] = &[
    "internal server error",
    "service unavailable",
    "service temporarily unavailable",
    "bad gateway",
    "gateway timeout",
    "gateway time-out",
    "too many requests",
    "unauthorized",
    "forbidden",
    "upstream connect error",
    "no healthy upstream",
    "overloaded",
    "error",
];

/// What the error is that these words of an assistant are; none when they are an answer.
pub fn error_in_words(text: &str) -> Option<Class> {
    let text = text.trim();
    if text.is_empty() || text.len() > LONGEST {
        return None;
    }
    let plain = normalise(text);
    let known = || named(&plain);
    if text.starts_with('{') {
        return is_error_object(text).then(|| known().unwrap_or(Class::Unknown));
    }
    if plain.starts_with("<!doctype html") || plain.starts_with("<html") {
        return known();
    }
    let bare = plain.trim_start_matches(|c: char| c.is_ascii_digit() || c.is_ascii_punctuation() || c == ' ');
    if ALONE.contains(&bare.trim_end_matches(['.', '!'])) {
        return Some(known().unwrap_or(Class::ServerError));
    }
    let is_begun = OPENINGS.iter().any(|opening| plain.starts_with(opening));
    is_begun.then(known).flatten().or_else(|| is_bare(text).then(|| known().unwrap_or(Class::Unknown)))
}

/// The same where the words may well be the answer, as those of a translation or of a lesson about errors: they must be
/// the message and nothing else.
pub fn surely_error_in_words(text: &str) -> Option<Class> {
    let text = text.trim();
    if text.is_empty() || text.len() > LONGEST {
        return None;
    }
    let is_sure = match text.chars().next() {
        Some('<') => return error_in_words(text),
        Some('{') => is_failed_object(text),
        _ => is_bare(text),
    };
    is_sure.then(|| named(&normalise(text)).unwrap_or(Class::Unknown))
}

/// What the words say of a failure, if they do.
fn named(plain: &str) -> Option<Class> {
    matcher::sentence(plain).map(|rule| rule.class).filter(|class| *class != Class::ContentPolicy)
}

/// The keys of an object that is about an error and nothing else.
const KEYS: &[&str] =
    &["type", "error", "message", "code", "status", "statusCode", "request_id", "param", "detail", "success"];

/// Whether the text is such an object, and says of a failure what messages say.
fn is_failed_object(text: &str) -> bool {
    let Ok(Value::Object(object)) = serde_json::from_str(text) else { return false };
    let is_error = |key: &str, value: &Value| match value {
        Value::String(words) => is_failure(words, key == "error"),
        Value::Object(inner) => inner.contains_key("message") || inner.contains_key("code"),
        _ => false,
    };
    let is_named = object.get("type").and_then(Value::as_str) == Some("error");
    let says =
        ["error", "message", "detail"].iter().any(|key| object.get(*key).is_some_and(|value| is_error(key, value)));
    (is_named || says) && object.keys().all(|key| KEYS.contains(&key.as_str()))
}

/// Whether the text is an object that is about an error and nothing else.
fn is_error_object(text: &str) -> bool {
    let Ok(Value::Object(object)) = serde_json::from_str(text) else { return false };
    let is_said = |value: &Value| match value {
        Value::String(words) => !words.trim().is_empty(),
        Value::Object(inner) => inner.contains_key("message") || inner.contains_key("code"),
        _ => false,
    };
    let is_named = object.get("type").and_then(Value::as_str) == Some("error");
    (is_named || object.get("error").is_some_and(is_said)) && object.keys().all(|key| KEYS.contains(&key.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_in_the_words_of_an_assistant_are_found() {
        for (text, class) in [
            ("Error: 429 Too Many Requests. Rate limit reached for requests per minute.", Class::RateLimit),
            ("You exceeded your current quota, please check your plan and billing details.", Class::Billing),
            ("[API Error: 401 Incorrect API key provided: sk-***]", Class::Auth),
            (
                r#"{"error": {"message": "The model is overloaded. Please try again later.", "type": "x"}}"#,
                Class::Overloaded,
            ),
            (r#"{"error": "something went wrong"}"#, Class::Unknown),
            ("Internal Server Error", Class::ServerError),
            ("502 Bad Gateway", Class::ServerError),
        ] {
            let found = error_in_words(text);
            assert_eq!(found, Some(class), "{text}");
        }
    }

    #[test]
    fn words_that_may_be_the_answer_need_a_second_sign() {
        for text in
            ["Unauthorized", "Overloaded", "Insufficient funds", "Insufficient quota.", "Forbidden", "Bad gateway"]
        {
            assert_eq!(surely_error_in_words(text), None, "{text}");
        }
        for text in [
            "Error: 429 Too Many Requests. Rate limit reached for requests per minute.",
            "You exceeded your current quota, please check your plan and billing details.",
            r#"{"error": {"message": "The model is overloaded. Please try again later.", "type": "x"}}"#,
            "Error: overloaded",
            "502 Bad Gateway",
        ] {
            assert_eq!(surely_error_in_words(text), error_in_words(text), "{text}");
            assert!(error_in_words(text).is_some(), "{text}");
        }
    }

    #[test]
    fn answers_about_errors_are_answers() {
        let long = format!("Error: 429 Too Many Requests. {}", "It means that the rate limit was reached. ".repeat(20));
        for text in [
            "A 429 means that the rate limit was reached: wait and try again.",
            "Errors are human.",
            "The server in the restaurant brought the soup.",
            r#"{"error": "bound", "margin": 0.5}"#,
            r#"{"error": null, "city": "Bern"}"#,
            r#"{"city": "Bern"}"#,
            "503 people came.",
            "I'm sorry, but I can't help with that.",
            &long,
            "",
        ] {
            assert_eq!(error_in_words(text), None, "{text}");
        }
    }
}
