use serde_json::json;

use super::*;
use crate::domain::{Effect, Session, TalkSettings, ToolCall};

fn outline(last: Option<Value>, needs_word: bool) -> Outline {
    let session = Session {
        name: "s".into(),
        created_at: Timestamp::UNIX_EPOCH,
        updated_at: Timestamp::UNIX_EPOCH,
        holder: String::new(),
        settings: TalkSettings::default(),
        turns: 1,
        told: 0,
    };
    Outline { session, last, needs_word }
}

fn order(arguments: Value, key: &str) -> Order {
    Order {
        place: 1,
        position: 0,
        expected: None,
        tries: 0,
        fingerprint: "f00d".to_owned(),
        call: ToolCall { id: "c".to_owned(), name: "t".to_owned(), arguments: arguments.to_string() },
        arguments,
        effect: Effect::SideEffecting,
        idempotency_key: key.to_owned(),
    }
}

#[test]
fn a_conversation_says_what_it_waits_for() {
    let said = |role: &str| Some(json!({"role": role, "content": "hi"}));
    let calls =
        Some(json!({"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "t", "input": {}}]}));
    for (last, needs_word, wanted) in [
        (None, false, "its first words"),
        (said("user"), false, "an answer"),
        (said("assistant"), false, "you"),
        (calls.clone(), false, "its tools"),
        (calls, true, "a person: a tool's outcome is not known"),
        (Some(Value::Null), false, "another program: its last message cannot be read by this one"),
        (Some(Value::Null), true, "a person: a tool's outcome is not known"),
    ] {
        assert_eq!(waits_for(&outline(last.clone(), needs_word)), wanted, "{last:?}");
    }
}

#[test]
fn what_must_be_allowed_is_shown_letter_by_letter() {
    let arguments = json!({"cmd": "ls \u{202e}x\u{9b}5 rm -rf /\u{200b}", "a": "é"});
    let order = order(arguments.clone(), "k\u{a0}\\u00a0  \"x\"");
    let lines = order_lines(&order);
    assert_eq!(lines[0], r#"arguments: {"a":"é","cmd":"ls \u202ex\u009b5 rm -rf /\u200b"}"#);
    assert_eq!(lines[1], r#"idempotency key: k\u00a0\\u00a0  \"x\""#);
    let shown: Value = lines[0].strip_prefix("arguments: ").and_then(|text| serde_json::from_str(text).ok()).unwrap();
    assert_eq!((shown, hidden_bytes(&order)), (arguments, 0));
}

#[test]
fn what_a_model_calls_a_tool_makes_no_line_of_its_own() {
    let call = ToolCall { id: "c".to_owned(), name: "t\n#1 user  fine\u{202e}".to_owned(), arguments: "{}".to_owned() };
    let line = part_line(&Part::ToolCall(call));
    assert_eq!(line.as_deref(), Some(r"-> t\u000a#1 user fine\u202e {}"));
}
