//! Scripted providers that need no socket, no thread and no time.
//!
//! They say the same as those on loopback, byte by byte, and what a socket would have made of it is said here: what is
//! whole, what was cut, which fault it is when nobody listens. How long it takes is invented.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::Duration;

use crate::catalog::Wire;
use crate::clock::{Clock, Invented};
use crate::domain::{Timeouts, TransportFault};
use crate::transport::{Body, Carried, Carrier, Fault, Limit, Pieces, Reply};
use crate::wire::HttpRequest;

use super::http::Seen;
use super::script::{Prompter, Script};
use super::speech::{Ending, Head, Speech, not_found, speech};

/// How long the head of a reply takes at least.
const REACH: Duration = Duration::from_millis(2);

/// How long each piece of a body takes at least.
const PIECE: Duration = Duration::from_millis(1);

/// The end of the names of hosts that exist nowhere.
const NOWHERE: &str = ".invalid";

/// Scripted providers by name.
#[derive(Debug)]
pub struct Voices {
    time: &'static Invented,
    all: BTreeMap<String, RefCell<Voice>>,
}

#[derive(Debug)]
struct Voice {
    wire: Wire,
    prompter: Prompter,
    hits: usize,
    last: Option<Seen>,
}

impl Voices {
    /// Nobody yet.
    pub fn new(time: &'static Invented) -> Self {
        Self { time, all: BTreeMap::new() }
    }

    /// Adds a provider, or gives one another script.
    pub fn add(&mut self, name: &str, wire: Wire, script: impl Into<Script>) {
        let prompter = Prompter::new(script.into());
        self.all.insert(name.to_owned(), RefCell::new(Voice { wire, prompter, hits: 0, last: None }));
    }

    /// Where the provider is said to be.
    pub fn base_url(name: &str, wire: Wire) -> String {
        format!("http://{name}{NOWHERE}/{}", wire_version(wire))
    }

    /// How many requests for an answer reached each provider.
    pub fn hits(&self) -> BTreeMap<String, usize> {
        self.all.iter().map(|(name, voice)| (name.clone(), voice.borrow().hits)).collect()
    }

    /// The last request for an answer that each provider got.
    pub fn last(&self) -> BTreeMap<String, Seen> {
        let last = |(name, voice): (&String, &RefCell<Voice>)| Some((name.clone(), voice.borrow().last.clone()?));
        self.all.iter().filter_map(last).collect()
    }

    /// What the one who is asked says to it.
    fn hear(&self, request: &HttpRequest) -> Result<Speech, Fault> {
        let (host, seen) = received(request);
        let Some(voice) = host.strip_suffix(NOWHERE).and_then(|name| self.all.get(name)) else {
            return Err(fault(TransportFault::Dns, "dns error: no such host"));
        };
        let mut voice = voice.borrow_mut();
        if voice.prompter.refuses() {
            return Err(fault(TransportFault::Refused, "tcp connect error: Connection refused"));
        }
        if !seen.asks(voice.wire) {
            return Ok(not_found());
        }
        voice.hits += 1;
        let said = speech(voice.wire, &seen, &voice.prompter.reply_to(&seen));
        voice.last = Some(seen);
        Ok(said)
    }

    async fn answer(&self, request: &HttpRequest) -> Result<Reply, Fault> {
        let speech = self.hear(request)?;
        self.time.pass(REACH + Duration::from_millis(speech.wait_ms)).await;
        let Speech { head, pieces, ending, .. } = speech;
        let Some(Head { status, headers, .. }) = head else {
            let said: String = pieces.into_iter().map(|piece| piece.text).collect();
            if ending == Ending::Silent {
                self.time.pass(Duration::MAX).await;
            }
            return self.raw(&said);
        };
        let headers = headers.into_iter().map(|(name, value)| (name.to_ascii_lowercase(), value)).collect();
        let mut after = PIECE;
        let mut arriving: Vec<(Duration, Result<Vec<u8>, Fault>)> = Vec::new();
        for piece in pieces {
            arriving.push((after, Ok(piece.text.into_bytes())));
            after = PIECE + Duration::from_millis(piece.pause_ms);
        }
        let body: Pieces = match ending {
            Ending::Whole => Box::new(arriving.into_iter()),
            Ending::Closed | Ending::Reset => Box::new(arriving.into_iter().chain([(PIECE, Err(cut()))])),
            // So long that whatever timer there is runs out first.
            Ending::Silent => Box::new(arriving.into_iter().chain([(Duration::MAX, Err(cut()))])),
            Ending::Pings { ping, every_ms } => {
                let every = Duration::from_millis(every_ms.max(1));
                let pings = std::iter::repeat_with(move || (every, Ok(ping.as_bytes().to_vec())));
                Box::new(arriving.into_iter().chain(pings))
            }
        };
        Ok(Reply { status, headers, body: self.body(body) })
    }

