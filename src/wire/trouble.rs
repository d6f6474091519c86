//! Signs of trouble that need no knowledge of the wire format: proxies answer in the error shape of whatever stands
//! behind them.

use serde_json::Value;

/// The longest event or body that is kept as evidence, in bytes.
pub(super) const EVIDENCE: usize = 16 * 1024;

/// Whether the object says that something failed, in any shape seen in the wild under a status of success. A `code`
/// with a `message` counts only where no answer stands beside it: some gateways wrap a good answer as code 200.
pub(super) fn is_error(value: &Value) -> bool {
    let Some(object) = value.as_object() else { return false };
    let field = |name: &str| object.get(name).unwrap_or(&Value::Null);
    let answers = ["choices", "candidates", "content", "delta"].iter().any(|name| field(name).is_filled());
    let word = |name: &str| field(name).as_str().unwrap_or_default();
    field("error").is_filled()
        || field("errors").is_filled()
        || field("success") == &Value::Bool(false)
        || word("object").eq_ignore_ascii_case("error")
        || matches!(word("type"), "error" | "response.failed" | "response.error" | "response.incomplete")
        || field("error_code").is_code()
        || value.pointer("/base_resp/status_code").is_some_and(IsFilled::is_code)
        || (!answers
            && ["code", "status", "status_code"].iter().any(|name| field(name).is_code())
            && ["message", "msg", "detail", "title"].iter().any(|name| field(name).is_filled()))
}

/// The text, cut to what is kept as evidence.
pub(super) fn bounded(text: &str) -> String {
    text.get(..text.floor_char_boundary(EVIDENCE)).unwrap_or_default().to_owned()
}

/// Whether a value says anything.
pub(super) trait IsFilled {
    /// Neither null, false, an empty text, an empty list nor an empty object.
    fn is_filled(&self) -> bool;
    /// A text or a number that is not a code of success.
    fn is_code(&self) -> bool;
}

impl IsFilled for Value {
    fn is_filled(&self) -> bool {
        match self {
            Self::Null => false,
            Self::Bool(yes) => *yes,
            Self::Number(_) => true,
            Self::String(text) => !text.is_empty(),
            Self::Array(list) => !list.is_empty(),
            Self::Object(object) => !object.is_empty(),
        }
    }

    fn is_code(&self) -> bool {
        match self {
            Self::Number(number) => number.as_i64() != Some(0),
            Self::String(text) => !text.is_empty() && text != "0",
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_of_trouble() {
        for body in [
            r#"{"error":{"message":"no"}}"#,
            r#"{"error":"no"}"#,
            r#"{"error":{"code":502},"choices":[{"message":{"content":"half"}}]}"#,
            r#"{"errors":[{"code":10000,"message":"Authentication error"}],"success":false}"#,
            r#"{"success":false,"result":null}"#,
            r#"{"code":20015,"message":"bad","data":null}"#,
            r#"{"code":"The service is currently unavailable","message":"later"}"#,
            r#"{"object":"error","message":"no such model"}"#,
            r#"{"type":"error","error":{"type":"overloaded_error"}}"#,
            r#"{"type":"response.failed","response":{}}"#,
            r#"{"error_code":17,"error_msg":"Open api daily request limit reached"}"#,
            r#"{"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}"#,
            r#"{"status":429,"title":"Too Many Requests"}"#,
        ] {
            assert!(is_error(&serde_json::from_str(body).expect("JSON")), "{body}");
        }
        for body in [
            r#"{"error":null,"choices":[]}"#,
            r#"{"error":"","success":true}"#,
            r#"{"code":200,"message":"ok","choices":[{"message":{"content":"hi"}}]}"#,
            r#"{"base_resp":{"status_code":0,"status_msg":"success"}}"#,
            r#"{"type":"message_start"}"#,
            "[]",
        ] {
            assert!(!is_error(&serde_json::from_str(body).expect("JSON")), "{body}");
        }
    }

    #[test]
    fn evidence_is_cut_between_characters() {
        let text = "ß".repeat(EVIDENCE);
        assert_eq!(bounded(&text).len(), EVIDENCE);
        assert_eq!(bounded(&format!("a{text}")).len(), EVIDENCE - 1);
    }
}
