//! Playing one reply to one client.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use crate::catalog::Wire;
use crate::domain::Usage;

use super::http::{Seen, write_chunk, write_head};
use super::render::{Rendered, Said, error_event, overloaded};
use super::script::Reply;

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
const IN_PIECES: &str = "transfer-encoding: chunked";

/// Plays the reply to its end, or until the client goes away.
pub(super) fn play(mut stream: TcpStream, wire: Wire, seen: &Seen, reply: &Reply) -> io::Result<()> {
    let none = BTreeMap::new();
    let stage = Stage { wire, seen };
    match reply {
        Reply::Status { status, headers, body } => write_whole(&mut stream, *status, headers, &text_of(body)),
        Reply::Answer { text, finish, usage, headers, reasoning, tool_calls } => {
            let (chunks, reasoning) = (words(text), reasoning.as_deref());
            let said = Said { chunks: &chunks, reasoning, tool_calls };
            stage.answer(&mut stream, said, finish.as_deref(), *usage, headers)
        }
        Reply::Stream { chunks, reasoning, tool_calls } => {
            let said = Said { chunks, reasoning: reasoning.as_deref(), tool_calls };
            stage.answer(&mut stream, said, None, None, &none)
        }
        Reply::CutStream { chunks } => stage.begin(&mut stream, chunks),
        Reply::ErrorEvent { chunks, error } => stage.error(&mut stream, chunks, error),
        Reply::Stall { chunks } => {
            stage.begin(&mut stream, chunks)?;
            hold(&mut stream);
            Ok(())
        }
        Reply::SlowDrip { text, every_ms } => stage.drip(&mut stream, text, *every_ms),
        Reply::Pings { chunks, every_ms } => stage.pings(&mut stream, chunks, *every_ms),
        Reply::Delay { ms, then } => {
            if !pause(&mut stream, *ms) {
                return Ok(());
            }
            play(stream, wire, seen, then)
        }
        Reply::Hang => {
            hold(&mut stream);
            Ok(())
        }
        Reply::Reset => reset(stream),
        // The port was open after all, for this is not the first reply: close is the nearest thing.
        Reply::Refuse => Ok(()),
        Reply::Raw { text } => stream.write_all(text.as_bytes()),
    }
}

/// Says what a server says that lacks such a path.
pub(super) fn not_found(mut stream: TcpStream) -> io::Result<()> {
    let headers = BTreeMap::from([("content-type".to_owned(), "text/plain".to_owned())]);
    write_whole(&mut stream, 404, &headers, "404 page not found")
}

/// Lists the models, as servers of the OpenAI kind do.
pub(super) fn list_models(mut stream: TcpStream) -> io::Result<()> {
    let body = json!({"object": "list", "data": [{"id": "rehearsal", "object": "model"}]});
    write_whole(&mut stream, 200, &BTreeMap::new(), &body.to_string())
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
        stream: &mut TcpStream,
        said: Said<'a>,
        finish: Option<&'a str>,
        usage: Option<Usage>,
        headers: &BTreeMap<String, String>,
    ) -> io::Result<()> {
        let rendered = self.rendered(said, finish, usage);
        if !self.seen.streams() {
            return write_whole(stream, 200, headers, &rendered.whole());
        }
        write_head(stream, 200, EVENTS, IN_PIECES, headers)?;
        for event in rendered.pieces().iter().chain(&rendered.ending()) {
            write_chunk(stream, event)?;
        }
        write_chunk(stream, "")
    }

    /// Head and pieces of a stream, without an end; of a whole answer, half.
    fn begin(self, stream: &mut TcpStream, chunks: &[String]) -> io::Result<()> {
        let rendered = self.rendered(Said::words(chunks), None, None);
        if self.seen.streams() {
            write_head(stream, 200, EVENTS, IN_PIECES, &BTreeMap::new())?;
            return rendered.pieces().iter().try_for_each(|event| write_chunk(stream, event));
        }
        let body = rendered.whole();
        write_head(stream, 200, JSON, &format!("content-length: {}", body.len()), &BTreeMap::new())?;
        let half = body.get(..body.floor_char_boundary(body.len() / 2)).unwrap_or_default();
        stream.write_all(half.as_bytes())
    }

    fn error(self, stream: &mut TcpStream, chunks: &[String], error: &Value) -> io::Result<()> {
        let usual = overloaded(self.wire);
        let error = if error.is_null() { &usual } else { error };
        if !self.seen.streams() {
            return write_whole(stream, 200, &BTreeMap::new(), &text_of(error));
        }
        write_head(stream, 200, EVENTS, IN_PIECES, &BTreeMap::new())?;
        if !chunks.is_empty() {
            self.rendered(Said::words(chunks), None, None)
                .pieces()
                .iter()
                .try_for_each(|event| write_chunk(stream, event))?;
        }
        write_chunk(stream, &error_event(self.wire, error))?;
        write_chunk(stream, "")
    }

    fn drip(self, stream: &mut TcpStream, text: &str, every_ms: u64) -> io::Result<()> {
        let chunks = words(text);
        let rendered = self.rendered(Said::words(&chunks), None, None);
        let (kind, pieces) = if self.seen.streams() {
            (EVENTS, rendered.pieces().into_iter().chain(rendered.ending()).collect())
        } else {
            (JSON, words(&rendered.whole()))
        };
        write_head(stream, 200, kind, IN_PIECES, &BTreeMap::new())?;
        for piece in &pieces {
            write_chunk(stream, piece)?;
            if !pause(stream, every_ms) {
                return Ok(());
            }
        }
        write_chunk(stream, "")
    }

    fn pings(self, stream: &mut TcpStream, chunks: &[String], every_ms: u64) -> io::Result<()> {
        let (kind, ping) = if self.seen.streams() { (EVENTS, ": ping\n\n") } else { (JSON, "\n") };
        write_head(stream, 200, kind, IN_PIECES, &BTreeMap::new())?;
        if self.seen.streams() && !chunks.is_empty() {
            self.rendered(Said::words(chunks), None, None)
                .pieces()
                .iter()
                .try_for_each(|event| write_chunk(stream, event))?;
        }
        while pause(stream, every_ms) {
            write_chunk(stream, ping)?;
        }
        Ok(())
    }
}

fn write_whole(stream: &mut TcpStream, status: u16, headers: &BTreeMap<String, String>, body: &str) -> io::Result<()> {
    write_head(stream, status, JSON, &format!("content-length: {}", body.len()), headers)?;
    stream.write_all(body.as_bytes())
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

/// Waits without a sleep: a read that times out. False when the client has gone or the provider was dropped.
fn pause(stream: &mut TcpStream, ms: u64) -> bool {
    if stream.set_read_timeout(Some(Duration::from_millis(ms.max(1)))).is_err() {
        return false;
    }
    match read(stream) {
        Ok(count) => count > 0,
        Err(error) => matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut),
    }
}

/// Reads what the client says meanwhile. A signal that the process gets is nothing that the client did.
fn read(stream: &mut TcpStream) -> io::Result<usize> {
    loop {
        match stream.read(&mut [0; 64]) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

/// Keeps the connection open until the client has gone or the provider was dropped.
fn hold(stream: &mut TcpStream) {
    if stream.set_read_timeout(None).is_ok() {
        while read(stream).is_ok_and(|count| count > 0) {}
    }
}

/// Closes so that the other side sees a reset instead of an end.
fn reset(stream: TcpStream) -> io::Result<()> {
    tokio::net::TcpSocket::from_std_stream(stream).set_zero_linger()
}
