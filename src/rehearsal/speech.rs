//! What a reply comes to on the wire: bytes, the time between them, and how they end.
//!
//! All of it is decided here, without a socket. Who has one writes it to a client; who has none hands it on as what an
//! exchange would have brought.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::catalog::Wire;
use crate::domain::Usage;

use super::http::Seen;
use super::render::{Rendered, Said, error_event, overloaded};
use super::script::Reply;

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// A reply as it goes over the wire.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Speech {
    /// Milliseconds of silence before it begins.
    pub(super) wait_ms: u64,
    /// The head; none where nothing is said, or what is said need not be HTTP.
    pub(super) head: Option<Head>,
    /// The body.
    pub(super) pieces: Vec<Piece>,
    /// What comes then.
    pub(super) ending: Ending,
}

/// The head of a reply. Every reply is the last of its connection: a scripted provider may do anything with it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Head {
    pub(super) status: u16,
    /// All lines, in order.
    pub(super) headers: Vec<(String, String)>,
    /// Whether the body is sent in pieces; else its length stands in the head.
    pub(super) in_pieces: bool,
}

/// A part of the body.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Piece {
    pub(super) text: String,
    /// Milliseconds of silence after it.
    pub(super) pause_ms: u64,
}

/// How a reply ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// As it should.
    Whole,
    /// The connection is closed, whatever is still due.
    Closed,
    /// The connection stays open and nothing comes.
    Silent,
    /// The same again and again, as long as the client stays.
    Pings { ping: &'static str, every_ms: u64 },
    /// The connection is reset.
    Reset,
}

/// What the reply comes to for this request.
pub(super) fn speech(wire: Wire, seen: &Seen, reply: &Reply) -> Speech {
    let none = BTreeMap::new();
    let stage = Stage { wire, seen };
    match reply {
        Reply::Status { status, headers, body } => whole(*status, headers, text_of(body)),
        Reply::Answer { text, finish, usage, headers, reasoning, tool_calls } => {
            let (chunks, reasoning) = (words(text), reasoning.as_deref());
            let said = Said { chunks: &chunks, reasoning, tool_calls };
            stage.answer(said, finish.as_deref(), *usage, headers)
        }
        Reply::Stream { chunks, reasoning, tool_calls } => {
            let said = Said { chunks, reasoning: reasoning.as_deref(), tool_calls };
            stage.answer(said, None, None, &none)
        }
        Reply::CutStream { chunks } => stage.begin(chunks, Ending::Closed),
        Reply::ErrorEvent { chunks, error } => stage.error(chunks, error),
        Reply::Stall { chunks } => stage.begin(chunks, Ending::Silent),
        Reply::SlowDrip { text, every_ms } => stage.drip(text, *every_ms),
        Reply::Pings { chunks, every_ms } => stage.pings(chunks, *every_ms),
        Reply::Delay { ms, then } => {
            let then = speech(wire, seen, then);
            Speech { wait_ms: then.wait_ms + (*ms).max(1), ..then }
        }
        Reply::Hang => nothing(Ending::Silent),
        Reply::Reset => nothing(Ending::Reset),
        // The port was open after all, for this is not the first reply: close is the nearest thing.
        Reply::Refuse => nothing(Ending::Closed),
        Reply::Raw { text } => Speech { pieces: at_once([text.clone()]), ..nothing(Ending::Closed) },
    }
}

/// What a server says that lacks such a path.
pub(super) fn not_found() -> Speech {
    let headers = BTreeMap::from([("content-type".to_owned(), "text/plain".to_owned())]);
    whole(404, &headers, "404 page not found".to_owned())
}

/// The list of the models, as servers of the OpenAI kind have it.
pub(super) fn models() -> Speech {
    let body = json!({"object": "list", "data": [{"id": "rehearsal", "object": "model"}]});
    whole(200, &BTreeMap::new(), body.to_string())
}

/// Who asks, and in which format to answer.
#[derive(Clone, Copy)]
struct Stage<'a> {
    wire: Wire,
    seen: &'a Seen,
}