    fn body(&self, pieces: Pieces) -> Body {
        Body::of(pieces, Clock::of(self.time, None))
    }

    /// What a client makes of bytes that need not be HTTP. Of HTTP it knows bodies with a length and those that end with
    /// the connection.
    fn raw(&self, said: &str) -> Result<Reply, Fault> {
        let closed = || fault(TransportFault::Reset, "connection closed before message completed");
        if said.is_empty() {
            return Err(closed());
        }
        let Some(rest) = said.strip_prefix("HTTP/1.1 ") else {
            return Err(fault(TransportFault::Other, "invalid HTTP version parsed"));
        };
        let (head, rest) = rest.split_once("\r\n\r\n").ok_or_else(closed)?;
        let (first, lines) = head.split_once("\r\n").unwrap_or((head, ""));
        let status = first.split(' ').next().and_then(|status| status.parse().ok());
        let status = status.ok_or_else(|| fault(TransportFault::Other, "invalid HTTP status-code parsed"))?;
        let line = |(name, value): (&str, &str)| (name.to_ascii_lowercase(), value.trim().to_owned());
        let headers: Vec<_> = lines.lines().filter_map(|text| text.split_once(':')).map(line).collect();
        let length = headers.iter().find(|(name, _)| name == "content-length").map(|(_, value)| value.parse());
        let length: usize = match length {
            Some(Ok(length)) => length,
            Some(Err(_)) => return Err(fault(TransportFault::Other, "invalid content-length parsed")),
            None => rest.len(),
        };
        let bytes = rest.as_bytes().get(..length.min(rest.len())).unwrap_or_default().to_vec();
        let missing = (bytes.len() < length).then(|| (PIECE, Err(cut())));
        let pieces: Pieces = Box::new([(PIECE, Ok(bytes))].into_iter().chain(missing));
        Ok(Reply { status, headers, body: self.body(pieces) })
    }
}

impl Carrier for Voices {
    fn carry<'a>(&'a self, request: &'a HttpRequest, timeouts: &'a Timeouts) -> Carried<'a> {
        let limit = Limit::first(timeouts.first).or(Limit::total(timeouts.total));
        Box::pin(async move {
            let answer = Clock::of(self.time, None).within(limit.time, self.answer(request)).await;
            answer.unwrap_or_else(|| Err(limit.passed()))
        })
    }
}

/// The version part of the path that is usual for the wire.
pub(super) fn wire_version(wire: Wire) -> &'static str {
    if wire == Wire::Gemini { "v1beta" } else { "v1" }
}

/// The request as it would arrive, and the host that it would go to.
fn received(request: &HttpRequest) -> (&str, Seen) {
    let place = request.url.split_once("://").map_or(request.url.as_str(), |(_, place)| place);
    let (host, _) = place.split_once('/').unwrap_or((place, ""));
    let path = place.strip_prefix(host).unwrap_or_default().to_owned();
    let headers = request.headers.iter().map(|(name, text)| (name.clone(), text.expose().to_owned())).collect();
    let body = serde_json::from_slice(&request.body).unwrap_or_default();
    (host, Seen { method: request.method.to_owned(), path, headers, body })
}

fn fault(kind: TransportFault, detail: &str) -> Fault {
    Fault { kind, detail: detail.to_owned(), sent: !kind.is_unsent() }
}

fn cut() -> Fault {
    fault(TransportFault::Cut, "error reading a body from connection: unexpected end of file")
}
