//! The beginning of a prompt, by which a provider's cache may know it.
//!
//! Providers keep what they worked out for a prompt and charge less for the part of the next one that begins alike. So
//! who served a beginning lately is worth to be asked again. Only a salted digest of the beginning is kept. A beginning
//! ends before the last message, which is what is new; where that leaves too little, with one long message for example,
//! it is as much of the prompt as the smallest cache takes. Under the whole prompt the answer is noted as well: the next
//! turn of a conversation begins with it.

use std::time::Duration;

use crate::domain::{AttemptRecord, ChatRequest, Message, Part, Prefix, Role};

use super::fingerprint::digest;
use super::job::Job;

/// How long a beginning may still be in a provider's cache. OpenAI: "Cached prefixes generally remain active for 5 to 10
/// minutes of inactivity" (developers.openai.com, "Prompt caching"); Anthropic: 5 minutes, refreshed with each use
/// (docs.anthropic.com, "Prompt caching").
pub const CACHED_FOR: Duration = Duration::from_secs(10 * 60);

/// The least that is cached, in bytes: 1,024 tokens (same pages) of four bytes, the estimate of a request's size.
const LEAST: usize = 4096;

/// The digests of a prompt's beginnings.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Beginnings {
    /// Who served one of these may have it in the cache.
    pub sought: Vec<String>,
    /// Under these it is noted who answered.
    pub noted: Vec<String>,
}

impl Beginnings {
    /// Of a prompt; none of a short one, which nobody caches.
    pub fn of(request: &ChatRequest, salt: &[u8]) -> Self {
        let mut bytes = Vec::new();
        // Providers put the tools before everything else.
        let tools = request.options.get("tools").map(ToString::to_string).unwrap_or_default();
        write(&mut bytes, "tools", tools.as_bytes());
        for tool in &request.tools {
            write(&mut bytes, &tool.name, format!("{}\0{}", tool.description, tool.schema).as_bytes());
        }
        write(&mut bytes, "system", request.system.as_deref().unwrap_or_default().as_bytes());
        write(&mut bytes, "developer", request.developer.as_deref().unwrap_or_default().as_bytes());
        // Where the prompt ends after so many messages.
        let mut ends = vec![bytes.len()];
        for message in &request.messages {
            write_message(&mut bytes, message);
            ends.push(bytes.len());
        }
        let whole = bytes.len();
        let before = |messages: usize| ends.iter().rev().nth(messages).copied().filter(|end| *end >= LEAST);
        let part = |end: usize| bytes.get(..end).map(|part| digest(salt, part));
        let beginning = before(1).or_else(|| (whole >= LEAST).then_some(LEAST)).and_then(part);
        // The whole of the turn before: this one has an answer and a question more.
        let last_turn = before(2).and_then(part);
        let this_turn = (whole >= LEAST).then_some(whole).and_then(part);
        Self {
            sought: beginning.iter().cloned().chain(last_turn).collect(),
            noted: beginning.into_iter().chain(this_turn).collect(),
        }
    }
}

/// A digest of what is asked, by which the same input is known again, also by a later version of the program: of the
/// instructions, the messages, the shape and the bounds of the answer, and not of how it is carried.
pub fn input_digest(salt: &[u8], request: &ChatRequest) -> String {
    let mut bytes = Vec::new();
    write(&mut bytes, "system", request.system.as_deref().unwrap_or_default().as_bytes());
    write(&mut bytes, "developer", request.developer.as_deref().unwrap_or_default().as_bytes());
    request.messages.iter().for_each(|message| write_message(&mut bytes, message));
    let schema = request.schema.as_ref().map(ToString::to_string).unwrap_or_default();
    write(&mut bytes, "schema", schema.as_bytes());
    let bounds = format!("{:?} {:?} {:?}", request.max_tokens, request.temperature, request.stop);
    write(&mut bytes, "bounds", bounds.as_bytes());
    for (name, value) in &request.options {
        write(&mut bytes, name, value.to_string().as_bytes());
    }
    digest(salt, &bytes)
}

