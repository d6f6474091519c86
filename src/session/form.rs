//! Messages as they are kept: in the form that belongs to no provider and that `chat --messages` reads.

use serde_json::Value;

use crate::domain::{Message, Redactor};
use crate::wire::{conversation, written};

/// One message as JSON.
pub fn stored(message: &Message) -> Value {
    let mut value = written(std::slice::from_ref(message));
    match value.as_array_mut() {
        Some(list) if list.len() == 1 => list.remove(0),
        _ => value,
    }
}

/// The same as it is kept: without secrets.
pub(super) fn as_kept(message: &Message, redactor: &Redactor) -> Value {
    let mut value = stored(message);
    redactor.redact_json(&mut value);
    value
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
