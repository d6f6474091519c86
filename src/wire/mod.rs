//! Pure translation between our request and answer and each wire format, plain and streamed.
//!
//! Three formats are spoken: OpenAI's chat completions (and everybody who copies them), Anthropic's messages and
//! Gemini's generateContent. Nothing here sends, waits or judges a failure. What is decided here is only whether a
//! body is an answer at all, because only who knows the format can see it: providers put errors, refusals and empty
//! shells into a 200. The rule is strict in one direction. An [`Answer`] has words in it (or tool calls) and carries
//! no sign of trouble; everything else is a failure that `classify` looks at, body and all.
//!
//! Reading is lenient: only the fields that are needed, each optional, of any type that makes sense. Writing is
//! strict: the smallest request that says what is wanted, because unknown fields are refused by some.

mod anthropic;
mod anthropic_reply;
mod assemble;
mod calls;
mod conversation;
mod dialect;
mod drafts;
mod finish;
mod gemini;
mod gemini_reply;
mod lost;
mod message;
mod openai;
mod openai_reply;
mod prepare;
mod refs;
mod request;
mod schema;
mod sse;
mod stream;
mod tools;
mod trouble;
mod url;
mod whole;
mod written;

use serde_json::Value;

pub use assemble::{Assembled, Assembler};
pub use conversation::{ConversationError, conversation};
pub use request::{EncodeError, Endpoint, HeaderText, HttpRequest, Ids};
pub use schema::shape_in_words;
pub use stream::StreamDecoder;
pub use tools::restore_names;
pub use whole::{Whole, whole};
pub use written::written;

use crate::catalog::Wire;
use crate::domain::{Answer, ChatRequest, Finish, StreamEvent};

/// Writes the request as the endpoint's provider wants it.
///
/// # Errors
/// When the request or the endpoint cannot be put into the wire format: our own or the config's trouble, never the
/// provider's.
pub fn encode(endpoint: &Endpoint<'_>, request: &ChatRequest) -> Result<HttpRequest, EncodeError> {
    let wire = endpoint.provider.wire.ok_or_else(|| EncodeError::NoWire(endpoint.provider.name.clone()))?;
    if request.messages.is_empty() {
        return Err(EncodeError::NoMessages);
    }
    let request = &*prepare::prepared(endpoint, wire, request)?;
    let (path, body) = match wire {
        Wire::OpenAi => openai::encode(endpoint, request)?,
        Wire::Anthropic => anthropic::encode(endpoint, request)?,
        Wire::Gemini => gemini::encode(endpoint, request)?,
    };
    request::assemble(endpoint, wire, request.stream, &path, &body)
}

/// What a body with a status of success is.
#[derive(Debug, Clone, PartialEq)]
pub enum Decoded {
    /// An answer with words or tool calls.
    Answer(Answer),
    /// An error, a refusal, an empty shell, or no answer of this wire at all: `classify` has to look at the body.
    Failure,
}

/// Reads a whole answer.
pub fn decode(wire: Wire, body: &[u8]) -> Decoded {
    read(wire, body).filter(is_answer).map_or(Decoded::Failure, Decoded::Answer)
}

/// Reads a whole answer of which a sign of the model at work is enough: it may have come to the token limit before its
/// first word. A list of models, a page and an empty shell still show nothing.
pub fn decode_sign(wire: Wire, body: &[u8]) -> Decoded {
    let at_work = |answer: &Answer| {
        let beside_words = answer.other_content || !answer.reasoning.is_empty() || !answer.tool_calls.is_empty();
        let sign = beside_words || answer.finish == Some(Finish::Length);
        is_answer(answer) || sign && answer.finish != Some(Finish::Error)
    };
    read(wire, body).filter(at_work).map_or(Decoded::Failure, Decoded::Answer)
}

/// What stands in a body without a sign of trouble.
fn read(wire: Wire, body: &[u8]) -> Option<Answer> {
    let value = serde_json::from_slice::<Value>(body).ok()?;
    if !value.is_object() || trouble::is_error(&value) {
        return None;
    }
    let mut answer = match wire {
        Wire::OpenAi => openai_reply::decode(&value),
        Wire::Anthropic => anthropic_reply::decode(&value),
        Wire::Gemini => gemini_reply::decode(&value),
    }?;
    calls::settle(&mut answer);
    Some(answer)
}

/// Whether there is something to hand to the user: words, or tool calls that the model ended on. Thoughts alone, white
/// space, half a tool call and an answer that the provider itself calls failed are not. Neither is a call in an answer that
/// was cut off or filtered, whatever words stand beside it: what is missing may be a part of it, and it would be run.
pub fn is_answer(answer: &Answer) -> bool {
    is_answer_with(answer, !answer.text.trim().is_empty())
}

/// The same, where of the words only the first may have been kept.
fn is_answer_with(answer: &Answer, words: bool) -> bool {
    let is_failed = answer.finish == Some(Finish::Error);
    let has_calls = !answer.tool_calls.is_empty();
    let may_be_run = answer.finish == Some(Finish::ToolCalls) && answer.tool_calls.iter().all(calls::is_whole);
    !is_failed && if has_calls { may_be_run } else { words }
}

/// What one event of a stream says.
fn events(wire: Wire, kind: &str, value: &Value, raw: &str) -> Vec<StreamEvent> {
    if kind == "error" || trouble::is_error(value) {
        return vec![StreamEvent::Error(trouble::bounded(raw))];
    }
    let events = match wire {
        Wire::OpenAi => openai_reply::events(value),
        Wire::Anthropic => anthropic_reply::events(value),
        Wire::Gemini => gemini_reply::events(value),
    };
    // A finish word for failure is an error event in another dress; words before it in the same event still count.
    events
        .into_iter()
        .map(|event| match event {
            StreamEvent::Finish(Finish::Error) => StreamEvent::Error(trouble::bounded(raw)),
            StreamEvent::Error(_) => StreamEvent::Error(trouble::bounded(raw)),
            event => event,
        })
        .collect()
}

#[cfg(test)]
mod offer_tests;
#[cfg(test)]
mod reply_tests;
#[cfg(test)]
mod request_tests;
#[cfg(test)]
mod rules_tests;
#[cfg(test)]
mod thoughts_tests;
#[cfg(test)]
mod tools_tests;