impl Job {
    /// That a deployment served this prompt.
    pub(super) fn served(&self, attempt: &AttemptRecord) -> Vec<Prefix> {
        let prefix = |digest: &String| Prefix {
            digest: digest.clone(),
            deployment: attempt.deployment.clone(),
            at: attempt.started_at,
            input_tokens: attempt.usage.input_tokens,
            cached_tokens: attempt.usage.cached_tokens,
        };
        self.noted.iter().map(prefix).collect()
    }
}

fn write_message(bytes: &mut Vec<u8>, message: &Message) {
    let role = match message.role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    for part in &message.parts {
        match part {
            Part::Text(text) => write(bytes, role, text.as_bytes()),
            Part::Image { media_type, data } => write(bytes, media_type, data.as_bytes()),
            Part::ToolCall(call) => write(bytes, &call.name, call.arguments.as_bytes()),
            Part::ToolResult { id, content, is_error, .. } => {
                write(bytes, id, content.as_bytes());
                if *is_error {
                    write(bytes, "is_error", id.as_bytes());
                }
            }
            Part::Thinking(thinking) => write(bytes, "thinking", thinking.text.as_bytes()),
        }
    }
}

/// The length stands after the text: before it, a longer last message would begin otherwise than a shorter one.
fn write(bytes: &mut Vec<u8>, what: &str, text: &[u8]) {
    bytes.extend_from_slice(what.as_bytes());
    bytes.push(0);
    bytes.extend_from_slice(text);
    bytes.extend_from_slice(&(text.len() as u64).to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(system: &str, turns: &[&str]) -> ChatRequest {
        let roles = [Role::User, Role::Assistant].into_iter().cycle();
        let messages = turns.iter().zip(roles).map(|(text, role)| Message::text(role, *text)).collect();
        let system = (!system.is_empty()).then(|| system.to_owned());
        ChatRequest { system, messages, ..ChatRequest::default() }
    }

    #[test]
    fn an_input_is_known_again_however_it_is_carried() {
        let asked = request("be brief", &["a"]);
        let print = input_digest(b"salt", &asked);
        assert_eq!(print, input_digest(b"salt", &ChatRequest { stream: true, ..asked.clone() }));
        let schema = Some(serde_json::json!({"type": "object"}));
        for other in [
            request("be brief", &["b"]),
            request("be long", &["a"]),
            request("be brief", &["a", "b"]),
            ChatRequest { schema, ..asked.clone() },
            ChatRequest { max_tokens: Some(9), ..asked.clone() },
        ] {
            assert_ne!(print, input_digest(b"salt", &other), "{other:?}");
        }
        assert_ne!(print, input_digest(b"pepper", &asked));
    }

    #[test]
    fn a_prompt_is_known_by_the_beginning_that_it_shares() {
        let (long, other) = ("a".repeat(5000), "b".repeat(5000));
        let (asks, asks_more) = (format!("{long} why?"), format!("{long} how long?"));
        for (what, first, then, known) in [
            ("instructions", request(&long, &["a"]), request(&long, &["b"]), true),
            ("other instructions", request(&long, &["a"]), request(&other, &["a"]), false),
            ("one long message", request("", &[&asks]), request("", &[&asks_more]), true),
            ("another message", request("", &[&long]), request("", &[&other]), false),
            ("the next turn", request("", &[&long]), request("", &[&long, "yes", "and?"]), true),
            (
                "the turn after it",
                request("", &[&long, "yes", "and?"]),
                request("", &[&long, "yes", "and?", "so", "?"]),
                true,
            ),
            (
                "the same question to another answer",
                request("", &[&long, "yes", "?"]),
                request("", &[&long, "no", "?"]),
                false,
            ),
            ("a short prompt", request("be brief", &["a"]), request("be brief", &["a"]), false),
        ] {
            let noted = Beginnings::of(&first, b"salt").noted;
            let sought = Beginnings::of(&then, b"salt").sought;
            assert_eq!(sought.iter().any(|digest| noted.contains(digest)), known, "{what}");
            let elsewhere = Beginnings::of(&first, b"pepper").noted;
            assert!(!sought.iter().any(|digest| elsewhere.contains(digest)), "{what}");
        }
    }
}
