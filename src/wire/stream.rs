//! From the bytes of a reply to a stream request to what the stream says.
//!
//! Not every reply to a stream request is a stream: an error comes as JSON or HTML with a status of success, and some
//! servers ignore the wish and answer whole. The first byte that is not white space decides which it is. A stream that
//! ends without having said a word of events is looked at once more as a whole body.

use serde_json::Value;

use crate::catalog::Wire;
use crate::domain::{Answer, Part, StreamEvent, Thinking, ToolCall, ToolPiece};

use super::sse::{self, Event};
use super::{Decoded, decode, events, trouble};

/// The largest whole body that is taken in the place of a stream, in bytes.
const MAX_WHOLE: usize = 16 * 1024 * 1024;

/// What kind of reply it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Only white space so far.
    Unknown,
    /// Events.
    Events,
    /// A body that has to be read whole.
    Whole,
    /// Nothing that follows counts: the end or an error was seen.
    Over,
}

/// Turns the bytes of one reply into events. The same bytes give the same events, however they are cut into chunks.
#[derive(Debug)]
pub struct StreamDecoder {
    wire: Wire,
    mode: Mode,
    parser: sse::Parser,
    /// The raw body while no event was seen; the whole body in mode `Whole`.
    head: Vec<u8>,
    seen: bool,
    evidence: String,
}

impl StreamDecoder {
    /// For one reply in this wire format.
    pub fn new(wire: Wire) -> Self {
        Self {
            wire,
            mode: Mode::Unknown,
            parser: sse::Parser::default(),
            head: Vec::new(),
            seen: false,
            evidence: String::new(),
        }
    }

    /// Takes more bytes of the body. After [`StreamEvent::End`] or [`StreamEvent::Error`] nothing more comes.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<StreamEvent> {
        let mut out = Vec::new();
        let mut bytes = bytes;
        if self.mode == Mode::Unknown {
            bytes = skip_blank(bytes);
            let Some(first) = bytes.first() else { return out };
            self.mode = if b"{[<\"".contains(first) { Mode::Whole } else { Mode::Events };
        }
        match self.mode {
            Mode::Whole => {
                self.head.extend_from_slice(bytes);
                if self.head.len() > MAX_WHOLE {
                    self.fail("the body is larger than we take", &mut out);
                }
            }
            Mode::Events => self.push_events(bytes, &mut out),
            Mode::Unknown | Mode::Over => {}
        }
        out
    }

    /// Says that the body has ended, properly or not; what was left unfinished is looked at.
    pub fn finish(&mut self) -> Vec<StreamEvent> {
        let mut out = Vec::new();
        if self.mode == Mode::Events
            && let Some(event) = self.parser.finish()
            && is_whole(&event)
        {
            self.take(&event, &mut out);
        }
        if !self.seen && matches!(self.mode, Mode::Events | Mode::Whole) {
            self.finish_whole(&mut out);
        }
        self.mode = Mode::Over;
        out
    }

    /// The events that were no words, as the wire had them, or the body that was no stream; bounded. This is what
    /// `classify` gets to see of a stream that went wrong.
    pub fn evidence(&self) -> &str {
        &self.evidence
    }

    fn push_events(&mut self, bytes: &[u8], out: &mut Vec<StreamEvent>) {
        if !self.seen {
            let room = trouble::EVIDENCE.saturating_sub(self.head.len());
            self.head.extend(bytes.iter().take(room));
        }
        let mut found = Vec::new();
        let result = self.parser.push(bytes, |event| found.push(event));
        for event in found {
            self.take(&event, out);
        }
        if result.is_err() && self.mode != Mode::Over {
            self.fail("an event of the stream is larger than we take", out);
        }
    }

    fn take(&mut self, event: &Event, out: &mut Vec<StreamEvent>) {
        let data = event.data.trim();
        // Some proxies put their pings into the data.
        if self.mode == Mode::Over || data.is_empty() || data.starts_with(':') || data == "null" {
            return;
        }
        self.seen = true;
        self.head = Vec::new();
        let said = match serde_json::from_str::<Value>(data) {
            _ if data == "[DONE]" => vec![StreamEvent::End],
            Ok(value @ Value::Object(_)) => events(self.wire, &event.kind, &value, data),
            _ => vec![StreamEvent::Error(trouble::bounded(data))],
        };
        if said.is_empty() || said.iter().any(StreamEvent::is_evidence) {
            self.remember(event);
        }
        for event in said {
            let last = matches!(event, StreamEvent::End | StreamEvent::Error(_));
            out.push(event);
            if last {
                self.mode = Mode::Over;
                return;
            }
        }
    }

    /// Keeps the event as evidence; the oldest go when there are too many, for the end of a stream says most.
    fn remember(&mut self, event: &Event) {
        if !event.kind.is_empty() {
            self.evidence.push_str("event: ");
            self.evidence.push_str(&trouble::bounded(&event.kind));
            self.evidence.push('\n');
        }
        self.evidence.push_str("data: ");
        self.evidence.push_str(&trouble::bounded(&event.data));
        self.evidence.push_str("\n\n");
        let surplus = self.evidence.len().saturating_sub(2 * trouble::EVIDENCE);
        if surplus > 0 {
            let cut = self.evidence.ceil_char_boundary(surplus);
            self.evidence.drain(..cut);
        }
    }

    fn finish_whole(&mut self, out: &mut Vec<StreamEvent>) {
        let body = String::from_utf8_lossy(&self.head).into_owned();
        let body = match self.mode {
            // Comments before a body that is no stream: keep-alives of a server that had nothing better to say.
            Mode::Events => {
                let lines: Vec<&str> = body.lines().filter(|line| !is_ping(line)).collect();
                lines.join("\n")
            }
            _ => body,
        };
        if body.trim().is_empty() {
            return;
        }
        self.evidence = trouble::bounded(&body);
        match decode(self.wire, body.as_bytes()) {
            Decoded::Answer(answer) => out.extend(told_at_once(answer)),
            Decoded::Failure => out.push(StreamEvent::Error(trouble::bounded(&body))),
        }
    }

    fn fail(&mut self, why: &str, out: &mut Vec<StreamEvent>) {
        self.mode = Mode::Over;
        self.head = Vec::new();
        out.push(StreamEvent::Error(why.to_owned()));
    }
}

