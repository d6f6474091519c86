//! What a reply comes to that somebody else received.
//!
//! A program that makes its own calls hands over what it got: a status, headers, a body, as a rule whole. Whether that is
//! an answer is decided by the same readers as for our own calls, so that a 200 with an error in it, a page of a proxy, a
//! list of models or half a stream closes nothing, whoever saw it.

use crate::catalog::Wire;
use crate::domain::{Answer, Evidence, Failure, TransportFault};
use crate::validate::{Flaw, Validation};
use crate::wire::{Assembled, Assembler, Decoded, StreamDecoder, decode};

/// What a reply comes to.
#[derive(Debug, Clone, PartialEq)]
pub enum Told {
    /// An answer.
    Answer(Answer),
    /// An answer that is not as it should be: filtered, or empty.
    Wrong(Box<Failure>),
    /// None; what failed, not yet classified.
    Failed(Box<Evidence>),
}

/// What is left of a stream that was no answer.
pub(super) struct Remains {
    pub(super) body: String,
    pub(super) fault: Option<TransportFault>,
    pub(super) log: String,
}

/// Reads a reply in this wire format, or in any if it is not known. With a fault of the transport or a status other than
/// of success there is nothing to read.
pub fn told(evidence: Evidence, wire: Option<Wire>) -> Told {
    let is_success = evidence.status.is_none_or(|status| (200..300).contains(&status));
    if evidence.transport.is_some() || !is_success {
        return Told::Failed(Box::new(evidence));
    }
    let wires: &[Wire] = match &wire {
        Some(wire) => std::slice::from_ref(wire),
        None => &[Wire::OpenAi, Wire::Anthropic, Wire::Gemini],
    };
    let whole = wires.iter().find_map(|wire| match decode(*wire, evidence.body.as_bytes()) {
        Decoded::Answer(answer) => Some(answer),
        Decoded::Failure => None,
    });
    match whole {
        Some(answer) => checked(answer),
        None if is_stream(&evidence.body) => streamed(evidence, wires),
        None => Told::Failed(Box::new(evidence)),
    }
}

/// Where nothing is asked for, any words will do.
fn checked(answer: Answer) -> Told {
    match Validation::default().judge(&answer, "", &|_, _| Ok(())) {
        Err(Flaw::Answer(wrong)) => Told::Wrong(Box::new(wrong.failure)),
        Ok(_) | Err(Flaw::Own(_)) => Told::Answer(answer),
    }
}

/// Whether the body is one of events: a field of one, or a comment, stands first.
fn is_stream(body: &str) -> bool {
    let body = body.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    ["data:", "event:", "id:", "retry:", ":"].iter().any(|field| body.starts_with(field))
}

fn streamed(evidence: Evidence, wires: &[Wire]) -> Told {
    let mut first = None;
    for wire in wires {
        let mut decoder = StreamDecoder::new(*wire);
        let mut assembler = Assembler::default();
        let events = decoder.push(evidence.body.as_bytes());
        events.iter().chain(&decoder.finish()).for_each(|event| assembler.push(event));
        match assembler.finish() {
            Assembled::Answer(answer) => return checked(answer),
            ended => drop(first.get_or_insert_with(|| remains(ended, decoder.evidence().to_owned()))),
        }
    }
    let Some(Remains { body, fault, log }) = first else { return Told::Failed(Box::new(evidence)) };
    Told::Failed(Box::new(Evidence { body, transport: fault, log, ..evidence }))
}

/// What is left of a stream that has ended by itself; `seen` is what of it is kept as evidence.
pub(super) fn remains(ended: Assembled, seen: String) -> Remains {
    match ended {
        Assembled::Error { data, .. } => Remains { body: data, fault: None, log: String::new() },
        // Bytes came and words did too, but nobody said that this was the end.
        Assembled::Cut(part) if part.has_content() => {
            Remains { body: seen, fault: Some(TransportFault::Cut), log: "no end of the stream".to_owned() }
        }
        Assembled::Answer(_) | Assembled::Cut(_) | Assembled::Empty(_) => {
            Remains { body: seen, fault: None, log: String::new() }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(status: u16, body: &str, wire: Option<Wire>) -> &'static str {
        let evidence = Evidence { status: Some(status), body: body.to_owned(), ..Evidence::default() };
        match told(evidence, wire) {
            Told::Answer(_) => "answer",
            Told::Wrong(_) => "wrong",
            Told::Failed(evidence) if evidence.transport == Some(TransportFault::Cut) => "cut",
            Told::Failed(_) => "failed",
        }
    }

    #[test]
    fn only_an_answer_is_an_answer() {
        let openai = r#"{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}"#;
        let filtered = r#"{"choices":[{"message":{"content":"hi"},"finish_reason":"content_filter"}]}"#;
        let anthropic = r#"{"content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn"}"#;
        let event = "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\n";
        let stream =
            format!(": ping\n\n{event}data: {{\"choices\":[{{\"delta\":{{}},\"finish_reason\":\"stop\"}}]}}\n\n");
        for (status, body, wire, wanted) in [
            (200, openai, Some(Wire::OpenAi), "answer"),
            (200, openai, None, "answer"),
            (200, anthropic, None, "answer"),
            (200, openai, Some(Wire::Anthropic), "failed"),
            (429, openai, Some(Wire::OpenAi), "failed"),
            (200, filtered, Some(Wire::OpenAi), "wrong"),
            (200, stream.as_str(), Some(Wire::OpenAi), "answer"),
            (200, stream.as_str(), None, "answer"),
            (200, event, Some(Wire::OpenAi), "cut"),
            (200, "data: {\"error\":{\"message\":\"overloaded\"}}\n\n", None, "failed"),
            (200, r#"{"object":"list","data":[{"id":"m"}]}"#, None, "failed"),
            (200, r#"{"error":{"message":"no"}}"#, None, "failed"),
            (200, "<html>", None, "failed"),
            (200, "", None, "failed"),
        ] {
            assert_eq!(read(status, body, wire), wanted, "{status} {body}");
        }
    }
}
