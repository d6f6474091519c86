//! Just enough HTTP to be asked and to answer.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use serde_json::Value;

use crate::catalog::Wire;

use super::speech::Head;

/// The largest head of a request, in bytes.
const MAX_HEAD: u64 = 64 * 1024;

/// The largest body of a request, in bytes.
const MAX_BODY: u64 = 64 * 1024 * 1024;

/// One request as it arrived.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    /// `POST` as a rule.
    pub method: String,
    /// The path with the query.
    pub path: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body; null when it is no JSON.
    pub body: Value,
}

impl Seen {
    /// The first header of that name, which is given in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The key that was shown, wherever the wire has it.
    pub fn key(&self) -> Option<&str> {
        let bearer = self.header("authorization").and_then(|value| value.strip_prefix("Bearer "));
        ["x-api-key", "x-goog-api-key", "api-key"].iter().find_map(|name| self.header(name)).or(bearer)
    }

    /// The model that was asked: a field, or a part of Gemini's path.
    pub fn model(&self) -> Option<&str> {
        let field = self.body.get("model").and_then(Value::as_str);
        let in_path = || self.path.split_once("/models/").and_then(|(_, rest)| Some(rest.rsplit_once(':')?.0));
        field.or_else(in_path)
    }

    /// Whether it asks for an answer, at the place that this wire has for it.
    pub(super) fn asks(&self, wire: Wire) -> bool {
        let path = self.path.split('?').next().unwrap_or_default();
        let is_ours = match wire {
            Wire::OpenAi => path.ends_with("/chat/completions"),
            Wire::Anthropic => path.ends_with("/messages"),
            Wire::Gemini => path.ends_with(":generateContent") || path.ends_with(":streamGenerateContent"),
        };
        is_ours && self.method == "POST"
    }

    /// Whether the answer is to come piece by piece.
    pub fn streams(&self) -> bool {
        self.body.get("stream") == Some(&Value::Bool(true)) || self.path.contains(":streamGenerateContent")
    }
}

/// Reads one request; none when the client says nothing.
pub(super) fn read(stream: &TcpStream) -> io::Result<Option<Seen>> {
    let mut reader = BufReader::new(stream);
    let mut lines = Vec::new();
    let mut head = (&mut reader).take(MAX_HEAD);
    loop {
        let mut line = String::new();
        if head.read_line(&mut line)? == 0 {
            return if lines.is_empty() { Ok(None) } else { Err(io::ErrorKind::UnexpectedEof.into()) };
        }
        let line = line.trim_end().to_owned();
        if line.is_empty() {
            break;
        }
        lines.push(line);
    }
    let mut first = lines.first().map_or("", String::as_str).split(' ');
    let method = first.next().unwrap_or_default().to_owned();
    let path = first.next().unwrap_or_default().to_owned();
    let headers: Vec<(String, String)> = lines
        .iter()
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let mut seen = Seen { method, path, headers, body: Value::Null };
    let length = seen.header("content-length").and_then(|value| value.parse().ok()).unwrap_or(0_u64);
    let mut body = Vec::new();
    reader.take(length.min(MAX_BODY)).read_to_end(&mut body)?;
    seen.body = serde_json::from_slice(&body).unwrap_or_default();
    Ok(Some(seen))
}

/// Writes the head of a reply.
pub(super) fn write_head(stream: &mut TcpStream, head: &Head) -> io::Result<()> {
    let lines: String = head.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    stream.write_all(format!("HTTP/1.1 {} Scripted\r\n{lines}\r\n", head.status).as_bytes())
}

/// Writes one piece of a body that is sent in pieces; an empty piece ends it.
pub(super) fn write_chunk(stream: &mut TcpStream, piece: &str) -> io::Result<()> {
    stream.write_all(format!("{:x}\r\n{piece}\r\n", piece.len()).as_bytes())
}