/// A whole answer as a stream would tell it.
fn told_at_once(answer: Answer) -> Vec<StreamEvent> {
    let mut events = Vec::new();
    let mut calls = 0_u64..;
    events.extend(answer.other_content.then_some(StreamEvent::OtherContent));
    for part in answer.parts(None) {
        match part {
            Part::Text(text) => events.push(StreamEvent::Text(text)),
            Part::ToolCall(ToolCall { id, name, arguments }) => {
                let index = calls.next().unwrap_or_default();
                events.push(StreamEvent::ToolCall(ToolPiece { index, id, name, arguments }));
            }
            Part::Thinking(Thinking { text, signature, redacted: None, .. }) if !text.is_empty() => {
                events.push(StreamEvent::Reasoning(text));
                events.extend(signature.map(StreamEvent::Signature));
            }
            Part::Thinking(thinking) => events.push(StreamEvent::Thought(thinking)),
            Part::Image { .. } | Part::ToolResult { .. } => {}
        }
    }
    events.push(StreamEvent::Usage(answer.usage));
    events.extend(answer.finish.map(StreamEvent::Finish));
    events.push(StreamEvent::End);
    events
}

/// Drops white space and a byte order mark; before the first event neither means anything.
fn skip_blank(bytes: &[u8]) -> &[u8] {
    let blank = |byte: &u8| byte.is_ascii_whitespace() || [0xef, 0xbb, 0xbf].contains(byte);
    let at = bytes.iter().position(|byte| !blank(byte)).unwrap_or(bytes.len());
    bytes.get(at..).unwrap_or_default()
}

/// A line that belongs to a stream but says nothing.
fn is_ping(line: &str) -> bool {
    let line = line.trim();
    line.is_empty()
        || line.starts_with(':')
        || line.starts_with("event:")
        || line.starts_with("id:")
        || line.starts_with("data:")
}

/// Whether an event that lacks its blank line is all there.
fn is_whole(event: &Event) -> bool {
    event.data.trim() == "[DONE]" || serde_json::from_str::<Value>(&event.data).is_ok()
}
