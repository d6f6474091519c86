//! Messages as they are kept: in the form that belongs to no provider and that `chat --messages` reads.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::domain::{Message, Part, Redactor};
use crate::wire::{conversation, written};

/// One message as JSON.
pub fn stored(message: &Message) -> Value {
    let mut value = written(std::slice::from_ref(message));
    match value.as_array_mut() {
        Some(list) if list.len() == 1 => list.remove(0),
        _ => value,
    }
}

/// The same as it is kept: without secrets. Pictures and signatures may hold what looks like a key, and with a hole in
/// them no provider takes them; so they lose nothing but the keys that are known.
pub(super) fn as_kept(message: &Message, redactor: &Redactor) -> Value {
    let bytes: BTreeSet<&str> = message.parts.iter().flat_map(bytes_of).collect();
    let mut value = stored(message);
    redactor.redact_json_around(&mut value, &|text| bytes.contains(text));
    value
}

/// The texts of the part that are bytes in letters.
fn bytes_of(part: &Part) -> impl Iterator<Item = &str> {
    let texts = match part {
        Part::Image { data, .. } => [Some(data), None],
        Part::Thinking(thinking) => [thinking.signature.as_ref(), thinking.redacted.as_ref()],
        Part::Text(_) | Part::ToolCall(_) | Part::ToolResult { .. } => [None, None],
    };
    texts.into_iter().flatten().map(String::as_str)
}

/// The message that is kept so.
///
/// # Errors
/// Why it is none.
pub fn message(value: &Value) -> Result<Message, String> {
    let one = if value.is_array() { value.clone() } else { Value::Array(vec![value.clone()]) };
    let mut messages = conversation(&one).map_err(|error| error.why)?;
    match messages.len() {
        1 => Ok(messages.remove(0)),
        count => Err(format!("one message is wanted, these are {count}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Role, Secret, Thinking};

    #[test]
    fn pictures_and_signatures_keep_what_only_looks_like_a_key() {
        let (looks, key) = ("AIzaSyA0123456789abcdefghij", "not-a-real-key-0123");
        let shape = &format!("QUJD{looks}QUJD");
        let thinking =
            Thinking { text: format!("see {looks}"), signature: Some(shape.to_owned()), ..Thinking::default() };
        let image = |data: &str| Part::Image { media_type: "image/png".to_owned(), data: data.to_owned() };
        let said = Message { role: Role::Assistant, parts: vec![Part::Thinking(thinking)] };
        let seen = Message {
            role: Role::User,
            parts: vec![image(shape), image(&format!("QUJD{key}")), Part::Text(looks.to_owned())],
        };
        let redactor = Redactor::new([Secret::new(key)]);
        let kept = as_kept(&said, &redactor).to_string();
        assert!(kept.contains(&format!("\"signature\":\"{shape}\"")) && kept.contains("[redacted]"), "{kept}");
        let kept = as_kept(&seen, &redactor).to_string();
        assert_eq!((kept.matches(shape).count(), kept.matches("[redacted]").count()), (1, 2), "{kept}");
        assert!(!kept.contains(key));
    }
}