impl<'a> Stage<'a> {
    fn rendered(self, said: Said<'a>, finish: Option<&'a str>, usage: Option<Usage>) -> Rendered<'a> {
        let guess = |bytes: usize| Some(bytes as u64 / 4 + 1);
        let usage = usage.unwrap_or_else(|| Usage {
            input_tokens: guess(self.seen.body.to_string().len()),
            output_tokens: guess(said.bytes()),
            cached_tokens: None,
        });
        let finish = finish.unwrap_or(if said.tool_calls.is_empty() { "stop" } else { "tool_calls" });
        Rendered { wire: self.wire, seen: self.seen, said, finish, usage }
    }

    fn answer(
        self,
        said: Said<'a>,
        finish: Option<&'a str>,
        usage: Option<Usage>,
        headers: &BTreeMap<String, String>,
    ) -> Speech {
        let rendered = self.rendered(said, finish, usage);
        if !self.seen.streams() {
            return whole(200, headers, rendered.whole());
        }
        in_pieces(EVENTS, headers, at_once(rendered.pieces().into_iter().chain(rendered.ending())), Ending::Whole)
    }

    /// Head and pieces of a stream, without an end; of a whole answer, half.
    fn begin(self, chunks: &[String], ending: Ending) -> Speech {
        let rendered = self.rendered(Said::words(chunks), None, None);
        if self.seen.streams() {
            return in_pieces(EVENTS, &BTreeMap::new(), at_once(rendered.pieces()), ending);
        }
        let body = rendered.whole();
        let half = body.get(..body.floor_char_boundary(body.len() / 2)).unwrap_or_default().to_owned();
        Speech { pieces: at_once([half]), ending, ..whole(200, &BTreeMap::new(), body) }
    }

    fn error(self, chunks: &[String], error: &Value) -> Speech {
        let usual = overloaded(self.wire);
        let error = if error.is_null() { &usual } else { error };
        if !self.seen.streams() {
            return whole(200, &BTreeMap::new(), text_of(error));
        }
        let events = self.events(chunks).into_iter().chain([error_event(self.wire, error)]);
        in_pieces(EVENTS, &BTreeMap::new(), at_once(events), Ending::Whole)
    }

    fn drip(self, text: &str, every_ms: u64) -> Speech {
        let chunks = words(text);
        let rendered = self.rendered(Said::words(&chunks), None, None);
        let (kind, texts) = if self.seen.streams() {
            (EVENTS, rendered.pieces().into_iter().chain(rendered.ending()).collect())
        } else {
            (JSON, words(&rendered.whole()))
        };
        let slowly = |text| Piece { text, pause_ms: every_ms.max(1) };
        in_pieces(kind, &BTreeMap::new(), texts.into_iter().map(slowly).collect(), Ending::Whole)
    }

    fn pings(self, chunks: &[String], every_ms: u64) -> Speech {
        let (kind, ping) = if self.seen.streams() { (EVENTS, ": ping\n\n") } else { (JSON, "\n") };
        let events = if self.seen.streams() { self.events(chunks) } else { Vec::new() };
        in_pieces(kind, &BTreeMap::new(), at_once(events), Ending::Pings { ping, every_ms })
    }

    /// The events of these pieces; without any not even what comes before them.
    fn events(self, chunks: &[String]) -> Vec<String> {
        if chunks.is_empty() { Vec::new() } else { self.rendered(Said::words(chunks), None, None).pieces() }
    }
}

fn nothing(ending: Ending) -> Speech {
    Speech { wait_ms: 0, head: None, pieces: Vec::new(), ending }
}

fn whole(status: u16, headers: &BTreeMap<String, String>, body: String) -> Speech {
    let head = Head::new(status, JSON, ("content-length", &body.len().to_string()), headers);
    Speech { wait_ms: 0, head: Some(head), pieces: at_once([body]), ending: Ending::Whole }
}

fn in_pieces(kind: &str, headers: &BTreeMap<String, String>, pieces: Vec<Piece>, ending: Ending) -> Speech {
    let head = Head::new(200, kind, ("transfer-encoding", "chunked"), headers);
    Speech { wait_ms: 0, head: Some(Head { in_pieces: true, ..head }), pieces, ending }
}

impl Head {
    fn new(status: u16, kind: &str, framing: (&str, &str), own: &BTreeMap<String, String>) -> Self {
        let line = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let mut headers = vec![line("connection", "close"), line(framing.0, framing.1)];
        headers.extend(own.iter().map(|(name, value)| line(name, value)));
        if !own.keys().any(|name| name.eq_ignore_ascii_case("content-type")) {
            headers.push(line("content-type", kind));
        }
        Self { status, headers, in_pieces: false }
    }
}

fn at_once(texts: impl IntoIterator<Item = String>) -> Vec<Piece> {
    texts.into_iter().map(|text| Piece { text, pause_ms: 0 }).collect()
}

fn text_of(body: &Value) -> String {
    match body {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The text in pieces that give it again when they are put together.
fn words(text: &str) -> Vec<String> {
    text.split_inclusive(' ').map(str::to_owned).collect()
}
